// What is wrong with the boxes of a table's page, as a list of sentences; `least` is the smallest size of text in px.
([least, tall]) => {
  scrollTo({ top: 0, behavior: "instant" }); // below its head, a guide's sentence lies on what is scrolled past
  const wrong = new Set(), room = document.documentElement.clientWidth, high = innerHeight;
  const say = (kind, of, more) => wrong.add(`${kind}: ${of}${more ? ` ${more}` : ""}`);
  const region = (each) => each.closest("[data-region]")?.dataset.region ?? "page";
  const seen = (each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  // A word with what hangs on it, as in "Ana’s", and words that a blank which does not break keeps together.
  const WORD = /[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}\u00a0’']*[\p{L}\p{M}\p{N}])/gu;
  // Names of twenty letters W and more may end in dots, where their title is the whole name.
  const DOTTED = /\bems-(2[1-9]|3\d)\b/;
  const meets = (a, b, by) =>
    a.left + by < b.right && b.left + by < a.right && a.top + by < b.bottom && b.top + by < a.bottom;
  for (const log of document.querySelectorAll(".log")) log.style.contentVisibility = "visible";
  const scales = new Map();
  const scale = (svg) => {
    if (!scales.has(svg)) scales.set(svg, svg.getScreenCTM()?.a ?? 1);
    return scales.get(svg);
  };
  if (document.documentElement.scrollWidth > room) say("wider than the window", document.documentElement.scrollWidth);

  // The letters of a line within the frame that shows it: what is dragged or scrolled out of it is not printed.
  const inSight = (box, frame) => ({
    left: Math.max(box.left + 1, frame?.left ?? -Infinity),
    right: Math.min(box.right - 1, frame?.right ?? Infinity),
    top: Math.max(box.top + box.height * 0.2, frame?.top ?? -Infinity),
    bottom: Math.min(box.bottom - box.height * 0.2, frame?.bottom ?? Infinity),
  });

  const within = (box, frame) => !box ? frame : {
    left: Math.max(box.left, frame.left), right: Math.min(box.right, frame.right),
    top: Math.max(box.top, frame.top), bottom: Math.min(box.bottom, frame.bottom),
  };

  // Texts: where each stands, how large it is, and which box cuts it.
  const texts = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const words = node.data.trim(), of = node.parentElement;
    if (!words || !seen(of) || of.closest(".for-reader, .skip-link, title, script, style, .sound, .siege-spoken, .table-header")) continue;
    if (of.closest("[aria-hidden=true].symbols, symbol, defs")) continue;
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 1 && box.height > 1);
    if (!boxes.length) continue;
    const svg = of.closest("svg"), style = getComputedStyle(of);
    const size = parseFloat(style.fontSize) * (svg ? scale(of.getScreenCTM ? of : svg) : 1);
    let all = range.getBoundingClientRect();
    const name = `${region(of)} "${words.replace(/\s+/g, " ").slice(0, 30)}"`;
    let cut = null, hidden = false, shown = null;
    for (let box = of; box && box !== document.body; box = box.parentElement) {
      const look = getComputedStyle(box);
      if (look.position === "fixed") break;
      if (box.closest("svg") && box.tagName !== "svg") continue;
      if (look.overflowX === "visible" && look.overflowY === "visible") continue;
      const frame = box.getBoundingClientRect();
      if (box.tagName === "svg") { if (!meets(all, frame, 0)) hidden = true; shown = within(shown, frame); continue; } // of a map that is dragged
      if (look.textOverflow === "ellipsis" && (box.title || box.closest("[title]")) && DOTTED.test(box.className)) { shown = all = within(all, frame); continue; }
      const scrolls = [look.overflowX, look.overflowY].some((way) => way === "auto" || way === "scroll");
      if (scrolls) { if (all.right > frame.right + 1 && look.overflowX !== "auto") cut = box; if (!meets(all, frame, 0)) hidden = true; shown = within(shown, frame); continue; }
      const inside = (look.overflowX === "visible" || (all.left >= frame.left - 1 && all.right <= frame.right + 1)) &&
        (look.overflowY === "visible" || (all.top >= frame.top - 3 && all.bottom <= frame.bottom + 3));
      if (inside) continue;
      if (!meets(all, frame, 1) && of.closest(".log")) hidden = true;
      else cut = box;
    }
    if (hidden) continue;
    if (cut) say("cut", name, `by .${cut.className || cut.tagName}`);
    else if (!svg && (all.right > room + 1 || all.left < -1)) say("beside the window", name);
    else if (tall && all.bottom > high + 2) say("below the screen", name, `${Math.round(all.bottom)} of ${high}`);
    if (least && size < least - 0.05) say("small", name, `${size.toFixed(1)} px`);
    if (!svg && boxes.length > 1 && style.hyphens !== "auto") {
      for (const word of node.data.matchAll(WORD)) {
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = [...range.getClientRects()].map((box) => Math.round(box.top));
        if (Math.max(...lines) - Math.min(...lines) > size / 2) say("broken in mid-word", name, `at ${word[0]}`);
      }
    }
    texts.push({ node, of, boxes: boxes.map((box) => inSight(box, shown)), all, name, svg, region: region(of), fixed: !!of.closest(".doing, .notice, .begin-form") });
  }
  // Texts that are printed over one another.
  texts.sort((a, b) => a.all.top - b.all.top);
  for (const [n, one] of texts.entries())
    for (let m = n + 1; m < texts.length && texts[m].all.top < one.all.bottom; m++) {
      const two = texts[m];
      if ((one.svg && two.svg) || one.fixed !== two.fixed) continue;
      if (one.boxes.some((a) => two.boxes.some((b) => meets(a, b, 1)))) say("printed over", one.name, `and ${two.name}`);
    }
  // Pictures that lie on a text or on one another, whether or not a pointer would find them. What is placed on purpose,
  // as a mark is on its chit, belongs to the box that it is placed in, and may lie on what is inside that.
  const home = (each) => {
    let of = each, placed = false;
    for (let box = each; box && box !== document.body; box = box.parentElement) {
      const { position } = getComputedStyle(box);
      if (position === "fixed") return document.body;
      if (placed && position !== "static") [of, placed] = [box, false];
      if (position === "absolute") placed = true;
    }
    return of;
  };
  const clipped = (each) => {
    let frame = each.getBoundingClientRect();
    for (let box = each.parentElement; box && box !== document.body; box = box.parentElement)
      if (getComputedStyle(box).overflow !== "visible") frame = within(frame, box.getBoundingClientRect());
    return frame;
  };
  const pictures = [...document.querySelectorAll("main svg, main img, main canvas")]
    .filter((each) => seen(each) && !each.parentElement.closest("svg") && !each.closest(".symbols, .siege-sheets, .calendar, .waters"))
    .map((of) => ({ of, box: clipped(of), home: home(of), bar: !!of.closest(".doing"), name: `${region(of)} .${of.getAttribute("class") ?? of.parentElement.className}` }))
    .filter(({ box }) => box.right - box.left > 4 && box.bottom - box.top > 4);
  const apart = (one, two) => one.bar === two.bar && !one.home.contains(two.of) && !two.home.contains(one.of);
  for (const text of texts) [text.home, text.bar] = [home(text.of), !!text.of.closest(".doing")];
  for (const [n, one] of pictures.entries()) {
    if (tall && one.box.bottom > high + 2) say("below the screen", one.name, `${Math.round(one.box.bottom)} of ${high}`);
    for (const two of texts)
      if (apart(one, two) && two.boxes.some((box) => meets(one.box, box, 2))) say("lies on", one.name, `and ${two.name}`);
    for (const two of pictures.slice(n + 1))
      if (apart(one, two) && meets(one.box, two.box, 2)) say("lies on", one.name, `and ${two.name}`);
  }
  // Texts under the buttons that float on a page: the corner of a screen, the map's.
  for (const [floating, of] of [[".layout-screen .sound", tall ? texts : []], [".siege-tools", texts.filter((each) => each.svg)]]) {
    const box = document.querySelector(floating)?.getBoundingClientRect();
    for (const each of box?.width ? of : [])
      if (!each.of.closest(floating) && each.boxes.some((one) => meets(one, box, 1))) say("under a button", each.name, `(${floating})`);
  }
  // The bar with what can be done: it stays in sight over what is scrolled past, and must leave that in sight too.
  const bar = document.querySelector(".doing"), BOARDS = ".calendar-board, .lake, .market-board, .map, .siege-sheets";
  const box = bar && seen(bar) ? bar.getBoundingClientRect() : null;
  if (box?.height && getComputedStyle(bar).position === "sticky") {
    if (box.height > high * (high < 480 ? 0.72 : 0.62)) say("too high a bar", region(bar), `${Math.round(box.height)} of ${high}`);
    const LEADING = 5; // px above and below letters that a text's box has, and that may touch the bar
    const end = document.documentElement.scrollHeight - high;
    let covered = texts.filter((each) => !bar.contains(each.of) && meets(each.all, box, LEADING));
    const behind = ({ node }) => { // as the page stands scrolled now
      range.selectNodeContents(node);
      const all = range.getBoundingClientRect();
      return all.bottom > high || all.top < 0 || meets(all, bar.getBoundingClientRect(), LEADING);
    };
    // A text is looked for right above the bar, and then wherever else it may come to stand.
    const tops = covered.map(({ all }) => all.bottom - box.top + 2);
    for (let top = 0; top < end + high / 10; top += high / 10) tops.push(top);
    for (const top of tops) {
      if (!covered.length) break;
      scrollTo({ top, behavior: "instant" });
      covered = covered.filter(behind);
    }
    scrollTo({ top: 0, behavior: "instant" });
    for (const each of covered) say("behind the bar", each.name);
  }
  // Where a window has room for two columns, no bar lies on the board.
  if (box?.height && room >= 720 && high >= 480)
    for (const board of document.querySelectorAll(BOARDS))
      if (seen(board) && meets(board.getBoundingClientRect(), box, 2)) say("behind the bar", board.getAttribute("class"));
  // One of a thing that is named as if it were many.
  const many = document.documentElement.lang === "es"
    ? /(?<![\d.,:→] ?)\b(?:1|un|uno|una) (?:puntos|joyas|fichas|cartas|monedas|turnos|días|piezas|vidas|jugadores)(?![\p{L}])/iu
    : /(?<![\d.,:→] ?)\b(?:1|one) (?:points|jewels|tokens|cards|coins|turns|days|pieces|chits|stones|purchases|players)\b/iu;
  for (const each of document.querySelectorAll("[data-region]")) {
    const said = each.innerText?.replace(/\s+/g, " ") ?? "", one = said.match(many);
    if (one) say("one as many", `${each.dataset.region} "${one[0]}"`);
    const twice = said.match(/.{0,20}[^.\s] ?\. ?\.(?!\.)/);
    if (twice) say("a full stop twice", `${each.dataset.region} "${twice[0]}"`);
  }
  // Regions that lie on one another: the sticky bar of a phone does so by design, and sheets of a map.
  const regions = [...document.querySelectorAll("[data-region]")].filter((each) => seen(each) && !each.closest(".doing, .siege-sheets, .calendar, .waters"))
    .map((each) => [each, each.getBoundingClientRect()]).filter(([, box]) => box.width > 2 && box.height > 2);
  for (const [n, [one, a]] of regions.entries())
    for (const [two, b] of regions.slice(n + 1))
      if (!one.contains(two) && !two.contains(one) && meets(a, b, 2))
        say("overlap", `${one.dataset.region} and ${two.dataset.region}`, `${Math.round(Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top))} px high`);
  return { wrong: [...wrong], regions: regions.length, texts: texts.length };
}
