"""`templo-mayor prepare-image`: copies of a card share neither secrets nor tokens."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from companion.adapters.network.network_manager import HOTSPOT, NetworkError
from companion.appliance import command_line, image
from companion.appliance.image import Card, ImageError, prepare

SHARED = (
    *(
        "etc/controller.env",
        "etc/companion.env",
        "etc/temple-attic.env",
        "etc/watcher-tablet.env",
        "etc/.companion.env.new",
    ),
    *("etc/controller-password", "etc/controller.toml.before-boot", "etc/boot-applied", "etc/pairing/attic.env"),
    *("etc/tls/authority.key", "etc/tls/server.pem", "etc/tls/settings.env"),
    *("broker/passwords", "broker/acl", "messages/mosquitto.db", f"connections/{HOTSPOT}.nmconnection"),
    *("controller/ledger.sqlite3", "controller/learned.json", "controller/lgpio/.lgd-nfy0", "companion/owner-code"),
    *("companion/organiser-code", "companion/companion.sqlite", "companion/companion.sqlite-wal"),
    *(
        "companion/companion.sqlite.replaced-20261122T190210Z",
        "companion/1/owner-code",
        "companion/playtests/7/report.en.html",
    ),
    *("backups/templo-mayor-2026-11-23.tar.gz", "backups/.lock"),
)
KEPT = (
    *("etc/controller.toml", "etc/companion.toml", "etc/club.env", "connections/templo-mayor.nmconnection"),
    "messages/somebody.db",
)


@dataclass
class Machine:
    """A machine whose systemd and NetworkManager only take notes."""

    folder: Path
    asked: list[tuple[str, ...]] = field(default_factory=list)
    has_network_manager: bool = True

    def write(self, *names: str, contents: Mapping[str, str] | None = None) -> None:
        for name in names:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text((contents or {}).get(name, ""))

    def card(self) -> Card:
        at = self.folder
        states = (at / "controller", at / "companion")
        return Card(
            *(at / "etc", at / "broker", at / "messages/mosquitto.db", states, at / "backups", at / "connections"),
            self._systemd,
            self._nmcli,
        )

    def files(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}

    def _systemd(self, *words: str) -> str:
        self.asked.append(words)
        assert set(SHARED) <= self.files(), "nothing is removed while a program runs"
        return ""

    def _nmcli(self, *words: str) -> str:
        if not self.has_network_manager:
            raise NetworkError("nmcli: not found")
        self.asked.append(words)
        return ""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.write(*SHARED, *KEPT, contents={"etc/controller.toml": '[broker]\nhost = "127.0.0.1"\n'})
    return made


def test_what_copies_must_not_share_is_removed_and_settings_are_kept(machine: Machine) -> None:
    lines = prepare(machine.card())
    assert machine.files() == set(KEPT)
    assert machine.asked == [("stop", *image.UNITS), ("connection", "delete", HOTSPOT)]
    assert any("sudo poweroff" in line for line in lines)
    for folder in ("controller", "companion", "backups"):
        assert (machine.folder / folder).is_dir(), "a unit's own folder keeps its owner and mode"


def test_it_works_without_network_manager_and_again(machine: Machine) -> None:
    machine.has_network_manager = False
    prepare(machine.card())
    machine.write(*SHARED)
    prepare(machine.card())
    assert machine.files() == set(KEPT)


@pytest.mark.parametrize("name", ["controller", "companion"])
@pytest.mark.parametrize("line", ['password = "secret"', 'password_file = "/etc/templo-mayor/controller-password"'])
def test_a_password_of_a_broker_elsewhere_is_named_and_nothing_is_removed(
    machine: Machine, name: str, line: str
) -> None:
    file = f"etc/{name}.toml"
    machine.write(file, contents={file: f'[broker]\nhost = "192.168.1.5"\n{line}\n'})
    with pytest.raises(
        ImageError, match=rf"{name}\.toml has a password of a broker .* Nothing was removed"
    ) as caught:
        prepare(machine.card())
    assert "secret" not in str(caught.value)
    assert machine.files() == {*SHARED, *KEPT}
    assert machine.asked == []


def test_it_asks_only_where_there_is_something_to_lose(machine: Machine, tmp_path: Path) -> None:
    assert str(tmp_path / "backups") in image.question(machine.card())
    prepare(machine.card())
    assert image.question(machine.card()) == ""


@pytest.mark.parametrize(
    ("words", "is_terminal", "answer", "code", "is_removed"),
    [
        (["prepare-image"], False, "", 1, False),
        (["prepare-image"], True, "n", 1, False),
        (["prepare-image"], True, "yes", 0, True),
        (["prepare-image", "--yes"], False, "", 0, True),
    ],
)
def test_tokens_are_removed_only_if_somebody_said_yes(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    is_terminal: bool,
    answer: str,
    code: int,
    is_removed: bool,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(image, "installed", lambda systemd: machine.card())
    monkeypatch.setattr("sys.stdin.isatty", lambda: is_terminal, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: answer)
    assert command_line.main(words) == code
    assert (machine.files() == set(KEPT)) is is_removed
