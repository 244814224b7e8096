"""A pytest plugin for authors of games: short tracebacks, and at the end one line for each distinct fault."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

import pytest

from companion.games import registry
from companion.web.rendering.texts import MissingText
from tests.games.playouts import GAMES

LONG = 400
"""Characters of a message at most."""

PLACED = re.compile(r"/\S+:\d+: ")
"""How a line begins that names a file and a line."""

FAULTS = pytest.StashKey[dict[str, str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Shorten what is shown of each failure, unless something else was asked for.

    pytest's own summary would repeat the faults: whole messages of several lines wherever `CI` is set.
    """
    config.stash[FAULTS] = {}
    if config.option.tbstyle == "auto":
        config.option.tbstyle = "short"
    config.option.showcapture = "no"
    config.option.reportchars = "N"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note what a test raised; a fault with a place in the game needs no traceback."""
    report = yield
    if call.excinfo:
        found = [_line(item, error) for error in _alone(call.excinfo.value)]
        for line in found:
            item.config.stash[FAULTS].setdefault(re.sub(r"\d+", "", line), line)
        if all(map(PLACED.match, found)):
            report.longrepr = "\n".join(found)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print each distinct fault in a line."""
    if found := config.stash[FAULTS]:
        terminalreporter.section("what is wrong")
        for line in found.values():
            terminalreporter.line(line)


def _alone(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _alone(each)
    else:
        yield error


def _line(item: pytest.Item, error: BaseException) -> str:
    """Return where in a game's folder an error or its cause was raised, else in which test, and its words."""
    cause: BaseException | None = error
    while cause is not None:
        where = _place(cause)
        if where:
            kind = "" if isinstance(cause, AssertionError | MissingText) else f"{type(cause).__name__}: "
            return f"{where}: {kind}{_words(cause)}"
        cause = cause.__cause__
    words = _words(error)
    return words if PLACED.match(words) else f"{item.name}: {words}"


def _place(error: BaseException) -> str:
    for folder in map(registry.folder, GAMES.values()):
        if found := registry.place(error, folder):
            return f"{found[0]}:{found[1]}"
        if isinstance(error, MissingText) and (language := re.search(r"in '(\w+)'$", str(error))):
            return f"{folder / 'texts' / language[1]}.toml:1"
    return ""


def _words(error: BaseException) -> str:
    return " ".join(str(error).split())[:LONG] or type(error).__name__
