"""The controller's ledger before a power cut and after it: what it acknowledged, and what it then must hold."""

from __future__ import annotations

import dataclasses
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from controller.adapters.sqlite_ledger import FILE_NAME, Ledger
from controller.core.ports import LedgerError, LedgerTrouble, UnnumberedToken
from templo.contract import Flag, God, Token
from tests.crash.recording import Recording, Said

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
RESTART_EVERY, RESTART_AT = 1_800, 100
REFUSED_EVERY, REFUSED_UNTIL = 25, 700
"""Commits from one whose sync fails to the next. Each reopens the ledger, which empties its log; after the last of
them the log comes to its bound by itself, is moved into the file and begun again."""

RENEWED_EVERY, RENEWED_AT = 300, 130
"""Commits from one new source to the next."""

AFTER = UnnumberedToken("f" * 32, God.TLALOC, NOON, 1)


@dataclass(slots=True)
class Promise:
    """What the ledger has acknowledged up to some moment."""

    source: str | None = None
    tokens: list[Token] = field(default_factory=list)
    offered: list[Token] = field(default_factory=list)
    """What the tokens will be if the commit that is under way comes to its end."""
    delivered: int = 0
    next_source: str | None = None
    """The source that is about to begin."""

    def hear(self, said: Said) -> None:
        """Process an acknowledgement."""
        name, value = said.fact  # type: ignore[misc]
        setattr(self, name, value)
        if name == "tokens":
            self.offered = value


def work(
    folder: Path, recording: Recording, commits: int, ordered: Callable[[Ledger], None] = lambda _: None
) -> None:
    """Let tokens fall, one or a few a commit, some counted better later; now and then it is ended and restarted.

    1,300 commits bring the log to its bound. `ordered` may spoil the ledger.
    """
    whims = random.Random("ledger")
    tokens: list[Token] = []
    ledger = _opened(folder, ordered)
    recording.say(("source", ledger.source))
    draft: UnnumberedToken | None = None
    for n in range(commits):
        falling = [
            UnnumberedToken(
                whims.randbytes(16).hex(),
                whims.choice(list(God)),
                NOON + timedelta(seconds=n),
                whims.randrange(3_000_000, 20_000_000),
                frozenset({Flag.JAM}) if whims.random() < 0.1 else frozenset(),
            )
            for _ in range(whims.choice((1, 1, 1, 1, 1, 1, 3)))
        ]
        if draft is not None:
            falling.insert(0, replace(draft, width_ns=draft.width_ns + 1_000_000))
        after = _after(ledger, tokens, falling)
        recording.say(("offered", after))
        if n % REFUSED_EVERY == 0 and n <= REFUSED_UNTIL:
            ledger = _refused(folder, recording, ledger, falling, ordered)
        ledger.record(falling)
        tokens = after
        recording.say(("tokens", tokens))
        draft = falling[-1] if whims.random() < 0.1 else None
        ledger.deliver(whims.randint(0, ledger.last_seq))
        recording.say(("delivered", ledger.delivered))
        if n % RENEWED_EVERY == RENEWED_AT:
            tokens, draft = _renewed(recording, ledger, tokens, f"{n:032x}"), None
        if n % RESTART_EVERY == RESTART_AT:
            ledger.close()
            ledger = _opened(folder, ordered)
    ledger.close()


def _renewed(recording: Recording, ledger: Ledger, tokens: list[Token], source: str) -> list[Token]:
    """Let a new source begin with what is not delivered, and return all tokens as they are then."""
    waiting = [token for token in tokens if token.source == ledger.source and token.seq > ledger.delivered]
    after = tokens[: len(tokens) - len(waiting)]
    after += [dataclasses.replace(token, source=source, seq=seq) for seq, token in enumerate(waiting, 1)]
    recording.say(("next_source", source))
    recording.say(("offered", after))
    ledger.renew(source, "ledger_restored", NOON)
    recording.say(("source", source))
    recording.say(("tokens", after))
    recording.say(("delivered", ledger.delivered))
    return after


def _refused(
    folder: Path,
    recording: Recording,
    ledger: Ledger,
    falling: list[UnnumberedToken],
    ordered: Callable[[Ledger], None],
) -> Ledger:
    """Let a commit fail at its sync and open the ledger again, as the pipeline does; the log may hold it already."""
    recording.refuses = True
    with suppress(LedgerTrouble):
        ledger.record(falling)
    ledger.abandon()
    recording.refuses = False
    return _opened(folder, ordered)


def check(folder: Path, promise: Promise) -> str:
    """Open an image with the real code; return what is wrong with it, or nothing."""
    path = folder / FILE_NAME
    try:
        ledger = Ledger.open(path, lambda: "0" * 32)
    except (LedgerError, LedgerTrouble) as error:
        return f"corrupt: {error}"
    with closing(ledger):
        tokens = list(ledger.tokens())
        if promise.source is None:
            return "invented: tokens before the first" if tokens else ""
        renewed = ledger.source == promise.next_source
        if ledger.source != promise.source and not renewed:
            return "lost: the whole ledger"
        if renewed and not ledger.notices:
            return "lost: the notice of a new source"
        if tokens != promise.tokens and tokens != promise.offered:
            return f"lost: {len(promise.tokens)} tokens were recorded, {len(tokens)} others are found"
        if ledger.totals != {god: sum(token.god is god for token in tokens) for god in God}:
            return f"corrupt: the totals are {ledger.totals}"
        if ledger.delivered > max(promise.delivered, 0):
            return f"invented: {ledger.delivered} are delivered; expected at most {promise.delivered}"
        (recorded,) = ledger.record([AFTER])
        own = sum(token.source == ledger.source for token in tokens)
        if recorded.seq != own + 1:
            return f"corrupt: the next number is {recorded.seq}; expected {own + 1}"
    with closing(sqlite3.connect(path)) as raw:
        verdict = raw.execute("PRAGMA integrity_check").fetchone()[0]
        return "" if verdict == "ok" else f"corrupt: {verdict}"


def _opened(folder: Path, ordered: Callable[[Ledger], None]) -> Ledger:
    ledger = Ledger.open(folder / FILE_NAME, lambda: "5" * 32)
    ordered(ledger)
    return ledger


def _after(ledger: Ledger, before: list[Token], falling: list[UnnumberedToken]) -> list[Token]:
    """Return what the tokens are once these are recorded; by the law of `Ledger.record`, not from its code."""
    after = list(before)
    known = {token.token: place for place, token in enumerate(before)}
    for each in falling:
        place = known.get(each.token, len(after))
        at = before[place].at if place < len(before) else each.at
        width_ms = round(each.width_ns / 1e6, 3)
        seq = place + 1 - sum(token.source != ledger.source for token in before)
        after[place : place + 1] = [Token(ledger.source, seq, each.token, each.god, at, width_ms, each.flags)]
    return after
