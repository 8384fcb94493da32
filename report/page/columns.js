// The data of the page: columns of whole numbers, unpacked when somebody asks (report/columns.h).

/** Undoes base 64: a Uint8Array. */
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** An array that holds the numbers of a column exactly. */
function roomFor(info) {
  if (info.least >= 0 && info.most < 256) return new Uint8Array(info.count);
  const small = info.least >= -(2 ** 31) && info.most < 2 ** 31;
  return small ? new Int32Array(info.count) : new Float64Array(info.count);
}

/** The numbers of a column from its planes of bytes. */
function decoded(info, bytes) {
  const {count, planes} = info;
  const out = roomFor(info);
  const sum = info.coding === 'differences';
  const plane = (p) => (p < planes ? bytes.subarray(p * count, (p + 1) * count) : null);
  const [b0, b1, b2, b3, b4, b5, b6] = [0, 1, 2, 3, 4, 5, 6].map(plane);
  let before = 0;
  for (let i = 0; i < count; ++i) {
    let number = planes > 0 ? b0[i] : 0;
    if (planes > 1) number |= b1[i] << 8;
    if (planes > 2) number |= b2[i] << 16;
    if (planes > 3) {
      let high = b3[i];
      if (planes > 4) high += b4[i] * 256;
      if (planes > 5) high += b5[i] * 65536;
      if (planes > 6) high += b6[i] * 16777216;
      number += high * 16777216;
    }
    const value = number % 2 === 1 ? -(number + 1) / 2 : number / 2;
    out[i] = before + value;
    if (sum) before += value;
  }
  return out;
}

/** Reads the columns of this page; each is unpacked once. */
class ColumnReader {
  constructor(infos) {
    this.infos = infos;
    this.read = new Map();
  }

  has(name) {
    return name in this.infos;
  }

  /** A promise of the numbers. */
  get(name) {
    if (!this.read.has(name)) this.read.set(name, this.unpack(name));
    return this.read.get(name);
  }

  async unpack(name) {
    const info = this.infos[name];
    const place = document.querySelector(`script[data-column="${name}"]`);
    const text = place.textContent;
    place.remove();  // its text is of no more use
    return decoded(info, await inflated(bytesOf(text)));
  }

  /** Several by their last names: `{issued, done}` of `run0.issued` and `run0.done`. */
  async some(prefix, names) {
    const columns = await Promise.all(names.map((name) => this.get(prefix + name)));
    const found = {};
    names.forEach((name, i) => {
      found[name.replace(/[._](\w)/g, (_, letter) => letter.toUpperCase())] = columns[i];
    });
    return found;
  }
}
