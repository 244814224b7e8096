// Calls people who are not looking: the document's title and icon, a sound, a tremble, a great moment on a screen.
//
// What there is to say stands in the region `call`; this compares it with what it said before, and says nothing of what
// had happened already when the page was opened.

const MOMENT = 7_000; // milliseconds for which a great moment fills a table screen
const FIRST = 4_000; // milliseconds for which one is shown that came with the end
const TREMBLE = [120, 80, 120];
const STRIDE = 500; // milliseconds after which the next phone round the table lights up
const ROUNDS = 3;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

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
      god: dataset.god,
      place: Number(dataset.place),
      of: Number(dataset.of),
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
      this.sound.play(this.root.querySelector("[data-great][data-won]") ? "end" : "doom");
      const first = now.moment > before.moment && this.root.querySelector("[data-great-before]");
      if (first) this.show("[data-great-before]");
      return this.show("[data-great]", first ? FIRST : 0);
    }
    if (now.moment > before.moment) {
      this.sound.play(now.god ? "gods" : "reveal");
      if (now.god && now.place >= 0) this.light(now);
      return this.show();
    }
    if (called) {
      this.sound.play("turn");
      this.sound.tremble(TREMBLE);
    } else if (now.tokens > before.tokens) this.sound.play("token");
    else if (now.turn !== before.turn && this.root.dataset.layout === "screen") this.sound.play("turn");
  }

  // The phones light up one after the other, in the order of the seats, and tremble as they do.
  light({ god, place, of }) {
    if (this.root.dataset.layout === "screen") return;
    document.querySelector("body > .glow")?.remove();
    const glow = document.createElement("div");
    glow.className = `glow of-${god}`;
    glow.ariaHidden = "true";
    document.body.append(glow);
    const length = (of + 1) * STRIDE, after = place * STRIDE;
    glow.toggleAttribute("data-still", calm.matches);
    const lit = 0.6 / (of + 1), dark = 1.6 / (of + 1);
    const shine = [{ opacity: 0 }, { opacity: 0.92, offset: lit }, { opacity: 0, offset: dark }, { opacity: 0 }];
    if (!calm.matches) glow.animate(shine, { duration: length, iterations: ROUNDS, delay: after });
    setTimeout(() => this.sound.tremble(TREMBLE), after);
    setTimeout(() => glow.remove(), after + ROUNDS * length);
  }

  // What ends a game may come with its end, in the same news: then it is shown first.
  show(selector = "[data-great]", after = 0) {
    const moment = this.root.querySelector(selector);
    if (!moment || this.root.dataset.layout !== "screen") return;
    const shown = moment.cloneNode(true);
    shown.hidden = false;
    shown.ariaHidden = "true"; // it is spoken through the page's live region
    const ends = !shown.dataset.turn;
    const joins = (ends || shown.querySelector(".moment-count")) && this.root.querySelector(ends ? "[data-arrives]" : "[data-rises]");
    if (joins) shown.append(joined(joins));
    shown.addEventListener("click", () => shown.remove());
    if (after) setTimeout(() => this.put(shown), after);
    else this.put(shown);
  }

  put(shown) {
    document.querySelector("body > .moment")?.remove();
    document.body.append(shown); // beside what is rendered again: a token in these seconds does not end it
    clearTimeout(this.fading);
    this.fading = setTimeout(() => shown.remove(), MOMENT);
  }
}

// A copy of a picture of the page: what it uses is what the picture itself defines.
function joined(picture) {
  const copy = picture.cloneNode(true);
  for (const defs of copy.querySelectorAll("defs")) defs.remove();
  for (const said of ["data-speak", "data-key"]) copy.removeAttribute(said);
  copy.classList.add("moment-joins");
  return copy;
}
