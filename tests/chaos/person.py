"""A person at a table who decides about tokens that wait, on the page that compares temple and ledger."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from urllib.parse import urlencode

from tests.chaos.players import PAUSE_S, Seats, ask

PATIENCE_S = 60.0
"""For an answer that says what became of a decision; its companion may be frozen."""

_FIELD = re.compile(r'name="(seat|version|request)" value="([^"]*)"')
_WAITS = re.compile(r'name="shown" value="([0-9a-f]{32})"')
_TO = re.compile(r'name="to" value="(\w+)"')


def sit(port: int, table: str, code: str, token: str = "") -> Seats:
    """Take every free seat of a table with one phone; `token` is what the phone holds there already."""
    answer = ask(port, "POST", Seats(table, token), "share", {"code": code})
    found = re.search(rf"seat-{table}=(\w+)", answer.cookies)
    return Seats(table, found[1]) if found else Seats(table, token)


def decide(port: int, seats: Seats, whims: random.Random) -> Mapping[str, str]:
    """Dismiss some or all tokens that wait at a table, or give them to a seat; a post without an answer is repeated.

    Returns what was decided, by the tokens' ids: the seat, or what the page posts for no token. It is empty if
    nothing waits, or if the companion did not accept it.
    """
    page = ask(port, "GET", seats, "reconcile").body
    if not (waits := _WAITS.findall(page)):
        return {}
    to = whims.choice(_TO.findall(page))
    chosen = waits if whims.random() < 0.5 else whims.sample(waits, whims.randint(1, len(waits)))
    form = urlencode({**dict(_FIELD.findall(page)), "token": chosen, "to": to}, doseq=True)
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        answer = ask(port, "POST", seats, "reconcile", form)
        if answer.status not in (0, 429, 503):
            return dict.fromkeys(chosen, to) if answer.status == 303 else {}
        time.sleep(PAUSE_S)
    raise AssertionError(f"table {seats.table} did not answer within {PATIENCE_S:g} s: {answer.status} {answer.body}")
