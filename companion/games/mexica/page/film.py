"""The age as a picture that moves: each token falls into the lake again, then the thirteen turns, then the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.games.kit import Json, Played
from companion.games.mexica.page import board
from companion.games.mexica.rules.apocalypse import COUNTDOWN, GOD_OF
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import HUITZILOPOCHTLI, TLALOC

SECONDS = 14
"""How long one round of the film takes."""
PLAYED = 0.8
"""Which share of it shows the age; in the rest its end stands still."""


def film(line: Sequence[Played]) -> Mapping[str, Json]:
    """Return when each bead of the lake appears, and each step of the doom, as shares of the film's length.

    A token that a correction took out again is not in it, as it is not in the lake at the end.
    """
    if not line:
        return {}
    end: State = line[-1].after
    size, wars, rains = board.places(end.tallies.of(HUITZILOPOCHTLI), end.tallies.of(TLALOC))
    return {
        "seconds": SECONDS,
        "size": size,
        "body": round(size - 2.8, 1),
        "heart": round(size * 0.24, 1),
        "beads": [*_beads(line, HUITZILOPOCHTLI, wars), *_beads(line, TLALOC, rains)],
        "doom": end.outcome.kind if end.outcome and end.outcome.kind in GOD_OF else "",
        "steps": [
            {"at": at, "shown": n / COUNTDOWN}
            for n, at in enumerate(_ticks(line, end), start=COUNTDOWN - len(_ticks(line, end)) + 1)
        ],
        "end": PLAYED,
        "picture": f"end-{end.outcome.kind}" if end.outcome else "",
    }


def _share(n: int, line: Sequence[Played]) -> float:
    return round(PLAYED * (n + 1) / (len(line) + 1), 4)


def _beads(line: Sequence[Played], god: str, spots: Sequence[board.Spot]) -> list[Json]:
    """Return each bead of a god with the moment since which so many have lain in the lake."""
    beads: list[Json] = []
    for n, each in enumerate(line):
        while len(beads) < min(each.after.tallies.of(god), len(spots)):
            spot = spots[len(beads)]
            turned = round(spot.angle) if god == HUITZILOPOCHTLI else 0
            beads.append(
                {"god": god, "x": round(spot.x, 1), "y": round(spot.y, 1), "turned": turned, "at": _share(n, line)}
            )
    return beads


def _ticks(line: Sequence[Played], end: State) -> list[float]:
    """Return when the countdown fell, each time once."""
    if end.clock is None:
        return []
    lowest, ticks = COUNTDOWN, []
    for n, each in enumerate(line):
        clock = each.after.clock
        if clock is not None and clock.left < lowest:
            lowest = clock.left
            ticks.append(_share(n, line))
    return ticks
