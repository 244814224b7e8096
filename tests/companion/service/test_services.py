"""The services: tables are opened, taken and played once for each post, and survive whatever ends the process."""

from __future__ import annotations

import pytest

from companion.model.lobby import clean_name
from companion.model.table import ServiceError
from companion.web.view_models.seat import page
from templo.codes import normal_code
from tests.companion.conftest import DATABASES, Home


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_table_survives_a_restart_to_the_last_move(home: Home) -> None:
    table = home.table()
    token = home.seated(table)
    home.play(table, token, "east", "sacrifice", "tlaloc", 3)
    home.play(table, token, "east", "end_turn")
    before = home.services.tables.get(table.id)
    home.restart()
    after = home.services.tables.get(table.id)
    assert after == before
    assert home.services.seats.held(table.id, token) == ("east",)


def test_the_same_post_twice_is_one_move(home: Home) -> None:
    table = home.table()
    token = home.seated(table)
    version = home.services.tables.get(table.id).version
    from companion.games.kit import Move

    for _ in range(2):
        played = home.services.play.move(table.id, token, "east", Move("sacrifice", ("tlaloc", 1)), version, "tap-1")
        assert played.accepted
    assert home.services.tables.get(table.id).version == version + 1


def test_the_same_post_after_a_restart_is_still_one_move(home: Home) -> None:
    table = home.table()
    token = home.seated(table)
    version = home.services.tables.get(table.id).version
    from companion.games.kit import Move

    home.services.play.move(table.id, token, "east", Move("end_turn"), version, "tap-1")
    home.restart()
    assert home.services.play.move(table.id, token, "east", Move("end_turn"), version, "tap-1").accepted
    assert home.services.tables.get(table.id).on_turn == "north"


def test_two_phones_that_end_the_same_turn_end_it_once(home: Home) -> None:
    table = home.table()
    east, north = home.seated(table), home.seated(table, "north", "Beto")
    version = home.services.tables.get(table.id).version
    assert home.play(table, east, "east", "end_turn", version=version).accepted
    late = home.play(table, north, "north", "end_turn", version=version)
    assert late.stale
    assert late.table.on_turn == "north"


def test_a_token_that_falls_meanwhile_does_not_make_a_post_stale(home: Home) -> None:
    table = home.table(temple="templo")
    token = home.seated(table)
    version = home.services.tables.get(table.id).version
    home.services.temples.intake.receive([("templo", home.token(1))])
    assert home.play(table, token, "east", "end_turn", version=version).accepted


def test_a_phone_moves_only_for_the_seats_it_holds(home: Home) -> None:
    table = home.table()
    east = home.seated(table)
    with pytest.raises(ServiceError, match="not_your_seat"):
        home.play(table, east, "north", "end_turn")
    with pytest.raises(ServiceError, match="not_seated"):
        home.play(table, "0" * 32, "east", "end_turn")


def test_a_refused_move_changes_nothing(home: Home) -> None:
    table = home.table()
    token = home.seated(table)
    before = home.services.tables.get(table.id)
    played = home.play(table, token, "east", "sacrifice", "quetzalcoatl", 1)
    assert not played.accepted
    assert played.refusal is not None
    assert home.services.tables.get(table.id) == before


@pytest.mark.parametrize("name", ["@begin", "@sit", "@served", "@undo"])
def test_no_phone_can_post_what_only_a_service_may_enter(home: Home, name: str) -> None:
    table = home.table()
    token = home.seated(table)
    assert not home.play(table, token, "east", name).accepted


def test_a_game_that_is_begun_again_goes_on_as_it_is(home: Home) -> None:
    """Two phones began it, or the answer to one was lost."""
    table = home.table()
    home.seated(table)
    before = home.services.tables.get(table.id)
    assert before.phase == "running"
    assert home.services.seats.begin(table.id, table.code) == before
    assert home.services.tables.get(table.id) == before


def test_a_tap_can_be_taken_back_until_something_else_happens(home: Home) -> None:
    table = home.table(temple="templo")
    token = home.seated(table)
    home.play(table, token, "east", "sacrifice", "tlaloc", 2)
    before = table.state
    version = home.services.tables.get(table.id).version
    assert home.services.play.undo(table.id, token, "east", version, "u1").accepted
    assert home.services.tables.get(table.id).state == before
    home.play(table, token, "east", "sacrifice", "tlaloc", 2)
    home.services.temples.intake.receive([("templo", home.token(1))])
    refused = home.services.play.undo(table.id, token, "east", home.services.tables.get(table.id).version, "u2")
    assert refused.refusal is not None
    assert refused.refusal.code == "undo_followed"


def test_what_was_taken_back_stays_taken_back_after_a_restart(home: Home) -> None:
    table = home.table()
    token = home.seated(table)
    home.play(table, token, "east", "sacrifice", "tlaloc", 2)
    home.services.play.undo(table.id, token, "east", home.services.tables.get(table.id).version, "u1")
    before = home.services.tables.get(table.id)
    home.restart()
    assert home.services.tables.get(table.id) == before


def test_a_taken_chair_cannot_be_taken_again_until_it_is_handed_over(home: Home) -> None:
    table = home.table()
    first = home.seated(table)
    with pytest.raises(ServiceError, match="seat_taken"):
        home.seated(table, "east", "Thief")
    home.services.seats.free(table.id, table.code, "east")
    assert home.services.seats.held(table.id, first) == ()
    second = home.seated(table, "east", "Ana again")
    assert home.services.seats.held(table.id, second) == ("east",)


def test_one_phone_that_is_passed_round_holds_every_free_chair(home: Home) -> None:
    table = home.table()
    home.seated(table, "north", "Beto")
    token = home.services.seats.share(table.id, table.code, {"east": "Ana", "west": "Caro", "south": "Dani"})
    assert home.services.seats.held(table.id, token) == ("east", "west", "south")
    shared = [chair.seat for chair in home.services.tables.get(table.id).chairs if chair.shared]
    assert shared == ["east", "west", "south"]


def test_a_phone_passed_round_acts_for_the_seat_on_turn(home: Home) -> None:
    table = home.table()
    token = home.services.seats.share(table.id, table.code, {})
    assert page(home.services.tables.get(table.id), home.services.seats.held(table.id, token))["acting"] == "east"
    home.play(table, token, "east", "end_turn")
    assert page(home.services.tables.get(table.id), home.services.seats.held(table.id, token))["acting"] == "north"


def test_a_wrong_code_opens_nothing(home: Home) -> None:
    table = home.table()
    with pytest.raises(ServiceError, match="wrong_code"):
        home.services.seats.sit(table.id, "AAAAAA", "east", "Eve")
    with pytest.raises(ServiceError, match="wrong_code"):
        home.services.tables.by_code("AAAAAA")


@pytest.mark.parametrize("typed", ["{}", " {} ", "{}-", "{}\n"])
def test_a_code_may_be_typed_as_people_type(home: Home, typed: str) -> None:
    table = home.table()
    code = typed.format(f"{table.code[:3]}-{table.code[3:]}".lower())
    assert home.services.tables.by_code(code).id == table.id


def test_a_code_of_odd_signs_is_only_a_wrong_one() -> None:
    assert normal_code("áß☃\0" * 100) == "ÁSS" * 10 + "ÁS"


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("  Ana  María ", "Ana María"),
        ("<b>Ana</b>", "<b>Ana</b>"),
        ("\u202eanA\u0000", "anA"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("Ana 👩\u200d", "Ana 👩"),
    ],
)
def test_a_name_loses_only_what_nobody_can_see(typed: str, shown: str) -> None:
    assert clean_name(typed) == shown


@pytest.mark.parametrize("typed", ["", "   ", "\u202e\u0000", "x" * 25])
def test_an_empty_or_too_long_name_is_refused(typed: str) -> None:
    with pytest.raises(ServiceError, match="bad_name"):
        clean_name(typed)


def test_a_table_needs_options_that_its_game_knows(home: Home) -> None:
    with pytest.raises(ServiceError, match="bad_option"):
        home.table(countdown="rounds14")
    with pytest.raises(ServiceError, match="unknown_option"):
        home.table(cheat="on")
    with pytest.raises(ServiceError, match="bad_players"):
        home.table(players=5)


def test_a_stored_table_that_cannot_be_replayed_stays_closed_and_stays(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    good, bad = home.table(), home.table()
    from companion.games.kit import Move

    with home.store.transaction() as change:
        change.append(bad.id, [home.services.tables.get(bad.id).entry(home.clock(), "east", Move("fly", ()))])
    home.restart()
    assert [table.id for table in home.services.tables.all()] == [good.id]
    assert home.services.tables.unreadable[0][0] == "Sunday"
    assert "stays closed" in caplog.text
    caplog.clear()


def test_tokens_that_follow_each_other_are_reported_as_one_line(home: Home) -> None:
    table = home.table(temple="templo")
    token = home.seated(table)
    gods = ["tlaloc"] * 4 + ["huitzilopochtli"] * 2
    home.services.temples.intake.receive([("templo", home.token(n, god)) for n, god in enumerate(gods, 1)])
    home.play(table, token, "east", "end_turn")
    home.services.temples.intake.receive([("templo", home.token(7, "huitzilopochtli"))])
    told = [line for entry in home.services.tables.get(table.id).log() for line in entry.lines]
    gave = [(line.facts["seat"], line.facts["god"], line.facts["n"]) for line in told if line.code == "gave"]
    assert gave == [("north", "huitzilopochtli", 1), ("east", "huitzilopochtli", 2), ("east", "tlaloc", 4)]


def test_several_moves_are_taken_back_one_by_one_and_never_another_s(home: Home) -> None:
    table = home.table()
    east, north = home.seated(table), home.seated(table, "north", "Beto")
    home.play(table, north, "north", "sacrifice", "tlaloc", 1)
    for n in (1, 2, 3):
        home.play(table, east, "east", "sacrifice", "tlaloc", n)
    undone = []
    for request in ("u1", "u2", "u3", "u4"):
        version = home.services.tables.get(table.id).version
        undone.append(home.services.play.undo(table.id, east, "east", version, request).accepted)
    assert undone == [True, True, True, False]


def test_a_long_evening_of_tokens_remembers_no_state_that_nobody_can_take_back(home: Home) -> None:
    table = home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(n)) for n in range(1, 300)])
    assert len(home.services.tables.get(table.id).steps) == 2


def test_an_absent_player_is_passed_in_its_own_turn_and_ends_nobody_elses(home: Home) -> None:
    table = home.table(3)
    east, north = home.seated(table), home.seated(table, "north", "Beto")
    home.services.seats.away(table.id, east, "west", "pass")
    assert home.services.tables.get(table.id).on_turn == "east"
    home.play(table, east, "east", "propose", "east", "tlaloc", 1)
    assert home.services.tables.get(table.id).on_turn == "east"
    home.play(table, east, "east", "end_turn")
    assert home.services.tables.get(table.id).on_turn == "north"
    home.play(table, north, "north", "end_turn")
    after = home.services.tables.get(table.id)
    assert after.on_turn == "east"
    assert [entry.by for entry in home.services.tables.entries(table.id)][-2:] == ["north", "west"]
