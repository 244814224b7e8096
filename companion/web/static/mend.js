// Mends what stands in a page until it is what was painted: only what differs is touched. It asks nobody.
//
// A region whose template holds an element with `data-mend` is mended, every other is put in whole: a browser styles,
// lays out and draws again whatever is put in, and of a hundred counters a move changes one.
// - Children are matched by `data-key` or `id`, else by their place among those of their kind.
// - `data-own="viewBox"` names attributes that the page's own script sets: they stay as they are.
// - Text and children do not mix below such a region, but for text alone.

/** Whether a region's painting asks to be mended. */
export function mends(fresh) {
  return fresh.querySelector("[data-mend]") !== null;
}

/** Make the children of one element those of another, which is used up. */
export function mend(old, fresh) {
  const known = new Map(named(old));
  const wanted = named(fresh).map(([name, child]) => {
    const own = known.get(name);
    known.delete(name);
    if (own) align(own, child);
    return own ?? child;
  });
  for (const child of known.values()) child.remove();
  let next = old.firstElementChild;
  for (const child of wanted) {
    if (child === next) next = next.nextElementSibling;
    else old.insertBefore(child, next);
  }
}

function align(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  const own = (old.dataset.own ?? "").split(" ");
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !own.includes(name) && name !== "open") old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (!own.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (worded(old) || worded(fresh)) old.replaceChildren(...fresh.childNodes);
  else mend(old, fresh);
}

function worded(element) {
  return [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
}

function named(parent) {
  const places = new Map();
  return [...parent.children].map((child) => {
    const key = child.dataset.key ?? child.id;
    if (key) return [`${child.tagName} #${key}`, child];
    const place = (places.get(child.tagName) ?? 0) + 1;
    places.set(child.tagName, place);
    return [`${child.tagName} ${place}`, child];
  });
}
