"""Home Assistant finds one device: held against the published format of device discovery, with its templates run.

The format's facts are those of Home Assistant's MQTT integration (its page "MQTT", device discovery payload, and the
pages of the sensor, binary sensor and button): which keys there are, which are required, and what each may be. They
were compared with the schemas by which the integration itself takes a device, its origin, availability and buttons.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment
from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion

from controller.adapters.home_assistant import announcement
from controller.core.publisher import Identity
from templo import contract
from templo.contract import Beam, God, LightEffect, State
from tests.brokers import HOST, Broker, leave, mosquitto
from tests.controller.program import Companion, Temple
from tests.waiting import eventually

NOON = datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)
SESSION = "a" * 32


# -- the format --

Check = Callable[[object], bool]


def _text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) < 255 and value.isprintable()


def _topic(value: object) -> bool:
    return _text(value) and not re.search(r"[+#\0]", str(value)) and len(str(value).encode()) < 65_536


def _template(value: object) -> bool:
    return isinstance(value, str) and bool(ImmutableSandboxedEnvironment().parse(value))


def _one_of(*values: object) -> Check:
    return lambda value: value in values


def _icon(value: object) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"mdi:[a-z0-9-]+", value))


ENTITY: dict[str, Check] = {
    "platform": _text,
    "unique_id": _text,
    "name": _text,
    "icon": _icon,
    "qos": _one_of(0, 1, 2),
    "enabled_by_default": _one_of(True, False),
    "availability": lambda value: isinstance(value, list) and bool(value),
    "availability_mode": _one_of("all", "any", "latest"),
}
PLATFORMS: dict[str, tuple[set[str], dict[str, Check]]] = {
    "sensor": (
        {"state_topic"},
        {
            "state_topic": _topic,
            "value_template": _template,
            "state_class": _one_of("measurement", "total", "total_increasing"),
            "unit_of_measurement": _text,
            "device_class": _text,
            "entity_category": _one_of("diagnostic"),
        },
    ),
    "binary_sensor": (
        {"state_topic"},
        {
            "state_topic": _topic,
            "value_template": _template,
            "device_class": _one_of("problem", "connectivity", "running", "safety"),
            "payload_on": _text,
            "payload_off": _text,
            "entity_category": _one_of("diagnostic"),
        },
    ),
    "button": (
        {"command_topic"},
        {
            "command_topic": _topic,
            "command_template": _template,
            "device_class": _one_of("identify", "restart", "update"),
            "payload_press": _text,
            "retain": _one_of(True, False),
            "entity_category": _one_of("config", "diagnostic"),
        },
    ),
    "light": (
        {"schema", "command_topic", "command_on_template", "command_off_template"},
        {
            "schema": _one_of("template"),
            "command_topic": _topic,
            "command_on_template": _template,
            "command_off_template": _template,
            "state_topic": _topic,
            "state_template": _template,
            "brightness_template": _template,
            "red_template": _template,
            "green_template": _template,
            "blue_template": _template,
            "effect_template": _template,
            "effect_list": lambda value: isinstance(value, list) and bool(value) and all(map(_text, value)),
        },
    ),
}
DEVICE: dict[str, Check] = {
    "identifiers": lambda value: isinstance(value, list) and bool(value) and all(map(_text, value)),
    "name": _text,
    "manufacturer": _text,
    "model": _text,
    "sw_version": _text,
    "configuration_url": lambda value: bool(urlsplit(str(value)).hostname) and str(value).startswith("http"),
}
ORIGIN: dict[str, Check] = {"name": _text, "sw_version": _text}
AVAILABILITY: dict[str, Check] = {
    "topic": _topic,
    "value_template": _template,
    "payload_available": _text,
    "payload_not_available": _text,
}


def _keys(where: str, given: dict[str, Any], known: dict[str, Check], required: set[str]) -> list[str]:
    faults = [f"{where} lacks {key}" for key in sorted(required - set(given))]
    for key, value in given.items():
        if key not in known:
            faults.append(f"{where} has {key}, which the format does not know")
        elif not known[key](value):
            faults.append(f"{where}.{key} is {value!r}")
    return faults


def faults_of(topic: str, payload: bytes) -> list[str]:
    """Return everything about a device's announcement that the published format does not allow."""
    if not re.fullmatch(r"homeassistant/device/([a-zA-Z0-9_-]+/)?[a-zA-Z0-9_-]+/config", topic):
        return [f"the topic is {topic}"]
    root = json.loads(payload)
    faults = _keys(
        "the payload",
        root,
        dict.fromkeys(("device", "origin", "components", "availability", "qos"), lambda _: True),
        {"device", "origin", "components"},
    )
    faults += _keys("device", root["device"], DEVICE, {"identifiers"})
    faults += _keys("origin", root["origin"], ORIGIN, {"name"})
    for each in root.get("availability", []):
        faults += _keys("availability", each, AVAILABILITY, {"topic"})
    ids = [part.get("unique_id") for part in root["components"].values()]
    faults += [f"{each} is the id of two" for each in set(ids) if ids.count(each) > 1]
    for key, part in root["components"].items():
        if part.get("platform") not in PLATFORMS:
            faults.append(f"{key}.platform is {part.get('platform')!r}")
            continue
        required, own = PLATFORMS[part["platform"]]
        faults += _keys(key, part, {**ENTITY, **own}, {"platform", "unique_id", *required})
        for each in part.get("availability", []):
            faults += _keys(f"{key}.availability", each, AVAILABILITY, {"topic"})
        if str(part.get("name", "")).startswith(root["device"]["name"]):
            faults.append(f"{key}.name repeats the device's, which is shown before it")
    return faults


# -- ours --


def identity(temple: str = "templo") -> Identity:
    return Identity(temple, SESSION, contract.Kind.PI, "1.0.0", contract.Timing.KERNEL)


def parts(temple: str = "templo") -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(announcement(identity(temple))[1])["components"]
    return found


def shown(template: str, message: contract.Message | None = None) -> str:
    """Render a template as Home Assistant does: a sandbox, the payload as `value_json`, and its two clocks."""
    environment = ImmutableSandboxedEnvironment()
    environment.globals |= {"utcnow": lambda: NOON, "timedelta": timedelta}
    value_json = None if message is None else json.loads(contract.encode(message))
    return environment.from_string(template).render(value_json=value_json)


@pytest.mark.parametrize("temple", ["templo", "a", "0-attic-0", "x" * 32])
def test_the_announcement_keeps_to_the_published_format(temple: str) -> None:
    topic, payload = announcement(identity(temple))
    assert topic == f"homeassistant/device/{temple}/config"
    assert faults_of(topic, payload) == []


def test_the_checker_finds_what_is_wrong() -> None:
    topic, payload = announcement(identity())
    for spoil, words in [
        (lambda root: root.pop("origin") and root.setdefault("origin", {}), "origin lacks name"),
        (lambda root: root["device"].update(identifiers=[]), "device.identifiers is []"),
        (lambda root: root["components"]["identify"].pop("command_topic"), "identify lacks command_topic"),
        (lambda root: root["components"]["identify"].update(state_class="total"), "which the format does not know"),
        (lambda root: root["components"]["beam_tlaloc"].update(device_class="trouble"), "device_class is 'trouble'"),
        (lambda root: root["components"]["total_tlaloc"].update(entity_category="config"), "is 'config'"),
        (lambda root: root["components"]["total_tlaloc"].update(state_topic="templo/+/count"), "templo/+/count"),
        (lambda root: root["components"]["total_tlaloc"].update(unique_id="templo-templo-identify"), "id of two"),
        (lambda root: root["components"]["total_tlaloc"].pop("unique_id"), "lacks unique_id"),
        (lambda root: root["components"]["total_tlaloc"].update(platform="lamp"), "platform is 'lamp'"),
    ]:
        root = json.loads(payload)
        spoil(root)
        assert any(words in fault for fault in faults_of(topic, json.dumps(root).encode())), words


def test_the_device_links_to_the_temple_s_page_where_that_is_known() -> None:
    page = "http://templo.local/temples/templo"
    topic, payload = announcement(identity(), page=page)
    assert faults_of(topic, payload) == []
    assert json.loads(payload)["device"]["configuration_url"] == page
    assert "configuration_url" not in json.loads(announcement(identity())[1])["device"]


def test_it_shows_what_was_promised_for_both_gods() -> None:
    kinds = {key: part["platform"] for key, part in parts().items()}
    expected = {"identify": "button"}
    for god in God:
        expected |= {f"{key}_{god}": "sensor" for key in ("total", "score", "glitches", "missed_edges")}
        expected |= {f"beam_{god}": "binary_sensor", f"drop_{god}": "button"}
    assert kinds == expected


def test_the_numbers_are_those_of_the_messages() -> None:
    totals = {God.HUITZILOPOCHTLI: 117, God.TLALOC: 111}
    found = parts()
    messages: dict[str, contract.Message] = {
        "total": contract.Count("5" * 32, 228, totals),
        "score": contract.Score("6" * 32, totals),
        "glitches": contract.Noise(SESSION, totals, dict.fromkeys(God, 0)),
        "missed_edges": contract.Noise(SESSION, dict.fromkeys(God, 0), totals),
    }
    for key, message in messages.items():
        for god in God:
            part = found[f"{key}_{god}"]
            assert part["state_topic"] == contract.topic("templo", message.leaf)
            assert shown(part["value_template"], message) == str(totals[god])


@pytest.mark.parametrize("beam", Beam)
def test_a_beam_is_a_problem_when_somebody_should_look_at_it(beam: Beam) -> None:
    status = identity().status(State.ALERT, {God.HUITZILOPOCHTLI: Beam.CLEAR, God.TLALOC: beam}, None)
    problem = beam in (Beam.JAMMED, Beam.DARK, Beam.FLICKER)
    assert shown(parts()["beam_tlaloc"]["value_template"], status) == ("ON" if problem else "OFF")
    assert shown(parts()["beam_huitzilopochtli"]["value_template"], status) == "OFF"


@pytest.mark.parametrize(
    ("state", "words"), [("ready", "online"), ("alert", "online"), ("stopped", "offline"), ("lost", "offline")]
)
def test_it_is_available_while_its_daemon_is(state: str, words: str) -> None:
    (available,) = json.loads(announcement(identity())[1])["availability"]
    assert available["topic"] == "templo/templo/status"
    assert shown(available["value_template"], identity().gone(State(state), None)) == words


@pytest.mark.parametrize(
    ("key", "name", "god"), [("identify", "identify", None), *[(f"drop_{god}", "drop", god) for god in God]]
)
def test_a_press_is_a_command_of_the_contract_that_soon_expires(key: str, name: str, god: God | None) -> None:
    part = parts()[key]
    assert part["command_topic"] == "templo/templo/command"
    assert part.get("retain", False) is False
    command = contract.decode("command", shown(part["command_template"]).encode())
    assert isinstance(command, contract.Command)
    assert (command.name, command.god, command.seq) == (name, god, None)
    assert timedelta(seconds=29) < command.expires - NOON <= timedelta(seconds=30)


def test_two_presses_are_two_commands() -> None:
    template = parts()["identify"]["command_template"]
    assert json.loads(shown(template))["id"] == f"{int(NOON.timestamp() * 1_000_000):032d}"


def lamps(coloured: bool) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(announcement(identity(), coloured)[1])["components"]["lamps"]
    return found


@pytest.mark.parametrize("coloured", [False, True])
def test_the_announcement_of_lamps_keeps_to_the_published_format(coloured: bool) -> None:
    topic, payload = announcement(identity(), coloured)
    assert faults_of(topic, payload) == []
    assert set(json.loads(payload)["components"]) == set(parts()) | {"lamps", "mood"}
    assert ("red_template" in lamps(coloured)) == coloured


def test_the_state_of_the_lamps_is_that_of_the_message() -> None:
    light = contract.Light(True, 77, (1, 20, 255), LightEffect.STEADY)
    found = lamps(coloured=True)
    shows = {key: shown(each, light) for key, each in found.items() if key.endswith("_template") and "_o" not in key}
    expected = {"state": "on", "brightness": "77", "red": "1", "green": "20", "blue": "255", "effect": "steady"}
    assert shows == {f"{key}_template": value for key, value in expected.items()}
    assert shown(found["state_template"], replace(light, on=False)) == "off"


@pytest.mark.parametrize(("fault", "words"), [(None, "online"), ("lights.spi is away", "offline")])
def test_lamps_that_cannot_be_driven_are_not_available(fault: str | None, words: str) -> None:
    found = lamps(coloured=True)
    temple, own = found["availability"]
    assert [temple] == json.loads(announcement(identity())[1])["availability"]
    assert found["availability_mode"] == "all"
    assert own["topic"] == found["state_topic"]
    light = contract.Light(False, 77, (1, 20, 255), LightEffect.STEADY, fault)
    assert shown(own["value_template"], light) == words


@pytest.mark.parametrize(
    ("given", "change"),
    [
        ({}, contract.SetLight(True)),
        ({"brightness": 9}, contract.SetLight(True, brightness=9)),
        ({"red": 1, "green": 2, "blue": 3}, contract.SetLight(True, colour=(1, 2, 3))),
        (
            {"effect": "steady", "brightness": 9},
            contract.SetLight(True, brightness=9, effect=LightEffect.STEADY),
        ),
    ],
)
def test_a_home_s_change_of_the_lamps_is_a_message_of_the_contract(
    given: dict[str, Any], change: contract.SetLight
) -> None:
    found, environment = lamps(coloured=True), ImmutableSandboxedEnvironment()
    assert found["command_topic"] == "templo/templo/set_light"
    written = environment.from_string(found["command_on_template"]).render(state="on", **given)
    assert contract.decode("set_light", written.encode()) == change
    off = environment.from_string(found["command_off_template"]).render(state="off")
    assert contract.decode("set_light", off.encode()) == contract.SetLight(False)


def test_lamps_of_one_colour_ignore_one_that_is_asked_for() -> None:
    template = ImmutableSandboxedEnvironment().from_string(lamps(coloured=False)["command_on_template"])
    assert contract.decode("set_light", template.render(red=1, green=2, blue=3).encode()) == contract.SetLight(True)


def test_the_mood_is_calm_or_the_signals_of_the_game() -> None:
    template = json.loads(announcement(identity(), False)[1])["components"]["mood"]["value_template"]
    assert shown(template, contract.Mood(None, ())) == "calm"
    assert shown(template, contract.Mood(None, ("countdown", "war"), 3)) == "countdown, war"


# -- at a real broker --


class Home:
    """A home that subscribes as Home Assistant does, and remembers what is retained."""

    def __init__(self, port: int) -> None:
        self.retained: dict[str, bytes] = {}
        self.client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        self.client.on_connect = lambda client, *_: client.subscribe([("homeassistant/#", 1), ("templo/#", 1)])
        self.client.on_message = self._on_message
        self.client.connect(HOST, port)
        self.client.loop_start()

    def _on_message(self, _client: Any, _data: Any, message: paho.MQTTMessage) -> None:
        if message.retain:
            self.retained[message.topic] = bytes(message.payload)

    def leave(self) -> None:
        leave(self.client)


def retained(broker: Broker) -> dict[str, bytes]:
    """Return what a home finds that comes later, once there is all of it."""

    def visit() -> dict[str, bytes]:
        home = Home(broker.port)
        time.sleep(0.5)
        home.leave()
        expected = {"homeassistant/device/templo/config", "templo/templo/noise"}
        return home.retained if expected <= set(home.retained) else {}

    found: dict[str, bytes] = eventually(visit)
    return found


def test_a_home_that_comes_later_finds_the_temple_and_so_it_does_after_the_broker_forgot(
    tmp_path: Path, temples: list[Temple]
) -> None:
    with mosquitto(tmp_path) as broker:
        temples.append(Temple(tmp_path / "state", broker.port).start())
        payload = retained(broker)["homeassistant/device/templo/config"]
        assert faults_of("homeassistant/device/templo/config", payload) == []
        broker.kill()
        broker.start()
        found = retained(broker)
        assert found["homeassistant/device/templo/config"] == payload
        assert contract.decode("noise", found["templo/templo/noise"])


def test_the_buttons_work_on_a_running_temple(tmp_path: Path, temples: list[Temple]) -> None:
    with mosquitto(tmp_path) as broker:
        temples.append(Temple(tmp_path / "state", broker.port).start())
        with Companion(broker.port) as companion:
            companion.until(lambda: companion.statuses())
            environment = ImmutableSandboxedEnvironment()
            environment.globals |= {"utcnow": lambda: datetime.now(UTC), "timedelta": timedelta}
            for key in ("identify", "drop_tlaloc"):
                pressed = environment.from_string(parts()[key]["command_template"]).render()
                companion.say_bytes("command", pressed.encode())
            companion.until(lambda: len(companion.replies()) == 2)
            assert all(reply.ok for reply in companion.replies())
            (token,) = companion.until(lambda: companion.tokens())
            assert (token.god, token.flags) == (God.TLALOC, {"test", "simulated"})
