"""Players of a club's tables: they post moves to whichever companion answers, and note what became of each post."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import NamedTuple
from urllib.parse import urlencode

from tests.brokers import HOST

ANSWERS_S = 6.0
"""How long a player waits for an answer before the same post goes to another companion."""

PAUSE_S = 0.1
DOUBLE_TAPS = 0.1
"""How many of all posts go to two companions at once, as a double tap on a slow network does."""


@dataclass(frozen=True, slots=True)
class Seats:
    """A table whose seats players share, and the token that proves it."""

    table: str
    token: str


class Answer(NamedTuple):
    """What a companion answered: `cookies` are those that it set."""

    status: int
    body: str
    cookies: str


class Desk:
    """What all players may do, and what they did."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.allowed = 0
        self.stopped = False
        self.accepted: set[str] = set()
        self.sent: set[str] = set()
        self.unanswered: set[str] = set()
        """What was sent at least once without an answer: it may yet have been carried out."""

    @property
    def rejected(self) -> frozenset[str]:
        """What was answered every time, and each time with a no."""
        return frozenset(self.sent - self.accepted - self.unanswered)

    def may_go_on(self) -> bool:
        """Wait until a post is allowed; return whether there may be more."""
        with self.changed:
            self.changed.wait_for(lambda: self.stopped or len(self.accepted) < self.allowed)
            return not self.stopped

    def note(self, post: str, is_accepted: bool) -> None:
        """Note how a post ended."""
        with self.changed:
            if is_accepted:
                self.accepted.add(post)
            self.changed.notify_all()

    def allow(self, number: int) -> None:
        """Let players post until so many posts have been accepted in all."""
        with self.changed:
            self.allowed = number
            self.changed.notify_all()

    def wait_until_done(self, patience_s: float) -> bool:
        """Wait until all that is allowed has been accepted; return whether it has."""
        with self.changed:
            return self.changed.wait_for(lambda: len(self.accepted) >= self.allowed, patience_s)

    def stop(self) -> None:
        """Let nobody post any more."""
        with self.changed:
            self.stopped = True
            self.changed.notify_all()


class Player(threading.Thread):
    """Ends turns at one table, and sends a post that nobody answers again, to another companion."""

    def __init__(self, number: int, seats: Seats, ports: Sequence[int], desk: Desk, seed: str) -> None:
        super().__init__(name=f"player-{number}", daemon=True)
        self._source = f"127.0.{1 + number // 200}.{1 + number % 200}"
        self._number = number
        self._seats = seats
        self._ports = ports
        self._desk = desk
        self._whims = random.Random(f"{seed} player {number}")
        self._posts = 0

    def run(self) -> None:
        """Post until nothing more is wanted."""
        while self._desk.may_go_on():
            self._play()
            time.sleep(self._whims.uniform(0, PAUSE_S))

    def _play(self) -> None:
        page = ask(self._whims.choice(self._ports), "GET", self._seats, source=self._source)
        version = re.search(r'name="version" value="(\d+)"', page.body)
        seat = re.search(r'name="seat" value="(\w+)"', page.body)
        if page.status != 200 or not (version and seat):
            return
        self._posts += 1
        post = f"p{self._number}x{self._posts}"
        form = {"seat": seat[1], "move": '["end_turn"]', "version": version[1], "request": post, "seen": ""}
        self._desk.sent.add(post)
        tap = None
        if self._whims.random() < DOUBLE_TAPS:
            port = self._whims.choice(self._ports)
            tap = threading.Thread(target=self._post, args=(port, form), daemon=True)
            tap.start()
        answer = self._until_answered(form)
        if tap:
            tap.join()
        self._desk.note(post, answer)

    def _until_answered(self, form: dict[str, str]) -> bool:
        while not self._desk.stopped:
            answer = self._post(self._whims.choice(self._ports), form)
            if answer is not None:
                return answer
            time.sleep(PAUSE_S)
        return False

    def _post(self, port: int, form: dict[str, str]) -> bool | None:
        """Post once; return whether it was accepted, or none without an answer that says so."""
        post = form["request"]
        status, body, _ = ask(port, "POST", self._seats, "play", form, self._source)
        if status in (200, 409):
            try:
                is_accepted = bool(json.loads(body)["ok"])
            except (ValueError, KeyError):
                is_accepted = False
            if is_accepted:
                self._desk.accepted.add(post)
            return is_accepted
        if status != 429:  # 503 too: a store that fails may do so after the commit
            self._desk.unanswered.add(post)
        return None


def ask(
    port: int,
    method: str,
    seats: Seats,
    page: str = "",
    form: Mapping[str, str] | str | None = None,
    source: str = HOST,
) -> Answer:
    """Return a companion's answer to a phone that holds seats of a table, about a page of that table.

    `form` is what is posted, as fields or encoded; `source` the phone's address. Status 0 stands for no answer.
    """
    headers = {"Accept-Language": "en"}
    if seats.token:
        headers["Cookie"] = f"seat-{seats.table}={seats.token}"
    if form is not None:
        headers |= {
            "Origin": f"http://{HOST}:{port}",
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/json",
        }
    body = form if form is None or isinstance(form, str) else urlencode(form)
    connection = HTTPConnection(HOST, port, ANSWERS_S, (source, 0))
    try:
        connection.request(method, f"/t/{seats.table}/{page}".rstrip("/"), body, headers)
        answer = connection.getresponse()
        cookies = " ".join(answer.headers.get_all("Set-Cookie", []))
        return Answer(answer.status, answer.read().decode(errors="replace"), cookies)
    except (OSError, HTTPException):
        return Answer(0, "", "")
    finally:
        connection.close()


def players(number: int, tables: Sequence[Seats], ports: Sequence[int], desk: Desk, seed: str) -> list[Player]:
    """Return so many players for each table."""
    return [
        Player(len(tables) * each + n, seats, ports, desk, seed)
        for each in range(number)
        for n, seats in enumerate(tables)
    ]
