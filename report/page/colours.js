// How much float an operation has: in classes, each with a colour and, for who sees no colours, a
// height of its own; what has none is hatched.

const kClasses = 5;         // 0: none, …, 4: most
const kUnknownClass = 5;    // no slack is known
const kDimClass = 6;        // not what is searched for
const kNoBar = 255;
const kHeights = [1, 0.84, 0.68, 0.54, 0.42, 0.7, 0.3];
// The upper bounds of classes 1 to 3, as shares of the makespan.
const kClassBounds = [0.001, 0.01, 0.1];
const kClassNames = ['critical: no float', 'up to 0.1 % of the makespan', 'up to 1 %', 'up to 10 %', 'more'];

function classOf(float, makespan) {
  if (float <= 0) return 0;
  const share = float / makespan;
  for (let i = 0; i < kClassBounds.length; ++i) if (share <= kClassBounds[i]) return i + 1;
  return 4;
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

  classes() {
    return [...Array(kClasses).keys()].map((c) => this.pixel(`float${c}`))
      .concat([this.pixel('unknown'), this.pixel('dim')]);
  }

  /** Between two colours: "rgb(…)". */
  mix(from, to, share) {
    const a = this.rgb(from);
    const b = this.rgb(to);
    return `rgb(${a.map((each, i) => Math.round(each + (b[i] - each) * share)).join(',')})`;
  }
}
