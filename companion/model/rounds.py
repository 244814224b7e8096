"""The rounds of an event: who plays whom at which table, and the standings.

Each round is played at as many tables at once as its players need.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, count, islice, permutations, product
from typing import Literal, NamedTuple, get_args

import msgspec

from companion.games.kit import Result, Seat
from companion.model.lobby import clean_name
from companion.model.table import ServiceError

Pairing = Literal["swiss", "everyone"]
"""The pairings: Swiss, or everybody against everybody; both avoid rematches as far as possible."""

PAIRINGS: tuple[Pairing, ...] = get_args(Pairing)
NOTE = "event"
"""The name of the store's note with the current event."""

MOST_PLAYERS = 100
_AGAIN = 1000
"""The cost of a rematch, in points of difference between two opponents."""

_ROUNDING = 1e-6
_FORESEEN = 8
"""How many rounds of a round robin are foreseen where players have left or come."""

_STEPS = 5000
"""How many pairs are tried to find so many rounds."""


class RoundTable(msgspec.Struct, frozen=True):
    """One table of a round, with the player of each seat."""

    table_id: str
    players: dict[Seat, str]


class Round(msgspec.Struct, frozen=True):
    """One round: its tables, and the players who rest."""

    tables: tuple[RoundTable, ...]
    rests: tuple[str, ...] = ()


class Event(msgspec.Struct, frozen=True):
    """A stored event; `size` is the largest number of players at one table."""

    game: str
    preset: str
    size: int
    pairing: Pairing
    players: tuple[str, ...]
    rounds: tuple[Round, ...] = ()

    @property
    def id(self) -> str:
        """The id of its first table, which no other event has."""
        return self.rounds[0].tables[0].table_id


def encode(event: Event) -> str:
    """Return an event as it is stored.

    >>> decode(encode(Event("mexica", "classic", 2, "swiss", ("Ana", "Ben")))).players
    ('Ana', 'Ben')
    """
    return msgspec.json.encode(event).decode()


def decode(stored: str) -> Event:
    """Return an event from its stored form."""
    return msgspec.json.decode(stored, type=Event)


def names_of(event: Event) -> list[str]:
    """Return everybody who plays or ever played, each once.

    >>> names_of(Event("mexica", "classic", 2, "swiss", ("Ana",), (Round((), ("Ben",)),)))
    ['Ana', 'Ben']
    """
    groups = [event.players]
    for each in event.rounds:
        groups += [tuple(table.players.values()) for table in each.tables]
        groups.append(each.rests)
    return list(dict.fromkeys(name for group in groups for name in group))


def without_person(event: Event, is_person: Callable[[str], bool]) -> Event:
    """Return an event in which the names for which `is_person` is true are replaced by numbers.

    >>> event = Event("mexica", "classic", 2, "swiss", ("Ana", "Ben"))
    >>> without_person(event, lambda name: name == "Ben").players
    ('Ana', '#1')
    """
    names = names_of(event)
    unused = (f"#{n}" for n in count(1) if f"#{n}" not in names)
    new_names = {name: next(unused) if is_person(name) else name for name in names}
    rounds = tuple(
        Round(
            tuple(
                RoundTable(table.table_id, {seat: new_names[name] for seat, name in table.players.items()})
                for table in each.tables
            ),
            tuple(new_names[name] for name in each.rests),
        )
        for each in event.rounds
    )
    return msgspec.structs.replace(event, players=tuple(new_names[name] for name in event.players), rounds=rounds)


class Standing(NamedTuple):
    """A player's standing: by `points`, and if those are equal by `met`, the points of all opponents so far."""

    place: int
    name: str
    points: Fraction
    met: Fraction


def read_players(text: str) -> tuple[str, ...]:
    r"""Return the names in a list, one on each line; empty lines are ignored.

    Raises `ServiceError` ``bad_player``, ``player_twice`` and ``bad_event``, the last for fewer than two or more than
    `MOST_PLAYERS`.

    >>> read_players("Ana \n\n Ben")
    ('Ana', 'Ben')
    """
    names = [_player(line) for line in text.splitlines() if line.strip()]
    if twice := [name for name, n in Counter(map(str.casefold, names)).items() if n > 1]:
        raise ServiceError("player_twice", name=twice[0])
    if not 2 <= len(names) <= MOST_PLAYERS:
        raise ServiceError("bad_event", n=len(names), most=MOST_PLAYERS)
    return tuple(names)


def _player(line: str) -> str:
    try:
        return clean_name(line)
    except ServiceError as error:
        raise ServiceError("bad_player", name=line.strip()[:32], **error.facts) from None


def table_sizes(players: int, size: int, allowed: Collection[int]) -> list[int]:
    """Return how many play at each table, as evenly as possible; those left over rest.

    `allowed` are the numbers of players that the game takes. Raises `ServiceError` ``too_few_players``.

    >>> table_sizes(10, 4, {2, 3, 4}), table_sizes(7, 2, {2})
    ([4, 3, 3], [2, 2, 2])
    """
    for playing in range(players, 1, -1):
        tables = -(-playing // size)
        fewest, larger = divmod(playing, tables)
        sizes = [fewest + 1] * larger + [fewest] * (tables - larger)
        if set(sizes) <= set(allowed):
            return sizes
    raise ServiceError("too_few_players", n=players, fewest=min(allowed))


def standings(event: Event, results: Mapping[str, Result]) -> list[Standing]:
    """Return the standings of everybody who ever played; `results` are those of finished tables.

    A table gives each player the share of opponents beaten there, a tie counting half: 1 for beating all. Winners
    beat the rest, who are ordered by the game's own points if it has any. Resting in Swiss pairing gives 1, and a
    table that was closed without a result gives half to each.

    >>> two = RoundTable("t1", {"east": "Ana", "west": "Ben"})
    >>> event = Event("mexica", "classic", 2, "swiss", ("Ana", "Ben"), (Round((two,)),))
    >>> [(each.place, each.name, float(each.points)) for each in standings(event, {"t1": Result("all", ("west",))})]
    [(1, 'Ben', 1.0), (2, 'Ana', 0.0)]
    """
    points: defaultdict[str, Fraction] = defaultdict(Fraction)
    met = _meetings(event)
    for each in event.rounds:
        if event.pairing == "swiss":
            for name in each.rests:
                points[name] += 1
        for table in each.tables:
            if (result := results.get(table.table_id)) is not None:
                for seat, name in table.players.items():
                    points[name] += _share(result, seat, table.players)
    names = names_of(event)
    of_met = {name: sum((n * points[other] for other, n in met[name].items()), Fraction()) for name in names}
    order = sorted(names, key=lambda name: (-points[name], -of_met[name]))
    ranks = [(points[name], of_met[name]) for name in order]
    return [Standing(ranks.index(rank) + 1, name, *rank) for name, rank in zip(order, ranks, strict=True)]


def next_groups(
    event: Event, sizes: Sequence[int], points: Mapping[str, Fraction]
) -> tuple[list[list[str]], list[str]]:
    """Return the groups of the next round, in the order of the seats, and the players who rest.

    In Swiss pairing players with similar standings meet; the first round is in the players' own order. Nobody rests
    twice before everybody has rested once. No two meet again if a swap between two tables prevents it; in pairs of a
    round robin, if any others can meet. The player who had the first seat least often gets it.

    >>> event = Event("mexica", "classic", 2, "everyone", ("Ana", "Ben", "Cleo"))
    >>> next_groups(event, [2], {})
    ([['Ben', 'Cleo']], ['Ana'])
    """
    groups, rests = _by_points(event, sizes, points if event.pairing == "swiss" else {})
    met = _meetings(event)
    if event.pairing == "everyone" and set(sizes) == {2}:
        groups, rests = _everyone(event, met) or (groups, rests)
    stands = {name: float(points.get(name, 0)) if event.pairing == "swiss" else 0.0 for name in event.players}

    def cost(group: Sequence[str]) -> float:
        return sum(
            _AGAIN * met[one][other] ** 2 + (stands[one] - stands[other]) ** 2
            for one, other in combinations(group, 2)
        )

    swapped = True
    while swapped:
        swapped = any([_swap(one, other, cost) for one, other in combinations(groups, 2)])  # noqa: C419  # all of them
    first = Counter(next(iter(table.players.values())) for each in event.rounds for table in each.tables)
    return [sorted(group, key=lambda name: first[name]) for group in groups], rests


def _by_points(
    event: Event, sizes: Sequence[int], points: Mapping[str, Fraction]
) -> tuple[list[list[str]], list[str]]:
    """Return groups of players with similar standings, and the last of those who rested least."""
    order = sorted(event.players, key=lambda name: -points.get(name, 0))
    rested = Counter(name for each in event.rounds for name in each.rests)
    last_first = order[::-1]
    rests = sorted(last_first, key=lambda name: rested[name])[: len(order) - sum(sizes)]
    playing = iter([name for name in order if name not in rests])
    return [list(islice(playing, size)) for size in sizes], rests


def _everyone(event: Event, met: Mapping[str, Counter[str]]) -> tuple[list[list[str]], list[str]] | None:
    """Return the pairs of a round robin's next round and who rests, or None where nothing avoids a rematch."""
    rested = Counter(name for each in event.rounds for name in each.rests)
    least = min(rested[name] for name in event.players)
    circle = _circle(ring, len(event.rounds)) if (ring := _ring(event)) else None
    if circle and any(rested[name] != least for name in circle[1]):
        circle = None
    if circle and not any(met[one][other] for one, other in circle[0]):
        return circle
    odd = len(event.players) % 2
    for alone in [[name] for name in reversed(event.players) if rested[name] == least] if odd else [[]]:
        playing = [name for name in event.players if name not in alone]
        unmet = {name: {other for other in playing if other != name and not met[name][other]} for name in playing}
        # Who rests differs from round to round, so nothing is foreseen there.
        most = 1 if odd else min(_FORESEEN, *map(len, unmet.values()))
        for rounds in range(most, 0, -1):
            if pairs := _matching(unmet, rounds, iter(range(_STEPS))):
                return pairs, alone
    return circle


def _matching(unmet: Mapping[str, Collection[str]], rounds: int, steps: Iterator[int]) -> list[list[str]] | None:
    """Return pairs of all who have not met, after which as many rounds of such pairs follow; None if none is found.

    It gives up after so many `steps`.
    """
    pairs: list[list[str]] = []

    def found(free: list[str]) -> bool:
        if not free:
            met = {frozenset(pair) for pair in pairs}
            later = {one: {each for each in unmet[one] if frozenset((one, each)) not in met} for one in unmet}
            return rounds == 1 or _matching(later, rounds - 1, steps) is not None
        choices = {one: [each for each in free if each in unmet[one]] for one in free}
        one = min(free, key=lambda name: len(choices[name]))
        for other in sorted(choices[one], key=lambda name: len(choices[name])):
            if next(steps, None) is None:
                return False
            pairs.append([one, other])
            if found([each for each in free if each not in (one, other)]):
                return True
            pairs.pop()
        return False

    return pairs if found(list(unmet)) else None


def _ring(event: Event) -> list[str]:
    """Return the places of a round robin, "" where nobody is, or no places if these players do not fit into them.

    Whoever leaves leaves a place empty, and whoever comes takes an empty one: so all others still meet once.
    """
    ring = [*event.players]
    if event.rounds:
        first = event.rounds[0]
        pairs = [[*table.players.values()] for table in first.tables]
        ring = [*first.rests, *(pair[0] for pair in pairs), *(pair[-1] for pair in reversed(pairs))]
    ring += [""] * (len(ring) % 2)
    rounds = [
        {*each.rests, *(name for table in each.tables for name in table.players.values())} for each in event.rounds
    ]
    for players in (*rounds, set(event.players)):
        ring = [name if name in players else "" for name in ring]
        for name in sorted(players.difference(ring)):
            if "" not in ring:
                return []
            ring[ring.index("")] = name
    return ring if ring.count("") <= 1 else []


def _circle(ring: Sequence[str], n: int) -> tuple[list[list[str]], list[str]]:
    """Return the pairs of a round, counted from 0; everybody meets everybody else once before any rematch."""
    turn = n % (len(ring) - 1)
    ring = [ring[0], *ring[1 + turn :], *ring[1 : 1 + turn]]
    pairs = [[one, other] for one, other in zip(ring, reversed(ring), strict=True)][: len(ring) // 2]
    return [pair for pair in pairs if "" not in pair], [name for pair in pairs if "" in pair for name in pair if name]


def _swap(one: list[str], other: list[str], cost: Callable[[Sequence[str]], float]) -> bool:
    """Swap two players of two tables if that improves both tables together; return whether any were swapped."""
    swapped = False
    for i, j in product(range(len(one)), range(len(other))):
        before = cost(one) + cost(other)
        one[i], other[j] = other[j], one[i]
        if cost(one) + cost(other) < before - _ROUNDING:
            swapped = True
        else:
            one[i], other[j] = other[j], one[i]
    return swapped


def _meetings(event: Event) -> defaultdict[str, Counter[str]]:
    """Return how often each player met each of the others."""
    met: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in event.rounds:
        for table in each.tables:
            for one, other in permutations(table.players.values(), 2):
                met[one][other] += 1
    return met


def _share(result: Result, seat: Seat, seats: Collection[Seat]) -> Fraction:
    """Return the share of opponents that a seat has beaten; a tie counts half."""
    rank = {each: (each in result.winners, result.points.get(each, 0)) for each in seats}
    if result.winners:
        rank = {each: (won, 0 if won else points) for each, (won, points) in rank.items()}
    others = [rank[each] for each in seats if each != seat]
    beaten = sum((Fraction(each < rank[seat]) + Fraction(each == rank[seat], 2) for each in others), Fraction())
    return beaten / len(others)
