// What stands around the bars of a timeline: axis, names of ranks and tracks, texts and arrows.

const kGutter = 92;
const kAxis = 24;
const kFont = '12px system-ui, "DejaVu Sans", sans-serif';

/** The time axis above, with lines down through the bars. */
function drawAxis(context, model, view, width, height, palette) {
  const ticks = ticksBetween(view.from, view.to, (width - kGutter) / 110);
  const labels = axisLabels(ticks.map((tick) => model.seconds(tick)));
  context.font = kFont;
  context.textBaseline = 'middle';
  context.textAlign = 'center';
  ticks.forEach((tick, i) => {
    const x = Math.round(kGutter + (tick - view.from) / view.span * (width - kGutter)) + 0.5;
    if (x < kGutter) return;
    context.fillStyle = palette.get('grid');
    context.fillRect(x - 0.5, kAxis, 1, height - kAxis);
    context.fillStyle = palette.get('quiet');
    const half = context.measureText(labels[i]).width / 2;
    context.fillText(labels[i], Math.min(Math.max(x, kGutter + half), width - half - 2), kAxis / 2);
  });
}

/** Stripes behind every second rank. */
function drawStripes(context, run, rows, width, height, ratio, palette) {
  const first = Math.max(0, rows.at(0));
  context.fillStyle = palette.get('stripe');
  for (let track = first; track < rows.tracks; ++track) {
    const y = rows.top(track) / ratio + kAxis;
    if (y > height) break;
    if (run.trackRank[track] % 2 === 1) {
      context.fillRect(0, y, width, (rows.height + rows.gap) / ratio);
    }
  }
}

/** "rank 3" and the names of its tracks, as far as there is room. */
function drawNames(context, run, rows, height, ratio, palette) {
  context.font = kFont;
  context.textBaseline = 'middle';
  const rowHeight = rows.height / ratio;
  let lowest = -Infinity;
  const first = Math.max(0, rows.at(0));
  for (let track = first; track < rows.tracks; ++track) {
    const y = rows.top(track) / ratio + kAxis;
    if (y > height) break;
    const rank = run.trackRank[track];
    const begins = track === first || run.trackRank[track - 1] !== rank;
    const middle = Math.max(y, kAxis - rowHeight / 2) + Math.min(rowHeight, 22) / 2;
    if (begins && middle - lowest >= 14 && middle > kAxis) {
      lowest = middle;
      context.fillStyle = palette.get('text');
      context.textAlign = 'left';
      context.fillText(`rank ${rank}`, 8, middle);
    }
    if (rowHeight >= 12 && middle > kAxis) {
      context.fillStyle = palette.get('quiet');
      context.textAlign = 'right';
      const name = run.trackName(track);
      context.fillText(name === 'cpu 0' ? 'cpu' : name, kGutter - 7, middle);
    }
  }
}

/** The name of each bar that is wide enough. */
function drawTexts(context, run, wide, classes, ratio, palette, width) {
  const {schedule} = run.model;
  context.font = '11px system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.fillStyle = palette.get('text');
  context.strokeStyle = palette.get('page');
  context.lineWidth = 3;
  context.lineJoin = 'round';
  let taken = {y: -1, end: 0};  // what has a text in the row at hand, where bars overlap
  for (const {bar, left, right, y, height} of wide) {
    if (taken.y !== y) taken = {y, end: 0};
    if (height / ratio < 11 || classes[run.barOp[bar]] === kDimClass) continue;
    const begin = Math.max(left / ratio + kGutter, kGutter) + 4;
    const end = Math.min(right / ratio + kGutter, width);
    const op = run.barOp[bar];
    const text = [schedule.nameOf(op), String(op)].find(
        (each) => context.measureText(each).width <= end - begin - 2);
    if (text === undefined || begin < taken.end) continue;
    taken.end = begin + context.measureText(text).width + 6;
    const middle = y / ratio + kAxis + height / ratio / 2 + 0.5;
    context.strokeText(text, begin, middle);
    context.fillText(text, begin, middle);
  }
}

/** Outlines of an operation's bars, and arrows between bars of operations. */
class Marks {
  constructor(run, view, rows, width, ratio) {
    Object.assign(this, {run, view, rows, width, ratio});
  }

  x(time) {
    return kGutter + (time - this.view.from) / this.view.span * (this.width - kGutter);
  }

  /** The bars of an operation: [{x0, x1, y0, y1, band}]. */
  boxes(op) {
    return barsOf(this.run, op).map(({track, bar}) => {
      const y0 = this.rows.top(track) / this.ratio + kAxis;
      return {
        x0: this.x(this.run.barBegin[bar]),
        x1: this.x(this.run.barEnd[bar]),
        y0,
        y1: y0 + Math.max(2, this.rows.height / this.ratio),
        band: this.run.trackBand[track]
      };
    });
  }

  outline(context, op, colour, line) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    for (const {x0, x1, y0, y1} of this.boxes(op)) {
      const left = Math.max(x0, kGutter - 4);
      const right = Math.min(x1, this.width + 4);
      if (right < kGutter || left > this.width) continue;
      context.strokeRect(left - 1, y0 - 1, Math.max(3, right - left + 2), y1 - y0 + 1);
    }
  }

  /**
   * From one operation to another that waits for its issue, for its end ("done") or for its
   * message.
   */
  arrow(context, from, to, on, colour, dashed) {
    const tails = this.boxes(from);
    const heads = this.boxes(to);
    if (!tails.length || !heads.length) return;
    const tail = tails[on === 'issued' ? 0 : tails.length - 1];
    const head = heads[on === 'message' ? heads.length - 1 : 0];
    const [x0, y0, x1, y1] = [tail.x1, (tail.y0 + tail.y1) / 2, head.x0, (head.y0 + head.y1) / 2];
    if (Math.max(x0, x1) < kGutter || Math.min(x0, x1) > this.width) return;
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 1.5;
    context.setLineDash(dashed ? [5, 4] : []);
    const bend = Math.max(12, Math.abs(x1 - x0) / 3);
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 8, y1 - 4);
    context.lineTo(x1 - 8, y1 + 4);
    context.fill();
  }
}

/** Where an operation stands: [{track, bar}], lanes first. */
function barsOf(run, op) {
  const rank = run.model.schedule.rank[op];
  const found = [];
  for (let track = 0; track < run.trackRank.length; ++track) {
    if (run.trackRank[track] !== rank) continue;
    for (let bar = run.firstBar[track]; bar < run.firstBar[track + 1]; ++bar) {
      if (run.barOp[bar] === op) found.push({track, bar});
    }
  }
  return found;
}
