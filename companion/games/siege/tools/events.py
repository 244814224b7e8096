"""The tool that rolls the two events of a turn and says who dies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.games.kit import CHANCE, Chance, Json, Line, Move, MoveType, Seat, Struct, number, replace
from companion.games.siege.rules.course import AZTECS_SUFFER, EVENTS
from companion.games.siege.rules.legal import die
from companion.games.siege.tools.tool import SiegeTool

_DIE = die("event")


class Rolls(Struct, frozen=True):
    """Which turn it is, the dice that lie, and how many are still due."""

    turn: int = 0
    shown: tuple[int, ...] = ()
    due: int = 0


class Events(SiegeTool[Rolls]):
    """Two dice a turn: 1 to 3 an Aztec, 4 to 6 an ally of the besiegers (ruling S5)."""

    name: str = "siege.events"
    start = Rolls()

    def listed(self, state: Rolls) -> list[Move]:
        """Return the one tap that there is: the next turn's dice."""
        return [Move("events")]

    def chance(self, state: Rolls) -> Chance | None:
        """Return the die that is due."""
        return Chance("event", _DIE, None, {"n": EVENTS + 1 - state.due}) if state.due else None

    def declared(self) -> Sequence[MoveType[Rolls]]:
        """Return the one tap, and what a die showed."""
        return (
            MoveType("events", lambda state: Rolls(state.turn + 1, (), EVENTS)),
            MoveType("event", _add_die, {"n": number(1, 6)}, CHANCE),
        )

    def sound(self, state: Rolls) -> bool:
        """Return whether there are as many dice as a turn has."""
        begun = len(state.shown) + state.due == (EVENTS if state.turn else 0)
        return begun and all(1 <= n <= 6 for n in state.shown)

    def view(self, state: Rolls, seat: Seat | None) -> Mapping[str, Json]:
        """Return the dice and whom each of them takes."""
        rolls: list[Json] = [{"n": n, "whom": "aztecs" if n <= AZTECS_SUFFER else "allies"} for n in state.shown]
        return {"turn": state.turn, "rolls": rolls}

    def story(self, before: Rolls, seat: Seat, move: Move, after: Rolls) -> list[Line]:
        """Return what a die showed."""
        return [Line("event", {"n": move.args[0]})] if move.name == "event" else []


def _add_die(state: Rolls, n: int) -> Rolls:
    return replace(state, shown=(*state.shown, n), due=state.due - 1)
