// check.mjs - pages in a browser against the CSV files of the same runs:  node check.mjs CHROMIUM FOLDER MODEL ...
// Prints "STATUS text" lines for tests/test_page.sh.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Browser } from "./browser.mjs";

const [program, folder, ...models] = process.argv.slice(2);
const row = (good, text) => console.log(`${good ? 0 : 1} ${text}`);
const browser = new Browser(program);
const open = (name, width = 800, height = 600, mobile = false) => browser.open(`file://${join(folder, name)}`, width, height, mobile);

function readCsv(name) {
  const [head, ...lines] = readFileSync(join(folder, name + ".csv"), "utf8").trim().split("\n");
  return { names: head.split(","), rows: lines.map(line => line.split(",").map(Number)) };
}

function quiet(page, name) {
  row(page.errors.length === 0, `${name}: errors on the console: ${page.errors}`);
  const away = page.requests.filter(url => !url.startsWith("file://" + folder) && !url.startsWith("blob:") && !url.startsWith("data:"));
  row(page.requests.length > 0 && away.length === 0, `${name}: requests: ${away}`);
}

// At time t: what is drawn, and what the plots show. A pixel of the last point is looked at too.
const lookAt = t => `(async () => {
  const app = taut, frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  app.player.set(${t});
  await frame();
  const view = app.scene.views[0], run = app.runs[0], result = { shown: app.byId("clock").textContent };
  result.q = Array.from(view ? view.q : run.sample(app.player.t, run.first.q, new Float64Array(run.width.q)));
  result.chips = Object.fromEntries(app.plots.filter(p => !p.phase).flatMap(p => p.series.map(s => [s.of.label, s.value.textContent])));
  result.cursor = app.plots.filter(p => !p.phase)[0].map().px(app.player.t);
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
})()`;

function compare(name, csv, k, seen, error) {
  const n = seen.q.length, off = Math.max(...seen.q.map((x, i) => Math.abs(x - csv.rows[k][1 + i]) / (error[i] * 1.001 + 1e-14)));
  row(off <= 1, `${name}: positions of row ${k} are ${off} times the error of the coding away`);
  if (seen.ink !== undefined) row(seen.ink > 0, `${name}: nothing is drawn where the last point is in row ${k}`);
  let compared = 0;
  for (const [label, text] of Object.entries(seen.chips)) {
    const column = csv.names.indexOf(label);
    if (column < 1 || column > n) continue;
    compared++;
    const value = csv.rows[k][column], shown = Number(text.slice(2));
    row(Math.abs(shown - value) <= error[column - 1] * 1.001 + 6e-6 * Math.abs(value) + 1e-14, `${name}: ${label} of row ${k} is ${value}, its plot shows ${text}`);
  }
  row(compared > 0, `${name}: no plot of a coordinate in row ${k}`);
}

async function checkModel(name) {
  const page = await open(name + ".html"), csv = readCsv(name), last = csv.rows.length - 1;
  const facts = await page.evaluate("({ t: Array.from(taut.runs[0].t), step: Array.from(taut.runs[0].step), failure: !!document.querySelector('.failure'), strokes: taut.strokes && taut.strokes.name })");
  const error = facts.step.map(s => s / 2);
  row(!facts.failure && facts.t.length === csv.rows.length, `${name}: ${facts.t.length} rows, expected ${csv.rows.length}`);
  if (facts.strokes) row(facts.strokes === "WebGL2", `${name}: drawn by ${facts.strokes}`);
  const seen = [];
  for (const part of [0, 0.37, 1]) {
    const k = Math.round(part * last);
    seen.push(await page.evaluate(lookAt(csv.rows[k][0])));
    compare(name, csv, k, seen[seen.length - 1], error);
  }
  row(seen[0].cursor < seen[1].cursor && seen[1].cursor < seen[2].cursor, `${name}: the cursor of a plot is at ${seen.map(s => s.cursor)}`);
  quiet(page, name);
  await page.close();
}

// Every number of a page against its CSV, which has the columns in the same order.
async function checkCoding(name) {
  const page = await open(name + ".html"), csv = readCsv(name), columns = csv.names.length - 1;
  const worst = await page.evaluate(`(() => {
    const run = taut.runs[0], rows = ${JSON.stringify(csv.rows)};
    let worst = 0;
    rows.forEach((row, f) => { for (let c = 0; c < ${columns}; c++) worst = Math.max(worst, Math.abs(run.value(f, c) - row[c + 1]) / (run.step[c] / 2 * 1.001 + 1e-14)); });
    return worst;
  })()`);
  row(worst <= 1, `${name}: a number is ${worst} half steps away`);
  await page.close();
}

async function checkControls(name) {
  const page = await open(name + ".html"), csv = readCsv(name), time = () => page.evaluate("taut.player.t");
  const wait = ms => new Promise(done => setTimeout(done, ms));
  await page.key(" ", "Space", " ");
  let playing = await time();
  for (let k = 0; k < 100 && playing === csv.rows[0][0]; k++, playing = await time()) await wait(50); // a busy machine draws late
  row(playing > csv.rows[0][0], `it does not play: t = ${playing}`);
  await page.key(" ", "Space", " ");
  const paused = await time(), frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))";
  await page.evaluate(frames);
  row(paused === await time() && await page.evaluate("taut.byId('play').textContent") === "play", "it does not pause");
  await page.key("Home");
  row(await time() === csv.rows[0][0], "Home is not the first row");
  await page.key("ArrowRight");
  row(await time() === csv.rows[1][0], "right is not the second row");
  await page.key("End");
  row(await time() === csv.rows[csv.rows.length - 1][0], "End is not the last row");
  await page.evaluate("(() => { const s = taut.byId('time'); s.value = 0.25; s.dispatchEvent(new Event('input')); })()");
  const quarter = csv.rows[0][0] + 0.25 * (csv.rows[csv.rows.length - 1][0] - csv.rows[0][0]);
  row(Math.abs(await time() - quarter) < 1e-9, `the slider shows t = ${await time()}, expected ${quarter}`);
  // a click in the middle of a plot, and on a bond
  await page.evaluate("taut.byId('plots').scrollIntoView()");
  const box = await page.evaluate("(() => { const r = taut.plots[0].canvas.getBoundingClientRect(); return [r.left, r.top, taut.plots[0].map().px(5), r.height]; })()");
  await page.click(box[0] + box[2], box[1] + box[3] / 2);
  row(Math.abs(await time() - 5) < 0.05, `a click in a plot at t = 5 sets t = ${await time()}`);
  await page.evaluate(frames);
  const bond = await page.evaluate(`(() => {
    window.scrollTo(0, 0);
    for (const p of [...taut.plots]) if (p.title === "bond forces") taut.removePlot(p);
    const view = taut.scene.views[0], a = taut.scene.end(view, 1, 0, []), b = taut.scene.end(view, 1, 1, []), r = taut.byId("scene").getBoundingClientRect();
    const m = a.map((x, k) => 0.7 * x + 0.3 * b[k]);
    return [r.left + taut.camera.x(m), r.top + taut.camera.y(m)];
  })()`);
  await page.click(...bond);
  row(await page.evaluate("taut.plots.some(p => p.series.some(s => s.of.label === 'lambda(outer)'))"), "a click on a bond does not plot its force");
  await page.evaluate("['velocities', 'forces'].forEach(name => { taut.scene.show[name] = true; }), taut.draw()");
  row((await page.evaluate("taut.plots[0].csv()")).startsWith("t,x1,y1,x2,y2\n"), "the CSV of a plot");
  quiet(page, "controls");
  await page.close();
}

async function checkOthers() {
  let page = await open("double_pendulum.html#canvas");
  const csv = readCsv("double_pendulum"), error = await page.evaluate("Array.from(taut.runs[0].step).map(s => s / 2)");
  row(await page.evaluate("taut.strokes.name") === "Canvas 2D", "#canvas draws with something else");
  compare("canvas", csv, 20, await page.evaluate(lookAt(csv.rows[20][0])), error);
  quiet(page, "canvas");
  await page.close();

  page = await open("%3Cimg%20src=x%20onerror=bad=1%3E.html", 390, 800, true);
  const title = await page.evaluate("[taut.byId('title').textContent, document.title, typeof bad, document.body.textContent.includes('</script><script>bad = 2'), document.images.length]");
  row(title[0] === "</script><script>bad = 1</script>" && title[1].startsWith(title[0]), `the title is ${title[0]}`);
  row(title[2] === "undefined" && title[3] && title[4] === 0, `text has become markup: ${title}`);
  row(await page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), "wider than a phone");
  quiet(page, "markup");
  await page.close();

  page = await open("several.html");
  const several = await page.evaluate("({ names: taut.runs.map(r => r.name), views: taut.scene.views.length, difference: taut.catalogue.byLabel.get('x1: full - slow').values.map(Math.abs).reduce((a, b) => Math.max(a, b)) })");
  row(`${several.names}` === "slow,full" && several.views === 2, `several runs: ${several.names}`);
  row(several.difference > 1e-3 && several.difference < 1, `slow and full motion differ by ${several.difference}`);
  quiet(page, "several");
  await page.close();
}

for (const name of models) await checkModel(name);
await checkCoding("double_pendulum");
await checkControls("double_pendulum");
await checkOthers();
await browser.close();
