"""What the four tools share: one seat, moves that are all listed, and rules that are chosen on the sheet."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from companion.games.kit import (
    USER,
    Choice,
    Json,
    Move,
    MoveType,
    Option,
    Refusal,
    Seat,
    Struct,
    Tool,
    Value,
    complete,
    one_of,
    replace,
)

CHOOSE = "choose"
"""The tap that changes a rule: a tool is opened with one tap, and its rules are chosen on the sheet itself."""

PLAYERS = Option("players", 4, "", (2, 3, 4, 5, 6))


class Sheet(Struct, frozen=True):
    """The state of a tool: what was chosen for it. Each tool adds what is written down."""

    chosen: tuple[Value, ...]
    """The value of each option, in their order."""


S = TypeVar("S", bound=Sheet)


class SheetTool(Tool[S], Generic[S]):
    """A sheet on which one person taps; every tap can be undone."""

    @abstractmethod
    def taps(self, state: S) -> Iterable[Move]:
        """Return everything that may be tapped now, in any order."""

    @abstractmethod
    def tapped(self) -> Sequence[MoveType[S]]:
        """Return every tap of this tool, with its arguments and what it does."""

    @abstractmethod
    def sheet_of(self, state: S) -> dict[str, Json]:
        """Return what the page shows."""

    def free(self, state: S, key: str, value: Value) -> bool:
        """Return whether an option may still be changed to a value."""
        return True

    def rechosen(self, state: S) -> S:
        """Return the sheet after an option was changed."""
        return state

    def chose(self, state: S, key: str) -> Value:
        """Return the value of an option."""
        return state.chosen[[option.key for option in self.options].index(key)]

    def setup(self, options: Mapping[str, Value], seats: tuple[Seat, ...]) -> S:
        """Return the empty sheet; raises `ValueError` for options that are not accepted."""
        return self.empty(tuple(complete(self.options, options).values()))

    @abstractmethod
    def empty(self, chosen: tuple[Value, ...]) -> S:
        """Return the empty sheet."""

    def to_act(self, state: S) -> tuple[Seat, ...]:
        """Return the one seat, as long as there is something to tap."""
        return (USER,) if self.listed(state) else ()

    def on_turn(self, state: S) -> Seat | None:
        """Return the one seat: a sheet stays open while anything can be written or corrected on it."""
        return USER if self.listed(state) else None

    def listed(self, state: S) -> list[Move]:
        """Return everything that may be tapped: what may be written, and the rules that may be chosen."""
        other = [
            Move(CHOOSE, (option.key, value))
            for option, now in zip(self.options, state.chosen, strict=True)
            for value in option.values
            if value != now and self.free(state, option.key, value)
        ]
        return [*self.taps(state), *other]

    def choice(self, move: Move) -> Choice:
        """Return a tap, on the element that bears its name."""
        return Choice(move.name, self.facts(move), "-".join(map(str, move.to_json())), move, move.name)

    def declared(self) -> Sequence[MoveType[S]]:
        """Return every tap, the one that chooses a rule among them."""
        keys = one_of(*(option.key for option in self.options))
        values = one_of(*(value for option in self.options for value in option.values))
        return (*self.tapped(), MoveType(CHOOSE, self._choose, {"option": keys, "value": values}))

    def _choose(self, state: S, key: str, value: Value) -> S:
        chosen = zip(self.options, state.chosen, strict=True)
        return self.rechosen(
            replace(state, chosen=tuple(value if option.key == key else now for option, now in chosen))
        )

    def refused(self, state: S, seat: Seat, move: Move) -> Refusal:
        """Return whether it is the seat or the moment that forbids a tap."""
        return Refusal("not_now") if seat == USER else Refusal("players_only", {"move": "tap"})

    def view(self, state: S, seat: Seat | None) -> Mapping[str, Json]:
        """Return the sheet; anybody with its address may read it."""
        return {"rules": self.rules_of(state), **self.sheet_of(state)}

    def rules_of(self, state: S) -> Json:
        """Return each option with its value, for the page."""
        return [
            {"key": option.key, "value": now, "values": list(option.values)}
            for option, now in zip(self.options, state.chosen, strict=True)
        ]

    def regions(self, view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        """Return the one region of a tool's page: the sheet, with what may be tapped by its element's name."""
        page: dict[str, Json] = {key: view[key] for key in view if key not in ("choices", "also", "chance", "temple")}
        found = view.get("choices", [])
        assert isinstance(found, list)
        page["taps"] = {choice["element"]: dict(choice) for choice in found}
        page["acting"] = view.get("acting", "")
        return {"sheet": page}


def without(found: tuple[tuple[int, int], ...], card: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """Return treasure cards without the one like this that came last."""
    last = len(found) - 1 - found[::-1].index(card)
    return found[:last] + found[last + 1 :]
