"""Two temples under one name: who notices, and which of them begins a new source."""

from __future__ import annotations

import pytest

from controller.core.counting import SECOND
from controller.core.name_watch import ANSWERS, PROBE_NS, PROOFS, SILENT_NS, NameWatch
from templo.contract import Beam, God, Kind, State, Status, Timing

SMALLER, MINE, GREATER = "1" * 32, "5" * 32, "9" * 32
SOURCE, OTHER_SOURCE = "a" * 32, "b" * 32


def status(session: str, source: str = SOURCE, state: State = State.READY, publication: int | None = None) -> Status:
    beams = dict.fromkeys(God, Beam.CLEAR)
    return Status(state, session, Kind.PI, "1", Timing.KERNEL, beams, source, publication=publication)


LATER = 10 * SECOND
"""So long after a connection was made a will is of a temple that is gone."""


def duel(watch: NameWatch, other: Status, times: int, every_ns: int = SECOND) -> None:
    """Let the other's status take the place of ours at each connection, and ours come back, so many times."""
    for number in range(times):
        watch.take(status(MINE), number * every_ns)
        watch.connected(number * every_ns)
        watch.take(other, number * every_ns)


@pytest.mark.parametrize("state", [State.READY, State.LOST])
def test_the_one_with_the_greater_session_begins_a_new_source(state: State) -> None:
    """A temple that is thrown out at each of our connections is seen by its will, or by what it published before."""
    watch = NameWatch(MINE)
    duel(watch, status(SMALLER, state=state), PROOFS - 1)
    assert not watch.taken
    duel(watch, status(SMALLER, state=state), PROOFS)
    assert watch.taken
    assert watch.must_renew(SOURCE)
    assert not watch.must_renew(OTHER_SOURCE)
    assert not watch.must_renew(None)


def test_the_one_with_the_smaller_session_goes_on_and_knows_that_its_name_is_taken() -> None:
    watch = NameWatch(MINE)
    duel(watch, status(GREATER), PROOFS)
    assert watch.taken
    assert not watch.must_renew(SOURCE)


def test_a_namesake_with_a_ledger_of_its_own_is_a_conflict_and_no_copy() -> None:
    watch = NameWatch(MINE)
    duel(watch, status(SMALLER, OTHER_SOURCE), PROOFS)
    assert watch.taken
    assert not watch.must_renew(SOURCE)


def test_two_that_are_connected_at_once_learn_of_each_other_by_their_answers_and_then_rest() -> None:
    watches = {name: NameWatch(name) for name in (SMALLER, GREATER)}
    exchange = [SMALLER, GREATER]
    number = 0
    while exchange:
        speaker = exchange.pop(0)
        number += 1
        for name, watch in watches.items():
            if watch.take(status(speaker), number) and name not in exchange:
                exchange.append(name)
        assert number < 4 * ANSWERS
    assert all(watch.taken for watch in watches.values())
    assert watches[GREATER].must_renew(SOURCE)
    assert not watches[SMALLER].must_renew(SOURCE)


def test_an_earlier_run_of_this_temple_is_no_other_temple() -> None:
    watch = NameWatch(MINE)
    for number in range(2 * PROOFS):
        watch.connected(number)
        assert not watch.take(status(SMALLER), number)
        assert not watch.take(status(SMALLER, state=State.LOST), number)
    assert not watch.taken


def test_a_broker_that_brings_an_earlier_run_back_now_and_then_proves_nothing() -> None:
    watch = NameWatch(MINE)
    duel(watch, status(SMALLER), 4 * PROOFS, every_ns=61 * SECOND)
    assert not watch.taken


@pytest.mark.parametrize("state", [State.READY, State.LOST])
def test_a_broker_that_brings_one_publication_back_again_and_again_proves_nothing(state: State) -> None:
    watch = NameWatch(MINE)
    duel(watch, status(SMALLER, state=state, publication=3), 4 * PROOFS)
    assert not watch.taken


@pytest.mark.parametrize("state", [State.READY, State.LOST])
def test_one_that_publishes_anew_each_time_is_alive_though_earlier_publications_come_back_too(state: State) -> None:
    watch = NameWatch(MINE)
    for number in range(PROOFS):
        assert not watch.taken
        duel(watch, status(SMALLER, state=state, publication=1), 1)
        duel(watch, status(SMALLER, state=state, publication=number + 1), 1)
    assert watch.must_renew(SOURCE)


def test_earlier_runs_that_a_broker_brings_back_one_after_the_other_prove_nothing() -> None:
    watch = NameWatch(MINE)
    for number in range(PROOFS):
        duel(watch, status(f"{number:032x}"), 1)
    assert not watch.taken


@pytest.mark.parametrize("state", [State.LOST, State.STOPPED])
def test_a_temple_that_is_gone_has_left_the_name(state: State) -> None:
    watch = NameWatch(MINE)
    duel(watch, status(GREATER), PROOFS)
    watch.take(status(GREATER, state=state), LATER)
    assert not watch.taken
    assert watch.deadline() is None


def test_a_temple_that_was_known_and_comes_back_is_known_again_until_it_is_silent() -> None:
    watch = NameWatch(MINE)
    duel(watch, status(GREATER), PROOFS)
    assert not watch.advance(PROBE_NS - 1)
    assert watch.advance(LATER + PROBE_NS)
    watch.take(status(GREATER), SILENT_NS)
    assert watch.advance(SILENT_NS + PROBE_NS)
    assert watch.taken
    assert not watch.advance(2 * SILENT_NS + PROBE_NS)
    assert not watch.taken


def test_the_will_of_this_run_that_comes_late_is_answered_once() -> None:
    watch = NameWatch(MINE)
    assert not watch.take(status(MINE, state=State.LOST), 0)
    watch.take(status(MINE), 0)
    assert watch.take(status(MINE, state=State.LOST), 1)
    assert not watch.take(status(MINE, state=State.LOST), 2)


def test_the_last_status_of_a_lost_temple_is_always_replaced() -> None:
    """Whoever comes later would take its source for ours, and believe that nobody counts."""
    watch = NameWatch(MINE)
    watch.take(status(MINE), 0)
    for number in range(ANSWERS + 2):
        watch.take(status(SMALLER), LATER + number)
    assert not watch.take(status(SMALLER), LATER + SECOND)
    for state in (State.LOST, State.STOPPED):
        assert watch.take(status(SMALLER, state=state), LATER + SECOND)


def test_the_will_of_a_temple_that_ends_just_after_a_connection_is_answered_though_many_answers_were_given() -> None:
    watch = NameWatch(MINE)
    watch.take(status(MINE), 0)
    for number in range(ANSWERS + 1):
        watch.take(status(SMALLER, publication=number + 1), LATER + number)
    watch.connected(LATER + SECOND)
    assert watch.take(status(SMALLER, state=State.LOST), LATER + 2 * SECOND)


def test_what_was_not_answered_is_answered_later() -> None:
    watch = NameWatch(MINE)
    watch.take(status(MINE), 0)
    others = [f"{number:032x}" for number in range(ANSWERS + 1)]
    assert [watch.take(status(each), LATER) for each in others] == [*[True] * ANSWERS, False]
    assert not watch.taken
    due_ns = watch.deadline()
    assert due_ns is not None
    assert not watch.advance(due_ns - 1)
    assert watch.advance(due_ns)
    assert watch.deadline() is None
