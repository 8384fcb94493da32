// Two runs of one schedule: what differs, the first difference first.

// How far apart two times must be to differ, as shares of the longer makespan.
const kThresholds = [[1e-9, 'at all'], [0.0001, '0.01 % of the makespan'], [0.001, '0.1 %'], [0.01, '1 %'], [0.1, '10 %']];

function viewCompare(model, place, state) {
  const scroll = make('div', { className: 'scroll' });
  const found = make('div');
  const choice = make('select', { id: 'threshold', ariaLabel: 'By how much', on: { change: () => show() } },
    ...kThresholds.map(([share, text]) => make('option', { value: String(share) }, `by more than ${text}`)));
  choice.firstChild.textContent = 'at all';
  choice.value = model.runs.some((run) => run.measured) ? '0.01' : '1e-9';
  const show = () => fillDifferences(model, found, Number(choice.value), state);
  scroll.append(compareTable(model), make('p', {}, 'What differs ', choice), found);
  place.append(scroll);
  show();
}

function compareTable(model) {
  const [a, b] = model.runs;
  const makespan = (run) => (run.makespan < 0 ? Infinity : run.makespan);
  const row = (name, x, y, z = '') => tableRow([{ left: name }, x, y, z]);
  const both = Number.isFinite(makespan(a)) && Number.isFinite(makespan(b));
  const change = both ? `${difference(model, b.makespan - a.makespan)} (${digits(100 * (b.makespan / a.makespan - 1), 3)} %)` : '';
  const criticals = (run) => (run.hasSlack ? countText(run.classes.filter((each) => each === 0).length) : 'not known');
  return make('table', {}, make('thead', {}, tableRow(['', 'first', 'second', 'difference'], 'th')), make('tbody', {},
    row('run', a.label, b.label), row('engine', a.engine, b.engine),
    row('platform', 'as above', a.platform === b.platform ? 'the same' : 'another'),
    row('delays', a.delays ? 'yes' : 'none', b.delays === a.delays ? (b.delays ? 'the same' : 'none') : 'others'),
    row('makespan', model.time(makespan(a)), model.time(makespan(b)), change),
    row('without float', criticals(a), criticals(b))));
}

/** The operations whose times differ by more than `least` ticks, in the order in which the earlier of
 *  the two runs was done with them; those that only one run did come as if they differed. */
function differingOps(model, least) {
  const [a, b] = model.runs;
  const found = [];
  for (let op = 0; op < model.schedule.ops; ++op) {
    const [x, y] = [a.doneAt(op), b.doneAt(op)];
    if (x === y || Math.abs(x - y) <= least) continue;
    found.push(op);
  }
  const first = (op) => Math.min(a.doneAt(op), b.doneAt(op));
  return found.sort((x, y) => first(x) - first(y) || x - y);
}

function fillDifferences(model, place, share, state) {
  const [a, b] = model.runs;
  const { schedule } = model;
  const least = Math.max(1, share * Math.max(a.last, b.last));
  const found = differingOps(model, least);
  place.replaceChildren();
  if (!found.length) {
    place.append(make('p', { id: 'differing' }, 'Nothing.'));
    return;
  }
  place.append(make('p', { id: 'differing' }, `${countText(found.length)} of ${countText(schedule.ops)} operations are done at other times. The first of them is `,
    opLink(model, found[0], state.go), ` of rank ${schedule.rank[found[0]]}: ${whyFirst(model, found[0], least)}`));
  const last = (run, op) => (run.reached[op] > 3 ? model.time(run.doneAt(op)) : 'never');
  const apart = (op) => (a.reached[op] > 3 && b.reached[op] > 3 ? difference(model, b.doneAt(op) - a.doneAt(op)) : '');
  place.append(longTable([{ left: 'operation' }, 'rank', 'step', 'ready, first', 'ready, second', 'done, first', 'done, second', 'difference'],
    found.length, (i) => {
      const op = found[i];
      return [{ left: opLink(model, op, state.go) }, schedule.rank[op], schedule.opStep[op], model.time(a.readyAt(op)),
              model.time(b.readyAt(op)), last(a, op), last(b, op), apart(op)];
    }));
}

/** Where the difference of an operation begins. */
function whyFirst(model, op, least) {
  const [a, b] = model.runs;
  const apart = (x, y) => x !== y && Math.abs(x - y) > least;
  if (b.reached[op] < 4 || a.reached[op] < 4) return 'only one run came to its end.';
  if (apart(a.readyAt(op), b.readyAt(op))) return `it was ready at ${model.time(a.readyAt(op))} and at ${model.time(b.readyAt(op))}.`;
  if (apart(a.issuedAt(op), b.issuedAt(op))) return `ready at one time, it was issued at ${model.time(a.issuedAt(op))} and at ${model.time(b.issuedAt(op))}.`;
  return `issued at one time, it was done at ${model.time(a.doneAt(op))} and at ${model.time(b.doneAt(op))}.`;
}
