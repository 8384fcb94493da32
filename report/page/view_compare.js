// Two runs of one schedule: what differs, the first difference first.

// How far apart two times must be to differ, as shares of the longer makespan.
const kThresholds = [
  [1e-9, 'at all'], [0.0001, '0.01 % of the makespan'], [0.001, '0.1 %'], [0.01, '1 %'],
  [0.1, '10 %']
];

function viewCompare(model, place, state) {
  const scroll = make('div', {className: 'scroll'});
  const found = make('div');
  const choice = make(
      'select', {id: 'threshold', ariaLabel: 'By how much', on: {change: () => show()}},
      ...kThresholds.map(
          ([share, text]) => make('option', {value: String(share)}, `by more than ${text}`)));
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
  const row = (name, x, y, z = '') => tableRow([{left: name}, x, y, z]);
  const both = Number.isFinite(makespan(a)) && Number.isFinite(makespan(b));
  const share = a.makespan > 0 ? ` (${digits(100 * (b.makespan / a.makespan - 1), 3)} %)` : '';
  const change = both ? difference(model, b.makespan - a.makespan) + share : '';
  // The head has those that there are: a real run has none.
  const secondPlatform = !b.platform ? 'none' :
      !a.platform                    ? 'as above' :
      a.platform === b.platform      ? 'the same' :
                                       'another';
  const criticals = (run) => (
      run.hasSlack ? countText(run.floatClasses.filter((each) => each === 0).length) : 'not known');
  return make(
      'table', {}, make('thead', {}, tableRow(['', 'first', 'second', 'difference'], 'th')),
      make(
          'tbody', {}, row('run', a.label, b.label), row('engine', a.engine, b.engine),
          row('platform', a.platform ? 'as above' : 'none', secondPlatform),
          row('delays', a.delays ? 'yes' : 'none',
              !b.delays                 ? 'none' :
                  b.delays === a.delays ? 'the same' :
                                          'others'),
          row('makespan', model.time(makespan(a)), model.time(makespan(b)), change),
          row('without float', criticals(a), criticals(b))));
}

const kMoments = [['ready', 'readyAt'], ['issued', 'issuedAt'], ['done', 'doneAt']];

/**
 * The first moment of an operation that differs by more than `least` ticks, and when the earlier
 * of the two runs came to it; null if none differs. What only one run came to differs.
 */
function firstDifference([a, b], op, least) {
  for (let m = 0; m < kMoments.length; ++m) {
    const [x, y] = [a[kMoments[m][1]](op), b[kMoments[m][1]](op)];
    if (x !== y && Math.abs(x - y) > least) return {moment: m, at: Math.min(x, y)};
  }
  return null;
}

/**
 * The operations of which something differs, in the order in which the differences begin: [{op,
 * …}]. Of one time, what was done comes before what was ready because of it.
 */
function differingOps(model, least) {
  const found = [];
  for (let op = 0; op < model.schedule.ops; ++op) {
    const first = firstDifference(model.runs, op, least);
    if (first) found.push({op, ...first});
  }
  return found.sort((x, y) => x.at - y.at || y.moment - x.moment || x.op - y.op);
}

function fillDifferences(model, place, share, state) {
  const [a, b] = model.runs;
  const {schedule} = model;
  const least = Math.max(1, share * Math.max(a.last, b.last));
  const found = differingOps(model, least);
  place.replaceChildren();
  if (!found.length) {
    place.append(make('p', {id: 'differing'}, 'Nothing.'));
    return;
  }
  const first = found[0].op;
  place.append(make(
      'p', {id: 'differing'},
      `${countText(found.length)} of ${
          countText(schedule.ops)} operations have other times. The first of them is `,
      opLink(model, first, state.go),
      ` of rank ${schedule.rank[first]}: ${whyFirst(model, found[0])}`));
  const isDone = (run, op) => run.reached[op] > 3 && run.attempts[op] !== 0;
  const over = (run, op, text) => (run.attempts[op] === 0 ? 'passed over' : text);
  const issued = (run, op) => over(run, op, model.time(run.issuedAt(op)));
  const last = (run, op) => over(run, op, isDone(run, op) ? model.time(run.doneAt(op)) : 'never');
  const apart = (op) =>
      (isDone(a, op) && isDone(b, op) ? difference(model, b.doneAt(op) - a.doneAt(op)) : '');
  place.append(longTable(
      [
        {left: 'operation'}, 'rank', 'step', 'issued, first', 'second', 'done, first', 'second',
        'difference'
      ],
      found.length, (i) => {
        const {op} = found[i];
        return [
          {left: opLink(model, op, state.go)}, schedule.rank[op], schedule.opStep[op],
          issued(a, op), issued(b, op), last(a, op), last(b, op), apart(op)
        ];
      }));
}

/** Where the difference of an operation begins. */
function whyFirst(model, {op, moment}) {
  const [first, second] = model.runs.map((run) => {
    const what = run.attempts[op] === 0 ? 'passed over' : kMoments[moment][0];
    return `${what} at ${model.time(run[kMoments[moment][1]](op))}`;
  });
  const before = moment > 0 ? `${kMoments[moment - 1][0]} at one time, ` : '';
  return `${before}it was ${first} in the first run and ${second} in the second.`;
}
