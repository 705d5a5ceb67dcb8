"use strict";
// Plots of series against time, or against another series of the same run (a phase portrait), linked to the time shown.

class Plot {
  constructor(app, title, series, x = "t") {
    Object.assign(this, { app, title, x, series: [], range: null, log: { x: x === "t" && app.player.byRows, y: false } });
    const name = (properties, act) => {
      const made = element("input", { type: "text", ...properties });
      made.setAttribute("list", "names");
      made.addEventListener("change", () => act(made.value));
      return made;
    };
    this.add = name({ placeholder: "add name", title: "name of what to plot" }, text => this.addByName(text) && (this.add.value = ""));
    this.axis = name({ value: x, title: "horizontal axis: t, or a name (phase portrait)" }, text => this.setAxis(text));
    this.canvas = element("canvas", { tabIndex: 0, title: "" });
    this.canvas.setAttribute("role", "img");
    this.still = element("canvas");
    this.chips = element("ul", { className: "chips" }, element("li", {}, this.add));
    this.element = element("section", { className: "plot" },
      element("header", {}, element("h3", { textContent: title }), element("label", {}, "over ", this.axis),
        element("span", {}, toggle("log x", "logarithmic horizontal axis", this.log.x, () => this.setLog("x")), toggle("log y", "logarithmic vertical axis", false, () => this.setLog("y")),
          button("PNG", "save as a picture", () => savePicture([this.canvas])),
          button("CSV", "save the numbers", () => save("taut.csv", new Blob([this.csv()], { type: "text/csv" }))),
          button("\u00d7", "remove this plot", () => app.removePlot(this)))),
      this.canvas, this.chips);
    for (const s of series) this.put(s);
    this.setAxis(x);
    this.listen();
  }
  get phase() { return this.x !== "t"; }

  put(series) {
    if (!series || this.series.some(s => s.of === series)) return;
    const free = PALETTE.find(colour => !this.series.some(s => s.colour === colour)) || PALETTE[this.series.length % PALETTE.length];
    const value = element("span"), remove = element("button", { textContent: "\u00d7", title: "remove " + series.label });
    const chip = element("li", {}, element("i"), element("span", { textContent: series.label + " " }), value, remove);
    chip.firstChild.style.background = free;
    const entry = { of: series, colour: free, value, chip };
    remove.addEventListener("click", () => {
      this.series = this.series.filter(s => s !== entry);
      chip.remove();
      this.draw();
    });
    this.series.push(entry);
    this.chips.insertBefore(chip, this.chips.lastChild);
    this.canvas.setAttribute("aria-label", `${this.title}: ${this.series.map(s => s.of.label).join(", ")}`);
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
  setLog(axis) {
    this.log[axis] = !this.log[axis];
    this.range = null;
    this.draw();
    return this.log[axis];
  }

  xOf(entry) { // numbers along the horizontal axis
    if (!this.phase) return entry.of.run.t;
    const other = this.app.catalogue.of(entry.of.run, this.x);
    return other ? other.values : entry.of.run.t.map(() => NaN);
  }

  // What is visible.
  frame() {
    const x = new Range(this.log.x), y = new Range(this.log.y), { window, firstTime } = this.app, given = this.range || {};
    const time = this.log.x ? [Math.max(window[0], firstTime), Math.max(window[1], 2 * firstTime)] : window;
    for (const entry of this.series) {
      const along = this.xOf(entry), values = entry.of.values;
      for (let k = 0; k < values.length; k++) {
        if (this.phase) x.see(along[k]);
        if (this.phase || along[k] >= window[0] && along[k] <= window[1]) y.see(values[k]);
      }
    }
    return new Frame(given.x || (this.phase ? x.wide : time), given.y || y.wide, this.width, this.height, this.log);
  }

  // Sizes are read before anything is written: browsers would lay out the page again for each plot.
  measure() {
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
  }
  // Axes and curves, which do not change with the time: kept as a picture.
  drawStill(frame) {
    const key = JSON.stringify([frame.key, this.app.theme.dark, this.x, this.series.map(s => [s.of.label, s.colour])]);
    if (key === this.key) return;
    this.key = key;
    const c = clearCanvas(this.still, frame.width, frame.height);
    drawAxes(c, frame, this.app.theme);
    c.save();
    frame.clip(c);
    c.lineWidth = 1.4;
    for (const entry of this.series) {
      c.strokeStyle = entry.colour;
      drawCurve(c, frame, this.xOf(entry), entry.of.values);
    }
    if (!this.phase) for (const [t] of this.app.runs[0].events.slice(0, 200)) this.drawLine(c, frame, t, packHex("#d55e00", 70));
    c.restore();
  }

  draw() {
    if (this.width === undefined) this.measure();
    if (!this.width) return;
    const frame = this.frame(), { theme, player } = this.app;
    this.drawStill(frame);
    const c = clearCanvas(this.canvas, frame.width, frame.height);
    c.drawImage(this.still, 0, 0, frame.width, frame.height);
    c.save();
    frame.clip(c);
    if (!this.phase) this.drawLine(c, frame, player.t, theme.ink);
    if (this.hover !== undefined && !this.phase) this.drawLine(c, frame, this.hover, theme.faint);
    const t = this.hover === undefined ? player.t : this.hover;
    for (const entry of this.series) {
      const y = entry.of.at(t), other = this.phase && this.app.catalogue.of(entry.of.run, this.x), x = other ? other.at(t) : t;
      c.fillStyle = entry.colour;
      c.beginPath();
      c.arc(frame.px(x), frame.py(y), 4, 0, 7);
      c.fill();
      entry.value.textContent = !isFinite(y) ? "" : "= " + known(y, entry.of.error) + (other ? ` where ${this.x} = ${known(x, other.error)}` : "");
    }
    c.restore();
  }
  drawLine(c, frame, t, colour) {
    c.strokeStyle = unpack(colour);
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(frame.px(t), frame.top);
    c.lineTo(frame.px(t), frame.height - BOTTOM);
    c.stroke();
  }

  // The time at a pixel; in a phase portrait that of the nearest row.
  timeAt(frame, x, y) {
    if (!this.phase) return frame.x.value(x);
    let best = this.app.player.t, least = Infinity;
    for (const entry of this.series) {
      const along = this.xOf(entry), values = entry.of.values;
      for (let k = 0; k < values.length; k++) {
        const distance = Math.hypot(frame.px(along[k]) - x, frame.py(values[k]) - y);
        if (distance < least) [least, best] = [distance, entry.of.run.t[k]];
      }
    }
    return best;
  }

  // Wheel: zoom, with shift the vertical axis; drag: pan; click: set the time; double click: everything.
  listen() {
    const { canvas, app } = this, { from, until } = app.player;
    const setX = x => { if (this.phase) this.range = { ...this.range, x }; else app.setWindow(x); };
    listenPlot(canvas, () => this.frame(), {
      zoom: (frame, x, y, by, vertical) => {
        if (vertical) this.range = { ...this.range, y: frame.y.zoom(y, by) };
        else setX(frame.x.zoom(x, by));
        app.drawPlots();
      },
      pan: (frame, dx, dy) => {
        setX(frame.x.shift(dx));
        if (this.range && this.range.y) this.range.y = frame.y.shift(dy);
        app.drawPlots();
      },
      hover: (frame, x, y) => {
        this.hover = x === undefined ? undefined : Math.min(Math.max(this.timeAt(frame, x, y), Math.min(from, until)), Math.max(from, until));
        app.drawPlots();
      },
      click: (frame, x, y) => app.player.set(this.timeAt(frame, x, y)),
      all: () => { this.range = null; app.setWindow(null); },
    });
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
}

// What a pointer and a wheel do in a plot, whose frame they begin with.
function listenPlot(canvas, frame, act) {
  let grip = null;
  canvas.addEventListener("wheel", e => {
    e.preventDefault();
    act.zoom(frame(), e.offsetX, e.offsetY, Math.exp(0.0015 * (e.deltaY || e.deltaX)), e.shiftKey);
  }, { passive: false });
  canvas.addEventListener("pointerdown", e => {
    grip = { x: e.offsetX, y: e.offsetY, frame: frame(), moved: false };
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener("pointermove", e => {
    if (!grip) return act.hover(frame(), e.offsetX, e.offsetY);
    const dx = e.offsetX - grip.x, dy = e.offsetY - grip.y;
    grip.moved = grip.moved || Math.hypot(dx, dy) >= 4;
    if (grip.moved) act.pan(grip.frame, dx, dy);
  });
  canvas.addEventListener("pointerup", e => {
    if (grip && !grip.moved) act.click(frame(), e.offsetX, e.offsetY);
    grip = null;
  });
  canvas.addEventListener("pointerleave", () => act.hover());
  canvas.addEventListener("dblclick", act.all);
}
