"""`python -m hardware.seats`: how much of the board and of the temple is hidden from four seats at the table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from math import cos, radians, sin

import numpy as np
import trimesh

from hardware import choices
from hardware.catalogue import pieces
from hardware.making import BUILD, Workshop
from hardware.parameters import Temple
from hardware.rules import BrokenRulesError, require

AWAY, HIGH = 600.0, 420.0
"""How far from the middle of the board a player's eyes are, along the table and over it."""
SEATS = {"before the stairs": 0, "left": 90, "behind": 180, "right": 270}
"""Degrees around from the stairs, as seen from above."""
SPOTS = 720
"""So many spots are looked at."""
LAKE = ("lake", "causeway")


def main(argv: Sequence[str]) -> int:
    """Print the table; returns 1 for sizes that break a rule."""
    parser = argparse.ArgumentParser(prog="python -m hardware.seats", description=__doc__)
    choices.add_to(parser)
    given = parser.parse_args(argv)
    try:
        temple = require(choices.temple(given))
    except (BrokenRulesError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    name = choices.label(given)
    for row in rows(Workshop(temple, BUILD / name if name else BUILD)):
        print(row, flush=True)
    return 0


def rows(workshop: Workshop) -> Iterator[str]:
    """Yield a table: for each seat, what of the board all of it and the temple hide, and of the temple the lake."""
    temple, lake = _bodies(workshop)
    everything = trimesh.util.concatenate([temple, lake])
    board = on_board(workshop.temple)
    front, faces = trimesh.sample.sample_surface(temple, 4 * SPOTS, seed=1)
    yield "| seat | board hidden | by the temple alone | temple hidden by the lake |"
    yield "|---|---:|---:|---:|"
    for name, turned in SEATS.items():
        eye = seat(turned)
        seen = front[np.einsum("ij,ij->i", temple.face_normals[faces], np.array(eye) - front) > 0]
        seen = seen[(seen[:, 2] > workshop.temple.plinth) & ~hidden(temple, eye, seen)]
        shares = (hidden(everything, eye, board), hidden(temple, eye, board), hidden(lake, eye, seen))
        yield f"| {name} | {' | '.join(f'{100 * each.mean():.0f} %' for each in shares)} |"


def seat(turned: float) -> tuple[float, float, float]:
    """Return where a player's eyes are, so many degrees around from the stairs."""
    return AWAY * sin(radians(turned)), AWAY * cos(radians(turned)), HIGH


def on_board(temple: Temple) -> np.ndarray:
    """Return spots all over the face of the board's ring, a hair over it, each for as much of it as the others."""
    inner, outer = temple.shore, temple.board.across / 2
    n = np.arange(SPOTS) + 0.5
    radius = np.sqrt(inner**2 + (outer**2 - inner**2) * n / SPOTS)
    angle = n * np.pi * (3 - np.sqrt(5))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(SPOTS, temple.board.top + 0.2)])


def hidden(body: trimesh.Trimesh, eye: tuple[float, float, float], spots: np.ndarray) -> np.ndarray:
    """Return which spots are behind a body for an eye; a spot on the body itself is not behind it."""
    ways = np.array(eye) - spots
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    return body.ray.intersects_any(spots + 0.05 * ways, ways)


def _bodies(workshop: Workshop) -> tuple[trimesh.Trimesh, trimesh.Trimesh]:
    """Return the temple, and the lake around it."""
    found: dict[bool, list[trimesh.Trimesh]] = {True: [], False: []}
    for piece in pieces(workshop.temple):
        if piece.chosen and not piece.name.startswith(("tray", "coupon", "chute", "base", "plinth")):
            found[piece.name.startswith(LAKE)] += [workshop.placed(piece, at) for at in piece.places]
    return trimesh.util.concatenate(found[False]), trimesh.util.concatenate(found[True])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
