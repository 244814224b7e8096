"""What may be on a disk after a power cut: the law of syncs, and images drawn from all that it allows.

Laws:
- What was synced is there. What was written and not synced may be there or not, sector by sector and in any order,
  or be garbage; bytes that a write did not name are never harmed (SQLite's own assumption, "powersafe overwrite").
- A file's name is there once its folder was synced. Before that a new one may be missing and a deleted one be back.

Pure but for `Image.lay_out`, which writes the files.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.recording import Created, Deleted, Event, FolderSynced, Synced, Truncated, Wrote

SECTOR = 512


@dataclass(frozen=True, slots=True)
class Cruelty:
    """How an image treats what was not synced: shares of sectors kept and turned to garbage; the rest are dropped."""

    kept: float
    garbage: float = 0.0
    torn: bool = False
    """Kept in order up to some moment, and within one write up to some byte."""


CRUELTIES = (
    Cruelty(0.0),
    Cruelty(1.0),
    Cruelty(0.0, torn=True),
    Cruelty(0.5),
    Cruelty(0.9),
    Cruelty(0.4, garbage=0.3),
    Cruelty(0.0, garbage=1.0),
)


@dataclass(slots=True)
class _File:
    """What is on the disk of one file, and what is on its way there."""

    synced: bytearray = field(default_factory=bytearray)
    waiting: list[Wrote | Truncated] = field(default_factory=list)

    def sync(self) -> None:
        for change in self.waiting:
            _apply(self.synced, change)
        self.waiting.clear()


@dataclass(frozen=True, slots=True)
class Image:
    """What is found after one power cut: files by their names."""

    files: dict[str, bytes]

    def lay_out(self, folder: Path) -> None:
        """Write the files into an empty folder."""
        for name, content in self.files.items():
            (folder / name).write_bytes(content)


class Platter:
    """A disk that records what was asked of it, and may lose its power at any moment."""

    def __init__(self) -> None:
        """Begin empty."""
        self._now: dict[str, _File] = {}
        self._named: dict[str, _File] = {}
        self._naming: list[tuple[str, _File | None]] = []
        """Names given and taken, which may not have reached the disk."""

    def take(self, event: Event) -> None:
        """Take the next event; what was said changes nothing here."""
        match event:
            case Created(name):
                self._now[name] = _File()
                self._naming.append((name, self._now[name]))
            case Wrote(name) | Truncated(name):
                self._now[name].waiting.append(event)
            case Synced(name):
                self._now[name].sync()
            case Deleted(name):
                del self._now[name]
                self._naming.append((name, None))
            case FolderSynced():
                for name, file in self._naming:
                    _name(self._named, name, file)
                self._naming.clear()

    def images(self, whims: random.Random, number: int) -> Iterator[Image]:
        """Yield so many of the images that a power cut at this moment may leave."""
        for _ in range(number):
            yield self._image(whims, whims.choice(CRUELTIES))

    def _image(self, whims: random.Random, cruelty: Cruelty) -> Image:
        named = copy(self._named)
        for name, file in self._naming:
            if whims.random() < 0.5:
                _name(named, name, file)
        files = {name: _content(file, whims, cruelty) for name, file in named.items()}
        # What is left of the shared memory beside a log is of no account, and may be anything.
        for name in [each for each in files if not each.endswith(("-wal", "-journal"))]:
            if whims.random() < 0.3:
                files[f"{name}-shm"] = whims.randbytes(32_768)
        return Image(files)


def _name(names: dict[str, _File], name: str, file: _File | None) -> None:
    if file is None:
        names.pop(name, None)
    else:
        names[name] = file


def _content(file: _File, whims: random.Random, cruelty: Cruelty) -> bytes:
    content = bytearray(file.synced)
    if cruelty.torn:
        kept = whims.randint(0, len(file.waiting))
        for change in file.waiting[:kept]:
            _apply(content, change)
        for change in file.waiting[kept : kept + 1]:
            if isinstance(change, Wrote):
                _apply(content, change._replace(data=change.data[: whims.randint(0, len(change.data))]))
        return bytes(content)
    for change in file.waiting:
        if isinstance(change, Truncated):
            if whims.random() < cruelty.kept:
                _apply(content, change)
            continue
        for piece in _sectors(change):
            fate = whims.random()
            if fate < cruelty.kept:
                _apply(content, piece)
            elif fate < cruelty.kept + cruelty.garbage:
                _apply(content, piece._replace(data=whims.randbytes(len(piece.data))))
    return bytes(content)


def _sectors(write: Wrote) -> Iterator[Wrote]:
    """Cut a write where sectors end."""
    begin, end = write.offset, write.offset + len(write.data)
    while begin < end:
        border = min(end, (begin // SECTOR + 1) * SECTOR)
        yield Wrote(write.name, begin, write.data[begin - write.offset : border - write.offset])
        begin = border


def _apply(content: bytearray, change: Wrote | Truncated) -> None:
    if isinstance(change, Truncated):
        del content[change.size :]
        content.extend(bytes(change.size - len(content)))
    else:
        content.extend(bytes(max(0, change.offset - len(content))))
        content[change.offset : change.offset + len(change.data)] = change.data
