"""The turn card: whose turn it is at a real table, which step comes next, when the game ends. It judges nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.games.kit import Arg, Json, Move, MoveType, Seat, Struct, one_of, replace
from companion.games.market.rules.board import KINDS, SIDES
from companion.games.market.rules.options import SEATINGS
from companion.games.market.tools.tool import MarketTool

CHOOSE, PASS, PLAY, OVER = "choose", "pass", "play", "over"
PASS_STEPS = ("draw", "shift", "money", "king")


class Card(Struct, frozen=True):
    """Where a game has come to; `step` counts the four of a Pass from 0."""

    seats: tuple[Seat, ...]
    start: int = 0
    seat: int = 0
    turn: int = 1
    doing: str = CHOOSE
    step: int = 0
    empty: bool = False


class TurnCard(MarketTool[Card]):
    """The turn card as a game of one seat."""

    name = "market.turn"
    start = Card(SEATINGS[4])

    def listed(self, state: Card) -> list[Move]:
        """Return what the table may say: what the turn is, that a step is done, that the bag is empty."""
        listed = {
            CHOOSE: [Move("pass"), Move("play")],
            PASS: [Move("next")],
            PLAY: [Move("close"), Move("back")],
            OVER: [],
        }[state.doing]
        if state.doing != OVER:
            listed.append(Move("filled" if state.empty else "empty"))
        if state.turn == 1 and state.doing == CHOOSE:
            listed += [Move("players", (n,)) for n in SEATINGS if n != len(state.seats)]
            listed += [Move("start", (seat,)) for n, seat in enumerate(state.seats) if n != state.start]
        if state != Card(state.seats, state.start, state.start):
            listed.append(Move("again"))
        return listed

    def declared(self) -> Sequence[MoveType[Card]]:
        """Return every tap: what the turn is, that a step is done, that the bag is empty, who plays and begins."""
        return (
            MoveType("players", lambda _, n: Card(SEATINGS[n]), {"n": one_of(*SEATINGS)}),
            MoveType("start", _start, {"seat": one_of(*SIDES)}),
            MoveType("pass", lambda state: replace(state, doing=PASS, step=1 if state.empty else 0)),
            MoveType("play", lambda state: replace(state, doing=PLAY)),
            MoveType("back", lambda state: replace(state, doing=CHOOSE)),
            MoveType("next", _next_step),
            MoveType("close", _next_turn),
            MoveType("empty", lambda state: replace(state, empty=True)),
            MoveType("filled", lambda state: replace(state, empty=False)),
            MoveType("again", lambda state: Card(state.seats, state.start, state.start)),
        )

    def element(self, name: str, picked: Sequence[Arg]) -> str:
        """Return the seat that would begin."""
        return f"seat:{picked[0]}" if name == "start" and picked else ""

    def view(self, state: Card, seat: Seat | None) -> Mapping[str, Json]:
        """Return the card, with what each tile does."""
        return {
            "seats": list(state.seats),
            "start": state.seats[state.start],
            "seat": state.seats[state.seat],
            "turn": state.turn,
            "doing": state.doing,
            "empty": state.empty,
            "steps": [
                {
                    "step": step,
                    "done": state.doing == PASS and n < state.step,
                    "now": state.doing == PASS and n == state.step,
                }
                for n, step in enumerate(PASS_STEPS)
            ],
            "last_seat": state.seats[state.start - 1],
            "kinds": list(KINDS[4:]),
        }


def _start(state: Card, seat: Seat) -> Card:
    n = state.seats.index(seat)
    return replace(state, start=n, seat=n)


def _next_step(state: Card) -> Card:
    return replace(state, step=state.step + 1) if state.step < len(PASS_STEPS) - 1 else _next_turn(state)


def _next_turn(state: Card) -> Card:
    seat = (state.seat + 1) % len(state.seats)
    if seat == state.start and state.empty:
        return replace(state, doing=OVER, step=0)
    return replace(state, seat=seat, turn=state.turn + 1, doing=CHOOSE, step=0)
