"""The sensors that ambient light cannot reach: the light that they get, and the counter's limits with them.

What they need comes from their makers' sheets, the light from the LED through both bores. Nothing was measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hardware.parameters import SENSORS, Temple
from hardware.physics import report
from hardware.physics.drops import singles
from hardware.physics.optics import Receiver

SEED = 118_000
"""Not used in choosing any dimension or limit."""
BATCH = 25
NARROW = 2.0
"""The bore of the ordinary chutes, in millimetres, for comparison."""
MIN_BREAK_MS = 2.0
"""What the counter's `min_break_ms` is set to with these: 3 ms, as for an ordinary pair, is at a bean's edge."""
ENOUGH = 2.5
"""A beam has so many times the light that its receiver needs, at least."""
LED = 8.0
"""Of a TSAL6200 at 20 mA, in milliwatts per steradian, at least: 40 at 100 mA, and light goes with the current."""


@dataclass(frozen=True)
class Modulated:
    """A receiver for modulated light.

    `needs` is what it may need, in microwatts per square millimetre: the sheet's worst, or twice what is typical.
    `share` is the emitter's current as a share of 20 mA. It answers, and stops answering, within `response_ms`.
    """

    title: str
    needs: float
    share: float
    response_ms: float
    dark_is_high: bool

    def margin(self, temple: Temple, bore: float, lens: float = 5.0) -> float:
        """Return how many times what it needs it gets through two bores of a width, in millimetres.

        The LED's lens shines over all of its face, and a bore shows a part of that; the receiver's chip is smaller
        than any bore.
        """
        across = temple.shaft + 2 * temple.chute_wall
        return 1000 * LED * self.share / across**2 * (min(bore, lens) / lens) ** 2 / self.needs

    def receivers(self, temple: Temple, bore: float) -> tuple[Receiver, Receiver]:
        """Return it at its worst and at its easiest: how much light must be gone, and how long that takes."""
        worst = self.margin(temple, bore) * 2
        return Receiver(1 - 1 / worst, True, response_ms=self.response_ms), Receiver(0.5, True, response_ms=0.0)


KINDS = {
    "s6986": Modulated("Hamamatsu S6986", needs=1.4, share=1.0, response_ms=0.6, dark_is_high=False),
    "tssp4038": Modulated("Vishay TSSP4038SS1XB", needs=0.014, share=0.02, response_ms=0.5, dark_is_high=True),
}
"""By the names of their holders. The S6986 needs 0.7 typically; the TSSP4038SS1XB is 20 times less sensitive than the
TSSP4038, which needs 0.7 milliwatts a square metre at worst. Behind 1 k and a trimmer its LED has 2 % of 20 mA."""


def fitted(temple: Temple) -> Temple:
    """Return the temple with chutes for these sensors."""
    return replace(temple, sensor=SENSORS["modulated"])


def rows(temple: Temple, number: int) -> Iterator[str]:
    """Yield tables: each sensor's light through either bore, and the limits' windows by `number` of each kind."""
    temple = fitted(temple)
    bore = temple.bore(temple.sensor)
    yield f"| sensor | light over what it needs, bore {NARROW:g} mm | bore {bore:g} mm | a broken beam reads |"
    yield "|---|---:|---:|---|"
    for each in KINDS.values():
        margins = (each.margin(temple, NARROW), each.margin(temple, bore))
        yield f"| {each.title} | {margins[0]:.1f} | {margins[1]:.1f} | {'high' if each.dark_is_high else 'low'} |"
    alone = drops(temple, number)
    yield ""
    yield "| sensor | limit | may be | seen of all |"
    yield "|---|---|---:|---:|"
    for each in KINDS.values():
        worst, _ = each.receivers(temple, bore)
        seen = report.viewed(temple, alone, worst)
        spells = sum(len(batch.spells) for batches in seen.values() for batch in batches)
        fell = sum(batch.dropped for batches in alone.values() for batch in batches)
        for name, window in windows(temple, alone, each).items():
            yield f"| {each.title} | `{name}` | {window} | {spells} of {fell} |"


def drops(temple: Temple, number: int) -> report.Alone:
    """Drop so many of each kind one by one."""
    return {
        kind: [
            singles(temple, kind, SEED + n, min(BATCH, number - n * BATCH)) for n in range(-(-number // BATCH))
        ]
        for kind in temple.tokens
    }  # fmt: skip


def windows(temple: Temple, alone: report.Alone, kind: Modulated) -> dict[str, report.Window]:
    """Return where the counter's limits may lie with a sensor, by the names that settings give them."""
    worst, easy = kind.receivers(temple, temple.bore(temple.sensor))
    return report.windows(temple, alone, worst, easy)
