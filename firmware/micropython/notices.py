"""What happened to this board's ledger, until a person dismisses it, and which board wrote the ledger.

One small file beside the ledger. It is written when a notice comes or goes, and once for each board.
"""

import json

FILE = "notices.json"
CODES = ("ledger_restored", "ledger_cloned", "ledger_damaged", "ledger_missing")


class Notices:
    """Holds at most one notice of each code, with its time; without a file they last as long as the process."""

    def __init__(self, board=None, file=None, rename=None):
        """Read what is there. `board` is the chip's own id, which no copy of a flash brings with it."""
        self._board = board
        self._file = file
        self._rename = rename
        self._standing = []
        self._of = None
        if file is not None:
            self._load()

    @property
    def standing(self):
        """The notices as (code, ms since 1970), oldest first; 0 where nobody knew the time yet."""
        return self._standing

    def missing(self):
        """Return whether this board had a ledger before."""
        return self._of is not None

    def copied(self):
        """Return whether another board wrote this flash."""
        return self._of is not None and self._of != self._board

    def sign(self):
        """Note that the ledger beside this file is this board's own; raises OSError."""
        if self._of != self._board:
            self._change(self._board, self._standing)

    def add(self, code, utc_ms):
        """Add a notice; one that stands already keeps its time. Raises OSError, and then nothing has changed."""
        if all([code != each for each, _ in self._standing]):
            standing = list(self._standing)
            standing.append((code, utc_ms or 0))
            self._change(self._of, standing)

    def dismiss(self, code):
        """Take a notice away; raises OSError. One that does not stand is no error: two people may be as quick."""
        left = [each for each in self._standing if each[0] != code]
        if left != self._standing:
            self._change(self._of, left)

    def date(self, utc_ms):
        """Give those from before the time was known the time at which it is; raises OSError."""
        if utc_ms is not None and any([not at_ms for _, at_ms in self._standing]):
            self._change(self._of, [(code, at_ms or utc_ms) for code, at_ms in self._standing])

    def _load(self):
        try:
            with open(self._file) as opened:
                value = json.load(opened)
            self._of = value["board"]
            for code, at_ms in value["notices"]:
                if code in CODES and type(at_ms) is int and at_ms >= 0:
                    self._standing.append((code, at_ms))
        except (OSError, ValueError, KeyError, TypeError):
            self._of = None

    def _change(self, board, standing):
        if self._file is not None:
            with open(self._file + ".new", "w") as opened:
                json.dump({"board": board, "notices": standing}, opened)
            self._rename(self._file + ".new", self._file)
        self._of, self._standing = board, standing
