"""What passes between a table and a game's rules: seats, moves, choices, and refusals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from msgspec import Struct, field

Seat: TypeAlias = str
"""A seat's name within its game: ``"east"``. Two names belong to no player: `TEMPLE` and `CHANCE`."""

TEMPLE: Seat = "temple"
"""The seat of the physical temple: its moves are the tokens that fell."""

CHANCE: Seat = "chance"
"""The seat of dice, bags and decks: its moves are outcomes, typed in, rolled or given by a test."""

Arg: TypeAlias = int | str
"""An argument of a move."""
Value: TypeAlias = int | str
"""The value of an option."""
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""What a page may be given."""
Facts: TypeAlias = Mapping[str, Arg]
"""What a text names, by the names in its braces."""


class Move(NamedTuple):
    """One move: its name and its arguments, in the game's own words. Written as ``["sacrifice", "tlaloc", 2]``."""

    name: str
    """What is done, such as ``"sacrifice"``."""
    args: tuple[Arg, ...] = ()
    """Whole numbers and texts, in the order that the game declares."""

    def to_json(self) -> list[Arg]:
        """Return the move as a JSON list, its name first.

        >>> Move("sacrifice", ("tlaloc", 2)).to_json()
        ['sacrifice', 'tlaloc', 2]
        """
        return [self.name, *self.args]

    @classmethod
    def from_json(cls, value: object, longest: int = 200) -> Move:
        """Read what `to_json` wrote, with a limit on the length of words; raises `ValueError` for anything else.

        >>> Move.from_json(["sacrifice", "tlaloc", 2])
        Move(name='sacrifice', args=('tlaloc', 2))
        """
        if isinstance(value, list) and value and isinstance(value[0], str) and len(value) <= 16:
            name, *args = value
            if all(type(arg) is int or (isinstance(arg, str) and len(arg) <= longest) for arg in args):
                return cls(name, tuple(args))
        raise ValueError(f"move is {ascii(value)[:80]}; expected a list of its name and its arguments")


class Refusal(Struct, frozen=True):
    """Why a move cannot be made: a code with a text, and the facts that the text needs."""

    code: str
    """Names its text."""
    facts: Facts = field(default_factory=dict)
    """What the text needs."""


class Choice(Struct, frozen=True):
    """One thing that a seat may choose now."""

    key: str
    """Names its text."""
    facts: Facts = field(default_factory=dict)
    """What the text needs."""
    element: str = ""
    """The thing on the page that it belongs to, or empty."""
    move: Move | None = None
    """The move that it makes; without one it leads a level deeper."""
    group: str = ""
    """Choices of one group stand together."""
    confirm: bool = False
    """Whether it asks for a second tap, because a slip would hurt."""

    def to_json(self) -> dict[str, Json]:
        """Return the choice as JSON, with its move as `Move.to_json` writes it.

        >>> Choice("end_turn", move=Move("end_turn")).to_json()["move"]
        ['end_turn']
        """
        return {
            "key": self.key,
            "facts": dict(self.facts),
            "element": self.element,
            "move": self.move.to_json() if self.move else None,
            "group": self.group,
            "confirm": self.confirm,
        }
