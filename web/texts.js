"use strict";
// What belongs to the runs in words: summary, warnings, command, model. All of it is set as text, never as markup.

// Of runs or sweeps; notes: lines below, the first one about the data.
function showTexts(items, notes) {
  const footer = document.getElementById("texts");
  const details = (heading, text, open) => {
    const made = element("details", { open }, element("summary", { textContent: heading }), element("pre", { textContent: text }));
    footer.append(made);
  };
  // what all have alike is shown once
  const all = items.map(item => new Map([...item.texts, ...item.model ? [["model", item.model]] : []]));
  all.forEach((texts, k) => texts.forEach((text, heading) => {
    const alike = all.every(other => other.get(heading) === text);
    if (k === 0 || !alike) details((alike ? "" : `${items[k].name}: `) + heading, text, heading === "warnings" || heading === "command");
  }));
  notes.forEach((text, k) => footer.append(element("p", { className: k ? "hint" : "note", textContent: text })));
}

// On paper everything is open, and light; pictures keep the size that they have on the screen.
function listenPrint(app) {
  let dark = false;
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach(d => { d.open = true; });
    dark = app.theme.dark;
    app.setTheme(false);
    app.draw();
    if (app.strokes) app.flatten(true);
    app.printing = true;
  });
  window.addEventListener("afterprint", () => {
    app.printing = false;
    if (app.strokes) app.flatten(false);
    app.setTheme(dark);
  });
}

function setTitle(item) {
  const title = item.title || item.name;
  document.title = `${title} - Taut`;
  document.getElementById("title").textContent = title;
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
