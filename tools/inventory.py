"""Writes what a release stands on, as CycloneDX: the wheel's libraries, the packages' dependencies, and the image.

Libraries are those that are installed here. Of the packages it is what apt would install with them on an empty
Debian 13 (`tools.packages` writes that down), and of the image what its own dpkg says. Licences are those that a
library's metadata or a package's file `copyright` names. All but `NOT_FREE` is of Debian's main archive, which is
free.
"""

from __future__ import annotations

import importlib.metadata
import lzma
import os
import re
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from templo import __version__
from tools import packages

EXTRAS = ("controller", "companion", "broker", "sheets", "postgresql", "lab")
"""Those that a program of the wheel imports from; the rest are for whoever builds or tests it."""

CLASSIFIED = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "GNU General Public License v2 or later (GPLv2+)": "GPL-2.0-or-later",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.0-or-later",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 1.1 (MPL 1.1)": "MPL-1.1",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""The licence that a classifier of PyPI stands for."""

NAMED = {
    "BSD-3-Clause, Apache-2.0, dependency licenses": "BSD-3-Clause AND Apache-2.0",
    "SIL OFL V1.1": "OFL-1.1",
    "unlicense.org": "Unlicense",
}
"""Licences that are written in words of their own."""

COMPATIBLE = frozenset(
    (
        *(
            "0BSD",
            "Apache-2.0",
            "BSD-2-Clause",
            "BSD-3-Clause",
            "CC0-1.0",
            "ISC",
            "MIT",
            "MIT-0",
            "MIT-CMU",
            "Unlicense",
        ),
        *("PSF-2.0", "Zlib", "MPL-2.0", "LGPL-3.0-only", "LGPL-2.0-or-later", "GPL-2.0-or-later"),
        "OFL-1.1",  # fonts, which lie beside the program
    )
)
"""What a program under GPL-3.0-or-later may use, says the list of the Free Software Foundation."""

NOT_FREE = frozenset({"firmware-brcm80211", "raspi-firmware"})
"""What is on a card and not free: without it no Raspberry Pi starts, and its radio is silent. No program links it."""

COMMON = r"/usr/share/common-licenses/([\w.+-]*[\w+])"
"""By this a `copyright` in words of its own names a licence."""

SPACE = uuid.UUID("0c2ab4a7-8d5e-5c1b-9e0f-7a6d1f1f5d10")


class LicenceError(Exception):
    """A part may not be passed on with the rest; the message names it with its licence."""


@dataclass(frozen=True, order=True)
class Part:
    """One library or package."""

    name: str
    version: str
    url: str
    """Its package URL."""

    licence: str
    """As SPDX writes it, or the names that a package of Debian gives."""


def libraries(extras: Iterable[str] = EXTRAS, of: str = "templo-mayor") -> list[Part]:
    """Return what our distribution needs for some extras, and what that needs, as it is installed here."""
    from packaging.requirements import Requirement

    found: dict[str, Part] = {}
    wanted = [(of, frozenset(extras))]
    seen = set()
    while wanted:
        name, chosen = wanted.pop()
        if (name, chosen) in seen:
            continue
        seen.add((name, chosen))
        there = importlib.metadata.distribution(name)
        if name != of:
            found[name] = Part(name, there.version, f"pkg:pypi/{name}@{there.version}", licence(there.metadata))
        wanted += [
            (_canonical(each.name), frozenset(each.extras))
            for each in map(Requirement, there.requires or ())
            if not each.marker or any(each.marker.evaluate({"extra": extra}) for extra in {*chosen, ""})
        ]
    return sorted(found.values())


def licence(metadata: importlib.metadata.PackageMetadata) -> str:
    """Return the licence that a distribution names, as SPDX writes it if that is known."""
    written = metadata.json
    if expression := str(written.get("license_expression") or ""):
        return expression
    classifiers = [str(each).rpartition(" :: ")[2] for each in written.get("classifier", ()) if "License ::" in each]
    named = str(written.get("license") or "").strip().partition("\n")[0]
    if known := [CLASSIFIED[each] for each in classifiers if each in CLASSIFIED]:
        return " OR ".join(dict.fromkeys(known))
    return NAMED.get(named, named)


def compatible(licence: str) -> bool:
    """Return whether a program under GPL-3.0-or-later may use what has a licence.

    >>> compatible("EPL-2.0 OR BSD-3-Clause"), compatible("MIT AND SSPL-1.0"), compatible("")
    (True, False, False)
    """
    return any(
        all(each.strip(" ()") in COMPATIBLE for each in either.split(" AND ")) for either in licence.split(" OR ")
    )


def resolved(simulated: str, documents: Path) -> list[Part]:
    """Return the packages that apt would install, from what it prints when it only simulates.

    `documents` is their /usr/share/doc; raises `LicenceError` for one without licence.
    """
    lines = re.findall(r"^Inst (\S+) (?:\[\S+\] )?\((\S+) .*?\[(\w+)\]\)", simulated, re.MULTILINE)
    return sorted(_debian(*each, documents) for each in lines)


def installed(status: str, documents: Path) -> list[Part]:
    """Return the packages that the status of a dpkg lists as installed; `documents` is their /usr/share/doc.

    Raises `LicenceError` for one of Debian's non-free parts that is not in `NOT_FREE`, and for one without licence.
    """
    paragraphs = [dict(re.findall(r"^(\S+): (.*)$", each, re.MULTILINE)) for each in status.split("\n\n")]
    there = [each for each in paragraphs if each.get("Status", "").endswith(" installed")]
    for each in there:
        if each.get("Section", "").startswith(("non-free", "contrib")) and each["Package"] not in NOT_FREE:
            raise LicenceError(
                f"{each['Package']} is in Debian's section {each['Section']}: expected {sorted(NOT_FREE)}"
            )
    return sorted(_debian(each["Package"], each["Version"], each["Architecture"], documents) for each in there)


def _copyright(document: Path) -> str:
    """Return the licences that a package names, in Debian's words; raises `LicenceError` where it says nothing."""
    try:
        text = (document / "copyright").read_text("utf-8", "replace")
    except OSError as error:
        raise LicenceError(f"{document.name} does not say its licence: {error.strerror}") from None
    found = re.findall(r"^License: *(\S.*)$" if "\nFiles:" in text else COMMON, text, re.MULTILINE)
    return ", ".join(sorted({each.strip() for each in found})) or f"as /usr/share/doc/{document.name}/copyright says"


def _debian(name: str, version: str, architecture: str, documents: Path) -> Part:
    vendor = "templo-mayor" if name in packages.NAMES else "debian"
    escaped = version.replace("+", "%2B")
    url = f"pkg:deb/{vendor}/{name}@{escaped}?arch={architecture}&distro={packages.SUITE}"
    return Part(name, version, url, _copyright(documents / name))


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def on_card(image: Path) -> list[Part]:
    """Return the packages on a packed image of a card, as its second partition says."""
    with tempfile.TemporaryDirectory(dir=image.parent) as folder:
        card = Path(folder) / "card"
        with lzma.open(image) as packed, card.open("wb") as out:
            shutil.copyfileobj(packed, out, 1 << 20)
        with card.open("rb") as raw:
            entry = raw.read(512)[462:478]
        start = int.from_bytes(entry[8:12], "little") * 512

        def read(request: str) -> str:
            command = ["debugfs", "-R", request, f"{card}?offset={start}"]
            path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
            return subprocess.run(command, check=True, capture_output=True, text=True, env={"PATH": path}).stdout

        read(f"rdump /usr/share/doc {folder}")
        return installed(read("cat /var/lib/dpkg/status"), Path(folder) / "doc")


def described(what: str, parts: Iterable[Part]) -> str:
    """Return the inventory of one thing, in JSON; the same parts give the same text."""
    from cyclonedx.contrib.license.factories import LicenseFactory
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.output.json import JsonV1Dot6
    from packageurl import PackageURL

    make, parts = LicenseFactory(), sorted(parts)
    root = Component(name="templo-mayor", version=__version__, type=ComponentType.APPLICATION, bom_ref=what,
                     description=what, licenses=[make.make_from_string("GPL-3.0-or-later")])  # fmt: skip
    needed = [
        Component(
            name=part.name,
            version=part.version,
            type=ComponentType.LIBRARY,
            bom_ref=part.url,
            purl=PackageURL.from_string(part.url),
            licenses=[make.make_from_string(part.licence)],
        )
        for part in parts
    ]
    bom = Bom(components=needed, serial_number=uuid.uuid5(SPACE, repr((what, __version__, parts))))
    bom.metadata.component = root
    bom.metadata.timestamp = None
    bom.register_dependency(root, needed)
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"


def write(project: Path, into: Path) -> list[Path]:
    """Write the inventories of what the project built; returns their files, raises `LicenceError`."""
    found = {"wheel": libraries()}
    if refused := [f"{each.name}: {each.licence!r}" for each in found["wheel"] if not compatible(each.licence)]:
        raise LicenceError(f"A program under GPL-3.0-or-later may not use {', '.join(refused)}.")
    built = project / "build" / "packages"
    if (simulated := built / packages.SIMULATED).exists():
        found["packages"] = resolved(simulated.read_text("utf-8"), built / packages.DOCUMENTS)
    for image in (project / "build").glob("templo-mayor-*.img.xz"):
        found["image"] = on_card(image)
    written = []
    for what, parts in found.items():
        file = into / f"inventory-{what}.cdx.json"
        file.write_text(described(f"templo-mayor, {what}", parts), "utf-8")
        written.append(file)
    return written
