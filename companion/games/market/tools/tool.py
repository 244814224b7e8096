"""What the market's tools share: one seat that keeps them, choices from the list of moves. It knows no rule."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from companion.games.kit import CHANCE, Arg, Choice, Game, Json, Move, Option, Refusal, Seat, Value

USER: Seat = "keeper"

S = TypeVar("S")


class Tool(Game[S]):
    """A small game with one seat, without an end. A move is legal where it is listed, and that is all its rules."""

    rules_version: int = 1
    options: tuple[Option, ...] = ()
    presets: Mapping[str, Mapping[str, Value]] = MappingProxyType({"classic": {}})
    seatings: Mapping[int, tuple[Seat, ...]] = MappingProxyType({1: (USER,)})

    @abstractmethod
    def listed(self, state: S) -> list[Move]:
        """Return what the keeper may do, in the order in which a page shows it."""

    @abstractmethod
    def made(self, state: S, move: Move) -> S:
        """Return the state after a move that is legal."""

    def element(self, name: str, picked: Sequence[Arg]) -> str:
        """Return the thing on the page to which a move belongs, or a level of them."""
        return ""

    def to_act(self, state: S) -> tuple[Seat, ...]:
        """Return the keeper, or `CHANCE` where something is drawn."""
        return (CHANCE,) if self.chance(state) else (USER,)

    def on_turn(self, state: S) -> Seat | None:
        """Return the keeper: a tool is never over."""
        return USER

    def turn(self, state: S) -> int:
        """Return 1: a tool has no turns of its own."""
        return 1

    def moves(self, state: S, seat: Seat) -> list[Move]:
        """Return exactly the legal moves, sorted."""
        if seat not in self.to_act(state):
            return []
        due = self.chance(state)
        return sorted(due.outcomes) if due else sorted(self.listed(state))

    def choices(self, state: S, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        """Return the moves a level at a time: by name, then argument by argument."""
        due = self.chance(state)
        listed = self.moves(state, seat) if seat == CHANCE or due else self.listed(state)
        if seat not in self.to_act(state):
            return []
        if seat == CHANCE:
            return [] if picked else [self._choice(move) for move in listed]
        below = [move for move in listed if (move.name, *move.args)[: len(picked)] == picked]
        level: list[Choice] = []
        for first in dict.fromkeys((move.name, *move.args)[: len(picked) + 1] for move in below):
            whole = [move for move in below if (move.name, *move.args) == first]
            if len(first) == len(picked):
                continue
            if whole:
                level.append(self._choice(whole[0]))
            else:
                name, *args = first
                facts = {**_facts(args), "pick": first[-1]}
                key = f"{name}_{len(args)}"
                level.append(Choice(key, facts, self.element(str(name), args), group=str(name)))
        return level

    def _choice(self, move: Move) -> Choice:
        return Choice(move.name, _facts(move.args), self.element(move.name, move.args), move, move.name)

    def play(self, state: S, seat: Seat, move: Move) -> S | Refusal:
        """Return the state after a move, or why it cannot be made: it is not among those listed."""
        if seat not in self.to_act(state):
            return Refusal("not_now")
        listed = self.moves(state, seat)
        # A comparison would take 1 for True; only what arrives as a plain number or text is compared.
        if all(type(arg) in (int, str) for arg in move.args) and move in listed:
            return self.made(state, move)
        return Refusal("cannot" if move.name in {each.name for each in listed} else "not_now")

    def undoable(self, before: S, seat: Seat, move: Move) -> bool:
        """Return whether a move may be taken back: any of the keeper's own."""
        return seat == USER

    def regions(self, view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        """Return one region, the page itself, with whoever acts and what chance brings."""
        return {"page": {"chance": None, "acting": "", "choices": [], **view}}


def _facts(args: Sequence[Arg]) -> dict[str, Arg]:
    return dict(zip("abc", args, strict=False))
