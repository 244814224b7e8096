"""Plays one game of app players from its first move to its end, and records it."""

from __future__ import annotations

import linecache
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from msgspec import Struct

from companion.games import registry
from companion.games.kit import CHANCE, Game, Move, Option, Refusal, Seat, Value, outcome
from lab import habits
from templo.quoting import counted

OFFERED = 12
"""The most moves in an error message, of those that a player was offered."""

LONGEST = 10_000
"""Moves after which a game counts as a standstill."""


class Setup(Struct, frozen=True, kw_only=True):
    """What is played: a game, a preset, how many sit down, options chosen beside the preset's, and habits.

    `habits` has a player's name for each seat in turn order, the app's own where it is shorter. With `rotating`
    they move one seat further with each seed. `folders` holds the paths of game folders from elsewhere.
    """

    game: str
    preset: str
    seats: int
    chosen: Mapping[str, Value] = {}
    habits: tuple[str, ...] = ()
    rotating: bool = False
    longest: int = LONGEST
    folders: tuple[str, ...] = ()


class Record(Struct, frozen=True, kw_only=True):
    """The result of one game.

    `variant` names what was played in it, `kind` is empty if it stood still. `leads` counts how often another seat
    went ahead of all; `forced` the turns in which no player had more than one move. `cards` has the seat that drew
    each card first, `places` how often each place of the board was touched. `stuck` is the seat that had no legal
    move where the game stood still, `waits` the one whose player made none.
    """

    variant: str
    seed: int
    kind: str
    winners: tuple[Seat, ...]
    points: Mapping[Seat, float]
    players: Mapping[Seat, str]
    moves: int
    turns: int
    forced: int
    leads: int
    cards: Mapping[str, Seat] = {}
    places: Mapping[str, int] = {}
    stuck: Seat = ""
    waits: Seat = ""

    @property
    def stood_still(self) -> bool:
        """Whether it was given up because it did not end."""
        return not self.kind


@dataclass(slots=True)
class Place:
    """How far a game is played: the number of its move, whose it is, that seat's player, and the move once chosen."""

    number: int = 0
    seat: Seat = ""
    player: str = ""
    listed: Sequence[Move] = ()
    """What that player chooses from."""
    move: Move | None = None
    stuck: bool = False
    """Whether nobody has a legal move."""


class SetupError(ValueError):
    """A setup that cannot be played; the message gives the value and what was expected."""


@lru_cache(maxsize=8)
def games(folders: tuple[str, ...] = ()) -> Mapping[str, Game[Any]]:
    """Return the games of this tree, and of further folders; raises `SetupError` for a folder that is no game."""
    try:
        return registry.load(map(Path, folders))
    except registry.RegistryError as error:
        raise SetupError(str(error)) from error


def game_of(setup: Setup) -> Game[Any]:
    """Return the game of a setup; raises `SetupError` for one that cannot be played."""
    known = games(setup.folders)
    if setup.game not in known:
        raise SetupError(f"game is {setup.game!r}; expected {' or '.join(known)}")
    game = known[setup.game]
    if setup.preset not in game.presets:
        raise SetupError(f"preset of {game.name} is {setup.preset!r}; expected {' or '.join(game.presets)}")
    if setup.seats not in game.seatings:
        raise SetupError(
            f"{game.name} has {counted(setup.seats, 'seat')}; expected {' or '.join(map(str, game.seatings))}"
        )
    options = {option.key: option for option in game.options}
    for key, value in setup.chosen.items():
        if key not in options:
            raise SetupError(f"option {key!r} of {game.name} is unknown; expected {' or '.join(options)}")
        if not options[key].accepts(value):
            wrong = f"option {key} is {ascii(value)[:60]}; expected {options[key].accepted}"
            raise SetupError(wrong + _first_fault(options[key], value))
    for name in setup.habits:
        habits.check(game, name)
    return game


def _first_fault(option: Option, value: Value) -> str:
    """Return where a text has its first fault, and what it is."""
    if option.reader is None or not isinstance(value, str):
        return ""
    fault = option.faults(value)[0]
    return f" (line {fault.line}: {fault.code}, {', '.join(f'{name} {fact}' for name, fact in fault.facts.items())})"


def options_of(setup: Setup) -> dict[str, Value]:
    """Return every option of a setup's game with its value."""
    game = game_of(setup)
    return {option.key: option.default for option in game.options} | {**game.presets[setup.preset], **setup.chosen}


def play(setup: Setup, variant: str, seed: int) -> Record:
    """Play one game. Its chance and each player draw from sources of their own, so variants of a seed are pairs.

    Raises `SetupError` if the game or one of its players raises.
    """
    game, seated, at = game_of(setup), players(setup, seed), Place()
    with _named(setup, seed, at):
        return _recorded(game, setup, variant, seed, seated, at)


def _recorded(
    game: Game[Any], setup: Setup, variant: str, seed: int, seated: Mapping[Seat, str], at: Place
) -> Record:
    turns: set[int] = set()
    free: set[int] = set()
    cards: dict[str, Seat] = {}
    places: Counter[str] = Counter()
    leader, leads, moves = "", 0, 0
    state = None
    for before, seat, move, listed, after in _steps(game, setup, seed, seated, at):
        state = after
        moves += 1
        places.update(game.playtest.touched(before, seat, move, after))
        turn = game.rules.turn(before)
        if turn not in turns:
            ahead = _ahead(game.playtest.standing(before))
            leads += bool(leader and ahead and ahead != leader)
            leader = ahead or leader
            turns.add(turn)
        if seat == CHANCE:
            due = game.rules.chance(before)
            if (card := game.playtest.card(move)) and due and due.seat:
                cards.setdefault(card, due.seat)
        elif len(listed) > 1:
            free.add(turn)
    end = game.rules.result(state) if state is not None else None
    halted = end is None and moves < setup.longest
    stuck = halted and at.stuck
    return Record(
        variant=variant,
        seed=seed,
        kind=end.kind if end else "",
        winners=end.winners if end else (),
        points=dict(end.points) if end else {},
        players=seated,
        moves=moves,
        turns=len(turns),
        forced=len(turns - free),
        leads=leads,
        cards=cards,
        places=places,
        stuck=at.seat if stuck else "",
        waits=at.seat if halted and not stuck else "",
    )


def steps(
    setup: Setup, seed: int, players: Mapping[Seat, str]
) -> Iterator[tuple[Any, Seat, Move, Sequence[Move], Any]]:
    """Yield each move of a game: the state before, who made it, the move, those it was chosen from, the state after.

    Ends where the game does, where nobody can move, and after the setup's longest number of moves. Raises
    `SetupError` if the game or one of its players raises, or if a player makes a move that is refused.
    """
    game, at = game_of(setup), Place()
    with _named(setup, seed, at):
        yield from _steps(game, setup, seed, players, at)


def _steps(
    game: Game[Any], setup: Setup, seed: int, players: Mapping[Seat, str], at: Place
) -> Iterator[tuple[Any, Seat, Move, Sequence[Move], Any]]:
    state = game.rules.setup(options_of(setup), game.seatings[setup.seats])
    chance = Random(f"chance {seed}").randrange
    below = {seat: Random(f"{seat} {seed}").randrange for seat in players}
    able = {seat: habits.player(name) for seat, name in players.items()}
    for number in range(1, setup.longest + 1):
        at.number, at.seat, at.player, at.listed, at.move = number, "", "", (), None
        acting = game.rules.to_act(state)
        if not acting:
            return
        if CHANCE in acting:
            due = game.rules.chance(state)
            assert due is not None  # the conformance suite proves it of every game
            at.seat = seat = CHANCE
            listed, move = [*due.outcomes], outcome(due, chance)
        else:
            at.stuck = True
            for seat in acting:
                at.seat, at.player = seat, players[seat]
                listed = [each for each in game.rules.moves(state, seat) if each.name not in game.chores]
                at.listed = listed
                at.stuck = at.stuck and not listed
                move_ = able[seat](game, state, seat, listed, below[seat]) if listed else None
                if move_ is not None:
                    move = move_
                    break
            else:
                at.seat = game.rules.on_turn(state) or acting[0]
                return
        at.move = move
        after = game.rules.play(state, seat, move)
        if isinstance(after, Refusal):
            raise SetupError(f"{_where(setup, seed, at)} is refused with {after.code}; expected a legal move")
        yield state, seat, move, listed, after
        state = after


def players(setup: Setup, seed: int) -> dict[Seat, str]:
    """Return who plays each seat in the game of a seed."""
    seats = game_of(setup).seatings[setup.seats]
    names = [*setup.habits, *[habits.APP] * (len(seats) - len(setup.habits))]
    first = seats.index(first_seat(setup, seed))
    return {seat: names[(n - first) % len(seats)] for n, seat in enumerate(seats)}


def first_seat(setup: Setup, seed: int) -> Seat:
    """Return where the first of a setup's players sits in the game of a seed."""
    seats = game_of(setup).seatings[setup.seats]
    return seats[seed % len(seats) if setup.rotating else 0]


@contextmanager
def _named(setup: Setup, seed: int, at: Place) -> Iterator[None]:
    """Raise what a game or its player raises as a `SetupError` that names the game, seed, move and seat."""
    try:
        yield
    except SetupError:
        raise
    except Exception as error:  # a game from elsewhere may raise anything; the message names it
        cause = error.__cause__ if isinstance(error.__cause__, StopIteration) else error  # generators hide it
        fault = f"{type(cause).__name__}{f': {cause}' if str(cause) else ''} ({_line(cause, game_of(setup))})"
        raise SetupError(f"{_where(setup, seed, at)} raises {fault}; expected a game that can be played") from error


def _line(error: BaseException, game: Game[Any]) -> str:
    """Return the last line of a game's folder that an error passed through, else the line that raised it."""
    folder = registry.folder(game)
    file, number = registry.place(error, folder) or (None, 0)
    if file is None:
        last = traceback.extract_tb(error.__traceback__)[-1]
        file, number = Path(last.filename), last.lineno or 0
    name = file.relative_to(folder) if file.is_relative_to(folder) else file
    return f"line {number} of {name}: {linecache.getline(str(file), number).strip()}"


def _where(setup: Setup, seed: int, at: Place) -> str:
    """Return which move of which game it is: ``coin classic, seed 3, move 2: heads (never call) with bluff``."""
    offered = ", ".join(map(_written, at.listed[:OFFERED])) + ", ..." * (len(at.listed) > OFFERED)
    move = _written(at.move) if at.move else "no move yet"
    player = f" ({at.player})" if at.player else ""
    among = f", offered {offered}," if offered else ""
    whose = f"{at.seat or 'nobody'}{player}"
    return f"{setup.game} {setup.preset}, seed {seed}, move {at.number}: {whose} with {move}{among}"


def _written(move: Move) -> str:
    return " ".join(map(str, move.to_json()))


def _ahead(standing: Mapping[Seat, float]) -> Seat:
    most = max(standing.values(), default=0)
    leaders = [seat for seat, value in standing.items() if value == most]
    return leaders[0] if len(leaders) == 1 else ""
