// A grid of coloured cells with axes and a tip: heat maps and matrices.

/**
 * Draws `rows` × `columns` cells. `cellAt(row, column)` is {colour, text, hatched}, or null where
 * there is nothing; `rowName` and `columnName` name them. Cells of a large grid are as small as it
 * takes.
 */
function drawGrid(place, options) {
  const {rows, columns, title, rowTitle, columnTitle, rowName, columnName, cellAt, onClick} =
      options;
  const [left, top] = [74, 40];
  const room = Math.max(300, Math.min(1500, (place.clientWidth || 1200) - left - 40));
  const largest = options.square ? (columns <= 24 ? 50 : 26) : 30;
  const width = Math.max(0.5, Math.min(largest, room / columns));
  const height = Math.max(0.5, Math.min(26, options.square ? width : 620 / rows));
  const [gapX, gapY] = [width >= 8 ? 1 : 0, height >= 5 ? 1 : 0];
  const {canvas, context} =
      smallCanvas(Math.ceil(left + columns * width) + 30, Math.ceil(top + rows * height) + 8);
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', title);
  const holder = make('div', {className: 'figure'}, canvas);
  place.append(holder);
  const draw = () => {
    const palette = new Palette();
    context.fillStyle = palette.get('page');
    context.fillRect(0, 0, canvas.width, canvas.height);
    for (let r = 0; r < rows; ++r) {
      for (let c = 0; c < columns; ++c) {
        const [x, y] = [Math.round(left + c * width), Math.round(top + r * height)];
        drawCell(
            context, cellAt(r, c, palette), x, y,
            Math.max(1, Math.round(left + (c + 1) * width) - x - gapX),
            Math.max(1, Math.round(top + (r + 1) * height) - y - gapY), palette);
      }
    }
    context.fillStyle = palette.get('quiet');
    context.font = kFont;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    everyFew(
        rows, height, 15, (r) => context.fillText(rowName(r), left - 6, top + (r + 0.5) * height));
    context.textAlign = 'center';
    everyFew(
        columns, width, options.columnRoom || 34,
        (c) => context.fillText(columnName(c), left + (c + 0.5) * width, top - 9));
    context.textAlign = 'left';
    context.fillStyle = palette.get('text');
    context.fillText(`${columnTitle} →`, left, 11);
    context.fillText(`${rowTitle} ↓`, 8, top - 9);
  };
  draw();
  onTheme(draw);
  const cell = (x, y) => {
    const [r, c] = [Math.floor((y - top) / height), Math.floor((x - left) / width)];
    return r >= 0 && c >= 0 && r < rows && c < columns ? [r, c] : null;
  };
  addTip(canvas, (x, y) => {
    const at = cell(x, y);
    const found = at && cellAt(at[0], at[1], null);
    return found ? found.text : null;
  });
  if (!onClick) return;
  canvas.addEventListener('click', (event) => {
    const box = canvas.getBoundingClientRect();
    const at = cell(event.clientX - box.left, event.clientY - box.top);
    if (at) onClick(...at);
  });
}

function drawCell(context, cell, x, y, width, height, palette) {
  if (!cell) return;
  context.fillStyle = cell.colour;
  context.fillRect(x, y, width, height);
  if (cell.label && width >= 40) {
    context.font = '10px system-ui, "DejaVu Sans", sans-serif';
    context.fillStyle = cell.ink;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.fillText(cell.label, x + width / 2, y + height / 2, width - 3);
  }
  if (!cell.hatched || width < 6 || height < 6) return;
  context.strokeStyle = palette.get('float0-hatch');
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x, y + height - 1);
  context.lineTo(x + width - 1, y);
  context.stroke();
}

/** Calls with as many of `count` indices, evenly apart, as have `least` pixels each. */
function everyFew(count, size, least, call) {
  const raw = least / size;
  const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1)));
  const step = Math.max(1, Math.round([1, 2, 5, 10].find((times) => times * power >= raw) * power));
  for (let i = 0; i < count; i += step) call(i);
}

/** How many indices share a cell so that there are at most `most` cells. */
function groupsOf(count, most) {
  const size = Math.max(1, Math.ceil(count / most));
  return {
    size,
    cells: Math.ceil(count / size),
    name: (cell) => String(cell * size),
    range: (cell) =>
        (size === 1 ? String(cell) : `${cell * size}–${Math.min(count, (cell + 1) * size) - 1}`)
  };
}
