"""The heap that tokens make in one half of the lake, and how many fall before one stands in the chute.

A real heap has hundreds of tokens, more than a model bears. So what lies deep and still is made a part of the ground,
and only the layers over it go on sliding. Half a lake is made of boxes in the temple's own frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import atan2, cos, degrees, hypot, pi, radians, sin, sqrt, tan

import mujoco
import numpy as np

from hardware.parameters import Temple, Token
from hardware.physics.world import FRICTION, MM, PARKED, body, box, chute, numbers, shape
from templo.lake import KINDS

STEP = 0.002
"""Four times the step of the drops: nothing is counted here, and a heap takes long to simulate."""
EVERY = 0.06
"""Seconds from one token to the next, and up to a quarter more: faster than any table throws."""
LOT = 20
"""So many tokens fall before what has come to rest is looked at."""
JAM_S = 1.0
"""A token that takes longer in the chute stands there: alone it takes less than half a second."""
STILL, FLYING = 0.03, 0.3
"""Metres a second: what is slower lies, what is quicker is on its way."""
DEEP = 2.0
"""Lengths of a token under the surface."""
THICK = 15.0
"""Half the thickness of a wall: a heap presses, and must not press anything through."""
LEVELLED = 20.0
"""Degrees of a heap's surface after a finger has pushed it: less than it would bear."""
WALLS = 40
"""Around the whole lake."""


@dataclass(frozen=True)
class Heap:
    """What became of tokens that all fell on one side."""

    kind: str
    friction: float
    seed: int
    fell: int
    """How many left the chute."""
    jammed: bool
    """Whether the next one stood in it."""
    alone: bool
    """Whether it stood on the chute alone, which no heap explains."""
    highest: float
    """How high the heap reaches, in millimetres over the table."""
    out: int
    """How many lie outside this half of the lake."""

    def __str__(self) -> str:
        """Return how many fell, for a table."""
        words = f"{'alone' if self.alone else 'jam'} after {self.fell}" if self.jammed else f"all {self.fell}"
        return words + (f", {self.out} outside" if self.out else "")


def pour(
    temple: Temple, kind: Token, seed: int, count: int, friction: float = FRICTION, level: int | None = None
) -> Heap:
    """Let tokens fall through one chute until `count` of them have, or until one stands in the chute.

    With `level` a finger pushes what lies in this half of the lake to the back each time that so many more fell.
    """
    draw = np.random.default_rng(seed)
    ground, poses, speeds = np.zeros((0, 7)), np.zeros((0, 7)), np.zeros((0, 6))
    fell, jammed, alone, levelled = 0, False, False, 0
    while fell < count and not jammed:
        if level and fell - levelled == level:
            poses = pushed(temple, kind, len(ground) + len(poses))
            ground, speeds, levelled = np.zeros((0, 7)), np.zeros((len(poses), 6)), fell
        lot = min(LOT, count - fell, *([level - (fell - levelled)] if level else []))
        model = mujoco.MjModel.from_xml_string(_xml(temple, kind, len(poses) + lot, ground, friction))
        data = mujoco.MjData(model)
        data.qpos.reshape(-1, 7)[: len(poses)] = poses
        data.qvel.reshape(-1, 6)[: len(poses)] = speeds
        left = _fall(temple, kind, model, data, lot, draw)
        fell, jammed = fell + left, left < lot
        alone = jammed and not _leans(temple, model, data)
        poses, speeds = data.qpos.reshape(-1, 7).copy(), data.qvel.reshape(-1, 6).copy()
        deep = _deep(kind, np.vstack([ground, poses]), speeds)
        ground = np.vstack([ground, poses[deep]])
        poses, speeds = poses[~deep], speeds[~deep]
    everything = np.vstack([ground, poses])[:, :3] / MM
    quick = np.append(np.zeros(len(ground)), np.linalg.norm(speeds[:, :3], axis=1)) > FLYING
    fallen = ~_inside(temple, everything) & (everything[:, 0] < PARKED / MM / 2)
    beyond = np.hypot(everything[:, 0], everything[:, 1]) > temple.shore
    out = int((fallen & (beyond | (everything[:, 0] < temple.causeway / 2))).sum())
    highest = float(everything[fallen & ~quick, 2].max(initial=0))
    return Heap(kind.name, friction, seed, fell, jammed, alone, round(highest, 1), out)


def called_for(kind: Token) -> int | None:
    """Return after how many of such tokens on one side the companion calls for a hand; None if it never does.

    A bead between two sizes of its table counts as the larger one.

    >>> called_for(Token("bead 7", (7, 7, 7))) is None
    True
    """
    name = kind.name.split()[0]
    sizes = [each for each in KINDS if each.name.startswith(name)]
    if name == "bead":
        sizes = [each for each in sizes if int(each.name.removeprefix("bead_")) >= kind.longest] or list(KINDS[-1:])
    return sizes[0].heap


def pushed(temple: Temple, kind: Token, count: int) -> np.ndarray:
    """Return the poses of so many tokens of one side that a finger has pushed round the temple, to the back.

    They lie in layers, whose surface rises at `LEVELLED` degrees away from the door.
    """
    long, wide, thick = (1.02 * size for size in kind.sizes)
    room = kind.longest / 2
    x0, y0 = temple.exit_at
    places = []
    for high in np.arange(temple.lake_floor + thick / 2 + 0.2, temple.fill, thick):
        # The rim's flare begins at the board: each layer reaches as far as its slope lets it.
        flare = temple.spigot - temple.lake_wall + high - temple.board.top - room * sqrt(2)
        reach = min(temple.shore - temple.lake_wall - room, flare)
        for n, y in enumerate(np.arange(-reach, reach, wide * sqrt(0.75))):
            for x in np.arange(n % 2 * long / 2, reach, long):
                if _in_water(temple, x, y, room, reach):
                    away = (atan2(y0, x0) - atan2(y, x)) * temple.spigot
                    places.append((away - high / tan(radians(LEVELLED)), x, y, high))
    places.sort(reverse=True)
    if len(places) < count:
        raise ValueError(f"{count} tokens of {kind.name} were to be pushed; expected at most {len(places)}")
    poses = np.zeros((count, 7))
    poses[:, :3] = np.array(places)[:count, 1:] * MM
    poses[:, 3] = 1
    return poses


def _in_water(temple: Temple, x: float, y: float, room: float, reach: float) -> bool:
    """Return whether a point of the lake is so far from the temple and the causeways, and within its reach."""
    first, gap = temple.tiers[0], temple.clearance + temple.lake_wall + room
    in_road = x < temple.causeway / 2 + temple.lake_wall + room
    in_temple = x < first.half + gap and first.back - gap < y < first.front + gap
    in_stair = x < temple.stair_half + gap and 0 < y < temple.stair_foot + gap
    return hypot(x, y) < reach and not (in_road or in_temple or in_stair)


def _fall(
    temple: Temple, kind: Token, model: mujoco.MjModel, data: mujoco.MjData, lot: int, draw: np.random.Generator
) -> int:
    """Let a batch fall, and return how many left the chute before one got stuck: all if none did."""
    qpos, qvel = data.qpos.reshape(-1, 7), data.qvel.reshape(-1, 6)
    first, count = len(qpos) - lot, len(qpos)
    parked = qpos[first:].copy()
    times = np.cumsum(EVERY * (1 + 0.25 * draw.random(lot)))
    since = np.full(lot, np.inf)
    free = temple.top - 4 - 2 * kind.longest
    released = 0
    for step in range(int((times[-1] + lot * JAM_S) / STEP)):
        now = step * STEP
        ready = not released or qpos[first + released - 1, 2] < free * MM
        if released < lot and times[released] <= now and ready:
            _release(temple, kind, qpos[first + released], qvel[first + released], draw)
            since[released] = now
            released += 1
        qpos[first + released :], qvel[first + released :] = parked[released:], 0
        mujoco.mj_step(model, data)
        if step % 20 == 0:
            within = _inside(temple, qpos[first:, :3] / MM) & (np.arange(lot) < released)
            if (within & (now - since > JAM_S)).any():
                return int(released - within.sum())
            if released == lot and not within.any():
                return lot
    raise AssertionError(f"{count} tokens of {kind.name} neither left the chute nor stood in it")


def _leans(temple: Temple, model: mujoco.MjModel, data: mujoco.MjData) -> bool:
    """Return whether a token in the chute touches another token, in it or of the heap before it."""
    within = {f"token{n}" for n in np.flatnonzero(_inside(temple, data.qpos.reshape(-1, 7)[:, :3] / MM))}
    tokens = {geom for geom in range(model.ngeom) if model.geom_group[geom] == 1}
    names = [model.body(model.geom_bodyid[geom]).name for geom in range(model.ngeom)]
    return any(
        {*touching.geom} <= tokens and within & {names[geom] for geom in touching.geom} for touching in data.contact
    )


def _release(temple: Temple, kind: Token, pose: np.ndarray, speed: np.ndarray, draw: np.random.Generator) -> None:
    """Let go of a token in the shaft, as it comes out of the throat: somewhere in it, turned at random, falling."""
    room = max(0.0, temple.shaft / 2 - kind.longest / 2 - 0.3)
    s, across = (2 * draw.random(2) - 1) * room
    (x, y), turn = temple.shaft_at, radians(90 - temple.turn)
    pose[:3] = (
        np.array((x + s * cos(turn) - across * sin(turn), y + s * sin(turn) + across * cos(turn), temple.top)) * MM
    )
    way = draw.normal(size=4)
    pose[3:] = way / np.linalg.norm(way)
    speed[:] = (0, 0, -0.4, *draw.normal(0, 3.0, 3))


def _inside(temple: Temple, at: np.ndarray) -> np.ndarray:
    """Return which of these points lie between the shaft's back and the tongue, in millimetres."""
    (x, y), turn = temple.shaft_at, radians(90 - temple.turn)
    s = (at[:, 0] - x) * cos(turn) + (at[:, 1] - y) * sin(turn)
    across = (at[:, 1] - y) * cos(turn) - (at[:, 0] - x) * sin(turn)
    return (np.abs(across) < temple.shaft / 2) & (s > -temple.shaft / 2) & (s < temple.run - 3)


def _deep(kind: Token, poses: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """Return which of the last of these tokens, those with a speed, lie still under others."""
    found = np.linalg.norm(speeds[:, :3], axis=1) < STILL
    for n in np.flatnonzero(found):
        at = poses[len(poses) - len(speeds) + n]
        near = np.hypot(poses[:, 0] - at[0], poses[:, 1] - at[1]) < 1.2 * kind.longest * MM
        found[n] = poses[near, 2].max() - at[2] > DEEP * kind.longest * MM
    return found


def _xml(temple: Temple, kind: Token, count: int, ground: np.ndarray, friction: float) -> str:
    x, y = temple.shaft_at
    bodies = "".join(body(n, kind) for n in range(count))
    still = "".join(
        f'<body pos="{numbers(*pose[:3])}" quat="{numbers(*pose[3:])}">{shape(kind)}</body>' for pose in ground
    )
    return f"""<mujoco>
<option timestep="{STEP}" integrator="implicitfast" solver="Newton" jacobian="sparse" iterations="8"/>
<default><geom friction="{friction} 0.002 0.0001" solref="0.006 0.9" condim="3"/></default>
<worldbody>
<body pos="{numbers(x * MM, y * MM, 0)}" euler="0 0 {90 - temple.turn:.7g}">{"".join(chute(temple))}</body>
{"".join(_lake(temple))}
{still}
{bodies}
</worldbody>
</mujoco>"""


def _lake(temple: Temple) -> Iterator[str]:
    """Yield half a lake: its floor, the shore and the slope under it, and the temple's walls with a door in them."""
    high = temple.rim + 40
    outer, inner = temple.shore - temple.lake_wall, temple.spigot - temple.lake_wall
    step = temple.board.top + 0.2
    yield box((0, 0, temple.lake_floor - THICK), (150, 150, THICK))
    for n in range(WALLS):
        turn = 2 * pi * (n + 0.5) / WALLS
        x, y = cos(turn), sin(turn)
        if x < -0.2:
            continue
        half = (outer + 2 * THICK) * tan(pi / WALLS)
        upright = f'euler="0 0 {degrees(turn):.7g}"'
        yield box(((outer + THICK) * x, (outer + THICK) * y, temple.rim / 2), (THICK, half, temple.rim / 2), upright)
        reach = (inner + outer) / 2 + THICK * sqrt(0.5)
        middle = step + (outer - inner) / 2 - THICK * sqrt(0.5)
        lean = f'xyaxes="{numbers(x * sqrt(0.5), y * sqrt(0.5), sqrt(0.5), -y, x, 0)}"'
        yield box((reach * x, reach * y, middle), ((outer - inner) * sqrt(0.5) + 1, half, THICK), lean)
        yield box(((inner + THICK) * x, (inner + THICK) * y, step / 2), (THICK, half, step / 2), upright)
    first, gap = temple.tiers[0], temple.clearance + temple.lake_wall
    road, stair, foot = temple.causeway / 2 + temple.lake_wall, temple.stair_half + gap, temple.stair_foot + gap
    side, front, back = first.half + gap, first.front + gap, first.back - gap
    door, half, sill = temple.exit_at[0], temple.shaft / 2 + temple.chute_wall, temple.sill - 3.5
    for (left, right), (near, far), top in (
        ((side - 14, side), (back, front), high),
        ((0, side), (back, back + 30), high),
        ((road - 30, road), (-130, back), temple.rim),
        ((road - 30, road), (front, 130), temple.rim),
        ((stair - 12, stair), (front - 3, foot), high),
        ((0, stair), (foot - 8, foot), high),
        ((stair, door - half), (front - 4, front), high),
        ((door + half, side), (front - 4, front), high),
        ((door - half, door + half), (front - 4, front), sill),
    ):
        if right > left:
            yield box(
                ((left + right) / 2, (near + far) / 2, top / 2), ((right - left) / 2, (far - near) / 2, top / 2)
            )
