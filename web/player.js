"use strict";
// The time that everything shows: playing, scrubbing, single rows.

class Player {
  constructor(runs, changed) {
    this.runs = runs;
    this.changed = changed;
    const first = runs[0].t, ends = runs.map(run => run.t[run.t.length - 1]);
    this.from = first[0];
    this.until = ends[0] < this.from ? Math.min(...ends) : Math.max(...ends);
    this.t = this.from;
    // Half of the rows in the first thousandth of the time: equal rows instead of equal times.
    const middle = first[first.length >> 1] - this.from;
    this.byRows = this.from >= 0 && middle > 0 && middle < 1e-3 * (this.until - this.from);
    const span = Math.abs(this.until - this.from);
    this.normal = this.byRows ? 1 / 10 : span >= 3 && span <= 60 ? 1 / span : 1 / 10; // of the whole, in a second
    this.speed = 1;
    this.playing = false;
    this.loop = true;
  }
  // The part of the run before time t, and back.
  fraction(t) {
    if (this.byRows) {
      const [frame, part] = this.runs[0].place(t);
      return (frame + part) / Math.max(1, this.runs[0].frames - 1);
    }
    return this.until === this.from ? 0 : (t - this.from) / (this.until - this.from);
  }
  time(fraction) {
    if (!this.byRows) return this.from + fraction * (this.until - this.from);
    const times = this.runs[0].t, at = fraction * (times.length - 1), k = Math.min(times.length - 2, Math.floor(at));
    return times[k] + (at - k) * (times[k + 1] - times[k]);
  }
  set(t) {
    const low = Math.min(this.from, this.until), high = Math.max(this.from, this.until);
    this.t = Math.min(high, Math.max(low, t));
    this.changed();
  }
  // `rows` rows of the first run on, or back.
  jump(rows) {
    const times = this.runs[0].t, [frame, part] = this.runs[0].place(this.t);
    const to = frame + rows + (rows < 0 && part > 0 ? 1 : 0);
    this.pause();
    this.set(times[Math.min(times.length - 1, Math.max(0, to))]);
  }
  pause() {
    this.playing = false;
    this.changed();
  }
  toggle() {
    this.playing = !this.playing;
    if (this.playing) {
      if (this.fraction(this.t) >= 1) this.t = this.from;
      this.before = performance.now();
      requestAnimationFrame(now => this.tick(now));
    }
    this.changed();
  }
  tick(now) {
    if (!this.playing) return;
    let fraction = this.fraction(this.t) + this.normal * this.speed * Math.min(0.25, Math.max(0, now - this.before) / 1000);
    this.before = now;
    if (fraction >= 1 && this.loop) fraction %= 1;
    else if (fraction >= 1) {
      fraction = 1;
      this.playing = false;
    }
    this.set(this.time(fraction));
    requestAnimationFrame(next => this.tick(next));
  }
}
