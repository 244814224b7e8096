"""The guide of a first game on a phone: the phases, the current one, and the next tap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from companion.games.kit.moves import CHANCE


class Guide(NamedTuple):
    """The guide for the reader of a page. Its words are in the game's texts."""

    phases: tuple[str, ...] = ()
    """The phases in order: ``guide.phase.<phase>`` names one, ``guide.about.<phase>`` describes it."""
    phase: str = ""
    """The current phase."""
    why: str = ""
    """The sentence of a first turn, ``guide.why.<why>``; without it the page says to tap what is lit."""
    lit: str = ""
    """What to tap: the name of a move, a choice's element, or what an element names with ``data-guide-at``."""


def next_tap(view: Mapping[str, Any], *keys: str) -> str:
    """Return what to tap, from a view that the platform has completed: the due roll, or the first of these choices.

    Where there is none of those keys it is the first choice that there is.

    >>> next_tap({"choices": [{"key": "stop", "move": ["stop"]}, {"key": "throw", "move": ["throw"]}]}, "throw")
    'throw'
    """
    if (due := view.get("chance")) and due["mine"]:
        return CHANCE
    choices = view.get("choices") or []
    among = [each for key in keys for each in choices if each["key"] == key] or choices
    for each in among:
        return str(each["move"][0] if each["move"] else each["element"])
    return ""


def by_choices(view: Mapping[str, Any]) -> Guide:
    """Return the guide of a game that has none of its own: no phases, and the only thing that can be tapped, if one.

    >>> by_choices({"choices": [{"key": "stop", "move": ["stop"]}, {"key": "throw", "move": ["throw"]}]}).lit
    ''
    """
    due = view.get("chance")
    free = len(view.get("choices") or []) > 1 and not (due and due["mine"])
    return Guide(lit="" if free else next_tap(view))
