"""The board's part of a notation: words for spaces, tribes, cards and the agenda, and the laws that they keep.

::

    board=13,12,... holders=-,east,... visited=east+west,-,... box=100:0:0 at=20:3:0h0t:0:0,... hand.east=war-3,...
    boosts.east=attack:2:next,... wards.east=any,... discards=day-wind-3,... agenda=sacrifice:east:1,...
    battle=east+west:4+0:1:0 step=0:0:0h0t:0 forced=0 again=- extras=5:east debts=east+west

``box`` is reserve, Tonantzin's pile and what is lost; ``at`` a tribe's place, tokens, part of a price, offerings to
Tonantzin and battles won. A word ``returned`` is there once a week card came back that counts as issued.
"""

from __future__ import annotations

from collections.abc import Iterable

from companion.games.kit import Seat
from companion.games.mexica.rules.board import Board, Boost
from companion.games.mexica.rules.tallies import Gifts

_NONE = "-"


def words(board: Board, seats: tuple[Seat, ...]) -> dict[str, str]:
    """Return the board as words of a notation."""
    tribes = dict(zip(seats, board.tribes, strict=True))
    battle = board.battle
    return {
        "board": _list(map(str, board.spaces)),
        "holders": _list(each or _NONE for each in board.holders),
        "visited": _list(_plus(each) for each in board.visited),
        "box": f"{board.reserve}:{board.pile}:{board.lost}",
        "at": _list(
            f"{each.place}:{each.tokens}:{_gifts(each.toward)}:{each.fed}:{each.wins}" for each in board.tribes
        ),
        **{f"hand.{seat}": _list(each.hand) for seat, each in tribes.items()},
        **{f"boosts.{seat}": _list(map(_boost, each.boosts)) for seat, each in tribes.items()},
        **{f"wards.{seat}": _list(each.wards) for seat, each in tribes.items()},
        "discards": _list(board.discards),
        "agenda": _list(":".join((each.name, each.seat, *map(str, each.args))) for each in board.agenda),
        "battle": f"{_plus(battle.sides)}:{_plus(map(str, battle.dice))}:{battle.bonus}:{battle.stake}"
        if battle
        else _NONE,
        "step": f"{board.step.temple}:{board.step.tonantzin}:{_gifts(board.step.cards)}:{board.step.days}",
        "forced": str(board.forced),
        "again": _list(board.again),
        "extras": _list(f"{turn}:{seat}" for turn, seat in board.extras),
        "debts": _list(map(_plus, board.debts)),
        **({"returned": _list(map(str, board.returned))} if board.returned else {}),
    }


def _boost(boost: Boost) -> str:
    return f"{boost.what}:{boost.by}:{'now' if boost.now else 'next'}"


def _gifts(gifts: Gifts) -> str:
    return f"{gifts.huitzilopochtli}h{gifts.tlaloc}t"


def _list(items: Iterable[str]) -> str:
    return ",".join(items) or _NONE


def _plus(items: Iterable[str]) -> str:
    return "+".join(items) or _NONE
