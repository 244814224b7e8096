"""Batches of tokens released over a shrine, singly or by the handful, and the dark spells that they caused.

The seed and the sizes decide everything. A batch is one model of at most 40 tokens: more of them do not finish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import cos, pi, radians, sin, sqrt
from typing import TypeAlias

import mujoco
import numpy as np

from hardware.parameters import Temple, Token
from hardware.physics.optics import WORST, Rays, Receiver, Shade, Spell, rays, spells
from hardware.physics.world import FRICTION, MM, STEP, World, build

MOST = 40
PATIENCE_S = 1.5
"""How long the last token may take."""
LOOSE = 0.8
"""How much of the room over a shrine a token takes that is let go alone."""
NEAR = 0.02
"""A token whose middle is farther than that from the beam, in metres along the gutter, is out of its light."""
Builder: TypeAlias = Callable[[Temple, Sequence[Token], float], World]
"""What makes the world that tokens fall in: the temple, the tokens, the friction."""
TOKENS_GROUP = np.array([0, 1, 0, 0, 0, 0], np.uint8)


@dataclass(frozen=True)
class Batch:
    """What became of one batch: how many were let go, how many came out, and when the worst receiver read dark."""

    kind: str
    seed: int
    dropped: int
    through: int
    spells: tuple[Spell, ...]
    lasted_ms: float
    shade: tuple[Shade, ...] = ()
    """Which rays were stopped when."""
    shade_below: tuple[Shade, ...] = ()
    """The same of a second beam, where that was traced."""


def seen(temple: Temple, batch: Batch, receiver: Receiver) -> Batch:
    """Return the same drops as another receiver saw them."""
    return replace(batch, spells=tuple(spells(bundle(temple), receiver, batch.shade, STEP * 1000)))


def seen_below(temple: Temple, batch: Batch, receiver: Receiver) -> tuple[Spell, ...]:
    """Return when a receiver of the second beam read dark."""
    return tuple(spells(bundle(temple), receiver, batch.shade_below, STEP * 1000))


def bundle(temple: Temple) -> Rays:
    """Return the rays between the lenses of the temple's sensors."""
    return rays(temple.sensor.lens, temple.bore(temple.sensor))


def singles(
    temple: Temple,
    kind: Token,
    seed: int,
    count: int,
    every_ms: float = 80,
    friction: float = FRICTION,
    *,
    make: Builder = build,
    below: bool = False,
) -> Batch:
    """Drop tokens one by one, `every_ms` apart or up to a quarter more; trace a second beam too if `below`."""
    draw = np.random.default_rng(seed)
    times = np.cumsum(every_ms * (1 + 0.25 * draw.random(count))) / 1000
    return _run(temple, kind, seed, times, draw, friction, make=make, below=below)


def handful(
    temple: Temple, kind: Token, seed: int, count: int = 5, friction: float = FRICTION, *, below: bool = False
) -> Batch:
    """Let go a handful, all within 40 milliseconds; trace a second beam too if `below`."""
    draw = np.random.default_rng(seed)
    times = np.sort(draw.random(count)) * 0.04 + 0.01
    return _run(temple, kind, seed, times, draw, friction, spread=True, below=below)


def _run(
    temple: Temple,
    kind: Token,
    seed: int,
    times: np.ndarray,
    draw: np.random.Generator,
    friction: float = FRICTION,
    *,
    spread: bool = False,
    make: Builder = build,
    below: bool = False,
) -> Batch:
    count = len(times)
    if count > MOST:
        raise ValueError(f"{count} tokens in one batch; expected at most {MOST}")
    world = make(temple, [kind] * count, friction)
    model = mujoco.MjModel.from_xml_string(world.xml)
    data = mujoco.MjData(model)
    through, released = 0, 0
    shade: list[Shade] = []
    shade_below: list[Shade] = []
    light = Light(temple, world)
    light_below = Light(temple, world, temple.below) if below else None
    left = [False] * count
    steps = int((times[-1] + PATIENCE_S) / STEP)
    for step in range(steps):
        now = step * STEP
        while released < count and times[released] <= now:
            _release(world, kind, data, released, draw, spread)
            released += 1
        mujoco.mj_step(model, data)
        if light_below is not None and (stopped := light_below.stopped(model, data)) is not None:
            shade_below.append((step, np.packbits(stopped).tobytes()))
        stopped = light.stopped(model, data)
        if stopped is not None:
            shade.append((step, np.packbits(stopped).tobytes()))
        elif step % 20 == 0:
            for n in range(released):
                if not left[n] and is_out(world, data, n):
                    left[n] = True
                    through += 1
                    park(data, n)
            if released == count and through == count:
                break
    lasted_ms = round(step * STEP * 1000, 3)
    batch = Batch(kind.name, seed, count, through, (), lasted_ms, tuple(shade), tuple(shade_below))
    return seen(temple, batch, WORST)


class Light:
    """The rays between the two lenses, traced while a token is near them."""

    def __init__(self, temple: Temple, world: World, below: float = 0.0) -> None:
        """Trace the beam, or one so many millimetres below it along the gutter."""
        points = bundle(temple).points * MM
        out = (temple.shaft / 2 + temple.chute_wall) * MM
        tilt = radians(temple.slope)
        middle, high = world.beam[0] + below * cos(tilt) * MM, world.beam[1] - below * sin(tilt) * MM
        self._near = middle - NEAR, middle + NEAR
        self._starts = np.array([(middle + x, -out, high + z) for x, z in points])
        ends = np.array([(middle + x, out, high + z) for x, z in points])
        ways = ends[None, :, :] - self._starts[:, None, :]
        self._long = np.linalg.norm(ways, axis=2)
        self._ways = (ways / self._long[:, :, None]).reshape(len(points), -1)
        self._hit, self._far = np.zeros(len(points), np.int32), np.zeros(len(points))

    def stopped(self, model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray | None:
        """Return which rays a token stops now, None for none."""
        along = data.qpos[::7]
        if not ((along > self._near[0]) & (along < self._near[1])).any():
            return None
        rows = []
        for start, ways, long in zip(self._starts, self._ways, self._long, strict=True):
            mujoco.mj_multiRay(
                model, data, start, ways, TOKENS_GROUP, True, -1, self._hit, self._far, None, len(long), 1.0
            )
            rows.append((self._far >= 0) & (self._far <= long))
        found = np.concatenate(rows)
        return found if found.any() else None


def _release(world: World, kind: Token, data: mujoco.MjData, n: int, draw: np.random.Generator, spread: bool) -> None:
    """Let go of a token over the open shrine, turned at random, from a finger's height, with a little push."""
    deep, wide, rim = world.release
    half = kind.longest / 2 * MM
    x, y = ((2 * draw.random(2) - 1) * np.maximum(0.0, np.array([deep, wide]) - half)) * (1 if spread else LOOSE)
    z = rim + half + 0.005 * draw.random() + (0.016 * n if spread else 0.0)
    data.qpos[7 * n : 7 * n + 3] = (x, y, z)
    data.qpos[7 * n + 3 : 7 * n + 7] = quaternion(draw)
    data.qvel[6 * n : 6 * n + 6] = 0
    data.qvel[6 * n : 6 * n + 3] = draw.normal(0, 0.05, 3)
    data.qvel[6 * n + 3 : 6 * n + 6] = draw.normal(0, 3.0, 3)


def is_out(world: World, data: mujoco.MjData, n: int) -> bool:
    """Return whether a token has left the chute."""
    return bool(data.qpos[7 * n] > world.gone[0] and data.qpos[7 * n + 2] < world.gone[1])


def park(data: mujoco.MjData, n: int) -> None:
    """Put a token where it is in nobody's way."""
    data.qpos[7 * n : 7 * n + 3] = (-1 - 0.05 * n, 1, 1)
    data.qvel[6 * n : 6 * n + 6] = 0


def quaternion(draw: np.random.Generator) -> tuple[float, float, float, float]:
    """Draw a turn, every one alike."""
    u, v, w = (float(each) for each in draw.random(3))
    a, b = sqrt(1 - u), sqrt(u)
    v, w = 2 * pi * v, 2 * pi * w
    return a * sin(v), a * cos(v), b * sin(w), b * cos(w)
