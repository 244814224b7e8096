"""Tokens arriving: each is kept once with what it causes, and what is doubtful waits for a person."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.model.temples import Mark
from templo import contract
from tests.companion.conftest import DATABASES, OTHER, SOURCE, Home


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


BEAMS = dict.fromkeys(contract.God, contract.Beam.CLEAR)


SESSION, OTHER_SESSION = "c" * 32, "d" * 32


def status(state: str = "ready", source: str = SOURCE, session: str = "", **beams: str) -> contract.Status:
    return contract.Status(
        state=contract.State(state),
        session=session or (SESSION if source == SOURCE else OTHER_SESSION),
        kind=contract.Kind.SIMULATOR,
        software="0",
        timing=contract.Timing.SIMULATED,
        beams={**BEAMS, **{contract.God(god): contract.Beam(beam) for god, beam in beams.items()}},
        source=source,
    )


def view(home: Home, table_id: str) -> dict[str, object]:
    table = home.services.tables.get(table_id)
    return dict(table.game.page.view(table.state, None))


def unclaimed(home: Home, table_id: str) -> list[tuple[str, str]]:
    waiting = view(home, table_id)["unclaimed"]
    assert isinstance(waiting, list)
    return [(each["doubt"], each["suggested"]) for each in waiting]


def test_a_token_is_credited_to_the_seat_whose_turn_it_is(home: Home) -> None:
    table = home.table(temple="templo")
    home.services.temples.intake.receive(
        [("templo", home.token(1, "tlaloc")), ("templo", home.token(2, "huitzilopochtli"))]
    )
    assert view(home, table.id)["given"]["east"] == {"huitzilopochtli": 1, "tlaloc": 1}  # type: ignore[index]


def test_the_same_token_twice_counts_once_whether_together_or_apart_or_after_a_restart(home: Home) -> None:
    table = home.table(temple="templo")
    token = home.token(1)
    home.services.temples.intake.receive([("templo", token), ("templo", token)])
    home.services.temples.intake.receive([("templo", token)])
    home.restart()
    receipt = home.services.temples.intake.receive([("templo", token)])[0]
    assert view(home, table.id)["total"] == 1
    assert (receipt.seq, receipt.gap) == (1, False)


def test_only_what_has_nothing_missing_below_it_is_acknowledged(home: Home) -> None:
    home.table(temple="templo")
    receipt = home.services.temples.intake.receive(
        [("templo", home.token(1)), ("templo", home.token(3)), ("templo", home.token(4))]
    )[0]
    assert (receipt.seq, receipt.gap) == (1, True)
    home.restart()
    receipt = home.services.temples.intake.receive([("templo", home.token(2))])[0]
    assert (receipt.seq, receipt.gap) == (4, False)


@given(st.permutations(range(1, 12)), st.integers(1, 5))
def test_law_the_mark_is_the_highest_number_with_nothing_missing_below_it(order: list[int], size: int) -> None:
    mark, kept = Mark(), set[int]()
    for start in range(0, len(order), size):
        kept.update(order[start : start + size])
        mark = mark.with_stored({n: f"{n:032x}" for n in order[start : start + size]})
        assert mark.seq == max(n for n in range(12) if set(range(1, n + 1)) <= kept)
        assert mark.token == (f"{mark.seq:032x}" if mark.seq else "")
        assert mark.ahead == {n: f"{n:032x}" for n in kept if n > mark.seq}


def test_a_restored_ledger_is_held_apart_and_never_merged(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    table = home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(1)), ("templo", home.token(2))])
    again = home.token(2, "huitzilopochtli", token="f" * 32)
    for _ in range(2):
        home.services.temples.intake.receive([("templo", again)])
    assert view(home, table.id)["gods"] == {"huitzilopochtli": 0, "tlaloc": 2}
    assert home.services.temples.get("templo").quarantined == 1
    assert "held apart" in caplog.text
    caplog.clear()
    home.restart()
    assert home.services.temples.get("templo").quarantined == 1


def test_a_status_that_is_published_again_is_no_change(home: Home) -> None:
    home.table(temple="templo")
    home.services.temples.receive_status("templo", replace(status(), publication=1))
    home.changes.clear()
    home.services.temples.receive_status("templo", replace(status(), publication=2))
    assert home.changes == []
    home.services.temples.receive_status("templo", replace(status("alert"), publication=3))
    assert "temple:templo" in home.changes


def test_the_last_tokens_stand_in_one_order_however_they_came(home: Home) -> None:
    """A companion that reads them from the store shows the same page as the one that stored them."""
    home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(n)) for n in (3, 4, 1, 2)])
    home.services.temples.intake.receive([("templo", home.token(n, source=OTHER)) for n in (2, 5, 1)])
    home.services.temples.intake.receive([("templo", home.token(6))])
    before = home.services.temples.get("templo").recent
    home.restart()
    assert before == home.services.temples.get("templo").recent


def test_a_mark_that_moves_is_announced_though_its_tokens_were_known(home: Home) -> None:
    home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(1))])
    home.changes.clear()
    home.services.temples.intake.receive([("templo", home.token(2, token=f"{1:032x}"))])
    assert home.services.temples.ledgers.mark(SOURCE).seq == 2
    assert "temple:templo" in home.changes


# -- a token is one token by its id --


def again(home: Home, seq: int, of: int, source: str = OTHER) -> contract.Token:
    """Return token `of` as a renewed ledger sends it again: under a new source, as number `seq`."""
    return home.token(seq, source=source, token=f"{of:032x}", replayed=True)


def test_a_renewed_ledger_s_tokens_count_once_and_are_acknowledged_under_its_new_source(home: Home) -> None:
    table = home.table(temple="templo")
    home.services.temples.receive_status("templo", status())
    home.services.temples.intake.receive([("templo", home.token(n)) for n in range(1, 6)])
    home.services.temples.receive_status("templo", status(source=OTHER, session=SESSION))
    receipt = home.services.temples.intake.receive(
        [("templo", again(home, seq, of)) for seq, of in ((1, 4), (2, 5), (3, 6))]
    )[0]
    assert (receipt.source, receipt.seq, receipt.token, receipt.gap) == (OTHER, 3, f"{6:032x}", False)
    assert view(home, table.id)["total"] == 6
    assert home.services.temples.get("templo").totals[contract.God.TLALOC] == 6
    assert home.services.temples.get("templo").quarantined == 0


def test_a_token_is_known_by_its_id_after_a_restart_as_often_as_it_comes(home: Home) -> None:
    table = home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(1)), ("templo", home.token(2))])
    for _ in range(2):
        home.restart()
        receipts = home.services.temples.intake.receive(
            [("templo", again(home, 1, 1)), ("templo", again(home, 2, 2))]
        )
        assert [(each.seq, each.token) for each in receipts] == [(2, f"{2:032x}")]
    home.restart()
    assert home.services.temples.ledgers.mark(OTHER) == Mark(2, f"{2:032x}")
    assert view(home, table.id)["total"] == 2
    assert [each.token.seq for each in home.services.tables.tokens(table.id)] == [1, 2]


def test_a_token_under_two_sources_in_one_batch_counts_once(home: Home) -> None:
    table = home.table(temple="templo")
    receipts = home.services.temples.intake.receive(
        [("templo", home.token(1)), ("templo", again(home, 1, 1)), ("templo", home.token(1))]
    )
    assert {(each.source, each.seq) for each in receipts} == {(SOURCE, 1), (OTHER, 1)}
    assert view(home, table.id)["total"] == 1


def test_known_tokens_above_a_gap_wait_for_the_gap_like_any_other(home: Home) -> None:
    home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(n)) for n in range(1, 4)])
    receipt = home.services.temples.intake.receive([("templo", again(home, 2, 2)), ("templo", again(home, 3, 3))])[0]
    assert (receipt.seq, receipt.gap) == (0, True)
    home.restart()
    receipt = home.services.temples.intake.receive([("templo", again(home, 1, 1))])[0]
    assert (receipt.seq, receipt.gap) == (3, False)


def test_a_known_token_is_not_on_its_way(home: Home) -> None:
    home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(n)) for n in range(1, 4)])
    home.services.temples.receive_status("templo", status("lost"))
    home.services.temples.receive_status("templo", status(source=OTHER))
    home.services.temples.intake.receive([("templo", again(home, 1, 3))])
    home.services.temples.ledgers.receive_count(
        "templo", contract.Count(OTHER, 3, {contract.God.HUITZILOPOCHTLI: 1, contract.God.TLALOC: 2})
    )
    assert home.services.temples.ledgers.on_way("templo") == {contract.God.HUITZILOPOCHTLI: 1, contract.God.TLALOC: 1}
    home.services.temples.intake.receive([("templo", again(home, 2, 4)), ("templo", again(home, 3, 5))])
    assert home.services.temples.ledgers.on_way("templo") == dict.fromkeys(contract.God, 0)


def test_totals_of_a_temple_s_whole_life_do_not_make_its_earlier_ledger_s_tokens_missing(home: Home) -> None:
    home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(1))])
    home.services.temples.ledgers.receive_count(
        "templo", contract.Count(SOURCE, 3, {contract.God.HUITZILOPOCHTLI: 70, contract.God.TLALOC: 80})
    )
    assert sum(home.services.temples.ledgers.on_way("templo").values()) == 2


def test_a_stored_token_whose_number_another_has_is_not_held_apart(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    table = home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(n)) for n in (1, 2)])
    home.services.temples.intake.receive([("templo", home.token(2, token=f"{1:032x}"))])
    home.services.temples.intake.receive(
        [("templo", home.token(1, token="f" * 32)), ("templo", home.token(1, source=OTHER, token="f" * 32))]
    )
    assert home.services.temples.get("templo").quarantined == 0
    assert view(home, table.id)["total"] == 2
    assert [doubt for doubt, _ in unclaimed(home, table.id)] == ["stranger"]
    caplog.clear()


def test_a_ledger_that_begins_anew_while_its_temple_works_on_takes_over_without_a_conflict(home: Home) -> None:
    table = home.table(temple="templo")
    home.services.temples.receive_status("templo", status())
    home.services.temples.intake.receive([("templo", home.token(1))])
    home.services.temples.receive_status("templo", status(source=OTHER, session=SESSION))
    home.services.temples.intake.receive([("templo", home.token(1, source=OTHER))])
    assert home.services.temples.get("templo").health().code == "ready"
    assert view(home, table.id)["total"] == 2
    home.restart()
    assert home.services.temples.get("templo").source == OTHER


def test_a_ledger_that_has_long_been_silent_while_another_reports_is_replaced(home: Home) -> None:
    """Its end went unreported: the broker died with it, or a cluster lost its will."""
    table = home.table(temple="templo")
    home.services.temples.receive_status("templo", status())
    home.services.temples.intake.receive([("templo", home.token(1))])
    new = status(source=OTHER, session="e" * 32)
    for _ in range(4):
        home.services.temples.receive_status("templo", new)
        assert home.services.temples.get("templo").health().code == "conflict"
        home.clock.pass_(seconds=30)
    home.services.temples.receive_status("templo", new)
    assert home.services.temples.get("templo").health().code == "ready"
    home.services.temples.intake.receive([("templo", home.token(1, source=OTHER, replayed=False))])
    assert home.services.temples.get("templo").source == OTHER
    assert view(home, table.id)["total"] == 2


def test_two_ledgers_that_both_report_stay_a_conflict(home: Home) -> None:
    for _ in range(20):
        home.services.temples.receive_status("templo", status())
        home.services.temples.receive_status("templo", status(source=OTHER, session="e" * 32))
        home.clock.pass_(seconds=30)
    assert home.services.temples.get("templo").health().code == "conflict"
    assert home.services.temples.get("templo").source == SOURCE


def test_a_stranger_s_messages_in_a_temple_s_name_change_no_token_no_mark_and_no_table(home: Home) -> None:
    table = home.table(temple="templo")
    home.services.temples.receive_status("templo", status())
    home.services.temples.intake.receive([("templo", home.token(n)) for n in (1, 2, 4)])
    before = (
        home.services.temples.ledgers.mark(SOURCE),
        home.services.tables.tokens(table.id),
        home.services.tables.entries(table.id),
    )
    for spoofed in (
        status("lost"),
        status(source=OTHER),
        status(source=OTHER, session=SESSION),
        status("stopped", source=OTHER),
        status(session="e" * 32),
    ):
        home.services.temples.receive_status("templo", spoofed)
        home.services.temples.ledgers.receive_count(
            "templo", contract.Count(OTHER, 10**9, dict.fromkeys(contract.God, 10**9))
        )
        home.services.temples.ledgers.receive_count(
            "templo", contract.Count(SOURCE, 10**9, dict.fromkeys(contract.God, 10**9))
        )
        home.services.temples.requests.request_missing(0)
    home.restart()
    assert (
        home.services.temples.ledgers.mark(SOURCE),
        home.services.tables.tokens(table.id),
        home.services.tables.entries(table.id),
    ) == before
    assert home.services.temples.ledgers.mark(OTHER) == Mark()
    home.services.temples.receive_status("templo", status())
    home.services.temples.intake.receive([("templo", home.token(3))])
    assert view(home, table.id)["total"] == 4


def test_a_test_token_is_kept_and_never_scored(home: Home) -> None:
    table = home.table(temple="templo")
    receipt = home.services.temples.intake.receive([("templo", home.token(1, "tlaloc", "test"))])[0]
    assert receipt.seq == 1
    assert view(home, table.id)["total"] == 0
    assert home.services.temples.get("templo").totals[contract.God.TLALOC] == 0
    assert home.services.temples.get("templo").recent[0].table_id is None


def test_a_token_that_may_be_none_waits_for_a_tap(home: Home) -> None:
    table = home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(1, "tlaloc", "jam"))])
    assert unclaimed(home, table.id) == [("jam", "east")]
    assert view(home, table.id)["total"] == 0


def test_a_late_token_of_an_earlier_turn_waits_with_a_suggestion(home: Home) -> None:
    table = home.table(temple="templo")
    token = home.seated(table)
    fell = home.clock.pass_(seconds=5)
    home.clock.pass_(seconds=5)
    home.play(table, token, "east", "end_turn")
    home.services.temples.intake.receive([("templo", home.token(1, at=fell, replayed=True))])
    assert unclaimed(home, table.id) == [("earlier", "east")]


def test_a_late_token_of_the_turn_now_running_is_credited(home: Home) -> None:
    table = home.table(temple="templo")
    fell = home.clock.pass_(seconds=5)
    home.clock.pass_(seconds=5)
    home.services.temples.intake.receive([("templo", home.token(1, at=fell, replayed=True))])
    assert unclaimed(home, table.id) == []
    assert view(home, table.id)["total"] == 1


def test_a_token_from_before_this_temple_served_this_table_waits(home: Home) -> None:
    table = home.table()
    fell = home.clock.pass_(seconds=5)
    home.clock.pass_(seconds=5)
    home.services.temples.expect("templo")
    home.services.temples.serving.serve(table.id, "templo")
    home.services.temples.intake.receive([("templo", home.token(1, at=fell, replayed=True))])
    assert unclaimed(home, table.id)[0][0] == "elsewhere"


def test_a_token_after_the_end_waits(home: Home) -> None:
    table = home.table(temple="templo")
    home.play(table, home.seated(table), "east", "settle", "east")
    assert home.services.tables.get(table.id).phase == "over"
    home.services.temples.intake.receive([("templo", home.token(1))])
    assert unclaimed(home, table.id)[0][0] == "over"


def test_a_temple_that_serves_no_table_keeps_its_tokens_on_its_own_page(home: Home) -> None:
    table = home.table()
    home.services.temples.intake.receive([("templo", home.token(1))])
    assert view(home, table.id)["total"] == 0
    assert home.services.temples.get("templo").recent[0].token.seq == 1


def test_a_token_in_the_lobby_proves_the_slot_and_scores_nothing(home: Home) -> None:
    home.services.temples.expect("templo")
    table = home.services.tables.open("mexica", "Sunday", 2, "temple_only", temple="templo")
    home.services.temples.intake.receive([("templo", home.token(1))])
    table = home.services.seats.begin(table.id, table.code)
    assert view(home, table.id)["total"] == 0


def test_a_temple_serves_one_table_at_a_time_and_can_be_moved(home: Home) -> None:
    first, second = home.table(temple="templo"), home.table()
    home.services.temples.intake.receive([("templo", home.token(1))])
    home.services.temples.serving.attach(second.id, home.seated(second), "templo", first.code)
    home.services.temples.intake.receive([("templo", home.token(2))])
    home.restart()
    home.services.temples.intake.receive([("templo", home.token(3))])
    assert view(home, first.id)["total"] == 1
    assert view(home, second.id)["total"] == 2
    assert home.services.tables.get(first.id).temple is None


def test_two_temples_feed_two_tables(home: Home) -> None:
    first, second = home.table(temple="north-house"), home.table(temple="south-house")
    home.services.temples.intake.receive(
        [("north-house", home.token(1)), ("south-house", home.token(1, source=OTHER))]
    )
    home.services.temples.intake.receive([("south-house", home.token(2, source=OTHER))])
    assert (view(home, first.id)["total"], view(home, second.id)["total"]) == (1, 2)


def test_a_second_counter_under_one_name_is_reported_and_its_tokens_wait(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    table = home.table(temple="templo")
    home.services.temples.receive_status("templo", status())
    home.services.temples.receive_status("templo", status(source=OTHER))
    assert "two counters" in caplog.text
    caplog.clear()
    home.services.temples.intake.receive(
        [("templo", home.token(1)), ("templo", home.token(1, source=OTHER, token="d" * 32))]
    )
    assert unclaimed(home, table.id)[0][0] == "stranger"
    assert view(home, table.id)["total"] == 1
    assert home.services.temples.get("templo").health().code == "conflict"


def test_a_new_ledger_takes_over_when_the_old_one_was_lost(home: Home) -> None:
    home.services.temples.receive_status("templo", status())
    home.services.temples.receive_status("templo", status("lost"))
    home.services.temples.receive_status("templo", status(source=OTHER))
    assert home.services.temples.get("templo").source == OTHER
    assert home.services.temples.get("templo").health().code == "ready"
    home.restart()
    assert home.services.temples.get("templo").source == OTHER


def test_the_second_counter_takes_over_when_the_first_is_lost_after_it_came(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    home.services.temples.receive_status("templo", status())
    home.services.temples.receive_status("templo", status(source=OTHER))
    caplog.clear()
    home.services.temples.receive_status("templo", status("lost"))
    assert home.services.temples.get("templo").source == OTHER


@pytest.mark.parametrize(
    ("status", "code", "god"),
    [
        (status(), "ready", ""),
        (status("alert", tlaloc="jammed"), "jammed", "tlaloc"),
        (status("alert", huitzilopochtli="dark"), "dark", "huitzilopochtli"),
        (status(tlaloc="unproved"), "unproved", "tlaloc"),
        (status("lost"), "lost", ""),
        (status("stopped"), "stopped", ""),
    ],
)
def test_a_temple_reports_its_most_urgent_trouble(home: Home, status: contract.Status, code: str, god: str) -> None:
    home.services.temples.receive_status("templo", status)
    assert home.services.temples.get("templo").health() == (code, god)


def test_a_broker_that_cannot_be_reached_comes_before_everything_else(home: Home) -> None:
    home.services.temples.receive_status("templo", status())
    home.services.temples.set_reachable(False)
    assert home.services.temples.get("templo").health().code == "no_broker"


def test_a_burst_is_one_change_and_keeps_its_order(home: Home) -> None:
    table = home.table(temple="templo")
    gods = ["tlaloc", "huitzilopochtli"] * 250
    home.services.temples.intake.receive([("templo", home.token(n, god)) for n, god in enumerate(gods, 1)])
    assert view(home, table.id)["lake"] == "th" * 250


def test_tokens_with_numbers_that_are_taken_are_named_a_few_times_and_then_counted(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    home.services.temples.intake.receive([("templo", home.token(1))])
    for n in range(200):
        home.services.temples.intake.receive([("templo", home.token(1, token=f"{n:032x}"))])
    assert len(caplog.records) <= 10
