// Listens to the page's event stream and hands on what changed. It touches nothing on the page.
//
// A browser gives an EventSource up for good after an HTTP error, and allows six connections to one host: so the
// stream is opened again after any failure, and closed while nobody looks.

const FIRST_PAUSE = 400;
const LONGEST_PAUSE = 15_000;
const LONGEST_SILENCE = 20_000; // the companion sends a heartbeat every 8 s

export class Live {
  /**
   * @param {() => URL} address where the stream is now, with what the page has seen already
   * @param {{regions: (news: object) => void, current: () => void, reload: () => void,
   *   state: (state: string, since: Date) => void}} handlers `current` is called whenever the stream proves that the
   *   page shows what is; `state` gets "again", "full" or "offline", and when the page was last known to be current
   */
  constructor(address, handlers) {
    this.address = address;
    this.handlers = handlers;
    this.source = null;
    this.timer = 0;
    this.silence = 0;
    this.since = new Date();
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
    this.watch();
    source.addEventListener("open", () => {
      if (this.failures) this.handlers.state("again", this.since);
      this.failures = 0;
      this.arrived();
    });
    source.addEventListener("alive", () => this.arrived());
    source.addEventListener("regions", (event) => {
      this.arrived();
      this.handlers.regions(JSON.parse(event.data));
    });
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

  arrived() {
    this.since = new Date();
    this.watch();
    this.handlers.current();
  }

  // A connection that is cut without a word, as by a phone out of reach, ends in silence and gives no error.
  watch() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      this.handlers.state("offline", this.since);
      this.close();
      this.retry();
    }, LONGEST_SILENCE);
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.silence);
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
    if (this.failures > 1) this.handlers.state(up ? "full" : "offline", this.since);
  }
}
