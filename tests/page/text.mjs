// text.mjs - pages of text in a browser: the site of the documentation and the page of taut reproduce:  node text.mjs CHROMIUM FOLDER
// FOLDER has web/ (tools/site) and book/. Prints "STATUS text" lines for tests/test_site.sh.
import { join } from "node:path";
import { Browser } from "./browser.mjs";

const [program, folder] = process.argv.slice(2);
const row = (good, text) => console.log(`${good ? 0 : 1} ${text}`);
const browser = new Browser(program);

// Every page, on a desk and on a phone: no errors, nothing from elsewhere, all pictures, nothing wider than the screen.
async function look(name, width) {
  const page = await browser.open("file://" + join(folder, name), width, 800), what = `${name}, ${width} wide`;
  const seen = await page.evaluate(`(async () => {
    const pictures = [...document.images];
    await Promise.all(pictures.map(picture => picture.decode().catch(() => {})));
    return { missing: pictures.filter(p => !p.naturalWidth).map(p => p.src.slice(0, 80)), pictures: pictures.length, over: document.documentElement.scrollWidth - innerWidth,
             cells: [...document.querySelectorAll("article td:not(.number)")].map(getComputedStyle).filter(s => s.textAlign === "right" || s.whiteSpace === "nowrap").length, contents: document.querySelector("nav details").open, title: document.title };
  })()`);
  row(page.errors.length === 0, `${what}: errors on the console: ${page.errors}`);
  const away = page.requests.filter(url => !url.startsWith("file://" + folder) && !url.startsWith("data:"));
  row(page.requests.length > 0 && away.length === 0, `${what}: requests: ${away}`);
  row(seen.missing.length === 0, `${what}: pictures are missing: ${seen.missing}`);
  row(seen.over <= 0, `${what}: ${seen.over} pixels wider than the screen`);
  row(seen.cells === 0, `${what}: ${seen.cells} cells of text are set as numbers`);
  row(seen.contents === width > 960, `${what}: contents open: ${seen.contents}`);
  return { page, seen };
}

for (const name of ["web/index.html", "web/tutorial-linkage.html", "web/options.html", "web/CHANGELOG.html", "web/file-include-taut-taut.h.html", "book/d-five-dimensions.html"])
  for (const width of [1280, 400]) {
    const { page, seen } = await look(name, width);
    if (/linkage|book/.test(name)) row(seen.pictures > 0, `${name}: no pictures`);
    await page.close();
  }

// search: typed as by a user; the first result is opened with Enter
const { page } = await look("web/index.html", 1100);
const found = () => page.evaluate("new Promise(done => { let n = 0; const look = () => { const found = document.querySelectorAll('#found a'); if (found.length || n++ > 1000) done([...found].map(a => [a.getAttribute('href'), a.textContent])); else setTimeout(look, 10); }; look(); })");
await page.key("/", "Slash");
for (const letter of "foot point") await page.key(letter, letter, letter);
const results = await found();
row(results.some(([address]) => address.startsWith("glossary.html")), `search: the foot point is in ${results.map(r => r[0])}`);
row(results.every(([, text]) => /foot/i.test(text) && !/</.test(text)), "search: results show where the words are");
const loaded = page.wait("Page.loadEventFired");
await page.key("Enter", "Enter", "\r");
await loaded;
row((await page.evaluate("location.href")).endsWith(results[0][0]), "search: Enter opens the first result");
for (const letter of "/") await page.key(letter, "Slash");
for (const letter of "xyzzyx") await page.key(letter, letter, letter);
// the index is loaded again by the new page: as long as that takes
const nothing = await page.evaluate("new Promise(done => { let n = 0; const look = () => { const text = document.getElementById('found').textContent; if (text === 'nothing found' || n++ > 1000) done(text); else setTimeout(look, 10); }; look(); })");
row(nothing === "nothing found", `search: ${nothing.slice(0, 80)}, where nothing is found`);

// dark: by the button, and on the next page too
await page.evaluate("document.documentElement.classList.remove('dark'), document.getElementById('theme').click()");
const dark = "getComputedStyle(document.body).backgroundColor";
row(await page.evaluate(dark) === "rgb(21, 23, 27)", "the page is not dark");
const next = await browser.open("file://" + join(folder, "web/theory.html"), 1100, 800);
row(await next.evaluate(dark) === "rgb(21, 23, 27)", "the next page is not dark");
row((await next.evaluate("document.querySelector('nav .here > a').textContent")) === "Theory", "the navigation does not show the page");

// the book: every number with its verdict
const book = await browser.open("file://" + join(folder, "book/d-five-dimensions.html"));
const verdicts = await book.evaluate("[...document.querySelectorAll('td:nth-child(4)')].map(cell => cell.textContent)");
row(verdicts.length >= 16 && verdicts.every(text => /^(equal|within|explained)$/.test(text) || /^[0-9]+$/.test(text)), `the book has the verdicts ${verdicts}`);

// on paper: light, everything open; afterwards as before
const closed = "document.querySelectorAll('main details:not([open])').length", before = await book.evaluate(`(() => {
  document.documentElement.classList.add("dark");
  window.addEventListener("beforeprint", () => { window.printed = [document.documentElement.classList.contains("dark"), ${closed}]; });
  return ${closed};
})()`), paper = await book.print();
row(before > 0 && paper.subarray(0, 4).toString() === "%PDF" && `${await book.evaluate("window.printed")}` === "false,0", `the book on paper is dark, or closed: ${await book.evaluate("window.printed")}`);
row(await book.evaluate("document.documentElement.classList.contains('dark')") && await book.evaluate(closed) === before, "after printing the book is not as before");
await browser.close();
