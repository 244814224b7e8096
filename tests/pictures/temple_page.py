"""A temple's page for the README: a temple whose evening is made up, calm or in trouble, on the real companion."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from playwright.sync_api import Browser

from companion.model.table import Table
from templo import contract
from templo.contract import Emitters, Finding, God
from tests.browser.conftest import Companion
from tests.companion.conftest import SOURCE
from tests.companion.web.conftest import SESSION, WebHome
from tests.guides import SKIPPED
from tests.pictures.camera import PHONE, SCREEN, Camera

NAME = "templo"
LIMITS: dict[str, float | None] = {
    "min_break_ms": 3.0, "min_clear_ms": 5.0, "max_break_ms": 250.0, "band_ms": 22.8, "narrow_ms": 6.3,
}  # fmt: skip
WELL: dict[God, tuple[Finding, ...]] = dict.fromkeys(God, ())
NO_ANSWER = {**WELL, God.TLALOC: (Finding("no_answer"),)}
BLOCKED = {**WELL, God.TLALOC: (Finding("blocked", {"for_s": 240, "tokens": 41}),)}


def evening(home: WebHome, found: dict[God, tuple[Finding, ...]], *beams: contract.Beam) -> None:
    """Let tokens fall for a while, and the temple say what it finds."""
    random = Random(7)
    home.beams(NAME, *(beams or (contract.Beam.CLEAR, contract.Beam.CLEAR)))  # type: ignore[arg-type]
    table = home.table(temple=NAME)
    home.seated(table)
    for seq in range(1, 82):
        home.clock.pass_(seconds=random.choice((1, 2, 2, 9)))
        god = random.choice(list(God))
        width = random.gauss(12.5 if god is God.TLALOC else 15, 1.6) + (11 if seq in (40, 66) else 0)
        flags = frozenset({"overlap"}) if width > 22.8 else frozenset()
        token = contract.Token(SOURCE, seq, f"{seq:032x}", god, home.clock.now, width, flags)
        home.services.temples.intake.receive([(NAME, token)])
    home.services.temples.ledgers.receive_count(
        NAME, contract.Count(SOURCE, 81, {God.TLALOC: 41, God.HUITZILOPOCHTLI: 40})
    )
    findings = contract.Findings(SESSION, home.clock.now, Emitters.SWITCHED, LIMITS, found)
    home.services.temples.receive_findings(NAME, findings)
    home.clock.pass_(seconds=2)


def selftest(home: WebHome) -> None:
    """Ask for a self-test, and let the temple answer that all is well."""
    home.services.temples.requests.connect(lambda name, command: None)
    request = home.services.temples.requests.send(NAME, contract.CommandName.SELFTEST, "picture").request
    assert request is not None
    beam = {"reads": "clear", "tokens": 40, "glitches": 1, "missed_edges": 0, "findings": [], "proof": True}
    widths = {"number": 40, "lowest": 10.6, "middle": 13.1, "highest": 23.6}
    beams = {god: {**beam, "widths_ms": widths} for god in God}
    home.services.temples.requests.receive_reply(
        NAME, contract.Reply(request.command.id, True, {"beams": beams, "emitters": "switched"})
    )


def came_back(home: WebHome, *codes: str) -> None:
    """Let the temple be at work again with notices of what happened to its ledger."""
    gods = dict.fromkeys(God, contract.Beam.CLEAR)
    kind, timing = contract.Kind.SIMULATOR, contract.Timing.SIMULATED
    notices = tuple(contract.Notice(code, home.clock.now) for code in codes)
    state = contract.State.READY
    status = contract.Status(state, SESSION, kind, "1.0.0", timing, gods, SOURCE, None, notices)
    home.services.temples.receive_status(NAME, status)


def old_tokens(home: WebHome, tokens: int = 2000) -> None:
    """Let a temple that nobody knew have tokens in its ledger from before."""
    came_back(home)
    count = contract.Count(SOURCE, tokens, dict.fromkeys(God, tokens // 2))
    home.services.temples.ledgers.receive_count(NAME, count)


def held(home: WebHome, tokens: int = 4) -> Table:
    """Let a table's temple send tokens under numbers that others have: they are held apart."""
    came_back(home)
    table = home.table(temple=NAME)
    gods = ("tlaloc", "huitzilopochtli", "huitzilopochtli", "tlaloc")
    for first in (1, 0xE0):
        for n in range(tokens):
            home.clock.pass_(seconds=7)
            token = home.token(n + 1, gods[n % len(gods)], token=f"{first + n:032x}")
            home.services.temples.intake.receive([(NAME, token)])
    return table


@contextmanager
def sanctuary() -> Iterator[Companion]:
    """Start a companion for one picture."""
    with tempfile.TemporaryDirectory(prefix="album-") as folder:
        companion = Companion.started(WebHome(f"sqlite:///{Path(folder) / 'companion.sqlite'}"))
        try:
            yield companion
        finally:
            companion.stop()
            companion.home.store.close()


@dataclass(frozen=True)
class Shot:
    """One picture: what happens at a temple, the path that is opened, by day or by night, on a phone or a screen.

    What happens may return a table; the seat of it that is taken then sees the path after the table's.
    """

    name: str
    happens: Callable[[WebHome], Table | None]
    night: bool = False
    size: tuple[int, int] = PHONE
    path: str = f"/temples/{NAME}"


def _well(home: WebHome) -> None:
    evening(home, WELL)
    selftest(home)


def _restored(home: WebHome) -> None:
    old_tokens(home)
    came_back(home, "ledger_restored", "backup_restored")


SHOTS = (
    Shot("screen-temple", _well, size=SCREEN),
    Shot("phone-temple-unplugged-night", lambda home: evening(home, NO_ANSWER), night=True),
    Shot("phone-temple-restored", _restored),
    Shot("phone-held", held, path="/held"),
    Shot("phone-held-night", held, night=True, path="/held"),
)


def take(browser: Browser, camera: Camera) -> None:
    """Take the pictures of a temple that is well, and of some that ask for a hand."""
    for shot in SHOTS:
        if not camera.wants(shot.name):
            continue
        with sanctuary() as companion:
            table, path = shot.happens(companion.home), shot.path
            phone = shot.size == PHONE
            context = browser.new_context(
                viewport={"width": shot.size[0], "height": shot.size[1]},
                device_scale_factor=2 if phone else 1,
                has_touch=phone,
                reduced_motion="reduce",
                locale="en",
            )
            context.add_init_script(SKIPPED)
            if table is not None:
                key = companion.home.seated(table, "east", "Citlali")
                path = f"/t/{table.id}{path}"
                context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
            page = context.new_page()
            page.goto(f"{companion.address}{path}")
            camera.take(page, shot.name, night=shot.night)
            context.close()
