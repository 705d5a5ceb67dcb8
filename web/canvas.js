"use strict";
// Drawing with Canvas 2D: strokes where WebGL2 is missing, and everywhere what lies under them (grid, ground, traces) and over them (texts).

const DPR = () => window.devicePixelRatio || 1;

// The canvas in its present size; its context in CSS pixels, cleared.
function clearCanvas(canvas, width = canvas.clientWidth, height = canvas.clientHeight) {
  const ratio = DPR(), context = canvas.getContext("2d");
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

const unpack = colour => `rgba(${colour & 255},${colour >> 8 & 255},${colour >> 16 & 255},${(colour >>> 24) / 255})`;

class CanvasStrokes {
  constructor(canvas) {
    this.canvas = canvas;
    this.name = "Canvas 2D";
  }
  draw(list, camera) {
    const c = clearCanvas(this.canvas), f = list.floats;
    let colour = -1, width = -1, open = false;
    c.lineCap = "round";
    for (let k = 0, at = 0; k < list.count; k++, at += 8) {
      if (list.words[at + 7] !== colour || f[at + 6] !== width) {
        if (open) c.stroke();
        colour = list.words[at + 7];
        width = f[at + 6];
        c.strokeStyle = unpack(colour);
        c.lineWidth = width;
        c.beginPath();
        open = true;
      }
      const x = camera.x(f, at), y = camera.y(f, at), x1 = camera.x(f, at + 3), y1 = camera.y(f, at + 3);
      c.moveTo(x, y);
      c.lineTo(x1 === x && y1 === y ? x + 0.01 : x1, y1);
    }
    if (open) c.stroke();
  }
}

function drawGrid(c, camera, theme, scene) {
  const step = niceStep(70 / camera.scale), { width, height } = camera;
  c.font = "11px system-ui, sans-serif";
  c.fillStyle = theme.text;
  c.lineWidth = 1;
  const span = axis => {
    const half = (axis ? height : width) / 2 / camera.scale;
    return [Math.ceil((camera.centre[axis] - half) / step), Math.floor((camera.centre[axis] + half) / step)];
  };
  for (const axis of [0, 1]) {
    const [from, to] = span(axis);
    for (let k = from; k <= to && to - from < 200; k++) {
      const p = [0, 0, 0];
      p[axis] = k * step;
      const at = axis ? camera.y(p) : camera.x(p);
      c.strokeStyle = k === 0 ? theme.axis : theme.line;
      c.beginPath();
      if (axis) { c.moveTo(0, at); c.lineTo(width, at); if (at < height - 20) c.fillText(shorten(k * step, step), 3, at - 3); }
      else { c.moveTo(at, 0); c.lineTo(at, height); c.fillText(shorten(k * step, step), at + 3, height - 4); }
      c.stroke();
    }
  }
}

// In space: the ground, a grid under everything, and the axes.
function drawFloor(c, camera, theme, scene) {
  const { least, most } = scene.box, up = camera.up, [i, j] = [(up + 1) % 3, (up + 2) % 3];
  const size = Math.max(most[i] - least[i], most[j] - least[j]) || 1, step = niceStep(size / 8), p = [0, 0, 0];
  const path = (from, to) => { c.moveTo(camera.x(from), camera.y(from)); c.lineTo(camera.x(to), camera.y(to)); };
  c.strokeStyle = theme.line;
  c.lineWidth = 1;
  c.beginPath();
  for (const [along, across] of [[i, j], [j, i]]) {
    const low = Math.floor(least[across] / step) * step, high = Math.ceil(most[across] / step) * step;
    const begin = Math.floor(least[along] / step), end = Math.ceil(most[along] / step);
    for (let k = begin; k <= end; k++) {
      const a = [...p], b = [...p];
      a[along] = b[along] = k * step;
      a[up] = b[up] = least[up];
      a[across] = low;
      b[across] = high;
      path(a, b);
    }
  }
  c.stroke();
  const corner = [50, camera.height - 45];
  c.strokeStyle = theme.axis;
  c.fillStyle = theme.text;
  c.font = "12px system-ui, sans-serif";
  c.beginPath();
  for (let k = 0; k < 3; k++) {
    const x = corner[0] + 28 * camera.axes[0][k], y = corner[1] - 28 * camera.axes[1][k];
    c.moveTo(...corner);
    c.lineTo(x, y);
    c.fillText("xyz"[k], x + 3, y - 2);
  }
  c.stroke();
}

function drawTraces(c, camera, t, scene) {
  const p = [0, 0, 0];
  c.lineWidth = 1.2;
  for (const { view, column, dimension } of scene.traced) {
    const { run } = view, last = run.place(t)[0], k = scene.views.indexOf(view), now = run.sample(t, column, new Float64Array(dimension));
    c.strokeStyle = scene.views.length > 1 ? PALETTE[k % PALETTE.length] : "#999933";
    c.globalAlpha = 0.6;
    c.beginPath();
    for (let f = 0; f <= last + 1; f++) {
      for (let i = 0; i < dimension; i++) p[i] = f <= last ? run.value(f, column + i) : now[i];
      const x = camera.x(p), y = camera.y(p);
      if (f) c.lineTo(x, y);
      else c.moveTo(x, y);
    }
    c.stroke();
    c.globalAlpha = 1;
  }
}

function drawUnder(canvas, camera, t, scene, theme) {
  const c = clearCanvas(canvas);
  if (scene.space) drawFloor(c, camera, theme, scene);
  else drawGrid(c, camera, theme, scene);
  if (scene.show.traces) drawTraces(c, camera, t, scene);
}

// Texts of shapes, the legend of forces or of runs, the direction of gravity.
function drawOver(canvas, camera, scene, theme) {
  const c = clearCanvas(canvas);
  for (const { p, text, colour, size } of scene.texts) {
    c.font = `${size}px system-ui, sans-serif`;
    c.fillStyle = colour || theme.text;
    c.fillText(text, camera.x(p) + 6, camera.y(p) - 6);
  }
  c.font = "12px system-ui, sans-serif";
  c.fillStyle = theme.text;
  const view = scene.views[0], right = camera.width - 12;
  if (scene.views.length > 1) {
    const left = Math.max(12, right - 24 - Math.max(...scene.views.map(v => c.measureText(v.run.name).width)));
    scene.views.forEach((v, k) => {
      c.fillStyle = PALETTE[k % PALETTE.length];
      c.fillRect(left, 12 + 18 * k, 18, 5);
      c.fillStyle = theme.text;
      c.fillText(v.run.name, left + 24, 19 + 18 * k, right - left - 24); // narrower letters where there is no room
    });
  } else if ((view.drawn.length || view.lines.length) && view.strongest) {
    for (let k = 0; k < 120; k++) {
      c.fillStyle = unpack(theme.force(k / 59.5 - 1));
      c.fillRect(right - 120 + k, 14, 1, 8);
    }
    c.fillStyle = theme.text;
    const ends = (left, most, y) => {
      c.fillText(left, right - 120, y);
      c.fillText(most, right - c.measureText(most).width, y);
    };
    ends(digits(-view.strongest, 3), digits(view.strongest, 3), 11);
    if (view.drawn.length) ends("pushes", "pulls", 36);
    c.fillText("bond force", right - 128 - c.measureText("bond force").width, 22);
  }
  if (scene.gravity) {
    const g = scene.gravity, size = Math.hypot(...g), d = camera.axes.map(a => (a[0] * g[0] + a[1] * g[1] + a[2] * g[2]) / size);
    const at = (along, across) => [52 + along * d[0] + across * d[1], 26 - along * d[1] + across * d[0]];
    c.strokeStyle = theme.text;
    c.beginPath();
    c.moveTo(...at(-15, 0));
    c.lineTo(...at(15, 0));
    for (const side of [-5, 5]) {
      c.moveTo(...at(15, 0));
      c.lineTo(...at(7, side));
    }
    c.stroke();
    c.fillText("g = " + +size.toPrecision(4), 74, 20);
  }
}
