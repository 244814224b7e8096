"""What a release stands on: every part is named, and every licence goes with that of the program."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tools import inventory

ROOT = Path(__file__).parents[2]
STATUS = """\
Package: libc6
Status: install ok installed
Section: libs
Architecture: arm64
Version: 2.41-12+deb13u1

Package: gone
Status: deinstall ok config-files
Section: libs
Architecture: arm64
Version: 1

Package: {name}
Status: install ok installed
Section: non-free-firmware/kernel
Architecture: all
Version: 1:2
"""


def test_every_library_of_the_wheel_has_a_licence_that_goes_with_the_program_s() -> None:
    parts = inventory.libraries()
    assert {"aiohttp", "flask", "markupsafe", "msgspec", "paho-mqtt", "sqlalchemy", "weasyprint"} <= {
        part.name for part in parts
    }
    assert [part for part in parts if not inventory.compatible(part.licence)] == []


def test_the_inventory_takes_in_every_extra_that_a_program_imports_from() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    boards = {"gpiod", "ws2812"}  # compiled on a Raspberry Pi; LGPL-2.1-or-later and MIT
    builders = {"dev", "docs", "firmware", "hardware", "pico", "release"}
    assert set(inventory.EXTRAS) == set(extras) - boards - builders


def test_the_inventory_of_a_card_is_what_its_dpkg_says() -> None:
    parts = inventory.installed(STATUS.format(name="raspi-firmware"))
    assert [part.url for part in parts] == [
        "pkg:deb/debian/libc6@2.41-12%2Bdeb13u1?arch=arm64&distro=trixie",
        "pkg:deb/debian/raspi-firmware@1:2?arch=all&distro=trixie",
    ]


def test_a_part_that_is_not_free_and_not_known_stops_a_release() -> None:
    with pytest.raises(inventory.LicenceError, match="firmware-of-somebody"):
        inventory.installed(STATUS.format(name="firmware-of-somebody"))


def test_an_inventory_is_cyclonedx_and_the_same_each_time() -> None:
    parts = [*inventory.libraries(["controller"]), *inventory.installed(STATUS.format(name="raspi-firmware"))]
    written = inventory.described("the wheel", parts)
    assert inventory.described("the wheel", reversed(parts)) == written
    read = json.loads(written)
    assert (read["bomFormat"], read["metadata"]["component"]["name"]) == ("CycloneDX", "templo-mayor")
    assert {part["purl"] for part in read["components"]} == {part.url for part in parts}
    assert next(each for each in read["dependencies"] if each["ref"] == "the wheel")["dependsOn"]
