"use strict";
// Search: the index (search.js) is loaded when the box is used. Every word must occur in a section; headings count most.
(() => {
  const box = document.getElementById("search"), found = document.getElementById("found"), MOST = 25;
  let loading = null;

  function load() {
    loading ||= new Promise((done, fail) => {
      const script = document.createElement("script");
      script.src = "search.js";
      script.onload = () => done(sections.map(row => ({ row, text: row.slice(1).map(text => text.toLowerCase()) })));
      script.onerror = fail;
      document.head.append(script);
    });
    return loading;
  }

  function score({ text: [title, heading, words] }, terms) {
    const whole = terms.join(" ");
    let sum = terms.length > 1 ? (heading.includes(whole) ? 40 : 0) + (words.includes(whole) ? 20 : 0) : 0;
    for (const term of terms) {
      const times = words.split(term).length - 1, named = heading.includes(term), titled = title.includes(term);
      if (!times && !named && !titled) return 0;
      sum += Math.min(times, 8) + (named ? 20 : 0) + (titled ? 6 : 0) + (heading === term || title === term ? 40 : 0);
    }
    return sum / Math.log(40 + words.length);
  }

  // The words around a term, as text; the term is marked.
  function excerpt(words, term) {
    const at = words.toLowerCase().indexOf(term), begin = Math.max(0, at - 60), line = document.createElement("small"), mark = document.createElement("mark");
    if (at < 0) {
      line.textContent = words.slice(0, 160);
      return line;
    }
    mark.textContent = words.slice(at, at + term.length);
    line.append((begin ? "... " : "") + words.slice(begin, at), mark, words.slice(at + term.length, at + 120));
    return line;
  }

  async function search() {
    const all = await load(), terms = box.value.toLowerCase().split(/\s+/).filter(term => term);
    found.replaceChildren();
    if (!terms.length) return;
    const best = all.map(section => [score(section, terms), section.row]).filter(pair => pair[0] > 0).sort((a, b) => b[0] - a[0]);
    for (const [, [address, title, heading, words]] of best.slice(0, MOST)) {
      const link = document.createElement("a"), name = document.createElement("b");
      link.href = address;
      name.textContent = heading === title ? title : `${title}: ${heading}`;
      link.append(name, excerpt(words, words.toLowerCase().includes(terms.join(" ")) ? terms.join(" ") : terms[0]));
      found.append(link);
    }
    if (!best.length) found.append("nothing found");
  }

  box.addEventListener("focus", load);
  box.addEventListener("input", search);
  found.addEventListener("click", () => { found.replaceChildren(); });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== box) {
      event.preventDefault();
      box.focus();
    }
    if (event.key === "Escape") found.replaceChildren();
    if (event.key === "Enter" && document.activeElement === box && found.querySelector("a")) location.href = found.querySelector("a").href;
  });
})();
