"""Looking back with a real browser: the story, the way through a game, and sorting out tokens with a thumb."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

from playwright.sync_api import expect

from companion.model.table import Table
from tests.browser.conftest import PHONE, SCREEN, Companion, Device, narrow_then_wide
from tests.browser.layout import DRAWN, too_small, too_wide
from tests.browser.test_access import violations_by_day_and_night

Make = Callable[..., Device]

TAPPED = "main :is(button, summary, a, label, input[type=range])"


def doubtful(companion: Companion, **options: str | int) -> Table:
    """Return a table past its trigger, at which four tokens wait for a decision."""
    table = companion.table(apocalypse_tokens=13, **options)
    companion.drop("tlaloc", 9)
    companion.drop("huitzilopochtli", 5)
    home = companion.home
    fell = home.clock.now + timedelta(seconds=5)
    home.clock.pass_(seconds=10)
    token = home.seated(table, "north", "Nezahualcoyotl Texcoco")
    home.services.seats.away(table.id, token, "east", "pass")
    home.play(table, token, "north", "end_turn")
    tokens = [home.token(90 + n, "tlaloc", at=fell, replayed=True) for n in range(3)]
    home.services.temples.intake.receive(
        [("table", each) for each in [*tokens, home.token(99, "huitzilopochtli", "jam")]]
    )
    return table


def test_axe_finds_nothing_and_everything_fits_and_is_large_enough_for_a_thumb(
    companion: Companion, device: Make
) -> None:
    table = doubtful(companion)
    reader = device(PHONE, "es", font="both")
    reader.page.add_init_script(
        "window.broken = [];"
        "addEventListener('securitypolicyviolation', e => broken.push(e.violatedDirective + e.blockedURI))"
    )
    reader.join(companion, table, "west", "Ana")
    found = {}
    for path in ("story", "replay?step=12", "replay?step=12&as=screen", "reconcile"):
        reader.page.goto(f"{companion.address}/t/{table.id}/{path}")
        reader.listening()
        for details in reader.page.locator("details").all():
            details.evaluate("details => details.open = true")
        if problems := violations_by_day_and_night(reader, rules=None):
            found[path] = problems
        for page in narrow_then_wide(reader.page):
            for size in (SCREEN, PHONE):
                page.set_viewport_size(size)
                page.evaluate(DRAWN)
                assert too_wide(page) == [], path
            assert "as=screen" in path or too_small(page, TAPPED, both=False) == [], path
        assert json.loads(reader.page.evaluate("JSON.stringify(broken)")) == [], path
    assert found == {}


def test_keys_and_the_range_lead_through_a_game(companion: Companion, device: Make) -> None:
    table = doubtful(companion)
    last = companion.home.services.tables.get(table.id).version
    phone = device()
    phone.page.goto(f"{companion.address}/t/{table.id}/story")
    phone.page.get_by_role("link", name="Step through it").click()
    at = phone.page.locator(".replay-at b")
    expect(at).to_have_text(f"Step 1 of {last}")
    expect(phone.page.locator(".replay-empty")).to_be_visible()
    for key, step in (("ArrowRight", 2), ("End", last), ("ArrowRight", last), ("ArrowLeft", last - 1), ("Home", 1)):
        phone.listening()
        phone.page.keyboard.press(key)
        expect(at).to_have_text(f"Step {step} of {last}")
    phone.listening()
    phone.page.locator("[data-step]").fill("7")
    expect(at).to_have_text(f"Step 7 of {last}")
    expect(phone.page.locator('[data-piece="count-tlaloc"]')).to_have_text("5")
    phone.page.get_by_role("link", name="One step on").click()
    expect(phone.page.locator('[data-piece="count-tlaloc"]')).to_have_text("6")
    assert phone.page.locator(".past form, .past button").count() == 0


def test_the_way_through_works_without_a_script(companion: Companion, device: Make) -> None:
    table = doubtful(companion)
    phone = device(java_script_enabled=False)
    phone.page.goto(f"{companion.address}/t/{table.id}/replay?step=7&as=screen")
    phone.page.get_by_role("link", name="One step back").click()
    expect(phone.page.locator(".replay-at b")).to_contain_text("Step 6 of")
    phone.page.locator("[data-step]").fill("9")
    phone.page.get_by_role("button", name="Show").click()
    expect(phone.page.locator(".replay-at b")).to_contain_text("Step 9 of")
    assert "as=screen" in phone.page.url


def test_several_tokens_are_sorted_out_with_two_taps(companion: Companion, device: Make) -> None:
    table = doubtful(companion)
    phone = device()
    phone.join(companion, table, "west", "Ana")
    phone.page.get_by_role("link", name="4 tokens to sort out").click()
    phone.listening()
    expect(phone.page.locator(".verdict-waiting")).to_contain_text("4 tokens are waiting")
    phone.page.get_by_label("Mark all 4").check()
    phone.page.locator(".asked-token", has_text="stuck").get_by_role("checkbox").uncheck()
    expect(phone.page.get_by_label("Mark all 4")).not_to_be_checked()
    phone.page.get_by_role("group").get_by_role("button", name="Ana").click()
    expect(phone.page.locator(".verdict-waiting")).to_contain_text("1 token is waiting")
    phone.page.get_by_role("button", name="No token").click()
    expect(phone.page.locator(".verdict-by_hand")).to_be_visible()
    view = companion.home.services.tables.get(table.id)
    given = view.game.page.view(view.state, None)["given"]
    assert isinstance(given, dict)
    assert given["west"] == {"huitzilopochtli": 0, "tlaloc": 3}


def test_the_files_of_a_story_come_down(companion: Companion, device: Make) -> None:
    table = doubtful(companion)
    phone = device()
    phone.page.goto(f"{companion.address}/t/{table.id}/story")
    for name, ending in (("As JSON, to replay it", "json"), ("As CSV, for a spreadsheet", "csv")):
        with phone.page.expect_download() as coming:
            phone.page.get_by_role("link", name=name).click()
        assert coming.value.suggested_filename == f"sunday-2026-11-21.{ending}"
