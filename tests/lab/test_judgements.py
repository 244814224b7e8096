"""Of changes that do nothing few are called certain, and a change of one thing is not taken for one of another."""

from __future__ import annotations

from random import Random

from lab import studies
from lab.matches import Record
from lab.studies import Pairs
from tests.lab.coins import coin

SEATS = ("heads", "tails")


def record(seed: int, winner: str, turns: int, kind: str = "tossed") -> Record:
    return Record(
        variant="",
        seed=seed,
        kind=kind,
        winners=(winner,),
        points={},
        players={},
        moves=turns,
        turns=turns,
        forced=0,
        leads=0,
    )


def games(random: Random, count: int, longer: int = 0, seats: tuple[str, ...] = SEATS) -> list[Record]:
    return [
        record(n, random.choice(seats), random.randint(20, 40) + longer, random.choice(("tossed", "lost")))
        for n in range(count)
    ]


def test_of_comparisons_without_an_effect_about_one_in_twenty_is_called_certain() -> None:
    random = Random(11)
    found = [studies.compared(coin(), games(random, 40), games(random, 40)).certain for _ in range(60)]
    assert sum(found) <= 8


def test_a_habit_that_makes_games_longer_alone_is_hardly_ever_called_better_or_worse() -> None:
    random, verdicts, longer = Random(12), 0, 0
    for _ in range(20):
        tried = [Pairs(str(n), games(random, 60), games(random, 60, 10), SEATS * 30) for n in range(30)]
        for change in studies.judged(coin(), tried):
            longer += change.length.certain
            verdicts += bool(change.verdict)
    assert longer >= 590
    assert verdicts <= 20


def test_a_change_that_turns_the_winners_round_is_certain_for_each_seat_and_not_for_the_length() -> None:
    random = Random(13)
    before = games(random, 60, seats=("heads", "heads", "tails"))
    change = studies.compared(coin(), before, games(random, 60, seats=("heads", "tails", "tails")))
    assert change.wins["heads"].certain
    assert change.wins["tails"].certain
    assert not change.length.certain
    assert not any(each.certain for each in change.ends.values())


def test_a_change_of_how_games_end_is_certain_alone() -> None:
    random = Random(14)
    before = games(random, 40)
    after = [record(each.seed, each.winners[0], each.turns, "lost") for each in before]
    change = studies.compared(coin(), before, after)
    assert [end for end, each in change.ends.items() if each.certain] == ["lost", "tossed"]
    assert not change.length.certain
    assert not any(each.certain for each in change.wins.values())
