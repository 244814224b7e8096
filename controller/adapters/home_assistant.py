"""How Home Assistant finds this temple: one device with its sensors and buttons, as MQTT discovery describes them.

It knows topics and templates, and builds one payload; it never connects. Every value that it points at is one of
the wire contract's, so nothing is published for Home Assistant alone but this description.
"""

from __future__ import annotations

import json

from controller.core.publisher import Identity
from templo.contract import Beam, CommandName, Count, God, Noise, Score, State, Status, topic

PREFIX = "homeassistant"
"""Where Home Assistant looks, unless it was told otherwise."""

PRESSED_S = 30
"""How long the press of a button is good for; a temple that comes back later does not act on it."""

NAMES = {God.HUITZILOPOCHTLI: "Huitzilopochtli", God.TLALOC: "Tlaloc"}

_ALIVE = (State.READY, State.ALERT)
_FAULTS = (Beam.JAMMED, Beam.DARK, Beam.FLICKER)


def announcement(identity: Identity) -> tuple[str, bytes]:
    """Return the topic under which a temple is announced, retained, and the payload."""
    temple = identity.temple
    payload = {
        "device": {
            "identifiers": [f"templo-{temple}"],
            "name": "Templo Mayor" if temple == "templo" else f"Templo Mayor {temple}",
            "manufacturer": "Templo Mayor",
            "model": identity.kind,
            "sw_version": identity.software,
        },
        "origin": {"name": "templo-mayor", "sw_version": identity.software},
        "availability": [
            {
                "topic": topic(temple, Status.leaf),
                "value_template": f"{{{{ 'online' if value_json.state in {_listed(_ALIVE)} else 'offline' }}}}",
            }
        ],
        "qos": 1,
        "components": {key: {"unique_id": f"templo-{temple}-{key}", **each} for key, each in _parts(temple).items()},
    }
    return f"{PREFIX}/device/{temple}/config", json.dumps(payload, separators=(",", ":")).encode()


def _parts(temple: str) -> dict[str, dict[str, object]]:
    parts: dict[str, dict[str, object]] = {}
    for god, name in NAMES.items():
        parts[f"total_{god}"] = _number(
            f"{name}, of all time",
            topic(temple, Count.leaf),
            f"totals.{god}",
            state_class="total_increasing",
            unit_of_measurement="tokens",
            icon="mdi:counter",
        )
        parts[f"score_{god}"] = _number(
            f"{name}, this game",
            topic(temple, Score.leaf),
            f"totals.{god}",
            state_class="measurement",  # a correction may lower it, and no home should take that for a new game
            unit_of_measurement="tokens",
            icon="mdi:stairs-up",
        )
        parts[f"beam_{god}"] = {
            "platform": "binary_sensor",
            "name": f"{name}'s beam",
            "device_class": "problem",
            "state_topic": topic(temple, Status.leaf),
            "value_template": f"{{{{ 'ON' if value_json.beams.{god} in {_listed(_FAULTS)} else 'OFF' }}}}",
        }
        for key, words in (("glitches", "glitches"), ("missed_edges", "missed edges")):
            parts[f"{key}_{god}"] = _number(
                f"{name}'s {words}",
                topic(temple, Noise.leaf),
                f"{key}.{god}",
                state_class="total_increasing",
                unit_of_measurement=words,
                entity_category="diagnostic",
            )
        parts[f"drop_{god}"] = _button(
            f"Test token for {name}", temple, CommandName.DROP, god, icon="mdi:ray-start-end"
        )
    parts["identify"] = _button("Identify", temple, CommandName.IDENTIFY, None, device_class="identify")
    return parts


def _number(name: str, state_topic: str, path: str, **more: object) -> dict[str, object]:
    """Return a sensor that shows one number of a message."""
    return {
        "platform": "sensor",
        "name": name,
        "state_topic": state_topic,
        "value_template": f"{{{{ value_json.{path} }}}}",
        **more,
    }


def _button(name: str, temple: str, command: CommandName, god: God | None, **more: object) -> dict[str, object]:
    """Return a button whose press is a command of the wire contract: with an id of its own, and soon expired."""
    # 32 decimal digits are 32 hexadecimal ones too, and no two presses come in one microsecond.
    fields = [
        '"v":1',
        """"id":"{{ '%032d' | format((utcnow().timestamp() * 1000000) | int) }}\"""",
        f'"name":"{command}"',
        f""""expires":"{{{{ (utcnow() + timedelta(seconds={PRESSED_S})).strftime('%Y-%m-%dT%H:%M:%SZ') }}}}\"""",
    ]
    if god is not None:
        fields.append(f'"god":"{god}"')
    return {
        "platform": "button",
        "name": name,
        "command_topic": topic(temple, "command"),
        "command_template": "{" + ",".join(fields) + "}",
        "entity_category": "diagnostic",
        **more,
    }


def _listed(values: tuple[State, ...] | tuple[Beam, ...]) -> str:
    return "[" + ", ".join(f"'{value}'" for value in values) + "]"
