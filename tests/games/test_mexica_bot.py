"""The app as a tribe: it beats a random one, is quick about it, and decides by nothing that its seat cannot know."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest

from companion.games.kit import CHANCE, Move, replace
from companion.games.mexica import GAME
from companion.games.mexica.rules.cards.deck import ids
from companion.games.mexica.rules.hands import pile_of
from companion.games.mexica.rules.odds import Pile, Sign, found
from companion.games.mexica.rules.play import CHORES
from companion.games.mexica.rules.state import State
from tests.games.playouts import Combination

PLAYED = 16
"""Games against a random tribe; the bench plays 500."""

LEAST = 8
"""Games that it must win of them: some ten in a hundred below what the bench measures."""

EARLY = 60
"""A turn before which it gives nothing."""

WAR, RAIN, DAY = Pile(40, 1, 7), Pile(40, 1, 7), Pile(260, 13, 7)
"""The piles of the classic game as they are at first."""


def _here(preset: str, players: int = 2) -> Combination:
    return Combination(GAME, preset, GAME.seatings[players])


def _played(preset: str, seed: int, app: str, players: int = 2) -> list[tuple[State, str, list[Move], Move]]:
    """Play a game of the app against random tribes; return what it decided, and where."""
    here, random = _here(preset, players), Random(seed)
    state: Any = GAME.rules.setup(here.options(), here.seats)
    decided = []
    while acting := GAME.rules.to_act(state):
        moves = GAME.rules.moves(state, acting[0])
        if acting[0] == app:
            move = GAME.decide(GAME.page.view(state, app), moves, random.randrange)
            assert move is not None
            decided.append((state, app, moves, move))
        else:
            move = random.choice([each for each in moves if each.name not in CHORES])
        state = GAME.rules.play(state, acting[0], move)
        assert isinstance(state, State)
    decided.append((state, app, [], Move("")))
    return decided


def test_it_wins_against_a_random_tribe_from_either_seat() -> None:
    won = 0
    for seed in range(PLAYED):
        app = ("east", "west")[seed % 2]
        end = _played("century", seed, app)[-1][0]
        won += end.outcome is not None and end.outcome.seat == app
    assert won >= LEAST


def test_tokens_find_a_sign_as_often_as_its_pile_says() -> None:
    assert found((), 0) == 1
    assert found((WAR,), 6) == 0
    assert found((WAR,), 69) == pytest.approx(9 / 40)
    assert found((WAR,), 280) == pytest.approx(1)
    both = sum(1 for first, second in product(range(1, 41), repeat=2) if first + second <= 22)
    assert found((WAR, RAIN), 22 * 7) == pytest.approx(both / 1600)
    assert found((Pile(cards=4, copies=2, price=5),), 10) == pytest.approx(1 - 2 / 4 * 1 / 3)


def test_what_lies_bare_is_decided() -> None:
    """M7: where no tokens are left no week card changes hands, so a sign that another tribe holds must be bought."""
    assert Sign(WAR, 0).lost
    assert not Sign(WAR, 1).lost
    assert Sign(WAR, 0, mine=True).safe
    assert not Sign(WAR, 1, mine=True).safe
    assert Sign(WAR, 1, kept=True).safe


def _asked(view: dict[str, Any], tokens: int = 70, left: int = 100, days: int = 0, **spaces: tuple[int, str]) -> Move:
    """Return what east does in its sacrifice step with so many tokens, spaces left as they are but for some.

    A space is named with its tokens and the holder of its week card. West holds so many Day cards, and the gods wait
    for `left` tokens more.
    """
    tribes = {seat: dict(tribe) for seat, tribe in view["tribes"].items()}
    tribes["east"]["tokens"] = tokens
    tribes["west"]["cards"] = {**tribes["west"]["cards"], "day": days}
    ground = []
    for space in view["spaces"]:
        there, holder = spaces.get(space["sign"], (space["tokens"], space["holder"]))
        ground.append({**space, "tokens": there, "holder": holder or None})
        if holder and space["sign"] in spaces:
            tribes[holder]["week_cards"] = [*tribes[holder]["week_cards"], space["sign"]]
    due = {"task": "sacrifice", "seat": "east", "args": [0]}
    known = {**view, "tribes": tribes, "spaces": ground, "left": left, "due": due}
    offers = [Move("sacrifice", (god, n)) for god in ("huitzilopochtli", "tlaloc") for n in range(1, 14)]
    move = GAME.decide(known, [Move("pass"), *offers, Move("tonantzin")], Random(1).randrange)
    assert move is not None
    return move


@pytest.fixture
def fresh() -> dict[str, Any]:
    """Return what east sees before its first roll; no space has been landed on."""
    here = _here("classic")
    return dict(GAME.page.view(GAME.rules.setup(here.options(), here.seats), "east"))


EAGLE_CARD = Move("sacrifice", ("huitzilopochtli", 7))


def test_it_hoards_while_a_sign_may_still_come_by_itself(fresh: dict[str, Any]) -> None:
    assert _asked(fresh) == Move("pass")
    assert _asked(fresh, eagle=(0, "west"), serpent=(3, ""), flower=(0, "east")) == Move("pass")


def test_it_buys_what_is_lost_once_nothing_is_open(fresh: dict[str, Any]) -> None:
    ends = {"eagle": (0, "west"), "serpent": (0, "east"), "flower": (0, "east")}
    assert _asked(fresh, **ends) == EAGLE_CARD
    assert _asked(fresh, tokens=6, **ends) == Move("pass")


def test_it_never_calls_the_gods_itself(fresh: dict[str, Any]) -> None:
    """M23: the token that fills the lake starts the clock, and the others will give it soon enough."""
    ends = {"eagle": (0, "west"), "serpent": (0, "east"), "flower": (0, "east")}
    assert _asked(fresh, left=8, **ends) == EAGLE_CARD
    assert _asked(fresh, left=7, **ends) == Move("pass")


def test_the_flower_is_bought_of_tonantzin_whatever_the_lake_holds(fresh: dict[str, Any]) -> None:
    """M24: what Tonantzin is given does not bring the end nearer."""
    ends = {"eagle": (0, "east"), "serpent": (0, "east"), "flower": (0, "west")}
    assert _asked(fresh, left=1, **ends) == Move("tonantzin")


def test_it_waits_no_longer_when_a_rival_shows_two_signs(fresh: dict[str, Any]) -> None:
    """M38: a Day card that is kept is a flower, and everybody sees its back."""
    ends = {"eagle": (0, "west"), "serpent": (3, ""), "flower": (0, "east")}
    assert _asked(fresh, days=0, **ends) == Move("pass")
    assert _asked(fresh, days=1, **ends) == EAGLE_CARD


def test_what_is_bought_against_a_rival_leaves_the_open_sign_its_time(fresh: dict[str, Any]) -> None:
    ends = {"eagle": (0, "west"), "serpent": (3, ""), "flower": (0, "east")}
    assert _asked(fresh, days=1, left=35, **ends) == EAGLE_CARD
    assert _asked(fresh, days=1, left=34, **ends) == Move("pass")


def test_a_week_card_that_counts_as_no_sign_is_neither_waited_for_nor_counted_on(fresh: dict[str, Any]) -> None:
    """M19, `week_signs` off: only cards bring the signs, so there is nothing to wait for."""
    assert _asked({**fresh, "week_signs": False}, left=260, eagle=(0, "east")) == EAGLE_CARD


def test_a_hoard_is_kept_at_first_and_spent_once_the_clock_runs() -> None:
    """M23: what is given early brings the end nearer, and what is kept beyond the end is worth nothing."""
    kept, spent = 0, 0
    for seed in range(2):
        for state, app, moves, move in _played("classic", seed, ("east", "west")[seed % 2])[:-1]:
            view: Any = GAME.page.view(state, app)
            own, clock = view["tribes"][app], view["countdown"]
            dear = [each for each in moves if each.name == "sacrifice" and each.args[1] == own["prices"]["god"]]
            if view["due"]["task"] == "sacrifice" and dear and not own["toward"]["tlaloc"]:
                if view["turn"] < EARLY:
                    kept += 1
                    assert move == Move("pass")
                elif clock and view["offering"]["tonantzin"] and view["offering"]["temple"]:
                    spent += 1
                    assert move.name in ("sacrifice", "tonantzin")
    assert kept
    assert spent


@pytest.mark.parametrize("preset", ["classic", "evening", "flower_war"])
def test_it_plays_every_preset_to_its_end_with_legal_moves_that_are_no_chores(preset: str) -> None:
    for _, _, moves, move in _played(preset, 5, "north", players=3)[:-1]:
        assert move in moves
        assert move.name not in CHORES


def test_hidden_cards_of_others_change_no_decision() -> None:
    random = Random("hidden")
    looked_at = 0
    for state, app, moves, move in _played("evening", 3, "east", players=4)[:-1]:
        board, me = state.laid, state.index(app)
        others = [n for n in range(len(state.seats)) if n != me]
        for n in others:
            taken = {*board.discards, *(card for tribe in board.tribes for card in tribe.hand)}
            hand = []
            for card in board.tribes[n].hand:
                pile = pile_of(card)
                free = [each for each in ids(pile) if each not in taken]
                hand.append(other := random.choice(free) if free else card)
                taken.add(other)
                looked_at += other != card
            board = board.tribe(n, hand=tuple(sorted(hand)))
        permuted = GAME.page.view(replace(state, board=board), app)
        assert permuted == GAME.page.view(state, app)
        assert GAME.decide(permuted, moves, Random(1).randrange) == GAME.decide(
            GAME.page.view(state, app), moves, Random(1).randrange
        )
        assert move in moves
    assert looked_at, "nobody else ever held a card: this game proves nothing"


def test_tokens_that_wait_for_people_are_not_the_apps_to_settle() -> None:
    here = _here("classic")
    state = GAME.rules.setup(here.options(), here.seats)
    chores = [Move("claim", ("a1", "east")), Move("dismiss", ("a1",)), Move("propose", ("east", "tlaloc", 1))]
    assert GAME.decide(GAME.page.view(state, "east"), chores, Random(1).randrange) is None
    assert GAME.rules.to_act(state) == (CHANCE,)


@pytest.mark.parametrize("given", [100, 256])
def test_a_table_of_app_players_never_stands_still_on_a_bare_board(given: int) -> None:
    """Everybody held back at 256 of 260 where nothing could come by itself any more."""
    here = _here("classic", 4)
    state: Any = GAME.rules.setup(here.options(), here.seats)
    tallies = state.tallies.credit(0, "tlaloc", given // 2).credit(1, "huitzilopochtli", given - given // 2)
    tribes = tuple(replace(tribe, tokens=(360 - given) // 4) for tribe in state.laid.tribes)
    board = replace(state.laid, tribes=tribes, spaces=(0,) * 20, reserve=0, lost=(360 - given) % 4)
    random, state = Random(1), replace(state, board=board, tallies=tallies)
    for _ in range(3_000):
        acting = GAME.rules.to_act(state)
        if not acting:
            break
        seat = CHANCE if CHANCE in acting else acting[0]
        moves = GAME.rules.moves(state, seat)
        decided = None if seat == CHANCE else GAME.decide(GAME.page.view(state, seat), moves, random.randrange)
        state = GAME.rules.play(state, seat, decided or random.choice(moves))
    assert state.over, f"turn {state.turn}, {len(state.tallies.lake)} of 260"
