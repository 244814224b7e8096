"""Draws the two pictures of docs/architecture.md: `python -m tools.draw_architecture`."""

import argparse
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"

RED, BLUE, INK, GREY, PAPER = "#b3262b", "#2a7f9e", "#2b211a", "#6b5f55", "#f6efe2"


def svg(width: int, height: int, title: str, shapes: list[str]) -> str:
    """Return a whole drawing on its own background, legible in a light and in a dark page."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="Verdana, DejaVu Sans, sans-serif" font-size="14">\n'
        f"<title>{escape(title)}</title>\n"
        f'<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        f'orient="auto-start-reverse"><path d="M0 0 10 5 0 10z" fill="{INK}"/></marker></defs>\n'
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>\n'
    )
    return head + "\n".join(shapes) + "\n</svg>\n"


def text(x: float, y: float, words: str, anchor: str = "middle", color: str = INK, bold: bool = False) -> str:
    """Return one line of text at its baseline."""
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{color}"{weight}>{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, lines: list[str], color: str = INK) -> list[str]:
    """Return a box with a bold first line and plain lines under it."""
    shapes = [
        (
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" fill="#fffaf0" '
            f'stroke="{color}" stroke-width="2"/>'
        )
    ]
    top = y + height / 2 - (len(lines) - 1) * 9 + 5
    for number, line in enumerate(lines):
        shapes.append(text(x + width / 2, top + number * 18, line, color=GREY if number else color, bold=not number))
    return shapes


def arrow(x1: float, y1: float, x2: float, y2: float, dashed: bool = False) -> str:
    """Return an arrow from the first point to the second."""
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{INK}" stroke-width="1.6"{dash} '
        'marker-end="url(#head)"/>'
    )


def system() -> str:
    """Draw what runs where, and what passes between."""
    shapes = [
        *box(20, 40, 190, 64, ["two beams", "break-beam pairs, GPIO"], RED),
        *box(20, 134, 190, 64, ["Arduino Uno", "counts by itself, USB"], GREY),
        *box(20, 288, 190, 64, ["Pico W", "a temple by itself, MQTT"], GREY),
        *box(270, 84, 190, 70, ["controller", "Raspberry Pi"], RED),
        *box(240, 184, 140, 44, ["ledger (SQLite)"], GREY),
        *box(530, 84, 150, 70, ["broker", "MQTT"]),
        *box(750, 84, 190, 70, ["companion", "Flask, aiohttp"], BLUE),
        *box(750, 204, 190, 62, ["store", "SQLite or PostgreSQL"], GREY),
        *box(1010, 40, 170, 64, ["phones", "a seat each"], BLUE),
        *box(1010, 134, 170, 64, ["table screen", "TV or tablet"], BLUE),
        *box(590, 288, 150, 64, ["Home Assistant", "optional"], GREY),
        *box(1010, 228, 170, 64, ["Prometheus", "optional"], GREY),
        arrow(210, 72, 268, 104),
        text(240, 66, "edges"),
        arrow(210, 166, 268, 134),
        text(240, 176, "tokens"),
        arrow(310, 154, 310, 182),
        arrow(460, 108, 528, 108),
        text(494, 98, "token"),
        arrow(530, 130, 462, 130),
        text(494, 148, "ack"),
        arrow(680, 108, 748, 108),
        arrow(750, 130, 682, 130),
        arrow(845, 154, 845, 202),
        arrow(940, 104, 1008, 76),
        arrow(940, 134, 1008, 160),
        text(974, 126, "HTTP"),
        arrow(210, 322, 580, 156),
        arrow(640, 154, 640, 286),
        arrow(1010, 250, 930, 156, dashed=True),
        text(1002, 262, "/metrics", anchor="end"),
    ]
    return svg(1200, 370, "The system: beams, controller, broker, companion, phones", shapes)


TOKEN_ACTORS = ["beam", "controller", "ledger", "broker", "companion", "store", "phone"]
TOKEN_STEPS = [
    (0, 1, "both edges, with their times"),
    (1, 2, "commit a draft row"),
    (1, 1, "count it once the beam stays clear"),
    (1, 3, "token (QoS 1)"),
    (3, 4, "token"),
    (4, 5, "commit token and entry"),
    (4, 3, "ack up to seq"),
    (3, 1, "ack"),
    (1, 2, "mark delivered"),
    (4, 6, "event: regions that changed"),
]
"""From, to, what passes: a token from the beam to the phone."""


def token() -> str:
    """Draw the way of one token as a sequence diagram."""
    gap, left, top, step = 190, 110, 66, 46
    height = top + step * (len(TOKEN_STEPS) + 1)
    shapes = []
    for number, name in enumerate(TOKEN_ACTORS):
        x = left + gap * number
        color = {"beam": RED, "controller": RED, "companion": BLUE, "phone": BLUE}.get(name, INK)
        shapes.append(f'<line x1="{x}" y1="50" x2="{x}" y2="{height - 14}" stroke="{GREY}" stroke-dasharray="3 4"/>')
        shapes += box(x - 60, 14, 120, 36, [name], color)
    for number, (start, end, words) in enumerate(TOKEN_STEPS, 1):
        y, x1, x2 = top + step * number, left + gap * start, left + gap * end
        if start == end:
            shapes.append(
                f'<path d="M{x1} {y - 14} h34 v16 h-32" fill="none" stroke="{INK}" stroke-width="1.6" '
                'marker-end="url(#head)"/>'
            )
            shapes += label(x1 + 42, y, f"{number}. {words}", "start")
        else:
            shapes.append(arrow(x1, y, x2 - 3 if x2 > x1 else x2 + 3, y))
            shapes += label((x1 + x2) / 2, y - 12, f"{number}. {words}", "middle")
    return svg(left * 2 + gap * (len(TOKEN_ACTORS) - 1), height, "A token from the beam to the phone", shapes)


def label(x: float, y: float, words: str, anchor: str) -> list[str]:
    """Return a line of text on a patch of background, so that no lifeline crosses it."""
    width = len(words) * 8.4
    left = x if anchor == "start" else x - width / 2
    patch = f'<rect x="{left:g}" y="{y - 13:g}" width="{width:g}" height="17" fill="{PAPER}"/>'
    return [patch, text(x, y, words, anchor)]


def drawings() -> dict[str, str]:
    """Return the drawings by file name."""
    return {"architecture-system.svg": system(), "architecture-token.svg": token()}


def main(argv: Sequence[str]) -> int:
    """Write both pictures."""
    argparse.ArgumentParser(prog="python -m tools.draw_architecture", description=__doc__).parse_args(argv)
    for name, drawing in drawings().items():
        (PICTURES / name).write_text(drawing, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
