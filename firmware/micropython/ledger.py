"""A Pico's ledger: files of 48-byte records that are only ever appended to, each with its checksum.

It knows nothing of beams or brokers. Laws:
- `record` returns once the tokens are in flash, or raises OSError; nobody may publish a token before. After a power
  cut at any moment the tokens that it returned for are there, and a torn record is as if it had never been.
- For each `source`, `seq` starts at 1, has no gaps and is never given twice. The first source is made with the first
  file; `renew` begins another one behind a token of the old: its files stay, and so do the tokens that follow.
- What cannot be read hides nothing that can. Where a whole file cannot be read, or nothing gives the source of the
  last one, the ledger is `damaged`: a number might be given twice, so it wants a new source.
- A doubt is in flash before the token that caused it, and before any token that is recorded with it.
- A file is never written to again once it is full or torn, or the board was off. It is removed once everything in it
  is delivered, and either enough newer tokens are or there are too many files: so the flash wears evenly, a sector
  for each commit.
"""

import binascii
import os

import doubts
from records import RECORD, first_of, packed, unpacked, written

SEGMENT = 85  # records in a file, its head included: not quite a sector of 4 kB
KEPT = 588  # delivered tokens that stay at least, for a companion that asks again and for doubts, while there is room
MOST = 100  # files, those of doubts included: 8,400 undelivered tokens in 400 kB
FAR = 20  # delivered tokens of which the flash does not know: more than that are worth a write of their own
_SPARE = 4  # files beyond these that hold marks: a full ledger can still begin a new source
_AT_ONCE = 32  # doubts in memory
_FORM = "<IQIBBHII16s"
_HEAD = "<4sHHI16sIIII"
_MAGIC = b"TMLG"
FLAGS = ("jam", "overlap", "missed_edge", "test", "simulated")


class LedgerFull(OSError):
    """No room is left for undelivered tokens."""


class Ledger:
    """One open ledger, in a folder."""

    def __init__(self, folder, new_id):
        """Read what is there, or make a new ledger; `new_id` gives 16 random bytes.

        A `fresh` one has no file: `begin` makes its first.
        """
        self._folder = folder
        self._new_id = new_id
        self._file = None
        self._firsts = []  # of each file, oldest first: numbers of the files, which go on through all sources
        self._bad = []  # files of which nothing can be read
        self._headless = False  # whether nothing says under which source the last file was written
        self._base = self._base_h = 0  # how many tokens fell under earlier sources, and how many Huitzilopochtli's
        self.last_seq = 0
        self.delivered = 0
        self.totals = [0, 0]
        self._marked = 0  # up to where the flash knows that tokens are delivered
        self._room = 0
        self._source = None
        try:
            os.mkdir(folder)
        except OSError:
            pass
        self._doubts = doubts.Doubts(folder)
        self._stored_doubts = 0
        self._load()
        self.fresh = not self._firsts and not self._bad
        self.damaged = bool(self._bad) or self._headless
        if self._source is None:
            self._source = new_id()

    @property
    def source(self):
        """The id of this count of tokens."""
        return binascii.hexlify(self._source).decode()

    @property
    def first(self):
        """The number of the oldest token that is still here."""
        return max(1, self._firsts[0] - self._base) if self._firsts else self.last_seq + 1

    @property
    def last_doubt(self):
        """The number of the last doubt."""
        return self._doubts.last

    def doubt(self, number):
        """Return a doubt as (reason's number, time in ms since 1970 or 0, the token's name)."""
        return self._doubts.read(number)

    def doubts_stored(self, number):
        """Note that the companion has every doubt up to `number`."""
        self._stored_doubts = number

    def record(self, fallen, doubted=()):
        """Make tokens and doubts durable, in one commit for each file; return how many tokens there are now.

        A token is (god's number, time in ms since 1970 or 0 where no clock was set, width in us, flags), a doubt
        (reason's number, time as before, the token's number, which may be one of these). If it fails, the doubts have
        to be given again, with the tokens that are not recorded.
        """
        names = [self._new_id() for _ in fallen]
        if fallen and (self._file is None or self._room == 0):
            self._rotate()  # a full ledger refuses before anything is written
        if doubted:
            self._doubt(doubted, names)
        at = 0
        while at < len(fallen):
            if self._room == 0:
                self._rotate()
            number = min(self._room, len(fallen) - at)
            seq, totals, out = self.last_seq, list(self.totals), bytearray()
            for place in range(at, at + number):
                god, at_ms, width_us, flags = fallen[place]
                seq += 1
                totals[god] += 1
                out += self._packed(seq, god, at_ms, width_us, flags, totals[0], names[place])
            try:
                written(self._file, out)
            except BaseException:  # also a Ctrl-C
                self._close()  # how much of it is there is not known: it begins again behind what can be read
                self._room = 0
                raise
            self.last_seq, self.totals, self._marked = seq, totals, self.delivered
            self._room -= number
            at += number
        return self.last_seq

    def read(self, seq):
        """Return a token as (name, god's number, time in ms, width in us, flags), or None where it is gone.

        One that cannot be read any more is still one that fell: it is sent without a width, flagged.
        """
        before, row, after, source = self._rows(seq)
        if source is None:
            return None
        if row is not None:
            return (binascii.hexlify(row[8]).decode(), row[3], row[1], row[2], _words(row[4]))
        god = 0
        if before is not None and after is not None:
            god = int(after[6] - (after[3] == 0) == before[6])
        # Its own name is lost: it gets one that no token of another source has, and the same each time.
        name = int(binascii.hexlify(source), 16) ^ (self._base + seq)
        return ("%032x" % name, god, 0, 0, ["missed_edge"])

    def name(self, seq):
        """Return the name under which a token was recorded, or None where nothing here says it."""
        row = self._rows(seq)[1] if 1 <= seq <= self.last_seq else None
        return None if row is None else binascii.hexlify(row[8]).decode()

    def begin(self):
        """Make the first file, so that a ledger which is missing later is known to be."""
        self._rotate()
        self.fresh = False

    def renew(self, seq):
        """Begin a new source whose first token is the one behind `seq`; return by how much numbers are less now.

        What is in front of it counts as delivered for ever. Raises OSError, and then nothing has changed.
        """
        seq = max(self.first - 1, min(seq, self.last_seq))
        before = (self._source, self._base, self._base_h, self.last_seq, self.delivered, self.totals)
        gone = self._huitzilopochtli(seq)
        self._source = self._new_id()
        self._base += seq
        self._base_h += gone
        self.last_seq -= seq
        self.delivered = 0
        self.totals = [self.totals[0] - gone, self.totals[1] - (seq - gone)]
        try:
            self._rotate(_SPARE)
        except OSError:
            self._source, self._base, self._base_h, self.last_seq, self.delivered, self.totals = before
            raise
        for path in self._bad:
            if path != self._path(self._firsts[-1]):
                try:
                    os.remove(path)
                except OSError:
                    pass
        self._bad = []
        self.fresh = self.damaged = False
        return seq

    def deliver(self, seq):
        """Note that everything up to `seq` is delivered; it reaches the flash with the next token."""
        self.delivered = max(self.delivered, min(seq, self.last_seq))

    def mark(self):
        """Make the delivered mark durable by itself where the flash is far behind; raises OSError."""
        if self.delivered - self._marked > FAR:
            self._rotate(_SPARE)

    def deliver_again(self, seq):
        """Note, in flash, that `seq` and what follows must be sent again."""
        self.delivered = min(self.delivered, seq - 1)
        self._rotate(_SPARE)

    def close(self):
        """Close the files."""
        self._close()
        self._doubts.close()

    def _doubt(self, doubted, names):
        """Make doubts durable about tokens that are here, and about those that are recorded next under `names`."""
        self._doubts.forget(self._stored_doubts)
        if self._files() + self._doubts.new_files(len(doubted)) > MOST + _SPARE:
            raise LedgerFull(28, "the ledger is full")
        for begin in range(0, len(doubted), _AT_ONCE):
            rows = []
            for reason, at_ms, seq in doubted[begin : begin + _AT_ONCE]:
                if seq > self.last_seq:
                    rows.append((reason, at_ms, names[seq - self.last_seq - 1]))
                elif (row := self._rows(seq)[1]) is not None:
                    rows.append((reason, at_ms, row[8]))
            self._doubts.record(rows)

    def _files(self):
        return len(self._firsts) + max(0, self._doubts.files - doubts.KEPT)

    def _packed(self, seq, god, at_ms, width_us, flags, huitzilopochtli, name):
        bits = 0
        for bit in range(len(FLAGS)):
            if FLAGS[bit] in flags:
                bits |= 1 << bit
        width, base = min(width_us, 0xFFFFFFFF), self._base
        return packed(
            _FORM, base + seq, at_ms, width, god, bits, 0, self._base_h + huitzilopochtli, base + self.delivered,
            name,
        )  # fmt: skip

    def _rows(self, seq):
        """Return the rows before, at and behind a number, None where unread, and the source of their file."""
        number = self._base + seq
        for first in reversed(self._firsts):
            if first <= number:
                with open(self._path(first), "rb") as file:
                    head = _head(file.read(RECORD))
                    file.seek(RECORD * (number - first))
                    rows = [_unpacked(file.read(RECORD)) for _ in range(3)]
                for place in range(3):
                    if rows[place] is not None and rows[place][0] != number - 1 + place:
                        rows[place] = None
                rows.append(self._source if head is None else head[4])
                return rows
        return [None, None, None, None]

    def _huitzilopochtli(self, seq):
        """Return how many up to a number were Huitzilopochtli's; where nothing says it, what the rest allows."""
        if seq == self.last_seq:
            return self.totals[0]
        _, row, after, _ = self._rows(seq)
        if row is not None:
            return row[6] - self._base_h
        if after is not None:
            return after[6] - (after[3] == 0) - self._base_h
        if seq == 0:
            return 0
        return max(0, self.totals[0] - (self.last_seq - seq))

    def _rotate(self, spare=0):
        """Begin a new file behind the last token, and remove what nobody needs."""
        self._close()
        while len(self._firsts) > 1:
            kept = self._base + self.delivered + 1 - self._firsts[1]  # delivered tokens that the others hold
            if kept < 0 or (kept < KEPT and len(self._firsts) < MOST):
                break
            os.remove(self._path(self._firsts[0]))
            self._firsts.pop(0)
        first = self._base + self.last_seq + 1
        if self._files() >= MOST + spare and first not in self._firsts:
            raise LedgerFull(28, "the ledger is full")
        head = packed(
            _HEAD, _MAGIC, 1, 0, first, self._source, self._base_h + self.totals[0], self._base + self.delivered,
            self._base, self._base_h,
        )  # fmt: skip
        file = open(self._path(first), "wb")
        try:
            written(file, head)
        except OSError:
            file.close()
            raise
        self._file = file
        if first not in self._firsts:
            self._firsts.append(first)
        self._room, self._marked = SEGMENT - 1, self.delivered

    def _load(self):
        """Read each file's head, the newest first, and the rows of the last file and of those without a head.

        A row is where its number belongs, so one that cannot be read hides none behind it.
        """
        found = None  # the last token's number, Huitzilopochtli's up to it, and the delivered ones
        for name in sorted(os.listdir(self._folder), reverse=True):
            first, head, latest, empty = first_of(name, ".log"), None, None, True
            if first is None:
                continue
            try:
                with open(self._folder + "/" + name, "rb") as file:
                    row = file.read(RECORD)
                    empty = not row  # as a power cut leaves one that was just made
                    head = _head(row)
                    if head is not None:
                        latest = (first - 1, head[5], head[6])
                    if head is None or found is None:
                        for number in range(first, first + SEGMENT - 1):
                            row = file.read(RECORD)
                            if not row:
                                break
                            row = _unpacked(row)
                            if row is not None and row[0] == number:
                                latest = (number, row[6], row[7])
            except OSError as error:
                if error.args and error.args[0] != 5:  # EIO is how littlefs reports what it cannot read
                    raise
                empty = False
            if latest is not None:
                self._firsts.insert(0, first)
                if found is None:
                    found, self._headless = latest, head is None
                if head is not None and self._source is None:
                    self._source, self._base, self._base_h = head[4], head[7], head[8]
            elif not empty:
                self._bad.insert(0, self._folder + "/" + name)
        last, huitzilopochtli, delivered = found or (0, 0, 0)
        self.last_seq = last - self._base
        self.delivered = self._marked = max(0, delivered - self._base)
        self.totals = [huitzilopochtli - self._base_h, self.last_seq - huitzilopochtli + self._base_h]

    def _path(self, first):
        return "%s/%010d.log" % (self._folder, first)

    def _close(self):
        if self._file is not None:
            try:
                self._file.close()
            except OSError:
                pass
            self._file = None


def _unpacked(row):
    return unpacked(_FORM, row)


def _head(row):
    head = unpacked(_HEAD, row)
    return head if head is not None and head[0] == _MAGIC and head[1] == 1 else None


def _words(bits):
    return [FLAGS[bit] for bit in range(len(FLAGS)) if bits & 1 << bit]
