"""A tar archive with a manifest that says which program made it and what each of its files must contain."""

from __future__ import annotations

import grp
import hashlib
import os
import pwd
import socket
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from templo import __version__, files

FORMAT = 1
"""Raised when an earlier release could not restore what this one writes."""

_MANIFEST = "manifest.json"
_MOST_MANIFEST = 1 << 20
_CHUNK = 1 << 20


class ArchiveError(Exception):
    """A file that cannot be written, or that is no whole backup of this release; the message says which and why."""


class Member(msgspec.Struct, frozen=True):
    """What the manifest says of one file: its content, and the mode and owner that it had."""

    sha256: str
    size: int
    mode: int = files.OWNER_ONLY
    owner: str = "root"
    group: str = "root"


class Manifest(msgspec.Struct, frozen=True):
    """What made an archive and when, and what is in it by name."""

    format: int
    software: str
    host: str
    made_at: datetime
    members: dict[str, Member]


class _Header(msgspec.Struct):
    """What a manifest of any format has."""

    format: int
    software: str


def pack(file: Path, members: Mapping[str, Path], made_at: datetime, *, replace: bool) -> None:
    """Write files into an archive of mode 0600 that appears whole or not at all; raises `ArchiveError`.

    `members` maps a name in the archive to a file. An archive that is there already is replaced only if `replace`.
    """
    if not replace and os.path.lexists(file):
        raise ArchiveError(f"{file} is there already; expected the name of a new file")
    try:
        content = {name: described(path) for name, path in members.items()}
        made_at = made_at.astimezone(UTC).replace(microsecond=0)
        manifest = Manifest(FORMAT, __version__, socket.gethostname(), made_at, content)
        with files.draft_beside(file) as draft:
            with tarfile.open(draft, "w:gz", compresslevel=6) as tar:
                encoded = msgspec.json.format(msgspec.json.encode(manifest))
                _add(tar, _MANIFEST, len(encoded), BytesIO(encoded), made_at)
                for name, path in members.items():
                    with path.open("rb") as opened:
                        _add(tar, name, content[name].size, opened, made_at)
            files.sync(draft)
            draft.replace(file)
            files.sync(file.absolute().parent)
    except OSError as error:
        raise ArchiveError(f"{file} cannot be written: {error}") from error


def unpack(file: Path, folder: Path) -> Manifest:
    """Write every file of an archive into an empty folder, and return the manifest; raises `ArchiveError`.

    Each file is checked by the manifest. Nothing is written beside or above the folder, whatever the names are.
    """
    try:
        with _damage_reported(file), tarfile.open(file, "r:gz") as tar:
            manifest = _manifest(file, tar)
            for name, member in manifest.members.items():
                path = folder / _checked_name(file, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                files.create_private(path)
                with path.open("wb") as opened:
                    _copy(file, name, _opened(file, tar, name), opened, member)
            return manifest
    except OSError as error:
        raise ArchiveError(f"{file} cannot be read or unpacked: {error}") from error


def described(path: Path) -> Member:
    """Return what a manifest says of a file."""
    with path.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    found = path.stat()
    return Member(digest, found.st_size, found.st_mode & 0o777, _user(found.st_uid), _group(found.st_gid))


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _add(tar: tarfile.TarFile, name: str, size: int, content: IO[bytes], made_at: datetime) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, files.OWNER_ONLY, int(made_at.timestamp())
    tar.addfile(entry, content)


def _manifest(file: Path, tar: tarfile.TarFile) -> Manifest:
    content = _opened(file, tar, _MANIFEST).read(_MOST_MANIFEST)
    try:
        header = msgspec.json.decode(content, type=_Header)
        if header.format > FORMAT:
            raise ArchiveError(
                f"{file} has format {header.format} and was made by Templo Mayor {header.software}; expected format "
                f"{FORMAT} at most: install that release or a later one, then restore"
            )
        return msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError as error:
        raise ArchiveError(f"{file} is damaged: its manifest cannot be read ({error})") from None


def _opened(file: Path, tar: tarfile.TarFile, name: str) -> IO[bytes]:
    try:
        opened = tar.extractfile(name)
    except KeyError:
        opened = None
    if opened is None:
        missing = "has no manifest" if name == _MANIFEST else f"lacks {name!r}"
        raise ArchiveError(f"{file} {missing}; expected a whole file that 'templo-mayor backup' made")
    return opened


def _checked_name(file: Path, name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or not path.parts or ".." in path.parts:
        raise ArchiveError(f"{file} has a file {name!r}; expected names of files below a folder")
    return path


def _copy(file: Path, name: str, source: IO[bytes], target: IO[bytes], expected: Member) -> None:
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        size += len(chunk)
        target.write(chunk)
    if (digest.hexdigest(), size) != (expected.sha256, expected.size):
        raise ArchiveError(f"{file} is damaged: {name!r} is not what its manifest says; take another backup")


@contextmanager
def _damage_reported(file: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise ArchiveError(f"{file} is damaged, or no backup of a temple: {error}") from None
