"""The seam between SQLite and the disk: every write, sync and open of this process can be watched, and refused.

It knows SQLite's own file layer (its VFS) and no program of ours: the layer's function pointers are replaced in the
library that Python's `sqlite3` has loaded, so the code above, C and Python, is the code that a temple runs. What is
let through goes to the disk as always; what is refused never reaches it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from pathlib import Path
from typing import Any, Protocol

OK, READONLY, IOERR, FULL, CANTOPEN = 0, 8, 10, 13, 14
IOERR_WRITE, IOERR_FSYNC, IOERR_TRUNCATE = IOERR | 3 << 8, IOERR | 4 << 8, IOERR | 6 << 8

OPEN_READONLY, OPEN_READWRITE, OPEN_CREATE = 0x1, 0x2, 0x4
_MAIN_DB, _MAIN_JOURNAL, _WAL = 0x100, 0x800, 0x80000
_DURABLE = _MAIN_DB | _MAIN_JOURNAL | _WAL

_Open = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, POINTER(c_int))
_Delete = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int)
_Close = CFUNCTYPE(c_int, c_void_p)
_Write = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_Truncate = CFUNCTYPE(c_int, c_void_p, c_int64)
_Sync = CFUNCTYPE(c_int, c_void_p, c_int)


class SeamError(Exception):
    """This Python's SQLite cannot be patched; the message says which one can."""


class Watcher(Protocol):
    """Is called before everything that happens; anything but `OK` is returned to SQLite instead."""

    def opening(self, path: Path, flags: int, journal: bool) -> int:
        """Return the flags to open a file with; `journal` marks a log whose first sync also syncs its directory."""

    def writing(self, path: Path, offset: int, data: bytes) -> int:
        """Decide about a write."""

    def truncating(self, path: Path, size: int) -> int:
        """Decide about a truncation."""

    def syncing(self, path: Path) -> int:
        """Decide about a sync."""

    def deleting(self, path: Path, durably: bool) -> int:
        """Decide about a deletion; `durably` if SQLite syncs the directory after it."""


class _Methods(Structure):
    """The head of ``sqlite3_io_methods``; what follows it is copied unseen."""

    _fields_ = [
        ("version", c_int),
        ("close", c_void_p),
        ("read", c_void_p),
        ("write", c_void_p),
        ("truncate", c_void_p),
        ("sync", c_void_p),
        ("rest", c_void_p * 13),
    ]


class _Vfs(Structure):
    """The head of ``sqlite3_vfs``."""

    _fields_ = [
        ("version", c_int),
        ("file_size", c_int),
        ("longest_path", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", c_void_p),
        ("delete", c_void_p),
    ]


_put_in: list[Seam] = []
"""SQLite calls what it was given for as long as a file is open: no seam is ever thrown away."""


class Seam:
    """SQLite's default file layer with a watcher put into it, from `put_in` to `take_out`."""

    def __init__(self, watcher: Watcher) -> None:
        """Find the layer; raises `SeamError` if Python's SQLite is linked statically."""
        self._watcher = watcher
        self._vfs = _default_vfs()
        self._open = _Open(self._vfs.open)
        self._delete = _Delete(self._vfs.delete)
        self._names: dict[int, Path] = {}
        self._originals: dict[int, _Methods] = {}
        """The untouched methods of each open file, by its address."""
        self._watched: dict[int, _Methods] = {}
        """Our copy of each table of methods, by the address of the original; SQLite holds on to them."""
        self._kept = (
            _Open(_guarded(self._on_open, CANTOPEN)),
            _Delete(_guarded(self._on_delete, IOERR)),
            _Close(_guarded(self._on_close, IOERR)),
            _Write(_guarded(self._on_write, IOERR_WRITE)),
            _Truncate(_guarded(self._on_truncate, IOERR_TRUNCATE)),
            _Sync(_guarded(self._on_sync, IOERR_FSYNC)),
        )

    def put_in(self) -> Seam:
        """Watch every file that is opened from now on."""
        _put_in.append(self)
        self._vfs.open, self._vfs.delete = (ctypes.cast(each, c_void_p).value for each in self._kept[:2])
        return self

    def take_out(self) -> None:
        """Watch no file that is opened from now on; those that are open stay watched until they are closed."""
        self._vfs.open, self._vfs.delete = (ctypes.cast(each, c_void_p).value for each in (self._open, self._delete))

    def _on_open(self, vfs: int, name: int | None, file: int, flags: int, out: Any) -> int:
        if name is None or not flags & _DURABLE:  # a temporary file of SQLite's own
            return self._open(vfs, name, file, flags, out)
        path = _path(name)
        flags = self._watcher.opening(path, flags, bool(flags & (_WAL | _MAIN_JOURNAL)))
        # The name goes on as the pointer that came: SQLite keeps it, and has parameters behind its end.
        result = self._open(vfs, name, file, flags, out)
        if result == OK:
            table = c_void_p.from_address(file)
            assert table.value is not None
            self._names[file] = path
            self._originals[file] = _Methods.from_address(table.value)
            table.value = ctypes.addressof(self._watched_copy(table.value))
        return result

    def _watched_copy(self, address: int) -> _Methods:
        if address not in self._watched:
            copy = _Methods.from_buffer_copy(_Methods.from_address(address))
            copy.close, copy.write, copy.truncate, copy.sync = (
                ctypes.cast(each, c_void_p).value for each in self._kept[2:]
            )
            self._watched[address] = copy
        return self._watched[address]

    def _on_close(self, file: int) -> int:
        del self._names[file]
        return _Close(self._originals.pop(file).close)(file)

    def _on_write(self, file: int, data: int, size: int, offset: int) -> int:
        refused = self._watcher.writing(self._names[file], offset, ctypes.string_at(data, size))
        return refused or _Write(self._originals[file].write)(file, data, size, offset)

    def _on_truncate(self, file: int, size: int) -> int:
        refused = self._watcher.truncating(self._names[file], size)
        return refused or _Truncate(self._originals[file].truncate)(file, size)

    def _on_sync(self, file: int, flags: int) -> int:
        return self._watcher.syncing(self._names[file]) or _Sync(self._originals[file].sync)(file, flags)

    def _on_delete(self, vfs: int, name: int, durably: int) -> int:
        return self._watcher.deleting(_path(name), bool(durably)) or self._delete(vfs, name, durably)


def _path(name: int) -> Path:
    return Path(os.fsdecode(ctypes.string_at(name)))


def _default_vfs() -> _Vfs:
    import _sqlite3

    path = getattr(_sqlite3, "__file__", None)
    try:
        find = ctypes.CDLL(path).sqlite3_vfs_find
    except (AttributeError, OSError) as error:
        raise SeamError(
            f"the SQLite of {sys.executable} is out of reach ({error}); expected a Python that loads libsqlite3 as a "
            "shared library, as Debian's does"
        ) from None
    find.restype = POINTER(_Vfs)
    vfs: _Vfs = find(None).contents
    return vfs


def _guarded(method: Callable[..., int], otherwise: int) -> Callable[..., int]:
    """Let no exception be mistaken for success: an error of ours is an error of the disk, and is printed."""

    def call(*arguments: Any) -> int:
        try:
            return method(*arguments)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            return otherwise

    return call
