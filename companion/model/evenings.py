"""What was played at this companion: the games of each evening, and statistics by game, person and temple.

A person is a name that somebody played under: "Ana" and "ana " are one. There are no accounts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta, tzinfo

from msgspec import Struct

from companion.games.kit import Result, Seat
from companion.model.plays import minutes, result_of
from companion.model.table import Table

MORNING = timedelta(hours=5)
"""The hour at which an evening ends: a game that ends at one in the morning belongs to the day before."""


class Play(Struct, frozen=True):
    """A game that was played to its end."""

    table: Table
    result: Result
    ended_at: datetime

    @property
    def minutes(self) -> int:
        """How long it lasted."""
        return minutes(self.table)

    @property
    def tokens(self) -> int:
        """How many tokens counted in it, if its game counts any."""
        return self.table.tokens

    @property
    def people(self) -> dict[Seat, str]:
        """The names of its players, without those who gave none."""
        return {chair.seat: chair.name for chair in self.table.chairs if chair.name}

    def evening(self, zone: tzinfo | None = None) -> date:
        """Return the day whose evening it belongs to, in a time zone (by default this machine's)."""
        return (self.ended_at.astimezone(zone) - MORNING).date()


class Evening(Struct, frozen=True):
    """What was played on one evening, in the order in which the games ended."""

    day: date
    plays: tuple[Play, ...]


class GameStatistics(Struct, frozen=True):
    """What was played of one game."""

    game: str
    played: int
    minutes: int
    """How long it takes, in the median."""
    longest: Play
    most_tokens: Play | None
    """The play with the most tokens, if there were any."""


class PersonStatistics(Struct, frozen=True):
    """How one person played."""

    name: str
    played: int
    won: int
    games: int
    """How many different games."""


class TempleStatistics(Struct, frozen=True):
    """What one temple served: the games that it served at their end."""

    temple: str
    played: int
    tokens: int


def plays(tables: Iterable[Table]) -> list[Play]:
    """Return the finished games, the last first, without tools and without open or closed tables."""
    over = [
        Play(table, result_of(table), table.ended_at)
        for table in tables
        if table.phase == "over" and not table.is_closed and table.ended_at and "." not in table.charter.game
    ]
    return sorted(over, key=lambda play: (play.ended_at, play.table.id), reverse=True)


def evenings(played: Sequence[Play], zone: tzinfo | None = None) -> list[Evening]:
    """Return the evenings of some plays, the last first, in a time zone (by default this machine's)."""
    days: dict[date, list[Play]] = defaultdict(list)
    for play in sorted(played, key=lambda play: (play.ended_at, play.table.id)):
        days[play.evening(zone)].append(play)
    return [Evening(day, tuple(days[day])) for day in sorted(days, reverse=True)]


def curve(play: Play, times: Iterable[datetime], steps: int = 60) -> list[tuple[float, int]]:
    """Return how the lake filled in a play: moments from 0 to 1, each with the number of tokens until then.

    `times` are the times of its tokens; those that a wrong clock puts outside the game are moved to its edge. There
    are at most `steps` moments, each that of a token; none without tokens.
    """
    began = play.table.began_at or play.ended_at
    length = max((play.ended_at - began).total_seconds(), 1.0)
    shares = sorted(min(max((at - began).total_seconds() / length, 0.0), 1.0) for at in times)
    if not shares:
        return []
    chosen = sorted({round((n + 1) * len(shares) / min(steps, len(shares))) for n in range(min(steps, len(shares)))})
    return [(0.0, 0), *((round(shares[n - 1], 4), n) for n in chosen), (1.0, len(shares))]


def by_game(played: Sequence[Play]) -> list[GameStatistics]:
    """Return the statistics of each game, the most played first."""
    games: dict[str, list[Play]] = defaultdict(list)
    for play in played:
        games[play.table.charter.game].append(play)
    found = []
    for game, of_it in games.items():
        lengths = sorted(play.minutes for play in of_it if play.minutes) or [0]
        most = max(of_it, key=lambda play: play.tokens)
        longest = max(of_it, key=lambda play: play.minutes)
        middle = lengths[len(lengths) // 2]
        found.append(GameStatistics(game, len(of_it), middle, longest, most if most.tokens else None))
    return sorted(found, key=lambda each: (-each.played, each.game))


def usual_minutes(tables: Iterable[Table], game: str, preset: str) -> tuple[int, int]:
    """Return the median length of the games of a preset that people played here, and how many they were."""
    lengths = sorted(
        lasted
        for table in tables
        if (table.charter.game, table.preset) == (game, preset)
        and table.phase == "over"
        and not table.is_closed
        and any(chair.taken for chair in table.chairs)
        and (lasted := minutes(table))
    )
    return (lengths[len(lengths) // 2] if lengths else 0), len(lengths)


def by_person(played: Sequence[Play]) -> list[PersonStatistics]:
    """Return the statistics of each name, the most wins first. A name at several seats of a table played it once."""
    spelled: dict[str, str] = {}
    played_of, won_of, games_of = Counter[str](), Counter[str](), defaultdict[str, set[str]](set)
    for play in sorted(played, key=lambda play: play.ended_at):
        names = {seat: person_key(name) for seat, name in play.people.items()}
        spelled |= {person_key(name): name for name in play.people.values()}
        played_of.update({*names.values()})
        won_of.update({name for seat, name in names.items() if seat in play.result.winners})
        for name in names.values():
            games_of[name].add(play.table.charter.game)
    found = [PersonStatistics(spelled[key], n, won_of[key], len(games_of[key])) for key, n in played_of.items()]
    return sorted(found, key=lambda each: (-each.won, each.played, each.name.casefold()))


def by_temple(played: Sequence[Play]) -> list[TempleStatistics]:
    """Return the statistics of each temple that served a table, the most played first."""
    games, tokens = Counter[str](), Counter[str]()
    for play in played:
        if temple := play.table.temple:
            games[temple] += 1
            tokens[temple] += play.tokens
    return [
        TempleStatistics(temple, n, tokens[temple])
        for temple, n in sorted(games.items(), key=lambda e: (-e[1], e[0]))
    ]


def person_key(name: str) -> str:
    """Return a person's name in the form in which spellings are compared.

    >>> person_key(" ana  maría ") == person_key("Ana María")
    True
    """
    return " ".join(name.split()).casefold()
