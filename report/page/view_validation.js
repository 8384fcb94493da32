// What slack predicted of delayed operations, against what was measured.

const kNeverShift = 2 ** 51;  // of a run that never ended

async function viewValidation(model, place, state) {
  const scroll = make('div', {className: 'scroll'});
  place.append(scroll);
  const {op, delay, within, ...shifts} =
      await model.columns.some('validated.', ['op', 'delay', 'predicted', 'measured', 'within']);
  const [predicted, measured] = [shifts.predicted, shifts.measured].map(
      (column) => Array.from(column, (each) => (each === kNeverShift ? Infinity : each)));
  const all = [...op.keys()];
  const beyond = all.filter((i) => !within[i]);
  const ended = all.filter((i) => Number.isFinite(predicted[i]) && Number.isFinite(measured[i]));
  scroll.append(
      make('h2', {}, `${countText(op.length)} operations, each delayed in a run of its own`),
      make(
          'p', {className: 'note'},
          beyond.length ? `Beyond their tolerance (crosses): ${countText(beyond.length)}.` :
                          'All are within their tolerance.'));
  if (ended.length < all.length)
    scroll.append(make(
        'p', {className: 'note'},
        `${countText(all.length - ended.length)} of the runs never ended.`));
  const values =
      ended.flatMap((i) => [predicted[i], measured[i]]).map((each) => model.seconds(each));
  const [low, high] = [Math.min(0, ...values), Math.max(...values, 1e-12)];
  const margin = (high - low) * 0.04;
  const axis = (title) => ({from: low - margin, to: high + margin, title, label: kTimeAxis});
  drawChart(scroll, {
    title: 'Predicted against measured',
    width: 560,
    height: 500,
    x: axis('predicted: how much later the run ends'),
    y: axis('measured'),
    draw: (context, at, palette) => {
      strokeLine(context, at, [[low, low], [high, high]], palette.get('quiet'), [6, 4], 1);
      for (const i of ended)
        drawPoint(
            context, at(model.seconds(predicted[i]), model.seconds(measured[i])), within[i],
            palette);
    },
    tip: (x, y, perUnit) => {
      const distance = (i) =>
          Math.hypot(model.seconds(predicted[i]) - x, model.seconds(measured[i]) - y);
      const best = ended.reduce((a, b) => (distance(b) < distance(a) ? b : a), ended[0]);
      if (best === undefined || distance(best) * perUnit > 12) return null;
      return `${model.schedule.nameOf(op[best])} by ${model.time(delay[best])}: predicted ${
          model.time(predicted[best])}, measured ${model.time(measured[best])}`;
    },
  });
  const errorOf = (i) => (predicted[i] === measured[i] ? 0 : Math.abs(measured[i] - predicted[i]));
  const order = [...all].sort(
      (a, b) => within[a] - within[b] ||
          Number(errorOf(b) > errorOf(a)) - Number(errorOf(b) < errorOf(a)) || op[a] - op[b]);
  scroll.append(
      make('h2', {}, 'Those that differ most first'),
      longTable(
          [
            {left: 'operation'}, 'rank', 'step', 'delay', 'predicted', 'measured', 'difference',
            {left: ''}
          ],
          order.length, (k) => {
            const i = order[k];
            return [
              {left: opLink(model, op[i], state.go)}, model.schedule.rank[op[i]],
              model.schedule.opStep[op[i]], model.time(delay[i]), model.time(predicted[i]),
              model.time(measured[i]),
              Number.isFinite(errorOf(i)) ? difference(model, measured[i] - predicted[i]) : 'never',
              {left: within[i] ? '' : 'beyond'}
            ];
          }));
}

/** A difference of times with its sign. */
function difference(model, ticks) {
  return `${ticks > 0 ? '+' : ticks < 0 ? '−' : ''}${model.time(Math.abs(ticks))}`;
}

function drawPoint(context, [x, y], within, palette) {
  context.strokeStyle = context.fillStyle = palette.get(within ? 'cause3' : 'float0');
  context.lineWidth = 2;
  context.beginPath();
  if (within) {
    context.arc(x, y, 3.2, 0, 7);
    context.globalAlpha = 0.65;
    context.fill();
    context.globalAlpha = 1;
    return;
  }
  for (const [dx, dy] of [[4, 4], [4, -4]]) {
    context.moveTo(x - dx, y - dy);
    context.lineTo(x + dx, y + dy);
  }
  context.stroke();
}
