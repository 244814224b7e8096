"""Notices when the files of some folders were saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class FolderWatch:
    """Looks at folders again and again; what Python and editors write beside the files does not count."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._seen = self._taken = self._found()

    def has_changed(self) -> bool:
        """Return whether files have changed, once for each change and only when two looks in a row find it ended."""
        found = self._found()
        changed = found == self._seen != self._taken
        self._seen = found
        if changed:
            self._taken = found
        return changed

    def _found(self) -> frozenset[tuple[str, int, int]]:
        found = set()
        for folder in self._folders:
            for path in folder.rglob("*"):
                parts = path.relative_to(folder).parts
                if any(part.startswith((".", "__pycache__")) or part.endswith("~") for part in parts):
                    continue
                try:
                    status = path.stat()
                except OSError:  # an editor has just replaced it
                    continue
                if path.is_file():
                    found.add((str(path), status.st_mtime_ns, status.st_size))
        return frozenset(found)
