// check.mjs - pages in a browser against the CSV files of the same runs:  node check.mjs CHROMIUM FOLDER MODEL ...
// Prints "STATUS text" lines for tests/test_page.sh. Opening a page costs most: those that need no pointer and no keys are frames of one.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "./browser.mjs";

const [program, folder, ...models] = process.argv.slice(2);
const row = (good, text) => console.log(`${good ? 0 : 1} ${String(text).replaceAll("\n", " ")}`);
const browser = new Browser(program), at = name => `file://${join(folder, name)}`;
const near = (a, b, tolerance) => Math.abs(a - b) <= tolerance;

function readCsv(name) {
  const [head, ...lines] = readFileSync(join(folder, name + ".csv"), "utf8").trim().split("\n");
  return { names: head.split(","), rows: lines.map(line => line.split(",").map(Number)) };
}

function quiet(page, name) {
  row(page.errors.length === 0, `${name}: errors on the console: ${page.errors}`);
  const away = page.requests.filter(url => !url.startsWith("file://" + folder) && !url.startsWith("blob:") && !url.startsWith("data:"));
  row(page.requests.length > 0 && away.length === 0, `${name}: requests: ${away}`);
}

// At times: what is drawn, and what the plots show. A pixel of the last point is looked at too.
const lookAt = times => `${JSON.stringify(times)}.map(t => {
  const app = taut, run = app.runs[0], view = app.scene.views[0], plots = app.plots.filter(p => !p.phase);
  app.player.set(t);
  app.draw();
  const ends = [...Array(view ? 2 * app.scene.list.count : 0).keys()].map(k => 8 * (k >> 1) + 3 * (k & 1)), f = app.scene.list.floats;
  const outside = ends.filter(at => { const x = app.camera.x(f, at), y = app.camera.y(f, at); return !(x > 0 && y > 0 && x < app.camera.width && y < app.camera.height); }).length;
  const result = { outside, t: app.byId("clock").textContent, slider: +app.byId("time").value, part: app.player.fraction(t), cursor: plots[0].frame().px(t) };
  result.q = Array.from(view ? view.q : run.sample(app.player.t, run.first.q, new Float64Array(run.width.q)));
  result.chips = Object.fromEntries(plots.flatMap(p => p.series.map(s => [s.of.label, s.value.textContent])));
  if (view && view.run.points) {
    const at = run.point[run.points - 1] >> 2, p = [view.q[at], view.q[at + 1], run.dimension === 3 ? view.q[at + 2] : 0];
    const canvas = document.createElement("canvas"), source = app.strokes.canvas;
    canvas.width = source.width;
    canvas.height = source.height;
    const c = canvas.getContext("2d");
    c.drawImage(source, 0, 0);
    result.ink = c.getImageData(Math.round(app.camera.x(p)), Math.round(app.camera.y(p)), 1, 1).data[3];
  }
  return result;
})`;

function compare(name, csv, k, seen, error) {
  const n = seen.q.length, off = Math.max(...seen.q.map((x, i) => Math.abs(x - csv.rows[k][1 + i]) / (error[i] * 1.001 + 1e-14)));
  row(off <= 1, `${name}: positions of row ${k} are ${off} times the error of the coding away`);
  row(near(Number(seen.t.slice(4)), csv.rows[k][0], 1e-5 * Math.abs(csv.rows[k][0])) && near(seen.slider, seen.part, 1e-9), `${name}: row ${k} shows ${seen.t}, ${seen.slider}`);
  row(seen.outside === 0, `${name}: ${seen.outside} ends of what is drawn in row ${k} are out of sight`);
  if (seen.ink !== undefined) row(seen.ink > 0, `${name}: nothing is drawn where the last point is in row ${k}`);
  let compared = 0;
  for (const [label, text] of Object.entries(seen.chips)) {
    const column = csv.names.indexOf(label);
    if (column < 1 || column > n) continue;
    compared++;
    const value = csv.rows[k][column], shown = Number(text.slice(2));
    row(near(shown, value, error[column - 1] * 1.501 + 6e-6 * Math.abs(value) + 1e-14), `${name}: ${label} of row ${k} is ${value}, its plot shows ${text}`);
  }
  row(compared > 0, `${name}: no plot of a coordinate in row ${k}`);
}

async function checkModel(name, file, evaluate) {
  const csv = readCsv(name), last = csv.rows.length - 1, places = [0, 0.37, 1].map(part => Math.round(part * last));
  const facts = await evaluate("({ t: Array.from(taut.runs[0].t), step: Array.from(taut.runs[0].step), failure: !!document.querySelector('.failure'), strokes: taut.strokes && taut.strokes.name, marks: taut.byId('marks').children.length })");
  row(!facts.failure && facts.t.length === csv.rows.length, `${file}: ${facts.t.length} rows, expected ${csv.rows.length}`);
  if (facts.strokes) row(facts.strokes === (file.endsWith("#canvas") ? "Canvas 2D" : "WebGL2"), `${file}: drawn by ${facts.strokes}`);
  const seen = await evaluate(lookAt(places.map(k => csv.rows[k][0])));
  places.forEach((k, i) => compare(file, csv, k, seen[i], facts.step.map(s => s / 2)));
  row(seen[0].cursor < seen[1].cursor && seen[1].cursor < seen[2].cursor, `${file}: the cursor of a plot is at ${seen.map(s => s.cursor)}`);
  const played = await evaluate(`(() => {
    const { player } = taut, slider = taut.byId("time"), press = () => { taut.byId("play").click(); taut.draw(); return taut.byId("play").textContent; };
    slider.value = 0.25;
    slider.dispatchEvent(new Event("input"));
    taut.draw();
    const scrubbed = [player.fraction(player.t), taut.byId("clock").textContent === "t = " + digits(player.t)], from = player.t, label = press();
    player.tick(player.before + 100);
    const on = Math.abs(player.t - from), wanted = 0.1 * player.normal, part = player.fraction(player.t) - 0.25, before = player.t, paused = press();
    player.tick(player.before + 100);
    return { scrubbed, label, on, part, wanted, paused, still: player.t === before };
  })()`);
  row(near(played.scrubbed[0], 0.25, 1e-9) && played.scrubbed[1], `${file}: the slider at a quarter shows ${played.scrubbed}`);
  row(played.label === "pause" && played.on > 0 && near(played.part, played.wanted, 1e-9), `${file}: playing for 0.1 s: ${JSON.stringify(played)}`);
  row(played.paused === "play" && played.still, `${file}: it does not pause: ${JSON.stringify(played)}`);
  if (name === "bouncing_ball") row(facts.marks >= 4, `${file}: ${facts.marks} marks of events`);
}

// Every number of a page against its CSV, which has the columns in the same order; 0 is exact.
async function checkCoding(name, evaluate) {
  const csv = readCsv(name), worst = await evaluate(`(() => {
    const run = taut.runs[0], rows = ${JSON.stringify(csv.rows)};
    let worst = 0;
    rows.forEach((row, f) => { for (let c = 0; c < row.length - 1; c++) worst = row[c + 1] === 0 && run.value(f, c) !== 0 ? Infinity : worst });
    rows.forEach((row, f) => { for (let c = 0; c < row.length - 1; c++) worst = Math.max(worst, Math.abs(run.value(f, c) - row[c + 1]) / (run.step[c] / 2 * 1.001 + 1e-14)); });
    return worst;
  })()`);
  row(worst <= 1, `${name}: a number is ${worst} half steps away`);
}

// First order: no scene, states over time, and a phase portrait whose mark is at the present state.
async function checkFirstOrder(name, evaluate) {
  const csv = readCsv(name), k = 40, seen = await evaluate(`(() => {
    taut.player.set(${csv.rows[40][0]});
    taut.draw();
    const plot = taut.plots.find(p => p.phase), frame = plot.frame(), s = plot.series[0].of;
    const c = plot.canvas.getContext("2d"), x = frame.px(taut.catalogue.of(s.run, plot.x).at(taut.player.t)), y = frame.py(s.at(taut.player.t));
    const ink = c.getImageData(x, y, 1, 1).data[3];
    plot.setLog("x");
    const log = plot.frame();
    plot.setLog("x");
    const again = plot.frame(), k = 20, at = [taut.catalogue.of(s.run, plot.x).values[k], s.values[k]], event = type => plot.canvas.dispatchEvent(new PointerEvent(type, { clientX: box.left + again.px(at[0]), clientY: box.top + again.py(at[1]), pointerId: 1 }));
    const box = plot.canvas.getBoundingClientRect();
    event("pointermove");
    const under = plot.series[0].value.textContent;
    return { under, wanted: at, ink, hidden: taut.byId("scene").hidden, x: plot.x, y: s.plain, value: frame.x.value(x), middle: log.x.value((log.px(log.x.range[0]) + log.px(log.x.range[1])) / 2) ** 2 / (log.x.range[0] * log.x.range[1]) };
  })()`);
  row(seen.hidden && seen.ink === 255 && near(seen.value, csv.rows[k][csv.names.indexOf(seen.x)], 1e-4), `${name}: phase portrait ${JSON.stringify(seen)}`);
  const [, shown, along] = seen.under.match(/^= (\S+) where \S+ = (\S+)$/);
  row(near(+along, seen.wanted[0], 1e-3) && near(+shown, seen.wanted[1], 1e-7), `${name}: under the cursor in the phase portrait: ${seen.under}, expected ${seen.wanted}`);
  row(near(seen.middle, 1, 1e-9), `${name}: the middle of a logarithmic axis squared is ${seen.middle} times its ends`);
}

async function checkSweeps(evaluate, map) {
  const csv = readFileSync(join(folder, "sweep.csv"), "utf8"), seen = await evaluate(`(() => {
    const { table, plots } = taut, plot = plots[0], frame = plot.frame(), c = plot.canvas.getContext("2d"), failed = table.failed.indexOf(true);
    const saved = [];
    window.save = (name, blob) => saved.push(blob);
    [...document.querySelectorAll(".pager button")].find(b => b.textContent === "CSV").click();
    taut.select(2);
    const [x, y] = plot.place(frame, 2), ink = c.getImageData(Math.round(x), Math.round(y), 1, 1).data;
    const values = plot.values.textContent, row = document.querySelector("tr[aria-selected=true]").textContent, keys = ["ArrowRight", "End", "ArrowLeft", "Escape"].map(key => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      return taut.selected;
    });
    document.querySelectorAll("th button")[2].click(); // sorts by the second name
    const order = taut.order.map(k => table.varied[1].values[k]);
    return saved[0].text().then(csv => ({ csv, plots: plots.map(p => p.shown.name), values, row, keys, failed,
      cross: failed >= 0 && c.getImageData(...plot.place(frame, failed).map(Math.round), 1, 1).data[0], ink: ink[3], order, curves: plot.curves.size, log: plot.log }));
  })()`);
  row(seen.csv === csv, `the table of the page differs: ${seen.csv.slice(0, 200)}`);
  row(`${seen.plots}` === "max(energy),end(x2)" && seen.curves === 2 && seen.log.x && !seen.log.y, `plots of a sweep: ${JSON.stringify([seen.plots, seen.curves, seen.log])}`);
  row(seen.values.startsWith("run 3: omega = ") && seen.row.startsWith("3") && seen.ink === 255, `run 3 is shown as '${seen.values}', '${seen.row}', ${seen.ink}`);
  row(`${seen.keys}` === "3,9,8,-1", `keys mark the runs ${seen.keys}`);
  row(seen.failed >= 0 && seen.cross === 0xd5, `the cross of the failed run ${seen.failed} has red ${seen.cross}`);
  row(seen.order.every((v, k) => k === 0 || v >= seen.order[k - 1]), `sorted: ${seen.order}`);
  const boxes = await map(`(() => {
    const plot = taut.plots[0], frame = plot.frame(), c = plot.canvas.getContext("2d"), { table } = taut;
    let wrong = 0;
    for (let k = 0; k < table.count; k++) {
      const [r, g, b] = c.getImageData(...plot.place(frame, k).map(Math.round), 1, 1).data, wanted = plot.colour(plot.shown.values[k]).match(/\\d+/g).map(Number);
      wrong = Math.max(wrong, Math.abs(r - wanted[0]), Math.abs(g - wanted[1]), Math.abs(b - wanted[2]));
    }
    return { wrong, map: !!plot.map, varied: table.varied.length, runs: table.count, ends: [plot.colour(plot.colours.least), plot.colour(plot.colours.most)] };
  })()`);
  row(boxes.map && boxes.varied === 2 && boxes.runs === 100 && boxes.wrong <= 1 && boxes.ends[0] !== boxes.ends[1], `map of a sweep: ${JSON.stringify(boxes)}`);
}

// The motions of one model: differences from the first one, as large as the table has them.
async function checkMotions(evaluate) {
  const table = JSON.parse(readFileSync(join(folder, "motions.json"), "utf8")), seen = await evaluate(`({ names: taut.runs.map(r => r.name),
    most: taut.runs.slice(1).map(r => Math.max(...r.names.q.map(q => taut.catalogue.byLabel.get(q + ": " + r.name + " - full").values.reduce((a, b) => Math.max(a, Math.abs(b)), 0)))) })`);
  row(`${seen.names}` === "full,slow,rigid", `motions: ${seen.names}`);
  seen.most.forEach((most, k) => row(near(most, table.rows[k + 1].difference, 1e-4 * most), `${seen.names[k + 1]}: ${most} from full, the table has ${table.rows[k + 1].difference}`));
}

async function checkSeveral(evaluate) {
  const several = await evaluate("({ names: taut.runs.map(r => r.name), views: taut.scene.views.length, difference: taut.catalogue.byLabel.get('x1: full - slow').values.map(Math.abs).reduce((a, b) => Math.max(a, b)), " +
    "wrong: [...taut.catalogue.byLabel.values()].filter(s => s.other && s.group === 'difference').map(s => [0.3, 2].map(t => Math.abs(s.at(t) - s.other.at(t) + s.one.at(t)) / (s.one.run.step[s.one.column] + s.other.run.step[s.other.column]))).flat().reduce((a, b) => Math.max(a, b)) })");
  row(`${several.names}` === "slow,full" && several.views === 2, `several runs: ${several.names}`);
  row(several.difference > 1e-3 && several.difference < 1, `slow and full motion differ by ${several.difference}`);
  row(several.wrong < 1, `differences are ${several.wrong} steps from those of the numbers shown`);
}

// 10,000 links: every one is drawn, in another place at another time; omitted rows are stated.
async function checkMany(evaluate, thinned) {
  const many = await evaluate(`[0, 1].map(part => {
    taut.player.set(taut.player.time(part));
    taut.draw();
    return [taut.scene.list.count, taut.scene.list.floats[8 * 9000 + 4]];
  })`);
  row(many[0][0] >= 10000 && many[1][0] === many[0][0] && many[0][1] !== many[1][1], `10,000 links: ${JSON.stringify(many)}`);
  const note = await thinned("document.querySelector('.note').textContent");
  row(/Shown: \d+ of 4001 rows.*positions are within \d/.test(note), `the note of omitted rows: ${note}`);
}

// What the page has as text, as files: the run can be repeated from them.
async function copyTexts(evaluate) {
  const texts = await evaluate("[...document.querySelectorAll('#texts details')].map(d => [d.querySelector('summary').textContent, d.querySelector('pre').textContent])");
  mkdirSync(join(folder, "received"));
  for (const [heading, text] of texts)
    if (heading === "model" || heading.startsWith("table ")) writeFileSync(join(folder, "received", heading === "model" ? "truss.taut" : heading.slice(6)), text);
    else if (heading === "command") writeFileSync(join(folder, "received", "command"), text);
}

// Frames of one page.
async function checkFrames() {
  const drawn = ["double_pendulum", "bennett", "many"]; // by WebGL, the others by Canvas 2D, which is cheaper here
  const files = [...models, "truss", "several", "motions", "sweep", "map", "many", "long"].map(f => f + (drawn.includes(f) ? ".html" : ".html#canvas"));
  writeFileSync(join(folder, "frames.html"), files.map(f => `<iframe src="${f}" width=320 height=280></iframe>`).join(""));
  const page = await browser.open(at("frames.html"), 1000, 600, false, files.map(at)), address = name => files.find(f => f.startsWith(name + ".html"));
  const inside = async name => { const context = await page.context(at(address(name))); return expression => page.evaluate(expression, context); };
  for (const name of models) await checkModel(name, address(name), await inside(name));
  await checkCoding("double_pendulum", await inside("double_pendulum"));
  await checkFirstOrder("robertson", await inside("robertson"));
  await copyTexts(await inside("truss"));
  await checkSeveral(await inside("several"));
  await checkMotions(await inside("motions"));
  await checkSweeps(await inside("sweep"), await inside("map"));
  await checkMany(await inside("many"), await inside("long"));
  // in space: the view turns, and what is under the pointer stays there when it zooms
  const turned = await (await inside("bennett"))(`(() => {
    const { camera, scene } = taut, p = Array.from(scene.views[0].q.slice(0, 3)), before = [camera.x(p), camera.y(p)];
    camera.zoom(2, ...before);
    const zoomed = [camera.x(p), camera.y(p)];
    camera.orbit(40, 10);
    return { before, zoomed, turned: [camera.x(p), camera.y(p)], space: camera.space };
  })()`);
  row(turned.space && turned.zoomed.every((x, k) => near(x, turned.before[k], 1e-6)) && turned.turned.some((x, k) => !near(x, turned.before[k], 1)), `camera: ${JSON.stringify(turned)}`);
  // strokes that go on from each other, away from the eye, have no gap
  const joints = await (await inside("bennett"))(`(() => {
    const { camera, strokes } = taut, list = new DrawList(), canvas = document.createElement("canvas"), c = canvas.getContext("2d");
    const at = (x, y, z) => camera.centre.map((m, k) => m + (x * camera.axes[0][k] + y * camera.axes[1][k] + z * camera.axes[2][k]) / camera.scale);
    for (let k = 0; k < 12; k++) list.line(at(8.3 * k - 50, 1.7 * k, -9 * k), at(8.3 * (k + 1) - 50, 1.7 * (k + 1), -9 * (k + 1)), 3, taut.theme.ink);
    strokes.draw(list, camera);
    [canvas.width, canvas.height] = [strokes.canvas.width, strokes.canvas.height];
    c.drawImage(strokes.canvas, 0, 0);
    const ink = [];
    for (let x = -49; x < 49; x++) {
      const y = (x + 50) * 1.7 / 8.3, column = c.getImageData(Math.floor(camera.width / 2 + x), Math.round(camera.height / 2 - y) - 3, 1, 7).data;
      ink.push([0, 1, 2, 3, 4, 5, 6].reduce((sum, k) => sum + column[4 * k + 3], 0) / 255);
    }
    taut.draw();
    return [Math.min(...ink), Math.max(...ink)];
  })()`);
  row(joints[0] > 2.6 && joints[1] < 3.8, `a line of strokes 3 pixels wide has between ${joints} pixels in a column`);
  quiet(page, "frames");
  await page.close();
}

async function checkKeys(page, csv) {
  const wide = () => page.evaluate("taut.byId('scene').offsetWidth"), width = await wide();
  const time = () => page.evaluate("taut.player.t"), first = csv.rows[0][0], last = csv.rows[csv.rows.length - 1][0];
  await page.key(" ", "Space", " ");
  let playing = await time();
  for (let k = 0; k < 200 && playing === first; k++, playing = await time()) await new Promise(done => setTimeout(done, 20)); // a busy machine draws late
  row(playing > first, `it does not play: t = ${playing}`);
  await page.key(" ", "Space", " ");
  const paused = await time();
  await page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
  row(width === await wide(), `the scene was ${width} pixels wide, and ${await wide()} after playing`);
  row(paused === await time() && await page.evaluate("taut.byId('play').textContent") === "play", "it does not pause");
  for (const [key, wanted] of [["Home", first], ["ArrowRight", csv.rows[1][0]], ["ArrowLeft", first], ["End", last]]) {
    await page.key(key);
    row(await time() === wanted, `the key ${key} shows t = ${await time()}, expected ${wanted}`);
  }
  // a box that has the focus of the keyboard is turned by space, which does not play
  await page.evaluate("taut.byId('time').focus()");
  for (let k = 0; k < 20 && !await page.evaluate("document.activeElement.id === 'loop'"); k++) await page.key("Tab", "Tab");
  await page.key(" ", "Space", " ");
  row(await page.evaluate("document.activeElement.id === 'loop' && !taut.player.loop && !taut.player.playing"), "Tab and space do not turn the box of the loop");
  await page.evaluate("(() => { taut.byId('loop').click(); taut.byId('loop').blur(); })()");
  for (const key of ["+", "l"]) await page.key(key, key, key);
  row(await page.evaluate("taut.player.speed === 2 && !taut.player.loop"), "the keys + and l do not change speed and loop");
  const look = () => page.evaluate("[taut.camera.scale, taut.camera.x([0, 0, 0]), taut.window[1] - taut.window[0]]"), before = await look();
  for (const key of ["i", "d", "z"]) await page.key(key, key, key);
  const after = await look();
  row(near(after[0], 1.25 * before[0], 1e-9) && after[1] !== before[1] && near(after[2], before[2] / 2, 1e-9), `the keys i, d and z: ${before}, ${after}`);
  await page.key("f", "f", "f");
  row(`${await look()}` === `${before}`, `the key f: ${before}, ${await look()}`);
  // playing ends at the last row without the loop, and begins again with it
  row(await page.evaluate(`[false, true].map(loop => {
    const p = taut.player;
    Object.assign(p, { loop, playing: true, before: 0 });
    p.set(p.time(0.999));
    p.tick(250);
    const result = [p.t === p.until, p.playing];
    p.pause();
    return result;
  }).join()`) === "true,false,false,true", "the end of the run, without and with the loop");
}

async function checkPlot(page) {
  const time = () => page.evaluate("taut.player.t");
  await page.evaluate("taut.byId('plots').scrollIntoView()");
  const box = await page.evaluate("(() => { const r = taut.plots[0].canvas.getBoundingClientRect(); return [r.left, r.top, taut.plots[0].frame().px(5), r.height]; })()"), y = box[1] + box[3] / 2;
  await page.click(box[0] + box[2], y);
  row(near(await time(), 5, 0.05), `a click in a plot at t = 5 sets t = ${await time()}`);
  const under = await page.evaluate("(() => { const f = taut.plots[0].frame(); return [f.px(2), taut.plots[0].series[0].of.at(2)]; })()");
  await page.mouse("mouseMoved", box[0] + under[0], y);
  const shown = await page.evaluate("[taut.plots[0].hover, Number(taut.plots[0].series[0].value.textContent.slice(2))]");
  row(near(shown[0], 2, 0.05) && near(shown[1], under[1], 0.05), `under the cursor at t = 2: ${shown}, expected ${under[1]}`);
  await page.mouse("mouseWheel", box[0] + box[2], y, { deltaX: 0, deltaY: -400 });
  const zoomed = await page.evaluate("taut.window");
  row(zoomed[1] - zoomed[0] < 6 && zoomed[0] < 5 && zoomed[1] > 5, `the wheel zooms to ${zoomed}`);
  await page.drag(box[0] + box[2], y, -40, 0);
  const moved = await page.evaluate("taut.window");
  row(moved[0] > zoomed[0] && near(moved[1] - moved[0], zoomed[1] - zoomed[0], 1e-9), `a drag moves ${zoomed} to ${moved}`);
  await page.evaluate("taut.plots[0].canvas.dispatchEvent(new MouseEvent('dblclick'))");
  row(`${await page.evaluate("taut.window")}` === "0,10", "a double click does not show everything");
  const saved = await page.evaluate(`(async () => {
    const saved = [];
    window.save = (name, blob) => saved.push([name, blob]);
    const press = (host, text) => [...host.querySelectorAll("button")].find(b => b.textContent === text).click();
    press(taut.plots[0].element, "CSV");
    press(taut.plots[0].element, "PNG");
    press(taut.byId("switches"), "PNG");
    while (saved.length < 3) await new Promise(done => setTimeout(done, 5));
    const csv = await saved[0][1].text(), first = blob => blob.arrayBuffer().then(b => String.fromCharCode(...new Uint8Array(b, 1, 3)));
    return { csv: csv.split("\\n").slice(0, 2), rows: csv.split("\\n").length, png: [await first(saved[1][1]), await first(saved[2][1])] };
  })()`), csv = readCsv("double_pendulum");
  row(saved.csv[0] === "t,x1,y1,x2,y2" && saved.rows === csv.rows.length + 2 && saved.csv[1].split(",").every((x, k) => near(+x, csv.rows[0][k], 1e-4)), `the CSV of a plot: ${saved.csv}`);
  row(`${saved.png}` === "PNG,PNG", `pictures: ${saved.png}`);
}

// A click on a bond plots its force; arrows on request are drawn: velocities, and the force of the outer bond on the outer mass.
async function checkScene(page) {
  const bond = await page.evaluate(`(() => {
    window.scrollTo(0, 0);
    taut.player.set(3);
    taut.draw();
    for (const p of [...taut.plots]) if (p.title === "bond forces") taut.removePlot(p);
    const view = taut.scene.views[0], a = taut.scene.end(view, 1, 0, []), b = taut.scene.end(view, 1, 1, []), r = taut.byId("scene").getBoundingClientRect();
    const m = a.map((x, k) => 0.7 * x + 0.3 * b[k]);
    return [r.left + taut.camera.x(m), r.top + taut.camera.y(m)];
  })()`);
  await page.click(...bond);
  row(await page.evaluate("taut.plots.some(p => p.series.some(s => s.of.label === 'lambda(outer)'))"), "a click on a bond does not plot its force");
  const arrows = await page.evaluate(`(() => {
    const { scene, camera, theme, player } = taut, view = scene.views[0], strokes = () => scene.build(player.t, camera, theme).count, plain = strokes();
    scene.show.velocities = true;
    const velocities = strokes() - plain, at = 8 * (scene.list.count - 3), f = scene.list.floats, tip = [3, 4].map(k => (f[at + k] - f[at + k - 3]) / view.arrow);
    Object.assign(scene.show, { velocities: false, forces: true });
    strokes();
    const d = [view.q[0] - view.q[2], view.q[1] - view.q[3]], length = Math.hypot(...d);
    return { velocities, tip, v: Array.from(view.v.slice(2, 4)), sum: Array.from(view.sum.slice(2, 4)), force: d.map(x => view.lambda[1] * x / length) };
  })()`);
  row(arrows.velocities === 6 && arrows.tip.every((x, k) => near(x, arrows.v[k], 1e-5)), `arrows of velocities: ${JSON.stringify(arrows)}`);
  row(arrows.sum.every((x, k) => near(x, arrows.force[k], 1e-12)), `arrows of forces: ${JSON.stringify(arrows)}`);
}

async function checkControls(name) {
  const page = await browser.open(at(name + ".html"), 800, 600), csv = readCsv(name);
  await checkKeys(page, csv);
  await page.evaluate("(() => { const s = taut.byId('time'); s.value = 0.25; s.dispatchEvent(new Event('input')); })()");
  const quarter = csv.rows[0][0] + 0.25 * (csv.rows[csv.rows.length - 1][0] - csv.rows[0][0]), t = await page.evaluate("taut.player.t");
  row(near(t, quarter, 1e-9), `the slider shows t = ${t}, expected ${quarter}`);
  await checkPlot(page);
  await checkScene(page);
  // text is legible in both themes: contrast as WCAG defines it
  const contrast = await page.evaluate(`[true, false].map(dark => {
    taut.setTheme(dark);
    const css = getComputedStyle(document.documentElement), light = name => {
      const n = parseInt(css.getPropertyValue(name).trim().slice(1).replace(/^(.)(.)(.)$/, "$1$1$2$2$3$3"), 16);
      const [r, g, b] = [n >> 16, n >> 8 & 255, n & 255].map(x => x / 255).map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
    };
    return ["--ink", "--faint", "--accent"].map(name => light(name) / light("--back")).map(x => Math.max(x, 1 / x));
  })`);
  row(contrast.flat().every(x => x >= 4.5), `contrast of texts, dark and light: ${contrast}`);
  await page.evaluate("taut.setTheme(true)");
  const paper = await page.print();
  row(paper.subarray(0, 4).toString() === "%PDF" && paper.length > 20000 && await page.evaluate("taut.theme.dark && !taut.printing && taut.strokes.canvas.style.visibility === ''"), `on paper: ${paper.length} bytes`);
  quiet(page, "controls");
  await page.close();
}

// On a phone, in the frame of a notebook, whose page has texts that look like markup.
async function checkMarkup() {
  const source = readFileSync(join(folder, "<img src=x onerror=bad=1>.html"), "utf8").replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
  writeFileSync(join(folder, "notebook.html"), `<meta name=viewport content="width=device-width"><body style="margin:0"><iframe sandbox="allow-scripts allow-downloads" style="width:100%;height:700px;border:0" srcdoc="${source}"></iframe>`);
  const page = await browser.open(at("notebook.html"), 390, 800, true, []), inner = await page.sandbox();
  const title = await inner.evaluate("[taut.byId('title').textContent, document.title, typeof bad, ['</script><script>bad = 2', '</script><script>bad = 3', 'table <b>.csv'].every(text => document.body.textContent.includes(text)), document.images.length, origin]");
  row(title[0] === "</script><script>bad = 1</script>" && title[1].startsWith(title[0]), `the title is ${title[0]}`);
  row(title[2] === "undefined" && title[3] && title[4] === 0, `text has become markup: ${title}`);
  row(title[5] === "null", `the frame has the origin ${title[5]}`);
  row(await inner.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "wider than a phone");
  row(await inner.evaluate("new Promise(done => { const image = new Image(); document.addEventListener('securitypolicyviolation', e => done(e.effectiveDirective)); image.src = 'http://127.0.0.1:9/x.png'; })") === "img-src", "the content security policy does not hold");
  const requests = [...page.requests, ...inner.requests];
  row(requests.every(url => !url.startsWith("http:") || url.startsWith("http://127.0.0.1:9/")), `requests of the frame: ${requests}`);
  await page.close();
}

await checkFrames();
await checkControls("double_pendulum");
await checkMarkup();
await browser.close();
