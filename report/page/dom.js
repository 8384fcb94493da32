// Making elements. Every text of the run's goes in as text, never as HTML.

/** An element with properties and children; texts become text nodes. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key === 'on') {
      for (const [event, listener] of Object.entries(value))
        element.addEventListener(event, listener);
    } else if (key in element) {
      element[key] = value;
    } else {
      element.setAttribute(key, value);
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function button(text, label, listener, className = 'control') {
  return make(
      'button', {type: 'button', className, title: label, ariaLabel: label, on: {click: listener}},
      text);
}

function tableRow(cells, tag = 'td') {
  return make('tr', {}, ...cells.map((cell) => {
    const text = typeof cell === 'string' || typeof cell === 'number';
    const left = cell && cell.left !== undefined;
    return make(
        tag, {className: left ? 'text' : ''},
        text     ? String(cell) :
            left ? cell.left :
                   cell);
  }));
}

/**
 * A table that shows its rows in pieces, so that a long one costs no time. `rowOf(i)` is its
 * cells.
 */
function longTable(head, count, rowOf, piece = 200) {
  const body = make('tbody');
  const rest = make('p', {className: 'note'});
  let shown = 0;
  const more = (upTo) => {
    for (; shown < Math.min(upTo, count); ++shown) body.append(tableRow(rowOf(shown)));
    rest.replaceChildren();
    if (shown === count) return;
    rest.append(
        `${countText(count - shown)} more. `,
        make(
            'button', {className: 'link', type: 'button', on: {click: () => more(shown + piece)}},
            `Show ${piece} more`));
  };
  more(piece);
  return make('div', {}, make('table', {}, make('thead', {}, tableRow(head, 'th')), body), rest);
}

/** A canvas of this many CSS pixels with a context in CSS pixels. */
function smallCanvas(width, height) {
  const ratio = window.devicePixelRatio || 1;
  const canvas =
      make('canvas', {width: Math.round(width * ratio), height: Math.round(height * ratio)});
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.scale(ratio, ratio);
  return {canvas, context};
}

/** A tip that follows the pointer over `target`; `textAt(x, y)` is null where there is none. */
function addTip(target, textAt) {
  const holder = target.parentElement;
  const tip = make('div', {className: 'tip', hidden: true});
  holder.append(tip);
  target.addEventListener('pointermove', (event) => {
    const box = target.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const text = textAt(x, y);
    tip.hidden = text === null;
    if (text === null) return;
    tip.textContent = text;
    const room = holder.clientWidth - tip.offsetWidth - 4;
    tip.style.left = `${Math.max(0, Math.min(x + target.offsetLeft + 14, room))}px`;
    tip.style.top = `${Math.max(0, y + target.offsetTop - 30)}px`;
  });
  target.addEventListener('pointerleave', () => {
    tip.hidden = true;
  });
}
