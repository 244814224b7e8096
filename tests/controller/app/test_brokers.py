"""The daemon as a program against real brokers: nothing lost and nothing doubled, whatever is killed or frozen."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import pytest
from paho.mqtt import publish, subscribe

from templo import contract
from templo.contract import Beam, CommandName, Flag, God, Kind, State, Timing
from tests.brokers import Broker, mosquitto, nats
from tests.controller.program import Companion, Starter, Temple
from tests.waiting import eventually

Maker: TypeAlias = Callable[..., AbstractContextManager[Broker]]
both = pytest.mark.parametrize("make", [mosquitto, nats])


def exactly_once(temple: Temple, companion: Companion) -> None:
    """Everything that was recorded is kept, once, under its own id; and nothing else is."""
    rows = {(row["source"], row["seq"]): row["token"] for row in temple.ledger()}
    companion.until(lambda: len(companion.kept) >= len(rows), 45)
    assert {key: token.token for key, token in companion.kept.items()} == rows
    assert not companion.clashes
    eventually(lambda: temple.report()["waiting"] == 0)


@both
def test_a_token_reaches_the_companion_with_everything_the_contract_says(
    make: Maker, tmp_path: Path, started: Starter
) -> None:
    with make(tmp_path) as broker, Companion(broker.port) as companion:
        temple = started(broker.port)
        birth = companion.until(lambda: companion.statuses())[-1]
        assert (birth.state, birth.kind, birth.timing) == (State.READY, Kind.SIMULATOR, Timing.SIMULATED)
        assert birth.beams == dict.fromkeys(God, Beam.UNPROVED)
        before = datetime.now(UTC)
        temple.press("ht")
        tokens = companion.until(lambda: len(companion.tokens()) == 2 and companion.tokens())
        assert {token.god for token in tokens} == set(God)
        assert [token.seq for token in tokens] == [1, 2]
        for token in tokens:
            assert token.source == birth.source
            assert token.flags == {Flag.SIMULATED}
            assert token.width_ms == pytest.approx(12 if token.god is God.TLALOC else 17, abs=0.01)
            assert token.at - before < timedelta(minutes=2)
            assert not token.replayed
        exactly_once(temple, companion)
        counts = companion.until(
            lambda: [m for m in companion.received if isinstance(m, contract.Count) and m.seq == 2]
        )
        assert counts[-1].totals == dict.fromkeys(God, 1)
        assert companion.statuses()[-1].beams == dict.fromkeys(God, Beam.CLEAR)
        assert temple.stop() == 0
        companion.until(lambda: companion.statuses()[-1].state is State.STOPPED)


@both
def test_what_is_retained_informs_a_late_companion_how_the_temple_is(
    make: Maker, tmp_path: Path, started: Starter
) -> None:
    with make(tmp_path) as broker:
        temple = started(broker.port)
        temple.drop("huitzilopochtli", 3)
        with Companion(broker.port) as companion:
            companion.until(lambda: companion.statuses() and companion.statuses()[-1].state is State.READY)
            counts = companion.until(
                lambda: [m for m in companion.received if isinstance(m, contract.Count) and m.seq == 3]
            )
            assert counts[-1].totals == {God.HUITZILOPOCHTLI: 3, God.TLALOC: 0}


@both
def test_a_broker_killed_in_a_burst_on_both_slots_loses_and_doubles_nothing(
    make: Maker, tmp_path: Path, started: Starter
) -> None:
    with make(tmp_path) as broker, Companion(broker.port) as companion:
        temple = started(broker.port)
        temple.press("ht" * 60)
        companion.until(lambda: len(companion.kept) > 10)
        broker.kill()
        temple.press("th" * 20)
        eventually(lambda: temple.report()["last_seq"] == 160)
        broker.start()
        exactly_once(temple, companion)
        assert len(companion.kept) == 160
        news = [token.seq for token in companion.tokens() if not token.replayed]
        assert len(news) == len(set(news))


@both
def test_a_broker_frozen_past_the_keepalive_loses_and_doubles_nothing(
    make: Maker, tmp_path: Path, started: Starter
) -> None:
    with make(tmp_path) as broker, Companion(broker.port) as companion:
        temple = started(broker.port, "--set", "broker.keepalive_s=2")
        temple.press("ht" * 20)
        companion.until(lambda: len(companion.kept) > 5)
        broker.freeze()
        temple.press("h" * 40)
        eventually(lambda: temple.report()["broker"]["protocol"] is None)
        eventually(lambda: temple.report()["last_seq"] == 80)
        broker.thaw()
        exactly_once(temple, companion)


@both
def test_a_temple_killed_in_a_burst_loses_nothing_that_it_recorded_and_its_will_is_published(
    make: Maker, tmp_path: Path, started: Starter
) -> None:
    with make(tmp_path) as broker, Companion(broker.port) as companion:
        temple = started(broker.port)
        temple.press("ht" * 40)
        companion.until(lambda: len(companion.kept) > 10)
        temple.kill()
        lost = companion.until(lambda: companion.statuses()[-1].state is State.LOST and companion.statuses()[-1])
        assert lost.beams == dict.fromkeys(God, Beam.UNKNOWN)
        temple.start()
        companion.until(lambda: companion.statuses()[-1].state is State.READY)
        temple.drop("tlaloc", 5)
        exactly_once(temple, companion)
        assert 10 < len(companion.kept) <= 85


def test_a_frozen_broker_does_not_keep_a_temple_from_ending(tmp_path: Path, started: Starter) -> None:
    with mosquitto(tmp_path) as broker:
        temple = started(broker.port)
        eventually(lambda: temple.report()["broker"]["protocol"] == "5")
        broker.freeze()
        temple.drop("tlaloc", 3)
        assert temple.stop() == 0
        assert len(temple.ledger()) == 3


def test_tokens_that_no_companion_took_come_when_one_does_marked_as_replayed(
    tmp_path: Path, started: Starter
) -> None:
    with mosquitto(tmp_path) as broker:
        temple = started(broker.port)
        temple.drop("tlaloc", 30)
        with Companion(broker.port) as companion:
            exactly_once(temple, companion)
            assert all(token.replayed for token in companion.kept.values() if token.seq <= 20)


def test_a_companion_that_acknowledges_nothing_never_has_more_than_twenty_on_the_way(
    tmp_path: Path, started: Starter
) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port, v5=True) as companion:
        companion.acknowledges = False
        temple = started(broker.port)
        temple.drop("tlaloc", 40)
        again = companion.until(lambda: len(companion.tokens()) >= 40 and companion.tokens()[:40])
        assert [token.seq for token in again] == [*range(1, 21)] * 2
        assert not any(token.replayed for token in again[:20])
        assert all(token.replayed for token in again[20:])
        companion.acknowledges = True
        exactly_once(temple, companion)


def test_a_broker_that_comes_late_is_no_error(tmp_path: Path, started: Starter) -> None:
    with mosquitto(tmp_path) as broker:
        broker.kill()
        temple = started(broker.port)
        temple.drop("tlaloc", 2)
        assert temple.report()["broker"]["protocol"] is None
        broker.start()
        with Companion(broker.port) as companion:
            exactly_once(temple, companion)


def test_a_pulled_plug_is_a_lost_temple_until_it_is_back(tmp_path: Path, started: Starter) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temple = started(broker.port)
        companion.until(lambda: companion.statuses() and companion.statuses()[-1].state is State.READY)
        temple.press("p")
        companion.until(lambda: companion.statuses()[-1].state is State.LOST)
        temple.press("tt")
        eventually(lambda: temple.report()["last_seq"] == 2)
        assert not companion.kept
        temple.press("p")
        companion.until(lambda: companion.statuses()[-1].state is State.READY)
        exactly_once(temple, companion)


def test_a_beam_held_dark_is_an_alert_and_one_token_flagged_jam(tmp_path: Path, started: Starter) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temple = started(broker.port)
        temple.press("T")
        alert = companion.until(lambda: [each for each in companion.statuses() if each.state is State.ALERT])[-1]
        assert alert.beams[God.TLALOC] is Beam.JAMMED
        companion.until(lambda: companion.kept)
        assert "waits" not in temple.log()
        temple.press("T")
        companion.until(lambda: companion.statuses()[-1].state is State.READY)
        eventually(lambda: "\ntoken 1 waits: whose was it?\n" in temple.log())
        exactly_once(temple, companion)
        assert [token.flags for token in companion.kept.values()] == [{Flag.JAM, Flag.SIMULATED}]


# -- what a companion may ask --


def ask(companion: Companion, name: CommandName, **more: object) -> contract.Reply:
    """Send a command and wait for its reply."""
    number = secrets.token_hex(16)
    expires = more.pop("expires", datetime.now(UTC) + timedelta(seconds=30))
    companion.say(contract.Command(number, name, expires, **more))  # type: ignore[arg-type]
    reply: contract.Reply = companion.until(lambda: next((r for r in companion.replies() if r.id == number), None))
    return reply


def test_a_companion_may_ask_who_the_temple_is_and_for_a_test_token_and_for_a_replay(
    tmp_path: Path, started: Starter
) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temple = started(broker.port)
        companion.until(lambda: companion.statuses())
        temple.drop("huitzilopochtli", 3)
        identity = ask(companion, CommandName.IDENTIFY)
        assert identity.ok
        assert identity.result is not None
        facts = [identity.result[key] for key in ("temple", "kind", "last_seq", "source")]
        assert facts == ["templo", "simulator", 3, companion.statuses()[-1].source]

        dropped = ask(companion, CommandName.DROP, god=God.TLALOC)
        assert dropped.result == {"god": "tlaloc", "recorded": 1, "seq": 4}
        token = companion.until(lambda: [token for token in companion.tokens() if token.seq == 4])[0]
        assert token.flags == {Flag.SIMULATED, Flag.TEST}

        exactly_once(temple, companion)
        companion.kept.clear()
        assert ask(companion, CommandName.RESEND, seq=2).ok
        companion.until(lambda: len(companion.kept) == 3)
        assert sorted(seq for _, seq in companion.kept) == [2, 3, 4]
        assert all(token.replayed for token in companion.kept.values())


def test_what_a_temple_cannot_do_it_refuses_in_plain_words(tmp_path: Path, started: Starter) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        started(broker.port)
        companion.until(lambda: companion.statuses())
        asked: list[tuple[CommandName, dict[str, object], str]] = [
            (CommandName.CALIBRATE, {}, "needs a god"),
            (CommandName.CALIBRATE, {"god": God.TLALOC, "count": 101}, "expected 1 to 100"),
            (CommandName.CALIBRATE, {"god": God.TLALOC, "keep": True}, "nothing is proposed for tlaloc"),
            (CommandName.DROP, {}, "needs a god"),
            (CommandName.RESEND, {}, "needs seq"),
            (CommandName.RESEND, {"seq": 99}, "expected at most 1"),
            (CommandName.IDENTIFY, {"expires": datetime.now(UTC) - timedelta(seconds=9)}, "expired at"),
        ]
        for name, more, words in asked:
            reply = ask(companion, name, **more)
            assert not reply.ok
            assert words in str(reply.error)


def test_junk_and_foreign_acknowledgements_disturb_nothing(tmp_path: Path, started: Starter) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        companion.acknowledges = False
        companion.say(contract.Ack("00" * 16, 7), retain=True)
        temple = started(broker.port)
        source = companion.until(lambda: companion.statuses())[-1].source
        for junk in (b"", b"\xff\x00", b"[]", b'{"v":9}', b"{" * 9000, b'{"v":1,"source":"x","seq":-1}'):
            companion.say_bytes("ack", junk)
            companion.say_bytes("command", junk)
        companion.say(contract.Ack("00" * 16, 7))
        temple.drop("tlaloc", 3)
        companion.until(lambda: len(companion.kept) == 3)
        assert temple.report()["delivered"] == 0
        companion.say(contract.Ack(str(source), 3))
        eventually(lambda: temple.report()["delivered"] == 3)
        assert "ignored a message under 'templo/templo/ack'" in temple.log()
        assert "retained" in temple.log()


def test_an_acknowledgement_beyond_the_ledger_means_that_it_came_from_a_backup(
    tmp_path: Path, started: Starter
) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temple = started(broker.port)
        source = str(companion.until(lambda: companion.statuses())[-1].source)
        companion.say(contract.Ack(source, 50))
        alert = companion.until(lambda: [each for each in companion.statuses() if each.state is State.ALERT])[-1]
        assert [notice.code for notice in alert.notices] == ["ledger_restored"]
        assert alert.source != source
        temple.drop("tlaloc", 2)
        exactly_once(temple, companion)


def test_the_password_opens_the_broker_and_shows_nowhere(tmp_path: Path, started: Starter) -> None:
    users = tmp_path / "users"
    users.write_text("temple:secret-of-the-temple\n")
    users.chmod(0o600)
    subprocess.run(["mosquitto_passwd", "-U", str(users)], check=True)
    users.chmod(0o644)
    with mosquitto(tmp_path, config=f"allow_anonymous false\npassword_file {users}") as broker:
        refused = started(broker.port, name="refused")
        eventually(lambda: "refuses this temple: Not authorized" in refused.log())
        (tmp_path / "password").write_text("secret-of-the-temple\n")
        temple = started(
            broker.port,
            *("--log", "debug", "--set", "broker.user=temple"),
            TEMPLO_BROKER_PASSWORD_FILE=str(tmp_path / "password"),
        )
        eventually(lambda: temple.report()["broker"]["protocol"] == "5")
        assert "secret-of-the-temple" not in temple.log()


def test_any_amount_of_junk_is_a_few_lines_in_the_log(tmp_path: Path, started: Starter) -> None:
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temple = started(broker.port)
        companion.until(companion.statuses)
        for n in range(1000):
            companion.say_bytes("command", b"junk %d" % n)
        temple.drop()
        companion.until(companion.tokens)
        eventually(lambda: temple.report()["delivered"] == 1)
        assert 1 <= temple.log().count("ignored a message") <= 20


@pytest.mark.usefixtures("expects_warnings")  # paho's one-shot subscriber logs its own farewell as an error
@both
@pytest.mark.parametrize("junk", [b"junk", b""])
def test_a_status_that_junk_has_taken_the_place_of_is_said_again(
    make: Maker, junk: bytes, tmp_path: Path, started: Starter
) -> None:
    """Else a companion that starts later would not find the temple until its health next changed."""
    with make(tmp_path) as broker:
        temple = started(broker.port)
        topic = contract.topic("templo", contract.Status.leaf)
        eventually(lambda: temple.report()["broker"]["protocol"])
        publish.single(topic, junk, qos=1, retain=True, port=broker.port)

        def retained() -> bytes:
            return bytes(subscribe.simple(topic, qos=1, port=broker.port).payload)

        eventually(lambda: retained() != junk)
        status = contract.decode(contract.Status.leaf, retained())
        assert isinstance(status, contract.Status)
        assert status.state is State.READY
