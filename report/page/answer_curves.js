// Curves of an answer: those that it has, and those that its tables make.

const kCurveColours = ['cause3', 'cause7', 'cause1', 'cause0', 'cause5', 'cause6'];
const kCurveDashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

/** Curves in one chart; `axes` may say `x_axis`, `y_axis` and the base of a logarithmic one. */
function drawCurves(place, curves, axes) {
  const style = curves.map(
      (_, i) =>
          [kCurveColours[i % kCurveColours.length],
           kCurveDashes[Math.floor(i / kCurveColours.length + i) % kCurveDashes.length]]);
  place.append(lineLegend(curves.map(({name}, i) => [name, ...style[i]])));
  const axisOf = (side) => {
    const base = axes[`${side}_log_base`] || 0;
    const to = (value) => base ? Math.log(value) / Math.log(base) : value;
    const back = (value) => base ? base ** value : value;
    const all = curves.flatMap((curve) => curve[side]).map(to).filter(Number.isFinite);
    const least = all.reduce((a, b) => Math.min(a, b), Infinity);
    const most = all.reduce((a, b) => Math.max(a, b), -Infinity);
    const key = axes[`${side}_key`] || '';
    const said = (value) => key ? saidOf(key, value) : digits(value);
    const label = (ticks) => ticks.map((tick) => said(back(tick)));
    const from = base || side === 'x' ? least : Math.min(0, least);
    return {
      from,
      to: most > from ? most : from + 1,
      base,
      title: axes[`${side}_axis`] || side,
      label,
      at: to,
      say: (value) => said(back(value))
    };
  };
  const [x, y] = [axisOf('x'), axisOf('y')];
  if (!Number.isFinite(x.from) || !Number.isFinite(y.from)) return;
  drawChart(place, {
    title: axes.title || 'Curves',
    height: 300,
    x,
    y,
    draw: (context, at, palette) => curves.forEach((curve, i) => {
      const points = curve.x.map((value, p) => [x.at(value), y.at(curve.y[p])])
                         .filter((point) => point.every(Number.isFinite));
      strokeLine(context, at, points, palette.get(style[i][0]), style[i][1]);
      context.fillStyle = palette.get(style[i][0]);
      for (const point of points) {
        const [px, py] = at(...point);
        context.fillRect(px - 2, py - 2, 4, 4);
      }
    }),
    tip: (vx, vy) => `${x.say(vx)}, ${y.say(vy)}`,
  });
}

/**
 * A table as curves over one of its columns, by another: which are chosen, at first those that look
 * like it. Nothing for a table without two columns of numbers and one that groups its rows.
 */
function drawTable(place, list) {
  const {keys} = columnsOf(list);
  const values = (key) => new Set(list.map((row) => row[key])).size;
  const numbers = keys.filter((key) => isNumeric(list, key));
  const groups = keys.filter((key) => !numbers.includes(key) && values(key) <= 12);
  if (list.length < 4 || numbers.length < 2 || !groups.some((key) => values(key) > 1)) return;
  const x = numbers.find((key) => values(key) > 2 && values(key) < list.length) || numbers[0];
  const chosen = {
    x,
    y: numbers.find((key) => key !== x && /_s$/.test(key)) || numbers.find((key) => key !== x),
    by: ['pattern', ...groups].find((key) => groups.includes(key) && values(key) > 1),
  };
  const chart = make('div');
  const choose = (what, options) => make(
      'label', {}, `${what} `,
      make(
          'select', {
            ariaLabel: `Drawn: ${what}`,
            on: {
              change: (event) => {
                chosen[what] = event.target.value;
                show();
              }
            }
          },
          ...options.map(
              (key) => make(
                  'option', {value: key, selected: key === chosen[what]}, wordsOf(key) || '–'))));
  const show = () => {
    chart.replaceChildren();
    drawCurves(chart, curvesOf(list, chosen), {
      title: `${wordsOf(chosen.y)} over ${wordsOf(chosen.x)}`,
      ...axisOfColumn('x', list, chosen.x),
      ...axisOfColumn('y', list, chosen.y)
    });
  };
  place.append(
      make(
          'div', {className: 'bar'}, choose('x', numbers), choose('y', numbers),
          choose('by', ['', ...groups])),
      chart);
  show();
}

function axisOfColumn(side, list, key) {
  const all = list.map((row) => row[key]).filter((value) => typeof value === 'number');
  const least = all.reduce((a, b) => Math.min(a, b), Infinity);
  const most = all.reduce((a, b) => Math.max(a, b), -Infinity);
  const base = all.every((value) => Number.isInteger(Math.log2(value))) ? 2 : 10;
  return {
    [`${side}_axis`]: wordsOf(key),
    [`${side}_log_base`]: least > 0 && most > 20 * least ? base : 0,
    [`${side}_key`]: key
  };
}

/** A curve for each value of `by`; where several rows have the same x, the least counts. */
function curvesOf(list, {x, y, by}) {
  const groups = new Map();
  for (const row of list) {
    if (typeof row[x] !== 'number' || typeof row[y] !== 'number') continue;
    const name = by ? saidOf(by, row[by]) || '–' : wordsOf(y);
    if (!groups.has(name)) groups.set(name, new Map());
    const points = groups.get(name);
    points.set(row[x], Math.min(row[y], points.get(row[x]) ?? Infinity));
  }
  return [...groups].map(([name, points]) => {
    const sorted = [...points].sort((a, b) => a[0] - b[0]);
    return {name, x: sorted.map(([px]) => px), y: sorted.map(([, py]) => py)};
  });
}
