// Leads somebody who plays a game for the first time through a turn: it lights the next tap beside the page's sentence.
//
// Each device remembers the games whose guide was finished or skipped. What to light stands in the region `guide`: the
// name of a move, the element of a choice, or what an element of the page names with data-guide-at.

import { rescue, seen } from "./focus.js";

const DONE = "done";

export class Guide {
  /** @param {HTMLElement} root the live part of the page */
  constructor(root) {
    this.root = root;
    this.turn = ""; // the turn that is guided
    this.tap = ""; // what was lit last
    root.addEventListener("click", (event) => {
      if (event.target.closest("[data-guide-skip]")) this.end();
      if (event.target.closest("[data-guide-start]")) this.start(event.target.closest("details"));
    });
    this.look();
  }

  look() {
    const said = this.root.querySelector("[data-guide]");
    this.game = said?.dataset.guide ?? "";
    for (const lit of this.root.querySelectorAll("[data-guided-to]")) lit.removeAttribute("data-guided-to");
    const mine = said !== null && "mine" in said.dataset;
    if (this.turn && said && !mine && said.dataset.turn !== this.turn) this.end();
    const wanted = mine && read(this.game) !== DONE;
    this.root.toggleAttribute("data-guiding", wanted);
    if (!wanted) return;
    if (this.turn && this.turn !== said.dataset.turn) return this.end();
    this.turn = said.dataset.turn;
    const target = this.target(said.dataset.lit);
    if (!target) return;
    target.setAttribute("data-guided-to", "");
    if (this.tap !== said.dataset.lit) target.scrollIntoView({ block: "nearest" });
    this.tap = said.dataset.lit;
  }

  /** What stands on the page for a name: a button that can be seen, or the thing on the board that it belongs to. */
  target(name) {
    if (!name) return null;
    const places = [...this.root.querySelectorAll("[data-guide-at]")].filter((each) => each.dataset.guideAt === name);
    const named = [...this.root.querySelectorAll("[data-element]")].filter((each) => each.dataset.element === name);
    const moves = [...this.root.querySelectorAll('input[name="move"]')]
      .filter((field) => JSON.parse(field.value)[0] === name)
      .map((field) => field.form.querySelector("button"));
    const buttons = [...named, ...moves];
    const things = buttons.flatMap((button) => {
      const element = button.dataset.element ?? "";
      const own = element.endsWith("*") ? `^="${element.slice(0, -1)}"` : `="${element}"`;
      return element ? [...this.root.querySelectorAll(`[data-pick${own}]`)] : [];
    });
    return [...places, ...buttons, ...things].find(seen) ?? null;
  }

  start(card) {
    write(this.game, "");
    this.turn = this.tap = "";
    if (card) card.open = false;
    this.look();
    this.root.querySelector("[data-guide]")?.scrollIntoView({ block: "nearest" });
  }

  end() {
    write(this.game, DONE);
    this.turn = this.tap = "";
    this.root.removeAttribute("data-guiding");
    for (const lit of this.root.querySelectorAll("[data-guided-to]")) lit.removeAttribute("data-guided-to");
    rescue(this.root);
  }
}

// A browser may refuse to store anything: then the guide is shown again on the next page.
function read(game) {
  try {
    return localStorage.getItem(`guide:${game}`);
  } catch {
    return null;
  }
}

function write(game, value) {
  try {
    localStorage.setItem(`guide:${game}`, value);
  } catch {
    // shown again on the next page
  }
}
