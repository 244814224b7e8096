"""Marks the names in a text, so that a page can make a long one smaller instead of breaking it.

A name that may be too wide for its line is put into ``<span class="name ems-17">``: at most how many times as
wide as its letters are high it is, in the widest font that a page may have. Style sheets cannot measure a text.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from functools import lru_cache

from markupsafe import Markup, escape

BEGIN, END = "\ue000", "\ue001"
SHORT = 6
"""The width of a name, in ems, that fits wherever names stand."""

CUT = 20
"""The width of a name, in ems, from which on a log's short lines may cut it; what hangs on it stays whole."""

_WIDTHS = {"'.,": 0.38, "Iijl": 0.39, " -’ft": 0.5, "crsz": 0.6, "mM": 1.05, "W": 1.11, "w": 0.93}
_CAPITAL, _OTHER, _WIDE = 0.86, 0.73, 1.3
_LETTERS = {letter: width for letters, width in _WIDTHS.items() for letter in letters}
_NAME = re.compile(
    f"([(¿¡“«]*[\u2066-\u2069]?){BEGIN}(.*?){END}([\u2066-\u2069]?(?:[’']\\w+)?[)”».,:;?!…]*)( \\w+[.!?]?$)?"
)
"""A name with what no line may part from it, as in "(Ana)", "Ana’s" and "Ana:", and a single last word after it."""
_EMS = re.compile(r'class="name[-\w]* ems-(\d+)"')


def ems(text: str) -> int:
    """Return the most that a text in bold letters is wide, in ems.

    >>> ems("Ana"), ems("Wolfeschlegelsteinhausen"), ems("W" * 24)
    (3, 16, 27)
    """
    return math.ceil(sum(map(_width, text)))


def _width(sign: str) -> float:
    if unicodedata.category(sign) in ("Mn", "Me", "Cf"):
        return 0
    letter = unicodedata.normalize("NFD", sign)[0]
    if letter in _LETTERS:
        return _LETTERS[letter]
    if unicodedata.east_asian_width(letter) in "WF" or unicodedata.category(letter) == "So":
        return _WIDE
    return _CAPITAL if letter.isupper() else _OTHER


def reads_from_the_right(name: str) -> bool:
    """Return whether a name has letters that are read from the right, as Arabic and Hebrew ones are."""
    return any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in name)


def marked(name: str) -> str:
    """Return a name between marks that `fitted` replaces."""
    return f"{BEGIN}{name}{END}"


@lru_cache(maxsize=2048)
def fitted(text: str) -> Markup:
    """Return a text, whose names are marked, as HTML: long ones can be fitted with what hangs on them.

    The words of a name that is read from the right stay one box: boxes of words would stand in the sentence's order.
    Those of any other name are fitted to its widest, and as a whole where a style sheet keeps them on one line. A
    last word as in "Maximilian von Wuermling’s turn" is broken into lines with them, so that it is balanced with
    them. A text with such a name is one element, so that it is one thing in a row too.
    """
    drawn = _NAME.sub(_span, str(escape(text)))
    if widths := _EMS.findall(drawn):
        drawn = f'<span class="named ems-{max(map(int, widths))}">{drawn}</span>'
    return Markup(drawn)  # noqa: S704  # escaped above


def _span(found: re.Match[str]) -> str:
    before, name, after, last = found.groups("")
    text = html.unescape(before + name + after)
    words = [text] if reads_from_the_right(name) else text.split(" ")
    wide = [ems(word) for word in words]
    whole = ems(" ".join(words))
    if whole <= SHORT:
        return before + name + after + last
    if (widest := max(wide)) > SHORT:
        parts = " ".join(f'<span class="name ems-{widest}">{escape(word)}</span>' for word in words)
    else:
        parts = str(escape(" ".join(words)))
    if len(words) == 1:
        inside = str(escape(words[0]))
        if whole >= CUT and after:
            inside = f'<span class="cut ems-{whole}">{before}{name}</span>{after}'
        return f'<span class="name ems-{whole}" title="{name}">{inside}</span>{last}'
    return f'<span class="name-whole ems-{whole}" title="{name}">{parts}{last}</span>'
