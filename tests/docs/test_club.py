"""The files in docs/examples/club agree with the programs in settings, metrics and addresses."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

import yaml

from companion.cli.club import postgresql, proxy
from companion.cli.programs import broker
from companion.settings import Settings
from templo.settings import declared_settings
from tests.docs.pages import ROOT

CLUB = ROOT / "docs" / "examples" / "club"
VARIABLES = {setting.variable for setting in declared_settings(Settings).values()}


def compose() -> Any:
    return yaml.safe_load((CLUB / "compose.yaml").read_text())


def companions() -> dict[str, Any]:
    return {name: each for name, each in compose()["services"].items() if name.startswith("worker-")}


def test_the_example_s_proxy_is_the_one_of_make_club_with_the_containers_addresses() -> None:
    workers = {name: f"{each['networks']['club']['ipv4_address']}:8000" for name, each in companions().items()}
    origin = "Before the companions of compose.yaml; put your own addresses in for other machines."
    expected = proxy.configuration(origin, ":443", "/usr/local/etc/haproxy/club.pem", workers)
    assert (CLUB / "haproxy.cfg").read_text() == expected
    scraped = yaml.safe_load((CLUB / "prometheus.yaml").read_text())["scrape_configs"][0]
    assert scraped["static_configs"][0]["targets"] == list(workers.values())
    assert scraped["job_name"] == "templo"


def test_the_containers_give_settings_that_there_are_and_trust_the_proxy_alone() -> None:
    proxy_address = compose()["services"]["proxy"]["networks"]["club"]["ipv4_address"]
    for each in companions().values():
        assert set(each["environment"]) <= VARIABLES
        assert each["environment"]["TEMPLO_WEB_PROXY"] == proxy_address
        assert each["environment"]["TEMPLO_SHARED"] == "on"
        assert each["environment"]["TEMPLO_BROKER_HOST"].split(",") == ["broker-1", "broker-2", "broker-3"]


def test_the_settings_of_the_unit_s_companions_are_settings() -> None:
    lines = [line for line in (CLUB / "club.env").read_text().splitlines() if not line.startswith("#")]
    assert {line.partition("=")[0] for line in lines} <= VARIABLES


def test_the_image_takes_folders_that_there_are() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", (CLUB / "Dockerfile").read_text(), re.MULTILINE)
    assert copied
    for path in " ".join(copied).split():
        assert (ROOT / path).exists(), path


def broker_environment() -> dict[str, str]:
    environment: dict[str, str] = compose()["services"]["broker-1"]["environment"]
    return environment


def test_the_brokers_configuration_is_one_for_nats_server() -> None:
    program = broker.bundled_program()
    assert program
    given = {name: value.replace("${BROKER_PASSWORD:?}", "atl") for name, value in broker_environment().items()}
    assert given["ROUTE_3"] == "nats://templo:atl@broker-3:6222"
    environment = {**os.environ, **given}
    words = [program, "-t", "-c", CLUB / "nats.conf"]
    checked = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_the_page_says_how_many_connections_a_companion_opens() -> None:
    club = (ROOT / "docs" / "club.md").read_text()
    assert f"up to {postgresql.CONNECTIONS_EACH} connections" in club
