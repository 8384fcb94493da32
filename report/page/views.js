// The views, in the order of their tabs. A new view is its file and its line here: its name, its title,
// whether there is something to show, and what fills its place. That may answer with `focus()` and with
// `key(key)`, which says whether it did something; it may be a promise.

function allViews() {
  return [
    { name: 'timeline', title: 'Timeline', has: (model) => model.runs.length > 0, fill: viewTimeline },
    { name: 'path', title: 'Critical path', has: (model) => model.runs.some((run) => run.hasPath), fill: viewPath },
    { name: 'heat', title: 'Ranks × steps', has: (model) => model.runs.some((run) => run.hasSlack), fill: viewHeat },
    { name: 'messages', title: 'Messages', has: (model) => model.runs.length > 0, fill: viewMessages },
    { name: 'links', title: 'NICs and links', has: (model) => model.runs.some((run) => run.links.length > 0), fill: viewLinks },
    { name: 'samples', title: 'Samples', has: (model) => model.facts.samples !== undefined, fill: viewSamples },
    { name: 'compare', title: 'What differs', has: (model) => model.runs.length > 1, fill: viewCompare },
    { name: 'validation', title: 'Validation', has: (model) => model.facts.validation !== undefined, fill: viewValidation },
  ];
}
