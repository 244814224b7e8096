"""What the games' tests share: every game in every seating and preset, and random play through any of them.

It knows the protocol of a `Game`; a game joins by its folder's existence.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from companion.games import registry
from companion.games.kit import CHANCE, TEMPLE, Arg, Game, Move, Refusal, Seat, TokenDrop, Value, decoded, encoded
from companion.games.standstill import led_by, standstill

STATES = int(os.environ.get("TEMPLO_STATES", "800"))
"""States that the conformance suite visits at least, over all games together."""

WHOLE_GAMES = int(os.environ.get("TEMPLO_WHOLE_GAMES", "2"))
"""Games that it plays of every preset and seating at least: one by the preset alone, the others by any house rules.

One is all of a preset whose games last. `make conformance` plays more, and prints how many states it saw."""

OTHERS = [path for path in os.environ.get("TEMPLO_GAMES", "").split(os.pathsep) if path]
"""Game folders from elsewhere: where any are named, the suite is theirs alone."""

_FOLDERS = {Path(path).expanduser().resolve() for path in OTHERS}

GAMES = {
    name: game for name, game in registry.load(_FOLDERS).items() if not OTHERS or registry.folder(game) in _FOLDERS
}

LASTING = frozenset(("mexica", preset) for preset in ("classic", "wandering", "evening", "century", "flower_war"))
"""Presets whose games last, and which other house rules can make endless: their random play is cut short."""

GODS = ("huitzilopochtli", "tlaloc")
DOUBTS = ("", "", "", "earlier", "elsewhere", "jam", "stranger")

LIGHT = ("flicker", "regular", "together", "unproved", "a_doubt_of_tomorrow")
"""What a temple says of tokens that it doubts afterwards."""

PLAYED_OUT = 150
"""Moves after which random play no longer keeps away from the end."""

LONGEST = 5_000
"""Moves in which random play must have come to an end."""

CUT_SHORT = 2_000
"""Moves of a game by any house rules, which can make it endless."""


JUNK: tuple[Any, ...] = (
    0, -1, 1, 14, 10**30, -(10**5000), True, None, 1.5, float("nan"), "", "x", "east", "tlaloc", "é\u202e\0",
    "a" * 100_000, b"bytes", [], ["east"], {}, (), ("a", 1), object(), "-1", "\ud800", "a,b", "a b=c",
)  # fmt: skip


@dataclass(frozen=True)
class Combination:
    """One game, one preset, one number of players."""

    game: Game[Any]
    preset: str
    seats: tuple[Seat, ...]

    def __str__(self) -> str:
        return f"{self.game.name}-{self.preset}-{len(self.seats)}"

    @property
    def lasting(self) -> bool:
        """Whether a whole game takes thousands of moves."""
        return (self.game.name, self.preset) in LASTING

    def options(self, **chosen: Value) -> dict[str, Value]:
        """Return all options with their values: defaults, the preset's, what was chosen."""
        defaults = {option.key: option.default for option in self.game.options}
        return {**defaults, **self.game.presets[self.preset], **chosen}

    def any_options(self, random: Random) -> dict[str, Value]:
        """Return options of which about half were changed to any value they accept, the preset's own left alone."""
        chosen: dict[str, Value] = {}
        for option in self.game.options:
            if option.key not in self.game.presets[self.preset] and random.random() < 0.5:
                ends = (option.low, option.low, option.high) if option.high else ()
                chosen[option.key] = random.choice((*option.values, *ends))
        return self.options(**chosen)


def combinations(games: Iterable[Game[Any]]) -> list[Combination]:
    """Return every preset and seating of some games."""
    return [
        Combination(game, preset, seats)
        for game in games
        for preset in game.presets
        for seats in game.seatings.values()
    ]


COMBINATIONS = combinations(GAMES.values())


def check_value(game: Game[Any], state: Any) -> None:
    """Check that a state reads back from what the kit writes of it, and that it keeps the laws of its game."""
    again = decoded(encoded(state), type(state))
    assert again == state, f"{state} reads back as {again}: its sequences are tuples, not lists, and its values plain"
    broken = [law for law, kept in game.rules.laws(state).items() if not kept]
    assert not broken, f"{broken} of {game.rules.notation(state)}"


@dataclass(frozen=True)
class Step:
    """One move of a playout and the states around it."""

    before: Any
    seat: Seat
    move: Move
    after: Any


def playout(game: Game[Any], opening: Any, random: Random, longest: int = LONGEST) -> Iterator[Step]:
    """Play at random until the game is over, or for `longest` moves.

    Half the moves are drawn by name first, or the many of one kind would drown the rare ones; for a while a move
    that ends the game is drawn again, or few games would see their later rules. A temple's tokens fall at any moment,
    and some that count are doubted later.
    """
    state, fallen, made = opening, 0, list[Move]()
    for n in range(longest):
        if game.rules.on_turn(state) is None:
            return
        if game.temple and random.random() < 0.04 and (doubt := doubted(game, state, random)):
            seat, move = TEMPLE, doubt
            after = accepted(game.rules.play(state, seat, move), move)
        elif game.temple and random.random() < 0.15:
            fallen += 1
            seat, move = TEMPLE, game.temple.drop(state, drop(fallen, random))
            after = accepted(game.rules.play(state, seat, move), move)
        else:
            for _ in range(6):
                seat = random.choice(game.rules.to_act(state) or ("",))
                moves = game.rules.moves(state, seat) if seat else []
                assert moves, standstill(game, state, made) or f"{seat} is to act without a move, {led_by(made)}"
                move = drawn(moves, random)
                after = accepted(game.rules.play(state, seat, move), move)
                if game.rules.on_turn(after) is not None or n > PLAYED_OUT:
                    break
        yield Step(state, seat, move, after)
        made.append(move)
        state = after
    assert longest < LONGEST, f"{game.name} is not over after {LONGEST} random moves: {game.rules.notation(state)}"


def drop(number: int, random: Random) -> TokenDrop:
    """Return a token that falls for any god, for any doubt or for none; its id has its number and its god."""
    token = f"{2 * number + random.randrange(len(GODS)):032x}"
    return TokenDrop(token, god_of(token), random.choice(DOUBTS))


def god_of(token: str) -> str:
    """Return for which god the token of a `drop` fell."""
    return GODS[int(token, 16) % len(GODS)]


def doubted(game: Game[Any], state: Any, random: Random) -> Move | None:
    """Return the move by which the temple doubts any token that counts; None if none may be doubted."""
    assert game.temple is not None
    audit = game.temple.audit(state)
    if not audit.counted:
        return None
    token = random.choice(sorted(audit.counted))
    return game.temple.doubted(state, TokenDrop(token, god_of(token), random.choice(LIGHT)))


def drawn(moves: list[Move], random: Random) -> Move:
    """Return one of the moves, in half the cases by its name first."""
    if random.random() < 0.5:
        return random.choice(moves)
    name = random.choice(sorted({move.name for move in moves}))
    return random.choice([move for move in moves if move.name == name])


def accepted(result: Any, move: Move) -> Any:
    """Return the state that a legal move gave."""
    assert not isinstance(result, Refusal), f"{move} was listed, but is refused: {result}"
    return result


def junk(random: Random) -> Any:
    """Return an argument that no move should stumble over."""
    return random.choice(JUNK)


def fuzzed(moves: list[Move], random: Random) -> Move:
    """Return a move that is most likely not legal: a legal one distorted, or nonsense."""
    names = [*sorted({move.name for move in moves}), "token", "doubt", "no_such_move", "", "@undo"]
    move = random.choice(moves) if moves and random.random() < 0.8 else Move(random.choice(names))
    args: list[Any] = list(move.args)
    match random.randrange(5):
        case 0:
            return Move(random.choice(names), tuple(args))
        case 1:
            args.append(junk(random))
        case 2 if args:
            args.pop(random.randrange(len(args)))
        case 3 if args:
            spot = random.randrange(len(args))
            args[spot] = args[spot] + random.randint(-30, 30) if type(args[spot]) is int else junk(random)
        case _:
            args = [junk(random) for _ in range(random.randrange(5))]
    return Move(move.name, tuple(args))


def attempts(here: Combination, state: Any, random: Random) -> Iterator[tuple[Seat, Move]]:
    """Yield a well-formed move of every type of a game's table by every kind of maker, and as many distorted ones.

    Most of them are illegal in this state; what a text should name is taken from moves that are legal.
    """
    legal = [move for seat in (*here.seats, CHANCE) for move in here.game.rules.moves(state, seat)]
    known: list[Arg] = [arg for move in legal for arg in move.args if isinstance(arg, str)] or ["x"]
    makers = (*here.seats, TEMPLE, CHANCE, "nobody")
    for row in here.game.rules.table or ():
        for seat in makers:
            args = [
                random.choice(here.seats)
                if kind.seat
                else random.choice(known)
                if kind.pattern is not None
                else random.choice(tuple(kind.values) or known)
                for kind in row.args.values()
            ]
            move = Move(row.name, tuple(args))
            yield seat, move
            yield seat, fuzzed([move], random)
    for seat in makers:
        yield seat, fuzzed(legal, random)


def is_arg(value: object) -> bool:
    """Return whether a value may stand among facts or a move's arguments."""
    return type(value) in (int, str)


def leaves(game: Game[Any], state: Any, seat: Seat, picked: tuple[Arg, ...] = ()) -> Iterator[Move]:
    """Walk all levels of a seat's choices, and yield the moves at their ends."""
    level = game.rules.choices(state, seat, picked)
    assert level or not picked, f"{picked} was offered, but leads nowhere"
    for choice in level:
        if choice.move is None:
            yield from leaves(game, state, seat, (*picked, choice.facts["pick"]))
        else:
            assert tuple(choice.move.to_json()[: len(picked)]) == picked or seat == CHANCE
            yield choice.move
