"""The two fonts that pages are measured in, whatever else is installed where the tests run.

Noto Sans is the font that the companion serves. DejaVu Sans, which is as wide as Verdana, is all that a new Debian
has, and stands for browsers that load no fonts from pages. Over the pages' own texts a letter is 0.47 em wide on
average in Noto Sans, and 0.52 em in DejaVu Sans.
"""

from __future__ import annotations

import os
from pathlib import Path

FAMILIES = {"narrow": "Noto Sans", "wide": "DejaVu Sans"}
FOLDER = Path("/usr/share/fonts")
FILES = {
    "narrow": ("fonts-noto-core", ("NotoSans-Regular.ttf", "NotoSans-Bold.ttf")),
    "wide": ("fonts-dejavu-core", ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")),
}
"""The Debian package of each font, which `tests/system-packages` installs, and what of it the pages need."""

CONFIGURATION = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>{folder}</dir>
  <cachedir>{cache}</cachedir>
  <selectfont>
    <acceptfont>
      <pattern><patelt name="family"><string>{family}</string></patelt></pattern>
      <pattern><patelt name="family"><string>DejaVu Sans</string></patelt></pattern>
      <pattern><patelt name="family"><string>DejaVu Sans Mono</string></patelt></pattern>
    </acceptfont>
    <rejectfont>
      <pattern><patelt name="scalable"><bool>true</bool></patelt></pattern>
      <pattern><patelt name="scalable"><bool>false</bool></patelt></pattern>
    </rejectfont>
  </selectfont>
  {forced}<match target="pattern">
    <test name="family"><string>monospace</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>DejaVu Sans Mono</string></edit>
  </match>
</fontconfig>
"""
"""DejaVu Sans stays for the signs that the wanted family lacks."""

FORCED = """<match target="pattern">
    <test name="family" qual="all" compare="not_eq"><string>monospace</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>{family}</string></edit>
  </match>
  """
"""Every family that a page asks for is the wanted one."""


def environment(
    font: str, folder: Path, installed: Path = FOLDER, *, forced: bool = True
) -> dict[str, str | float | bool]:
    """Return the environment in which a browser shows every page in one font.

    Args:
        font: "narrow" or "wide".
        folder: where fontconfig's file and cache may be written.
        installed: where this machine's fonts are.
        forced: whether whatever a page asks for is shown in that font, or only what no font of the page's own shows.

    Raises:
        LookupError: the font is not installed, so that another one would be measured in its place.
    """
    package, files = FILES[font]
    for name in files:
        if next(installed.rglob(name), None) is None:
            raise LookupError(f"{name} of {FAMILIES[font]} is not in {installed}: install the package {package}")
    file = folder / f"{font}{'-forced' if forced else ''}.conf"
    rule = FORCED.format(family=FAMILIES[font]) if forced else ""
    words = {"family": FAMILIES[font], "forced": rule, "folder": installed, "cache": folder / "cache"}
    file.write_text(CONFIGURATION.format(**words))
    return {**os.environ, "FONTCONFIG_FILE": str(file)}
