// shots.mjs - pictures of pages, to look at:  node shots.mjs CHROMIUM FOLDER[:part of the time,width,height,dark] PAGE.html ...
// Width 0: as a PDF, as they are printed.
import { writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Browser } from "./browser.mjs";

const [program, how, ...files] = process.argv.slice(2), [folder, rest = ""] = how.split(":"), [part = 0.3, width = 1280, height = 900, dark = 0] = rest.split(",").filter(x => x).map(Number);
const browser = new Browser(program);
for (const file of files) {
  const page = await browser.open("file://" + resolve(file), width || 1280, height, width > 0 && width < 500), name = basename(file).replace(/\.html$/, width ? ".png" : ".pdf");
  await page.evaluate(`(async () => {
    const a = window.taut;
    if (a && a.setTheme) a.setTheme(${!!dark});
    if (a && a.player) a.player.set(a.player.time(${part}));
    if (a && a.select) a.select(Math.floor(${part} * a.table.count));
    window.scrollTo(0, 0);
    await new Promise(d => requestAnimationFrame(() => requestAnimationFrame(d)));
  })()`);
  writeFileSync(join(folder, name), await (width ? page.picture() : page.print()));
  if (page.errors.length) console.log(file, page.errors);
  await page.close();
}
await browser.close();
