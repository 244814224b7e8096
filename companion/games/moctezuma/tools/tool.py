"""What the four tools share: one seat, taps that are all listed, a notation of words. It knows none of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Generic, TypeVar

from companion.games.kit import Arg, Choice, Game, Json, Move, Option, Refusal, Seat, Struct, Value, replace

CHOOSE = "choose"
"""The tap that changes a rule: a tool is opened with one tap, and its rules are chosen on the sheet itself."""

USER: Seat = "keeper"
"""The one seat of a tool: whoever holds the phone."""


class Sheet(Struct, frozen=True):
    """The state of a tool: what was chosen for it. Each tool adds what is written down."""

    chosen: tuple[Value, ...]
    """The value of each option, in their order."""


S = TypeVar("S", bound=Sheet)


class Tool(Game[S], Generic[S]):
    """A sheet on which one person taps; whatever is tapped can be taken back."""

    rules_version: int = 1
    presets: Mapping[str, Mapping[str, Value]] = MappingProxyType({"plain": {}})
    seatings: Mapping[int, tuple[Seat, ...]] = MappingProxyType({1: (USER,)})
    options: tuple[Option, ...] = ()

    @abstractmethod
    def taps(self, state: S) -> Iterable[Move]:
        """Return everything that may be tapped now, in any order."""

    @abstractmethod
    def tapped(self, state: S, name: str, *args: Arg) -> S:
        """Return the state after a tap that may be made."""

    @abstractmethod
    def words(self, state: S) -> Sequence[str]:
        """Return what is written down, as words of a notation without spaces."""

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
        for option in self.options:
            if not option.accepts(options.get(option.key)):
                raise ValueError(f"option {option.key} is {options.get(option.key)!r}; expected one it accepts")
        return self.empty(tuple(options[option.key] for option in self.options))

    @abstractmethod
    def empty(self, chosen: tuple[Value, ...]) -> S:
        """Return the empty sheet."""

    def to_act(self, state: S) -> tuple[Seat, ...]:
        """Return the keeper, as long as there is something to tap."""
        return (USER,) if self.moves(state, USER) else ()

    def on_turn(self, state: S) -> Seat | None:
        """Return the keeper: a sheet stays open while anything can be written or corrected on it."""
        return USER if self.moves(state, USER) else None

    def turn(self, state: S) -> int:
        """Return 1: a sheet has no turns of its own."""
        return 1

    def moves(self, state: S, seat: Seat) -> list[Move]:
        """Return everything that may be tapped, sorted."""
        if seat != USER:
            return []
        other = [
            Move(CHOOSE, (option.key, value))
            for option, now in zip(self.options, state.chosen, strict=True)
            for value in option.values
            if value != now and self.free(state, option.key, value)
        ]
        return sorted([*self.taps(state), *other])

    def choices(self, state: S, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        """Return the same, all on one level: a sheet shows everything at once."""
        if picked:
            return []
        return [
            Choice(move.name, self.facts(move), "-".join(map(str, move.to_json())), move, move.name)
            for move in self.moves(state, seat)
        ]

    def facts(self, move: Move) -> Mapping[str, Arg]:
        """Return the facts that the words of a tap need."""
        if move.name == CHOOSE:
            return {"option": move.args[0], "value": move.args[1]}
        return {f"a{n}": arg for n, arg in enumerate(move.args)}

    def play(self, state: S, seat: Seat, move: Move) -> S | Refusal:
        """Return the sheet after a tap, or why it cannot be made."""
        if seat != USER:
            return Refusal("players_only", {"move": "tap"})
        typed = isinstance(move.args, tuple) and all(type(arg) is int or isinstance(arg, str) for arg in move.args)
        if not typed or not isinstance(move.name, str) or move not in self.moves(state, seat):
            return Refusal("not_now")
        if move.name == CHOOSE:
            key, value = move.args
            chosen = zip(self.options, state.chosen, strict=True)
            return self.rechosen(
                replace(state, chosen=tuple(value if option.key == key else now for option, now in chosen))
            )
        return self.tapped(state, move.name, *move.args)

    def undoable(self, before: S, seat: Seat, move: Move) -> bool:
        """Return that every tap may be taken back."""
        return True

    def view(self, state: S, seat: Seat | None) -> Mapping[str, Json]:
        """Return the sheet: whoever is given its address may read it."""
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

    def notation(self, state: S) -> str:
        """Return the sheet in one line."""
        return " ".join((self.name, *map(str, state.chosen), *self.words(state)))


def written(found: Iterable[tuple[int, int]]) -> str:
    """Write treasure cards as `cards` reads them."""
    return ",".join(f"{temple}:{worth}" for temple, worth in found) or "-"
