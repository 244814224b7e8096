// Keeps the screen on: that of a table always, a phone's where somebody wants it. Browsers allow it over TLS alone, and
// take it back whenever the page is hidden.

import { Switch } from "./switch.js";

export class Awake {
  /**
   * @param {HTMLButtonElement} button
   * @param {boolean} always whether it needs no switch
   */
  constructor(button, always) {
    if (!("wakeLock" in navigator)) return;
    this.always = always;
    this.switch = new Switch(button, "awake");
    this.lock = null;
    button.hidden = always;
    button.addEventListener("click", () => {
      this.switch.set(!this.switch.on);
      this.hold();
    });
    document.addEventListener("visibilitychange", () => this.hold());
    this.hold();
  }

  async hold() {
    const wanted = (this.always || this.switch.on) && !document.hidden;
    if (wanted && (!this.lock || this.lock.released)) {
      // Refused where the battery is low: the next look at the page asks again.
      this.lock = await navigator.wakeLock.request("screen").catch(() => null);
    } else if (!wanted && this.lock) {
      const lock = this.lock;
      this.lock = null;
      await lock.release();
    }
    document.documentElement.dataset.awake = this.lock && !this.lock.released ? "on" : "off";
  }
}
