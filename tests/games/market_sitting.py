"""A sitting at the market for tests: a market drawn in letters, moves in the words of the table, refusals by code."""

from __future__ import annotations

from typing import Any

from companion.games.kit import CHANCE, Arg, Line, Move, Refusal, Seat, Value
from companion.games.market import GAME
from companion.games.market.rules.board import HOLE
from companion.games.market.rules.options import HouseRules
from companion.games.market.rules.state import State
from tests.games.playouts import check_value

TILES = "pcjh1234xyuvamk"
"""The letters of the tiles, as the notation has them; a cell without one is a dot."""

PLAIN = "pcjh/1234/xyuv/amk."
"""A market in the letters of the notation: vendors in the north, then crowds, porters and governors, and the rest."""


def all_options(**chosen: Value) -> dict[str, Value]:
    """Return the defaults with some options chosen."""
    return {option.key: option.default for option in GAME.options} | chosen


class Sitting:
    """A game on its way, from any position that the notation can write."""

    def __init__(
        self,
        market: str = PLAIN,
        *,
        players: int = 2,
        vendors: str = "0,0,0,0",
        king: str = "0,0,0,0",
        buyers: dict[Seat, str] | None = None,
        step: str = "turn:south:0",
        turn: int = 1,
        start: Seat = "south",
        unseen: str = "",
        drawn: str = "-",
        **chosen: Value,
    ) -> None:
        """Set a position up.

        Without `unseen` the bag holds all that is nowhere else, and the king is given herbs until that is a
        multiple of four.
        """
        seats = GAME.seatings[players]
        held = {seat: (buyers or {}).get(seat, "-,-,-,-") for seat in seats}
        if not unseen:
            gone = int(chosen.get("removed", 4)) // 4 if chosen.get("removed_mode") == "equal" else 0
            out = [
                sum(int(each.strip("o")[:-1]) for row in held.values() for each in row.split(",") if each[-1] == good)
                for good in "pcjh"
            ]
            king = _padded(vendors, king, out)
            lying = zip(vendors.split(","), king.split(","), out, strict=True)
            unseen = ",".join(str(20 - gone - int(a) - int(b) - c) for a, b, c in lying)
        name, seat, left = step.split(":")
        lanes = [_lane(each) for row in held.values() for each in row.split(",")]
        self.state = State(
            rules=HouseRules.of(all_options(**chosen)),
            seats=seats,
            coins=tuple(coin for coin, _, _ in lanes),
            goods=tuple(goods for _, goods, _ in lanes),
            counts=tuple(count for _, _, count in lanes),
            unseen=_numbers(unseen),
            step=name,
            start=seats.index(start),
            seat=seats.index(seat),
            turn=turn,
            left=int(left),
            market=tuple(HOLE if tile == "." else TILES.index(tile) for tile in market.replace("/", "")),
            vendors=_numbers(vendors),
            king=_numbers(king),
            drawn=tuple("pcjh".index(each) for each in drawn.strip("-")),
        )
        check_value(GAME, self.state)
        self.lines: list[Line] = []

    @classmethod
    def fresh(cls, players: int = 2, **chosen: Value) -> Sitting:
        """Return a sitting before anything is set up."""
        sitting = cls.__new__(cls)
        sitting.state = GAME.rules.setup(all_options(**chosen), GAME.seatings[players])
        sitting.lines = []
        return sitting

    def do(self, name: str, *args: Arg, by: Seat | None = None) -> Sitting:
        """Make a move, by whoever may act unless a seat is named."""
        seat = by or GAME.rules.to_act(self.state)[0]
        move = Move(name, args)
        after = GAME.rules.play(self.state, seat, move)
        assert not isinstance(after, Refusal), f"{seat}'s {move} is refused: {after}"
        self.lines = GAME.page.log(self.state, seat, move, after)
        self.state = after
        return self

    def refused(self, name: str, *args: Any, by: Seat | None = None) -> str:
        """Try a move that must be refused; returns the code."""
        refusal = GAME.rules.play(self.state, by or GAME.rules.to_act(self.state)[0], Move(name, args))
        assert isinstance(refusal, Refusal), f"{name} {args} was not refused"
        assert Move(name, args) not in self.moves
        return refusal.code

    def draw(self, letters: str) -> Sitting:
        """Draw tokens out of the bag, by their letters in the notation."""
        for letter in letters:
            self.do("draw", {"p": "pottery", "c": "cloth", "j": "jewels", "h": "herbs"}[letter], by=CHANCE)
        return self

    @property
    def moves(self) -> list[Move]:
        """What may be done now, by whoever acts first."""
        acting = GAME.rules.to_act(self.state)
        return GAME.rules.moves(self.state, acting[0]) if acting else []

    @property
    def names(self) -> set[str]:
        """The names of what may be done now."""
        return {move.name for move in self.moves}

    def buyer(self, seat: Seat, lane: int) -> tuple[bool, str, int]:
        """Return a buyer's coin, goods and their number."""
        held = self.view["buyers"][seat][lane]
        return held["coin"], held["goods"], held["n"]

    @property
    def view(self) -> Any:
        """What a spectator sees."""
        return GAME.page.view(self.state, None)


def _padded(vendors: str, king: str, held: list[int]) -> str:
    has = [int(each) for each in king.split(",")]
    has[3] += -(sum(map(int, vendors.split(","))) + sum(has) + sum(held)) % 4
    return ",".join(map(str, has))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def _lane(text: str) -> tuple[int, int, int]:
    """Return coin, goods and count of a buyer in the notation's words: ``o3p``, ``3p``, ``o`` or ``-``."""
    goods = text.strip("o-")
    return int(text.startswith("o")), "pcjh".index(goods[-1]) if goods else 0, int(goods[:-1]) if goods else 0
