"""The two fonts that pages are measured in, whatever else is installed where the tests run.

A page's own list of fonts names some that few machines have, so its width is decided by what a machine has instead.
DejaVu Sans, which is as wide as Verdana, is all that a new Debian has; Carlito is as narrow as Calibri. Of the fonts
that a phone or a desktop is likely to show these pages in, they are the widest and the narrowest: over the pages' own
texts a letter is 0.52 em and 0.41 em wide on average, where it is 0.47 in Noto Sans and 0.45 in Liberation Sans.
"""

from __future__ import annotations

import os
from pathlib import Path

FAMILIES = {"narrow": "Carlito", "wide": "DejaVu Sans"}
"""What `tests/system-packages` installs: fonts-crosextra-carlito and fonts-dejavu-core."""

CONFIGURATION = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
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
  <match target="pattern">
    <test name="family" qual="all" compare="not_eq"><string>monospace</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>{family}</string></edit>
  </match>
  <match target="pattern">
    <test name="family"><string>monospace</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>DejaVu Sans Mono</string></edit>
  </match>
</fontconfig>
"""
"""Every family that a page asks for is the wanted one; DejaVu Sans stays for the signs that the wanted one lacks."""


def environment(font: str, folder: Path) -> dict[str, str | float | bool]:
    """Return the environment in which a browser shows every page in one font.

    Args:
        font: "narrow" or "wide".
        folder: where fontconfig's file and cache may be written.
    """
    file = folder / f"{font}.conf"
    file.write_text(CONFIGURATION.format(family=FAMILIES[font], cache=folder / "cache"))
    return {**os.environ, "FONTCONFIG_FILE": str(file)}
