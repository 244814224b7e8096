"""What to print: each part with its drawing, number, colour and position in the temple."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import cos, radians, sin

from build123d import Location

from hardware.parameters import MODULES, SIDES, Temple
from hardware.parts import (
    base,
    bowl,
    causeway,
    chute,
    coupon,
    holder,
    lake,
    plaza,
    plinth,
    rack,
    roof,
    shell,
    shrines,
    trays,
    tzompantli,
)
from hardware.shapes import Part

HUITZILOPOCHTLI, TLALOC = "huitzilopochtli", "tlaloc"

PAPER, WAR, RAIN = "#E7D2A4", "#A8202F", "#2F7F9E"
WATER_WAR, WATER_RAIN = "#D9655B", "#7FBFCF"
SOOT, OCHRE, BLACK, WHITE = "#4A3B33", "#D99B2B", "#45454B", "#F4EFE4"
COLOURS = {
    PAPER: "sand",
    WAR: "red",
    RAIN: "blue",
    WATER_WAR: "light red",
    WATER_RAIN: "light blue",
    SOOT: "any, dark",
    OCHRE: "ochre",
    BLACK: "matt black",
    WHITE: "white",
}


@dataclass(frozen=True)
class Piece:
    """A part to print. `places` says where each copy stands in the temple; one choice of `instead` is printed."""

    name: str
    draw: Callable[[Temple], Part]
    colour: str
    places: tuple[Location, ...]
    number: int = 1
    instead: str | None = None
    """What several pieces are choices for, such as the tray of one's own controller."""
    chosen: bool = True
    """Whether it is the choice that is counted and drawn in the assembly."""
    apart: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """How far it is moved away where the assembly is drawn exploded."""
    changes: tuple[tuple[float, str], ...] = ()
    """From which heights on it is printed in which other colours, where the filament is changed: lowest first."""

    @property
    def optional(self) -> bool:
        """Whether the temple works without it, and it takes no other part's place."""
        return not self.chosen and self.instead is None


def _around(temple: Temple) -> tuple[Location, ...]:
    inner = temple.board.across / 2 + 0.8
    turns = [9 + 18 * n for n in range(temple.racks)]
    return tuple(Location((inner * cos(radians(t)), inner * sin(radians(t)), 0), (0, 0, t)) for t in turns)


def _cornices(temple: Temple) -> tuple[tuple[float, str], ...]:
    """Return where the shell's cornices begin and end, on the bed: each is a band of red."""
    tops = [shell.levels(temple, n)[1] - temple.plinth for n in range(len(temple.tiers))]
    return tuple(pair for top in tops for pair in ((top - shell.CORNICE, WAR), (top, PAPER)))[:-1]


def pieces(temple: Temple) -> tuple[Piece, ...]:
    """Return every piece of the kit, its choices side by side."""
    top, floor, foot = temple.top, temple.floor, temple.plinth
    x, y = temple.shaft_at
    here = (Location(),)
    found = [
        Piece("base", base.build, SOOT, here, apart=(0, 0, -32)),
        Piece("plinth", plinth.build, PAPER, (Location((0, 0, floor)),), apart=(0, 0, 40)),
        Piece("shell", shell.build, PAPER, (Location((0, 0, foot)),), apart=(0, 0, 92), changes=_cornices(temple)),
        Piece("plaza", plaza.build, PAPER, (Location((0, 0, temple.platform)),), apart=(0, 0, 138)),
    ]
    for god, colour in ((HUITZILOPOCHTLI, WAR), (TLALOC, RAIN)):
        found.append(
            Piece(
                f"shrine_{god}",
                partial(shrines.build, god=god),
                colour,
                (Location((SIDES[god] * x, y, top)),),
                apart=(0, 0, 168),
            )
        )
    for god, colour in ((HUITZILOPOCHTLI, WAR), (TLALOC, RAIN)):
        draw, at = partial(roof.build, god=god), (roof.place(temple, SIDES[god]),)
        found.append(Piece(f"roof_{god}", draw, colour, at, apart=(0, -16, 180), changes=((roof.THICK, WHITE),)))
    both = (chute.place(temple, 1), chute.place(temple, -1))
    for name, sensor in temple.sensors.items():
        chosen, draw = sensor == temple.sensor, partial(chute.build, sensor=sensor)
        found.append(Piece(f"chute_{name}", draw, BLACK, both, 2, "chute", chosen, (0, 0, 44)))
        tried = partial(coupon.build, sensor=sensor)
        found.append(Piece(f"coupon_{name}", tried, BLACK, (), 1, "coupon", chosen))
    proof = partial(chute.build, proof=True)
    found.append(Piece("chute_proof", proof, BLACK, (), 2, "chute", False))
    for name, module in MODULES.items():
        found.append(Piece(f"holder_{name}", partial(holder.build, module=module), BLACK, (), 2, "holder", False))
    lifted = (Location((0, 0, floor + trays.BOSS_HIGH)),)
    for board in temple.controllers:
        chosen, draw = board.name == temple.controller, partial(trays.build, board=board)
        found.append(Piece(f"tray_{board.name}", draw, SOOT, lifted, 1, "tray", chosen, (0, 0, -8)))
    for god, colour in ((HUITZILOPOCHTLI, WATER_WAR), (TLALOC, WATER_RAIN)):
        for name, front in (("front", True), ("back", False)):
            draw = partial(lake.build, god=god, front=front)
            apart = (SIDES[god] * 62.0, 24.0 if front else -24.0, -32.0)
            found.append(Piece(f"lake_{god}_{name}", draw, colour, here, apart=apart))
    for name, front in (("front", True), ("back", False)):
        begin, _ = causeway.length(temple, front)
        place = Location((0, begin if front else -begin, lake.road_high(temple) + temple.clearance - causeway.DEEP))
        place *= Location((0, 0, 0), (0, 0, 0 if front else 180))
        found.append(
            Piece(
                f"causeway_{name}",
                partial(causeway.build, front=front),
                PAPER,
                (place,),
                apart=(0, 30 if front else -30, 0),
            )
        )
    found.append(Piece("rack", rack.build, OCHRE, _around(temple), temple.racks, chosen=False))
    found.append(Piece("tzompantli", tzompantli.build, OCHRE, (), chosen=False))
    for name, build, high in (("bowl", bowl.build, top + temple.shrine_wall), ("bowl_stand", bowl.stand, top)):
        over = tuple(Location((side * x, y, high), (0, 0, 90 - side * 90)) for side in SIDES.values())
        found.append(Piece(name, build, PAPER, over, 2, chosen=False))
    return tuple(found)
