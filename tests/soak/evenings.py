"""Evenings at a world's companion: app players take every seat of a table, which a phone opens and follows."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPException
from itertools import cycle
from typing import NamedTuple

from companion.games import registry
from tests.brokers import HOST
from tests.chaos.players import PAUSE_S, Seats
from tests.chaos.world import World
from tests.visitor import Visitor

TEMPLE = "templo"
OF_THE_TEMPLE = "mexica"
"""The game whose tokens fall through it."""

AT_ONCE = 12
"""Tokens that fall before the page is looked at again."""

PATIENCE_S = 600.0
"""For a game that does not go on, and for a companion that was killed."""


class Plan(NamedTuple):
    """What is played."""

    game: str
    preset: str
    players: int

    def __str__(self) -> str:
        return f"{self.game}, {self.preset}, {self.players}"


def plans() -> Iterator[Plan]:
    """Yield every game in turn, each time with another preset or number of players, for ever."""
    every = [
        cycle([Plan(game.name, preset, players) for players in sorted(game.seatings) for preset in game.presets])
        for game in registry.load(()).values()
    ]
    while True:
        yield from map(next, every)


class Phone:
    """A phone that opens tables, sits down at every chair and lets the app play for all of them."""

    def __init__(self, world: World, whims: random.Random) -> None:
        self._world = world
        self._whims = whims

    def play(self, plan: Plan, fault: Callable[[], object] | None = None) -> int:
        """Play one game to its end, and let a fault happen in it, or after one that is over at once.

        Returns how many tokens fell; raises `AssertionError` if it does not end.
        """
        before = self._world.rain.dropped
        seats = self._begun(plan)
        until = time.monotonic() + PATIENCE_S
        while "phase-over" not in (page := self._page(f"/t/{seats.table}")):
            assert time.monotonic() < until, f"{plan}: it does not end: {page[-1000:]}"
            if plan.game == OF_THE_TEMPLE:
                self._world.rain.allow(self._world.rain.dropped + AT_ONCE)
                self._world.wait_until_done()
                self._world.decide(self._whims, seats)
            if fault:
                fault()
                fault = None
            time.sleep(PAUSE_S)
        if fault:
            fault()
        for path in ("/", "/evenings", f"/t/{seats.table}/story"):
            self._page(path)
        return self._world.rain.dropped - before

    def _begun(self, plan: Plan) -> Seats:
        visitor = Visitor(f"http://{HOST}:{self._world.port}")
        temple = {"temple": TEMPLE} if plan.game == OF_THE_TEMPLE else {}
        chairs = visitor.post(
            "/tables",
            game=plan.game,
            title=plan.game.title(),
            players=str(plan.players),
            preset=plan.preset,
            **temple,
        )
        found = re.search(r'action="/t/(\w{32})/', chairs)
        assert found, f"{plan}: no table was opened: {chairs[-1000:]}"
        table = found[1]
        visitor.post(f"/t/{table}/share", code=visitor.address.rpartition("/")[2])
        visitor.post(f"/t/{table}/begin")
        visitor.post(f"/t/{table}/pace", pace="at_once")
        for seat in registry.load(())[plan.game].seatings[plan.players]:
            visitor.post(f"/t/{table}/away", seat=seat, mode="app")
        token = next(each.value for each in visitor.cookies if each.name == f"seat-{table}")
        return Seats(table, token)

    def _page(self, path: str) -> str:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            with suppress(OSError, HTTPException):
                return Visitor(f"http://{HOST}:{self._world.port}").get(path)
            time.sleep(PAUSE_S)
        raise AssertionError(f"the companion does not answer within {PATIENCE_S:g} s")
