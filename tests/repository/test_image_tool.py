"""What is known of a card's image without building one: its scripts, its settings file and its names agree."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

from companion.appliance import boot
from templo.broker import BrokerSettings
from tests import fresh
from tools.image import __main__ as builder

FILES = builder.HERE / "files"
SCRIPTS = [*builder.HERE.glob("*.sh"), FILES / "usr/local/sbin/grow-card"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_one_that_the_shell_reads(script: Path) -> None:
    subprocess.run(["sh", "-n", script], check=True)


def test_the_system_is_found_by_the_names_that_its_partitions_get() -> None:
    made = set(re.findall(r"(?:-n|-L) (TEMPLO\w+)", (builder.HERE / "card.sh").read_text()))
    mounted = set(re.findall(r"^LABEL=(\w+)", (FILES / "etc/fstab").read_text(), re.MULTILINE))
    started = set(
        re.findall(r"^ROOTPART=LABEL=(\w+)", (FILES / "etc/default/raspi-firmware").read_text(), re.MULTILINE)
    )
    assert made == mounted
    assert started < mounted


def test_the_example_on_the_boot_partition_is_the_manual_s_with_every_line_commented_out() -> None:
    lines = builder.example().splitlines()
    assert all(line.startswith("#") or not line for line in lines)
    tables = tomllib.loads("\n".join(line.removeprefix("# ") for line in lines[2:]))
    assert tables["name"] == "attic"
    assert set(tables["wifi"]) == set(boot.WifiSettings.__dataclass_fields__)
    assert set(tables["broker"]) <= set(BrokerSettings.__dataclass_fields__)


def test_the_recipe_for_another_builder_names_all_of_the_network_that_nothing_else_brings() -> None:
    """Its base installs nothing that is only recommended, as wpasupplicant is by Debian's NetworkManager."""
    ours = re.findall(r'^network="(.+)"$', (builder.HERE / "system.sh").read_text(), re.MULTILINE)[0].split()
    recipe = (fresh.PROJECT / "docs" / "image.md").read_text("utf-8").partition("`layer/templo-mayor.yaml` is")[2]
    named = re.findall(r"^  - (\S+)$", recipe.partition("customize-hooks")[0], re.MULTILINE)
    layers = {"network-manager": "network-manager", "wireless-regulatory": "wireless-regdb"}
    assert all(re.search(rf"^#  {layer},?$", recipe, re.MULTILINE) for layer in layers)
    assert sorted([*named, *layers.values()]) == sorted(ours)


def test_a_machine_on_which_no_image_can_be_built_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder.os, "geteuid", lambda: 1000)
    with pytest.raises(fresh.FreshError, match="sudo make image"):
        builder.check_machine()
    monkeypatch.setattr(builder.os, "geteuid", lambda: 0)
    monkeypatch.setattr(builder.shutil, "which", lambda program: program)
    monkeypatch.setattr(builder.os, "uname", lambda: type("Name", (), {"release": "6.1.0-44-amd64"}))
    with pytest.raises(fresh.FreshError, match=r"Linux 6\.7 or later; this is 6\.1\.0-44-amd64"):
        builder.check_machine()


def test_a_card_makes_the_key_that_its_sshd_names_once_and_no_other(tmp_path: Path) -> None:
    unit = (FILES / "etc/systemd/system/ssh.service.d/templo-mayor.conf").read_text()
    settings = (FILES / "etc/ssh/sshd_config.d/templo-mayor.conf").read_text()
    named = re.findall(r"^HostKey (\S+)$", settings, re.MULTILINE)
    command = shlex.split(unit.partition("\nExecStartPre=\nExecStartPre=")[2].partition("\n")[0].replace("$$", "$"))
    command[-1] = command[-1].replace("/etc/ssh", str(tmp_path))

    def made() -> dict[str, str]:
        subprocess.run(command, stdin=subprocess.DEVNULL, check=True)
        return {path.name: path.read_text() for path in tmp_path.iterdir()}

    first = made()
    key = Path(named[0]).name
    assert set(first) == {key, f"{key}.pub"}
    assert made() == first
    (tmp_path / key).write_text("")  # as a cut of the power leaves it
    assert made()[key] not in ("", first[key])
