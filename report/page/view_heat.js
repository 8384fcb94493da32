// The least total float by rank and step.

function viewHeat(model, place, state) {
  return withRunChoice(model, place, (run, inner) => fillHeat(run, inner, state));
}

function fillHeat(run, inner, state) {
  const {model} = run;
  const {schedule} = model;
  inner.replaceChildren();
  if (!run.hasSlack) {
    inner.append(make('p', {className: 'note'}, `No slack is known of this run: ${run.no_slack}.`));
    return;
  }
  const ranks = groupsOf(schedule.ranks, 512);
  const steps = groupsOf(schedule.steps, 1024);
  const least = new Float64Array(ranks.cells * steps.cells).fill(Infinity);
  const which = new Int32Array(least.length).fill(-1);
  for (let op = 0; op < schedule.ops; ++op) {
    const cell = Math.floor(schedule.rank[op] / ranks.size) * steps.cells +
        Math.floor(schedule.opStep[op] / steps.size);
    if (run.totalFloat[op] >= least[cell]) continue;
    least[cell] = run.totalFloat[op];
    which[cell] = op;
  }
  inner.append(make('h2', {}, 'The least total float by rank and step'), floatLegend(run));
  drawGrid(inner, {
    rows: ranks.cells,
    columns: steps.cells,
    title: 'The least total float by rank and step',
    rowTitle: 'rank',
    columnTitle: 'step',
    rowName: ranks.name,
    columnName: steps.name,
    cellAt: (r, c, palette) => {
      const cell = r * steps.cells + c;
      if (which[cell] < 0) return null;
      const seen = classOf(least[cell], model.bounds);
      return {
        colour: palette && palette.get(`float${seen}`),
        hatched: seen === 0,
        text: `rank ${ranks.range(r)}, step ${steps.range(c)}: least float ${
            model.time(least[cell])}, ${schedule.nameOf(which[cell])}`
      };
    },
    onClick: (r, c) => {
      const op = which[r * steps.cells + c];
      if (op >= 0) state.go(op);
    },
  });
  inner.append(make(
      'p', {className: 'note'},
      'A click shows the operation with the least float on the timeline. Empty: no operation.'));
}
