"use strict";
// Plots of series against time, or against another series of the same run (a phase portrait), linked to the time shown.

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  Object.assign(made, properties);
  made.append(...children);
  return made;
}

function save(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const LEFT = 62, BOTTOM = 20, TOP = 6, RIGHT = 8;

class Plot {
  constructor(app, title, series, x = "t") {
    Object.assign(this, { app, title, x, series: [], range: null });
    this.heading = element("h3", { textContent: title });
    this.add = element("input", { type: "text", placeholder: "add name", title: "name of what to plot" });
    this.add.setAttribute("list", "names");
    this.add.addEventListener("change", () => this.addByName(this.add.value) && (this.add.value = ""));
    this.axis = element("input", { type: "text", value: x, title: "horizontal axis: t, or a name (phase portrait)" });
    this.axis.setAttribute("list", "names");
    this.axis.addEventListener("change", () => this.setAxis(this.axis.value));
    this.canvas = element("canvas", { tabIndex: 0 });
    this.still = element("canvas");
    this.chips = element("ul", { className: "chips" });
    const button = (text, title, act) => { const b = element("button", { textContent: text, title }); b.addEventListener("click", act); return b; };
    this.element = element("section", { className: "plot" },
      element("header", {}, this.heading, this.add, element("label", {}, "over ", this.axis), button("PNG", "save as a picture", () => this.savePicture()),
        button("CSV", "save the numbers", () => save("taut.csv", new Blob([this.csv()], { type: "text/csv" }))),
        button("x", "remove this plot", () => app.removePlot(this))),
      this.canvas, this.chips);
    for (const s of series) this.put(s);
    this.setAxis(x);
    this.listen();
  }
  get phase() { return this.x !== "t"; }

  put(series) {
    if (!series || this.series.some(s => s.of === series)) return;
    const free = PALETTE.find(colour => !this.series.some(s => s.colour === colour)) || PALETTE[this.series.length % PALETTE.length];
    const value = element("span"), remove = element("button", { textContent: "x", title: "remove " + series.label });
    const chip = element("li", {}, element("i"), element("span", { textContent: series.label + " " }), value, remove);
    chip.firstChild.style.background = free;
    const entry = { of: series, colour: free, value, chip };
    remove.addEventListener("click", () => {
      this.series = this.series.filter(s => s !== entry);
      chip.remove();
      this.draw();
    });
    this.series.push(entry);
    this.chips.append(chip);
  }
  addByName(name) {
    const found = this.app.catalogue.byLabel.get(name);
    this.add.setCustomValidity(found ? "" : "unknown name");
    this.add.reportValidity();
    if (!found) return false;
    this.put(found);
    this.draw();
    return true;
  }
  setAxis(name) {
    const known = name === "t" || this.app.runs.some(run => this.app.catalogue.of(run, name));
    this.axis.setCustomValidity(known ? "" : "unknown name");
    if (!known) return this.axis.reportValidity();
    this.x = name;
    this.element.classList.toggle("phase", this.phase);
    this.range = null;
    this.width = undefined;
    this.draw();
  }

  xOf(entry) { // numbers along the horizontal axis
    if (!this.phase) return entry.of.run.t;
    const other = this.app.catalogue.of(entry.of.run, this.x);
    return other ? other.values : entry.of.run.t.map(() => NaN);
  }

  // What is visible: { x: [from, to], y: [from, to] }.
  limits() {
    const limits = { x: this.phase ? [Infinity, -Infinity] : this.app.window, y: [Infinity, -Infinity] };
    for (const entry of this.series) {
      const x = this.xOf(entry), y = entry.of.values;
      for (let k = 0; k < y.length; k++) {
        if (this.phase && isFinite(x[k])) {
          limits.x[0] = Math.min(limits.x[0], x[k]);
          limits.x[1] = Math.max(limits.x[1], x[k]);
        }
        if (isFinite(y[k]) && (this.phase || x[k] >= limits.x[0] && x[k] <= limits.x[1])) {
          limits.y[0] = Math.min(limits.y[0], y[k]);
          limits.y[1] = Math.max(limits.y[1], y[k]);
        }
      }
    }
    const widen = r => {
      if (!(r[0] <= r[1])) return [0, 1];
      const more = r[1] > r[0] ? 0.05 * (r[1] - r[0]) : Math.abs(r[0]) * 1e-3 || 1;
      return [r[0] - more, r[1] + more];
    };
    if (this.phase) limits.x = widen(limits.x);
    limits.y = widen(limits.y);
    return this.range ? { x: this.range.x || limits.x, y: this.range.y || limits.y } : limits;
  }

  // Between numbers and pixels. Times may be logarithmic.
  map() {
    const { x, y } = this.limits(), { width, height } = this, log = this.app.player.byRows && !this.phase;
    const low = log ? Math.max(x[0], this.app.firstTime) : x[0], f = log ? Math.log : v => v, g = log ? Math.exp : v => v;
    const fx = (width - LEFT - RIGHT) / (f(x[1]) - f(low)), fy = (height - TOP - BOTTOM) / (y[1] - y[0]);
    return { x, y, log, low, width, height,
             px: v => LEFT + (f(Math.max(v, log ? low : v)) - f(low)) * fx, py: v => height - BOTTOM - (v - y[0]) * fy,
             vx: p => g(f(low) + (p - LEFT) / fx), vy: p => y[0] + (height - BOTTOM - p) / fy };
  }

  drawAxes(c, m) {
    const { theme } = this.app;
    c.font = "11px system-ui, sans-serif";
    c.strokeStyle = theme.line;
    c.fillStyle = theme.text;
    c.lineWidth = 1;
    c.beginPath();
    const step = niceStep((m.y[1] - m.y[0]) / 5), middle = (m.y[0] + m.y[1]) / 2;
    // numbers that differ in late digits only are written as differences
    const base = Math.abs(middle) > 1e4 * step ? Math.round(middle / step) * step : 0;
    for (let k = Math.ceil((m.y[0] - base) / step); k * step + base <= m.y[1]; k++) {
      const at = m.py(base + k * step), text = shorten(k * step, step);
      c.moveTo(LEFT, at);
      c.lineTo(m.width - RIGHT, at);
      c.fillText(text, LEFT - 5 - c.measureText(text).width, at + 4);
    }
    if (base) c.fillText("+ " + +base.toPrecision(9), LEFT + 4, TOP + 10);
    const ticks = [];
    if (m.log) for (let p = Math.ceil(Math.log10(m.low)); 10 ** p <= m.x[1]; p++) ticks.push(10 ** p);
    else {
      const across = niceStep((m.x[1] - m.x[0]) / Math.max(2, m.width / 90));
      for (let k = Math.ceil(m.x[0] / across); k * across <= m.x[1]; k++) ticks.push(k * across);
    }
    for (const tick of ticks) {
      const at = m.px(tick), text = m.log ? "1e" + Math.round(Math.log10(tick)) : shorten(tick, m.x[1] - m.x[0]);
      c.moveTo(at, TOP);
      c.lineTo(at, m.height - BOTTOM);
      const half = c.measureText(text).width / 2;
      c.fillText(text, Math.min(at, m.width - half - 2) - half, m.height - 6);
    }
    c.stroke();
  }

  // Sizes are read before anything is written: browsers would lay out the page again for each plot.
  measure() {
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
  }
  inside(c, m) {
    c.beginPath();
    c.rect(LEFT, TOP, m.width - LEFT - RIGHT, m.height - TOP - BOTTOM);
    c.clip();
  }
  // Axes and curves, which do not change with the time: kept as a picture.
  drawStill(m) {
    const key = JSON.stringify([m.x, m.y, m.width, m.height, DPR(), this.app.theme.dark, this.x, this.series.map(s => [s.of.label, s.colour])]);
    if (key === this.key) return;
    this.key = key;
    const c = clearCanvas(this.still, m.width, m.height);
    this.drawAxes(c, m);
    c.save();
    this.inside(c, m);
    c.lineWidth = 1.4;
    for (const entry of this.series) {
      const x = this.xOf(entry), y = entry.of.values;
      c.strokeStyle = entry.colour;
      c.beginPath();
      for (let k = 0, pen = false; k < y.length; k++) {
        const good = isFinite(y[k]) && isFinite(x[k]);
        if (good && pen) c.lineTo(m.px(x[k]), m.py(y[k]));
        else if (good) c.moveTo(m.px(x[k]), m.py(y[k]));
        pen = good;
      }
      c.stroke();
    }
    if (!this.phase) for (const [t] of this.app.runs[0].events.slice(0, 200)) this.drawLine(c, m, t, packHex("#d55e00", 70));
    c.restore();
  }

  draw() {
    if (this.width === undefined) this.measure();
    if (!this.width) return;
    const m = this.map(), { theme, player } = this.app;
    this.drawStill(m);
    const c = clearCanvas(this.canvas, m.width, m.height);
    c.drawImage(this.still, 0, 0, m.width, m.height);
    c.save();
    this.inside(c, m);
    if (!this.phase) this.drawLine(c, m, player.t, theme.ink);
    if (this.hover !== undefined) this.drawLine(c, m, this.hover, theme.faint);
    const t = this.hover === undefined ? player.t : this.hover;
    for (const entry of this.series) {
      const y = entry.of.at(t), other = this.phase && this.app.catalogue.of(entry.of.run, this.x), x = other ? other.at(t) : t;
      c.fillStyle = entry.colour;
      c.beginPath();
      c.arc(m.px(x), m.py(y), 4, 0, 7);
      c.fill();
      entry.value.textContent = isFinite(y) ? "= " + +y.toPrecision(6) : "";
    }
    c.restore();
  }
  drawLine(c, m, t, colour) {
    c.strokeStyle = unpack(colour);
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(m.px(t), TOP);
    c.lineTo(m.px(t), m.height - BOTTOM);
    c.stroke();
  }

  // Wheel: zoom, with shift the vertical axis; drag: pan; click: set the time; double click: everything.
  listen() {
    const { canvas, app } = this, place = e => [e.offsetX, e.offsetY];
    let grip = null;
    const shift = (range, by) => [range[0] + by, range[1] + by], scale = (range, at, by) => range.map(v => at + (v - at) * by);
    const setX = x => { if (this.phase) this.range = { ...this.range, x }; else app.setWindow(x); };
    canvas.addEventListener("wheel", e => {
      const m = this.map(), [x, y] = place(e), by = Math.exp(0.0015 * (e.deltaY || e.deltaX));
      e.preventDefault();
      if (e.shiftKey) this.range = { ...this.range, y: scale(m.y, m.vy(y), by) };
      else if (!m.log) setX(scale(m.x, m.vx(x), by));
      app.drawPlots();
    }, { passive: false });
    canvas.addEventListener("pointerdown", e => {
      grip = { at: place(e), m: this.map(), moved: false };
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", e => {
      const [x, y] = place(e);
      if (grip) {
        const { m, at } = grip, dx = x - at[0], dy = y - at[1];
        if (!grip.moved && Math.hypot(dx, dy) < 4) return;
        grip.moved = true;
        if (!m.log) setX(shift(m.x, m.vx(LEFT) - m.vx(LEFT + dx)));
        if (this.range && this.range.y) this.range.y = shift(m.y, m.vy(0) - m.vy(dy));
      } else if (!this.phase) {
        this.hover = Math.min(Math.max(this.map().vx(x), Math.min(app.player.from, app.player.until)), Math.max(app.player.from, app.player.until));
      }
      app.drawPlots();
    });
    canvas.addEventListener("pointerup", e => {
      if (grip && !grip.moved && !this.phase) app.player.set(this.map().vx(place(e)[0]));
      grip = null;
    });
    canvas.addEventListener("pointerleave", () => { this.hover = undefined; this.draw(); });
    canvas.addEventListener("dblclick", () => { this.range = null; app.setWindow(null); });
  }

  csv() {
    const lines = [], quote = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    for (const run of this.app.runs) {
      const mine = this.series.filter(s => s.of.run === run);
      if (!mine.length) continue;
      lines.push(["t", ...mine.map(s => quote(s.of.label))].join(","));
      for (let k = 0; k < run.frames; k++) lines.push([run.t[k], ...mine.map(s => s.of.values[k])].join(","));
    }
    return lines.join("\n") + "\n";
  }
  savePicture() {
    const picture = element("canvas", { width: this.canvas.width, height: this.canvas.height }), c = picture.getContext("2d");
    c.fillStyle = getComputedStyle(document.body).backgroundColor;
    c.fillRect(0, 0, picture.width, picture.height);
    c.drawImage(this.canvas, 0, 0);
    picture.toBlob(blob => save("taut.png", blob));
  }
}
