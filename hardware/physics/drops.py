"""Batches of tokens released over a shrine, singly or by the handful, and the dark spells that they caused.

The seed and the sizes decide everything. A batch is one model of at most 40 tokens: more of them do not finish.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin, sqrt

import mujoco
import numpy as np

from hardware.parameters import Temple, Token
from hardware.physics.world import MM, STEP, World, build

MOST = 40
PATIENCE_S = 1.5
"""How long the last token may take."""
TOKENS_GROUP = np.array([0, 1, 0, 0, 0, 0], np.uint8)


@dataclass(frozen=True)
class Spell:
    """The beam was dark from then on for so long, in milliseconds."""

    at_ms: float
    width_ms: float


@dataclass(frozen=True)
class Batch:
    """What became of one batch: how many were let go, how many came out, and what the beam saw."""

    kind: str
    seed: int
    dropped: int
    through: int
    spells: tuple[Spell, ...]
    lasted_ms: float


def singles(temple: Temple, kind: Token, seed: int, count: int, every_ms: float = 80) -> Batch:
    """Drop tokens one by one, `every_ms` apart or up to a quarter more."""
    draw = np.random.default_rng(seed)
    times = np.cumsum(every_ms * (1 + 0.25 * draw.random(count))) / 1000
    return _run(temple, kind, seed, times, draw)


def handful(temple: Temple, kind: Token, seed: int, count: int = 5) -> Batch:
    """Let go a handful, all within 40 milliseconds."""
    draw = np.random.default_rng(seed)
    return _run(temple, kind, seed, np.sort(draw.random(count)) * 0.04 + 0.01, draw, spread=True)


def _run(
    temple: Temple, kind: Token, seed: int, times: np.ndarray, draw: np.random.Generator, *, spread: bool = False
) -> Batch:
    count = len(times)
    if count > MOST:
        raise ValueError(f"{count} tokens in one batch; expected at most {MOST}")
    world = build(temple, [kind] * count)
    model = mujoco.MjModel.from_xml_string(world.xml)
    data = mujoco.MjData(model)
    through, spells, released = 0, [], 0
    dark_since: float | None = None
    left = [False] * count
    steps = int((times[-1] + PATIENCE_S) / STEP)
    geom, way = np.zeros(1, np.int32), np.array([0.0, 1.0, 0.0])
    start = np.array(world.beam)
    for step in range(steps):
        now = step * STEP
        while released < count and times[released] <= now:
            _release(world, kind, data, released, draw, spread)
            released += 1
        mujoco.mj_step(model, data)
        dark = 0 <= _ray(model, data, start, way, geom) <= world.across
        if dark and dark_since is None:
            dark_since = now
        elif not dark and dark_since is not None:
            spells.append(Spell(round(dark_since * 1000, 3), round((now - dark_since) * 1000, 3)))
            dark_since = None
        if step % 20 == 0:
            for n in range(released):
                if not left[n] and _out(world, data, n):
                    left[n] = True
                    through += 1
                    _park(data, n)
            if released == count and through == count and dark_since is None:
                break
    if dark_since is not None:
        spells.append(Spell(round(dark_since * 1000, 3), round((steps * STEP - dark_since) * 1000, 3)))
    return Batch(kind.name, seed, count, through, tuple(spells), round(step * STEP * 1000, 3))


def _ray(model: mujoco.MjModel, data: mujoco.MjData, start: np.ndarray, way: np.ndarray, geom: np.ndarray) -> float:
    return float(mujoco.mj_ray(model, data, start, way, TOKENS_GROUP, 1, -1, geom))


def _release(world: World, kind: Token, data: mujoco.MjData, n: int, draw: np.random.Generator, spread: bool) -> None:
    """Let go of a token over the open shrine, turned at random, from a finger's height, with a little push."""
    deep, wide, rim = world.release
    half = kind.longest / 2 * MM
    x, y = ((2 * draw.random(2) - 1) * np.maximum(0.0, np.array([deep, wide]) - half)) * (1 if spread else 0.8)
    z = rim + half + 0.005 * draw.random() + (0.016 * n if spread else 0.0)
    data.qpos[7 * n : 7 * n + 3] = (x, y, z)
    data.qpos[7 * n + 3 : 7 * n + 7] = _quaternion(draw)
    data.qvel[6 * n : 6 * n + 6] = 0
    data.qvel[6 * n : 6 * n + 3] = draw.normal(0, 0.05, 3)
    data.qvel[6 * n + 3 : 6 * n + 6] = draw.normal(0, 3.0, 3)


def _out(world: World, data: mujoco.MjData, n: int) -> bool:
    return bool(data.qpos[7 * n] > world.gone[0] and data.qpos[7 * n + 2] < world.gone[1])


def _park(data: mujoco.MjData, n: int) -> None:
    data.qpos[7 * n : 7 * n + 3] = (-1 - 0.05 * n, 1, 1)
    data.qvel[6 * n : 6 * n + 6] = 0


def _quaternion(draw: np.random.Generator) -> tuple[float, float, float, float]:
    """Draw a turn, every one alike."""
    u, v, w = (float(each) for each in draw.random(3))
    a, b = sqrt(1 - u), sqrt(u)
    v, w = 2 * pi * v, 2 * pi * w
    return a * sin(v), a * cos(v), b * sin(w), b * cos(w)
