"""QR codes as drawings."""

from __future__ import annotations

import io

import segno
from markupsafe import Markup


def qr_drawing(text: str) -> Markup:
    """Return a text's QR code as an SVG without a size of its own, dark on white in any theme."""
    out = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        out,
        kind="svg",
        border=3,
        omitsize=True,
        xmldecl=False,
        dark="#231815",
        light="#fff",
        svgclass="qr-drawing",
        lineclass=None,
    )
    return Markup(out.getvalue().decode())  # noqa: S704  # segno's own drawing, of which the text is no part
