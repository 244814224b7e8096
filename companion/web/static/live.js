// Listens to the page's event stream and hands on what changed. It touches nothing on the page.
//
// A browser gives an EventSource up for good after an HTTP error, and allows six connections to one host: so the
// stream is opened again after any failure, and closed while nobody looks.

const FIRST_PAUSE = 400;
const LONGEST_PAUSE = 15_000;

export class Live {
  /**
   * @param {() => URL} address where the stream is now, with what the page has seen already
   * @param {{regions: (news: object) => void, reload: () => void, state: (state: string) => void}} handlers
   */
  constructor(address, handlers) {
    this.address = address;
    this.handlers = handlers;
    this.source = null;
    this.timer = 0;
    this.failures = 0;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.close() : this.open()));
    addEventListener("pagehide", () => this.close());
    addEventListener("pageshow", () => document.hidden || this.open());
  }

  open() {
    if (this.source) return;
    clearTimeout(this.timer);
    const source = new EventSource(this.address());
    this.source = source;
    source.addEventListener("open", () => {
      if (this.failures) this.handlers.state("again");
      this.failures = 0;
    });
    source.addEventListener("regions", (event) => this.handlers.regions(JSON.parse(event.data)));
    source.addEventListener("reload", () => {
      this.close();
      this.handlers.reload();
    });
    source.addEventListener("error", () => {
      if (this.source !== source) return;
      this.close();
      this.retry();
    });
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  retry() {
    this.failures += 1;
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (this.failures - 1)) * (0.8 + 0.4 * Math.random());
    this.timer = setTimeout(() => this.open(), pause);
    if (this.failures > 1) this.say();
  }

  // A stream that is refused does not say why; another page of the same companion distinguishes "full" from "gone".
  async say() {
    const up = await fetch("/healthz", { cache: "no-store" }).then((answer) => answer.ok, () => false);
    if (this.failures > 1) this.handlers.state(up ? "full" : "offline");
  }
}
