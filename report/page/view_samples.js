// The makespans of many runs: histogram, and how many were done by when.

async function viewSamples(model, place) {
  const scroll = make('div', {className: 'scroll'});
  place.append(scroll);
  const column = await model.columns.get('sample.makespan');
  const ended = [...column]
                    .filter((each) => each >= 0)
                    .map((each) => model.seconds(each))
                    .sort((a, b) => a - b);
  const never = column.length - ended.length;
  scroll.append(make('h2', {}, `${countText(column.length)} ${model.facts.samples.of}`));
  if (never)
    scroll.append(make('p', {className: 'note'}, `${countText(never)} of them never ended.`));
  if (!ended.length) return;
  scroll.append(sampleTable(ended));
  const [least, most] = [ended[0], ended[ended.length - 1]];
  const margin = (most - least) * 0.03 || most * 0.01 || 1e-12;
  const x = {from: least - margin, to: most + margin, title: 'makespan', label: kTimeAxis};
  drawHistogram(scroll, ended, x);
  drawDistribution(scroll, ended, x);
}

/** The time that a share `q` of sorted times does not exceed. */
function quantile(sorted, q) {
  return sorted[Math.max(0, Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1))];
}

/** The middle one of sorted times, or the mean of the middle two. */
function medianOf(sorted) {
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
}

function sampleTable(sorted) {
  const mean = sorted.reduce((sum, each) => sum + each, 0) / sorted.length;
  const square = sorted.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  const deviation = sorted.length > 1 ? Math.sqrt(square / (sorted.length - 1)) : 0;
  const columns = [
    ['mean', mean], ['deviation', deviation], ['min', sorted[0]], ['5 %', quantile(sorted, 0.05)],
    ['median', medianOf(sorted)], ['95 %', quantile(sorted, 0.95)],
    ['99 %', quantile(sorted, 0.99)], ['max', sorted[sorted.length - 1]]
  ];
  return make(
      'table', {}, make('thead', {}, tableRow(columns.map(([name]) => name), 'th')),
      make('tbody', {}, tableRow(columns.map(([, value]) => seconds(value)))));
}

/** Bars of one width: as many as the cube root rule of Rice says, at most 60. */
function drawHistogram(place, sorted, x) {
  const bins = Math.max(1, Math.min(60, Math.ceil(2 * Math.cbrt(sorted.length))));
  const [least, most] = [sorted[0], sorted[sorted.length - 1]];
  const width = (most - least) / bins || (x.to - x.from) / 10;
  const counts = new Array(bins).fill(0);
  for (const each of sorted) counts[Math.min(bins - 1, Math.floor((each - least) / width))] += 1;
  const begin = most > least ? least : least - width / 2;
  place.append(make('h2', {}, 'Histogram'));
  drawChart(place, {
    title: 'Histogram of makespans',
    x,
    y: {from: 0, to: Math.max(...counts) * 1.06, title: 'runs', label: kCountAxis},
    draw: (context, at, palette) => {
      context.fillStyle = palette.get('cause3');
      counts.forEach((count, i) => {
        const [x0, y0] = at(begin + i * width, count);
        const [x1, y1] = at(begin + (i + 1) * width, 0);
        context.fillRect(x0, y0, Math.max(1, x1 - x0 - 1), y1 - y0);
      });
    },
    tip: (time) => {
      const i = Math.floor((time - begin) / width);
      return counts[i] ?
          `${seconds(begin + i * width)} to ${seconds(begin + (i + 1) * width)}: ${counts[i]}` :
          null;
    },
  });
}

function drawDistribution(place, sorted, x) {
  const points = [[x.from, 0]];
  sorted.forEach(
      (time, i) => points.push([time, i / sorted.length], [time, (i + 1) / sorted.length]));
  points.push([x.to, 1]);
  place.append(make('h2', {}, 'Cumulative distribution'));
  drawChart(place, {
    title: 'Share of runs that ended by then',
    x,
    y: {from: 0, to: 1, title: 'share of runs', label: kPercentAxis},
    draw: (context, at, palette) => strokeLine(context, at, points, palette.get('cause3')),
    tip: (time) => `${percent(sorted.filter((each) => each <= time).length / sorted.length)} by ${
        seconds(time)}`,
  });
}
