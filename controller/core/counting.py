"""Turns the edges of one beam into tokens, glitches and the beam's condition.

Pure: no clock, no IO, no randomness. Times are integer nanoseconds of one monotonic clock; the caller passes the
time. Edges carry their own stamps and may arrive late: when `advance` is called never changes how many tokens there
are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from templo.contract import Beam, Flag

MS = 1_000_000
SECOND = 1_000 * MS
JAM_PATIENCE = 100 * MS
"""How long past `max_break` to wait for a late edge before a spell becomes a jam."""

LATE_EDGE = 2 * SECOND
"""How much longer to wait while the beam may be clear: a busy machine delivers edges late."""

STARTING = SECOND
"""How long after the start an edge may come that the first reading of the level has already seen."""

_ANY_TIME = 2**63


class Limits(Struct, frozen=True):
    """What makes a token, in nanoseconds; `flicker` in spells a second; a spell wider than `band` is an overlap.

    `narrow` is the other end of the learned band, used only for diagnosis and doubts. More than `fastest` tokens a
    second, kept up for two, are doubted: no hand drops them. Where a slot has a second beam, a token breaks it at
    most `transit` after the first one is clear again.
    """

    min_break: int = 3 * MS
    min_clear: int = 5 * MS
    max_break: int = 250 * MS
    flicker: int = 60
    fastest: int = 20
    band: int | None = None
    narrow: int | None = None
    transit: int = 90 * MS


class Edge(Struct, frozen=True):
    """One change of a beam, stamped where it happened."""

    at_ns: int
    dark: bool


class Detection(Struct, frozen=True):
    """One token: when its spell began, how long it lasted as far as known, and what is unusual about it."""

    start_ns: int
    width_ns: int
    flags: frozenset[Flag] = frozenset()


class Glitch(Struct, frozen=True):
    """A dark spell that was too short for a token and is over for certain."""

    start_ns: int
    width_ns: int


class MissedEdge(Struct, frozen=True):
    """Edges are missing: the beam's level does not follow from its edges, or its backend reported a loss."""

    at_ns: int
    dark: bool
    number: int = 1


class BeamChanged(Struct, frozen=True):
    """The beam's condition changed."""

    beam: Beam


Event: TypeAlias = Detection | Glitch | MissedEdge | BeamChanged


class _Spell(Struct):
    """The latest dark spell. `end_ns` is None while it is dark; `decided` once it cannot become a token any more."""

    start_ns: int
    end_ns: int | None = None
    decided: bool = False
    void: bool = False
    missed: bool = False
    patience_ns: int = JAM_PATIENCE
    doubted_ns: int | None = None
    clear_ns: int | None = None
    """When the beam was first read clear although no edge had ended the spell."""
    stuck: Beam | None = None
    closed: bool = False


class Counter:
    """Counts one slot.

    Laws:
    - A train of dark spells with gaps under `min_clear` is one spell; spanning `min_break` or more it is exactly one
      token, whatever the order of `feed` and `advance` and however late the edges come.
    - At `max_break` a spell is one token flagged `jam`, once, however long it lasts.
    - A spell that is `certain` is counted as exactly one token, at least as wide, whatever comes.
    - A beam that was dark from the start, or that flickers, makes no token.
    - The same level twice is a missed edge: flagged on the spell it falls in, never a token of its own.
    - A spell whose end is missed, because the beam was read clear since, is over: what darkens it next is another.

    Twelve milliseconds of darkness are one token, as soon as the beam has been clear for `min_clear`:

    >>> counter = Counter(Limits(), dark=False, since_ns=0)
    >>> counter.feed(Edge(100 * MS, dark=True))
    [BeamChanged(beam=<Beam.CLEAR: 'clear'>)]
    >>> counter.feed(Edge(112 * MS, dark=False))
    []
    >>> counter.advance(117 * MS)
    [Detection(start_ns=100000000, width_ns=12000000, flags=frozenset())]
    """

    def __init__(self, limits: Limits, dark: bool, since_ns: int, proved: bool = False) -> None:
        """Start from the level that was read at `since_ns`; edges stamped earlier are already in that level."""
        self._limits = limits
        self._since_ns = since_ns
        self._dark = dark
        self._excused_ns = since_ns + STARTING
        """The next edge shows no loss if it is stamped earlier."""
        self._last_ns = since_ns
        self._spell: _Spell | None = None
        self._starts: deque[int] = deque()
        self._calm_ns = since_ns
        self._glitches = 0
        self.missed_edges = 0
        self._disproved = False
        self.beam = Beam.CLEAR if proved else Beam.UNPROVED
        if dark:
            self._spell = _Spell(since_ns, decided=True, void=True, stuck=Beam.DARK)
            self.beam = Beam.DARK

    @property
    def glitches(self) -> int:
        """How many spells so far were too short for a token."""
        spell = self._spell
        return self._glitches + (spell is not None and spell.closed and not spell.decided)

    def disprove(self) -> list[Event]:
        """Show the beam as unproved instead of clear, whatever its edges are, until it is proved.

        >>> counter = Counter(Limits(), dark=False, since_ns=0, proved=True)
        >>> counter.disprove(), counter.feed(Edge(10 * MS, dark=True)), counter.prove()
        ([BeamChanged(beam=<Beam.UNPROVED: 'unproved'>)], [], [BeamChanged(beam=<Beam.CLEAR: 'clear'>)])
        """
        events: list[Event] = []
        self._disproved = True
        if self.beam is Beam.CLEAR:
            self._show(Beam.UNPROVED, events)
        return events

    def prove(self) -> list[Event]:
        """Show the beam as clear: switching its emitter proved that it works."""
        events: list[Event] = []
        self._disproved = False
        if self.beam is Beam.UNPROVED:
            self._show(Beam.CLEAR, events)
        return events

    def learn(self, limits: Limits) -> None:
        """Apply other limits from the next edge on, and to a running spell."""
        self._limits = limits

    @property
    def dark(self) -> bool:
        """The level that follows from the edges so far."""
        return self._dark

    @property
    def last_ns(self) -> int:
        """The stamp of the latest edge, or of the start."""
        return self._last_ns

    def feed(self, edge: Edge) -> list[Event]:
        """Process one edge and return what follows; a slot's edges must come in order.

        >>> counter = Counter(Limits(), dark=False, since_ns=0, proved=True)
        >>> [counter.feed(Edge(at * MS, dark)) for at, dark in ((10, True), (11, False), (30, True), (40, True))][-1]
        [MissedEdge(at_ns=40000000, dark=True, number=1)]
        """
        if edge.at_ns < self._since_ns:
            return []
        at_ns = self._last_ns = max(edge.at_ns, self._last_ns)
        events: list[Event] = []
        # The start level was read after `since_ns`: the first edge may be the one that the reading already saw.
        # After a known loss the level may be the same again, and is counted already.
        repeated = edge.dark == self._dark
        missed = repeated and edge.at_ns >= self._excused_ns
        self._excused_ns = self._since_ns
        if self.beam is Beam.UNPROVED:
            self._show(Beam.CLEAR, events)
        if missed:
            self.missed_edges += 1
            events.append(MissedEdge(at_ns, edge.dark))
        if edge.dark and repeated and self._end_unseen(at_ns - self._limits.min_clear, events):
            repeated = missed = False
        self._run(at_ns, 0, events)
        if edge.dark:
            self._darken(at_ns, repeated, missed, events)
        else:
            self._clear(at_ns, repeated, missed, events)
        self._dark = edge.dark
        if at_ns < self._calm_ns:
            self._calm_ns = at_ns + SECOND
        return events

    def advance(self, now_ns: int, reads_dark: Callable[[], bool | None] = lambda: True) -> list[Event]:
        """Return what follows from time alone.

        Before a spell becomes a jam, `reads_dark` returns whether the beam is dark for certain, or None while that is
        open. If it is not, the edge that ends the spell may still be on its way, for `LATE_EDGE` from the first such
        answer. Then a spell whose beam was read clear is a token whose last edge is missed, and no jam.

        >>> counter = Counter(Limits(), dark=False, since_ns=0, proved=True)
        >>> counter.feed(Edge(0, dark=True))
        []
        >>> [type(event).__name__ for event in counter.advance(Limits().max_break + JAM_PATIENCE)]
        ['Detection', 'BeamChanged']
        """
        events: list[Event] = []
        spell = self._spell
        patience_ns = JAM_PATIENCE if spell is None else spell.patience_ns
        if spell is not None and self._jam_due(spell, now_ns, patience_ns) and not (reading := reads_dark()):
            if spell.doubted_ns is None:
                spell.doubted_ns = now_ns
            if reading is False and spell.clear_ns is None:
                spell.clear_ns = now_ns
            due_ns = min(now_ns, spell.doubted_ns + LATE_EDGE)
            patience_ns = spell.patience_ns = due_ns - spell.start_ns - self._limits.max_break + JAM_PATIENCE
        if spell is not None and self._jam_due(spell, now_ns, patience_ns) and self._end_unseen(now_ns, events):
            self.missed_edges += 1
            events.insert(0, MissedEdge(now_ns, False))
            self._dark = False
            self._excused_ns = now_ns  # the edge may come even later than that
        self._run(now_ns, patience_ns, events)
        return events

    def deadline(self) -> int | None:
        """Return when `advance` will next return something if no edge comes.

        >>> counter = Counter(Limits(), dark=False, since_ns=0)
        >>> counter.deadline() is None
        True
        >>> _ = counter.feed(Edge(10 * MS, dark=True)), counter.feed(Edge(20 * MS, dark=False))
        >>> counter.deadline() // MS
        25
        """
        due = []
        spell = self._spell
        if spell is not None:
            if spell.end_ns is None:
                if not spell.void and spell.stuck is None:
                    due.append(spell.start_ns + self._limits.max_break + spell.patience_ns)
            elif not spell.closed:
                due.append(spell.end_ns + self._limits.min_clear)
        if self.beam is Beam.FLICKER:
            due.append(self._calm_ns)
        return min(due, default=None)

    def certain(self) -> Detection | None:
        """Return the token that the latest spell gives if its beam now stays clear, once it is certain to give one.

        >>> counter = Counter(Limits(), dark=False, since_ns=0)
        >>> _ = counter.feed(Edge(10 * MS, dark=True)), counter.feed(Edge(20 * MS, dark=False))
        >>> counter.certain()
        Detection(start_ns=10000000, width_ns=10000000, flags=frozenset())
        """
        spell = self._spell
        if spell is None or spell.decided or spell.end_ns is None:
            return None
        width = spell.end_ns - spell.start_ns
        return (
            Detection(spell.start_ns, width, self._flags(spell, set())) if width >= self._limits.min_break else None
        )

    def resync(self, at_ns: int, dark: bool) -> list[Event]:
        """Process a level that does not follow from the edges: a missed edge, and never a token of its own.

        A level that was read before the latest edge changes nothing: that edge was on its way.

        >>> counter = Counter(Limits(), dark=False, since_ns=0, proved=True)
        >>> counter.resync(10 * MS, dark=True)
        [MissedEdge(at_ns=10000000, dark=True, number=1), BeamChanged(beam=<Beam.DARK: 'dark'>)]
        """
        if dark == self._dark or at_ns < self._last_ns:
            return []
        self._last_ns = at_ns
        events: list[Event] = []
        self._run(at_ns, 0, events)
        self.missed_edges += 1
        events.append(MissedEdge(at_ns, dark))
        self._dark = dark
        spell = self._spell
        if spell is not None and not spell.decided:
            spell.missed = True
            spell.end_ns = at_ns if spell.end_ns is None else spell.end_ns
            self._close(spell, spell.end_ns, events)
        self._settle(events)
        if dark:
            self._spell = _Spell(at_ns, decided=True, void=True, stuck=Beam.DARK)
            self._show(Beam.DARK, events)
        else:
            self._spell = None
            self._show(Beam.UNPROVED, events)
        return events

    def lose(self, at_ns: int, number: int) -> list[Event]:
        """Note that exactly `number` edges were lost before the next one, whose level then shows no further loss.

        >>> counter = Counter(Limits(), dark=False, since_ns=0, proved=True)
        >>> _ = counter.feed(Edge(10 * MS, dark=True))
        >>> counter.lose(40 * MS, 3)
        [MissedEdge(at_ns=40000000, dark=True, number=3)]
        >>> counter.feed(Edge(40 * MS, dark=True))
        []
        >>> counter.missed_edges
        3
        """
        if at_ns < self._since_ns:
            return []
        events: list[Event] = [MissedEdge(at_ns, self._dark, number)]
        self.missed_edges += number
        self._run(at_ns, 0, events)
        if self._spell is not None and not self._spell.closed:
            self._spell.missed = True
        self._excused_ns = _ANY_TIME
        return events

    def _darken(self, at_ns: int, repeated: bool, missed: bool, events: list[Event]) -> None:
        spell = self._spell
        if repeated:
            if spell is not None:
                spell.missed |= missed
            return
        if spell is not None and spell.end_ns is not None and at_ns - spell.end_ns < self._limits.min_clear:
            spell.end_ns = None
            spell.closed = False
            if spell.stuck is not None:
                self._show(spell.stuck, events)
            self._run(at_ns, 0, events)
            return
        self._settle(events)
        self._spell = _Spell(at_ns)
        self._starts.append(at_ns)
        while self._starts[0] <= at_ns - SECOND:
            self._starts.popleft()
        if len(self._starts) > self._limits.flicker:
            self._starts.popleft()
            self._calm_ns = at_ns + SECOND
        if at_ns < self._calm_ns:
            self._spell.decided = self._spell.void = True
            self._show(Beam.FLICKER, events)

    def _clear(self, at_ns: int, repeated: bool, missed: bool, events: list[Event]) -> None:
        spell = self._spell
        if spell is None:
            return
        if repeated:
            if spell.end_ns is None or at_ns - spell.end_ns >= self._limits.min_clear:
                return
            spell.missed |= missed
            spell.closed = False
        spell.end_ns = at_ns

    def _run(self, now_ns: int, patience: int, events: list[Event]) -> None:
        """Bring the spell and the beam's condition up to `now_ns`."""
        spell = self._spell
        if spell is not None:
            if spell.end_ns is None:
                if self._jam_due(spell, now_ns, patience):
                    self._jam(spell, now_ns, events)
            elif not spell.closed and now_ns - spell.end_ns >= self._limits.min_clear:
                self._close(spell, spell.end_ns, events)
        if self.beam is Beam.FLICKER and now_ns >= self._calm_ns:
            if self._dark and spell is not None:
                spell.stuck = Beam.JAMMED
                self._show(Beam.JAMMED, events)
            else:
                self._show(Beam.CLEAR, events)

    def _jam_due(self, spell: _Spell, now_ns: int, patience_ns: int) -> bool:
        runs = spell.end_ns is None and not spell.void and spell.stuck is None
        return runs and now_ns - spell.start_ns >= self._limits.max_break + patience_ns

    def _jam(self, spell: _Spell, now_ns: int, events: list[Event]) -> None:
        spell.stuck = Beam.JAMMED
        if not spell.decided:
            spell.decided = True
            events.append(Detection(spell.start_ns, now_ns - spell.start_ns, self._flags(spell, {Flag.JAM})))
        self._show(Beam.JAMMED, events)

    def _close(self, spell: _Spell, end_ns: int, events: list[Event]) -> None:
        spell.closed = True
        width = end_ns - spell.start_ns
        if not spell.decided and width >= self._limits.min_break:
            spell.decided = True
            events.append(Detection(spell.start_ns, width, self._flags(spell, set())))
        if self.beam in (Beam.JAMMED, Beam.DARK):
            self._show(Beam.CLEAR, events)

    def _end_unseen(self, until_ns: int, events: list[Event]) -> bool:
        """End a dark spell that was over when its beam was read clear; return False if that was after `until_ns`."""
        spell = self._spell
        if spell is None or spell.end_ns is not None or spell.clear_ns is None or spell.clear_ns > until_ns:
            return False
        spell.missed, spell.end_ns = True, spell.clear_ns
        self._close(spell, spell.end_ns, events)
        return True

    def _settle(self, events: list[Event]) -> None:
        """End the spell: from here on nothing can lengthen it."""
        spell = self._spell
        if spell is not None and not spell.decided and spell.end_ns is not None:
            self._glitches += 1
            events.append(Glitch(spell.start_ns, spell.end_ns - spell.start_ns))

    def _flags(self, spell: _Spell, flags: set[Flag]) -> frozenset[Flag]:
        if spell.missed:
            flags.add(Flag.MISSED_EDGE)
        band, end_ns = self._limits.band, spell.end_ns
        if band is not None and end_ns is not None and Flag.JAM not in flags and end_ns - spell.start_ns > band:
            flags.add(Flag.OVERLAP)
        return frozenset(flags)

    def _show(self, beam: Beam, events: list[Event]) -> None:
        if beam is Beam.CLEAR and self._disproved:
            beam = Beam.UNPROVED
        if beam is not self.beam:
            self.beam = beam
            events.append(BeamChanged(beam))


WIDTH_NS = 12 * MS
"""How long a token of the simulation keeps its beam dark: a bead of 8 mm on a slope of 25 degrees."""


def simulate(limits: Limits, now_ns: int) -> Detection:
    """Return the token that a counter makes of one clean spell that has just ended.

    >>> simulate(Limits(), now_ns=100 * MS)
    Detection(start_ns=88000000, width_ns=12000000, flags=frozenset())
    """
    width = max(limits.min_break, min(WIDTH_NS, limits.max_break - 1))
    counter = Counter(limits, False, now_ns - width)
    counter.feed(Edge(now_ns - width, True))
    counter.feed(Edge(now_ns, False))
    (counted,) = counter.advance(now_ns + limits.min_clear)
    assert isinstance(counted, Detection)
    return counted
