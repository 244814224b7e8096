"""`templo-mayor club-site`: what it writes for a club, what it asks the system for, and that nothing of it stays."""

from __future__ import annotations

import io
import os
import pwd
import shutil
import stat
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from companion import settings as configuration
from companion.appliance import clubs, command_line
from companion.appliance.clubs import ClubError, Machine
from tests.appliance.installation import TEMPLE, Installation

ADDRESS = "https://club-a.example"


@dataclass
class Host:
    """A machine with a broker's real files, whose systemd and user database only take notes."""

    folder: Path
    asked: list[tuple[str, ...]] = field(default_factory=list)
    users: set[str] = field(default_factory=set)
    failing: str = ""

    def __post_init__(self) -> None:
        self.installation = Installation(self.folder)
        assert self.installation.run("--temple", TEMPLE).returncode == 0

    @property
    def machine(self) -> Machine:
        return Machine(self.installation.access / "clubs", self.folder / "state", self.folder / "units", self.run)

    def run(self, *words: str) -> str:
        self.asked.append(words)
        if words[0] == self.failing:
            raise ClubError(f"{self.failing} failed")
        if words[0] == "templo-broker-access":
            done = self.installation.run(*words[1:])
            assert done.returncode == 0, done.stderr
        if words[0] == "useradd":
            self.users.add(words[-1])
        if words[0] == "userdel":
            self.users.remove(words[-1])
        return "inactive\n" if "show" in words else ""

    def known(self, name: str) -> pwd.struct_passwd:
        if name not in self.users:
            raise KeyError(name)
        return pwd.getpwuid(os.geteuid())


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    made = Host(tmp_path)
    monkeypatch.setattr(clubs.pwd, "getpwnam", made.known)
    monkeypatch.setattr(clubs.shutil, "chown", lambda path, user=None, group=None: None)
    return made


def test_a_club_gets_a_user_a_folder_settings_users_of_the_broker_and_a_socket(host: Host) -> None:
    said = "\n".join(clubs.add(host.machine, "club-a", ADDRESS))
    assert host.users == {"templo-club-club-a"}
    folder = host.installation.access / "clubs/club-a"
    loaded = configuration.load(folder / "companion.toml", {}, {}, home=host.folder)
    assert (loaded.web.address, loaded.web.allowed_hosts) == (ADDRESS, ("club-a.example",))
    assert stat.S_IMODE((host.folder / "state/club-a").stat().st_mode) == 0o700
    port = host.folder / "units/templo-club@club-a.socket.d/port.conf"
    assert port.read_text() == "[Socket]\nListenStream=127.0.0.1:8101\n"
    assert host.asked[-3:] == [
        ("systemctl", "daemon-reload"),
        ("systemctl", "enable", "--now", "templo-club@club-a.socket"),
        ("systemctl", "restart", "mosquitto.service"),
    ]
    code = (host.folder / "state/club-a/organiser-code").read_text().split()[0]
    assert f"organiser's code is {code}." in said
    assert "port 18831" in said


def test_the_next_club_has_other_ports_and_the_list_names_each(host: Host) -> None:
    assert clubs.listed(host.machine) == ["This machine hosts no clubs."]
    clubs.add(host.machine, "club-a", ADDRESS)
    clubs.add(host.machine, "club-b", "https://example.org/club-b/")
    first, second = clubs.listed(host.machine)
    assert first.startswith("club-a: https://club-a.example, asleep, pages at 127.0.0.1:8101, broker at port 18831, ")
    assert second.startswith("club-b: https://example.org/club-b, asleep, pages at 127.0.0.1:8102, ")


@pytest.mark.parametrize("address", [ADDRESS, "http://example.org/club-a"])
def test_haproxy_takes_the_lines_that_are_printed(host: Host, tmp_path: Path, address: str) -> None:
    if (haproxy := shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin")) is None:
        pytest.skip("haproxy is not installed; `make test` installs it")
    said = clubs.add(host.machine, "club-a", address)
    chosen, *backend = said[next(n for n, line in enumerate(said) if "use_backend" in line) :]
    head = ["defaults", "    mode http", "    timeout connect 5s", "    timeout client 60s"]
    file = tmp_path / "haproxy.cfg"
    file.write_text("\n".join([*head, "frontend web", "    bind 127.0.0.1:8443", chosen, *backend, ""]))
    checked = subprocess.run([haproxy, "-c", "-f", file], capture_output=True, text=True, timeout=60, check=False)
    assert checked.returncode == 0, checked.stderr
    assert f"X-Forwarded-Proto {address.partition(':')[0]}" in "\n".join(backend)


def test_a_removed_club_leaves_nothing_and_no_other_is_touched(host: Host) -> None:
    for name in ("club-a", "club-b"):
        clubs.add(host.machine, name, f"https://{name}.example")
    before = (host.installation.access / "clubs/club-b/companion.env").read_text()
    host.asked.clear()
    clubs.remove(host.machine, "club-a")
    assert host.asked[:2] == [
        ("systemctl", "disable", "--now", "templo-club@club-a.socket"),
        ("systemctl", "stop", "templo-club@club-a.service"),
    ]
    assert [path for path in host.folder.rglob("*") if "club-a" in path.name] == []
    assert "club-a" not in (host.installation.broker / "acl").read_text()
    assert host.users == {"templo-club-club-b"}
    assert (host.installation.access / "clubs/club-b/companion.env").read_text() == before


@pytest.mark.parametrize("failing", ["useradd", "templo-broker-access", "systemctl"])
def test_a_club_that_could_not_be_added_is_cleared_away_and_added_again(host: Host, failing: str) -> None:
    host.failing = failing
    with pytest.raises(ClubError):
        clubs.add(host.machine, "club-a", ADDRESS)
    host.failing = ""
    if (host.installation.access / "clubs/club-a").exists():
        clubs.remove(host.machine, "club-a")
    clubs.add(host.machine, "club-a", ADDRESS)


@pytest.mark.parametrize(
    ("name", "address", "reason"),
    [
        ("Club", ADDRESS, "'Club' is no club's name"),
        ("../a", ADDRESS, "is no club's name"),
        ("a" * 17, ADDRESS, "is no club's name"),
        ("club-a", "club-a.example", "address is 'club-a.example'; expected one such as https://"),
        ("club-a", 'https://a.example/"x', "address is"),
        ("club-a", "https://", "address is"),
    ],
)
def test_a_wrong_name_or_address_is_refused_before_anything_is_made(
    host: Host, name: str, address: str, reason: str
) -> None:
    with pytest.raises(ClubError, match=reason.replace("'", ".")):
        clubs.add(host.machine, name, address)
    assert host.asked == []


def test_a_second_club_of_a_name_and_an_unknown_one_are_refused(host: Host) -> None:
    clubs.add(host.machine, "club-a", ADDRESS)
    with pytest.raises(ClubError, match="there is a club club-a"):
        clubs.add(host.machine, "club-a", ADDRESS)
    with pytest.raises(ClubError, match="there is no club club-b; expected one of club-a"):
        clubs.remove(host.machine, "club-b")


def test_nothing_is_removed_where_nobody_can_be_asked(
    host: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clubs.add(host.machine, "club-a", ADDRESS)
    monkeypatch.setattr(clubs, "installed", lambda: host.machine)
    monkeypatch.setattr(command_line.os, "geteuid", lambda: 0)
    monkeypatch.setattr(command_line.sys, "stdin", io.StringIO())
    assert command_line.main(["club-site", "remove", "club-a"]) == 1
    assert "Add --yes to do it." in capsys.readouterr().err
    assert (host.folder / "state/club-a").exists()
    assert command_line.main(["club-site", "remove", "club-a", "--yes"]) == 0
    assert not (host.folder / "state/club-a").exists()


def test_a_failed_command_is_reported_with_what_it_said() -> None:
    with pytest.raises(ClubError, match="sh -c echo no >&2; exit 3 failed: no"):
        clubs.run_command("sh", "-c", "echo no >&2; exit 3")
    with pytest.raises(ClubError, match="no-such-command cannot be run"):
        clubs.run_command("no-such-command")
