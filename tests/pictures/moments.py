"""Films the great moments, each for five seconds at thirty pictures a second: ``build/moments/<name>.webp``.

Every picture is taken while the page's movements stand still at its time, so that a busy machine draws the same film
as an idle one. They are for judging by eye, and no document shows them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from random import Random

from PIL import Image
from playwright.sync_api import Browser, Page

from companion.games.kit import CHANCE, Move, Seat
from companion.model.table import Table
from tests.browser.conftest import Companion
from tests.companion.web.conftest import WebHome
from tests.guides import SKIPPED
from tests.pictures.camera import ROOT, Camera

FILMS = ROOT / "build" / "moments"
A_SECOND, SECONDS = 30, 5
SCREEN = (1280, 720)
WIDE, HIGH = 640, 360
PHONE = (360, 780)
PATIENCE_MS = 60_000
AGE = 26
"""Tokens that end the age on film."""
STILL = """addEventListener("animationstart", still, true); addEventListener("transitionrun", still, true);
function still() { for (const each of document.getAnimations()) each.pause(); }"""
"""Stops each movement as it begins."""
AT = """ms => { for (const each of document.getAnimations()) {
  if (each.effect.pseudoElement?.startsWith("::view-transition")) each.finish();
  else { each.pause(); each.currentTime = ms; }
} }"""


@dataclass
class Stage:
    """A table on a companion of its own, with a phone for each seat."""

    companion: Companion
    table: Table
    tokens: dict[Seat, str]
    posts: int = 0
    random: Random = field(default_factory=lambda: Random(3))

    def now(self) -> Table:
        """Return the table as it is."""
        return self.companion.home.services.tables.get(self.table.id)

    def play(self, seat: Seat, name: str, *args: str | int) -> None:
        """Make a move."""
        self.posts += 1
        services = self.companion.home.services
        assert services.play.move(
            self.table.id, self.tokens[seat], seat, Move(name, args), self.now().version, f"m{self.posts}"
        ).accepted

    def give(self, god: str, n: int) -> None:
        """Give tokens for the tribe on turn."""
        self.play(str(self.now().on_turn), "sacrifice", god, n)

    def end_turn(self) -> None:
        """End the turn of the tribe on turn."""
        self.play(str(self.now().on_turn), "end_turn")

    def app(self) -> bool:
        """Let the app make one move, or roll; False once the game is over."""
        table, services = self.now(), self.companion.home.services
        if table.phase == "over":
            return False
        self.posts += 1
        if due := table.chance():
            seat = due.seat or table.charter.seats[0]
            services.play.roll(self.table.id, self.tokens[seat], table.version, f"m{self.posts}")
            return True
        seat = next(seat for seat in table.game.rules.to_act(table.state) if seat != CHANCE)
        moves = table.game.rules.moves(table.state, seat)
        move = table.game.decide(table.game.page.view(table.state, seat), moves, self.random.randrange) or moves[0]
        self.play(seat, move.name, *move.args)
        return True


def _age(stage: Stage) -> None:
    for n in range(6):
        stage.give("huitzilopochtli" if n % 3 == 0 else "tlaloc", 4)
        stage.end_turn()


def _call(god: str) -> Callable[[Stage], None]:
    def prepare(stage: Stage) -> None:
        _age(stage)
        if god == "huitzilopochtli":
            stage.give(god, 1)

    return prepare


def _fatal(god: str, n: int) -> Callable[[Stage], None]:
    return lambda stage: stage.give(god, n)


def _countdown(god: str, left: int) -> Callable[[Stage], None]:
    """Return what plays to a countdown with so many turns left."""

    def prepare(stage: Stage) -> None:
        for _ in range(7):
            stage.give(god, 4)
        while stage.now().state.clock.left > left:
            stage.end_turn()

    return prepare


def _until(last: Callable[[Table, Table], bool]) -> tuple[Callable[[Stage], None], Callable[[Stage], None]]:
    """Return how the app plays up to a moment, and the move that brings it."""
    seen: dict[str, int] = {}

    def rehearse(stage: Stage) -> None:
        with _staged(stage.table.charter.game, "Rehearsal") as other:
            n, before = 0, other.now()
            while other.app() and not last(before, other.now()):
                n, before = n + 1, other.now()
            seen["n"] = n
        for _ in range(seen["n"]):
            stage.app()

    return rehearse, lambda stage: stage.app() or None


@dataclass(frozen=True)
class Shot:
    """One film: what is played before it, and what brings the moment."""

    name: str
    game: str
    before: Callable[[Stage], None]
    brings: Callable[[Stage], object]
    phones: bool = False


def _closed(before: Table, after: Table) -> bool:
    return any(line.code == "closed" for line in after.logged[-1].lines)


def _over(before: Table, after: Table) -> bool:
    return after.phase == "over"


SHOTS = (
    Shot("token", "mexica", _age, _fatal("tlaloc", 1)),
    Shot("call-flood", "mexica", _age, _fatal("tlaloc", 2)),
    Shot("call-phones", "mexica", _age, _fatal("tlaloc", 2), phones=True),
    Shot("tide", "mexica", _countdown("huitzilopochtli", 6), Stage.end_turn),
    Shot("dusk", "mexica", _countdown("tlaloc", 2), Stage.end_turn),
    Shot("flood", "mexica", _countdown("tlaloc", 1), Stage.end_turn),
    Shot("conquest", "mexica", _countdown("huitzilopochtli", 1), Stage.end_turn),
    Shot("victory", "mexica", _age, lambda stage: stage.play(str(stage.now().on_turn), "settle", "east")),
    Shot("captured", "siege", *_until(_over)),
    Shot("last-chit", "moctezuma", *_until(_closed)),
)
PRESETS = {"mexica": "temple_only", "siege": "skirmish", "moctezuma": "swift"}


@contextmanager
def _staged(game: str, title: str = "Sunday") -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="moments-") as folder:
        home = WebHome(f"sqlite:///{Path(folder) / 'companion.sqlite'}")
        companion = Companion.started(home)
        try:
            seats = 2 if game == "siege" else 4
            options = {"apocalypse_tokens": AGE} if game == "mexica" else {}
            table = home.services.tables.open(game, title, seats, PRESETS[game], options)
            names = ("Citlali", "Nahuel", "Ixchel", "Tomás")
            tokens = {
                seat: home.services.seats.sit(table.id, table.code, seat, name)
                for seat, name in zip(table.charter.seats, names, strict=False)
            }
            home.services.seats.begin(table.id, table.code)
            yield Stage(companion, table, tokens)
        finally:
            companion.stop()
            home.store.close()


def take(browser: Browser, camera: Camera) -> None:
    """Write every film that the camera wants."""
    FILMS.mkdir(parents=True, exist_ok=True)
    for shot in SHOTS:
        if camera.wants(f"moment-{shot.name}"):
            with _staged(shot.game) as stage:
                _film(browser, shot, stage)
            camera.taken.append(f"moment-{shot.name}")


def _film(browser: Browser, shot: Shot, stage: Stage) -> None:
    shot.before(stage)
    path = f"{stage.companion.address}/t/{stage.table.id}"
    pages = (
        [_page(browser, path, PHONE, token) for token in stage.tokens.values()]
        if shot.phones
        else [_page(browser, f"{path}/screen", SCREEN, "")]
    )
    shot.brings(stage)
    version = str(stage.now().version)
    for page in pages:
        page.wait_for_function("version => document.getElementById('live').dataset.version === version", arg=version)
        page.clock.run_for(200)
    frames = [_frame(pages, 1000 * n / A_SECOND) for n in range(A_SECOND * SECONDS)]
    data = BytesIO()
    frames[0].save(
        data, "WEBP", save_all=True, append_images=frames[1:], duration=round(1000 / A_SECOND), loop=0, quality=70
    )
    (FILMS / f"{shot.name}.webp").write_bytes(data.getvalue())
    for page in pages:
        page.context.close()
    print(f"build/moments/{shot.name}.webp  {len(data.getvalue()) // 1024} kB", flush=True)


def _page(browser: Browser, address: str, size: tuple[int, int], token: str) -> Page:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, reduced_motion="no-preference", locale="en"
    )
    context.add_init_script(SKIPPED)
    context.add_init_script(STILL)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.clock.install()
    if token:
        root = address.rpartition("/t/")
        context.add_cookies(
            [{"name": f"seat-{root[2]}", "value": token, "domain": "localhost", "path": f"/t/{root[2]}"}]
        )
    page.goto(address)
    page.wait_for_selector("html[data-scripted]", state="attached")
    page.evaluate("document.fonts.ready.then(() => true)")
    page.evaluate("() => { for (const each of document.getAnimations()) each.finish(); }")
    return page


def _frame(pages: list[Page], at: float) -> Image.Image:
    pictures = []
    for page in pages:
        page.evaluate(AT, at)
        pictures.append(Image.open(BytesIO(page.screenshot(animations="allow"))).convert("RGB"))
    if len(pictures) == 1:
        return pictures[0].resize((WIDE, HIGH), Image.Resampling.LANCZOS)
    width = WIDE // len(pictures)
    whole = Image.new("RGB", (WIDE, HIGH))
    for n, picture in enumerate(pictures):
        high = width * picture.height // picture.width
        whole.paste(picture.resize((width, high), Image.Resampling.LANCZOS), (n * width, (HIGH - high) // 2))
    return whole
