"""The tool for movement and combat dice: it shows the odds under the ticked modifiers, and what a roll means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from companion.games.kit import CHANCE, Chance, Json, Line, Move, MoveType, Seat, Struct, number, one_of, replace
from companion.games.siege.rules import fighting
from companion.games.siege.rules.legal import die
from companion.games.siege.tools.tool import SiegeTool

REASONS: Mapping[str, int] = {
    "conquistador": 1,
    "routed": 1,
    "leader": 1,
    "wall": -1,
    "boat": -1,
    "against_conquistador": -1,
}
"""What is added to an attacker's die (rulings S19 to S24)."""

THROWS = ("march", "force", "attack", "fate", "flight", "panic", "rally")

_FACES = {"flight": 3}
_NAMES = tuple(REASONS)
_TWO = {Move("die", (n,)): Fraction(6 - abs(n - 7), 36) for n in range(2, 13)}


class Hand(Struct, frozen=True):
    """Which modifiers are ticked, which throw is due or was the last (0 for none), and what it showed."""

    ticked: tuple[int, ...] = ()
    throw: int = 0
    due: int = 0
    shown: int = 0


class Dice(SiegeTool[Hand]):
    """All dice of the siege but events and fires."""

    name: str = "siege.dice"
    start = Hand()

    def listed(self, state: Hand) -> list[Move]:
        """Return every modifier to tick, every throw, and the tap that clears."""
        clear = [Move("clear")] if state.ticked or state.shown else []
        return [*(Move("tick", (each,)) for each in _NAMES), *(Move("throw", (each,)) for each in THROWS), *clear]

    def chance(self, state: Hand) -> Chance | None:
        """Return the die that is due, or two of them."""
        if not state.due:
            return None
        throw = THROWS[state.throw - 1]
        outcomes = _TWO if throw == "force" else die("die", _FACES.get(throw, 6))
        return Chance("throw", outcomes, None, {"what": throw})

    def declared(self) -> Sequence[MoveType[Hand]]:
        """Return every tap, and what a die showed."""
        return (
            MoveType("tick", _tick, {"what": one_of(*_NAMES)}),
            MoveType("throw", _throw, {"what": one_of(*THROWS)}),
            MoveType("clear", lambda _: Hand()),
            MoveType("die", lambda state, n: replace(state, due=0, shown=n), {"n": number(1, 12)}, CHANCE),
        )

    def sound(self, state: Hand) -> bool:
        """Return whether ticks are known and no more was shown than the dice have."""
        ticks = list(state.ticked) == sorted(set(state.ticked)) and all(n < len(_NAMES) for n in state.ticked)
        if not ticks or state.throw > len(THROWS) or state.due > 1:
            return False
        if not state.throw:
            return not state.due and not state.shown
        outcomes = self.chance(replace(state, due=1))
        assert outcomes is not None
        return state.shown == 0 if state.due else Move("die", (state.shown,)) in outcomes.outcomes

    def view(self, state: Hand, seat: Seat | None) -> Mapping[str, Json]:
        """Return the modifiers, the odds that they make, and what the last throw means."""
        modifier = sum(REASONS[_NAMES[n]] for n in state.ticked)
        odds = fighting.odds(modifier)
        throw = THROWS[state.throw - 1] if state.throw else ""
        return {
            "ticks": {reason: n in state.ticked for n, reason in enumerate(_NAMES)},
            "modifier": modifier,
            "odds": {"win": int(odds.defender * 6), "none": int(odds.nothing * 6), "lose": int(odds.attacker * 6)},
            "throw": throw,
            "shown": state.shown,
            "means": _means(throw, state.shown, state.ticked, modifier) if state.shown else "",
        }

    def story(self, before: Hand, seat: Seat, move: Move, after: Hand) -> list[Line]:
        """Return what a throw showed."""
        return [Line("threw", {"what": THROWS[before.throw - 1], "n": move.args[0]})] if move.name == "die" else []


def _tick(state: Hand, reason: str) -> Hand:
    ticked = set(state.ticked) ^ {_NAMES.index(reason)}
    return replace(state, ticked=tuple(sorted(ticked)), shown=0, throw=0)


def _throw(state: Hand, throw: str) -> Hand:
    return replace(state, throw=THROWS.index(throw) + 1, due=1, shown=0)


def _means(throw: str, n: int, ticked: tuple[int, ...], modifier: int) -> str:
    """Return what a throw brings, as a code."""
    match throw:
        case "attack":
            return fighting.verdict(n, modifier)
        case "fate":
            return "destroyed" if n <= 2 else "routed"
        case "panic":
            return "routed" if n <= 2 else "calm"
        case "rally":
            bonus = REASONS["leader"] if _NAMES.index("leader") in ticked else 0  # no other counts here (ruling S42)
            return "rallied" if n + bonus >= 5 else "not_rallied"
    return "points"
