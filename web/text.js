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
  // on paper everything is open, and light
  let dark = false, closed = [];
  window.addEventListener("beforeprint", () => {
    dark = root.classList.contains("dark");
    root.classList.remove("dark");
    closed = [...document.querySelectorAll("main details:not([open])")];
    for (const details of closed) details.open = true;
  });
  window.addEventListener("afterprint", () => {
    root.classList.toggle("dark", dark);
    for (const details of closed) details.open = false;
  });
  window.taut = { ready: true };
})();
