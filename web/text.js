"use strict";
// Pages of text: light or dark as the system has it, or as the button said on this page or another; contents are closed on phones.
(() => {
  const root = document.documentElement, button = document.getElementById("theme"), contents = document.querySelector("nav details");
  let kept = null;
  try { kept = localStorage.getItem("taut-theme"); } catch { /* not allowed for files: not kept */ }
  root.classList.toggle("dark", kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  button.addEventListener("click", () => {
    const dark = root.classList.toggle("dark");
    try { localStorage.setItem("taut-theme", dark ? "dark" : "light"); } catch { /* as above */ }
  });
  if (contents) contents.open = !matchMedia("(max-width: 60rem)").matches;
  window.taut = { ready: true };
})();
