"""A game: its name, its options and presets, and the parts that it is composed of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from companion.games.kit.chance import Below
from companion.games.kit.levels import PRACTISED, Skill, slipped
from companion.games.kit.moves import Json, Move, Seat, Value
from companion.games.kit.options import Option
from companion.games.kit.parts import Bot, Page, Playtest, Printer, Rules, TempleRules

S = TypeVar("S")


def _classic() -> Mapping[str, Mapping[str, Value]]:
    return {"classic": {}}


def _no_text(state: Any) -> str:
    raise ValueError("the game makes no text; expected a tool that does")


@dataclass(frozen=True, eq=False)
class Game(Generic[S]):
    """A game over its own frozen state `S`: a value that holds its parts."""

    name: str
    """The name of its folder; a tool's is that of its game and its own: ``"market.score"``."""
    rules_version: int = 1
    """Raise it when a stored log would be played differently under changed rules."""
    _: KW_ONLY
    seatings: Mapping[int, tuple[Seat, ...]]
    """The seats for each number of players, in turn order."""
    rules: Rules[S]
    """What is legal, what it does, and how it ends."""
    page: Page[S]
    """What each seat sees."""
    options: tuple[Option, ...] = ()
    """The rules that a table may choose, in the order in which they are offered."""
    presets: Mapping[str, Mapping[str, Value]] = field(default_factory=_classic)
    """Named choices of options, the usual one first; options that one leaves out have their default."""
    bot: Bot = field(default_factory=Bot)
    """How the app plays for somebody who is away."""
    printer: Printer[S] = field(default_factory=Printer)
    """Its pages for the printer."""
    temple: TempleRules[S] | None = None
    """What it does with a temple's tokens; None if it uses none."""
    playtest: Playtest[S] = field(default_factory=Playtest)
    """What the lab measures beside what it measures of every game."""
    tools: Mapping[str, Game[Any]] = field(default_factory=dict)
    """Small games with one seat, by name, for use beside a real table."""
    makes: str = ""
    """The option of its game that a tool makes a text for."""
    written: Callable[[S], str] = _no_text
    """That text, with or without faults."""

    @cached_property
    def chores(self) -> frozenset[str]:
        """The names of the moves that set right what happened at the table; no app player makes them."""
        return self.playtest.chores | {each.name for each in self.rules.table or () if each.chore}

    @property
    def has_taps(self) -> bool:
        """Whether a player can give a token by a tap."""
        return any(each.token for each in self.rules.table or ())

    def decide(
        self,
        view: Mapping[str, Json],
        moves: Sequence[Move],
        below: Below,
        level: str = PRACTISED,
        skill: Skill | None = None,
    ) -> Move | None:
        """Return the app's move for a seat at one of its bot's `levels`, or with a skill of its own.

        None means to wait for people. A level that the game does not have is replaced by the practised one.
        """
        skill = skill or self.bot.skills.get(level)
        if skill is None:
            return self.bot.decide(view, moves, below)
        chosen: Move | None = self.bot.decide(view, moves, below, skill)
        if chosen is None or not skill.slips or below(100) >= skill.slips:
            return chosen
        return slipped([move for move in moves if move.name not in self.chores] or [chosen], below)
