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

/** Let a reader go on there if what had the focus was hidden just now. */
export function rescue(root) {
  if (document.activeElement && !seen(document.activeElement)) focus(start(root));
}
