"""Chance and absence: who rolls, what may be typed, and how a table goes on without a player."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from companion.games.kit import CHANCE, Chance, Move, outcome
from companion.model.chance import below_from
from companion.model.entries import APP, encode
from companion.model.table import ServiceError, Table
from tests.companion.conftest import Home


def _table(home: Home, players: int = 2) -> tuple[Table, str, str]:
    table = home.services.tables.open("beans", "Kitchen", players, "short")
    red, blue = home.seated(table, "red", "Ana"), home.seated(table, "blue", "Beto")
    return home.services.seats.begin(table.id, red), red, blue


def _hands(home: Home, table: Table) -> list[tuple[str, str, str]]:
    return [(each.by, encode(each.action)[0], each.hand) for each in home.services.tables.entries(table.id)[3:]]


def test_a_real_die_is_typed_and_the_log_says_by_whom(beans: Home) -> None:
    table, red, blue = _table(beans)
    beans.play(table, red, "red", "throw")
    assert beans.play(table, blue, CHANCE, "shows", 6).accepted
    assert beans.services.tables.get(table.id).state.gathered == 6
    assert _hands(beans, table)[-1] == (CHANCE, "shows", "blue")
    assert beans.services.tables.get(table.id).log()[0].hand == "blue"


def test_the_app_rolls_when_a_player_asks_it_to_and_once_for_each_tap(beans: Home) -> None:
    table, red, _ = _table(beans)
    beans.play(table, red, "red", "throw")
    version = beans.services.tables.get(table.id).version
    for _ in range(2):
        assert beans.services.play.roll(table.id, red, version, "tap").accepted
    assert [hand for by, _, hand in _hands(beans, table) if by == CHANCE] == [APP]


def test_nothing_is_rolled_where_nothing_is_due(beans: Home) -> None:
    table, red, _ = _table(beans)
    played = beans.services.play.roll(table.id, red, table.version, "tap")
    assert played.refusal is not None
    assert played.refusal.code == "no_chance"
    refused = beans.play(table, red, CHANCE, "shows", 6)
    assert not refused.accepted


def test_a_die_cannot_show_what_it_has_not(beans: Home) -> None:
    table, red, _ = _table(beans)
    beans.play(table, red, "red", "throw")
    for shown in (0, 7, "6"):
        assert not beans.play(table, red, CHANCE, "shows", shown).accepted
    assert beans.services.tables.get(table.id).chance() is not None


def test_a_stranger_rolls_nothing(beans: Home) -> None:
    table, red, _ = _table(beans)
    beans.play(table, red, "red", "throw")
    with pytest.raises(ServiceError, match="not_seated"):
        beans.services.play.roll(table.id, "0" * 32, beans.services.tables.get(table.id).version, "tap")


def test_a_table_may_let_the_app_roll_by_itself_and_change_its_mind(beans: Home) -> None:
    table, red, blue = _table(beans)
    beans.services.play.let_app_roll(table.id, blue, True)
    beans.play(table, red, "red", "throw")
    assert beans.services.tables.get(table.id).chance() is None
    assert _hands(beans, table)[-1][::2] == (CHANCE, APP)
    beans.services.play.let_app_roll(table.id, blue, False)
    beans.play(
        table, *((red, "red") if beans.services.tables.get(table.id).on_turn == "red" else (blue, "blue")), "throw"
    )
    assert beans.services.tables.get(table.id).chance() is not None


def test_the_app_plays_for_an_absent_player_until_somebody_else_must_act(beans: Home) -> None:
    table, red, _blue = _table(beans)
    beans.services.seats.away(table.id, red, "blue", "app")
    while beans.services.tables.get(table.id).on_turn == "red":
        beans.play(table, red, "red", "throw")
        if beans.services.tables.get(table.id).chance():
            beans.play(table, red, CHANCE, "shows", 1)
    now = beans.services.tables.get(table.id)
    assert now.phase == "over" or now.on_turn == "red"
    moved = [each for each in _hands(beans, table) if each[2] == APP]
    assert {by for by, _, _ in moved} == {"blue", CHANCE}


def test_an_absent_player_who_sits_down_again_plays_alone(beans: Home) -> None:
    table, red, _ = _table(beans)
    beans.services.seats.away(table.id, red, "blue", "app")
    beans.services.seats.free(table.id, red, "blue")
    beans.seated(table, "blue", "Beto")
    assert beans.services.tables.get(table.id).chair("blue").away == ""


def test_a_table_whose_players_are_all_away_does_not_run_for_ever(beans: Home) -> None:
    table, red, _ = _table(beans)
    beans.services.seats.away(table.id, red, "blue", "pass")
    beans.services.seats.away(table.id, red, "red", "pass")
    assert beans.services.tables.get(table.id).version < 3000


@pytest.mark.parametrize("mode", ["app", "pass"])
def test_where_tokens_alone_bring_the_game_on_and_everybody_is_away_the_app_waits_for_them(
    home: Home, mode: str
) -> None:
    table = home.table(2, temple="templo")
    for seat in table.seats:
        phone = home.seated(table, seat)
    home.services.play.set_pace(table.id, phone, "at_once")
    for seat in table.seats:
        home.services.seats.away(table.id, phone, seat, mode)
    for seq in (1, 2):
        home.services.play.go_on(table.id)
        waiting = home.services.tables.get(table.id)
        assert not waiting.goes_on_by_itself
        home.services.play.go_on(table.id)
        assert home.services.tables.get(table.id).version == waiting.version < 20 * seq
        home.services.temples.intake.receive([("templo", home.token(seq))])
        assert home.services.tables.get(table.id).goes_on_by_itself or mode == "pass"


def test_anyone_acts_for_a_player_who_lent_the_seat_and_the_log_says_who(beans: Home) -> None:
    table, red, blue = _table(beans)
    with pytest.raises(ServiceError, match="not_your_seat"):
        beans.play(table, blue, "red", "throw")
    beans.services.seats.away(table.id, blue, "red", "anyone")
    assert beans.services.seats.held(table.id, blue) == ("red", "blue")
    assert beans.play(table, blue, "red", "throw").accepted
    assert _hands(beans, table)[-1] == ("red", "throw", "blue")
    beans.services.seats.away(table.id, red, "red", "")
    assert beans.services.seats.held(table.id, blue) == ("blue",)


def test_an_unknown_way_to_be_away_is_refused(beans: Home) -> None:
    table, red, _ = _table(beans)
    with pytest.raises(ServiceError, match="unknown_mode"):
        beans.services.seats.away(table.id, red, "blue", "asleep")


def test_all_that_the_app_did_survives_a_restart(beans: Home) -> None:
    table, red, _ = _table(beans)
    beans.services.seats.away(table.id, red, "blue", "app")
    beans.services.play.let_app_roll(table.id, red, True)
    for _ in range(6):
        beans.play(table, red, "red", "throw")
    before = beans.services.tables.get(table.id)
    beans.restart()
    assert beans.services.tables.get(table.id) == before


def test_the_same_players_play_again_with_the_phones_they_hold(beans: Home) -> None:
    table, red, blue = _table(beans)
    with pytest.raises(ServiceError, match="not_over"):
        beans.services.tables.again(table.id, red)
    for seat, token in (("red", red), ("blue", blue)):
        beans.services.seats.away(table.id, token, seat, "app")
    while beans.services.tables.get(table.id).phase != "over":
        beans.services.play.let_app_roll(table.id, red, True)
    following = beans.services.tables.again(table.id, blue)
    assert beans.services.tables.again(table.id, red).id == following.id
    assert beans.services.seats.held(following.id, red) == ("red",)
    assert [chair.name for chair in following.chairs] == ["Ana", "Beto"]
    assert (following.options, following.phase) == (table.options, "lobby")
    beans.restart()
    assert beans.services.tables.get(table.id).again == following.id
    assert beans.services.seats.begin(following.id, blue).phase == "running"


def test_outcomes_come_as_often_as_they_should() -> None:
    odds = {Move("a"): Fraction(1, 2), Move("b"): Fraction(1, 3), Move("c"): Fraction(1, 6)}
    due = Chance("bag", odds)
    assert Counter(outcome(due, lambda n, i=i: i) for i in range(6)) == {  # type: ignore[misc]
        move: probability * 6 for move, probability in odds.items()
    }


def test_outcomes_that_do_not_add_up_are_an_error() -> None:
    with pytest.raises(ValueError, match="expected a sum of 1"):
        outcome(Chance("bag", {Move("a"): Fraction(1, 2)}), lambda n: n - 1)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 255, 256, 257, 1000])
def test_chance_is_even_below_any_number(n: int) -> None:
    size = (n - 1).bit_length() // 8 + 1
    drawn: Counter[int] = Counter()
    for value in range(256**size if size == 1 else 256**size // 256 * 256):
        fed = iter((value, 0))
        drawn[below_from(lambda size: next(fed).to_bytes(size, "big"))(n)] += value < 256**size - 256**size % n  # noqa: B023
    assert len(set(drawn.values())) == 1
    assert sorted(drawn) == list(range(n))


def test_chance_below_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        below_from(lambda size: b"")(0)


def test_the_app_rolls_a_die_that_is_nobody_s_where_it_plays_for_whoever_is_on_turn(home: Home) -> None:
    table = home.services.tables.open("siege", "Kitchen", 2, "skirmish", {})
    keys = [home.seated(table, seat, seat.title()) for seat in table.charter.seats]
    home.services.seats.begin(table.id, keys[0])
    for seat in table.charter.seats:
        home.services.seats.away(table.id, keys[0], seat, "app")
    for mode in ("pass", "app") * 200:
        now = home.services.tables.get(table.id)
        if now.phase == "over":
            break
        home.services.seats.away(table.id, keys[0], table.charter.seats[0], mode)
    assert home.services.tables.get(table.id).phase == "over"
