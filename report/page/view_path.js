// The critical path: how long by which cause, and stretch by stretch.

function viewPath(model, place, state) {
  return withRunChoice(model, place, (run, inner) => fillPath(run, inner, state));
}

async function fillPath(run, inner, state) {
  const {model} = run;
  if (!run.hasPath) {
    const why = run.hasSlack ? 'it is a real one, whose machine nobody knows' : run.no_slack;
    inner.replaceChildren(
        make('p', {className: 'note'}, `No critical path is known of this run: ${why}.`));
    return;
  }
  const names = model.facts.causes;
  const path = await model.columns.some(
      `${run.prefix}path.`, ['op', 'after', 'begin', 'end', ...names.map((_, c) => `cause${c}`)]);
  const causes = names.map((_, c) => path[`cause${c}`]);
  const totals = causes.map((column) => column.reduce((sum, each) => sum + each, 0));
  inner.replaceChildren(
      make(
          'h2', {},
          `The makespan, ${model.time(run.makespan)}, by what the critical path waits for`),
      causeBar(names, totals), causeTable(model, names, totals),
      make('h2', {}, `${countText(path.op.length)} stretches from the start to the end`),
      longTable(
          [
            {left: 'operation'}, 'rank', 'step', 'from', 'to', 'length', {left: 'what it is'},
            {left: 'after'}
          ],
          path.op.length, (i) => pathRow(model, path, causes, names, i, state.go)));
}

/** Shares of the whole beside each other. */
function causeBar(names, totals) {
  const all = totals.reduce((sum, each) => sum + each, 0) || 1;
  const bar = make('div', {className: 'causes', ariaLabel: 'Times by cause'});
  bar.setAttribute('role', 'img');
  totals.forEach((total, c) => {
    if (total <= 0) return;
    const piece = make('i', {title: `${names[c]}: ${percent(total / all)}`});
    piece.style.flex = `${total / all} 0 0`;
    piece.style.background = `var(--cause${c})`;
    bar.append(piece);
  });
  return bar;
}

function causeTable(model, names, totals) {
  const all = totals.reduce((sum, each) => sum + each, 0) || 1;
  const order =
      names.map((_, c) => c).filter((c) => totals[c] > 0).sort((a, b) => totals[b] - totals[a]);
  return make(
      'table', {}, make('tbody', {}, ...order.map((c) => tableRow([
                                                    {left: causeName(names, c)},
                                                    model.time(totals[c]), percent(totals[c] / all)
                                                  ]))));
}

function causeName(names, c) {
  const swatch = make('i', {className: 'swatch'});
  swatch.style.background = `var(--cause${c})`;
  return make('span', {}, swatch, ` ${names[c]}`);
}

function opLink(model, op, go) {
  if (!model.runs.length) return make('span', {}, model.schedule.nameOf(op));
  return make(
      'button', {
        className: 'link',
        type: 'button',
        title: 'Show it on the timeline',
        on: {click: () => go(op)}
      },
      model.schedule.nameOf(op));
}

function pathRow(model, path, causes, names, i, go) {
  const op = path.op[i];
  const parts = names.map((_, c) => c)
                    .filter((c) => causes[c][i] > 0)
                    .sort((a, b) => causes[b][i] - causes[a][i]);
  const what = make('span', {});
  parts.forEach(
      (c, k) => what.append(
          k ? ', ' : '', causeName(names, c),
          parts.length > 1 ? ` ${model.time(causes[c][i])}` : ''));
  return [
    {left: opLink(model, op, go)}, model.schedule.rank[op], model.schedule.opStep[op],
    model.time(path.begin[i]), model.time(path.end[i]), model.time(path.end[i] - path.begin[i]),
    {left: what}, {
      left: path.after[i] < 0  ? 'the start' :
          path.after[i] === op ? 'itself' :
                                 opLink(model, path.after[i], go)
    }
  ];
}
