"""Temple and ledger: what fell and what became of it add up, and several tokens are settled as one or not at all."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from companion.games.kit import Move
from companion.model.reconcile import Sheet, reconciled
from companion.model.table import ServiceError
from templo import contract
from tests.brokers import mosquitto
from tests.companion.adapters.test_intake import Temple, listening, status
from tests.companion.conftest import OTHER, SOURCE, Home
from tests.waiting import eventually


def sheet(home: Home, table_id: str) -> Sheet:
    table = home.services.tables.get(table_id)
    audit = table.game.temple.audit(table.state)
    assert audit is not None
    way = home.services.temples.ledgers.on_way(table.temple) if table.temple else dict.fromkeys(contract.God, 0)
    return reconciled(home.services.tables.tokens(table_id), audit, way)


def doubtful(home: Home, n: int) -> tuple[str, str]:
    """Let tokens fall that wait for a word; returns the table's id and the token of East's phone."""
    table = home.table(temple="templo")
    east = home.seated(table)
    home.services.temples.intake.receive([("templo", home.token(seq, "tlaloc", "jam")) for seq in range(1, n + 1)])
    return table.id, east


def claims(n: int, seat: str) -> list[Move]:
    return [Move("claim", (f"{seq:032x}", seat)) for seq in range(1, n + 1)]


def test_several_moves_are_one_change_and_one_post(home: Home) -> None:
    table_id, east = doubtful(home, 3)
    version = home.services.tables.get(table_id).version
    home.changes.clear()
    for _ in range(2):
        assert home.services.play.moves(table_id, east, "east", claims(3, "west"), version, "once").accepted
    assert home.services.tables.get(table_id).version == version + 3
    assert home.changes == [f"table:{table_id}"]
    assert sheet(home, table_id).all_of("counted") == 3
    before = home.services.tables.get(table_id)
    home.restart()
    assert home.services.tables.get(table_id) == before
    assert home.services.play.moves(table_id, east, "east", claims(3, "west"), version, "once").accepted


def test_one_refused_move_leaves_all_unmade(home: Home) -> None:
    table_id, east = doubtful(home, 2)
    before = home.services.tables.get(table_id)
    played = home.services.play.moves(table_id, east, "east", claims(3, "west"), before.version, "once")
    assert played.refusal is not None
    assert played.refusal.code == "unknown_token"
    assert home.services.tables.get(table_id) == before
    assert len(home.services.tables.entries(table_id)) == before.version


def test_several_moves_need_a_seat_a_fresh_version_and_something_to_do(home: Home) -> None:
    table_id, east = doubtful(home, 2)
    version = home.services.tables.get(table_id).version
    assert home.services.play.moves(table_id, east, "east", claims(2, "west"), 1, "stale").stale
    with pytest.raises(ServiceError, match="not_your_seat"):
        home.services.play.moves(table_id, east, "north", claims(2, "west"), version, "a")
    with pytest.raises(ServiceError, match="not_seated"):
        home.services.play.moves(table_id, "0" * 32, "east", claims(2, "west"), version, "a")
    for moves in ([], [Move("@undo")], [*claims(1, "east"), Move("@free", ("east",))]):
        with pytest.raises(ServiceError, match="bad_move"):
            home.services.play.moves(table_id, east, "east", moves, version, "a")
    assert home.services.tables.get(table_id).version == version


@pytest.mark.parametrize("seed", range(3))
def test_law_whatever_fell_is_counted_waiting_or_dismissed(home: Home, seed: int) -> None:
    random = Random(seed)
    table = home.table(temple="templo", apocalypse_tokens=360)
    east, north = home.seated(table), home.seated(table, "north", "Beto")
    fell = dict.fromkeys(contract.God, 0)
    for seq in range(1, 40):
        god = random.choice(list(contract.God))
        flags = random.choice([(), (), ("jam",), ("test",)])
        home.services.temples.intake.receive([("templo", home.token(seq, god, *flags))])
        fell[god] += "test" not in flags
        state = home.services.tables.get(table.id).state
        if random.random() < 0.3:
            home.play(table, east, "east", "sacrifice", god, random.randint(1, 4))
        if state.unclaimed and random.random() < 0.5:
            token = random.choice(state.unclaimed).id
            home.play(table, east, "east", *random.choice([("claim", token, "west"), ("dismiss", token)]))
        if random.random() < 0.1:
            home.play(table, east, "east", "propose", "south", god, 1)
            home.play(table, north, "north", "confirm")
        both = sheet(home, table.id)
        shown: Any = table.game.page.view(home.services.tables.get(table.id).state, None)
        for side in both.sides:
            assert side.fell == fell[side.god]
            assert side.fell == side.counted + side.waiting + side.dismissed
            assert (side.missing, side.score) == (0, shown["gods"][side.god])
        assert both.verdict == ("waiting" if both.unclaimed else both.verdict)
    assert sum(fell.values()) > 10


def test_a_token_that_the_game_never_received_is_the_first_thing_shown(home: Home) -> None:
    table_id, _ = doubtful(home, 1)
    stray = home.services.tables.tokens(table_id)[0]
    audit = home.services.tables.get(table_id).game.temple.audit(home.services.tables.get(table_id).state)
    assert audit is not None
    unknown = reconciled([stray, stray, stray], audit, dict.fromkeys(contract.God, 0))
    assert (unknown.verdict, unknown.all_of("missing")) == ("missing", 2)


def test_tokens_go_to_the_table_that_their_temple_served(home: Home) -> None:
    first, second = home.table(temple="templo"), home.table()
    home.services.temples.intake.receive([("templo", home.token(1))])
    home.services.temples.serving.attach(second.id, home.seated(second), "templo", first.code)
    home.services.temples.intake.receive([("templo", home.token(2)), ("templo", home.token(3, "tlaloc", "test"))])
    assert [kept.token.seq for kept in home.services.tables.tokens(first.id)] == [1]
    assert [kept.token.seq for kept in home.services.tables.tokens(second.id)] == [2]


def test_what_a_ledger_holds_beyond_what_arrived_is_on_its_way(home: Home) -> None:
    home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(1)), ("templo", home.token(2, "tlaloc", "test"))])
    tlaloc, other = contract.God.TLALOC, contract.God.HUITZILOPOCHTLI
    assert home.services.temples.ledgers.on_way("templo") == {tlaloc: 0, other: 0}
    home.services.temples.ledgers.receive_count("templo", contract.Count(SOURCE, 5, {tlaloc: 4, other: 1}))
    assert home.services.temples.ledgers.on_way("templo") == {tlaloc: 2, other: 1}
    home.services.temples.intake.receive([("templo", home.token(4, "huitzilopochtli"))])
    assert home.services.temples.ledgers.on_way("templo") == {tlaloc: 2, other: 0}
    home.services.temples.intake.receive([("templo", home.token(3)), ("templo", home.token(5))])
    assert home.services.temples.ledgers.on_way("templo") == {tlaloc: 0, other: 0}


def test_the_count_of_a_stranger_says_nothing(home: Home) -> None:
    home.table(temple="templo")
    home.services.temples.intake.receive([("templo", home.token(1))])
    home.services.temples.ledgers.receive_count("templo", contract.Count(OTHER, 50, dict.fromkeys(contract.God, 25)))
    assert sum(home.services.temples.ledgers.on_way("templo").values()) == 0


def test_a_count_that_was_retained_is_received_by_a_companion_that_starts(home: Home, tmp_path: Path) -> None:
    home.table(temple="templo")
    with mosquitto(tmp_path) as broker:
        temple = Temple(broker.host, broker.port)
        temple.says(contract.Count(SOURCE, 3, {contract.God.TLALOC: 3, contract.God.HUITZILOPOCHTLI: 0}), retain=True)
        temple.says(status(), retain=True)
        with listening(home, broker.host, broker.port):
            eventually(lambda: sum(home.services.temples.ledgers.on_way("templo").values()) == 3)
        temple.close()
