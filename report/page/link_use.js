// What each link carried, and when.

/** By how many bytes a message takes the time of a link, as machine/framing.h has it. */
function wireBytes(framing, bytes) {
  if (!framing) return bytes;  // of a real run
  const packets = framing.mtu_bytes ? Math.ceil(bytes / framing.mtu_bytes) : 1;
  return (bytes + packets * framing.packet_overhead) * framing.line_bits_per_bit;
}

/**
 * The share of its rate then at which each link was used in each of `bins` equal parts of the run,
 * by messages that were not lost, and its bytes, of all that began: {shares, bytes: of messages,
 * onWire: with what packets and lines add, used: the links that carried something, ways: [{hops:
 * [[{link, share: of a message}]], bytes}] that carried something, rateOf(link, from, to): in
 * bytes/s, in the mean over that time}.
 */
async function linkUse(run, bins) {
  const {schedule, columns} = run.model;
  const {channelWay, channelBack, wayLinks, wayLink} =
      await columns.some(run.prefix, ['channel.way', 'channel.back', 'way.links', 'way.link']);
  // Of sprayed messages a part passes each link.
  const {wayParts, wayPassing} =
      run.sprayed ? await columns.some(run.prefix, ['way.parts', 'way.passing']) : {};
  // Of what a channel gathers, how many bytes left together with the first of them.
  const {opSent} = columns.has(`${run.prefix}op.sent`) ?
      await columns.some(run.prefix, ['op.sent']) :
      {opSent: schedule.opBytes};
  const first = sumsBefore(wayLinks);
  const shares = new Float32Array(run.links.length * bins);
  const bytes = new Float64Array(run.links.length);
  const onWire = new Float64Array(run.links.length);
  const bytesOfWay = new Float64Array(wayLinks.length);
  const bin = run.last / bins || 1;
  const rates = run.links.map((link) => ratesOf(run.model, link));
  const partOf = (way, l) => (wayParts ? wayPassing[l] / wayParts[way] : 1);
  // What a way lets through at a time, of messages that pass its links with their parts.
  const rateOfWay = [];
  for (let way = 0; way < wayLinks.length; ++way) {
    const ofLinks = [];
    for (let l = first[way]; l < first[way + 1]; ++l) {
      const part = partOf(way, l);
      ofLinks.push(rates[wayLink[l]].map(({at, rate}) => ({at, rate: rate / part})));
    }
    rateOfWay.push(slowestOf(ofLinks));
  }
  for (let op = 0; op < schedule.ops; ++op) {
    const size = schedule.opBytes[op];
    if (!size || run.reached[op] < 3 || !schedule.isInitiator(op)) continue;
    const channel = schedule.opChannel[op];
    const way = (schedule.hasReply(op) ? channelBack : channelWay)[channel];
    const begin = run.wireAt(op);
    const end = Math.max(begin + 1, run.leftAt(op));
    const sizeOnWire = opSent[op] ? wireBytes(run.framing, opSent[op]) : 0;
    const times = run.attempts[op];
    bytesOfWay[way] += size * times;
    // Nobody knows how much of a lost message passed until when.
    const isLost = run.reached[op] < 4 && !run.left[op];
    const passed = isLost ? [] : passages(rateOfWay[way], begin, end, sizeOnWire);
    for (let l = first[way]; l < first[way + 1]; ++l) {
      const link = wayLink[l];
      const share = partOf(way, l);
      bytes[link] += size * share * times;
      onWire[link] += sizeOnWire * share * times;
      for (const each of passed) {
        const last = Math.min(bins - 1, Math.floor(each.to / bin));
        for (let b = Math.floor(each.from / bin); b <= last; ++b) {
          const part = Math.min(each.to, (b + 1) * bin) - Math.max(each.from, b * bin);
          shares[link * bins + b] += each.bytes * share * part / (each.to - each.from);
        }
      }
    }
  }
  const used = [];
  // Of a real run no rates are known: the highest that was seen takes their place.
  const most = shares.reduce((a, b) => Math.max(a, b), 0);
  const rateOf = (link, from, to) =>
      (run.measured ? most / bin : meanRate(rates[link], from, to)) / run.model.seconds(1);
  run.links.forEach((_, link) => {
    if (!bytes[link]) return;
    used.push(link);
    for (let b = 0; b < bins; ++b) {
      shares[link * bins + b] /= rateOf(link, b * bin, (b + 1) * bin) * run.model.seconds(bin);
    }
  });
  const ways = [];
  bytesOfWay.forEach((carried, w) => {
    if (!carried) return;
    const hops = [];
    let through = 1;  // of a message, through the last hop
    for (let l = first[w]; l < first[w + 1]; ++l) {
      const share = partOf(w, l);
      if (through > 1 - 1e-9) {
        hops.push([]);
        through = 0;
      }
      hops[hops.length - 1].push({link: wayLink[l], share});
      through += share;
    }
    ways.push({hops, bytes: carried});
  });
  return {shares, bytes, onWire, used, ways, rateOf};
}
