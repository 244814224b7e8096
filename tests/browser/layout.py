"""Faults in the layout of a page: wider than the phone, too small for a thumb, or for its own text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page

BUTTONS = "button, summary, a.button, input:not([type=hidden])"

TOO_WIDE = """() => {
  const page = document.documentElement, room = page.clientWidth;
  if (page.scrollWidth <= room) return [];
  const over = [...document.querySelectorAll("body *")]
    .map(each => [each, each.getBoundingClientRect().left + Math.max(each.scrollWidth, each.offsetWidth ?? 0)])
    .filter(([, right]) => right > room);
  return [
    `${page.scrollWidth} of ${room} px`,
    ...over.map(([each, right]) => `${each.tagName} .${each.className}: ${Math.round(right)}`).slice(-5),
  ];
}"""

TOO_SMALL = """([selector, both]) => [...document.querySelectorAll(selector)]
  .map(each => [(each.closest("label") ?? each).getBoundingClientRect(), each.textContent.trim().slice(0, 40)])
  .filter(([box]) => box.width > 1 && (box.height < 43.5 || (both && box.width < 43.5)))
  .map(([box, words]) => `${words}: ${box.width} x ${box.height}`)"""

TOO_FULL = """() => [...document.querySelectorAll("button, a.button")]
  .filter(each => each.clientWidth > 1 && each.scrollWidth > each.clientWidth + 1)
  .map(each => `${each.textContent.trim().slice(0, 40)}: ${each.scrollWidth} in ${each.clientWidth}`)"""


WITHOUT_FONTS = """() => {
  const bare = (rules) => {
    for (let n = rules.cssRules.length - 1; n >= 0; n--) {
      const rule = rules.cssRules[n];
      if (rule instanceof CSSFontFaceRule) rules.deleteRule(n);
      else if (rule instanceof CSSImportRule) bare(rule.styleSheet);
      else if (rule instanceof CSSLayerBlockRule) bare(rule);
    }
  };
  [...document.styleSheets].forEach(bare);
}"""
"""Takes the fonts that a page brings from it; what stays is what a browser that loads none shows."""


DRAWN = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
"""Waits until a window is drawn in its new size: a map is fitted into its place in the frame after that."""


def too_wide(page: Page) -> list[str]:
    """Return how wide a page is and what makes it so, or nothing where it cannot be moved sideways."""
    found: list[str] = page.evaluate(TOO_WIDE)
    return found


def too_small(page: Page, selector: str = BUTTONS, *, both: bool = True) -> list[str]:
    """Return targets that are too small for a thumb: under 44 px high or, with ``both``, wide."""
    found: list[str] = page.evaluate(TOO_SMALL, [selector, both])
    return found


def too_full(page: Page) -> list[str]:
    """Return the buttons whose text overflows them."""
    found: list[str] = page.evaluate(TOO_FULL)
    return found


MEASURE = (Path(__file__).parent / "measure.js").read_text(encoding="utf-8")
READ_FROM_AFAR = 28
"""The least size of a text on a table screen of 1920 x 1080, in px."""


@dataclass(frozen=True)
class Measured:
    """What is wrong on a page, and how much was looked at."""

    wrong: tuple[str, ...]
    regions: int
    texts: int


def measured(page: Page, *, least: float = 0, whole: bool = False) -> Measured:
    """Measure every region and text of a table's page as its window is now.

    Args:
        page: a table's page.
        least: how large a text must be, in px.
        whole: whether all of it must be in sight without scrolling.
    """
    found = page.evaluate(MEASURE, [least, whole])
    return Measured(tuple(found["wrong"]), found["regions"], found["texts"])
