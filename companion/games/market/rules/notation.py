"""A game in one readable line, for errors, exports and golden playthroughs.

A line holds ``key=value`` words; the rules are those that differ from their default::

    rules=removed:40 start=south turn=3 step=turn:west:0 market=pcjh/1234/xyuv/amk. vendors=3,0,1,2 king=0,1,0,0
    unseen=15,18,18,17 drawn=- moved=- south=o3p,-,o,2j west=o,-,-,- played=shift:5:1,buy:0:2

A tile is a letter: the vendors p, c, j, h, the crowds 1 to 4, the porters x, y, the governors u, v, then a, m, k; a
cell without one is a dot. A buyer is its coin ``o`` and its goods. In a Play the line is that of the turn's
beginning, and ``played`` leads on from there.
"""

from __future__ import annotations

from companion.games.market.rules.board import HOLE
from companion.games.market.rules.state import State

_NONE = "-"
_TILES = "pcjh1234xyuvamk."
_GOODS = "pcjh"


def notation(state: State) -> str:
    """Return the state in one line."""
    base = state.origin or state
    words = {
        "rules": ",".join(f"{key}:{value}" for key, value in base.rules.departures().items()) or _NONE,
        "start": base.seats[base.start],
        "turn": str(base.turn),
        "step": f"{base.step}:{base.seats[base.seat]}:{base.left}",
        "market": "/".join("".join(_TILES[tile] for tile in base.market[row : row + 4]) for row in (0, 4, 8, 12)),
        "vendors": _numbers(base.vendors),
        "king": _numbers(base.king),
        "unseen": _numbers(base.unseen),
        "drawn": "".join(_GOODS[which] for which in base.drawn) or _NONE,
        "moved": _TILES[base.moved] if base.moved != HOLE else _NONE,
        **{seat: ",".join(_buyer(base, 4 * n + lane) for lane in range(4)) for n, seat in enumerate(base.seats)},
        "played": ",".join(":".join(map(str, (move.name, *move.args))) for move in state.played) or _NONE,
    }
    return " ".join(f"{key}={value}" for key, value in words.items())


def _buyer(state: State, buyer: int) -> str:
    count = state.counts[buyer]
    goods = f"{count}{_GOODS[state.goods[buyer]]}" if count else ""
    return f"{'o' if state.coins[buyer] else ''}{goods}" or _NONE


def _numbers(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))
