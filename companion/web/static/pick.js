// Turns taps on a table's forms into posts: one move for a tap, whatever a nervous finger or a bad network adds.
//
// A post carries the version of the table that the reader saw and an id that stays the same until it is answered.
//
// A board that knows which move a tap means needs no form: it dispatches a `move` event on the live part of the page,
// with `{action, seat, move}` as its detail, and finds there a promise, `answered`, that holds whether it was made.
// A `foresee` event with `{seat, moves}` is answered by what each of the moves would change, in words.

import { hurry, purpose } from "./swap.js";

const ARMED = 4_000; // ms in which a second tap confirms
const READ = 12_000; // ms in which it does where there is something to read first
const SLIP = 600; // ms in which a second tap was meant for what stood there before
const AGAIN = 700; // ms before a post that got lost is sent once more
const PATIENCE = 8_000;

export class Picker {
  /**
   * @param {HTMLElement} root what holds the version and the words
   * @param {{news: (news: object) => void, say: (words: string, asks?: string) => void}} report
   */
  constructor(root, report) {
    this.root = root;
    this.report = report;
    this.armed = null;
    this.last = null;
    this.busy = new Set();
    this.unanswered = new Map(); // aim -> the version and the id of its post
    root.addEventListener("move", ({ detail }) => (detail.answered = this.make(detail)));
    root.addEventListener("foresee", ({ detail }) => (detail.answered = previews(root, detail)));
    document.addEventListener("submit", (event) => {
      const form = event.target.closest("form[data-post]");
      if (!form || !root.contains(form)) return;
      event.preventDefault();
      const button = event.submitter ?? form.querySelector("button");
      const meant = purpose(form, button);
      hurry();
      if (!form.isConnected || purpose(form, button) !== meant) return; // it stood for a table that has gone on
      this.tap(form, button);
    });
    document.addEventListener("change", (event) => {
      const form = event.target.matches('input[name="typed"]') && event.target.closest("form[data-post]");
      if (form && root.contains(form)) form.requestSubmit();
    });
  }

  async tap(form, button) {
    const aim = purpose(form, button);
    if (this.busy.has(aim) || this.slipped(form, button) || !this.sure(form, button, aim)) return;
    this.show(form, button, true);
    const fields = new FormData(form);
    if (button?.name) fields.append(button.name, button.value);
    const made = await this.send(aim, form.action, fields);
    if (made !== null) settle(form, made);
    this.show(form, button, false);
  }

  /** Make a move that a board found by itself; resolves to whether the table took it. */
  async make({ action, seat, move }) {
    const aim = [action, seat, move].join(" ");
    if (this.busy.has(aim) || ("for" in this.root.dataset && !this.twice(aim))) return false;
    this.last = null;
    return (await this.send(aim, action, { seat, move })) ?? false;
  }

  /** Post once for each aim; resolves to whether it was accepted, or to null where nobody answered. */
  async send(aim, action, fields) {
    this.busy.add(aim);
    try {
      const answer = await this.post(aim, action, new URLSearchParams(fields));
      this.heed(answer);
      return answer.ok;
    } catch {
      this.report.say(this.root.dataset.wordsFailed);
      return null;
    } finally {
      this.busy.delete(aim);
    }
  }

  // The button under the finger has got another meaning since the last tap: this tap was not for it.
  // A number that was typed and a thing that was tapped on a board were aimed at, wherever their buttons stand.
  slipped(form, button) {
    if (form.matches(".typed") || "aimed" in form.dataset) {
      delete form.dataset.aimed;
      this.last = null;
      return false;
    }
    const region = form.closest("[data-region]")?.id ?? "";
    const words = button?.textContent.trim() ?? "";
    const before = this.last;
    const now = performance.now();
    if (before && before.region === region && before.words !== words && before.aim.split(" ")[0] === form.getAttribute("action") && now - before.at < SLIP) return true;
    this.last = { region, words, aim: purpose(form, button), at: now };
    return false;
  }

  sure(form, button, aim) {
    if (!form.closest("[data-confirm]") && !(button && "confirm" in button.dataset)) return true;
    if (this.twice(aim)) return true;
    const move = form.querySelector('input[name="move"]');
    if (move) this.foresee(aim, form.querySelector('input[name="seat"]').value, move.value);
    return false;
  }

  /** Say what a move that waits for its second tap would change, and give time to read it. */
  async foresee(aim, seat, move) {
    const [changes] = await previews(this.root, { seat, moves: [move] });
    if (!changes || this.armed?.aim !== aim) return;
    this.arm(aim, READ);
    this.report.say(changes, this.root.dataset.wordsConfirm);
  }

  /** Whether this is the second tap for the same aim; the first one asks for it. */
  twice(aim) {
    const now = performance.now();
    if (this.armed?.aim === aim && now < this.armed.until) {
      this.disarm();
      return true;
    }
    this.arm(aim, ARMED);
    this.report.say("", this.root.dataset.wordsConfirm);
    return false;
  }

  arm(aim, time) {
    this.disarm();
    const timer = setTimeout(() => {
      this.disarm();
      this.report.say(""); // a tap is no second one any more, and the next first one is announced again
    }, time);
    this.armed = { aim, until: performance.now() + time, timer };
    this.rearm();
  }

  disarm() {
    clearTimeout(this.armed?.timer);
    this.armed = null;
    for (const button of this.root.querySelectorAll("[data-armed]")) {
      button.removeAttribute("data-armed");
      button.removeAttribute("data-hint");
    }
  }

  /** Mark what waits for its second tap, again after a swap. */
  rearm() {
    if (!this.armed) return;
    for (const form of this.root.querySelectorAll("form[data-post]")) {
      const button = [...form.querySelectorAll("button")].find((each) => purpose(form, each) === this.armed.aim);
      if (!button) continue;
      button.setAttribute("data-armed", "");
      hint(button, this.root.dataset);
    }
  }

  show(form, button, busy) {
    form.toggleAttribute("data-busy", busy);
    if (busy) button?.setAttribute("aria-disabled", "true");
    else button?.removeAttribute("aria-disabled");
  }

  async post(aim, action, fields) {
    const version = this.root.dataset.version;
    const before = this.unanswered.get(aim);
    const asked = before?.version === version ? before : { version, id: id() };
    this.unanswered.set(aim, asked);
    fields.set("version", version);
    fields.set("request", asked.id);
    fields.set("seen", this.root.dataset.seen);
    fields.set("as", this.root.dataset.layout ?? "phone");
    if (this.root.dataset.for) fields.set("for", this.root.dataset.for);
    let answer;
    try {
      answer = await send(action, fields);
    } catch {
      await new Promise((wake) => setTimeout(wake, AGAIN));
      answer = await send(action, fields);
    }
    this.unanswered.delete(aim);
    return answer;
  }

  heed(answer) {
    if (answer.regions) this.report.news(answer);
    this.report.say(answer.ok ? "" : answer.words);
  }
}

/** Ask for the second tap inside a button, in as many words as there is room for, after what it does if that fits too. */
function hint(button, { wordsConfirm, wordsSure }) {
  button.removeAttribute("data-hint");
  const { scrollWidth, scrollHeight } = button;
  const shown = button.cloneNode(true);
  for (const unseen of shown.querySelectorAll(".for-reader")) unseen.remove();
  const does = shown.textContent.trim().replace(/\s+/g, " ");
  for (const words of [`${does}\n${wordsConfirm}`, wordsConfirm, wordsSure]) {
    button.setAttribute("data-hint", words);
    if (button.scrollWidth <= scrollWidth && button.scrollHeight <= scrollHeight) return;
  }
  button.removeAttribute("data-hint"); // the notice asks alone
}

/** What some moves of a seat would change, in words; nothing where nobody answers. */
async function previews(root, { seat, moves }) {
  const asks = new URLSearchParams([["seat", seat], ...moves.map((move) => ["move", move])]);
  try {
    const answer = await fetch(`${root.dataset.preview}?${asks}`, { signal: AbortSignal.timeout?.(PATIENCE) });
    return answer.ok ? (await answer.json()).previews : [];
  } catch {
    return [];
  }
}

// A number that was sent is the table's now; one that was refused gives way to what stands.
function settle(form, accepted) {
  const field = form.querySelector('input[name="typed"]');
  if (!field) return;
  delete field.dataset.touched;
  if (!accepted) field.value = field.defaultValue;
}

async function send(action, fields) {
  const answer = await fetch(action, {
    method: "POST",
    body: fields,
    headers: { Accept: "application/json" },
    signal: AbortSignal.timeout?.(PATIENCE),
  });
  return answer.json();
}

// crypto.randomUUID is for secure pages only; this page is plain http.
function id() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
