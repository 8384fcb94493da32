// How much float an operation has: in classes, each with a colour and, for who sees no colours, a
// height of its own; what has none is hatched.

const kClasses = 5;       // 0: none, …, 4: most
const kUnknownClass = 5;  // no slack is known
const kDimClass = 6;      // not what is searched for
const kNoBar = 255;
const kHeights = [1, 0.84, 0.68, 0.54, 0.42, 0.7, 0.3];

/**
 * The upper bounds of the classes but the last, in ticks: quarters of all floats above 0, of all
 * runs together. Where many are the same, the next larger ones. Fewer bounds if there are fewer
 * floats.
 */
function classBounds(runs) {
  const floats = [];
  for (const {totalFloat} of runs) {
    const step = Math.max(1, Math.floor(totalFloat.length / 100000));
    for (let op = 0; op < totalFloat.length; op += step)
      if (totalFloat[op] > 0) floats.push(totalFloat[op]);
  }
  floats.sort((a, b) => a - b);
  const bounds = [];
  for (const share of [0.25, 0.5, 0.75]) {
    let i = Math.floor(share * floats.length);
    while (bounds.length && i < floats.length && floats[i] <= bounds[bounds.length - 1]) ++i;
    if (i < floats.length && floats[i] < floats[floats.length - 1]) bounds.push(floats[i]);
  }
  return bounds;
}

function classOf(float, bounds) {
  if (float <= 0) return 0;
  for (let i = 0; i < bounds.length; ++i)
    if (float <= bounds[i]) return i + 1;
  return bounds.length + 1;
}

const kMillion = 1e6;
const kNoSlope = 2 ** 50;
const kAtOnce = 10 ** 12;  // what the least delay costs all the same; its negative: gains
const kSlopeNames = [
  'above 1: costs more than itself', 'below 0: makes the whole faster', '1: costs all of it',
  'between 0 and 1', '0: costs nothing'
];

/** Of the slope of a small delay, in millionths; what matters most first. */
function classOfSlope(slope) {
  if (slope === kNoSlope) return kUnknownClass;
  if (slope > kMillion) return 0;
  if (slope < 0) return 1;
  return slope === kMillion ? 2 : slope > 0 ? 3 : 4;
}

/** The colours that hold now, by their names in base.css. */
class Palette {
  constructor() {
    const style = getComputedStyle(document.documentElement);
    this.read = (name) => style.getPropertyValue(`--${name}`).trim();
    this.cache = new Map();
  }

  get(name) {
    if (!this.cache.has(name)) this.cache.set(name, this.read(name));
    return this.cache.get(name);
  }

  rgb(name) {
    const hex = this.get(name);
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  }

  /** As a pixel of ImageData seen as 32-bit words; little-endian, as all that browsers run on. */
  pixel(name) {
    const [red, green, blue] = this.rgb(name);
    return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
  }

  /** Of a scale: float or slope. */
  classes(scale) {
    return [...Array(kClasses).keys()].map((c) => this.pixel(`${scale}${c}`)).concat([
      this.pixel('unknown'), this.pixel('dim')
    ]);
  }

  /** Between two colours: "rgb(…)". */
  mix(from, to, share) {
    const a = this.rgb(from);
    const b = this.rgb(to);
    return `rgb(${a.map((each, i) => Math.round(each + (b[i] - each) * share)).join(',')})`;
  }
}
