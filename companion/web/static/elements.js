// Lets a board be tapped: what is drawn there stands for the buttons that say what can be done with it.
//
// The contract, for any game's templates:
// - A thing on the board names itself, <g data-pick="cell:5" id="pick-cell-5" role="img" aria-label="the porter">.
//   Its name is the `element` of a game's Choice. It needs an id to keep the focus when its region is rendered again.
// - The form of a choice carries that name on its button or its link (data-element); `form(choice)` sees to it. The
//   buttons may stand anywhere on the page, in a closed <details> too: they are the list for keyboard and reader.
// - What can be picked now gets `data-can` (`own`, or `kind` where only its kind is named, see below), the role of a button and the words of what it would do; a tap, Enter or
//   Space makes the move. `data-armed` says that it waits for a second tap. The style is the game's.
// - A choice that leads deeper opens its level in place, in <div class="levels">, and what that level names lights up
//   instead. An element that ends in `*` ("cell:*") stands for every thing of its kind: the tap is carried into the
//   level, so tapping a tile that a coin may move picks "move a tile", then that tile.
// - Several choices that share an element open as a level of their own. Escape and a new version close a level.
// Without this script the same buttons and links do the same, one page for each level.

import { focus, start } from "./focus.js";
import { find, handle } from "./swap.js";

const SLIP = 400; // ms in which a second tap on a thing was meant for what it was before
const NAMED = "button[data-element], a.deeper[data-element]";

export class Elements {
  /**
   * @param {HTMLElement} root the live part of the page
   * @param {{say: (words: string) => void}} report
   */
  constructor(root, report) {
    this.root = root;
    this.report = report;
    this.panel = null;
    this.opener = null; // what had the focus when the first level opened
    this.version = root.dataset.version;
    this.last = null;
    root.addEventListener("click", (event) => this.tapped(event));
    root.addEventListener("keydown", (event) => this.typed(event));
    new MutationObserver(() => this.repainted()).observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-armed", "data-version"] });
    this.light();
  }

  tapped(event) {
    const link = event.target.closest("a.deeper");
    if (link) {
      event.preventDefault();
      this.descend(link.href, link.dataset.element?.endsWith("*") ? "" : link.dataset.element);
      return;
    }
    if (event.target.closest("[data-levels-close]")) return this.close();
    const thing = event.target.closest("[data-pick][data-can]");
    if (thing) this.pick(thing.dataset.pick);
  }

  typed(event) {
    if (event.key === "Escape") return this.close();
    if (event.key !== "Enter" && event.key !== " ") return;
    const thing = event.target.closest("[data-pick][data-can]");
    if (!thing) return;
    event.preventDefault();
    this.pick(thing.dataset.pick);
  }

  /** What a name stands for now: its own buttons before those of its kind. */
  matches(name) {
    const named = [...(this.panel ?? this.root).querySelectorAll(NAMED)];
    const own = named.filter((button) => button.dataset.element === name);
    const kind = (button) => button.dataset.element.endsWith("*") && name.startsWith(button.dataset.element.slice(0, -1));
    return own.length ? own : named.filter(kind);
  }

  pick(name) {
    const now = { name, version: this.root.dataset.version, at: performance.now() };
    const before = this.last;
    this.last = now;
    if (before?.name === name && before.version !== now.version && now.at - before.at < SLIP) return;
    const found = this.matches(name);
    if (found.length === 1) this.act(found[0], name);
    else if (found.length) this.open(found.map((button) => (button.closest("form") ?? button).outerHTML), "");
  }

  act(button, name) {
    if (button.matches("a")) this.descend(button.href, name);
    else {
      button.form.dataset.aimed = "";
      button.form.requestSubmit(button);
    }
  }

  async descend(href, name) {
    let level;
    try {
      const answer = await fetch(href, { headers: { Accept: "application/json" } });
      level = await answer.json();
      if (!answer.ok) throw new Error(level.words);
    } catch (error) {
      this.report.say(error instanceof SyntaxError || error instanceof TypeError ? this.root.dataset.wordsFailed : error.message);
      return;
    }
    this.open(level.choices, level.title);
    // The tap that led here may have said already what is asked now; a question with one answer is none.
    const named = [...this.panel.querySelectorAll(NAMED)];
    const meant = named.filter((button) => button.dataset.element === name);
    if (name && meant.length === 1) this.act(meant[0], name);
    else if (name && named.length === 1) this.act(named[0], named[0].dataset.element);
  }

  open(choices, title) {
    if (!this.panel) this.remember(document.activeElement);
    this.clear();
    const panel = document.createElement("div");
    panel.className = "levels";
    panel.setAttribute("role", "group");
    panel.setAttribute("aria-label", title || this.root.dataset.wordsChoose);
    panel.innerHTML = `<div class="levels-list">${choices.join("")}</div><button class="button button-quiet" type="button" data-levels-close></button>`;
    panel.lastElementChild.textContent = this.root.dataset.wordsCancel;
    (this.root.querySelector("[data-levels]") ?? this.root).append(panel);
    this.panel = panel;
    this.light();
    focus(panel.querySelector(NAMED), panel.querySelector("button"));
  }

  /** Close the level and give the focus back to what opened it, or to what stands there now. */
  close() {
    if (!this.panel) return;
    const within = this.panel.contains(document.activeElement);
    this.clear();
    const { region, called } = this.opener;
    if (within) focus(region && find(region, called), region, start(this.root));
  }

  remember(element) {
    const region = element.closest("[data-region]");
    this.opener = { region, called: region && handle(element, region) };
  }

  clear() {
    this.panel?.remove();
    this.panel = null;
    this.light();
  }

  repainted() {
    if (this.version !== this.root.dataset.version) {
      this.version = this.root.dataset.version;
      if (this.panel) return this.close();
    }
    this.light();
  }

  light() {
    for (const thing of this.root.querySelectorAll("[data-pick]")) {
      const found = this.matches(thing.dataset.pick);
      set(thing, "data-can", found.length > 0 && (found[0].dataset.element === thing.dataset.pick ? "own" : "kind"));
      set(thing, "data-armed", found.some((button) => "armed" in button.dataset) && "");
      thing.dataset.label ??= thing.getAttribute("aria-label") ?? "";
      const does = found.length === 1 ? found[0].textContent.trim().replace(/\s+/g, " ") : "";
      set(thing, "aria-label", [thing.dataset.label, does].filter(Boolean).join(": "));
      set(thing, "role", found.length ? "button" : "img");
      set(thing, "tabindex", found.length > 0 ? "0" : thing === document.activeElement && "-1");
    }
  }
}

// Only what differs is written: each write wakes the observer that called.
function set(thing, name, value) {
  if (value === false) {
    if (thing.hasAttribute(name)) thing.removeAttribute(name);
  } else if (thing.getAttribute(name) !== value) thing.setAttribute(name, value);
}
