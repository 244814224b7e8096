"""How many bytes the programs of a temple write to the card: in a game, and while nothing happens."""

from __future__ import annotations

import time
from collections.abc import Sequence

from bench.tools import daemons
from bench.tools.figures import Chapter, Row
from bench.tools.phone import Phone
from bench.tools.programs import Programs, Running, free_port, wait_until

TOKENS, MOVES = 60, 30
"""What falls and is tapped in a game, one by one: it ends with some ninety tokens and turns."""

SETTLE_S = 5.0
NIGHT_S = 8 * 3600
KIB, PATIENCE_S = 1024, 30.0


def measure(programs: Programs, rest_s: float) -> Chapter:
    """Let tokens fall and a phone move, one after another, then wait; raises `BenchError`."""
    port = free_port()
    packaged = (programs.tree.root / "systemd" / "mosquitto" / "templo.conf").read_text().splitlines()
    file = [line for line in packaged if line.startswith(("persist", "autosave"))]
    broker = programs.start_mosquitto("mosquitto", port, (*file, f"persistence_location {programs.folder}/"))
    companion = daemons.start_companion(programs, port)
    controller = daemons.start_controller(programs, port, simulated=True)
    running = (controller.running, companion.running, broker)
    before = _written(running)
    with Phone(companion) as phone:
        for n in range(TOKENS):
            daemons.drop(programs, 1)
            if n % (TOKENS // MOVES) == 0:
                phone.end_turn()
        wait_until(lambda: companion.stored() >= TOKENS, PATIENCE_S, f"{TOKENS} tokens in the store")
    time.sleep(SETTLE_S)
    quiet = _written(running)
    time.sleep(rest_s)
    night = [now - was for now, was in zip(_written(running), quiet, strict=True)]
    game = [now - was for now, was in zip(quiet, before, strict=True)]
    names = ("controller", "companion", "mosquitto")
    return Chapter(
        "The card",
        (
            *(Row(f"{name}, a game", "KiB", count / KIB) for name, count in zip(names, game, strict=True)),
            Row("all three, for a token or a move", "KiB", sum(game) / KIB / (TOKENS + MOVES)),
            Row("all three, a night of 8 hours", "KiB", sum(night) / KIB * NIGHT_S / rest_s, target=0),
        ),
        f"Bytes that each program gave the file system, by the kernel's count (write_bytes of /proc/PID/io); the"
        f" journal is not among them. A game is {TOKENS} tokens and {MOVES} moves; a night is measured for"
        f" {rest_s:g} s without any. mosquitto writes its file of retained messages as the package has it.",
    )


def _written(running: Sequence[Running]) -> list[int]:
    return [each.written() for each in running]
