"""The app plays at three levels, chosen for a seat before the game or during it; without one it plays as before."""

from __future__ import annotations

import pytest

from companion.games import registry
from companion.games.kit import BEGINNER, CASUAL, PRACTISED, STRONG, Move
from companion.model.entries import LEVEL_OF, Away, away_modes, decode
from companion.model.table import ServiceError
from companion.web.rendering.texts import LANGUAGES
from tests.companion.conftest import Home
from tests.games.texts import LIBRARY

GAMES = registry.load()


@pytest.fixture
def home(home: Home) -> Home:
    home.games = registry.with_tools(GAMES)
    home.restart()
    return home


def test_every_game_has_three_levels_and_an_aid_none_but_the_usual() -> None:
    assert GAMES["siege"].bot.levels == GAMES["market"].bot.levels == (BEGINNER, PRACTISED, STRONG)
    assert GAMES["mexica"].bot.levels == GAMES["moctezuma"].bot.levels == (BEGINNER, CASUAL, PRACTISED)
    assert GAMES["siege"].tools["dice"].bot.levels == (PRACTISED,)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lobby_names_every_level_of_a_game(language: str) -> None:
    words = LIBRARY.words(language)
    for game in GAMES.values():
        modes = [mode for mode in away_modes(game.bot.levels) if mode in LEVEL_OF]
        assert len({words(f"away.{mode}.go") for mode in modes}) == len(modes) == 3


def test_a_casual_player_slips_less_often_than_a_beginner() -> None:
    for name in ("mexica", "moctezuma"):
        skills = GAMES[name].bot.skills
        assert 0 < skills[CASUAL].slips < skills[BEGINNER].slips


def test_what_earlier_tables_stored_is_the_practised_player() -> None:
    assert decode(["@away", "north", "app"]) == Away("north", "app")
    game = GAMES["siege"]
    state = game.rules.setup({each.key: each.default for each in game.options}, game.seatings[2])
    seat = game.rules.to_act(state)[0]
    seen, moves = game.page.view(state, seat), game.rules.moves(state, seat)
    assert game.decide(seen, moves, lambda n: 0) == game.decide(seen, moves, lambda n: 0, PRACTISED)


def test_a_beginner_slips_now_and_then_and_otherwise_plays_as_the_practised_player() -> None:
    game = GAMES["siege"]
    slips = game.bot.skills["beginner"].slips
    assert 0 < slips < 100
    moves = [Move("ready"), Move("swap", (1,)), Move("swap", (2,))]
    state = game.rules.setup({each.key: each.default for each in game.options}, game.seatings[2])
    seen = game.page.view(state, game.rules.to_act(state)[0])
    assert game.decide(seen, moves, lambda n: n - 1, "beginner") == Move("ready")
    assert game.decide(seen, moves, lambda n: 0 if n == 100 else n - 1, "beginner") == Move("swap", (2,))


def test_a_free_seat_is_played_at_the_level_that_was_chosen_before_the_game(home: Home) -> None:
    table = home.services.tables.open("moctezuma", "Sunday", 2, "classic")
    red, blue = table.charter.seats
    token = home.seated(table, red)
    chosen = home.services.seats.away(table.id, token, blue, "app_beginner")
    assert chosen.chair(blue).away == "app_beginner"
    assert not chosen.chair(blue).taken
    home.services.seats.begin(table.id, token)
    home.services.seats.away(table.id, token, red, "app")
    assert {each.by for each in home.services.tables.entries(table.id) if each.hand == "app"} >= {red, blue}


def test_who_takes_the_seat_plays_it(home: Home) -> None:
    table = home.services.tables.open("moctezuma", "Sunday", 2, "classic")
    red, blue = table.charter.seats
    home.services.seats.away(table.id, home.seated(table, red), blue, "app_beginner")
    home.seated(table, blue, "Beto")
    assert home.services.tables.get(table.id).chair(blue).away == ""


def test_a_level_that_a_game_does_not_have_is_refused(home: Home) -> None:
    table = home.services.tables.open("siege.dice", "Sunday", 1, "classic")
    seat = table.charter.seats[0]
    token = home.services.seats.share(table.id, table.code, {})
    with pytest.raises(ServiceError, match="unknown_mode"):
        home.services.seats.away(table.id, token, seat, "app_beginner")


def test_a_level_of_later_software_is_no_entry_of_this_one() -> None:
    assert decode(["@away", "north", "app_master"]) == Move("@away", ("north", "app_master"))
