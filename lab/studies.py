"""Plans which games answer which question: the preset itself, and options, cards and habits one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as changed

from msgspec.structs import replace

from companion.games.kit import Seat
from lab import figures, habits
from lab.figures import Effect, Share
from lab.matches import Record, Setup, first_seat, game_of, options_of
from lab.runs import Job

BASE = "base"

QUESTIONS = 5
"""The games of a whole study: the base, strengths, options, cards, habits."""

CERTAIN = 0.05
"""The corrected p below which a difference is called certain."""

Runner = Callable[[Sequence[Job]], list[list[Record]]]
"""Plays jobs and returns the records of each, of its first seeds alone where time ran out."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many games each question gets, all of them with the first seeds of the base; 0 leaves the question out."""

    games: int = 400
    options: int = 100
    habits: int = 100
    cards: int = 60
    strengths: int = 100


@dataclass(frozen=True, slots=True)
class Change:
    """One thing changed, in pairs of games: what it did to their length, and to how often they were won.

    The wins are those of whoever the change is for; of an option, anybody's, or where somebody always wins, those of
    the first seat.
    `p` is the smaller of both after the correction for all changes that were tried beside it.
    """

    name: str
    length: Effect
    wins: Effect
    p: float = 1.0
    still: int = 0

    @property
    def certain(self) -> bool:
        """Whether chance alone would hardly cause as much."""
        return self.p < CERTAIN

    @property
    def verdict(self) -> str:
        """The effect of a habit or a card for the player who has it."""
        if not self.certain or self.wins.low <= 0 <= self.wins.high:
            return ""
        return "better" if self.wins.difference > 0 else "worse"


@dataclass(frozen=True, slots=True)
class Summary:
    """The results of a number of games of one kind."""

    games: int
    kinds: Mapping[str, Share]
    winners: Share
    seats: Mapping[Seat, Share]
    even: float | None
    turns: Sequence[int]
    forced: float
    leads: float
    still: Sequence[Record]
    places: Mapping[str, int] = field(default_factory=dict)
    """How often each place of the board was touched, in all games."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that a report shows."""

    setup: Setup
    first: int
    summary: Summary
    options: Sequence[Change] = ()
    counted: Seat = ""
    """Whose wins the options were judged by, nobody's where by anybody's."""
    cards: Sequence[Change] = ()
    habits: Sequence[Change] = ()
    strengths: Mapping[str, Summary] = field(default_factory=dict)
    usual: Summary | None = None
    """The same seeds with the unchanged preset, where that was played too."""
    beside: Change | None = None
    """The joint effect of the options that were chosen beside the preset's."""


def study(setup: Setup, sizes: Sizes, play: Runner, first: int = 0, beside: bool = False) -> Findings:
    """Play every game that a report on a preset needs.

    `beside` has the preset played as it comes, too, with the same seeds, where the setup chooses other options.
    """
    jobs = [_job(BASE, setup, first, sizes.games)]
    if beside and setup.chosen:
        jobs.append(_job("as it comes", replace(setup, chosen={}), first, sizes.games))
    base, *usual = play(jobs)
    strengths = {}
    if sizes.strengths:
        everybody = replace(setup, habits=(habits.RANDOM,) * setup.seats)
        strengths[habits.RANDOM] = summary(setup, play([_job("all random", everybody, first, sizes.strengths)])[0])
    return Findings(
        setup,
        first,
        summary(setup, base),
        flipped(setup, base[: sizes.options], play),
        counted(setup, base[: sizes.options]),
        blanked(setup, base[: sizes.cards], play),
        probed(setup, base[: sizes.habits], play),
        strengths,
        summary(setup, usual[0]) if usual else None,
        compared(usual[0], base) if usual else None,
    )


def summary(setup: Setup, records: Sequence[Record]) -> Summary:
    """Return the results of some games."""
    seats = game_of(setup).seatings[setup.seats]
    n, turns = len(records), sum(each.turns for each in records)
    kinds = Counter(each.kind for each in records if not each.stood_still)
    return Summary(
        n,
        {kind: figures.share(count, n) for kind, count in kinds.most_common()},
        figures.share(sum(bool(each.winners) for each in records), n),
        {seat: figures.share(sum(seat in each.winners for each in records), n) for seat in seats},
        figures.evenness([each.winners for each in records], len(seats)),
        [each.turns for each in records],
        sum(each.forced for each in records) / turns if turns else 0.0,
        sum(each.leads for each in records) / n if n else 0.0,
        [each for each in records if each.stood_still],
        sum((Counter(each.places) for each in records), Counter()),
    )


def flipped(setup: Setup, base: Sequence[Record], play: Runner) -> list[Change]:
    """Return what each option does alone: at each of its other values, with the seeds of the base."""
    if not base:
        return []
    game, chosen = game_of(setup), options_of(setup)
    setups: dict[str, Setup] = {}
    for option in game.options:
        if option.matters(chosen) and option.key not in game.presets[setup.preset]:
            for value in option.values:
                if value != chosen[option.key]:
                    setups[f"{option.key} = {value}"] = replace(setup, chosen={**setup.chosen, option.key: value})
    found = play([Job(name, each, _seeds(base)) for name, each in setups.items()])
    return _corrected(
        changed(compared(base, part, counted(setup, base)), name=name)
        for name, part in zip(setups, found, strict=True)
        if part
    )


def blanked(setup: Setup, base: Sequence[Record], play: Runner) -> list[Change]:
    """Return what each card does for who draws it first, and to the game: with and without what it says.

    Only the games in which it was drawn are played again; until then they are the same.
    """
    game, chosen = game_of(setup), options_of(setup)
    if game.playtest.blanked is None:
        return []
    jobs, before = [], []
    for card in sorted({card for each in base for card in each.cards}):
        options = game.playtest.blanked(chosen, card)
        changes = {key: value for key, value in options.items() if value != chosen[key]}
        drawn = [each for each in base if card in each.cards]
        if changes and len(drawn) > 1:
            jobs.append(Job(f"without {card}", replace(setup, chosen={**setup.chosen, **changes}), _seeds(drawn)))
            before.append((card, drawn))
    cards = []
    for (card, every), without in zip(before, play(jobs), strict=True):
        drawn = every[: len(without)]
        if not drawn:
            continue
        # The card is the change: before is the game without it.
        length = figures.effect([each.turns for each in without], [each.turns for each in drawn])
        wins = figures.effect(
            [one.cards[card] in other.winners for one, other in zip(drawn, without, strict=True)],
            [each.cards[card] in each.winners for each in drawn],
        )
        cards.append(Change(card, length, wins, still=_still(drawn)))
    return _corrected(cards)


def probed(setup: Setup, base: Sequence[Record], play: Runner) -> list[Change]:
    """Return what each habit does for the one seat that has it; habits that never mattered are left out."""
    if not base:
        return []
    names, rotating = habits.of(game_of(setup)), replace(setup, rotating=True)
    jobs = [Job(name, replace(rotating, habits=(name, *setup.habits[1:])), _seeds(base)) for name in names]
    changes = []
    for name, part in zip(names, play(jobs), strict=True):
        usual = base[: len(part)]
        if [(each.moves, each.winners) for each in part] == [(each.moves, each.winners) for each in usual]:
            continue
        own = [first_seat(rotating, each.seed) for each in part]
        wins = figures.effect(
            [seat in each.winners for seat, each in zip(own, usual, strict=True)],
            [seat in each.winners for seat, each in zip(own, part, strict=True)],
        )
        changes.append(Change(name, _length(usual, part), wins, still=_still(part)))
    return _corrected(changes)


def counted(setup: Setup, base: Sequence[Record]) -> Seat:
    """Return the seat whose wins show what an option does: the first where somebody always wins, else anybody."""
    return game_of(setup).seatings[setup.seats][0] if all(each.winners for each in base) else ""


def compared(one: Sequence[Record], other: Sequence[Record], seat: Seat = "") -> Change:
    """Return what a second setup does beside a first one, from their games with the same seeds.

    The wins are those of a seat, or with none anybody's.
    """
    before = one[: len(other)]
    length, wins = _length(before, other), _won(before, other, seat)
    return Change("", length, wins, min(1.0, 2 * min(length.p, wins.p)), _still(other))


def _corrected(changes: Iterable[Change]) -> list[Change]:
    found = list(changes)
    values = figures.corrected([p for each in found for p in (each.length.p, each.wins.p)])
    pairs = zip(values[::2], values[1::2], strict=True)
    return [changed(each, p=min(pair)) for each, pair in zip(found, pairs, strict=True)]


def _job(name: str, setup: Setup, first: int, games: int) -> Job:
    return Job(name, setup, tuple(range(first, first + games)))


def _seeds(records: Sequence[Record]) -> tuple[int, ...]:
    return tuple(each.seed for each in records)


def _length(before: Sequence[Record], after: Sequence[Record]) -> Effect:
    return figures.effect([each.turns for each in before], [each.turns for each in after])


def _won(before: Sequence[Record], after: Sequence[Record], seat: Seat) -> Effect:
    won = [[seat in each.winners if seat else bool(each.winners) for each in games] for games in (before, after)]
    return figures.effect(*won)


def _still(records: Sequence[Record]) -> int:
    return sum(each.stood_still for each in records)
