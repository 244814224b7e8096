"""What a release stands on: every part is named, and every licence goes with that of the program."""

from __future__ import annotations

import json
import lzma
import os
import subprocess
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


def documents(folder: Path, *packages: str) -> Path:
    """Return a folder in which packages say their licences in each way that Debian's do."""
    free = "License: GPL-2+ or Artistic\n text\n\nFiles: b\nLicense: MIT\n\nLicense: MIT\n Permission is granted\n"
    said = {
        "libc6": f"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: a\n{free}",
        "libwords": "Read `/usr/share/common-licenses/LGPL-2.1', and /usr/share/common-licenses/GPL-3.\n",
        "libown": "You may do as you like.\n",
    }
    for name in packages:
        (folder / name).mkdir(parents=True)
        (folder / name / "copyright").write_text(said.get(name, said["libown"]))
    return folder


def test_the_inventory_of_a_card_is_what_its_dpkg_says(tmp_path: Path) -> None:
    parts = inventory.installed(
        STATUS.format(name="raspi-firmware"), documents(tmp_path, "libc6", "raspi-firmware", "gone")
    )
    assert [part.url for part in parts] == [
        "pkg:deb/debian/libc6@2.41-12%2Bdeb13u1?arch=arm64&distro=trixie",
        "pkg:deb/debian/raspi-firmware@1:2?arch=all&distro=trixie",
    ]


@pytest.mark.parametrize(
    ("name", "licence"),
    [
        ("libc6", "GPL-2+ or Artistic, MIT"),
        ("libwords", "GPL-3, LGPL-2.1"),
        ("libown", "as /usr/share/doc/libown/copyright says"),
    ],
)
def test_the_licences_of_a_package_are_those_that_its_copyright_names(
    name: str, licence: str, tmp_path: Path
) -> None:
    status = f"Package: {name}\nStatus: install ok installed\nArchitecture: arm64\nVersion: 1\n"
    assert [part.licence for part in inventory.installed(status, documents(tmp_path, name))] == [licence]


def test_the_inventory_of_the_packages_is_what_apt_would_install_with_its_licences(tmp_path: Path) -> None:
    simulated = (
        "Inst libc6 (2.41-12 Debian:13.2/stable [amd64]) []\n"
        "Inst templo-mayor (1.0.0 local-deb [all])\n"
        "Conf libc6 (2.41-12 Debian:13.2/stable [amd64])\n"
    )
    parts = inventory.resolved(simulated, documents(tmp_path, "libc6", "templo-mayor"))
    assert [(part.url, part.licence) for part in parts] == [
        ("pkg:deb/debian/libc6@2.41-12?arch=amd64&distro=trixie", "GPL-2+ or Artistic, MIT"),
        (
            "pkg:deb/templo-mayor/templo-mayor@1.0.0?arch=all&distro=trixie",
            "as /usr/share/doc/templo-mayor/copyright says",
        ),
    ]


def test_a_part_that_is_not_free_and_not_known_stops_a_release(tmp_path: Path) -> None:
    with pytest.raises(inventory.LicenceError, match="firmware-of-somebody"):
        inventory.installed(STATUS.format(name="firmware-of-somebody"), documents(tmp_path, "libc6"))


def test_a_part_that_does_not_say_its_licence_stops_a_release(tmp_path: Path) -> None:
    with pytest.raises(inventory.LicenceError, match="libc6 does not say its licence"):
        inventory.installed(STATUS.format(name="raspi-firmware"), tmp_path)


def test_packages_and_licences_are_read_from_the_second_partition_of_a_packed_image(tmp_path: Path) -> None:
    root = tmp_path / "root"
    documents(root / "usr/share/doc", "libc6", "raspi-firmware")
    (root / "usr/share/doc/raspi-firmware/copyright").unlink()
    (root / "usr/share/doc/raspi-firmware").rmdir()
    (root / "usr/share/doc/raspi-firmware").symlink_to("libc6")
    (root / "var/lib/dpkg").mkdir(parents=True)
    (root / "var/lib/dpkg/status").write_text(STATUS.format(name="raspi-firmware"))
    card, start = tmp_path / "card", 1 << 20
    card.write_bytes(bytes(462) + bytes(8) + (start // 512).to_bytes(4, "little") + bytes(start - 474))
    environment = {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
    subprocess.run(
        ["mke2fs", "-q", "-F", "-t", "ext4", "-E", f"offset={start}", "-d", root, card, "4M"],
        check=True,
        env=environment,
    )
    packed = tmp_path / "templo-mayor-1-arm64.img.xz"
    packed.write_bytes(lzma.compress(card.read_bytes(), preset=0))
    assert [(part.name, part.licence) for part in inventory.on_card(packed)] == [
        ("libc6", "GPL-2+ or Artistic, MIT"),
        ("raspi-firmware", "GPL-2+ or Artistic, MIT"),
    ]


def test_an_inventory_is_cyclonedx_and_the_same_each_time(tmp_path: Path) -> None:
    there = documents(tmp_path, "libc6", "raspi-firmware")
    parts = [*inventory.libraries(["controller"]), *inventory.installed(STATUS.format(name="raspi-firmware"), there)]
    written = inventory.described("the wheel", parts)
    assert inventory.described("the wheel", reversed(parts)) == written
    read = json.loads(written)
    assert (read["bomFormat"], read["metadata"]["component"]["name"]) == ("CycloneDX", "templo-mayor")
    assert {part["purl"] for part in read["components"]} == {part.url for part in parts}
    assert all(part["licenses"] for part in read["components"])
    assert next(each for each in read["dependencies"] if each["ref"] == "the wheel")["dependsOn"]
