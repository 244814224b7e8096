"""The temple counts what fell on each side of its lake since a hand levelled it, exactly once, in the store."""

from __future__ import annotations

import pytest

from companion.model.scores import mood_of
from companion.model.table import ServiceError
from companion.model.temples import Temple
from templo import contract
from templo.lake import DEEP, KINDS
from tests.companion.conftest import DATABASES, Home

H, T = contract.God.HUITZILOPOCHTLI, contract.God.TLALOC
HEAP = {kind.name: kind.heap for kind in KINDS}
SKULLS = HEAP["skull"] or 0


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def temple(home: Home) -> Temple:
    return home.services.temples.get("templo")


def fall(home: Home, first: int, last: int, god: str = "tlaloc", *flags: str) -> None:
    tokens = [("templo", home.token(seq, god, *flags)) for seq in range(first, last + 1)]
    home.services.temples.intake.receive(tokens)


def test_a_side_that_has_passed_the_number_of_its_token_calls_until_somebody_levels_it(home: Home) -> None:
    home.table(temple="templo")
    home.services.temples.set_token("templo", "skull")
    fall(home, 1, SKULLS - 1)
    fall(home, 1001, 1005, "huitzilopochtli")
    assert (temple(home).to_level, temple(home).heaps) == ((), {H: 5, T: SKULLS - 1})
    fall(home, SKULLS, SKULLS)
    assert temple(home).to_level == (T,)
    home.services.temples.level("templo")
    assert (temple(home).to_level, temple(home).heaps) == ((), {H: 0, T: 0})
    fall(home, SKULLS + 1, 2 * SKULLS)
    assert temple(home).to_level == (T,)


def test_the_heaps_outlive_a_restart_and_no_token_that_is_sent_again_grows_them(home: Home) -> None:
    home.table(temple="templo")
    home.services.temples.set_token("templo", "bead_12")
    fall(home, 1, 9)
    home.restart()
    assert (temple(home).heaps, temple(home).token) == ({H: 0, T: 9}, "bead_12")
    fall(home, 1, 10)
    assert temple(home).heaps == {H: 0, T: 10}
    home.services.temples.level("templo")
    home.restart()
    assert temple(home).heaps == {H: 0, T: 0}


def test_a_game_begins_with_an_empty_lake(home: Home) -> None:
    table = home.table(temple="templo")
    fall(home, 1, 7)
    home.services.tables.close(table.id, home.seated(table))
    fall(home, 8, 9)
    assert temple(home).heaps[T] == 9
    home.table(temple="templo")
    assert temple(home).heaps[T] == 0


def test_tokens_of_a_calibration_lie_in_the_lake_and_test_drops_without_a_beam_do_not(home: Home) -> None:
    home.table(temple="templo")
    fall(home, 1, 3, "tlaloc", "test")
    fall(home, 4, 6, "tlaloc", "test", "simulated")
    fall(home, 7, 8, "tlaloc", "simulated")
    assert temple(home).heaps[T] == 5


def test_calibration_says_which_tokens_are_played_with_unless_the_owner_does(home: Home) -> None:
    home.table(temple="templo")
    assert temple(home).heap is None
    for band_ms, kind in ((9.0, "bead_8"), (13.5, "bead_10"), (18.0, "bead_12"), (29.25, "bead_12"), (37.5, "skull")):
        limits = {"band_ms": band_ms}
        findings = contract.Findings("c" * 32, home.clock.now, contract.Emitters.FIXED, limits, {H: (), T: ()})
        home.services.temples.receive_findings("templo", findings)
        assert temple(home).heap == HEAP[kind]
    home.services.temples.set_token("templo", DEEP)
    fall(home, 1, 400)
    assert (temple(home).heap, temple(home).to_level) == (None, ())
    home.services.temples.set_token("templo", "")
    assert temple(home).to_level == (T,)


def test_beads_of_8_mm_never_call(home: Home) -> None:
    home.table(temple="templo")
    home.services.temples.set_token("templo", "bead_8")
    fall(home, 1, 1000)
    assert temple(home).to_level == ()


def test_a_token_that_nobody_knows_is_refused(home: Home) -> None:
    home.services.temples.expect("templo")
    with pytest.raises(ServiceError, match="bad_move"):
        home.services.temples.set_token("templo", "pebble")


def test_what_another_companion_levelled_is_level_here(home: Home) -> None:
    home.table(temple="templo")
    fall(home, 1, 9)
    other = Home(home.url)
    other.services.temples.level("templo")
    other.close()
    home.workspace.temples.mark_behind(["templo"])
    assert temple(home).heaps == {H: 0, T: 0}


@pytest.mark.parametrize(
    ("god", "signal"), [("tlaloc", "level_tlaloc"), ("huitzilopochtli", "level_huitzilopochtli")]
)
def test_the_lamp_of_the_side_that_calls_shines_at_any_table(home: Home, god: str, signal: str) -> None:
    table = home.table(temple="templo")
    home.services.temples.set_token("templo", "skull")
    fall(home, 1, SKULLS, god)
    assert mood_of(home.services.tables.get(table.id), temple(home)).signals == (signal,)
    assert mood_of(home.services.tables.get(table.id), temple(home), hotspot=True).signals == ("hotspot", signal)
    home.services.temples.level("templo")
    assert mood_of(home.services.tables.get(table.id), temple(home)).signals == ()


def test_the_lamps_are_calm_once_the_game_is_over(home: Home) -> None:
    table = home.table(temple="templo")
    home.services.temples.set_token("templo", "skull")
    fall(home, 1, SKULLS)
    home.services.tables.close_for_players(table.id)
    assert temple(home).to_level == (T,)
    assert mood_of(home.services.tables.get(table.id), temple(home)).signals == ()
    assert mood_of(None, temple(home)).signals == ()
