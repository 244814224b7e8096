"""Draws the harness with WireViz: every plug and wire, its colour, and its pin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wireviz.wireviz import parse

from hardware.wiring.joins import GODS, HALVES, NAMES, STRIP, Wire, Wiring

GAUGE = "0.25 mm2"
NOTES = {
    "pi": "Seen from above, the header at the upper edge: pin 1 at the left in the lower row, pin 2 above it.",
    "pico": "Seen from above, with the USB plug at the top.",
    "uno": "Seen from above, with the USB plug at the left.",
}


def draw(wiring: Wiring, folder: Path) -> Path:
    """Write a wiring's harness as SVG, and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"harness-{wiring.board.name}.svg"
    harness = parse(described(wiring), return_types="harness")
    # WireViz reads its own file back by the locale, which knows no Ω everywhere: graphviz is asked for the text.
    path.write_text(harness.graph.pipe(format="svg", encoding="utf-8"), encoding="utf-8")
    return path


def described(wiring: Wiring) -> dict[str, Any]:
    """Return the harness as WireViz reads it."""
    board = wiring.board
    cables = [("To the board", wiring.to_strip)]
    cables += [(f"{NAMES[god]}, {part}", wiring.to(god, part)) for god in GODS for part in HALVES]
    connectors: dict[str, Any] = {
        board.title: _plug([wire.start[1] for wire in wiring.to_strip], "header", notes=NOTES[board.name]),
        STRIP: _plug(_once(wire.end[1] for wire in wiring.to_strip) + _more(wiring), "strip of perforated board"),
    }
    for _, wires in cables[1:]:
        connectors[wires[0].end[0]] = _plug([wire.end[1] for wire in wires], "plug")
    return {
        "connectors": connectors,
        "cables": {
            label: {"wirecount": len(wires), "colors": [wire.colour for wire in wires], "gauge": GAUGE}
            for label, wires in cables
        },
        "connections": [_joined(label, wires) for label, wires in cables],
    }


def _plug(labels: list[str], kind: str, **more: str) -> dict[str, Any]:
    return {"type": kind, "pinlabels": labels, "show_pincount": False, **more}


def _once(labels: Any) -> list[str]:
    return list(dict.fromkeys(labels))


def _more(wiring: Wiring) -> list[str]:
    """Return the strip's terminals to which nothing comes from the board."""
    from_board = {wire.end[1] for wire in wiring.to_strip}
    return _once(wire.start[1] for wire in wiring.wires if wire.start[0] == STRIP and wire.start[1] not in from_board)


def _joined(label: str, wires: tuple[Wire, ...]) -> list[dict[str, Any]]:
    return [
        {wires[0].start[0]: [wire.start[1] for wire in wires]},
        {label: list(range(1, len(wires) + 1))},
        {wires[0].end[0]: [wire.end[1] for wire in wires]},
    ]
