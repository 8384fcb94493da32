// Small charts on a canvas: axes, and whatever draws itself between them.

/**
 * A chart of `width` × `height`. `x` and `y` are {from, to, title, label(values)}, and the `base`
 * of a logarithmic one, whose numbers are logarithms. `draw(context, at, palette)` draws with
 * `at(x, y)`, which answers [x, y] in pixels; `tip(x, y)` gets values.
 */
function drawChart(place, options) {
  const {x, y, draw, tip, title} = options;
  const width = options.width || Math.max(360, Math.min(1180, (place.clientWidth || 1200) - 40));
  const height = options.height || 260;
  const box = {left: 84, top: 14, right: 14, bottom: 44};
  const [inner, tall] = [width - box.left - box.right, height - box.top - box.bottom];
  const at = (vx, vy) =>
      [box.left + (vx - x.from) / (x.to - x.from || 1) * inner,
       box.top + tall - (vy - y.from) / (y.to - y.from || 1) * tall];
  const {canvas, context} = smallCanvas(width, height);
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', title);
  place.append(make('div', {className: 'figure'}, canvas));
  const paint = () => {
    const palette = new Palette();
    context.fillStyle = palette.get('page');
    context.fillRect(0, 0, width, height);
    drawAxes(context, x, y, at, box, inner, tall, palette);
    context.save();
    context.beginPath();
    context.rect(box.left - 1, box.top - 1, inner + 2, tall + 2);
    context.clip();
    draw(context, at, palette);
    context.restore();
  };
  paint();
  onTheme(paint);
  if (!tip) return;
  addTip(canvas, (px, py) => {
    const [sx, sy] = [(px - box.left) / inner, 1 - (py - box.top) / tall];
    if (sx < 0 || sx > 1 || sy < 0 || sy > 1) return null;
    return tip(
        x.from + sx * (x.to - x.from), y.from + sy * (y.to - y.from), inner / (x.to - x.from || 1));
  });
}

function drawAxes(context, x, y, at, box, inner, tall, palette) {
  context.font = kFont;
  context.textBaseline = 'middle';
  const ticksOf = ({from, to, base}, most) =>
      base ? logTicksBetween(from, to, base, most) : ticksBetween(from, to, most);
  const across = ticksOf(x, inner / 110);
  const up = ticksOf(y, tall / 40);
  const labels = {x: x.label(across), y: y.label(up)};
  across.forEach((value, i) => {
    const [px] = at(value, y.from);
    context.fillStyle = palette.get('grid');
    context.fillRect(Math.round(px), box.top, 1, tall);
    context.fillStyle = palette.get('quiet');
    context.textAlign = 'center';
    context.fillText(labels.x[i], px, box.top + tall + 13);
  });
  up.forEach((value, i) => {
    const [, py] = at(x.from, value);
    context.fillStyle = palette.get('grid');
    context.fillRect(box.left, Math.round(py), inner, 1);
    context.fillStyle = palette.get('quiet');
    context.textAlign = 'right';
    context.fillText(labels.y[i], box.left - 7, py);
  });
  context.fillStyle = palette.get('text');
  context.textAlign = 'center';
  context.fillText(x.title, box.left + inner / 2, box.top + tall + 33);
  context.save();
  context.translate(11, box.top + tall / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(y.title, 0, 0);
  context.restore();
}

/** A line through points, in steps if asked for. */
function strokeLine(context, at, points, colour, dashes = [], width = 1.8) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dashes);
  context.beginPath();
  points.forEach(([vx, vy], i) => {
    const [px, py] = at(vx, vy);
    if (i)
      context.lineTo(px, py);
    else
      context.moveTo(px, py);
  });
  context.stroke();
  context.setLineDash([]);
}

/** What the lines of a chart are: [[text, colour's name, dashes]]. */
function lineLegend(entries) {
  const legend = make('div', {className: 'legend'});
  for (const [text, colour, dashes] of entries) {
    const {canvas, context} = smallCanvas(30, 18);
    const draw = () => {
      context.clearRect(0, 0, 30, 18);
      strokeLine(
          context, (px, py) => [px, py], [[1, 9], [29, 9]], new Palette().get(colour), dashes, 2.2);
    };
    draw();
    onTheme(draw);
    legend.append(make('span', {}, canvas, text));
  }
  return legend;
}

/** How a time axis in seconds is labelled. */
const kTimeAxis = (ticks) => (ticks.length ? axisLabels(ticks) : []);
const kPercentAxis = (ticks) => ticks.map((tick) => `${digits(100 * tick, 3)} %`);
const kCountAxis = (ticks) => ticks.map((tick) => (Number.isInteger(tick) ? countText(tick) : ''));
