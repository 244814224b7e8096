"""The intake against real brokers: stored, then acknowledged; junk is named and changes nothing."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from companion.adapters import mqtt_intake
from companion.adapters.database.opening import sqlite_path
from companion.adapters.mqtt_intake import Intake
from companion.model.table import ServiceError
from companion.service.requests import Carrier
from templo import contract
from templo.broker import Address, BrokerSettings
from tests.brokers import leave, mosquitto, nats
from tests.companion.conftest import SOURCE, Home
from tests.waiting import eventually


class Temple:
    """A temple that sends what it is given, and stores what it receives."""

    def __init__(self, host: str, port: int, name: str = "templo") -> None:
        self.name = name
        self.received: list[contract.Message] = []
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv311)
        self.client.on_message = self._on_message
        self.client.on_connect = self._on_connect
        self.ready = False
        self.client.on_subscribe = self._on_subscribe
        self.client.connect(host, port)
        self.client.loop_start()
        eventually(lambda: self.ready)

    def _on_connect(self, client: mqtt.Client, *_: Any) -> None:
        client.subscribe([(contract.topic(self.name, "ack"), 1), (contract.topic(self.name, "command"), 1)])

    def _on_subscribe(self, *_: Any) -> None:
        self.ready = True

    def _on_message(self, client: mqtt.Client, data: Any, message: mqtt.MQTTMessage) -> None:
        self.received.append(contract.decode(contract.parse_topic(message.topic)[1], bytes(message.payload)))

    def says(self, message: contract.Message, *, retain: bool = False) -> None:
        self.raw(message.leaf, contract.encode(message), retain=retain)

    def raw(self, leaf: str, payload: bytes, *, retain: bool = False) -> None:
        self.client.publish(f"templo/{self.name}/{leaf}", payload, qos=1, retain=retain).wait_for_publish(10)

    def acks(self) -> list[contract.Ack]:
        return [each for each in self.received if isinstance(each, contract.Ack)]

    def acked(self) -> int:
        return max((each.seq for each in self.acks()), default=0)

    def close(self) -> None:
        leave(self.client)


@contextmanager
def listening(
    home: Home, host: str, port: int, up: bool = True, hotspot: Callable[[], bool] = lambda: False
) -> Iterator[Intake]:
    """Take in what a broker delivers; where the broker is up, from the first message on."""
    intake = Intake(home.services, BrokerSettings(host, port), "0" * 32, hotspot=hotspot)
    home.workspace.on_change = intake.notice
    intake.start()
    try:
        if up:
            eventually(lambda: intake.subscribed)
        yield intake
    finally:
        intake.stop()


def total(home: Home, table_id: str) -> object:
    table = home.services.tables.get(table_id)
    return table.game.page.view(table.state, None)["total"]


def status(
    source: str = SOURCE, session: str = "c" * 32, state: contract.State = contract.State.READY
) -> contract.Status:
    clear = dict.fromkeys(contract.God, contract.Beam.CLEAR)
    return contract.Status(state, session, contract.Kind.PI, "1", contract.Timing.KERNEL, clear, source)


@pytest.mark.parametrize("broker", [mosquitto, nats])
def test_tokens_are_kept_and_then_acknowledged(home: Home, tmp_path: Path, broker: Any) -> None:
    table = home.table(temple="templo")
    with broker(tmp_path) as running, listening(home, running.host, running.port):
        temple = Temple(running.host, running.port)
        temple.says(status(), retain=True)
        eventually(lambda: home.services.temples.get("templo").alive)
        for seq in range(1, 31):
            temple.says(home.token(seq))
        eventually(lambda: temple.acked() == 30)
        assert total(home, table.id) == 30
        temple.close()


def test_a_token_is_stored_then_on_its_table_s_pages_then_acknowledged_and_then_sent_to_others(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = home.table(temple="templo")
    order: list[str] = []

    def change(topic: str) -> None:
        with closing(sqlite3.connect(str(sqlite_path(home.url)))) as other:
            stored = other.execute("SELECT count(*) FROM token").fetchone()[0]
        order.append(f"{topic} with {stored} stored")
        intake.notice(topic)

    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port) as intake:
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        eventually(lambda: home.services.temples.get("templo").alive)
        eventually(lambda: intake._moods and not intake._is_news)
        publish = intake._connection.publish
        monkeypatch.setattr(
            intake._connection, "publish", lambda topic, message: (order.append(topic), publish(topic, message))[1]
        )
        home.workspace.on_change = change
        temple.says(home.token(1))
        eventually(lambda: len(order) >= 5)
        temple.close()
    assert order == [
        f"table:{table.id} with 1 stored",
        "temple:templo with 1 stored",
        "templo/templo/ack",
        "templo/templo/score",
        f"templo-tables/{table.id}/changed",
    ]


def test_an_acknowledgement_names_the_token_stored_as_its_number_and_the_time(home: Home, tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        temple.says(home.token(1, token="d" * 32))
        eventually(temple.acks)
        assert temple.acks() == [contract.Ack(SOURCE, 1, "d" * 32, home.clock.now, 0)]
        temple.close()


def test_a_temple_that_comes_is_sent_what_is_stored_of_its_ledger(home: Home, tmp_path: Path) -> None:
    home.services.temples.intake.receive([("templo", home.token(n)) for n in (1, 2, 3, 7)])
    home.restart()
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        eventually(temple.acks)
        assert temple.acks() == [contract.Ack(SOURCE, 3, f"{3:032x}", home.clock.now, 0)]
        temple.close()


def test_a_number_that_two_tokens_have_is_acknowledged_too_until_the_other_has_its_own(
    home: Home, tmp_path: Path
) -> None:
    """Else the copy of a ledger would learn that its own later token is stored, and never send the other again."""
    table = home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(n)) for n in (1, 2)])
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port) as intake:
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        eventually(temple.acks)
        late = [home.token(n, token=f"{n + 50:032x}") for n in (2, 3, 4)]
        intake._store([("templo", token) for token in late])
        eventually(lambda: len(temple.acks()) == 3)
        temple.says(home.token(5))
        eventually(lambda: len(temple.acks()) == 4)
        temple.says(status(session="d" * 32), retain=True)
        eventually(lambda: len(temple.acks()) == 6)
        assert [(each.seq, each.token) for each in temple.acks()] == [
            (2, f"{2:032x}"),
            *((2, f"{2:032x}"), (4, late[2].token)),
            (5, f"{5:032x}"),
            *((2, f"{2:032x}"), (5, f"{5:032x}")),
        ]
        temple.says(status("b" * 32, "d" * 32), retain=True)
        for seq, token in enumerate(late, 1):
            temple.says(replace(token, source="b" * 32, seq=seq))
        eventually(lambda: temple.acks()[-1].seq == 3)
        temple.says(status(session="e" * 32), retain=True)
        eventually(lambda: temple.acks()[-1].source == SOURCE)
        assert temple.acks()[-1].seq == 5
        assert total(home, table.id) == 6
        temple.close()


def test_a_temple_that_says_how_it_is_again_is_acknowledged_once_for_each_start(home: Home, tmp_path: Path) -> None:
    home.services.temples.intake.receive([("templo", home.token(1))])
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        eventually(temple.acks)  # the broker keeps the last status alone for a companion that connects late
        for session in ("c" * 32, "d" * 32):
            temple.says(status(session=session), retain=True)
        temple.says(status(session="d" * 32, state=contract.State.LOST), retain=True)
        temple.says(status(session="d" * 32), retain=True)
        temple.says(home.token(2))
        eventually(lambda: temple.acked() == 2)
        assert [each.seq for each in temple.acks()] == [1, 1, 1, 2]
        temple.close()


def test_a_ledger_of_which_nothing_is_stored_is_acknowledged_nothing_and_given_the_time(
    home: Home, tmp_path: Path
) -> None:
    home.services.temples.intake.receive([("templo", home.token(1))])
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        temple.says(status(source="b" * 32), retain=True)
        eventually(temple.acks)  # the broker keeps the last status alone for a companion that connects late
        temple.says(status(), retain=True)
        eventually(lambda: len(temple.acks()) == 2)
        assert [(each.source, each.seq, each.at) for each in temple.acks()] == [
            ("b" * 32, 0, home.clock.now),
            (SOURCE, 1, home.clock.now),
        ]
        temple.close()


def test_an_acknowledgement_by_a_stranger_changes_nothing_here(home: Home, tmp_path: Path) -> None:
    table = home.table(temple="templo")
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        temple.says(contract.Ack(SOURCE, 50, "f" * 32, home.clock.now))
        temple.says(home.token(1))
        eventually(lambda: contract.Ack(SOURCE, 1, f"{1:032x}", home.clock.now, 0) in temple.acks())
        assert home.services.temples.ledgers.mark(SOURCE).seq == 1
        assert total(home, table.id) == 1
        temple.close()


def test_a_temple_that_is_idle_learns_the_time_again_and_again(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("companion.adapters.mqtt_intake.ACK_EVERY", 0.1)
    home.services.temples.intake.receive([("templo", home.token(1))])
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        eventually(temple.acks)
        later = home.clock.pass_(minutes=1)
        eventually(lambda: temple.acks()[-1].at == later)
        temple.close()


def test_a_gap_is_requested(home: Home, tmp_path: Path) -> None:
    home.table(temple="templo")
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        temple.says(home.token(5))
        eventually(lambda: any(isinstance(each, contract.Command) for each in temple.received))
        command = next(each for each in temple.received if isinstance(each, contract.Command))
        assert (command.name, command.seq) == (contract.CommandName.RESEND, 1)
        assert temple.acked() == 0
        temple.close()


def test_junk_is_named_in_the_log_and_disturbs_nothing(
    home: Home, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = home.table(temple="templo")
    good = contract.encode(home.token(1))
    junk = [
        b"",
        b"\xff\xfe",
        b"[" * 9000,
        b"x" * 200_000,
        good.replace(b'"v":1', b'"v":2'),
        good.replace(b'"seq":1', b'"seq":-1'),
        good.replace(b'"seq":1', b'"seq":' + b"9" * 5000),
        good.replace(b"tlaloc", b"quetzalcoatl"),
        good.replace(b"2026", b"99999"),
    ]
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        for payload in junk:
            temple.raw("token", payload)
        temple.raw("status", b'{"v":1,"state":"happy"}', retain=True)
        temple.raw("token", good, retain=True)
        temple.says(home.token(2, token="e" * 32))
        temple.says(home.token(1))
        eventually(lambda: temple.acked() == 2)
        temple.close()
    assert total(home, table.id) == 2
    assert all(record.name == "templo.mqtt" for record in caplog.records if record.levelno >= logging.WARNING)
    assert "token.seq is -1; expected a whole number" in caplog.text
    assert "token.v is 2; expected 1" in caplog.text
    assert "200000 bytes" in caplog.text
    caplog.clear()


def test_any_amount_of_junk_is_a_few_lines_in_the_log(
    home: Home, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home.table(temple="templo")
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        for n in range(2000):
            temple.client.publish("templo/templo/token", b"junk %d" % n, qos=1)
        eventually(lambda: temple.says(home.token(1)) or temple.acked() == 1)  # a broker drops what it cannot queue
        temple.close()
    assert 1 <= len([record for record in caplog.records if record.levelno >= logging.WARNING]) <= 20
    caplog.clear()


def test_a_retained_token_is_no_news(home: Home, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = home.table(temple="templo")
    with mosquitto(tmp_path) as broker:
        temple = Temple(broker.host, broker.port)
        temple.raw("token", contract.encode(home.token(1)), retain=True)
        with listening(home, broker.host, broker.port):
            eventually(lambda: "token is retained; expected a live message" in caplog.text)
            assert total(home, table.id) == 0
        temple.close()
    caplog.clear()


def test_a_broker_that_comes_late_goes_and_comes_back_loses_nothing(home: Home, tmp_path: Path) -> None:
    table = home.table(temple="templo")
    with mosquitto(tmp_path) as broker:
        broker.kill()
        with listening(home, broker.host, broker.port, up=False):
            eventually(lambda: not home.services.temples.get("templo").reachable)
            broker.start()
            eventually(lambda: home.services.temples.get("templo").reachable)
            temple = Temple(broker.host, broker.port)
            temple.says(home.token(1))
            eventually(lambda: temple.acked() == 1)
            temple.close()
    assert total(home, table.id) == 1


def test_a_request_travels_to_its_temple_and_the_answer_back(home: Home, tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        eventually(lambda: [each.alive and each.reachable for each in home.services.temples.all()] == [True])
        home.services.temples.requests.send("templo", contract.CommandName.IDENTIFY, "one")
        (command,) = eventually(lambda: [each for each in temple.received if isinstance(each, contract.Command)])
        temple.says(contract.Reply(command.id, True, {"software": "9"}))
        eventually(lambda: home.services.temples.get("templo").request.stage == "answered")  # type: ignore[union-attr]
        temple.close()


def test_a_command_without_an_answer_is_sent_again_at_the_next_connection(home: Home, tmp_path: Path) -> None:
    """A temple carries it out once, however often it arrives; lost on the way, it would never be."""
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port) as intake:
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        eventually(lambda: [each.alive and each.reachable for each in home.services.temples.all()] == [True])
        home.services.temples.requests.send("templo", contract.CommandName.IDENTIFY, "one")

        def commands() -> list[str]:
            return [each.id for each in temple.received if isinstance(each, contract.Command)]

        eventually(lambda: len(commands()) == 1)
        for answered in (False, True):
            intake._connection.pull_plug(True)
            eventually(lambda: not home.services.temples.get("templo").reachable)
            intake._connection.pull_plug(False)
            eventually(lambda: home.services.temples.get("templo").reachable)
            if not answered:
                eventually(lambda: len(commands()) == 2)
                temple.says(contract.Reply(commands()[0], True, {"software": "9"}))
                eventually(lambda: home.services.temples.get("templo").request.stage == "answered")  # type: ignore[union-attr]
        home.services.temples.requests.send("templo", contract.CommandName.IDENTIFY, "two")
        eventually(lambda: len(commands()) == 3)
        assert len(set(commands())) == 2
        temple.close()


class Unanswered:
    """A connection to a broker that answers nothing; what was published is kept."""

    subscribed = True
    address = Address("127.0.0.1", 1)

    def __init__(self) -> None:
        self.published: list[contract.Message] = []

    def start(self) -> None:
        """Do nothing."""

    def publish(self, topic: str, message: contract.Message) -> bool:
        self.published.append(message)
        return True

    def stop(self) -> None:
        """Do nothing."""


class Watched(datetime):
    """A time that calls a function, once, when it is compared."""

    compared: Callable[[], object] = staticmethod(lambda: None)

    def __gt__(self, other: datetime) -> bool:
        hook, Watched.compared = Watched.compared, staticmethod(lambda: None)
        hook()
        return super().__gt__(other)


def test_commands_that_two_pages_send_at_once_are_both_sent_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    carriers: list[Carrier] = []
    monkeypatch.setattr(home.services.temples.requests, "connect", carriers.append)
    link = Unanswered()
    monkeypatch.setattr(mqtt_intake, "Connection", lambda *given, **named: link)
    intake = Intake(home.services, BrokerSettings("127.0.0.1", 1), "0" * 32)
    intake.start()
    expires = Watched(2100, 1, 1, tzinfo=UTC)
    first, second, third = (contract.Command(n * 32, contract.CommandName.IDENTIFY, expires) for n in ("1", "2", "3"))
    carriers[0]("templo", first)
    with ThreadPoolExecutor(1) as threads:
        Watched.compared = staticmethod(lambda: wait([threads.submit(carriers[0], "templo", second)], timeout=0.2))
        carriers[0]("templo", third)
    link.published.clear()
    intake.on_connected()
    intake.stop()
    assert [each for each in link.published if isinstance(each, contract.Command)] == [first, third, second]


def test_what_a_temple_finds_and_what_its_beams_counted_is_known_though_it_was_published_before(
    home: Home, tmp_path: Path
) -> None:
    nothing = dict.fromkeys(contract.God, 0)
    found = {contract.God.TLALOC: (contract.Finding("unproved"),), contract.God.HUITZILOPOCHTLI: ()}
    with mosquitto(tmp_path) as broker:
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        temple.says(contract.Noise("c" * 32, nothing, nothing), retain=True)
        findings = contract.Findings("c" * 32, home.clock.now, contract.Emitters.FIXED, {"band_ms": None}, found)
        temple.says(findings, retain=True)
        with listening(home, broker.host, broker.port):
            eventually(
                lambda: home.services.temples.all() and home.services.temples.get("templo").diagnosis == findings
            )
            eventually(lambda: home.services.temples.get("templo").noise)
        temple.close()


def test_a_table_that_moved_on_is_reported_by_its_id_and_never_by_its_code(home: Home, tmp_path: Path) -> None:
    received: list[tuple[str, bytes]] = []
    table = home.table()
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port) as intake:
        watcher = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv311)
        watcher.on_message = lambda client, data, message: received.append((message.topic, bytes(message.payload)))
        ready: list[object] = []
        watcher.on_subscribe = lambda *words: ready.append(words)
        watcher.connect(broker.host, broker.port)
        watcher.subscribe("templo-tables/#", qos=1)
        watcher.loop_start()
        eventually(lambda: ready and intake._versions is not None)
        assert received == []
        home.seated(table)
        eventually(lambda: received)
        leave(watcher)
    (topic, payload) = received[0]
    assert topic == f"templo-tables/{table.id}/changed"
    assert contract.decode("changed", payload) == contract.Changed(
        table.id, home.services.tables.get(table.id).version
    )
    assert table.code.encode() not in payload


class Failing:
    """Wraps a function, and raises as a failing store does until it is mended."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.failed = 0
        self.mended = False

    def __call__(self, *args: Any) -> Any:
        if self.mended:
            return self.function(*args)
        self.failed += 1
        raise ServiceError("store_failing", reason="gone")


def test_a_table_that_cannot_be_read_for_a_while_keeps_no_token_waiting(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a shared store, what others have entered at a table is read when its score is published."""
    home.table(temple="templo")
    monkeypatch.setattr(home.services.tables, "find", find := Failing(home.services.tables.find))
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        eventually(lambda: find.failed)
        temple.says(home.token(1))
        eventually(lambda: temple.acked() == 1)
        temple.close()


def test_a_reply_that_cannot_be_stored_is_stored_as_soon_as_it_can(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = home.services.temples.requests
    home.table(temple="templo")
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        eventually(lambda: home.services.temples.get("templo").alive)
        requests.send("templo", contract.CommandName.IDENTIFY, "a post")
        eventually(lambda: [each for each in temple.received if isinstance(each, contract.Command)])
        monkeypatch.setattr(requests, "receive_reply", receive := Failing(requests.receive_reply))
        command = next(each for each in temple.received if isinstance(each, contract.Command))
        temple.says(contract.Reply(command.id, True))
        eventually(lambda: receive.failed > 1)
        receive.mended = True
        eventually(lambda: (request := home.services.temples.get("templo").request) and not request.pending)
        temple.close()


NOTHING = dict.fromkeys(contract.God, 0)


@pytest.mark.parametrize(
    "message",
    [
        contract.Count(SOURCE, 1, {**NOTHING, contract.God.TLALOC: 1}),
        contract.Noise("c" * 32, NOTHING, NOTHING),
        contract.Findings(
            "c" * 32, datetime(2026, 11, 27, tzinfo=UTC), contract.Emitters.FIXED, {}, dict.fromkeys(contract.God, ())
        ),
        contract.Reply("a" * 32, True),
        None,
    ],
    ids=lambda message: message.leaf if message else "connection and time",
)
def test_whatever_comes_while_a_temple_cannot_be_read_again_is_known_as_soon_as_it_can(
    home: Home, monkeypatch: pytest.MonkeyPatch, message: contract.Message | None
) -> None:
    """A commit has failed and may have been made: the temple is read again before anything else about it changes."""
    home.table(temple="templo")
    home.services.temples.receive_status("templo", status())
    home.services.temples.set_reachable(False)
    monkeypatch.setattr(home.store, "temples", reading := Failing(home.store.temples))
    home.workspace.owners.forget(["temple:templo"])
    intake = Intake(
        home.services,
        BrokerSettings("127.0.0.1", 1),
        "0" * 32,
    )
    intake.start()
    intake.on_connected()
    if message is not None:
        intake.on_message(contract.topic("templo", message.leaf), contract.encode(message), False)
    eventually(lambda: reading.failed > 1)
    reading.mended = True
    eventually(lambda: home.services.temples.get("templo").reachable)
    intake.stop()
    assert (home.services.temples.get("templo").noise is not None) == isinstance(message, contract.Noise)


def doubt(number: int, *seqs: int, reason: str = "flicker") -> contract.Doubt:
    at = datetime(2026, 11, 21, 18, 42, 7, tzinfo=UTC)
    return contract.Doubt(SOURCE, number, reason, at, tuple(f"{seq:032x}" for seq in seqs))


def test_doubts_are_kept_and_then_acknowledged_in_their_order(home: Home, tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        temple.says(doubt(1, 1))
        temple.says(doubt(3, 3))
        temple.says(doubt(2, 2))
        eventually(lambda: any(each.doubts == 2 for each in temple.acks()))
        temple.says(doubt(3, 3))
        eventually(lambda: any(each.doubts == 3 for each in temple.acks()))
        assert [each.doubts for each in temple.acks()] == [1, 1, 2, 3]
        temple.close()
