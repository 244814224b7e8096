"""Plays Mexica through a temple with four phones and a table screen: a program that runs in any revision's folder.

``python full_table.py TOKENS`` prints the medians ``[ms of CPU to store a token, to paint what it changed]`` as JSON.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

LAKE = 30
"""Tokens that have fallen before the first one that is measured: the log is full by then."""


class Evening:
    """A table of four app players whose tokens fall through a temple, and the pages of all who look."""

    def __init__(self, folder: Path) -> None:
        """Open the table; `folder` holds its store."""
        from companion.adapters.database.sql_store import SqlStore
        from companion.adapters.news import Hub
        from companion.games import registry
        from companion.service.services import Services
        from companion.service.workspace import Workspace
        from companion.web import create_app
        from companion.web.config import WebConfig
        from companion.web.view_models.table import Audience

        count, hub, games = itertools.count(), Hub(boot="bench"), registry.load(())
        self._now = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)
        store = SqlStore(f"sqlite:///{folder / 'companion.sqlite'}")

        def entropy(size: int) -> bytes:
            return hashlib.shake_128(str(next(count)).encode()).digest(size)

        self._services = Services.over(Workspace(store, games, lambda: self._now, entropy, hub.publish))
        self._app = create_app(
            self._services, hub, WebConfig(_allowing("localhost"), lambda _: "http://localhost", "bench")
        )
        self._services.temples.expect("templo")
        seats = games["mexica"].seatings[4]
        opened = self._services.tables.open("mexica", "Sunday", len(seats), "classic", {}, "templo")
        self._id = self._services.seats.begin(opened.id, opened.code).id
        self._phones = {
            seat: self._services.seats.sit(opened.id, opened.code, seat, f"Player {seat}") for seat in seats
        }
        self._audiences = [*(Audience("en", "phone", (seat,), True) for seat in seats), Audience("en", "screen")]
        game: Any = games["mexica"]
        is_its_parts = not hasattr(game, "play")  # an earlier game is not
        self._rules, self._page = (game.rules, game.page) if is_its_parts else (game, game)
        self._numbers, self._requests, self._random = itertools.count(1), itertools.count(1), Random(1)

    @property
    def table(self) -> Any:
        """The table now."""
        return self._services.tables.get(self._id)

    @property
    def full(self) -> bool:
        """Whether so many tokens have fallen that the next one is measured."""
        return bool(self._page.view(self.table.state, None)["total"] >= LAKE)

    def token(self) -> tuple[float, float]:
        """Drop a token; return the milliseconds of CPU until it is stored, and then until all pages are painted."""
        self.look()
        began = time.process_time()
        self.drop()
        stored = time.process_time()
        self.look()
        return 1000 * (stored - began), 1000 * (time.process_time() - stored)

    def drop(self) -> None:
        """Drop a token that nobody sees."""
        from templo import contract

        n = next(self._numbers)
        self._now += timedelta(seconds=5)
        god = (contract.God.TLALOC, contract.God.HUITZILOPOCHTLI)[n % 2]
        token = contract.Token("a" * 32, n, f"{n:032x}", god, self._now, 14.0, frozenset(), False)
        self._services.temples.intake.receive([("templo", token)])

    def look(self) -> None:
        """Paint the pages of all who look, as their event streams do."""
        site, table = self._app.extensions["site"], self.table
        with self._app.test_request_context():
            for audience in self._audiences:
                (getattr(site, "rendered", None) or site.picture)(table, audience)  # earlier trees call it a picture

    def dismiss(self) -> None:
        """Correct the last token away."""
        self._move(next(iter(self._phones)), self.table.unclaimed[-1].dismiss)

    def go_on(self) -> None:
        """Make the next move, or resolve the chance that is due; raises ValueError if nobody can."""
        table = self.table
        if due := table.chance():
            token = self._phones[due.seat or next(iter(self._phones))]
            self._services.play.roll(table.id, token, table.version, f"roll-{next(self._requests)}")
            return
        for seat in sorted(self._rules.to_act(table.state), key=lambda seat: seat != table.on_turn):
            moves = self._rules.moves(table.state, seat)
            move = table.game.decide(self._page.view(table.state, seat), moves, self._random.randrange)
            if move is not None and self._move(seat, move):
                return
        raise ValueError(f"nobody can move at version {table.version}; expected a game that goes on")

    def _move(self, seat: str, move: Any) -> bool:
        request = f"move-{next(self._requests)}"
        version = self.table.version
        return self._services.play.move(self._id, self._phones[seat], seat, move, version, request).accepted


def _allowing(host: str) -> Any:
    """Return what `WebConfig` takes first: the web's settings, or in earlier trees the allowed hosts alone."""
    from companion.web.config import WebConfig

    if WebConfig.__dataclass_fields__.get("settings") is None:
        return (host,)
    from companion.settings import WebSettings

    return WebSettings(allowed_hosts=(host,))


def samples(folder: Path, tokens: int) -> list[tuple[float, float]]:
    """Return the cost of some given tokens, as `Evening.token` measures them."""
    evening = Evening(folder)
    taken: list[tuple[float, float]] = []
    while len(taken) < tokens and evening.table.phase == "running":
        before = len(evening.table.unclaimed)
        measured = [evening.token()] if evening.full else []
        if not measured:
            evening.drop()
        if len(evening.table.unclaimed) > before:
            evening.dismiss()
        else:
            taken += measured
        evening.go_on()
    if len(taken) < tokens:
        raise ValueError(f"the game ended after {len(taken)} tokens; expected {tokens}")
    return taken


if __name__ == "__main__":
    # For a program that is run as a file, Python puts the file's folder first in the path, not the tree's.
    sys.path[0] = str(Path.cwd())
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        both = zip(*samples(Path(place), int(sys.argv[1])), strict=True)
        print(json.dumps([statistics.median(each) for each in both]))
