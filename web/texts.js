"use strict";
// What belongs to the runs in words: summary, warnings, command, model. All of it is set as text, never as markup.

function showTexts(page, strokes) {
  const footer = document.getElementById("texts"), { runs } = page;
  const details = (heading, text, open) => {
    const made = element("details", { open }, element("summary", { textContent: heading }), element("pre", { textContent: text }));
    footer.append(made);
  };
  for (const run of runs) {
    const mine = runs.length > 1 ? `${run.name}: ` : "";
    for (const [heading, text] of run.texts) details(mine + heading, text, heading === "warnings" || heading === "command");
    if (run.model && run.model !== (run === runs[0] ? "" : runs[0].model)) details(mine + "model", run.model, false);
  }
  const few = runs.filter(run => run.frames < run.rows).map(run => `${run.frames} of ${run.rows} rows${runs.length > 1 ? ` of ${run.name}` : ""}`);
  const error = Math.max(...runs.map(run => run.error));
  footer.append(element("p", { className: "note", textContent:
    `Taut ${page.version}. ${few.length ? `Shown: ${few.join(", ")}. ` : ""}Numbers are rounded to 16 bits of their range: positions are within ` +
    `${error.toPrecision(2)}. Drawn by ${strokes ? strokes.name : "Canvas 2D"}.` }));
  footer.append(element("p", { className: "hint", textContent:
    "Keys: space plays and pauses, left and right go a row, with shift ten rows, Home and End to the ends, + and - change the speed, l loops, " +
    "f shows everything. Scene: drag moves or turns, with shift moves, the wheel zooms, a click on a bond plots its force. " +
    "Plots: the wheel zooms, with shift vertically, drag moves, a click sets the time, a double click shows everything." }));
}

function showEvents(runs, player) {
  const marks = document.getElementById("marks");
  for (const run of runs)
    for (const [t, event] of run.events.slice(0, 500)) {
      const mark = element("i", { title: `${run.names.event[event]} at t = ${t}` });
      mark.style.left = `${100 * player.fraction(t)}%`;
      marks.append(mark);
    }
}
