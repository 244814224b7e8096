"""The final scorer: chits, names and everybody's treasure are tapped in; it counts, explains, and breaks ties."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from companion.games.kit import Json, Move, MoveType, Option, Value, number, one_of, put, replace
from companion.games.moctezuma.rules.options import COLOURS, HouseRules
from companion.games.moctezuma.rules.pieces import (
    CLUE,
    COPIES,
    CURSED,
    FACES,
    GOLD,
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
from companion.games.moctezuma.rules.scoring import cursed_kings, score, winners
from companion.games.moctezuma.tools.tool import PLAYERS, Sheet, SheetTool, without


class Final(Sheet, frozen=True):
    """The chart, the names, and each player's treasure; chits are safe until they are tapped."""

    chits: tuple[int, ...] = (SAFE,) * SPACES
    names: tuple[int, ...] = (UNSEEN,) * TEMPLES
    treasure: tuple[tuple[tuple[int, int], ...], ...] = ()


class FinalScore(SheetTool[Final]):
    """Counts a game that was played with real cards (rulings Z1 and Z15 to Z18)."""

    name: str = "moctezuma.score"
    options: tuple[Option, ...] = (PLAYERS, *HouseRules.options("curse_rule", "third_chit"))

    def empty(self, chosen: tuple[Value, ...]) -> Final:
        """Return the sheet with safe chits, no names and no treasure."""
        return Final(chosen, treasure=((),) * int(chosen[0]))

    def free(self, state: Final, key: str, value: Value) -> bool:
        """Return whether the entries fit another rule, so that nobody's treasure is lost."""
        if key == "players":
            return not any(state.treasure)
        bag = chits(str(value) if key == "curse_rule" else str(self.chose(state, "curse_rule")))
        return state.chits.count(CURSED) <= bag.cursed

    def rechosen(self, state: Final) -> Final:
        """Return the sheet with a place for each player."""
        players = int(self.chose(state, "players"))
        return state if len(state.treasure) == players else replace(state, treasure=((),) * players)

    def taps(self, state: Final) -> Iterable[Move]:
        """Return what may be tapped: no more of anything than there is in the box."""
        more = state.chits.count(CURSED) < chits(str(self.chose(state, "curse_rule"))).cursed
        yield from (Move("chit", (n,)) for n, face in enumerate(state.chits) if face == CURSED or more)
        for name, copies in enumerate(COPIES):
            free = state.names.count(name) < copies
            yield from (
                Move("name", (n + 1, NAMES[name])) for n, now in enumerate(state.names) if now == name or free
            )
        for temple in range(1, TEMPLES + 1):
            for worth, copies in zip(WORTHS, WORTH_COPIES, strict=True):
                if sum(own.count((temple, worth)) for own in state.treasure) < copies:
                    yield from (Move("card", (n + 1, temple, worth)) for n in range(len(state.treasure)))
        for n, own in enumerate(state.treasure):
            yield from (Move("uncard", (n + 1, *card)) for card in set(own))

    def tapped(self) -> Sequence[MoveType[Final]]:
        """Return every tap: a chit turned, a name, a treasure put in or taken out."""
        player, temple = number(1, len(COLOURS)), number(1, TEMPLES)
        card = {"player": player, "temple": temple, "n": one_of(*WORTHS)}
        return (
            MoveType("chit", _chit, {"chit": number(0, SPACES - 1)}),
            MoveType("name", _name, {"temple": temple, "name": one_of(*NAMES)}),
            MoveType("card", lambda state, n, *card: _treasure(state, n, (*state.treasure[n - 1], card)), card),
            MoveType(
                "uncard", lambda state, n, *card: _treasure(state, n, without(state.treasure[n - 1], card)), card
            ),
        )

    def sheet_of(self, state: Final) -> dict[str, Json]:
        """Return the chart, the names and the count; nobody has won while a temple with treasure has no name."""
        rule, third = str(self.chose(state, "curse_rule")), str(self.chose(state, "third_chit"))
        cursed = cursed_kings(state.chits, rule, third)
        names = tuple(CLUE if name == UNSEEN else name for name in state.names)
        counts = [score(own, names, cursed) for own in state.treasure]
        # A temple without a name counts nothing yet, and is no clue either.
        nameless = sorted(
            {temple for own in state.treasure for temple, _ in own if state.names[temple - 1] == UNSEEN}
        )
        left = [copies - state.names.count(name) for name, copies in enumerate(COPIES)]
        safe, box = state.chits.count(SAFE), chits(str(self.chose(state, "curse_rule")))
        done = not nameless and any(state.treasure) and safe <= box.safe
        best = winners(counts) if done else ()
        gold = [count.gold and not nameless for count in counts]
        return {
            "kings": [
                {
                    "king": name,
                    "cursed": cursed[king],
                    "chits": [{"space": n, "face": FACES[state.chits[n]]} for n in chits_of(king, third)],
                }
                for king, name in enumerate(KINGS)
            ],
            "temples": [
                {
                    "temple": n + 1,
                    "name": "" if name == UNSEEN else NAMES[name],
                    "may": [NAMES[each] for each, copies in enumerate(left) if copies],
                }
                for n, name in enumerate(state.names)
            ],
            "nameless": nameless,
            "too_safe": {"n": safe, "most": box.safe} if safe > box.safe else None,
            "worths": list(WORTHS),
            "players": [
                {
                    "n": n + 1,
                    "seat": COLOURS[n],
                    "lines": [
                        {
                            "temple": line.temple,
                            "cards": list(line.cards),
                            "name": "" if state.names[line.temple - 1] == UNSEEN else NAMES[names[line.temple - 1]],
                            "factor": line.factor,
                            "score": line.score,
                        }
                        for line in count.lines
                    ],
                    "gold": gold[n],
                    "total": sum(line.score for line in count.lines) + (GOLD if gold[n] else 0),
                    "cards": count.cards,
                    "won": n in best,
                }
                for n, count in enumerate(counts)
            ],
            "winners": [COLOURS[n] for n in best],
            "by_cards": len([count for count in counts if done and count.total == counts[best[0]].total]) > len(best),
        }


def _chit(state: Final, space: int) -> Final:
    return replace(state, chits=put(state.chits, space, SAFE if state.chits[space] == CURSED else CURSED))


def _name(state: Final, temple: int, name: str) -> Final:
    """Give a temple a name; the one that it has already is taken away."""
    given = NAMES.index(name)
    found = UNSEEN if state.names[temple - 1] == given else given
    return replace(state, names=put(state.names, temple - 1, found))


def _treasure(state: Final, player: int, own: tuple[tuple[int, int], ...]) -> Final:
    return replace(state, treasure=put(state.treasure, player - 1, own))
