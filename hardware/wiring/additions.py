"""Draws what may be added against light and dips of the supply; the default wiring holds nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import radians, tan
from pathlib import Path

import schemdraw
import schemdraw.elements as elm

from hardware.parameters import TEMPLE
from hardware.wiring.circuit import SMALL, canvas, receiver_box
from hardware.wiring.joins import GUARD, HOLD, PULL_UP

SERIES, SPIKES, DIPS = "22 Ω", "100 nF", "47 µF"
"""Into a receiver's plus, and from there to ground."""
MODULE = "100 Ω"
"""Into the plus of a receiver module, which takes less than a milliampere."""
TIMING = ("2.2 kΩ", "15 kΩ and a\n5 kΩ trimmer", "1 nF")
"""R1, R2 and C of the carrier: 1.44 / ((R1 + 2 R2) C) is 34 to 45 kHz."""
LIMIT = "180 Ω"
"""In series with the S6986's LED: 20 mA."""
DIM = "1 kΩ and a\n100 kΩ trimmer"
_SCALE = 0.2
"""Of a millimetre, in the drawings of places."""
_WALL, _LIGHT, _HOOD = "lightgrey", "firebrick", "black"

Point = tuple[float, float]


def draw(folder: Path) -> list[Path]:
    """Write one picture of each addition as SVG, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for name, make in ADDITIONS.items():
        path = folder / f"addition-{name}.svg"
        with canvas(path) as drawing:
            make(drawing)
        found.append(path)
    return found


def _capacitor(drawing: schemdraw.Drawing) -> None:
    drawing.add(elm.Line().right().length(1.6).label("signal, as before", loc="left"))
    box = drawing.add(receiver_box().label("receiver", loc="right"))
    drawing.add(elm.Ground().at(box.minus))
    drawing.add(elm.Line().at(box.plus).up().length(0.8))
    knot = drawing.add(elm.Dot())
    drawing.add(elm.Resistor().at(knot.center).up().length(1.8).label(SERIES, loc="bottom"))
    drawing.add(elm.Vdd().label("3.3 V, on an Uno 5 V"))
    drawing.add(elm.Line().at(knot.center).right().length(3.2))
    knot = drawing.add(elm.Dot())
    drawing.add(elm.Capacitor().down().length(1.8).label(SPIKES, loc="bottom"))
    drawing.add(elm.Ground())
    drawing.add(elm.Line().at(knot.center).right().length(2.4))
    drawing.add(elm.Capacitor(polar=True).down().length(1.8).label(DIPS, loc="bottom"))
    drawing.add(elm.Ground())


def _shroud(drawing: schemdraw.Drawing) -> None:
    """Draw the gutter across, as a token sees it on its way."""
    sensor, over, bore = TEMPLE.sensor, TEMPLE.beam_over, TEMPLE.aperture / 2
    inner, outer = TEMPLE.shaft / 2, TEMPLE.shaft / 2 + TEMPLE.chute_wall
    low, high = over - sensor.height / 2, over + sensor.height / 2
    back = outer + sensor.depth
    for side, name in ((-1, "emitter"), (1, "receiver")):
        _box(drawing, (side * inner, -4), (side * outer, over - bore), _WALL)
        _box(drawing, (side * inner, over + bore), (side * outer, over + 16), _WALL)
        _box(drawing, (side * outer, low), (side * back, high), "white")
        _box(drawing, (side * outer, -4), (side * (back + 2), low), _WALL)
        _box(drawing, (side * back, low), (side * (back + 2), high + 1), _WALL)
        _say(drawing, (side * (outer + sensor.depth / 2), over), name)
    _box(drawing, (-inner, -4), (inner, 0), _WALL)
    drawing.add(elm.Line().at(_at((-outer, over))).to(_at((outer, over))).linestyle("--").color(_LIGHT))
    _say(drawing, (0, over + 0.8), "the beam")
    _box(drawing, (outer, high + 1.2), (back + 3.4, high + 2.6), _HOOD)
    _box(drawing, (back + 2, -4), (back + 3.4, high + 2.6), _HOOD)
    drawing.add(elm.Arrow().at(_at((back + 8, high + 16))).to(_at((outer + 6, high + 3))).color("darkorange"))
    _say(drawing, (back + 9, high + 17), "light of the room", "left")
    _say(
        drawing,
        (back + 5, over + 1),
        "hood over the open top\nand the back of the\nreceiver's seat: matt black",
        "left",
    )


def _modulated(drawing: schemdraw.Drawing) -> None:
    pins = [
        elm.IcPin(name="RESET", side="left", anchorname="reset", slot="1/3"),
        elm.IcPin(name="THR, TRIG", side="left", anchorname="threshold", slot="2/3"),
        elm.IcPin(name="DIS", side="left", anchorname="discharge", slot="3/3"),
        elm.IcPin(name="V+", side="top", anchorname="plus"),
        elm.IcPin(name="GND", side="bottom", anchorname="minus"),
        elm.IcPin(name="OUT", side="right", anchorname="out"),
    ]
    timer = drawing.add(elm.Ic(pins=pins, size=(4.0, 7.0), lblsize=SMALL, leadlen=0.4))
    drawing.add(elm.Label().at((timer.center[0], timer.center[1] + 1)).label("ICM7555", fontsize=SMALL))
    drawing.add(elm.Vdd().at(timer.plus).label("5 V"))
    drawing.add(elm.Ground().at(timer.minus))
    left = timer.discharge[0] - 1.6
    drawing.add(elm.Line().at(timer.discharge).left().tox(left))
    knot = drawing.add(elm.Dot())
    drawing.add(elm.Resistor().up().length(1.8).label(TIMING[0]))
    drawing.add(elm.Vdd().label("5 V"))
    drawing.add(elm.Resistor().at(knot.center).down().toy(timer.threshold).label(TIMING[1]))
    knot = drawing.add(elm.Dot())
    drawing.add(elm.Line().right().tox(timer.threshold))
    drawing.add(elm.Line().at(knot.center).left().length(2.6))
    drawing.add(elm.Capacitor().down().length(1.6).label(TIMING[2]))
    drawing.add(elm.Ground())
    drawing.add(elm.Line().at(timer.reset).left().tox(left))
    knot = drawing.add(elm.Dot())
    drawing.add(elm.Resistor().down().length(1.8).label(HOLD, loc="bottom"))
    drawing.add(elm.Ground())
    drawing.add(elm.Line().at(knot.center).left().length(1.0).label("switch;\n5 V without it", loc="left"))
    drawing.add(elm.Resistor().at(timer.out).right().length(3.0).label(DIM))
    led = drawing.add(elm.LED().down().length(2.0).label("emitter", loc="top"))
    drawing.add(elm.Ground())
    drawing.add(elm.Label().at((led.center[0] + 1.5, led.center[1])).label("38 kHz", color=_LIGHT))
    pins = [
        elm.IcPin(name="OUT", side="right", anchorname="out"),
        elm.IcPin(name="+", side="top", anchorname="plus"),
        elm.IcPin(name="−", side="bottom", anchorname="minus"),
    ]
    module = elm.Ic(pins=pins, size=(3.2, 1.6), lblsize=SMALL, leadlen=0.9)
    module = drawing.add(module.anchor("center").at((led.center[0] + 7, led.center[1])).right())
    drawing.add(elm.Ground().at(module.minus))
    drawing.add(
        elm.Label().at((module.center[0] + 1.6, module.center[1] - 1.2)).label("TSSP4038SS1XB", halign="left")
    )
    knot = drawing.add(elm.Dot().at(module.plus))
    drawing.add(elm.Line().left().length(2.6))
    drawing.add(elm.Capacitor().down().length(1.3).label(SPIKES, loc="top"))
    drawing.add(elm.Ground())
    drawing.add(elm.Resistor().at(knot.center).up().length(1.8).label(MODULE, loc="bottom"))
    drawing.add(elm.Vdd().label("3.3 V"))
    drawing.add(elm.Line().at(module.out).right().length(1.8))
    knot = drawing.add(elm.Dot())
    drawing.add(elm.Resistor().up().length(2.7).label(PULL_UP, loc="bottom"))
    drawing.add(elm.Vdd().label("3.3 V"))
    drawing.add(elm.Resistor().at(knot.center).right().length(2.0).label(GUARD, loc="bottom"))
    drawing.add(elm.Line().right().length(0.4).label("signal, high\nwhile broken", loc="right"))


def _s6986(drawing: schemdraw.Drawing) -> None:
    """Draw the receiver that flashes its own LED."""
    pins = [
        elm.IcPin(name="LED", side="left", anchorname="led"),
        elm.IcPin(name="Vcc", side="top", anchorname="plus"),
        elm.IcPin(name="GND", side="bottom", anchorname="minus"),
        elm.IcPin(name="Vo", side="right", anchorname="out"),
    ]
    chip = drawing.add(elm.Ic(pins=pins, size=(3.4, 2.4), lblsize=SMALL, leadlen=0.6))
    drawing.add(elm.Label().at((chip.center[0], chip.center[1] - 0.2)).label("S6986", fontsize=SMALL))
    drawing.add(elm.Ground().at(chip.minus))
    drawing.add(elm.Line().at(chip.plus).up().length(1.3))
    knot = drawing.add(elm.Dot())
    drawing.add(elm.Line().up().length(0.5))
    drawing.add(elm.Vdd().label("5 V"))
    drawing.add(elm.Line().at(knot.center).right().length(2.4))
    drawing.add(elm.Capacitor().down().length(1.3).label(SPIKES, loc="bottom"))
    drawing.add(elm.Ground())
    drawing.add(elm.Line().at(chip.led).left().length(1.4))
    drawing.add(elm.LED().up().length(2.0).reverse().label("TSAL6200", loc="top"))
    drawing.add(elm.Resistor().up().length(1.8).label(LIMIT, loc="top"))
    drawing.add(elm.Vdd().label("5 V"))
    drawing.add(elm.Line().at(chip.out).right().length(3.4))
    knot = drawing.add(elm.Dot())
    drawing.add(elm.Resistor().up().length(1.8).label(PULL_UP, loc="top"))
    drawing.add(elm.Vdd().label("3.3 V, on an Uno 5 V"))
    drawing.add(elm.Resistor().at(knot.center).right().length(2.0).label(GUARD, loc="top"))
    drawing.add(elm.Line().right().length(0.4).label("signal, low\nwhile broken", loc="right"))


def _second_beam(drawing: schemdraw.Drawing) -> None:
    """Draw the gutter along, from the side, on its slope."""
    fall = tan(radians(TEMPLE.slope))
    high = TEMPLE.beam_over

    def on(along: float, up: float) -> Point:
        return along, up - along * fall

    for low, top in ((-3.0, 0.0), (high + 12.0, high + 14.0)):
        drawing.add(_area([on(-22, low), on(34, low), on(34, top), on(-22, top)], _WALL))
    for along, words in ((0.0, "beam"), (TEMPLE.below, "second beam")):
        drawing.add(elm.Line().at(_at(on(along, high))).to(_at((along, 26))).linestyle(":"))
        drawing.add(elm.Dot(radius=TEMPLE.aperture / 2 * _SCALE).at(_at(on(along, high))).color(_LIGHT))
        _say(drawing, (along, 27 + along / 4), words, "left")
    _say(drawing, on(-14, -9), f"{TEMPLE.below:g} mm from one\nto the other")
    drawing.add(elm.Arrow().at(_at(on(-20, high))).to(_at(on(-6, high))))
    _say(drawing, (-20, on(-20, high)[1] + 2.5), "token", "left")


ADDITIONS: Mapping[str, Callable[[schemdraw.Drawing], None]] = {
    "capacitor": _capacitor,
    "shroud": _shroud,
    "s6986": _s6986,
    "modulated": _modulated,
    "second-beam": _second_beam,
}
"""What may be added, by its picture's name, and what draws it."""


def _at(point: Point) -> Point:
    return point[0] * _SCALE, point[1] * _SCALE


def _area(corners: list[Point], fill: str) -> elm.Element:
    area = elm.Element()
    area.segments.append(schemdraw.SegmentPoly([_at(each) for each in corners], fill=fill))
    return area.at((0, 0)).theta(0)


def _box(drawing: schemdraw.Drawing, one: Point, other: Point, fill: str) -> None:
    drawing.add(_area([one, (other[0], one[1]), other, (one[0], other[1])], fill))


def _say(drawing: schemdraw.Drawing, at: Point, words: str, halign: str = "center") -> None:
    drawing.add(elm.Label().at(_at(at)).label(words, halign=halign, fontsize=SMALL))
