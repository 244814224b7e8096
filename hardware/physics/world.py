"""A chute and its shrine in MuJoCo: boxes with the same dimensions as the parts, tokens, and one beam.

SI units: metres, kilograms, seconds. x runs along the gutter on the level, z is up; the origin lies under the middle
of the shaft. It drops nothing by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import atan2, cos, degrees, hypot, pi, sin

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
PARKED = 1.0
"""How far along the gutter tokens are that nobody has let go, in metres."""
SILL = 30.0
"""How high the tongue's end lies in the model: tokens fall alike at any height of the temple."""
FINGERS = 100.0
"""How far walls go on above the rim: a hand keeps what it lets go over the slot, five in a column too."""


@dataclass(frozen=True)
class World:
    """A model in MuJoCo's XML, and where the beam runs, in metres."""

    xml: str
    beam: tuple[float, float]
    """Where it crosses, along the gutter and up."""
    release: tuple[float, float, float]
    """Half the room over the shrine in x and y, and how high its rim is."""
    gone: tuple[float, float]
    """A token has left the chute when it is below the one and beyond the other: x, then z."""


def build(temple: Temple, tokens: Sequence[Token], friction: float = FRICTION) -> World:
    """Return a world with so many tokens, parked beside the chute."""
    temple = lowered(temple)
    return world(temple, shrine(temple) + chute(temple), tokens, friction, temple.top + temple.shrine_z)


def lowered(temple: Temple) -> Temple:
    """Return the temple so low that its sill is where the model has it."""
    return replace(temple, plinth=temple.plinth - temple.sill + SILL, sill=SILL)


def world(
    temple: Temple, geoms: Sequence[str], tokens: Sequence[Token], friction: float, rim: float, others: str = ""
) -> World:
    """Return a world of these geoms; tokens are let go over a rim so high."""
    bodies = [body(n, token) for n, token in enumerate(tokens)]
    xml = f"""<mujoco>
<option timestep="{STEP}" integrator="implicitfast" cone="elliptic" impratio="5"/>
<default><geom friction="{friction} 0.002 0.0001" solref="0.004 0.9" condim="4"/></default>
<worldbody>
{"".join(geoms)}
{"".join(bodies)}
</worldbody>
{others}</mujoco>"""
    wide, deep = temple.slot[0] / 2, temple.slot[1] / 2
    return World(
        xml,
        (temple.beam_at * MM, temple.beam_high * MM),
        (deep * MM, wide * MM, rim * MM),
        ((temple.run - 5) * MM, (temple.sill - 12) * MM),
    )


def numbers(*values: float) -> str:
    """Return numbers as the model's XML wants them."""
    return " ".join(f"{value:.7g}" for value in values)


def box(at: tuple[float, float, float], half: tuple[float, float, float], turn: str = "") -> str:
    """Return a box around a point with half its sizes, in millimetres."""
    pos, size = numbers(*(each * MM for each in at)), numbers(*(each * MM for each in half))
    return f'<geom type="box" pos="{pos}" size="{size}" {turn}/>\n'


def shrine(temple: Temple, over: float = FINGERS) -> list[str]:
    """Return the funnel and the throat as plates around a circle, and the walls, which go on `over` the rim."""
    radius, top = temple.throat / 2, temple.top
    geoms = []
    side = (radius + PLATE) * 1.1 * pi / SIDES
    for n in range(SIDES):
        turn = 2 * pi * n / SIDES
        x, y = cos(turn), sin(turn)
        euler = f'euler="{numbers(0, 0, turn * 180 / pi)}"'
        reach = radius + PLATE
        geoms.append(
            box((x * reach, y * reach, top + temple.throat_long / 2), (PLATE, side, temple.throat_long / 2), euler)
        )
        # The funnel rises from the throat's edge to the shrine's square room, as the part does.
        geoms.append(_funnel(temple, x, y))
    wide, deep = temple.slot[0] / 2, temple.slot[1] / 2
    # Fingers hold a token over the slot: the walls go on above the rim.
    high = (temple.shrine_z + over) / 2
    for sign in (-1, 1):
        geoms.append(box((sign * (deep + PLATE), 0, top + high), (PLATE, wide + 2 * PLATE, high)))
        geoms.append(box((0, sign * (wide + PLATE), top + high), (deep + 2 * PLATE, PLATE, high)))
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
    turn = f'xyaxes="{numbers(*along, *tangent)}"'
    return box((float(middle[0]), float(middle[1]), float(middle[2])), (long / 2, 3.2, PLATE), turn)


def chute(temple: Temple) -> list[str]:
    """Return the shaft and the gutter as plates along the lines that the part is cut by, and its two sides."""
    half, top = temple.shaft / 2, temple.top
    # The lid's hole is wider than the shaft by a hair; here the shaft goes on through it.
    floor = [*temple.above(0, temple.run, -half), (-half, top)]
    # The printed roof's steps are up to 0.7 mm higher than this line, uphill of the bend's end alone.
    roof = [*temple.above(temple.roof, temple.run - 4, half), (half, top)]
    geoms = [_plate(one, other, 1, half) for one, other in pairwise(floor)]
    geoms += [_plate(one, other, -1, half) for one, other in pairwise(roof)]
    low, middle = temple.sill - 10, (temple.run - half) / 2
    size = ((temple.run + half) / 2, PLATE, (top - low) / 2)
    geoms += [box((middle, sign * (half + PLATE), (low + top) / 2), size) for sign in (-1, 1)]
    return geoms


def _plate(one: tuple[float, float], other: tuple[float, float], free: int, half: float) -> str:
    """Return a plate whose surface goes uphill between two points; `free` is 1 if it carries, -1 if it covers."""
    (s0, z0), (s1, z1) = one, other
    along, up = s1 - s0, z1 - z0
    long = hypot(along, up)
    # Square to the line, away from the room that tokens pass.
    s = (s0 + s1) / 2 - free * PLATE * up / long
    z = (z0 + z1) / 2 + free * PLATE * along / long
    turn = f'euler="{numbers(0, degrees(atan2(-up, along)), 0)}"'
    return box((s, 0, z), (long / 2, half + 2 * PLATE, PLATE), turn)


def shape(token: Token) -> str:
    """Return a token's geoms: a bead is a ball, a bean an ellipsoid, a skull a head and a jaw."""
    a, b, c = (size / 2 * MM for size in token.sizes)
    solid = f'density="{DENSITY}" group="1"'
    if token.name.startswith("skull"):
        head = f'<geom type="ellipsoid" size="{numbers(a * 0.8, b, c)}" pos="{numbers(a * 0.2, 0, 0)}" {solid}/>'
        low = numbers(-a * 0.65, 0, -c * 0.1)
        return head + f'<geom type="box" size="{numbers(a * 0.35, b * 0.6, c * 0.6)}" pos="{low}" {solid}/>'
    if a == c:
        return f'<geom type="sphere" size="{numbers(a)}" {solid}/>'
    return f'<geom type="ellipsoid" size="{numbers(a, b, c)}" {solid}/>'


def body(n: int, token: Token) -> str:
    """Return a token parked beside the chute."""
    return f'<body name="token{n}" pos="{numbers(PARKED + 0.05 * n, PARKED, 1)}"><freejoint/>{shape(token)}</body>\n'
