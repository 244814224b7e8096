"""What tests of several folders share: Chromium, as Debian packages it, one for each font that a run needs."""

from __future__ import annotations

import gc
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, Playwright, sync_playwright

from tests import fonts
from tests.slowest import pytest_addoption, pytest_configure

__all__ = ["pytest_addoption", "pytest_configure"]

# Every run tries the same examples, and a busy machine is no fault of the code.
settings.register_profile("suite", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# Who is started in the background by a shell ignores an interrupt, and so would every program that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


WAITING = ("bench", "chaos", "cli", "liveness", "path")
"""Folders whose tests mostly wait, for a broker that comes back or a watchdog."""

BUSY = ("browser", "games")
"""Folders whose tests need most processor time."""


def pytest_collection(session: pytest.Session) -> None:
    """Let each of several workers import other modules first, or all of them would compile every one of them."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    files = sorted(path.relative_to(session.config.rootpath) for path in Path(__file__).parent.rglob("test_*.py"))
    for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        with suppress(Exception):  # the collection imports it again, and reports what is wrong
            import_module(".".join(file.with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let files that mostly wait and files that never do begin by turns, so that workers of both kinds are at work.

    Both come before all others: what waits longest would be waited for alone at the end.
    """
    files = dict.fromkeys(item.path for item in items)
    turns: dict[Path, float] = {}
    for folders in (WAITING, BUSY):
        found = [file for file in files if file.parent.name in folders]
        turns |= {file: turn / len(found) for turn, file in enumerate(found)}
    items.sort(key=lambda item: turns.get(item.path, 1))


def pytest_collection_finish() -> None:
    """Exclude everything that was imported and collected from garbage collections, and run fewer of them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="module", autouse=True)
def collected() -> Iterator[None]:
    """Collect garbage at the end of each module, so that a leak fails the module that made it and no later one.

    What is left then lasts to the end, as a browser does, and later collections need not look at it.
    """
    yield
    gc.collect()
    gc.freeze()


CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first one found is used. The shell draws the same pages and opens no window of its own for each context: a new
context costs it 0.2 s of processor time, and the whole browser 1.1 s."""

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


WITHOUT_FONTS = "--disable-remote-fonts"
"""How a browser is made to load no font that a page brings."""


def launched(driver: Playwright, font: str, folder: Path, *more: str) -> Browser:
    """Start Chromium; in the wide font it shows pages as a browser that loads no fonts from pages does.

    With ``both`` it has the wide font alone and loads the narrow one from pages. `more` are its further arguments.
    """
    arguments = [*ARGUMENTS, *more, *([WITHOUT_FONTS] if font == "wide" else [])]
    forced = font != "both"
    environment = fonts.environment(font if forced else "wide", folder, forced=forced)
    return driver.chromium.launch(executable_path=chromium_path(), args=arguments, env=environment)


def chromium_path() -> str:
    """Return where Chromium is on this machine."""
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    assert path, "Chromium is missing; tests/system-packages installs it"
    return path


@pytest.fixture(scope="session")
def driver() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser_in(driver: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Browser]]:
    """Start Chromium at the first call for a font, and give that one from then on."""
    started: dict[str, Browser] = {}

    def browser(font: str) -> Browser:
        if font not in started:
            started[font] = launched(driver, font, tmp_path_factory.mktemp(font))
        return started[font]

    yield browser
    for each in started.values():
        each.close()


@pytest.fixture
def chromium(browser_in: Callable[[str], Browser]) -> Browser:
    """Chromium as a fresh Debian shows pages: in its one font, which is wide."""
    return browser_in("wide")
