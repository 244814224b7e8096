"""Players of a club's tables: they post moves to whichever companion answers, and note what became of each post."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
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
        page = self._ask(self._whims.choice(self._ports), "GET", f"/t/{self._seats.table}")
        version = re.search(r'name="version" value="(\d+)"', page[1])
        seat = re.search(r'name="seat" value="(\w+)"', page[1])
        if page[0] != 200 or not (version and seat):
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
        status, body = self._ask(port, "POST", f"/t/{self._seats.table}/play", form)
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

    def _ask(self, port: int, method: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        """Return status and body of an answer; 0 where there is none."""
        headers = {"Cookie": f"seat-{self._seats.table}={self._seats.token}", "Accept-Language": "en"}
        if form is not None:
            headers |= {
                "Origin": f"http://{HOST}:{port}",
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "application/json",
            }
        connection = HTTPConnection(HOST, port, ANSWERS_S, (self._source, 0))
        try:
            connection.request(method, path, urlencode(form) if form is not None else None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(errors="replace")
        except (OSError, HTTPException):
            return 0, ""
        finally:
            connection.close()


def players(number: int, tables: Sequence[Seats], ports: Sequence[int], desk: Desk, seed: str) -> list[Player]:
    """Return so many players for each table."""
    return [
        Player(len(tables) * each + n, seats, ports, desk, seed)
        for each in range(number)
        for n, seats in enumerate(tables)
    ]
