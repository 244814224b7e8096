"""What a Prometheus scrapes: read by the grammar and by its own client, true to the companion, silent of people."""

from __future__ import annotations

import re

from prometheus_client.parser import text_string_to_metric_families

from companion.web.routes.metrics import METRICS
from templo import contract
from tests.companion.conftest import OTHER, SOURCE
from tests.companion.web.conftest import Browser, WebHome

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf'({NAME})(?:\{{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*",?)*)\}})? (-?\d+(?:\.\d+)?)', re.ASCII)
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"', re.ASCII)

Scraped = dict[str, dict[frozenset[tuple[str, str]], float]]


def parsed(text: str) -> Scraped:
    """Read a scrape as strictly as the format is written: help, type, then the samples of that metric together."""
    found: Scraped = {}
    current = kind = ""
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            current = line.split(" ", 3)[2]
            assert current not in found, f"{current} is there twice"
            assert line.split(" ", 3)[3].strip()
            found[current], kind = {}, ""
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == current
            assert kind in ("gauge", "counter")
            assert (kind == "counter") == name.endswith("_total")
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample, line
            assert sample[1] == current
            assert kind
            labels = frozenset(LABEL.findall(sample[2] or ""))
            assert labels not in found[current], f"{line} comes twice"
            found[current][labels] = float(sample[3])
    return found


def as_prometheus_reads(text: str) -> Scraped:
    """Read a scrape with the parser of Prometheus's own Python client, which is more lenient."""
    found: Scraped = {}
    for family in text_string_to_metric_families(text):
        # It takes the ending of a counter for no part of the name.
        name = f"{family.name}_total" if family.type == "counter" else family.name
        assert {sample.name for sample in family.samples} <= {name}
        assert family.documentation
        found[name] = {frozenset(sample.labels.items()): sample.value for sample in family.samples}
    return found


def scraped(home: WebHome) -> Scraped:
    answer = home.browser().get("/metrics")
    assert answer.status_code == 200
    assert answer.content_type == "text/plain; version=0.0.4; charset=utf-8"
    text = answer.get_data(as_text=True)
    found = parsed(text)
    assert found == as_prometheus_reads(text)
    return found


def one(found: Scraped, name: str, **labels: str) -> float:
    return found[name][frozenset(labels.items())]


def test_a_companion_that_has_received_nothing_is_scraped_too(home: WebHome) -> None:
    found = scraped(home)
    assert one(found, "templo_streams") == 0
    assert one(found, "templo_streams_limit") == 3
    assert found["templo_temple_up"] == {}


def test_what_is_declared_is_exported(home: WebHome) -> None:
    assert list(scraped(home)) == [each.name for each in METRICS]


def test_a_companion_publishes_its_own_processor_time_and_that_it_stores_every_temple_alone(home: WebHome) -> None:
    home.services.temples.expect("templo")
    found = scraped(home)
    assert one(found, "process_cpu_seconds_total") > 0
    assert one(found, "templo_broker_connected") == 1
    assert one(found, "templo_temple_stored", temple="templo") == 1


def test_tokens_are_counted_by_temple_and_god(home: WebHome) -> None:
    table = home.table(temple="templo")
    home.beams("templo", contract.Beam.CLEAR, contract.Beam.CLEAR)
    home.services.temples.intake.receive(
        [("templo", home.token(n, god)) for n, god in enumerate(("tlaloc", "tlaloc", "huitzilopochtli"), 1)]
    )
    home.services.temples.intake.receive([("templo", home.token(4, "tlaloc", "test"))])
    found = scraped(home)
    assert one(found, "templo_tokens_received_total", temple="templo", god="tlaloc") == 2
    assert one(found, "templo_tokens_received_total", temple="templo", god="huitzilopochtli") == 1
    assert one(found, "templo_tokens_unclaimed", game="mexica") == 0
    assert one(found, "templo_tables", game="mexica", phase="running") == 1
    home.services.temples.intake.receive([("templo", home.token(5, "tlaloc", "jam"))])
    assert one(scraped(home), "templo_tokens_unclaimed", game="mexica") == 1
    assert table.id not in home.browser().get("/metrics").get_data(as_text=True)


def test_what_is_on_its_way_and_what_is_held_apart_is_published(home: WebHome) -> None:
    home.beams("templo", contract.Beam.CLEAR, contract.Beam.CLEAR)
    home.services.temples.intake.receive([("templo", home.token(1))])
    home.services.temples.ledgers.receive_count(
        "templo", contract.Count(SOURCE, 4, {contract.God.HUITZILOPOCHTLI: 1, contract.God.TLALOC: 3})
    )
    home.services.temples.intake.receive([("templo", home.token(1, token="f" * 32))])
    found = scraped(home)
    assert one(found, "templo_tokens_on_way", temple="templo", god="tlaloc") == 2
    assert one(found, "templo_tokens_on_way", temple="templo", god="huitzilopochtli") == 1
    assert one(found, "templo_tokens_quarantined_total", temple="templo") == 1


def test_what_keeps_a_temple_from_recording_is_published_while_it_does(home: WebHome) -> None:
    home.services.temples.set_reachable(True)
    home.beams("templo", contract.Beam.CLEAR, contract.Beam.CLEAR)
    assert scraped(home)["templo_temple_trouble"] == {}
    missing = contract.Trouble.BEAMS_MISSING
    home.beams("templo", contract.Beam.UNKNOWN, contract.Beam.UNKNOWN, contract.State.ALERT, missing)
    assert one(scraped(home), "templo_temple_trouble", temple="templo", code="beams_missing") == 1


def test_a_temple_is_up_while_it_works_and_is_connected(home: WebHome) -> None:
    home.services.temples.set_reachable(True)
    home.services.temples.expect("attic")
    home.beams("templo", contract.Beam.CLEAR, contract.Beam.JAMMED, contract.State.ALERT)
    found = scraped(home)
    assert one(found, "templo_temple_up", temple="templo") == 1
    assert one(found, "templo_temple_up", temple="attic") == 0
    home.services.temples.set_reachable(False)
    assert one(scraped(home), "templo_temple_up", temple="templo") == 0
    home.services.temples.set_reachable(True)
    home.beams("templo", contract.Beam.UNKNOWN, contract.Beam.UNKNOWN, contract.State.LOST)
    assert one(scraped(home), "templo_temple_up", temple="templo") == 0


def test_a_beam_is_in_one_state_of_all_that_there_are(home: WebHome) -> None:
    home.beams("templo", contract.Beam.CLEAR, contract.Beam.JAMMED, contract.State.ALERT)
    found = scraped(home)["templo_beam_state"]
    assert len(found) == len(contract.God) * len(contract.Beam)
    assert {dict(labels)["god"]: dict(labels)["state"] for labels, value in found.items() if value} == {
        "huitzilopochtli": "clear",
        "tlaloc": "jammed",
    }


def test_streams_are_counted_while_they_are_open(home: WebHome) -> None:
    stream = home.hub.open(["table:x"])
    assert one(scraped(home), "templo_streams") == 1
    stream.leave()
    assert one(scraped(home), "templo_streams") == 0


def test_no_name_no_title_no_code_and_no_id_is_published(home: WebHome, phone: Browser) -> None:
    table = home.table(temple="templo")
    home.beams("templo", contract.Beam.CLEAR, contract.Beam.CLEAR)
    assert phone.sit(table, "east", "Xochitl").status_code < 400
    home.services.temples.intake.receive([("templo", home.token(1))])
    text = home.browser().get("/metrics").get_data(as_text=True)
    for secret in ("Xochitl", table.title, table.code, table.id, SOURCE, OTHER, f"{1:032x}", *table.keys.values()):
        assert secret not in text


def test_a_foreign_host_scrapes_nothing(phone: Browser) -> None:
    answer = phone.get("/metrics", Host="evil.example")
    assert answer.status_code == 400
    assert b"templo_" not in answer.data
