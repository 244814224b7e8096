"""Whatever move a seat posts, it is made or refused in words, and the program never fails on it."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from companion.games import registry
from companion.games.kit import CHANCE
from tests.cases import every_case
from tests.companion.web.conftest import Browser, WebHome, home_with
from tests.games.playouts import GAMES, Combination, attempts, drawn

POSTS = int(os.environ.get("TEMPLO_POSTS", "80"))
"""Posts to the tables of each game and tool, of which one in four is a legal move; `make conformance` sends 2,000."""

AT_ONE_TABLE = 80
PLAYED = registry.with_tools(GAMES)
NOT_JSON = ("", "[", "null", "[[]]", '["give"', '{"name": "give"}', "[" * 5000, '["\\ud800"]', "[1e999]")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[WebHome]:
    for each in home_with(tmp_path, PLAYED):
        each.app.config["PROPAGATE_EXCEPTIONS"] = True  # the first error is enough
        yield each


@every_case("name", sorted(PLAYED))
def test_no_move_that_a_seat_posts_makes_the_program_fail(home: WebHome, name: str) -> None:
    random, seen = Random(name), Counter[int]()
    while seen.total() < POSTS:
        _post_at_one_table(home, name, random, seen)
    print(f"{name}: {seen.total()} posts:", ", ".join(f"{n} x {status}" for status, n in sorted(seen.items())))
    assert set(seen) <= {200, 400, 403, 409, 413}
    assert seen[200] > POSTS // 20


def _post_at_one_table(home: WebHome, name: str, random: Random, seen: Counter[int]) -> None:
    game = home.services.tables.games[name]
    preset, players = random.choice(sorted(game.presets)), random.choice(sorted(game.seatings))
    here = Combination(game, preset, game.seatings[players])
    table_id = home.services.tables.open(name, "Sunday", players, preset, here.any_options(random)).id
    phones = {seat: home.browser(f"10.0.0.{n}", "es" if n % 2 else "en") for n, seat in enumerate(here.seats)}
    table = home.services.tables.get(table_id)
    for seat, phone in phones.items():
        phone.sit(table, seat)
    next(iter(phones.values())).post(f"/t/{table_id}/begin", {})
    for _ in range(AT_ONE_TABLE):
        home.seconds += 1  # nobody taps faster than a phone may
        table = home.services.tables.get(table_id)
        state = table.state
        acting = [seat for seat in game.rules.to_act(state) if seat in phones]
        if random.random() < 0.25 and (acting or table.chance()):
            seat = random.choice(acting or list(phones))
            by = CHANCE if table.chance() and not acting else seat
            text = json.dumps(drawn(game.rules.moves(state, by), random).to_json())
        else:
            by, move = random.choice(list(attempts(here, state, random)))
            seat = by if by in phones else random.choice(list(phones))
            try:
                text = json.dumps(move.to_json()) if random.random() < 0.9 else random.choice(NOT_JSON)
            except (TypeError, ValueError):
                continue
        seen[_posted(phones[seat], table_id, by, text, table.version)] += 1


def _posted(phone: Browser, table_id: str, seat: str, move: str, version: int) -> int:
    form = {"seat": seat, "move": move, "version": str(version), "request": f"r{next(phone.requests)}"}
    return phone.post(f"/t/{table_id}/play", form, Accept="application/json").status_code
