"""Who may do what at the broker: every user, every topic, both directions, on a real mosquitto with our drop-in."""

from __future__ import annotations

import grp
import importlib.machinery
import importlib.util
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.reasoncodes import ReasonCode

from controller.app import settings as controller_settings
from tests.appliance.installation import PROGRAM, TEMPLE, Installation
from tests.brokers import HOST, Broker, leave, mosquitto
from tests.controller.program import ROOT
from tests.waiting import eventually, within

ORACLE = "oracle"
STRANGER = "other"
TOPICS = (
    *(f"templo/{name}/{leaf}" for name in (TEMPLE, STRANGER)
      for leaf in ("status", "token", "count", "noise", "findings", "reply", "ack", "command", "score",
                   "mood", "light", "set_light")),
    "templo-tables/0123456789abcdef/changed",
    f"homeassistant/device/{TEMPLE}/config",
    f"homeassistant/device/{STRANGER}/config",
    "homeassistant/status",
    "homeassistant/sensor/lamp/config",
    "templo",
    "something/else",
)  # fmt: skip
SAID = ("status", "token", "count", "noise", "findings", "reply")
SENT = (*SAID, "light")
FOR_TEMPLES = ("ack", "command", "score", "mood", "set_light")


def of(*leaves: str, temples: tuple[str, ...] = (TEMPLE, STRANGER)) -> set[str]:
    return {f"templo/{temple}/{leaf}" for temple in temples for leaf in leaves}


TABLES = {"templo-tables/0123456789abcdef/changed"}
CONFIGS = {f"homeassistant/device/{name}/config" for name in (TEMPLE, STRANGER)}
EVERYTHING_OF_TEMPLES = of(*SENT, *FOR_TEMPLES)

WATCHED = {"templo"} | EVERYTHING_OF_TEMPLES | TABLES | CONFIGS  # a "#" covers its parent too

MAY: dict[str, tuple[set[str], set[str]]] = {
    "temple-templo": (
        of(*SENT, temples=(TEMPLE,)) | {f"homeassistant/device/{TEMPLE}/config"},
        of("ack", "command", "status", "mood", "set_light", temples=(TEMPLE,)),
    ),
    "companion": (of("ack", "command", "score", "mood") | TABLES, of(*SAID) | TABLES),
    "watcher": (set(), WATCHED),
    "watcher-kitchen": (set(), WATCHED),
    "homeassistant": (
        of("command", "set_light") | {"homeassistant/status"},
        of("status", "count", "noise", "score", "mood", "light")
        | CONFIGS
        | {"homeassistant/status", "homeassistant/sensor/lamp/config"},
    ),
}
"""For each user what it may publish and what it may receive; everything else is denied."""


@dataclass
class Guest:
    """Somebody at the broker, and what that one received."""

    port: int
    user: str | None
    password: str | None
    client_id: str = ""
    received: list[str] = field(default_factory=list)
    acks: dict[int, ReasonCode] = field(default_factory=dict)
    refused: ReasonCode | None = None

    def __post_init__(self) -> None:
        self._up, self._subscribed, self._gone = threading.Event(), threading.Event(), threading.Event()
        self.client = paho.Client(
            CallbackAPIVersion.VERSION2, self.client_id, protocol=paho.MQTTv5, reconnect_on_failure=False
        )
        if self.user is not None:
            self.client.username_pw_set(self.user, self.password)
        self.client.on_connect = self._on_connect
        self.client.on_disconnect = lambda *_: self._gone.set()
        self.client.on_message = lambda _c, _d, message: self.received.append(message.topic)
        self.client.on_publish = lambda _c, _d, mid, reason, _p: self.acks.__setitem__(mid, reason)
        self.client.on_subscribe = lambda *_: self._subscribed.set()
        self.client.connect(HOST, self.port)
        self.client.loop_start()
        assert self._up.wait(60)

    def _on_connect(self, _client: Any, _data: Any, _flags: Any, reason: ReasonCode, _props: Any) -> None:
        self.refused = reason if reason.is_failure else None
        self._up.set()

    def is_thrown_out(self, within_s: float) -> bool:
        """Wait for the broker to end this connection, and say whether it did."""
        return self._gone.wait(within_s)

    def listen(self, *topics: str) -> None:
        self._subscribed.clear()
        self.client.subscribe([(topic, 1) for topic in topics])
        assert self._subscribed.wait(60)

    def publish(self, topics: tuple[str, ...]) -> dict[str, ReasonCode]:
        """Publish to each topic and return what the broker answered."""
        sent = {topic: self.client.publish(topic, self.user or "nobody", qos=1) for topic in topics}
        within(60, lambda: len(self.acks) == len(sent))
        answers = {topic: self.acks[info.mid] for topic, info in sent.items()}
        self.acks.clear()
        return answers

    def leave(self) -> None:
        leave(self.client)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("installation"))
    done = made.run("--temple", TEMPLE, "--temple", STRANGER, "--watcher", "kitchen")
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def broker(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A mosquitto with what was installed, and one user more who may do everything, to see what the others did."""
    passwords, acl = installation.broker / "passwords", installation.broker / "acl"
    subprocess.run(["mosquitto_passwd", "-b", str(passwords), ORACLE, ORACLE], check=True, capture_output=True)
    before = acl.read_text()
    acl.write_text(f"{before}\nuser {ORACLE}\ntopic readwrite #\n")
    with mosquitto(tmp_path_factory.mktemp("broker"), config=installation.config()) as running:
        yield running


@pytest.fixture
def guests(broker: Broker, installation: Installation) -> Iterator[dict[str, Guest]]:
    users = {ORACLE: Guest(broker.port, ORACLE, ORACLE)}
    users |= {user: Guest(broker.port, user, installation.password(user)) for user in MAY}
    yield users
    for guest in users.values():
        guest.leave()


def test_the_broker_writes_no_log_of_its_own_which_nothing_bounds(installation: Installation, tmp_path: Path) -> None:
    file = tmp_path / "mosquitto.log"
    with mosquitto(tmp_path, config=f"log_dest file {file}\n{installation.config()}") as broker:
        Guest(broker.port, None, None).leave()
        os.kill(broker.pid, signal.SIGHUP)
        eventually(lambda: "Reloading config" in broker.log(), what="a reload")
        Guest(broker.port, None, None).leave()
        eventually(lambda: broker.log().count("not authorised") == 2, what="two strangers in its output")
    assert not file.exists()


def waited(guest: Guest, last: str) -> set[str]:
    """Wait until a guest received the last topic, and return all that it received."""
    eventually(lambda: last in guest.received, what=last)
    return set(guest.received) - {last}


@pytest.mark.parametrize("user", MAY)
def test_what_a_user_may_publish(guests: dict[str, Guest], user: str) -> None:
    oracle = guests[ORACLE]
    oracle.listen("#")
    answers = guests[user].publish(TOPICS)
    oracle.publish(("the/end",))
    assert waited(oracle, "the/end") == MAY[user][0]
    allowed = {topic for topic, reason in answers.items() if not reason.is_failure}
    assert allowed == MAY[user][0], "and a denial is answered in MQTT 5"


@pytest.mark.parametrize("user", MAY)
def test_what_a_user_may_receive(guests: dict[str, Guest], user: str) -> None:
    """Each topic is asked for by its name and by every wildcard that covers it."""
    for topics in (TOPICS, ("#",), ("templo/+/+", "templo-tables/#", "homeassistant/+/+/config", "+/+")):
        guests[user].received.clear()
        guests[user].listen(*topics)
        guests[ORACLE].publish(TOPICS)
        time.sleep(0.3)
        received = set(guests[user].received)
        assert received <= MAY[user][1], topics
        if topics != ("templo/+/+", "templo-tables/#", "homeassistant/+/+/config", "+/+"):
            assert received == MAY[user][1], topics


def test_none_of_our_users_may_read_the_state_of_the_broker(guests: dict[str, Guest]) -> None:
    for user in MAY:
        guests[user].listen("$SYS/#")
    time.sleep(0.5)
    assert not any(topic.startswith("$SYS") for user in MAY for topic in guests[user].received)


@pytest.mark.parametrize(
    ("user", "password"),
    [
        (None, None),
        ("companion", None),
        ("companion", ""),
        ("companion", "companion"),
        ("templo", "templo"),
        ("", ""),
    ],
)
def test_nobody_gets_in_without_a_name_and_its_password(
    broker: Broker, user: str | None, password: str | None
) -> None:
    guest = Guest(broker.port, user, password)
    assert guest.refused is not None
    guest.leave()


def test_a_will_goes_no_further_than_its_sender_may(
    broker: Broker, guests: dict[str, Guest], installation: Installation
) -> None:
    oracle = guests[ORACLE]
    oracle.listen("#")
    client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5, reconnect_on_failure=False)
    guests["watcher"].leave()
    client.username_pw_set("watcher", installation.password("watcher"))
    client.will_set(f"templo/{TEMPLE}/command", b"{}", qos=1)
    client.connect(HOST, broker.port)
    client.loop_start()
    time.sleep(0.3)
    sock = client.socket()
    assert sock is not None
    sock.shutdown(2)  # type: ignore[union-attr, call-arg]
    client.loop_stop()
    time.sleep(0.5)
    oracle.publish(("the/end",))
    assert waited(oracle, "the/end") == set()


# -- client ids --


@pytest.mark.parametrize("owner", [f"temple-{TEMPLE}", "companion", "homeassistant", "watcher"])
def test_nobody_but_its_own_user_throws_a_client_out(
    broker: Broker, guests: dict[str, Guest], installation: Installation, owner: str
) -> None:
    """Every other user tries every id by which it could be known; all of them stay, and the next message arrives."""
    oracle = guests[ORACLE]
    oracle.listen("#")
    victim = guests.pop(owner)
    victim.leave()
    victim = guests[owner] = Guest(broker.port, owner, installation.password(owner), client_id=f"{owner}-id")
    for user in {*MAY, ORACLE} - {owner}:
        for client_id in (f"{owner}-id", owner):
            guests[user].leave()
            password = ORACLE if user == ORACLE else installation.password(user)
            guests[user] = Guest(broker.port, user, password, client_id=client_id)
            assert guests[user].refused is None
    answers = victim.publish(TOPICS)
    assert {topic for topic, reason in answers.items() if not reason.is_failure} == MAY[owner][0]
    assert not victim.is_thrown_out(within_s=1)
    assert not [user for user, guest in guests.items() if guest.is_thrown_out(within_s=0)]


def test_a_second_connection_of_the_same_user_takes_the_place_of_the_first(
    broker: Broker, guests: dict[str, Guest], installation: Installation
) -> None:
    """Such as a temple's whose first connection died with its router: it waits for no keepalive."""
    second = Guest(broker.port, "watcher", installation.password("watcher"), client_id="another")
    assert guests["watcher"].is_thrown_out(within_s=60)
    assert not guests["watcher-kitchen"].is_thrown_out(within_s=0), "each program that watches has a user of its own"
    second.leave()


# -- what is written --


def test_every_file_is_its_owner_s_alone(installation: Installation) -> None:
    assert stat.S_IMODE(installation.broker.stat().st_mode) == 0o700
    for folder in (installation.broker, installation.access):
        names = [path.name for path in folder.iterdir()]
        assert not [name for name in names if name.startswith(".")], "no draft with plain passwords is left"
        for path in folder.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_the_broker_s_file_holds_no_password_and_no_two_are_the_same(installation: Installation) -> None:
    hashes = (installation.broker / "passwords").read_text()
    plain = {installation.password(user) for user in MAY}
    assert len(plain) == len(MAY)
    assert all(len(each) == 32 for each in plain)
    assert not any(each in hashes for each in plain)
    assert re.fullmatch(r"(?:[a-z-]+:\$7\$\d+\$\S+\n)+", hashes)


def test_root_s_own_python_runs_it_anywhere_and_leaves_nothing_beside_the_program(tmp_path: Path) -> None:
    """Nothing is installed for that interpreter: the rules come from the program's own folder."""
    program = tmp_path / "templo-mayor"
    for name in ("systemd", "templo"):
        shutil.copytree(ROOT / name, program / name, ignore=shutil.ignore_patterns("__pycache__"))
    before = sorted(program.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(program / "systemd" / "broker-access"),
         "--broker", str(tmp_path / "broker"), "--access", str(tmp_path / "access"), "--owner", "root"],
        cwd="/", capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "user companion\ntopic read templo/+/status\n" in (tmp_path / "broker" / "acl").read_text()
    assert sorted(program.rglob("*")) == before


def test_a_second_run_keeps_the_passwords_and_adds_a_new_temple(tmp_path: Path) -> None:
    made = Installation(tmp_path)
    assert made.run().returncode == 0
    before = made.password("companion"), made.password("temple-templo")
    assert made.run("--temple", TEMPLE, "--temple", "attic", "--watcher", "tablet").returncode == 0
    assert (made.password("companion"), made.password("temple-templo")) == before
    assert "user temple-attic\ntopic readwrite templo/attic/status\n" in (made.broker / "acl").read_text()
    assert made.password("watcher-tablet") != made.password("watcher")
    assert "user watcher-tablet\ntopic read templo/#\n" in (made.broker / "acl").read_text()
    assert made.run("--renew").returncode == 0
    assert made.password("companion") != before[0]
    assert "attic" not in (made.broker / "acl").read_text()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the program as a module whose `main` writes into the folders of an installation."""
    loader = importlib.machinery.SourceFileLoader("broker_access", str(PROGRAM))
    specification = importlib.util.spec_from_loader("broker_access", loader)
    assert specification
    module = importlib.util.module_from_spec(specification)
    for name in ("path", "dont_write_bytecode"):  # the program sets both
        monkeypatch.setattr(sys, name, getattr(sys, name))
    monkeypatch.setitem(sys.modules, "broker_access", module)
    loader.exec_module(module)
    made = Installation(tmp_path)
    arguments = ["--broker", str(made.broker), "--access", str(made.access), "--owner", "root", "--again"]
    monkeypatch.setattr(sys, "argv", ["broker-access", *arguments])
    monkeypatch.setattr(os, "umask", lambda mask: mask)  # that of the tests stays
    return module


def test_the_controller_s_password_is_written_last_so_that_a_power_cut_is_recognised(
    tmp_path: Path, program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, written, write = Installation(tmp_path), list[str](), program.write

    def noted(path: Path, *rest: Any) -> None:
        write(path, *rest)
        written.append(path.name)

    monkeypatch.setattr(program, "write", noted)
    assert program.main() == 0
    assert {"passwords", "acl", *(path.name for path in made.access.glob("*.env"))} <= set(written)
    assert written[-1] == "controller.env"


def test_what_was_written_survives_a_power_cut(
    tmp_path: Path, program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, synced, fsync = Installation(tmp_path), set[int](), os.fsync

    def noted(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    assert program.main() == 0
    paths = [made.broker, made.access, *made.broker.iterdir(), *made.access.iterdir()]
    assert [path.name for path in paths if path.stat().st_ino not in synced] == []


@pytest.mark.parametrize("name", ["controller", "companion", "watcher"])
@pytest.mark.parametrize("remains", [None, ""])
def test_a_password_that_a_power_cut_took_is_made_anew_and_the_others_stay(
    tmp_path: Path, name: str, remains: str | None
) -> None:
    made = Installation(tmp_path)
    assert made.run().returncode == 0
    others = {path: path.read_text() for path in made.access.glob("*.env") if path.stem != name}
    lost = made.access / f"{name}.env"
    lost.unlink()
    if remains is not None:
        lost.write_text(remains)
    assert made.run("--again").returncode == 0
    assert {path: path.read_text() for path in others} == others
    assert re.search("^TEMPLO_BROKER_PASSWORD=.{32}$", lost.read_text(), re.MULTILINE)


def test_the_programs_users_can_enter_the_folder_where_their_settings_files_are(tmp_path: Path) -> None:
    """Each program reads `/etc/templo-mayor/<program>.toml` as a user of its own, and may read no password there."""
    made = Installation(tmp_path)
    made.access.mkdir(mode=0o700)
    assert made.run().returncode == 0
    assert stat.S_IMODE(made.access.stat().st_mode) == 0o755


def test_an_update_keeps_the_temples_and_watchers(tmp_path: Path) -> None:
    made = Installation(tmp_path)
    assert made.run("--again").returncode == 0
    assert "user temple-templo\n" in (made.broker / "acl").read_text()
    assert made.run("--temple", "main", "--temple", "attic", "--watcher", "tablet").returncode == 0
    before = (made.broker / "acl").read_text()
    assert made.run("--again").returncode == 0
    assert (made.broker / "acl").read_text() == before


def test_a_temple_that_joins_by_a_code_has_a_user_as_any_other_and_its_password_where_the_companion_reads_it(
    tmp_path: Path,
) -> None:
    made = Installation(tmp_path)
    folder = made.access / "pairing"
    assert made.run("--pair", "attic").returncode == 0
    assert "user temple-attic\ntopic readwrite templo/attic/status\n" in (made.broker / "acl").read_text()
    assert f"TEMPLO_BROKER_PASSWORD={made.password('temple-attic')}\n" in (folder / "attic.env").read_text()
    assert made.run("--again", "--pair", "cellar", "--renew").returncode == 0
    assert sorted(path.name for path in folder.iterdir()) == ["attic.env", "cellar.env"]
    assert made.password("temple-attic") in (folder / "attic.env").read_text()
    assert stat.S_IMODE(folder.stat().st_mode) in (0o700, 0o750)
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} <= {0o600, 0o640}
    assert made.run("--temple", TEMPLE, "--pair", "cellar").returncode == 0
    assert [path.name for path in folder.iterdir()] == ["cellar.env"], "who is no temple any more joins by no code"


def test_another_name_for_this_machine_s_temple_keeps_its_password_and_all_others(tmp_path: Path) -> None:
    made = Installation(tmp_path)
    assert made.run("--temple", TEMPLE, "--pair", "attic", "--pair", "cellar", "--watcher", "tablet").returncode == 0
    own, other = made.password(f"temple-{TEMPLE}"), made.password("temple-cellar")
    done = made.run("--again", "--own", "attic")
    assert done.returncode == 0, done.stderr
    assert "TEMPLO_TEMPLE=attic\n" in (made.access / "controller.env").read_text()
    assert (made.password(f"temple-{TEMPLE}"), made.password("temple-cellar")) == (own, other)
    acl = (made.broker / "acl").read_text()
    assert f"user temple-{TEMPLE}\n" not in acl
    assert [acl.count(f"user {user}\n") for user in ("temple-attic", "temple-cellar", "watcher-tablet")] == [1, 1, 1]
    assert [path.name for path in (made.access / "pairing").iterdir()] == ["cellar.env"]
    assert not (made.access / "temple-attic.env").exists()
    assert made.run("--own", "attic").returncode == 2


@pytest.mark.skipif(
    "templo-companion" in {each.gr_name for each in grp.getgrall()},
    reason="this machine has the group that the test lacks",
)
def test_a_missing_group_of_the_companion_is_reported(tmp_path: Path) -> None:
    done = Installation(tmp_path).run("--pair", "attic")
    assert f"only you can read {tmp_path / 'access' / 'pairing'}" in done.stderr
    assert Installation(tmp_path).run("--temple", TEMPLE).stderr == ""


def test_the_temple_of_this_machine_joins_by_no_code(tmp_path: Path) -> None:
    done = Installation(tmp_path).run("--pair", TEMPLE)
    assert done.returncode == 2
    assert "expected one elsewhere" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("whose", "name"),
    [
        *(("temple", name) for name in ("#", "+", "a/b/c", "", "Templo", "a\nuser x", "é")),
        *(("watcher", name) for name in ("#", "a/b/c", "", "Tablet", "a\ntopic readwrite #")),
    ],
)
def test_a_name_that_is_nobody_s_never_reaches_the_access_list(tmp_path: Path, whose: str, name: str) -> None:
    done = Installation(tmp_path).run(f"--{whose}", name)
    assert done.returncode == 2
    assert f"is no {whose}'s name" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_it_wrote_for_the_controller_is_what_the_controller_reads(
    installation: Installation, tmp_path: Path
) -> None:
    environ = dict(line.split("=", 1) for line in (installation.access / "controller.env").read_text().splitlines())
    read = controller_settings.load(file=None, environ=environ, flags={}, home=tmp_path)
    assert (read.broker.user, read.broker.password) == ("temple-templo", installation.password("temple-templo"))
    assert read.temple == TEMPLE
