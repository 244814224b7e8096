// Pages that look back: clocks in the reader's zone, keys and the range of a replay, and "all of them" in a list.
// Everything works without it, by links and buttons.

import { localise } from "./clock.js";

const KEYS = { ArrowLeft: "prev", ArrowRight: "next", Home: "first", End: "last" };

localise(document.body);

addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest?.("input, select, textarea")) return;
  const link = KEYS[event.key] && document.querySelector(`.replay-steps a[rel="${KEYS[event.key]}"]`);
  if (!link) return;
  event.preventDefault();
  location.replace(link.href); // a long way through a game is one step in the browser's own history
});

// Step by step by itself, at a pace that eyes can follow. Each step is a page, so that this is remembered in the tab.
const PACE = 1_600; // milliseconds
const PLAYING = "replay-playing";

for (const button of document.querySelectorAll("[data-autoplay]")) {
  const next = document.querySelector('.replay-steps a[rel="next"]');
  const play = button.getAttribute("aria-label");
  let timer = 0;
  const show = (playing) => {
    clearTimeout(timer);
    if (playing) sessionStorage.setItem(PLAYING, "1");
    else sessionStorage.removeItem(PLAYING);
    button.firstElementChild.textContent = playing ? "❚❚" : "▶";
    button.setAttribute("aria-label", playing ? button.dataset.autoplay : play);
    if (playing) timer = setTimeout(() => location.replace(next.href), PACE);
  };
  button.hidden = !next;
  button.addEventListener("click", () => show(!sessionStorage.getItem(PLAYING)));
  show(Boolean(next && sessionStorage.getItem(PLAYING)));
}

for (const range of document.querySelectorAll("[data-step]")) {
  range.addEventListener("change", () => range.form.requestSubmit());
}

for (const all of document.querySelectorAll("[data-all]")) {
  const each = all.form.querySelectorAll('input[name="token"]');
  all.addEventListener("change", () => each.forEach((one) => (one.checked = all.checked)));
  each.forEach((one) => one.addEventListener("change", () => (all.checked = [...each].every((any) => any.checked))));
}

document.documentElement.dataset.scripted = "";
