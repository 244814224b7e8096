"""What a temple doubts is stored once, and a doubted token waits for a person."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from companion.games.kit import TempleRules
from templo import contract
from tests.companion.conftest import DATABASES, SOURCE, Home
from tests.companion.service.test_arrivals import unclaimed, view

AT = datetime(2026, 11, 21, 18, 42, 7, tzinfo=UTC)


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def doubt(number: int, *seqs: int, reason: str = "flicker") -> contract.Doubt:
    return contract.Doubt(SOURCE, number, reason, AT, tuple(f"{seq:032x}" for seq in seqs))


def take(home: Home, doubted: contract.Doubt) -> int:
    """Take in a doubt, and return the number up to which the source's doubts are stored."""
    home.services.temples.doubts.receive("templo", doubted)
    return home.services.temples.ledgers.mark(SOURCE).doubts


@pytest.mark.parametrize("reason", ["flicker", "moth_2"])
def test_a_token_that_was_doubted_before_it_came_waits_even_after_a_restart(home: Home, reason: str) -> None:
    table = home.table(temple="templo")
    take(home, doubt(1, 1, reason=reason))
    home.restart()
    home.services.temples.intake.receive([("templo", home.token(1)), ("templo", home.token(2))])
    assert view(home, table.id)["total"] == 1
    assert [why for why, _ in unclaimed(home, table.id)] == [reason]


def test_doubts_are_stored_in_their_order_and_once(home: Home) -> None:
    assert take(home, doubt(2, 2)) == 0
    assert take(home, doubt(1, 1)) == 1
    assert take(home, doubt(1, 1)) == 1
    assert take(home, doubt(2, 1, 2, reason="regular")) == 2
    home.restart()
    assert home.services.temples.ledgers.mark(SOURCE).doubts == 2
    known = home.store.known([home.token(1), home.token(2)])
    assert known.doubted == {f"{1:032x}": "flicker", f"{2:032x}": "regular"}


def test_a_doubt_does_not_move_the_mark_of_the_tokens(home: Home) -> None:
    home.services.temples.intake.receive([("templo", home.token(1))])
    take(home, doubt(1, 1))
    receipt = home.services.temples.intake.receive([("templo", home.token(2))])[0]
    assert (receipt.seq, home.services.temples.ledgers.mark(SOURCE).doubts) == (2, 1)


def test_a_doubted_token_about_which_somebody_decided_stays_decided(home: Home) -> None:
    table = home.table(temple="templo")
    take(home, doubt(1, 1))
    home.services.temples.intake.receive([("templo", home.token(1))])
    waiting = home.services.tables.get(table.id).unclaimed[0]
    token = home.seated(table)
    assert home.play(table, token, "east", waiting.dismiss.name, *waiting.dismiss.args).accepted
    take(home, doubt(2, 1, reason="regular"))
    home.restart()
    home.services.temples.intake.receive([("templo", home.token(1))])
    assert unclaimed(home, table.id) == []
    assert view(home, table.id)["total"] == 0


@pytest.mark.parametrize("scope", ["temple_only", "full"])
def test_counted_tokens_that_are_doubted_leave_the_score_and_wait(home: Home, scope: str) -> None:
    table = home.table(temple="templo", scope=scope)
    home.services.temples.intake.receive([("templo", home.token(n)) for n in (1, 2, 3)])
    take(home, doubt(1, 1, 2, 9))
    take(home, doubt(1, 1, 2, 9))
    home.restart()
    after = home.services.tables.get(table.id)
    assert after.audit is not None
    waits = {each.id for each in after.audit.waiting}
    assert {f"{1:032x}", f"{2:032x}"} <= waits
    assert not {f"{1:032x}", f"{2:032x}"} & after.audit.counted
    assert all(after.game.rules.laws(after.state).values())
    assert after.undo_refused("east") is not None


def test_doubted_tokens_suggest_the_seat_that_they_were_credited_to(home: Home) -> None:
    table = home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(1))])
    take(home, doubt(1, 1))
    assert unclaimed(home, table.id) == [("flicker", "east")]
    log = home.services.tables.get(table.id).log(1)
    assert [line.code for line in log[0].lines] == ["doubted"]


def test_a_token_that_a_person_has_claimed_is_not_doubted_again(home: Home) -> None:
    table = home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(1))])
    take(home, doubt(1, 1))
    phone = home.seated(table)
    claim = home.services.tables.get(table.id).unclaimed[0].claims["east"]
    assert home.play(table, phone, "east", claim.name, *claim.args).accepted
    take(home, doubt(2, 1, reason="together"))
    home.restart()
    assert (unclaimed(home, table.id), view(home, table.id)["total"]) == ([], 1)


def test_an_age_that_only_doubted_tokens_ended_goes_on(home: Home) -> None:
    table = home.table(temple="templo")
    threshold = int(str(view(home, table.id)["threshold"]))
    home.services.temples.intake.receive([("templo", home.token(n)) for n in range(1, threshold + 1)])
    assert view(home, table.id)["countdown"] is not None
    take(home, doubt(1, 1))
    assert (view(home, table.id)["countdown"], view(home, table.id)["total"]) == (None, threshold - 1)


def test_a_doubted_token_that_a_correction_took_out_already_leaves_the_score_as_it_is(home: Home) -> None:
    table = home.table(temple="templo")
    east, west = home.seated(table), home.seated(table, "west", "Beto")
    home.services.temples.intake.receive([("templo", home.token(1))])
    assert home.play(table, east, "east", "propose", "east", "tlaloc", -1).accepted
    assert home.play(table, west, "west", "confirm").accepted
    take(home, doubt(1, 1))
    after = home.services.tables.get(table.id)
    assert after.audit is not None
    assert (view(home, table.id)["total"], after.audit.corrected) == (0, ())
    assert all(after.game.rules.laws(after.state).values())


def test_a_game_that_ignores_later_doubts_goes_on_counting_and_lets_wait_what_was_doubted_before_it_came(
    home: Home,
) -> None:
    game = home.games["mexica"]
    assert game.temple is not None
    ignoring = replace(game, temple=TempleRules(drop=game.temple.drop, audit=game.temple.audit))
    home.games = {**home.games, "mexica": ignoring}
    home.restart()
    table = home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(1))])
    assert take(home, doubt(1, 1, 2)) == 1
    home.services.temples.intake.receive([("templo", home.token(2))])
    home.restart()
    assert view(home, table.id)["total"] == 1
    assert unclaimed(home, table.id) == [("flicker", "east")]
    assert [line.code for line in home.services.tables.get(table.id).log(1)[0].lines] == ["unclaimed"]
