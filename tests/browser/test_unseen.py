"""Whole games without seeing the page: a turn by keys alone, the next as a screen reader does it, against the app."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from playwright.sync_api import expect

from companion.games.mexica.rules.apocalypse import forestalled
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

STEPS = 400


@dataclass(frozen=True)
class Play:
    """A game that is short enough, and how to play it: what to use first where it is offered."""

    game: str
    preset: str
    options: Mapping[str, str | int] = field(default_factory=dict)
    first: Sequence[str] = ()
    spoken: Sequence[str] = ()
    """What must be spoken once at least, beside the turns and the end."""
    turns: int = STEPS
    """The player's turns that are played on the page; the rest of the game is posted."""
    stops: Sequence[tuple[Callable[[Any], bool], str]] = ()
    """States in which that waits until the page has spoken some words: what follows at once is spoken instead."""

    def choose(self, controls: Sequence[Control], last: str, random: Random) -> Control:
        """Return what to use next: one of `first` that was not used just now, or else anything of the game's."""
        offered = [
            each for each in controls if not each.disabled and each.role != "radio" and not ASIDE.match(each.name)
        ]
        for pattern in self.first:
            if found := [each for each in offered if re.search(pattern, each.name) and each.name != last]:
                return random.choice(found)
        fresh = [each for each in offered if each.expanded is not True and each.name != last]
        return random.choice(fresh or offered)


PLAYS = {
    "temple": Play(
        "mexica",
        "temple_only",
        {"apocalypse_tokens": 13},
        ("gives 7 tokens to Tlaloc", "^End my turn"),
        ("War 0, rain 7", "The countdown: 12 of 13"),
    ),
    "mexica": Play(
        "mexica",
        "evening",
        {"apocalypse_tokens": 13},
        ("gives 7 tokens",),
        ("War ",),
        turns=6,
        stops=((lambda state: state.clock is not None and not forestalled(state), "The countdown: "),),
    ),
    "market": Play("market", "short", {}, ("^Close the deal", "^Pass"), ("Draw 4 tokens out of the bag.",)),
    "moctezuma": Play("moctezuma", "swift", {}, ("^Draw who begins", "^Keep card", "^Look at chit", "^Turn over")),
    "siege": Play(
        "siege",
        "skirmish",
        {},
        ("^Place the rest", "^Deployment", "^Roll", "^Attack with", "^Advance", "^Retreat", "^End the phase"),
    ),
}


def act(companion: Companion, table: Table, reader: Reader, control: Control) -> None:
    """Use a control and wait until something came of it: a move, words that are spoken, or other controls."""
    before, spoken = [*map(str, reader.controls())], len(reader.spoken)
    reader.use(control)
    for n in range(2000):
        reader.page.wait_for_timeout(25)
        if companion.home.services.tables.get(table.id).version > table.version or len(reader.spoken) > spoken:
            return
        if n % 8 == 3 and [*map(str, reader.controls())] != before:
            return
    raise AssertionError(f"{control} did nothing")


def play(companion: Companion, device: Device, how: Play) -> Reader:
    """Play a table of two, one turn by keys alone and one without, to its end; whatever is wrong on the way fails."""
    services, random = companion.home.services, Random(1)
    table = services.tables.open(how.game, "Sunday", 2, how.preset, how.options)
    services.seats.begin(table.id, table.code)
    device.page.add_init_script(f"({HURRIED})()")
    mine, other = table.charter.seats
    device.join(companion, table, mine, "Ana")
    key = device.key(table)
    services.seats.away(table.id, key, other, "app")
    reader = Reader(device.page, keys=True)
    turns, last, wrong, ways = set(), "", dict[str, str](), Counter[bool]()
    for _ in range(STEPS):
        table = services.tables.get(table.id)
        device.page.wait_for_function(
            "version => Number(document.getElementById('live').dataset.version) >= version", arg=table.version
        )
        if table.phase == "running" and table.on_turn == mine:
            turns.add(table.turn)
            reader.keys = len(turns) % 2 == 1 and ways[True] < 12  # a whole game may be one turn
            if len(turns) > how.turns:
                turns.remove(table.turn)
                for until, words in (*how.stops, (lambda _: False, "The game is over")):
                    played_out(companion, table.id, {mine: key}, lambda: None, until)
                    device.page.wait_for_function(
                        "words => window.spoken.some(each => each.includes(words))", arg=words
                    )
                last = ""
                continue
        device.page.wait_for_timeout(BREATH_MS)
        for fault in reader.faults():
            wrong.setdefault(fault, f"after {last!r}")
        if last and reader.lost:
            wrong.setdefault(f"the focus was lost after {last!r}", "")
        if table.phase == "over":
            break
        chosen = how.choose(reader.controls(), last, random)
        act(companion, table, reader, chosen)
        ways[reader.keys] += 1
        last = "" if chosen.expanded is not None else chosen.name
        if reader.spoken and reader.spoken[-1].endswith("Tap again to confirm"):
            last = ""
    assert table.phase == "over", f"{STEPS} steps were too few: the last was {last!r}"
    assert wrong == {}
    assert set(ways) == {True, False}
    turned = [words for words in reader.spoken if "Your turn" in words]
    assert len(turned) >= len(turns) - 1, (turns, reader.spoken)
    return reader


@pytest.mark.parametrize("game", PLAYS)
def test_turns_are_played_by_keys_and_by_a_reader_and_they_and_the_end_are_spoken(
    companion: Companion, device: Make, game: str
) -> None:
    phone = device()
    reader = play(companion, phone, PLAYS[game])
    for words in PLAYS[game].spoken:
        assert any(words in each for each in reader.spoken), (words, reader.spoken)
    title = phone.page.get_by_role("region", name=re.compile(".")).get_by_role("heading", level=2).first.inner_text()
    if PLAYS[game].turns == STEPS:
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
