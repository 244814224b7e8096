"""One phone that is passed round: it holds every seat of a table and posts moves as the page's script does."""

from __future__ import annotations

import http.client
import itertools
import json
import re
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

from bench.tools.daemons import Companion
from bench.tools.programs import HOST, BenchError

POSTS_FROM_ONE_ADDRESS = 200
"""An address may post 300 times at once and 20 times a second after that: then the phone comes from the next one."""


class Phone:
    """Holds the seats of a companion's table while the context lasts; every post is an accepted move."""

    def __init__(self, companion: Companion, network: int = 1, patience_s: float = 60) -> None:
        """Prepare; this phone posts from the addresses 1 to 254 of one `network`, and waits so long for an answer."""
        self._companion = companion
        self._network = network
        self._patience_s = patience_s
        self._connection = http.client.HTTPConnection(HOST, companion.port, patience_s)
        self._cookie = ""
        self._posts = 0
        self._version = 0
        self._seen = ""
        self._turns: Iterator[str] = iter(())

    def __enter__(self) -> Self:
        table = self._companion.table
        seats = re.findall(r'name="name\.(\w+)"', self._asked("GET", f"/j/{self._companion.code}"))
        names = {f"name.{seat}": seat.title() for seat in seats}
        self._asked("POST", f"{table}/share", {"code": self._companion.code, **names})
        page = self._asked("GET", table)
        seen, version = re.search(r'data-seen="([^"]+)"', page), re.search(r'name="version" value="(\d+)"', page)
        first = re.search(r'name="seat" value="(\w+)"', page)
        if not (seats and seen and version and first):
            raise BenchError(
                f"{table} has no form to post: {page[:300]!r}; expected the page of a phone with all seats"
            )
        self._seen, self._version = seen[1], int(version[1])
        at = seats.index(first[1])
        self._turns = itertools.cycle(seats[at:] + seats[:at])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def end_turn(self) -> None:
        """End the turn of the seat whose turn it is; raises `BenchError` if the move is not taken."""
        form = {"seat": next(self._turns), "move": '["end_turn"]', "version": str(self._version), "seen": self._seen}
        answer: dict[str, Any] = json.loads(
            self._asked("POST", f"{self._companion.table}/play", {**form, "request": f"bench{self._posts}"})
        )
        if not answer["ok"]:
            raise BenchError(f"the move {form} is answered with {answer['words']!r}; expected that it is taken")
        self._version, self._seen = answer["version"], answer["id"]

    def _asked(self, method: str, path: str, form: dict[str, str] | None = None) -> str:
        headers = {"Cookie": self._cookie, "Accept-Language": "en"}
        if form is not None:
            if self._posts % POSTS_FROM_ONE_ADDRESS == 0:
                self._connection.close()
                source = f"127.0.{self._network}.{self._posts // POSTS_FROM_ONE_ADDRESS % 250 + 1}"
                self._connection = http.client.HTTPConnection(
                    HOST, self._companion.port, self._patience_s, (source, 0)
                )
            self._posts += 1
            headers |= {"Origin": self._companion.address, "Content-Type": "application/x-www-form-urlencoded"}
            if path.endswith("/play"):
                headers["Accept"] = "application/json"
        self._connection.request(method, path, urlencode(form) if form is not None else None, headers)
        answer = self._connection.getresponse()
        body = answer.read().decode(errors="replace")
        if answer.status not in (200, 303, 409):
            raise BenchError(f"{method} {path} is answered with {answer.status}: {body[:300]!r}; expected 200 or 303")
        for cookie in answer.headers.get_all("Set-Cookie", ()):
            pair = cookie.partition(";")[0]
            self._cookie = f"{self._cookie}; {pair}" if self._cookie else pair
        return body
