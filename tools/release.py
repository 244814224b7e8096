"""Packs what `make release` built into one archive, with checksums: programs, parts to print, sheets, packages.

If a file is missing, it names the command that makes it. In the place of the Debian packages, which not every machine
can build, a note may say why they are missing. The same files give the same archive.
"""

from __future__ import annotations

import argparse
import hashlib
import posixpath
import re
import sys
import zipfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from templo import __version__

ROOT = Path(__file__).resolve().parent.parent
EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Kind:
    """Files of one kind: where they are, where they go, and what makes them."""

    folder: str
    pattern: str
    into: str
    made_by: str
    note: str = ""
    """The name of a file that says why there is none of them, and takes their place."""


KINDS = (
    Kind("build/firmware/uno", "*.hex", "uno", "make -C firmware/arduino"),
    Kind("firmware/micropython", "*.py", "pico", "git checkout firmware/micropython"),
    Kind("build/hardware/stl", "*.stl", "print/stl", "make hardware"),
    Kind("build/hardware/step", "*.step", "print/step", "make hardware"),
    Kind("build/hardware/3mf", "*.3mf", "print/3mf", "make hardware"),
    Kind("build/hardware/plates", "*.3mf", "print/plates", "make hardware"),
    Kind("build/sheets", "*.pdf", "sheets", "make sheets"),
    Kind("build/wheels", "templo_mayor-*.whl", "wheels", "pip wheel --no-deps --wheel-dir build/wheels ."),
    Kind("build/packages", "*.deb", "packages", "make packages", note="why-not.txt"),
    Kind("docs", "release.md", "", "git checkout docs/release.md"),
    Kind("docs", "*.md", "guides", "git checkout docs"),
    Kind("docs/pictures", "*", "guides/pictures", "git checkout docs/pictures"),
    Kind("docs/examples", "*", "guides/examples", "git checkout docs/examples"),
    Kind("docs/measurements", "*.txt", "guides/measurements", "git checkout docs/measurements"),
    Kind("docs/reports", "*.html", "guides/reports", "git checkout docs/reports"),
)
_BESIDE = re.compile(rb"\]\((?=[\w-]+\.md)")
"""A link to another page of the same folder."""

_RELATIVE = re.compile(r"\[([^][]*)\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")
"""A link to a file, with its text and the file's path."""


class ReleaseError(Exception):
    """Files are missing; the message names them and the commands that make them."""


def found(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield each file of the release with its name in the archive; raises `ReleaseError` with all that is missing."""
    missing = []
    for kind in KINDS:
        files = sorted(file for file in (root / kind.folder).rglob(kind.pattern) if file.is_file())
        if not files and kind.note:
            files = sorted((root / kind.folder).glob(kind.note))
        if not files:
            missing.append(f"{kind.folder} holds no {kind.pattern}: `{kind.made_by}` makes it")
        for file in files:
            yield f"{kind.into}/{file.relative_to(root / kind.folder).as_posix()}".lstrip("/"), file
    if missing:
        raise ReleaseError("\n".join(missing))


def pack(root: Path, version: str) -> Path:
    """Write build/templo-mayor-VERSION.zip with `SHA256SUMS` inside, and the archive's own sum beside it."""
    files = {name: file.read_bytes() for name, file in found(root)}
    # It lies over the guides in the archive, and beside them in the repository.
    files["release.md"] = _BESIDE.sub(rb"](guides/", files["release.md"])
    for page in [name for name in files if name.endswith(".md")]:
        files[page] = _only_links_inside(page, files[page].decode(), files).encode()
    sums = "".join(f"{_sum(data)}  {name}\n" for name, data in sorted(files.items()))
    archive = root / "build" / f"templo-mayor-{version}.zip"
    top = archive.stem
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in [("SHA256SUMS", sums.encode()), *sorted(files.items())]:
            packed.writestr(zipfile.ZipInfo(f"{top}/{name}", EPOCH), data, zipfile.ZIP_DEFLATED)
    archive.with_name(f"{archive.name}.sha256").write_text(f"{_sum(archive.read_bytes())}  {archive.name}\n")
    return archive


def _only_links_inside(page: str, text: str, names: Collection[str]) -> str:
    """Return a page with the text alone of each link to what is in the repository and not in the archive."""
    folders = {name[:at] for name in names for at, letter in enumerate(name) if letter == "/"}

    def link_or_text(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), link[2]))
        return link[0] if target in names or target in folders else link[1]

    return _RELATIVE.sub(link_or_text, text)


def _sum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def main(argv: Sequence[str]) -> int:
    """Pack; returns 1 where something is missing."""
    argparse.ArgumentParser(prog="make release", description=__doc__.partition("\n")[0]).parse_args(argv)
    try:
        archive = pack(ROOT, __version__)
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    for kind in KINDS:
        note = ROOT / kind.folder / kind.note
        if kind.note and note.exists():
            print(f"Not everything is in it. {kind.into}: {note.read_text('utf-8').strip()}")
    print(f"{archive.relative_to(ROOT)} ({archive.stat().st_size // 1_000_000} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
