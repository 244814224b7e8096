"""Metrics for Prometheus: the temples' health and their counts, without players, titles or codes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from flask import Blueprint, Response

from companion.adapters.news import Hub
from companion.model.temples import Temple
from companion.service.services import Services
from companion.web.config import WebConfig
from companion.web.site import site
from templo import contract

blueprint = Blueprint("metrics", __name__)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric with its samples: the labels of each, and its value."""

    name: str
    kind: str
    meaning: str
    samples: tuple[tuple[Labels, float], ...]

    def lines(self) -> Iterator[str]:
        """Write it in Prometheus's text format."""
        yield f"# HELP {self.name} {self.meaning}"
        yield f"# TYPE {self.name} {self.kind}"
        for labels, value in self.samples:
            inner = ",".join(f'{key}="{_escaped(each)}"' for key, each in labels.items())
            yield f"{self.name}{{{inner}}} {value}" if inner else f"{self.name} {value}"


@blueprint.get("/metrics")
def metrics() -> Response:
    """Return every metric as of now."""
    here = site()
    lines = [line for metric in measured(here.services, here.hub, here.config) for line in metric.lines()]
    return Response("\n".join(lines) + "\n", content_type=CONTENT_TYPE)


def measured(services: Services, hub: Hub, config: WebConfig) -> list[Metric]:
    """Return the metrics of tables, temples, streams and this process."""
    temples = services.temples.all()
    return [
        Metric("templo_tables", "gauge", "Tables, by their game and phase.", _tables(services)),
        _one("templo_streams", "gauge", "Event streams that are open.", hub.streams),
        _one("templo_streams_limit", "gauge", "Event streams that may be open.", hub.cap),
        *_installation(config),
        Metric(
            "templo_tokens_unclaimed",
            "gauge",
            "Tokens that wait for a person to say whose they were, by game.",
            _unclaimed(services),
        ),
        *_health(temples, services),
        *_tokens(temples, services),
    ]


def _one(name: str, kind: str, meaning: str, value: float) -> Metric:
    """Return a metric with one sample, which has no labels."""
    return Metric(name, kind, meaning, (({}, value),))


def _health(temples: Sequence[Temple], services: Services) -> Iterator[Metric]:
    """Yield what says how the temples and their beams are."""
    yield Metric(
        "templo_temple_up",
        "gauge",
        "Whether a temple is connected and last reported that it works.",
        tuple(({"temple": each.name}, int(each.alive and each.reachable)) for each in temples),
    )
    yield Metric(
        "templo_temple_trouble",
        "gauge",
        "1 for what keeps a connected temple from recording tokens.",
        tuple(
            ({"temple": each.name, "code": each.status.trouble}, 1)
            for each in temples
            if each.alive and each.reachable and each.status and each.status.trouble
        ),
    )
    yield Metric(
        "templo_temple_stored",
        "gauge",
        "Whether this companion, of all that share the store, stores a temple's tokens.",
        tuple(({"temple": each.name}, int(services.temples.is_own(each.name))) for each in temples),
    )
    yield Metric("templo_beam_state", "gauge", "1 for the state that a beam is in.", tuple(_beams(temples)))


def _tokens(temples: Sequence[Temple], services: Services) -> Iterator[Metric]:
    """Yield what says where the temples' tokens are."""
    yield Metric(
        "templo_tokens_received_total",
        "counter",
        "Tokens of a temple that are stored, without tests.",
        tuple(({"temple": each.name, "god": god}, each.totals[god]) for each in temples for god in contract.God),
    )
    yield Metric(
        "templo_tokens_quarantined_total",
        "counter",
        "Tokens held apart because others had taken their numbers.",
        tuple(({"temple": each.name}, services.temples.decisions.ever_held(each.name)) for each in temples),
    )
    yield Metric(
        "templo_tokens_held",
        "gauge",
        "Tokens held apart that wait for a person's decision.",
        tuple(({"temple": each.name}, each.quarantined) for each in temples),
    )
    yield Metric(
        "templo_tokens_on_way",
        "gauge",
        "Tokens in a temple's ledger, according to its last report, that have not arrived.",
        tuple(
            ({"temple": each.name, "god": god}, number)
            for each in temples
            for god, number in services.temples.ledgers.on_way(each.name).items()
        ),
    )


def _installation(config: WebConfig) -> Iterator[Metric]:
    meaning = "Whether this companion receives what temples publish."
    yield _one("templo_broker_connected", "gauge", meaning, int(config.is_connected()))
    meaning = "Processor time that this companion has used."
    yield _one("process_cpu_seconds_total", "counter", meaning, round(time.process_time(), 2))


def _tables(services: Services) -> tuple[tuple[Labels, int], ...]:
    counted = Counter((table.game.name, table.phase) for table in services.tables.all())
    return tuple(({"game": game, "phase": phase}, number) for (game, phase), number in sorted(counted.items()))


def _unclaimed(services: Services) -> tuple[tuple[Labels, int], ...]:
    waiting: Counter[str] = Counter()
    for table in services.tables.all():
        if (audit := table.audit) is not None:
            waiting[table.game.name] += len(audit.waiting)
    return tuple(({"game": game}, number) for game, number in sorted(waiting.items()))


def _beams(temples: Iterable[Temple]) -> Iterator[tuple[Labels, int]]:
    for temple in temples:
        for god in contract.God:
            now = temple.status.beams[god] if temple.status else contract.Beam.UNKNOWN
            for state in contract.Beam:
                yield {"temple": temple.name, "god": god, "state": state}, int(state is now)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
