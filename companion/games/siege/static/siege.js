// Lets the siege's map be tapped, dragged and pinched. What a tap means comes with the painted pieces; it judges nothing.
//
// The map is drawings of one size above each other; zooming changes the box that all of them show. Hexes
// are calculated from where the finger was, so that no hex needs an element. The page's own picker posts a
// move. The tapped hex is marked at once, on a sheet of its own; a tap that comes before the answer to the last one
// waits for it, since only the answer says what it means.

import { corners, hexAt, middle, outline, place, ROW, sideOf, way, WIDE } from "./hexes.js";

const SLIP = 9; // pixels that a finger may wander and still have tapped
const FINGER = 28.2; // pixels that a hex is wide at least where a tap is asked for
const LEGIBLE = 1.3; // pixels to a unit of the map from which its names can be read
const CLOSEST = 110; // the least width of the box: five hexes and a half
const SHRUNK = 0.75; // how small the map may be drawn for the sake of what lies on its place
const BUTTONS = 58; // pixels that the row, or the column, of buttons takes of the place
const COLUMN = 170; // pixels of free height that a column of buttons takes
const MOST_COVERED = 0.7; // of the place's height: with very large letters the bar would cover it all
const LETTERS = 24; // pixels from the top in which the letters of the columns stand
const LETTER = 9; // units of the map that a letter reaches from its middle
const CLEARED = 4; // units of the map by which it is moved from under its buttons
const STEP = 160; // ms for each thing that is replayed
const SVG = "http://www.w3.org/2000/svg";

const calm = matchMedia("(prefers-reduced-motion: reduce)");

class SiegeMap {
  constructor(map, root) {
    this.map = map;
    this.root = root;
    this.sheets = map.querySelector("[data-siege-sheets]");
    this.spoken = map.querySelector("[data-siege-spoken]");
    this.foreseen = document.querySelector("[data-siege-foreseen]");
    this.hand = document.querySelector("[data-siege-hand]");
    this.mode = document.querySelector("[data-siege-mode]");
    this.replay = map.querySelector('[data-siege="replay"]');
    this.overlay = map.querySelector("[data-siege-overlay]");
    this.mark = map.querySelector("[data-siege-asked]");
    this.fingers = new Map();
    this.box = null;
    this.fitted = null; // how the map was fitted into its place, until somebody moves it
    this.foot = this.edge = 0; // the shares of the place's height and width that the buttons take
    this.behind = { x: 0, y: 0 }; // the shares in which letters of columns, and numbers of rows, lie under something
    this.asking = false;
    this.held = null;
    this.whole = {};
    this.painted = "";
    this.selected = "";
    this.replayed = "";
    for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      this.sheets.addEventListener(name, (event) => this[name](event));
    }
    this.sheets.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.tools = map.querySelector("[data-siege-tools]");
    this.tools.hidden = false;
    this.bar = root.querySelector(".doing");
    root.addEventListener("click", (event) => this.tool(event.target.closest("[data-siege]")?.dataset.siege));
    map.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resized()).observe(this.sheets);
    if (this.bar) new ResizeObserver(() => this.barred()).observe(this.bar);
    const painted = { childList: true, subtree: true, attributes: true, attributeFilter: ["data-state"] };
    new MutationObserver(() => this.repainted()).observe(this.sheets, painted);
    this.repainted();
  }

  // What was rendered again.

  repainted() {
    const sent = this.sheets.querySelector("[data-state]")?.dataset;
    if (this.box) this.show(); // a sheet that was rendered again shows the whole map
    if (!sent || sent.state === this.painted) return;
    this.painted = sent.state;
    this.mark.setAttribute("points", "");
    this.state = JSON.parse(sent.state);
    const { width, height } = this.whole;
    [this.whole.width, this.whole.height] = sent.size.split(" ").map(Number);
    this.map.style.setProperty("--shape", `${this.whole.width / this.whole.height}`);
    if (!this.box || width !== this.whole.width || height !== this.whole.height) this.open();
    else if (this.fitted && !this.fitted.all && !this.inSight()) this.open();
    this.show();
    const marching = Object.values(this.state.taps).some((moves) => moves[0][0] === "march" || moves[0][0] === "walk" || moves[0][0] === "go");
    if (this.mode) this.mode.hidden = !(this.state.seat && marching);
    this.replay.hidden = !this.state.since.length;
    if (this.selected && !this.aims().length) this.select("");
    else this.select(this.selected);
    this.lead();
    this.clear();
    const since = JSON.stringify(this.state.since);
    if (this.state.seat && this.state.since.length && this.replayed !== since) {
      this.replayed = since;
      this.tell_since();
    }
  }

  resized() {
    const { width, height } = this.sheets.getBoundingClientRect();
    if (!width || !height) return;
    if (this.fitted || !this.box) {
      this.open(this.fitted);
      this.lead(true);
      this.clear();
    } else this.free();
    this.box.height = (this.box.width * height) / width;
    this.moveTo(this.box.x, this.box.y);
    this.show();
  }

  /** Return the hexes where a tap is asked for now. */
  asked() {
    const { seat, taps, attacks, paint } = this.state;
    return seat && !paint ? [...new Set([...Object.keys(taps), ...attacks.map((each) => each[1])])] : [];
  }

  /** Whether a hex to be tapped is in sight, or none is asked for. */
  inSight() {
    const asked = this.asked();
    return !asked.length || asked.some((hex) => this.shows(hex, this.box.x, this.box.y));
  }

  /** Whether a hex is all in sight where the box stands at a place. */
  shows(hex, left, top) {
    const [x, y] = middle(...place(hex));
    const [right, bottom] = [left + this.box.width * (1 - this.edge), top + this.box.height * (1 - this.foot)];
    return x > left + WIDE / 2 && x < right - WIDE / 2 && y > top + ROW / 2 && y < bottom - ROW / 2;
  }

  /** Show the whole map, or where its hexes would be too small for a finger, as many of those to be tapped as possible. */
  open(was = null) {
    this.fit(was?.cover ?? this.map.dataset.siegeMap !== "whole");
    this.fitted.all = was?.all ?? false;
    const asked = this.fitted.all ? [] : this.asked();
    const { width } = this.sheets.getBoundingClientRect();
    if (!asked.length || (WIDE * width) / this.box.width >= FINGER) return;
    const share = (WIDE * width) / FINGER / this.box.width;
    this.box.width *= share;
    this.box.height *= share;
    const [across, down] = [this.box.width * (1 - this.edge), this.box.height * (1 - this.foot)];
    let most = -1;
    let best = [0, 0];
    for (const hex of asked) {
      const [x, y] = middle(...place(hex));
      this.moveTo(x - across / 2, y - down / 2);
      const found = asked.filter((each) => this.shows(each, this.box.x, this.box.y)).length;
      if (found > most) [most, best] = [found, [this.box.x, this.box.y]];
    }
    this.moveTo(...best);
  }

  /** Keep the buttons above a bar that grew or shrank. */
  barred() {
    this.free();
    this.show();
    this.clear();
  }

  /** Move a map that nobody has moved, by as little as it takes, until no name and no hex to tap lies under the buttons. */
  clear() {
    if (!this.fitted || this.selected) return; // nothing moves under a finger that has a unit
    const room = this.room();
    const [place, tools] = [this.sheets, this.tools].map((each) => each.getBoundingClientRect());
    const scale = this.box.width / place.width;
    const [left, right] = [tools.left, tools.right].map((x) => (x - place.left) * scale);
    const [top, bottom] = [tools.top, tools.bottom].map((y) => (y - place.top) * scale);
    const kept = [...(this.far() ? [] : this.sheets.querySelectorAll(".places text")), ...this.lit()].map((each) => each.getBBox());
    const beside = (each, x, y) => each.x >= x + right || each.x + each.width <= x + left || each.y >= y + bottom || each.y + each.height <= y + top;
    const free = ([x, y]) => kept.every((each) => beside(each, x, y));
    const at = free([this.box.x, this.box.y]) ? null : this.steps(room).find(free);
    if (!at) return;
    this.moveTo(...at);
    this.show();
  }

  /** Return where the box may be moved to, the nearest first: up or down, else to a side, else both. */
  steps(room) {
    const along = (from, to, by) => (to > 0 ? Array.from({ length: Math.floor(to / by) + 1 }, (_, n) => Math.min(n * by, to)) : [from])
      .sort((one, two) => Math.abs(one - from) - Math.abs(two - from));
    const { x, y } = this.box;
    return [
      ...along(y, room.y, CLEARED).map((each) => [x, each]),
      ...along(x, room.x, CLEARED).map((each) => [each, y]),
      ...along(y, room.y, 4 * CLEARED).flatMap((down) => along(x, room.x, 4 * CLEARED).map((across) => [across, down])),
    ];
  }

  /** Note which share of the place lies under the buttons at its edge, and under the bar of what can be done. */
  free() {
    const { left, right, top, bottom, height } = this.sheets.getBoundingClientRect();
    this.foot = this.edge = this.covered = 0;
    this.behind = { x: 0, y: 0 };
    if (this.map.dataset.siegeMap === "whole") return; // nobody moves a map on the wall
    if (height <= BUTTONS || right - left <= BUTTONS) return; // a window that is all but closed
    const bar = this.bar?.getBoundingClientRect();
    const below = bar && getComputedStyle(this.bar).position === "sticky" && bar.left < right && bar.right > left;
    const covered = below ? Math.max(0, bottom + scrollY - (innerHeight - bar.height)) : 0;
    this.covered = Math.min(covered, height * MOST_COVERED);
    this.map.style.setProperty("--covered", `${this.covered}px`);
    const tools = this.tools.getBoundingClientRect();
    this.foot = this.aside || !tools.height ? 0 : (bottom - tools.top) / height;
    this.edge = this.aside ? (right - tools.left) / (right - left) : 0;
    this.behind = { x: tools.top < top + LETTERS ? this.edge : 0, y: this.covered / height };
  }

  /** Show the whole map, or where that would leave much of the place empty, its height, the width to be dragged. */
  fit(cover) {
    const { width, height } = this.sheets.getBoundingClientRect();
    this.fitted = { cover };
    if (width <= BUTTONS || height <= BUTTONS) {
      this.box = { x: 0, y: 0, width: this.whole.width, height: this.whole.height };
      return;
    }
    const [across, down] = [this.whole.width / width, this.whole.height / height];
    const strip = this.map.dataset.siegeMap !== "whole" && this.tools.offsetHeight ? BUTTONS : 0;
    this.free();
    const free = Math.max(height - strip - this.covered, SHRUNK * (height - strip));
    const [beside, above] = [this.whole.width / (width - strip), this.whole.height / free];
    const dragged = cover && Math.max(across, down) > 1.3 * Math.min(across, down);
    this.aside = !dragged && height - this.covered > COLUMN && Math.max(beside, down) < Math.max(across, above);
    this.tools.toggleAttribute("data-aside", this.aside);
    this.free();
    const scale = dragged ? Math.min(across, above) : this.aside ? Math.max(beside, down) : Math.max(across, above);
    this.box = { width: width * scale, height: height * scale };
    const { x, y } = this.room();
    this.moveTo(x / 2, y / 2);
  }

  /** Whether the names on the map are too small to be read, so that it has none. */
  far() {
    return this.sheets.clientWidth < LEGIBLE * this.box.width;
  }

  show() {
    const { x, y, width, height } = this.box;
    const box = `${x.toFixed(2)} ${y.toFixed(2)} ${width.toFixed(2)} ${height.toFixed(2)}`;
    for (const sheet of this.sheets.querySelectorAll("[data-siege-sheet]")) {
      if (sheet.getAttribute("viewBox") !== box) sheet.setAttribute("viewBox", box);
    }
    for (const edge of this.sheets.querySelectorAll("[data-siege-edge]")) {
      const rows = edge.dataset.siegeEdge === "x";
      const at = rows ? [Math.max(x, 0), 0] : [0, Math.max(y, 0)];
      edge.setAttribute("transform", `translate(${at.map((each) => each.toFixed(2)).join(" ")})`);
      const last = (rows ? y + height * (1 - this.behind.y) : x + width * (1 - this.behind.x)) - LETTER;
      for (const letter of edge.children) letter.toggleAttribute("data-behind", letter.getAttribute(rows ? "y" : "x") > last);
    }
    this.map.toggleAttribute("data-far", this.far());
  }

  // Where a finger was.

  point(event) {
    const area = this.sheets.getBoundingClientRect();
    const scale = Math.max(this.box.width / area.width, this.box.height / area.height);
    return {
      x: this.box.x + this.box.width / 2 + (event.clientX - area.left - area.width / 2) * scale,
      y: this.box.y + this.box.height / 2 + (event.clientY - area.top - area.height / 2) * scale,
      scale,
    };
  }

  pointerdown(event) {
    this.sheets.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY, far: false });
    if (this.fingers.size === 2) for (const finger of this.fingers.values()) finger.far = true;
  }

  pointermove(event) {
    const finger = this.fingers.get(event.pointerId);
    if (!finger) return;
    const [dx, dy] = [event.clientX - finger.x, event.clientY - finger.y];
    if (!finger.far && Math.hypot(dx, dy) < SLIP) return;
    finger.far = true;
    this.fitted = null;
    if (this.fingers.size === 2) {
      const other = [...this.fingers.entries()].find(([id]) => id !== event.pointerId)[1];
      const before = Math.hypot(finger.x - other.x, finger.y - other.y);
      const now = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      this.zoom(before / Math.max(now, 1), { clientX: (event.clientX + other.x) / 2, clientY: (event.clientY + other.y) / 2 });
    }
    const { scale } = this.point(event);
    const share = this.fingers.size === 2 ? 0.5 : 1;
    this.moveTo(this.box.x - dx * scale * share, this.box.y - dy * scale * share);
    Object.assign(finger, { x: event.clientX, y: event.clientY });
    this.soon();
  }

  pointerup(event) {
    const finger = this.fingers.get(event.pointerId);
    this.fingers.delete(event.pointerId);
    if (!finger || finger.far) return;
    const point = this.point(event);
    const hex = hexAt(point, this.state);
    this.tapped(hex, hex && sideOf(hex, point));
  }

  pointercancel(event) {
    this.fingers.delete(event.pointerId);
  }

  wheel(event) {
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, event);
    this.soon();
  }

  soon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.show();
    });
  }

  zoom(by, event) {
    this.fitted = null;
    const at = this.point(event);
    const area = this.sheets.getBoundingClientRect();
    const across = this.whole.width / (area.width * (1 - this.edge));
    const widest = area.width * Math.max(across, this.whole.height / (area.height * (1 - this.foot)));
    const width = Math.min(widest, Math.max(CLOSEST, this.box.width * by));
    const share = width / this.box.width;
    this.box.width = width;
    this.box.height *= share;
    this.moveTo(at.x - (at.x - this.box.x) * share, at.y - (at.y - this.box.y) * share);
  }

  /** Return how far the box may be moved: to the map's ends, and on until they are clear of what lies on the place. */
  room() {
    return {
      x: this.whole.width - this.box.width * (1 - this.edge),
      y: this.whole.height - this.box.height * (1 - this.foot),
    };
  }

  moveTo(x, y) {
    const within = (value, room) => (room < 0 ? room / 2 : Math.min(Math.max(value, 0), room));
    const room = this.room();
    this.box.x = within(x, room.x);
    this.box.y = within(y, room.y);
  }

  tool(which) {
    const area = this.sheets.getBoundingClientRect();
    const middle = { clientX: area.left + area.width / 2, clientY: area.top + area.height / 2 };
    if (which === "nearer") this.zoom(1 / 1.5, middle);
    else if (which === "farther") this.zoom(1.5, middle);
    else if (which === "whole") {
      this.fit(false);
      this.fitted.all = true;
    }
    else if (which === "replay") return this.tell_since();
    else return;
    this.show();
  }

  key(event) {
    if (event.key.startsWith("Arrow")) this.fitted = null;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) this.moveTo(this.box.x + step[0] * WIDE * 2, this.box.y + step[1] * ROW * 2);
    else if (event.key === "+" || event.key === "-") this.tool(event.key === "+" ? "nearer" : "farther");
    else if (event.key === "Escape") return this.select("");
    else return;
    event.preventDefault();
    this.show();
  }

  // What a tap does.

  tapped(hex, side) {
    if (!hex || !this.state.seat) return;
    if (this.asking) {
      this.held = [hex, side];
      return;
    }
    if (this.state.paint) return this.make(this.state.paint === "side" ? ["side", hex, side] : [this.state.paint, hex], hex);
    const attack = this.aims().find((each) => each[2] === hex);
    if (attack) return this.make(["attack", attack[0], hex], hex);
    const moves = this.state.taps[hex];
    if (!moves) return this.select(this.state.attacks.some((each) => each[1] === hex) ? hex : "");
    const wanted = this.mode?.querySelector("input:checked")?.value;
    this.make(moves.find(([what]) => what === wanted) ?? moves[0], hex);
  }

  async make(move, hex) {
    this.asking = true;
    this.mark.setAttribute("points", corners(hex)); // no path: a browser calculates the style of a changed path again
    const asked = { action: this.hand.dataset.action, seat: this.state.seat, move: JSON.stringify(move) };
    this.root.dispatchEvent(new CustomEvent("move", { detail: asked }));
    await asked.answered;
    this.repainted();
    this.mark.setAttribute("points", "");
    this.asking = false;
    const held = this.held;
    this.held = null;
    if (held) this.tapped(...held);
  }

  /** The attacks of the unit that was tapped. */
  aims() {
    return this.selected ? this.state.attacks.filter((each) => each[1] === this.selected) : [];
  }

  select(hex) {
    if (this.foreseen && hex !== this.selected) this.foreseen.textContent = "";
    this.selected = hex;
    this.lead();
    this.overlay.querySelector(".aims")?.remove();
    const aims = this.aims();
    for (const cell of document.querySelectorAll("[data-siege-odds] [data-modifier]")) {
      cell.toggleAttribute("data-meant", aims.some((aim) => String(aim[3]) === cell.dataset.modifier));
    }
    if (!aims.length) return this.speak("");
    const group = element("g", { class: "aims" });
    group.append(element("path", { class: "active", d: outline([hex]) }), element("path", { class: "target", d: outline(aims.map((aim) => aim[2])) }));
    for (const aim of aims) {
      const [x, y] = middle(...place(aim[2]));
      const label = element("text", { x, y: y + 4 });
      label.textContent = `${this.wins(aim[3])}/6`;
      group.append(label);
    }
    this.overlay.append(group);
    this.foresee(hex, aims);
    this.speak(aims.map((aim) => [aim[2], `${this.wins(aim[3])}/6`, ...aim[4].map((reason) => this.hand.getAttribute(`data-reason-${reason}`))].join(" · ")).join("\n"));
  }

  /** Say what each attack of the tapped unit may bring, as the rules have it. */
  async foresee(hex, aims) {
    const state = this.painted;
    const asked = { seat: this.state.seat, moves: aims.map((aim) => JSON.stringify(["attack", aim[0], aim[2]])) };
    this.root.dispatchEvent(new CustomEvent("foresee", { detail: asked }));
    const found = (await asked.answered) ?? [];
    if (!this.foreseen || found.length !== aims.length || this.selected !== hex || this.painted !== state) return;
    this.foreseen.textContent = aims.map((aim, n) => `${aim[2]} · ${found[n].replaceAll("\n", " ")}`).join("\n");
    this.root.dispatchEvent(new CustomEvent("speak", { detail: this.foreseen.textContent }));
  }

  /** Mark the hex that a first turn taps next, and bring it into sight; only a page that is guided shows the mark. */
  lead(again = false) {
    const [first, second] = this.state.next ?? [];
    const hex = second && this.selected === first ? second : first;
    let mark = this.overlay.querySelector(".next-hex");
    if (!mark) this.overlay.append((mark = element("polygon", { class: "next-hex" })));
    if (!again && mark.dataset.hex === (hex ?? "")) return;
    mark.dataset.hex = hex ?? "";
    mark.setAttribute("points", hex ? corners(hex) : "");
    if (!hex || !("guiding" in this.root.dataset)) return;
    const [x, y] = middle(...place(hex));
    const [across, down] = [this.box.width * (1 - this.edge), this.box.height * (1 - this.foot)]; // beside what lies on it
    const [right, bottom] = [this.box.x + across - WIDE, this.box.y + down - ROW];
    if (x > this.box.x + WIDE && x < right && y > this.box.y + ROW && y < bottom) return;
    this.moveTo(x - across / 2, y - down / 2);
    this.show();
  }

  /** The hex that the guide lights now, if any. */
  lit() {
    const mark = "guiding" in this.root.dataset ? this.overlay.querySelector(".next-hex[points]") : null;
    return mark?.dataset.hex ? [mark] : [];
  }

  wins(modifier) {
    return document.querySelector(`[data-siege-odds] .odds-win [data-modifier="${modifier}"]`)?.textContent ?? "?";
  }

  speak(words) {
    if (this.spoken.textContent === words) return;
    this.spoken.textContent = words;
    this.root.dispatchEvent(new CustomEvent("speak", { detail: words }));
  }

  // What happened while somebody else was on turn: every way that was gone, one after another.

  async tell_since() {
    const since = this.state.since;
    this.overlay.querySelector(".since")?.remove();
    const group = element("g", { class: "since" });
    this.overlay.append(group);
    for (const [from, to] of since) {
      const [ax, ay] = middle(...place(from));
      const d = to ? way([ax, ay], middle(...place(to))) : `M${ax - 6} ${ay - 6}l12 12m0-12l-12 12`;
      group.append(element("path", { class: to ? "went" : "lost", d }));
      if (!calm.matches && since.length <= 60) await new Promise((wake) => setTimeout(wake, STEP));
      if (!group.isConnected) return;
    }
  }
}

function element(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const root = document.getElementById("live");
const map = document.querySelector("[data-siege-map]");
if (root && map) new SiegeMap(map, root);
