// The schedule and its runs, as the views ask for them. Times are in ticks; see `seconds`.

const kBands = ['cpu', 'out', 'in', 'wait'];

/** Sums of the numbers before each, and of all at the end. */
function sumsBefore(numbers) {
  const sums = new Int32Array(numbers.length + 1);
  for (let i = 0; i < numbers.length; ++i) sums[i + 1] = sums[i] + numbers[i];
  return sums;
}

class Schedule {
  static async read(facts, columns) {
    const schedule = new Schedule();
    Object.assign(schedule, facts.schedule);
    Object.assign(schedule, await columns.some('', [
      'op.kind', 'op.lane', 'op.step', 'op.bytes', 'op.channel', 'op.match', 'op.edges',
      'edge.back', 'edge.on_issued', 'rank.first_op', 'channel.src', 'channel.dst'
    ]));
    schedule.rank = new Int32Array(schedule.ops);
    for (let r = 0; r < schedule.ranks; ++r) {
      schedule.rank.fill(r, schedule.rankFirstOp[r], schedule.rankFirstOp[r + 1]);
    }
    schedule.firstEdge = sumsBefore(schedule.opEdges);
    return schedule;
  }

  kind(op) {
    return this.kinds[this.opKind[op]];
  }
  nameOf(op) {
    return `${this.kind(op)} ${op}`;
  }
  isInitiator(op) {
    return this.initiates[this.opKind[op]];
  }
  hasReply(op) {
    return this.has_reply[this.opKind[op]];
  }

  /** What must come before an operation by its edges: [{op, on}]. */
  predecessors(op) {
    const found = [];
    for (let e = this.firstEdge[op]; e < this.firstEdge[op + 1]; ++e) {
      found.push({op: op - this.edgeBack[e], on: this.edgeOnIssued[e] ? 'issued' : 'done'});
    }
    return found;
  }

  /** What has an edge from it. Edges join operations of one rank. */
  successors(op) {
    const found = [];
    const rank = this.rank[op];
    for (let s = this.rankFirstOp[rank]; s < this.rankFirstOp[rank + 1]; ++s) {
      for (let e = this.firstEdge[s]; e < this.firstEdge[s + 1]; ++e) {
        if (s - this.edgeBack[e] === op)
          found.push({op: s, on: this.edgeOnIssued[e] ? 'issued' : 'done'});
      }
    }
    return found;
  }
}

class Run {
  static async read(model, index) {
    const run = new Run();
    run.index = index;
    run.model = model;
    run.prefix = `run${index}.`;
    Object.assign(run, model.facts.runs[index]);
    const {columns, schedule} = model;
    Object.assign(run, await columns.some(run.prefix, [
      'reached', 'issued', 'waited', 'wire', 'left', 'done', 'cause', 'attempts', 'track.rank',
      'track.band', 'track.lane', 'track.bars', 'bar.op'
    ]));
    run.firstBar = sumsBefore(run.trackBars);
    run.hasSlack = run.no_slack === undefined;
    run.hasPath = columns.has(`${run.prefix}path.op`);
    run.last = 0;
    for (let op = 0; op < schedule.ops; ++op) {
      if (run.reached[op] === 4) run.last = Math.max(run.last, run.issued[op] + run.done[op]);
    }
    run.floatClasses = new Uint8Array(schedule.ops).fill(kUnknownClass);
    run.hasSlopes = columns.has(`${run.prefix}slope`);
    if (run.hasSlopes) {
      Object.assign(run, await columns.some(run.prefix, ['slope']));
      run.slopeClasses = Uint8Array.from(run.slope, classOfSlope);
    }
    run.colourBy('float');
    if (run.hasSlack) {
      Object.assign(run, await columns.some(run.prefix, [
        'total_float', 'free_float'
      ].filter((name) => columns.has(run.prefix + name))));
    }
    placeBars(run);
    run.findEnds();
    return run;
  }

  /** What colours say: float or slope. */
  colourBy(scale) {
    this.scale = scale;
    this.classes = scale === 'slope' ? this.slopeClasses : this.floatClasses;
  }

  /**
   * Of each bar the latest end so far on its track: where to begin to look for what is at a time.
   */
  findEnds() {
    this.endSoFar = new Float64Array(this.barOp.length);
    for (let t = 0; t < this.trackBars.length; ++t) {
      let latest = 0;
      for (let b = this.firstBar[t]; b < this.firstBar[t + 1]; ++b) {
        latest = Math.max(latest, this.barEnd[b]);
        this.endSoFar[b] = latest;
      }
    }
  }

  /** The first bar of a track that may still be there at `time`. */
  barAt(track, time) {
    let low = this.firstBar[track];
    let high = this.firstBar[track + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.endSoFar[middle] < time)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  trackName(track) {
    const band = kBands[this.trackBand[track]];
    return band === 'cpu' ? `cpu ${this.trackLane[track]}` : band;
  }

  issuedAt(op) {
    return this.reached[op] > 1 ? this.issued[op] : Infinity;
  }
  readyAt(op) {
    return this.reached[op] > 0 ? this.issued[op] - this.waited[op] : Infinity;
  }
  wireAt(op) {
    return this.reached[op] > 2 ? this.issued[op] + this.wire[op] : Infinity;
  }
  leftAt(op) {
    return this.wireAt(op) + this.left[op];
  }
  doneAt(op) {
    return this.reached[op] > 3 ? this.issued[op] + this.done[op] : Infinity;
  }
}

function classesOf(floats, bounds) {
  const classes = new Uint8Array(floats.length);
  for (let op = 0; op < floats.length; ++op) classes[op] = classOf(floats[op], bounds);
  return classes;
}

class Model {
  static async read() {
    const model = new Model();
    model.facts = JSON.parse(document.getElementById('facts').textContent);
    model.columns = new ColumnReader(model.facts.columns);
    model.runs = [];
    if (model.facts.schedule === undefined) return model;  // an answer without a run
    model.schedule = await Schedule.read(model.facts, model.columns);
    for (let i = 0; i < model.facts.runs.length; ++i) model.runs.push(await Run.read(model, i));
    const withSlack = model.runs.filter((run) => run.hasSlack);
    model.bounds = classBounds(withSlack);
    for (const run of withSlack) {
      run.floatClasses = classesOf(run.totalFloat, model.bounds);
      run.colourBy('float');
    }
    return model;
  }

  /** Ticks for people. */
  time(ticks) {
    return seconds(ticks * this.facts.tick_s);
  }
  seconds(ticks) {
    return ticks * this.facts.tick_s;
  }
}
