// Listens to the page's event stream and hands on what changed. It touches nothing on the page.
//
// A browser gives an EventSource up for good after an HTTP error, and allows six connections to one host: so the
// stream is opened again after any failure, and closed while nobody looks. A connection can also die in silence (the
// router is unplugged, the companion freezes): the companion sends heartbeats, and a stream without one is replaced.

const FIRST_PAUSE = 400;
const LONGEST_PAUSE = 15_000;
const DEAD = 20_000; // ms without a heartbeat; the companion sends one every 8 s

export class Live {
  /**
   * @param {() => URL} address where the stream is now, with what the page has seen already
   * @param {{regions: (news: object) => void, reload: () => void, state: (state: string, since?: Date) => void}} handlers
   * @param {() => boolean} stays whether it stays open while nobody looks, because the device calls somebody
   */
  constructor(address, handlers, stays = () => false) {
    this.address = address;
    this.handlers = handlers;
    this.source = null;
    this.timer = 0;
    this.failures = 0;
    this.silence = 0; // the timer that runs out when the connection is dead
    this.stale = false;
    this.taken = false; // whether the stream was open to a question and was tried without a pause
    this.current = new Date();
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.open();
      else if (!stays()) this.rest();
    });
    addEventListener("pagehide", () => this.rest());
    addEventListener("pageshow", () => document.hidden || this.open());
    // The next attempt may be seconds away.
    addEventListener("online", () => (document.hidden && !stays()) || this.again());
  }

  open() {
    if (this.source) return;
    clearTimeout(this.timer);
    const source = new EventSource(this.address());
    this.source = source;
    this.silence ||= setTimeout(() => this.lost(), DEAD);
    source.addEventListener("heartbeat", () => this.source === source && this.heard());
    source.addEventListener("regions", (event) => {
      this.handlers.regions(JSON.parse(event.data));
      if (this.source === source) this.heard();
    });
    source.addEventListener("reload", () => {
      this.close();
      this.handlers.reload();
    });
    source.addEventListener("stale", () => {
      if (this.source !== source) return;
      this.close();
      this.stale = true;
      this.handlers.state("stale", this.current);
      this.retry();
    });
    source.addEventListener("error", () => {
      if (this.source !== source) return;
      this.close();
      this.retry();
      if (this.failures > 1) this.say();
    });
  }

  /** Try at once; an attempt that is not answered yet began without a network, and ends in its error. */
  again() {
    if (this.source?.readyState === EventSource.CONNECTING) this.close();
    this.open();
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  /** Close while nobody looks: silence means nothing then. */
  rest() {
    this.close();
    clearTimeout(this.silence);
    this.silence = 0;
  }

  /** The page shows what is. */
  heard() {
    this.handlers.state(this.failures ? "again" : "current");
    this.failures = 0;
    this.stale = this.taken = false;
    this.current = new Date();
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.lost(), DEAD);
  }

  lost() {
    this.silence = 0;
    this.stale = true;
    this.handlers.state("stale", this.current);
    if (!this.source) return; // the next attempt waits already
    this.close();
    this.retry();
  }

  retry() {
    this.failures += 1;
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (this.failures - 1)) * (0.8 + 0.4 * Math.random());
    this.timer = setTimeout(() => this.open(), pause);
  }

  // A stream that is refused does not say why, so it is asked for once more. A network that has just come back may
  // refuse one request and take the next: then the pause is over, once until something arrives.
  async say() {
    const asked = await fetch(this.address(), { method: "HEAD", cache: "no-store" }).catch(() => null);
    if (this.failures < 2) return;
    if (asked?.status === 503) this.handlers.state("full");
    else if (asked?.ok && !this.taken) {
      this.taken = true;
      this.open();
    } else if (!this.stale) this.handlers.state("offline");
  }
}
