"""A siege in one readable line, for errors, exports and golden playthroughs.

A line begins with the map and holds ``key=value`` words; the rules are those that differ from their default::

    skirmish rules=forces:third phase=2 turn=3 at=k6,k8,-,+ purse=- active=- routed=1 fires=k7 ...

`at` is where each unit stands by its number: ``-`` is dead, ``+`` not yet placed. Sets of units are their numbers,
sets of hexes their names. A map of a table's own stands in the rules as hexadecimal UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from companion.games.kit import Value
from companion.games.siege.rules.geometry import bits
from companion.games.siege.rules.maps import SHIPPED
from companion.games.siege.rules.roster import SIDES
from companion.games.siege.rules.state import DEAD, WAITING, State

_NONE = "-"


def notation(state: State) -> str:
    """Return the state in one line."""
    names = state.field.grid.names
    purse = [f"{u}:{points}" for u, points in enumerate(state.purse) if points]
    words = {
        "rules": _listed(f"{key}:{_brief(key, value)}" for key, value in state.rules.departures().items()),
        "phase": str(state.phase),
        "turn": str(state.turn),
        "at": _places(names, state.at),
        "purse": _listed(purse),
        "active": str(state.active),
        **{key: _listed(str(u) for u in bits(getattr(state, key))) for key in _SETS},
        "fires": _listed(names[h] for h in bits(state.fires)),
        "agenda": _listed(":".join(map(str, task)) for task in state.agenda),
        "quiet": str(state.last_attack),
        **{f"seen.{side}": _places(names, at) for side, at in zip(SIDES, state.seen, strict=True)},
        "end": _NONE if state.outcome is None else f"{state.outcome.kind}:{state.outcome.winner or ''}",
    }
    return " ".join(("siege", *(f"{key}={value}" for key, value in words.items())))


_SETS = ("routed", "rolled", "forced", "stirred", "spent", "advanced", "checked")


def _brief(key: str, value: Value) -> str:
    return (
        f"x{value.encode().hex()}" if key == "map" and isinstance(value, str) and value not in SHIPPED else str(value)
    )


def _places(names: Sequence[str], at: tuple[int, ...]) -> str:
    return ",".join("-" if h == DEAD else "+" if h == WAITING else names[h] for h in at) or "="


def _listed(words: Iterable[str]) -> str:
    return ",".join(words) or _NONE
