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
  // All of these points (three numbers each) are seen.
  fit(points, margin) {
    const least = [Infinity, Infinity, Infinity], most = [-Infinity, -Infinity, -Infinity];
    for (let at = 0; at < points.length; at += 3)
      this.axes.forEach((a, k) => {
        const place = a[0] * points[at] + a[1] * points[at + 1] + a[2] * points[at + 2];
        if (place < least[k]) least[k] = place;
        if (place > most[k]) most[k] = place;
      });
    if (!(least[0] <= most[0])) return;
    const half = k => (most[k] - least[k]) / 2, middle = k => (most[k] + least[k]) / 2, size = Math.max(half(0), half(1)) || 1;
    this.centre = [0, 1, 2].map(i => this.axes.reduce((sum, a, k) => sum + middle(k) * a[i], 0));
    const fill = (pixels, k) => Math.max(1, pixels / 2 - margin) / Math.max(half(k), 1e-3 * size);
    this.scale = Math.max(Math.min(fill(this.width, 0), fill(this.height, 1)), 1e-12);
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
