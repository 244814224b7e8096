"""Draws the icons by which phones install the site, from its SVG: flat PNGs below the companion's static files."""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Browser

from tests.pictures.camera import ROOT, Camera

STATIC = ROOT / "companion" / "web" / "static"
GROUND = "#fbf3df"
"""The colour of the paper by day."""


@dataclass(frozen=True)
class Icon:
    """One file: its size in px, and how much of it the drawing takes."""

    name: str
    size: int
    part: float


ICONS = (
    Icon("icon-180", 180, 0.8),
    Icon("icon-192", 192, 0.9),
    Icon("icon-512", 512, 0.9),
    # A maskable icon may be cut to a circle of 80 %: the foot of the pyramid lies on it at this size.
    Icon("icon-maskable-512", 512, 0.6),
)


def draw(browser: Browser, camera: Camera) -> None:
    """Write those of the icons that were asked for."""
    drawing = (STATIC / "icon.svg").read_text(encoding="utf-8")
    for icon in ICONS:
        if camera.wants(icon.name):
            page = browser.new_page(viewport={"width": icon.size, "height": icon.size})
            page.set_content(
                f'<body style="margin: 0; height: 100vh; display: grid; place-items: center; background: {GROUND}">'
                f'<div style="width: {icon.part:%}; display: flex">{drawing}</div>'
            )
            camera.write(STATIC / f"{icon.name}.png", page.screenshot())
            page.close()
