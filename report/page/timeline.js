// A run's timeline on a canvas: drawing it, and what pointer and keys do to it.

class Timeline {
  /**
   * `view` is a TimeWindow; `onSelect(op)` is told of an operation that was clicked, −1 for none.
   */
  constructor(run, view, onSelect) {
    this.run = run;
    this.view = view;
    this.onSelect = onSelect;
    this.classes = run.classes;
    this.selected = -1;
    this.canvas = make('canvas', {tabIndex: 0, ariaLabel: `Timeline of ${run.label}`});
    this.canvas.setAttribute('role', 'img');
    this.element = make('div', {className: 'canvas'}, this.canvas);
    this.waiting = false;
    view.onChange(() => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(this.element);
    this.listen();
    addTip(this.canvas, (x, y) => this.tipAt(x, y));
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const begin = performance.now();
      this.draw();
      document.documentElement.dataset.redrawMs = (performance.now() - begin).toFixed(1);
    });
  }

  draw() {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (width <= kGutter + 20 || height <= kAxis + 10) return;
    const ratio = window.devicePixelRatio || 1;
    const pixelWidth = Math.round((width - kGutter) * ratio);
    const pixelHeight = Math.round((height - kAxis) * ratio);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const palette = new Palette();
    const context = this.canvas.getContext('2d');
    this.rows = new Rows(this.run, this.view, pixelHeight, ratio);
    this.size = {width, height, ratio};
    const wide = [];
    const pixels = classPixels(
        this.run, this.view, this.rows, pixelWidth, pixelHeight, this.classes, wide, 24 * ratio);
    const image = imageOf(
        pixels, pixelWidth, pixelHeight, palette, this.run.scale, this.rows.height >= 6 * ratio);
    context.putImageData(image, this.canvas.width - pixelWidth, this.canvas.height - pixelHeight);
    context.scale(ratio, ratio);
    context.globalCompositeOperation = 'destination-over';
    drawAxis(context, this.run.model, this.view, width, height, palette);
    drawStripes(context, this.run, this.rows, width, height, ratio, palette);
    context.fillStyle = palette.get('page');
    context.fillRect(0, 0, width, height);
    context.globalCompositeOperation = 'source-over';
    drawNames(context, this.run, this.rows, height, ratio, palette);
    context.save();
    context.beginPath();
    context.rect(kGutter, kAxis, width - kGutter, height - kAxis);
    context.clip();
    drawTexts(context, this.run, wide, this.classes, ratio, palette, width);
    this.drawMarks(context, palette, width, ratio);
    context.restore();
  }

  drawMarks(context, palette, width, ratio) {
    if (this.selected < 0) return;
    const marks = new Marks(this.run, this.view, this.rows, width, ratio);
    const {schedule} = this.run.model;
    const match = schedule.opMatch[this.selected];
    const colour = palette.get('select');
    for (const {op, on} of schedule.predecessors(this.selected).slice(0, 40)) {
      marks.arrow(context, op, this.selected, on, colour, false);
    }
    for (const {op, on} of schedule.successors(this.selected).slice(0, 40)) {
      marks.arrow(context, this.selected, op, on, colour, true);
    }
    if (match >= 0) {
      const sends = schedule.isInitiator(this.selected);
      const [from, to] = sends ? [this.selected, match] : [match, this.selected];
      marks.arrow(context, from, to, 'message', colour, sends);
      marks.outline(context, match, colour, 1.5);
    }
    marks.outline(context, this.selected, colour, 2.5);
  }

  timeAt(x) {
    return this.view.from + (x - kGutter) / (this.size.width - kGutter) * this.view.span;
  }

  /** The operations at a point, least float first. */
  opsAt(x, y) {
    if (!this.rows || x < kGutter || y < kAxis) return [];
    const at = (y - kAxis) * this.size.ratio;
    const track = this.rows.at(at);
    if (track < 0 || at > this.rows.top(track) + Math.max(this.rows.height, 3)) return [];
    const near = 1.5 * this.view.span / (this.size.width - kGutter);
    const time = this.timeAt(x);
    const found = [];
    const {run} = this;
    // Where rows are thinner than a pixel, all of those at it.
    const last = Math.max(track, this.rows.at(at + this.size.ratio));
    for (let t = track; t <= last; ++t) {
      for (let bar = run.barAt(t, time - near); bar < run.firstBar[t + 1]; ++bar) {
        if (run.barBegin[bar] > time + near) break;
        if (run.barEnd[bar] >= time - near) found.push(run.barOp[bar]);
      }
    }
    const float = (op) => (run.hasSlack ? run.totalFloat[op] : 0);
    return [...new Set(found)].sort(
        (a, b) => this.classes[a] - this.classes[b] || float(a) - float(b) || a - b);
  }

  tipAt(x, y) {
    const found = this.opsAt(x, y);
    if (!found.length || this.dragging) return null;
    const {model} = this.run;
    const op = found[0];
    const float = this.run.hasSlack ? `, float ${model.time(this.run.totalFloat[op])}` : '';
    const more = found.length > 1 ? `; ${countText(found.length - 1)} more here` : '';
    return `${model.schedule.nameOf(op)}, rank ${model.schedule.rank[op]}${float}${more}`;
  }

  select(op, show) {
    this.selected = op;
    if (show && op >= 0) {
      const bars = barsOf(this.run, op);
      if (bars.length) {
        this.view.show(
            Math.min(...bars.map(({bar}) => this.run.barBegin[bar])),
            Math.max(...bars.map(({bar}) => this.run.barEnd[bar])));
        this.showTrack(bars[0].track);
      }
    }
    this.redraw();
  }

  showTrack(track) {
    if (!this.rows) return;
    const y = this.rows.top(track);
    const room = (this.size.height - kAxis) * this.size.ratio;
    if (y < 0 || y + this.rows.height > room) {
      this.view.top = Math.max(0, track - Math.floor(room / this.rows.height / 2));
      this.view.hold();
    }
  }

  rowHeight() {
    return this.rows ? this.rows.height / this.size.ratio : 12;
  }

  /** Higher or lower rows; the topmost stays. */
  zoomRows(factor) {
    const height = this.rowHeight() * factor;
    this.view.rowHeight = Math.max(0.05, Math.min(40, height));
    this.view.hold();
  }

  listen() {
    const {canvas, view} = this;
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      const step = Math.sign(event.deltaY);
      if (event.ctrlKey)
        this.zoomRows(step > 0 ? 1 / 1.2 : 1.2);
      else if (event.shiftKey)
        view.scroll(step * Math.max(1, 40 / this.rowHeight()));
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
        view.pan(event.deltaX / 800 * view.span);
      else
        view.zoom(step > 0 ? 1.25 : 0.8, this.timeAt(event.clientX - box.left));
    }, {passive: false});
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.dragging = null;
      this.pressed = {x: event.clientX, y: event.clientY, from: view.from, top: view.top};
    });
    canvas.addEventListener('pointermove', (event) => this.drag(event));
    canvas.addEventListener('pointerup', (event) => this.release(event));
    canvas.addEventListener('keydown', (event) => {
      if (this.key(event.key)) event.preventDefault();
    });
  }

  drag(event) {
    if (!this.pressed) return;
    const dx = event.clientX - this.pressed.x;
    const dy = event.clientY - this.pressed.y;
    if (!this.dragging && Math.hypot(dx, dy) < 4) return;
    this.dragging = true;
    this.canvas.classList.add('dragged');
    const {span} = this.view;
    this.view.from = this.pressed.from - dx / (this.size.width - kGutter) * span;
    this.view.to = this.view.from + span;
    if (this.view.rowHeight) this.view.top = this.pressed.top - dy / this.rowHeight();
    this.view.hold();
  }

  release(event) {
    if (!this.pressed) return;
    const dragged = this.dragging;
    this.pressed = null;
    this.dragging = false;
    this.canvas.classList.remove('dragged');
    if (dragged) return;
    const box = this.canvas.getBoundingClientRect();
    const found = this.opsAt(event.clientX - box.left, event.clientY - box.top);
    // A further click at one place takes the next of those that are there.
    const next = found[(found.indexOf(this.selected) + 1) % found.length];
    this.onSelect(found.length ? next : -1);
  }

  /** What a key does; whether it does anything. */
  key(key) {
    const {view} = this;
    const actions = {
      ArrowLeft: () => view.pan(-view.span / 8),
      ArrowRight: () => view.pan(view.span / 8),
      ArrowUp: () => view.scroll(-Math.max(1, 60 / this.rowHeight())),
      ArrowDown: () => view.scroll(Math.max(1, 60 / this.rowHeight())),
      '+': () => view.zoom(0.6),
      '=': () => view.zoom(0.6),
      '-': () => view.zoom(1 / 0.6),
      ']': () => this.zoomRows(1.3),
      '[': () => this.zoomRows(1 / 1.3),
      0: () => view.fit(),
      Escape: () => this.onSelect(-1),
    };
    if (!(key in actions)) return false;
    actions[key]();
    return true;
  }
}
