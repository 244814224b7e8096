"""One run of chaos in a club: tokens and posts through faults, then the books, the logs and the pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.club import Club, Size
from tests.chaos.club_faults import DECK, LASTING
from tests.chaos.course import run_through
from tests.chaos.oracle import PostsVerdict, Verdict, doubts, judge, judge_posts, maybe
from tests.chaos.world import PATIENCE_S


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    size: Size
    faults: int
    verdicts: dict[str, Verdict]
    """For each temple."""
    posts: PostsVerdict
    accepted: int
    sent: int
    unanswered: int
    """Posts that were sent at least once without an answer."""
    received: int
    maybe: int
    entries: int
    unreadable: list[str]
    different: list[str]
    """Pages that the companions show differently at rest, or one of them does not show."""
    doubts: dict[str, str]
    """For each temple what was doubted and decided, in words."""
    raised: list[str]
    """Programs that ended by themselves."""
    seconds: float

    def wrong(self) -> list[str]:
        """Return a line for everything that is wrong."""
        lines = [f"{temple}: {line}" for temple, verdict in self.verdicts.items() for line in verdict.lines()]
        lines += self.posts.lines()
        lines += [f"a log that cannot be replayed: {each}" for each in self.unreadable]
        return [*lines, *(f"not shown, or differently: {path}" for path in self.different), *self.raised]

    def __str__(self) -> str:
        size = self.size
        found = {
            name: sum(len(getattr(verdict, name)) for verdict in self.verdicts.values())
            for name in Verdict.__dataclass_fields__
        }
        return (
            f"{size.workers} companions, {size.brokers} brokers, {size.temples} temples, {self.faults} faults in "
            f"{self.seconds:.0f} s; {size.tokens:,} tokens: "
            + ", ".join(f"{count} {name}" for name, count in found.items())
            + f"; {self.received:,} received, {self.maybe} under way when a temple died; {self.sent:,} posts, "
            f"{self.accepted:,} accepted, {self.unanswered} once without an answer: {self.posts}; "
            f"{self.entries:,} entries, {len(self.unreadable)} logs that cannot be replayed; "
            f"{len(self.different)} pages differ or fail; "
            + "; ".join(f"{temple}: {words}" for temple, words in self.doubts.items())
        )


def run(folder: Path, seed: str, size: Size, faults: int, say: Callable[[str], None] = lambda line: None) -> Outcome:
    """Let tokens fall and players post through so many faults."""
    with ExitStack() as scope:
        club = Club(folder, seed, size, scope)
        scope.callback(club.end)
        club.start()
        began = time.monotonic()
        course = run_through(club, DECK, LASTING, seed, faults, say)
        _settle(club, PATIENCE_S + size.tokens / 20)
        seconds = time.monotonic() - began
        club.desk.stop()
        time.sleep(1)
        different = _different_pages(club)
        for path in different:
            for worker in club.workers:
                (folder / f"{path.strip('/').replace('/', '-')}-{worker.number}.html").write_text(
                    club.page(worker.port, path)
                )
        books, posts = club.books(), club.posts()
        return Outcome(
            size=size,
            faults=course.faults,
            verdicts={temple.name: judge(each) for temple, each in zip(club.temples, books, strict=True)},
            posts=judge_posts(posts),
            accepted=len(posts.accepted),
            sent=len(club.desk.sent),
            unanswered=len(club.desk.unanswered),
            received=sum(len(each.store.tokens) for each in books),
            maybe=sum(len(maybe(each)) for each in books),
            entries=sum(len(log) for log in posts.logs),
            unreadable=club.unreadable(),
            different=different,
            doubts={temple.name: doubts(each) for temple, each in zip(club.temples, books, strict=True)},
            raised=course.raised,
            seconds=seconds,
        )


def _settle(club: Club, patience_s: float) -> None:
    """Wait until all tokens have arrived, or patience is at its end: the verdict says then what is missing."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        if all(temple.has_committed_all() for temple in club.temples):
            verdicts = [judge(books) for books in club.books()]
            if not any(verdict.lost or verdict.undelivered or verdict.undoubted for verdict in verdicts):
                return
        time.sleep(0.5)


def _different_pages(club: Club) -> list[str]:
    """Return which pages differ when all companions have had the time to follow."""
    until = time.monotonic() + PATIENCE_S
    while (different := club.different_pages()) and time.monotonic() < until:
        time.sleep(1)
    return different
