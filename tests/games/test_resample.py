"""What a seat may believe: hidden things are drawn again, and whatever it knows stays."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from companion.games.kit import Game, Move, Seat
from companion.games.moctezuma.rules.knowledge import knowledge
from tests.games.playouts import GAMES, playout


def states(name: str, preset: str, players: int, seed: int, **chosen: Any) -> list[Any]:
    game = GAMES[name]
    options = {option.key: option.default for option in game.options} | dict(game.presets[preset]) | chosen
    opening = game.rules.setup(options, game.seatings[players])
    return [step.after for step in playout(game, opening, Random(seed), 400)]


def believed(game: Game[Any], state: Any, seat: Seat, times: int = 12) -> list[Any]:
    random = Random(1)
    return [game.rules.resample(state, seat, random.randrange) for _ in range(times)]


def test_a_researcher_may_believe_in_other_chits_names_and_treasures_of_others() -> None:
    found = {"chits": 0, "names": 0, "trips": 0, "decks": 0}
    for state in states("moctezuma", "classic", 4, 3)[::20]:
        for other in believed(GAMES["moctezuma"], state, "red"):
            for what in found:
                found[what] += getattr(other, what) != getattr(state, what)
            assert (other.trips[0], other.seen, other.read) == (state.trips[0], state.seen, state.read)
            assert knowledge(other, 0) == knowledge(state, 0)
    assert all(found.values()), found


def test_what_others_noted_is_nobody_elses_to_believe_in() -> None:
    game = GAMES["moctezuma"]
    state = states("moctezuma", "classic", 2, 3)[10]
    for seat in ("red", "blue"):
        state = game.rules.play(state, seat, Move("note", (0, f"of {seat}")))
    assert game.rules.resample(state, "red", Random(1).randrange).notes == (("of red",), ())


def test_a_tribe_may_believe_in_other_hands_with_as_many_cards_of_each_pile() -> None:
    game, differs = GAMES["mexica"], 0
    for state in states("mexica", "classic", 4, 5, god_card_cost=1)[::10]:
        seen = set(state.board.discards) | set(state.board.tribes[0].hand)
        for other in believed(game, state, "east"):
            hands = [tribe.hand for tribe in other.board.tribes]
            differs += other != state
            assert hands[0] == state.board.tribes[0].hand
            assert not seen & {card for hand in hands[1:] for card in hand}
    assert differs


def test_nothing_is_hidden_at_a_market_or_a_siege() -> None:
    for name in ("market", "siege"):
        game = GAMES[name]
        state = states(name, "classic", 2, 1)[50]
        assert game.rules.resample(state, game.seatings[2][0], Random(1).randrange) is state


@pytest.mark.parametrize("bottom", ["drawn", "choose", "shuffle"])
def test_what_others_are_believed_to_have_put_under_a_deck_is_what_they_are_believed_to_have_drawn(
    bottom: str,
) -> None:
    game, seen = GAMES["moctezuma"], 0
    for state in states("moctezuma", "classic", 3, 2, bottom=bottom)[::4]:
        for other in believed(game, state, "red"):
            assert all(game.rules.laws(other).values())
            for owner, trips in enumerate(other.trips):
                for temple, deck in enumerate(other.decks, start=1):
                    if not any(deck.fresh) or (other.spare and other.current == owner):
                        continue
                    drawn = sorted(card for trip in trips if trip.temple == temple for card in trip.cards)
                    kept = [trip.kept for trip in trips if trip.temple == temple and trip.kept]
                    under = [card for lower in deck.below if lower.owner == owner for card in lower.cards]
                    assert sorted(under + kept) == drawn
                    seen += len(under)
    assert seen
