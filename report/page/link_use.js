// What each link carried, and when.

/** By how many bytes a message takes the time of a link, as machine/framing.h has it. */
function wireBytes(framing, bytes) {
  if (!framing) return bytes;  // of a real run
  const packets = framing.mtu_bytes ? Math.ceil(bytes / framing.mtu_bytes) : 1;
  return (bytes + packets * framing.packet_overhead) * framing.line_bits_per_bit;
}

/**
 * The share of its rate at which each link was used in each of `bins` equal parts of the run, and
 * its bytes: {shares, bytes: of messages, onWire: with what packets and lines add, used: the links
 * that carried something, ways: [{hops: [[{link, share: of a message}]], bytes}] that carried
 * something, rateOf(link): in bytes/s}.
 */
async function linkUse(run, bins) {
  const {schedule, columns} = run.model;
  const {channelWay, channelBack, wayLinks, wayLink} =
      await columns.some(run.prefix, ['channel.way', 'channel.back', 'way.links', 'way.link']);
  // Of sprayed messages a part passes each link.
  const {wayParts, wayPassing} =
      run.sprayed ? await columns.some(run.prefix, ['way.parts', 'way.passing']) : {};
  const first = sumsBefore(wayLinks);
  const shares = new Float32Array(run.links.length * bins);
  const bytes = new Float64Array(run.links.length);
  const onWire = new Float64Array(run.links.length);
  const bytesOfWay = new Float64Array(wayLinks.length);
  const bin = run.last / bins || 1;
  for (let op = 0; op < schedule.ops; ++op) {
    const size = schedule.opBytes[op];
    if (!size || run.reached[op] < 3 || !schedule.isInitiator(op)) continue;
    const channel = schedule.opChannel[op];
    const way = (schedule.hasReply(op) ? channelBack : channelWay)[channel];
    const begin = run.wireAt(op);
    const end = Math.max(begin + 1, run.leftAt(op));
    const sizeOnWire = wireBytes(run.framing, size);
    bytesOfWay[way] += size;
    for (let l = first[way]; l < first[way + 1]; ++l) {
      const link = wayLink[l];
      const share = wayParts ? wayPassing[l] / wayParts[way] : 1;
      bytes[link] += size * share;
      onWire[link] += sizeOnWire * share;
      const last = Math.min(bins - 1, Math.floor(end / bin));
      for (let b = Math.floor(begin / bin); b <= last; ++b) {
        const part = Math.min(end, (b + 1) * bin) - Math.max(begin, b * bin);
        shares[link * bins + b] += sizeOnWire * share * part / (end - begin);
      }
    }
  }
  const used = [];
  // Of a real run no rates are known: the highest that was seen takes their place.
  const most = shares.reduce((a, b) => Math.max(a, b), 0);
  const rateOf = (link) =>
      (run.measured ? most / run.model.seconds(bin) : run.links[link].bytes_per_s);
  run.links.forEach((_, link) => {
    if (!bytes[link]) return;
    used.push(link);
    const room = rateOf(link) * run.model.seconds(bin);
    for (let b = link * bins; b < (link + 1) * bins; ++b) shares[b] /= room;
  });
  const ways = [];
  bytesOfWay.forEach((carried, w) => {
    if (!carried) return;
    const hops = [];
    let through = 1;  // of a message, through the last hop
    for (let l = first[w]; l < first[w + 1]; ++l) {
      const share = wayParts ? wayPassing[l] / wayParts[w] : 1;
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
