"""Every dimension of the temple, and what follows from them. It draws nothing and checks nothing.

Millimetres, degrees. The temple stands on z = 0 and its stairs look towards +y: the left of whoever faces them is +x.
All figures come from simulation: nothing has been printed yet. ``rules.py`` says which changes are allowed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import acos, atan2, ceil, cos, degrees, hypot, pi, radians, sin, sqrt, tan

from templo.shrines import LEFT_TO_RIGHT

SIDES = dict(zip(LEFT_TO_RIGHT, (1, -1), strict=True))
"""On which side of x = 0 each god's half of the temple stands."""

FACET = 4.0
"""Degrees that a facet of the gutter's bend turns, at most."""


@dataclass(frozen=True)
class Token:
    """A kind of token by its three sizes, longest first: a bead has all three alike."""

    name: str
    sizes: tuple[float, float, float]

    @property
    def longest(self) -> float:
        """The largest of the three."""
        return self.sizes[0]

    @property
    def thinnest(self) -> float:
        """The smallest of the three."""
        return self.sizes[2]

    @property
    def volume(self) -> float:
        """Its volume as an ellipsoid, in cubic millimetres."""
        a, b, c = self.sizes
        return a * b * c * 0.5235988


TOKENS = (
    Token("bead 8", (8, 8, 8)),
    Token("bead 12", (12, 12, 12)),
    Token("bean", (15, 9, 7)),
    Token("skull 13", (13, 11, 10)),
)
"""The kinds that the physics drops; a printed skull may be 15 mm long, which is `Temple.largest`."""


@dataclass(frozen=True)
class Bed:
    """The room of a printer, and what it prints without support."""

    x: float = 220
    y: float = 220
    z: float = 250
    thinnest: float = 1.2
    """No wall may be thinner: three lines of a 0.4 mm nozzle."""
    overhang: float = 45
    """Degrees from the vertical that need no support."""
    ledge: float = 1.0
    """A step outwards that prints all the same: the relief on the walls."""
    bridge: float = 24
    """A span between two walls that prints in the air."""


@dataclass(frozen=True)
class Board:
    """The calendar board: a ring of twenty spaces around the lake."""

    across: float = 390
    """Its outer diameter; the project's own sheets print 400 on A4 and 406 on Letter, which the flange covers."""
    inner_share: float = 244 / 494
    """How far the lake reaches: the board's inner radius over its outer one, as `calendar_board` draws it."""
    thickness: float = 3
    """The card it may be glued on."""
    feet: float = 0
    """How high it stands over the table: 0 where it lies on it."""

    @property
    def inner(self) -> float:
        """The radius of the hole."""
        return self.across / 2 * self.inner_share

    @property
    def top(self) -> float:
        """How high its face lies over the table."""
        return self.feet + self.thickness


@dataclass(frozen=True)
class Sensor:
    """One half of a break-beam pair: a block with its lens near one end. Measure yours: makers differ."""

    lens: float
    length: float
    height: float
    depth: float
    lens_from_end: float
    bore: float = field(default=0, repr=False)
    """The width of the two holes before its pair; 0 for the temple's `aperture`."""


SENSOR_5MM = Sensor(lens=5, length=20, height=10, depth=8, lens_from_end=5)
SENSOR_3MM = replace(SENSOR_5MM, lens=3)
SENSOR_MODULATED = Sensor(lens=5, length=10, height=10, depth=10, lens_from_end=5, bore=4)
SENSORS = {"5mm": SENSOR_5MM, "3mm": SENSOR_3MM, "modulated": SENSOR_MODULATED}
"""Adafruit 2168 and 2167: their makers give the same block for both. What sees modulated light, and its emitter, have
holders (`MODULES`) of one size; a bore of 4 mm gives them light enough."""


@dataclass(frozen=True)
class Module:
    """A part that a holder takes behind the bore: across, high and deep, and how far its eye is under its upper end.

    It stands on its head: its pins lead up. An emitter of 5 mm has none of these sizes: it lies in a round hole.
    """

    title: str
    wide: float = 0
    high: float = 0
    deep: float = 0
    eye: float = 0


MODULES = {
    "tsal6200": Module("Vishay TSAL6200, infrared LED of 5 mm"),
    "tssp4038": Module("Vishay TSSP4038SS1XB, receiver for 38 kHz", wide=6.0, high=6.95, deep=5.6, eye=3.5),
    "s6986": Module("Hamamatsu S6986, receiver with an oscillator of its own", wide=5.0, high=6.0, deep=3.5, eye=3.0),
}
"""The receiver for 38 kHz by its maker's sheet, but for its eye; the S6986's sizes are assumed. Measure yours."""


@dataclass(frozen=True)
class Plug:
    """A cable's plug: its width and height, and how far it stands out of its socket."""

    wide: float
    high: float
    straight: float
    middle: float
    """How high its middle is over the board's underside."""
    bend: float
    """How far the cable goes on before it has turned upwards: its least radius and half its thickness."""


MICRO_USB = Plug(wide=11, high=8, straight=26, middle=2.9, bend=14)


@dataclass(frozen=True)
class Pins:
    """Plugs side by side on a board's pins: from where to where, how high over the board, and for how many wires."""

    left: float
    right: float
    near: float
    far: float
    high: float
    wires: int


@dataclass(frozen=True)
class LightPins:
    """Where the optional lamps' and the piezo's wires leave a board, and what plugs they need beside the others."""

    plugs: Pins
    at: tuple[float, float, float]
    """Along the pins' edge: Tlaloc's lamp, Huitzilopochtli's, the piezo."""
    lead: float
    """How long a lamp's wires are cut, but for the height of the chutes' doors."""


@dataclass(frozen=True)
class Controller:
    """What stands behind the strip: a board that counts, or a cable to one outside.

    A board's outline, its holes from its lower left corner, and how high its parts reach; a cable has none of them.
    """

    name: str
    strip: float
    """Where the strip of perforated board begins, seen from behind, that lies before it."""
    x: float = 0
    y: float = 0
    holes: tuple[tuple[float, float], ...] = ()
    hole: float = 0
    high: float = 0
    """Above the board, with its connectors but without wires."""
    pins: tuple[Pins, ...] = ()
    """Where the wires to the strip are plugged in, likewise from its lower left corner."""
    plug: Plug = MICRO_USB
    plug_at: float = 0
    """Where the middle of its socket is along the edge."""
    plug_left: bool = False
    """Whether the socket is in the left edge, not in the lower one."""
    shift: float = 0
    """How far the board is moved from the middle of its tray, seen from behind, to the left."""
    lights: LightPins | None = None
    """None for what drives none in the temple."""

    @property
    def inside(self) -> bool:
        """Whether it is a board in the temple."""
        return bool(self.holes)


def _four(x: float, y: float, left: float, low: float) -> tuple[tuple[float, float], ...]:
    return ((left, low), (left + x, low), (left, low + y), (left + x, low + y))


_ZERO = (Pins(7.1, 27.4, 23.9, 29.1, 16.5, 6),)
_PICO = Pins(43.3, 51, 18.1, 20.7, 16.5, 3), Pins(0.1, 12.8, 18.1, 20.7, 16.5, 2)
_ZERO_LIGHTS = LightPins(Pins(27.5, 32.5, 23.9, 29.1, 16.5, 2), (21.2, 25.1, 29.0), 125)
_PICO_LIGHTS = LightPins(Pins(30.6, 43.2, 18.1, 20.7, 16.5, 5), (41.5, 37.5, 32.5), 135)

CONTROLLERS = (
    Controller("outside", -35),
    Controller(
        "pi_zero_2w", -26, 65, 30, _four(58, 23, 3.5, 3.5), 2.75, 13, _ZERO, plug_at=54, shift=-11,
        lights=_ZERO_LIGHTS,
    ),
    Controller(
        "pico", -33, 51, 21, _four(47, 11.4, 2, 4.8), 2.1, 12, _PICO, plug_at=10.5, plug_left=True, shift=-15,
        lights=_PICO_LIGHTS,
    ),
)  # fmt: skip
"""Boards from the makers' drawings; `high` allows for soldered pins. A larger one stands outside, in its own case."""


@dataclass(frozen=True)
class Tier:
    """One step of the pyramid: half its width, and where its front and its back stand."""

    half: float
    front: float
    back: float


@dataclass(frozen=True)
class Bowl:
    """A bowl over a shrine, optional: a basin that narrows to a hole over the shrine's slot.

    Seen from above, its inside is the hull of two circles: the neck around the hole, and the basin beside the shrine.
    """

    neck: float = 13.4
    basin: float = 24.0
    """The radii of the two circles, at the rim."""
    reach: float = 20.0
    """From the middle of the hole outwards to the middle of the basin."""
    bank: float = 5.0
    """How wide and how high the inside slopes at 45 degrees along the wall: a finger reaches behind a token there."""
    lip: float = 0.8
    """How high it stands around the hole: little rolls in by itself."""
    lip_wide: float = 1.5
    rim: float = 26.0
    """How high the wall stands over the floor."""
    floor: float = 7.0
    """How thick it is over the shrine's wall; the crest has room in it."""

    def outline(self) -> tuple[tuple[float, float], ...]:
        """Return the inside at the rim, anticlockwise around the hole's middle; x points away from the temple."""
        turn = acos((self.neck - self.basin) / self.reach)
        basin = [(self.reach, self.basin, turn * (n / 10 - 1)) for n in range(21)]
        neck = [(0.0, self.neck, turn + (2 * pi - 2 * turn) * n / 8) for n in range(9)]
        return tuple((x + radius * cos(a), radius * sin(a)) for x, radius, a in (*basin, *neck))


@dataclass(frozen=True)
class Temple:
    """The whole temple; every part is drawn from this value and from nothing else."""

    bed: Bed = field(default_factory=Bed)
    board: Board = field(default_factory=Board)
    sensor: Sensor = SENSOR_5MM
    tokens: tuple[Token, ...] = TOKENS
    largest: float = 15
    """The longest token that may be played: a printed skull."""
    smallest: float = 8

    wall: float = 1.6
    plinth_wall: float = 1.4
    """Of the plinth, which the lake hides."""
    clearance: float = 0.4
    """Between two parts that meet, on each side."""
    relief: float = 0.8

    # The base, and the pyramid on it
    floor: float = 3.2
    plinth: float = 44
    """Where the first tier begins: below it the lake hides the wall."""
    rise: float = 17
    """Of each tier; the chutes need the height to be steep."""
    tiers: tuple[Tier, ...] = (
        Tier(56, 50, -50),
        Tier(52, 47.6, -47),
        Tier(48, 39.5, -44),
        Tier(43, 33, -40.5),
    )
    stair_half: float = 18
    stair_foot: float = 59
    steps: int = 20
    lid: float = 3
    shrine_x: float = 28
    shrine_y: float = 26
    shrine_z: float = 25
    merlon: float = 4.2
    """How high the crest stands on the shrine's wall."""

    # The chutes
    slot: tuple[float, float] = (17.4, 16.8)
    """The shrine's open top; from here to the throat it is steep, as whatever circles in a funnel meets the next."""
    throat: float = 15.8
    throat_long: float = 3
    shaft: float = 17
    """Inside, both ways."""
    shaft_at: tuple[float, float] = (15, -20)
    exit_at: tuple[float, float] = (30, 53)
    """The middle of the tongue's end."""
    steep: float = 43
    """Of the gutter's floor under the shaft: what falls on it goes on sliding, where a flatter one stops it."""
    bend: float = 60
    """The radius of the hollow from the steep floor to the flatter one: it presses a token down, before the beam."""
    bend_ends: float = 41.5
    """From the middle of the shaft, along the level: behind it the floor is flat."""
    slope: float = 26
    """Of the floor under the beam and to the tongue."""
    sill: float = 45
    """How high the tongue's end lies: so many tokens fall on one side before their heap stands in the door."""
    roof: float = 16.6
    """Over the floor, square to it."""
    chute_wall: float = 2.0
    beam_after: float = 45
    """From the shaft to the beam, along the level."""
    beam_over: float = 5.5
    """Above the floor, square to it."""
    below: float = 12.0
    """From the beam down the gutter to an optional second one, as high over the floor."""
    aperture: float = 2.0
    """The width of the two holes that the light passes: a lens alone sees past a small token."""

    bowl: Bowl = field(default_factory=Bowl)

    # The lake
    lake_floor: float = 1.4
    lake_wall: float = 1.6
    shore: float = 108
    """The radius of its rim outside."""
    rim: float = 58
    """Above the sill: beads that leave it hop on a full heap."""
    clear: float = 0
    """How high the shore is printed where a clear strip stands on it, up to the rim; 0 where all of it is printed."""
    fill: float = 42
    """How high the tokens may lie: below the sill."""
    packing: float = 0.56
    """How much of a heap is token: loosely poured, with walls."""
    lake_tokens: int = 260
    causeway: float = 14
    """Between the two lakes, front and back."""

    # The racks
    rack_tokens: int = 12
    racks: int = 20

    # The electronics
    controllers: tuple[Controller, ...] = CONTROLLERS
    controller: str = "outside"
    """What the pictures show and the table of parts counts."""
    standoff: float = 4
    tray: float = 2.4
    cable: tuple[float, float] = (12, 9)
    """A plug that must pass, across and high."""

    @property
    def sensors(self) -> dict[str, Sensor]:
        """The sensors that chutes are drawn for, by their names; one's own is the temple's."""
        return SENSORS if self.sensor in SENSORS.values() else SENSORS | {"own": self.sensor}

    def bore(self, sensor: Sensor) -> float:
        """Return the width of the holes before a sensor."""
        return sensor.bore or self.aperture

    @property
    def funnel(self) -> float:
        """From the throat up to where the shrine is open: all of it but the throat and the crest."""
        return self.shrine_z - self.throat_long - 6.5

    @property
    def shrine_wall(self) -> float:
        """How high the shrine's wall is, on which its crest stands and the bowl lies."""
        return self.shrine_z - self.merlon

    @property
    def platform(self) -> float:
        """Where the pyramid ends and the lid begins."""
        return self.plinth + len(self.tiers) * self.rise

    @property
    def top(self) -> float:
        """Where the shrines stand."""
        return self.platform + self.lid

    @property
    def turn(self) -> float:
        """How far a gutter turns from straight ahead, in degrees."""
        (x0, y0), (x1, y1) = self.shaft_at, self.exit_at
        return degrees(atan2(x1 - x0, y1 - y0))

    @property
    def run(self) -> float:
        """From the middle of the shaft to the tongue's end, along the level."""
        (x0, y0), (x1, y1) = self.shaft_at, self.exit_at
        return hypot(x1 - x0, y1 - y0)

    @property
    def beam_at(self) -> float:
        """From the middle of the shaft to the beam, along the level."""
        return self.shaft / 2 + self.beam_after

    def straight(self, s: float) -> float:
        """How high the flatter floor lies, or would lie if it went on uphill, `s` from the middle of the shaft."""
        return self.sill + (self.run - s) * tan(radians(self.slope))

    def gutter(self, s: float) -> float:
        """How high the gutter's floor lies, `s` from the middle of the shaft along the level."""
        line = self.above(0, max(self.run, s), min(-self.shaft / 2, s))
        (right, low), (left, high) = next(each for each in pairwise(line) if each[1][0] <= s <= each[0][0])
        return low + (high - low) * (right - s) / (right - left)

    def above(self, over: float, down: float, up: float) -> tuple[tuple[float, float], ...]:
        """Return the line that lies `over` the gutter's floor, square to it, as points along the level and up.

        It goes uphill from `down`, on the flatter floor, to `up`, on the steep one; the bend has straight facets. The
        parts are cut along it, and the physics' plates lie along it.
        """
        low, high = radians(self.slope), radians(self.steep)
        s, z = self.bend_ends + self.bend * sin(low), self.straight(self.bend_ends) + self.bend * cos(low)
        facets = max(1, ceil((self.steep - self.slope) / FACET))
        turns = [low + (high - low) * n / facets for n in range(facets + 1)]
        arc = [(s - (self.bend - over) * sin(turn), z - (self.bend - over) * cos(turn)) for turn in turns]
        last_s, last_z = arc[-1]
        return (
            (down, self.straight(down) + over / cos(low)),
            *arc,
            (up, last_z + (last_s - up) * tan(high)),
        )

    @property
    def beam_high(self) -> float:
        """How high the beam is over the table."""
        tilt = radians(self.slope)
        return self.straight(self.beam_at) + self.beam_over / cos(tilt)

    @property
    def transit_ms(self) -> float:
        """How long a bead that starts from rest rolls from the beam to a second one, in milliseconds.

        Two sevenths of its weight's pull turn it. What comes with any speed takes less.

        >>> round(TEMPLE.transit_ms)
        88
        """
        pull = 5 / 7 * 9810 * sin(radians(self.slope))
        return 1000 * sqrt(2 * self.below / pull)

    @property
    def lake_area(self) -> float:
        """The water of both lakes seen from above, in square millimetres."""
        inside = self.shore - self.lake_wall
        first, gap = self.tiers[0], self.clearance + self.lake_wall
        temple = 2 * (first.half + gap) * (first.front - first.back + 2 * gap)
        middle = self.causeway + 2 * self.lake_wall
        stairs = 2 * (self.stair_half + gap) * max(0.0, self.stair_foot - first.front)
        roads = middle * (2 * inside - (self.stair_foot - first.back))
        return 3.14159265 * inside**2 - temple - stairs - roads

    @property
    def cone(self) -> float:
        """What the flared rim takes from the lake, in cubic millimetres."""
        step = max(0.0, self.board.top + 0.2 - self.lake_floor)
        low, high = self.spigot - self.lake_wall, self.shore - self.lake_wall
        ring = high**2 - low**2
        return 3.14159265 * (ring * (step - low) + (high**3 - low**3) * 2 / 3)

    def holds(self, token: Token) -> int:
        """How many tokens of a kind the two lakes hold, up to `fill`."""
        room = self.lake_area * (self.fill - self.lake_floor) - self.cone
        return int(room * self.packing / token.volume)

    @property
    def spigot(self) -> float:
        """The radius of what stands in the board's hole."""
        return self.board.inner - 0.8


TEMPLE = Temple()


LOWEST = 40.0
"""The lowest door: 260 of the smallest beads fall on one side without a hand."""
SHALLOW, DEEPEST = 8, 12
"""Beads of this size need the lowest door, and from that one on they need the deepest lake, in millimetres.

A heap grows faster than its beads, so between the two a line gives more than enough.
"""


def _with_door(temple: Temple, sill: float) -> Temple:
    """Return a temple whose door, and all that goes with it, lies at another height."""
    more = sill - temple.sill
    heights = {name: getattr(temple, name) + more for name in ("plinth", "sill", "rim", "fill")}
    return replace(temple, **heights)


def deep(temple: Temple, bead: int | None = None) -> Temple:
    """Return a temple whose lake takes 260 tokens of every kind on one side: its door lies high over the table.

    For beads of one size, in whole millimetres, it is only as deep as theirs needs to be.

    >>> deep(TEMPLE).rim, deep(TEMPLE, 10).sill, deep(TEMPLE, 8).sill
    (122, 75.0, 40.0)
    """
    full = replace(_with_door(temple, 110), rim=122, lake_tokens=400)
    if bead is None or bead >= DEEPEST:
        return full
    share = max(0.0, (bead - SHALLOW) / (DEEPEST - SHALLOW))
    return _with_door(temple, LOWEST + (full.sill - LOWEST) * share)


def lowered(temple: Temple, bead: int) -> Temple:
    """Return a temple whose door is as low as beads of a size let it be, where that is lower than it was.

    >>> lowered(TEMPLE, 8) == deep(TEMPLE, 8), lowered(TEMPLE, 9) == TEMPLE
    (True, True)
    """
    return min(temple, deep(temple, bead), key=lambda each: each.sill)


def on_feet(temple: Temple) -> Temple:
    """Return a temple whose board stands as high as a rack, so that the lake is a pond in it."""
    return replace(temple, board=replace(temple.board, feet=24))


def see_through(temple: Temple) -> Temple:
    """Return a temple whose shore is printed up to 36 mm, with a groove for a clear strip up to its rim."""
    return replace(temple, clear=36)


def fitted(temple: Temple, bead: Token) -> Temple:
    """Return a temple for one kind of bead alone: its way is so narrow that two of them do not pass side by side.

    The chutes are as wide outside as before, and the beam is where it was, so sensors and screws keep their places.

    >>> fitted(TEMPLE, TOKENS[0]).throat
    9.2
    """
    size = bead.longest
    shaft = size + 2.4
    less = (temple.shaft - shaft) / 2
    return replace(
        temple,
        tokens=(bead,),
        largest=size + 0.4,
        smallest=size,
        slot=(size + 2.8, size + 2.2),
        throat=size + 1.2,
        shaft=shaft,
        roof=size + 2,
        chute_wall=temple.chute_wall + less,
        beam_after=temple.beam_after + less,
    )


BEADS = range(8, 15)
"""For which sizes of bead, in whole millimetres, a temple can be fitted."""


def fitting(size: int | None, temple: Temple = TEMPLE) -> Temple:
    """Return the temple for every kind of token, or the one that is fitted to beads of a size."""
    if size is None:
        return temple
    return fitted(temple, Token(f"bead {size}", (size, size, size)))
