// The bars of a timeline as pixels: of all bars at a pixel the one with the least float is seen.

/** Where rows are: in device pixels from the top of the drawing. */
class Rows {
  constructor(run, view, height, ratio) {
    this.run = run;
    const tracks = run.trackRank.length;
    const fitting = height / ratio / Math.max(1, tracks);
    this.height = (view.rowHeight || Math.min(22, fitting)) * ratio;
    this.gap = this.height >= 6 * ratio ? 3 * ratio : 0;  // between ranks
    if (!view.rowHeight && this.gap) {
      const room = (height - this.gap * run.model.schedule.ranks) / Math.max(1, tracks);
      this.height = Math.min(22 * ratio, Math.max(room, 1));
    }
    this.offset = tracks ?
        this.place(Math.min(tracks - 1, Math.floor(view.top))) + (view.top % 1) * this.height :
        0;
    this.tracks = tracks;
  }

  place(track) {
    return track * this.height + this.run.trackRank[track] * this.gap;
  }
  top(track) {
    return this.place(track) - this.offset;
  }

  /** The track at a height; the nearest above if it is between two. −1 if there is none. */
  at(y) {
    let low = 0;
    let high = this.tracks;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.top(middle) > y)
        high = middle;
      else
        low = middle + 1;
    }
    return low - 1;
  }
}

/**
 * The class of what is seen at each pixel of `width` × `height`; `wide` gets the bars that are
 * wide enough for a text: {bar, left, right, y, height}.
 */
function classPixels(run, view, rows, width, height, classes, wide, textWidth) {
  const pixels = new Uint8Array(width * height).fill(kNoBar);
  const line = new Uint8Array(width);
  const perTick = width / view.span;
  const insets = kHeights.map((each) => Math.floor(rows.height * (1 - each) / 2));
  const first = Math.max(0, rows.at(0));
  for (let track = first; track < rows.tracks; ++track) {
    const y0 = Math.round(rows.top(track));
    if (y0 >= height) break;
    const y1 =
        Math.max(y0 + 1, Math.round(rows.top(track) + rows.height) - (rows.height >= 5 ? 1 : 0));
    if (y1 <= 0) continue;
    line.fill(kNoBar);
    const end = run.firstBar[track + 1];
    for (let bar = run.barAt(track, view.from); bar < end; ++bar) {
      const begin = run.barBegin[bar];
      if (begin > view.to) break;
      const left = Math.floor((begin - view.from) * perTick);
      let right = Math.ceil((run.barEnd[bar] - view.from) * perTick);
      if (right <= left)
        right = left + 1;
      else if (right - left > 4)
        right -= 1;  // so that neighbours are told apart
      const seen = classes[run.barOp[bar]];
      if (right - left >= textWidth && wide.length < 6000) {
        wide.push({bar, left, right, y: y0, height: y1 - y0});
      }
      const stop = Math.min(right, width);
      for (let x = Math.max(0, left); x < stop; ++x)
        if (seen < line[x]) line[x] = seen;
    }
    paint(pixels, line, width, Math.max(0, y0), Math.min(height, y1), y0, y1, insets);
  }
  return pixels;
}

function paint(pixels, line, width, from, to, y0, y1, insets) {
  for (let y = from; y < to; ++y) {
    const depth = Math.min(y - y0, y1 - 1 - y);  // from the edge of the bar
    const row = y * width;
    for (let x = 0; x < width; ++x) {
      const seen = line[x];
      if (seen < pixels[row + x] && depth >= insets[seen]) pixels[row + x] = seen;
    }
  }
}

/**
 * The pixels as an image in the colours of a scale; those of the first class are hatched where rows
 * are high enough to see it.
 */
function imageOf(pixels, width, height, palette, scale, hatched) {
  const image = new ImageData(width, height);
  const words = new Uint32Array(image.data.buffer);
  const colours = palette.classes(scale);
  const hatch = palette.pixel('float0-hatch');
  for (let y = 0, i = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x, ++i) {
      const seen = pixels[i];
      if (seen === kNoBar) continue;
      words[i] = seen === 0 && hatched && (x + y) % 7 < 2 ? hatch : colours[seen];
    }
  }
  return image;
}
