// Plays what we synthesise ourselves: a wooden drum for a token, a shell for a turn, drum and rattle for the gods.
//
// A device sounds where a person switched it on there, or where nobody chose and the table wants it. A browser is silent
// until somebody touched its page; what could not sound then does not sound later.

import { Switch } from "./switch.js";

const NEAR = 5_000; // milliseconds
const LATE = 1_000; // milliseconds after which a sound is no news any more

export class Sound {
  /**
   * @param {HTMLButtonElement} button what switches it on and off
   * @param {boolean} forAll whether this is a table screen, which asks for the touch that its browser waits for
   */
  constructor(button, forAll) {
    this.button = button;
    this.forAll = forAll;
    this.context = null;
    this.switch = new Switch(button, "sound");
    button.hidden = !window.AudioContext;
    button.addEventListener("click", () => this.toggle());
    // A page that was opened anew may sound from the first touch on; a tap on the button is for the button alone.
    for (const sign of ["pointerdown", "keydown"]) {
      document.addEventListener(sign, ({ target }) => this.switch.on && !button.contains(target) && this.wake());
    }
    // On a screen that everybody reads, the switch shows while somebody is near it.
    for (const sign of ["pointermove", "pointerdown"]) document.addEventListener(sign, () => this.near());
    this.near();
    this.show();
  }

  near() {
    this.button.dataset.near = "";
    clearTimeout(this.leaving);
    this.leaving = setTimeout(() => delete this.button.dataset.near, NEAR);
  }

  toggle() {
    if (!("waits" in this.button.dataset)) this.switch.set(!this.switch.on);
    this.show();
    if (this.switch.on) this.play("turn");
  }

  /** Say whether the table wants sounds; a device where somebody chose keeps to that, one that has none is silent. */
  wish(on) {
    this.switch.wanted = on && !!window.AudioContext;
    this.switch.show();
    this.show();
  }

  show() {
    document.documentElement.dataset.sound = this.switch.on ? "on" : "off";
    const silent = this.context ? this.context.state === "suspended" : !navigator.userActivation?.hasBeenActive;
    this.button.toggleAttribute("data-waits", this.forAll && this.switch.on && silent);
  }

  wake() {
    if (!this.context) {
      this.context = new AudioContext();
      this.context.addEventListener("statechange", () => this.show());
    }
    return this.context.resume().catch(() => {});
  }

  /** Play one of `token`, `turn`, `gods`, `reveal`, `end` and `doom`, where this device wants it. */
  play(kind) {
    if (!this.switch.on || !window.AudioContext) return;
    const asked = performance.now();
    this.wake().then(() => {
      if (this.context.state !== "running" || performance.now() - asked > LATE) return;
      SOUNDS[kind](this.context);
      this.button.dataset.played = kind;
    });
  }

  /** Let a phone tremble where it can, unless it was muted. */
  tremble(pattern) {
    if (this.switch.state !== "off" && navigator.userActivation?.hasBeenActive) navigator.vibrate?.(pattern);
  }
}

const SOUNDS = {
  token: (context) => drum(context, 0, 420, 0.16),
  turn: (context) => {
    shell(context, 0, 294, 0.35);
    shell(context, 0.28, 392, 0.6);
  },
  gods: (context) => {
    for (const at of [0, 0.5, 1, 1.25, 1.5]) drum(context, at, 70, 0.7);
    rattle(context, 0.2, 1.6);
    shell(context, 1.6, 147, 1.6);
  },
  reveal: (context) => {
    for (let n = 0; n < 8; n += 1) drum(context, 0.09 * n, 200, 0.1);
    drum(context, 0.85, 110, 0.8);
  },
  doom: (context) => {
    for (const at of [0, 0.9, 1.8]) drum(context, at, 55, 1.1);
    rattle(context, 0, 2.6);
    shell(context, 1.8, 98, 2.2);
  },
  end: (context) => {
    [294, 392, 440, 588].forEach((pitch, n) => shell(context, 0.24 * n, pitch, n === 3 ? 1.2 : 0.3));
    drum(context, 0.96, 90, 0.8);
  },
};

function envelope(context, at, length, loud) {
  const gain = context.createGain();
  const start = context.currentTime + at;
  gain.gain.setValueAtTime(0.0001, start);
  gain.gain.exponentialRampToValueAtTime(loud, start + 0.012);
  gain.gain.exponentialRampToValueAtTime(0.0001, start + length);
  gain.connect(context.destination);
  return [gain, start];
}

function drum(context, at, pitch, length) {
  const [gain, start] = envelope(context, at, length, 0.5);
  const tone = context.createOscillator();
  tone.frequency.setValueAtTime(pitch * 1.6, start);
  tone.frequency.exponentialRampToValueAtTime(pitch, start + 0.06);
  tone.connect(gain);
  tone.start(start);
  tone.stop(start + length);
}

function shell(context, at, pitch, length) {
  const [gain, start] = envelope(context, at, length, 0.22);
  for (const [times, loud] of [[1, 1], [2, 0.35], [3, 0.12]]) {
    const tone = context.createOscillator();
    const part = context.createGain();
    tone.type = "triangle";
    tone.frequency.setValueAtTime(pitch * times * 0.97, start);
    tone.frequency.linearRampToValueAtTime(pitch * times, start + 0.09);
    part.gain.value = loud;
    tone.connect(part).connect(gain);
    tone.start(start);
    tone.stop(start + length);
  }
}

function rattle(context, at, length) {
  const [gain, start] = envelope(context, at, length, 0.12);
  const noise = context.createBuffer(1, context.sampleRate * length, context.sampleRate);
  const samples = noise.getChannelData(0);
  for (let n = 0; n < samples.length; n += 1) samples[n] = (Math.random() * 2 - 1) * (0.5 + 0.5 * Math.sin(n / 900));
  const source = context.createBufferSource();
  const high = context.createBiquadFilter();
  high.type = "highpass";
  high.frequency.value = 4000;
  source.buffer = noise;
  source.connect(high).connect(gain);
  source.start(start);
}
