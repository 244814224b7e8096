"""Tables fit the rooms they are played in: nothing overlaps, is cut or is too small, at any stage of any game."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Companion
from tests.browser.rooms import ROOMS, Room, look


@pytest.mark.parametrize("room", [room for room in ROOMS if room.long and room.most], ids=str)
def test_a_table_screen_is_read_from_afar_with_the_longest_names(
    companion: Companion, browser_in: Callable[[str], Browser], room: Room
) -> None:
    found = look(companion, browser_in("wide"), room, layout="screen", language="es", every=2)
    assert found.texts > 100
    assert found.wrong == {}
