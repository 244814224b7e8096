"""What a seat may know of a game of Mexica, as JSON.

In the temple's scope nothing is hidden: board, cards and hands stay on the table. In the full game hands are their
tribes' own (ruling M21); they are stripped here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from companion.games.kit import CHANCE, Json, Lazy, Move, Seat
from companion.games.mexica.rules import apocalypse, battle, course, offerings
from companion.games.mexica.rules.board import Battle, Tribe
from companion.games.mexica.rules.calendar import SIGNS, sign
from companion.games.mexica.rules.hands import DRAWN, card, count, left, pile_of, settler
from companion.games.mexica.rules.play import MOVES
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import EVEN, GODS

UNITS = {"turns13": "turns", "rounds13": "rounds"}


def view(state: State, seat: Seat | None) -> Lazy:
    """Return what a seat, or with none a spectator, may know."""
    return Lazy(_WHOLE if state.board else _TEMPLE, state, seat)


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
        "loot_die": state.rules.loot_die,
    }


def _offering(state: State) -> Json:
    """Return what the running sacrifice step may still do, or none if none runs."""
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


def _week_cards(state: State, seat: Seat) -> list[str]:
    return [name for name, holder in zip(SIGNS, state.laid.holders, strict=True) if holder == seat]


def _prices(state: State, seat: Seat) -> dict[str, Json]:
    return {
        "god": offerings.price(state, seat, state.rules.god_card_cost),
        "day": offerings.price(state, seat, state.rules.day_card_cost),
    }


def _tribe(state: State, seat: Seat) -> Tribe:
    return state.laid.tribes[state.index(seat)]


_SEEN_OF_A_TRIBE: Mapping[str, Callable[[State, Seat], Json]] = {
    "place": lambda state, seat: sign(_tribe(state, seat).place),
    "tokens": lambda state, seat: _tribe(state, seat).tokens,
    "cards": lambda state, seat: {pile: count(_tribe(state, seat).hand, pile) for pile in DRAWN},
    "week_cards": _week_cards,
    "boosts": lambda state, seat: [{"what": each.what, "by": each.by} for each in _tribe(state, seat).boosts],
    "wards": lambda state, seat: list(_tribe(state, seat).wards),
    "toward": lambda state, seat: {god: _tribe(state, seat).toward.to(god) for god in GODS},
    "prices": _prices,
    "fed": lambda state, seat: _tribe(state, seat).fed,
    "wins": lambda state, seat: _tribe(state, seat).wins,
}
"""What everybody sees of a tribe: of its cards the backs."""


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
        "war": state.rules.war,
    }


def _correction(state: State) -> Mapping[str, Json] | None:
    open_ = state.proposal
    if open_ is None:
        return None
    return {"by": open_.by, "seat": open_.seat, "god": open_.god, "delta": open_.delta}


def _outcome(state: State) -> Json:
    return {"kind": state.outcome.kind, "seat": state.outcome.seat} if state.outcome else None


def _given(state: State) -> Json:
    tallies = zip(state.seats, state.tallies, strict=True)
    return {each: {god: tally.given(god) for god in GODS} for each, tally in tallies}


def _unclaimed(state: State) -> Json:
    return [
        {"id": each.id, "god": each.god, "doubt": each.doubt, "suggested": each.suggested} for each in state.unclaimed
    ]


def _spaces(state: State) -> Json:
    return [
        {"sign": name, "tokens": tokens, "holder": holder or None}
        for name, tokens, holder in zip(SIGNS, state.laid.spaces, state.laid.holders, strict=True)
    ]


def _hands(state: State, seat: Seat | None) -> Json:
    """Return the hands that a seat may see: its own, or all if they are open (ruling M21)."""
    open_ = state.rules.open_hands == "on"
    tribes = zip(state.seats, state.laid.tribes, strict=True)
    return {each: list(tribe.hand) for each, tribe in tribes if open_ or each == seat}


def _due(state: State) -> Json:
    task = course.due(state)
    return None if task is None else {"task": task.name, "seat": task.seat, "args": list(task.args)}


def _deck(state: State) -> Json:
    rules = state.rules
    return [rules.deck, rules.flower_copies, rules.sign_copies, rules.day_signs]


_TEMPLE: dict[str, Callable[[State, Seat | None], Json]] = {
    "scope": lambda state, _: state.rules.scope,
    "me": lambda state, seat: seat if seat in state.seats else None,
    "seats": lambda state, _: list(state.seats),
    "turn": lambda state, _: state.turn,
    "round": lambda state, _: state.round,
    "on_turn": lambda state, _: None if state.over else state.seat,
    "gods": lambda state, _: {god: state.tallies.of(god) for god in GODS},
    "given": lambda state, _: _given(state),
    "lake": lambda state, _: state.tallies.lake,
    "total": lambda state, _: state.tallies.total,
    "threshold": lambda state, _: apocalypse.token_threshold(state),
    "left": lambda state, _: apocalypse.tokens_left(state),
    "week_cards": lambda state, _: state.week_cards,
    "week_threshold": lambda state, _: apocalypse.card_threshold(state),
    "leader": lambda state, _: state.tallies.leader,
    "doom_god": lambda state, _: apocalypse.doom_god(state),
    "countdown": lambda state, _: _countdown(state),
    "unclaimed": lambda state, _: _unclaimed(state),
    "correction": lambda state, _: _correction(state),
    "outcome": lambda state, _: _outcome(state),
    "countdown_unit": lambda state, _: UNITS[state.rules.countdown],
    "doom_by": lambda state, _: state.rules.doom_by,
    "doom_effects": lambda state, _: state.rules.doom_effects,
}
"""What everybody may know of the temple."""

_WHOLE: Mapping[str, Callable[[State, Seat | None], Json]] = _TEMPLE | {
    "spaces": lambda state, _: _spaces(state),
    "tribes": lambda state, _: {each: Lazy(_SEEN_OF_A_TRIBE, state, each) for each in state.seats},
    "hands": _hands,
    "deck": lambda state, _: _deck(state),
    "week_signs": lambda state, _: state.rules.week_signs == "on",
    "reserve": lambda state, _: state.laid.reserve,
    "tonantzin": lambda state, _: state.laid.pile,
    "lost": lambda state, _: state.laid.lost,
    "piles": lambda state, _: {pile: left(state, pile) for pile in DRAWN},
    "discards": lambda state, _: list(state.laid.discards),
    "steps": lambda state, _: list(_STEPS[state.rules.turn_order]),
    "step": lambda state, _: _step(state),
    "due": lambda state, _: _due(state),
    "decider": lambda state, _: course.decider(state),
    "battle": lambda state, _: None if state.laid.battle is None else _battle(state, state.laid.battle),
    "offering": lambda state, _: _offering(state),
    "debts": lambda state, _: [list(debt) for debt in state.laid.debts],
}
"""The same with what the full game adds: the board and the tribes for all, a hand for its own tribe alone."""
