// When the bars of a timeline begin and end: report/tracks.h says what stands where.

/**
 * Sets `barBegin` and `barEnd` of a run from the times of its operations. The page has the bars of
 * a track in the order in which they begin: bars that stand otherwise were placed by another rule.
 */
function placeBars(run) {
  const {schedule} = run.model;
  run.barBegin = new Float64Array(run.barOp.length);
  run.barEnd = new Float64Array(run.barOp.length);
  const recv = schedule.kinds.indexOf('recv');
  for (let track = 0; track < run.trackBars.length; ++track) {
    const band = kBands[run.trackBand[track]];
    let free = 0;  // when the lane is, after the bars before
    let last = 0;
    for (let bar = run.firstBar[track]; bar < run.firstBar[track + 1]; ++bar) {
      const op = run.barOp[bar];
      const kind = schedule.opKind[op];
      const posted = schedule.is_posted[kind];
      let begin = run.readyAt(op);
      let end = run.doneAt(op);
      if (band === 'cpu') {
        if (posted) end = run.issuedAt(op);
        begin = posted ? Math.max(begin, free) : run.issuedAt(op);
        if (end === Infinity) end = begin;
      } else if (band === 'out') {
        begin = run.wireAt(op);
        end = run.leftAt(op);
      } else if (band === 'in') {
        begin = kind === recv ? Math.max(run.issuedAt(op), run.wireAt(schedule.opMatch[op])) :
                                run.wireAt(op);
      }
      run.barBegin[bar] = Math.min(begin, end);
      if (!(run.barBegin[bar] >= last)) throw new Error(`bar ${bar} begins before the one before`);
      last = run.barBegin[bar];
      run.barEnd[bar] = end;
      free = Math.max(free, end);
    }
  }
}
