"""A game whose moves are only listed, with a temple: tokens fall in every state, people settle what is doubted."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from companion.games import kit
from companion.games.kit import CHANCE, TEMPLE, Move, Refusal, TokenDrop
from companion.model.entries import APP, PASSED, Away, AwayMode, Begin
from companion.model.table import COMPANION, Charter, Table
from tests.games import test_conformance
from tests.games.playouts import combinations

AT = datetime(2026, 11, 28, tzinfo=UTC)


class State(kit.Struct, frozen=True):
    seats: tuple[str, ...]
    turn: int = 1
    tokens: kit.Tokens = kit.Tokens()


def on_turn(state: State) -> str | None:
    return None if state.turn > 20 else state.seats[state.turn % len(state.seats)]


COUNT: kit.TokenCount[State] = kit.TokenCount(on_turn)
WAIT = kit.MoveType("wait", lambda state: kit.replace(state, turn=state.turn + 1))
GAME: kit.Game[State] = kit.Game(
    "waiting",
    seatings={2: ("red", "blue")},
    rules=kit.Rules(
        setup=lambda options, seats: State(seats),
        on_turn=on_turn,
        table=kit.MoveTable(WAIT, *COUNT.moves),
        listed=lambda state: WAIT.all(),
        anytime=COUNT.settling,
        result=lambda state: kit.Result("over") if on_turn(state) is None else None,
    ),
    page=kit.Page(
        view=lambda state, seat: {"tokens": state.tokens.count()},
        log=lambda before, seat, move, after: COUNT.lines(before, seat, move) or [kit.Line("wait", {})],
    ),
    temple=COUNT.temple,
)
BARE = kit.Rules(
    setup=GAME.rules.setup,
    on_turn=on_turn,
    table=kit.MoveTable(WAIT, kit.MoveType("token", lambda state, id_: state, {"id": kit.text()}, TEMPLE)),
    listed=lambda state: WAIT.all(),
)
"""The same with a row of its own for a token."""


def opening(turn: int = 1) -> State:
    return State(("red", "blue"), turn)


def played(state: Any, seat: str, *move: str) -> State:
    after = GAME.rules.play(state, seat, Move(move[0], move[1:]))
    assert isinstance(after, State), after
    return after


def fallen(state: State, token: str, doubt: str = "") -> State:
    assert GAME.temple is not None
    move = GAME.temple.drop(state, TokenDrop(token, "tlaloc", doubt))
    return played(state, TEMPLE, *map(str, move.to_json()))


@pytest.mark.parametrize("turn", [1, 2, 21])
def test_a_token_is_taken_in_every_state_even_the_last(turn: int) -> None:
    assert BARE.play(opening(turn), TEMPLE, Move("token", ("a1",))) == opening(turn)
    state = fallen(opening(turn), "a1")
    assert (state.tokens.count("tlaloc"), len(state.tokens.waiting)) == ((1, 0) if turn < 21 else (0, 1))


def test_a_token_counts_once_and_for_the_seat_on_turn() -> None:
    state = fallen(fallen(opening(), "a1"), "b2")
    assert (state.tokens.count(), state.tokens.count(seat="blue"), state.tokens.count("tlaloc", "red")) == (2, 2, 0)
    again = GAME.rules.play(state, TEMPLE, Move("token", ("a1", "tlaloc", "")))
    assert isinstance(again, Refusal)
    assert again.code == "known_token"


def test_only_the_temple_reports_tokens_and_it_makes_no_other_move() -> None:
    for seat, move, code in (
        ("blue", Move("token", ("a1", "tlaloc", "")), "temple_only"),
        ("red", Move("wait"), "not_yours"),
        (TEMPLE, Move("wait"), "not_yours"),
        (CHANCE, Move("wait"), "not_yours"),
    ):
        refusal = GAME.rules.play(opening(), seat, move)
        assert isinstance(refusal, Refusal)
        assert refusal.code == code


def test_what_is_doubted_waits_until_any_seat_says_whose_it_was() -> None:
    state = fallen(opening(), "a1", "jam")
    assert state.tokens.count() == 0
    assert GAME.rules.to_act(state) == ("blue", "red")
    assert [move.name for move in GAME.rules.moves(state, "red")] == ["claim", "claim", "dismiss"]
    assert played(state, "red", "claim", "a1", "red").tokens.count(seat="red") == 1
    assert played(state, "red", "dismiss", "a1").tokens.count() == 0
    assert GAME.rules.to_act(played(state, "red", "dismiss", "a1")) == ("blue",)
    stranger = GAME.rules.play(state, "red", Move("claim", ("a1", "green")))
    assert isinstance(stranger, Refusal)


def test_a_temple_that_doubts_later_takes_a_token_out_unless_a_person_has_spoken() -> None:
    assert GAME.temple is not None
    state = fallen(opening(), "a1")
    move = GAME.temple.doubted(state, TokenDrop("a1", "tlaloc", "flicker"))
    assert move == Move("doubt", ("a1", "flicker"))
    state = played(state, TEMPLE, "doubt", "a1", "flicker")
    assert GAME.temple.audit(state).waiting[0].suggested == "blue"
    state = played(state, "red", "claim", "a1", "blue")
    assert GAME.temple.doubted(state, TokenDrop("a1", "tlaloc", "flicker")) is None


class Acting(State, frozen=True):
    """A state that remembers what its tokens did."""

    done: tuple[str, ...] = ()


def acts(state: Acting, token: kit.Fallen) -> Acting:
    return kit.replace(state, done=(*state.done, f"{token.seat} {token.god}"))


ACTING: kit.TokenCount[Acting] = kit.TokenCount(on_turn, acts)
GIVE = ACTING.tap(lambda state: kit.replace(state, turn=state.turn + 1))
DOING: kit.MoveTable[Acting] = kit.MoveTable(GIVE, *ACTING.moves)


def done(turn: int, *moves: tuple[str, Move]) -> tuple[str, ...]:
    state = Acting(("red", "blue"), turn)
    for seat, move in moves:
        after = DOING.play(state, seat, move)
        assert isinstance(after, Acting), after
        state = after
    return state.done


FELL, DOUBTED = Move("token", ("a1", "tlaloc", "")), Move("token", ("a1", "tlaloc", "jam"))
CLAIMED = Move("claim", ("a1", "red"))


@pytest.mark.parametrize(
    ("turn", "moves", "expected"),
    [
        (1, [(TEMPLE, FELL)], ("blue tlaloc",)),
        (1, [(TEMPLE, DOUBTED)], ()),
        (1, [(TEMPLE, DOUBTED), ("blue", CLAIMED)], ("red tlaloc",)),
        (1, [(TEMPLE, DOUBTED), ("blue", Move("dismiss", ("a1",)))], ()),
        (1, [(TEMPLE, FELL), (TEMPLE, Move("doubt", ("a1", "flicker"))), ("red", CLAIMED)], ("blue tlaloc",)),
        (21, [(TEMPLE, FELL), ("red", CLAIMED)], ()),
    ],
    ids=["falls", "waits", "claimed", "dismissed", "doubted later", "over"],
)
def test_a_token_acts_once_when_it_counts_and_never_after_the_end(
    turn: int, moves: list[tuple[str, Move]], expected: tuple[str, ...]
) -> None:
    assert done(turn, *moves) == expected


def test_a_token_that_ends_the_game_by_its_number_does_not_act() -> None:
    count: kit.TokenCount[Acting] = kit.TokenCount(lambda state: None if state.tokens.count() else "red", acts)
    after = kit.MoveTable(*count.moves).play(Acting(("red", "blue")), TEMPLE, FELL)
    assert isinstance(after, Acting)
    assert (after.tokens.count(), after.done) == (1, ())


def test_choices_are_in_the_order_of_the_table_and_moves_sorted() -> None:
    rules = kit.Rules(
        setup=GAME.rules.setup,
        on_turn=on_turn,
        table=kit.MoveTable(WAIT, GIVE, kit.MoveType("end", lambda state: state)),
        listed=lambda state: [kit.Move("end"), *GIVE.all(), *WAIT.all()],
    )
    assert [each.key for each in rules.choices(opening(), "blue")] == ["wait", "give", "give", "end"]
    assert [each.name for each in rules.moves(opening(), "blue")] == ["end", "give", "give", "wait"]


def test_a_guide_lights_only_what_is_the_only_thing_to_tap() -> None:
    choices = [{"key": "wait", "move": ["wait"]}, {"key": "give", "move": ["give"]}]
    lit = [GAME.page.guide({"choices": choices[:n]}).lit for n in (0, 1, 2)]
    assert lit == ["", "wait", ""]
    assert GAME.page.guide({"choices": choices, "chance": {"mine": True}}).lit == kit.CHANCE


def test_a_tap_counts_and_acts_like_a_token_and_no_temple_knows_it() -> None:
    state = DOING.play(Acting(("red", "blue")), "blue", Move("give", ("tlaloc",)))
    assert isinstance(state, Acting)
    assert (state.done, state.turn, state.tokens.count("tlaloc", "blue")) == (("blue tlaloc",), 2, 1)
    assert ACTING.temple.audit(state).counted == frozenset()
    assert ACTING.temple.audit(state).credited["tlaloc"] == 1
    assert ACTING.lines(state, "blue", Move("give", ("tlaloc",)))[0].code == "token_fell"


def test_it_passes_the_suite_of_all_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_conformance, "STATES", 300)
    (here,) = combinations([GAME])
    test_conformance.test_random_play_keeps_every_law_of_a_game(here)
    test_conformance.test_nobody_but_the_seats_and_the_temple_ever_has_a_move(here)
    test_conformance.test_a_game_says_how_it_ended_when_it_has(here)


@pytest.mark.parametrize("mode", [APP, PASSED])
def test_the_app_leaves_tokens_that_wait_to_people(mode: AwayMode) -> None:
    charter = Charter("t", "ABCDEF", "Sunday", "waiting", 1, "classic", {}, ("red", "blue"), AT)
    table = Table.opened(charter, GAME)
    for by, action in (
        (COMPANION, Begin()),
        ("red", Away("blue", mode)),
        ("red", Away("red", mode)),
        (TEMPLE, Move("token", ("a1", "tlaloc", "jam"))),
    ):
        after = table.extended(table.entry(AT, by, action))
        assert isinstance(after, Table)
        table = after
    assert {table.automatic(Random(n).randrange) for n in range(20)} == {("blue", Move("wait"))}
