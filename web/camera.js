"use strict";
// How space becomes pixels: parallel projection, turned by two angles where the model is in space.

class Camera {
  constructor(space, up) {
    this.space = space;
    this.up = up; // axis that points upwards in space: 0, 1 or 2
    this.centre = [0, 0, 0];
    this.scale = 100; // pixels for a unit
    this.width = this.height = 1;
    this.azimuth = -0.9;
    this.elevation = 0.35;
    this.turn();
  }
  // Rows of `axes`: right, up, towards the eye.
  turn() {
    if (!this.space) {
      this.axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
      return;
    }
    const [ca, sa, ce, se] = [Math.cos(this.azimuth), Math.sin(this.azimuth), Math.cos(this.elevation), Math.sin(this.elevation)];
    const place = (x, y, z) => { const v = []; v[(this.up + 1) % 3] = x; v[(this.up + 2) % 3] = y; v[this.up] = z; return v; };
    this.axes = [place(-sa, ca, 0), place(-se * ca, -se * sa, ce), place(ce * ca, ce * sa, se)];
  }
  orbit(dx, dy) {
    this.azimuth -= dx * 0.01;
    this.elevation = Math.max(-1.55, Math.min(1.55, this.elevation + dy * 0.01));
    this.turn();
  }
  pan(dx, dy) {
    for (let k = 0; k < 3; k++) this.centre[k] += (-dx * this.axes[0][k] + dy * this.axes[1][k]) / this.scale;
  }
  // The point under the pixel (x, y) stays there.
  zoom(factor, x, y) {
    const dx = x - this.width / 2, dy = y - this.height / 2;
    this.pan(-dx, -dy);
    this.scale *= factor;
    this.pan(dx, dy);
  }
  fit(box, margin) {
    if (!(box.least[0] <= box.most[0])) return;
    let right = 0, up = 0;
    for (let corner = 0; corner < 8; corner++) {
      const p = [0, 1, 2].map(k => (corner >> k & 1 ? 1 : -1) * (box.most[k] - box.least[k]) / 2);
      const dot = axis => Math.abs(axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2]);
      right = Math.max(right, dot(this.axes[0]));
      up = Math.max(up, dot(this.axes[1]));
    }
    this.centre = [0, 1, 2].map(k => (box.least[k] + box.most[k]) / 2);
    const size = Math.max(right, up) || 1;
    this.scale = Math.min((this.width / 2 - margin) / Math.max(right, 1e-3 * size), (this.height / 2 - margin) / Math.max(up, 1e-3 * size));
    this.scale = Math.max(this.scale, 1e-12);
  }
  x(p, at = 0) {
    const a = this.axes[0], c = this.centre;
    return this.width / 2 + this.scale * (a[0] * (p[at] - c[0]) + a[1] * (p[at + 1] - c[1]) + a[2] * (p[at + 2] - c[2]));
  }
  y(p, at = 0) {
    const a = this.axes[1], c = this.centre;
    return this.height / 2 - this.scale * (a[0] * (p[at] - c[0]) + a[1] * (p[at + 1] - c[1]) + a[2] * (p[at + 2] - c[2]));
  }
}
