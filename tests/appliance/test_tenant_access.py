"""Tenants at a real mosquitto: users of one reach its own topics alone, whatever names two tenants share."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from templo import contract
from tests.appliance.installation import TEMPLE, Installation
from tests.appliance.test_broker_access import ORACLE, Guest, waited
from tests.brokers import Broker, mosquitto

TENANTS = ("", "club-a", "club-b")
OWN = tuple(
    f"templo/{temple}/{leaf}" for temple in (TEMPLE, "attic") for leaf in ("status", "token", "ack", "command")
)
OF_EACH = (*OWN, f"templo-tables/{'0' * 32}/changed", f"homeassistant/device/{TEMPLE}/config", "homeassistant/status")
TOPICS = tuple(contract.tenant_topic(tenant, topic) for tenant in TENANTS for topic in OF_EACH)
USERS = tuple(
    f"{tenant}.{user}"
    for tenant in TENANTS[1:]
    for user in (f"temple-{TEMPLE}", "temple-attic", "watcher", "homeassistant")
)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("installation"))
    named = [f"{tenant}/{temple}" for tenant in TENANTS[1:] for temple in (TEMPLE, "attic")]
    done = made.run("--temple", TEMPLE, "--temple", "attic", *(word for each in named for word in ("--temple", each)))
    assert done.returncode == 0, done.stderr
    return made


def password(installation: Installation, user: str) -> str:
    tenant, _, name = user.rpartition(".")
    file = installation.access / ("tenants/" + tenant if tenant else "") / f"{name}.env"
    return next(
        line.partition("=")[2] for line in file.read_text().splitlines() if line.startswith("TEMPLO_BROKER_PASSWORD=")
    )


@pytest.fixture(scope="module")
def broker(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    passwords, acl = installation.broker / "passwords", installation.broker / "acl"
    subprocess.run(["mosquitto_passwd", "-b", str(passwords), ORACLE, ORACLE], check=True, capture_output=True)
    acl.write_text(f"{acl.read_text()}\nuser {ORACLE}\ntopic readwrite #\n")
    with mosquitto(tmp_path_factory.mktemp("broker"), config=installation.config()) as running:
        yield running


@pytest.fixture
def oracle(broker: Broker) -> Iterator[Guest]:
    guest = Guest(broker.port, ORACLE, ORACLE)
    yield guest
    guest.leave()


@pytest.mark.parametrize("user", [*USERS, f"temple-{TEMPLE}", "watcher", "homeassistant"])
def test_no_user_publishes_or_receives_beyond_its_own_tenant(
    broker: Broker, installation: Installation, oracle: Guest, user: str
) -> None:
    tenant = user.rpartition(".")[0]
    guest = Guest(broker.port, user, password(installation, "controller" if user == f"temple-{TEMPLE}" else user))
    try:
        oracle.listen("#")
        guest.listen(*TOPICS, "#", "templo-tenants/#", "templo-tenants/+/templo/+/token", "+/+/+/+/+", "+/+/+")
        guest.publish(TOPICS)
        oracle.publish(("the/end",))
        published = waited(oracle, "the/end")
        oracle.publish(TOPICS)
        until = time.monotonic() + 60
        while not guest.received and user.endswith(("watcher", "homeassistant")):
            assert time.monotonic() < until
            time.sleep(0.01)
        time.sleep(0.3)
        own = {contract.tenant_topic(tenant, topic) for topic in OF_EACH}
        assert published <= own
        assert set(guest.received) - {"the/end"} <= own
        assert published or user.endswith("watcher"), "it may publish something"
    finally:
        guest.leave()


def test_the_companion_reaches_the_temples_of_every_tenant(
    broker: Broker, installation: Installation, oracle: Guest
) -> None:
    guest = Guest(broker.port, "companion", password(installation, "companion"))
    try:
        oracle.listen("#")
        guest.publish(TOPICS)
        oracle.publish(("the/end",))
        published = waited(oracle, "the/end")
        for tenant in TENANTS:
            assert contract.tenant_topic(tenant, "templo/attic/ack") in published
            assert contract.tenant_topic(tenant, "templo/attic/token") not in published
        guest.listen("templo-tenants/+/templo/+/token")
        oracle.publish(TOPICS)
        until = time.monotonic() + 60
        while len(set(guest.received)) < 4 and time.monotonic() < until:
            time.sleep(0.01)
        assert set(guest.received) == {
            contract.tenant_topic(tenant, f"templo/{temple}/token")
            for tenant in TENANTS[1:]
            for temple in (TEMPLE, "attic")
        }
    finally:
        guest.leave()


def test_two_tenants_never_share_a_user_or_a_password(installation: Installation) -> None:
    found = [password(installation, user) for user in USERS]
    assert len(set(found)) == len(USERS)
    acl = (installation.broker / "acl").read_text()
    assert acl.count("user ") == len(set(acl.split("user "))) - 1


def test_a_removed_tenant_leaves_the_users_of_the_others_as_they_were(tmp_path: Path) -> None:
    made = Installation(tmp_path)
    assert made.run("--temple", "club-a/attic", "--pair", "club-b/attic").returncode == 0
    before = password(made, "club-a.temple-attic")
    assert made.run("--again", "--remove-tenant", "club-b").returncode == 0
    acl = (made.broker / "acl").read_text()
    assert "club-b" not in acl
    assert password(made, "club-a.temple-attic") == before
    assert not list((made.access / "tenants").glob("club-b/*"))
    assert not list((made.access / "pairing").glob("club-b/*"))
