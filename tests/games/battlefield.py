"""What the siege's tests share: a plain map to stand units on, scenes in any phase, and dice that fall as given."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from companion.games.kit import CHANCE, Arg, Move, Refusal, replace
from companion.games.siege import GAME
from companion.games.siege.rules import course
from companion.games.siege.rules.geometry import SIDES, grid
from companion.games.siege.rules.options import OPTIONS, HouseRules
from companion.games.siege.rules.state import DEAD, PHASES, State, moved

WIDTH, HEIGHT = 14, 9
CITY = range(6, 11)
LAKE = range(11, 14)

CUAUHTEMOC, WARRIORS = 0, tuple(range(1, 16))
CORTEZ, CONQUISTADORS, TOTONACS, TLASCALANS = 16, (17, 18), (19, 20), (21, 22, 23)
TEXCOCOANS, CHOLULAS, ROGUES, BOATS = (24, 25), (26, 27), tuple(range(28, 33)), (33, 34, 35, 36)
W, C, T, B = WARRIORS, CONQUISTADORS, TOTONACS, BOATS

SPANISH = {"event": 0, "move": 1, "attack": 2, "rally": 3}
AZTEC = {"move": 4, "attack": 5, "rally": 6, "fire": 7}


@lru_cache(maxsize=256)
def plain(ground: str = "", walls: str = "", gates: str = "") -> str:
    """Return a map: clear land in columns a to f, the city g to k behind a wall, the lake from l.

    `ground` are words like ``h:g3,g4``; walls and gates hold words like ``g3-h3``.
    """
    board = grid(WIDTH, HEIGHT)
    letters = ["w" if h % WIDTH in LAKE else "." for h in range(len(board))]
    for word in ground.split():
        letter, _, names = word.partition(":")
        for name in names.split(","):
            letters[board.numbers[name]] = letter
    zones = [
        "m" if h % WIDTH in CITY else "s" if letters[h] == "w" or h % WIDTH < 5 else "." for h in range(len(board))
    ]
    gated = {_edge(word) for word in gates.split()}
    walled = {_edge(word) for word in walls.split()} | {_edge("j1-j2")}
    for here in range(len(board)):
        for to in board.beside[here]:
            if here % WIDTH == 5 and to >= 0 and to % WIDTH == 6 and _pair(here, to) not in gated:
                walled.add(_pair(here, to))
    rows = range(0, len(board), WIDTH)
    block = "\n".join(" ".join(letters[at : at + WIDTH]) for at in rows)
    zoned = "\n".join(" ".join(zones[at : at + WIDTH]) for at in rows)
    return (
        f'name = "Plain"\nground = """\n{block}\n"""\nzones = """\n{zoned}\n"""\n'
        f'walls = [{_listed(walled)}]\ngates = [{_listed(gated)}]\n[quarters]\nm = "Moyotlan"\n'
    )


def _pair(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)


def _edge(word: str) -> tuple[int, int]:
    one, other = (grid(WIDTH, HEIGHT).numbers[name] for name in word.split("-"))
    return _pair(one, other)


def _listed(edges: set[tuple[int, int]]) -> str:
    board = grid(WIDTH, HEIGHT)
    return ", ".join(f'"{board.name(a)} {SIDES[board.beside[a].index(b)]}"' for a, b in sorted(edges))


def scene(
    phase: int,
    units: Mapping[int, str],
    routed: tuple[int, ...] = (),
    fires: tuple[str, ...] = (),
    board: str | None = None,
    turn: int = 1,
    **options: Arg,
) -> State:
    """Return a state in a phase, with these units on these hexes and all others dead."""
    chosen = {option.key: option.default for option in OPTIONS} | {"forces": "third"} | options
    rules = replace(HouseRules.of(chosen), map=board or plain())
    n = 37
    state = State(rules, (DEAD,) * n, (0,) * n, (0, 0), phase=phase, turn=turn, last_attack=turn - 1)
    numbers = state.field.grid.numbers
    assert state.roster.boats == BOATS, "the roster has changed under this test"
    for unit, name in units.items():
        state = moved(state, (unit,), numbers[name])
    state = replace(state, routed=sum(1 << u for u in routed), fires=sum(1 << numbers[name] for name in fires))
    stage, side = PHASES[phase]
    if stage in ("rally", "fire"):
        return course.settled(course._entered(state, phase))
    assert side in (0, 1)
    return state


def do(state: State, name: str, *args: Arg) -> State:
    """Return the state after a move of the seat that must decide; the move must be legal."""
    after = GAME.rules.play(state, GAME.rules.to_act(state)[0], Move(name, args))
    assert not isinstance(after, Refusal), f"{name} {args} was refused: {after}; legal: {moves(state)[:20]}"
    return after


def dice(state: State, *shown: int) -> State:
    """Return the state after dice fell as given, whatever they are for."""
    for n in shown:
        due = GAME.rules.chance(state)
        assert due is not None, "no die is due"
        (move,) = [move for move in due.outcomes if move.args == (n,)]
        after = GAME.rules.play(state, CHANCE, move)
        assert not isinstance(after, Refusal)
        state = after
    return state


def moves(state: State, name: str = "") -> list[Any]:
    """Return the legal moves of the seat that must decide, of a name their arguments."""
    listed = GAME.rules.moves(state, GAME.rules.to_act(state)[0])
    return (
        [move.args[0] if len(move.args) == 1 else move.args for move in listed if move.name == name]
        if name
        else listed
    )


def due(state: State) -> str:
    """Return the name of what is due, or an empty text."""
    return str(state.agenda[0][0]) if state.agenda else ""


def at(state: State, unit: int) -> str:
    """Return the hex of a unit, ``dead`` for one that is lost."""
    return "dead" if state.at[unit] < 0 else state.field.grid.names[state.at[unit]]


def is_routed(state: State, unit: int) -> bool:
    return bool(state.routed >> unit & 1)


def marched(state: State, unit: int, points: int) -> State:
    """Return the state after a unit set out and its die showed some points."""
    return dice(do(state, "march", unit), points)


def goes(state: State) -> dict[str, int]:
    """Return where the active unit can go, with the cost."""
    return GAME.page.view(state, None)["reach"]  # type: ignore[return-value]
