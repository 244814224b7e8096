"""A game: its name, its options and presets, and the parts that it is composed of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from companion.games.kit.chance import Below
from companion.games.kit.levels import LEVELS, PRACTISED, Skill, slipped
from companion.games.kit.moves import CHANCE, Arg, Json, Move, Refusal, Seat, Value
from companion.games.kit.options import Option
from companion.games.kit.parts import Bot, Page, Playtest, Printer, Rules, TempleRules, flat
from companion.games.kit.preview import Preview, preview
from companion.games.kit.temple import Mood, TokenAudit, TokenDrop

S = TypeVar("S")


def _actors(rules: Rules[S]) -> Callable[[S], tuple[Seat, ...]]:
    def to_act(state: S) -> tuple[Seat, ...]:
        if rules.chance(state):
            return (CHANCE,)
        seat = rules.on_turn(state)
        return () if seat is None else (seat,)

    return rules.to_act or to_act


def _lister(name: str, rules: Rules[S], to_act: Callable[[S], tuple[Seat, ...]]) -> Callable[[S, Seat], list[Move]]:
    if rules.moves:
        return rules.moves
    listed = rules.listed
    if listed is None:
        raise TypeError(f"rules of {name} have neither moves nor listed; expected one of them")

    def moves(state: S, seat: Seat) -> list[Move]:
        if seat not in to_act(state):
            return []
        due = rules.chance(state)
        return sorted(due.outcomes if due else listed(state))

    return moves


def _player(
    name: str, rules: Rules[S], to_act: Callable[[S], tuple[Seat, ...]], moves: Callable[[S, Seat], list[Move]]
) -> Callable[[S, Seat, Move], S | Refusal]:
    if rules.play:
        return rules.play
    if rules.table is None:
        raise TypeError(f"rules of {name} have no table of moves and no play; expected one of them")
    if rules.listed is None:
        return rules.table.play

    def gate(state: S, seat: Seat, move: Move) -> Refusal | None:
        return None if seat in to_act(state) else Refusal("not_yours")

    def legal(state: S, seat: Seat, move: Move) -> Refusal | None:
        return None if move in moves(state, seat) else Refusal("not_now", {"move": move.name})

    return rules.table.guarded(gate, legal).play


class Game(Generic[S]):
    """A game over its own frozen state `S`.

    It offers the functions of its parts: `play` is that of its `Rules`, `view` that of its `Page`. It is immutable.
    """

    def __init__(
        self,
        name: str,
        rules_version: int = 1,
        *,
        seatings: Mapping[int, tuple[Seat, ...]],
        rules: Rules[S],
        page: Page[S],
        options: tuple[Option, ...] = (),
        presets: Mapping[str, Mapping[str, Value]] = MappingProxyType({"classic": {}}),
        bot: Bot = Bot(),  # noqa: B008  # a frozen value
        printer: Printer[S] = Printer(),  # noqa: B008
        temple: TempleRules[S] | None = None,
        playtest: Playtest[S] = Playtest(),  # noqa: B008
        tools: Mapping[str, Game[Any]] = MappingProxyType({}),
        makes: str = "",
        written: Callable[[S], str] | None = None,
    ) -> None:
        """Compose a game.

        `name` is its folder's; a tool's is that of its game and its own: ``"market.score"``. `seatings` are the seats
        for each number of players, in turn order; `tools` are small games with one seat, by name, for use beside a
        real table. A tool that makes a text for an option of its game names that option in `makes`; `written` then
        returns the text, with or without faults.
        """
        self.name, self.rules_version = name, rules_version
        self.options, self.presets, self.seatings = options, presets, seatings
        self.tools, self.makes = tools, makes
        self.rules, self.page, self.bot, self.printer, self.temple = rules, page, bot, printer, temple
        self.playtest = playtest

        self.setup, self.to_act, self.on_turn, self.turn = rules.setup, _actors(rules), rules.on_turn, rules.turn
        self.moves, self.table, self.chance = _lister(name, rules, self.to_act), rules.table, rules.chance
        self.play = _player(name, rules, self.to_act, self.moves)
        self.choices = rules.choices or flat(self.moves, rules.table)
        self.result, self.resample = rules.result, rules.resample
        self.amended, self.undoable, self.aside = rules.amended, rules.undoable, rules.aside
        self.acts_for = rules.acts_for
        self.laws, self.notation = rules.laws, rules.notation
        self.view, self.for_stand_in, self.regions = page.view, page.for_stand_in, page.regions
        self.known, self.story, self.charts, self.guide = page.known, page.log, page.charts, page.guide
        self.idle = bot.idle
        self.levels = tuple(level for level in LEVELS if level == PRACTISED or level in bot.skills)
        self.sheets, self.sheet = printer.sheets, printer.sheet
        self.own_sheets, self.own_sheet = printer.own_sheets, printer.own_sheet
        self.pieces, self.boards = printer.pieces, printer.boards
        self._shared_by = printer.shared_by
        self.uses_temple = temple is not None
        self._written = written

    def decide(
        self,
        view: Mapping[str, Json],
        moves: Sequence[Move],
        below: Below,
        level: str = PRACTISED,
        skill: Skill | None = None,
    ) -> Move | None:
        """Return the app's move for a seat at one of the game's `levels`, or with a skill of its own.

        None means to wait for people. A level that the game does not have is replaced by the practised one.
        """
        skill = skill or self.bot.skills.get(level)
        if skill is None:
            return self.bot.decide(view, moves, below)
        chosen: Move | None = self.bot.decide(view, moves, below, skill)
        if chosen is None or not skill.slips or below(100) >= skill.slips:
            return chosen
        return slipped([move for move in moves if move.name not in self.playtest.chores] or [chosen], below)

    def preview(self, state: S, seat: Seat, move: Move) -> Preview:
        """Return what a seat's move would change, as far as the seat can know it."""
        return preview(self, state, seat, move)

    def facts(self, move: Move) -> Mapping[str, Arg]:
        """Return the arguments of a move by their names; none if the game has no table of moves."""
        return self.table.facts(move) if self.table else {}

    def fall(self, state: S, drop: TokenDrop) -> Move:
        """Return the move by `TEMPLE` that enters a token."""
        if self.temple is None:
            raise ValueError(f"{self.name} uses no temple; expected a game that does")
        return self.temple.drop(state, drop)

    def doubted(self, state: S, drop: TokenDrop) -> Move | None:
        """Return the move by `TEMPLE` after which a token that counts waits, or None if nothing changes."""
        return self.temple.doubted(state, drop) if self.temple else None

    def audit(self, state: S) -> TokenAudit | None:
        """Return what became of the tokens of a temple, or None if the game uses none."""
        return self.temple.audit(state) if self.temple else None

    def mood(self, state: S) -> Mood:
        """Return what a temple's lamps show; calm if the game uses no temple."""
        return self.temple.mood(state) if self.temple else Mood()

    def copies(self, players: int) -> list[str]:
        """Return the names of all printable pages, each as often as a number of players needs it."""
        return [name for name in self.sheets for _ in range(-(-players // self._shared_by.get(name, players)))]

    def written(self, state: S) -> str:
        """Return the text that a tool has made for the option `makes`, with or without faults."""
        if self._written is None:
            raise ValueError(f"{self.name} makes no text; expected a tool that does")
        return self._written(state)
