"""Two tenants as programs of their own: mosquitto, one companion, and two temples of one name."""

from __future__ import annotations

import re
import secrets
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from bench.club.temples import Temples
from companion.adapters.database.tenants import Tenants
from companion.model.tenants import Limits
from tests.brokers import HOST, Broker, free_port, mosquitto, nats
from tests.controller.program import ROOT, Temple, environment, eventually
from tests.path.conftest import Program

TENANTS = ("club-a", "club-b")


class Site:
    """A companion that hosts two tenants, with a temple of each."""

    def __init__(self, folder: Path, broker: Broker) -> None:
        self.folder, self.port = folder, free_port()
        file = folder / "companion.toml"
        file.write_text(
            f'hosted = "on"\nstate = "{folder / "state"}"\n[broker]\nhost = "{HOST}"\nport = {broker.port}\n'
        )
        self.file = file
        (folder / "state").mkdir()
        with closing(Tenants(f"sqlite:///{folder / 'state' / 'companion.sqlite'}")) as tenants:
            for tenant in TENANTS:
                tenants.add(tenant, Limits(), secrets.token_bytes)
        self.companion = Program(
            ["companion", "run", "--config", str(file), "--host", HOST, "--port", str(self.port)],
            "ready ",
            folder / "companion.log",
        )
        self.temples = {
            tenant: Temple(folder / f"temple-{tenant}", broker.port, TEMPLO_BROKER_TENANT=tenant)
            for tenant in TENANTS
        }

    def tenant(self, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "companion", "tenant", *words, "--config", str(self.file)]
        return subprocess.run(
            command,
            cwd=ROOT,
            env=environment(),
            input=typed,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def get(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self.port}{path}", timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""

    def received(self, tenant: str) -> int:
        metrics = self.get(f"/h/{tenant}/metrics")[1] if tenant else self.get("/metrics")[1]
        return int(sum(map(float, re.findall(r"templo_tokens_received_total\{.*\} ([\d.]+)", metrics))))


@pytest.fixture(scope="module", params=[mosquitto, nats])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site for the tests of this file, in their order: the last of them deletes a tenant."""
    folder = tmp_path_factory.mktemp("site")
    with ExitStack() as stack:
        broker = stack.enter_context(request.param(folder))
        made = Site(folder, broker)
        made.companion.start()
        stack.callback(made.companion.kill)
        for temple in made.temples.values():
            stack.callback(temple.kill)
            temple.start()
        yield made


def test_every_token_counts_once_for_its_own_tenant_whatever_dies(place: Site) -> None:
    dropped = {"club-a": 3, "club-b": 5}
    for tenant, count in dropped.items():
        place.temples[tenant].drop(count=count)
    for tenant, count in dropped.items():
        eventually(lambda tenant=tenant, count=count: place.received(tenant) == count)
        eventually(lambda tenant=tenant: place.temples[tenant].report()["waiting"] == 0)
    place.companion.kill()
    for tenant in TENANTS:
        place.temples[tenant].drop("huitzilopochtli", 2)
    place.companion.start()
    for tenant, count in dropped.items():
        eventually(lambda tenant=tenant, count=count: place.received(tenant) == count + 2)
        eventually(lambda tenant=tenant: place.temples[tenant].report()["waiting"] == 0)
    assert place.received("") == 0
    assert place.get("/temples/templo")[0] == 404, "the installation's own tables know neither temple"


def test_a_tenant_is_added_and_deleted_while_everything_runs(place: Site) -> None:
    before = place.received("club-b")
    place.temples["club-b"].drop()
    eventually(lambda: place.received("club-b") == before + 1)
    last = place.temples["club-a"].report()["last_seq"]
    assert place.tenant("delete", "club-a", typed="club-a\n").returncode == 0
    eventually(lambda: place.get("/h/club-a/")[0] == 404)
    assert place.tenant("add", "club-c").returncode == 0
    eventually(lambda: place.get("/h/club-c/")[0] == 200)
    assert place.temples["club-a"].drop() == last + 1
    place.temples["club-b"].drop()
    eventually(lambda: place.received("club-b") == before + 2)
    assert place.get("/h/club-a/")[0] == 404, "a token of a tenant that is gone brings nothing back"
    assert not list((place.folder / "state" / "tenants").glob("club-a*"))
    assert place.temples["club-a"].report()["waiting"] == 1


def test_no_tenant_waits_until_the_backlog_of_another_one_s_temple_is_stored(tmp_path: Path) -> None:
    many, few = 5_000, 20
    with ExitStack() as stack:
        broker = stack.enter_context(mosquitto(tmp_path))
        site = Site(tmp_path, broker)
        site.companion.start()
        stack.callback(site.companion.kill)
        sending, other = (stack.enter_context(Temples(broker.port, ["attic"], tenant)) for tenant in TENANTS)
        sending.drop("attic", many)
        eventually(lambda: sending.acknowledged)
        for n in range(few):
            other.drop("attic")
            eventually(lambda n=n: other.acknowledged == n + 1)
        assert sending.acknowledged < many
