"""Plays Mexica with four app players, on two processes: a program that runs in the folder of any revision's tree.

``python app_players.py GAMES`` prints ``[CPU seconds, seconds]`` as JSON. Of the tree it knows
`companion.games.registry.load` and the functions of a game's rules and page, the same since the first.
"""

from __future__ import annotations

import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

PROCESSES = 2
SEATS = 4
PRESET = "classic"
LONGEST = 20_000
"""Moves after which a game is given up."""


def played(seeds: range) -> float:
    """Play a game with each seed; returns the CPU seconds that it took."""
    from companion.games import registry

    game: Any = registry.load()["mexica"]
    options = {option.key: option.default for option in game.options} | dict(game.presets[PRESET])
    is_its_parts = not hasattr(game, "play")  # an earlier game is not
    rules, page = (game.rules, game.page) if is_its_parts else (game, game)
    began = time.process_time()
    for seed in seeds:
        random = Random(seed)
        state = rules.setup(options, game.seatings[SEATS])
        for _ in range(LONGEST):
            if not (acting := rules.to_act(state)):
                break
            seat = acting[0]
            moves = rules.moves(state, seat)
            if seat == "chance":
                move = random.choice(moves)
            else:
                move = game.decide(page.view(state, seat), moves, random.randrange)
            state = rules.play(state, seat, move)
    return time.process_time() - began


def main() -> None:
    """Play so many games and print what they took."""
    games = int(sys.argv[1])
    began = time.monotonic()
    parts = [range(n, games, PROCESSES) for n in range(PROCESSES)]
    with ProcessPoolExecutor(PROCESSES) as pool:
        cpu = sum(pool.map(played, parts))
    print(json.dumps([cpu, time.monotonic() - began]))


if __name__ == "__main__":
    # For a program that is run as a file, Python puts the file's folder first in the path, not the tree's.
    sys.path[0] = str(Path.cwd())
    os.environ["PYTHONPATH"] = str(Path.cwd())
    main()
