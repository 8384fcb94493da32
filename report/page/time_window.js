// What part of a run is looked at; timelines that stand beside each other share one.

class TimeWindow {
  /** Times from 0 to `most`; `rows` tracks. */
  constructor(most, rows) {
    this.most = Math.max(most, 1);
    this.rows = rows;
    this.listeners = [];
    this.fit();
  }

  onChange(listener) {
    this.listeners.push(listener);
  }
  changed() {
    for (const listener of this.listeners) listener();
  }

  /** Everything, with rows as high as there is room for. */
  fit() {
    const margin = this.most * 0.01;
    this.from = -margin;
    this.to = this.most + margin;
    this.rowHeight = 0;  // as it fits
    this.top = 0;        // the first row that is shown, which may be a part of one
    this.changed();
  }

  get span() {
    return this.to - this.from;
  }

  /** Around `time`, which stays where it is. */
  zoom(factor, time = (this.from + this.to) / 2) {
    const least = Math.max(4, this.most * 1e-9);
    const span = Math.min(this.most * 1.02, Math.max(least, this.span * factor));
    const share = (time - this.from) / this.span;
    this.from = time - share * span;
    this.to = this.from + span;
    this.hold();
  }

  pan(ticks) {
    this.from += ticks;
    this.to += ticks;
    this.hold();
  }

  scroll(rows) {
    this.top += rows;
    this.hold();
  }

  /** So that all of a stretch is seen with room on both sides. */
  show(begin, end) {
    const length = Math.max(end - begin, this.most * 1e-7, 4);
    if (begin < this.from || end > this.to || length < this.span / 400) {
      const span = Math.min(this.span, length * 12);
      const middle = (begin + end) / 2;
      this.from = middle - span / 2;
      this.to = middle + span / 2;
    }
    this.hold();
  }

  /** Some of the run stays in sight. */
  hold() {
    const span = this.span;
    const low = -span * 0.5;
    const high = this.most + span * 0.5;
    if (this.from < low) this.from = low;
    if (this.from + span > high) this.from = high - span;
    this.to = this.from + span;
    this.top = Math.max(0, Math.min(this.top, this.rows - 1));
    this.changed();
  }
}
