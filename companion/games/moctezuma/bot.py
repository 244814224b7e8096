"""The app's player: chooses a move for a seat from that seat's view and legal moves.

It weighs the average worth of a point of each temple's treasure, a third of the City of Gold for each clue, and what
a look at a chit or a name may still save; it goes where that is most for each action point.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

from companion.games.kit import BEGINNER, CASUAL, Below, Move, Skill, View, best_of, shuffled
from companion.games.moctezuma.rules.boards import LIBRARY, distances
from companion.games.moctezuma.rules.deduction import Knowledge, Temple, deduce
from companion.games.moctezuma.rules.pieces import (
    CLUE,
    DOUBLED,
    FACES,
    GOLD,
    NAME,
    NAMES,
    SPACES,
    TEMPLES,
    UNSEEN,
    WORTH_COPIES,
    WORTHS,
    king_of,
)
from companion.games.moctezuma.rules.state import COSTS, POINTS


class Explorer(Skill, frozen=True, kw_only=True):
    """What a player goes by."""

    look: float = 0.55
    """What one look at a chit saves on the average, at the start of a game."""
    read: float = 4.5
    """What it is worth to read a temple's name, at the start of a game."""
    clue: float = 1.0
    """What a clue counts, beside a third of the City of Gold."""
    treasure: float = 1.0
    """What a treasure counts, beside what it is likely worth in the end."""


PRACTISED_EXPLORER = Explorer()

SKILLS = {BEGINNER: Explorer(slips=30), CASUAL: Explorer(slips=10)}
"""How it plays at the other levels. The practised constants are fitted ones: none is strong."""


class Plan(NamedTuple):
    """Something worth doing: what it brings for each action point, where, and the move that does it there."""

    rate: float
    place: int
    move: Move
    cost: int


def decide(view: View, moves: Sequence[Move], below: Below, explorer: Explorer = PRACTISED_EXPLORER) -> Move | None:
    """Return the move that promises most; among the first seats to lay a board, the one that leaves it."""
    by_name = {move.name: move for move in moves}
    if "peek" in by_name:
        knowledge = known(view)
        return best_of(moves, lambda move: _look(knowledge, int(move.args[0])), below)
    if "keep" in by_name:
        return _treasure_to_keep(view, moves, explorer)
    if "put" in by_name:
        return _under(view, moves)
    if "end_turn" not in by_name:
        return by_name.get("ready") or (moves[below(len(moves))] if moves else None)
    return _turn(view, moves, by_name["end_turn"], below, explorer)


def known(view: View) -> Knowledge:
    """Return what the seat knows, read from its own view."""
    own = view["notebook"]
    chits = [
        FACES.index(own["chits"][str(n)]) if str(n) in own["chits"] else UNSEEN if chit["face"] is None
        else FACES.index(chit["face"])
        for n, chit in enumerate(view["chits"])
    ]  # fmt: skip
    names = [
        NAMES.index(own["names"].get(str(n + 1)) or name) if str(n + 1) in own["names"] or name else UNSEEN
        for n, name in enumerate(view["names"])
    ]
    return Knowledge(tuple(chits), tuple(names), view["rules"]["curse_rule"], view["rules"]["third_chit"])


def _turn(view: View, moves: Sequence[Move], end: Move, below: Below, explorer: Explorer) -> Move:
    """Return the step towards what is best for its price, or what can still be done with the points that are left."""
    here, points = view["places"][view["me"]], view["points"]
    steps = distances(tuple(tuple(each) for each in view["ways"]))
    plans = _plans(view, steps[here], explorer)
    for plan in sorted(shuffled(plans, below), key=lambda plan: plan.rate, reverse=True):
        if plan.rate <= 0:
            break
        if plan.place == here:
            if plan.move in moves:
                return plan.move
        elif points:
            nearer = [
                move
                for move in moves
                if move.name == "walk" and steps[int(move.args[0])][plan.place] < steps[here][plan.place]
            ]
            if nearer:
                return nearer[below(len(nearer))]
    return end


def _plans(view: View, steps: Sequence[int], explorer: Explorer) -> list[Plan]:
    knowledge = known(view)
    found = deduce(knowledge)
    left = _left(view)
    cards = [_cards(view, temple) for temple in range(TEMPLES)]
    unseen = sum(_look(knowledge, space) > 0 for space in range(SPACES))
    plans = []
    for n, cost in COSTS.items():
        value = explorer.look * left * min(n, unseen)
        plans.append(_plan(value, LIBRARY, steps[LIBRARY], Move("study", (n,)), cost, view))
        for temple in range(TEMPLES):
            if view["decks"][temple] > 1:
                value = _value(view, knowledge, found.temples[temple], cards[temple], temple, n, explorer)
                plans.append(_plan(value, temple + 1, steps[temple + 1], Move("explore", (n,)), cost, view))
    return plans


def _plan(value: float, place: int, steps: int, move: Move, cost: int, view: View) -> Plan:
    """Weigh a value by its price; points that the turn cannot spend on it any more are lost on the way."""
    price = steps + cost
    if price > view["points"]:
        price = view["points"] + max(cost, price - view["points"])
    late = _turns_left(view) * POINTS - POINTS + view["points"] < price
    return Plan(-1.0 if late else value / price, place, move, cost)


def _value(
    view: View, knowledge: Knowledge, temple: Temple, cards: Sequence[int], n: int, look: int, explorer: Explorer
) -> float:
    """Return what an exploration brings: its treasure, its part of the City of Gold, and the name it may show."""
    worth = float(temple.worth)
    count = view["decks"][n]
    treasure = explorer.treasure * worth * (_best(cards, min(look, count)) if worth > 0 else min(cards, default=1))
    mine = {trip["temple"] for trip in view["notebook"]["trips"] if trip["kept"]}
    clue = 0.0 if n + 1 in mine else explorer.clue * float(temple.names[CLUE]) * GOLD / 3
    unread = knowledge.names[n] == UNSEEN
    name = explorer.read * _left(view) * min(look, count) / count if unread else 0.0
    return treasure + clue + name


def _cards(view: View, temple: int) -> list[int]:
    """Return the treasure that may still be in a temple, assuming that others kept the best they could."""
    cards = sorted(worth for worth, copies in zip(WORTHS, WORTH_COPIES, strict=True) for _ in range(copies))
    for seat, treasure in view["treasure"].items():
        for card in treasure:
            if card["temple"] == temple + 1 and seat != view["me"] and cards:
                cards.pop()
    for trip in view["notebook"]["trips"]:
        if trip["temple"] == temple + 1 and trip["kept"] in cards:
            cards.remove(trip["kept"])
    return cards


def _best(cards: Sequence[int], n: int) -> float:
    """Return the mean of the best of a number of cards drawn from these."""
    if not cards:
        return 0.0
    n = min(n, len(cards))
    ways = comb(len(cards), n)
    return sum(worth * comb(rank, n - 1) for rank, worth in enumerate(sorted(cards))) / ways


def _look(knowledge: Knowledge, space: int) -> float:
    """Return what a look at a chit is worth: nothing if its face is known, or its king is cursed anyhow."""
    if knowledge.chits[space] != UNSEEN:
        return 0.0
    king = king_of(space, knowledge.third_chit)
    chance = float(deduce(knowledge).kings[king])
    if chance in (0.0, 1.0):
        return 0.01
    return (2.0 if king in DOUBLED else 1.0) * (1.2 - chance) * (1 + space / 60)


def _treasure_to_keep(view: View, moves: Sequence[Move], explorer: Explorer) -> Move:
    """Return the treasure to keep: the best of a good temple, the least of a bad one, none of it where one may."""
    here = view["places"][view["me"]]
    temple = deduce(known(view)).temples[here - 1]
    mine = {trip["temple"] for trip in view["notebook"]["trips"] if trip["kept"]}
    clue = 0.0 if here in mine else explorer.clue * float(temple.names[CLUE]) * GOLD / 3
    treasures = [move for move in moves if move.name == "keep"]
    best = max(treasures, key=lambda move: (float(temple.worth) * int(move.args[0]), int(move.args[0])))
    leave = next((move for move in moves if move.name == "leave"), None)
    if leave and float(temple.worth) * int(best.args[0]) + clue < 0:
        return leave
    return best


def _under(view: View, moves: Sequence[Move]) -> Move:
    """Return the card to put down next: a good temple's best first, to come up again first; its name last."""
    here = view["places"][view["me"]]
    good = deduce(known(view)).temples[here - 1].worth > 0
    cards = [move for move in moves if move.args[0] != NAME] or list(moves)
    return max(cards, key=lambda move: int(move.args[0]) if good else -int(move.args[0]))


def _turns_left(view: View) -> int:
    """Return how many turns this seat has, the one now running counted."""
    chits: int = SPACES - view["shown"]
    players = len(view["seats"])
    return -(-chits // players) if view["rules"]["flip"] == "turn" else chits


def _left(view: View) -> float:
    """Return how much of the game is to come, from 1 down to 0: what is learnt late is used little."""
    return float((SPACES - view["shown"]) / SPACES)
