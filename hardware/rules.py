"""Rules that the dimensions must satisfy before anything is drawn, each with what is wrong and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import pairwise
from math import atan, cos, degrees, hypot, inf, isfinite, radians, sqrt

from hardware.parameters import Bed, Board, Bowl, Sensor, Temple

UNDER, SEAT_WALL, PLAY = 2.4, 1.6, 0.3
"""A chute's floor, the wall of a sensor's seat and the play in it, as `parts/chute.py` has them; a test compares."""

CREST, BETWEEN = 2.6, 0.4
"""From a shrine's outside to the inside of its crest, and between two bowls: likewise."""

LANDING, FOOT = 7.0, 1.5
"""From the last tier to the head of the stairs, and from their lowest step to their foot: likewise."""
TREAD = 0.8
"""How deep a step must be: two lines of a 0.4 mm nozzle."""

SPACES = 20
"""Of the board; each has room for one rack."""

DENSEST = 0.74
"""How much of the densest packing of equal balls is ball."""

TIERS = 4
"""How many tiers the shell is drawn with: its doors, serpents and air slots have their places in them."""


@dataclass(frozen=True)
class Broken:
    """A rule that the sizes break, and how much is missing in its unit: too much is negative, no number infinite."""

    rule: str
    missing: float
    words: str

    def __str__(self) -> str:
        if not isfinite(self.missing):
            return f"{self.rule}: {self.words}"
        return f"{self.rule}: {self.words} ({abs(self.missing):.2f} too {'little' if self.missing > 0 else 'much'})"


class BrokenRulesError(Exception):
    """Raised for sizes that break a rule."""


def broken(temple: Temple) -> tuple[Broken, ...]:
    """Return every rule that the sizes break, none for a temple that can be made."""
    return tuple(Broken(rule, missing, words) for rule, missing, words in _rules(temple) if abs(missing) > 1e-9)


def require(temple: Temple) -> Temple:
    """Return the temple itself, or raise `BrokenRulesError` with every rule it breaks."""
    if found := broken(temple):
        raise BrokenRulesError("; ".join(map(str, found)))
    return temple


def _least(value: float, least: float) -> float:
    return max(0.0, least - value)


def _most(value: float, most: float) -> float:
    return min(0.0, most - value)


def _rules(t: Temple) -> Iterator[tuple[str, float, str]]:
    found = [*_number_rules(t)]
    yield from found or _size_rules(t)


def _size_rules(t: Temple) -> Iterator[tuple[str, float, str]]:
    yield from _token_rules(t)
    yield from _gutter_rules(t)
    yield from _beam_rules(t)
    yield from _shaft_rules(t)
    yield from _lake_rules(t)
    yield from _shell_rules(t)
    yield from _bowl_rules(t)


def _number_rules(t: Temple) -> Iterator[tuple[str, float, str]]:
    """Yield what the other rules cannot compute with: sizes that are no lengths, and another number of tiers."""
    values: dict[str, Temple | Bed | Board | Bowl | Sensor] = {
        "": t, "bed.": t.bed, "board.": t.board, "bowl.": t.bowl
    }  # fmt: skip
    for prefix, value in (values | {f"sensor {name}: ": sensor for name, sensor in t.sensors.items()}).items():
        for each in fields(value):
            size = getattr(value, each.name)
            least = 0 if each.default == 0 else 1e-9
            if isinstance(size, float | int) and not least <= size < inf:
                yield (
                    f"{prefix}{each.name}",
                    inf,
                    f"it is {size:g}, expected a number {'from' if not least else 'above'} 0",
                )
    for name in ("slot", "cable"):
        if not all(0 < size < inf for size in getattr(t, name)):
            yield name, inf, f"it is {getattr(t, name)}, expected two numbers above 0"
    for name in ("shaft_at", "exit_at"):
        if not all(map(isfinite, getattr(t, name))):
            yield name, inf, f"it is {getattr(t, name)}, expected two numbers"
    if len(t.tiers) != TIERS:
        yield "tiers", inf, f"there are {len(t.tiers)}, and the shell is drawn with {TIERS}"


def _token_rules(t: Temple) -> Iterator[tuple[str, float, str]]:
    gap = 0.6
    yield (
        "throat lets one through",
        _least(t.throat, t.largest + gap),
        (f"the throat is {t.throat:g} mm wide, and a token of {t.largest:g} mm needs {gap:g} mm more than itself"),
    )
    yield (
        "throat lets only one through",
        _most(t.throat, 2 * t.smallest - 0.1),
        (f"through a throat of {t.throat:g} mm two tokens of {t.smallest:g} mm pass side by side"),
    )
    yield (
        "shaft passes what the throat passes",
        _least(t.shaft, t.throat + 1),
        (f"the shaft is {t.shaft:g} mm wide below a throat of {t.throat:g} mm, and should be 1 mm wider"),
    )
    yield (
        "roof clears the largest token",
        _least(t.roof, t.largest + 1.5),
        (f"the roof is {t.roof:g} mm over the floor, and a token of {t.largest:g} mm needs 1.5 mm of air"),
    )
    yield (
        "roof is low",
        _most(t.roof, t.largest + 3),
        (f"under a roof of {t.roof:g} mm tokens of {t.largest:g} mm and less hop over the beam"),
    )
    yield (
        "slot is wider than the throat",
        _least(min(t.slot), t.throat),
        f"a slot of {min(t.slot):g} mm leads into a throat of {t.throat:g} mm",
    )
    yield (
        "shrine has walls around its slot",
        _least(min(t.shrine_x - t.slot[0], t.shrine_y - t.slot[1]), 2 * t.bed.thinnest),
        f"a shrine of {t.shrine_x:g} by {t.shrine_y:g} mm has a slot of {t.slot[0]:g} by {t.slot[1]:g} mm",
    )
    yield (
        "shrines side by side",
        _most(t.shrine_x, 2 * t.shaft_at[0]),
        f"two shrines of {t.shrine_x:g} mm stand {2 * t.shaft_at[0]:g} mm from each other, by their middles",
    )
    yield (
        "shrine is high enough for its funnel",
        _least(t.funnel, t.slot[0] - t.throat),
        f"the funnel is {t.funnel:g} mm high and narrows by {t.slot[0] - t.throat:g} mm",
    )
    for token in t.tokens:
        yield (
            f"{token.name} is no smaller than the smallest",
            _least(token.longest, t.smallest),
            f"{token.name} is {token.longest:g} mm long, the smallest token {t.smallest:g} mm",
        )
        yield (
            f"{token.name} is no larger than the largest",
            _most(token.longest, t.largest),
            (f"{token.name} is {token.longest:g} mm long, the largest token {t.largest:g} mm"),
        )
        yield (
            f"{token.name} reaches the beam",
            _least(token.thinnest, t.beam_over + 1),
            (f"{token.name} is {token.thinnest:g} mm thick, and the beam is {t.beam_over:g} mm above the floor"),
        )


def _gutter_rules(t: Temple) -> Iterator[tuple[str, float, str]]:
    yield "slope", _least(t.slope, 25), f"at {t.slope:g} degrees beans and skulls stick; 25 to 30 works"
    yield "slope", _most(t.slope, 30), f"at {t.slope:g} degrees beans hop over the beam; 25 to 30 works"
    yield (
        "steep under the shaft",
        _least(t.steep, 40),
        f"a token that lands on {t.steep:g} degrees loses its speed, and the next one catches it; 40 to 45 works",
    )
    yield (
        "steep under the shaft",
        _most(t.steep, 45),
        f"from {t.steep:g} degrees beans and skulls hop over the beam; 40 to 45 works",
    )
    yield (
        "bend is wide",
        _least(t.bend, 50),
        f"a bend of {t.bend:g} mm stops a token where it should press it down; 50 mm and more works",
    )
    yield (
        "beam behind the bend",
        _least(t.beam_at - t.bend_ends, 6),
        f"the bend ends {t.beam_at - t.bend_ends:.1f} mm before the beam; 6 to 14 works",
    )
    yield (
        "beam behind the bend",
        _most(t.beam_at - t.bend_ends, 14),
        f"the bend ends {t.beam_at - t.bend_ends:.1f} mm before the beam; from 14 mm on beans hop again",
    )
    corner = t.above(t.roof + t.chute_wall, t.run, t.shaft / 2 + t.chute_wall)[-1][1]
    yield (
        "roof begins under the lid",
        _most(corner, t.platform - 0.1),
        f"the gutter's roof meets the shaft {corner:.1f} mm over the table, the lid lies at {t.platform:g}",
    )


def _beam_rules(t: Temple) -> Iterator[tuple[str, float, str]]:
    yield (
        "beam after the shaft",
        _least(t.beam_after, 45),
        (f"{t.beam_after:g} mm after the shaft tokens still hop; 45 to 55 works"),
    )
    yield (
        "beam after the shaft",
        _most(t.beam_after, 55),
        f"the beam is {t.beam_after:g} mm after the shaft; 45 to 55 works",
    )
    yield (
        "beam over the floor",
        _least(t.beam_over, 4),
        f"the beam is {t.beam_over:g} mm over the floor; 4 to 6 works",
    )
    yield "beam over the floor", _most(t.beam_over, 6), f"the beam is {t.beam_over:g} mm over the floor; 4 to 6 works"
    yield "aperture", _least(t.aperture, 1.5), f"a hole of {t.aperture:g} mm closes as it prints; 1.5 to 2.4 mm works"
    for name, sensor in t.sensors.items():
        yield (
            f"aperture before the lens of {name}",
            _most(t.bore(sensor) + 2 * PLAY, sensor.lens),
            f"a hole of {t.bore(sensor):g} mm is not covered by a lens of {sensor.lens:g} mm with {PLAY:g} mm play",
        )
        after = t.beam_at + (sensor.lens_from_end + PLAY + SEAT_WALL) * cos(radians(t.slope))
        yield (
            f"sensor of {name} before the tongue",
            _least(t.run - 4, after),
            (f"its seat ends {after:.1f} mm after the shaft's middle, the roof {t.run - 4:.1f}"),
        )
        under = UNDER + t.beam_over - sensor.height / 2 - 0.2
        yield (
            f"sensor of {name} above the bed",
            _least(under, t.bed.thinnest),
            (f"a block {sensor.height:g} mm high leaves {under:.2f} mm under it at this beam"),
        )


def _shaft_rules(t: Temple) -> Iterator[tuple[str, float, str]]:
    fall = t.platform - t.gutter(0)
    yield "shaft is long enough to guide", _least(fall, 12), f"the shaft is {fall:.1f} mm high above the gutter"
    between = 2 * (t.shaft_at[0] - t.shaft / 2 - t.chute_wall)
    yield "shafts side by side", _least(between, 2), f"{between:.1f} mm between the two shafts"


def _lake_rules(t: Temple) -> Iterator[tuple[str, float, str]]:
    yield (
        "packing",
        _most(t.packing, DENSEST),
        f"no heap of balls is token to more than {DENSEST:g}; 0.5 to 0.6 is loose",
    )
    yield "rim over the sill", _least(t.rim, t.sill), f"the rim is {t.rim:g} mm high, the sill {t.sill:g}"
    yield "racks", _most(t.racks, SPACES), f"there are {t.racks} racks for the board's {SPACES} spaces"
    road = t.causeway - 2 * t.clearance
    yield "causeway", _least(road, t.bed.thinnest), f"a road of {road:g} mm is left between the two lakes"
    yield (
        "board",
        _most(t.board.across, 406),
        f"a ring of {t.board.across:g} mm does not print in quarters on A4 or Letter",
    )
    yield (
        "shore covers the board's edge",
        _least(t.shore, t.board.inner + 2),
        (f"the shore reaches {t.shore:g} mm, the board's hole {t.board.inner:.1f}"),
    )
    for token in t.tokens:
        if token.longest == token.thinnest:
            held = t.holds(token)
            yield (
                f"lake holds {token.name}",
                float(_least(held, t.lake_tokens)),
                (f"the lake holds {held} of {token.name}, and {t.lake_tokens} are needed"),
            )
    under = t.gutter(t.run) - UNDER / cos(radians(t.slope)) - t.fill
    yield "tongue over the water", _least(under, 0.2), f"the tongue's underside is {under:.2f} mm over a full lake"
    corner = hypot(t.tiers[0].half, max(t.tiers[0].front, -t.tiers[0].back)) + t.largest + 2 * t.lake_wall
    yield (
        "passage at the temple's corner",
        _most(corner, t.shore),
        (f"a token passes the temple's corner only inside {corner:.1f} mm, the shore is at {t.shore:g}"),
    )
    yield from _quarter_rules(t)


def _quarter_rules(t: Temple) -> Iterator[tuple[str, float, str]]:
    """Yield what a quarter of the lake needs: a bed, whichever way it lies on it, and room for its shore."""
    wide, long = t.shore - t.causeway / 2, t.shore + 8
    missing = min(max(_least(x - 4, wide), _least(y - 4, long)) for x, y in ((t.bed.x, t.bed.y), (t.bed.y, t.bed.x)))
    yield (
        "lake fits the bed",
        missing,
        f"a quarter of the lake is {wide:g} by {long:g} mm, the bed {t.bed.x:g} by {t.bed.y:g}",
    )
    first = t.tiers[0]
    long, across = 2 * t.spigot, max(2 * first.half, t.stair_foot - first.back)
    # Turned by 45 degrees the road lies along the bed's diagonal.
    turned = max(long + t.causeway, 2 * across) / sqrt(2)
    straight = max(_least(max(t.bed.x, t.bed.y) - 4, long), _least(min(t.bed.x, t.bed.y) - 4, across))
    yield (
        "base fits the bed",
        min(straight, _least(min(t.bed.x, t.bed.y) - 4, turned)),
        f"the base is {long:.0f} by {across:.0f} mm, or {turned:.0f} turned by 45 degrees",
    )
    leans = t.board.top + 0.2 + t.shore - t.spigot
    yield (
        "clear strip stands on an upright shore",
        _least(t.clear, leans + 10) if t.clear else 0.0,
        f"the shore leans out to {leans:.1f} mm over the table and is printed to {t.clear:g}; its groove needs 10 mm",
    )
    yield (
        "clear strip ends at the rim",
        _most(t.clear, t.rim - 10),
        f"the shore is printed to {t.clear:g} mm, its rim is at {t.rim:g}, and a strip is 10 mm high at least",
    )
    yield (
        "shore stands upright under its rim",
        _least(t.rim, leans + 10),
        f"it leans out to {leans:.1f} mm over the table, its rim is at {t.rim:g}; 10 mm more are for its signs",
    )


def _shell_rules(t: Temple) -> Iterator[tuple[str, float, str]]:
    for n, (lower, upper) in enumerate(pairwise(t.tiers), start=2):
        inwards = min(lower.half - upper.half, lower.front - upper.front, upper.back - lower.back)
        yield f"tier {n} stands on the one below", _least(inwards, 0), f"it reaches {-inwards:g} mm over it"
        step = max(lower.half - upper.half, lower.front - upper.front, upper.back - lower.back)
        yield (
            "tier's inside slope",
            _least(t.rise - t.wall, step),
            (f"a step of {step:g} mm cannot be closed at 45 degrees within {t.rise - t.wall:g} mm"),
        )
    for name, wall in (
        ("wall", t.wall),
        ("plinth's wall", t.plinth_wall),
        ("base's floor", t.floor),
        ("lid", t.lid),
        ("tray", t.tray),
        ("chute's wall", t.chute_wall),
        ("lake's wall", t.lake_wall),
        ("lake's floor", t.lake_floor),
    ):
        yield (
            f"{name} is thick enough",
            _least(wall, t.bed.thinnest),
            f"{name} is {wall:g} mm, the printer's least {t.bed.thinnest:g}",
        )
    yield (
        "relief prints",
        _most(t.relief, t.bed.ledge),
        f"relief stands out {t.relief:g} mm, a ledge prints up to {t.bed.ledge:g}",
    )
    size = max(2 * t.tiers[0].half, t.stair_foot - t.tiers[0].back)
    yield "shell fits the bed", _most(size, min(t.bed.x, t.bed.y) - 4), f"the shell is {size:g} mm wide"
    for name, high in (("shell", t.platform - t.floor), ("lake", t.rim)):
        yield (
            f"{name} is no higher than the printer",
            _most(high, t.bed.z),
            f"it is {high:g} mm high, the room {t.bed.z:g}",
        )
    first, last = t.tiers[0], t.tiers[-1]
    yield (
        "stairs stand before the temple",
        _least(t.stair_foot, first.front),
        f"their foot is at {t.stair_foot:g} mm, the temple's front at {first.front:g}",
    )
    yield (
        "stairs are no wider than the last tier",
        _most(t.stair_half, last.half),
        f"they reach {t.stair_half:g} mm to each side, the last tier {last.half:g}",
    )
    inside = 2 * (t.tiers[0].half - t.wall)
    for board in t.controllers:
        need = board.x + 2
        yield f"{board.name} fits", _least(inside, need), f"{board.name} needs {need:g} mm, inside are {inside:g}"
    deep = t.stair_foot - t.tiers[-1].front - LANDING
    lean = degrees(atan(deep / (t.platform - t.plinth)))
    yield "stairs print", _most(lean, 45), f"the stairs lean {lean:.0f} degrees"
    tread = (deep - FOOT) / t.steps
    yield (
        "steps are no slope",
        _least(tread, TREAD),
        f"{t.steps} steps are {tread:.2f} mm deep each; lower ones need a foot farther out, in the lake",
    )
    door = t.exit_at[0] - t.shaft / 2 - t.chute_wall
    yield (
        "stairs end beside the doors",
        _least(door - t.stair_half, t.bed.thinnest),
        f"they reach {t.stair_half:g} mm to each side, and the doors begin at {door:g}",
    )


def _bowl_rules(t: Temple) -> Iterator[tuple[str, float, str]]:
    bowl, least = t.bowl, t.bed.thinnest
    beside = t.shaft_at[0] - BETWEEN / 2 - bowl.neck
    yield (
        "bowl ends before the other",
        _least(beside, least),
        f"{beside:.2f} mm are left for its wall between its neck and the middle of the temple",
    )
    roof = bowl.floor - t.merlon - t.clearance
    yield (
        "bowl's floor over the crest",
        _least(roof, least),
        f"a floor of {bowl.floor:g} mm leaves {roof:.2f} mm over a crest of {t.merlon:g} mm",
    )
    ring = min(t.shrine_x - t.slot[0], t.shrine_y - t.slot[1]) / 2 - CREST - t.clearance
    yield (
        "bowl lies on the shrine's wall",
        _least(ring, least),
        f"{ring:.2f} mm of the wall are left for it between slot and crest",
    )
    yield (
        "bowl's bank before its hole",
        _most(bowl.bank, bowl.neck - t.throat / 2),
        f"banks of {bowl.bank:g} mm reach into the hole of a neck of {bowl.neck:g} mm",
    )
    yield (
        "bowl's wall over its bank",
        _least(bowl.rim, bowl.bank),
        f"the wall is {bowl.rim:g} mm high, the bank {bowl.bank:g}",
    )
    yield (
        "bowl's lip prints",
        _least(bowl.lip_wide, least),
        f"it is {bowl.lip_wide:g} mm wide, the printer's least {least:g}",
    )
    yield (
        "bowl narrows to its neck",
        _least(bowl.reach, abs(bowl.basin - bowl.neck)),
        f"with its middle {bowl.reach:g} mm from the hole, the basin of {bowl.basin:g} mm encloses the neck",
    )
