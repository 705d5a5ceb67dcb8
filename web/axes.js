"use strict";
// Between numbers and pixels, and the axes of plots; an axis may be logarithmic.

const LEFT = 62, BOTTOM = 20, TOP = 6, RIGHT = 8;

class Axis {
  // range: [from, to], which lie at the pixels `begin` and `end`.
  constructor(range, begin, end, log) {
    this.range = range;
    this.begin = begin;
    this.log = log;
    this.low = this.forth(range[0]);
    this.scale = (end - begin) / (this.forth(range[1]) - this.low);
  }
  forth(v) { return this.log ? Math.log(v) : v; }
  back(v) { return this.log ? Math.exp(v) : v; }
  pixel(v) { return this.begin + (this.forth(v) - this.low) * this.scale; }
  value(p) { return this.back(this.low + (p - this.begin) / this.scale); }
  zoom(p, by) { return this.range.map(v => this.value(p + (this.pixel(v) - p) * by)); }
  shift(pixels) { return this.range.map(v => this.value(this.pixel(v) - pixels)); }
}

// The smallest range with all finite numbers (of a logarithmic axis: the positive ones), and a margin.
class Range {
  constructor(log) {
    this.log = log;
    this.least = Infinity;
    this.most = -Infinity;
  }
  see(v) {
    if (!isFinite(v) || this.log && !(v > 0)) return;
    if (v < this.least) this.least = v;
    if (v > this.most) this.most = v;
  }
  get wide() {
    const { least, most, log } = this;
    if (!(least <= most)) return log ? [1, 10] : [0, 1];
    if (log) return most > least ? [least * (least / most) ** 0.05, most * (most / least) ** 0.05] : [least / 2, 2 * most];
    const more = most > least ? 0.05 * (most - least) : Math.abs(least) * 1e-3 || 1;
    return [least - more, most + more];
  }
}

// The rectangle of a plot in a canvas of this size.
class Frame {
  constructor(x, y, width, height, log, top = TOP) {
    if (!log.y && ticksOf({ range: y }, (y[1] - y[0]) / 5).base) top += 13; // room for what is to be added
    Object.assign(this, { width, height, top });
    this.x = new Axis(x, LEFT, width - RIGHT, log.x);
    this.y = new Axis(y, height - BOTTOM, top, log.y);
  }
  px(v) { return this.x.pixel(v); }
  py(v) { return this.y.pixel(v); }
  clip(c) {
    c.beginPath();
    c.rect(LEFT, this.top, this.width - LEFT - RIGHT, this.height - this.top - BOTTOM);
    c.clip();
  }
  get key() { return [this.x.range, this.x.log, this.y.range, this.y.log, this.width, this.height, DPR()]; }
}

// A step of 1, 2 or 5 times a power of ten, at least `least`.
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find(k => k * power >= least * 0.999);
}
// A number in 6 digits, or as many.
function digits(x, most = 6) {
  const size = Math.abs(x), rounded = +x.toPrecision(most);
  return size > 0 && size < 1e-3 || size >= 1e6 ? rounded.toExponential() : String(rounded);
}
// A number that is within `error` of the right one: its digits that are known, at most 6.
function known(x, error) {
  if (!(error > 0)) return digits(x);
  const places = Math.ceil(-Math.log10(error)), size = Math.max(Math.abs(x), error);
  if (x === 0 && places >= 0 && places < 7) return x.toFixed(places);
  return digits(x, Math.max(1, Math.min(6, Math.floor(Math.log10(size)) + 1 + places)));
}
// A number of an axis with this step.
const shorten = (x, step) => Math.abs(x) < 1e-6 * step ? "0" : digits(+x.toPrecision(Math.abs(x) < 1e-3 || Math.abs(x) >= 1e6 ? 4 : 6));

// Where the lines of an axis are, with their texts: [value, text]; and what is to be added to all of them.
function ticksOf(axis, step) {
  const [from, to] = axis.range, ticks = [], decades = axis.log ? Math.log10(to / from) : 0;
  if (decades > 1) {
    const every = Math.ceil(decades * step / (to - from) - 0.01) || 1, first = Math.ceil(Math.log10(from) - 1e-9);
    for (let p = first; 10 ** p <= to * 1.000001; p += every) ticks.push([10 ** p, Math.abs(p) < 4 ? String(+(10 ** p).toPrecision(6)) : "1e" + p]);
    if (decades < 3) for (const [tick] of [...ticks, [10 ** (first - 1)]]) for (const k of [2, 5]) if (k * tick >= from && k * tick <= to) ticks.push([k * tick, String(+(k * tick).toPrecision(4))]);
    return { ticks, base: 0 };
  }
  const nice = niceStep(step), middle = (from + to) / 2;
  // numbers that differ in late digits only are written as differences
  const base = Math.abs(middle) > 1e4 * nice ? Math.round(middle / nice) * nice : 0;
  for (let k = Math.ceil((from - base) / nice); k * nice + base <= to; k++) ticks.push([base + k * nice, shorten(k * nice, nice)]);
  return { ticks, base };
}

// Names (words in the places 1, 2, ...) stand in place of numbers along x.
function drawAxes(c, frame, theme, names) {
  const { width, height } = frame, span = axis => axis.range[1] - axis.range[0];
  c.font = "11px system-ui, sans-serif";
  c.strokeStyle = theme.line;
  c.fillStyle = theme.text;
  c.lineWidth = 1;
  c.beginPath();
  const up = ticksOf(frame.y, span(frame.y) / 5), across = names ? { ticks: names.map((name, k) => [k + 1, name]), base: 0 } : ticksOf(frame.x, span(frame.x) / Math.max(2, width / 90));
  for (const [tick, text] of up.ticks) {
    const at = frame.py(tick);
    c.moveTo(LEFT, at);
    c.lineTo(width - RIGHT, at);
    c.fillText(text, LEFT - 5 - c.measureText(text).width, at + 4);
  }
  if (up.base) c.fillText("+ " + +up.base.toPrecision(9), LEFT, frame.top - 4);
  let free = -Infinity;
  for (const [tick, text] of across.ticks.sort((a, b) => a[0] - b[0])) {
    const at = frame.px(tick), half = c.measureText(text).width / 2, left = Math.min(at, width - half - 2) - half;
    c.moveTo(at, frame.top);
    c.lineTo(at, height - BOTTOM);
    if (left < free) continue;
    c.fillText(text, left, height - 6);
    free = left + 2 * half + 8;
  }
  if (across.base) c.fillText("+ " + +across.base.toPrecision(9), LEFT + 4, height - BOTTOM - 4);
  c.stroke();
}

// A curve; what is not a number, or not positive on a logarithmic axis, is a gap.
function drawCurve(c, frame, x, y) {
  c.beginPath();
  for (let k = 0, pen = false; k < y.length; k++) {
    const px = frame.px(x[k]), py = frame.py(y[k]), good = isFinite(px) && isFinite(py);
    if (good && pen) c.lineTo(px, py);
    else if (good) c.moveTo(px, py);
    pen = good;
  }
  c.stroke();
}

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  Object.assign(made, properties);
  made.append(...children);
  return made;
}
function button(text, title, act) {
  const made = element("button", { textContent: text, title });
  made.addEventListener("click", act);
  return made;
}
// A button that stays pressed: act gives its new state.
function toggle(text, title, on, act) {
  const made = button(text, title, () => made.setAttribute("aria-pressed", act()));
  made.setAttribute("aria-pressed", on);
  return made;
}

function save(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
// Canvases of one size, one over the other, as a PNG on the background of the page.
function savePicture(canvases) {
  const picture = element("canvas", { width: canvases[0].width, height: canvases[0].height }), c = picture.getContext("2d");
  c.fillStyle = getComputedStyle(document.body).backgroundColor;
  c.fillRect(0, 0, picture.width, picture.height);
  for (const canvas of canvases) c.drawImage(canvas, 0, 0);
  picture.toBlob(blob => save("taut.png", blob));
}
