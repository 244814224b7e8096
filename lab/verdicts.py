"""Returns plain sentences that a designer can act on: are seats equal, how long is a game, what changes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import quantiles

from companion.games.kit import Seat
from lab.figures import CERTAIN, Effect
from lab.sentences import Language
from lab.studies import NOBODY, OWNER, STILL, Change, Findings, Summary

EQUAL, ALMOST = 0.05, 0.1
"""How far from an equal share every seat's wins must be at most, with its interval, for seats to be called equal, and
for them to be called probably equal."""

MANY = 0.5
"""The share of turns without a choice, or of games that nobody wins, from which a report points it out."""

SHOWN = 3
"""How many habits, and how many cards, a verdict names."""

Called = Callable[[str, str], str]
"""Returns a game's words for a code, by their key and the code."""


def fairness(summary: Summary, language: Language, called: Called) -> str:
    """Return whether the seats are equal, as far as these games show it."""
    say, percent = language.say, language.percent
    if summary.even is None:
        return say("Fair between seats: nobody won alone, so there is nothing to compare.")
    fair = sum(each.share for each in summary.seats.values()) / len(summary.seats)
    reach = language.number(100 * max(max(each.high - fair, fair - each.low) for each in summary.seats.values()))
    if summary.even < CERTAIN:
        least, *_, most = sorted(summary.seats, key=lambda seat: summary.seats[seat].share)
        return say(
            "Fair between seats: no. %(most)s: %(won)s of the games won. %(least)s: %(lost)s.",
            most=_seat(most, called), won=percent(summary.seats[most].share),
            least=_seat(least, called), lost=percent(summary.seats[least].share),
        )  # fmt: skip
    if float(reach) <= 100 * EQUAL:
        return say("Fair between seats: yes, within %(reach)s points of an equal share of the wins.", reach=reach)
    if float(reach) <= 100 * ALMOST:
        return say(
            "Fair between seats: probably. No difference was found, but a seat's share of the wins may still be "
            "%(reach)s points from an equal one.", reach=reach
        )  # fmt: skip
    return say(
        "Fair between seats: not known. After %(n)s games a seat's share of the wins may still be %(reach)s points "
        "from an equal one; play more.", n=language.number(summary.games), reach=reach
    )  # fmt: skip


def duration(turns: Sequence[int], pace: int, language: Language) -> str:
    """Return how long a game lasts at a table where a turn takes `pace` seconds."""
    say, number = language.say, language.number
    low, median, high = quartiles(turns)
    minutes = number(max(1, round(median * pace / 60)))
    if min(turns) == max(turns):
        return say("About %(minutes)s min. Turns in every game: %(n)s.", minutes=minutes, n=number(median))
    return say(
        "About %(minutes)s min. Turns in half of the games: %(low)s to %(high)s, in the middle one %(median)s.",
        minutes=minutes, low=number(low), high=number(high), median=number(median),
    )  # fmt: skip


def quartiles(turns: Sequence[int]) -> list[int]:
    """Return between which numbers of turns half of the games end, with the median in the middle."""
    return [round(each) for each in (quantiles(turns, n=4) if len(turns) > 1 else [*turns] * 3)]


def watch(findings: Findings, language: Language) -> list[str]:
    """Return what a designer may want to look at in a preset, the gravest first."""
    say, summary, percent = language.say, findings.summary, language.percent
    found = []
    if summary.still:
        found.append(
            say(
                "Games that did not end: %(n)s of %(games)s.",
                n=len(summary.still),
                games=language.number(summary.games),
            )
        )
    for played in (summary, *findings.strengths.values()):
        found += _standstills(played, language)
    if (nobody := 1 - summary.winners.share) >= MANY:
        found.append(say("Nobody wins %(share)s of the games.", share=percent(nobody)))
    if summary.forced >= MANY:
        found.append(
            say("In %(share)s of the turns no player had anything to choose.", share=percent(summary.forced))
        )
    more = (
        "“%(habit)s” wins more, by %(points)s points: a way to win that the app does not see, or a hole in the rules."
    )
    found += [
        say(more, habit=each.name, points=_points(each, language)) for each in _first(findings.habits, "better")
    ]
    card = "Who draws “%(card)s” wins more or less often: by %(points)s points."
    cards = (*_first(findings.cards, "better"), *_first(findings.cards, "worse"))
    found += [say(card, card=each.name, points=_points(each, language)) for each in cards]
    if changing := [each.name for each in findings.options if each.certain]:
        found.append(say("Options that change the game: %(options)s.", options=", ".join(changing)))
    return found


def _standstills(summary: Summary, language: Language) -> Iterator[str]:
    """Yield a sentence for the games in which nobody had a legal move, and one for those in which a player waited."""
    stuck = [each for each in summary.still if each.stuck]
    waiting = [each for each in summary.still if each.waits]
    if stuck:
        yield language.say(
            "No legal move for %(seat)s after move %(move)s, seed %(seed)s; games that stood still so: %(n)s.",
            seat=stuck[0].stuck, move=stuck[0].moves, seed=stuck[0].seed, n=len(stuck),
        )  # fmt: skip
    if waiting:
        yield language.say(
            "The player of %(seat)s waits after move %(move)s, seed %(seed)s; games that stood still so: %(n)s.",
            seat=waiting[0].waits, move=waiting[0].moves, seed=waiting[0].seed, n=len(waiting),
        )  # fmt: skip


def effects(change: Change, language: Language, called: Called) -> list[str]:
    """Return a sentence for everything that a change does to the games, or one for how little is known of nothing."""
    return [*_effects(change, language, called)] or [_nothing(change, language)]


def _effects(change: Change, language: Language, called: Called) -> Iterator[str]:
    say, percent, length = language.say, language.percent, change.length
    for seat, each in change.wins.items():
        if each.certain:
            more = "%(seat)s: more wins, %(after)s of the games instead of %(before)s."
            less = "%(seat)s: fewer wins, %(after)s of the games instead of %(before)s."
            yield say(
                more if each.difference > 0 else less,
                seat=_seat(seat, called), after=percent(each.after), before=percent(each.before),
            )  # fmt: skip
    if length.certain:
        longer = "Longer games: %(after)s turns instead of %(before)s."
        shorter = "Shorter games: %(after)s turns instead of %(before)s."
        yield say(
            longer if length.difference > 0 else shorter,
            after=language.number(length.after, 1), before=language.number(length.before, 1),
        )  # fmt: skip
    for end, each in change.ends.items():
        if each.certain:
            yield say(
                "Games that end so: %(end)s. %(after)s instead of %(before)s.",
                end=ending(end, language, called), after=percent(each.after), before=percent(each.before),
            )  # fmt: skip


def _nothing(change: Change, language: Language) -> str:
    wins = max((_reach(each) for each in change.wins.values()), default=0.0)
    return language.say(
        "No difference was found in %(n)s games. A seat may still win up to %(wins)s points more or less often, and "
        "games may be up to %(turns)s turns longer or shorter.",
        n=language.number(change.length.pairs), wins=language.number(100 * wins, 1),
        turns=language.number(_reach(change.length), 1),
    )  # fmt: skip


def ending(end: str, language: Language, called: Called) -> str:
    """Return the words for a kind of end."""
    if end in (NOBODY, STILL):
        return language.say("nobody won" if end == NOBODY else "stood still")
    for key in ("kind", "title", "why"):
        if (words := called(f"ending.{key}.{end}", "")) != "":
            return words
    return end


def _first(changes: Sequence[Change], verdict: str) -> list[Change]:
    found = [each for each in changes if each.verdict == verdict]
    return sorted(found, key=lambda each: -abs(each.wins[OWNER].difference))[:SHOWN]


def _points(change: Change, language: Language) -> str:
    return language.number(100 * change.wins[OWNER].difference, 1, signed=True)


def _seat(seat: Seat, called: Called) -> str:
    return called(f"seat.{seat}", seat)


def _reach(effect: Effect) -> float:
    return max(-effect.low, effect.high)
