"""Draws the README's moving picture: tokens fall through the temple's slots and reach the lake on the table screen.

Each frame is taken from the running pages while their animation stands still, so that a busy machine draws the same
film as an idle one.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page

from templo.contract import Beam
from tests.pictures.camera import PICTURES, SCREEN, Camera
from tests.pictures.temple_page import NAME, sanctuary

FILM = "token-to-lake"
WIDE, HIGH, BESIDE = 800, 450, 240
"""Pixels of the table screen in the film, and the width of the temple's slots beside it."""
LARGEST = 2_000_000
"""Bytes: a README is read on phones too."""
LENGTH_MS = 10_000

TOKENS = ("tlaloc", "huitzilopochtli", "tlaloc", "tlaloc", "huitzilopochtli", "tlaloc", "tlaloc")
BEFORE = 64
"""Tokens that fell before the film begins."""
FALL_MS = tuple(range(0, 421, 84))
"""When a token is seen on its way, in the time of the page's own animation."""
STILL = ".fallen { animation-play-state: paused !important; }"
SHOWN_AT = """([bead, at]) => {
  for (const each of document.getAnimations())
    if (each.effect.target.matches(`.fallen[href="${bead}"]`)) each.currentTime = at;
    else each.finish();
}"""
PATIENCE_MS = 60_000


class Frame(NamedTuple):
    """What is seen, and for how long."""

    picture: Image.Image
    for_ms: int


def take(browser: Browser, camera: Camera) -> None:
    """Write the film, if the camera wants it."""
    if not camera.wants(FILM):
        return
    frames = list(_frames(browser))
    data = BytesIO()
    frames[0].picture.save(
        data,
        "WEBP",
        save_all=True,
        append_images=[frame.picture for frame in frames[1:]],
        duration=[frame.for_ms for frame in frames],
        loop=0,
        quality=80,
        method=4,
    )
    film = data.getvalue()
    assert len(film) <= LARGEST, f"{FILM} is {len(film)} bytes; expected at most {LARGEST}"
    (PICTURES / f"{FILM}.webp").write_bytes(film)
    camera.taken.append(FILM)
    print(f"docs/pictures/{FILM}.webp  {len(film) // 1024} kB", flush=True)


def _frames(browser: Browser) -> Iterator[Frame]:
    with sanctuary() as companion:
        home = companion.home
        home.beams(NAME, Beam.CLEAR, Beam.CLEAR)
        table = home.table(temple=NAME)
        for seat, name in zip(table.charter.seats, ("Citlali", "Nahuel", "Ixchel", "Tomás"), strict=True):
            home.seated(table, seat, name)
        for n in range(BEFORE):
            companion.drop(TOKENS[n % len(TOKENS)], temple=NAME)
        screen = _page(browser, f"{companion.address}/t/{table.id}/screen", SCREEN, "reduce")
        temple = _page(browser, f"{companion.address}/temples/{NAME}", (480, 900), "no-preference")
        landed = _whole(screen, temple)
        each = LENGTH_MS // (len(TOKENS) + 1)
        step = FALL_MS[1] - FALL_MS[0]
        yield Frame(landed, each)
        for god in TOKENS:
            version = screen.get_attribute("#live", "data-version")
            total = f".god-{god} .shrine-total"
            before = temple.locator(total).inner_text()
            companion.drop(god, temple=NAME)
            _until(temple, "([total, before]) => document.querySelector(total).innerText !== before", [total, before])
            for at in FALL_MS:
                temple.evaluate(SHOWN_AT, [f"#bead-{god}", at])
                yield Frame(_beside(landed, temple), step)
            _until(screen, "version => document.getElementById('live').dataset.version !== version", version)
            landed = _whole(screen, temple)
            yield Frame(landed, each - step * len(FALL_MS))
        screen.context.close()
        temple.context.close()


def _page(browser: Browser, address: str, size: tuple[int, int], motion: str) -> Page:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        reduced_motion=motion,  # type: ignore[arg-type]
        locale="en",
        color_scheme="dark",
        bypass_csp=True,
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("html[data-scripted]", state="attached")
    page.add_style_tag(content=STILL)
    page.evaluate("document.fonts.ready")
    return page


def _until(page: Page, true: str, argument: object) -> None:
    page.wait_for_function(true, arg=argument, timeout=PATIENCE_MS)


def _whole(screen: Page, temple: Page) -> Image.Image:
    picture = Image.new("RGB", (BESIDE + WIDE, HIGH))
    picture.paste(_shot(screen.screenshot()).resize((WIDE, HIGH), Image.Resampling.LANCZOS), (BESIDE, 0))
    return _beside(picture, temple)


def _beside(picture: Image.Image, temple: Page) -> Image.Image:
    slots = _shot(temple.locator("svg.shrines").screenshot(animations="allow"))
    slots = slots.resize((BESIDE, BESIDE * slots.height // slots.width), Image.Resampling.LANCZOS)
    both = picture.copy()
    both.paste(slots.getpixel((0, 0)), (0, 0, BESIDE, HIGH))
    both.paste(slots, (0, (HIGH - slots.height) // 2))
    return both


def _shot(png: bytes) -> Image.Image:
    return Image.open(BytesIO(png)).convert("RGB")
