// Numbers for people.

const kTimeUnits = [[1, 's'], [1e-3, 'ms'], [1e-6, 'us'], [1e-9, 'ns'], [1e-12, 'ps']];

/** A number in four digits that count, without zeros at its end. */
function digits(value, count = 4) {
  return String(Number(value.toPrecision(count)));
}

/** Seconds: "1.234 ms". */
function seconds(time) {
  if (!Number.isFinite(time)) return 'never';
  if (time === 0) return '0 s';
  const size = Math.abs(time);
  const [unit, name] = kTimeUnits.find(([each]) => size >= each * 0.9999) || kTimeUnits[4];
  return `${digits(time / unit)} ${name}`;
}

/** Bytes: "256 MiB". */
function byteText(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let i = 0;
  while (bytes >= 1024 && i + 1 < units.length) {
    bytes /= 1024;
    ++i;
  }
  return `${digits(bytes)} ${units[i]}`;
}

/** Bytes a second as a rate of bits: "97.4 Gb/s". */
function rateText(bytesPerSecond) {
  const units = ['b/s', 'Kb/s', 'Mb/s', 'Gb/s', 'Tb/s'];
  let rate = bytesPerSecond * 8;
  let i = 0;
  while (rate >= 1000 && i + 1 < units.length) {
    rate /= 1000;
    ++i;
  }
  return `${digits(rate, 3)} ${units[i]}`;
}

function percent(share) {
  return `${digits(100 * share, 3)} %`;
}

/** A whole number with thin spaces between thousands. */
function countText(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '\u2009');
}

/** Round numbers from `from` to `to`, at most about `most` of them. */
function ticksBetween(from, to, most) {
  const span = to - from;
  if (!(span > 0)) return [from];
  const raw = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= raw);
  const ticks = [];
  for (let k = Math.ceil(from / step); k * step <= to + step * 1e-9; ++k) ticks.push(k * step);
  return ticks;
}

/**
 * The same for a logarithmic axis, of logarithms to this base: powers of the base, or some of them.
 * Where there are fewer than three powers of ten, 2 and 5 times a power, too; where there is hardly
 * one mark of these, round numbers as on a linear axis.
 */
function logTicksBetween(from, to, base, most) {
  const step = Math.max(1, Math.ceil((to - from) / Math.max(1, most)));
  const between = base === 10 && to - from < 3 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = Math.floor(from); power <= to; ++power) {
    if (power % step) continue;
    for (const times of between) {
      const tick = power + Math.log(times) / Math.log(base);
      if (tick >= from - 1e-9 && tick <= to + 1e-9) ticks.push(tick);
    }
  }
  if (ticks.length > 1) return ticks;
  const linear = ticksBetween(base ** from, base ** to, Math.min(most, 6));
  return linear.map((value) => Math.log(value) / Math.log(base));
}

/** Times on an axis with one unit for all of them. */
function axisLabels(ticks) {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : ticks[0] || 1;
  const most = Math.max(...ticks.map(Math.abs));
  const [unit, name] = kTimeUnits.find(([each]) => most >= each * 0.9999) || kTimeUnits[4];
  const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / unit) + 1e-9)));
  return ticks.map((tick) => `${(tick / unit).toFixed(decimals)} ${name}`);
}
