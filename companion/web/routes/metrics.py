"""Metrics for Prometheus: the temples' health and their counts, without players, titles or codes.

Each is declared once. What a companion exports, the tables of docs/prometheus.md and docs/club.md, and the dashboard
in docs/examples/club follow from the declarations.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from flask import Blueprint, Response
from msgspec import Struct

from companion.adapters.news import Hub
from companion.model.temples import Temple
from companion.service.services import Services
from companion.web.config import WebConfig
from companion.web.site import site
from templo import contract

blueprint = Blueprint("metrics", __name__)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Samples: TypeAlias = Iterable[tuple[tuple[str, ...], float]]
"""The values of the labels, in the order of their declaration, and the value."""


class Now(NamedTuple):
    """What is measured."""

    services: Services
    hub: Hub
    config: WebConfig
    temples: Sequence[Temple]


class Alarm(Struct, frozen=True):
    """When a metric means that somebody is needed."""

    when: str
    """The expression of Prometheus, with `{}` for the metric's name."""
    meaning: str
    for_s: int = 30
    """For how many seconds it must hold."""


class Metric(Struct, frozen=True):
    """One metric, as it is declared."""

    name: str
    labels: tuple[str, ...]
    meaning: str
    measure: Callable[[Now], Samples]
    kind: Literal["gauge", "counter", "state"] = "gauge"
    """A `state` is exported as a gauge that is 1 for what is the case, and 0 or absent for anything else."""
    combine: Literal["max", "min", "each"] = "max"
    """How several companions' values are read: the greatest or the smallest of them, or each as its own."""
    alarm: Alarm | None = None

    def lines(self, now: Now) -> Iterator[str]:
        """Write it in Prometheus's text format."""
        yield f"# HELP {self.name} {self.meaning}"
        yield f"# TYPE {self.name} {self.kind.replace('state', 'gauge')}"
        for values, value in self.measure(now):
            inner = ",".join(f'{key}="{_escaped(each)}"' for key, each in zip(self.labels, values, strict=True))
            yield f"{self.name}{{{inner}}} {value}" if inner else f"{self.name} {value}"


@blueprint.get("/metrics")
def metrics() -> Response:
    """Return every metric as of now."""
    here = site()
    now = Now(here.services, here.hub, here.config, here.services.temples.all())
    lines = [line for each in METRICS for line in each.lines(now)]
    return Response("\n".join(lines) + "\n", content_type=CONTENT_TYPE)


def _one(measure: Callable[[Now], float]) -> Callable[[Now], Samples]:
    """Measure a single value, without labels."""
    return lambda now: [((), measure(now))]


def _of_temples(measure: Callable[[Now, Temple], float]) -> Callable[[Now], Samples]:
    """Measure a value of each temple."""
    return lambda now: [((each.name,), measure(now, each)) for each in now.temples]


def _tables(now: Now) -> Samples:
    return sorted(Counter((table.game.name, str(table.phase)) for table in now.services.tables.all()).items())


def _unclaimed(now: Now) -> Samples:
    waiting: Counter[str] = Counter()
    for table in now.services.tables.all():
        if (audit := table.audit) is not None:
            waiting[table.game.name] += len(audit.waiting)
    return (((game,), number) for game, number in sorted(waiting.items()))


def _trouble(now: Now) -> Samples:
    for each in now.temples:
        if each.alive and each.reachable and each.status and each.status.trouble:
            yield (each.name, each.status.trouble), 1


def _beams(now: Now) -> Samples:
    for temple in now.temples:
        for god in contract.God:
            beam = temple.status.beams[god] if temple.status else contract.Beam.UNKNOWN
            for state in contract.Beam:
                yield (temple.name, god, state), int(state is beam)


def _received(now: Now) -> Samples:
    return (((each.name, god), each.totals[god]) for each in now.temples for god in contract.God)


def _on_way(now: Now) -> Samples:
    for each in now.temples:
        for god, number in now.services.temples.ledgers.on_way(each.name).items():
            yield (each.name, god), number


METRICS = (
    Metric("templo_tables", ("game", "phase"), "Tables, by game and phase.", _tables),
    Metric(
        "templo_streams",
        (),
        "Event streams that are open.",
        _one(lambda now: now.hub.streams),
        combine="each",
        alarm=Alarm("{} / templo_streams_limit > 0.8", "this companion will soon refuse further spectators", 0),
    ),
    Metric(
        "templo_streams_limit", (), "Event streams that may be open.", _one(lambda now: now.hub.cap), combine="each"
    ),
    Metric(
        "templo_broker_connected",
        (),
        "Whether the companion receives what temples publish.",
        _one(lambda now: int(now.config.is_connected())),
        combine="each",
        alarm=Alarm("{} == 0", "a companion has no broker: its pages do not follow the temples' states"),
    ),
    Metric(
        "process_cpu_seconds_total",
        (),
        "Processor time that the companion has used.",
        _one(lambda now: round(time.process_time(), 2)),
        combine="each",
        alarm=Alarm("rate({}[1m]) > 0.8", "a companion is using all of its core", 0),
        kind="counter",
    ),
    Metric(
        "templo_temple_up",
        ("temple",),
        "Whether a temple is connected and last reported that it works.",
        _of_temples(lambda now, temple: int(temple.alive and temple.reachable)),
        alarm=Alarm("max by (temple) ({}) == 0", "a temple does not work, or nobody can reach it"),
    ),
    Metric(
        "templo_temple_trouble",
        ("temple", "code"),
        "What keeps a connected temple from recording tokens, such as `beams_missing` or `ledger_full`.",
        _trouble,
        alarm=Alarm(
            "max by (temple, code) ({}) == 1", "a temple is connected and records no tokens; its page says what to do"
        ),
        kind="state",
    ),
    Metric(
        "templo_temple_stored",
        ("temple",),
        "Whether the companion stores a temple's tokens; of several companions one does.",
        _of_temples(lambda now, temple: int(now.services.temples.is_own(temple.name))),
        combine="each",
        alarm=Alarm("sum by (temple) ({}) == 0", "nobody stores a temple's tokens; they wait in its ledger"),
    ),
    Metric("templo_beam_state", ("temple", "god", "state"), "The state that a beam is in.", _beams, kind="state"),
    Metric(
        "templo_tokens_received_total",
        ("temple", "god"),
        "Tokens that are stored, without tests.",
        _received,
        kind="counter",
    ),
    Metric(
        "templo_tokens_on_way",
        ("temple", "god"),
        "Tokens in a temple's ledger, according to its last report, that are not stored.",
        _on_way,
        combine="min",
        alarm=Alarm("min by (temple, god) ({}) > 0", "tokens do not arrive", 60),
    ),
    Metric(
        "templo_tokens_quarantined_total",
        ("temple",),
        "Tokens held apart because others had taken their numbers.",
        _of_temples(lambda now, temple: now.services.temples.decisions.ever_held(temple.name)),
        kind="counter",
    ),
    Metric(
        "templo_tokens_held",
        ("temple",),
        "Tokens held apart that wait for a person's decision.",
        _of_temples(lambda now, temple: temple.quarantined),
    ),
    Metric("templo_tokens_unclaimed", ("game",), "Tokens that wait for a person to say whose they were.", _unclaimed),
)
"""Every metric, in the order of the export."""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
