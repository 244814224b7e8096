"""`apt purge`: whichever of the packages goes last removes all settings and passwords, and names what it leaves."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.controller.program import ROOT

LOGINS = ("controller", "companion", "homeassistant", "watcher", "watcher-tablet", "temple-attic", "club")
SETTINGS = (
    *(f"{name}.env" for name in LOGINS),
    *("controller.toml", "companion.toml", "controller.toml.before-boot", "controller.toml.before-pairing"),
    *("controller-password", "boot-applied", ".companion.env.new"),
    *("tls/authority.key", "pairing/attic.env", "clubs/ana/companion.env"),
)
HOTSPOT = "etc/NetworkManager/system-connections/templo-mayor-hotspot.nmconnection"
WIFI = "etc/NetworkManager/system-connections/templo-mayor.nmconnection"


@dataclass
class Root:
    """The root of a machine on which `templo-mayor` was used, and where all scripts of packages run."""

    folder: Path

    def __post_init__(self) -> None:
        names = [f"etc/templo-mayor/{name}" for name in SETTINGS]
        names += [
            f"etc/systemd/system/templo-{name}.service.d/broker-elsewhere.conf"
            for name in ("controller", "companion")
        ]
        names += ["etc/mosquitto/templo/passwords", "etc/mosquitto/conf.d/templo.conf", HOTSPOT, WIFI]
        names += [
            "etc/mosquitto/conf.d/templo-clubs.conf",
            "etc/systemd/system/templo-club@ana.socket.d/port.conf",
            "etc/systemd/system/sockets.target.wants/templo-club@ana.socket",
            "var/lib/templo-club/ana/companion.sqlite",
        ]
        names += [
            "var/lib/templo-controller/ledger.sqlite3",
            "var/backups/templo-mayor/templo-mayor-2026-11-23.tar.gz",
        ]
        for name in names:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        for name in ("ucf", "ucfr", "nmcli"):
            self.command(name, f'echo {name} "$@" >>{self.folder}/ran')
        self.known()
        registry = self.folder / "var/lib/ucf/registry"
        registry.parent.mkdir()
        registry.write_text("templo-mayor \t /etc/mosquitto/conf.d/templo.conf\n")

    def command(self, name: str, line: str) -> None:
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def known(self, *packages: str) -> None:
        """Let dpkg know only these packages."""
        self.command("dpkg-query", f'case "$2" in {"|".join(packages) or "none"}) exit 0;; *) exit 1;; esac')

    def install(self, *programs: str) -> None:
        for program in programs:
            path = self.folder / "usr" / "bin" / f"templo-{program}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def purge(self, package: str) -> str:
        """Run the package's script as dpkg does, below this root; return what it says."""
        text = (ROOT / "debian" / f"{package}.postrm").read_text()
        for top in ("etc", "usr", "var", "run"):
            text = text.replace(f" /{top}/", f" {self.folder}/{top}/").replace(f'"/{top}/', f'"{self.folder}/{top}/')
        environ = {**os.environ, "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin"}
        done = subprocess.run(
            ["/bin/sh", "-c", text, "postrm", "purge"],
            env=environ,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stderr

    def left(self) -> list[str]:
        paths = [
            path
            for top in ("etc", "var")
            for path in (self.folder / top).rglob("*")
            if path.is_file() and path.name != "registry"
        ]
        return sorted(str(path.relative_to(self.folder)) for path in paths)


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root(tmp_path)


KEPT = [
    "var/backups/templo-mayor/templo-mayor-2026-11-23.tar.gz",
    "var/lib/templo-club/ana/companion.sqlite",
    "var/lib/templo-controller/ledger.sqlite3",
]


@pytest.mark.parametrize("package", ["templo-mayor", "templo-mayor-controller", "templo-mayor-companion"])
def test_the_package_that_is_purged_last_removes_all_settings_and_passwords(root: Root, package: str) -> None:
    said = root.purge(package)
    assert root.left() == [WIFI, *KEPT]
    assert not (root.folder / "etc" / "templo-mayor").exists()
    for folder in ("var/backups/templo-mayor", "var/lib/templo-club", "var/lib/templo-controller"):
        assert f"Kept: {root.folder / folder} " in said
    assert "nmcli connection delete templo-mayor-hotspot\n" in (root.folder / "ran").read_text()


@pytest.mark.parametrize("other", ["templo-mayor", "templo-mayor-companion"])
def test_a_part_leaves_what_another_package_may_need_until_that_is_purged_too(root: Root, other: str) -> None:
    root.known(other)
    root.purge("templo-mayor-controller")
    left = root.left()
    assert "etc/templo-mayor/controller.toml" not in left
    assert "etc/templo-mayor/companion.toml" in left
    assert "etc/templo-mayor/tls/authority.key" in left
    assert HOTSPOT in left


def test_the_whole_leaves_what_a_part_that_took_its_place_uses_and_that_removes_it(root: Root) -> None:
    root.install("companion")
    before = root.left()
    root.purge("templo-mayor")
    assert root.left() == before
    (root.folder / "usr/bin/templo-companion").unlink()
    root.purge("templo-mayor-companion")
    assert root.left() == [WIFI, *KEPT]


def test_a_part_alone_leaves_a_broker_that_somebody_set_up_by_hand(root: Root) -> None:
    (root.folder / "var/lib/ucf/registry").unlink()
    root.purge("templo-mayor-companion")
    left = root.left()
    assert {"etc/mosquitto/conf.d/templo.conf", "etc/mosquitto/templo/passwords"} <= set(left)
    assert not {f"etc/templo-mayor/{name}" for name in ("companion.env", "companion.toml", "club.env")} & set(left)


def test_what_somebody_else_put_among_the_settings_stays_and_is_named(root: Root) -> None:
    (root.folder / "etc/templo-mayor/mine.txt").touch()
    said = root.purge("templo-mayor")
    assert f"Kept: {root.folder}/etc/templo-mayor, for what others put there: mine.txt" in said
    assert "etc/templo-mayor/mine.txt" in root.left()
