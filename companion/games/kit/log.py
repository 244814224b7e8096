"""A line of a game's log."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from companion.games.kit.moves import Facts


class Line(Struct, frozen=True):
    """One line of the log: a code with a text, the facts that the text needs, and how to mark it."""

    code: str
    """Names its text."""
    facts: Facts = field(default_factory=dict)
    """What the text needs."""
    mark: str = ""
    """How the line is marked."""
    adds: str = ""
    """A number among the facts that adds up when the same line follows itself.

    Seven tokens one by one make one line of seven.
    """
    picture: str = ""
    """A symbol of `companion/art` that makes it a great moment. The table screen shows it for some seconds."""

    def with_next(self, later: Line) -> Line | None:
        """Return this line merged with a later one, or None if they do not add up.

        >>> gave = Line("gave", {"seat": "east", "n": 1}, adds="n")
        >>> gave.with_next(gave).facts
        {'seat': 'east', 'n': 2}
        """
        if not self.adds or (self.code, self.mark, self.adds) != (later.code, later.mark, later.adds):
            return None
        both = int(self.facts[self.adds]) + int(later.facts[self.adds])
        if {**self.facts, self.adds: 0} != {**later.facts, self.adds: 0}:
            return None
        return replace(self, facts={**self.facts, self.adds: both})
