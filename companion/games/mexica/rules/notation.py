"""A game of Mexica in one readable line, for errors, exports and golden playthroughs.

A line begins with the scope and holds ``key=value`` words; the rules are those that differ from their default::

    temple_only rules=countdown:rounds13 turn=5 east=3h,0t west=0h,2t,+1h,-1t lake=hhthth week=1 clock=-
    counted=9f,a0 dismissed=- unclaimed=a1:tlaloc:jam:east correction=west:east:tlaloc:-1 end=-

A deck of the table's own stands among the rules as ``deck:~`` and its text in the URL's base 64. A tribe's first two
are credited, the further two corrected. ``clock`` is left:turn:cause:locked:bare.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import TypeVar

from companion.games.kit import Value
from companion.games.mexica.rules import board_notation
from companion.games.mexica.rules.state import Clock, Outcome, Proposal, State
from companion.games.mexica.rules.tallies import Tally

_T = TypeVar("_T")

_NONE = "-"


def notation(state: State) -> str:
    """Return the state in one line."""
    tribes = zip(state.seats, state.tallies, strict=True)
    words = {
        "rules": _listed(_rule(*each) for each in state.rules.departures().items() if each[0] != "scope"),
        "turn": str(state.turn),
        **{seat: _tally(tally) for seat, tally in tribes},
        "lake": state.tallies.lake or _NONE,
        "week": str(state.week_cards),
        "clock": _clock(state.clock),
        "counted": _listed(state.counted),
        "dismissed": _listed(state.dismissed),
        "unclaimed": _listed(
            f"{each.id}:{each.god}:{each.doubt}:{each.suggested or _NONE}" for each in state.unclaimed
        ),
        "correction": _correction(state.proposal),
        "end": _outcome(state.outcome),
        **(board_notation.words(state.board, state.seats) if state.board else {}),
    }
    return " ".join((state.rules.scope, *(f"{key}={value}" for key, value in words.items())))


def _rule(key: str, value: Value) -> str:
    return f"{key}:{_packed(value) if key == 'deck' else value}"


def _packed(text: Value) -> str:
    """Return a text of the table's own as one word. It is not compressed: that comes out otherwise elsewhere."""
    return "~" + base64.urlsafe_b64encode(str(text).encode()).decode()


def _tally(tally: Tally) -> str:
    credited, corrected = tally.credited, tally.corrected
    more = f",{corrected.huitzilopochtli:+d}h,{corrected.tlaloc:+d}t" if any(corrected) else ""
    return f"{credited.huitzilopochtli}h,{credited.tlaloc}t{more}"


def _clock(clock: Clock | None) -> str:
    if clock is None:
        return _NONE
    return f"{clock.left}:{clock.turn}:{clock.cause}:{clock.locked or _NONE}:{'bare' if clock.bare else _NONE}"


def _correction(proposal: Proposal | None) -> str:
    return f"{proposal.by}:{proposal.seat}:{proposal.god}:{proposal.delta:+d}" if proposal else _NONE


def _outcome(outcome: Outcome | None) -> str:
    return f"{outcome.kind}:{outcome.seat or _NONE}" if outcome else _NONE


def _listed(items: Iterable[str]) -> str:
    return ",".join(items) or _NONE
