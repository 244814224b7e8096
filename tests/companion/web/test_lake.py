"""When a heap has to be levelled, phones and table screens say so, and a tap of a seated phone says that it was."""

from __future__ import annotations

import pytest

from companion.model.table import Table
from templo.lake import KINDS
from tests.companion.web.conftest import WebHome, text_of

TEMPLE = "templo"
SKULLS = next(kind.heap or 0 for kind in KINDS if kind.name == "skull")


@pytest.fixture
def table(home: WebHome) -> Table:
    table = home.table(temple=TEMPLE)
    home.services.temples.set_token(TEMPLE, "skull")
    return table


def fall(home: WebHome, god: str = "tlaloc", first: int = 1) -> None:
    tokens = [(TEMPLE, home.token(seq, god)) for seq in range(first, first + SKULLS)]
    home.services.temples.intake.receive(tokens)


def test_every_page_of_the_table_says_which_lake_to_level_in_its_language(home: WebHome, table: Table) -> None:
    east, north, nobody = home.browser(), home.browser(language="es"), home.browser()
    east.sit(table, "east")
    north.sit(table, "north")
    assert "Level" not in text_of(east.get(f"/t/{table.id}"))
    fall(home)
    assert "Level Tlaloc’s lake" in text_of(east.get(f"/t/{table.id}"))
    assert "Nivelen el lago de Tláloc" in text_of(north.get(f"/t/{table.id}"))
    screen = nobody.get(f"/t/{table.id}/screen")
    assert "Level Tlaloc’s lake" in text_of(screen)
    assert "Levelled" not in text_of(screen)
    assert "Level Tlaloc’s lake" in text_of(nobody.get("/temples/" + TEMPLE))
    fall(home, "huitzilopochtli", 1001)
    assert "Level Huitzilopochtli’s lake" in text_of(east.get(f"/t/{table.id}"))
    assert "Nivelen el lago de Huitzilopochtli" in text_of(north.get(f"/t/{table.id}"))


def test_whoever_sits_there_says_that_it_is_level_and_nobody_else(home: WebHome, table: Table) -> None:
    east, stranger = home.browser(), home.browser()
    east.sit(table, "east")
    fall(home)
    assert stranger.post(f"/t/{table.id}/temple/level").status_code == 403
    assert "Level Tlaloc’s lake" in text_of(stranger.get(f"/t/{table.id}"))
    woken: list[bool] = []
    home.hub.open([f"table:{table.id}"], lambda: woken.append(True))
    assert east.post(f"/t/{table.id}/temple/level").status_code in (200, 303)
    assert woken
    assert "Level" not in text_of(east.get(f"/t/{table.id}"))
    assert home.services.tables.get(table.id).tokens == SKULLS


def test_a_second_tap_leaves_what_fell_after_the_first(home: WebHome, table: Table) -> None:
    east = home.browser()
    east.sit(table, "east")
    fall(home)
    east.post(f"/t/{table.id}/temple/level")
    home.services.temples.intake.receive([(TEMPLE, home.token(900))])
    east.post(f"/t/{table.id}/temple/level")
    assert sum(home.services.temples.get(TEMPLE).heaps.values()) == 1


def test_the_temple_s_page_counts_both_heaps_and_takes_the_token_of_its_owner(home: WebHome, table: Table) -> None:
    east, stranger = home.browser(), home.browser()
    east.sit(table, "east")
    fall(home)
    page = f"/temples/{TEMPLE}"
    assert f"Tlaloc: {SKULLS} tokens since it was level" in text_of(east.get(page))
    assert f"From {SKULLS} tokens on one side on" in text_of(east.get(page))
    assert stranger.post(f"{page}/lake", {"kind": "bead_8"}).status_code == 403
    assert stranger.post(f"/t/{table.id}/temple/lake", {"kind": "bead_8"}).status_code == 403
    assert east.post(f"/t/{table.id}/temple/lake", {"kind": "bead_8"}).status_code in (200, 303)
    assert "takes all of these tokens" in text_of(east.get(page))
    assert "Level Tlaloc’s lake" not in text_of(east.get(page))
    assert east.post(f"/t/{table.id}/temple/lake", {"levelled": "1"}).status_code in (200, 303)
    assert "Tlaloc: 0 tokens since it was level" in text_of(east.get(page))


def test_without_a_game_anybody_sets_the_token_of_a_temple(home: WebHome) -> None:
    home.services.temples.expect(TEMPLE)
    phone = home.browser()
    assert "Nobody knows yet which tokens" in text_of(phone.get(f"/temples/{TEMPLE}"))
    assert phone.post(f"/temples/{TEMPLE}/lake", {"kind": "bean"}).status_code in (200, 303)
    assert home.services.temples.get(TEMPLE).token == "bean"
    for wrong in ({"kind": "pebble"}, {}):
        assert phone.post(f"/temples/{TEMPLE}/lake", wrong).status_code == 400
    assert home.services.temples.get(TEMPLE).token == "bean"


def test_a_game_that_is_over_calls_nobody(home: WebHome, table: Table) -> None:
    east = home.browser()
    east.sit(table, "east")
    fall(home)
    home.services.tables.close_for_players(table.id)
    assert "Level Tlaloc’s lake" not in text_of(east.get(f"/t/{table.id}"))
