"""Rounds of an event: everybody meets, nobody twice before the others, and the standings follow from the results."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.games.kit import Result
from companion.model.rounds import (
    Event,
    Pairing,
    Round,
    RoundTable,
    next_groups,
    read_players,
    standings,
    table_sizes,
)
from companion.model.table import ServiceError

NAMES = ("Ana", "Ben", "Cleo", "Dia", "Eva", "Flo", "Gil", "Hal", "Ida")


def event(players: int, size: int = 2, pairing: Pairing = "swiss") -> Event:
    return Event("mexica", "classic", size, pairing, tuple(f"P{n}" for n in range(players)))


def with_round(before: Event, sizes: list[int], points: dict[str, Fraction] | None = None) -> Event:
    groups, rests = next_groups(before, sizes, points or {})
    n = len(before.rounds)
    tables = [
        RoundTable(f"{n}-{i}", {f"seat{k}": name for k, name in enumerate(group)}) for i, group in enumerate(groups)
    ]
    rounds = (*before.rounds, Round(tuple(tables), tuple(rests)))
    return Event(before.game, before.preset, before.size, before.pairing, before.players, rounds)


def meetings(played: Event) -> list[frozenset[str]]:
    return [
        frozenset(pair)
        for each in played.rounds
        for table in each.tables
        for pair in combinations(table.players.values(), 2)
    ]


@pytest.mark.parametrize("players", [2, 3, 4, 5, 8, 9, 14])
def test_in_pairs_everybody_meets_everybody_else_once(players: int) -> None:
    played = event(players, pairing="everyone")
    for _ in range(players - 1 if players % 2 == 0 else players):
        played = with_round(played, table_sizes(players, 2, {2}))
    assert sorted(map(sorted, meetings(played))) == [list(p) for p in combinations(sorted(played.players), 2)]
    rests = [name for each in played.rounds for name in each.rests]
    assert sorted(rests) == (sorted(played.players) if players % 2 else [])


@pytest.mark.parametrize("left", ["P0", "P2", "P7"])
@pytest.mark.parametrize("away", [range(2, 3), range(3, 7)], ids=["for a round", "for good"])
def test_in_pairs_the_others_meet_once_though_somebody_is_away(left: str, away: range) -> None:
    played = event(8, pairing="everyone")
    everybody = played.players
    for n in range(7):
        present = tuple(name for name in everybody if name != left)
        players = present if n in away else (*present, left) if n > away.start else everybody
        played = Event(played.game, played.preset, 2, "everyone", players, played.rounds)
        played = with_round(played, table_sizes(len(players), 2, {2}))
    met = meetings(played)
    assert len(met) == len(set(met))
    assert {pair for pair in met if left not in pair} == {frozenset(p) for p in combinations(present, 2)}


def test_in_pairs_who_comes_later_meets_each_once_in_the_place_of_those_who_rest() -> None:
    played = with_round(event(7, pairing="everyone"), [2, 2, 2])
    played = Event(played.game, played.preset, 2, "everyone", (*played.players, "Late"), played.rounds)
    for _ in range(6):
        played = with_round(played, [2, 2, 2, 2])
    met = meetings(played)
    assert len(met) == len(set(met)) == 27


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 24), st.integers(2, 5), st.sampled_from(["swiss", "everyone"]), st.data())
def test_in_every_round_each_player_has_one_place(
    players: int, size: int, pairing: Pairing, data: st.DataObject
) -> None:
    played, allowed = event(players, size, pairing), set(range(2, size + 1))
    for _ in range(3):
        points = {name: Fraction(data.draw(st.integers(0, 4)), 2) for name in played.players}
        sizes = table_sizes(players, size, allowed)
        played = with_round(played, sizes, points)
        last = played.rounds[-1]
        placed = [name for table in last.tables for name in table.players.values()]
        assert sorted([*placed, *last.rests]) == sorted(played.players)
        assert [len(table.players) for table in last.tables] == sizes
        assert len(last.rests) <= 1


@pytest.mark.parametrize(("players", "left", "rounds", "more"), [(6, 2, 1, 2), (8, 2, 2, 3), (8, 3, 1, 3)])
def test_in_pairs_nobody_meets_twice_though_several_places_are_empty(
    players: int, left: int, rounds: int, more: int
) -> None:
    for gone in combinations(range(players), left):
        played = event(players, pairing="everyone")
        for _ in range(rounds):
            played = with_round(played, [2] * (players // 2))
        stay = tuple(name for n, name in enumerate(played.players) if n not in gone)
        played = msgspec.structs.replace(played, players=stay)
        for _ in range(more):
            played = with_round(played, [2] * (len(stay) // 2))
        met, rests = meetings(played), [name for each in played.rounds for name in each.rests]
        assert len(met) == len(set(met)), gone
        assert len(rests) == len(set(rests)), gone


def test_where_somebody_left_a_round_robin_nobody_rests_again_before_the_others() -> None:
    played = with_round(with_round(event(5, pairing="everyone"), [2, 2]), [2, 2])
    stay = tuple(name for name in played.players if name not in ("P0", "P3"))
    played = Event(played.game, played.preset, 2, "everyone", stay, played.rounds)
    rested = {name for each in played.rounds for name in each.rests}
    (rests,) = with_round(played, [2]).rounds[-1].rests
    assert rests not in rested


def test_in_swiss_pairing_those_who_stand_alike_meet_and_nobody_twice() -> None:
    points = {"P0": Fraction(1), "P1": Fraction(0), "P2": Fraction(1), "P3": Fraction(0)}
    played = with_round(event(4), [2, 2])
    assert meetings(played) == [frozenset(("P0", "P1")), frozenset(("P2", "P3"))]
    played = with_round(played, [2, 2], points)
    assert set(meetings(played)[2:]) == {frozenset(("P0", "P2")), frozenset(("P1", "P3"))}
    twice = with_round(played, [2, 2], points)
    assert len(set(meetings(twice))) == 6


def test_nobody_rests_again_before_all_the_others_have() -> None:
    played = event(7)
    for _ in range(7):
        played = with_round(played, [2, 2, 2])
    assert sorted(name for each in played.rounds for name in each.rests) == sorted(played.players)


def test_the_first_seat_goes_round() -> None:
    played = with_round(with_round(event(2), [2]), [2])
    assert [next(iter(each.tables[0].players.values())) for each in played.rounds] == ["P0", "P1"]


@pytest.mark.parametrize(
    ("players", "size", "allowed", "sizes"),
    [
        (8, 4, {2, 3, 4}, [4, 4]),
        (9, 4, {2, 3, 4}, [3, 3, 3]),
        (5, 4, {2, 3, 4}, [3, 2]),
        (5, 4, {4}, [4]),
        (7, 2, {2}, [2, 2, 2]),
        (2, 4, {2, 3, 4}, [2]),
    ],
)
def test_tables_are_as_even_as_may_be_and_as_few_as_possible_rest(
    players: int, size: int, allowed: set[int], sizes: list[int]
) -> None:
    assert table_sizes(players, size, allowed) == sizes


def test_too_few_players_for_any_table_are_reported() -> None:
    with pytest.raises(ServiceError, match="too_few_players"):
        table_sizes(2, 3, {3})


def one_table(players: int, result: Result) -> list[tuple[str, float]]:
    seats = {f"seat{k}": name for k, name in enumerate(NAMES[:players])}
    played = Event("mexica", "classic", 4, "swiss", NAMES[:players], (Round((RoundTable("t", seats),)),))
    return [(each.name, round(float(each.points), 3)) for each in standings(played, {"t": result})]


def test_a_table_gives_each_the_share_of_the_others_who_were_beaten() -> None:
    assert one_table(2, Result("won", ("seat1",))) == [("Ben", 1.0), ("Ana", 0.0)]
    assert one_table(2, Result("draw", ("seat0", "seat1"))) == [("Ana", 0.5), ("Ben", 0.5)]
    assert one_table(2, Result("closed")) == [("Ana", 0.5), ("Ben", 0.5)]
    points = {"seat0": 3, "seat1": 9, "seat2": 5, "seat3": 3}
    assert one_table(4, Result("won", ("seat1",), points)) == [
        ("Ben", 1.0),
        ("Cleo", 0.667),
        ("Ana", 0.167),
        ("Dia", 0.167),
    ]
    low = {"seat0": 12, "seat1": 3, "seat2": 5}
    assert one_table(3, Result("won", ("seat1",), low))[0] == ("Ben", 1.0)


def test_who_rests_has_a_point_in_swiss_pairing_alone_and_a_running_table_gives_none() -> None:
    rounds = (Round((RoundTable("t", {"east": "Ana", "west": "Ben"}),), ("Cleo",)),)
    for pairing, points in (("swiss", 1), ("everyone", 0)):
        played = Event("mexica", "classic", 2, pairing, NAMES[:3], rounds)  # type: ignore[arg-type]
        found = {each.name: each.points for each in standings(played, {})}
        assert found == {"Ana": 0, "Ben": 0, "Cleo": points}


def test_equal_points_are_told_apart_by_those_who_were_met_and_share_a_place_where_they_are_not() -> None:
    def table(table_id: str, one: str, other: str) -> RoundTable:
        return RoundTable(table_id, {"east": one, "west": other})

    east = Result("won", ("east",))
    rounds = (
        Round((table("a", "Ana", "Ben"), table("b", "Cleo", "Dia"))),
        Round((table("c", "Ana", "Cleo"), table("d", "Ben", "Dia"))),
    )
    played = Event("mexica", "classic", 2, "swiss", NAMES[:4], rounds)
    found = standings(played, dict.fromkeys("abcd", east))
    assert [(each.place, each.name, each.points, each.met) for each in found] == [
        (1, "Ana", 2, 2),
        (2, "Ben", 1, 2),
        (2, "Cleo", 1, 2),
        (4, "Dia", 0, 2),
    ]


def test_who_left_keeps_a_place_in_the_standings() -> None:
    rounds = (Round((RoundTable("t", {"east": "Ana", "west": "Ben"}),)),)
    played = Event("mexica", "classic", 2, "swiss", ("Ana", "Cleo"), rounds)
    assert {each.name for each in standings(played, {"t": Result("won", ("west",))})} == {"Ana", "Ben", "Cleo"}


@pytest.mark.parametrize(
    ("text", "code"),
    [("Ana\nana", "player_twice"), ("Ana", "bad_event"), ("", "bad_event"), ("Ana\n" + "x" * 25, "bad_player")],
)
def test_a_list_that_cannot_be_is_refused(text: str, code: str) -> None:
    with pytest.raises(ServiceError, match=code):
        read_players(text)
    assert read_players(" Ana \r\n\nBen") == ("Ana", "Ben")
