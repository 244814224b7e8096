"""Previews: what a move would change, by the rules, and never more than its seat can know."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import pytest
from msgspec import structs
from msgspec.structs import replace

from companion.games.kit import CHANCE, Line, Move, Refusal, Seat, preview
from companion.games.mexica.rules.calendar import place_of
from companion.games.mexica.rules.cards.deck import ids
from companion.games.mexica.rules.cards.effects import Standing
from companion.games.mexica.rules.state import State
from companion.web.rendering.previews import preview_text
from companion.web.rendering.texts import LANGUAGES
from tests.cases import every_case
from tests.games.battlefield import CORTEZ, CUAUHTEMOC, C, W, scene
from tests.games.full_sitting import DECK, quiet
from tests.games.market_sitting import Sitting as MarketSitting
from tests.games.moctezuma_sitting import Sitting as MoctezumaSitting
from tests.games.playouts import COMBINATIONS, GAMES, Combination, playout
from tests.games.sitting import RAIN_GOD, WAR_GOD, Sitting
from tests.games.texts import LIBRARY

everywhere = every_case("here", COMBINATIONS)

STATES_LOOKED_AT = 60
MOVES_LOOKED_AT = 4


@cache
def sampled(here: Combination) -> list[tuple[Any, Seat, Move]]:
    """Return moves that seats may make in states of random play, of each kind of move some."""
    random, game = Random(f"previews {here}"), here.game
    opening = game.rules.setup(here.options(), here.seats)
    states = [step.after for step in playout(game, opening, random, 700)]
    found = []
    for state in random.sample(states, min(STATES_LOOKED_AT, len(states))):
        for seat in game.rules.to_act(state):
            moves = [] if seat == CHANCE else game.rules.moves(state, seat)
            for name in sorted({move.name for move in moves}):
                among = [move for move in moves if move.name == name]
                found += [(state, seat, move) for move in random.sample(among, min(MOVES_LOOKED_AT, len(among)))]
    return found


@everywhere
def test_a_preview_is_the_same_whatever_its_seat_cannot_know(here: Combination) -> None:
    random, game = Random(str(here)), here.game
    for state, seat, move in sampled(here):
        shown = preview(game, state, seat, move)
        for _ in range(2):
            other = game.rules.resample(state, seat, random.randrange)
            assert preview(game, other, seat, move) == shown, f"{move} of {seat} shows what is hidden"


@everywhere
def test_what_a_preview_calls_certain_comes_true(here: Combination) -> None:
    game = here.game
    for state, seat, move in sampled(here):
        after = game.rules.play(state, seat, move)
        assert preview(game, state, seat, move).certain == tuple(game.page.changes(state, seat, move, after))


@everywhere
def test_the_ways_of_a_preview_are_all_there_are_and_can_be_said(here: Combination) -> None:
    game = here.game
    for state, seat, move in sampled(here):
        shown = preview(game, state, seat, move)
        assert sum(way.share for way in shown.ways) == (1 if shown.ways else 0)
        for language in LANGUAGES:
            words = preview_text(LIBRARY.words(language, game.name), shown)
            assert bool(words) == bool(shown.certain or shown.ways)


def test_the_dice_of_an_assault_come_out_as_its_preview_says() -> None:
    game, random = GAMES["siege"], Random(5)
    opening = game.rules.setup(
        {each.key: each.default for each in game.options} | game.presets["skirmish"], game.seatings[2]
    )
    attacks = 0
    for step in playout(game, opening, random, 3_000):
        if step.move.name != "attack":
            continue
        attacks += 1
        shown, state = preview(game, step.before, step.seat, step.move), step.after
        assert len(shown.ways) > 1
        assert not shown.assumed
        while game.page.follows(state):
            due = game.rules.chance(state)
            assert due
            state = game.rules.play(state, CHANCE, random.choice(list(due.outcomes)))
        came = tuple(game.page.changes(step.before, step.seat, step.move, state))
        assert any(came == (*shown.certain, *way.lines) for way in shown.ways)
    assert attacks


def test_an_attack_on_a_routed_unit_shows_that_it_may_rout_again() -> None:
    state = scene(
        2, {C[0]: "c3", W[0]: "d3", CUAUHTEMOC: "k5", CORTEZ: "a9"}, routed=(W[0],), rout_contact="next_move"
    )
    shown = preview(GAMES["siege"], state, "spaniards", Move("attack", (C[0], "d3")))
    assert words("siege", shown).splitlines()[0] == "44 %: Aztec warriors 1 on d3: routed."


def test_a_move_that_the_rules_refuse_has_no_preview() -> None:
    game = GAMES["market"]
    state = game.rules.setup({each.key: each.default for each in game.options}, game.seatings[2])
    assert isinstance(game.rules.play(state, "south", Move("commit")), Refusal)
    assert preview(game, state, "south", Move("commit")) == ((), (), False)


def words(game: str, preview: Any) -> str:
    return preview_text(LIBRARY.words("en", game), preview)


def test_a_sacrifice_that_brings_the_apocalypse_says_so_and_asks_twice() -> None:
    sitting = Sitting(apocalypse_tokens=130).give(WAR_GOD, 127)
    few, enough = Move("sacrifice", (RAIN_GOD, 2)), Move("sacrifice", (RAIN_GOD, 3))
    game = GAMES["mexica"]
    asks = {each.move: each.confirm for each in game.rules.choices(sitting.state, "east") if each.key == "sacrifice"}
    assert (asks[few], asks[enough]) == (False, True)
    assert (
        words("mexica", preview(game, sitting.state, "east", few))
        == "Tlaloc: 0 → 2.\n1 more token brings the apocalypse."
    )
    codes = [line.code for line in preview(game, sitting.state, "east", enough).certain]
    assert codes == ["god", "starts", "doom_war"]


def test_the_turn_that_ends_the_game_says_so_and_asks_twice() -> None:
    sitting = Sitting(apocalypse_tokens=130).give(WAR_GOD, 130)
    game = GAMES["mexica"]
    for _ in range(13):
        assert not any(each.confirm for each in game.rules.choices(sitting.state, "east") if each.key == "end_turn")
        sitting.do("end_turn")
    seat = sitting.state.seat
    assert next(each for each in game.rules.choices(sitting.state, seat) if each.key == "end_turn").confirm
    shown = preview(game, sitting.state, seat, Move("end_turn"))
    assert shown.certain == (Line("ends_war"),)


def test_an_attack_of_a_tribe_shows_the_odds_of_the_battle() -> None:
    space = next(card.space for card in DECK.week if card.effect == Standing("range", 1))
    assert space
    sitting = quiet().hold(place_of(space), "east").lay("west", place=4, tokens=5).land(3)
    shown = preview(GAMES["mexica"], sitting.state, "east", Move("attack", ("west",)))
    assert shown.certain == ()
    assert [(way.share, way.lines) for way in shown.ways] == [
        (Fraction(15, 36), (Line("wins", {"seat": "west"}),)),
        (Fraction(15, 36), (Line("wins", {"seat": "east"}),)),
        (Fraction(6, 36), ()),  # nobody wins a tie
    ]


def test_closing_a_deal_shows_the_whole_turn() -> None:
    game, random = GAMES["market"], Random(3)
    opening = game.rules.setup({each.key: each.default for each in game.options}, game.seatings[4])
    commits = [step for step in playout(game, opening, random, 700) if step.move.name == "commit"]
    assert commits
    for step in commits:
        shown = preview(game, step.before, step.seat, step.move)
        codes = [line.code for line in shown.certain]
        assert codes[-1] in ("next", "ends_won_together")
        assert {"coins", "holds"} & {*codes}


@pytest.mark.parametrize(
    ("players", "king", "buyers", "log", "shown"),
    [
        (2, "17,19,19,19", {"south": "2p,-,-,-"}, "South wins with 34", "The game ends, and South has won with 34."),
        (
            4,
            "17,19,19,19",
            {"south": "2p,-,-,-"},
            "South and North win with 34",
            "The game ends, and South and North have won with 34.",
        ),
        (
            3,
            "17,17,19,19",
            {"south": "2p,-,-,-", "north": "2c,-,-,-"},
            "South and North win with 34",
            "The game ends, and South and North have won with 34.",
        ),
        (
            4,
            "17,17,19,19",
            {"south": "2p,-,-,-", "west": "2c,-,-,-"},
            "A shared win with 34",
            "The game ends with a win shared by all, with 34.",
        ),
    ],
    ids=["one", "partners", "two of three", "all"],
)
def test_the_deal_that_ends_the_market_names_everybody_who_has_won(
    players: int, king: str, buyers: dict[str, str], log: str, shown: str
) -> None:
    game = GAMES["market"]
    seat = game.seatings[players][-1]
    sitting = MarketSitting(players=players, king=king, buyers=buyers, step=f"turn:{seat}:0", unseen="1,1,1,1")
    state = structs.replace(sitting.state, bought=1, origin=sitting.state)
    assert words("market", preview(game, state, seat, Move("commit"))) == shown
    (line,) = game.page.log(state, seat, Move("commit"), game.rules.play(state, seat, Move("commit")))[1:]
    assert LIBRARY.words("en", "market")(f"log.{line.code}", **line.facts) == log


def test_points_of_another_partnership_are_those_of_both_partners() -> None:
    sitting = MarketSitting(
        "ujch/p123/4xyv/amk.",
        players=4,
        vendors="2,0,0,0",
        buyers={"west": "-,-,-,2p", "north": "-,-,-,o"},
        step="turn:north:0",
    )
    shown = words("market", preview(GAMES["market"], sitting.state, "north", Move("buy", (3, 1))))
    assert shown.splitlines()[-1] == "Points of West and East: 0 → 2."


def test_an_exploration_shows_its_price_and_how_likely_it_finds_the_name() -> None:
    game, random = GAMES["moctezuma"], Random(3)
    opening = game.rules.setup({each.key: each.default for each in game.options}, game.seatings[2])
    step = next(each for each in playout(game, opening, random, 700) if each.move == Move("explore", (5,)))
    shown = preview(game, step.before, step.seat, step.move)
    assert [line.code for line in shown.certain] == ["points", "draws", "name_among"]
    assert (
        words("moctezuma", shown)
        == "Points of this turn: 4 → 1.\nYou draw 5 of 12 cards.\nIts name is among them: 42\u00a0%."
    )


def test_a_preview_cannot_show_a_hidden_hand_even_where_a_games_lines_read_it() -> None:
    """The guard behind the suite: lines that read what is hidden read a guess."""

    def leaking(before: State, seat: Seat, move: Move, after: State) -> list[Line]:
        return [Line("leak", {"hands": " ".join(" ".join(each.hand) for each in before.laid.tribes[1:])})]

    game = dataclasses.replace(GAMES["mexica"], page=replace(GAMES["mexica"].page, changes=leaking))
    sitting, cards, shown = quiet().land(3), sorted(ids("rain")), set()
    move = game.rules.moves(sitting.state, "east")[0]
    for hand in (cards[:2], cards[-2:]):
        sitting.lay("west", hand=tuple(hand))
        shown |= {line.facts["hands"] for line in preview(game, sitting.state, "east", move).certain}
    assert len(shown) == 1, "the line differs with the hand"


@pytest.mark.parametrize(("rule", "share"), [("any", 44), ("two_plus", 56)])
def test_ending_a_turn_shows_how_likely_the_next_chit_is_cursed_with_those_beside_the_chart(
    rule: str, share: int
) -> None:
    """Of 16 chits 7 are cursed, of the later 25 there are 14: Z2, whatever lies on the chart's 15 spaces."""
    opening = MoctezumaSitting(curse_rule=rule, flip="turn").state
    shown = preview(GAMES["moctezuma"], opening, "red", Move("end_turn")).certain
    assert Line("turns", {"king": "chimalpopoca", "percent": share}) in shown


def test_a_preview_calculates_nothing_for_a_table_that_thinks_for_itself() -> None:
    game, table = GAMES["moctezuma"], MoctezumaSitting(flip="turn", deduction="off")
    ends = preview(game, table.state, "red", Move("end_turn")).certain
    assert [line.code for line in ends] == ["unspent", "turns_unknown"]
    table.peek(0, 1, faces="cs")
    assert preview(game, table.state, "red", Move("end_turn")).certain[-1].code == "turns_cursed"
    explores = preview(game, table.put(5).state, "red", Move("explore", (5,))).certain
    assert [line.code for line in explores] == ["points", "draws"]
