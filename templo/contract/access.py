"""The broker's access rules for each user, as mosquitto's access list, derived from who sends and reads each message.

It includes the topics of Home Assistant's discovery.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from templo.contract.declarations import Catalogue, Place, Role
from templo.contract.messages import CONTRACT

DISCOVERY = "homeassistant"
"""The first level of the topics under which Home Assistant looks for devices by default."""


def discovery_topic(temple: str) -> str:
    """Return the topic under which a temple describes itself to Home Assistant.

    >>> discovery_topic("attic")
    'homeassistant/device/attic/config'
    """
    return f"{DISCOVERY}/device/{temple}/config"


def access_rules(
    temples: Mapping[str, str], watchers: Sequence[str], catalogue: Catalogue = CONTRACT
) -> dict[str, list[str]]:
    """Return each user's lines of the broker's access list; everything else is denied.

    `temples` are the users of the temples by the temples' names; `watchers` are users who read everything.

    >>> access_rules({"attic": "temple-attic"}, [])["homeassistant"][-2:]
    ['read homeassistant/#', 'write homeassistant/status']
    """
    rules = {
        user: [*_rules(Role.TEMPLE, temple, catalogue), f"write {discovery_topic(temple)}"]
        for temple, user in temples.items()
    }
    rules[Role.COMPANION] = _rules(Role.COMPANION, "+", catalogue)
    for watcher in watchers:
        rules[watcher] = [*(f"read {place}/#" for place in Place), f"read {discovery_topic('+')}"]
    rules[Role.HOME_ASSISTANT] = [
        *_rules(Role.HOME_ASSISTANT, "+", catalogue),
        f"read {DISCOVERY}/#",
        f"write {DISCOVERY}/status",
    ]
    return rules


def _rules(role: Role, name: str, catalogue: Catalogue) -> list[str]:
    rules = []
    for each in catalogue:
        access = {(True, True): "readwrite", (True, False): "read", (False, True): "write", (False, False): ""}
        if right := access[role in each.read_by, role in each.sent_by]:
            rules.append(f"{right} {each.place}/{name}/{each.leaf}")
    return rules
