"""The record sheet: what one player at a real table has seen and kept, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from companion.games.kit import Json, Move, MoveType, Option, Value, number, one_of, put, replace
from companion.games.moctezuma.rules.deduction import Knowledge, deduce
from companion.games.moctezuma.rules.options import HouseRules
from companion.games.moctezuma.rules.pieces import (
    COPIES,
    CURSED,
    DOUBLED,
    FACES,
    KINGS,
    NAMES,
    SAFE,
    SPACES,
    TEMPLES,
    UNSEEN,
    WORTH_COPIES,
    WORTHS,
    chits,
    chits_of,
)
from companion.games.moctezuma.tools.tool import Sheet, SheetTool, without


class Record(Sheet, frozen=True):
    """Chits that were seen, names that were read, and treasure that was kept, each a temple and a worth."""

    chits: tuple[int, ...] = (UNSEEN,) * SPACES
    names: tuple[int, ...] = (UNSEEN,) * TEMPLES
    kept: tuple[tuple[int, int], ...] = ()


class RecordSheet(SheetTool[Record]):
    """One player's own sheet (ruling Z25): each thing seen is one tap, and a second tap takes it out again."""

    name: str = "moctezuma.record"
    options: tuple[Option, ...] = HouseRules.options("curse_rule", "third_chit", "deduction")

    def empty(self, chosen: tuple[Value, ...]) -> Record:
        """Return the sheet on which nothing stands."""
        return Record(chosen)

    def free(self, state: Record, key: str, value: Value) -> bool:
        """Return whether the entered chits are also in the bag of another rule."""
        bag = chits(str(value) if key == "curse_rule" else str(self.chose(state, "curse_rule")))
        return state.chits.count(CURSED) <= bag.cursed and state.chits.count(SAFE) <= bag.safe

    def taps(self, state: Record) -> Iterable[Move]:
        """Return what may be noted: no more of anything than there is in the box."""
        bag = chits(str(self.chose(state, "curse_rule")))
        for face, copies in ((SAFE, bag.safe), (CURSED, bag.cursed)):
            free = state.chits.count(face) < copies
            yield from (Move("chit", (n, FACES[face])) for n, now in enumerate(state.chits) if now == face or free)
        for name, copies in enumerate(COPIES):
            free = state.names.count(name) < copies
            yield from (
                Move("name", (n + 1, NAMES[name])) for n, now in enumerate(state.names) if now == name or free
            )
        for temple in range(1, TEMPLES + 1):
            for worth, copies in zip(WORTHS, WORTH_COPIES, strict=True):
                if state.kept.count((temple, worth)) < copies:
                    yield Move("keep", (temple, worth))
        yield from (Move("unkeep", card) for card in sorted(set(state.kept)))

    def tapped(self) -> Sequence[MoveType[Record]]:
        """Return every tap: a chit, a name, a treasure; tapping one that is entered removes it."""
        card = {"temple": number(1, TEMPLES), "n": one_of(*WORTHS)}
        return (
            MoveType("chit", _chit, {"chit": number(0, SPACES - 1), "face": one_of(*FACES)}),
            MoveType("name", _name, {"temple": number(1, TEMPLES), "name": one_of(*NAMES)}),
            MoveType("keep", lambda state, *card: replace(state, kept=(*state.kept, card)), card),
            MoveType("unkeep", lambda state, *card: replace(state, kept=without(state.kept, card)), card),
        )

    def sheet_of(self, state: Record) -> dict[str, Json]:
        """Return kings and temples with what is known of each, and what follows."""
        rule, third = str(self.chose(state, "curse_rule")), str(self.chose(state, "third_chit"))
        helps = self.chose(state, "deduction") == "on"
        found = deduce(Knowledge(state.chits, state.names, rule, third))
        left = [copies - state.names.count(name) for name, copies in enumerate(COPIES)]
        return {
            "kings": [
                {
                    "king": name,
                    "doubled": king in DOUBLED,
                    "chits": [
                        {"space": n, "face": "" if state.chits[n] == UNSEEN else FACES[state.chits[n]]}
                        for n in chits_of(king, third)
                    ],
                    "chance": float(found.kings[king]) if helps else -1,
                }
                for king, name in enumerate(KINGS)
            ],
            "temples": [
                {
                    "temple": n + 1,
                    "name": "" if state.names[n] == UNSEEN else NAMES[state.names[n]],
                    "kept": [worth for temple, worth in state.kept if temple == n + 1],
                    "chance": float(found.temples[n].cursed) if helps else -1,
                    "worth": round(float(found.temples[n].worth), 2),
                    "may": [NAMES[name] for name, copies in enumerate(left) if copies],
                }
                for n in range(TEMPLES)
            ],
            "helps": helps,
            "worths": list(WORTHS),
        }


def _chit(state: Record, space: int, face: str) -> Record:
    return replace(state, chits=_set(state.chits, space, FACES.index(face)))


def _name(state: Record, temple: int, name: str) -> Record:
    return replace(state, names=_set(state.names, temple - 1, NAMES.index(name)))


def _set(values: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    return put(values, at, UNSEEN if values[at] == value else value)
