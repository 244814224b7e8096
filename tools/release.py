"""Puts what `make release` built into `build/release`, with checksums, an inventory, notes and a signature.

One archive holds programs, parts to print, sheets, packages and the manual; beside it lies what people fetch alone.
If a file is missing, it names the command that makes it. In the place of what not every machine can build, a note may
say why it is missing. The same files give the same release.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from templo import __version__
from tools import inventory, packages

ROOT = Path(__file__).resolve().parent.parent
EPOCH = (1980, 1, 1, 0, 0, 0)
SIGNED_AS = "templo-mayor"
"""Who signs, and for what, in the words of ssh-keygen."""


@dataclass(frozen=True)
class Kind:
    """Files of one kind: where they are, where they go, and what makes them."""

    folder: str
    pattern: str
    into: str | None
    """Their folder in the archive, or nothing for what lies beside it alone."""

    made_by: str
    note: str = ""
    """The name of a file that says why there is none of them, and takes their place."""

    alone: bool = False
    """Whether they lie beside the archive, too."""


KINDS = (
    Kind("build/firmware/uno", "*.hex", "uno", "make -C firmware/arduino"),
    Kind("firmware/micropython", "*.py", "pico", "git checkout firmware/micropython"),
    Kind("build/hardware/stl", "*.stl", "print/stl", "make hardware"),
    Kind("build/hardware/step", "*.step", "print/step", "make hardware"),
    Kind("build/hardware/3mf", "*.3mf", "print/3mf", "make hardware"),
    Kind("build/hardware/plates", "*.3mf", "print/plates", "make hardware"),
    Kind("build/hardware/pictures", "film.gif", "print", "make hardware"),
    Kind("build/sheets", "*.pdf", "sheets", "make sheets"),
    Kind("build/wheels", "templo_mayor-*.whl", "wheels", "python -m tools.distributions", alone=True),
    Kind("build/wheels", "templo_mayor-*.tar.gz", "wheels", "python -m tools.distributions", alone=True),
    Kind("build/packages", "*.deb", "packages", "make packages", note="why-not.txt", alone=True),
    Kind("docs", "release.md", "", "git checkout docs/release.md"),
    Kind("build/site", "**/*", "manual", "make docs"),
    Kind("build/manual", "*.pdf", "", "python -m tools.manual_pdf", alone=True),
    Kind("build", "templo-mayor-*.img.xz", None, "make image", note="why-no-image.txt", alone=True),
)
_PAGE = re.compile(rb"\]\(([\w-]+)\.md")
"""A link to a page of the manual."""


class ReleaseError(Exception):
    """What prevents a release, such as missing files with the commands that make them."""


def found(root: Path) -> Iterator[tuple[Kind, Path]]:
    """Yield each file of the release with its kind; raises `ReleaseError` with all that is missing."""
    missing = []
    for kind in KINDS:
        files = of_kind(root, kind)
        if not files:
            missing.append(f"{kind.folder} holds no {kind.pattern}: `{kind.made_by}` makes it")
        yield from ((kind, file) for file in files)
    if missing:
        raise ReleaseError("\n".join(missing))


def of_kind(root: Path, kind: Kind) -> list[Path]:
    """Return the files of a kind, or the note that takes their place."""
    folder = root / kind.folder
    files = sorted(file for file in folder.glob(kind.pattern) if file.is_file())
    return files or (sorted(folder.glob(kind.note)) if kind.note else [])


def pack(root: Path, version: str) -> Path:
    """Write build/release/templo-mayor-VERSION.zip with `SHA256SUMS` inside, and what is fetched alone beside it.

    What is in build/release before is removed.
    """
    listed = list(found(root))
    files = {
        f"{kind.into}/{file.relative_to(root / kind.folder).as_posix()}".lstrip("/"): file.read_bytes()
        for kind, file in listed
        if kind.into is not None
    }
    files["release.md"] = _PAGE.sub(rb"](manual/\1.html", files["release.md"])
    folder = root / "build" / "release"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archive = folder / f"templo-mayor-{version}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in [("SHA256SUMS", sums(files).encode()), *sorted(files.items())]:
            packed.writestr(zipfile.ZipInfo(f"{archive.stem}/{name}", EPOCH), data, zipfile.ZIP_DEFLATED)
    for kind, file in listed:
        if kind.alone and file.name != kind.note:
            shutil.copy(file, folder)
    return archive


def sums(files: dict[str, bytes]) -> str:
    """Return the checksums of files as sha256sum reads them."""
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items()))


def notes(changelog: str, version: str) -> str:
    r"""Return what the changelog says of a release; raises `ReleaseError` where it says nothing.

    >>> notes("# Changelog\n\n## 1.0.1\n\n- A mend.\n\n## 1.0.0\n\nThe first.\n", "1.0.1")
    '# Templo Mayor 1.0.1\n\n- A mend.\n'
    """
    _, heading, after = changelog.partition(f"\n## {version}\n")
    if not heading:
        raise ReleaseError(f"CHANGELOG.md has no heading '## {version}'")
    return f"# Templo Mayor {version}\n\n{after.partition(chr(10) + '## ')[0].strip()}\n"


def sealed(folder: Path, key: Path | None) -> None:
    """Write the checksums of a folder's files, signed if there is a key; raises `ReleaseError`."""
    listed = folder / "SHA256SUMS"
    listed.write_text(sums({file.name: file.read_bytes() for file in sorted(folder.iterdir())}))
    if key:
        command = ["ssh-keygen", "-Y", "sign", "-f", str(key), "-n", SIGNED_AS, str(listed)]
        try:
            signed = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        except FileNotFoundError:
            raise ReleaseError("No ssh-keygen here: Debian's package openssh-client brings it") from None
        if signed.returncode:
            raise ReleaseError(f"ssh-keygen cannot sign with {key}: {signed.stderr.strip()}")


def main(argv: Sequence[str]) -> int:
    """Pack; returns 1 where something is missing."""
    parser = argparse.ArgumentParser(prog="make release ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("--key", type=Path, metavar="FILE", help="the private key of ssh that signs SHA256SUMS")
    given = parser.parse_args(argv)
    try:
        archive = pack(ROOT, __version__)
        folder = archive.parent
        said = notes((ROOT / "CHANGELOG.md").read_text("utf-8"), __version__)
        left_out = [
            file.read_text("utf-8").strip()
            for kind in KINDS
            for file in of_kind(ROOT, kind)
            if file.name == kind.note
        ]
        if left_out:
            said += "\n## Not in this release\n\n" + "".join(f"- {why}\n" for why in left_out)
        (folder / "NOTES.md").write_text(said, "utf-8")
        inventory.write(ROOT, folder)
        sealed(folder, given.key)
    except (ReleaseError, inventory.LicenceError) as error:
        print(error, file=sys.stderr)
        return 1
    for why in left_out:
        print(f"Not everything is in it. {why}")
    if packages.version("HEAD") != __version__:
        print(f"This commit is not tagged v{__version__}: to apt, its packages are older than the release.")
    if not given.key:
        print('Not signed: ARGS="--key ~/.ssh/id_ed25519" signs SHA256SUMS.')
    for file in sorted(folder.iterdir()):
        print(f"{file.stat().st_size:12,}  {file.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
