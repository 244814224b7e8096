"""A Pico while more falls than it can send at once: nothing is lost meanwhile, and all of it arrives afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module as module
from pathlib import Path
from typing import Any

import pytest

from templo import contract
from tests.firmware.test_pico_restored import Broker, Companion, Pico

QUEUE = 9
TOPIC = "templo/templo/"


@pytest.fixture
def pico(tmp_path: Path) -> Iterator[Pico]:
    """A board that is connected to a companion."""
    broker = Broker()
    Companion(broker)
    one = Pico(tmp_path / "flash", broker)
    one.turn()
    yield one
    one.off()


def test_a_queue_that_fills_up_within_each_write_and_each_exchange_never_overflows(pico: Pico) -> None:
    """One spell comes with each message that is sent, too."""
    left = [50]  # more in a second would be flicker

    def fall(number: int) -> None:
        beam = pico.beams[0]
        number = min(number, left[0])
        left[0] -= number
        beam.fallen += number
        assert beam.fallen - beam._seen <= QUEUE

    def meanwhile(one: Any, name: str, number: int) -> None:
        plain = getattr(one, name)

        def wrapped(*given: Any) -> Any:
            fall(number)
            return plain(*given)

        setattr(one, name, wrapped)

    meanwhile(pico.temple.ledger, "record", QUEUE)
    meanwhile(pico.link, "turn", QUEUE)
    meanwhile(pico.temple.ledger, "read", 1)
    pico.turn(3)
    assert left == [0]
    assert pico.temple.ledger.last_seq == pico.temple.window.delivered == 50
    assert [slot.missed_edges for slot in pico.temple.slots] == [0, 0]


def test_of_acks_that_come_at_once_the_last_of_this_ledger_counts_and_the_rest_is_not_read(
    pico: Pico, monkeypatch: pytest.MonkeyPatch
) -> None:
    pico.link.there = False
    pico.fall(6)
    pico._broker.companion = None
    pico.link.there = True
    pico.turn()
    wire, ledger, looked_at = module("wire"), pico.temple.ledger, []
    plain = wire.read

    def read(leaf: str, payload: bytes) -> Any:
        looked_at.append(payload)
        return plain(leaf, payload)

    monkeypatch.setattr(wire, "read", read)
    acks = [contract.encode(contract.Ack(ledger.source, seq, ledger.name(seq), doubts=0)) for seq in range(1, 6)]
    acks += [contract.encode(contract.Ack("f" * 32, 9, "e" * 32, doubts=0)), b'nonsense with "doubts"']
    pico.link.inbox += [(TOPIC + "ack", each, False) for each in acks]
    pico.turn(0.05)
    assert pico.temple.window.delivered == 5
    assert looked_at == acks[:3:-1]


def test_a_number_that_another_token_has_is_read_although_the_mark_comes_with_it(pico: Pico) -> None:
    """The mark may be at a later token of this very ledger."""
    pico.link.there = False
    pico.fall(6)
    pico._broker.companion = None
    pico.link.there = True
    pico.turn()
    ledger = pico.temple.ledger
    source, names = ledger.source, [ledger.name(seq) for seq in range(1, 7)]
    acks = [contract.Ack(source, seq, "f" * 32) for seq in (3, 5)] + [contract.Ack(source, 6, names[5], doubts=0)]
    pico.link.inbox += [(TOPIC + "ack", contract.encode(each), False) for each in acks]
    pico.turn(0.05)
    ledger = pico.temple.ledger
    assert ledger.source != source
    assert [ledger.name(seq) for seq in range(1, ledger.last_seq + 1)][-4:] == names[2:]
