"""The invariants of Mexica, which the conformance suite checks after every random move."""

from __future__ import annotations

from companion.games.mexica.rules.apocalypse import CARDS, COUNTDOWN, FLOOD, STILLNESS, TOKENS, WAR, WEEK_CARDS
from companion.games.mexica.rules.battle import CORTEZ
from companion.games.mexica.rules.board import FORCED_LANDINGS, RESERVE
from companion.games.mexica.rules.calendar import AROUND, WEEK
from companion.games.mexica.rules.course import DECISIONS
from companion.games.mexica.rules.sacrifice import MOST_AT_ONCE
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import GODS
from companion.games.mexica.rules.turn import SETTLED

TOKENS_IN_THE_BOX = AROUND * WEEK + RESERVE


def laws(state: State) -> dict[str, bool]:
    """Return the invariants of the game, each with whether this state satisfies it."""
    tallies, clock, end, proposal = state.tallies, state.clock, state.outcome, state.proposal
    ids = [*state.counted, *state.dismissed, *(each.id for each in state.unclaimed)]
    found = {
        "a lake of what was given": set(tallies.lake) <= {"h", "t"}
        and all(tallies.of(god) == sum(tally.given(god) for tally in tallies) for god in GODS),
        "no tribe below nothing": all(tally.given(god) >= 0 for tally in tallies for god in GODS),
        "each token once": len(set(ids)) == len(ids),
        "turns from 1": state.turn >= 1,
        f"week cards from 0 to {WEEK_CARDS}": 0 <= state.week_cards <= WEEK_CARDS,
        "gods that there are": {each.god for each in state.unclaimed} | ({proposal.god} if proposal else set())
        <= {*GODS},
        "seats of this table": {
            *(each.suggested for each in state.unclaimed),
            *((proposal.by, proposal.seat) if proposal else ()),
            end and end.seat,
        }
        <= {None, *state.seats},
        "a clock that can be": clock is None
        or (
            0 <= clock.left <= COUNTDOWN
            and 1 <= clock.turn <= state.turn
            and clock.cause in (TOKENS, CARDS)
            and clock.locked in ("", FLOOD, WAR)
        ),
        "an end where the clock ran out": (clock is not None and clock.left == 0)
        == (end is not None and end.kind != SETTLED),
        "a correction that can be made": proposal is None
        or (
            end is None
            and 0 < abs(proposal.delta) <= MOST_AT_ONCE
            and tallies.tribes[state.seats.index(proposal.seat)].given(proposal.god) + proposal.delta >= 0
        ),
        "an end that there is": end is None
        or (end.seat is None and end.kind in (FLOOD, WAR, STILLNESS))
        or (end.seat is not None and end.kind == SETTLED),
    }
    if state.board:
        found |= _of_board(state)
    return found


def _of_board(state: State) -> dict[str, bool]:
    """Return the invariants of a board, each with whether a state satisfies it."""
    board, seats = state.laid, {*state.seats}
    held = [each for tribe in board.tribes for each in tribe.hand]
    cards = [*held, *board.discards]
    known = {each.id for each in state.rules.cards if each.pile != "week"}
    signs = {each.id for each in state.rules.cards if each.sign}
    tokens = sum(board.spaces) + sum(each.tokens for each in board.tribes) + state.tallies.total
    tokens += board.reserve + board.pile + board.lost
    battle, top = board.battle, board.agenda[0] if board.agenda else None
    return {
        f"{TOKENS_IN_THE_BOX} tokens in all": tokens == TOKENS_IN_THE_BOX
        or (state.rules.refill == "unlimited" and tokens > TOKENS_IN_THE_BOX),
        "twenty spaces": {len(board.spaces), len(board.holders), len(board.visited)} == {AROUND},
        "0 to 13 tokens on a space": all(0 <= each <= WEEK for each in board.spaces),
        "nobody below nothing": min(board.reserve, board.pile, board.lost, *(t.tokens for t in board.tribes)) >= 0,
        "tribes on spaces": all(1 <= each.place <= AROUND for each in board.tribes),
        "holders that sit here": {*board.holders} <= seats | {""},
        "visitors that sit here": all({*each} <= seats for each in board.visited),
        "each card once": len({*cards}) == len(cards) and {*cards} <= known,
        "week cards that are held": state.week_cards == board.issued,
        "no sign among the discards": not signs & {*board.discards},
        "at most three forced landings": 0 <= board.forced <= FORCED_LANDINGS,
        "extra turns of this table": {*board.again, *(seat for _, seat in board.extras)} <= seats,
        "week cards that came back": set(board.returned) <= {*range(1, AROUND + 1)}
        and (not board.returned or state.rules.weeks_issued == "ever"),
        "debts of this table": {each for debt in board.debts for each in debt} <= seats,
        "a battle of this table": battle is None
        or ({*battle.sides} <= seats | {CORTEZ} and len(battle.sides) == len(battle.dice) > 1),
        "something due until the end": (top is None) == state.over
        and (top is None or (top.seat in seats and (top.name in DECISIONS or top.name in ("roll", "die", "draw")))),
    }
