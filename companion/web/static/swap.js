// Puts painted regions into the page: what a reader had opened, typed or focused stays as it was. It asks nobody.
//
// Only pieces that name themselves with data-piece move, by a view transition; the root is left out by the style
// sheet, so taps are not swallowed. While one runs, later changes are shown at once instead of being queued. A number
// in a <data> does not move, it changes: capturing a page for it would hold every token back by a frame or two.
//
// Regions within [data-first] are what an eye waits for after a tap: the others are put in once these were drawn.

import { focus, rescue, seen, start } from "./focus.js";
import { mend, mends } from "./mend.js";

const QUIET = 300; // ms without a change before another one is worth a transition
const DRAWN = 30; // ms that a frame may take to reach the glass before anything else is asked of a slow phone
const PIECES = "[data-piece]:not(data)";
const calm = matchMedia("(prefers-reduced-motion: reduce)");

let running = null;
let changed = 0;
let count = 0;
let late = null; // puts in what waits until the first regions were drawn
const shown = new Map(); // section -> the count of the swap that it shows

/** Swap regions by name into their sections, each dressed by `dress`, then call `done` in the same breath. */
export function swap(regions, dress, done) {
  hurry();
  const sections = Object.entries(regions)
    .map(([name, html]) => [document.getElementById(`region-${name}`), html])
    .filter(([section]) => section);
  const first = sections.filter(([section]) => section.closest("[data-first]"));
  const rest = sections.filter((each) => !first.includes(each));
  if (!first.length || !rest.length || document.hidden) return put(sections, dress, done);
  put(first, dress, () => {});
  late = () => put(rest, dress, done);
  requestAnimationFrame(() => setTimeout(hurry, DRAWN));
}

/** Put in now what waits for a frame: who taps a button means what the table is, not what it was. */
export function hurry() {
  const waiting = late;
  late = null;
  waiting?.();
}

function put(painted, dress, done) {
  const sections = painted.map(([section, html]) => [section, parsed(html)]);
  for (const [, fresh] of sections) dress(fresh);
  const mine = ++count;
  const show = () => {
    for (const [section, fresh] of sections) {
      if ((shown.get(section) ?? 0) > mine) continue; // a transition that was skipped puts its change in late
      shown.set(section, mine);
      replace(section, fresh);
    }
    done();
    settle(sections);
  };
  const hurried = performance.now() - changed < QUIET;
  changed = performance.now();
  if (running) running.skipTransition();
  if (running || hurried || !moves(sections)) show();
  else transit(sections, show);
}

// What one region shows may hide what has the focus in another, at once or when the next frame is drawn.
function settle(sections) {
  const root = sections[0]?.[0].closest("[data-version]");
  if (!root) return;
  rescue(root);
  requestAnimationFrame(() => setTimeout(() => rescue(root)));
}

function moves(sections) {
  if (!document.startViewTransition || document.hidden || calm.matches) return false;
  return sections.some(([section, fresh]) => {
    const before = new Map([...section.querySelectorAll(PIECES)].map((piece) => [piece.dataset.piece, piece]));
    return [...fresh.querySelectorAll(PIECES)].some((piece) => {
      const old = before.get(piece.dataset.piece);
      return old && (old.textContent !== piece.textContent || old.dataset.place !== piece.dataset.place);
    });
  });
}

function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

function transit(sections, show) {
  name(sections);
  const transition = document.startViewTransition(() => {
    show();
    name(sections);
  });
  running = transition;
  const over = () => {
    if (running !== transition) return;
    running = null;
    for (const piece of document.querySelectorAll(PIECES)) piece.style.viewTransitionName = "";
  };
  transition.ready.catch(() => {}); // skipped, or the page was hidden: the change itself stands
  transition.updateCallbackDone.catch((error) => console.error(error));
  transition.finished.then(over, over);
}

// A name that is used twice would abort the whole transition.
function name(sections) {
  const used = new Set();
  for (const [section] of sections) {
    for (const piece of section.querySelectorAll(PIECES)) {
      const own = piece.dataset.piece.replace(/[^a-z0-9-]/gi, "-");
      piece.style.viewTransitionName = used.has(own) ? "" : `piece-${own}`;
      used.add(own);
    }
  }
}

function replace(section, fresh) {
  const focused = section.contains(document.activeElement) ? document.activeElement : null;
  const found = focused && handle(focused, section);
  const selection = focused && "selectionStart" in focused ? [focused.selectionStart, focused.selectionEnd] : null;
  const typed = remembered(section);
  if (mends(fresh)) mend(section, fresh);
  else section.replaceChildren(fresh);
  restore(section, typed);
  if (!focused || (document.activeElement === focused && seen(focused))) return;
  const again = find(section, found);
  focus(again, section, start(section.closest("[data-version]") ?? document.body));
  if (document.activeElement === again && selection && selection[0] !== null) again.setSelectionRange?.(...selection);
}

/** What an element is called across two paintings of its region: its id, or what its form would do, or its place. */
export function handle(element, section) {
  const form = element.closest("form");
  return {
    tag: element.tagName,
    id: element.id,
    name: element.getAttribute("name") ?? "",
    does: form ? purpose(form, element) : "",
    href: element.getAttribute("href") ?? "",
    place: usable(section, element.tagName).indexOf(element),
  };
}

/** The element of a region that has what `handle` returned, or what stands in its place. */
export function find(section, wanted) {
  const same = [...section.querySelectorAll(wanted.tag)];
  const twin = (element) => {
    const form = element.closest("form");
    return (
      element.id === wanted.id &&
      (element.getAttribute("name") ?? "") === wanted.name &&
      (element.getAttribute("href") ?? "") === wanted.href &&
      (form ? purpose(form, element) : "") === wanted.does
    );
  };
  const others = usable(section, wanted.tag);
  return same.find(twin) ?? others[Math.min(wanted.place, others.length - 1)];
}

// What of one kind the keys reach: what is drawn, or lies in a closed <details>, is no place for them.
function usable(section, tag) {
  return [...section.querySelectorAll(tag)].filter((each) => each.tabIndex >= 0 && seen(each));
}

const OF_ONE_POST = ["version", "request"];

/** What a form would do, the same for two paintings of it; by one of its buttons, where that has a value of its own. */
export function purpose(form, button) {
  const fields = [...form.querySelectorAll("input[type=hidden]")].filter(({ name }) => !OF_ONE_POST.includes(name));
  if (button?.matches("button[name]")) fields.push(button);
  return [form.getAttribute("action"), ...fields.map(({ name, value }) => `${name}=${value}`)].join(" ");
}

const FIELDS = "input:not([type=hidden]), select, textarea";

function remembered(section) {
  const fields = [...section.querySelectorAll(FIELDS)].filter((field) => field.dataset.touched);
  return {
    open: new Map([...section.querySelectorAll("details")].map((details, place) => [details.id || place, details.open])),
    values: fields.map((field) => [handle(field, section), field.value, field.checked]),
  };
}

function restore(section, { open, values }) {
  // One with an id is the same thing again only under that id: a cover over one hand never opens over another.
  section.querySelectorAll("details").forEach((details, place) => (details.open = open.get(details.id || place) ?? details.open));
  for (const [wanted, value, checked] of values) {
    const field = find(section, wanted);
    if (!field) continue;
    field.value = value;
    field.checked = checked;
    field.dataset.touched = "1";
  }
}

document.addEventListener("input", (event) => {
  if (event.target.matches(FIELDS)) event.target.dataset.touched = "1";
});
