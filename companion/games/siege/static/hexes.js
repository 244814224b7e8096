// Where the hexes of the siege's drawn map are, calculated as in the drawing itself and in its units. It touches no page.

export const WIDE = 20;
export const ROW = 17.32;
const POINT = 11.55;
const MARGIN = 12;

/** The middle of a hex by its column and row. */
export function middle(column, row) {
  return [MARGIN + WIDE * column + (row % 2) * (WIDE / 2) + WIDE / 2, MARGIN + ROW * row + POINT];
}

/** The hex at a point of the drawing, or an empty text; `size` is the map's in columns and rows. */
export function hexAt({ x, y }, { columns, rows }) {
  let best = "";
  let least = POINT * POINT;
  const near = Math.round((y - MARGIN - POINT) / ROW);
  for (const row of [near - 1, near, near + 1]) {
    if (row < 0 || row >= rows) continue;
    const column = Math.round((x - MARGIN - WIDE / 2 - (row % 2) * (WIDE / 2)) / WIDE);
    if (column < 0 || column >= columns) continue;
    const [mx, my] = middle(column, row);
    const away = (x - mx) ** 2 + (y - my) ** 2;
    if (away < least) [best, least] = [name(column, row), away];
  }
  return best;
}

/** The side of a hex to which a point lies. */
export function sideOf(hex, { x, y }) {
  const [mx, my] = middle(...place(hex));
  return ["e", "se", "sw", "w", "nw", "ne"][(Math.round(Math.atan2(y - my, x - mx) / (Math.PI / 3)) + 6) % 6];
}

/** A path round each of some hexes. */
export function outline(hexes) {
  return hexes.map((hex) => middle(...place(hex))).map(([x, y]) => `M${x} ${y - POINT}l10 5.78v11.54l-10 5.78-10-5.78v-11.54z`).join("");
}

/** The corners of a hex. */
export function corners(hex) {
  const [x, y] = middle(...place(hex));
  return [[0, -POINT], [10, -5.77], [10, 5.77], [0, POINT], [-10, 5.77], [-10, -5.77]].map(([dx, dy]) => `${x + dx},${y + dy}`).join(" ");
}

/** An arrow from one point to another. */
export function way([ax, ay], [bx, by]) {
  const turn = Math.atan2(by - ay, bx - ax);
  const wing = (by_) => `${(bx - 6 * Math.cos(turn + by_)).toFixed(1)} ${(by - 6 * Math.sin(turn + by_)).toFixed(1)}`;
  return `M${ax} ${ay}L${bx} ${by}M${wing(0.5)}L${bx} ${by}L${wing(-0.5)}`;
}

/** The column and the row of a hex by its name. */
export function place(hex) {
  const [, letters, row] = hex.match(/^([a-z]+)(\d+)$/);
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 96, 0) - 1;
  return [column, Number(row) - 1];
}

function name(column, row) {
  const letter = (n) => String.fromCharCode(97 + n);
  return `${column > 25 ? letter(Math.floor(column / 26) - 1) : ""}${letter(column % 26)}${row + 1}`;
}
