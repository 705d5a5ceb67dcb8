"use strict";
// The page of a sweep: kept values over varied ones, as curves or as a map, and the table of its runs.
// The data are the CSV table of `taut sweep` (docs/sweeps.md).

const FEW = 8; // values of a name that make curves; two names with more each make a map
const LAST_COLUMNS = 5; // status, error, steps, force_evaluations, message
const MAP_COLOURS = ["#00224e", "#35456c", "#666970", "#948e77", "#c8b866", "#fee838"]; // cividis
const FAILED = "#d55e00";

function readTable(text) {
  const rows = [[]];
  let field = "", quoted = false;
  for (let k = 0; k < text.length; k++) {
    const letter = text[k];
    if (quoted && letter === '"' && text[k + 1] === '"') field += text[++k];
    else if (letter === '"') quoted = !quoted;
    else if (quoted || letter !== "," && letter !== "\n") field += letter;
    else {
      rows[rows.length - 1].push(field);
      field = "";
      if (letter === "\n") rows.push([]);
    }
  }
  rows.pop(); // every line ends with a newline
  return rows;
}

class Column {
  constructor(name, texts) {
    const unique = new Set(texts), number = text => text === "" ? NaN : text === "inf" ? Infinity : text === "-inf" ? -Infinity : Number(text);
    Object.assign(this, { name, texts, values: texts.map(number) });
    this.words = texts.some((text, k) => text !== "" && text !== "nan" && isNaN(this.values[k])) ? [...unique] : null;
    if (this.words) this.values = texts.map(text => this.words.indexOf(text) + 1); // places 1, 2, ...
    this.count = unique.size;
  }
  // Kept values: two decades; varied ones: whether their middle is nearer to the geometric or to the arithmetic mean.
  logarithmic(varied) {
    const good = this.values.filter(isFinite).sort((a, b) => a - b), least = good[0], most = good[good.length - 1], middle = good[good.length >> 1];
    if (this.words || !(least > 0) || !(most >= 10 * least)) return false;
    return varied ? middle < Math.sqrt(Math.sqrt(least * most) * (least + most) / 2) : most >= 100 * least;
  }
  show(k) {
    return this.words || !isFinite(this.values[k]) ? this.texts[k] || "-" : digits(this.values[k]);
  }
}

class SweepTable {
  constructor(head, text) {
    Object.assign(this, head);
    this.csv = text;
    const [names, ...rows] = readTable(text), end = names.length - LAST_COLUMNS;
    this.columns = names.map((name, k) => new Column(name, rows.map(row => row[k])));
    // a file does not tell them apart: what is kept has a function, max(energy), and comes last
    const first = names.findIndex((name, k) => k > 0 && name.includes("("));
    const kept = head.varied >= 0 ? 1 + head.varied : first < 0 ? Math.max(2, end - 1) : first;
    this.varied = this.columns.slice(1, kept);
    this.kept = this.columns.slice(kept, end);
    this.numbers = [...this.kept, ...this.columns.slice(end + 1, -1)];
    this.status = this.columns[end];
    this.failed = this.status.texts.map(text => text === "failed");
    this.count = rows.length;
    // Names that really vary: the axis is the one with most values, numbers before words.
    const rank = this.varied.filter(c => c.count > 1).sort((a, b) => !!a.words - !!b.words || b.count - a.count);
    this.x = rank[0] || this.varied[0];
    this.grid = rank.reduce((product, c) => product * c.count, 1) === this.count; // all combinations
    this.y = rank.length === 2 && !rank[1].words && (rank[1].count > FEW || !this.grid) ? rank[1] : null;
  }
  column(name) { return this.columns.find(c => c.name === name); }
  // Other names that vary: each combination of them is a curve over x.
  curves(x) {
    const others = this.grid ? this.varied.filter(c => c !== x && c.count > 1) : [], curves = new Map();
    for (let k = 0; k < this.count; k++) {
      const name = others.map(c => `${c.name} = ${c.show(k)}`).join(", ");
      if (!curves.has(name)) curves.set(name, []);
      curves.get(name).push(k);
    }
    for (const rows of curves.values()) rows.sort((a, b) => x.values[a] - x.values[b]);
    return curves;
  }
  describe(k) {
    const part = columns => columns.map(c => `${c.name} = ${c.show(k)}`).join(", ");
    return `run ${this.columns[0].texts[k]}: ${part(this.varied)}; ${this.failed[k] ? "failed: " + this.columns[this.columns.length - 1].texts[k] : part(this.kept)}`;
  }
}

class SweepPlot {
  constructor(app, shown) {
    const { table } = app;
    Object.assign(this, { app, table, shown, x: table.x, y: table.y, range: {}, hover: -1 });
    const choose = (label, from, now, act) => {
      const made = element("select", {}, ...from.map(c => element("option", { textContent: c ? c.name : "-", selected: c === now })));
      made.setAttribute("aria-label", label);
      made.addEventListener("change", () => { act(from[made.selectedIndex]); this.reset(); });
      return made;
    };
    this.canvas = element("canvas", { tabIndex: 0 });
    this.canvas.setAttribute("role", "img");
    this.values = element("output", { className: "values" });
    this.chips = element("ul", { className: "chips" });
    this.buttons = {};
    for (const axis of ["x", "y"])
      this.buttons[axis] = toggle("log " + axis, "logarithmic axis", false, () => { this.log[axis] = !this.log[axis]; this.range = {}; this.draw(); return this.log[axis]; });
    this.element = element("section", { className: "plot" },
      element("header", {}, element("h3", {}, choose("kept value", table.numbers, shown, c => { this.shown = c; })),
        element("label", {}, "over ", choose("horizontal axis", table.varied, this.x, c => { this.x = c; })),
        element("label", {}, "and ", choose("vertical axis of a map", [null, ...table.varied], this.y, c => { this.y = c; })),
        element("span", {}, this.buttons.x, this.buttons.y, button("PNG", "save as a picture", () => savePicture([this.canvas])),
          button("\u00d7", "remove this plot", () => app.remove(this)))),
      this.canvas, this.values, this.chips);
    this.listen();
    this.reset();
  }
  get map() { return this.y && this.y !== this.x; }
  get up() { return this.map ? this.y : this.shown; }

  reset() {
    this.log = { x: this.x.logarithmic(true), y: this.up.logarithmic(this.map) };
    for (const axis of ["x", "y"]) this.buttons[axis].setAttribute("aria-pressed", this.log[axis]);
    this.range = {};
    this.curves = this.table.curves(this.x);
    this.chips.replaceChildren();
    this.canvas.setAttribute("aria-label", `${this.shown.name} over ${this.x.name}${this.map ? " and " + this.y.name : ""}`);
    if (!this.map && this.curves.size > 1)
      [...this.curves.keys()].slice(0, 40).forEach((name, k) => {
        const chip = element("li", {}, element("i"), name);
        chip.firstChild.style.background = PALETTE[k % PALETTE.length];
        this.chips.append(chip);
      });
    this.draw();
  }

  frame() {
    const seen = (column, log) => { const range = new Range(log); column.values.forEach(v => range.see(v)); return range.wide; };
    const words = column => column.words && [0.5, column.words.length + 0.5];
    return new Frame(this.range.x || words(this.x) || seen(this.x, this.log.x), this.range.y || words(this.up) || seen(this.up, this.log.y),
                     this.canvas.clientWidth, this.canvas.clientHeight, this.log, this.map ? TOP + 30 : TOP);
  }
  // Where run k is; a failed one stands at the lower edge where it has no value.
  place(frame, k) {
    const y = frame.py(this.up.values[k]);
    return [frame.px(this.x.values[k]), this.table.failed[k] && !this.map ? frame.height - BOTTOM - 8 : y];
  }

  draw() {
    const width = this.canvas.clientWidth, { theme } = this.app;
    if (!width) return;
    const frame = this.frame(), c = clearCanvas(this.canvas, width, frame.height);
    drawAxes(c, frame, theme, this.x.words);
    c.save();
    frame.clip(c);
    if (this.map) this.drawMap(c, frame);
    else this.drawCurves(c, frame);
    for (let k = 0; k < this.table.count; k++) if (this.table.failed[k]) this.cross(c, ...this.place(frame, k));
    for (const k of new Set([this.app.selected, this.hover])) if (k >= 0) this.ring(c, ...this.place(frame, k));
    c.restore();
    if (this.map) this.drawLegend(c, width);
    const k = this.hover >= 0 ? this.hover : this.app.selected;
    this.values.textContent = k >= 0 ? this.table.describe(k) : "";
  }
  drawCurves(c, frame) {
    const ordered = this.table.grid && !this.x.words;
    [...this.curves.values()].forEach((rows, i) => {
      const good = rows.filter(k => !this.table.failed[k]);
      c.strokeStyle = c.fillStyle = PALETTE[i % PALETTE.length];
      c.lineWidth = 1.4;
      if (ordered) drawCurve(c, frame, good.map(k => this.x.values[k]), good.map(k => this.shown.values[k]));
      if (ordered && good.length > 60) return;
      for (const k of good) {
        const [x, y] = this.place(frame, k);
        c.beginPath();
        c.arc(x, y, 3, 0, 7);
        c.fill();
      }
    });
  }
  // A box around each point of a grid, half-way to its neighbours; discs elsewhere.
  drawMap(c, frame) {
    const { table, x, y } = this, edges = (axis, column) => {
      const places = [...new Set(column.values)].map(v => axis.pixel(v)).sort((a, b) => a - b), box = new Map();
      const half = k => k > 0 && k < places.length ? (places[k] - places[k - 1]) / 2 : places.length > 1 ? k > 0 ? half(k - 1) : half(1) : 20;
      places.forEach((p, k) => box.set(p, [p - half(k), half(k) + half(k + 1)]));
      return v => box.get(axis.pixel(v));
    };
    const across = edges(frame.x, x), along = edges(frame.y, y), boxes = table.grid && table.varied.filter(v => v.count > 1).length <= 2;
    const range = this.colours = new Range(this.shown.logarithmic(false));
    this.shown.values.forEach(v => range.see(v));
    c.strokeStyle = unpack(this.app.theme.faint);
    c.lineWidth = 1;
    for (let k = 0; k < table.count; k++) {
      if (table.failed[k] || !isFinite(this.shown.values[k])) continue;
      c.fillStyle = this.colour(this.shown.values[k]);
      c.beginPath();
      if (boxes) {
        const [left, width] = across(x.values[k]), [top, height] = along(y.values[k]);
        c.rect(left - 0.3, top - 0.3, width + 0.6, height + 0.6);
      } else c.arc(...this.place(frame, k), 5, 0, 7);
      c.fill();
      if (!boxes) c.stroke();
    }
  }
  colour(value) {
    const { least, most, log } = this.colours, f = log ? Math.log : v => v, part = most > least ? (f(value) - f(least)) / (f(most) - f(least)) : 0.5;
    const at = Math.max(0, Math.min(0.9999, part)) * (MAP_COLOURS.length - 1), k = Math.floor(at), mix = i => {
      const [a, b] = [MAP_COLOURS[k], MAP_COLOURS[k + 1]].map(hex => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16));
      return Math.round(a + (at - k) * (b - a));
    };
    return `rgb(${mix(0)},${mix(1)},${mix(2)})`;
  }
  drawLegend(c, width) {
    const { least, most, log } = this.colours, size = Math.min(220, width - LEFT - RIGHT), left = width - RIGHT - size, { theme } = this.app;
    if (!(least <= most)) return;
    for (let k = 0; k < size; k++) {
      c.fillStyle = this.colour(log ? least * (most / least) ** (k / (size - 1)) : least + k / (size - 1) * (most - least));
      c.fillRect(left + k, 2, 1, 8);
    }
    c.fillStyle = theme.text;
    const high = digits(+most.toPrecision(4)), name = (log ? "log " : "") + this.shown.name;
    c.fillText(digits(+least.toPrecision(4)), left, 22);
    c.fillText(high, left + size - c.measureText(high).width, 22);
    if (c.measureText(name).width < size / 2) c.fillText(name, left + (size - c.measureText(name).width) / 2, 22);
  }
  cross(c, x, y) {
    c.strokeStyle = FAILED;
    c.lineWidth = 2;
    c.beginPath();
    for (const side of [-4, 4]) {
      c.moveTo(x - 4, y - side);
      c.lineTo(x + 4, y + side);
    }
    c.stroke();
  }
  ring(c, x, y) {
    c.strokeStyle = unpack(this.app.theme.ink);
    c.lineWidth = 2;
    c.beginPath();
    c.arc(x, y, 7, 0, 7);
    c.stroke();
  }

  // The run nearest to a place, within 30 pixels; -1: none.
  pick(frame, x, y) {
    let best = -1, least = 30;
    for (let k = 0; x !== undefined && k < this.table.count; k++) {
      const [px, py] = this.place(frame, k), distance = Math.hypot(px - x, py - y);
      if (distance < least) [least, best] = [distance, k];
    }
    return best;
  }
  listen() {
    listenPlot(this.canvas, () => this.frame(), {
      zoom: (frame, x, y, by, vertical) => {
        if (vertical) this.range.y = frame.y.zoom(y, by);
        else this.range.x = frame.x.zoom(x, by);
        this.draw();
      },
      pan: (frame, dx, dy) => {
        this.range = { x: frame.x.shift(dx), y: frame.y.shift(dy) };
        this.draw();
      },
      hover: (frame, x, y) => { this.hover = frame ? this.pick(frame, x, y) : -1; this.draw(); },
      click: (frame, x, y) => this.app.select(this.pick(frame, x, y)),
      all: () => { this.range = {}; this.draw(); },
    });
  }
}

class SweepPage {
  constructor(page) {
    this.page = page;
    this.table = page.sweeps[0];
    this.selected = -1;
    this.first = 0; // row of the table on top
    this.order = [...this.table.failed.keys()];
    this.plots = [];
    const main = document.querySelector("main");
    main.id = "sweep";
    this.host = element("section", { id: "plots" });
    this.body = element("tbody");
    this.pages = element("span");
    this.head = element("tr", {}, ...this.table.columns.map(c => element("th", { scope: "col" }, button(c.name, "sort", () => this.sort(c)))));
    const turn = by => { this.first = Math.min(Math.max(0, this.first + by), Math.max(0, this.table.count - 1)); this.fill(); };
    main.replaceChildren(this.host, element("div", { className: "pager" },
      button("another plot", "", () => this.add(this.table.numbers[0])), button("CSV", "save the table", () => save("taut.csv", new Blob([this.table.csv], { type: "text/csv" }))),
      button("<", "earlier rows", () => turn(-SweepPage.SHOWN)), this.pages, button(">", "later rows", () => turn(SweepPage.SHOWN))),
      element("div", { className: "table", tabIndex: 0 }, element("table", {}, element("thead", {}, this.head), this.body)));
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  }
  add(column) {
    const plot = new SweepPlot(this, column);
    this.plots.push(plot);
    this.host.append(plot.element);
    this.draw();
  }
  remove(plot) {
    this.plots = this.plots.filter(p => p !== plot);
    plot.element.remove();
    this.draw();
  }
  draw() { if (!this.printing) for (const plot of this.plots) plot.draw(); }
  setTheme(dark) {
    document.documentElement.classList.toggle("dark", dark);
    this.theme = makeTheme(dark);
    this.draw();
  }
  sort(column) {
    const down = this.sorted === column;
    this.sorted = down ? null : column;
    this.order.sort((a, b) => (down ? -1 : 1) * (column.values[a] - column.values[b]) || (isNaN(column.values[a]) - isNaN(column.values[b])) || a - b);
    this.first = 0;
    this.fill();
  }
  fill() {
    const { table, first } = this, until = Math.min(table.count, first + SweepPage.SHOWN);
    this.pages.textContent = `rows ${first + 1} to ${until} of ${table.count}`;
    this.body.replaceChildren(...this.order.slice(first, until).map(k => {
      const row = element("tr", { className: table.failed[k] ? "failed" : "" }, ...table.columns.map(c => element("td", { textContent: c.show(k) })));
      row.setAttribute("aria-selected", k === this.selected);
      row.addEventListener("click", () => this.select(k));
      return row;
    }));
  }
  // Run k is marked everywhere; -1: none.
  select(k) {
    this.selected = k;
    const at = this.order.indexOf(k);
    if (at >= 0) this.first = at - at % SweepPage.SHOWN;
    this.fill();
    const row = this.body.children[at - this.first];
    if (row) row.scrollIntoView({ block: "nearest" });
    this.draw();
  }
  // Left and right: the run before and after, in the order of the table; Escape: none.
  key(e) {
    if (e.target.matches("input, select") || e.ctrlKey || e.altKey || e.metaKey) return;
    const at = this.order.indexOf(this.selected), go = to => this.select(this.order[Math.min(this.table.count - 1, Math.max(0, to))]);
    const keys = { ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(this.table.count - 1), Escape: () => this.select(-1) };
    if (!keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  }
  start() {
    const { table } = this;
    setTitle(table);
    document.getElementById("theme").addEventListener("click", () => this.setTheme(!this.theme.dark));
    document.addEventListener("keydown", e => this.key(e));
    window.addEventListener("resize", () => this.draw());
    listenPrint(this);
    for (const column of table.kept.slice(0, 4)) this.add(column);
    this.fill();
    const omitted = table.count < table.rows ? `Shown: ${table.count} of ${table.rows} runs. ` : "";
    showTexts(this.page.sweeps, [`Taut ${this.page.version}. ${omitted}Crosses are runs that failed.`,
      "Plots: the wheel zooms, with shift vertically, drag moves, a click marks a run in plots and table, a double click shows everything. " +
      "Keys: left and right go to the run before and after, Home and End to the ends, Escape marks none. A click on a name in the table sorts."]);
    this.ready = true;
  }
}
SweepPage.SHOWN = 100;
