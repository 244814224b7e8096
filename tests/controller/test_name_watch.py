"""Two temples under one name: who notices, and which of them begins a new source."""

from __future__ import annotations

import pytest

from controller import wire
from controller.counting import SECOND
from controller.name_watch import PROOFS, NameWatch
from controller.wire import Beam, God, Kind, State, Status, Timing

SMALLER, MINE, GREATER = "1" * 32, "5" * 32, "9" * 32
SOURCE, OTHER_SOURCE = "a" * 32, "b" * 32


def status(session: str, source: str = SOURCE, state: State = State.READY) -> Status:
    return Status(state, session, Kind.PI, "1", Timing.KERNEL, dict.fromkeys(God, Beam.CLEAR), source)


def duel(watch: NameWatch, other: Status, times: int, every_ns: int = SECOND) -> list[bool]:
    """Let the other's status take the place of ours, and ours come back, so many times."""
    verdicts = []
    for number in range(times):
        watch.take(status(MINE), SOURCE, number * every_ns)
        watch.connected()
        verdicts.append(watch.take(other, SOURCE, number * every_ns))
    return verdicts


def test_the_one_with_the_greater_session_begins_a_new_source() -> None:
    watch = NameWatch(MINE)
    assert duel(watch, status(SMALLER), PROOFS) == [False] * (PROOFS - 1) + [True]
    assert watch.taken


def test_the_one_with_the_smaller_session_goes_on_and_says_that_its_name_is_taken() -> None:
    watch = NameWatch(MINE)
    assert not any(duel(watch, status(GREATER), PROOFS))
    assert watch.taken


def test_a_namesake_with_a_ledger_of_its_own_is_a_conflict_and_no_copy() -> None:
    watch = NameWatch(MINE)
    assert not any(duel(watch, status(SMALLER, OTHER_SOURCE), PROOFS))
    assert watch.taken


def test_an_earlier_run_of_this_temple_is_no_other_temple() -> None:
    watch = NameWatch(MINE)
    for _ in range(2 * PROOFS):
        assert not watch.take(status(SMALLER), SOURCE, 0)
    assert not watch.taken


def test_a_broker_that_brings_an_earlier_run_back_now_and_then_proves_nothing() -> None:
    watch = NameWatch(MINE)
    assert not any(duel(watch, status(SMALLER), 4 * PROOFS, every_ns=20 * SECOND))
    assert not watch.taken


@pytest.mark.parametrize("state", [State.LOST, State.STOPPED])
def test_a_temple_that_is_gone_has_left_the_name(state: State) -> None:
    watch = NameWatch(MINE)
    duel(watch, status(GREATER), PROOFS)
    watch.take(status(GREATER, state=state), SOURCE, 0)
    assert not watch.taken
    assert not any(duel(NameWatch(MINE), status(SMALLER, state=state), 2 * PROOFS))


def test_a_temple_whose_ledger_cannot_be_read_begins_nothing() -> None:
    watch = NameWatch(MINE)
    for number in range(PROOFS):
        watch.take(status(MINE), None, number)
        watch.connected()
        assert not watch.take(status(SMALLER), None, number)
    assert watch.taken
    assert wire.Trouble.NAME_TAKEN == "name_taken"
