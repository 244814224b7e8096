"""A line of a game's log."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from companion.games.kit.moves import Facts


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log: a code with words in the game's texts, the facts they need, and how to mark it.

    `adds` names a number among the facts that adds up when the same line follows itself: seven tokens one by one
    make one line of seven. A great moment of the game has a `picture`, a symbol of `companion/art`: the table screen
    shows the line with it for some seconds.
    """

    code: str
    facts: Facts = field(default_factory=dict)
    mark: str = ""
    adds: str = ""
    picture: str = ""

    def with_next(self, later: Line) -> Line | None:
        """Return this line and a later one as one, or None if they say different things.

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
