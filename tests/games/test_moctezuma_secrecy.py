"""Secrecy in Moctezuma's Revenge: a game is played again with everything changed that one seat cannot know.

The same moves are made, but what others see, keep and write is dealt again; the seat must be sent the same bytes.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from companion.games.kit import CHANCE, Move, Refusal, Seat
from companion.games.moctezuma import GAME
from companion.games.moctezuma.rules.state import State
from tests.games.moctezuma_sitting import Sitting, all_options, played_out

HOUSES: list[dict[str, str]] = [
    {},
    {"bottom": "choose", "keep": "may"},
    {"bottom": "shuffle", "peek_target_public": "off"},
    {"open_treasure": "on", "curse_rule": "two_plus"},
]


def bytes_for(seat: Seat | None, before: State, by: Seat, move: Move, after: State) -> str:
    """Return all that a seat, or a spectator, is ever sent of a step."""
    due = GAME.rules.chance(after)
    view = GAME.page.view(after, seat)
    sent = {
        "view": view,
        "regions": GAME.page.regions(view),
        "to_act": GAME.rules.to_act(after),
        "turn": (GAME.rules.on_turn(after), GAME.rules.turn(after)),
        "due": due and (due.key, due.seat, due.facts, due.secret, due.automatic),
        "typed": due and not due.secret and [repr(each) for each in GAME.rules.choices(after, CHANCE)],
        "story": [repr(line) for line in GAME.page.log(before, by, move, after)],
        "known": GAME.page.known(before, by, move, seat).to_json(),
        "undo": GAME.rules.undoable(before, by, move),
        "moves": [] if seat is None else GAME.rules.moves(after, seat),
    }
    return json.dumps(sent, default=dict)


def is_secret(before: State, by: Seat, move: Move, viewer: Seat | None) -> bool:
    """Return whether a move holds what the viewer cannot know."""
    if before.stage != "playing" or before.seat == viewer:
        return False
    if by == CHANCE:
        return bool(before.queue or before.drawing)
    if move.name == "peek":
        return before.rules.peek_target_public == "off"
    return move.name == "put" or (move.name == "keep" and before.rules.open_treasure == "off")


def again(
    steps: list[tuple[State, Seat, Move]], viewer: Seat | None, random: Random
) -> Iterator[tuple[State, State, Move]]:
    """Play a game again with other secrets; yield before, after and move while it stays possible."""
    state = steps[0][0]
    for (before, _, _), (_, by, move) in itertools.pairwise(steps):
        played = move
        if is_secret(before, by, move, viewer):
            others = [each for each in GAME.rules.moves(state, by) if each.name != "leave"]
            if by != CHANCE:
                others = [each for each in others if each.name == move.name]
            played = random.choice(others)
        after = GAME.rules.play(state, by, played)
        if isinstance(after, Refusal):
            return
        yield state, after, played
        state = after


@pytest.mark.parametrize("house", HOUSES, ids=lambda house: "-".join(house) or "classic")
@pytest.mark.parametrize("viewer", ["red", "blue", None])
def test_what_a_seat_cannot_know_changes_no_byte_of_what_it_is_sent(
    house: dict[str, str], viewer: Seat | None
) -> None:
    random, differing = Random(f"{house} {viewer}"), 0
    for game in range(4):
        steps = played_out(3, f"secret {house} {game}", until=260, **house)
        sent = [
            bytes_for(viewer, before, by, move, after)
            for (before, _, _), (after, by, move) in itertools.pairwise(steps)
        ]
        for _ in range(3):
            replayed = again(steps, viewer, random)
            for n, (before, after, move) in enumerate(replayed):
                assert bytes_for(viewer, before, steps[n + 1][1], move, after) == sent[n]
                differing += after != steps[n + 1][0]
    assert differing > 150, "too few states with other secrets were compared"


def test_the_number_of_moves_reveals_nothing_of_what_others_have_seen() -> None:
    """A chit or a card that somebody knows already is one more move of chance, like any other."""
    fresh, known = Sitting(), Sitting()
    known.peek(0, 1, faces="cs").end()
    fresh.peek(2, 3, faces="cs").end()
    for each in (fresh, known):
        each.do("study", 2).do("peek", 0)
        assert len(each.moves(CHANCE)) == (1 if each is known else 2)
        assert each.due.secret
        assert each.due.automatic
        assert len(GAME.rules.choices(each.state, CHANCE)) == 2, "what may be typed tells nothing either"


def test_a_note_reaches_its_own_seat_and_no_other() -> None:
    sentinel = "the fifth temple \U0001f5ff<b>"
    table = Sitting(3).do("note", 0, sentinel, by="blue")
    for seat in ("red", "yellow", None):
        assert sentinel not in json.dumps(GAME.page.view(table.state, seat), ensure_ascii=False)
        assert GAME.page.known(table.state, "blue", Move("note", (0, sentinel)), seat) == Move("note", (0, ""))
    assert table.notebook("blue")["notes"] == [sentinel]
    assert GAME.page.known(table.state, "blue", Move("note", (0, sentinel)), "blue").args == (0, sentinel)
    assert table.lines == []


def test_a_spectator_sees_nothing_that_a_seat_does_not() -> None:
    for state, _, _ in played_out(3, "spectator", until=200)[::10]:
        public = GAME.page.view(state, None)
        for seat in state.seats:
            own: Any = GAME.page.view(state, seat)
            assert {key for key in public if public[key] != own[key]} <= {"me", "notebook"}
        assert public["notebook"] is None


def test_an_export_holds_faces_only_for_the_seat_that_saw_them() -> None:
    steps = played_out(2, "export", until=250)
    for (before, _, _), (_, by, move) in itertools.pairwise(steps):
        for seat in ("red", "blue", None):
            known = GAME.page.known(before, by, move, seat)
            if is_secret(before, by, move, seat):
                assert known.args == ()
                assert known.name in ("chit", "card", "keep", "put", "peek")
            else:
                assert known == move


def test_the_apps_player_asks_its_own_view_and_nothing_else() -> None:
    """Two states that look alike to a seat make it play alike."""
    steps = played_out(2, "player", until=200)
    random, compared = Random("player"), 0
    replayed = list(again(steps, "red", random))
    for (state, _, _), (_, other, _) in zip(steps[1:], replayed, strict=False):
        moves = GAME.rules.moves(state, "red")
        if moves and state != other:
            views = [GAME.page.view(each, "red") for each in (state, other)]
            first, second = (GAME.decide(view, moves, Random(1).randrange) for view in views)
            assert first == second
            compared += 1
    assert compared > 10


def test_setup_holds_no_order_that_could_leak() -> None:
    """Hidden order is drawn lazily: the opening has no face, no name and no card in a place."""
    state = GAME.rules.setup(all_options(), GAME.seatings[4])
    assert set(state.chits) == {-1}
    assert set(state.names) == {-1}
    assert all(not deck.below for deck in state.decks)
