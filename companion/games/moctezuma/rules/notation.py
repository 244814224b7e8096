"""A game in one readable line, for errors, exports and golden playthroughs.

``key=value`` words, the rules those that differ from their default, a seat's things joined by ``/`` in turn order::

    moctezuma rules=flip:turn seats=red,blue stage=playing first=1 turn=3 points=2 at=0,4 ways=-
    chits=??cs??????????? shown=1 seen=-/2.3 names=?,?,?,6,?,?,?,?,?,? read=-/4 decks=-,-,-,0.4.3.2.1;1:03,-,-,-,-,-,-
    trips=-/4:031:1 due=-:-:-:0 hand=-:-:- revealed=0 notes=-/-

Chits are ``s``, ``c`` or ``?`` where nobody has looked; names are numbers; a deck is what is untouched, by worth, and
what is below by whose hand, with what that hand knows of it where another drew; ``due`` is flipping, chits to
choose, those chosen, those to come and cards to come.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from companion.games.moctezuma.rules.boards import PAIRS
from companion.games.moctezuma.rules.pieces import UNSEEN
from companion.games.moctezuma.rules.state import Deck, Lower, State

_NONE = "-"
_SIGNS = "sc?"
_KEYS = (
    "rules", "seats", "stage", "first", "turn", "points", "at", "ways", "chits", "shown", "seen", "names", "read",
    "decks", "trips", "due", "hand", "revealed", "notes",
)  # fmt: skip


def notation(state: State) -> str:
    """Return the state in one line."""
    words = (
        _list(f"{key}:{value}" for key, value in state.rules.departures().items()),
        ",".join(state.seats),
        state.stage,
        str(state.first),
        str(state.turn),
        str(state.points),
        _list(map(str, state.places)),
        _list(f"{a}.{b}" for a, b in PAIRS if b in state.ways[a]) if state.rules.board == "custom" else _NONE,
        "".join(_SIGNS[face] for face in state.chits),
        str(state.shown),
        "/".join(_bits(each) for each in state.seen),
        ",".join("?" if name == UNSEEN else str(name) for name in state.names),
        "/".join(_bits(each) for each in state.read),
        ",".join(map(_deck, state.decks)),
        "/".join(_list(f"{trip.temple}:{_digits(trip.cards)}:{trip.kept}" for trip in own) for own in state.trips),
        f"{int(state.flipping)}:{state.looking}:{_bits(state.looked)}:{_dots(state.queue)}:{state.drawing}",
        f"{_digits(state.hand)}:{_digits(state.spare)}:{_digits(state.put)}",
        str(state.revealed),
        "/".join(_list(line.encode().hex() for line in own) for own in state.notes),
    )
    return " ".join(("moctezuma", *(f"{key}={word}" for key, word in zip(_KEYS, words, strict=True))))


def _deck(deck: Deck) -> str:
    if deck == Deck():
        return _NONE
    return ";".join([_dots(deck.fresh), *map(_lower, deck.below)])


def _lower(lower: Lower) -> str:
    known = f":{_digits(lower.known)}" if lower.known != lower.cards else ""
    return f"{lower.owner}:{_digits(lower.cards)}{known}"


def _bits(bits: int) -> str:
    return ".".join(str(n) for n in range(bits.bit_length()) if bits >> n & 1) or _NONE


def _dots(numbers: Sequence[int]) -> str:
    return ".".join(map(str, numbers)) or _NONE


def _digits(numbers: Sequence[int]) -> str:
    return "".join(map(str, numbers)) or _NONE


def _list(parts: Iterable[str]) -> str:
    return ",".join(parts) or _NONE
