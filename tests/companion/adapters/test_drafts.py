"""A table that follows its designer's file: what is sound comes into play and the log, what is not is reported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from companion.adapters.draft_watcher import Draft
from companion.cli.data.check import option_of
from companion.games.kit import Fault
from companion.games.mexica.rules import hands
from companion.games.mexica.rules.cards.effects import Gain
from companion.model.entries import SetOption
from companion.model.table import Entry, ServiceError, Table
from companion.web.view_models.table import Audience, table_view_model
from tests.companion.conftest import Home

FIVE = '[day]\nday-rabbit-2 = { effect = "gain", tokens = 5 }\n'
SIX = FIVE.replace("5", "6")
WRONG = FIVE.replace("5", "99")


class Followed:
    """A table of the full game with the file that it follows, looked at when a test says so."""

    def __init__(self, home: Home, file: Path) -> None:
        self.home, self.file = home, file
        self.reported: list[Sequence[Fault]] = []
        opened = home.services.tables.open("mexica", "Sunday", 3, "classic", {"apocalypse_tokens": 13})
        self.id = opened.id
        self.draft = self.follow()

    def follow(self) -> Draft:
        option = option_of(self.table.game, "deck")
        draft = Draft(self.home.services, self.id, option, self.file, self.reported.append)
        self.home.services.tables.set_draft(self.id, ())
        return draft

    @property
    def table(self) -> Table:
        return self.home.services.tables.get(self.id)

    @property
    def gain(self) -> Any:
        return hands.card(self.table.state, "day-rabbit-2").effect

    def begin(self) -> None:
        self.home.services.seats.begin(self.id, self.table.code)

    def save(self, text: str) -> None:
        self.file.write_text(text)
        self.draft.look()
        self.draft.look()


@pytest.fixture
def followed(home: Home, tmp_path: Path) -> Followed:
    return Followed(home, tmp_path / "mine.toml")


def test_each_sound_version_is_in_play_at_once_and_for_ever_in_the_log(followed: Followed) -> None:
    followed.begin()
    followed.save(FIVE)
    assert followed.gain == Gain(5)
    followed.save(SIX)
    assert followed.gain == Gain(6)
    assert followed.reported == [(), ()]
    entries = followed.home.services.tables.entries(followed.id)
    assert [entry.action for entry in entries[-2:]] == [SetOption("deck", FIVE), SetOption("deck", SIX)]
    before = followed.table.state
    followed.file.unlink()
    followed.home.restart()
    assert followed.table.state == before
    assert followed.table.options["deck"] == SIX


def test_a_faulty_version_is_reported_and_the_last_sound_one_stays(followed: Followed) -> None:
    followed.begin()
    followed.save(FIVE)
    version = followed.table.version
    followed.save(WRONG)
    (fault,) = followed.reported[-1]
    assert (fault.line, fault.code) == (2, "value")
    assert followed.home.services.tables.draft(followed.id) == (fault,)
    assert (followed.gain, followed.table.version) == (Gain(5), version)
    followed.save(SIX)
    assert followed.home.services.tables.draft(followed.id) == ()
    assert followed.gain == Gain(6)


def test_the_pages_show_a_few_faults_and_how_many_there_are(followed: Followed) -> None:
    followed.save("[day]\n" + "".join(f"day-dog-{n} = 3\n" for n in range(1, 10)))
    slice_: Any = table_view_model(followed.home.services, followed.id, Audience("en")).slices["draft"]
    assert (len(slice_["faults"]), slice_["count"]) == (3, 9)
    assert slice_["faults"][0] == {"line": 2, "code": "card", "facts": {"card": "day-dog-1", "found": "3"}}
    assert f"table:{followed.id}" in followed.home.changes


def test_a_table_that_follows_nothing_has_no_such_region(home: Home) -> None:
    assert "draft" not in table_view_model(home.services, home.table().id, Audience("en")).slices


def test_a_file_is_taken_only_when_it_has_come_to_rest(followed: Followed) -> None:
    followed.begin()
    followed.file.write_text("")
    followed.draft.look()
    followed.file.write_text(FIVE)
    followed.draft.look()
    assert followed.reported == []
    followed.draft.look()
    assert followed.reported == [()]
    followed.draft.look()
    assert followed.reported == [()]


def test_a_file_that_is_gone_or_no_text_is_a_fault(followed: Followed) -> None:
    followed.begin()
    followed.save(FIVE)
    followed.file.unlink()
    followed.draft.look()
    followed.draft.look()
    assert [fault.code for fault in followed.reported[-1]] == ["no_file"]
    followed.file.write_bytes(b"[day]\n\xff")
    followed.draft.look()
    followed.draft.look()
    assert followed.reported[-1] == (Fault(2, "no_text"),)
    assert followed.gain == Gain(5)


def test_a_deck_that_changes_in_the_lobby_is_the_one_that_the_game_begins_with(followed: Followed) -> None:
    followed.save(FIVE)
    followed.begin()
    assert followed.gain == Gain(5)


def test_the_deck_that_is_in_play_already_makes_no_entry(followed: Followed) -> None:
    followed.begin()
    followed.save(FIVE)
    version = followed.table.version
    followed.draft = followed.follow()
    followed.save(FIVE)
    assert followed.table.version == version


def test_what_was_done_under_the_old_deck_is_not_taken_back_under_the_new(followed: Followed) -> None:
    services = followed.home.services
    token = followed.home.seated(followed.table)
    followed.begin()
    followed.save(FIVE)
    played = services.play.undo(followed.id, token, "east", followed.table.version, "undo-1")
    assert not played.accepted
    assert played.refusal
    assert played.refusal.code == "nothing_to_undo"


def test_nobody_at_the_table_can_change_an_option(followed: Followed) -> None:
    token = followed.home.seated(followed.table)
    followed.begin()
    played = followed.home.play(followed.table, token, "east", "@option", "deck", FIVE)
    assert (played.accepted, followed.table.options["deck"]) == (False, "default")


def test_an_option_that_the_game_cannot_change_while_it_runs_is_refused(followed: Followed) -> None:
    services = followed.home.services
    with pytest.raises(ServiceError, match="bad_option"):
        services.tables.amend(followed.id, "deck", WRONG)
    with pytest.raises(ServiceError, match="bad_option"):
        services.tables.amend(followed.id, "nothing", "x")
    followed.begin()
    with pytest.raises(ServiceError, match="not_amendable"):
        services.tables.amend(followed.id, "battle_loot", "one")


def test_the_next_game_at_the_table_is_played_with_the_deck_as_it_is_now(followed: Followed) -> None:
    token = followed.home.seated(followed.table)
    followed.begin()
    followed.save(SIX)
    services, random = followed.home.services, Random("again")
    table, entries = followed.table, list[Entry]()
    while table.phase == "running":
        acting = table.game.rules.to_act(table.state)
        moves = table.game.rules.moves(table.state, acting[0])
        entries.append(table.entry(followed.home.clock(), acting[0], random.choice(moves)))
        after = table.extended(entries[-1])
        assert isinstance(after, Table)
        table = after
    with followed.home.store.transaction() as change:
        change.append(table.id, entries)
    followed.home.workspace.owners.forget([f"table:{table.id}"])  # so that it is read again
    assert services.tables.again(followed.id, token).options["deck"] == SIX
