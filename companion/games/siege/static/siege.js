// Lets the siege's map be tapped, dragged and pinched. What a tap means comes with the painted pieces; it judges nothing.
//
// The map is two drawings of one size, the ground beneath the pieces; zooming changes the box that both show. Hexes
// are found by reckoning from where the finger was, so that no hex needs an element. A move is posted by the hidden
// form of the page: the page's own picker sees to its version, its id and its retries.

const WIDE = 20;
const ROW = 17.32;
const POINT = 11.55;
const MARGIN = 12;
const SLIP = 9; // pixels that a finger may wander and still have tapped
const CLOSEST = 110; // the least width of the box: five hexes and a half
const STEP = 160; // ms for each thing that is replayed
const PATIENCE = 30_000; // ms after which no post is sent once more
const SVG = "http://www.w3.org/2000/svg";

const calm = matchMedia("(prefers-reduced-motion: reduce)");

class SiegeMap {
  constructor(map, root) {
    this.map = map;
    this.root = root;
    this.sheets = map.querySelector("[data-siege-sheets]");
    this.told = map.querySelector("[data-siege-told]");
    this.hand = document.querySelector("[data-siege-hand]");
    this.mode = document.querySelector("[data-siege-mode]");
    this.replay = map.querySelector('[data-siege="replay"]');
    this.fingers = new Map();
    this.box = null;
    this.selected = "";
    this.replayed = "";
    for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      this.sheets.addEventListener(name, (event) => this[name](event));
    }
    this.sheets.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    map.querySelector("[data-siege-tools]").hidden = false;
    root.addEventListener("click", (event) => this.tool(event.target.closest("[data-siege]")?.dataset.siege));
    map.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resized()).observe(this.sheets);
    new MutationObserver(() => this.repainted()).observe(this.sheets, { childList: true, subtree: true });
    this.repainted();
  }

  // What was painted anew.

  repainted() {
    const pieces = this.sheets.querySelector(".siege-pieces");
    if (!pieces || pieces === this.pieces) return;
    this.pieces = pieces;
    this.state = JSON.parse(pieces.dataset.state);
    const [, , width, height] = pieces.getAttribute("viewBox").split(" ").map(Number);
    this.whole = { width, height };
    if (!this.box) this.fit(this.map.dataset.siegeMap !== "whole");
    this.show();
    const marching = Object.values(this.state.taps).some((moves) => moves[0][0] === "march" || moves[0][0] === "walk" || moves[0][0] === "go");
    if (this.mode) this.mode.hidden = !(this.state.seat && marching);
    this.replay.hidden = !this.state.since.length;
    if (this.selected && !this.aims().length) this.select("");
    else this.select(this.selected);
    const since = JSON.stringify(this.state.since);
    if (this.state.seat && this.state.since.length && this.replayed !== since) {
      this.replayed = since;
      this.tell_since();
    }
  }

  resized() {
    const { width, height } = this.sheets.getBoundingClientRect();
    if (!width || !height) return;
    this.box.height = (this.box.width * height) / width;
    this.moveTo(this.box.x, this.box.y);
    this.show();
  }

  /** Show the whole map, or as much of its height as the place has, the width to be dragged. */
  fit(cover) {
    const { width, height } = this.sheets.getBoundingClientRect();
    const [across, down] = [this.whole.width / width, this.whole.height / height];
    const scale = cover ? Math.min(across, down) : Math.max(across, down);
    this.box = { width: width * scale, height: height * scale };
    this.moveTo((this.whole.width - this.box.width) / 2, (this.whole.height - this.box.height) / 2);
  }

  show() {
    const { x, y, width, height } = this.box;
    for (const sheet of this.sheets.querySelectorAll("[data-siege-sheet]")) {
      sheet.setAttribute("viewBox", `${x.toFixed(2)} ${y.toFixed(2)} ${width.toFixed(2)} ${height.toFixed(2)}`);
    }
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

  hexAt({ x, y }) {
    let best = "";
    let least = POINT * POINT;
    const near = Math.round((y - MARGIN - POINT) / ROW);
    for (const row of [near - 1, near, near + 1]) {
      if (row < 0 || row >= this.state.rows) continue;
      const column = Math.round((x - MARGIN - WIDE / 2 - (row % 2) * (WIDE / 2)) / WIDE);
      if (column < 0 || column >= this.state.columns) continue;
      const [mx, my] = middle(column, row);
      const away = (x - mx) ** 2 + (y - my) ** 2;
      if (away < least) [best, least] = [name(column, row), away];
    }
    return best;
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
    const hex = this.hexAt(point);
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
    const at = this.point(event);
    const area = this.sheets.getBoundingClientRect();
    const widest = area.width * Math.max(this.whole.width / area.width, this.whole.height / area.height);
    const width = Math.min(widest, Math.max(CLOSEST, this.box.width * by));
    const share = width / this.box.width;
    this.box.width = width;
    this.box.height *= share;
    this.moveTo(at.x - (at.x - this.box.x) * share, at.y - (at.y - this.box.y) * share);
  }

  moveTo(x, y) {
    const within = (value, room) => (room < 0 ? room / 2 : Math.min(Math.max(value, 0), room));
    this.box.x = within(x, this.whole.width - this.box.width);
    this.box.y = within(y, this.whole.height - this.box.height);
  }

  tool(which) {
    const area = this.sheets.getBoundingClientRect();
    const middle = { clientX: area.left + area.width / 2, clientY: area.top + area.height / 2 };
    if (which === "nearer") this.zoom(1 / 1.5, middle);
    else if (which === "farther") this.zoom(1.5, middle);
    else if (which === "whole") this.fit(false);
    else if (which === "replay") return this.tell_since();
    else if (which === "save") return save(document.querySelector("[data-siege-file]").value);
    else return;
    this.show();
  }

  key(event) {
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
    if (this.state.paint) return this.make(this.state.paint === "side" ? ["side", hex, side] : ["paint", hex], hex);
    const attack = this.aims().find((each) => each[2] === hex);
    if (attack) return this.make(["attack", attack[0], hex], hex);
    const moves = this.state.taps[hex];
    if (!moves) return this.select(this.state.attacks.some((each) => each[1] === hex) ? hex : "");
    const wanted = this.mode?.querySelector("input:checked")?.value;
    this.make(moves.find(([what]) => what === wanted) ?? moves[0], hex);
  }

  make(move, hex) {
    if (hex) this.pieces.append(element("path", { class: "asked", d: outline([hex]) })); // until the answer is painted
    const hand = this.hand.cloneNode(true); // a form carries the id of its post until that is answered
    hand.elements.seat.value = this.state.seat;
    hand.elements.move.value = JSON.stringify(move);
    this.hand.after(hand);
    hand.requestSubmit();
    setTimeout(() => hand.remove(), PATIENCE);
  }

  /** The attacks of the unit that was tapped. */
  aims() {
    return this.selected ? this.state.attacks.filter((each) => each[1] === this.selected) : [];
  }

  select(hex) {
    this.selected = hex;
    this.pieces.querySelector(".aims")?.remove();
    const aims = this.aims();
    for (const cell of document.querySelectorAll("[data-siege-odds] [data-modifier]")) {
      cell.toggleAttribute("data-meant", aims.some((aim) => String(aim[3]) === cell.dataset.modifier));
    }
    if (!aims.length) return this.tell("");
    const group = element("g", { class: "aims" });
    group.append(element("path", { class: "active", d: outline([hex]) }), element("path", { class: "target", d: outline(aims.map((aim) => aim[2])) }));
    for (const aim of aims) {
      const [x, y] = middle(...place(aim[2]));
      const label = element("text", { x, y: y + 4 });
      label.textContent = `${this.wins(aim[3])}/6`;
      group.append(label);
    }
    this.pieces.append(group);
    this.tell(aims.map((aim) => [aim[2], `${this.wins(aim[3])}/6`, ...aim[4].map((reason) => this.hand.getAttribute(`data-reason-${reason}`))].join(" · ")).join("\n"));
  }

  wins(modifier) {
    return document.querySelector(`[data-siege-odds] .odds-win [data-modifier="${modifier}"]`)?.textContent ?? "?";
  }

  tell(words) {
    if (this.told.textContent !== words) this.told.textContent = words;
  }

  // What happened while somebody else was on turn: every way that was gone, one after another.

  async tell_since() {
    const since = this.state.since;
    this.pieces.querySelector(".since")?.remove();
    const group = element("g", { class: "since" });
    const pieces = this.pieces;
    pieces.append(group);
    for (const [from, to] of since) {
      const [ax, ay] = middle(...place(from));
      const d = to ? way([ax, ay], middle(...place(to))) : `M${ax - 6} ${ay - 6}l12 12m0-12l-12 12`;
      group.append(element("path", { class: to ? "went" : "lost", d }));
      if (!calm.matches && since.length <= 60) await new Promise((wake) => setTimeout(wake, STEP));
      if (!group.isConnected) return;
    }
  }
}

function way([ax, ay], [bx, by]) {
  const turn = Math.atan2(by - ay, bx - ax);
  const wing = (by_) => `${(bx - 6 * Math.cos(turn + by_)).toFixed(1)} ${(by - 6 * Math.sin(turn + by_)).toFixed(1)}`;
  return `M${ax} ${ay}L${bx} ${by}M${wing(0.5)}L${bx} ${by}L${wing(-0.5)}`;
}

function element(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function middle(column, row) {
  return [MARGIN + WIDE * column + (row % 2) * (WIDE / 2) + WIDE / 2, MARGIN + ROW * row + POINT];
}

function sideOf(hex, { x, y }) {
  const [mx, my] = middle(...place(hex));
  return ["e", "se", "sw", "w", "nw", "ne"][(Math.round(Math.atan2(y - my, x - mx) / (Math.PI / 3)) + 6) % 6];
}

function outline(hexes) {
  return hexes.map((hex) => middle(...place(hex))).map(([x, y]) => `M${x} ${y - POINT}l10 5.78v11.54l-10 5.78-10-5.78v-11.54z`).join("");
}

function save(text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  link.download = "map.toml";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), PATIENCE);
}

function name(column, row) {
  const letter = (n) => String.fromCharCode(97 + n);
  return `${column > 25 ? letter(Math.floor(column / 26) - 1) : ""}${letter(column % 26)}${row + 1}`;
}

function place(hex) {
  const [, letters, row] = hex.match(/^([a-z]+)(\d+)$/);
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 96, 0) - 1;
  return [column, Number(row) - 1];
}

const root = document.getElementById("live");
const map = document.querySelector("[data-siege-map]");
if (root && map) new SiegeMap(map, root);
