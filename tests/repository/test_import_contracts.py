"""The import contracts of `make check` hold: each is broken on purpose, in a copy, and noticed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("templo", "controller", "companion", "hardware", "lab", "bench")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the packages that the contracts cover."""
    folder = tmp_path_factory.mktemp("copy")
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, folder / package, ignore=lambda _, names: [n for n in names if n == "__pycache__"]
        )
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "allow_list.py", folder / "tools")
    return folder


def checked(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter as `make check` does."""
    program = Path(sys.executable).with_name("lint-imports")
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [program, "--no-cache"], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


def test_the_tree_as_it_is_keeps_every_contract(copy: Path) -> None:
    done = checked(copy)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("controller/core/counting.py", "import paho.mqtt.client"),
        ("controller/core/counting.py", "import random"),
        ("controller/core/counting.py", "import pkgutil"),
        ("controller/core/counting.py", "from importlib import resources"),
        ("controller/core/slots.py", "from controller.adapters import gpio"),
        ("controller/adapters/gpio.py", "from controller.app import daemon"),
        ("companion/model/table.py", "import sqlalchemy"),
        ("companion/model/table.py", "import random"),
        ("companion/model/scores.py", "from companion.service import tables"),
        ("companion/games/mexica/rules/options.py", "import flask"),
        ("companion/games/mexica/rules/options.py", "import random"),
        ("companion/games/mexica/rules/options.py", "import pkgutil"),
        ("companion/games/mexica/rules/options.py", "import importlib.resources"),
        ("companion/games/siege/rules/maps.py", "import heapq"),
        ("companion/games/mexica/log.py", "import pkgutil"),
        ("companion/games/kit/table.py", "import random"),
        ("templo/contract/codec.py", "import msgspec"),
        ("companion/games/mexica/rules/options.py", "from companion.games import siege"),
        ("companion/games/mexica/rules/options.py", "from companion.model import table"),
        ("templo/contract/__init__.py", "import companion"),
        ("templo/settings.py", "from templo import mqtt"),
        ("companion/adapters/mqtt_intake.py", "import paho.mqtt.client"),
        ("companion/web/routes/streams.py", "import aiohttp.web"),
        ("companion/service/tables.py", "import controller.core.counting"),
        ("lab/matches.py", "from companion.model import table"),
        ("companion/games/registry.py", "import lab.matches"),
        ("companion/games/registry.py", "import bench.tools.figures"),
        ("bench/tools/programs.py", "from bench.temple import latency"),
    ],
)
def test_a_forbidden_import_is_noticed(copy: Path, file: str, line: str) -> None:
    planted = copy / file
    before = planted.read_text()
    planted.write_text(f"{before}\n\n{line}\n")
    try:
        done = checked(copy)
    finally:
        planted.write_text(before)
    assert done.returncode != 0, f"{line!r} in {file} was let through"
    assert "BROKEN" in done.stdout


def test_a_module_that_no_contract_names_is_noticed(copy: Path) -> None:
    stray = copy / "controller" / "core" / "stray.py"
    stray.write_text('"""A module that no contract names."""\n')
    try:
        done = checked(copy)
    finally:
        stray.unlink()
    assert done.returncode != 0
    assert "stray" in done.stdout
