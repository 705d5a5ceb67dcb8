// shots.mjs - pictures of pages:  node shots.mjs CHROMIUM FOLDER[:time,width,height,dark] PAGE.html ...
import { writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Browser } from "./browser.mjs";

const [program, how, ...files] = process.argv.slice(2), [folder, rest = ""] = how.split(":"), [part = 0.3, width = 1280, height = 900, dark = 0] = rest.split(",").filter(x => x).map(Number);
const browser = new Browser(program);
for (const file of files) {
  const page = await browser.open("file://" + resolve(file), width, height);
  await page.evaluate(`(async () => { const a = window.taut; if (a) { a.setTheme(${!!dark}); a.player.set(a.player.time(${part})); await new Promise(d => requestAnimationFrame(() => requestAnimationFrame(d))); } })()`);
  writeFileSync(join(folder, basename(file).replace(/\.html$/, ".png")), await page.picture());
  if (page.errors.length) console.log(file, page.errors);
  await page.close();
}
await browser.close();
