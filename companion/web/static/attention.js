// Calls people who are not looking: the document's title and icon, a sound, a tremble, a great moment on a screen.
//
// What there is to say stands in the region `call`; this compares it with what it said before, and says nothing of what
// had happened already when the page was opened.

const MOMENT = 7_000; // milliseconds for which a great moment fills a table screen
const TREMBLE = [120, 80, 120];

export class Attention {
  /**
   * @param {HTMLElement} root the live part of the page
   * @param {import("./sound.js").Sound} sound
   * @param {import("./notifier.js").Notifier} notifier
   */
  constructor(root, sound, notifier) {
    this.root = root;
    this.sound = sound;
    this.notifier = notifier;
    this.before = null;
    this.fading = 0;
    this.look();
  }

  look() {
    const wish = this.root.querySelector("[data-sounds]");
    if (wish) this.sound.wish(wish.dataset.sounds === "on");
    const call = this.root.querySelector("[data-call]");
    if (!call) return;
    const { dataset } = call;
    const now = {
      turn: dataset.turn,
      mine: "mine" in dataset,
      over: "over" in dataset,
      tokens: Number(dataset.tokens),
      moment: Number(dataset.moment),
    };
    document.title = `${call.textContent.trim()} · ${this.root.dataset.title}`;
    const icon = document.getElementById("icon");
    const wanted = now.mine && !now.over ? this.root.dataset.iconTurn : this.root.dataset.icon;
    if (icon && icon.getAttribute("href") !== wanted) icon.setAttribute("href", wanted);
    const before = this.before;
    this.before = now;
    if (before) this.call(before, now, call.textContent.trim());
  }

  call(before, now, words) {
    const called = now.mine && !now.over && (!before.mine || now.turn !== before.turn);
    if (called) this.notifier.call(words, this.root.dataset.title);
    if (now.over && !before.over) {
      this.sound.play("end");
      return this.show();
    }
    if (now.moment > before.moment) {
      this.sound.play("gods");
      return this.show();
    }
    if (called) {
      this.sound.play("turn");
      this.sound.tremble(TREMBLE);
    } else if (now.tokens > before.tokens) this.sound.play("token");
    else if (now.turn !== before.turn && this.root.dataset.layout === "screen") this.sound.play("turn");
  }

  show() {
    const moment = this.root.querySelector("[data-great]");
    if (!moment || this.root.dataset.layout !== "screen") return;
    document.querySelector("body > .moment")?.remove();
    const shown = moment.cloneNode(true);
    shown.hidden = false;
    shown.ariaHidden = "true"; // it is spoken through the page's live region
    shown.addEventListener("click", () => shown.remove());
    document.body.append(shown); // beside what is rendered again: a token in these seconds does not end it
    clearTimeout(this.fading);
    this.fading = setTimeout(() => shown.remove(), MOMENT);
  }
}
