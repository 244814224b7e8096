"""Draws the story of a game from what everybody saw: both tallies over the turns, and who gave to which god."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from companion.games.kit import LEFT_TO_RIGHT, Json, Struct
from companion.games.mexica.rules.tallies import GODS

LEFT, TOP, WIDTH, HEIGHT = 34, 26, 290, 180
"""The place of the plot's field in its picture of 360 to 240 units."""

_STEPS = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500)


class Turn(Struct, frozen=True):
    """How a turn ended: both tallies, their sum, and the countdown if it runs."""

    n: int
    gods: tuple[int, int]
    total: int
    left: int | None
    forestalled: bool


def regions(views: Iterable[Mapping[str, Any]]) -> Mapping[str, Mapping[str, Json]]:
    """Return the regions of the story."""
    turns: list[Turn] = []
    last: Mapping[str, Any] | None = None
    for view in views:
        now, last = _turn(view), view
        while turns and turns[-1].n >= now.n:  # the same turn again, or one that was undone
            turns.pop()
        turns.append(now)
    if last is None:
        return {}
    return {"plot": _plot(turns, last), "fed": _fed(last)}


def _turn(view: Mapping[str, Any]) -> Turn:
    clock = view["countdown"]
    one, other = (int(view["gods"][god]) for god in GODS)
    return Turn(
        int(view["turn"]),
        (one, other),
        int(view["total"]),
        clock["left"] if clock else None,
        bool(clock and clock["forestalled"]),
    )


def _plot(turns: Sequence[Turn], view: Mapping[str, Any]) -> dict[str, Json]:
    """Return the paths of both gods and of their sum, the axes, the line of the age, and the countdown."""
    threshold = view["threshold"]
    started = next((turn for turn in turns if turn.left is not None), None)
    # The line of the age is drawn once the tallies come near it; before that, it would flatten them.
    near = threshold is not None and (started is not None or turns[-1].total * 2 >= threshold)
    highest = _ceiling(max(8, *(turn.total for turn in turns), threshold if near else 0))
    scale = _Scale(max(2, turns[-1].n), highest)
    return {
        "gods": [
            {
                "god": god,
                "path": scale.steps([(turn.n, turn.gods[index]) for turn in turns]),
                "n": turns[-1].gods[index],
            }
            for index, god in enumerate(GODS)
        ],
        "total": scale.steps([(turn.n, turn.total) for turn in turns]),
        "sum": {"n": turns[-1].total},
        "ends": _ends(turns[-1], scale),
        "across": [{"n": n, "y": scale.y(n)} for n in _ticks(highest)],
        "along": [{"n": n, "x": scale.x(n)} for n in _ticks(turns[-1].n) if n],
        "field": {"left": LEFT, "top": TOP, "right": LEFT + WIDTH, "bottom": TOP + HEIGHT},
        "threshold": {"n": threshold, "y": scale.y(threshold)} if near else None,
        "limit": threshold,
        "trigger": None if started is None else {"turn": started.n, "x": scale.x(started.n)},
        "countdown": _countdown(turns, scale),
        "stone": round(max(0.6, min(2.4, 0.4 * WIDTH / max(2, turns[-1].n))), 2),
        "outcome": view["outcome"]["kind"] if view["outcome"] else "",
        "turn": turns[-1].n,
        "rows": [
            {
                "turn": turn.n,
                "gods": list(turn.gods),
                "total": turn.total,
                "left": turn.left,
                "still": turn.forestalled,
            }
            for turn in turns
        ],
    }


def _ends(turn: Turn, scale: _Scale) -> list[Json]:
    """Return the numbers at the right ends of the lines, within the field, moved apart if they would overlap."""
    ends = sorted(
        [(scale.y(n), n, god) for god, n in zip(GODS, turn.gods, strict=True)]
        + [(scale.y(turn.total), turn.total, "both")]
    )
    heights: list[float] = []
    for y, _, _ in ends:
        heights.append(max(y + 4, heights[-1] + 12 if heights else 0.0))
    room = TOP + HEIGHT - 4.0
    for place in reversed(range(len(heights))):
        heights[place] = min(heights[place], room)
        room = heights[place] - 12
    return [
        {"of": of, "n": n, "x": scale.x(turn.n) + 5, "y": round(y, 1)}
        for y, (_, n, of) in zip(heights, ends, strict=True)
    ]


def _countdown(turns: Sequence[Turn], scale: _Scale) -> list[Json]:
    """Return a mark for each turn at whose end the countdown fell, or waited because the gods were even."""
    marks: list[Json] = []
    running = [turn for turn in turns if turn.left is not None]
    for turn, after in pairwise(running):
        if turn is running[0]:
            continue  # the end of the turn that triggered is no tick
        fell = after.left != turn.left
        if fell or turn.forestalled:
            marks.append({"x": scale.x(turn.n), "left": (turn.left or 0) - fell, "fell": fell})
    if turns[-1].left == 0:  # the last tick ends the game, and no turn comes after it
        marks.append({"x": scale.x(turns[-1].n), "left": 0, "fell": True})
    return marks


def _fed(view: Mapping[str, Any]) -> dict[str, Json]:
    """Return for each tribe what it gave to each god, and in the full game to Tonantzin, with bars to compare."""
    tribes = view.get("tribes")
    rows = []
    for seat in view["seats"]:
        gifts = [(god, int(view["given"][seat][god])) for god in LEFT_TO_RIGHT]
        if tribes is not None:
            gifts.append(("tonantzin", int(tribes[seat]["fed"])))
        rows.append((seat, gifts, int(tribes[seat]["wins"]) if tribes is not None else None))
    most = max(1, *(n for _, gifts, _ in rows for _, n in gifts))
    return {
        "columns": [to for to, _ in rows[0][1]],
        "wins": tribes is not None,
        "rows": [
            {
                "seat": seat,
                "gifts": [{"to": to, "n": n, "bar": round(100 * n / most, 1)} for to, n in gifts],
                "all": sum(n for _, n in gifts),
                "wins": wins,
            }
            for seat, gifts, wins in rows
        ],
    }


def _step(highest: int) -> int:
    return next(step for step in (*_STEPS, highest) if highest <= 5 * step)


def _ceiling(highest: int) -> int:
    """Return the number of the grid's line at or above a number, so that no line ends outside the field."""
    return -(-highest // _step(highest)) * _step(highest)


def _ticks(highest: int) -> list[int]:
    return list(range(0, highest + 1, _step(highest)))


class _Scale(Struct, frozen=True):
    """From turns and tokens to places on the field."""

    turns: int
    highest: int

    def x(self, turn: float) -> float:
        """Return the position of the end of a turn."""
        return round(LEFT + WIDTH * turn / self.turns, 1)

    def y(self, tokens: int) -> float:
        """Return the position of a number of tokens."""
        return round(TOP + HEIGHT * (1 - tokens / self.highest), 1)

    def steps(self, points: Sequence[tuple[int, int]]) -> str:
        """Return a line that steps in the middle of each turn and ends with the last."""
        path = f"M{LEFT} {self.y(0)}"
        for turn, tokens in points:
            path += f"H{self.x(turn - 0.5)}V{self.y(tokens)}"
        return f"{path}H{self.x(points[-1][0])}"
