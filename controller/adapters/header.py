"""Finds the GPIO chip of a Raspberry Pi's header by its label, because its number differs between kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from controller.core.ports import BeamsError

CHIPS = ("pinctrl-rp1", "pinctrl-bcm2711", "pinctrl-bcm2835")
"""Labels of the chip that drives the header: Pi 5, Pi 4, and all before."""


def find_chip(chosen: str | None, label_of: Callable[[int], str]) -> int:
    """Return the number of the header's chip, or of the one with the `chosen` label; raises `BeamsError`.

    `label_of` raises `OSError` for a chip that may not be opened.
    """
    wanted = (chosen,) if chosen else CHIPS
    labels: dict[str, int] = {}
    complaint = ""
    for number in chip_numbers():
        try:
            labels.setdefault(label_of(number), number)
        except OSError as error:
            complaint = f"; /dev/gpiochip{number}: {error.strerror or error}"
    for label in wanted:
        if label in labels:
            return labels[label]
    found = ", ".join(sorted(labels)) or "no chip that may be opened"
    raise BeamsError(
        f"the GPIO header was not found: {found}{complaint}; expected a chip labelled {' or '.join(wanted)} "
        "(on a Raspberry Pi, as a member of the group gpio)"
    )


def chip_numbers() -> list[int]:
    """Return the numbers of this machine's GPIO chips."""
    names = (path.name.removeprefix("gpiochip") for path in Path("/dev").glob("gpiochip*"))
    return sorted(int(name) for name in names if name.isdigit())
