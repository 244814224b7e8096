"""The full game of Mexica on two phones and a table screen: typed dice and cards, a battle, hidden hands, the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from playwright.sync_api import ViewportSize, expect

from companion.games.mexica.page.calendar_board import spaces
from companion.games.mexica.rules.cards import game_deck
from templo import contract
from tests.browser.conftest import PHONE, SCREEN, Companion, Device, narrow_then_wide
from tests.browser.driving import HURRIED, Table, confirm, played_out, seated_and_begun
from tests.browser.layout import too_small, too_wide
from tests.browser.test_access import violations

DECK = game_deck()

Make = Callable[..., Device]
Scheme = Literal["light", "dark"]


def title(card: str) -> str:
    return DECK.words["en"][f"card.{card}.title"]


def begun(companion: Companion, host: Device, guest: Device, preset: str, **rules: str | int) -> Table:
    """Set a table for two from the lobby, as a family does, and begin."""
    for each in (host, guest):
        each.page.add_init_script(f"({HURRIED})()")
    host.page.goto(f"{companion.address}/tables/new")
    host.listening()
    host.page.check('input[name="players"][value="2"]', force=True)
    host.page.check(f'input[name="preset"][value="{preset}"]', force=True)
    host.page.wait_for_selector("#option-battle_loot", state="attached")
    host.page.click("#house-rules > summary")
    for group in host.page.locator(".rule-group > summary").all():
        group.click()
    for key, value in rules.items():
        field = host.page.locator(f'input[name="option.{key}"]')
        if field.first.get_attribute("type") == "number":
            field.fill(str(value))
        else:
            host.page.check(f'input[name="option.{key}"][value="{value}"]', force=True)
    return Table(companion, seated_and_begun(companion.address, host, guest), [host, guest])


def hidden(table: Table, seat: str, card: str) -> None:
    """Check that the title of a card stands on the phone of its tribe and nowhere else."""
    table.settle()
    shown = [title(card) in phone.page.content() for phone in table.phones]
    assert shown == [seat == each for each in ("east", "west", "")][: len(shown)]


def test_dice_and_cards_of_wood_and_paper_are_typed_in_and_hands_stay_hidden(
    companion: Companion, device: Make
) -> None:
    ana, ben, screen = device(), device(), device(SCREEN)
    table = begun(companion, ana, ben, "classic", starts="all_crocodile", god_card_cost=1)
    screen.watch(companion, companion.home.services.tables.get(table.id), "/screen")
    table.phones.append(screen)

    # Ana's real die shows three. The Lizard was full, so a Day card is hers, and she types which it was.
    expect(ana.page.locator(".next-title")).to_have_text("Roll the die")
    expect(ben.page.locator(".next-await")).to_contain_text("Ana rolls the die")
    table.roll(3)
    assert table.due == "draw"
    expect(ben.page.locator(".next.awaited .button")).to_have_count(0)  # only she may know the card
    table.drew("8 · Rabbit", "Rabbit 13")
    expect(ben.page.locator(".log")).to_contain_text("Ana draws Rabbit 13: Take 7 tokens from the reserve.")
    expect(screen.page.locator(".piece.on-lizard")).to_have_attribute("data-piece", "tribe-east")

    # Seven tokens for Tonantzin bring another: the Flower, which only Ana's phone shows.
    expect(ana.page.locator(".offering")).to_contain_text("8 tokens left")
    table.tap(".offering .tonantzin button")
    table.drew("20 · Flower", "Flower 3")
    hidden(table, "east", "day-flower-3")
    for other in (ben, screen):
        expect(other.page.locator(".tribe").filter(has_text="Ana")).to_contain_text("1 Day")
    expect(ana.page.locator(".card-why")).to_contain_text("One of the three signs")
    expect(ana.page.locator(".offering-note")).to_contain_text("6 tokens are missing")
    table.primary()
    table.primary()

    # Ben lands beside her: a battle on every page, and the lower die is what it costs.
    table.roll(3)
    assert table.due == "die"
    for each in (ana, ben, screen):
        expect(each.page.locator(".battle-side")).to_have_count(2)
    table.roll(6)
    expect(ana.page.locator(".battle-side .die use").first).to_have_attribute("href", "#die-6")
    assert table.acting is ana.page
    table.roll(2)
    expect(ben.page.locator(".log")).to_contain_text("Ben wins a battle")
    for each in (ana, ben, screen):
        expect(each.page.locator(".battle")).to_have_count(0)

    # A token for war brings Ben a War card.
    table.tap(".altar.of-huitzilopochtli .tap button")
    table.drew("War 1")
    hidden(table, "west", "war-1")
    expect(ben.page.locator(".card-why")).to_have_text("Play it before the dice of a battle that you begin.")
    expect(ana.page.locator('[data-piece="count-huitzilopochtli"]').first).to_have_text("1")
    table.primary()
    table.primary()

    # Ana walks on, Ben follows. Before the dice he plays the card, with a second tap; now all know it.
    table.roll(1)
    table.drew("2 · Wind", "Wind 1")
    table.primary()
    table.primary()
    table.roll(1)
    assert table.due == "arm"
    expect(ana.page.locator(".next-await")).to_contain_text("Ben may play a card before the dice")
    table.tap(".card.playable .play button")
    expect(ana.page.locator(".battle-side").first).to_contain_text("+1 by cards")
    expect(ana.page.locator(".log")).to_contain_text("Ben plays War 1: Add 1 to your die")
    table.roll(4)
    table.roll(4)
    expect(screen.page.locator(".log")).to_contain_text("Ben wins a battle")


def test_a_game_goes_on_with_a_temple_a_reload_and_a_phone_that_is_lost_and_its_end_is_shown(
    companion: Companion, device: Make
) -> None:
    home = companion.home
    home.services.temples.expect("table")
    home.beams("table", contract.Beam.CLEAR, contract.Beam.CLEAR)
    ana, ben = device(), device()
    table = begun(companion, ana, ben, "classic", apocalypse_tokens=13)
    assert home.services.tables.get(table.id).temple == "table"
    turn = fallen = 0

    def fall() -> None:
        nonlocal fallen
        companion.drop("tlaloc")
        fallen += 1

    def go_on() -> None:
        state = home.services.tables.get(table.id).state
        if table.due == "sacrifice" and state.laid.tribes[state.index(state.seat)].tokens:
            fall()
            table.settle()
        elif table.acting.locator(".next.mine .end-turn").count():
            table.primary()
        else:
            table.tap(".next.mine .pick button, .card.playable .play button")

    while not table.over:
        state = home.services.tables.get(table.id).state
        if state.turn != turn:
            turn = state.turn
            if turn == 2:
                ana.page.reload()
                ana.listening()
            if turn == 4:
                break
            if turn == 3:
                table.phones[1] = handed_over(companion, table, ana, device())
        go_on()
    assert turn == 4
    now = home.services.tables.get(table.id)
    keys = {seat: phone.key(now) for seat, phone in zip(now.charter.seats, table.phones, strict=True)}
    before = fallen
    for phone in table.phones:
        phone.page.goto(f"{companion.address}/healthz")  # it need not follow what is played without it
    played_out(companion, table.id, keys, fall, lambda state: state.clock is not None and state.clock.left <= 2)
    assert not table.over
    for phone in table.phones:
        phone.watch(companion, home.services.tables.get(table.id))
    while not table.over:
        go_on()
    last = home.services.tables.get(table.id).state
    assert before > 0
    assert last.outcome.kind == "flood"
    assert len(last.counted) == fallen > 0
    assert last.tallies.total >= 13
    for phone in table.phones:
        expect(phone.page.locator(".ending-flood")).to_be_visible()
        expect(phone.page.locator(".ending .button-main")).to_be_visible()


def handed_over(companion: Companion, table: Table, by: Device, new: Device) -> Device:
    """Let a phone at the table hand the lost seat over, and another phone take it."""
    new.page.add_init_script(f"({HURRIED})()")
    by.page.click("#drawer > summary")
    services = companion.home.services
    confirm(by.page.locator(".free-form button"), lambda: not services.tables.get(table.id).chair("west").taken)
    expect(by.page.locator(".chair.free")).to_have_count(1)
    new.join(companion, companion.home.services.tables.get(table.id), "west", "Carla")
    by.page.click("#drawer > summary")
    return new


def shared(companion: Companion, phone: Device) -> Table:
    """Open a table for two that one phone plays, passed round, with East's hand not empty."""
    options = {"scope": "full", "starts": "all_crocodile", "god_card_cost": 1}
    running = companion.table(2, None, **options)
    phone.page.add_init_script(f"({HURRIED})()")
    phone.share(companion, running)
    table = Table(companion, running.id, [phone])
    table.roll(3)
    table.drew("20 · Flower", "Flower 3")
    return table


def test_on_a_phone_that_is_passed_round_a_hand_is_covered_again_for_the_next_tribe(
    companion: Companion, device: Make
) -> None:
    phone = device()
    table = shared(companion, phone)
    cover = phone.page.locator(".hand-cover")
    expect(cover.locator(".card-title")).to_be_hidden()
    cover.locator("summary").click()
    expect(cover.locator(".card-title")).to_be_visible()
    table.tap(".altar.of-tlaloc .tap button")
    expect(cover.locator(".card-title").first).to_be_visible()  # the same tribe goes on: it stays open
    while table.due != "roll":
        table.primary()
    expect(cover).to_have_attribute("id", "hand-west")
    assert title("day-flower-3") not in phone.page.content()
    table.roll(3)
    while table.due != "roll":
        table.primary()
    expect(cover).to_have_attribute("id", "hand-east")
    expect(cover.locator(".card-title").first).to_be_hidden()


@pytest.mark.parametrize(("scheme", "language", "moment"), [("light", "en", "sacrifice"), ("dark", "es", "die")])
def test_axe_finds_nothing_in_the_whole_game_and_everything_fits_a_thumb(
    companion: Companion, device: Make, scheme: Scheme, language: str, moment: str
) -> None:
    phone = device(PHONE, "en", scheme)
    table = shared(companion, phone)
    reader = device(PHONE, language, scheme, font="both")
    reader.context.add_cookies(phone.context.cookies())
    while table.due != moment:
        if table.due == "roll":
            table.roll(3)
        else:
            table.primary()
    found = {}
    for layout, viewport in (("/screen", SCREEN), ("", PHONE)):
        reader.page.set_viewport_size(viewport)
        reader.page.goto(f"{companion.address}/t/{table.id}{layout}")
        reader.listening()
        reader.page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
        if problems := violations(reader):
            found[f"{moment}{layout}"] = problems
    assert found == {}
    for page in narrow_then_wide(reader.page):
        assert too_wide(page) == []
        assert too_small(page, "button, summary, a.button") == []


@pytest.mark.parametrize(
    ("window", "layout"), [(PHONE, ""), ({"width": 1366, "height": 768}, ""), (SCREEN, "/screen")], ids=str
)
def test_a_pawn_stands_on_its_space(companion: Companion, device: Make, window: ViewportSize, layout: str) -> None:
    services = companion.home.services
    table = services.tables.open("mexica", "Sunday", 4, "classic", {})
    services.seats.begin(table.id, table.code)
    page = device(window).page
    page.goto(f"{companion.address}/t/{table.id}{layout}")
    page.wait_for_selector("html[data-scripted]", state="attached")
    wheel = page.locator(".calendar-board").bounding_box()
    assert wheel is not None
    at = {each.sign: each.tribe for each in spaces()}
    for pawn in page.locator(".piece").all():
        box, sign = pawn.bounding_box(), (pawn.get_attribute("data-place") or "").partition(" ")[0]
        assert box is not None
        across = (box["x"] + box["width"] / 2 - wheel["x"]) / wheel["width"] * 100
        down = (box["y"] + box["height"] / 2 - wheel["y"]) / wheel["height"] * 100
        assert (across, down) == pytest.approx((at[sign].left, at[sign].top), abs=0.7)
