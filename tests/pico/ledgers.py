"""The ledger on the emulated chip's own flash: power cuts in the middle of what is written."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from itertools import count

from firmware.tests.flash import Flash, ledger_on, mounted
from tests.pico import chip
from tests.pico.play import Board

ALONE = json.dumps(
    {"ssid": "none", "wifi_password": "", "broker": "127.0.0.1", "port": 1, "ntp": "127.0.0.1", "temple": "alone"}
).encode()
"""The settings of a board whose broker never answers."""

LEDGER = "/tokens"
WIDTH_US, EVERY_US = 8_000, 300_000
SETTLED_US = 3_000_000


@dataclass
class Cut:
    """What the flash holds if its power fails in one operation, and how many tokens had been recorded by then."""

    flash: bytes
    recorded: int
    fallen: int
    """The last token that had begun to fall, from 0 on."""


def cuts(board: Board, tokens: int) -> list[Cut]:
    """Let tokens fall, alternately, and return what a power cut leaves in each operation of the flash."""
    found: list[Cut] = []
    board.settings = ALONE
    board.wires.cut = True
    board.chip.torn = lambda half: found.append(Cut(half, board.recorded, fallen))
    fallen = -1
    board.count()
    for fallen in range(tokens):
        pin, at_us = 16 + fallen % 2, board.us + EVERY_US / 2
        up_us = at_us + WIDTH_US + 1_000 * fallen
        board.chip.at(at_us - board.passed_us, lambda pin=pin: board.chip.pin(pin, False))  # type: ignore[misc]
        board.chip.at(up_us - board.passed_us, lambda pin=pin: board.chip.pin(pin, True))  # type: ignore[misc]
        board.chip.run(lambda until=at_us + EVERY_US / 2: board.us >= until, SETTLED_US)  # type: ignore[misc]
    if not board.chip.run(lambda: board.recorded == tokens, SETTLED_US):
        raise chip.Dead(f"{board.recorded} of {tokens} tokens recorded")
    return found


def read(flash: bytes) -> list[int]:
    """Return the width of each token in a flash's ledger, in microseconds, as the ledger itself reads it."""
    cells = Flash(chip.FILES)
    cells.cells[:] = flash[chip.FILES_AT : chip.FILES_AT + len(cells.cells)]
    numbers = count(1)
    with ledger_on(mounted(cells)) as module:
        ledger = module.Ledger(LEDGER, lambda: next(numbers).to_bytes(16, "big"))
        return [ledger.read(seq)[3] for seq in range(1, ledger.last_seq + 1)]


def judged(found: list[Cut]) -> str:
    """Return what is wrong with what the cuts left, or nothing."""
    for number, each in enumerate(found):
        widths = read(each.flash)
        if not each.recorded <= len(widths) <= each.fallen + 1:
            return f"cut {number}: {len(widths)} tokens, of {each.recorded} recorded and {each.fallen + 1} fallen"
        for place, width_us in enumerate(widths):
            if abs(width_us - WIDTH_US - 1_000 * place) > 40:
                return f"cut {number}: token {place + 1} has {width_us} us"
    return ""


def restarted(flash: bytes, chance: random.Random) -> Board:
    """Return a board that counts with this flash."""
    board = Board(flash, chance)
    board.wires.cut = True
    board.held = False
    board.wait_for_turns()
    return board
