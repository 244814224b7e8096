"""What a seat may know of a game of Mexica, as JSON.

In the temple's scope nothing is hidden: board, cards and hands stay on the table. Whatever the full game hides
is stripped here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping

from companion.games.kernel import Json, Seat
from companion.games.mexica.rules import apocalypse
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
