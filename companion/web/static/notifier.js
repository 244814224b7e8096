// Calls whoever holds this phone by a notification when it is their turn and the page is in the background.
//
// Browsers allow it over TLS alone, to a device whose owner was asked; phones allow it to a service worker alone.

import { home } from "./home.js";
import { Switch } from "./switch.js";

export class Notifier {
  /**
   * @param {?HTMLButtonElement} button what switches it on and off; none where nobody has a turn
   * @param {boolean} wanted whether somebody may hold this device: nobody is called by a screen that all read
   */
  constructor(button, wanted) {
    this.able = Boolean(button) && wanted && isSecureContext && "Notification" in window && "serviceWorker" in navigator;
    if (!this.able) return;
    this.switch = new Switch(button, "notify");
    this.allowed = Notification.permission === "granted";
    button.hidden = false;
    button.addEventListener("click", () => this.toggle());
    if (this.on) this.register();
    else if (this.switch.on) this.switch.set(false); // it was forbidden meanwhile, in the browser's settings
  }

  get on() {
    return this.able && this.switch.on && this.allowed;
  }

  async toggle() {
    if (this.switch.on) return this.switch.set(false);
    this.allowed = (await Notification.requestPermission()) === "granted";
    if (this.allowed) await this.register();
    this.switch.set(this.allowed);
  }

  register() {
    return navigator.serviceWorker.register(new URL("worker.js", home()));
  }

  /** Show the words, where the device wants it and nobody looks at the page. */
  async call(words, about) {
    if (!this.on || !document.hidden) return;
    const worker = await navigator.serviceWorker.ready;
    await worker.showNotification(words, {
      body: about,
      tag: location.pathname, // one call for each table: a newer one takes its place
      renotify: true,
      icon: new URL("icon.svg", home()).href,
      data: { path: location.pathname },
    });
  }
}
