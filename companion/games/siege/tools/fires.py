"""The tool for fires: it counts the fire counters and rolls for each of them in the fire phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.games.kit import CHANCE, Chance, Json, Line, Move, MoveType, Seat, Struct, number, replace
from companion.games.siege.rules.combat import GOES_OUT
from companion.games.siege.rules.legal import die
from companion.games.siege.tools.tool import SiegeTool

MOST = 60
_DIE = die("fire")


class Counters(Struct, frozen=True):
    """The fires that burn, by the numbers they were given; those still to be rolled for; those that just went out."""

    burning: tuple[int, ...] = ()
    due: tuple[int, ...] = ()
    out: tuple[int, ...] = ()
    last: int = 0


class Fires(SiegeTool[Counters]):
    """Each fire goes out on 1 or 2."""

    name: str = "siege.fires"
    start = Counters()

    def listed(self, state: Counters) -> list[Move]:
        """Return a fire more, each fire out, and the dice for all of them."""
        light = [Move("light")] if len(state.burning) < MOST and state.last < 10**5 else []
        rolls = [Move("fires")] if state.burning else []
        return [*light, *rolls, *(Move("douse", (n,)) for n in state.burning)]

    def chance(self, state: Counters) -> Chance | None:
        """Return the die of the next fire."""
        return Chance("fire", _DIE, None, {"hex": str(state.due[0])}) if state.due else None

    def declared(self) -> Sequence[MoveType[Counters]]:
        """Return a fire more, a fire out, the dice for all of them, and what each die showed."""
        return (
            MoveType("light", _lit),
            MoveType("douse", _doused, {"n": number(1, 10**5)}),
            MoveType("fires", lambda state: replace(state, due=state.burning, out=())),
            MoveType("fire", _rolled, {"n": number(1, 6)}, CHANCE),
        )

    def sound(self, state: Counters) -> bool:
        """Return whether all numbers were given out, and only burning fires are to be rolled for."""
        numbers = (*state.burning, *state.out)
        in_order = all(list(each) == sorted(set(each)) for each in (state.burning, state.due, state.out))
        within = all(1 <= n <= state.last for n in numbers) and len(set(numbers)) == len(numbers)
        return in_order and within and set(state.due) <= set(state.burning) and len(state.burning) <= MOST

    def view(self, state: Counters, seat: Seat | None) -> Mapping[str, Json]:
        """Return the fires that burn, and those that the dice just put out."""
        return {"burning": list(state.burning), "due": list(state.due), "out": list(state.out)}

    def story(self, before: Counters, seat: Seat, move: Move, after: Counters) -> list[Line]:
        """Return what a die did to a fire."""
        if move.name != "fire":
            return []
        code = "fire_out" if len(after.burning) < len(before.burning) else "fire_on"
        return [Line(code, {"hex": str(before.due[0]), "n": move.args[0]})]


def _lit(state: Counters) -> Counters:
    return replace(state, burning=(*state.burning, state.last + 1), last=state.last + 1, out=())


def _doused(state: Counters, fire: int) -> Counters:
    return replace(state, burning=tuple(n for n in state.burning if n != fire), out=())


def _rolled(state: Counters, n: int) -> Counters:
    first, *rest = state.due
    if n > GOES_OUT:
        return replace(state, due=tuple(rest))
    left = tuple(each for each in state.burning if each != first)
    return replace(state, due=tuple(rest), burning=left, out=(*state.out, first))
