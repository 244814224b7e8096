"""Home Assistant speaks MQTT 5 alone from its release 2027.1: at our broker it finds a temple and uses it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment
from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.reasoncodes import ReasonCode

from tests.appliance.installation import TEMPLE, Installation
from tests.brokers import HOST, Broker, leave, mosquitto, nats
from tests.controller.program import Temple
from tests.waiting import eventually

CONFIG = f"homeassistant/device/{TEMPLE}/config"


class Home:
    """A home that speaks MQTT 5, logged in as an installation's Home Assistant."""

    def __init__(self, port: int, password: str) -> None:
        self.latest: dict[str, bytes] = {}
        self.retained: set[str] = set()
        self.refused: list[str] = []
        self.answers: list[ReasonCode] = []
        self._answered = threading.Event()
        self.client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5, reconnect_on_failure=False)
        self.client.username_pw_set("homeassistant", password)
        self.client.on_connect = self._on_connect
        self.client.on_message = self._on_message
        self.client.on_publish = lambda _c, _d, _mid, reason, _p: self.answers.append(reason)
        self.client.connect(HOST, port)
        self.client.loop_start()
        assert self._answered.wait(60)

    def _on_connect(self, client: paho.Client, _data: Any, _flags: Any, reason: ReasonCode, _props: Any) -> None:
        if reason.is_failure:
            self.refused.append(str(reason))
        else:
            client.subscribe([("homeassistant/#", 1)])
        self._answered.set()

    def _on_message(self, _client: Any, _data: Any, message: paho.MQTTMessage) -> None:
        self.latest[message.topic] = bytes(message.payload)
        if message.retain:
            self.retained.add(message.topic)

    def parts(self) -> dict[str, dict[str, Any]]:
        """Return the entities of the temple, once it was found."""
        found: dict[str, dict[str, Any]] = json.loads(eventually(lambda: self.latest.get(CONFIG)))["components"]
        return found

    def watch(self) -> None:
        """Subscribe to every topic that an entity names."""
        topics = {part["state_topic"] for part in self.parts().values() if "state_topic" in part}
        self.client.subscribe([(topic, 1) for topic in sorted(topics)])

    def value(self, key: str) -> str:
        """Return what an entity shows now, or nothing."""
        part = self.parts()[key]
        if (payload := self.latest.get(part["state_topic"])) is None:
            return ""
        return render(part["value_template"], value_json=json.loads(payload))

    def press(self, key: str) -> None:
        """Press a button."""
        part = self.parts()[key]
        self.client.publish(part["command_topic"], render(part["command_template"]).encode(), qos=1)


def render(template: str, **variables: Any) -> str:
    environment = ImmutableSandboxedEnvironment()
    environment.globals |= {"utcnow": lambda: datetime.now(UTC), "timedelta": timedelta}
    return environment.from_string(template).render(**variables)


@contextmanager
def at_home(port: int, password: str) -> Iterator[Home]:
    home = Home(port, password)
    try:
        yield home
    finally:
        leave(home.client)


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    made = Installation(tmp_path / "installation")
    done = made.run()
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def broker(installation: Installation, tmp_path: Path) -> Iterator[Broker]:
    with mosquitto(tmp_path, config=installation.config()) as running:
        yield running


@pytest.fixture
def temple(broker: Broker, installation: Installation, tmp_path: Path) -> Iterator[Temple]:
    login = {
        "TEMPLO_BROKER_USER": f"temple-{TEMPLE}",
        "TEMPLO_BROKER_PASSWORD": installation.password(f"temple-{TEMPLE}"),
    }
    running = Temple(tmp_path / "state", broker.port, **login)
    try:
        yield running.start()
    finally:
        running.kill()


def test_a_home_of_mqtt_5_finds_the_temple_that_was_announced_before_it_came(
    broker: Broker, temple: Temple, installation: Installation
) -> None:
    with at_home(broker.port, installation.password("homeassistant")) as home:
        assert home.refused == []
        home.parts()
    with at_home(broker.port, installation.password("homeassistant")) as later:
        later.parts()
        assert CONFIG in later.retained


def test_a_home_of_mqtt_5_sees_the_temple_s_numbers_and_presses_its_buttons(
    broker: Broker, temple: Temple, installation: Installation
) -> None:
    with at_home(broker.port, installation.password("homeassistant")) as home:
        home.watch()
        temple.drop("tlaloc", 2)
        eventually(lambda: home.value("total_tlaloc") == "2")
        assert home.value("total_huitzilopochtli") == "0"
        assert home.value("beam_tlaloc") == "OFF"
        for key in ("identify", "drop_tlaloc"):
            home.press(key)
        eventually(lambda: [row["flags"] for row in temple.ledger()][2:] == [["simulated", "test"]])
        assert len(home.answers) == 2
        assert not any(reason.is_failure for reason in home.answers)


def test_the_bundled_broker_refuses_a_home_that_speaks_mqtt_5(tmp_path: Path) -> None:
    with nats(tmp_path) as broker, at_home(broker.port, "") as home:
        assert home.refused == ["Unsupported protocol version"]
