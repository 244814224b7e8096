"""Compiled templates that outlive a process: compiling them is most of what a start costs a small computer."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

INSTALLED = Path(__file__).parents[1] / "compiled"
"""The folder of those that Debian's package compiled when it was installed, so that no start does."""


class Compiled(jinja2.FileSystemBytecodeCache):
    """Templates as compiled, in a folder: each as long as its text and the code of this package are what they were.

    What is installed is read first. Without a folder that can be written the rest is compiled by each process.
    """

    def __init__(self, folder: Path) -> None:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        super().__init__(str(folder), "%s")
        self._installed = jinja2.FileSystemBytecodeCache(str(INSTALLED), "%s")
        ours = (path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
        self._compiler = hashlib.sha256(b"".join((jinja2.__version__.encode(), *ours)))

    def get_source_checksum(self, source: str) -> str:
        """Return what a template's compiled form depends on."""
        whole = self._compiler.copy()
        whole.update(source.encode())
        return whole.hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a template, unless there is none or it cannot be read."""
        for load in (self._installed.load_bytecode, super().load_bytecode):
            if bucket.code is None:
                with suppress(OSError):
                    load(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template, unless the folder is full or cannot be written."""
        with suppress(OSError):
            super().dump_bytecode(bucket)
