"""A ledger that comes back from a backup: what proves it, and that every token from then on counts."""

from __future__ import annotations

import itertools
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.core.counting import MS
from controller.core.messages import BrokerConnected, BrokerDisconnected, EdgeSeen, MessageReceived
from templo import contract
from templo.contract import CommandName, God, State, Trouble
from tests.controller.rig import NOON, Rig, close_all

pytestmark = pytest.mark.usefixtures("expects_warnings")


class Books:
    """A companion's store: what it holds of each source, and each token once by its id."""

    def __init__(self) -> None:
        self.stored: dict[str, list[str]] = {}
        self.counted: list[str] = []
        self.held_apart: list[str] = []

    def take(self, token: contract.Token) -> None:
        stored = self.stored.setdefault(token.source, [])
        if token.seq <= len(stored):
            if stored[token.seq - 1] != token.token and token.token not in self.counted:
                self.held_apart.append(token.token)
        elif token.seq == len(stored) + 1:
            stored.append(token.token)
            if token.token not in self.counted:
                self.counted.append(token.token)

    def ack(self, source: str, named: bool = True) -> contract.Ack | None:
        stored = self.stored.get(source)
        return contract.Ack(source, len(stored), stored[-1] if named else None) if stored else None


def converse(rig: Rig, books: Books) -> None:
    """Let temple and companion exchange what they have to say, as after a connection, until nothing moves."""
    rig.broker.up = True
    rig.broker.published.clear()
    rig.take(BrokerConnected())
    for _ in range(40):
        published, rig.broker.published = list(rig.broker.published), []
        for message in published:
            if isinstance(message, contract.Token):
                books.take(message)
        source = rig.pipeline.source
        assert source is not None
        ack = books.ack(source)
        rig.take(*([MessageReceived(ack)] if ack else []))
        if not rig.broker.published and not any(isinstance(message, contract.Token) for message in published):
            return


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


_ids = (f"{number:032x}" for number in itertools.count(1))


def begun(folder: Path) -> Rig:
    """Begin a run whose ids no other run has."""
    return Rig(folder, new_id=_ids.__next__)


def again(rig: Rig, folder: Path) -> Rig:
    rig.stop()
    return begun(folder)


def drop(rig: Rig, number: int) -> list[str]:
    before = len(rig.ledger())
    for _ in range(number):
        rig.token()
    return [token.token for token in rig.ledger()[before:]]


def test_every_token_that_falls_after_a_restored_ledger_counts(folder: Path, tmp_path: Path) -> None:
    books, rig = Books(), begun(folder)
    drop(rig, 20)
    converse(rig, books)
    rig.stop()
    shutil.copytree(folder, tmp_path / "copy")
    rig = begun(folder)
    drop(rig, 40)
    converse(rig, books)
    rig.stop()
    assert len(books.counted) == 60
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "copy", folder)
    rig = begun(folder)
    late = drop(rig, 60)
    before = rig.pipeline.source
    converse(rig, books)
    assert rig.pipeline.source != before
    assert set(late) <= set(books.counted)
    assert len(books.counted) == 120
    assert rig.pipeline.reporter.report()["waiting"] == 0
    status = rig.pipeline.reporter.status()
    assert status.state is State.ALERT
    assert [notice.code for notice in status.notices] == ["ledger_restored"]
    close_all()


def test_a_restored_ledger_sends_again_what_an_ack_for_a_later_token_seemed_to_say_was_stored(folder: Path) -> None:
    """Its third number was another token's at the companion, which holds the new one apart."""
    rig = begun(folder)
    rig.connect()
    late, before = drop(rig, 5), rig.pipeline.source
    assert before is not None
    rig.take(MessageReceived(contract.Ack(before, 5, late[4])))
    assert rig.pipeline.reporter.report()["waiting"] == 0
    rig = again(rig, folder)
    rig.connect()
    rig.take(MessageReceived(contract.Ack(before, 3, "f" * 32)))
    assert rig.pipeline.reporter.report()["waiting"] == 3
    sent = [each for each in rig.broker.published if isinstance(each, contract.Token) and each.source != before]
    assert [(each.seq, each.token) for each in sent] == [*enumerate(late[2:], 1)]


def test_a_number_that_another_token_has_is_believed_even_of_a_source_that_ended_meanwhile(folder: Path) -> None:
    """The proof came while the disk refused, or a copy was found between it and the mark."""
    rig = begun(folder)
    rig.connect()
    late, before = drop(rig, 3), rig.pipeline.source
    assert before is not None
    rig.take(MessageReceived(contract.Ack(before, 2, late[1])))
    rig.take(MessageReceived(contract.Ack(before, 50)))
    assert rig.pipeline.reporter.report()["waiting"] == 1
    proof = contract.Ack(before, 1, "f" * 32)
    rig.take(MessageReceived(proof))
    assert rig.pipeline.reporter.report()["waiting"] == 3
    rig.broker.published.clear()
    rig.connect()
    sent = [each for each in rig.broker.published if isinstance(each, contract.Token)]
    assert [(each.source, each.seq, each.token) for each in sent] == [
        (rig.pipeline.source, seq, token) for seq, token in enumerate(late, 1)
    ]
    source = rig.pipeline.source
    rig.take(MessageReceived(proof))
    assert rig.pipeline.source == source
    close_all()


def test_a_notice_is_there_after_a_restart_and_goes_when_a_person_dismisses_it(folder: Path) -> None:
    rig = begun(folder)
    rig.connect()
    drop(rig, 3)
    rig.take(MessageReceived(contract.Ack("5" * 32, 50)))
    rig = again(rig, folder)
    rig.connect()
    assert [notice.code for notice in rig.pipeline.reporter.status().notices] == ["ledger_restored"]
    expires = NOON + timedelta(days=1)
    wrong = contract.Command("1" * 32, CommandName.DISMISS, expires, notice="ledger_cloned")
    right = contract.Command("2" * 32, CommandName.DISMISS, expires, notice="ledger_restored")
    none = contract.Command("3" * 32, CommandName.DISMISS, expires)
    rig.take(MessageReceived(wrong), MessageReceived(right), MessageReceived(none))
    assert [(reply.ok, reply.code) for reply in rig.broker.replies()] == [
        (False, "no_notice"),
        (True, None),
        (False, "no_notice"),
    ]
    assert rig.pipeline.reporter.status().state is State.READY
    rig = again(rig, folder)
    assert rig.pipeline.reporter.status().notices == ()
    close_all()


def test_a_number_that_was_never_sent_marks_nothing_as_delivered(folder: Path) -> None:
    rig = begun(folder)
    ids = drop(rig, 20)
    rig.take(MessageReceived(contract.Ack("5" * 32, 20)))
    assert rig.pipeline.reporter.report()["waiting"] == 20
    rig.connect()
    sent = [message for message in rig.broker.published if isinstance(message, contract.Token)]
    assert [token.token for token in sent] == ids
    assert {token.source for token in sent} == {rig.pipeline.source}
    close_all()


def test_a_companion_that_stored_more_than_the_mark_on_disk_says_is_no_proof_of_a_backup(folder: Path) -> None:
    """A process that is killed forgets the last acknowledgements: they ride with the next token."""
    books, rig = Books(), begun(folder)
    drop(rig, 30)
    converse(rig, books)
    rig = begun(folder)  # the one before was killed: nothing was closed
    assert rig.pipeline.reporter.report()["waiting"] == 30
    converse(rig, books)
    assert rig.pipeline.reporter.status().notices == ()
    assert rig.pipeline.reporter.report()["waiting"] == 0
    assert len(books.counted) == 30
    close_all()


def test_another_token_under_the_same_number_proves_a_backup_though_the_number_is_low(folder: Path) -> None:
    rig = begun(folder)
    rig.connect()
    drop(rig, 5)
    rig.take(MessageReceived(contract.Ack("5" * 32, 3, "f" * 32)))
    assert rig.pipeline.source != "5" * 32
    assert rig.pipeline.reporter.report()["waiting"] == 5
    close_all()


def test_an_acknowledgement_of_an_earlier_source_moves_nothing(folder: Path) -> None:
    rig = begun(folder)
    rig.connect()
    drop(rig, 5)
    rig.take(MessageReceived(contract.Ack("5" * 32, 50)))
    rig.take(MessageReceived(contract.Ack("5" * 32, 5)), MessageReceived(contract.Ack("5" * 32, 90)))
    assert rig.pipeline.reporter.report()["waiting"] == 5
    assert len(rig.pipeline.reporter.status().notices) == 1
    close_all()


def test_a_restored_ledger_that_cannot_be_written_is_renewed_when_it_can(folder: Path) -> None:
    rig = begun(folder)
    rig.connect()
    drop(rig, 5)
    rig.disk.trouble = Trouble.LEDGER_FULL
    rig.take(MessageReceived(contract.Ack("5" * 32, 50)))
    rig.token()
    rig.disk.trouble = None
    rig.take(after_ns=10**9)
    rig.take(MessageReceived(contract.Ack("5" * 32, 50)))
    assert rig.pipeline.source != "5" * 32
    assert rig.pipeline.reporter.report()["waiting"] == 6
    close_all()


def test_a_new_source_whose_commit_seemed_to_fail_is_gone_on_with(folder: Path) -> None:
    books, rig = Books(), begun(folder)
    rig.connect()
    drop(rig, 5)
    rig.disk.fails_after_commit = True
    rig.take(MessageReceived(contract.Ack("5" * 32, 50)))
    assert rig.pipeline.reporter.status().trouble is Trouble.LEDGER_FAILING
    rig.token()
    rig.take(after_ns=10**9)
    assert rig.pipeline.source != "5" * 32
    assert rig.pipeline.reporter.status().trouble is None
    converse(rig, books)
    assert books.counted == [token.token for token in rig.ledger()]
    assert len(books.counted) == 6
    close_all()


def test_totals_of_a_new_source_are_of_its_own_tokens(folder: Path) -> None:
    rig = begun(folder)
    rig.connect()
    drop(rig, 5)
    rig.take(MessageReceived(contract.Ack("5" * 32, 3)))
    rig.take(MessageReceived(contract.Ack("5" * 32, 50)))
    rig.take(after_ns=10**9)
    counts = [message for message in rig.broker.published if isinstance(message, contract.Count)]
    assert (counts[-1].source, counts[-1].seq, sum(counts[-1].totals.values())) == (rig.pipeline.source, 2, 2)
    drop(rig, 1)
    rig = again(rig, folder)
    rig.connect()
    counts = [message for message in rig.broker.published if isinstance(message, contract.Count)]
    assert (counts[-1].seq, sum(counts[-1].totals.values())) == (3, 3)
    assert sum(rig.pipeline.reporter.report()["totals"].values()) == 6  # type: ignore[attr-defined]
    close_all()


def test_a_draft_under_way_is_recorded_once_though_a_new_source_begins(folder: Path) -> None:
    books, rig = Books(), begun(folder)
    rig.connect()
    drop(rig, 2)
    at_ns = rig.now_ns
    rig.take(EdgeSeen(God.TLALOC, at_ns, True), EdgeSeen(God.TLALOC, at_ns + 12 * MS, False), after_ns=13 * MS)
    assert len(rig.ledger()) == 3
    rig.take(MessageReceived(contract.Ack("5" * 32, 50)))
    assert rig.pipeline.reporter.report()["last_seq"] == 2
    rig.take(after_ns=20 * MS)
    converse(rig, books)
    assert books.counted == [token.token for token in rig.ledger()]
    assert len(books.counted) == 3
    close_all()


class Moves:
    DROP, TALK, CRASH, CLOSE, COPY, RESTORE = "drop", "talk", "crash", "close", "copy", "restore"


moves = st.lists(
    st.sampled_from([Moves.DROP, Moves.DROP, Moves.TALK, Moves.CRASH, Moves.CLOSE, Moves.COPY, Moves.RESTORE]),
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(moves, st.integers(1, 25))
def test_whatever_is_restored_and_whenever_no_token_that_falls_afterwards_is_lost_or_counts_twice(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], handful: int
) -> None:
    """What fell between the copy and its return, and was not delivered by then, is gone with the replaced file."""
    place = tmp_path_factory.mktemp("restored")
    folder, copy = place / "state", place / "copy"
    folder.mkdir()
    books, rig = Books(), begun(folder)
    fell: list[str] = []
    replaced: set[str] = set()
    for step in steps:
        match step:
            case Moves.DROP:
                rig.take(BrokerDisconnected())
                rig.broker.up = False
                fell += drop(rig, handful)
            case Moves.TALK:
                converse(rig, books)
            case Moves.CRASH:
                close_all()
                rig = begun(folder)
            case _:
                rig.stop()
                if step == Moves.COPY:
                    shutil.rmtree(copy, ignore_errors=True)
                    shutil.copytree(folder, copy)
                elif step == Moves.RESTORE and copy.exists():
                    replaced |= {token.token for token in rig.ledger()}
                    shutil.rmtree(folder)
                    shutil.copytree(copy, folder)
                rig = begun(folder)
    converse(rig, books)
    # A second talk: what was held apart before the proof came again under the new source.
    converse(rig, books)
    present = {token.token for token in rig.ledger()}
    assert len(books.counted) == len(set(books.counted))
    assert set(books.counted) <= set(fell)
    assert {token for token in fell if token in present} <= set(books.counted)
    assert set(fell) - present <= replaced
    close_all()
