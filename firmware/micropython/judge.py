"""Doubts tokens that light, a loose plug or the supply may have made: the laws of controller/core/judge.py.

Pure: no clock, no pins. It takes whole microseconds of a clock that only grows, and works in ticks of 20 us from a
zero that moves with it, so that its numbers stay small: MicroPython makes an object of each that has 31 bits or more.
What it remembers of a token takes 13 bytes, in rings that are made once.
"""

from array import array

FLICKER, REGULAR, TOGETHER, UNPROVED = 0, 1, 2, 3
REASONS = ("flicker", "regular", "together", "unproved")
"""Why a token is doubted, as in the contract's `doubt`, by the numbers above."""

TICK_US = 20
SECOND = 1000000 // TICK_US
_TOGETHER = SECOND // 500
"""Both beams that break and clear within this time of each other have one cause: a dip of their supply."""

_QUIET = SECOND
"""Two tokens that fall at once are a dip after so much quiet in both slots, or after another one of the kind."""

_CALM = SECOND
"""What follows a doubted token of the same slot within this time is doubted too."""

_RECENT = 2 * SECOND
"""How far back the tokens of a beam are doubted that is found to flicker."""

_FASTEST = 20
_RATES = (
    (SECOND // 5, 9),
    (SECOND // 2, 16),
    (2 * SECOND, 40),
    (4 * SECOND, 60),
    (10 * SECOND, 120),
    (60 * SECOND, 260),
)
"""Tokens of one slot within a time that no hand drops, for a limit of `_FASTEST`."""

_MEMORY = 260
_LATEST = 1 << 29  # ticks after the zero, about three hours
_ALIKE = 8
_EQUAL = 20
_ODD_WITHIN, _ODD_OF, _ODD = 4 * SECOND, 16, 12


class _Counted:
    """The last `_MEMORY` tokens of one slot; a place of 1 is the latest."""

    def __init__(self):
        self.number = 0
        self._starts = array("I", [0] * _MEMORY)
        self._widths = array("I", [0] * _MEMORY)
        self._tokens = array("I", [0] * _MEMORY)
        self._doubted = bytearray(_MEMORY)

    def append(self, token, start, width):
        at = self.number % _MEMORY
        self._starts[at], self._widths[at], self._tokens[at], self._doubted[at] = start, width, token, 0
        self.number += 1

    def shift(self, ticks):
        """Move the zero."""
        for at in range(_MEMORY):
            self._starts[at] = max(0, self._starts[at] - ticks)

    def there(self):
        return min(self.number, _MEMORY)

    def start(self, place):
        return self._starts[(self.number - place) % _MEMORY]

    def width(self, place):
        return self._widths[(self.number - place) % _MEMORY]

    def end(self, place):
        return self.start(place) + self.width(place)

    def since(self, at):
        """Return how many of the latest end after a time."""
        place = 0
        while place < self.there() and self.end(place + 1) > at:
            place += 1
        return place

    def doubt(self, doubts, reason, first, last=1):
        """Doubt the tokens of these places that were not doubted before, and add them to `doubts`."""
        for place in range(first, last - 1, -1):
            at = (self.number - place) % _MEMORY
            if not self._doubted[at]:
                self._doubted[at] = 1
                doubts.append((reason, self._tokens[at]))


class Judge:
    """Judges the tokens of both slots, each when it was counted, in the order in which they ended.

    What is doubted is returned as a list of (reason's number, the token as it was given), each token at most once.
    """

    def __init__(self, limits):
        """Begin without any token; other `limits` apply from the next token on."""
        self.limits = limits
        self._counted = (_Counted(), _Counted())
        self._calm = [None, None]
        self._zero_us = 0

    def take(self, god, token, start_us, width_us):
        """Judge a token that was just counted, a number of the caller's; return what is doubted because of it."""
        counted, start = self._counted[god], self._ticks(start_us)
        counted.append(token, start, width_us // TICK_US)
        found, calm = self._light(counted), self._calm[god]
        if not found and calm is not None and start - calm[0] < _CALM:
            found = [(calm[1], 1)]
        if found:
            self._calm[god] = (start, found[0][0])
        doubts = []
        for reason, number in found:
            counted.doubt(doubts, reason, number)
        other = self._counted[1 - god]
        for place in self._together(counted, other):
            other.doubt(doubts, TOGETHER, place, place)
            counted.doubt(doubts, TOGETHER, 1)
        return doubts

    def flickers(self, god, at_us):
        """Return what is doubted because a beam has just been found to flicker."""
        at = self._ticks(at_us)
        self._calm[god] = (at, FLICKER)
        return self._since(FLICKER, god, at - _RECENT)

    def unproved(self, god, since_us):
        """Return what is doubted because nothing has proved the beam since `since_us`."""
        return self._since(UNPROVED, god, self._ticks(since_us))

    def _ticks(self, us):
        ticks = (us - self._zero_us) // TICK_US
        if ticks < _LATEST:
            return ticks
        shift = ticks - _LATEST // 2
        for counted in self._counted:
            counted.shift(shift)
        self._calm = [calm and (calm[0] - shift, calm[1]) for calm in self._calm]
        self._zero_us += shift * TICK_US
        return ticks - shift

    def _since(self, reason, god, at):
        doubts, counted = [], self._counted[god]
        counted.doubt(doubts, reason, counted.since(at))
        return doubts

    def _light(self, counted):
        """Return (reason, how many of the latest tokens) of what no hand drops."""
        found, many, there, fastest = [], 0, counted.there(), self.limits.fastest
        start = counted.start(1)
        if there >= _ALIKE and self._regular(counted):
            found.append((REGULAR, _ALIKE))
        for within, usual in _RATES:
            number = max(2, usual * fastest // _FASTEST)
            if there >= number and start - counted.start(number) < within:
                many = max(many, number)
        band, narrow = self.limits.band, self.limits.narrow or 0
        if band is not None and there >= _ODD_OF:
            odd = sum([not narrow <= counted.width(place) * TICK_US <= band for place in range(1, _ODD_OF + 1)])
            if start - counted.start(_ODD_OF) < _ODD_WITHIN * _FASTEST // fastest and odd >= _ODD:
                many = max(many, _ODD_OF)
        if many:
            found.append((FLICKER, many))
        return found

    def _regular(self, counted):
        """Return whether a machine made the latest: equal periods that are short, or of equal widths."""
        periods = [counted.start(place) - counted.start(place + 1) for place in range(1, _ALIKE)]
        if not _equal(periods):
            return False
        quick = periods[0] * self.limits.fastest < 3 * SECOND
        return quick or _equal([counted.width(place) for place in range(1, _ALIKE + 1)])

    def _together(self, counted, other):
        """Return the places of the other slot's tokens that have one cause with the latest one."""
        found = []
        for place in (1, 2):
            if other.there() < place or not _at_once(counted, 1, other, place):
                continue
            before, earlier = counted.there() > 1, other.there() > place
            quiet = not before or counted.start(1) - counted.end(2) >= _QUIET
            quiet = quiet and (not earlier or other.start(place) - other.end(place + 1) >= _QUIET)
            if quiet or (before and earlier and _at_once(counted, 2, other, place + 1)):
                found.append(place)
        return found


def _at_once(one, place, other, other_place):
    if abs(one.start(place) - other.start(other_place)) > _TOGETHER:
        return False
    return abs(one.end(place) - other.end(other_place)) <= _TOGETHER


def _equal(times):
    return (max(times) - min(times)) * _EQUAL <= max(times)
