"""Waiting messages are taken in turns, and unknown senders slowly; a flood costs the others no turn."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from companion.adapters.backlog import (
    MESSAGES_AT_ONCE,
    MOST_OF_A_KIND,
    MOST_TEMPLES,
    NEW_NAMES,
    NEW_SOURCES,
    STRANGERS,
    Backlog,
)
from templo import contract
from tests.brokers import mosquitto
from tests.companion.adapters.test_intake import Temple, listening, status, total
from tests.companion.conftest import OTHER, SOURCE, Home
from tests.waiting import eventually

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass
class Known:
    """The answers of a store."""

    speaking: dict[str, str] = field(default_factory=lambda: {"templo": SOURCE})
    ledgers: set[str] = field(default_factory=set)

    def is_known(self, temple: str, source: str = "") -> bool:
        return temple in self.speaking and (not source or source in self.ledgers | {*self.speaking.values()})

    def is_current(self, temple: str, source: str) -> bool:
        return self.speaking.get(temple) == source

    def count(self) -> int:
        return len(self.speaking)


class Seconds:
    """A clock that moves when a test says so."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def known() -> Known:
    return Known()


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def backlog(known: Known, seconds: Seconds) -> Backlog:
    return Backlog(known, seconds, waiting=1000)


def token(seq: int, source: str = SOURCE) -> contract.Token:
    return contract.Token(source, seq, f"{seq:032x}", contract.God.TLALOC, NOON, 14.0, frozenset(), False)


def seqs(taken: list[tuple[str, contract.Message] | bool | None], source: str = SOURCE) -> list[int]:
    messages = [each[1] for each in taken if isinstance(each, tuple)]
    return [each.seq for each in messages if isinstance(each, contract.Token) and each.source == source]


def test_what_can_be_taken_at_once_is_taken_in_the_order_in_which_it_came(backlog: Backlog) -> None:
    messages = [token(1), status(), token(2), token(3), status()]
    for message in messages:
        assert backlog.put("templo", message)
    assert backlog.take(500, 0) == [("templo", message) for message in messages]
    assert backlog.take(500, 0) == []


def test_a_ledger_that_speaks_for_its_temple_has_its_turn_however_much_another_sends(
    backlog: Backlog, known: Known
) -> None:
    known.speaking["other"] = OTHER
    for seq in range(1, 901):
        assert backlog.put("other", token(seq, OTHER))
    assert backlog.put("templo", token(1))
    taken = backlog.take(10, 0)
    assert seqs(taken) == [1]
    assert seqs(taken, OTHER) == list(range(1, 10)), "and what one leaves is the other's"


def test_where_no_more_can_wait_the_longest_lane_gives_way(backlog: Backlog, known: Known) -> None:
    known.speaking["other"] = OTHER
    put = [backlog.put("other", token(seq, OTHER)) for seq in range(1, 1101)]
    assert put.count(True) == 1000
    assert backlog.put("templo", token(1))
    taken = backlog.take(2000, 0)
    assert seqs(taken) == [1]
    assert seqs(taken, OTHER) == list(range(1, 1000)), "its newest was dropped, and those left have no gap"


def test_ledgers_that_speak_for_no_temple_are_taken_slowly_and_after_the_others(
    backlog: Backlog, known: Known, seconds: Seconds
) -> None:
    known.ledgers.add(OTHER)
    for seq in range(1, 601):
        backlog.put("templo", token(seq, OTHER))
    backlog.put("templo", token(1))
    first = backlog.take(500, 0)
    assert (seqs(first), len(seqs(first, OTHER))) == ([1], STRANGERS[0])
    assert backlog.take(500, 0) == []
    seconds.now += 2
    assert len(seqs(backlog.take(500, 0), OTHER)) == 2 * STRANGERS[1]


def test_few_new_ledgers_of_a_temple_are_let_in_and_the_known_one_goes_on(backlog: Backlog, seconds: Seconds) -> None:
    let_in = [backlog.put("templo", token(1, f"{n:032x}")) for n in range(500)]
    assert let_in.count(True) == NEW_SOURCES[0]
    assert backlog.put("templo", token(1))
    assert backlog.put("templo", token(2, f"{0:032x}")), "one that was let in stays so"
    seconds.now += 60
    assert [backlog.put("templo", token(1, f"{n:032x}")) for n in range(500, 510)].count(True) == 1


def test_few_new_names_are_let_in_and_never_more_than_a_store_should_hold(
    backlog: Backlog, known: Known, seconds: Seconds
) -> None:
    let_in = [backlog.put(f"temple-{n}", status(f"{n:032x}")) for n in range(2 * NEW_NAMES[0])]
    assert let_in.count(True) == NEW_NAMES[0]
    assert backlog.expects("temple-0")
    assert not backlog.expects(f"temple-{2 * NEW_NAMES[0] - 1}"), "so that what it sends is not even read"
    assert backlog.expects("templo")
    seconds.now += 3600
    known.speaking |= {f"old-{n}": f"{n:032x}" for n in range(MOST_TEMPLES)}
    assert not backlog.put("one-more", status())


def test_of_what_says_how_a_temple_is_the_newest_is_taken_and_not_much_at_once(backlog: Backlog) -> None:
    for n in range(MOST_OF_A_KIND + 50):
        assert backlog.put("templo", status(f"{n:032x}"))
    taken = [each[1] for each in backlog.take(500, 0) if isinstance(each, tuple)]
    assert len(taken) == MESSAGES_AT_ONCE
    while more := backlog.take(500, 0):
        taken += [each[1] for each in more if isinstance(each, tuple)]
    assert [each.source for each in taken if isinstance(each, contract.Status)] == [
        f"{n:032x}" for n in range(50, 150)
    ]


def test_the_end_comes_after_everything_that_waits(backlog: Backlog) -> None:
    backlog.put_event(True)
    backlog.put_event(None)
    backlog.put("templo", token(1))
    assert backlog.take(500, 0) == [True, ("templo", token(1))]
    assert backlog.take(500, 0) == [None]


def test_whoever_waits_is_woken_by_the_first_message(known: Known) -> None:
    backlog = Backlog(known, time.monotonic)
    taken: list[object] = []
    waiting = threading.Thread(target=lambda: taken.extend(backlog.take(500, 60)))
    waiting.start()
    backlog.put("templo", token(1))
    waiting.join(60)
    assert taken == [("templo", token(1))]


def test_whoever_waits_is_woken_for_something_else_too(known: Known) -> None:
    backlog = Backlog(known, time.monotonic)
    backlog.wake()
    assert backlog.take(500, 60) == []
    backlog.put_event(True)
    assert backlog.take(500, 60) == [True]


# -- at a real broker --


@pytest.mark.parametrize("kind", ["names", "ledgers", "numbers", "statuses"])
def test_a_flood_costs_no_real_token_and_leaves_the_store_small(home: Home, tmp_path: Path, kind: str) -> None:
    """Thousands of messages stand before each real token; all of those arrive, in order, and score once."""
    table = home.table(temple="templo")
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple, hostile = Temple(broker.host, broker.port), Temple(broker.host, broker.port, "hostile")
        temple.says(status(), retain=True)
        tokens = [home.token(seq) for seq in range(1, 6)]
        temple.says(tokens[0])
        eventually(lambda: temple.acked() == 1)
        for real in tokens[1:]:
            for n in range(real.seq * 1000, real.seq * 1000 + 1000):
                name, message = _flood(home, kind, n)
                hostile.client.publish(contract.topic(name, message.leaf), contract.encode(message), qos=0)
            temple.says(real)
        for _ in range(18):
            with suppress(AssertionError):
                eventually(lambda: temple.acked() == 5, seconds=10)
            for real in tokens[temple.acked() :]:
                temple.says(real)  # as a temple does: a companion may have been too busy to keep its connection
        assert temple.acked() == 5
        temple.close()
        hostile.close()
    assert total(home, table.id) == 5
    assert [kept.token.seq for kept in home.store.table_tokens(table.id) if kept.token.source == SOURCE] == [
        1,
        2,
        3,
        4,
        5,
    ]
    assert home.services.temples.get("templo").source == SOURCE
    assert len(home.store.temples()) <= 1 + NEW_NAMES[0] + 1
    assert len(home.store.marks()) <= 1 + NEW_SOURCES[0] + NEW_NAMES[0]


def _flood(home: Home, kind: str, n: int) -> tuple[str, contract.Message]:
    """Return a temple's name and one message that looks as if it were that temple's."""
    stranger = f"{n:032x}"
    match kind:
        case "names":
            return f"temple-{n}", home.token(1, source=stranger, token=stranger)
        case "ledgers":
            return "templo", home.token(1, source=stranger, token=stranger)
        case "numbers":
            return "templo", home.token(1, token=stranger)
        case _:
            return "templo", replace(status(stranger), session="d" * 32)
