"""The root helper for the network: a hotspot where there is no network, and the Wi-Fi that was chosen on the page."""

from __future__ import annotations

import fcntl
import io
import json
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pytest
from msgspec.structs import replace

from companion.adapters.network import network_helper, network_manager
from companion.adapters.network.network_helper import NetworkHelper
from companion.adapters.network.network_manager import NetworkError
from companion.appliance import command_line
from companion.appliance.network_helper import (
    ALONE_S,
    JOIN_PATIENCE_S,
    LEAVE_S,
    RETRY_S,
    WATCH_PATIENCE_S,
    WATCH_S,
    Helper,
)
from companion.model.network import Hotspot, Network
from tests.controller.program import ROOT

HOME, PASSWORD = "Casa: Ruiz", "correct horse"
OWN = "templo-mayor-hotspot"


@dataclass
class Machine:
    """A machine with a false NetworkManager, and the helper on it."""

    folder: Path
    seconds: float = 1000.0
    waited: list[float] = field(default_factory=list)

    @property
    def _file(self) -> Path:
        return self.folder / "state.json"

    def set(self, **given: Any) -> None:
        """Change what the false NetworkManager knows."""
        state = json.loads(self._file.read_text()) if self._file.exists() else {}
        self._file.write_text(json.dumps({**state, **given}))

    def get(self, key: str) -> Any:
        return json.loads(self._file.read_text())[key]

    @property
    def active(self) -> str:
        """The name of the Wi-Fi connection that is up."""
        names = {each["uuid"]: each["con-name"] for each in self.get("connections")}
        return str(names.get(self.get("active"), ""))

    @property
    def helper(self) -> Helper:
        return Helper(
            self.folder / "run",
            self.folder / "issue.d" / "templo-mayor.issue",
            self.folder / "leases",
            lambda: self.seconds,
            lambda: 2_000_000_000.0,
            self.waited.append,
            lambda n: bytes(range(n)),
        )

    def knows(self, name: str = HOME, password: str = PASSWORD) -> None:
        """Let NetworkManager know a Wi-Fi from before."""
        known = {"con-name": name, "ssid": name, "wifi-sec.psk": password, "uuid": f"{name}-before"}
        self.set(connections=[*self.get("connections"), known])

    @contextmanager
    def another_run(self, what: str) -> Iterator[IO[str]]:
        """Have the lock as another run of the helper has it; closing what is yielded ends that."""
        (self.folder / "run").mkdir(exist_ok=True)
        with (self.folder / "run" / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write(what)
            lock.flush()
            yield lock

    @contextmanager
    def listening(self) -> Iterator[NetworkHelper]:
        """Answer at a socket as the unit does; yields the companion's side."""
        path = self.folder / "network.sock"
        path.unlink(missing_ok=True)
        ended = threading.Event()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen()
            listener.settimeout(0.1)

            def serve() -> None:
                while not ended.is_set():
                    try:
                        connection, _ = listener.accept()
                    except TimeoutError:
                        continue
                    with connection, connection.makefile("rb") as asked:
                        self.helper.serve(asked, lambda line, to=connection: to.sendall(line + b"\n"))  # type: ignore[misc]

            thread = threading.Thread(target=serve)
            thread.start()
            yield NetworkHelper(path, Network)
            ended.set()
            thread.join(60)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with Wi-Fi that is on no network and knows none."""
    program = ROOT / "tests" / "appliance" / "false_nmcli.py"
    (tmp_path / "nmcli").write_text(f'#!/bin/sh\nexec {sys.executable} {program} "$@"\n')
    (tmp_path / "nmcli").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("FALSE_NMCLI", str(tmp_path / "state.json"))
    machine = Machine(tmp_path)
    air = {HOME: [70, "WPA2", PASSWORD], "Open": [20, "", ""], "New": [50, "WPA3", "only by sae"]}
    machine.set(devices=["wifi", "ethernet"], cable=False, air=air, connections=[], active="", asked=[])
    return machine


# -- the hotspot --


def test_a_machine_that_knows_no_wi_fi_opens_its_own_with_a_password_made_here(machine: Machine) -> None:
    assert machine.helper.watch() == "opened the hotspot: there is no other network"
    found = network_manager.look(secrets=True)
    assert found.hotspot == Hotspot("Templo Mayor", "ABCDE-FGHJK", on=True)
    assert (found.wifi, found.hotspot_is_open) == ("", True)
    shown = machine.helper.issue
    assert "join the Wi-Fi Templo Mayor, password ABCDE-FGHJK, and open http://10.42.0.1" in shown.read_text()
    assert NetworkHelper(issue=shown).hotspot_is_open()
    assert machine.helper.watch() == ""


def test_the_hotspot_keeps_its_password(machine: Machine) -> None:
    machine.helper.watch()
    network_manager.prepare_hotspot(lambda n: bytes(n))
    assert network_manager.look(secrets=True).hotspot == Hotspot("Templo Mayor", "ABCDE-FGHJK", on=True)
    assert len(machine.get("connections")) == 1


@pytest.mark.parametrize("there", ["cable", "wifi", "joining"])
def test_a_machine_that_is_on_a_network_opens_none(machine: Machine, there: str) -> None:
    if there == "cable":
        machine.set(cable=True)
    elif there == "wifi":
        machine.knows()
        machine.set(active=f"{HOME}-before")
    else:
        machine.set(wifi_state="connecting (getting IP configuration)")
    assert machine.helper.watch() == ""
    assert machine.active in ("", HOME)


def test_a_machine_without_wi_fi_or_without_networkmanager_is_left_alone(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.set(devices=["ethernet"])
    assert machine.helper.watch() == ""
    assert machine.get("connections") == []
    monkeypatch.setenv("PATH", "/nowhere")
    assert machine.helper.watch() == ""


def test_a_known_wi_fi_is_given_time_to_come_back(machine: Machine) -> None:
    machine.knows()
    assert machine.helper.watch() == ""
    machine.seconds += ALONE_S - 1
    assert machine.helper.watch() == ""
    machine.seconds += 1
    assert machine.helper.watch() == "opened the hotspot: there is no other network"


def test_a_hotspot_that_nobody_uses_gives_a_known_wi_fi_another_chance(machine: Machine) -> None:
    machine.knows()
    machine.helper.watch()
    machine.seconds += ALONE_S
    machine.helper.watch()
    machine.seconds += RETRY_S - 1
    assert machine.helper.watch() == ""
    machine.seconds += 1
    assert machine.helper.watch() == "closed the hotspot, to try the Wi-Fi that it knows"
    assert not machine.helper.issue.exists()
    assert not NetworkHelper(issue=machine.helper.issue).hotspot_is_open()
    assert machine.helper.watch() == ""
    machine.seconds += ALONE_S
    assert machine.helper.watch() == "opened the hotspot: there is no other network"


def test_a_hotspot_is_not_closed_under_who_uses_it(machine: Machine) -> None:
    machine.knows()
    machine.helper.watch()
    machine.seconds += ALONE_S
    machine.helper.watch()
    machine.helper.leases.mkdir()
    (machine.helper.leases / "dnsmasq-wlan1.leases").symlink_to("gone")  # as one that goes while they are read
    lease = machine.helper.leases / "dnsmasq-wlan0.leases"
    lease.write_text("2000003600 aa:bb:cc:dd:ee:ff 10.42.0.93 phone 01:aa\n")
    machine.seconds += 10 * RETRY_S
    assert machine.helper.watch() == ""
    machine.set(cable=True)
    assert machine.helper.watch() == ""
    lease.write_text("1999999999 aa:bb:cc:dd:ee:ff 10.42.0.93 phone 01:aa\nnot a line of it\n")
    assert machine.helper.watch() == "closed the hotspot: there is another network"


# -- one run at a time --


@pytest.mark.parametrize("found", [{"cable": True}, {"devices": ["ethernet"]}, {"devices": []}])
def test_the_watch_ends_at_once_where_there_is_another_network_or_no_wi_fi_to_open(
    machine: Machine, found: dict[str, Any]
) -> None:
    machine.set(**found)
    machine.helper.keep_watch(print)
    assert machine.waited == []


def test_the_watch_goes_on_until_the_hotspot_is_closed_for_another_network(machine: Machine) -> None:
    """The home's Wi-Fi comes back after a quarter of an hour, during which no one else asks for the watch."""
    machine.knows()
    machine.set(air={})
    done: list[str] = []

    def wait(seconds: float) -> None:
        machine.waited.append(seconds)
        machine.seconds += seconds
        if machine.seconds > 1000 + ALONE_S + 900 and machine.active != OWN:
            machine.set(air={HOME: [70, "WPA2", PASSWORD]}, active=f"{HOME}-before")

    replace(machine.helper, wait=wait).keep_watch(done.append)
    assert done[0].startswith("opened the hotspot")
    assert "closed the hotspot, to try the Wi-Fi that it knows" in done
    assert machine.active == HOME
    assert set(machine.waited) == {WATCH_S}


def test_the_watch_goes_on_after_networkmanager_refused_something(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def refuse() -> None:
        raise NetworkError("not now")

    def wait(_seconds: float) -> None:
        machine.set(cable=True)

    monkeypatch.setattr(network_manager, "open_hotspot", refuse)
    replace(machine.helper, wait=wait).keep_watch(done.append)
    assert done == ["no hotspot: not now"]


def test_networkmanager_s_events_start_the_watch_and_no_timer_polls_for_it() -> None:
    dispatcher = (ROOT / "systemd" / "NetworkManager" / "60-templo-mayor").read_text()
    assert "down) systemctl --no-block start templo-hotspot.service" in dispatcher
    timer = (ROOT / "systemd" / "templo-hotspot.timer").read_text()
    assert "OnUnitInactiveSec=1d" in timer
    assert "OnUnitActiveSec" not in timer


def test_the_watch_waits_for_a_running_join_and_then_sees_what_came_of_it(machine: Machine) -> None:
    with machine.another_run("another Wi-Fi is being joined") as lock:

        def wait(seconds: float) -> None:
            machine.waited.append(seconds)
            if len(machine.waited) == 3:
                machine.set(cable=True)
                lock.close()

        assert replace(machine.helper, wait=wait).watch() == ""
    assert len(machine.waited) == 3
    assert machine.get("connections") != []
    assert machine.active == ""


def test_a_watch_that_waited_long_enough_says_so_and_changes_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wait(seconds: float) -> None:
        if seconds == WATCH_S:
            raise InterruptedError("the next look")
        machine.waited.append(seconds)

    helper = replace(machine.helper, wait=wait)
    monkeypatch.setattr("companion.appliance.network_helper.Helper", lambda: helper)
    with machine.another_run("another Wi-Fi is being joined"), pytest.raises(InterruptedError):
        command_line.main(["network", "watch"])
    assert capsys.readouterr().out == "left the hotspot as it is: another Wi-Fi is being joined\n"
    assert sum(machine.waited) == WATCH_PATIENCE_S
    assert machine.get("asked") == []
    with pytest.raises(InterruptedError):
        command_line.main(["network", "watch"])
    assert capsys.readouterr().out == "opened the hotspot: there is no other network\n"


def test_a_join_waits_for_a_running_watch_as_long_as_the_companion_does(machine: Machine) -> None:
    with machine.another_run("this machine's own Wi-Fi is being looked after"), machine.listening() as companion:
        with pytest.raises(NetworkError, match="this machine's own Wi-Fi is being looked after; wait a minute"):
            companion.join(HOME, PASSWORD)
        assert not companion.look().joining
    assert sum(machine.waited) == JOIN_PATIENCE_S < network_helper.PATIENCE_S
    assert not any("add" in asked or "up" in asked for asked in machine.get("asked"))


def test_while_a_wi_fi_is_joined_neither_a_second_join_nor_the_watch_touches_it(machine: Machine) -> None:
    seen: list[str] = []

    def wait(_: float) -> None:  # the phone gets its page: the first join has the lock
        if seen:
            return
        seen.append("the first join")
        assert machine.helper.serve(io.BytesIO(b'{"join": "Open"}\n'), lambda line: seen.append(line.decode())) == 1
        with pytest.raises(NetworkError, match="another Wi-Fi is being joined"):
            machine.helper.watch()

    request = json.dumps({"join": HOME, "password": PASSWORD}).encode()
    assert replace(machine.helper, wait=wait).serve(io.BytesIO(request), lambda line: None) == 0
    assert json.loads(seen[1])["error"] == "another Wi-Fi is being joined; wait a minute"
    assert machine.active == HOME


def test_a_join_that_was_killed_is_shown_as_failed_after_the_next_watch(machine: Machine) -> None:
    def killed(_: float) -> None:
        raise SystemExit(143)

    request = json.dumps({"join": HOME, "password": PASSWORD}).encode()
    with pytest.raises(SystemExit):
        replace(machine.helper, wait=killed).serve(io.BytesIO(request), lambda line: None)
    machine.helper.watch()
    with machine.listening() as companion:
        now = companion.look()
    assert (now.joining, now.failed, now.hotspot_is_open) == ("", HOME, True)


# -- choosing a Wi-Fi --


def test_the_wi_fi_that_is_chosen_is_joined_after_the_phone_has_its_answer(machine: Machine) -> None:
    machine.helper.watch()
    with machine.listening() as companion:
        answer = companion.join(HOME, PASSWORD)
        assert (answer.joining, answer.can_join, answer.hotspot_is_open) == (HOME, True, True)
    found = machine.helper
    assert machine.waited == [LEAVE_S]
    assert machine.active == HOME
    with machine.listening() as companion:
        now = companion.look()
    assert (now.wifi, now.joining, now.failed, now.hotspot_is_open) == (HOME, "", "", False)
    assert not found.issue.exists()


@pytest.mark.parametrize(("name", "password"), [(HOME, "wrong password"), ("Far away", PASSWORD)])
def test_where_that_fails_the_hotspot_is_back_and_the_page_says_so(
    machine: Machine, name: str, password: str
) -> None:
    machine.helper.watch()
    with machine.listening() as companion:
        companion.join(name, password)
    assert machine.active == OWN
    assert [each["con-name"] for each in machine.get("connections")] == [OWN]
    with machine.listening() as companion:
        now = companion.look()
    assert (now.failed, now.joining, now.hotspot_is_open) == (name, "", True)


def test_a_new_password_takes_the_place_of_the_old_one(machine: Machine) -> None:
    machine.knows(HOME, "of before")
    with machine.listening() as companion:
        companion.join(HOME, PASSWORD)
    assert [each["wifi-sec.psk"] for each in machine.get("connections")] == [PASSWORD]


def test_a_wi_fi_without_a_password_and_one_with_wpa3_alone_are_joined_in_their_ways(machine: Machine) -> None:
    network_manager.join("Open", "")
    assert "wifi-sec.psk" not in machine.get("connections")[0]
    network_manager.join("New", "only by sae")
    assert machine.get("connections")[1]["wifi-sec.key-mgmt"] == "sae"


@pytest.mark.parametrize(
    ("name", "password", "why"),
    [
        ("x" * 33, PASSWORD, "expected 1 to 32 bytes"),
        ("Casa\nRuiz", PASSWORD, "no name of a Wi-Fi"),
        (HOME, "short", "expected 8 to 63 characters, or 64 hexadecimal digits"),
        (HOME, "ñandú con eñe", "no password of a Wi-Fi"),
    ],
)
def test_what_is_no_wi_fi_is_refused_and_nothing_is_changed(
    machine: Machine, name: str, password: str, why: str
) -> None:
    with machine.listening() as companion, pytest.raises(NetworkError, match=why):
        companion.join(name, password)
    assert not any("add" in asked or "up" in asked for asked in machine.get("asked"))


@pytest.mark.parametrize("line", [b"\n", b"{}x\n", b'{"join": 3}\n', b'{"run": "rm"}\n', b"\xff" * 70_000 + b"\n"])
def test_any_bytes_get_an_answer_and_change_nothing(machine: Machine, line: bytes) -> None:
    answers: list[bytes] = []
    assert machine.helper.serve(io.BytesIO(line), answers.append) == 1
    assert json.loads(answers[0])["error"]
    assert not any("add" in asked or "up" in asked for asked in machine.get("asked"))


def test_without_a_helper_the_companion_shows_what_it_may_see_and_joins_nothing(tmp_path: Path) -> None:
    alone = NetworkHelper(tmp_path / "none.sock", lambda: Network(managed=True, wifi="Casa"))
    assert alone.look() == Network(managed=True, wifi="Casa")
    with pytest.raises(NetworkError, match="does not answer"):
        alone.join(HOME, PASSWORD)


def test_a_password_is_in_no_message_of_what_failed(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(words: list[str], **_: Any) -> Any:
        raise subprocess.TimeoutExpired(words, 80)

    monkeypatch.setattr(subprocess, "run", late)
    with pytest.raises(NetworkError) as caught:
        network_manager.nmcli("connection", "add", "wifi-sec.psk", PASSWORD)
    assert PASSWORD not in str(caught.value)


def test_the_command_answers_at_its_standard_input_as_systemd_hands_it_over(machine: Machine) -> None:

    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(120)
        program = (
            "import sys; from companion.appliance.command_line import main; sys.exit(main(['network', 'serve']))"
        )
        running = subprocess.Popen(
            [sys.executable, "-c", program], stdin=theirs, cwd=ROOT, env=dict(os.environ), stderr=subprocess.PIPE
        )
        theirs.close()
        ours.sendall(b"{}\n")
        with ours.makefile("rb") as answer:
            assert json.loads(answer.readline())["network"]["managed"] is True
            assert answer.readline() == b""
        assert running.communicate(timeout=120) == (None, b"")
        assert running.returncode == 0


def test_the_socket_is_the_companion_s_alone_and_the_helper_has_none_of_root_s_powers() -> None:
    lines = (ROOT / "systemd" / "templo-network.socket").read_text().splitlines()
    assert {"SocketUser=templo-companion", "SocketMode=0600", "Accept=yes"} <= set(lines)
    for unit in ("templo-network@.service", "templo-hotspot.service"):
        directives = (ROOT / "systemd" / unit).read_text().splitlines()
        assert {"CapabilityBoundingSet=", "ProtectSystem=strict", "PrivateNetwork=yes"} <= set(directives)
    assert stat.S_IMODE((ROOT / "systemd" / "NetworkManager" / "60-templo-mayor").stat().st_mode) & 0o111
