"""Doubts: in the ledger before they are published, sent until the companion has them, whatever dies in between."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from controller.adapters.ledger_recovery import open_ledger
from controller.adapters.sqlite_ledger import FILE_NAME, Ledger
from controller.core.counting import MS, SECOND
from controller.core.messages import BrokerConnected, BrokerDisconnected, EdgeSeen, MessageReceived
from controller.core.ports import UnnumberedDoubt, UnnumberedToken
from templo import contract
from templo.contract import Flag, God, Trouble
from tests.controller.rig import NOON, Rig

pytestmark = pytest.mark.usefixtures("expects_warnings")


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def doubts(rig: Rig) -> list[contract.Doubt]:
    return [message for message in rig.broker.published if isinstance(message, contract.Doubt)]


def flicker(rig: Rig, times: int = 12) -> None:
    """Let a lamp break a beam 50 times a second."""
    for number in range(times):
        at_ns = rig.now_ns
        width_ns = (4 + number % 3) * MS
        rig.take(EdgeSeen(God.TLALOC, at_ns, True), EdgeSeen(God.TLALOC, at_ns + width_ns, False), after_ns=20 * MS)


def acknowledge(rig: Rig, number: int) -> None:
    rig.take(MessageReceived(contract.Ack("5" * 32, 0, doubts=number)))


def test_what_light_made_is_doubted_by_ids_that_the_ledger_holds(rig: Rig) -> None:
    rig.connect()
    flicker(rig)
    rig.take(after_ns=SECOND)
    named = [token for doubt in doubts(rig) for token in doubt.tokens]
    assert named == [token.token for token in rig.ledger()]
    assert [doubt.number for doubt in doubts(rig)] == list(range(1, len(doubts(rig)) + 1))
    assert {doubt.reason for doubt in doubts(rig)} <= {"flicker", "regular"}


def test_a_token_that_is_doubted_when_it_is_counted_is_sent_after_its_doubt(rig: Rig) -> None:
    rig.connect()
    flicker(rig)
    order = [message for message in rig.broker.published if isinstance(message, contract.Token | contract.Doubt)]
    last = max(n for n, each in enumerate(order) if isinstance(each, contract.Token))
    latest = order[last]
    assert isinstance(latest, contract.Token)
    assert any(isinstance(each, contract.Doubt) and latest.token in each.tokens for each in order[:last])


def test_a_doubt_is_sent_again_until_it_is_stored(rig: Rig) -> None:
    rig.connect()
    flicker(rig, 8)
    acknowledge(rig, 0)
    (first,) = {doubt.number for doubt in doubts(rig)}
    rig.broker.published.clear()
    rig.take(after_ns=3 * SECOND)
    assert {doubt.number for doubt in doubts(rig)} == {first}
    acknowledge(rig, 1)
    rig.broker.published.clear()
    rig.take(BrokerDisconnected())
    rig.take(BrokerConnected())
    rig.take(after_ns=60 * SECOND)
    assert doubts(rig) == []


def test_a_companion_that_lost_its_store_gets_every_doubt_again(rig: Rig) -> None:
    rig.connect()
    flicker(rig)
    number = doubts(rig)[-1].number
    acknowledge(rig, number)
    rig.broker.published.clear()
    acknowledge(rig, 0)
    assert [doubt.number for doubt in doubts(rig)] == list(range(1, number + 1))


def test_more_doubts_than_were_ever_recorded_prove_a_restored_ledger(rig: Rig) -> None:
    rig.connect()
    flicker(rig, 8)
    acknowledge(rig, 7)
    assert rig.pipeline.source != "5" * 32
    rig.take(after_ns=SECOND)
    again = [doubt for doubt in doubts(rig) if doubt.source == rig.pipeline.source]
    assert [doubt.number for doubt in again] == [1]


def test_a_disk_that_refuses_keeps_a_doubt_until_it_takes_it(rig: Rig) -> None:
    rig.connect()
    rig.disk.trouble = Trouble.LEDGER_FULL
    flicker(rig)
    assert doubts(rig) == []
    rig.disk.trouble = None
    rig.take(after_ns=SECOND)
    named = {token for doubt in doubts(rig) for token in doubt.tokens}
    assert named == {token.token for token in rig.ledger()}


def test_a_dip_of_the_supply_is_a_doubt_about_both_slots_and_a_finding_for_ten_minutes(rig: Rig) -> None:
    rig.connect()
    at_ns = rig.now_ns
    rig.take(*(EdgeSeen(god, at_ns + n * MS, True) for n, god in enumerate(God)))
    rig.take(*(EdgeSeen(god, at_ns + (40 + n) * MS, False) for n, god in enumerate(God)), after_ns=SECOND)
    (doubt,) = doubts(rig)
    assert doubt.reason == "together"
    assert set(doubt.tokens) == {token.token for token in rig.ledger()}
    rig.take(after_ns=500 * SECOND)
    beams = rig.selftest()["beams"]
    assert isinstance(beams, dict)
    assert [finding["code"] for finding in beams[God.TLALOC]["findings"]] == ["dipped"]
    rig.take(after_ns=200 * SECOND)
    beams = rig.selftest()["beams"]
    assert isinstance(beams, dict)
    assert beams[God.TLALOC]["findings"] == []


def test_a_ledger_numbers_its_doubts_through_openings_and_damage(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    tokens = [UnnumberedToken(f"{n:032x}", God.TLALOC, NOON, 12 * MS) for n in range(3)]
    with closing(open_ledger(tmp_path, lambda: "5" * 32, lambda: NOON)) as ledger:
        ledger.record(tokens, doubts=[UnnumberedDoubt("flicker", NOON, (tokens[0].token,))])
        ledger.record([], doubts=[UnnumberedDoubt("together", NOON, (tokens[1].token, tokens[2].token))])
    with closing(Ledger.open(path, lambda: "6" * 32)) as ledger:
        found = ledger.doubts_after(0, 10)
        assert [(each.number, each.reason, len(each.tokens)) for each in found] == [
            (1, "flicker", 1),
            (2, "together", 2),
        ]
        assert ledger.last_doubt == 2
        ledger._connection.execute("UPDATE token SET god = 'moth' WHERE seq = 2")
    with closing(open_ledger(tmp_path, lambda: "6" * 32, lambda: NOON)) as ledger:
        assert [(each.number, each.tokens) for each in ledger.doubts_after(1, 10)] == [(2, found[1].tokens)]
        assert {notice.code for notice in ledger.notices} == {"ledger_damaged"}


def test_a_measured_token_and_a_jam_are_not_doubted(rig: Rig) -> None:
    rig.connect()
    at_ns = rig.now_ns
    rig.take(*(EdgeSeen(god, at_ns, True) for god in God), after_ns=SECOND)
    rig.take(*(EdgeSeen(god, rig.now_ns, False) for god in God), after_ns=SECOND)
    assert all(Flag.JAM in token.flags for token in rig.ledger())
    assert doubts(rig) == []
