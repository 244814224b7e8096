"""Games without seeing the page: some moves by keys alone, others as a screen reader makes them, against the app."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from playwright.sync_api import expect

from companion.games.market.rules.board import HOLE
from companion.games.mexica.rules.apocalypse import forestalled
from companion.games.moctezuma.rules.pieces import TEMPLES
from companion.games.moctezuma.rules.state import REVEAL
from companion.games.siege.rules.state import ATTACK
from companion.model.table import Table
from tests.browser.conftest import Companion, Device
from tests.browser.driving import HURRIED, played_out
from tests.browser.reader import Control, Reader

Make = Callable[..., Device]

BREATH_MS = 320
"""Longer than the page collects messages before it speaks them."""

ASIDE = re.compile(
    r"^(Skip to|Templo Mayor|The rules|Español|Sound|The whole story|Undo|Never mind|How it ends|The phases|What is"
    r"|At this table|Whole map|Farther|Nearer|Show|Who gave|Spaces, stores|Tokens, seats|My notebook"
    r"|Keep the screen on|Call me|.*[Hh]old to look)"
)
"""What belongs to the page and not to the game, or takes back what was done."""

STEPS = 60
"""No scene has more."""


def at_once(_: Any) -> bool:
    """Whether a scene begins where the one before it ends: always."""
    return True


@dataclass(frozen=True)
class Scene:
    """Moves that follow one another on the page; those between two scenes are posted."""

    keys: bool
    """Whether it is played by keys alone, or else as a screen reader does it."""
    steps: int = STEPS
    """How often something is used; the last scene may end before, with the game."""
    begins: Callable[[Any], bool] = at_once
    """The state to which posts bring the table."""
    words: str = ""
    """What is spoken before anything is used: what follows at once would be spoken instead."""
    first: Sequence[str] = ()
    """What to use first where it is offered."""


@dataclass(frozen=True)
class Play:
    """A game that is short enough, and the scenes of it that are played on the page."""

    game: str
    preset: str
    options: Mapping[str, str | int]
    scenes: Sequence[Scene]
    spoken: Sequence[str] = ()
    """Patterns of what must be spoken once at least, beside the turns and the end.

    What the app plays in one breath is spoken in one, so no single step of it can be expected.
    """


def chosen_of(controls: Sequence[Control], first: Sequence[str], last: str, random: Random) -> Control:
    """Return what to use next: one of `first` that was not used just now, or else anything of the game's."""
    offered = [each for each in controls if not each.disabled and each.role != "radio" and not ASIDE.match(each.name)]
    fresh = [each for each in offered if each.expanded is not True and each.name != last]
    for pattern in first:
        if found := [each for each in fresh if re.search(pattern, each.name)]:
            return random.choice(found)
    return random.choice(fresh or offered)


GIVE = ("gives 7 tokens to Tlaloc", "^End my turn")
PASS = ("^Close the deal", "^Pass", "^Everything you can do")
ROLL = ("^Place the rest", "^Deployment", "^Roll", "^Attack with", "^Advance", "^Retreat", "^End the phase")

PLAYS = {
    "temple": Play(
        "mexica",
        "temple_only",
        {"apocalypse_tokens": 13},
        (
            Scene(True, 2, first=GIVE),
            Scene(False, 4, first=GIVE),
            Scene(True, begins=lambda state: state.clock is not None and state.clock.left <= 2, first=GIVE),
        ),
        ("War 0, rain 7", r"The countdown: (\d|1[0-2]) of 13"),
    ),
    "mexica": Play(
        "mexica",
        "evening",
        {"apocalypse_tokens": 13},
        (
            Scene(True, 7, first=(r"^\w+ \d+$", r"^\d+ · ", "^I drew")),
            Scene(False, 9, first=("^Roll$", "^Draw$", "^Done", "^Ana gives")),
            Scene(True, 0, lambda state: state.clock is not None and not forestalled(state), "The countdown: "),
        ),
        ("War ",),
    ),
    "market": Play(
        "market",
        "short",
        {},
        (Scene(True, 7), Scene(False, 18, lambda state: state.market.count(HOLE) <= 3, first=PASS)),
        (r"Draw 4 tokens out of the bag\.",),
    ),
    "moctezuma": Play(
        "moctezuma",
        "swift",
        {},
        (
            Scene(True, 4, first=("^Draw who begins", "^Look at")),
            Scene(True, 4, first=("^Keep", "^Draw 2 cards", "^Walk to temple")),
            Scene(False, 8, first=("^Keep", "^Look at chit")),
            Scene(False, begins=lambda state: state.stage == REVEAL and state.revealed == TEMPLES - 2),
        ),
    ),
    "siege": Play(
        "siege",
        "skirmish",
        {},
        (
            Scene(True, 12, first=ROLL),
            Scene(False, 3, first=ROLL),
            Scene(False, 3, lambda state: state.stage == ATTACK and not state.side, first=ROLL),
            Scene(False, 4, lambda state: state.turn == 2, first=ROLL),
        ),
    ),
}


def posted(
    companion: Companion, table: Table, key: str, until: Callable[[Any], bool], reader: Reader, words: str
) -> None:
    """Post moves until a state, and wait until the page has spoken some words of it."""
    played_out(companion, table.id, {table.charter.seats[0]: key}, lambda: None, until)
    if words:
        reader.page.wait_for_function("words => window.spoken.some(each => each.includes(words))", arg=words)


def look(companion: Companion, table: Table, reader: Reader, last: str, wrong: dict[str, str]) -> Table:
    """Wait until the page shows the table and has spoken of it, and write down what is wrong with its controls."""
    table = companion.home.services.tables.get(table.id)
    reader.page.wait_for_function(
        "version => Number(document.getElementById('live').dataset.version) >= version", arg=table.version
    )
    reader.page.wait_for_timeout(BREATH_MS)
    for fault in reader.faults():
        wrong.setdefault(fault, f"after {last!r}")
    if last and reader.lost:
        wrong.setdefault(f"the focus was lost after {last!r}", "")
    return table


def act(companion: Companion, table: Table, reader: Reader, control: Control) -> None:
    """Use a control and wait until something came of it: a move, words that are spoken, or other controls."""
    before, spoken = [*map(str, reader.controls())], len(reader.spoken)
    reader.use(control)
    for n in range(1000):
        reader.page.wait_for_timeout(50)
        if companion.home.services.tables.get(table.id).version > table.version or len(reader.spoken) > spoken:
            return
        if n % 4 == 3 and [*map(str, reader.controls())] != before:
            return
    raise AssertionError(f"{control} did nothing")


def play(companion: Companion, device: Device, how: Play) -> Reader:
    """Play the scenes of a table of two, and post the rest to its end; whatever is wrong on the way fails."""
    services, random = companion.home.services, Random(1)
    table = services.tables.open(how.game, "Sunday", 2, how.preset, how.options)
    services.seats.begin(table.id, table.code)
    device.page.add_init_script(f"({HURRIED})()")
    mine, other = table.charter.seats
    device.join(companion, table, mine, "Ana")
    key = device.key(table)
    services.seats.away(table.id, key, other, "app")
    reader = Reader(device.page, keys=True)
    turns, wrong = 0, dict[str, str]()
    for scene in how.scenes:
        posted(companion, table, key, scene.begins, reader, scene.words)
        reader.keys, last, turn = scene.keys, "", None
        for _ in range(scene.steps):
            table = look(companion, table, reader, last, wrong)
            if table.phase == "over":
                break
            if table.on_turn == mine:
                turns += turn not in (None, table.turn)
                turn = table.turn
            chosen = chosen_of(reader.controls(), scene.first, last, random)
            act(companion, table, reader, chosen)
            last = "" if chosen.expanded is not None else chosen.name
            if reader.spoken and reader.spoken[-1].endswith("Tap again to confirm"):
                last = ""
        look(companion, table, reader, last, wrong)
    posted(companion, table, key, lambda _: False, reader, "The game is over")
    assert wrong == {}
    turned = [words for words in reader.spoken if "Your turn" in words]
    assert len(turned) >= max(turns, 1), (turns, reader.spoken)
    return reader


@pytest.mark.parametrize("game", PLAYS)
def test_turns_are_played_by_keys_and_by_a_reader_and_they_and_the_end_are_spoken(
    companion: Companion, device: Make, game: str
) -> None:
    phone = device()
    reader = play(companion, phone, PLAYS[game])
    for words in PLAYS[game].spoken:
        assert any(re.search(words, each) for each in reader.spoken), (words, reader.spoken)
    title = phone.page.get_by_role("region", name=re.compile(".")).get_by_role("heading", level=2).first.inner_text()
    if PLAYS[game].scenes[-1].steps == STEPS:
        assert reader.spoken[-1].startswith("The game is over")
    assert "The game is over" in reader.spoken[-1]  # after posts, what else happened in the same breath comes first
    assert title in reader.spoken[-1]
    for way in ("Play again, same table", "The whole story", "Back to the tables"):
        assert any(each.name == way for each in reader.controls()), way


def test_the_focus_stays_on_every_control_while_tokens_fall(companion: Companion, device: Make) -> None:
    table = companion.table(2)
    phone = device()
    phone.join(companion, table, "east", "Ana")
    companion.drop("tlaloc")  # from now on a turn can be taken back
    reader = Reader(phone.page, keys=True)
    phone.page.wait_for_function("Number(document.getElementById('live').dataset.version) >= 3")
    for control in reader.controls():
        reader.reach(control)
        companion.drop("tlaloc")
        version = companion.home.services.tables.get(table.id).version
        phone.page.wait_for_function(
            "version => Number(document.getElementById('live').dataset.version) >= version", arg=version
        )
        phone.page.wait_for_timeout(100)
        assert reader.focused == control.name


def test_a_level_that_another_player_closes_gives_the_focus_back(companion: Companion, device: Make) -> None:
    services = companion.home.services
    table = services.tables.open("market", "Sunday", 2, "short", {})
    services.seats.begin(table.id, table.code)
    phone, other = device(), device()
    phone.join(companion, table, table.charter.seats[0], "Ana")
    reader = Reader(phone.page, keys=True)
    choose = phone.page.get_by_role("group", name="Choose")
    for close in (lambda: phone.page.keyboard.press("Escape"), lambda: other.join(companion, table, "east", "Ben")):
        reader.use(next(each for each in reader.controls() if (each.role, each.name) == ("link", "Lay a tile")))
        expect(choose.get_by_role("link").first).to_be_focused()
        close()
        expect(choose).to_have_count(0)
        phone.page.wait_for_timeout(200)
        assert reader.focused == "Lay a tile"


def test_who_skips_the_guide_by_keys_goes_on_at_the_line_that_says_whose_turn_it_is(
    companion: Companion, device: Make
) -> None:
    phone = device(guide=True)
    phone.join(companion, companion.table(2), "east", "Ana")
    reader = Reader(phone.page, keys=True)
    reader.use(next(each for each in reader.controls() if each.name.startswith("Skip") and each.role == "button"))
    expect(phone.page.get_by_role("heading", name="Your turn")).to_be_focused()
