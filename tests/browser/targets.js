// What on a page is smaller than a thumb: all that can be used, but links within a running text.
(least) => {
  const USED = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button]";
  const BLOCK = "p, li, dd, dt, td, th, caption, figcaption, blockquote, h1, h2, h3, h4, div, section, nav, header, footer, main, body";
  const letters = (text) => text.replace(/[^\p{L}\p{N}]/gu, "").length;
  const inText = (each) => {
    if (!each.matches("a") || getComputedStyle(each).display !== "inline") return false;
    const block = each.parentElement.closest(BLOCK);
    const links = [...block.querySelectorAll("a, button")].reduce((sum, link) => sum + letters(link.textContent), 0);
    return letters(block.textContent) > links;
  };
  const found = [];
  for (const each of document.querySelectorAll(USED)) {
    const target = each.matches("input") ? (each.closest("label") ?? each) : each;
    if (!target.checkVisibility({ visibilityProperty: true }) || inText(each)) continue;
    const { width, height } = target.getBoundingClientRect();
    if (width <= 1 || (width >= least - 0.5 && height >= least - 0.5)) continue;
    const name = (each.getAttribute("aria-label") ?? target.textContent.trim()) || each.name || each.className;
    found.push(`${each.tagName.toLowerCase()}.${each.getAttribute("class") ?? ""} "${name.replace(/\s+/g, " ").slice(0, 40)}": ${Math.round(width)} x ${Math.round(height)}`);
  }
  return [...new Set(found)];
}
