"""The log of a table: a type for each kind of entry, and one stored form."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from companion.games.kit import Move, Refusal
from companion.model.entries import (
    Action,
    Again,
    Archive,
    Away,
    Begin,
    Close,
    Decide,
    Free,
    LeaveOut,
    Rename,
    Rolls,
    Serve,
    SetOption,
    SetPace,
    SetSound,
    Sit,
    TableEntry,
    Undo,
    decode,
    encode,
)
from companion.model.history import folded
from companion.model.table import Table
from tests.companion.conftest import EVENING, Home

ACTIONS: list[Action] = [
    Begin(),
    Sit("east", "Ana \U0001f40d \udc80\x00"),
    Free("east"),
    LeaveOut("north"),
    Serve("templo"),
    Undo(),
    Away("north", "pass"),
    Rolls(""),
    SetPace("slow"),
    SetSound("off"),
    Close(),
    Rename("Kitchen"),
    Archive("archive"),
    Again("f" * 32),
    SetOption("deck", "ñ\n"),
    SetOption("apocalypse_tokens", -3),
    Decide("old", 1),
    Move("claim", ("x", 2)),
]


def test_every_kind_of_entry_is_tried() -> None:
    assert {type(action) for action in ACTIONS} == {Move, *get_args(TableEntry)}


@pytest.mark.parametrize("action", ACTIONS, ids=str)
def test_what_is_encoded_is_decoded_as_it_was(action: Action) -> None:
    assert decode(encode(action)) == action
    assert json.loads(json.dumps(encode(action))) == encode(action)


@pytest.mark.parametrize(
    "stored",
    [["@sit"], ["@sit", "east", 3], ["@begin", "x"], ["@away", "east", "asleep"], ["@decided", "old", 0], ["@fly"]],
    ids=str,
)
def test_an_entry_that_is_none_stands_at_no_table(home: Home, stored: list[Any]) -> None:
    lobby_ = home.services.tables.open("mexica", "Sunday", 2, "classic")
    refused = lobby_.extended(lobby_.entry(EVENING, "east", decode(stored)))
    assert refused == Refusal("unknown_move", {"move": stored[0]})


@pytest.mark.parametrize("stored", [[], "@sit", ["@sit", None, "x"], ["@sit", "x" * 201, ""], [3]], ids=str)
def test_what_is_no_list_of_words_and_numbers_is_no_entry(stored: object) -> None:
    with pytest.raises(ValueError, match="expected a list of its name and its arguments"):
        decode(stored)


def test_a_log_goes_on_where_it_was_left(home: Home) -> None:
    begun = home.table()
    token = home.seated(begun)
    home.play(begun, token, "east", "end_turn")
    now, log = home.services.tables.get(begun.id), home.services.tables.entries(begun.id)
    for cut in range(len(log) + 1):
        before = folded(Table.opened(now.charter, now.game), log[:cut])
        assert folded(before, log[cut:]).with_keys(now.keys) == now
