"""The first game teaches itself: the next tap is lit beside a sentence, and a card names the phases."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from companion.model.table import Table
from tests.browser.conftest import Companion, Device
from tests.browser.layout import too_small, too_wide
from tests.browser.siege_map import tap_hex

Make = Callable[..., Device]

TAPS = 40
"""More taps than any first turn needs."""
WORDS_A_SECOND = 200 / 60
"""Texts a minute that people read with ease."""
SECONDS_A_TAP = 1.0
FIRST_MARCH = 9
"""Taps of both sides up to the first march: two each to deploy, two for each event, one for the unit."""
LONGEST_TURN = 60
"""Seconds that a guided first turn may take, by its sentences, each read once, and its taps."""


def opened(companion: Companion, game: str, preset: str) -> Table:
    home, options = companion.home, {"setup": "random"} if game == "market" else {}
    table = home.services.tables.open(game, "Sunday", 2, preset, options)
    return home.services.seats.begin(table.id, table.code)


def version(page: Page) -> int:
    return int(page.locator("#live").get_attribute("data-version") or 0)


def follow(page: Page) -> str:
    """Tap what is lit until the table has moved on or a level has opened; return the sentence beside it."""
    words = page.locator(".first-turn-words").inner_text()
    before, lit = version(page), page.locator("[data-guided-to]")
    asks = lit.get_attribute("data-confirm") is not None
    lit.click()
    if asks:
        expect(lit).to_have_attribute("data-armed", "")
        lit.click()
    page.wait_for_function(
        "before => Number(document.getElementById('live').dataset.version) > before"
        " || document.querySelector('.levels')",
        arg=before,
    )
    page.wait_for_timeout(650)  # until a next tap is no slip
    return words


def seconds(said: list[str]) -> float:
    """Return how long somebody takes who reads each sentence once and taps as often as sentences were shown."""
    return sum(len(sentence.split()) for sentence in set(said)) / WORDS_A_SECOND + len(said) * SECONDS_A_TAP


@pytest.mark.parametrize(
    ("game", "preset"),
    [("mexica", "temple_only"), ("mexica", "classic"), ("market", "classic"), ("moctezuma", "classic")],
)
def test_a_player_who_taps_what_is_lit_plays_a_first_turn_and_is_not_guided_again(
    companion: Companion, device: Make, game: str, preset: str
) -> None:
    table = opened(companion, game, preset)
    phone = device(guide=True)
    phone.share(companion, table)
    said = []
    for _ in range(TAPS):
        if not phone.page.locator("#live[data-guiding]").count():
            break
        said.append(follow(phone.page))
    expect(phone.page.locator("#live[data-guiding]")).to_have_count(0)
    assert len(set(said)) >= 2
    assert seconds(said) <= LONGEST_TURN, f"{said}"
    expect(phone.page.locator(".first-turn-words")).to_be_hidden()
    phone.page.reload()
    phone.listening()
    expect(phone.page.locator(".first-turn-words")).to_be_hidden()


def test_a_siege_is_guided_through_its_whole_first_turn(companion: Companion, device: Make) -> None:
    table = opened(companion, "siege", "skirmish")
    phone = device({"width": 360, "height": 780}, guide=True)
    phone.share(companion, table)
    said: list[str] = []
    for _ in range(3 * TAPS):
        if not phone.page.locator("#live[data-guiding]").count():
            break
        if phone.page.locator(".siege-map[data-guided-to]").count():
            said.append(phone.page.locator(".first-turn-words").inner_text())
            before, mark = version(phone.page), phone.page.locator(".next-hex")
            expect(mark).to_be_visible()
            name = mark.get_attribute("data-hex") or ""
            tap_hex(phone.page, name)
            phone.page.wait_for_function(
                "([before, name]) => Number(document.getElementById('live').dataset.version) > before"
                " || document.querySelector('.next-hex').dataset.hex !== name",
                arg=[before, name],
            )
            phone.page.wait_for_timeout(650)
        else:
            said.append(follow(phone.page))
        if len(said) == FIRST_MARCH:
            assert seconds(said) <= LONGEST_TURN
    expect(phone.page.locator("#live[data-guiding]")).to_have_count(0)
    assert companion.home.services.tables.get(table.id).turn == 2
    heard = " ".join(said)
    for sentence in ("Two dice open each turn", "it rolls for its points", "Tap a marked hex", "End the phase"):
        assert sentence in heard


def test_a_guide_that_is_skipped_is_not_shown_again_until_it_is_wanted(companion: Companion, device: Make) -> None:
    table = opened(companion, "mexica", "temple_only")
    phone = device(guide=True)
    phone.share(companion, table)
    phone.page.click("[data-guide-skip]")
    expect(phone.page.locator(".first-turn-words")).to_be_hidden()
    expect(phone.page.locator("[data-guided-to]")).to_have_count(0)
    phone.page.reload()
    phone.listening()
    expect(phone.page.locator(".first-turn-words")).to_be_hidden()
    phone.page.click("#phases summary")
    phone.page.click("[data-guide-start]")
    expect(phone.page.locator(".first-turn-words")).to_be_visible()
    expect(phone.page.locator("[data-guided-to]")).to_be_visible()


def test_a_waiting_player_is_not_guided(companion: Companion, device: Make) -> None:
    table = opened(companion, "mexica", "temple_only")
    phone = device(guide=True)
    phone.join(companion, table, "west", "Walt")
    expect(phone.page.locator(".first-turn-words")).to_have_count(0)
    expect(phone.page.locator("[data-guided-to]")).to_have_count(0)


def test_the_card_of_the_phases_marks_the_one_that_runs(companion: Companion, device: Make) -> None:
    phone = device(guide=True)
    for game, preset, phase in (
        ("mexica", "classic", "Roll"),
        ("market", "classic", "First coins"),
        ("siege", "skirmish", "Deployment"),
    ):
        table = opened(companion, game, preset)
        phone.hold(companion, table)
        phone.watch(companion, table)
        expect(phone.page.locator("#phases summary")).to_have_css("display", "list-item")
        phone.page.click("#phases summary")
        expect(phone.page.locator("#phases [aria-current=step] b")).to_have_text(phase)


def test_the_sentence_and_what_it_lights_stand_on_the_smallest_phone(companion: Companion, device: Make) -> None:
    """In the longer language."""
    phone = device({"width": 360, "height": 640}, "es", guide=True)
    for game, preset in (
        ("mexica", "temple_only"),
        ("mexica", "classic"),
        ("market", "classic"),
        ("moctezuma", "classic"),
        ("siege", "skirmish"),
    ):
        table = opened(companion, game, preset)
        phone.hold(companion, table)
        phone.watch(companion, table)
        lit, words = phone.page.locator("[data-guided-to]").first, phone.page.locator(".first-turn")
        expect(lit).to_be_in_viewport()
        expect(words).to_be_in_viewport()
        assert too_wide(phone.page) == []
        said, tap = words.bounding_box(), lit.bounding_box()
        assert said
        assert tap
        apart = said["y"] + said["height"] <= tap["y"] or tap["y"] + tap["height"] <= said["y"]
        assert apart, f"{game}: the one covers the other"
        phone.page.locator("#phases summary").click()
        assert too_small(phone.page, "#phases summary, [data-guide-start], [data-guide-skip]") == []


def test_a_great_move_says_what_it_changes_before_it_is_confirmed(companion: Companion, device: Make) -> None:
    phone = device()
    phone.join(companion, opened(companion, "mexica", "temple_only"), "east", "Ana")
    phone.page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    before, button = version(phone.page), phone.page.locator("button[data-confirm]", has_text="Ana")
    button.first.click()
    expect(phone.page.locator("#notice")).to_contain_text("the game ends, and Ana wins. Tap again")
    assert version(phone.page) == before


def test_a_phones_wheel_names_the_day_of_each_tribe(companion: Companion, device: Make) -> None:
    phone = device()
    phone.join(companion, opened(companion, "mexica", "classic"), "east", "Ana")
    expect(phone.page.locator(".board-here li").first).to_contain_text("on Flower 0")
    expect(phone.page.locator(".board-here")).to_be_visible()
