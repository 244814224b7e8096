"""The archive of a release: everything in it, with sums that hold, the same from the same files."""

from __future__ import annotations

import hashlib
import posixpath
import re
import shutil
import subprocess
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest

from tools import packages
from tools.release import KINDS, ReleaseError, pack

ROOT = Path(__file__).parents[2]


def _built(root: Path, but: str = "") -> Path:
    for kind in KINDS:
        (root / kind.folder).mkdir(parents=True, exist_ok=True)
        if kind.folder != but:
            (root / kind.folder / kind.pattern.replace("*", "one")).write_bytes(kind.folder.encode())
    return root


def test_a_release_holds_every_kind_with_sums_that_hold(tmp_path: Path) -> None:
    archive = pack(_built(tmp_path), "9.8.7")
    with zipfile.ZipFile(archive) as packed:
        top = "templo-mayor-9.8.7/"
        names = {name.removeprefix(top) for name in packed.namelist()}
        assert {"uno/one.hex", "pico/one.py", "print/stl/one.stl", "print/3mf/one.3mf", "sheets/one.pdf"} <= names
        assert "print/step/one.step" in names
        assert {"wheels/templo_mayor-one.whl", "packages/one.deb", "release.md", "SHA256SUMS"} <= names
        lines = packed.read(f"{top}SHA256SUMS").decode().splitlines()
        assert len(lines) == len(names) - 1
        for line in lines:
            digest, name = line.split("  ")
            assert hashlib.sha256(packed.read(top + name)).hexdigest() == digest
    digest, name = archive.with_name(f"{archive.name}.sha256").read_text().split()
    assert (hashlib.sha256(archive.read_bytes()).hexdigest(), archive.name) == (digest, name)


def test_every_link_of_the_manual_in_the_archive_leads_to_what_is_in_it(tmp_path: Path) -> None:
    """What is in the repository alone, such as a program's source, is named there without a link."""
    root = _built(tmp_path)
    shutil.copytree(ROOT / "docs", root / "docs", dirs_exist_ok=True)
    with zipfile.ZipFile(pack(root, "9.8.7")) as packed:
        names = {name.removeprefix("templo-mayor-9.8.7/") for name in packed.namelist()}
        pages = {name: packed.read(f"templo-mayor-9.8.7/{name}").decode() for name in names if name.endswith(".md")}
    links = {
        (page, posixpath.normpath(posixpath.join(posixpath.dirname(page), link)))
        for page, text in pages.items()
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    }
    assert {("release.md", "guides/build.md"), ("guides/lab.md", "guides/pictures/lab-siege.png")} <= links
    assert {
        (page, link) for page, link in links if not any(name == link or name.startswith(f"{link}/") for name in names)
    } == set()
    assert "The oracle (tests/chaos/oracle.py) trusts" in pages["guides/promises.md"]


def test_the_same_files_give_the_same_archive(tmp_path: Path) -> None:
    first = pack(_built(tmp_path), "9.8.7").read_bytes()
    for kind in KINDS:
        for file in (tmp_path / kind.folder).rglob("*"):
            file.touch()
    assert pack(tmp_path, "9.8.7").read_bytes() == first


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.folder)
def test_what_is_missing_is_named_with_what_makes_it(kind: object, tmp_path: Path) -> None:
    one = next(each for each in KINDS if each == kind)
    with pytest.raises(ReleaseError) as raised:
        pack(_built(tmp_path, but=one.folder), "9.8.7")
    assert one.made_by in str(raised.value)


def test_where_packages_cannot_be_built_the_archive_says_why(tmp_path: Path) -> None:
    root = _built(tmp_path, but="build/packages")
    (root / "build/packages/one.deb").write_bytes(b"of another commit")
    why = packages.why_not(0, lambda program: None if program == "mmdebstrap" else f"/usr/bin/{program}")
    packages.leave_out(why, root / "build/packages")
    with zipfile.ZipFile(pack(root, "9.8.7")) as packed:
        names = [name for name in packed.namelist() if "/packages/" in name]
        assert names == ["templo-mayor-9.8.7/packages/why-not.txt"]
        assert "apt-get install mmdebstrap" in packed.read(names[0]).decode()


def test_a_build_is_older_than_the_release_until_that_is_tagged_and_newer_afterwards(tmp_path: Path) -> None:
    built: list[str] = []

    def git(*arguments: str) -> None:
        who = ["-c", "user.name=A", "-c", "user.email=a@localhost"]
        subprocess.run(["git", "-C", tmp_path, *who, *arguments], check=True, capture_output=True)

    def commit(n: int) -> None:
        (tmp_path / "debian/changelog").write_text(f"templo-mayor (1.0.0) unstable; urgency=medium\n\n  * {n}\n")
        git("add", ".")
        git("commit", "--quiet", "--message=One", f"--date=2026-11-2{n}T12:00:00Z")
        built.append(packages.version("HEAD", tmp_path))

    git("init", "--quiet")
    (tmp_path / "debian").mkdir()
    commit(1)
    git("tag", "v1.0.0")
    built.append(packages.version("HEAD", tmp_path))
    commit(2)
    assert [re.sub(r"git\d{14}\.[0-9a-f]{8}$", "git", version) for version in built] == [
        "1.0.0~git",
        "1.0.0",
        "1.0.0+git",
    ]
    for older, newer in pairwise(built):
        subprocess.run(["dpkg", "--compare-versions", older, "lt", newer], check=True)


def test_whoever_is_not_root_builds_no_packages_and_a_machine_that_has_all_lacks_nothing() -> None:
    assert "sudo make packages" in packages.why_not(1000, lambda program: program)
    assert packages.why_not(0, lambda program: program) == ""


def test_one_command_makes_every_kind_from_a_clean_clone() -> None:
    """What it runs: none of what the archive holds is left for another command to make."""
    said = subprocess.run(
        ["make", "--dry-run", "release"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout  # fmt: skip
    for command in (
        "firmware/arduino all", "tools.packages --where-possible", "companion sheets", "hardware --no-slicer",
        "wheel --quiet --no-deps --wheel-dir build/wheels", "tools.release",
    ):  # fmt: skip
        assert command in said, command
    assert said.index("rm -rf build/sheets") < said.index("companion sheets")


def test_every_file_of_the_pico_and_the_guide_are_where_the_release_takes_them_from() -> None:
    for kind in KINDS:
        if not kind.folder.startswith("build"):
            assert list((ROOT / kind.folder).rglob(kind.pattern)), kind
