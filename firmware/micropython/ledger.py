"""A Pico's record: files of 48-byte records that are only ever appended to, each with its checksum.

It knows nothing of beams or brokers. Laws:
- `record` returns once the tokens are in flash, or raises OSError; nobody may hear of a token before. After a power
  cut at any moment the tokens that it returned for are there, and a torn record is as if it had never been.
- `seq` starts at 1, has no gaps and is never given twice; `source` is made with the first file.
- A file is never written to again once it is full or torn, and is removed once everything in it is delivered and
  there are newer ones: so the flash wears evenly, a sector for each commit.
"""

import binascii
import os
import struct

RECORD = 48
SEGMENT = 85  # records in a file, its head included: not quite a sector of 4 kB
KEPT = 4  # delivered files that stay, for a companion that asks again
MOST = 100  # files: 8,400 undelivered tokens in 400 kB
_FORM = "<IQIBBHII16s"
_HEAD = "<4sHHI16sII8s"
_MAGIC = b"TMLG"
FLAGS = ("jam", "overlap", "missed_edge", "test", "simulated")


class LedgerFull(OSError):
    """No room is left for tokens that nobody has taken yet."""


class Ledger:
    """One open ledger, in a folder."""

    def __init__(self, folder, new_id):
        """Read what is there, or make a new ledger; `new_id` gives 16 random bytes."""
        self._folder = folder
        self._new_id = new_id
        self._file = None
        self._firsts = []  # of each file, oldest first
        self.last_seq = 0
        self.delivered = 0
        self.totals = [0, 0]
        self._room = 0
        self._source = None
        try:
            os.mkdir(folder)
        except OSError:
            pass
        self._load()
        if self._source is None:
            self._source = new_id()
        self.source = binascii.hexlify(self._source).decode()

    @property
    def first(self):
        """The number of the oldest token that is still here."""
        return self._firsts[0] if self._firsts else self.last_seq + 1

    def record(self, fallen):
        """Make tokens durable, in one commit for each file that they touch; return how many there are now.

        Each is (god's number, time in ms since 1970 or 0 where no clock was set, width in us, flags).
        """
        at = 0
        while at < len(fallen):
            if self._file is None or self._room == 0:
                self._rotate()
            number = min(self._room, len(fallen) - at)
            seq, totals, out = self.last_seq, list(self.totals), bytearray()
            for god, at_ms, width_us, flags in fallen[at : at + number]:
                seq += 1
                totals[god] += 1
                out += self._packed(seq, god, at_ms, width_us, flags, totals[0])
            try:
                self._file.write(out)
                _sync(self._file)
            except OSError:
                self._close()  # how much of it is there is not known: it begins anew behind what can be read
                self._room = 0
                raise
            self.last_seq, self.totals = seq, totals
            self._room -= number
            at += number
        return self.last_seq

    def read(self, seq):
        """Return a token as (name, god's number, time in ms, width in us, flags), or None where it is gone.

        One that cannot be read any more is still one that fell: it is told without a width, flagged.
        """
        for first in reversed(self._firsts):
            if first <= seq:
                with open(self._path(first), "rb") as file:
                    file.seek(RECORD * (seq - first))
                    before, row, after = [_unpacked(file.read(RECORD)) for _ in range(3)]
                if row is not None and row[0] == seq:
                    return (binascii.hexlify(row[8]).decode(), row[3], row[1], row[2], _words(row[4]))
                god = 0
                if before is not None and after is not None and before[0] == seq - 1:
                    god = int(after[6] - (after[3] == 0) == before[6])
                return ("%032x" % seq, god, 0, 0, ["missed_edge"])
        return None

    def deliver(self, seq):
        """Note that everything up to `seq` is delivered; it reaches the flash with the next token."""
        self.delivered = max(self.delivered, min(seq, self.last_seq))

    def deliver_again(self, seq):
        """Note, in flash, that `seq` and what follows must be sent again."""
        self.delivered = min(self.delivered, seq - 1)
        self._rotate()

    def close(self):
        """Let go of the file."""
        self._close()

    def _packed(self, seq, god, at_ms, width_us, flags, huitzilopochtli):
        bits = 0
        for bit in range(len(FLAGS)):
            if FLAGS[bit] in flags:
                bits |= 1 << bit
        width = min(width_us, 0xFFFFFFFF)
        row = struct.pack(_FORM, seq, at_ms, width, god, bits, 0, huitzilopochtli, self.delivered, self._new_id())
        return row + struct.pack("<I", binascii.crc32(row))

    def _rotate(self):
        """Begin a new file behind the last token, and remove what nobody needs."""
        self._close()
        while len(self._firsts) > KEPT and self._firsts[1] <= self.delivered + 1:
            os.remove(self._path(self._firsts[0]))
            self._firsts.pop(0)
        if len(self._firsts) >= MOST:
            raise LedgerFull(28, "the ledger is full")
        first = self.last_seq + 1
        head = struct.pack(_HEAD, _MAGIC, 1, 0, first, self._source, self.totals[0], self.delivered, b"\0" * 8)
        file = open(self._path(first), "wb")
        try:
            file.write(head + struct.pack("<I", binascii.crc32(head)))
            _sync(file)
        except OSError:
            file.close()
            raise
        self._file = file
        if first not in self._firsts:
            self._firsts.append(first)
        self._room = SEGMENT - 1

    def _load(self):
        """Read every file. A row is where its number belongs, so one that cannot be read hides none behind it."""
        for name in sorted(os.listdir(self._folder)):
            if not name.endswith(".log"):
                continue
            first = int(name[:-4])
            with open(self._folder + "/" + name, "rb") as file:
                head = _head(file.read(RECORD))
                if head is not None:
                    self._source = head[4]
                    self.last_seq, self.delivered = first - 1, head[6]
                    self.totals = [head[5], first - 1 - head[5]]
                there = head is not None
                for seq in range(first, first + SEGMENT - 1):
                    row = file.read(RECORD)
                    if not row:
                        break
                    row = _unpacked(row)
                    if row is not None and row[0] == seq:
                        there = True
                        self.last_seq, self.delivered = seq, row[7]
                        self.totals = [row[6], seq - row[6]]
            if there:
                self._firsts.append(first)

    def _path(self, first):
        return "%s/%010d.log" % (self._folder, first)

    def _close(self):
        if self._file is not None:
            try:
                self._file.close()
            except OSError:
                pass
            self._file = None


def _sync(file):
    file.flush()
    if hasattr(os, "fsync"):
        os.fsync(file.fileno())
    elif hasattr(os, "sync"):
        os.sync()


def _checked(row, form):
    if len(row) != RECORD or struct.unpack("<I", row[-4:])[0] != binascii.crc32(row[:-4]):
        return None
    return struct.unpack(form, row[:-4])


def _unpacked(row):
    return _checked(row, _FORM)


def _head(row):
    head = _checked(row, _HEAD)
    return head if head is not None and head[0] == _MAGIC and head[1] == 1 else None


def _words(bits):
    return [FLAGS[bit] for bit in range(len(FLAGS)) if bits & 1 << bit]
