"""A camera for the README's pictures: it takes a page by day or by night, and keeps the picture small."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.pictures.palette import small

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
LARGEST = 250_000
"""Bytes: a README is read on phones too."""

PHONE = (360, 780)
SCREEN = (1920, 1080)


class Camera:
    """Photographs pages by day and by night, and keeps the pictures small."""

    def __init__(self, browser: Browser, names: Sequence[str]) -> None:
        self._names = names
        self._darkroom = browser.new_page()
        self.taken: list[str] = []

    def wants(self, name: str) -> bool:
        """Return whether this picture was asked for."""
        return not self._names or name in self._names

    def take(self, page: Page, name: str, *, night: bool = False) -> None:
        """Write a picture of what the page shows now."""
        if not self.wants(name):
            return
        page.emulate_media(color_scheme="dark" if night else "light", reduced_motion="reduce")
        page.bring_to_front()
        page.evaluate("() => { document.activeElement?.blur(); scrollTo(0, 0); }")
        page.wait_for_timeout(400)  # health and log may still be on their way
        self.write(PICTURES / f"{name}.png", page.screenshot())

    def write(self, path: Path, screenshot: bytes) -> None:
        """Write a screenshot as a small picture, and print its path below the project's folder."""
        picture = small(screenshot, self._darkroom)
        assert len(picture) <= LARGEST, f"{path.stem} is {len(picture)} bytes; expected at most {LARGEST}"
        path.write_bytes(picture)
        self.taken.append(path.stem)
        print(f"{path.relative_to(ROOT)}  {len(picture) // 1024} kB", flush=True)
