"""Plans which games answer which question: the preset itself, and options, cards and habits one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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

NOBODY, STILL = "nobody", ""
"""The ends of games that nobody wins, and of those that stand still, beside the kinds that a game names itself."""

OWNER = "owner"
"""Stands for the seat that has a habit or drew a card, whichever it is."""

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
    """One thing changed, in pairs of games: what it did to their length, to who won them and to how they ended.

    `wins` holds each seat, or `OWNER` where only the wins of whoever had a habit or a card count; `ends` each kind of
    end, `NOBODY` and `STILL`. All are corrected for everything that was tried beside it.
    """

    name: str
    length: Effect
    wins: Mapping[Seat, Effect]
    ends: Mapping[str, Effect]
    still: int = 0

    @property
    def certain(self) -> bool:
        """Whether chance alone would hardly cause as much, of anything."""
        return any(each.certain for each in (self.length, *self.wins.values(), *self.ends.values()))

    @property
    def verdict(self) -> str:
        """The effect of a habit or a card for the player who has it."""
        own = self.wins[OWNER]
        return ("better" if own.difference > 0 else "worse") if own.certain else ""

    @property
    def most(self) -> tuple[Seat, Effect]:
        """Whose wins changed most, and by how much."""
        return max(self.wins.items(), key=lambda each: abs(each[1].difference))


@dataclass(frozen=True, slots=True)
class Pairs:
    """The same games before and after one change, and whose it was in each; without owners, everybody's."""

    name: str
    before: Sequence[Record]
    after: Sequence[Record]
    owners: Sequence[Seat] = ()

    @property
    def turns(self) -> tuple[list[int], list[int]]:
        """How long the games are."""
        return [each.turns for each in self.before], [each.turns for each in self.after]

    @property
    def winners(self) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """Who won each game; of one with owners whether its owner did."""
        if not self.owners:
            return [each.winners for each in self.before], [each.winners for each in self.after]
        return self._own(self.before), self._own(self.after)

    @property
    def ends(self) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """How each game ended, and whether nobody won it."""
        return _ends(self.before), _ends(self.after)

    @property
    def tests(self) -> dict[str, float]:
        """The p of everything in which a pair differs."""
        found = {}
        if self.turns[0] != self.turns[1]:
            found["turns"] = figures.effect(*self.turns).p
        if self.winners[0] != self.winners[1]:
            found["wins"] = figures.shift(*self.winners)
        if not self.owners and self.ends[0] != self.ends[1]:
            found["ends"] = figures.shift(*self.ends)
        return found

    def _own(self, games: Sequence[Record]) -> list[tuple[str, ...]]:
        return [(OWNER,) * (owner in each.winners) for owner, each in zip(self.owners, games, strict=True)]


def _ends(games: Sequence[Record]) -> list[tuple[str, ...]]:
    return [(each.kind, *(() if each.winners else (NOBODY,))) for each in games]


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
    leads: float | None
    """None where the game does not say who leads."""
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
        blanked(setup, base[: sizes.cards], play),
        probed(setup, base[: sizes.habits], play),
        strengths,
        summary(setup, usual[0]) if usual else None,
        compared(setup, usual[0], base) if usual else None,
    )


def summary(setup: Setup, records: Sequence[Record]) -> Summary:
    """Return the results of some games."""
    game = game_of(setup)
    seats = game.seatings[setup.seats]
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
        sum(each.leads for each in records) / max(1, n) if game.playtest.says_standing else None,
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
    return judged(
        setup, [Pairs(name, base[: len(part)], part) for name, part in zip(setups, found, strict=True) if part]
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
        if drawn:  # the card is the change: before is the game without it
            cards.append(Pairs(card, without, drawn, [each.cards[card] for each in drawn]))
    return judged(setup, cards)


def probed(setup: Setup, base: Sequence[Record], play: Runner) -> list[Change]:
    """Return what each habit does for the one seat that has it; habits that never mattered are left out."""
    if not base:
        return []
    names, rotating = habits.of(game_of(setup)), replace(setup, rotating=True)
    jobs = [Job(name, replace(rotating, habits=(name, *setup.habits[1:])), _seeds(base)) for name in names]
    found = []
    for name, part in zip(names, play(jobs), strict=True):
        usual = base[: len(part)]
        if [(each.moves, each.winners) for each in part] != [(each.moves, each.winners) for each in usual]:
            found.append(Pairs(name, usual, part, [first_seat(rotating, each.seed) for each in part]))
    return judged(setup, found)


def compared(setup: Setup, one: Sequence[Record], other: Sequence[Record]) -> Change:
    """Return what a second setup does beside a first one, from their games with the same seeds."""
    return judged(setup, [Pairs("", one[: len(other)], other)])[0]


def judged(setup: Setup, every: Sequence[Pairs]) -> list[Change]:
    """Return what each of several changes did.

    All that differs in any pair is tested: the length, the wins of all seats together, the ends together. The p of
    all tests are corrected together, and the intervals by as much (Benjamini and Yekutieli's false coverage rate). A
    seat or an end is certain if its own p is, too, corrected for the other seats or ends.
    """
    tests = [each.tests for each in every]
    values = figures.corrected([p for each in tests for p in each.values()])
    left, certain = iter(values), sum(p < figures.CERTAIN for p in values)
    confidence = 1 - figures.CERTAIN * max(1, certain) / max(1, len(values))
    changes = []
    for pairs, found in zip(every, tests, strict=True):
        p = {"turns": 1.0, "wins": 1.0, "ends": 1.0} | {what: next(left) for what in found}
        seats = (OWNER,) if pairs.owners else game_of(setup).seatings[setup.seats]
        ends = () if pairs.owners else sorted({end for games in pairs.ends for each in games for end in each})
        changes.append(
            Change(
                pairs.name,
                changed(figures.effect(*pairs.turns, confidence), p=p["turns"]),
                _each(seats, *pairs.winners, confidence, p["wins"]),
                _each(ends, *pairs.ends, confidence, p["ends"]),
                sum(each.stood_still for each in pairs.after),
            )
        )
    return changes


def _each(
    labels: Sequence[str],
    before: Sequence[Sequence[str]],
    after: Sequence[Sequence[str]],
    confidence: float,
    together: float,
) -> dict[str, Effect]:
    """Return how often each label occurs before and after; `together` is the p of all labels."""
    found = [
        figures.effect([label in each for each in before], [label in each for each in after], confidence)
        for label in labels
    ]
    values = figures.corrected([each.p for each in found])
    return {label: changed(each, p=max(together, p)) for label, each, p in zip(labels, found, values, strict=True)}


def _job(name: str, setup: Setup, first: int, games: int) -> Job:
    return Job(name, setup, tuple(range(first, first + games)))


def _seeds(records: Sequence[Record]) -> tuple[int, ...]:
    return tuple(each.seed for each in records)
