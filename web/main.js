"use strict";
// Puts the page together. Everything hangs on one object, which the console has too: taut.

// A blue and an orange end, which the colour-blind tell apart, and grey in the middle.
function makeTheme(dark) {
  const middle = dark ? [120, 125, 133] : [150, 155, 162], ends = [[0, 114, 178], [213, 94, 0]], table = [];
  for (let k = 0; k <= 200; k++) {
    const x = k / 100 - 1, end = ends[x > 0 ? 1 : 0], part = Math.sqrt(Math.abs(x));
    table.push(pack(...middle.map((m, i) => Math.round(m + part * (end[i] - m)))));
  }
  const style = getComputedStyle(document.documentElement), css = name => style.getPropertyValue(name).trim();
  return { dark, force: x => table[Math.round(100 + 100 * Math.max(-1, Math.min(1, x)))] || table[100], ink: dark ? pack(231, 233, 236) : pack(27, 29, 33),
           faint: pack(139, 145, 155), mark: packHex("#e69f00", 150), text: css("--ink"), line: css("--line"), axis: css("--faint") };
}

class App {
  constructor(page) {
    this.page = page;
    this.runs = page.runs;
    this.catalogue = new Catalogue(this.runs);
    this.player = new Player(this.runs, () => this.refresh());
    this.firstTime = this.runs[0].t.find(t => t > 0) || 1e-12;
    this.scene = new Scene(this.runs);
    const g = this.scene.gravity, up = g ? g.map(Math.abs).indexOf(Math.max(...g.map(Math.abs))) : 2;
    this.camera = new Camera(this.scene.space, up);
    this.plots = [];
    this.setWindow(null);
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  }
  byId(id) { return document.getElementById(id); }

  setTheme(dark) {
    document.documentElement.classList.toggle("dark", dark);
    this.theme = makeTheme(dark);
    this.refresh();
  }
  setWindow(range) {
    const { from, until } = this.player;
    this.window = range || [Math.min(from, until), Math.max(from, until)];
    this.drawPlots();
  }

  // ---- drawing
  refresh() {
    if (this.waiting || !this.ready) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }
  draw() {
    const { player } = this;
    if (this.printing) return;
    if (this.strokes) this.drawScene();
    this.drawPlots();
    this.byId("time").value = player.fraction(player.t);
    this.byId("clock").textContent = `t = ${digits(player.t)}`;
    this.byId("play").textContent = player.playing ? "pause" : "play";
  }
  drawScene() {
    const { camera, scene, theme, player } = this, host = this.byId("scene");
    if (camera.width !== host.clientWidth || camera.height !== host.clientHeight) {
      camera.width = host.clientWidth;
      camera.height = host.clientHeight;
      host.style.setProperty("--shape", camera.width / camera.height); // on paper
      if (!this.moved) this.fitCamera();
    }
    this.follow();
    const list = scene.build(player.t, camera, theme);
    drawUnder(this.byId("base"), camera, player.t, scene, theme);
    this.strokes.draw(list, camera);
    drawOver(this.byId("over"), camera, scene, theme);
  }
  // Browsers print canvases as what was drawn, and what was cleared covers what is below: one canvas has all.
  flatten(on) {
    const c = this.byId("base").getContext("2d");
    c.setTransform(1, 0, 0, 1, 0, 0);
    for (const canvas of [this.strokes.canvas, this.byId("over")]) {
      canvas.style.visibility = on ? "hidden" : "";
      if (on) c.drawImage(canvas, 0, 0);
    }
  }
  drawPlots() {
    for (const plot of this.plots) plot.measure();
    for (const plot of this.plots) plot.draw();
  }

  // ---- plots
  addPlot(title, series, x, host) {
    const plot = new Plot(this, title, series, x);
    this.plots.push(plot);
    (host || this.byId("plots")).insertBefore(plot.element, host ? null : this.more);
    this.refresh();
    return plot;
  }
  removePlot(plot) {
    this.plots = this.plots.filter(p => p !== plot);
    plot.element.remove();
  }
  makePlots() {
    const { catalogue, runs } = this, names = this.byId("names");
    for (const label of [...catalogue.byLabel.keys()].slice(0, 400)) names.append(element("option", { value: label }));
    this.more = button("another plot", "", () => this.addPlot("", []));
    this.byId("plots").append(this.more);
    const main = catalogue.groups.has("coordinates") ? "coordinates" : "state", few = 6;
    const first = catalogue.some(main, few);
    (runs[0].mechanical ? [first] : bySize(first)).forEach((list, k) => this.addPlot(k ? `${main}: ${[...new Set(list.map(s => s.plain))].join(", ")}` : main, list));
    if (runs.length > 1) this.addPlot("differences", catalogue.differences(main, few));
    const changes = s => s.values.some(x => isFinite(x) && x !== 0);
    for (const [group, most] of [["bond forces", few], ["algebraic variables", few], ["outputs", few], ["energy", 8], ["drift", 8]]) {
      const series = catalogue.some(group, most).filter(changes);
      if (series.length) this.addPlot(group, series);
    }
    if (this.scene.runs.length) return;
    // nothing to draw: the phase portrait takes the place of the scene
    const q = runs[0].names.q, y = q.length > 1 ? q[1] : runs[0].mechanical ? q[0] + "'" : null;
    if (y) this.addPlot("phase portrait", runs.map(run => catalogue.of(run, y)), q[0], this.byId("left"));
    this.byId("scene").hidden = true;
  }
  // The force of a bond, in a plot with others of its kind.
  plotBond({ run, bond }) {
    const series = this.catalogue.of(run, `lambda(${run.names.lambda[bond]})`);
    let plot = this.plots.find(p => p.title === "bond forces") || this.addPlot("bond forces", []);
    plot.put(series);
    this.scene.selected = { run, bond };
    this.refresh();
  }

  // ---- controls
  listen() {
    const { player } = this, on = (id, type, act) => this.byId(id).addEventListener(type, act);
    on("play", "click", () => player.toggle());
    on("first", "click", () => player.jump(-Infinity));
    on("last", "click", () => player.jump(Infinity));
    on("back", "click", () => player.jump(-1));
    on("next", "click", () => player.jump(1));
    on("time", "input", e => { player.playing = false; player.set(player.time(+e.target.value)); });
    on("loop", "change", e => { player.loop = e.target.checked; });
    on("theme", "click", () => this.setTheme(!this.theme.dark));
    const speed = this.byId("speed");
    for (const k of [0.1, 0.25, 0.5, 1, 2, 4, 10]) speed.append(element("option", { value: k, textContent: `${k} x`, selected: k === 1 }));
    const { normal, byRows } = player;
    speed.title = `1 x: ${byRows ? `${digits(100 * normal)} % of the rows` : `t = ${digits(normal * Math.abs(player.until - player.from))}`} in a second`;
    speed.addEventListener("change", () => { player.speed = +speed.value; });
    document.addEventListener("keydown", e => this.key(e));
    window.addEventListener("resize", () => this.refresh());
  }
  key(e) {
    const { player } = this, speed = this.byId("speed"), typing = e.target.matches("input[type=text], select");
    if (typing || e.ctrlKey || e.altKey || e.metaKey || e.target.matches("button, summary, input[type=checkbox]:focus-visible") && e.key === " ") return;
    const faster = by => { speed.selectedIndex = Math.max(0, Math.min(speed.options.length - 1, speed.selectedIndex + by)); player.speed = +speed.value; };
    const { camera } = this, view = act => { act(); this.moved = true; this.refresh(); };
    const turn = (dx, dy) => view(() => camera.space ? camera.orbit(dx, dy) : camera.pan(-dx, -dy));
    const narrow = by => this.setWindow(this.window.map(t => player.t + by * (t - player.t)));
    const keys = { " ": () => player.toggle(), ArrowLeft: () => player.jump(e.shiftKey ? -10 : -1), ArrowRight: () => player.jump(e.shiftKey ? 10 : 1),
                   Home: () => player.jump(-Infinity), End: () => player.jump(Infinity), "+": () => faster(1), "-": () => faster(-1),
                   l: () => this.byId("loop").click(), f: () => this.fit(),
                   i: () => view(() => camera.zoom(1.25, camera.width / 2, camera.height / 2)), o: () => view(() => camera.zoom(0.8, camera.width / 2, camera.height / 2)),
                   a: () => turn(-20, 0), d: () => turn(20, 0), w: () => turn(0, -20), s: () => turn(0, 20), z: () => narrow(0.5), Z: () => narrow(2) };
    if (!keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  }
  fitCamera() {
    const { camera, scene } = this;
    camera.fit(scene.cloud(scene.show.follow), 45);
    this.middle = [0, 0, 0];
  }
  // Moves the camera with the middle of the first run.
  follow() {
    const { camera, scene, player } = this, { run, q } = scene.views[0];
    if (!scene.show.follow) return;
    run.sample(player.t, run.first.q, q);
    const middle = scene.middle(run, c => q[c]);
    if (middle.every(isFinite)) {
      camera.centre = camera.centre.map((x, k) => x + middle[k] - this.middle[k]);
      this.middle = middle;
    }
  }
  fit() {
    this.moved = false;
    this.fitCamera();
    this.setWindow(null);
    this.refresh();
  }
  listenScene() {
    const host = this.byId("scene"), { camera } = this, grips = new Map();
    host.addEventListener("wheel", e => {
      e.preventDefault();
      this.moved = true;
      camera.zoom(Math.exp(-0.0015 * e.deltaY), e.offsetX, e.offsetY);
      this.refresh();
    }, { passive: false });
    host.addEventListener("pointerdown", e => {
      grips.set(e.pointerId, { x: e.clientX, y: e.clientY, far: 0 });
      host.setPointerCapture(e.pointerId);
    });
    host.addEventListener("pointermove", e => {
      const grip = grips.get(e.pointerId);
      if (!grip) return;
      const dx = e.clientX - grip.x, dy = e.clientY - grip.y, spread = () => { const [a, b] = grips.values(); return Math.hypot(a.x - b.x, a.y - b.y); };
      const before = grips.size === 2 ? spread() : 0;
      Object.assign(grip, { x: e.clientX, y: e.clientY, far: grip.far + Math.hypot(dx, dy) });
      if (grips.size === 2) camera.zoom(spread() / (before || 1), camera.width / 2, camera.height / 2);
      else if (camera.space && !e.shiftKey) camera.orbit(dx, dy);
      else camera.pan(dx, dy);
      this.moved = this.moved || grip.far > 4;
      this.refresh();
    });
    const release = e => {
      const grip = grips.get(e.pointerId), box = host.getBoundingClientRect();
      grips.delete(e.pointerId);
      if (e.type !== "pointerup" || !grip || grip.far > 4) return;
      const found = this.scene.pick(camera, e.clientX - box.left, e.clientY - box.top);
      if (found) this.plotBond(found);
    };
    host.addEventListener("pointerup", release);
    host.addEventListener("pointercancel", release);
    host.addEventListener("dblclick", () => this.fit());
  }
  makeSwitches() {
    const { scene } = this, bonds = scene.views.some(v => v.drawn.length), points = scene.views.some(v => v.run.points);
    const names = [["traces", scene.traced.length > 0], ["velocities", points], ["forces", bonds], ["shapes", scene.runs.some(run => run.width.shape)], ["follow", scene.runs[0].points > 1]];
    for (const [name, there] of names) {
      if (!there) continue;
      const box = element("input", { type: "checkbox", checked: scene.show[name] });
      box.addEventListener("change", () => { scene.show[name] = box.checked; if (name === "follow") this.fitCamera(); this.refresh(); });
      this.byId("switches").append(element("label", {}, box, " " + name));
    }
    this.byId("switches").append(button("PNG", "save the scene as a picture", () => savePicture([...this.byId("scene").querySelectorAll("canvas")])));
  }
  notes() {
    const { runs } = this, few = runs.filter(run => run.frames < run.rows).map(run => `${run.frames} of ${run.rows} rows${runs.length > 1 ? ` of ${run.name}` : ""}`);
    for (const run of runs) if (run.every > 1) few.push(`one of ${run.every} bonds and particles${runs.length > 1 ? ` of ${run.name}` : ""}`);
    const error = Math.max(...runs.map(run => run.error));
    return [`Taut ${this.page.version}. ${few.length ? `Shown: ${few.join(", ")}. ` : ""}Numbers are rounded to 16 bits of their range: positions are within ` +
            `${error.toPrecision(2)}. Drawn by ${this.strokes ? this.strokes.name : "Canvas 2D"}.`,
            "Keys: space plays and pauses, left and right go a row, with shift ten rows, Home and End to the ends, + and - change the speed, l loops, " +
            "f shows everything, i and o zoom, a, d, w and s turn or move the scene, z and shift-z zoom the time. Scene: drag moves or turns, with shift moves, the wheel zooms, a click on a bond plots its force. " +
            "Plots: the wheel zooms, with shift vertically, drag moves, a click sets the time, a double click shows everything."];
  }

  start() {
    setTitle(this.runs[0]);
    if (this.scene.runs.length) {
      this.strokes = makeStrokes(this.byId("draw"));
      this.makeSwitches();
      this.listenScene();
    }
    this.makePlots();
    showTexts(this.runs, this.notes());
    showEvents(this.runs, this.player);
    this.listen();
    listenPrint(this);
    this.ready = true;
    this.draw();
  }
}

// What is a hundred times smaller than the largest has a plot of its own, and so again; what is rounding has not.
function bySize(series) {
  const span = s => Math.max(...series.filter(other => other.plain === s.plain).map(other => other.error)), most = Math.max(...series.map(span));
  const level = part => part > 1e-2 || part < 1e-9 ? 0 : part > 1e-4 ? 1 : 2, lists = [[], [], []];
  for (const s of series) lists[level(span(s) / most)].push(s);
  return lists.filter((list, k) => k === 0 || list.length);
}

readPage().then(page => {
  if (!page.sweeps.length && !page.runs[0].frames) throw new Error("the run has no rows");
  window.taut = page.sweeps.length ? new SweepPage(page) : new App(page);
  window.taut.start();
}).catch(reason => {
  document.body.append(element("p", { className: "failure", textContent: "The page cannot show its data: " + reason.message }));
  throw reason;
});
