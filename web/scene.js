"use strict";
// What is drawn at one time, as a list of strokes with round ends (a disc is a stroke of length 0), in the coordinates of the model.

// Okabe and Ito's colours: told apart by the colour-blind too.
const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999933", "#882255"];
const pack = (r, g, b, a = 255) => (r | g << 8 | b << 16 | a << 24) >>> 0;
const packHex = (hex, a = 255) => { const n = parseInt(hex.slice(1), 16); return pack(n >> 16, n >> 8 & 255, n & 255, a); };

class DrawList {
  constructor() {
    this.count = 0;
    this.reserve(1024);
  }
  reserve(room) {
    const buffer = new ArrayBuffer(32 * room), old = this.words;
    this.floats = new Float32Array(buffer); // 8 words a stroke: two ends, width in pixels, colour
    this.words = new Uint32Array(buffer);
    if (old) this.words.set(old);
    this.room = room;
  }
  add(ax, ay, az, bx, by, bz, width, colour) {
    if (this.count === this.room) this.reserve(2 * this.room);
    const at = 8 * this.count++, f = this.floats;
    f[at] = ax; f[at + 1] = ay; f[at + 2] = az;
    f[at + 3] = bx; f[at + 4] = by; f[at + 5] = bz;
    f[at + 6] = width;
    this.words[at + 7] = colour;
  }
  line(a, b, width, colour) {
    this.add(a[0], a[1], a[2], b[0], b[1], b[2], width, colour);
  }
}

class Scene {
  constructor(runs) {
    this.runs = runs.filter(run => run.points > 0 || run.width.shape > 0);
    this.list = new DrawList();
    this.texts = [];
    this.show = { forces: false, velocities: false, traces: true, shapes: true, follow: false };
    this.selected = null; // { run, bond }
    this.traced = [];
    this.views = this.runs.map(run => this.prepare(run));
    // x, y, z of a model that draws itself in a plane are no place in space
    const flat = ({ run, drawn }) => run.points === 1 && run.shapes.length > 0 && !drawn.length;
    this.space = this.views.some(view => view.run.dimension === 3 && !flat(view) || hasDepth(view.run));
    this.box = this.bounds();
    const size = Math.hypot(...[0, 1, 2].map(k => this.box.most[k] - this.box.least[k])) || 1;
    for (const view of this.views) {
      view.arrow = 0.15 * size / (view.fastest || 1);
      view.pull = 0.15 * size / (view.strongest || 1);
    }
    this.show.follow = this.runs.length > 0 && this.runs[0].points > 1 && extent(this.cloud(true)) < 0.3 * extent(this.cloud(false));
    const g = this.runs.length ? this.runs[0].gravity : [0, 0, 0];
    this.gravity = g.some(x => x !== 0) ? g : null;
  }

  prepare(run) {
    const state = name => new Float64Array(run.width[name]);
    const view = { run, q: state("q"), v: state("v"), lambda: state("lambda"), anchor: state("anchor"), shape: state("shape"),
                   sum: new Float64Array(run.width.q), drawn: [], lines: [], anchorOf: new Int32Array(run.bonds).fill(-1), strongest: 0, fastest: 0 };
    run.sample(run.t[0], run.first.anchor, view.anchor);
    for (let k = 0, fixed = 0; k < run.bonds; k++) {
      const other = run.end[2 * k + 1];
      if (other === -2) view.anchorOf[k] = run.dimension * fixed++;
      if (other >= 0 || other === -2 && isFinite(view.anchor[view.anchorOf[k]])) view.drawn.push(k);
    }
    const largest = c => Math.max(Math.abs(run.least[c]), Math.abs(run.least[c] + 65534 * run.step[c]));
    const shaped = new Set(run.shapes.map(shape => shape.name)), drawn = new Set(view.drawn);
    run.names.lambda.forEach((name, k) => {
      if (drawn.has(k) || shaped.has(name)) view.strongest = Math.max(view.strongest, largest(run.first.lambda + k) * Math.abs(run.gain[k] ?? 1));
    });
    for (let k = 0; k < run.width.v; k++) view.fastest = Math.max(view.fastest, largest(run.first.v + k));
    view.springs = view.drawn.length <= 60; // more are drawn as lines
    const points = run.points <= 3 ? [...run.point.keys()] : [run.points - 1];
    for (const k of points) this.traced.push({ view, column: run.first.q + (run.point[k] >> 2), dimension: run.dimension });
    if (!run.points) this.traced.push(...tracedShapes(run).map(column => ({ view, column, dimension: 3 })));
    view.bondOf = new Map(run.names.lambda.map((name, k) => [name, drawn.has(k) ? -1 : k])); // -1: it is drawn by itself
    return view;
  }

  bounds() {
    const least = [Infinity, Infinity, Infinity], most = [-Infinity, -Infinity, -Infinity];
    const see = (first, column, run, axis) => {
      const low = run.least[column], high = low + 65534 * run.step[column];
      least[axis] = Math.min(least[axis], low);
      most[axis] = Math.max(most[axis], high);
    };
    for (const { run, anchor, drawn, anchorOf } of this.views) {
      for (let k = 0; k < run.points; k++)
        for (let axis = 0; axis < (run.point[k] & 3); axis++) see(0, run.first.q + (run.point[k] >> 2) + axis, run, axis);
      for (const k of drawn)
        for (let axis = 0; axis < run.dimension && anchorOf[k] >= 0; axis++) see(0, run.first.anchor + anchorOf[k] + axis, run, axis);
      shapeBounds(run, least, most);
    }
    if (!this.space) least[2] = most[2] = 0;
    return { least, most };
  }

  // What is seen over the run, or relative to its middle: some points at some times.
  cloud(relative) {
    const cloud = [];
    for (const { run, drawn, anchorOf } of this.views) {
      const frames = Math.min(60, run.frames), each = Math.ceil(run.points / 500);
      for (let i = 0; i < frames; i++) {
        const f = Math.round(i * (run.frames - 1) / Math.max(1, frames - 1)), middle = relative ? this.middle(run, c => run.value(f, run.first.q + c)) : [0, 0, 0];
        const add = (column, dimension, more = 0) => {
          const p = [0, 1, 2].map(k => (k < dimension ? run.value(f, column + k) : 0) - middle[k]);
          if (!p.every(isFinite)) return;
          cloud.push(...p);
          if (more) cloud.push(p[0] - more, p[1] - more, p[2], p[0] + more, p[1] + more, p[2]);
        };
        for (let k = 0; k < run.points; k += each) add(run.first.q + (run.point[k] >> 2), run.point[k] & 3);
        for (const k of drawn) if (anchorOf[k] >= 0 && !relative) add(run.first.anchor + anchorOf[k], run.dimension);
        for (const { kind, points, first } of run.shapes) {
          const column = run.first.shape + 3 * first, circle = kind === "circle";
          for (let k = 0; k < (circle ? 1 : points); k++) add(column + 3 * k, 3, circle ? run.value(f, column + 3) : 0);
          // the corners of a box between the two that it is given by
          if (kind === "box") for (let k = 1; k < 7; k++) cloud.push(...[0, 1, 2].map(i => run.value(f, column + (k >> i & 1 ? 3 : 0) + i) - middle[i]).map(x => isFinite(x) ? x : 0));
        }
      }
    }
    return cloud;
  }
  // The middle of the points of a run; number(c) is its coordinate c.
  middle(run, number) {
    const sum = [0, 0, 0];
    for (let k = 0; k < run.points; k++)
      for (let axis = 0; axis < (run.point[k] & 3); axis++) sum[axis] += number((run.point[k] >> 2) + axis) / run.points;
    return sum;
  }

  end(view, bond, side, out) {
    const first = view.run.end[2 * bond + side], from = first >= 0 ? view.q : view.anchor, at = first >= 0 ? first : view.anchorOf[bond];
    out[0] = from[at];
    out[1] = from[at + 1];
    out[2] = view.run.dimension === 3 ? from[at + 2] : 0;
    return out;
  }

  // The list of strokes at time t.
  build(t, camera, theme) {
    this.list.count = 0;
    this.texts.length = 0;
    for (const [k, view] of this.views.entries()) {
      const { run } = view, several = this.runs.length > 1;
      run.sample(t, run.first.q, view.q);
      run.sample(t, run.first.lambda, view.lambda);
      for (const k of view.drawn) view.lambda[k] *= run.gain[k];
      if (view.anchor.length) run.sample(t, run.first.anchor, view.anchor);
      const own = several ? packHex(PALETTE[k % PALETTE.length], 230) : 0;
      if (this.show.shapes && run.width.shape) drawShapes(this, view, run.sample(t, run.first.shape, view.shape), own, theme);
      this.addBonds(view, camera, theme, own);
      this.addPoints(view, own || theme.ink);
      if (this.show.velocities) this.addVelocities(view, t);
      if (this.show.forces) this.addForces(view);
    }
    return this.list;
  }

  addBonds(view, camera, theme, own) {
    const a = [0, 0, 0], b = [0, 0, 0], { run, lambda, strongest } = view, many = view.drawn.length > 2000;
    const chosen = this.selected && this.selected.run === run ? this.selected.bond : -1;
    view.pixels = Infinity; // of the shortest bond
    for (const k of view.drawn) {
      this.end(view, k, 0, a);
      this.end(view, k, 1, b);
      view.pixels = Math.min(view.pixels, camera.scale * Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
      const colour = own || theme.force(strongest ? lambda[k] / strongest : 0), spring = run.kind[k] > 0;
      if (k === chosen) this.list.line(a, b, 12, theme.mark);
      if (spring && view.springs) this.addSpring(a, b, camera, colour);
      else this.list.line(a, b, many ? 1.2 : spring ? 2 : 4, colour);
      if (run.end[2 * k + 1] === -2) this.list.line(b, b, 7, theme.faint);
    }
  }

  // A zigzag of a size in pixels.
  addSpring(a, b, camera, colour) {
    const e = camera.axes[2], d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    const n = [d[1] * e[2] - d[2] * e[1], d[2] * e[0] - d[0] * e[2], d[0] * e[1] - d[1] * e[0]];
    const length = Math.hypot(...n), pixels = Math.hypot(...d) * camera.scale, turns = Math.max(2, Math.min(12, Math.round(pixels / 12)));
    if (!(length > 0) || pixels < 24) return this.list.line(a, b, 2, colour);
    const size = Math.min(6, pixels / 5) / camera.scale / length;
    let last = a;
    for (let k = 0; k <= 2 * turns + 1; k++) {
      const part = k > 2 * turns ? 1 : 0.15 + 0.7 * k / (2 * turns), side = k > 2 * turns || k === 0 || k === 2 * turns ? 0 : k % 2 ? size : -size;
      const next = [0, 1, 2].map(i => a[i] + part * d[i] + side * n[i]);
      this.list.line(last, next, 1.6, colour);
      last = next;
    }
  }

  addPoints(view, colour) {
    const { run, q } = view, space = run.dimension === 3, many = run.points > 200;
    if (many && view.drawn.length >= run.points / 2) return; // the bonds show them
    const width = run.points > 5000 ? 2.5 : many ? 6 : Math.max(3, Math.min(9, 0.35 * view.pixels));
    for (let k = 0; k < run.points; k++) {
      const at = run.point[k] >> 2, z = space ? q[at + 2] : 0;
      this.list.add(q[at], q[at + 1], z, q[at], q[at + 1], z, width, colour);
    }
  }

  addArrow(a, d, scale, colour) {
    const b = [0, 1, 2].map(k => a[k] + scale * d[k]), length = scale * Math.hypot(...d);
    if (!(length > 0)) return;
    this.list.line(a, b, 2, colour);
    const side = this.space && Math.abs(d[2]) < Math.hypot(d[0], d[1]) ? [-d[1], d[0], 0] : this.space ? [d[2], 0, -d[0]] : [-d[1], d[0], 0];
    const norm = Math.hypot(...side) || 1, head = Math.min(0.3 * length, 0.03 * this.size);
    for (const sign of [-1, 1])
      this.list.line(b, [0, 1, 2].map(k => b[k] - head * d[k] * scale / length + sign * 0.5 * head * side[k] / norm), 2, colour);
  }
  get size() {
    return Math.hypot(...[0, 1, 2].map(k => this.box.most[k] - this.box.least[k])) || 1;
  }

  addVelocities(view, t) {
    const { run, q, v } = view, space = run.dimension === 3, every = Math.ceil(run.points / 500);
    run.sample(t, run.first.v, v);
    for (let k = 0; k < run.points; k += every) {
      const at = run.point[k] >> 2, z = i => space ? i[at + 2] : 0;
      this.addArrow([q[at], q[at + 1], z(q)], [v[at], v[at + 1], z(v)], view.arrow, packHex("#009e73"));
    }
  }

  // The sum of the bond forces on each point: a positive one pulls its ends together.
  addForces(view) {
    const { run, q, lambda, sum } = view, a = [0, 0, 0], b = [0, 0, 0], n = run.dimension;
    sum.fill(0);
    for (const k of view.drawn) {
      this.end(view, k, 0, a);
      this.end(view, k, 1, b);
      const length = Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]) || 1;
      for (let i = 0; i < n; i++) {
        const pull = lambda[k] * (b[i] - a[i]) / length, other = run.end[2 * k + 1];
        sum[run.end[2 * k] + i] += pull;
        if (other >= 0) sum[other + i] -= pull;
      }
    }
    for (let k = 0, every = Math.ceil(run.points / 500); k < run.points; k += every) {
      const at = run.point[k] >> 2, z = i => n === 3 ? i[at + 2] : 0;
      this.addArrow([q[at], q[at + 1], z(q)], [sum[at], sum[at + 1], z(sum)], view.pull, packHex("#cc79a7"));
    }
  }

  // The bond within a few pixels of (x, y), or null.
  pick(camera, x, y) {
    let best = null, least = 8;
    const a = [0, 0, 0], b = [0, 0, 0];
    for (const view of this.views)
      for (const bond of [...view.drawn, ...view.lines]) {
        const line = typeof bond === "object" ? bond : { bond, a: this.end(view, bond, 0, a), b: this.end(view, bond, 1, b) };
        this.closer(camera, x, y, line, distance => {
          if (distance < least) [least, best] = [distance, { run: view.run, bond: line.bond }];
        });
      }
    return best;
  }
  closer(camera, x, y, { a, b }, found) {
    const ax = camera.x(a), ay = camera.y(a), dx = camera.x(b) - ax, dy = camera.y(b) - ay;
    const part = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
    found(Math.hypot(x - ax - part * dx, y - ay - part * dy));
  }
}

function extent(points) {
  let size = 0;
  for (let k = 0; k < 3; k++) {
    const range = new Range(false);
    for (let at = k; at < points.length; at += 3) range.see(points[at]);
    if (range.least <= range.most) size = Math.hypot(size, range.most - range.least);
  }
  return size;
}

// ---- [shapes] of the model: points of three numbers each

const SHAPE_COLOURS = { grey: "#777777", orange: "#e69f00", sky: "#56b4e9", green: "#009e73", yellow: "#f0e442", blue: "#0072b2", red: "#d55e00", purple: "#cc79a7" };

const hasDepth = run => run.shapes.some(s => {
  for (let k = 0; k < s.points; k++) {
    const c = run.first.shape + 3 * (s.first + k) + 2;
    if (run.step[c] > 0 || run.least[c] !== 0) return true;
  }
  return false;
});

function shapeBounds(run, least, most) {
  for (const { kind, points, first } of run.shapes)
    for (let k = 0; k < points; k++) {
      const circle = kind === "circle", c = run.first.shape + 3 * first, radius = circle ? run.least[c + 3] + 65534 * run.step[c + 3] : 0;
      if (circle && k > 0) continue;
      for (let axis = 0; axis < 3; axis++) {
        const low = run.least[c + 3 * k + axis], high = low + 65534 * run.step[c + 3 * k + axis], more = axis < 2 ? radius : 0;
        least[axis] = Math.min(least[axis], low - more);
        most[axis] = Math.max(most[axis], high + more);
      }
    }
}

// At most three points and circles that move in two directions: their paths are drawn.
function tracedShapes(run) {
  const moving = [];
  for (const { kind, first } of run.shapes) {
    const column = run.first.shape + 3 * first, ranges = [0, 1, 2].map(k => run.step[column + k]).sort((a, b) => b - a);
    if ((kind === "point" || kind === "circle") && ranges[1] > 0.05 * ranges[0]) moving.push(column);
  }
  return moving.slice(-3);
}

// A shape that has the name of a bond shows its force by its colour; where the bond itself is drawn, it is left to it.
function drawShapes(scene, view, numbers, own, theme) {
  const chosen = scene.selected && scene.selected.run === view.run ? scene.selected.bond : -1;
  view.lines.length = 0;
  for (const shape of view.run.shapes) {
    const p = [], bond = view.bondOf.get(shape.name);
    for (let k = 0; k < shape.points; k++) p.push(Array.from(numbers.subarray(3 * (shape.first + k), 3 * (shape.first + k) + 3)));
    if (bond === -1 || !p.every(x => x.every(isFinite))) continue;
    const force = bond >= 0 && shape.kind !== "text" && view.strongest ? theme.force(view.lambda[bond] / view.strongest) : 0;
    const hex = SHAPE_COLOURS[shape.colour] || (shape.colour.startsWith("#") ? shape.colour : null);
    const colour = own || force || (hex ? packHex(hex) : theme.ink), width = shape.width || 2;
    const line = (a, b) => {
      if (bond >= 0 && bond === chosen) scene.list.line(a, b, width + 8, theme.mark);
      scene.list.line(a, b, width, colour);
      if (bond >= 0) view.lines.push({ bond, a, b });
    };
    if (shape.kind === "point") scene.list.line(p[0], p[0], shape.width || 8, colour);
    if (shape.kind === "line" || shape.kind === "path") for (let k = 1; k < p.length; k++) line(p[k - 1], p[k]);
    if (shape.kind === "arrow") scene.addArrow(p[0], p[1].map((x, i) => x - p[0][i]), 1, colour);
    if (shape.kind === "text") scene.texts.push({ p: p[0], text: shape.text, colour: hex, size: shape.width || 12 });
    if (shape.kind === "circle") {
      const at = k => [p[0][0] + p[1][0] * Math.cos(k * Math.PI / 16), p[0][1] + p[1][0] * Math.sin(k * Math.PI / 16), p[0][2]];
      for (let k = 0; k < 32; k++) line(at(k), at(k + 1));
    }
    if (shape.kind === "box") {
      const [a, b] = p, corner = k => [k & 1 ? b[0] : a[0], k & 2 ? b[1] : a[1], k & 4 ? b[2] : a[2]], flat = a[2] === b[2];
      for (let k = 0; k < (flat ? 4 : 8); k++) for (const bit of flat ? [1, 2] : [1, 2, 4]) if (!(k & bit)) line(corner(k), corner(k | bit));
    }
  }
}
