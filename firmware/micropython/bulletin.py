"""When to publish findings about the beams: at once if a code is new, rarely if only facts change.

It diagnoses nothing itself. Times are milliseconds of a clock that only grows.
"""

LOOK_MS = 250
AGAIN_MS = 1000
"""How often findings are worked out without any event: they also appear and end by time alone."""

FACTS_MS = 5000
_TIMED = ("for_s", "ago_s")


class Bulletin:
    """Decides when findings are published."""

    def __init__(self):
        """Begin with nothing published."""
        self.connected()

    def connected(self):
        """Publish again: a broker may have forgotten what it retained."""
        self._codes = self._facts = None
        self._look_ms = self._published_ms = 0

    def due(self, now_ms, changed):
        """Return whether to work out what is wrong now."""
        return now_ms >= self._look_ms + (LOOK_MS if changed else AGAIN_MS) or self._codes is None

    def tell(self, found, limits, say, now_ms):
        """Publish new findings if they are not too soon; `say` returns whether the link accepted them."""
        self._look_ms = now_ms
        codes = [limits] + [[code for code, _ in each] for each in found]
        facts = [[str(fact) for fact in facts if fact[0] not in _TIMED] for each in found for _, facts in each]
        if codes == self._codes and (facts == self._facts or now_ms < self._published_ms + FACTS_MS):
            return
        if say():
            self._codes, self._facts, self._published_ms = codes, facts, now_ms
