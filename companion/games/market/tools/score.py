"""The score pad: what each player and the king hold at the end of a real game, added up line by line. No IO.

With four players the first two are partners, and the last two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.games.kit import Arg, Json, Move, MoveType, Seat, Struct, Value, number, one_of, put, replace
from companion.games.market.rules.board import COMMODITIES, PER_COMMODITY
from companion.games.market.rules.options import ON, HouseRules
from companion.games.market.rules.scoring import Holding, score
from companion.games.market.tools.tool import MarketTool

ROWS = ("one", "two", "three", "four")
TIES, SUMS = HouseRules.options("partner_tie", "tie_sum")
MOST_COINS = 4


class Pad(Struct, frozen=True):
    """What is written on the pad; rows beyond the number of players are blank."""

    players: int = 4
    ties: Value = TIES.default
    king: tuple[int, ...] = (0, 0, 0, 0)
    rows: tuple[Holding, ...] = (Holding((0, 0, 0, 0)),) * 4
    tie_sum: Value = SUMS.default

    @property
    def cleared(self) -> Pad:
        """The same pad with nothing written on it."""
        return Pad(self.players, self.ties, tie_sum=self.tie_sum)

    @property
    def partners(self) -> tuple[tuple[int, ...], ...]:
        """Who scores together, by row."""
        return ((0, 1), (2, 3)) if self.players == 4 else tuple((row,) for row in range(self.players))

    def room(self, which: int) -> int:
        """Return how many of the twenty tokens of a commodity are not on the pad yet."""
        return PER_COMMODITY - self.king[which] - sum(row.tokens[which] for row in self.rows)


class ScorePad(MarketTool[Pad]):
    """The score pad as a game of one seat."""

    name = "market.score"
    start = Pad()

    def listed(self, state: Pad) -> list[Move]:
        """Return every number that may be written into a box, how many play, and how ties count.

        The number that a box holds is among them: to enter it again changes nothing.
        """
        listed = [Move("players", (n,)) for n in (2, 3, 4) if n != state.players]
        listed += [Move("ties", (each,)) for each in TIES.values if each != state.ties and state.players == 4]
        listed += [Move("tie_sum", (each,)) for each in SUMS.values if each != state.tie_sum and state.players == 4]
        for which, name in enumerate(COMMODITIES):
            room = state.room(which)
            listed += [Move("king", (name, n)) for n in range(state.king[which] + room + 1)]
            for row, held in zip(ROWS[: state.players], state.rows, strict=False):
                listed += [Move("tokens", (row, name, n)) for n in range(held.tokens[which] + room + 1)]
        for row in ROWS[: state.players]:
            listed += [Move("coins", (row, n)) for n in range(MOST_COINS + 1)]
        if state != state.cleared:
            listed.append(Move("clear"))
        return listed

    def declared(self) -> Sequence[MoveType[Pad]]:
        """Return every tap: who plays, how ties count, a number in a box, a clear pad."""
        row, commodity, tokens = one_of(*ROWS), one_of(*COMMODITIES), number(0, PER_COMMODITY)
        return (
            MoveType("players", _players, {"n": number(2, 4)}),
            MoveType("ties", lambda state, ties: replace(state, ties=ties), {"ties": one_of(*TIES.values)}),
            MoveType("tie_sum", lambda state, sums: replace(state, tie_sum=sums), {"sums": one_of(*SUMS.values)}),
            MoveType("king", _king, {"commodity": commodity, "n": tokens}),
            MoveType("tokens", _tokens, {"row": row, "commodity": commodity, "n": tokens}),
            MoveType("coins", _coins, {"row": row, "n": number(0, MOST_COINS)}),
            MoveType("clear", lambda state: state.cleared),
        )

    def view(self, state: Pad, seat: Seat | None) -> Mapping[str, Json]:
        """Return the pad with all that follows from it."""
        held = state.rows[: state.players]
        result = score(held, state.king, state.partners, str(state.ties), state.tie_sum == ON)
        return {
            "players": state.players,
            "ties": state.ties,
            "king": list(state.king),
            "blank": state == state.cleared,
            "tie_sum": state.tie_sum,
            "rules": {"ties": list(TIES.values), "tie_sum": list(SUMS.values)},
            "groups": [
                {
                    "points": result.points[n],
                    "leads": n in result.winners,
                    "rows": [
                        {
                            "row": ROWS[one],
                            "coins": held[one].coins,
                            "points": result.totals[one],
                            "cells": [
                                {"commodity": name, "n": cell.tokens, "counts": cell.counts, "points": cell.points}
                                for name, cell in zip(COMMODITIES, result.lines[one], strict=True)
                            ],
                        }
                        for one in group
                    ],
                }
                for n, group in enumerate(state.partners)
            ],
            "decided": result.decided,
        }

    def element(self, name: str, picked: Sequence[Arg]) -> str:
        """Return the row that a box is in."""
        return f"row:{picked[0]}" if name in ("tokens", "coins") and picked else ""


def _players(state: Pad, n: int) -> Pad:
    blank = tuple(row if place < n else Holding((0, 0, 0, 0)) for place, row in enumerate(state.rows))
    return replace(state, players=n, rows=blank)


def _king(state: Pad, commodity: str, n: int) -> Pad:
    return replace(state, king=put(state.king, COMMODITIES.index(commodity), n))


def _tokens(state: Pad, row: str, commodity: str, n: int) -> Pad:
    held = state.rows[ROWS.index(row)]
    return _with_row(state, row, Holding(put(held.tokens, COMMODITIES.index(commodity), n), held.coins))


def _coins(state: Pad, row: str, n: int) -> Pad:
    return _with_row(state, row, Holding(state.rows[ROWS.index(row)].tokens, n))


def _with_row(state: Pad, row: str, held: Holding) -> Pad:
    return replace(state, rows=put(state.rows, ROWS.index(row), held))
