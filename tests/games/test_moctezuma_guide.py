"""The guide of Moctezuma's Revenge: every ruling, once, in each language."""

from __future__ import annotations

import pytest

from companion.games import registry
from companion.games.moctezuma import GAME
from companion.web.rendering.guide import load
from companion.web.rendering.renderer import guide_file
from companion.web.rendering.texts import LANGUAGES
from tests.games.moctezuma_sitting import Sitting

registry.load()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_guide_holds_every_ruling_from_z1_to_z28(language: str) -> None:
    guide = load(guide_file(registry.folder(GAME), language))
    assert sorted(guide.rulings, key=lambda ruling: int(ruling[1:])) == [f"Z{n}" for n in range(1, 29)]


def test_with_cards_in_hand_the_guide_says_to_keep_one_and_draws_no_more() -> None:
    table = Sitting().put(5).do("explore", 2).dealt(3, 1)
    choices = [each.to_json() for each in GAME.rules.choices(table.state, "red")]
    found = GAME.page.guide({**table.view("red"), "choices": choices})
    assert (found.phase, found.why, found.lit) == ("explore", "keep", "keep")
