"""A line of a game's log."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from companion.games.kit.moves import Facts


class Line(Struct, frozen=True):
    """One line of the log: a code with a text, the facts that the text needs, and how to mark it.

    `adds` names a number among the facts that adds up when the same line follows itself: seven tokens one by one make
    one line of seven. A line with a `picture`, a symbol of `companion/art`, is a great moment: the table screen shows
    it for some seconds.
    """

    code: str
    facts: Facts = field(default_factory=dict)
    mark: str = ""
    adds: str = ""
    picture: str = ""

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
