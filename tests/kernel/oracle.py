"""Plans what falls through simulated beams, and compares what was counted with the oracle's own time stamps.

It shares nothing with the controller but the rule itself: dark spells with gaps shorter than 5 ms are one, and one of
3 ms or more is a token. A write's own duration leaves it uncertain by some microseconds when a level changed; what
could be either way by that is never demanded and never refused.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

MS = 1_000_000
MIN_BREAK, MIN_CLEAR, MAX_BREAK = 3 * MS, 5 * MS, 250 * MS
SLACK = MS // 2
"""How far a recorded width may be from the oracle's, beside what is uncertain."""

SECONDS_APART = 5.0
"""A token's time of day is computed from two clocks, between which an emulator may stand still."""


@dataclass(frozen=True)
class Spell:
    """What one dark spell may count as: so many tokens at least and at most, and how wide it may be."""

    start_ns: int
    fewest: int
    most: int
    narrowest: int
    widest: int
    before_bounces: tuple[tuple[int, int], ...] = field(default=(), repr=False)
    """How narrow and how wide it was up to each moment at which it was clear for a while too short to end it."""


@dataclass(frozen=True)
class Counted:
    """One token of the ledger; its time is by the oracle's clock, as far as the ledger knows it."""

    start_ns: int
    width_ns: int
    jam: bool = False


@dataclass(frozen=True)
class Verdict:
    """What a comparison found in one slot."""

    fell: int
    lost: tuple[Spell, ...] = ()
    invented: tuple[Counted, ...] = ()
    false_jams: int = 0
    uncertain: int = 0
    cut_short: int = 0
    """Tokens that were counted before the edges of their last bounces came: their widths lack those."""


def plan(
    tokens: int, lines: Sequence[int], seed: int, gap_ms: float = 120, bounces: int = 3, jams: float = 0
) -> list[tuple[int, int, int]]:
    """Return waits in microseconds, lines and levels (1 is dark): so many tokens on each line.

    Each begins and ends with up to so many `bounces`; without them there are no spells too short for a token, either.
    Of all tokens the share `jams` stays in the beam for longer than a token may.
    """
    random_ = random.Random(seed)
    events = []
    for line in lines:
        at = random_.uniform(0, gap_ms)
        for _ in range(tokens):
            if bounces and random_.random() < 0.1:  # too short for a token
                events += [(at, line, 1), (at := at + random_.uniform(0.3, 1.5), line, 0)]
                at += random_.uniform(20, 40)
            levels = [random_.uniform(0.3, 1.5) for _ in range(2 * random_.randint(0, bounces))]
            levels += [random_.uniform(300, 600) if jams and random_.random() < jams else random_.uniform(5, 30)]
            levels += [random_.uniform(0.3, 1.5) for _ in range(2 * random_.randint(0, bounces))]
            for number, width in enumerate(levels):
                events.append((at, line, 1 - number % 2))
                at += width
            events.append((at, line, 0))
            at += gap_ms + random_.uniform(0, gap_ms)
    waits, before = [], 0.0
    for at, line, dark in sorted(events):
        waits.append((round((at - before) * 1000), line, dark))
        before = at
    return waits


def spells(writes: Iterable[tuple[int, int, int]]) -> list[Spell]:
    """Return what one line's writes, as (before, after, dark), may count as.

    >>> spells([(0, 0, 1), (MS, MS, 0), (2 * MS, 2 * MS, 1), (9 * MS, 9 * MS, 0)])
    [Spell(start_ns=0, fewest=1, most=1, narrowest=9000000, widest=9000000)]
    >>> spells([(0, 0, 1), (MS, MS, 0)])
    []
    """
    pieces: list[list[tuple[int, int]]] = []  # each: (before, after) of its beginning and end
    dark_at: tuple[int, int] | None = None
    for before, after, dark in writes:
        if dark:
            dark_at = dark_at or (before, after)
        elif dark_at is not None:
            pieces.append([dark_at, (before, after)])
            dark_at = None
    trains: list[list[list[tuple[int, int]]]] = []
    for piece in pieces:
        if trains and piece[0][0] - trains[-1][-1][1][1] < MIN_CLEAR:
            trains[-1].append(piece)
        else:
            trains.append([piece])
    return [found for train in trains if (found := _spell(train)).most]


def _spell(train: list[list[tuple[int, int]]]) -> Spell:
    """Return what pieces may count as, each of which may be one with the next."""
    parts: list[list[tuple[int, int]]] = []  # as if every gap that may be long enough were
    for piece in train:
        if parts and piece[0][1] - parts[-1][1][0] < MIN_CLEAR:
            parts[-1] = [parts[-1][0], piece[1]]
        else:
            parts.append(piece)
    shortest = [end[0] - start[1] for start, end in parts]
    longest = [end[1] - start[0] for start, end in parts]
    whole_shortest, whole_longest = train[-1][1][0] - train[0][0][1], train[-1][1][1] - train[0][0][0]
    most = sum(width >= MIN_BREAK for width in longest)
    if len(parts) > 1:
        most = max(most, int(whole_longest >= MIN_BREAK))
        return Spell(train[0][0][0], int(max(shortest) >= MIN_BREAK), most, 0, whole_longest)
    start = train[0][0]
    ends = tuple((end[0] - start[1], end[1] - start[0]) for _, end in train[:-1])
    return Spell(start[0], int(whole_shortest >= MIN_BREAK), most, whole_shortest, whole_longest, ends)


def compare(fell: Sequence[Spell], counted: Sequence[Counted]) -> Verdict:
    """Pair what fell through a slot with what was counted there, by order, time and width, with the fewest unpaired.

    >>> compare([Spell(0, 1, 1, 9 * MS, 9 * MS)], []).lost
    (Spell(start_ns=0, fewest=1, most=1, narrowest=9000000, widest=9000000),)
    >>> compare([], [Counted(0, 9 * MS)]).invented
    (Counted(start_ns=0, width_ns=9000000, jam=False),)
    """
    lost: list[Spell] = []
    invented: list[Counted] = []
    false_jams = uncertain = cut_short = 0
    slots = [(spell, number < spell.fewest) for spell in fell for number in range(spell.most)]
    for spell, token in _paired(slots, counted):
        if token is None:
            assert spell is not None
            lost += [spell[0]] if spell[1] else []
            uncertain += not spell[1]
        elif spell is None:
            invented.append(token)
        else:
            uncertain += not spell[1]
            false_jams += token.jam and spell[0].widest < MAX_BREAK
            cut_short += not token.jam and token.width_ns < spell[0].narrowest - SLACK
    return Verdict(
        sum(spell.fewest for spell in fell), tuple(lost), tuple(invented), false_jams, uncertain, cut_short
    )


_WINDOW = 40
"""How many unpaired ones a pairing may run ahead on either side."""

Slot = tuple[Spell, bool]


def _paired(slots: Sequence[Slot], counted: Sequence[Counted]) -> list[tuple[Slot | None, Counted | None]]:
    """Return the alignment in which the fewest that must be paired are not, by dynamic programming."""
    reach = max(_WINDOW, abs(len(slots) - len(counted)) + _WINDOW)
    cost: dict[tuple[int, int], tuple[int, int]] = {(0, 0): (0, 0)}  # to (cost, step: 1 both, 2 slot, 3 token)
    for i in range(len(slots) + 1):
        for j in range(max(0, i - reach), min(len(counted), i + reach) + 1):
            options = [cost[0, 0]] if i == j == 0 else []
            if i and j and (i - 1, j - 1) in cost and _match(slots[i - 1][0], counted[j - 1]):
                options.append((cost[i - 1, j - 1][0], 1))
            if i and (i - 1, j) in cost:
                options.append((cost[i - 1, j][0] + 2 * slots[i - 1][1], 2))
            if j and (i, j - 1) in cost:
                options.append((cost[i, j - 1][0] + 2, 3))
            if options:
                cost[i, j] = min(options)
    pairs: list[tuple[Slot | None, Counted | None]] = []
    i, j = len(slots), len(counted)
    while i or j:
        step = cost[i, j][1]
        i -= step in (1, 2)
        j -= step in (1, 3)
        pairs.append((slots[i] if step != 3 else None, counted[j] if step != 2 else None))
    return pairs[::-1]


def _match(spell: Spell, token: Counted) -> bool:
    if abs(token.start_ns - spell.start_ns) > SECONDS_APART * 1000 * MS + spell.widest:
        return False
    # A jam is counted before its end is known: its width is how long it was known to last, or was late to be counted.
    widths = ((spell.narrowest, spell.widest), *spell.before_bounces)
    return token.jam or any(narrow - SLACK <= token.width_ns <= wide + SLACK for narrow, wide in widths)
