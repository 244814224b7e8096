"""Copies of one ledger that count at once and talk to one companion, in lock step: nothing that fell stays behind.

The pipelines, the ledgers, the intake and the store are the real ones; only the broker is a list of messages.
"""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from companion.adapters import mqtt_intake
from companion.adapters.mqtt_intake import Intake
from controller.adapters.ledger_copy import read_copy
from controller.adapters.sqlite_ledger import FILE_NAME
from controller.core.counting import SECOND
from controller.core.messages import BrokerDisconnected, MessageReceived
from templo import contract
from templo.broker import BrokerSettings
from templo.contract import State, Trouble
from tests.companion.conftest import Home
from tests.controller.rig import Rig, close_all

RUNS = 25
ACTS = (
    ["drop"] * 3
    + ["send", "turn", "connect", "swallow"] * 2
    + ["talk", "lose", "crash", "clone", "minute", "full", "well"]
)
HEARD = (contract.Token, contract.Doubt, contract.Status, contract.Count)


class Sent:
    """A connection that keeps what was published."""

    subscribed = True
    address = None

    def __init__(self, *_: object, **__: object) -> None:
        self.published: list[contract.Message] = []

    def publish(self, topic: str, message: contract.Message) -> bool:
        self.published.append(message)
        return True

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Copy:
    """A temple with one of the copies."""

    def __init__(self, talk: Talk, folder: Path) -> None:
        self._talk = talk
        self.folder = folder
        self.start()

    def start(self) -> None:
        """Begin a run of it, which has a session of its own."""
        self.rig = Rig(self.folder, new_id=self._talk.new_id, session=self._talk.new_id())
        self.rig.access._read_copy = lambda: read_copy(self.folder / FILE_NAME)

    def connect(self) -> None:
        """Connect it, as under a new client id if it has a new source."""
        self.rig.broker.client_ids.clear()
        self.rig.connect()
        if self._talk.retained is not None:
            self.rig.take(MessageReceived(self._talk.retained))

    def lose(self, share: float = 1.0) -> None:
        """Break its connection; only a share of what it sent has arrived."""
        if self.rig.broker.up:
            sent = self.sent()
            gone = self.rig.pipeline.gone(State.LOST)
            self._talk.arrive([*sent[: round(share * len(sent))], gone])
        self.rig.broker.up = False
        self.rig.take(BrokerDisconnected())
        self.rig.broker.published.clear()

    def sent(self) -> list[contract.Message]:
        """Return what it has published since the last time."""
        sent, self.rig.broker.published = self.rig.broker.published, []
        return [each for each in sent if isinstance(each, HEARD)]

    def drop(self, number: int) -> list[str]:
        """Let tokens fall, and return their ids."""
        before = len(self.rig.ledger())
        for _ in range(number):
            self.rig.token()
        return [each.token for each in self.rig.ledger()[before:]]

    def take(self, messages: Sequence[contract.Message]) -> None:
        """Give it what a companion says."""
        if self.rig.broker.up:
            for each in messages:
                self.rig.take(MessageReceived(each))  # type: ignore[arg-type] # acks and commands
            if self.rig.broker.client_ids:
                self._talk.arrive(self.sent())
                self.rig.take(BrokerDisconnected())
                self.connect()


class Talk:
    """A companion, and the copies that talk to it under one name."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(mqtt_intake, "Connection", Sent)
        self._place = place
        self._ids = (f"{number:032x}" for number in itertools.count(1))
        self.home = Home(f"sqlite:///{place / 'companion.sqlite'}")
        self.home.table(temple="templo")
        self._intake = Intake(self.home.services, BrokerSettings("nowhere", 1), "0" * 32)
        self._intake._take([True])
        self._arrived: list[contract.Message] = []
        self._publications = itertools.count(1)
        self.retained: contract.Status | None = None
        (place / "0").mkdir()
        self.copies = [Copy(self, place / "0")]

    def new_id(self) -> str:
        return next(self._ids)

    def arrive(self, sent: Sequence[contract.Message]) -> None:
        """Bring what a copy sent to the companion, and its statuses to the other copies."""
        for message in sent:
            if isinstance(message, contract.Status):
                message = self.retained = replace(message, publication=next(self._publications))
                for each in self.copies:
                    if each.rig.broker.up:
                        each.rig.take(MessageReceived(message))
            self._arrived.append(message)

    def clone(self, of: Copy) -> Copy:
        """Copy a temple's card, and start both."""
        self.restart(of)
        of.rig.stop()
        folder = self._place / str(len(self.copies))
        shutil.copytree(of.folder, folder)
        of.start()
        self.copies.append(Copy(self, folder))
        return self.copies[-1]

    def restart(self, of: Copy, share: float = 1.0) -> None:
        of.lose(share)
        of.rig.disk.trouble = None
        of.rig.stop()
        of.start()

    def answers(self, arrived: Sequence[contract.Message]) -> list[contract.Message]:
        """Give the companion one batch, and return its acknowledgements and commands."""
        self._intake._take([("templo", each) for each in arrived])
        published = self._intake._connection.published  # type: ignore[attr-defined] # ours
        said = [each for each in published if isinstance(each, contract.Ack | contract.Command)]
        published.clear()
        return said

    def turn(self, whims: random.Random | None = None) -> None:
        """Let the companion read what has arrived, or a part of it, and the copies its answers, or a part of them."""
        cut = whims.randint(0, len(self._arrived)) if whims else len(self._arrived)
        batch, self._arrived = self._arrived[:cut], self._arrived[cut:]
        said = self.answers(batch)
        for each in self.copies:
            if whims and whims.random() < 0.3:
                each.take(said[: whims.randint(0, len(said))])
                each.lose(whims.random())
            else:
                each.take(said)

    def swallow(self, whims: random.Random) -> None:
        """Lose some of what is on its way to the companion, within connections that last."""
        self._arrived = [each for each in self._arrived if whims.random() < 0.5]

    def exchange(self) -> None:
        for _ in range(3):
            for each in self.copies:
                self.arrive(each.sent())
            self.turn()

    def minute(self) -> None:
        """Let so much time pass that everybody repeats what they repeat."""
        self._intake._acks_due = 0.0
        self.turn()
        for each in self.copies:
            each.rig.take(after_ns=31 * SECOND)

    def settle(self) -> None:
        """Mend every disk, connect everybody, and let minutes pass."""
        for each in self.copies:
            each.rig.disk.trouble = None
            each.rig.take(after_ns=SECOND)
            if not each.rig.broker.up:
                each.connect()
        for _ in range(10):
            self.exchange()
            self.minute()

    def missing(self) -> set[str]:
        """Return what some ledger holds, and the companion does not."""
        stored = {each.token.token for each in self.home.store.recent("templo", 100_000)}
        return {each.token for copy in self.copies for each in copy.rig.ledger()} - stored


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Talk]:
    talk = Talk(tmp_path, monkeypatch)
    yield talk
    talk.home.store.close()
    close_all()


def test_a_token_whose_number_a_copy_s_has_comes_again_though_a_later_one_was_taken_for_its_own(talk: Talk) -> None:
    """Of two copies each has a token stored under one number that the other's is held apart for."""
    (one,) = talk.copies
    one.drop(2)
    talk.settle()
    two = talk.clone(one)
    (a3, a4, a5), (b3, b4, b5, b6) = one.drop(3), two.drop(4)
    one.connect(), two.connect()
    sent = {each.token: each for copy in (one, two) for each in copy.sent() if isinstance(each, contract.Token)}
    for batch in ((a3, b3, b4, a4, a5), (b5, b6)):
        said = talk.answers([sent[each] for each in batch])
        one.take(said), two.take(said)
    talk.settle()
    assert talk.missing() == set()
    assert talk.home.services.temples.get("templo").quarantined == 0


def test_a_token_that_is_held_apart_comes_again_though_the_copy_that_has_its_number_is_gone(talk: Talk) -> None:
    (one,) = talk.copies
    one.drop(2)
    talk.settle()
    two = talk.clone(one)
    (a3, a4, a5), (b3, b4) = one.drop(3), two.drop(2)
    one.connect(), two.connect()
    sent = {each.token: each for copy in (one, two) for each in copy.sent() if isinstance(each, contract.Token)}
    one.take(talk.answers([sent[each] for each in (a3, b3, b4, a4, a5)]))
    talk.copies.remove(two)
    talk.settle()
    assert talk.missing() == set()
    assert talk.home.services.temples.get("templo").quarantined == 1, f"{b3} waits for a person"


def test_a_number_is_not_named_before_all_below_it_have_arrived(talk: Talk) -> None:
    """The copy whose token it is would take what is still on its way for stored."""
    (one,) = talk.copies
    one.drop(2)
    talk.settle()
    two = talk.clone(one)
    (a3, a4, a5), (b3, b4, b5) = one.drop(3), two.drop(3)
    one.connect(), two.connect()
    sent = {each.token: each for copy in (one, two) for each in copy.sent() if isinstance(each, contract.Token)}
    said = talk.answers([sent[each] for each in (b5, a5)])
    one.take(said), two.take(said)
    talk.settle()
    assert talk.missing() == set(), (a3, a4, b3, b4)


def act(talk: Talk, whims: random.Random) -> None:
    """Let one thing happen to one copy."""
    copy = whims.choice(talk.copies)
    match whims.choice(ACTS):
        case "drop":
            copy.drop(whims.randint(1, 3))
        case "send":
            talk.arrive(copy.sent())
        case "turn":
            talk.turn(whims if whims.random() < 0.4 else None)
        case "talk":
            talk.exchange()
        case "lose":
            copy.lose(whims.random())
        case "crash":
            talk.restart(copy, whims.random())
        case "clone" if len(talk.copies) < 3:
            talk.clone(copy)
        case "connect" if not copy.rig.broker.up:
            copy.connect()
        case "minute":
            talk.minute()
        case "swallow":
            talk.swallow(whims)
        case "full":
            copy.rig.disk.trouble = Trouble.LEDGER_FULL
        case "well":
            copy.rig.disk.trouble = None
            copy.rig.take(after_ns=SECOND)


@pytest.mark.parametrize("seed", range(RUNS))
def test_whatever_happens_to_up_to_three_copies_every_token_of_each_arrives(talk: Talk, seed: int) -> None:
    whims = random.Random(seed)
    for _ in range(whims.randint(8, 30)):
        act(talk, whims)
    talk.settle()
    assert talk.missing() == set()
