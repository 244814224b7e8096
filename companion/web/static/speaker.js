// Speaks to those who do not see the page, through its one live region: what changed, in one breath, and nothing twice.
//
// An element with data-speak, whose value is its name on the page, is spoken when it says something else than before:
// its data-says, its label or its words. So whose turn it is, how many tokens the lake holds, how long is left, how it
// ended. One with a data-turn is spoken for every turn: with app players it may be yours again at once.

const BREATH = 250; // milliseconds in which changes become one announcement

export class Speaker {
  /**
   * @param {HTMLElement} root the live part of the page
   * @param {HTMLElement} region the live region
   */
  constructor(root, region) {
    this.root = root;
    this.region = region;
    this.said = this.words();
    this.waiting = new Map(); // by the name of what says it
    this.timer = 0;
    root.addEventListener("speak", ({ detail }) => this.speak(detail));
  }

  words() {
    const words = (each) => (each.dataset.says ?? each.getAttribute("aria-label") ?? each.textContent).replace(/\s+/g, " ").trim();
    const spoken = [...this.root.querySelectorAll("[data-speak]")];
    return new Map(spoken.map((each) => [each.dataset.speak, { words: words(each), turn: each.dataset.turn }]));
  }

  look() {
    const now = this.words();
    for (const [name, { words, turn }] of now) {
      const before = this.said.get(name);
      if (words && (before?.words !== words || before.turn !== turn)) this.speak(words, name);
    }
    this.said = now;
  }

  /** Speak within a breath, instead of what waits under the same name; no words take back what was said and what waits. */
  speak(words, name = "") {
    clearTimeout(this.timer);
    if (words) this.waiting.set(name, words);
    else {
      this.waiting.clear();
      this.region.textContent = "";
    }
    if (!this.waiting.size) return;
    this.timer = setTimeout(() => {
      this.region.textContent = [...this.waiting.values()].join(" · ");
      this.waiting.clear();
    }, BREATH);
  }
}
