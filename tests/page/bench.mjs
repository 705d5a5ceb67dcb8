// bench.mjs - milliseconds of JavaScript for a frame, the median of 40:  node bench.mjs CHROMIUM PAGE.html ...
// The strokes of the scene, and the plots; not what the renderer does with them.
import { resolve } from "node:path";
import { Browser } from "./browser.mjs";

const [program, ...files] = process.argv.slice(2), browser = new Browser(program);
for (const file of files) {
  const page = await browser.open("file://" + resolve(file));
  const [scene, plots] = await page.evaluate(`(() => {
    const median = act => {
      const times = [];
      for (let k = 0; k < 60; k++) {
        taut.player.t = taut.player.time(k / 60);
        const begin = performance.now();
        act();
        times.push(performance.now() - begin);
      }
      return times.slice(20).sort((a, b) => a - b)[20]; // the first ones are compiled
    };
    return [median(() => taut.scene.build(taut.player.t, taut.camera, taut.theme)), median(() => taut.drawPlots())];
  })()`);
  console.log(file, scene, plots);
  await page.close();
}
await browser.close();
