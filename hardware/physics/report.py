"""What the drops mean for the counter: the windows of its limits, and the bands that `calibrate` learns.

It drops nothing and counts nothing. `measured.toml` and `docs/measurements/physics.txt` hold what it wrote last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from controller.core.counting import MS, Limits
from controller.core.learned_limits import to_dict
from hardware.parameters import Temple, Token
from hardware.physics.counting import band, measured
from hardware.physics.drops import Batch, seen
from hardware.physics.optics import BLACK, EASY, GREY, PALE, WORST, Receiver
from hardware.physics.world import build

MEASURED = Path(__file__).with_name("measured.toml")
RECORD = Path(__file__).resolve().parents[2] / "docs" / "measurements" / "physics.txt"

REASONS = {
    "min_break_ms": "what only grazes the beam is shorter; the narrowest token, over-driven, is a third longer",
    "min_clear_ms": "twice the longest light through one token's waist; less than the clear time between two tokens",
    "max_break_ms": "anything four times as wide as the widest token, barely driven, is not a token",
}
"""Why a limit's window is what `windows` says, in the words of the documents."""

VIEWS = {
    "bare lens, black": Receiver(aperture=False, plastic=BLACK, response_ms=0),
    "aperture, white": Receiver(plastic=PALE, response_ms=0),
    "aperture, grey": Receiver(plastic=GREY, response_ms=0),
    "aperture, black": Receiver(response_ms=0),
    "the same, 2 ms slow": WORST,
    "barely driven": EASY,
}
"""Receivers whose dark spells the documents show: over-driven, so dark without 98 % of the light, but the last."""

Alone = Mapping[Token, Sequence[Batch]]


@dataclass(frozen=True)
class Tally:
    """One run of single drops: what fell, what was counted, and how many complaints the scenario's end had."""

    seed: int
    dropped: int
    counted: int
    complaints: int


@dataclass(frozen=True)
class Hands:
    """Handfuls of one kind: what was let go, what came out in time, and what was counted."""

    dropped: int
    through: int
    counted: int


@dataclass(frozen=True)
class Window:
    """From where to where a limit may be, in milliseconds, for all that fell alone to be counted once."""

    least: float
    most: float | None = None

    def __str__(self) -> str:
        """Return it as text."""
        return f"{self.least:g} ms and more" if self.most is None else f"{self.least:g} to {self.most:g} ms"


def fingerprint(temple: Temple) -> str:
    """Return a word for the model that tokens fell in: its plates, its tokens and its beam."""
    world = build(temple, temple.tokens)
    return hashlib.sha256(
        f"{world}, a {temple.bore(temple.sensor)} mm aperture before {temple.sensor}".encode()
    ).hexdigest()[:16]


def gaps(batches: Sequence[Batch]) -> tuple[float, float]:
    """Return the longest clear time inside one token, 0 for none, and the shortest between two, in milliseconds.

    A token with a waist may be two spells. As many of the gaps are taken for that, the shortest, as there are spells
    too many.
    """
    clear = sorted(b.at_ms - a.at_ms - a.width_ms for batch in batches for a, b in pairwise(batch.spells))
    inside = max(0, sum(len(batch.spells) - batch.dropped for batch in batches))
    return (clear[inside - 1] if inside else 0.0), clear[inside]


def viewed(temple: Temple, alone: Alone, receiver: Receiver) -> dict[Token, list[Batch]]:
    """Return the same drops as another receiver saw them."""
    return {kind: [seen(temple, batch, receiver) for batch in batches] for kind, batches in alone.items()}


def windows(temple: Temple, alone: Alone, narrowest: Receiver = WORST, widest: Receiver = EASY) -> dict[str, Window]:
    """Return where the counter's limits may lie, by the names that settings give them, for any receiver between two.

    One has the shortest dark spells, the other the longest.
    """
    worst, easy = (
        [batch for batches in viewed(temple, alone, each).values() for batch in batches]
        for each in (narrowest, widest)
    )
    (inside, one), (also, other) = gaps(worst), gaps(easy)
    return {
        "min_break_ms": Window(1.0, round(measured(worst).low_ns * 0.75 / MS, 3)),
        "min_clear_ms": Window(round(max(1.0, 2 * inside, 2 * also), 3), round(min(one, other), 3)),
        "max_break_ms": Window(round(4 * measured(easy).high_ns / MS, 3)),
    }


def lens(temple: Temple, alone: Alone) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield, for each kind, the widths that every receiver of `VIEWS` reads, and how many it does not see."""
    for kind, batches in alone.items():
        row = {}
        for name, receiver in VIEWS.items():
            spells = [seen(temple, batch, receiver).spells for batch in batches]
            widths = [spell.width_ms for batch in spells for spell in batch]
            missing = sum(batch.dropped for batch in batches) - len(widths)
            row[name] = f"{min(widths):g} to {max(widths):g}" if widths else "never"
            if widths and missing > 0:
                row[name] += f", {missing} unseen"
        yield kind.name, row


def line(kind: Token, batches: Sequence[Batch]) -> str:
    """Return what became of one kind, for the terminal."""
    known = measured(batches)
    spells = sum(len(batch.spells) for batch in batches)
    dropped, through = sum(b.dropped for b in batches), sum(b.through for b in batches)
    return (
        f"{kind.name:<9} {dropped} dropped, {through} came out, {spells} dark spells of "
        f"{known.low_ns / MS:g} to {known.high_ns / MS:g} ms, {gaps(batches)[1]:.1f} ms apart and more"
    )


def write(temple: Temple, command: str, tallies: Sequence[Tally], alone: Alone, hands: Mapping[Token, Hands]) -> None:
    """Write `measured.toml`, and the tables among the documents."""
    MEASURED.write_text("\n".join(_toml(temple, command, tallies, alone, hands)), "utf-8")
    RECORD.write_text("\n".join([f'make physics ARGS="{command}"', "", *table(temple, alone), ""]), "utf-8")


def table(temple: Temple, alone: Alone) -> Iterator[str]:
    """Return the rows of the documents' table: widths, and the band that `calibrate` learns from each kind."""
    yield "| token | dark, ms | band that `calibrate` learns, ms | clear between two, ms |"
    yield "|---|---:|---:|---:|"
    rows: list[tuple[str, Sequence[Batch]]] = [(kind.name, batches) for kind, batches in alone.items()]
    rows.append(("all four", [batch for batches in alone.values() for batch in batches]))
    for name, batches in rows:
        known, limits = measured(batches), to_dict(band(batches))
        yield (
            f"| {name} | {known.low_ns / MS:g} to {known.high_ns / MS:g} "
            f"| {limits['narrow_ms']:g} to {limits['band_ms']:g} | {gaps(batches)[1]:.1f} and more |"
        )
    yield from ("", f"| dark, ms | {' | '.join(VIEWS)} |", "|---|" + "---:|" * len(VIEWS))
    for name, row in lens(temple, alone):
        yield f"| {name} | {' | '.join(row.values())} |"
    yield from ("", "| limit | starts at | may be | because |", "|---|---:|---:|---|")
    first = to_dict(Limits())
    for name, window in windows(temple, alone).items():
        yield f"| `{name}` | {first[name]:g} | {window} | {REASONS[name]} |"


def _toml(
    temple: Temple, command: str, tallies: Sequence[Tally], alone: Alone, hands: Mapping[Token, Hands]
) -> Iterator[str]:
    yield "# What tokens did on paper in the default temple's chute; no print and no sensor has been measured yet."
    yield f'# Made by: make physics ARGS="{command}"'
    yield f'model = "{fingerprint(temple)}"'
    for tally in tallies:
        yield from (
            "",
            "[[runs]]",
            f"seed = {tally.seed}",
            f"dropped = {tally.dropped}",
            f"counted = {tally.counted}",
        )
    for kind, batches in alone.items():
        known, limits = measured(batches), to_dict(band(batches))
        inside, between = gaps(batches)
        hand = hands[kind]
        yield from (
            "",
            f'[kinds."{kind.name}"]',
            f"dropped = {sum(batch.dropped for batch in batches)}",
            f"spells = {sum(len(batch.spells) for batch in batches)}",
            f"low_ms = {known.low_ns / MS:g}",
            f"high_ms = {known.high_ns / MS:g}",
            f"inside_ms = {inside:.1f} # the longest clear time inside one token",
            f"clear_ms = {between:.1f} # the shortest between two tokens",
            f"narrow_ms = {limits['narrow_ms']:g}",
            f"band_ms = {limits['band_ms']:g}",
            f"handfuls = {{ dropped = {hand.dropped}, came_out = {hand.through}, counted = {hand.counted} }}",
        )
    yield from ("", "[limits] # what calibrate proposes for all four kinds together")
    for name, value in to_dict(band([batch for batches in alone.values() for batch in batches])).items():
        yield f"{name} = {value:g}"
    for name, window in windows(temple, alone).items():
        yield from ("", f"[windows.{name}] # where this limit may lie", f"least = {window.least:g}")
        if window.most is not None:
            yield f"most = {window.most:g}"
    yield ""
