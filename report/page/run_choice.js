// Views of one run, where a report has two: which of them.

/** Calls `fill(run, place)` with the run that is chosen, at first the first. */
async function withRunChoice(model, place, fill) {
  const inner = make('div');
  const scroll = make('div', {className: 'scroll'});
  if (model.runs.length > 1) {
    const choice = make(
        'select', {ariaLabel: 'Which run', on: {change: () => show()}},
        ...model.runs.map(
            (run, i) =>
                make('option', {value: String(i)}, `${i ? 'second' : 'first'}: ${run.label}`)));
    const show = () => fill(model.runs[Number(choice.value)], inner);
    scroll.append(make('p', {}, choice));
  }
  scroll.append(inner);
  place.append(scroll);
  await fill(model.runs[0], inner);
  return {
    focus: () => {
      scroll.tabIndex = 0;
      scroll.focus();
    }
  };
}
