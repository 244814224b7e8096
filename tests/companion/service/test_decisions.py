"""What people decide about tokens that do not count by themselves: held apart, or older than this companion."""

from __future__ import annotations

from dataclasses import replace

import pytest

from companion.model.ports import ARRIVED, COUNTED, DISMISSED, HISTORY, LEFT_OUT
from companion.model.reconcile import reconciled
from companion.model.table import OWNER, ServiceError, Table
from companion.model.temples import FEW
from templo import contract
from tests.companion.conftest import DATABASES, OTHER, SOURCE, Home

TEMPLE = "templo"
LENT = "e" * 32
"""The session of another house's temple."""
BEAMS = dict.fromkeys(contract.God, contract.Beam.CLEAR)


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def received(
    home: Home,
    source: str = SOURCE,
    state: contract.State = contract.State.READY,
    notices: tuple[str, ...] = (),
    session: str = "c" * 32,
) -> None:
    kind, timing = contract.Kind.PI, contract.Timing.KERNEL
    said = tuple(contract.Notice(code, home.clock.now) for code in notices)
    status = contract.Status(state, session, kind, "1.0.0", timing, BEAMS, source, notices=said)
    home.services.temples.receive_status(TEMPLE, status)


def fell(home: Home, *tokens: contract.Token) -> None:
    home.services.temples.intake.receive([(TEMPLE, token) for token in tokens])


def held_id(n: int) -> str:
    return f"f{n:031x}"


def hold(home: Home, n: int) -> list[str]:
    """Let `n` tokens fall, and as many others under their numbers; returns the ids of those held apart."""
    fell(home, *(home.token(seq) for seq in range(1, n + 1)))
    fell(home, *(home.token(seq, token=held_id(seq)) for seq in range(1, n + 1)))
    return [held_id(seq) for seq in range(1, n + 1)]


def score(home: Home, table: Table, seat: str, god: str = "tlaloc") -> int:
    state = home.services.tables.get(table.id).state
    tally = list(state.tallies)[state.seats.index(seat)]
    return int(tally.given(god))


def log(home: Home, table: Table) -> list[tuple[str, dict[str, object]]]:
    return [
        (line.code, dict(line.facts)) for entry in home.services.tables.get(table.id).log() for line in entry.lines
    ]


def refused(code: str) -> object:
    return pytest.raises(ServiceError, match=f"^{code}")


# -- tokens held apart --


def test_tokens_held_apart_are_listed_in_the_order_of_their_arrival(home: Home) -> None:
    home.table(temple=TEMPLE)
    ids = hold(home, 3)
    home.clock.pass_(seconds=5)
    fell(home, home.token(1, "huitzilopochtli", token="e" * 32))
    assert [kept.token.token for kept in home.services.temples.decisions.held(TEMPLE)] == [*ids, "e" * 32]
    assert home.services.temples.get(TEMPLE).quarantined == 4


def test_a_seat_counts_several_for_another_and_everybody_sees_it(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    token = home.seated(table)
    ids = hold(home, 3)
    home.services.temples.decisions.decide(table.id, token, "east", ids[:2], "north", "r1")
    assert (score(home, table, "north"), score(home, table, "east")) == (2, 3)
    assert log(home, table)[:2] == [
        ("claimed", {"seat": "north", "god": "tlaloc", "by": "east", "n": 2}),
        ("unclaimed", {"god": "tlaloc", "doubt": "held", "n": 2}),
    ]
    (second, first) = home.services.temples.decisions.last(TEMPLE, 9)
    assert (first.verdict, first.by, first.name, first.seat, first.table_id, first.at) == (
        COUNTED,
        "east",
        "Ana",
        "north",
        table.id,
        home.clock.now,
    )
    assert {first.stored.token.token, second.stored.token.token} == set(ids[:2])
    assert [kept.token.token for kept in home.services.temples.decisions.held(TEMPLE)] == ids[2:]
    assert home.services.temples.get(TEMPLE).quarantined == 1


def test_temple_and_ledger_agree_once_a_held_token_counts(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    token = home.seated(table)
    ids = hold(home, 2)
    home.services.temples.decisions.decide(table.id, token, "east", ids, "east")
    game = home.services.tables.get(table.id)
    audit = game.game.temple.audit(game.state)
    assert audit is not None
    sheet = reconciled(home.services.tables.tokens(table.id), audit, dict.fromkeys(contract.God, 0))
    assert (sheet.verdict, sheet.all_of("fell"), sheet.all_of("counted")) == ("agree", 4, 4)


def test_a_seat_dismisses_all_and_the_table_s_log_says_so_in_one_line(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    token = home.seated(table)
    ids = hold(home, 3)
    home.services.temples.decisions.decide(table.id, token, "east", ids, None, "r1")
    assert log(home, table)[0] == ("decided_dismissed", {"n": 3, "by": "east"})
    assert score(home, table, "east") == 3
    assert {each.verdict for each in home.services.temples.decisions.last(TEMPLE, 9)} == {DISMISSED}
    assert home.services.temples.decisions.held(TEMPLE) == ()


def test_no_token_is_decided_twice(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    token = home.seated(table)
    other = home.seated(table, "north", "Ben")
    ids = hold(home, 2)
    for _ in range(2):  # a double tap
        home.services.temples.decisions.decide(table.id, token, "east", ids, "east", "r1")
    with refused("held_decided"):
        home.services.temples.decisions.decide(table.id, other, "north", ids[:1], "north", "r2")
    home.restart()
    home.services.temples.decisions.decide(table.id, token, "east", ids, "east", "r1")
    with refused("held_decided"):
        home.services.temples.decisions.decide(table.id, token, "east", ids, None, "r3")
    with refused("held_decided"):
        home.services.temples.decisions.decide_as_owner(TEMPLE, ids, "east")
    assert (score(home, table, "east"), score(home, table, "north")) == (4, 0)


@pytest.mark.parametrize("whose", ["north", None])
def test_a_decided_token_that_comes_again_changes_nothing(home: Home, whose: str | None) -> None:
    table = home.table(temple=TEMPLE)
    token = home.seated(table)
    ids = hold(home, 1)
    home.services.temples.decisions.decide(table.id, token, "east", ids, whose)
    before = home.services.tables.get(table.id)
    home.restart()
    fell(home, home.token(1, token=ids[0], replayed=True))  # its own number once more
    fell(home, home.token(7, token=ids[0], source=OTHER))  # carried over to a new source
    assert home.services.tables.get(table.id).state == before.state
    assert home.services.temples.decisions.held(TEMPLE) == ()
    assert home.services.temples.get(TEMPLE).quarantined == 0


def test_a_held_token_that_comes_under_a_new_source_counts_once_and_waits_no_more(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    token = home.seated(table)
    ids = hold(home, 2)
    received(home, SOURCE, contract.State.STOPPED)
    received(home, OTHER)
    again = [home.token(seq, token=ids[seq - 1], source=OTHER) for seq in (1, 2)]
    fell(home, *again)
    fell(home, *(replace(each, replayed=True) for each in again))
    assert score(home, table, "east") == 4
    assert home.services.temples.decisions.held(TEMPLE) == ()
    assert {each.verdict for each in home.services.temples.decisions.last(TEMPLE, 9)} == {ARRIVED}
    with refused("held_decided"):
        home.services.temples.decisions.decide(table.id, token, "east", ids, "east")
    assert home.services.temples.intake.receive([(TEMPLE, again[1])])[0].seq == 2


def test_all_are_decided_or_none(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    token = home.seated(table)
    ids = hold(home, 2)
    before = home.services.tables.get(table.id)
    with refused("unknown_seat"):
        home.services.temples.decisions.decide(table.id, token, "east", ids, "nowhere")
    with refused("held_decided"):
        home.services.temples.decisions.decide(table.id, token, "east", [*ids, "0" * 32], "east")
    with refused("held_decided"):
        home.services.temples.decisions.decide(table.id, token, "east", [], "east")
    assert home.services.tables.get(table.id) == before
    assert len(home.services.temples.decisions.held(TEMPLE)) == 2


def test_only_who_sits_at_the_table_that_the_temple_serves_decides(home: Home) -> None:
    table, other = home.table(temple=TEMPLE), home.table()
    stranger = home.seated(other)
    ids = hold(home, 1)
    with refused("not_seated"):
        home.services.temples.decisions.decide(table.id, stranger, "east", ids, "east")
    with refused("not_seated"):
        home.services.temples.decisions.decide(table.id, "", "east", ids, None)
    with refused("no_temple_here"):
        home.services.temples.decisions.decide(other.id, stranger, "east", ids, "east")
    token = home.seated(table)
    with refused("not_your_seat"):
        home.services.temples.decisions.decide(table.id, token, "north", ids, "east")
    assert len(home.services.temples.decisions.held(TEMPLE)) == 1


def test_before_the_game_begins_a_token_can_be_dismissed_and_not_counted(home: Home) -> None:
    home.services.temples.expect(TEMPLE)
    table = home.services.tables.open("mexica", "Sunday", 4, "temple_only", {}, TEMPLE)
    token = home.seated(table)
    ids = hold(home, 2)
    with refused("not_begun"):
        home.services.temples.decisions.decide(table.id, token, "east", ids[:1], "east")
    home.services.temples.decisions.decide(table.id, token, "east", ids, None)
    assert log(home, table)[0] == ("decided_dismissed", {"n": 2, "by": "east"})


def test_the_owner_decides_at_the_command_line_and_the_log_says_whose_hand_it_was(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    ids = hold(home, 3)
    home.services.temples.decisions.decide_as_owner(TEMPLE, ids[:1], "north")
    home.services.temples.decisions.decide_as_owner(TEMPLE, ids[1:], None)
    assert score(home, table, "north") == 1
    last, before = home.services.tables.get(table.id).logged[-1], home.services.tables.get(table.id).logged[-2]
    assert (last.lines[0].code, last.lines[0].facts) == ("decided_dismissed", {"n": 2, "by": OWNER})
    assert (before.lines[0].code, before.hand) == ("claimed", OWNER)
    assert {each.by for each in home.services.temples.decisions.last(TEMPLE, 9)} == {OWNER}


def test_the_owner_dismisses_for_a_temple_that_serves_no_table(home: Home) -> None:
    ids = hold(home, 1)
    with refused("serves_none"):
        home.services.temples.decisions.decide_as_owner(TEMPLE, ids, "east")
    home.services.temples.decisions.decide_as_owner(TEMPLE, ids, None)
    assert home.services.temples.decisions.held(TEMPLE) == ()


def test_what_was_decided_is_replayed_from_the_log(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    token = home.seated(table)
    ids = hold(home, 2)
    home.services.temples.decisions.decide(table.id, token, "east", ids[:1], "north")
    home.services.temples.decisions.decide(table.id, token, "east", ids[1:], None)
    before = home.services.tables.get(table.id)
    home.restart()
    assert home.services.tables.get(table.id) == before


# -- old tokens --


def old(home: Home, *seqs: int, source: str = SOURCE) -> list[contract.Token]:
    return [home.token(seq, source=source, replayed=True) for seq in seqs]


def counted(home: Home, seq: int, source: str = SOURCE) -> None:
    home.services.temples.ledgers.receive_count(
        TEMPLE, contract.Count(source, seq, dict.fromkeys(contract.God, seq // 2))
    )


def an_old_temple(home: Home, through: int = 2000) -> None:
    received(home)
    counted(home, through)


def test_a_temple_that_was_never_met_asks_what_becomes_of_its_old_tokens(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    an_old_temple(home)
    fell(home, *old(home, *range(1, 60)))
    asked = home.services.temples.get(TEMPLE).undecided
    assert asked is not None
    assert asked.through == 2000
    assert home.services.tables.get(table.id).state.unclaimed == ()
    assert home.services.temples.get(TEMPLE).totals[contract.God.TLALOC] == 0
    assert home.services.temples.get(TEMPLE).recent == ()


def test_new_tokens_count_at_once_while_the_old_ones_are_undecided(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    an_old_temple(home)
    receipts = home.services.temples.intake.receive(
        [(TEMPLE, home.token(2001)), *((TEMPLE, each) for each in old(home, 1, 2))]
    )
    assert score(home, table, "east") == 1
    assert [(each.seq, each.gap) for each in receipts] == [(2, True)]


def test_old_tokens_on_their_way_are_nothing_that_a_table_waits_for(home: Home) -> None:
    home.table(temple=TEMPLE)
    an_old_temple(home, 200)
    assert sum(home.services.temples.ledgers.on_way(TEMPLE).values()) == 0
    fell(home, *old(home, *range(1, 201)))
    home.services.temples.ledgers.receive_count(
        TEMPLE, contract.Count(SOURCE, 203, {contract.God.TLALOC: 203, contract.God.HUITZILOPOCHTLI: 0})
    )
    assert sum(home.services.temples.ledgers.on_way(TEMPLE).values()) == 3


def test_a_new_token_alone_says_how_many_are_old(home: Home) -> None:
    home.table(temple=TEMPLE)
    fell(home, home.token(2001))
    asked = home.services.temples.get(TEMPLE).undecided
    assert asked is not None
    assert asked.through == 2000


def test_what_falls_after_the_first_contact_is_not_old_though_it_was_sent_again(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    an_old_temple(home)
    counted(home, 2003)
    fell(home, *old(home, 2001, 2002, 2003))
    assert score(home, table, "east") == 3


def test_clocks_that_are_apart_change_nothing(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    an_old_temple(home)
    ahead = home.clock.now.replace(year=2036)
    fell(home, home.token(5, at=ahead, replayed=True), home.token(2001, at=ahead.replace(year=2016)))
    assert score(home, table, "east") == 1
    assert home.services.tables.get(table.id).state.unclaimed == ()


def test_a_few_old_tokens_come_as_they_always_did(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    home.clock.pass_(minutes=-5)
    before = old(home, *range(1, FEW + 1))
    home.clock.pass_(minutes=5)
    an_old_temple(home, FEW)
    fell(home, *before)
    assert home.services.temples.get(TEMPLE).old is None
    assert len(home.services.tables.get(table.id).state.unclaimed) == FEW


def test_a_count_that_comes_after_the_first_old_tokens_asks_for_the_rest(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    home.clock.pass_(minutes=-5)
    before = old(home, *range(1, 41))
    home.clock.pass_(minutes=5)
    fell(home, *before[:20])
    an_old_temple(home)
    fell(home, *before[20:])
    assert home.services.temples.get(TEMPLE).undecided is not None
    assert len(home.services.tables.get(table.id).state.unclaimed) == 20


def test_a_count_that_comes_late_asks_nothing_where_almost_all_is_stored(home: Home) -> None:
    """A broker may refuse the topic of the counts for a while, and every token may come after a lost connection."""
    table = home.table(temple=TEMPLE)
    received(home)
    fell(home, *old(home, *range(1, 181)))
    counted(home, 240)
    fell(home, *old(home, *range(181, 241)))
    assert home.services.temples.get(TEMPLE).old is None
    assert score(home, table, "east") == 240


def test_a_temple_asks_once(home: Home) -> None:
    an_old_temple(home)
    home.services.temples.decisions.choose_old(TEMPLE, LEFT_OUT, "Ana")
    home.restart()
    counted(home, 5000)
    received(home)
    asked = home.services.temples.get(TEMPLE).old
    assert asked is not None
    assert (asked.choice, asked.by, asked.through) == (LEFT_OUT, "Ana", 2000)
    home.services.temples.decisions.choose_old(TEMPLE, LEFT_OUT, "Ben")  # a double tap
    with refused("old_decided"):
        home.services.temples.decisions.choose_old(TEMPLE, HISTORY, "Ben")


def test_a_temple_that_was_met_before_never_asks(home: Home) -> None:
    received(home)
    counted(home, 3)
    home.restart()
    received(home)
    counted(home, 500)
    assert home.services.temples.get(TEMPLE).old is None


def test_a_ledger_that_was_renewed_brings_no_old_tokens(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    fell(home, home.token(1))
    received(home, SOURCE, contract.State.STOPPED)
    received(home, OTHER, notices=("ledger_restored",))
    counted(home, 400, OTHER)
    fell(home, *(home.token(seq, source=OTHER, token=held_id(seq), replayed=True) for seq in (1, 2)))
    assert home.services.temples.get(TEMPLE).old is None
    assert score(home, table, "east") == 3


def test_another_ledger_under_a_known_name_asks(home: Home) -> None:
    home.table(temple=TEMPLE)
    fell(home, home.token(1))
    received(home, SOURCE, contract.State.STOPPED)
    received(home, OTHER, session=LENT)
    counted(home, 400, OTHER)
    assert home.services.temples.get(TEMPLE).undecided is not None


def lend(home: Home, session: str = LENT) -> None:
    """Replace the temple, whose last ledger was `SOURCE`, by one of another house under the same name."""
    received(home)
    fell(home, home.token(1))
    received(home, SOURCE, contract.State.STOPPED)
    received(home, OTHER, session=session)


@pytest.mark.parametrize("through", [1, 40, FEW])
def test_another_house_s_temple_asks_however_few_tokens_it_brings(home: Home, through: int) -> None:
    table = home.table(temple=TEMPLE)
    lend(home)
    counted(home, through, OTHER)
    fell(home, *old(home, *range(1, through + 2), source=OTHER), home.token(through + 2, source=OTHER))
    asked = home.services.temples.get(TEMPLE).undecided
    assert asked is not None
    assert asked.through == through
    assert score(home, table, "east") == 3, "what falls here counts, also sent again"


def test_none_of_another_house_s_tokens_counts_though_they_come_before_its_count(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    lend(home)
    fell(home, *old(home, *range(101, 121), source=OTHER))
    fell(home, *old(home, *range(121, 141), source=OTHER))
    counted(home, 150, OTHER)
    fell(home, *old(home, *range(141, 151), source=OTHER))
    asked = home.services.temples.get(TEMPLE).undecided
    assert asked is not None
    assert asked.through == 150
    assert (score(home, table, "east"), home.services.tables.get(table.id).state.unclaimed) == (1, ())


def test_a_second_counter_s_fallen_tokens_are_old_when_it_takes_over(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    received(home)
    fell(home, home.token(1))
    received(home, OTHER, session=LENT)
    fell(home, home.token(3, source=OTHER))
    received(home, SOURCE, contract.State.LOST)
    counted(home, 5, OTHER)
    fell(home, *old(home, 1, 2, 4, 5, source=OTHER), home.token(6, source=OTHER))
    asked = home.services.temples.get(TEMPLE).undecided
    assert asked is not None
    assert asked.through == 5
    assert [each.doubt for each in home.services.tables.get(table.id).state.unclaimed] == ["stranger"]
    assert score(home, table, "east") == 2


def test_what_a_cloned_temple_s_own_ledger_holds_is_not_old_though_the_clone_spoke_last(home: Home) -> None:
    """The temple begins a new ledger while its clone runs, and is the second counter until that has stopped."""
    table = home.table(temple=TEMPLE)
    received(home)
    fell(home, home.token(1))
    received(home, session=LENT)
    received(home, OTHER, notices=("ledger_cloned",))
    counted(home, 60, OTHER)
    received(home, SOURCE, contract.State.STOPPED, session=LENT)
    assert home.services.temples.get(TEMPLE).health().well
    fell(home, *old(home, *range(2, 61), source=OTHER))
    assert home.services.temples.get(TEMPLE).old is None
    assert score(home, table, "east") == 60


def test_a_ledger_that_the_same_session_began_is_no_stranger(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    received(home)
    fell(home, home.token(1))
    received(home, OTHER)
    counted(home, 60, OTHER)
    fell(home, *old(home, *range(2, 61), source=OTHER))
    assert home.services.temples.get(TEMPLE).old is None
    assert score(home, table, "east") == 60


@pytest.mark.parametrize(("choice", "shown"), [(LEFT_OUT, 0), (HISTORY, 30)])
def test_left_out_or_history_they_never_count(home: Home, choice: str, shown: int) -> None:
    table = home.table(temple=TEMPLE)
    an_old_temple(home)
    fell(home, *old(home, *range(1, 21)))
    home.services.temples.decisions.choose_old(TEMPLE, choice, "")
    fell(home, *old(home, *range(21, 31)))
    for _ in range(2):
        assert home.services.temples.get(TEMPLE).totals[contract.God.TLALOC] == shown
        assert home.services.tables.get(table.id).state.unclaimed == ()
        assert score(home, table, "east") == 0
        home.restart()


def test_counted_at_a_table_they_wait_there_for_somebody_s_word_and_so_do_those_that_follow(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    token = home.seated(table)
    an_old_temple(home, 200)
    fell(home, *old(home, *range(1, 151)))
    for _ in range(2):
        home.services.temples.decisions.count_old(table.id, token)
    fell(home, *old(home, *range(151, 201)))
    home.restart()
    state = home.services.tables.get(table.id).state
    assert [each.doubt for each in state.unclaimed] == ["old"] * 200
    assert len(home.services.tables.tokens(table.id)) == 200
    assert ("decided_old", {"n": 200, "by": "east"}) in log(home, table)
    home.play(table, token, "east", "claim", state.unclaimed[0].id, "north")
    assert score(home, table, "north") == 1


def test_only_a_seat_of_its_table_counts_old_tokens(home: Home) -> None:
    table, other = home.table(temple=TEMPLE), home.table()
    stranger = home.seated(other)
    an_old_temple(home)
    with refused("not_seated"):
        home.services.temples.decisions.count_old(table.id, stranger)
    with refused("no_temple_here"):
        home.services.temples.decisions.count_old(other.id, stranger)
    assert home.services.temples.get(TEMPLE).undecided is not None


def test_a_test_among_the_old_ones_is_no_token(home: Home) -> None:
    table = home.table(temple=TEMPLE)
    token = home.seated(table)
    an_old_temple(home, 200)
    fell(home, home.token(1, "tlaloc", "test", replayed=True), *old(home, 2))
    home.services.temples.decisions.count_old(table.id, token)
    assert len(home.services.tables.get(table.id).state.unclaimed) == 1
