// The views, in the order of their tabs. A new view is its file and its line here: its name, its
// title, whether there is something to show, and what fills its place. That may answer with
// `focus()` and with `key(key)`, which says whether it did something; it may be a promise.

function allViews() {
  const view = (name, title, has, fill) => ({name, title, has, fill});
  return [
    view('answer', 'Figures', ({facts}) => facts.answer !== undefined, viewAnswer),
    view('timeline', 'Timeline', hasRun, viewTimeline),
    view('path', 'Critical path', (model) => model.runs.some((run) => run.hasPath), viewPath),
    view('heat', 'Ranks × steps', (model) => model.runs.some((run) => run.hasSlack), viewHeat),
    view('messages', 'Messages', hasRun, viewMessages),
    view(
        'links', 'NICs and links', (model) => model.runs.some(({links}) => links.length),
        viewLinks),
    view('samples', 'Samples', ({facts}) => facts.samples !== undefined, viewSamples),
    view('compare', 'What differs', (model) => model.runs.length > 1, viewCompare),
    view('validation', 'Validation', ({facts}) => facts.validation !== undefined, viewValidation),
  ];
}

function hasRun(model) {
  return model.runs.length > 0;
}
