"""When the gods intervene, which of them, and how: trigger, countdown, forestalling and doom (rulings M23 to M35)."""

from __future__ import annotations

from functools import cache

from companion.games.kit import Mood, replace
from companion.games.mexica.rules.state import Clock, Outcome, State
from companion.games.mexica.rules.tallies import EVEN, GODS, HUITZILOPOCHTLI, TLALOC, God

COUNTDOWN = 13
"""Turns, or by a house rule rounds (ruling M25)."""

WEEK_CARDS = 20
"""One for each space of the calendar; the author's later notes call them discs."""

TOKENS = "tokens"
CARDS = "week_cards"
"""What triggered it."""

FLOOD = "flood"
WAR = "war"
STILLNESS = "stillness"

DOOM_OF = {HUITZILOPOCHTLI: WAR, TLALOC: FLOOD}
GOD_OF = {doom: god for god, doom in DOOM_OF.items()}

_CARDS_THAT_TRIGGER = {"first_of": WEEK_CARDS, "all_week": WEEK_CARDS, "disc1": 1, "disc2": 2, "disc3": 3}


def token_threshold(state: State) -> int | None:
    """Return how many sacrifices trigger the apocalypse, or None if tokens do not (ruling M23)."""
    return _thresholds(state.rules.apocalypse_trigger, state.rules.apocalypse_tokens)[0]


def tokens_left(state: State) -> int | None:
    """Return how many more sacrifices trigger the apocalypse, or None if tokens do not."""
    threshold = token_threshold(state)
    return None if threshold is None else max(0, threshold - _given(state))


def card_threshold(state: State) -> int | None:
    """Return how many issued week cards trigger the apocalypse, or None if cards do not (ruling M23)."""
    return _thresholds(state.rules.apocalypse_trigger, state.rules.apocalypse_tokens)[1]


@cache
def _thresholds(trigger: str, tokens: int) -> tuple[int | None, int | None]:
    return tokens if trigger in ("first_of", "tokens") else None, _CARDS_THAT_TRIGGER.get(trigger)


def update(state: State) -> State:
    """Return the state with the clock started where it is due, and the doom fixed where it locks.

    Call it after everything that changes a tally or issues a card. Once triggered, the apocalypse stays triggered,
    even after a correction. If a table locks the type, a trigger at even tallies leaves it open until the balance
    breaks (M26).
    """
    if state.outcome:
        return state
    if state.clock is None:
        if not (cause := _cause(state)):
            return state
        state = replace(state, clock=Clock(COUNTDOWN, state.turn, cause))
    clock = state.clock
    if clock and not clock.locked and state.rules.apocalypse_locks_type == "on" and (god := doom_god(state)) != EVEN:
        return replace(state, clock=replace(clock, locked=DOOM_OF[god]))
    return state


def doom_god(state: State) -> God:
    """Return who would intervene now, or `EVEN`: the god with the most, or by a house rule the least (M27)."""
    if state.clock and state.clock.locked:
        return GOD_OF[state.clock.locked]
    leader = state.tallies.leader
    if leader == EVEN or state.rules.doom_by == "most":
        return leader
    return next(god for god in GODS if god != leader)


def doom(state: State) -> str:
    """Return what would end the game now: ``flood``, ``war``, or `EVEN` while no god prevails."""
    god = doom_god(state)
    return EVEN if god == EVEN else DOOM_OF[god]


def forestalled(state: State) -> bool:
    """Return whether the clock is stopped: exactly while both gods are even and some space holds a token."""
    clock = state.clock
    return clock is not None and not state.outcome and not clock.bare and state.tallies.leader == EVEN


def turned_by(state: State, god: God, n: int) -> bool:
    """Return whether a number of tokens to a god would start the clock, stop it, restart it or change the doom."""
    if state.clock is None:
        left = tokens_left(state)
        return left is not None and left <= n
    balance = state.tallies.of(god) * 2 - state.tallies.total
    return balance <= 0 <= balance + n


def ending(state: State) -> bool:
    """Return whether the game is over with the end of the turn now running."""
    return state.clock is not None and state.clock.left == 1 and ticking(state) and not forestalled(state)


def ticking(state: State) -> bool:
    """Return whether the end of the turn now running is a tick, forestalled or not.

    The turn that triggers it does not count. After it every turn does, an extra turn too (M43), or by a house rule
    each later turn of the seat that triggered (M25).
    """
    clock = state.clock
    if clock is None or state.turn == clock.turn:
        return False
    return state.rules.countdown == "turns13" or state.seat == state.seat_at(clock.turn)


def tick(state: State) -> State:
    """Return the state after the end of a turn, as far as the clock goes: a tick, and doom at zero.

    With all spaces bare even ticks count too; if the gods are even at zero, it ends in stillness (M35).
    """
    if not ticking(state) or forestalled(state):
        return state
    assert state.clock is not None  # or nothing would tick
    state = replace(state, clock=replace(state.clock, left=state.clock.left - 1))
    if state.clock and state.clock.left > 0:
        return state
    end = doom(state)
    return finish(state, Outcome(STILLNESS if end == EVEN else end))


def finish(state: State, outcome: Outcome) -> State:
    """Return the state with its game over. A correction that nobody confirmed lapses."""
    return replace(state, outcome=outcome, proposal=None)


def biting(state: State) -> str:
    """Return the doom that the tribes feel already on the board, or nothing (ruling M34).

    It bites from the turn after the trigger, by the current balance, and rests while the clock is forestalled.
    """
    clock = state.clock
    if clock is None or state.outcome or state.turn == clock.turn or state.rules.doom_effects == "doom":
        return ""
    end = "" if forestalled(state) else doom(state)
    return "" if end == EVEN else end


def mood(state: State) -> Mood:
    """Return what the temple's lamps show: how the game ended, or the countdown and what threatens at its end."""
    if state.outcome:
        return Mood(tuple(end for end in (FLOOD, WAR) if end == state.outcome.kind))
    if state.clock is None:
        return Mood()
    end = doom(state)
    return Mood(("countdown",) if end == EVEN else ("countdown", end), state.clock.left)


def _cause(state: State) -> str:
    tokens, cards = _thresholds(state.rules.apocalypse_trigger, state.rules.apocalypse_tokens)
    if tokens is not None and _given(state) >= tokens:
        return TOKENS
    if cards is not None and state.week_cards >= cards:
        return CARDS
    return ""


def _given(state: State) -> int:
    """Return the sacrifices that count towards the trigger."""
    total = len(state.tallies.lake)
    if state.rules.mary_counts == "on" and state.board:
        total += sum(tribe.fed for tribe in state.board.tribes)  # ruling M24
    return total
