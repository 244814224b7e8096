"""Few taps lead to a seat and to a first move, and a table screen is read from afar, in every game."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser

from tests.browser import first_taps
from tests.browser.conftest import SCREEN, Companion, Device
from tests.browser.layout import READ_FROM_AFAR


@pytest.mark.parametrize("game", first_taps.GAMES)
def test_two_taps_lead_to_a_seat_ten_to_a_move_and_the_guide_takes_a_minute_at_most(
    companion: Companion, chromium: Browser, device: Callable[..., Device], game: str
) -> None:
    contexts = [first_taps.phone(chromium) for _ in range(2)]
    assert first_taps.from_code_to_seat(companion, contexts[0], game, slowed=1).taps == 2
    set_up = first_taps.from_setting_to_move(companion, contexts[1], game, slowed=1)
    assert set_up.taps <= 10
    assert set_up.words > 0
    assert set_up.guide_s <= 60
    assert min(first_taps.sizes_on_screen(companion, device(SCREEN).page, game)) > READ_FROM_AFAR - 0.05
    for context in contexts:
        context.close()
