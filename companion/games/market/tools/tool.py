"""What the market's tools share: choices one argument at a time, and one region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from companion.games.kit import CHANCE, Arg, Choice, Json, Move, Refusal, Seat, Tool

S = TypeVar("S")

CANNOT = "cannot"
"""Why a number is refused, typed or tapped, that is more than there are."""


def _all_but_last(move: Move) -> tuple[Arg, ...]:
    return (move.name, *move.args[:-1])


class MarketTool(Tool[S]):
    """A tool without an end. A move is legal where it is listed, and that is all its rules."""

    def element(self, name: str, picked: Sequence[Arg]) -> str:
        """Return the thing on the page to which a move belongs, or a level of them."""
        return ""

    def choices(self, state: S, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        """Return the moves a level at a time: by name, then argument by argument."""
        if seat not in self.to_act(state):
            return []
        if seat == CHANCE:
            return super().choices(state, seat, picked)
        listed = self.listed(state)
        names = {each.name: tuple(each.args) for each in self.table}
        below = [move for move in listed if (move.name, *move.args)[: len(picked)] == picked]
        level: list[Choice] = []
        for first in dict.fromkeys((move.name, *move.args)[: len(picked) + 1] for move in below):
            whole = [move for move in below if (move.name, *move.args) == first]
            if len(first) == len(picked):
                continue
            if whole:
                level.append(self.choice(whole[0]))
            else:
                name, *args = first
                facts = {**dict(zip(names[str(name)], args, strict=False)), "pick": first[-1]}
                key = f"{name}_{len(args)}"
                level.append(Choice(key, facts, self.element(str(name), args), group=str(name)))
        return level

    def choice(self, move: Move) -> Choice:
        """Return a move as one thing to tap, on the thing on the page that it belongs to."""
        return Choice(move.name, self.facts(move), self.element(move.name, move.args), move, move.name)

    def refused(self, state: S, seat: Seat, move: Move) -> Refusal:
        """Return from which number to which there is such a move now, or that there is none at all."""
        alike = [each.args for each in self.moves(state, seat) if _all_but_last(each) == _all_but_last(move)]
        numbers = [args[-1] for args in alike if args and isinstance(args[-1], int)]
        if not numbers or not move.args or type(move.args[-1]) is not int:
            return Refusal("not_now")
        return Refusal(CANNOT, {"low": min(numbers), "high": max(numbers)})

    def _gate(self, state: S, seat: Seat, move: Move) -> Refusal | None:
        """Refuse a number before its kind does: what is possible depends on what lies elsewhere."""
        if refusal := super()._gate(state, seat, move):
            return refusal
        refusal = self._legal(state, seat, move) if {*map(type, move.args)} <= {int, str} else None
        return refusal if refusal and refusal.code == CANNOT else None

    def regions(self, view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        """Return one region, the page itself, with the acting seat and the due roll."""
        return {"page": {"chance": None, "acting": "", "choices": [], **view}}
