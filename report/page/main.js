// The page: head, tabs, and the view that is shown.

class Page {
  constructor(model) {
    this.model = model;
    this.state = {op: -1};  // what views hand on to each other
    this.views = allViews().filter((view) => view.has(model));
    this.place = document.getElementById('view');
    this.help = document.getElementById('help');
    this.shown = {};
    fillHelp(this.help);
    fillHead(document.getElementById('head'), model);
    this.fillTabs();
    document.addEventListener('keydown', (event) => this.key(event));
    watchTheme();
  }

  fillTabs() {
    const tabs = document.getElementById('tabs');
    this.tabs = this.views.map(
        (view, i) => make(
            'button', {
              type: 'button',
              id: `tab-${view.name}`,
              title: `Key ${i + 1}`,
              on: {click: () => this.show(i)}
            },
            view.title));
    for (const tab of this.tabs) tab.setAttribute('role', 'tab');
    tabs.append(
        ...this.tabs, make('span', {className: 'spring'}),
        make(
            'button', {
              type: 'button',
              title: 'Keys and what is drawn (?)',
              on: {click: () => this.help.showModal()}
            },
            '? help'));
  }

  async show(index) {
    const view = this.views[index];
    this.tabs.forEach((tab, i) => tab.setAttribute('aria-selected', String(i === index)));
    forgetThemeListeners();
    const place = make('div', {className: 'stack'});
    this.place.replaceChildren(place);
    const root = document.documentElement;
    delete root.dataset.view;
    this.state.go = (op) => {
      this.state.op = op;
      this.show(this.views.findIndex((each) => each.name === 'timeline'));
    };
    this.shown = (await view.fill(this.model, place, this.state)) || {};
    requestAnimationFrame(() => {
      root.dataset.view = view.name;
    });
    if (this.shown.focus) this.shown.focus();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    if (event.target.closest('input, select, canvas[tabindex]') && !/^[1-9?/np]$/.test(event.key))
      return;
    if (event.target.closest('input, select')) return;
    if (event.key === '?')
      this.help.showModal();
    else if (/^[1-9]$/.test(event.key) && this.views[event.key - 1])
      this.show(event.key - 1);
    else if (!this.shown.key || !this.shown.key(event.key))
      return;
    event.preventDefault();
  }
}

function fillHead(head, model) {
  const {schedule, runs} = model;
  if (!schedule) return head.append(make('h1', {}, model.facts.title));
  const facts = [['ranks', countText(schedule.ranks)], ['operations', countText(schedule.ops)]];
  if (schedule.message_bytes) facts.push(['message', byteText(schedule.message_bytes)]);
  const fact = ([name, value]) => make('span', {}, `${name} `, make('b', {}, value));
  const line = make('div', {className: 'facts'}, ...facts.map(fact));
  const lines = runs.map(
      (run, i) => make(
          'div', {className: 'facts'},
          ...[[runs.length > 1 ? (i ? 'second' : 'first') : 'run', run.label],
              ['engine', run.engine],
              ['makespan', model.time(run.makespan < 0 ? Infinity : run.makespan)]]
              .concat(run.delays ? [['delays', 'some']] : [], run.seed ? [['seed', run.seed]] : [])
              .map(fact)));
  const platforms = [...new Set(runs.map((run) => run.platform))].filter((platform) => platform);
  head.append(
      make('h1', {}, schedule.name), line, ...lines,
      ...platforms.map(
          (platform) =>
              make('p', {className: 'platform', title: platform}, `platform ${platform}`)));
  for (const run of runs) {
    for (const text of notesOn(run, model)) {
      head.append(make('p', {className: 'note'}, runs.length > 1 ? `${run.label}: ${text}` : text));
    }
  }
}

/** What a reader must know of a run's figures. */
function notesOn(run, model) {
  const notes = [];
  if (run.makespan < 0) notes.push('The run never ended: what never happened is left out.');
  if (run.contended) notes.push('Messages shared links, which this engine leaves out.');
  if (run.no_promise)
    notes.push(`Floats are of this run with its order and rates frozen, and no promise: ${
        run.no_promise}.`);
  if (run.hasSlack && run.measured) {
    notes.push(
        'Floats are of the times that were seen, with the order of messages at each rank ' +
        'frozen: nobody knows the machine that made them.');
  } else if (run.hasSlack && !run.explained) {
    notes.push(`Slack is of the run computed again, which differs from it by up to ${
        model.time(run.unexplained)}.`);
  }
  return notes;
}

async function start() {
  const root = document.documentElement;
  try {
    const page = new Page(await Model.read());
    await page.show(0);
    requestAnimationFrame(() => requestAnimationFrame(() => {
                            root.dataset.loadMs = performance.now().toFixed(0);
                            root.dataset.ready = 'yes';
                          }));
  } catch (error) {
    root.dataset.ready = 'failed';
    const why = typeof DecompressionStream === 'undefined' ?
        'this browser is too old: expected one that knows DecompressionStream, from 2023 on' :
        String(error);
    document.getElementById('view').replaceChildren(
        make('p', {className: 'error'}, `This report cannot be shown: ${why}`));
    throw error;
  }
}
