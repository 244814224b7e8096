"""The doubts of a Pico's ledger, each about one token by its name, in files of records like the tokens'.

They are numbered from 1 through the ledger's lifetime, whatever its source. Laws:
- A doubt is durable once `record` returns; what a power cut tears is as if it had never been.
- A file is never written to again once it is full or torn, or the board was off. It is removed once everything in it
  is stored by the companion and `KEPT` newer files are there.
- No number is ever missing: a doubt that was removed or cannot be read is one about a token that nobody has.
"""

import binascii
import os

from records import RECORD, first_of, packed, unpacked, written

SEGMENT = 85
KEPT = 4
_FORM = "<IQI16sQI"


class Doubts:
    """The files of doubts in a ledger's folder."""

    def __init__(self, folder):
        """Read what is there."""
        self._folder = folder
        self._file = None
        self._firsts = []
        self._room = 0
        self.last = 0
        for name in sorted(os.listdir(folder)):
            first = first_of(name, ".dbt")
            if first is not None:
                self._firsts.append(first)
                self.last = max(self.last, self._last_of(first))

    @property
    def files(self):
        """How many files there are."""
        return len(self._firsts)

    def new_files(self, number):
        """Return how many more files so many doubts need."""
        return -((self._room - number) // SEGMENT) if number > self._room else 0

    def forget(self, stored):
        """Remove the files that nobody needs, where the companion has every doubt up to `stored`."""
        while len(self._firsts) > KEPT and self._firsts[1] <= stored + 1:
            os.remove(self._path(self._firsts[0]))
            self._firsts.pop(0)

    def record(self, doubts):
        """Make doubts durable: each is (reason's number, time in ms since 1970 or 0, the token's name in bytes)."""
        at = 0
        while at < len(doubts):
            if self._room == 0:
                self._rotate()
            number, rows = min(self._room, len(doubts) - at), bytearray()
            for reason, at_ms, name in doubts[at : at + number]:
                rows += packed(_FORM, self.last + 1 + len(rows) // RECORD, at_ms, reason, name, 0, 0)
            try:
                written(self._file, rows)
            except BaseException:  # also a Ctrl-C
                self.close()
                raise
            self.last += number
            self._room -= number
            at += number

    def read(self, number):
        """Return a doubt as (reason's number, time in ms since 1970 or 0, the token's name)."""
        for first in reversed(self._firsts):
            if first <= number:
                with open(self._path(first), "rb") as file:
                    file.seek(RECORD * (number - first))
                    row = unpacked(_FORM, file.read(RECORD))
                if row is not None and row[0] == number:
                    return row[2], row[1], binascii.hexlify(row[3]).decode()
                break
        return 0, 0, "%032x" % number

    def close(self):
        """Close the file; what follows goes to another one."""
        self._room = 0
        if self._file is not None:
            try:
                self._file.close()
            except OSError:
                pass
            self._file = None

    def _rotate(self):
        self.close()
        first = self.last + 1
        self._file = open(self._path(first), "wb")
        if first not in self._firsts:
            self._firsts.append(first)
        self._room = SEGMENT

    def _last_of(self, first):
        last = first - 1
        try:
            with open(self._path(first), "rb") as file:
                for number in range(first, first + SEGMENT):
                    row = unpacked(_FORM, file.read(RECORD))
                    if row is not None and row[0] == number:
                        last = number
        except OSError as error:
            if error.args and error.args[0] != 5:  # EIO is how littlefs reports what it cannot read
                raise
        return last

    def _path(self, first):
        return "%s/%010d.dbt" % (self._folder, first)
