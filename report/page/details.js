// What is known of one operation.

/** Fills `aside`; `go(op)` shows another operation. */
function showDetails(aside, runs, op, go) {
  if (op < 0) {
    aside.replaceChildren(make(
        'p', {className: 'note'},
        'Click on an operation to see its figures, its predecessors (solid arrows) and its ' +
            'successors (dashed). A further click takes the next one at that place.'));
    return;
  }
  const {model} = runs[0];
  const {schedule} = model;
  aside.replaceChildren(make('h2', {id: 'chosen'}, schedule.nameOf(op)), opFacts(schedule, op));
  for (const run of runs) {
    if (runs.length > 1) aside.append(make('h3', {}, run.label));
    aside.append(opTimes(run, op));
  }
  const list = (title, entries) => {
    if (!entries.length) return;
    const shown = entries.slice(0, 60);
    aside.append(
        make('h3', {}, title),
        make(
            'ul', {},
            ...shown.map(
                ({op: other, on}) => make(
                    'li', {},
                    make(
                        'button', {className: 'link', type: 'button', on: {click: () => go(other)}},
                        schedule.nameOf(other)),
                    ` rank ${schedule.rank[other]}${on ? `, ${on}` : ''}`))));
    if (shown.length < entries.length) aside.append(`and ${entries.length - shown.length} more`);
  };
  const match = schedule.opMatch[op];
  const sends = schedule.isInitiator(op);
  list(
      'Predecessors',
      schedule.predecessors(op).concat(
          match >= 0 && !sends ? [{op: match, on: 'its message'}] : []));
  list(
      'Successors',
      schedule.successors(op).concat(match >= 0 && sends ? [{op: match, on: 'its message'}] : []));
  const cause = runs[0].cause[op];
  if (cause) list('Waited for last', [{op: op + cause}]);
}

function pairs(entries) {
  const list = make('dl');
  for (const [name, value] of entries)
    list.append(make('dt', {}, name), make('dd', {}, String(value)));
  return list;
}

function opFacts(schedule, op) {
  const facts =
      [['rank', schedule.rank[op]], ['lane', schedule.opLane[op]], ['step', schedule.opStep[op]]];
  if (schedule.opBytes[op]) facts.push(['bytes', byteText(schedule.opBytes[op])]);
  const channel = schedule.opChannel[op];
  if (channel >= 0) {
    facts.push(['channel', `${schedule.channelSrc[channel]} → ${schedule.channelDst[channel]}`]);
  }
  return pairs(facts);
}

function slopeText(slope) {
  if (slope === kNoSlope) return 'not known';
  if (Math.abs(slope) === kAtOnce) return slope > 0 ? 'costs at once' : 'gains at once';
  return digits(slope / kMillion);
}

function opTimes(run, op) {
  const {model} = run;
  const times = [['ready', run.readyAt(op)], ['issued', run.issuedAt(op)]];
  if (model.schedule.isInitiator(op) && !run.measured)
    times.push(['on the wire', run.wireAt(op)], ['left', run.leftAt(op)]);
  times.push(['done', run.doneAt(op)]);
  const facts = times.map(([name, ticks]) => [name, model.time(ticks)]);
  if (run.attempts[op] !== 1) facts.push(['attempts', run.attempts[op]]);
  if (run.hasSlack) {
    facts.push(['total float', model.time(run.totalFloat[op])]);
    if (run.freeFloat) facts.push(['free float', model.time(run.freeFloat[op])]);
    if (run.floatClasses[op] === 0) facts.push(['', 'critical']);
  }
  if (run.hasSlopes) {
    const slope = run.slope[op];
    facts.push(['slope', slopeText(slope)]);
  }
  return pairs(facts);
}
