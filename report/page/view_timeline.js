// The timeline of one run, or of two above each other with one time axis.

function viewTimeline(model, place, state) {
  const runs = model.runs;
  const window_ = new TimeWindow(
      Math.max(...runs.map((run) => run.last)),
      Math.max(...runs.map((run) => run.trackRank.length)));
  const aside = make('aside', {ariaLabel: 'The operation that was chosen'});
  const timelines = runs.map((run) => new Timeline(run, window_, (op) => select(op, false)));
  const select = (op, show) => {
    state.op = op;
    timelines.forEach((timeline, i) => timeline.select(op, show && i === 0));
    showDetails(aside, runs, op, (other) => select(other, true));
  };
  const search = new Search(runs[0], timelines, select);
  const first = timelines[0];
  const colours = colourChoice(runs, () => search.look());
  place.append(
      make(
          'div', {className: 'bar'}, search.element,
          make(
              'span', {className: 'control'},
              button('−', 'Zoom out (-)', () => window_.zoom(1 / 0.6)), ' ',
              button('+', 'Zoom in (+)', () => window_.zoom(0.6)), ' ',
              button('⇕', 'Higher rows (])', () => first.zoomRows(1.3)), ' ',
              button('⇳', 'Lower rows ([)', () => first.zoomRows(1 / 1.3)), ' ',
              button('all', 'Everything (0)', () => window_.fit())),
          colours),
      make(
          'div', {className: 'split'},
          make(
              'div', {className: 'stack'},
              ...timelines
                  .flatMap(
                      (timeline, i) =>
                          [runs.length > 1 ?
                               make(
                                   'div', {className: 'label'},
                                   make('b', {}, i ? 'second ' : 'first '),
                                   `${runs[i].label}, ${runs[i].engine}, ${
                                       model.time(
                                           runs[i].makespan < 0 ? Infinity : runs[i].makespan)}`) :
                               null,
                           timeline.element])
                  .filter((each) => each)),
          aside));
  onTheme(() => timelines.forEach((timeline) => timeline.redraw()));
  select(state.op, state.op >= 0);
  return {
    focus: () => first.canvas.focus(),
    key: (key) => {
      if (key === '/')
        search.box.focus();
      else if (key === 'n')
        search.step(1);
      else if (key === 'p')
        search.step(-1);
      else
        return first.key(key);
      return true;
    },
  };
}

/** What colours say, and where runs have slopes, which of the two it is. */
function colourChoice(runs, redraw) {
  const legend = make('span');
  const show = () => {
    legend.replaceChildren(runs[0].scale === 'slope' ? slopeLegend() : floatLegend(runs[0]));
  };
  show();
  if (!runs.every((run) => run.hasSlopes)) return legend;
  const choice = make(
      'select', {
        id: 'colours',
        ariaLabel: 'What colours say',
        on: {
          change: () => {
            for (const run of runs) run.colourBy(choice.value);
            show();
            redraw();
          }
        }
      },
      ...['float', 'slope'].map(
          (scale) =>
              make('option', {value: scale, selected: scale === runs[0].scale}, `by ${scale}`)));
  return make('span', {className: 'legend'}, choice, legend);
}
