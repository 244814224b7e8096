"""Clubs at a real mosquitto: a port for each, whose users reach the topics below their club's name alone."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.appliance.installation import TEMPLE, Installation
from tests.appliance.test_broker_access import ORACLE, Guest
from tests.brokers import free_port, mosquitto

CLUBS = ("club-a", "club-b")
OF_A_SITE = (
    *(f"templo/{temple}/{leaf}" for temple in (TEMPLE, "attic") for leaf in ("status", "token", "ack", "command")),
    f"templo-tables/{'0' * 32}/changed",
    "homeassistant/device/attic/config",
    "homeassistant/status",
)
EVERYBODYS = tuple(f"{site}{topic}" for site in ("", *(f"{club}/" for club in CLUBS)) for topic in OF_A_SITE)
NAMES = ("temple-attic", "companion", "watcher", "homeassistant")
USERS = tuple(f"{club}.{name}" for club in CLUBS for name in NAMES)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("installation"))
    for words in (["--temple", TEMPLE], *(["--again", "--club", club, "--temple", "attic"] for club in CLUBS)):
        done = made.run(*words)
        assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def ports(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    """The ports of a running broker: that of the installation under an empty name, and of each club."""
    passwords, acl = installation.broker / "passwords", installation.broker / "acl"
    subprocess.run(["mosquitto_passwd", "-b", str(passwords), ORACLE, ORACLE], check=True, capture_output=True)
    acl.write_text(f"{acl.read_text()}\nuser {ORACLE}\ntopic readwrite #\n")
    listeners = installation.listeners.read_text()
    found = {}
    for club in CLUBS:
        found[club] = free_port()
        listeners = re.sub(rf"listener \d+(?=\nmount_point {club}/)", f"listener {found[club]} 127.0.0.1", listeners)
    with mosquitto(tmp_path_factory.mktemp("broker"), config=f"{installation.config()}\n{listeners}") as running:
        yield {"": running.port, **found}


def received(guest: Guest) -> list[str]:
    """Let a guest note what it is sent by the payload: mosquitto 2.0.11 leaves the club's name before the topic."""
    found: list[str] = []
    guest.client.on_message = lambda _client, _data, message: found.append(message.payload.decode())
    return found


def waited(found: list[str], last: str) -> set[str]:
    until = time.monotonic() + 60
    while last not in found:
        assert time.monotonic() < until, f"{last} never came"
        time.sleep(0.01)
    return set(found) - {last}


@pytest.mark.parametrize("user", [*USERS, "companion", "watcher", f"temple-{TEMPLE}"])
@pytest.mark.parametrize("at", ["", *CLUBS])
def test_no_user_publishes_or_receives_beyond_its_own_topics_whichever_port_it_uses(
    ports: dict[str, int], installation: Installation, user: str, at: str
) -> None:
    own = user.rpartition(".")[0]
    guest, oracle = Guest(ports[at], user, installation.password(user)), Guest(ports[""], ORACLE, ORACLE)
    try:
        assert guest.refused is None
        published, reached = received(oracle), received(guest)
        oracle.listen("#")
        for topic in EVERYBODYS:  # what it says is what it asked for, at the port that it asked
            guest.client.publish(topic, f"{at}/{topic}" if at else topic, qos=1).wait_for_publish(60)
        oracle.client.publish("the/end", "the/end", qos=1)
        said = waited(published, "the/end")
        guest.listen("#", "+/+/+", "+/+/+/+", *EVERYBODYS)
        published.clear()
        for topic in (*EVERYBODYS, "the/end"):
            oracle.client.publish(topic, topic, qos=1).wait_for_publish(60)
        waited(published, "the/end")
        time.sleep(0.3)
        mine = {f"{own}/{topic}" if own else topic for topic in OF_A_SITE}
        if at != own:  # a port of another club reaches none of its topics, and the installation's own only these
            mine = mine if not at else set()
        assert said <= mine
        assert set(reached) <= mine
        assert at != own or said or user.endswith("watcher"), "it may publish something"
        assert at != own or reached, "it may receive something"
    finally:
        guest.leave()
        oracle.leave()


def test_the_users_of_clubs_never_share_a_name_a_password_or_a_port(installation: Installation) -> None:
    found = [installation.password(user) for user in (*USERS, "companion", "watcher", "homeassistant")]
    assert len(set(found)) == len(found)
    acl = (installation.broker / "acl").read_text()
    assert len(set(re.findall(r"^user (.+)$", acl, re.MULTILINE))) == acl.count("user ")
    assert re.findall(r"^listener (.+)$", installation.listeners.read_text(), re.MULTILINE) == ["18831", "18832"]
    assert "TEMPLO_BROKER_PORT=18832\n" in (installation.access / "clubs/club-b/companion.env").read_text()


def test_a_removed_club_leaves_the_users_of_the_others_as_they_were_and_its_port_for_the_next(tmp_path: Path) -> None:
    made = Installation(tmp_path)
    for words in (["--club", "club-a", "--pair", "cellar"], ["--club", "club-b", "--temple", "attic"]):
        assert made.run("--again", *words).returncode == 0
    before = made.password("club-b.temple-attic"), made.password("companion")
    assert made.run("--again", "--remove-club", "club-a").returncode == 0
    assert "club-a" not in (made.broker / "acl").read_text()
    assert not (made.access / "clubs" / "club-a").exists()
    assert (made.password("club-b.temple-attic"), made.password("companion")) == before
    assert made.run("--again", "--club", "club-c").returncode == 0
    ports = re.findall(r"listener (\d+)\nmount_point (\S+)/", made.listeners.read_text())
    assert ports == [("18832", "club-b"), ("18831", "club-c")]
    for club in ("club-b", "club-c"):
        assert made.run("--again", "--remove-club", club).returncode == 0
    assert not made.listeners.exists()


def test_temples_and_watchers_join_a_club_later_and_pair_by_a_code_where_its_companion_looks(tmp_path: Path) -> None:
    made = Installation(tmp_path)
    assert made.run("--again", "--club", "club-a", "--temple", "attic").returncode == 0
    before = made.password("club-a.temple-attic")
    assert made.run("--again", "--club", "club-a", "--pair", "cellar", "--watcher", "kitchen").returncode == 0
    assert made.password("club-a.temple-attic") == before
    offered = (made.access / "clubs/club-a/pairing/cellar.env").read_text()
    assert f"TEMPLO_BROKER_PASSWORD={made.password('club-a.temple-cellar')}\n" in offered
    assert (made.access / "clubs/club-a/watcher-kitchen.env").exists()
    assert made.run("--again").returncode == 0, "an update of the package"
    assert made.password("club-a.temple-attic") == before
    assert "user club-a.watcher-kitchen\n" in (made.broker / "acl").read_text()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--club", "Club"], "is no club's name"),
        (["--club", "a" * 17], "is no club's name"),
        (["--remove-club", "club-x", "--again"], "expected --again and one of no clubs"),
        (["--club", "club-a", "--again", "--own", "attic"], "--own is attic"),
    ],
)
def test_a_wrong_club_is_refused_and_nothing_is_written(tmp_path: Path, words: list[str], reason: str) -> None:
    made = Installation(tmp_path)
    done = made.run(*words)
    assert done.returncode == 2
    assert reason in done.stderr
    assert not made.access.exists()
