"""Slips of the finger: what a person typed is taken back by who typed it while nothing else has followed."""

from __future__ import annotations

from random import Random

import pytest

from companion.games import registry
from companion.games.kit import CHANCE, Move, Seat
from companion.model.table import Table
from companion.service.play import Played
from tests.cases import every_case
from tests.companion.conftest import Home
from tests.games.playouts import GAMES, drawn

CHANCY = {"market", "market.bag", "mexica", "moctezuma", "siege", "siege.dice", "siege.events", "siege.fires"}
"""The games and tools in which chance brings something; what else is typed there is a move, and undone as one."""


def until_chance(home: Home, name: str, preset: str, players: int) -> tuple[Table, dict[Seat, str]] | None:
    """Play at random until a person has to type what chance brought; None if that never comes."""
    random = Random(f"{name} {preset}")
    lobby = home.services.tables.open(name, "Sunday", players, preset)
    keys = {seat: home.services.seats.sit(lobby.id, lobby.code, seat, seat) for seat in lobby.charter.seats}
    home.services.seats.begin(lobby.id, lobby.code)
    for _ in range(60):
        table = home.services.tables.get(lobby.id)
        if table.chance():
            return table, keys
        acting = [seat for seat in table.game.rules.to_act(table.state) if seat in keys]
        if not acting:
            return None
        seat = random.choice(acting)
        assert posted(
            home, table, keys[seat], seat, drawn(table.game.rules.moves(table.state, seat), random)
        ).accepted
    return None


def posted(home: Home, table: Table, key: str, seat: Seat, move: Move) -> Played:
    version = home.services.tables.get(table.id).version
    return home.services.play.move(table.id, key, seat, move, version, f"r{next(home.requests)}")


def undone(home: Home, table: Table, key: str, seat: Seat) -> Played:
    version = home.services.tables.get(table.id).version
    return home.services.play.undo(table.id, key, seat, version, f"r{next(home.requests)}")


def code_of(played: Played) -> str:
    assert played.refusal is not None
    return played.refusal.code


@every_case("name", sorted(registry.with_tools(GAMES)))
def test_a_mistyped_outcome_is_taken_back_by_who_typed_it_and_by_nobody_else(home: Home, name: str) -> None:
    game, tried = home.services.tables.games[name], 0
    for preset in list(game.presets)[:2]:
        found = until_chance(home, name, preset, min(game.seatings))
        if found is None:
            continue
        before, keys = found
        tried += 1
        due = before.chance()
        assert due
        typist = due.seat or next(iter(keys))
        typed = posted(home, before, keys[typist], CHANCE, game.rules.moves(before.state, CHANCE)[0])
        assert typed.accepted
        for other in keys:
            if other != typist:
                assert code_of(undone(home, before, keys[other], other)) == "undo_followed"
        assert undone(home, before, keys[typist], typist).accepted
        assert home.services.tables.get(before.id).state == before.state
    assert bool(tried) == (name in CHANCY)


def test_what_the_app_rolled_stays(home: Home) -> None:
    found = until_chance(home, "mexica", "classic", 2)
    assert found
    table, keys = found
    seat = next(iter(keys))
    assert home.services.play.roll(table.id, keys[seat], table.version, "roll").accepted
    for seat, key in keys.items():
        assert code_of(undone(home, table, key, seat)) == "undo_drawn"


@pytest.mark.parametrize("restarted", [False, True])
def test_a_typed_outcome_is_still_taken_back_after_a_restart(home: Home, restarted: bool) -> None:
    found = until_chance(home, "moctezuma", "classic", 2)
    assert found
    table, keys = found
    due = table.chance()
    assert due
    typist = due.seat or next(iter(keys))
    for move in table.game.rules.moves(table.state, CHANCE)[:2]:
        assert posted(home, table, keys[typist], CHANCE, move).accepted
        if restarted:
            home.restart()
        assert undone(home, table, keys[typist], typist).accepted
        assert home.services.tables.get(table.id).state == table.state
