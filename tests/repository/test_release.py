"""The archive of a release: everything in it, with sums that hold, the same from the same files."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from templo import __version__
from tools import packages, reproducible
from tools.release import KINDS, ReleaseError, notes, pack, sealed, sums

ROOT = Path(__file__).parents[2]


def _built(root: Path, but: str = "") -> Path:
    for kind in KINDS:
        (root / kind.folder).mkdir(parents=True, exist_ok=True)
        if kind.folder + kind.pattern != but:
            (root / kind.folder / kind.pattern.rpartition("/")[2].replace("*", "one")).write_bytes(
                kind.folder.encode()
            )
    return root


def _sums_hold(listed: str, files: dict[str, bytes]) -> bool:
    found = dict(reversed(line.split("  ")) for line in listed.splitlines())
    return found == {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}


def test_a_release_holds_every_kind_with_sums_that_hold(tmp_path: Path) -> None:
    archive = pack(_built(tmp_path), "9.8.7")
    with zipfile.ZipFile(archive) as packed:
        files = {name.removeprefix("templo-mayor-9.8.7/"): packed.read(name) for name in packed.namelist()}
    assert {"uno/one.hex", "pico/one.py", "print/stl/one.stl", "print/3mf/one.3mf", "sheets/one.pdf"} <= set(files)
    assert {"wheels/templo_mayor-one.whl", "wheels/templo_mayor-one.tar.gz", "packages/one.deb", "release.md"} <= set(
        files
    )
    assert {"print/step/one.step", "manual/one", "one.pdf"} <= set(files)
    assert not [name for name in files if name.endswith(".img.xz")]
    assert _sums_hold(files.pop("SHA256SUMS").decode(), files)
    assert {file.name for file in archive.parent.iterdir()} == {
        "templo-mayor-9.8.7.zip", "templo-mayor-one.img.xz", "one.deb", "one.pdf", "templo_mayor-one.whl",
        "templo_mayor-one.tar.gz",
    }  # fmt: skip


def test_every_link_of_the_archive_s_first_page_leads_to_the_manual_in_it(tmp_path: Path) -> None:
    root = _built(tmp_path)
    page = (ROOT / "docs" / "release.md").read_text("utf-8")
    (root / "docs" / "release.md").write_text(page, "utf-8")
    for linked in re.findall(r"\]\(([\w-]+)\.md", page):
        (root / "build" / "site" / f"{linked}.html").write_text(linked)
    with zipfile.ZipFile(pack(root, "9.8.7")) as packed:
        names = {name.removeprefix("templo-mayor-9.8.7/") for name in packed.namelist()}
        links = set(re.findall(r"\]\(([^)#:]+)", packed.read("templo-mayor-9.8.7/release.md").decode()))
    assert "manual/build.html" in links
    assert links <= names


def test_a_signed_release_is_verified_as_the_page_says_and_a_changed_one_is_refused(tmp_path: Path) -> None:
    key, folder = tmp_path / "key", tmp_path / "release"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key], check=True)
    folder.mkdir()
    (folder / "one.deb").write_bytes(b"a package")
    sealed(folder, key)
    shown = re.findall(r"^\$ (.+)$", (ROOT / "docs" / "release.md").read_text("utf-8"), re.MULTILINE)
    commands = [line for line in shown if "SHA256SUMS" in line]
    assert [line.split()[0] for line in commands] == ["ssh-keygen", "sha256sum"]
    (folder / "builder").write_text(f"templo-mayor {key.with_suffix('.pub').read_text()}")

    def verdicts() -> list[int]:
        return [subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True).returncode for line in commands]

    assert verdicts() == [0, 0]
    (folder / "one.deb").write_bytes(b"another package")
    assert verdicts() == [0, 1]
    (folder / "SHA256SUMS").write_text(sums({"one.deb": b"another package"}))
    signature, contents = verdicts()
    assert signature != 0
    assert contents == 0


def test_a_key_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    with pytest.raises(ReleaseError, match="nosuch"):
        sealed(tmp_path / "release", tmp_path / "nosuch")


def test_a_machine_without_ssh_keygen_is_pointed_to_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ReleaseError, match="openssh-client"):
        sealed(tmp_path, tmp_path / "key")


def test_the_notes_of_this_version_are_in_the_changelog() -> None:
    said = notes((ROOT / "CHANGELOG.md").read_text("utf-8"), __version__)
    assert said.startswith(f"# Templo Mayor {__version__}\n")
    with pytest.raises(ReleaseError, match=r"9\.8\.7"):
        notes("# Changelog\n", "9.8.7")


def test_the_same_files_give_the_same_archive(tmp_path: Path) -> None:
    first = pack(_built(tmp_path), "9.8.7").read_bytes()
    for kind in KINDS:
        for file in (tmp_path / kind.folder).rglob("*"):
            file.touch()
    assert pack(tmp_path, "9.8.7").read_bytes() == first


def test_packages_of_another_release_in_a_folder_below_are_not_in_it(tmp_path: Path) -> None:
    earlier = _built(tmp_path) / "build/packages/earlier"
    earlier.mkdir()
    (earlier / "templo-mayor_0.9_all.deb").touch()
    folder = pack(tmp_path, "9.8.7").parent
    assert [file.name for file in folder.glob("*.deb")] == ["one.deb"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.pattern)
def test_what_is_missing_is_named_with_what_makes_it(kind: object, tmp_path: Path) -> None:
    one = next(each for each in KINDS if each == kind)
    with pytest.raises(ReleaseError) as raised:
        pack(_built(tmp_path, but=one.folder + one.pattern), "9.8.7")
    assert one.made_by in str(raised.value)


def test_where_packages_cannot_be_built_the_archive_says_why(tmp_path: Path) -> None:
    root = _built(tmp_path, but="build/packages*.deb")
    (root / "build/packages/one.deb").write_bytes(b"of another commit")
    why = packages.why_not(0, lambda program: None if program == "mmdebstrap" else f"/usr/bin/{program}")
    packages.leave_out(why, root / "build/packages")
    with zipfile.ZipFile(pack(root, "9.8.7")) as packed:
        names = [name for name in packed.namelist() if "/packages/" in name]
        assert names == ["templo-mayor-9.8.7/packages/why-not.txt"]
        assert "apt-get install mmdebstrap" in packed.read(names[0]).decode()


def test_two_builds_are_compared_byte_by_byte(tmp_path: Path) -> None:
    clones = [tmp_path / "one", tmp_path / "two"]
    for clone in clones:
        clone.mkdir()

    def build(clone: Path, command: Sequence[str], settings: Mapping[str, str]) -> None:
        (clone / "same").write_text("".join(command))
        (clone / "zone").write_text(settings["TZ"])
        (clone / f"only-{clone.name}").touch()

    assert reproducible.differing(clones, (["word"], "same"), build) == []
    assert reproducible.differing(clones, (["word"], "*"), build) == ["only-one", "only-two", "zone"]
    assert reproducible.differing(clones, (["word"], "nothing"), build) == ["nothing built as nothing"]


def test_versions_and_the_last_release_follow_from_tags(tmp_path: Path) -> None:
    """A build is older than the release until that is tagged, and newer afterwards."""
    built: list[str] = []

    def git(*arguments: str, when: str = "") -> str:
        who = ["git", "-C", tmp_path, "-c", "user.name=A", "-c", "user.email=a@localhost"]
        environment = os.environ | {"GIT_COMMITTER_DATE": when}
        done = subprocess.run([*who, *arguments], check=True, capture_output=True, text=True, env=environment)
        return done.stdout.strip()

    def commit(n: int) -> str:
        (tmp_path / "debian/changelog").write_text(f"templo-mayor (1.0.0) unstable; urgency=medium\n\n  * {n}\n")
        git("add", ".")
        git("commit", "--quiet", "--message=One", when=f"2026-11-2{n}T12:00:00Z")
        built.append(packages.version("HEAD", tmp_path))
        return git("rev-parse", "HEAD")

    git("init", "--quiet")
    (tmp_path / "debian").mkdir()
    first = commit(0)
    commit(1)
    assert packages.last_release(tmp_path) == first
    git("tag", "v1.0.0")
    assert packages.last_release(tmp_path) == first
    built.append(packages.version("HEAD", tmp_path))
    commit(2)
    assert packages.last_release(tmp_path) == "v1.0.0"
    git("tag", "v1.0.1")
    assert packages.last_release(tmp_path) == "v1.0.0"
    assert [re.sub(r"git\d{14}\.[0-9a-f]{8}$", "git", version) for version in built] == [
        *("1.0.0~git", "1.0.0~git"),
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
        "tools.image", "mkdocs build", "tools.manual_pdf", "tools.distributions", "tools.release",
    ):  # fmt: skip
        assert command in said, command
    assert said.index("rm -rf build/sheets") < said.index("companion sheets")


def test_every_file_of_the_pico_and_the_guide_are_where_the_release_takes_them_from() -> None:
    for kind in KINDS:
        if not kind.folder.startswith("build"):
            assert list((ROOT / kind.folder).glob(kind.pattern)), kind
