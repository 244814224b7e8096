"""Every aid of every game as its pages say it: at all times, in every language, and to numbers out of range."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from itertools import cycle
from random import Random

import pytest

from companion.games.kit import Arg, Move, Refusal, Seat
from companion.games.kit.table import MISFIT
from companion.model.table import Table
from companion.web.rendering.texts import LANGUAGES
from tests.companion.web.conftest import Browser, WebHome
from tests.games.playouts import GAMES, drawn
from tests.games.texts import LIBRARY

SCRIPT = {"Accept": "application/json"}
TAPS = 16
"""Taps of an aid; its pages are read in English and Spanish by turns."""

AIDS = [(game.name, aid) for game in GAMES.values() for aid in game.tools]

each_aid = pytest.mark.parametrize(("game", "aid"), AIDS, ids=[f"{game}-{aid}" for game, aid in AIDS])
each_language = pytest.mark.parametrize("language", LANGUAGES)


def opened(home: WebHome, phone: Browser, game: str, aid: str) -> Table:
    path = phone.post(f"/games/{game}/aids/{aid}").headers["Location"]
    return now(home, path.rpartition("/")[2])


def now(home: WebHome, table_id: str) -> Table:
    return home.services.tables.get(table_id)


def pages(phone: Browser, table: Table, seat: Seat, picked: tuple[Arg, ...] = ()) -> Iterator[str]:
    """Yield the addresses of the levels of an aid's choices: of each level the first that leads to another."""
    deeper = [each for each in table.game.rules.choices(table.state, seat, picked) if each.move is None]
    for key in dict.fromkeys(each.key for each in deeper):
        path = (*picked, next(each for each in deeper if each.key == key).facts["pick"])
        yield f"/t/{table.id}/picks?seat={seat}&picked={json.dumps(path)}"
        yield from pages(phone, table, seat, path)


@each_aid
def test_an_aid_shows_its_page_and_its_choices_after_any_taps(home: WebHome, game: str, aid: str) -> None:
    phone, random = home.browser(), Random(f"{game} {aid}")
    table = opened(home, phone, game, aid)
    for _, phone.language in zip(range(TAPS), cycle(LANGUAGES), strict=False):
        seat = table.game.rules.to_act(table.state)[0]
        for path in (f"/t/{table.id}", f"/t/{table.id}/screen", *pages(phone, table, seat)):
            assert phone.get(path).status_code == 200, f"{path} {table.game.rules.notation(table.state)}"
        moves = table.game.rules.moves(table.state, seat)
        if not moves:
            break
        move = drawn(moves, random)
        answer = phone.move(table, seat, *move.to_json(), version=table.version)
        assert answer.status_code == 303, move
        table = now(home, table.id)


def typed_fields(html: str) -> list[tuple[str, Move, int]]:
    """Return of each field for a number its seat, the move that it ends, and the most digits that it takes."""
    found = []
    for form in re.findall(r'(?s)<form class="move typed .*?</form>', html):
        value = {name: unescape(text) for name, text in re.findall(r'name="(\w+)" value="([^"]*)"', form)}
        digits = re.search(r'maxlength="(\d+)"', form)
        assert digits
        found.append((value["seat"], Move.from_json(json.loads(value["move"])), int(digits[1])))
    return found


def test_the_aids_with_fields_for_numbers_are_known(home: WebHome) -> None:
    phone = home.browser()
    found = {
        f"{game}.{aid}"
        for game, aid in AIDS
        if typed_fields(phone.get(f"/t/{opened(home, phone, game, aid).id}").get_data(as_text=True))
    }
    assert found == {"market.score", "market.lanes", "siege.editor"}


@each_language
@pytest.mark.parametrize(("game", "aid"), [("market", "score"), ("market", "lanes"), ("siege", "editor")])
def test_a_number_out_of_range_is_refused_in_the_rules_own_words(
    home: WebHome, game: str, aid: str, language: str
) -> None:
    phone = home.browser(language=language)
    table = opened(home, phone, game, aid)
    words = LIBRARY.words(language, f"{game}.{aid}")
    for seat, move, digits in typed_fields(phone.get(f"/t/{table.id}").get_data(as_text=True)):
        for n in (10**digits - 1, 10**8):
            refusal = table.game.rules.play(table.state, seat, Move(move.name, (*move.args, n)))
            assert isinstance(refusal, Refusal)
            assert refusal.code != MISFIT, refusal
            form = {"seat": seat, "move": json.dumps(move.to_json()), "typed": str(n)}
            post = {**form, "version": str(table.version), "request": f"r{next(phone.requests)}"}
            answer = phone.post(f"/t/{table.id}/play", post, **SCRIPT)
            assert answer.status_code == 409, answer.get_data(as_text=True)
            assert answer.get_json()["words"] == words(f"refusal.{refusal.code}", **refusal.facts)


def test_the_odds_on_a_screen_name_their_modifiers_under_no_heading_that_stays_empty(home: WebHome) -> None:
    phone = home.browser()
    table = opened(home, phone, "siege", "dice")
    phone.move(table, "keeper", "tick", "conquistador", version=table.version)
    page = phone.get(f"/t/{table.id}/screen").get_data(as_text=True)
    assert "Total +1 · conquistadors +1" in " ".join(page.split())
    assert "Modifiers of the attack" not in page
