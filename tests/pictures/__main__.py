"""Draws the README's pictures: plays evenings on the running demo, as people would, and photographs their pages.

``python -m tests.pictures [NAME...]`` writes docs/pictures/<name>.png, the moving token-to-lake.webp and the icons
companion/web/static/icon-*.png, all of them or those that are named, and prints each. The demo is the real one, with
its broker, its keys and its simulated temple; only the players are not. It gives up after `LONGEST` seconds.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.guides import SKIPPED
from tests.pictures import album, film, icons, moments, temple_page
from tests.pictures.camera import PHONE, PICTURES, SCREEN, Camera
from tests.waiting import within

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0
"""Seconds that one step may take: a machine may be busy with much else."""
LONGEST = 45 * 60
"""Seconds that a whole run may take."""
SEATS = {"east": "Citlali", "north": "Nahuel", "west": "Ixchel", "south": "Tomás"}
EVENING = (
    "hhht tth hhhhtt tthtt hhhht ttht hhhtt hhtttt hhh ttthh hhhhtt thth hhttt hhhhht ttt hhtht hhhtt tttth hthh ttht"
    " hhhh tthtt hhht hthtt hhhhtt tthhh ttht hhhth ttt hhtht hhhtt ttthh hhhh tthtt htht tthh hhtt hhht tttt hhhtt"
    " hthtt hhhh tth htt hhtht"
)
"""The tokens of each turn, a letter for each as the demo's keys name them."""


class Demo:
    """``make demo`` in a terminal of its own."""

    def __init__(self) -> None:
        self._ours, theirs = pty.openpty()
        self._folder = tempfile.TemporaryDirectory(prefix="pictures-")
        self._process = subprocess.Popen(
            (
                sys.executable,
                "-m",
                "companion",
                "launch",
                "--simulate",
                "--ports",
                "0",
                "0",
                "--state",
                self._folder.name,
            ),
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if not name.startswith("TEMPLO_")},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # keys are read in the foreground alone
        )
        os.close(theirs)
        self._said = ""
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        until(
            lambda: "keys:" in self._said or self._process.poll() is not None, "the demo to start", lambda: self._said
        )
        table = re.search(r"(http://127\.0\.0\.1:\d+)(/t/[0-9a-f]{32})", self._said)
        code = re.search(r"\b([A-Z0-9]{3}-[A-Z0-9]{3})\b", self._said)
        assert table, self._said
        assert code, self._said
        self.address, self.table, self.code = table[1], table[2], code[1]
        self.served = self.code
        """The code of the table that the temple serves: who takes the temple away has to know it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._folder.cleanup()

    def keys(self, keys: str) -> None:
        """Press keys in the demo's terminal: ``h`` and ``t`` drop a token, ``H`` and ``T`` hold a beam dark."""
        os.write(self._ours, keys.encode())

    def _listen(self) -> None:
        while True:
            try:
                self._said += os.read(self._ours, 4096).decode("utf-8", "replace")
            except OSError:  # the terminal is gone with its last program
                return


def until(true: Callable[[], object], what: str, seen: Callable[[], object] = lambda: "") -> None:
    """Wait until a condition holds, up to the patience of a step."""
    assert within(PATIENCE, true, 0.05), f"waited {PATIENCE:g} s for {what}; there was {seen()!s:.2000}"


class Table:
    """One table of the demo, played from its first phone; the others only sit."""

    def __init__(self, browser: Browser, demo: Demo, path: str, code: str) -> None:
        self.demo, self.path, self.code = demo, path, code
        self._browser = browser
        self.phone = phone(browser)
        self._phones: dict[str, BrowserContext] = {}
        self._turns = 0

    @classmethod
    def opened(cls, browser: Browser, demo: Demo, title: str, tokens: int) -> Table:
        """Open a new table as a phone does; its age ends after so many tokens."""
        opener = phone(browser)
        opener.goto(f"{demo.address}/tables/new")
        opener.fill("input[name=title]", title)
        opener.check("input[name=temple][value=templo]")
        if opener.locator("input[name=temple_code]").count():
            opener.fill("input[name=temple_code]", demo.served)
        opener.click("details.house-rules > summary")
        opener.click("details:has(> fieldset input[name='option.apocalypse_tokens']) > summary")
        opener.fill("input[name='option.apocalypse_tokens']", str(tokens))
        opener.click(".new-form button[type=submit]")
        opener.wait_for_selector(".sit-form")
        code = urlsplit(opener.url).path.removeprefix("/j/")
        demo.served = code
        path = opener.get_attribute(".sit-form", "action")
        assert path
        opener.context.close()
        return cls(browser, demo, path.removesuffix("/sit"), code)

    def sit(self, *seats: str) -> None:
        """Seat people on chairs, each with a phone; the first of all is the one that is photographed."""
        for seat in seats:
            page = phone(self._browser) if self._phones else self.phone
            self._phones[seat] = page.context
            page.goto(f"{self.demo.address}/j/{self.code}")
            page.fill(".sit-form input[name=name]", SEATS[seat])
            page.click(f".sit-form button[value={seat}]")
            page.wait_for_selector("#live")
            if page is not self.phone:
                page.goto("about:blank")

    def screen(self) -> Page:
        """Return the table's screen; while it invites, it was given the code."""
        page = self._browser.new_context(
            viewport={"width": SCREEN[0], "height": SCREEN[1]}, reduced_motion="reduce", locale="en"
        ).new_page()
        page.goto(f"{self.demo.address}{self.path}/screen")
        page.wait_for_selector("#live")
        if page.locator("form.prove-form").count():
            page.fill("form.prove-form input[name=code]", self.code)
            page.click("form.prove-form button")
            page.wait_for_selector("img.qr")
        return page

    @property
    def on_turn(self) -> str:
        """The seat on turn."""
        return list(SEATS)[self._turns % len(SEATS)]

    def post(self, by: str, what: str, **fields: str) -> None:
        """Post as one of the phones, and wait for the first one's page to follow."""
        version = self.version()
        answer = self._phones[by].request.post(
            f"{self.demo.address}{self.path}/{what}",
            form={"version": str(version), "request": secrets.token_hex(8), **fields},
            headers={"Origin": self.demo.address, "Accept": "application/json"},
        )
        assert answer.ok, f"{what} {fields} was answered {answer.status}: {answer.text()[:500]}"
        until(lambda: self.version() > version, f"the page to follow {what} {fields}", self.phone.content)

    def begin(self) -> None:
        """Begin the game; the page of the lobby gives way by itself."""
        headers = {"Origin": self.demo.address, "Accept": "application/json"}
        answer = self.phone.request.post(f"{self.demo.address}{self.path}/begin", headers=headers)
        assert answer.ok, f"begin was answered {answer.status}: {answer.text()[:500]}"
        self.phone.wait_for_selector("[data-region=tally]")

    def serve(self) -> None:
        """Have the temple serve this table."""
        self.post("east", "temple", temple="templo", temple_code=self.demo.served)
        self.demo.served = self.code

    def version(self) -> int:
        """Return the version that the first phone shows."""
        return int(self.phone.get_attribute("#live", "data-version") or 0)

    def counted(self) -> int:
        """Return how many tokens the first phone shows in the lake."""
        counts = self.phone.locator("[data-piece^=count-]")
        return sum(int(counts.nth(n).get_attribute("value") or 0) for n in range(counts.count()))

    def fall(self, tokens: str) -> None:
        """Drop tokens, and wait until the phone has counted them."""
        wanted = self.counted() + len(tokens)
        self.demo.keys(tokens)
        until(lambda: self.counted() == wanted, f"{wanted} tokens on the phone", self.counted)

    def end_turn(self) -> None:
        """End the turn of whoever is on turn, by that seat's own phone."""
        self.post(self.on_turn, "play", seat=self.on_turn, move='["end_turn"]')
        self._turns += 1

    def play(self, turns: str) -> None:
        """Play turn after turn: what fell, then the end of it."""
        for tokens in turns.split():
            self.fall(tokens)
            self.end_turn()


def phone(browser: Browser, language: str = "en") -> Page:
    """Return a page on a phone of its own."""
    context = browser.new_context(
        viewport={"width": PHONE[0], "height": PHONE[1]},
        device_scale_factor=2,
        has_touch=True,
        reduced_motion="reduce",
        locale=language,
    )
    context.add_init_script(SKIPPED)
    return context.new_page()


def an_evening(browser: Browser, demo: Demo, camera: Camera) -> None:
    """The lobby, and a long evening near its end."""
    table = Table.opened(browser, demo, "Friday evening", 260)
    table.sit("east", "north")
    camera.take(table.phone, "phone-lobby")
    screen = table.screen()
    camera.take(screen, "screen-lobby")
    table.sit("west", "south")
    table.begin()
    table.play(EVENING)
    while table.on_turn != "east":
        table.end_turn()
    table.fall("hhht")
    camera.take(table.phone, "phone-turn")
    camera.take(table.phone, "phone-turn-night", night=True)
    camera.take(screen, "screen-turn")
    camera.take(screen, "screen-turn-night", night=True)
    spanish = phone(browser, "es")
    spanish.context.add_cookies(table.phone.context.cookies())  # type: ignore[arg-type]
    spanish.goto(f"{demo.address}{table.path}")
    spanish.wait_for_selector("#live")
    camera.take(spanish, "phone-turn-spanish")
    spanish.context.close()
    demo.keys("T")
    until(lambda: table.phone.locator("[data-region=unclaimed] form").count(), "a jam's token to wait for its seat")
    camera.take(table.phone, "phone-unclaimed")
    temple = phone(browser)
    temple.goto(f"{demo.address}/temples/templo")
    camera.take(temple, "phone-temple")
    demo.keys("T")
    until(lambda: "jammed" not in temple.content(), "the slot to be clear again")
    temple.context.close()
    screen.context.close()


def the_flood(browser: Browser, demo: Demo, camera: Camera) -> None:
    """The demo's own table, whose age ends after 52 tokens: Tlaloc leads."""
    table = Table(browser, demo, demo.table, demo.code.replace("-", ""))
    table.sit("east", "north", "west", "south")
    table.serve()
    table.play("ttth hhtt ttthh tthht ttth htttt hhttt tthh tttht htt ttth")
    table.fall("h" * (52 - table.counted()))
    for _ in range(4):
        table.end_turn()
    screen = table.screen()
    camera.take(table.phone, "phone-countdown")
    camera.take(screen, "screen-countdown-night", night=True)
    _to_the_end(table)
    screen.wait_for_selector("body > .moment")
    screen.wait_for_selector("body > .moment", state="detached")
    camera.take(table.phone, "phone-flood")
    camera.take(screen, "screen-flood")
    screen.context.close()


def the_war(browser: Browser, demo: Demo, camera: Camera) -> None:
    """A short age in which Huitzilopochtli leads."""
    table = Table.opened(browser, demo, "The short age", 52)
    table.sit(*SEATS)
    table.begin()
    table.play("hhht tthh hhhtt hhtth hhht thhhh tthhh hhtt hhhth thh hhht")
    table.fall("t" * (52 - table.counted()))
    _to_the_end(table)
    screen = table.screen()
    camera.take(table.phone, "phone-war-night", night=True)
    camera.take(screen, "screen-war-night", night=True)
    screen.context.close()


def _to_the_end(table: Table) -> None:
    while table.phone.locator("[data-region=action] form").count():
        table.end_turn()


def the_door(browser: Browser, demo: Demo, camera: Camera) -> None:
    """What somebody sees first."""
    page = phone(browser)
    page.goto(demo.address)
    camera.take(page, "phone-first")
    camera.take(page, "phone-first-night", night=True)
    page.goto(f"{demo.address}/tables/new")
    camera.take(page, "phone-new-table")
    page.context.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="make pictures", description="Draws the README's pictures.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which pictures, such as phone-turn; by default all")
    names = parser.parse_args(arguments).names
    PICTURES.mkdir(parents=True, exist_ok=True)
    chromium = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "chromium-headless-shell"))), None
    )
    assert chromium, "Chromium is not installed; expected it from the system's packages"
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(LONGEST)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        camera = Camera(browser, names)
        try:
            icons.draw(browser, camera)
            if not names or set(names) > set(camera.taken):
                with Demo() as demo:
                    for scene in (the_door, an_evening, the_flood, the_war):
                        scene(browser, demo, camera)
                album.take(browser, camera)
                temple_page.take(browser, camera)
                film.take(browser, camera)
                moments.take(browser, camera)
        finally:
            browser.close()
    signal.alarm(0)
    missing = set(names) - set(camera.taken)
    assert not missing, f"there is no picture {', '.join(sorted(missing))}; expected the names of docs/pictures"
    print(f"{len(camera.taken)} pictures were drawn.")
    return 0


def _give_up(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"the pictures were not all taken after {LONGEST} s; those that were printed are new")


if __name__ == "__main__":
    sys.exit(main())
