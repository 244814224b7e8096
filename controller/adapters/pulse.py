"""Switches the emitters off for as long as the receivers need to follow, and on again."""

from __future__ import annotations

import logging
from collections.abc import Callable

from controller.core.counting import MS, SECOND
from controller.core.diagnosis import Answer
from controller.core.proof import Pulse
from templo.contract import God

MOST_NS = 3 * MS
"""How long to wait for receivers to follow; a token lasts longer, so it outlasts the pulse."""

LATE_NS = SECOND // 20
"""How long to wait for the edges of receivers that did follow."""

_POLL_S = 0.0002
log = logging.getLogger(__name__)


def send(
    switch: Callable[[bool], None],
    dark: Callable[[God], bool],
    edges: Callable[[God], int],
    now_ns: Callable[[], int],
    sleep: Callable[[float], None],
) -> Pulse:
    """Send one pulse, and return its times and what each receiver answered.

    `switch` turns the emitters on or off, `dark` reads a receiver, `edges` returns how many of its edges have come.
    Takes a few milliseconds; 50 more if receivers follow and their edges do not come.
    """

    def wait(until: Callable[[], bool], most_ns: int) -> None:
        end_ns = now_ns() + most_ns
        while not until() and now_ns() < end_ns:
            sleep(_POLL_S)

    def followed(to_dark: bool) -> dict[God, bool]:
        levels: dict[God, bool] = {}

        def all_did() -> bool:
            levels.update({god: dark(god) for god in God})
            return set(levels.values()) == {to_dark}

        wait(all_did, MOST_NS)
        return levels

    before = {god: edges(god) for god in God}
    off_ns = now_ns()
    try:
        switch(False)
        unlit = followed(True)
        on_ns = now_ns()
    finally:
        switch(True)
    lit_ns = now_ns()
    lit = followed(False)
    wait(lambda: all(lit[god] == unlit[god] or abs(edges(god) - before[god]) > 1 for god in God), LATE_NS)
    log.debug("the emitters were off for %.1f ms", (lit_ns - off_ns) / MS)
    return Pulse(off_ns, on_ns, lit_ns, {god: Answer(lit[god], unlit[god], edges(god) != before[god]) for god in God})
