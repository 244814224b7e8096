// Keeps the focus of keys and screen readers where it was when the page changes under it: it is never on nothing.

/** Whether an element can be seen and so can have the focus. */
export function seen(element) {
  return element.checkVisibility?.() ?? element.getClientRects().length > 0;
}

/** Focus the first of these places that can be seen, by itself or for this once; what is missing is passed over. */
export function focus(...places) {
  for (const place of places) {
    if (!place?.isConnected || !seen(place)) continue;
    place.focus({ preventScroll: true });
    if (document.activeElement === place) return;
    place.setAttribute("tabindex", "-1");
    place.focus({ preventScroll: true });
    if (document.activeElement === place) return;
  }
}

/** Where a reader goes on whose own place is gone: at the line that says whose turn it is. */
export function start(root) {
  return root.querySelector("h1") ?? root;
}

let last = null; // what had the focus last: a browser takes it from what is removed or hidden
document.addEventListener("focusin", (event) => (last = event.target));

/** Let a reader go on there if what had the focus was removed or hidden. */
export function rescue(root) {
  const now = document.activeElement ?? document.body;
  const place = now === document.body ? last : now;
  if (place && !(place.isConnected && seen(place))) focus(start(root), root);
}
