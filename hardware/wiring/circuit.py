"""Draws the circuit with schemdraw: the strip, and the inside of each half of a beam."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import schemdraw
import schemdraw.elements as elm

from hardware.wiring.joins import BASE, DIPS, GODS, GUARD, HOLD, NAMES, PULL_UP, SPIKES, Wiring

SIZE, SMALL = 12, 10
_LANE = 4.4
"""From one beam's signal down to the next."""
_OUTPUT = "{}'s receiver:\nan open collector, low\nwhile the beam is broken"


def draw(wiring: Wiring, folder: Path) -> Path:
    """Write a wiring's circuit as SVG, and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"circuit-{wiring.board.name}.svg"
    with canvas(path) as drawing:
        board = drawing.add(_board(wiring))
        for god in GODS:
            _receiver(drawing, wiring, god, board.absanchors[god])
        _emitters(drawing, wiring, board)
    return path


@contextmanager
def canvas(path: Path) -> Iterator[schemdraw.Drawing]:
    """Give a drawing, and write it as SVG when it is done."""
    schemdraw.use("svg")
    with schemdraw.Drawing(show=False) as drawing:
        drawing.config(fontsize=SIZE, lw=1.6, unit=2, font="sans-serif", bgcolor="white", margin=0.4)
        yield drawing
    drawing.save(str(path))


def _board(wiring: Wiring) -> elm.Ic:
    """Return the board as a box: signals on its right, the switch below them."""
    pins = dict(wiring.signals)
    if wiring.switch is not None:
        pins["switch"] = wiring.switch
    signals = [
        elm.IcPin(name=wiring.board.numbers[pin], side="right", anchorname=name, slot=f"{len(pins) - n}/{len(pins)}")
        for n, (name, pin) in enumerate(pins.items())
    ]
    return elm.Ic(pins=signals, size=(4.2, len(pins) * _LANE), lblsize=SIZE).label(wiring.board.title, loc="top")


def _receiver(drawing: schemdraw.Drawing, wiring: Wiring, god: str, at: tuple[float, float]) -> None:
    """Draw one receiver, whose output is an open collector, and the pull-up on the strip."""
    feed = wiring.receivers
    drawing.add(elm.Line().at(at).right().length(3.2).label(f"signal, {NAMES[god]}", loc="top"))
    drawing.add(elm.Resistor().right().length(2.0).label(GUARD, loc="top"))
    knot = drawing.add(elm.Dot())
    drawing.add(elm.Resistor().at(knot.center).up().length(1.7).label(PULL_UP, loc="bottom"))
    drawing.add(elm.Vdd().label(feed))
    drawing.add(elm.Line().at(knot.center).right().length(2.4))
    box = drawing.add(receiver_box())
    drawing.add(elm.Vdd().at(box.plus).label(feed))
    drawing.add(elm.Ground().at(box.minus))
    drawing.add(elm.Line().at(box.plus).right().length(2.6))
    drawing.add(elm.Capacitor().down().length(1.4).label(SPIKES, loc="bottom", fontsize=SMALL))
    drawing.add(elm.Ground())
    drawing.add(
        elm.Label()
        .at((box.center[0] - 1.4, box.center[1] - 2.1))
        .label(_OUTPUT.format(NAMES[god]), halign="left", fontsize=SMALL)
    )


def receiver_box() -> elm.Ic:
    """Return a receiver, to be added where its signal ends."""
    pins = [
        elm.IcPin(name="signal", side="left", anchorname="signal"),
        elm.IcPin(name="+", side="top", anchorname="plus"),
        elm.IcPin(name="−", side="bottom", anchorname="minus"),
    ]
    return elm.Ic(pins=pins, size=(3.0, 1.4), lblsize=SMALL, leadlen=0.35).anchor("signal").right()


def _emitters(drawing: schemdraw.Drawing, wiring: Wiring, board: elm.Ic) -> None:
    """Draw both emitters from 5 V to ground, or to the transistor that switches them."""
    right = board.absanchors[GODS[0]][0] + 17
    top = board.absanchors[GODS[0]][1] + 1.7
    foot = board.absanchors[GODS[1]][1] - 1.6
    for n, god in enumerate(GODS):
        x = right + n * 4.4
        drawing.add(elm.Vdd().at((x, top)).label("5 V"))
        for part, words in ((elm.Resistor, "in the\nemitter"), (elm.LED, f"{NAMES[god]}'s\nemitter")):
            drawing.add(part().down().length(1.8).label(words, loc="bottom", fontsize=SMALL))
        drawing.add(elm.Line().down().toy(foot))
    drawing.add(elm.Vdd().at((right + 8, top)).label("5 V"))
    drawing.add(elm.Capacitor(polar=True).down().length(1.8).label(DIPS, loc="bottom", fontsize=SMALL))
    drawing.add(elm.Ground())
    drawing.add(elm.Line().at((right, foot)).right().tox(right + 4.4))
    drawing.add(elm.Dot().at((right, foot)))
    if wiring.switch is None:
        drawing.add(elm.Line().at((right, foot)).down().length(0.8))
        drawing.add(elm.Ground())
        return
    start = board.absanchors["switch"]
    transistor = elm.BjtNpn(circle=True).right().anchor("collector").label("BC547", loc="right")
    transistor = drawing.add(transistor.at((right, start[1] + transistor.anchors["collector"][1])))
    drawing.add(elm.Line().at((right, foot)).down().toy(transistor.collector))
    drawing.add(elm.Line().at(transistor.emitter).down().length(0.5))
    drawing.add(elm.Ground())
    drawing.add(elm.Resistor().at(transistor.base).left().length(2.2).label(BASE))
    hold = drawing.add(elm.Dot())
    drawing.add(elm.Resistor().at(hold.center).down().length(1.7).label(HOLD, loc="bottom"))
    drawing.add(elm.Ground())
    drawing.add(elm.Line().at(hold.center).left().tox(start).label("switch", loc="top"))
