"""The great moments: each occurs where it should, moves once, then rests, and stands still for who asked for that."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from companion.games.kit import Move
from companion.model.table import Table
from tests.browser.conftest import SCREEN, Companion, Device

Make = Callable[..., Device]
MOTIONS = pytest.mark.parametrize("motion", ["no-preference", "reduce"])
GODS = ("huitzilopochtli", "tlaloc")
WATCH_GLOWS = """() => {
  window.glows = [];
  new MutationObserver((changes) => {
    for (const each of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (!each.matches?.(".glow")) continue;
      const style = getComputedStyle(each);
      window.glows.push({
        god: each.matches(".of-tlaloc"),
        delays: each.getAnimations().map((one) => one.effect.getTiming().delay),
        opacity: style.opacity,
        border: parseFloat(style.borderTopWidth) > 5,
      });
    }
  }).observe(document.body, { childList: true });
}"""
"""Remembers how each light looked when it came: it is gone after some seconds, and a busy machine looks late."""
LEFT = "each => each.getAnimations().map((one) => one.finish()) && new DOMMatrix(getComputedStyle(each).transform).f"


class Age:
    """A short age of two tribes, whose moves a test makes."""

    def __init__(self, companion: Companion) -> None:
        self.companion, services = companion, companion.home.services
        opened = services.tables.open("mexica", "Sunday", 2, "temple_only", {"apocalypse_tokens": 13})
        self.keys = {
            seat: services.seats.sit(opened.id, opened.code, seat, name)
            for seat, name in zip(opened.charter.seats, ("Ana", "Beto"), strict=True)
        }
        services.seats.begin(opened.id, opened.code)
        self.id = opened.id

    @property
    def now(self) -> Table:
        return self.companion.home.services.tables.get(self.id)

    def play(self, *move: str | int) -> None:
        now = self.now
        seat = str(now.on_turn)
        made = Move(str(move[0]), move[1:])
        play = self.companion.home.services.play
        assert play.move(self.id, self.keys[seat], seat, made, now.version, f"v{now.version}").accepted

    def give(self, god: str, n: int = 7) -> None:
        self.play("sacrifice", god, n)

    def call(self, god: str) -> None:
        """Bring the countdown: all tokens go to one god."""
        self.give(god)
        self.give(god)

    def phone(self, device: Make, seat: str, motion: str) -> Device:
        phone = device()
        phone.page.emulate_media(reduced_motion=motion)  # type: ignore[arg-type]
        phone.context.add_cookies(
            [{"name": f"seat-{self.id}", "value": self.keys[seat], "url": self.companion.address}]
        )
        phone.watch(self.companion, self.now)
        return phone

    def screen(self, device: Make, motion: str) -> Page:
        screen = device(SCREEN)
        screen.page.emulate_media(reduced_motion=motion)  # type: ignore[arg-type]
        screen.watch(self.companion, self.now, "/screen")
        return screen.page


@pytest.fixture
def age(companion: Companion) -> Age:
    return Age(companion)


@MOTIONS
@pytest.mark.parametrize(("god", "doom"), [("tlaloc", "flood"), ("huitzilopochtli", "war")])
def test_each_turn_brings_the_doom_a_step_higher_the_last_is_dusk_and_the_end_stays(
    age: Age, device: Make, god: str, doom: str, motion: str
) -> None:
    page = age.screen(device, motion)
    expect(page.locator(".tide")).to_have_count(0)
    age.call(god)
    tide, dusk = page.locator(f".region-tide .tide-{doom}"), page.locator(".dusk")
    expect(tide).to_have_attribute("data-step", "0")
    age.play("end_turn")
    heights = [tide.evaluate(LEFT)]
    for step in range(1, 14):
        assert dusk.evaluate(LEFT) < -page.viewport_size["height"]  # type: ignore[index]
        age.play("end_turn")
        expect(tide).to_have_attribute("data-step", str(step))
        heights.append(tide.evaluate(LEFT))
        if step == 12:
            expect(dusk).to_have_attribute("data-last", "")
            assert dusk.evaluate(LEFT) == 0
            break
    age.play("end_turn")
    expect(page.locator(f".ending-{doom}")).to_be_visible()
    expect(tide).to_have_attribute("data-step", "13")
    heights.append(tide.evaluate(LEFT))
    steps = [before - after for before, after in pairwise(heights)]
    assert heights[-1] == 0
    assert max(steps) - min(steps) < 1
    assert min(steps) > 50
    arrived = page.locator("body > .moment > .tide")
    expect(arrived).to_have_css("animation-name", "none" if motion == "reduce" else "rises")
    page.locator("body > .moment").click()
    assert tide.evaluate("each => getComputedStyle(each).position") == "fixed"
    page.wait_for_function("() => document.getAnimations().length === 0")


@MOTIONS
def test_the_call_has_the_dooms_name_its_thirteen_and_the_tables_own_tokens(
    age: Age, device: Make, motion: str
) -> None:
    page = age.screen(device, motion)
    age.call("tlaloc")
    moment = page.locator("body > .moment")
    expect(moment.locator(".moment-name")).to_have_text("The flood")
    expect(moment.locator(".moment-count")).to_have_text("13")
    lake = moment.locator(".lake")
    expect(lake).to_have_css("animation-name", "none" if motion == "reduce" else "rises")
    assert lake.locator("use[href='#beads-tlaloc']").count() == 3
    drawn = "each => each.getBoundingClientRect().height"
    assert lake.locator("use[href='#beads-tlaloc']").first.evaluate(drawn) > 50
    lake.evaluate("each => each.getAnimations().map((one) => one.finish())")
    name, risen = moment.locator(".moment-name").bounding_box(), lake.bounding_box()
    assert name
    assert risen
    assert name["y"] + name["height"] < risen["y"] < 1080


@MOTIONS
def test_the_phones_light_up_in_the_gods_colour_in_the_order_of_the_seats(
    age: Age, device: Make, motion: str
) -> None:
    phones = [age.phone(device, seat, motion).page for seat in age.keys]
    for page in phones:
        page.evaluate(WATCH_GLOWS)
    age.call("tlaloc")
    for n, page in enumerate(phones):
        page.wait_for_function("() => window.glows.length === 1")
        glow = page.evaluate("() => window.glows[0]")
        if motion == "reduce":
            assert glow == {"god": True, "delays": [], "opacity": "1", "border": True}
        else:
            assert glow == {"god": True, "delays": [500 * n], "opacity": "0", "border": False}
    for page in phones:
        expect(page.locator("body > .glow")).to_have_count(0)


@MOTIONS
def test_a_token_is_seen_to_fall_on_the_screen_and_on_the_droppers_phone(age: Age, device: Make, motion: str) -> None:
    pages = [age.screen(device, motion), age.phone(device, str(age.now.on_turn), motion).page]
    age.give("huitzilopochtli", 1)
    for page in pages:
        newest = page.locator(".lake .newest")
        expect(newest).to_have_css("animation-name", "none" if motion == "reduce" else "fall")
        if motion == "reduce":
            expect(page.locator(".lake .ripple")).to_have_css("opacity", "1")
        else:
            page.wait_for_function("() => document.getAnimations().length === 0")


def test_nothing_moves_on_the_screen_while_nothing_happens(age: Age, device: Make) -> None:
    page = age.screen(device, "no-preference")
    age.call("huitzilopochtli")
    page.locator("body > .moment").click()
    age.play("end_turn")
    age.play("end_turn")
    expect(page.locator(".tide")).to_have_attribute("data-step", "1")
    page.wait_for_function("() => document.getAnimations().length === 0")


@MOTIONS
def test_a_victory_has_rays_of_its_own(age: Age, device: Make, motion: str) -> None:
    page = age.screen(device, motion)
    age.play("settle", "west")
    moment = page.locator("body > .moment[data-won]")
    expect(moment.locator(".moment-words")).to_have_text("Beto settles")
    name = moment.evaluate("each => getComputedStyle(each, '::before').animationName")
    assert name == ("none" if motion == "reduce" else "moment-dawns")


@MOTIONS
@pytest.mark.parametrize(
    ("game", "preset", "kinds", "animated"),
    [
        ("siege", "skirmish", ["captured"], ["captured"]),
        ("moctezuma", "swift", ["closed", "points"], ["last-chit", "moment-rises"]),
    ],
)
def test_a_captured_leader_and_the_last_chit_are_moments_of_their_own(
    companion: Companion, device: Make, game: str, preset: str, kinds: list[str], animated: list[str], motion: str
) -> None:
    services = companion.home.services
    table = services.tables.open(game, "Sunday", 2, preset)
    keys = {seat: services.seats.sit(table.id, table.code, seat, seat.title()) for seat in table.charter.seats}
    services.seats.begin(table.id, table.code)
    first = table.charter.seats[0]
    screen = device(SCREEN)
    screen.page.emulate_media(reduced_motion=motion)  # type: ignore[arg-type]
    screen.watch(companion, table, "/screen")
    for seat in table.charter.seats:
        services.seats.away(table.id, keys[first], seat, "app")
    while services.tables.get(table.id).phase != "over":
        services.play.let_app_roll(table.id, keys[first], True)
    for kind, name in zip(kinds, animated, strict=True):
        picture = screen.page.locator(f"body > .moment[data-kind='{kind}'] .moment-picture")
        expect(picture).to_have_css("animation-name", "none" if motion == "reduce" else name)
