// The rates of links over time, which a delay plan may change. A list of rates is
// [{at, rate: bytes per tick}] in order of time, from 0 on; the last one stays.

function ratesOf(model, link) {
  return [{at: 0, bytes_per_s: link.bytes_per_s}, ...(link.changes || [])].map(
      ({at, bytes_per_s: rate}) => ({at, rate: model.seconds(rate)}));
}

/** The stretches of a time in which a list has one rate each: [{from, to, rate}]. */
function stretchesOf(rates, from, to) {
  return rates
      .map(({at, rate}, i) => ({
             from: Math.max(from, at),
             to: Math.min(to, i + 1 < rates.length ? rates[i + 1].at : Infinity),
             rate
           }))
      .filter((stretch) => stretch.to > stretch.from);
}

/** The rate in the mean over a time; over none the rate then. */
function meanRate(rates, from, to) {
  if (rates.length === 1) return rates[0].rate;
  if (!(to > from)) return rates.filter(({at}) => at <= from).pop().rate;
  const bytes = stretchesOf(rates, from, to)
                    .reduce((sum, each) => sum + each.rate * (each.to - each.from), 0);
  return bytes / (to - from);
}

/** Of several links the rate of the one that is the slowest at a time. */
function slowestOf(lists) {
  if (lists.every((rates) => rates.length === 1)) {
    return [{at: 0, rate: lists.reduce((least, [{rate}]) => Math.min(least, rate), Infinity)}];
  }
  const times = [...new Set(lists.flat().map(({at}) => at))].sort((a, b) => a - b);
  return times.map(
      (at) => ({at, rate: Math.min(...lists.map((rates) => meanRate(rates, at, at)))}));
}

/**
 * How many bytes of a message passed a way of these rates when: [{from, to, bytes}]. A run does not
 * note how fast a message was at each moment. It is taken to have had one rate throughout, and less
 * only where its way had less.
 */
function passages(rates, from, to, bytes) {
  if (rates.length === 1) return [{from, to, bytes}];
  const slowestFirst = stretchesOf(rates, from, to).sort((a, b) => a.rate - b.rate);
  let left = bytes;
  let time = to - from;
  slowestFirst.forEach((each, i) => {
    const most = i + 1 < slowestFirst.length ? each.rate * (each.to - each.from) : Infinity;
    each.bytes = Math.min(most, left / time * (each.to - each.from));
    left -= each.bytes;
    time -= each.to - each.from;
  });
  return slowestFirst;
}
