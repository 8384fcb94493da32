// Finding operations: by number, kind, rank, step, or that they are critical.

const kSearchHelp =
    'a number, a kind (send, recv, …), rank=3, step=7, critical, or several of them';

/** What a text asks for: {op, kind, rank, step, critical}, or {error}. */
function parseSearch(text, schedule) {
  const wanted = {};
  const words = text.trim()
                    .toLowerCase()
                    .replace(/\b(rank|step|op)\s*[=: ]\s*(\d+)/g, '$1=$2')
                    .split(/[\s,]+/);
  for (const word of words) {
    const number = /^(?:op=|#)?(\d+)$/.exec(word);
    const place = /^(rank|step)=(\d+)$/.exec(word);
    if (word === '')
      continue;
    else if (number)
      wanted.op = Number(number[1]);
    else if (place)
      wanted[place[1]] = Number(place[2]);
    else if (word === 'critical')
      wanted.critical = true;
    else if (schedule.kinds.includes(word))
      wanted.kind = schedule.kinds.indexOf(word);
    else
      return {error: `“${word}” is nothing to search for; expected ${kSearchHelp}`};
  }
  if (wanted.op !== undefined && wanted.op >= schedule.ops) {
    return {error: `There is no operation ${wanted.op}; expected one below ${schedule.ops}`};
  }
  return wanted;
}

/** The operations that are wanted, in the order of their numbers. */
function searchOps(wanted, run) {
  const {schedule} = run.model;
  const takes = (op) => (wanted.kind === undefined || schedule.opKind[op] === wanted.kind) &&
      (wanted.step === undefined || schedule.opStep[op] === wanted.step) &&
      (!wanted.critical || run.floatClasses[op] === 0);
  let [begin, end] = [0, schedule.ops];
  if (wanted.op !== undefined) [begin, end] = [wanted.op, wanted.op + 1];
  if (wanted.rank !== undefined) {
    if (wanted.rank >= schedule.ranks) return [];
    begin = Math.max(begin, schedule.rankFirstOp[wanted.rank]);
    end = Math.min(end, schedule.rankFirstOp[wanted.rank + 1]);
  }
  const found = [];
  for (let op = begin; op < end; ++op)
    if (takes(op)) found.push(op);
  return found;
}

/** The search box: what is found is lit, the rest is dimmed, and one after the other is shown. */
class Search {
  constructor(run, timelines, select) {
    Object.assign(this, {run, timelines, select});
    this.found = [];
    this.at = -1;
    this.box = make('input', {
      type: 'search',
      id: 'search',
      placeholder: 'find: 17, send, rank=3…',
      title: kSearchHelp,
      ariaLabel: `Find an operation: ${kSearchHelp}`,
      on: {input: () => this.look(), keydown: (event) => this.key(event)}
    });
    this.said = make('output', {id: 'found'});
    this.element = make(
        'span', {className: 'control'}, this.box, ' ',
        button('‹', 'The one before (p)', () => this.step(-1)),
        button('›', 'The next (n)', () => this.step(1)), ' ', this.said);
  }

  key(event) {
    if (event.key === 'Enter') this.step(event.shiftKey ? -1 : 1);
    if (event.key !== 'Escape') return;
    this.box.value = '';
    this.look();
    this.timelines[0].canvas.focus();
  }

  look() {
    const text = this.box.value;
    const wanted = text.trim() === '' ? null : parseSearch(text, this.run.model.schedule);
    this.found = wanted && !wanted.error ? searchOps(wanted, this.run) : [];
    this.at = -1;
    this.said.textContent = !wanted ? '' : wanted.error || `${countText(this.found.length)} found`;
    for (const timeline of this.timelines) {
      timeline.classes = this.found.length ? this.dimmed(timeline.run) : timeline.run.classes;
      timeline.redraw();
    }
  }

  dimmed(run) {
    const classes = new Uint8Array(run.classes.length).fill(kDimClass);
    for (const op of this.found) classes[op] = run.classes[op];
    return classes;
  }

  step(by) {
    if (!this.found.length) return;
    this.at = this.at < 0 ? (by > 0 ? 0 : this.found.length - 1) :
                            (this.at + by + this.found.length) % this.found.length;
    this.said.textContent = `${countText(this.at + 1)} of ${countText(this.found.length)}`;
    this.select(this.found[this.at], true);
  }
}
