"""Plays the games of any revision at random: a program that runs in the folder of that revision's tree.

Its standard input is a socket. First it writes its games, a JSON list of [game, preset] pairs; then it answers each
line [game, preset, seconds] with [plies, seconds], the latter of CPU time and at least as many as it was given.
Of the tree it knows `companion.games.registry.load` and the functions of a game's rules, the same since the first.
"""

from __future__ import annotations

import json
import random
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LONGEST = 5_000
"""Plies after which a game is given up; house rules may make one endless."""

BATCH = 20
"""Plies between two checks of the clock, so that the clock is not what is measured."""


def playouts(game: Any, preset: str) -> Iterator[None]:
    """Play one random game after another at the largest table, and yield after every ply."""
    whims = random.Random(1)
    is_its_parts = not hasattr(game, "play")  # an earlier game is not
    rules = game.rules if is_its_parts else game
    options = {option.key: option.default for option in game.options} | dict(game.presets[preset])
    while True:
        state = rules.setup(options, game.seatings[max(game.seatings)])
        for _ in range(LONGEST):
            acting = rules.to_act(state)
            if not acting:
                break
            seat = acting[0] if len(acting) == 1 else whims.choice(acting)
            state = rules.play(state, seat, whims.choice(rules.moves(state, seat)))
            yield


def main() -> None:
    """Answer orders until the socket is closed."""
    # For a program that is run as a file, Python puts the file's folder first in the path, not the tree's.
    sys.path[0] = str(Path.cwd())
    from companion.games import registry

    games = registry.load()
    running = {(name, preset): playouts(game, preset) for name, game in games.items() for preset in game.presets}
    with socket.socket(fileno=0) as connection, connection.makefile("rw", encoding="utf-8") as lines:
        print(json.dumps(list(running)), file=lines, flush=True)
        for line in lines:
            name, preset, seconds = json.loads(line)
            plies, began = 0, time.process_time()
            while (spent := time.process_time() - began) < seconds:
                for _ in range(BATCH):
                    next(running[name, preset])
                plies += BATCH
            print(json.dumps([plies, spent]), file=lines, flush=True)


if __name__ == "__main__":
    main()
