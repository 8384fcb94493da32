// Bytes from rank to rank.

function viewMessages(model, place) {
  return withRunChoice(model, place, fillMessages);
}

function fillMessages(run, inner) {
  const {schedule} = run.model;
  inner.replaceChildren();
  const ranks = groupsOf(schedule.ranks, 512);
  const bytes = new Float64Array(ranks.cells * ranks.cells);
  const messages = new Int32Array(bytes.length);
  let total = 0;
  for (let op = 0; op < schedule.ops; ++op) {
    if (!schedule.isInitiator(op) || run.reached[op] < 3) continue;
    const channel = schedule.opChannel[op];
    let [from, to] = [schedule.channelSrc[channel], schedule.channelDst[channel]];
    if (schedule.hasReply(op)) [from, to] = [to, from];
    const cell = Math.floor(from / ranks.size) * ranks.cells + Math.floor(to / ranks.size);
    const moved = schedule.opBytes[op] * run.attempts[op];
    bytes[cell] += moved;
    messages[cell] += run.attempts[op];
    total += moved;
  }
  const most = bytes.reduce((a, b) => Math.max(a, b), 0);
  inner.append(make(
      'h2', {},
      `Bytes from rank to rank: ${byteText(total)} in all, at most ${byteText(most)} between two`));
  drawGrid(inner, {
    rows: ranks.cells,
    columns: ranks.cells,
    square: true,
    title: 'Bytes from rank to rank',
    rowTitle: 'from',
    columnTitle: 'to',
    rowName: ranks.name,
    columnName: ranks.name,
    cellAt: (r, c, palette) => {
      const cell = r * ranks.cells + c;
      if (!messages[cell]) return null;
      const share = most ? 0.12 + 0.88 * bytes[cell] / most : 0.12;
      return {
        colour: palette && palette.mix('heat0', 'heat1', share),
        label: byteText(bytes[cell]),
        ink: palette && palette.get(share > 0.5 ? 'page' : 'text'),
        text: `rank ${ranks.range(r)} to ${ranks.range(c)}: ${byteText(bytes[cell])} in ${
            countText(messages[cell])} messages`
      };
    },
  });
  inner.append(make(
      'p', {className: 'note'},
      'Darker (on a dark page, brighter) is more; empty is no message at all. Answers of gets ' +
          'and atomics count from where they leave.'));
}
