"""Compiled templates that outlive a process: compiling them is most of what a start costs a small computer."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket


class Compiled(jinja2.FileSystemBytecodeCache):
    """Templates as compiled, in a folder: each as long as its text and the code of this package are what they were.

    Without a folder that can be written they are compiled by each process.
    """

    def __init__(self, folder: Path) -> None:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        super().__init__(str(folder), "%s")
        ours = (path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
        self._compiler = hashlib.sha256(b"".join((jinja2.__version__.encode(), *ours)))

    def get_source_checksum(self, source: str) -> str:
        """Return what a template's compiled form depends on."""
        whole = self._compiler.copy()
        whole.update(source.encode())
        return whole.hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a template, unless there is none or it cannot be read."""
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template, unless the folder is full or cannot be written."""
        with suppress(OSError):
            super().dump_bytecode(bucket)
