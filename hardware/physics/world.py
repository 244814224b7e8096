"""A chute and its shrine as MuJoCo sees them: boxes from the same sizes as the parts, tokens, and one beam.

SI units: metres, kilograms, seconds. x runs along the gutter on the level, z is up; the origin lies under the middle
of the shaft. It drops nothing by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, radians, sin

import numpy as np

from hardware.parameters import Temple, Token

MM = 0.001
STEP = 0.0005
FRICTION = 0.3
DENSITY = 1150.0
"""Of acrylic and printed plastic, in kilograms a cubic metre; a bean is close to it."""
PLATE = 2.0
"""Half the thickness of a collider, in millimetres: nothing tunnels through in a step."""
SIDES = 16
FINGERS = 30.0


@dataclass(frozen=True)
class World:
    """A model in MuJoCo's XML, and where the beam runs, in metres."""

    xml: str
    beam: tuple[float, float, float]
    across: float
    release: tuple[float, float, float]
    """Half the room over the shrine in x and y, and how high its rim is."""
    gone: tuple[float, float]
    """A token has left the chute when it is below the one and beyond the other: x, then z."""


def build(temple: Temple, tokens: Sequence[Token]) -> World:
    """Return a world with so many tokens, parked beside the chute."""
    tilt = radians(temple.slope)
    half = temple.shaft / 2
    geoms = [*_shrine(temple), *_shaft(temple, half), *_gutter(temple, half)]
    bodies = [_body(n, token) for n, token in enumerate(tokens)]
    xml = f"""<mujoco>
<option timestep="{STEP}" integrator="implicitfast" cone="elliptic" impratio="5"/>
<default><geom friction="{FRICTION} 0.002 0.0001" solref="0.004 0.9" condim="4"/></default>
<worldbody>
{"".join(geoms)}
{"".join(bodies)}
</worldbody>
</mujoco>"""
    s = temple.beam_at
    high = temple.gutter(s - temple.beam_over * sin(tilt)) + temple.beam_over * cos(tilt)
    wide, deep = temple.slot[0] / 2, temple.slot[1] / 2
    return World(
        xml,
        (s * MM, -half * MM, high * MM),
        temple.shaft * MM,
        (deep * MM, wide * MM, (temple.top + temple.shrine_z) * MM),
        ((temple.run - 5) * MM, (temple.sill - 12) * MM),
    )


def _numbers(*values: float) -> str:
    return " ".join(f"{value:.7g}" for value in values)


def _box(at: tuple[float, float, float], half: tuple[float, float, float], turn: str = "") -> str:
    pos, size = _numbers(*(each * MM for each in at)), _numbers(*(each * MM for each in half))
    return f'<geom type="box" pos="{pos}" size="{size}" {turn}/>\n'


def _shrine(temple: Temple) -> list[str]:
    """Return the funnel and the throat as plates around a circle, and the walls above."""
    radius, top = temple.throat / 2, temple.top
    geoms = []
    side = (radius + PLATE) * 1.1 * pi / SIDES
    for n in range(SIDES):
        turn = 2 * pi * n / SIDES
        x, y = cos(turn), sin(turn)
        euler = f'euler="{_numbers(0, 0, turn * 180 / pi)}"'
        reach = radius + PLATE
        geoms.append(
            _box((x * reach, y * reach, top + temple.throat_long / 2), (PLATE, side, temple.throat_long / 2), euler)
        )
        # The funnel rises from the throat's edge to the shrine's square room, as the part does.
        geoms.append(_funnel(temple, x, y))
    wide, deep = temple.slot[0] / 2, temple.slot[1] / 2
    # Fingers hold a token over the slot: the walls go on above the rim.
    high = (temple.shrine_z + FINGERS) / 2
    for sign in (-1, 1):
        geoms.append(_box((sign * (deep + PLATE), 0, top + high), (PLATE, wide + 2 * PLATE, high)))
        geoms.append(_box((0, sign * (wide + PLATE), top + high), (deep + 2 * PLATE, PLATE, high)))
    return geoms


def _funnel(temple: Temple, x: float, y: float) -> str:
    radius = temple.throat / 2
    wide, deep = temple.slot[0] / 2, temple.slot[1] / 2
    reach = 1 / max(abs(x), abs(y))
    up = np.array([deep * x * reach - radius * x, wide * y * reach - radius * y, temple.funnel])
    long = float(np.linalg.norm(up))
    along, tangent = up / long, np.array([-y, x, 0.0])
    tangent -= along * float(tangent @ along)
    tangent /= float(np.linalg.norm(tangent))
    normal = np.cross(along, tangent)
    middle = (
        np.array([radius * x, radius * y, temple.top + temple.throat_long])
        + up / 2
        - normal * PLATE * (1 if normal[2] > 0 else -1)
    )
    turn = f'xyaxes="{_numbers(*along, *tangent)}"'
    return _box((float(middle[0]), float(middle[1]), float(middle[2])), (long / 2, 3.2, PLATE), turn)


def _shaft(temple: Temple, half: float) -> list[str]:
    geoms = []
    top = temple.top - 3
    low_back, low_front = temple.gutter(-half) - 3, _roof(temple, half)
    for sign in (-1, 1):
        low = temple.gutter(half) - 2
        geoms.append(_box((0, sign * (half + PLATE), (low + top) / 2), (half + 2 * PLATE, PLATE, (top - low) / 2)))
    geoms.append(_box((-half - PLATE, 0, (low_back + top) / 2), (PLATE, half, (top - low_back) / 2)))
    geoms.append(_box((half + PLATE, 0, (low_front + top) / 2), (PLATE, half, (top - low_front) / 2)))
    return geoms


def _roof(temple: Temple, s: float) -> float:
    return temple.gutter(s) + temple.roof / cos(radians(temple.slope))


def _gutter(temple: Temple, half: float) -> list[str]:
    """Floor, sides and roof, tilted as one."""
    tilt = radians(temple.slope)
    turn = f'euler="{_numbers(0, temple.slope, 0)}"'
    geoms = []

    def tilted(begin: float, end: float, over: float, thick: float, y: float, width: float) -> str:
        """Place a plate over the gutter's floor from `begin` to `end` along the level."""
        middle, long = (begin + end) / 2, (end - begin) / cos(tilt) / 2
        x = middle + over * sin(tilt)
        z = temple.gutter(middle) + over * cos(tilt)
        return _box((x, y, z), (long, width, thick), turn)

    geoms.append(tilted(-half - 4, temple.run, -PLATE, PLATE, 0, half + 2 * PLATE))
    shift = temple.roof * sin(tilt)
    geoms.append(tilted(half - shift, temple.run - 4 - shift, temple.roof + PLATE, PLATE, 0, half + 2 * PLATE))
    high = temple.roof / 2
    geoms += [tilted(-half, temple.run, high, high + 1, sign * (half + PLATE), PLATE) for sign in (-1, 1)]
    return geoms


def _body(n: int, token: Token) -> str:
    """Return a token parked beside the chute; a bead is a ball, a bean an ellipsoid, a skull a head and a jaw."""
    a, b, c = (size / 2 * MM for size in token.sizes)
    shape = f'density="{DENSITY}" group="1"'
    if token.name.startswith("skull"):
        head = f'<geom type="ellipsoid" size="{_numbers(a * 0.8, b, c)}" pos="{_numbers(a * 0.2, 0, 0)}" {shape}/>'
        low = _numbers(-a * 0.65, 0, -c * 0.1)
        jaw = f'<geom type="box" size="{_numbers(a * 0.35, b * 0.6, c * 0.6)}" pos="{low}" {shape}/>'
        geoms = head + jaw
    elif a == c:
        geoms = f'<geom type="sphere" size="{_numbers(a)}" {shape}/>'
    else:
        geoms = f'<geom type="ellipsoid" size="{_numbers(a, b, c)}" {shape}/>'
    return f'<body name="token{n}" pos="{_numbers(1 + 0.05 * n, 1, 1)}"><freejoint/>{geoms}</body>\n'
