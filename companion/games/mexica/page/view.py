"""What a seat may know of a game of Mexica, as JSON.

In the temple's scope nothing is hidden: board, cards and hands stay on the table. In the full game hands are their
tribes' own (ruling M21); they are stripped here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kit import CHANCE, Json, Move, Seat
from companion.games.mexica.rules import apocalypse, battle, course, offerings
from companion.games.mexica.rules.board import Battle
from companion.games.mexica.rules.calendar import SIGNS, sign
from companion.games.mexica.rules.hands import DRAWN, card, count, left, pile_of, settler
from companion.games.mexica.rules.play import MOVES
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import EVEN, GODS

UNITS = {"turns13": "turns", "rounds13": "rounds"}


def view(state: State, seat: Seat | None) -> dict[str, Json]:
    """Return what a seat, or with none a spectator, may know."""
    tallies, threshold, outcome = state.tallies, apocalypse.token_threshold(state), state.outcome
    return {
        "scope": state.rules.scope,
        "me": seat if seat in state.seats else None,
        "seats": list(state.seats),
        "turn": state.turn,
        "round": state.round,
        "on_turn": None if state.over else state.seat,
        "gods": {god: tallies.of(god) for god in GODS},
        "given": {
            each: {god: tally.given(god) for god in GODS} for each, tally in zip(state.seats, tallies, strict=True)
        },
        "lake": tallies.lake,
        "total": tallies.total,
        "threshold": threshold,
        "left": None if threshold is None else max(0, threshold - tallies.total),
        "week_cards": state.week_cards,
        "week_threshold": apocalypse.card_threshold(state),
        "leader": tallies.leader,
        "doom_god": apocalypse.doom_god(state),
        "countdown": _countdown(state),
        "unclaimed": [
            {"id": each.id, "god": each.god, "doubt": each.doubt, "suggested": each.suggested}
            for each in state.unclaimed
        ],
        "correction": _correction(state),
        "outcome": None if outcome is None else {"kind": outcome.kind, "seat": outcome.seat},
        **(_board(state, seat) if state.board else {}),
    }


def known(before: State, by: Seat, move: Move, seat: Seat | None) -> Move:
    """Return a move as a seat, or with none a spectator, may know it.

    A card drawn into a hand, or given from one to another, is a back to everybody else (ruling M21). A Day card
    whose event happens at once is open, and so is a sign by which a tribe settles.
    """
    task = course.due(before) if before.board else None
    if task is None or before.rules.open_hands == "on" or move.name not in ("draw", "give", "return"):
        return move
    if move.name == "draw" and by == CHANCE:
        card_ = card(before, str(move.args[1]))
        open_ = card_.pile == "day" and card_.sign is None and before.rules.card_timing == "text"
        return move if open_ or seat == task.seat or _settles(before, by, move) else Move("draw", (card_.pile,))
    privy = (task.seat, task.args[0]) if move.name == "give" else (task.seat,)
    pile = pile_of(str(move.args[0]))
    open_ = pile == "week" or seat in privy or _settles(before, by, move)
    return move if open_ else Move(move.name, (pile,))


def _settles(before: State, by: Seat, move: Move) -> bool:
    after = MOVES.play(before, by, move)
    return isinstance(after, State) and settler(after) is not None


def _board(state: State, seat: Seat | None) -> dict[str, Json]:
    """Return what the full game adds: the board and the tribes for all, a hand for its own tribe alone."""
    board, task, open_ = state.laid, course.due(state), state.rules.open_hands == "on"
    hands: dict[Seat, list[str]] = {
        each: list(tribe.hand) for each, tribe in zip(state.seats, board.tribes, strict=True) if open_ or each == seat
    }
    rules = state.rules
    return {
        "spaces": [
            {"sign": name, "tokens": tokens, "holder": holder or None}
            for name, tokens, holder in zip(SIGNS, board.spaces, board.holders, strict=True)
        ],
        "tribes": {each: _tribe(state, each) for each in state.seats},
        "hands": hands,
        "deck": [rules.deck, rules.flower_copies, rules.sign_copies, rules.day_signs],
        "week_signs": rules.week_signs == "on",
        "reserve": board.reserve,
        "tonantzin": board.pile,
        "lost": board.lost,
        "piles": {pile: left(state, pile) for pile in DRAWN},
        "discards": list(board.discards),
        "steps": list(_STEPS[state.rules.turn_order]),
        "step": _step(state),
        "due": None if task is None else {"task": task.name, "seat": task.seat, "args": list(task.args)},
        "decider": course.decider(state),
        "battle": None if board.battle is None else _battle(state, board.battle),
        "offering": _offering(state),
        "debts": [list(debt) for debt in board.debts],
    }


_STEPS = {
    "text": ("roll", "landing", "sacrifice", "cards"),
    "tester": ("roll", "landing", "sacrifice", "cards"),
    "flower_war": ("roll", "landing", "cards", "sacrifice"),
}
"""The steps of a turn as a table names them (ruling M5)."""


def _step(state: State) -> str:
    """Return the current step of the turn, as far as it follows from what is still due."""
    due = [task.name for task in state.laid.agenda]
    if not due or "roll" in due:
        return "roll" if due else ""
    if due[0] in ("sacrifice", "cards"):
        return due[0]
    following = next(name for name in due if name in ("sacrifice_begins", "sacrifice", "cards"))
    flower_war = state.rules.turn_order == "flower_war"
    if following == "sacrifice_begins" or (following == "cards" and flower_war):
        return "sacrifice" if flower_war and following == "sacrifice_begins" else "landing"
    return following


def _battle(state: State, fought: Battle) -> dict[str, Json]:
    """Return a battle: each side's die and what its cards add to it, what is fought for, and what a loss costs."""
    return {
        "sides": list(fought.sides),
        "dice": list(fought.dice),
        "bonuses": [battle.bonus(state, fought, n) for n in range(len(fought.sides))],
        "bonus": fought.bonus,
        "stake": sign(fought.stake) if fought.stake else None,
        "loot": state.rules.battle_loot,
    }


def _offering(state: State) -> Json:
    """Return what the running sacrifice step may still do, or none where none runs."""
    seat, step = offerings.stepping(state), state.laid.step
    if seat is None:
        return None
    one = state.rules.cards_per_step == "one"
    return {
        "seat": seat,
        "temple": offerings.temple_open(state),
        "tonantzin": state.rules.mary_exclusive == "off" or not step.temple,
        "earned": {god: one and step.cards.to(god) > 0 for god in GODS},
        "bought": one and step.days > 0,
    }


def _tribe(state: State, seat: Seat) -> dict[str, Json]:
    """Return what everybody sees of a tribe: of its cards the backs."""
    board, tribe = state.laid, state.laid.tribes[state.index(seat)]
    return {
        "place": sign(tribe.place),
        "tokens": tribe.tokens,
        "cards": {pile: count(tribe.hand, pile) for pile in DRAWN},
        "week_cards": [name for name, holder in zip(SIGNS, board.holders, strict=True) if holder == seat],
        "boosts": [{"what": each.what, "by": each.by} for each in tribe.boosts],
        "wards": list(tribe.wards),
        "toward": {god: tribe.toward.to(god) for god in GODS},
        "prices": {
            "god": offerings.price(state, seat, state.rules.god_card_cost),
            "day": offerings.price(state, seat, state.rules.day_card_cost),
        },
        "fed": tribe.fed,
        "wins": tribe.wins,
    }


def _countdown(state: State) -> Mapping[str, Json] | None:
    """Return the clock; once the doom it counted to has come, `doom` is that one, whatever is claimed later."""
    clock, outcome = state.clock, state.outcome
    if clock is None:
        return None
    came = {apocalypse.FLOOD: apocalypse.FLOOD, apocalypse.WAR: apocalypse.WAR, apocalypse.STILLNESS: EVEN}
    return {
        "left": clock.left,
        "of": apocalypse.COUNTDOWN,
        "unit": UNITS[state.rules.countdown],
        "forestalled": apocalypse.forestalled(state),
        "bare": clock.bare,
        "doom": came.get(outcome.kind if outcome else "", apocalypse.doom(state)),
        "biting": apocalypse.biting(state),
    }


def _correction(state: State) -> Mapping[str, Json] | None:
    open_ = state.proposal
    if open_ is None:
        return None
    return {"by": open_.by, "seat": open_.seat, "god": open_.god, "delta": open_.delta}
