"""A table of moves: what it makes of moves that are well formed, and what it says of all others."""

from __future__ import annotations

from typing import Any

import pytest

from companion.games import registry
from companion.games.kit import (
    CHANCE,
    TEMPLE,
    Game,
    Move,
    MoveTable,
    MoveType,
    Refusal,
    a_seat,
    number,
    one_of,
    printable,
    text,
)
from tests.games import moves_page
from tests.games.playouts import GAMES

AMOUNT = {"n": number(1, 3), "what": text("[a-z]+")}

TABLE: MoveTable[Any] = MoveTable(
    MoveType("take", lambda state, n, what="all": (*state, n, what), AMOUNT, optional=1),
    MoveType("point", lambda state, seat, to: (*state, seat, to), {"to": a_seat()}, names_seat=True),
    MoveType("paint", lambda state, colour: (*state, colour), {"colour": one_of("red", code="bad_colour", most=1)}),
    MoveType("roll", lambda state, n: (*state, n), {"n": number(1, 6)}, CHANCE),
    MoveType("end", lambda state: (), during=("late",)),
    seats=lambda _: ("east", "west"),
    stage=lambda state: "late" if state else "early",
    gate=lambda _state, _seat, move: Refusal("over") if move.name == "paint" and move.args == ("over",) else None,
)


def refused(move: Move, seat: Any = "east", state: Any = ()) -> tuple[str, dict[str, Any]]:
    result = TABLE.play(state, seat, move)
    assert isinstance(result, Refusal)
    return result.code, dict(result.facts)


def test_a_move_that_fits_is_made_with_its_arguments() -> None:
    assert TABLE.play((), "east", Move("take", (2, "corn"))) == (2, "corn")
    assert TABLE.play((), "east", Move("take", (2,))) == (2, "all")
    assert TABLE.play((), "east", Move("point", ("west",))) == ("east", "west")
    assert TABLE.play((), CHANCE, Move("roll", (6,))) == (6,)
    assert TABLE.play((1,), "west", Move("end")) == ()


@pytest.mark.parametrize(
    "args", [(), (0,), (True,), (1.0,), ("1",), (1, "Corn"), (1, "corn", 2), ["x"], None, (10**5000,)]
)
def test_a_malformed_move_is_refused_with_what_was_found_and_expected(args: Any) -> None:
    code, facts = refused(Move("take", args))
    assert (code, facts["move"], facts["expected"]) == ("misfit", "take", "take n:1..3 what:text")
    assert facts["found"]
    assert all(len(str(fact)) <= 100 for fact in facts.values())


def test_a_kind_may_have_a_refusal_of_its_own() -> None:
    assert refused(Move("paint", ("blue",))) == ("bad_colour", {"colour": "blue", "most": 1})
    assert refused(Move("point", ("north",))) == ("unknown_seat", {"to": "north"})


def test_who_does_not_sit_here_and_who_may_not_make_it_is_refused() -> None:
    for stranger in ("north", TEMPLE, "", None, ["east"]):
        assert refused(Move("end"), stranger)[0] == "not_seated"
    assert refused(Move("roll", (1,))) == ("chance_only", {"move": "roll"})
    assert refused(Move("take", (1,)), CHANCE) == ("players_only", {"move": "take"})


def test_what_is_unknown_not_due_or_not_let_through_is_refused_before_its_arguments() -> None:
    assert refused(Move("fly", (1,))) == ("unknown_move", {"move": "fly"})
    assert refused(Move(["take"], ())) == ("unknown_move", {"move": "list"})  # type: ignore[arg-type]
    assert refused(Move("end", (1,))) == ("not_now", {"move": "end"})
    assert refused(Move("paint", ("over",))) == ("over", {})


def test_names_and_every_move_follow_from_the_table() -> None:
    take, *_ = TABLE
    assert take.signature == "take n:1..3 what:text"
    assert TABLE.facts(Move("take", (2,))) == {"n": 2}
    assert TABLE.facts(Move("fly", (2,))) == {}
    assert MoveType("pair", lambda: None, {"a": one_of("x", "y"), "b": number(1, 2)}).all()[1] == Move(
        "pair", ("x", 2)
    )


def test_a_printable_value_is_short_whatever_its_size() -> None:
    assert [printable(value) for value in ("x" * 10**6, "é\n", 10**5000, 7, None)][1:] == [
        "\\xe9\\n",
        "int",
        "7",
        "NoneType",
    ]
    assert len(str(printable("x" * 10**6))) == 40


@pytest.mark.parametrize("game", registry.with_tools(GAMES).values(), ids=lambda game: game.name)
def test_every_move_of_our_games_stands_in_a_table(game: Game[object]) -> None:
    options = {option.key: option.default for option in game.options}
    seats = next(iter(game.seatings.values()))
    state = game.rules.setup(options, seats)
    for seat in game.rules.to_act(state):
        for move in game.rules.moves(state, seat):
            assert len(game.rules.facts(move)) == len(move.args)


def test_the_page_of_all_moves_says_what_the_tables_say() -> None:
    assert moves_page.PAGE.read_text(encoding="utf-8") == moves_page.written()
