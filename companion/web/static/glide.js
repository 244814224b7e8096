// Lets what is drawn on a board glide to its new place, where view transitions do not reach: inside an SVG.
//
// A piece names itself, <g data-glide="porter-1" transform="translate(60 120)">. When its region is rendered again and
// another place stands there, it glides over from the old one. It decides nothing and holds nothing back: the new
// picture is there at once, a tap on it counts. Nothing glides when hidden or when motion is reduced.

const LONG = 320; // milliseconds
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Glide {
  /** @param {HTMLElement} root the live part of the page */
  constructor(root) {
    this.root = root;
    this.places = new Map();
    this.look();
    new MutationObserver(() => this.look()).observe(root, { childList: true, subtree: true });
  }

  look() {
    const before = this.places;
    this.places = new Map();
    for (const piece of this.root.querySelectorAll("[data-glide]")) {
      const here = place(piece);
      const name = `${piece.ownerSVGElement?.dataset.board ?? ""} ${piece.dataset.glide}`;
      this.places.set(name, here);
      const there = before.get(name);
      if (!there || (there.x === here.x && there.y === here.y) || document.hidden || calm.matches) continue;
      piece.animate([{ transform: `translate(${there.x}px, ${there.y}px)` }, { transform: `translate(${here.x}px, ${here.y}px)` }], { duration: LONG, easing: "ease-in-out" });
    }
  }
}

function place(piece) {
  const matrix = piece.transform.baseVal.consolidate()?.matrix;
  return { x: matrix?.e ?? 0, y: matrix?.f ?? 0 };
}
