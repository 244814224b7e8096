"""The legal moves of a seat, sorted, and the same moves one level at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from companion.games.kit import CHANCE, Arg, Choice, Move, Seat
from companion.games.moctezuma.rules import chance
from companion.games.moctezuma.rules.boards import LIBRARY, PAIRS, PLACES, whole
from companion.games.moctezuma.rules.pieces import KINGS, NAME, SPACES, king_of
from companion.games.moctezuma.rules.state import COSTS, FIRST, LAYING, PLAYING, REVEAL, State

END_TURN = Move("end_turn")
LEAVE = Move("leave")
READY = Move("ready")
WALK = tuple(Move("walk", (place,)) for place in range(PLACES))
STUDY = {n: Move("study", (n,)) for n in COSTS}
EXPLORE = {n: Move("explore", (n,)) for n in COSTS}
PEEK = tuple(Move("peek", (space,)) for space in range(SPACES))
PATHS = [Move("path", pair) for pair in PAIRS]


def to_act(state: State) -> tuple[Seat, ...]:
    """Return the seats that have a move now: one, or `CHANCE`; all while they lay their board; at last none."""
    if state.stage == LAYING:
        return state.seats
    if state.over:
        return ()
    return (CHANCE,) if chance.due(state) else (state.seat,)


def moves(state: State, seat: Seat) -> list[Move]:
    """Return exactly the legal moves of a seat, sorted. Notes are not moves of the rules, and not listed."""
    if seat == CHANCE:
        return chance.moves(state)
    if state.stage != PLAYING:
        laying = state.stage == LAYING and seat in state.seats
        return [*PATHS, *([READY] if whole(state.ways) else [])] if laying else []
    if seat != state.seat or chance.due(state):
        return []
    if state.looking:
        return [PEEK[space] for space in range(state.shown, SPACES) if not state.looked >> space & 1]
    if state.spare:
        return [Move("put", (card,)) for card in sorted(set(state.spare))]
    if state.hand:
        treasures = [Move("keep", (card,)) for card in sorted(set(state.hand)) if card != NAME]
        return [*treasures, LEAVE] if state.rules.keep == "may" else treasures
    return _turn(state)


def _turn(state: State) -> list[Move]:
    place, points = state.places[state.current], state.points
    found = [END_TURN]
    if place != LIBRARY:
        if state.decks[place - 1].size > 1:
            found += [EXPLORE[n] for n, cost in COSTS.items() if cost <= points]
    elif state.shown < SPACES:
        found += [STUDY[n] for n, cost in COSTS.items() if cost <= points]
    if points:
        found += [WALK[there] for there in state.ways[place]]
    return found


def choices(state: State, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
    """Return the legal moves of a seat one level at a time; they are so few that there is one level, but for paths.

    For `CHANCE` it is everything that could be typed in, even if somebody already knows better.
    """
    if seat == CHANCE:
        return [_choice(state, move) for move in _typed(state)] if not picked else []
    found = moves(state, seat)
    if state.stage == LAYING:
        return _paths(found, picked)
    return [] if picked else [_choice(state, move) for move in found]


def _typed(state: State) -> Iterable[Move]:
    if not chance.due(state):
        return []
    if state.queue or state.flipping:
        return chance.CHIT_MOVES
    if state.stage in (FIRST, REVEAL):
        return chance.NAME_MOVES if state.stage == REVEAL else chance.moves(state)
    treasures = [move for worth, move in chance.CARD_MOVES.items() if worth != NAME]
    return [*chance.NAME_MOVES, *treasures]


def _paths(found: list[Move], picked: tuple[Arg, ...]) -> list[Choice]:
    if not found:
        return []
    if not picked:
        ready = [Choice("ready", move=READY, element="ready", group="end", confirm=True)] if READY in found else []
        return [Choice("path", {"pick": "path"}, "ways", group="path"), *ready]
    if picked[0] != "path" or len(picked) > 2:
        return []
    if len(picked) == 1:
        lower = sorted({a for a, _ in PAIRS})
        return [Choice("path_from", {"place": a, "pick": a}, f"place-{a}", group="path") for a in lower]
    return [
        Choice("path_to", {"place": move.args[1]}, f"place-{move.args[1]}", move, "path")
        for move in found
        if move.name == "path" and move.args[0] == picked[1]
    ]


def _choice(state: State, move: Move) -> Choice:
    name, arg = move.name, move.args[0] if move.args else 0
    here = state.places[state.current]
    match name:
        case "walk":
            return Choice("walk" if arg else "walk_library", {"place": arg}, f"place-{arg}", move, "walk")
        case "study" | "explore":
            assert isinstance(arg, int)
            facts: Mapping[str, Arg] = {"n": arg, "cost": COSTS[arg], "temple": here}
            return Choice(name, facts, f"{name}-{arg}", move, "act", confirm=arg == max(COSTS))
        case "peek":
            assert isinstance(arg, int)
            king = KINGS[king_of(arg, state.rules.third_chit)]
            facts = {"king": king, "column": arg // len(KINGS) + 1}
            return Choice("peek", facts, f"chit-{arg}", move, "peek")
        case "keep":
            return Choice("keep", {"n": arg, "temple": here}, f"card-{arg}", move, "keep")
        case "put":
            return Choice("put" if arg else "put_name", {"n": arg}, f"card-{arg}", move, "put")
        case "end_turn":
            return Choice("end_turn", {"n": state.points}, "end", move, "end", confirm=state.points > 1)
    facts = {{"first": "seat", "chit": "face", "name": "name", "treasure": "n"}[name]: arg} if move.args else {}
    return Choice(name, facts, f"{name}-{arg}" if move.args else name, move, "chance" if move.args else "keep")
