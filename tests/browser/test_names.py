"""Names of 24 letters stay whole on the pages beside a table's own, and in the picture of a result.

The pages are looked at in the longer language, which leaves names less room.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from playwright.sync_api import Browser, Page, ViewportSize

from companion.games.kit import Move
from companion.model.table import Table
from templo import contract
from tests.browser.conftest import PHONE, Companion, Device, narrow_then_wide
from tests.browser.layout import DRAWN, measured, too_wide
from tests.browser.rooms import LONG, Room, stages
from tests.companion.web.conftest import ORGANISER

Make = Callable[..., Device]

PAGES = (
    "lobby",
    "join",
    "seats",
    "/tables",
    "/evenings",
    "/organiser",
    "/organiser/rounds",
    "story",
    "replay?step=9",
)
WINDOWS: tuple[ViewportSize, ...] = (PHONE, {"width": 820, "height": 1180}, {"width": 1366, "height": 768})
KINDS = ("broken in mid-word", "cut", "beside the window", "wider than the window", "printed over")


def ended(companion: Companion, language: str = "en") -> Table:
    """Return a table of four with long names, whose first player won."""
    services = companion.home.services
    table = services.tables.open("mexica", "Sunday", 4, "temple_only", {})
    key = services.seats.share(table.id, table.code, dict(zip(table.charter.seats, LONG, strict=False)))
    version = services.seats.begin(table.id, key).version
    first = table.charter.seats[0]
    assert services.play.move(table.id, key, first, Move("settle", (first,)), version, "end").accepted
    return services.tables.get(table.id)


def broken(page: Page) -> list[str]:
    """Return what breaks, cuts or leaves the window."""
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.evaluate(DRAWN)
    return [*too_wide(page), *(each for each in measured(page).wrong if each.partition(":")[0] in KINDS)]


def test_no_page_breaks_a_name(companion: Companion, device: Make) -> None:
    services = companion.home.services
    table = ended(companion)
    lobby = services.tables.open("mexica", "Monday", 4, "temple_only", {})
    key = services.seats.share(lobby.id, lobby.code, dict(zip(lobby.charter.seats, LONG, strict=False)))
    services.rounds.start(
        "mexica", "temple_only", 2, "swiss", "\n".join(LONG), lambda n, table: f"Round {n} · Table {table}"
    )
    reader = device(PHONE, "es", font="both")
    reader.context.add_cookies(
        [
            {"name": "organiser", "value": ORGANISER.proof, "domain": "localhost", "path": "/organiser"},
            {"name": f"seat-{lobby.id}", "value": key, "url": companion.address},
        ]
    )
    found: list[str] = []
    places = {"lobby": f"/t/{lobby.id}", "join": f"/j/{lobby.code}", "seats": f"/t/{table.id}/seats"}
    for name in PAGES:
        path = places.get(name) or (name if name.startswith("/") else f"/t/{table.id}/{name}")
        reader.page.goto(companion.address + path)
        # The served font is the narrow one: what breaks in it breaks on the phone first.
        for page, windows in zip(narrow_then_wide(reader.page), ((PHONE,), WINDOWS), strict=True):
            for window in windows:
                page.set_viewport_size(window)
                found += [f"{name} at {window['width']}: {wrong}" for wrong in broken(page)]
    assert "\n".join(found) == ""


LEFT_OVER = """() => [...document.querySelectorAll(":is(.turn-whose, .turn-doing, .end-turn .button)")]
  .filter((each) => each.checkVisibility())
  .map((each) => {
    const range = document.createRange(), lines = [];
    range.selectNodeContents(each);
    for (const box of [...range.getClientRects()].filter((box) => box.width > 1)) {
      const line = lines.find((one) => Math.abs(one.middle - box.top - box.height / 2) < 6);
      if (!line) lines.push({ middle: box.top + box.height / 2, left: box.left, right: box.right });
      else Object.assign(line, { left: Math.min(line.left, box.left), right: Math.max(line.right, box.right) });
    }
    lines.sort((one, two) => one.middle - two.middle);
    const widths = lines.map((one) => one.right - one.left);
    return [each.textContent.trim().replace(/\\s+/g, " "), widths.at(-1) / Math.max(...widths)];
  })"""
"""What says whose turn it is, and how wide its last line is, as a share of its widest."""


SAID = (
    ("en", (LONG[2], LONG[1]), ("",)),
    ("es", (LONG[2], LONG[1]), ("",)),
    ("es", (LONG[5], LONG[3]), ("", "/screen")),
)
"""A language, who plays, the first being on turn, and the pages to look at.

English has a rule of its own for a name of one word. A table screen's text keeps its size: in a narrow column there
is no room beside one long word.
"""


def test_no_single_word_is_left_over_for_a_line_where_a_page_says_whose_turn_it_is(
    companion: Companion, device: Make
) -> None:
    services = companion.home.services
    readers = {language: device(PHONE, language, font="both") for language in ("en", "es")}
    found = []
    for game, (language, names, paths) in product(("mexica", "market", "siege", "moctezuma"), SAID):
        reader = readers[language]
        table = services.tables.open(game, "Sunday", 2, next(iter(companion.home.games[game].presets)), {})
        key = services.seats.share(table.id, table.code, dict(zip(table.charter.seats, names, strict=True)))
        services.seats.begin(table.id, key)
        reader.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
        for path in paths:
            reader.page.goto(f"{companion.address}/t/{table.id}{path}")
            for page in narrow_then_wide(reader.page):
                for window in (WINDOWS[2],) if path else (PHONE, WINDOWS[2]):
                    page.set_viewport_size(window)
                    page.evaluate(DRAWN)
                    said = page.evaluate(LEFT_OVER)
                    assert said
                    found += [
                        f"{game} in {language}{path} at {window['width']}: {words} {share:.2f}"
                        for words, share in said
                        if share < 0.3
                    ]
    assert "\n".join(found) == ""


LEAST = 0.62
"""The smallest size of a name, in rem."""

SIZES = """() => [...document.querySelectorAll(".records th .name")].map((each) => [
  each.textContent,
  parseFloat(getComputedStyle(each).fontSize) / parseFloat(getComputedStyle(document.documentElement).fontSize),
])"""


def test_a_long_name_beside_figures_is_large_enough_to_read_on_a_phone(companion: Companion, device: Make) -> None:
    ended(companion)
    companion.home.services.rounds.start(
        "mexica", "temple_only", 2, "swiss", "\n".join(LONG), lambda n, table: f"Round {n} · Table {table}"
    )
    reader = device(PHONE)
    reader.context.add_cookies(
        [{"name": "organiser", "value": ORGANISER.proof, "domain": "localhost", "path": "/organiser"}]
    )
    for path in ("/organiser/rounds", "/evenings"):
        reader.page.goto(companion.address + path)
        sizes = reader.page.evaluate(SIZES)
        assert sizes
        assert [each for each in sizes if each[1] < LEAST - 0.005] == [], path


PRINTED = """() => [...document.querySelectorAll("text")].map((each) => {
  const box = each.getBoundingClientRect();
  return [each.textContent, box.left, box.right, box.top, box.bottom];
})"""


def test_a_result_s_picture_breaks_no_name_and_prints_nothing_over_another_thing(
    companion: Companion, browser_in: Callable[[str], Browser]
) -> None:
    services = companion.home.services
    pages = [browser_in(font).new_page(viewport={"width": 1200, "height": 630}) for font in ("narrow", "wide")]
    for first in range(4):
        table = services.tables.open("mexica", "Sunday", 4, "temple_only", {})
        names = LONG[first:] + LONG[:first]
        key = services.seats.share(table.id, table.code, dict(zip(table.charter.seats, names, strict=False)))
        version = services.seats.begin(table.id, key).version
        seat = table.charter.seats[0]
        assert services.play.move(table.id, key, seat, Move("settle", (seat,)), version, "end").accepted
        picture = companion.home.app.test_client().get(f"/t/{table.id}/result.svg").text
        for page in pages:
            page.set_content(f'<body style="margin: 0">{picture}')
            texts = page.evaluate(PRINTED)
            assert [each for each in texts if each[0].strip() and (each[1] <= 0 or each[2] > 1174)] == []
            lines = [text for text, *_ in texts]
            for name in names[:4]:
                assert any(name in line.replace("\u00a0", " ") for line in lines)
            assert any(names[0] in line.replace("\u00a0", " ") for line in lines[:3]), (
                "the winner's name in the title"
            )
            for n, (one, left, right, top, bottom) in enumerate(texts):
                for two, left2, right2, top2, bottom2 in texts[n + 1 :]:
                    assert right <= left2 or right2 <= left or bottom <= top2 + 12 or bottom2 <= top + 12, (one, two)
    for page in pages:
        page.close()


def test_the_page_of_tokens_held_apart_breaks_no_name(companion: Companion, device: Make) -> None:
    home, services = companion.home, companion.home.services
    home.beams("table", contract.Beam.CLEAR, contract.Beam.CLEAR)
    table = services.tables.open("mexica", "Sunday", 4, "temple_only", {}, "table")
    key = services.seats.share(table.id, table.code, dict(zip(table.charter.seats, LONG, strict=False)))
    services.seats.begin(table.id, key)
    for token in ("a" * 32, "b" * 32):
        services.temples.intake.receive([("table", home.token(1, token=token))])
    reader = device(PHONE, font="both")
    reader.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
    reader.page.goto(f"{companion.address}/t/{table.id}/held")
    assert reader.page.locator(".sort-seats .button").count() == 5
    for page in narrow_then_wide(reader.page):
        # Where the marked ones go stays in reach, above the end of the list.
        assert [each for each in broken(page) if not each.startswith("printed over")] == []


def test_the_list_of_spaces_breaks_no_name(companion: Companion, device: Make) -> None:
    stage = next(each for n, each in enumerate(stages(companion, Room("mexica", "evening", 4, True))) if n == 8)
    reader = device(PHONE, "es", font="both")
    reader.context.add_cookies([{"name": f"seat-{stage.table.id}", "value": stage.key, "url": companion.address}])
    reader.watch(companion, stage.table)
    for page in narrow_then_wide(reader.page):
        assert broken(page) == []


def test_a_name_that_is_read_from_the_right_stands_in_its_own_order(companion: Companion, device: Make) -> None:
    table = companion.table(2)
    key = companion.home.services.seats.sit(table.id, table.code, "east", "عبدالرحمن المستنصري")
    assert key
    page = device().page
    page.goto(f"{companion.address}/t/{table.id}")
    places = page.evaluate(
        """() => {
          const named = [...document.querySelectorAll(".named, .turn-whose")];
          const turn = named.find((each) => /عبدالرحمن المستنصري/.test(each.textContent));
          const walker = document.createTreeWalker(turn, NodeFilter.SHOW_TEXT);
          const found = [];
          while (walker.nextNode())
            for (const word of ["عبدالرحمن", "المستنصري"]) {
              const at = walker.currentNode.data.indexOf(word);
              if (at < 0) continue;
              const range = document.createRange();
              range.setStart(walker.currentNode, at);
              range.setEnd(walker.currentNode, at + word.length);
              found.push([word, range.getBoundingClientRect().left]);
            }
          return Object.fromEntries(found);
        }"""
    )
    assert places["عبدالرحمن"] > places["المستنصري"]
