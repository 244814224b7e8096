"""Hands that are tipped into the offering bowl, the finger that sweeps them into its hole, and tokens dropped there.

The bowl is made of boxes. The finger is a capsule that pushes with a newton at most; it begins behind a token that it
sees, aims at the hole, and does not look again before it is lifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import atan2, cos, degrees, hypot, pi, radians, sin, sqrt, tan

import mujoco
import numpy as np

from hardware.parameters import Bowl, Temple, Token
from hardware.physics.drops import LOOSE, Batch, Light, is_out, park, quaternion, seen, singles
from hardware.physics.optics import WORST, Shade
from hardware.physics.world import FRICTION, MM, PLATE, STEP, World, box, chute, lowered, numbers, shrine, world

FACETS = 16
SEEN_S = 0.45
"""When the finger begins, after the first token was let go."""
LONGEST_S = 20.0
"""What lies in the bowl then stays there."""
PATIENCE_S = 1.5
TIP, OVER, LIFT = 7.5, 1.5, 24.0
"""A finger's radius, and how high its tip is over the floor as it sweeps and as it moves on, in millimetres."""
PUSH = 1.0
"""Newtons that a finger pushes with."""
STIFF, DAMP = 1500.0, 20.0
"""Newtons a metre, and newton-seconds a metre, by which the finger follows the hand."""
SPREAD = 10.0
"""How far from the middle of the basin a hand lets go, in millimetres."""
FALL = 30.0
"""From how high above the floor: the lowest tokens of a hand, and those that are dropped one by one."""
AIM = 4.0
"""How far off the hole's middle those are at most, both ways, in millimetres."""
DROP_MS = 250.0
"""From one of them to the next, and up to a quarter more."""
EVERY = 4
"""Steps from one movement of the hand to the next."""


@dataclass(frozen=True)
class Hand:
    """How a hand sweeps: its speed in millimetres a second, and how far off its mark it is, as a deviation."""

    speed: float = 180.0
    off: float = 4.0


@dataclass(frozen=True)
class Offering:
    """What became of one hand of tokens."""

    batch: Batch
    rolled: int
    """How many fell before the finger came."""
    left: int
    """How many still lay in the bowl at the end."""
    out: int
    """How many were thrown over its wall."""
    lasted_s: float
    """Until the bowl was empty."""


def build(temple: Temple, tokens: Sequence[Token], friction: float = FRICTION, *, finger: bool = False) -> World:
    """Return a chute whose shrine carries the bowl; a finger's joints come after the tokens'."""
    temple = lowered(temple)
    high = floor(temple)
    geoms = [
        *shrine(temple, high - 2 * PLATE - temple.top - temple.shrine_z),
        *chute(temple),
        f'<body name="bowl" euler="0 0 {temple.turn - 90:.7g}">{"".join(_bowl(temple))}</body>',
    ]
    if not finger:
        return world(temple, geoms, tokens, friction, high)
    raised = world(temple, geoms, tokens, friction, high, _APART)
    return World(raised.xml.replace("</worldbody>", f"{_finger()}</worldbody>"), *_places(raised))


def floor(temple: Temple) -> float:
    """Return how high the bowl's floor lies."""
    return temple.top + temple.shrine_wall + temple.bowl.floor


_APART = """<contact><exclude body1="world" body2="finger"/><exclude body1="bowl" body2="finger"/></contact>
"""


def _places(found: World) -> tuple[tuple[float, float], tuple[float, float, float], tuple[float, float]]:
    return found.beam, found.release, found.gone


def _finger() -> str:
    joints = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    ends = numbers(0, 0, TIP * MM, 0, 0, 60 * MM)
    skin = 'friction="0.6 0.002 0.0001" solref="0.004 0.9"'
    return (
        f'<body name="finger" gravcomp="1">{joints}'
        f'<geom type="capsule" fromto="{ends}" size="{TIP * MM}" mass="0.08" {skin}/></body>\n'
    )


def _bowl(temple: Temple) -> list[str]:
    """Return the floor around the hole, the lip, the bank and the wall, around the middle of the hole."""
    bowl, high, radius = temple.bowl, floor(temple), temple.throat / 2
    square, big = radius + 5, 80.0
    geoms = []
    for n in range(FACETS):
        turn = 2 * pi * n / FACETS
        euler = f'euler="{numbers(0, 0, degrees(turn))}"'
        for low, top, wide in ((-2 * PLATE, 0.0, square * 1.45 - radius), (-1.0, bowl.lip, bowl.lip_wide)):
            reach = radius + wide / 2
            half = (radius + wide) * tan(pi / FACETS) * 1.05
            at = (reach * cos(turn), reach * sin(turn), high + (low + top) / 2)
            geoms.append(box(at, (wide / 2, half, (top - low) / 2), euler))
    for (left, right), (near, far) in (
        ((square, big), (-big, big)),
        ((-big, -square), (-big, big)),
        ((-square, square), (square, big)),
        ((-square, square), (-big, -square)),
    ):
        at = ((left + right) / 2, (near + far) / 2, high - PLATE)
        geoms.append(box(at, ((right - left) / 2, (far - near) / 2, PLATE)))
    line = bowl.outline()
    for one, other in pairwise((*line, line[0])):
        geoms += _side(bowl, high, one, other)
    return geoms


def _side(bowl: Bowl, high: float, one: tuple[float, float], other: tuple[float, float]) -> list[str]:
    """Return the wall over one edge of the outline, and the bank before it."""
    along, up = other[0] - one[0], other[1] - one[1]
    long = hypot(along, up)
    out = np.array([up, -along, 0.0]) / long
    middle = np.array([(one[0] + other[0]) / 2, (one[1] + other[1]) / 2, high])
    euler = f'euler="{numbers(0, 0, degrees(atan2(up, along)))}"'
    at = middle + out * PLATE + (0, 0, bowl.rim / 2)
    wall = box((at[0], at[1], at[2]), (long / 2 + 1, PLATE, bowl.rim / 2), euler)
    slope = np.array([out[0], out[1], 1.0]) * sqrt(0.5)
    inwards = np.array([out[0], out[1], -1.0]) * sqrt(0.5)
    at = middle - out * bowl.bank / 2 + (0, 0, bowl.bank / 2) + inwards * PLATE
    turn = f'xyaxes="{numbers(along / long, up / long, 0, *slope)}"'
    return [wall, box((at[0], at[1], at[2]), (long / 2, bowl.bank * sqrt(0.5), PLATE), turn)]


def offering(
    temple: Temple, kind: Token, seed: int, count: int, friction: float = FRICTION, hand: Hand | None = None
) -> Offering:
    """Tip a hand of tokens into the bowl, within 40 milliseconds, and sweep until it is empty."""
    draw = np.random.default_rng(seed)
    world = build(temple, [kind] * count, friction, finger=True)
    model = mujoco.MjModel.from_xml_string(world.xml)
    data = mujoco.MjData(model)
    light, finger = Light(temple, world), _Sweep(temple, kind, data, count, hand or Hand(), draw)
    times = np.sort(draw.random(count)) * 0.04 + 0.01
    released, rolled, shade = 0, 0, list[Shade]()
    fell, gone, out = (np.zeros(count, bool) for _ in range(3))
    empty = np.inf
    for step in range(int((LONGEST_S + PATIENCE_S) / STEP)):
        now = step * STEP
        while released < count and times[released] <= now:
            _tip(finger, kind, data, released, draw)
            released += 1
        if step % EVERY == 0:
            waiting = np.flatnonzero(~fell & ~out) if SEEN_S < now < LONGEST_S and empty > now else np.array([], int)
            finger.move(waiting)
        finger.push()
        mujoco.mj_step(model, data)
        stopped = light.stopped(model, data)
        if stopped is not None:
            shade.append((step, np.packbits(stopped).tobytes()))
        if step % 10 or released < count:
            continue
        for n in np.flatnonzero(~gone & ~out):
            x, y, z = finger.at(n)
            if is_out(world, data, n):
                gone[n] = True
                park(data, n)
                out[n] = not fell[n]
            elif not fell[n] and z < -2 and hypot(x, y) < temple.throat:
                fell[n] = True
                rolled += now < SEEN_S
            elif not fell[n] and (finger.outside(x, y) or z < -20):
                out[n] = True
        if empty > now and (fell | out).all():
            empty = now
        if (gone | out).all() or now > min(empty, LONGEST_S) + PATIENCE_S:
            break
    through = int((gone & fell).sum())
    batch = Batch(kind.name, seed, count, through, (), round(step * STEP * 1000, 3), tuple(shade))
    left = int((~fell & ~out).sum())
    return Offering(seen(temple, batch, WORST), rolled, left, int(out.sum()), round(min(empty, LONGEST_S), 2))


def dropped(temple: Temple, kind: Token, seed: int, count: int, friction: float = FRICTION) -> Batch:
    """Drop tokens one by one into the bowl's hole, without a finger."""

    def make(temple: Temple, tokens: Sequence[Token], _: float) -> World:
        found = build(temple, tokens, friction)
        room = (kind.longest / 2 + AIM / LOOSE) * MM
        return replace(found, release=(room, room, found.release[2] + FALL * MM - kind.longest / 2 * MM))

    return singles(temple, kind, seed, count, DROP_MS, make=make)


class _Sweep:
    """A finger that sweeps tokens towards the hole, in the bowl's own millimetres."""

    def __init__(
        self, temple: Temple, kind: Token, data: mujoco.MjData, count: int, hand: Hand, draw: np.random.Generator
    ) -> None:
        self.bowl, self._kind, self._data, self._hand, self._draw = temple.bowl, kind, data, hand, draw
        self._first, self._speed = 7 * count, 6 * count
        self._high = floor(lowered(temple))
        turn = radians(temple.turn - 90)
        self._turn = np.array([[cos(turn), -sin(turn)], [sin(turn), cos(turn)]])
        line = np.array(self.bowl.outline())
        edge = np.roll(line, -1, axis=0) - line
        self._out = np.column_stack([edge[:, 1], -edge[:, 0]]) / np.linalg.norm(edge, axis=1)[:, None]
        self._far = (self._out * line).sum(axis=1)
        self._target = np.array([self.bowl.reach + self.bowl.basin + 40, 0.0, 90.0])
        self._plan: list[tuple[np.ndarray, float]] = []
        data.qpos[self._first :] = self.place(self._target)

    def place(self, at: np.ndarray) -> np.ndarray:
        """Return a point of the bowl in the world's metres."""
        return np.array([*(self._turn @ at[:2]), self._high + at[2]]) * MM

    def at(self, n: int) -> np.ndarray:
        """Return where a token is."""
        x, y, z = self._data.qpos[7 * n : 7 * n + 3] / MM
        return np.array([*(self._turn.T @ (x, y)), z - self._high])

    def outside(self, x: float, y: float) -> bool:
        """Return whether a point lies beyond the wall."""
        return bool((self._out @ (x, y) - self._far).max() > 4)

    def _within(self, at: np.ndarray) -> np.ndarray:
        """Return the nearest point that the finger reaches."""
        for _ in range(6):
            over = self._out @ at - self._far + TIP + 0.5
            worst = int(over.argmax())
            if over[worst] <= 0:
                break
            at = at - self._out[worst] * over[worst]
        return at

    def move(self, waiting: np.ndarray) -> None:
        """Move the hand on, behind one of the tokens that wait if it has nothing to do."""
        if not self._plan and len(waiting):
            self._plan = self._stroke(self.at(int(self._draw.choice(waiting)))[:2])
        if self._plan:
            goal, times = self._plan[0]
            way, far = goal - self._target, self._hand.speed * times * EVERY * STEP
            long = float(np.linalg.norm(way))
            if long <= far:
                self._target = goal
                self._plan.pop(0)
            else:
                self._target = self._target + way / long * far

    def _stroke(self, token: np.ndarray) -> list[tuple[np.ndarray, float]]:
        """Return where a stroke leads, and how many times as quick as a sweep each piece of it is."""
        draw, off = self._draw, self._hand.off
        way = token + draw.normal(0, off, 2)
        way /= np.linalg.norm(way) + 1e-9
        behind = float(np.linalg.norm(token)) + TIP + self._kind.longest / 2 + draw.uniform(0, 8)
        begin = self._within(way * behind)
        end = self._within(way * draw.uniform(-2, 8) + draw.normal(0, off / 2, 2))
        return [
            (np.array([*begin, LIFT]), 2),
            (np.array([*begin, OVER]), 2),
            (np.array([*end, OVER]), 1),
            (np.array([*end, LIFT]), 2),
        ]

    def push(self) -> None:
        """Let the finger follow the hand, with no more than its force among the tokens."""
        here = self._data.qpos[self._first :]
        force = STIFF * (self.place(self._target) - here) - DAMP * self._data.qvel[self._speed :]
        most = PUSH if here[2] / MM - self._high < LIFT - 4 else 20 * PUSH
        self._data.qfrc_applied[self._speed :] = force * min(1.0, most / (float(np.linalg.norm(force)) + 1e-9))


def _tip(finger: _Sweep, kind: Token, data: mujoco.MjData, n: int, draw: np.random.Generator) -> None:
    """Let go of the next token over the basin, beside or above the others of its hand."""
    others = [data.qpos[7 * k : 7 * k + 3].copy() for k in range(n)]
    high = FALL
    while True:
        turn, far = 2 * pi * draw.random(), SPREAD * sqrt(draw.random())
        at = finger.place(np.array([finger.bowl.reach + far * cos(turn), far * sin(turn), high + 5 * draw.random()]))
        if all(np.linalg.norm(at - other) > 1.05 * kind.longest * MM for other in others):
            break
        high += 0.5
    data.qpos[7 * n : 7 * n + 7] = (*at, *quaternion(draw))
    data.qvel[6 * n : 6 * n + 6] = (*draw.normal(0, 0.05, 3), *draw.normal(0, 3.0, 3))
