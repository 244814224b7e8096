// A button that switches something on or off for this device, which remembers it.

export class Switch {
  /**
   * @param {HTMLButtonElement} button
   * @param {string} key under which the device remembers it
   */
  constructor(button, key) {
    this.button = button;
    this.key = key;
    this.wanted = false; // where nobody chose at this device
    try {
      this.state = localStorage.getItem(key);
    } catch {
      this.state = null;
    }
    this.show();
  }

  get on() {
    return this.state ? this.state === "on" : this.wanted;
  }

  set(on) {
    this.state = on ? "on" : "off";
    try {
      localStorage.setItem(this.key, this.state);
    } catch {
      // a private window remembers nothing: it stays so until the page is closed
    }
    this.show();
  }

  show() {
    this.button.setAttribute("aria-pressed", String(this.on));
    this.button.dataset[this.key] = this.on ? "on" : "off";
  }
}
