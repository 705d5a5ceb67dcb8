"use strict";
// Pages of text: light or dark as the system has it, or as the button says.
(() => {
  const root = document.documentElement, button = document.getElementById("theme");
  root.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
  button.addEventListener("click", () => root.classList.toggle("dark"));
})();
