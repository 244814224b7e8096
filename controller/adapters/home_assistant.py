"""Home Assistant's discovery message: one device for the temple, with its sensors, buttons and lights.

Every topic and value that it refers to is part of the contract: only this description is published for Home Assistant
alone.
"""

from __future__ import annotations

import json

from controller.core.publisher import Identity
from templo.contract import (
    VERSION,
    Beam,
    Command,
    CommandName,
    Count,
    God,
    Light,
    LightEffect,
    Message,
    Mood,
    Noise,
    Score,
    SetLight,
    State,
    Status,
    declaration_of,
    discovery_topic,
    json_path,
    topic,
)

PRESSED_S = 30
"""How long the press of a button is good for; a temple that comes back later does not act on it."""

NAMES = {God.HUITZILOPOCHTLI: "Huitzilopochtli", God.TLALOC: "Tlaloc"}

_ALIVE = (State.READY, State.ALERT)
_FAULTS = (Beam.JAMMED, Beam.DARK, Beam.FLICKER)


def announcement(identity: Identity, coloured: bool | None = None, page: str | None = None) -> tuple[str, bytes]:
    """Return the topic under which a temple is announced, retained, and the payload.

    `coloured` is None for a temple without lamps, and else whether they can show any colour. `page` is the address of
    the temple's page.
    """
    temple = identity.temple
    parts = _parts(temple) if coloured is None else _parts(temple) | _lamps(temple, coloured)
    payload = {
        "device": {
            "identifiers": [f"templo-{temple}"],
            "name": "Templo Mayor" if temple == "templo" else f"Templo Mayor {temple}",
            "manufacturer": "Templo Mayor",
            "model": identity.kind,
            "sw_version": identity.software,
            **({} if page is None else {"configuration_url": page}),
        },
        "origin": {"name": "templo-mayor", "sw_version": identity.software},
        "availability": [_alive(temple)],
        "qos": declaration_of(Status).qos,
        "components": {key: {"unique_id": f"templo-{temple}-{key}", **each} for key, each in parts.items()},
    }
    return discovery_topic(temple), json.dumps(payload, separators=(",", ":")).encode()


def _alive(temple: str) -> dict[str, object]:
    return {
        "topic": topic(temple, Status.leaf),
        "value_template": _choice(json_path(Status, "state"), _ALIVE, "online", "offline"),
    }


def _parts(temple: str) -> dict[str, dict[str, object]]:
    parts: dict[str, dict[str, object]] = {}
    for god, name in NAMES.items():
        parts[f"total_{god}"] = _number(
            f"{name}, of all time",
            temple,
            Count,
            "totals",
            god,
            state_class="total_increasing",
            unit_of_measurement="tokens",
            icon="mdi:counter",
        )
        parts[f"score_{god}"] = _number(
            f"{name}, this game",
            temple,
            Score,
            "totals",
            god,
            state_class="measurement",  # a correction may lower it, which must not look like a new game
            unit_of_measurement="tokens",
            icon="mdi:stairs-up",
        )
        parts[f"beam_{god}"] = {
            "platform": "binary_sensor",
            "name": f"{name}'s beam",
            "device_class": "problem",
            "state_topic": topic(temple, Status.leaf),
            "value_template": _choice(json_path(Status, "beams", god), _FAULTS, "ON", "OFF"),
        }
        for key, label in (("glitches", "glitches"), ("missed_edges", "missed edges")):
            parts[f"{key}_{god}"] = _number(
                f"{name}'s {label}",
                temple,
                Noise,
                key,
                god,
                state_class="total_increasing",
                unit_of_measurement=label,
                entity_category="diagnostic",
            )
        parts[f"drop_{god}"] = _button(
            f"Test token for {name}", temple, CommandName.DROP, god, icon="mdi:ray-start-end"
        )
    parts["identify"] = _button("Identify", temple, CommandName.IDENTIFY, None, device_class="identify")
    return parts


def _lamps(temple: str, coloured: bool) -> dict[str, dict[str, object]]:
    """Return the lamps before the doors as one light, and what a game has them show, for the lamps of a whole home.

    The light is in the template schema: so its commands are the contract's own.
    """
    given = [
        ("brightness", "brightness", "{{ brightness }}"),
        ("effect", "effect", '"{{ effect }}"'),
        *([("red", "colour", "[{{ red }},{{ green }},{{ blue }}]")] if coloured else []),
    ]
    more = "".join(
        f'{{% if {variable} is defined %}},"{json_path(SetLight, field)}":{value}{{% endif %}}'
        for variable, field, value in given
    )
    path = f"value_json.{json_path(Light, 'colour')}"
    colours = {f"{name}_template": f"{{{{ {path}[{n}] }}}}" for n, name in enumerate(("red", "green", "blue"))}
    head = f'{{"v":{VERSION},"{json_path(SetLight, "on")}":'
    light: dict[str, object] = {
        "platform": "light",
        "schema": "template",
        "name": "Lamps",
        "icon": "mdi:fire",
        "availability": [
            _alive(temple),
            {
                "topic": topic(temple, Light.leaf),
                "value_template": (
                    f"{{{{ 'offline' if value_json.{json_path(Light, 'fault')} is defined else 'online' }}}}"
                ),
            },
        ],
        "availability_mode": "all",
        "state_topic": topic(temple, Light.leaf),
        "state_template": f"{{{{ 'on' if value_json.{json_path(Light, 'on')} else 'off' }}}}",
        "brightness_template": f"{{{{ value_json.{json_path(Light, 'brightness')} }}}}",
        "effect_template": f"{{{{ value_json.{json_path(Light, 'effect')} }}}}",
        "effect_list": list(LightEffect),
        **(colours if coloured else {}),
        "command_topic": topic(temple, SetLight.leaf),
        "command_on_template": f"{head}true{more}}}",
        "command_off_template": f"{head}false}}",
    }
    mood: dict[str, object] = {
        "platform": "sensor",
        "name": "Mood",
        "icon": "mdi:weather-lightning-rainy",
        "state_topic": topic(temple, Mood.leaf),
        "value_template": f"{{{{ value_json.{json_path(Mood, 'signals')} | join(', ') or 'calm' }}}}",
    }
    return {"lamps": light, "mood": mood}


def _number(
    name: str, temple: str, message: type[Message], field: str, god: God, **more: object
) -> dict[str, object]:
    """Return a sensor that shows one god's number of a message."""
    return {
        "platform": "sensor",
        "name": name,
        "state_topic": topic(temple, message.leaf),
        "value_template": f"{{{{ value_json.{json_path(message, field, god)} }}}}",
        **more,
    }


def _button(name: str, temple: str, command: CommandName, god: God | None, **more: object) -> dict[str, object]:
    """Return a button whose press is a command of the wire contract: with an id of its own, and soon expired."""
    # 32 decimal digits are 32 hexadecimal ones too, and no two presses come in one microsecond.
    fields = [
        ("id", "{{ '%032d' | format((utcnow().timestamp() * 1000000) | int) }}"),
        ("name", command),
        ("expires", f"{{{{ (utcnow() + timedelta(seconds={PRESSED_S})).strftime('%Y-%m-%dT%H:%M:%SZ') }}}}"),
        *([] if god is None else [("god", god)]),
    ]
    template = ",".join([f'"v":{VERSION}', *(f'"{json_path(Command, name)}":"{value}"' for name, value in fields)])
    return {
        "platform": "button",
        "name": name,
        "command_topic": topic(temple, Command.leaf),
        "command_template": f"{{{template}}}",
        "entity_category": "diagnostic",
        **more,
    }


def _choice(path: str, values: tuple[State, ...] | tuple[Beam, ...], among: str, otherwise: str) -> str:
    """Return a template for whether a status's value is among some values."""
    listed = ", ".join(f"'{value}'" for value in values)
    return f"{{{{ '{among}' if value_json.{path} in [{listed}] else '{otherwise}' }}}}"
