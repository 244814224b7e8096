"""Games played by an earlier release, to show that its stored tables still lead to the same states.

A game is drawn by its seed from the legal moves alone, so that two releases play the same one as long as they offer
the same moves in the same states. ``python -m tests.games.earlier_tables FILE`` writes what this tree makes of them;
run at the commit of a release, it fixes what that release made.
"""

from __future__ import annotations

import hashlib
import json
import sys
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from companion.games.kit import Game, Move, Refusal, Value

STORED = Path(__file__).with_name("earlier_tables.json")
MOVES = 700


def trace(game: Game[Any], options: dict[str, Value], players: int, seed: int) -> str:
    """Return a digest of every state of one game, in its notation, and of every move that was legal."""
    random, found = Random(seed), hashlib.sha256()
    state = game.setup(options, game.seatings[players])
    for _ in range(MOVES):
        seats = game.to_act(state)
        if not seats:
            break
        seat = seats[random.randrange(len(seats))]
        moves = _known(game, state, game.moves(state, seat))
        found.update(f"{game.notation(state)} {seat} [{', '.join(map(_written, moves))}]\n".encode())
        if not moves:
            continue
        name = random.choice(sorted({move.name for move in moves}))
        move = random.choice([each for each in moves if each.name == name])
        after: Any = game.play(state, seat, Move(move.name, move.args))
        assert not isinstance(after, Refusal), f"{game.name}: {move} of {seat} is listed and refused: {after}"
        state = after
    return found.hexdigest()[:16]


@lru_cache(maxsize=16_384)
def _written(move: Move) -> str:
    return str(move.to_json())


def _known(game: Game[Any], state: Any, moves: list[Move]) -> list[Move]:
    """Return the moves that the earlier release listed: its score pad could not take a number twice, nor tie sums."""
    if game.name != "market.score":
        return moves
    assert game.table is not None
    play = {row.name: row.play for row in game.table}  # without asking again whether the move is legal
    return [move for move in moves if move.name != "tie_sum" and play[move.name](state, *move.args) != state]


def write(path: Path, games: dict[str, Game[Any]]) -> None:
    """Write the games of this tree, each preset with its fewest and its most players, and some of any house rules."""
    rows = []
    for game in games.values():
        for preset, chosen in game.presets.items():
            defaults = {option.key: option.default for option in game.options}
            for seed in range(6):
                random = Random(f"{game.name} {preset} {seed}")
                players = random.choice(sorted(game.seatings))
                other = {
                    option.key: random.choice(option.values)
                    for option in game.options
                    if option.values and not option.reader and option.key != "scope" and seed > 2
                }
                options = {**defaults, **chosen, **other} | {k: v for k, v in chosen.items() if k == "scope"}
                stored = {key: value for key, value in options.items() if value != defaults[key]}
                digest = trace(game, options, players, seed)
                rows.append([game.name, sorted(defaults), stored, players, seed, digest])
    keys = {name: next(row[1] for row in rows if row[0] == name) for name in games}
    lines = ",\n  ".join(json.dumps([row[0], *row[2:]]) for row in rows)
    path.write_text(f'{{"options": {json.dumps(keys)},\n "games": [\n  {lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    from companion.games.registry import load, with_tools

    write(Path(sys.argv[1]), dict(with_tools(load())))
