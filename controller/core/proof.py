"""Proves beams by a short pulse of their emitters, and distinguishes its edges from those of tokens.

Pure. Times are integer nanoseconds of one monotonic clock, the one of the kernel's time stamps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from controller.core.counting import MS, SECOND, Edge
from controller.core.diagnosis import Answer
from templo.contract import God

ANSWER_NS = 2 * MS
"""A receiver follows its emitter within this time."""

SETTLED_NS = SECOND // 2
"""How long after a pulse its edges may arrive: a busy machine delivers them late."""

QUIET_NS = 10 * SECOND
EACH_NS = 60 * SECOND
BRIEF_QUIET_NS = SECOND


class Pulse(Struct, frozen=True):
    """One pulse of the emitters: switched off after `off_ns`, and on again between `on_ns` and `lit_ns`."""

    off_ns: int
    on_ns: int
    lit_ns: int
    answers: Mapping[God, Answer]
    """What each receiver read, and whether edges had come when `prove` returned."""


class PulseEdges:
    """Withholds the edges that a pulse causes in one beam, and gives all of them back if they are not its alone.

    Laws:
    - A spell that is exactly the pulse is withheld.
    - A spell that began before the pulse, or outlasts it, is given back whole: it is one token, as without the pulse.
    - Any edge of the pulse's time that is given back interrupts the proof.
    - If one of its two edges is lost, the other is withheld all the same: it shows no level that would be new.

    >>> pulse = Pulse(off_ns=0, on_ns=2 * MS, lit_ns=2 * MS, answers={})
    >>> edges = PulseEdges(pulse, min_clear_ns=5 * MS)
    >>> edges.take(Edge(MS, dark=True), dark=False), edges.take(Edge(3 * MS, dark=False), dark=False)
    ([], [])
    >>> edges.seen, edges.interrupted
    (True, False)

    A token that outlasts the pulse:

    >>> edges = PulseEdges(pulse, min_clear_ns=5 * MS)
    >>> edges.take(Edge(MS, dark=True), dark=False)
    []
    >>> edges.take(Edge(14 * MS, dark=False), dark=False)
    [Edge(at_ns=1000000, dark=True), Edge(at_ns=14000000, dark=False)]
    >>> edges.interrupted
    True
    """

    def __init__(self, pulse: Pulse, min_clear_ns: int) -> None:
        """Begin with nothing withheld."""
        self._pulse = pulse
        self._min_clear_ns = min_clear_ns
        self._held: list[Edge] = []
        self.seen = False
        """Whether the pulse caused an edge."""
        self.interrupted = False

    @property
    def open(self) -> bool:
        """Whether an edge is withheld that the end of the pulse has not answered yet."""
        return len(self._held) == 1

    def take(self, edge: Edge, dark: bool) -> list[Edge]:
        """Process an edge, and return those to count now; `dark` is the level that follows from all counted edges."""
        pulse, held = self._pulse, self._held
        ends = pulse.on_ns <= edge.at_ns <= pulse.lit_ns + ANSWER_NS and edge.dark == dark
        if not held and pulse.off_ns <= edge.at_ns < pulse.on_ns and edge.dark != dark:
            held.append(edge)
            return []
        if ends and len(held) < 2:
            if held:
                held.append(edge)
            self.seen = True
            return []
        if len(held) == 2:
            if ends:  # it came after the level had already shown the end
                return []
            if edge.at_ns - held[1].at_ns >= self._min_clear_ns:
                held.clear()
        if edge.at_ns <= pulse.lit_ns + ANSWER_NS:
            self.interrupted = True
        return [*self.release(), edge]

    def release(self) -> list[Edge]:
        """Return what is withheld, to be counted, because something else happened to the beam."""
        held, self._held = self._held, []
        self.interrupted |= bool(held)
        return held

    def settle(self, reads_dark: bool) -> list[Edge]:
        """Return what to count once no further edge of the pulse is expected; `reads_dark` is the level now."""
        if not self.open:
            return []
        if self._held[0].dark == reads_dark:
            return self.release()
        self._held.append(Edge(self._pulse.lit_ns, reads_dark))  # the edge that ends the pulse is lost, or very late
        return []


class Proofs:
    """When to prove the beams, what a pulse proved, and since when a beam is unproved."""

    def __init__(self, since_ns: int, failed: Iterable[God] = ()) -> None:
        """Start after a first proof, which failed for some beams."""
        self._tried_ns = self._proved_ns = self._lit_ns = since_ns
        self._good_ns = dict.fromkeys(God, since_ns)
        self._failed = set(failed)
        self._suspected: set[God] = set()
        self._confirming: set[God] = set()
        """The beams that were suspected before the latest attempt."""
        self._pulse: Pulse | None = None
        self._edges: dict[God, PulseEdges] = {}

    def due_ns(self, edge_ns: int) -> int:
        """Return when to switch the emitters if no edge comes after `edge_ns`.

        After ten seconds of quiet, and then each minute. A second is enough if there was no proof for a minute, or if
        the last one failed: somebody may have mended the beam.

        >>> proofs = Proofs(0)
        >>> [proofs.due_ns(edge_ns * SECOND) // SECOND for edge_ns in (0, 7, 55, 70)]
        [10, 17, 60, 71]
        >>> proofs.begin(Pulse(10 * SECOND, 10 * SECOND, 10 * SECOND, {}), min_clear_ns=5 * MS)
        >>> proofs.due_ns(7 * SECOND) // SECOND
        70
        """
        if self._suspected:
            return max(self._tried_ns, edge_ns) + BRIEF_QUIET_NS
        if edge_ns < self._tried_ns:
            return self._tried_ns + EACH_NS
        quiet_ns = BRIEF_QUIET_NS if self._failed else QUIET_NS
        return min(edge_ns + quiet_ns, max(self._proved_ns + EACH_NS, edge_ns + BRIEF_QUIET_NS))

    def tried(self, now_ns: int) -> None:
        """Note an attempt."""
        self._tried_ns = now_ns
        self._confirming, self._suspected = self._suspected, set()

    def begin(self, pulse: Pulse, min_clear_ns: int) -> None:
        """Expect the edges of a pulse."""
        self._pulse = pulse
        self._tried_ns = self._lit_ns = pulse.lit_ns
        self._edges = {god: PulseEdges(pulse, min_clear_ns) for god in God}

    def take(self, god: God, edge: Edge, dark: bool) -> list[Edge]:
        """Process an edge, and return those to count now."""
        edges = self._edges.get(god)
        return [edge] if edges is None else edges.take(edge, dark)

    def release(self, god: God) -> list[Edge]:
        """Return a beam's edges that were withheld and have no end."""
        edges = self._edges.get(god)
        return edges.release() if edges is not None and edges.open else []

    @property
    def settled_ns(self) -> int | None:
        """When the latest pulse can be judged; None if it was."""
        return None if self._pulse is None else self._pulse.lit_ns + SETTLED_NS

    def settle(self, reads_dark: Mapping[God, bool]) -> tuple[dict[God, list[Edge]], dict[God, Answer]]:
        """Judge the latest pulse by the levels now: return the edges to count, and the answers that no edge voids."""
        pulse, self._pulse = self._pulse, None
        assert pulse is not None
        freed = {god: edges.settle(reads_dark[god]) for god, edges in self._edges.items()}
        answers = {
            god: replace(answer, edge_seen=answer.edge_seen or self._edges[god].seen)
            for god, answer in pulse.answers.items()
            if not self._edges[god].interrupted
        }
        return freed, answers

    def suspect(self, god: God) -> bool:
        """Note that a proof failed; return whether it was the first to fail, so that another has to confirm it.

        Both receivers answer in the same moment, and there are kernels that lose edges of two lines then.
        """
        first = god not in self._confirming | self._failed
        if first:
            self._suspected.add(god)
        return first

    def note(self, god: God, good: bool) -> None:
        """Note what the latest pulse has shown."""
        self._proved_ns = self._lit_ns
        if good:
            self._failed.discard(god)
            self._good_ns[god] = self._lit_ns
        else:
            self._failed.add(god)

    def unproved_since(self, god: God) -> int | None:
        """Return when the beam was last proved, or the start, if its last proof failed; else None."""
        return self._good_ns[god] if god in self._failed else None
