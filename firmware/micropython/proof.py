"""Proves beams by a short pulse of their emitters: the laws of controller/core/proof.py, and its pulse.

Times are whole milliseconds of a clock that only grows, those of a pulse whole microseconds. What a pulse darkens is
a spell that begins and ends with it; one that outlasts it is a token, and the proof is void.
"""

ANSWER_US = 2000
"""A receiver follows its emitter within this time."""

MOST_US = 3000
"""How long to wait for receivers to follow; a token lasts longer, so it outlasts the pulse."""

SETTLED_MS = 500
"""How long after a pulse its spells may be taken: the flash may be busy."""

QUIET_MS = 10000
EACH_MS = 60000
BRIEF_QUIET_MS = 1000
_POLL_US = 200


class Pulse:
    """Emitters off from `off_us` on, and on again at `lit_us`.

    For each beam `answers` holds what `finding` takes, and `falls` how often it went dark.
    """

    def __init__(self, off_us, lit_us, answers, falls):
        """Store what was measured."""
        self.off_us = off_us
        self.lit_us = lit_us
        self.answers = answers
        self.falls = falls


def send(switch, beams, clock_us, sleep_us):
    """Switch the emitters off for as long as the receivers need to follow, and on again; return the pulse."""

    def followed(to_dark):
        end_us = clock_us() + MOST_US
        while True:
            levels = [beam.dark() for beam in beams]
            if levels == [to_dark] * len(beams) or clock_us() >= end_us:
                return levels
            sleep_us(_POLL_US)

    before = [beam.falls() for beam in beams]
    off_us = clock_us()
    try:
        switch(0)
        unlit = followed(True)
    finally:
        switch(1)
    lit_us = clock_us()
    lit = followed(False)
    falls = [beam.falls() - before[god] for god, beam in enumerate(beams)]
    answers = [(lit[god], unlit[god], falls[god] > 0) for god in range(len(beams))]
    return Pulse(off_us, lit_us, answers, falls)


def finding(answer):
    """Return what is wrong with a receiver by its answer: (dark when lit, dark when unlit, whether it was seen).

    None if nothing is: it reads dark with its emitter off, clear with it on, and its spell was seen.
    """
    lit_dark, unlit_dark, seen = answer
    if not lit_dark:
        return (None if seen else "deaf") if unlit_dark else "no_answer"
    return "no_light" if unlit_dark else "reversed"


class Proofs:
    """When to prove the beams, what a pulse proved, and since when a beam is unproved."""

    def __init__(self, now_ms):
        """Begin without any proof: the first is due at once, and needs no other to confirm it."""
        self._number = 0
        self._tried_ms = self._proved_ms = self._lit_ms = now_ms
        self._good_ms = [now_ms, now_ms]
        self._failed = set()
        self._suspected = set()
        self._confirming = set()
        self._pulse = None
        self._interrupted = [False, False]
        self.falls = [0, 0]
        """How often pulses have darkened each beam, which is no edge of its own."""

    @property
    def pending(self):
        """Whether a pulse is not judged yet."""
        return self._pulse is not None

    @property
    def certain(self):
        """Whether the latest pulse was the first: it needs no other to confirm it."""
        return self._number == 1

    def due_ms(self, edge_ms):
        """Return when to switch the emitters if nothing happens to a beam after `edge_ms`."""
        if self._number == 0:
            return self._tried_ms
        if self._suspected:
            return max(self._tried_ms, edge_ms) + BRIEF_QUIET_MS
        if edge_ms < self._tried_ms:
            return self._tried_ms + EACH_MS
        quiet_ms = BRIEF_QUIET_MS if self._failed else QUIET_MS
        return min(edge_ms + quiet_ms, max(self._proved_ms + EACH_MS, edge_ms + BRIEF_QUIET_MS))

    def begin(self, pulse, now_ms):
        """Expect the spells of a pulse."""
        self._pulse = pulse
        self._number += 1
        self._tried_ms = self._lit_ms = now_ms
        self._confirming, self._suspected = self._suspected, set()
        self._interrupted = [False, False]
        self.falls = [self.falls[god] + pulse.falls[god] for god in range(2)]

    def take(self, god, start_us, width_us):
        """Return whether a spell is the pulse's alone; any other that it touches voids the proof."""
        pulse = self._pulse
        if pulse is None or start_us + width_us < pulse.off_us or start_us > pulse.lit_us + ANSWER_US:
            return False
        if start_us >= pulse.off_us - ANSWER_US // 10 and start_us + width_us <= pulse.lit_us + ANSWER_US:
            return True
        self._interrupted[god] = True
        return False

    def settle(self, now_ms):
        """Return the latest pulse's answers that nothing voids, as (god, answer), once it can be judged."""
        if self._pulse is None or now_ms < self._lit_ms + SETTLED_MS:
            return []
        pulse, self._pulse = self._pulse, None
        return [(god, pulse.answers[god]) for god in range(2) if not self._interrupted[god]]

    def suspect(self, god):
        """Note that a proof failed; return whether it was the first to fail, so that another has to confirm it."""
        first = god not in self._confirming and god not in self._failed
        if first:
            self._suspected.add(god)
        return first

    def note(self, god, good):
        """Note what the latest pulse has shown."""
        self._proved_ms = self._lit_ms
        if good:
            self._failed.discard(god)
            self._good_ms[god] = self._lit_ms
        else:
            self._failed.add(god)

    def unproved_since(self, god):
        """Return when the beam was last proved, or the start, if its last proof failed; else None."""
        return self._good_ms[god] if god in self._failed else None
