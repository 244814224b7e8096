"""What the dark spells of one beam mean: the controller's width rules, after a PIO that merges spells.

Pure: no clock, no pins. Times are whole milliseconds of a clock that only grows, widths whole microseconds. The PIO
has already made one spell of all that are closer than `min_clear`; a spell comes here once it is over.
"""

UNPROVED, CLEAR, JAMMED, DARK, FLICKER, UNKNOWN = "unproved", "clear", "jammed", "dark", "flicker", "unknown"
JAM_PATIENCE_MS = 100


class Limits:
    """What makes a token, in microseconds; `flicker` and `fastest` in a second. `narrow` changes no count."""

    def __init__(
        self, min_break=3000, min_clear=5000, max_break=250000, flicker=60, band=None, narrow=None, fastest=20
    ):
        """Take the defaults where nothing is given."""
        self.min_break = min_break
        self.min_clear = min_clear
        self.max_break = max_break
        self.flicker = flicker
        self.band = band
        self.narrow = narrow
        self.fastest = fastest


class Slot:
    """Counts one slot. `spell` and `level` return a token as (start in ms, width in us, flags), or None."""

    def __init__(self, limits, dark, now_ms):
        """Start with the level that was just read: dark at the start is a fault and no token."""
        self.limits = limits
        self.beam = DARK if dark else UNPROVED
        self.dark = dark
        self.glitches = 0
        self.missed_edges = 0
        self._since_ms = now_ms if dark else None
        self._reported = dark  # the spell that is on can make no token any more
        self._missed = False
        self._starts = []
        self._calm_ms = None
        self._disproved = False

    def prove(self, good):
        """Show the beam as clear, or as unproved instead, as switching its emitter has just shown."""
        self._disproved = not good
        if self.beam in (CLEAR, UNPROVED):
            self.beam = self._clear()

    def miss(self, number=1):
        """Record that something between two spells was lost; the next token is flagged."""
        self.missed_edges += number
        self._missed = True

    def unheard(self):
        """Record that the current spell is over and will never be reported: a missed edge, and no token."""
        self.miss()
        self._reported, self._since_ms = False, None
        if self.beam != FLICKER:
            self.beam = UNPROVED

    def spell(self, start_ms, width_us):
        """Take a spell that is over, and has been for `min_clear`."""
        reported, self._reported, self._since_ms = self._reported, False, None
        flickers = self._flickers(start_ms, width_us)
        if flickers:
            self.beam = FLICKER
        elif self.beam != FLICKER:
            self.beam = self._clear()
        if reported or flickers:
            return None
        if width_us < self.limits.min_break:
            self.glitches += 1
            return None
        return self._token(start_ms, width_us, width_us >= self.limits.max_break)

    def level(self, now_ms, dark):
        """Take the level as it is, after every spell that is over."""
        self.dark = dark
        if dark:
            if self._since_ms is None:
                self._since_ms = now_ms
            if self.beam == UNPROVED:
                self.beam = self._clear()
        elif not self._reported:
            self._since_ms = None
        if self._calm_ms is not None and now_ms >= self._calm_ms:
            self._calm_ms = None
            if self.beam == FLICKER:
                self._reported = dark
                self.beam = JAMMED if dark else self._clear()
        if not dark or self._reported or self.beam == FLICKER:
            return None
        lasted_ms = now_ms - self._since_ms
        if lasted_ms * 1000 < self.limits.max_break + JAM_PATIENCE_MS * 1000:
            return None
        self._reported = True
        self.beam = JAMMED
        return self._token(self._since_ms, lasted_ms * 1000, True)

    def _clear(self):
        return UNPROVED if self._disproved else CLEAR

    def _flickers(self, start_ms, width_us):
        starts = self._starts
        starts.append(start_ms)
        while starts[0] <= start_ms - 1000:
            starts.pop(0)
        if len(starts) > self.limits.flicker:
            starts.pop(0)
            self._calm_ms = start_ms + 1000
        flickers = self._calm_ms is not None and start_ms < self._calm_ms
        if flickers:
            self._calm_ms = start_ms + width_us // 1000 + 1000
        return flickers

    def _token(self, start_ms, width_us, jam):
        flags = []
        if jam:
            flags.append("jam")
        if self._missed:
            flags.append("missed_edge")
            self._missed = False
        if self.limits.band is not None and width_us > self.limits.band and not jam:
            flags.append("overlap")
        return (start_ms, width_us, flags)
