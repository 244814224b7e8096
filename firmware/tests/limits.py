"""Measures what each board can count and what it costs, for docs/counters.md; it takes some minutes.

``python -m firmware.tests.limits``. Everything is measured in simulators; no board and no sensor has been touched.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from firmware.tests import pico_pio, uno
from firmware.tests.flash import SECTORS, wear
from firmware.tests.pico_memory import SLOWEST, TYPICAL, costs, rate, remembered
from firmware.tests.test_pico_board import widths
from firmware.tests.test_uno import Memory
from templo.contract import God


def _uno_counts(spells: list[tuple[God, float, float]], rest_ms: int = 10_000) -> tuple[int, int]:
    """Return how many tokens an Uno has written down so long after the last, and how many of them without a width."""
    with tempfile.TemporaryDirectory() as folder:
        story = uno.pulses(spells)
        uno.run(Path(folder), [*story[:-1], (story[-2][0] + rest_ms * 1000, "E")])
        bare = sum(not each.width_ms for each in uno.kept(Path(folder)))
        return sum(uno.totals(Path(folder)).values()), bare


def uno_rate() -> float:
    """Return the highest rate in tokens a second, both slots together, at which an Uno's writing keeps up for 20 s.

    It does as long as the last token is written down a tenth of a second after it fell.
    """
    best = 0
    for per_s in range(34, 60):
        every = 2000 / per_s
        spells = [(god, begin + every * n, begin + every * n + 10 + n * 37 % 50 / 10)
                  for god, begin in ((God.TLALOC, 500.0), (God.HUITZILOPOCHTLI, 500 + every / 2))
                  for n in range(round(20_000 / every))]  # fmt: skip
        if _uno_counts(spells, 100)[0] < len(spells):
            break
        best = per_s
    return best


def uno_burst() -> int:
    """Return how many tokens at 55 a second in each slot at once an Uno counts and keeps the width of."""
    best = 0
    for number in range(10, 200, 2):
        spells = [*uno.row(God.TLALOC, number, 1000 / 55, 8), *uno.row(God.HUITZILOPOCHTLI, number, 1000 / 55, 8)]
        if _uno_counts(spells) != (2 * number, 0):
            break
        best = 2 * number
    return best


def uno_flicker() -> int:
    """Return how many spells a second in each slot at once an Uno takes in for 5 s without missing an edge."""
    best = 0
    for per_s in range(1000, 20_000, 500):
        every = 1000 / per_s
        spells = [*uno.row(God.TLALOC, 5 * per_s, every, 0.4 * every), *uno.row(God.HUITZILOPOCHTLI, 5 * per_s, every,
                                                                                0.5 * every)]  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            if any(uno.missed(uno.run(Path(folder), uno.pulses(spells))).values()):
                break
        best = per_s
    return best


def uno_narrowest() -> tuple[float, float]:
    """Return the narrowest single spell that is a token, and the shortest flash of dark that is seen, both in ms."""
    widths_ms = [2.95 + 0.01 * n for n in range(12)]
    single = [(God.TLALOC, 500.0 + 100 * n, 500 + 100 * n + width) for n, width in enumerate(widths_ms)]
    token = widths_ms[len(widths_ms) - _uno_counts(single)[0]]
    # Three and a half ms of dark, six of clear with one flash of dark in the middle, and dark again: one spell if the
    # flash is seen, else two.
    flashes_ms = [0.002 * n for n in range(1, 21)]
    spells = [
        (God.TLALOC, 500 + 100 * n + begin, 500 + 100 * n + end)
        for n, flash in enumerate(flashes_ms)
        for begin, end in ((0.0, 3.5), (6.5, 6.5 + flash), (9.5, 13.0))
    ]
    return token, flashes_ms[_uno_counts(spells)[0] - len(flashes_ms)]


def uno_written() -> float:
    """Return how many bytes an Uno writes for a token, averaged over twenty rounds through its memory."""
    memory, number = Memory(), 20 * uno.RECORDS
    memory.erase()
    for seq in range(number):
        memory.append(seq * seq % 3 % 2, 450 + seq * 37 % 550)
    return sum(memory.writes) / number


def pio_burst() -> tuple[int, int]:
    """Return how many of thirty tokens at 50 a second are kept while nobody looks, and how long that takes, in ms."""
    spells = [(God.TLALOC, 100.0 + 20 * n, 112.0 + 20 * n) for n in range(30)]
    found = widths(pico_pio.run(uno.pulses(spells), blind=[(0, 800_000)]), 1)
    return len(found), 20 * len(found)


def main() -> None:
    uno.build()
    said = subprocess.run(["avr-size", str(uno.FIRMWARE)], check=True, capture_output=True, text=True).stdout
    text, data, bss = map(int, said.splitlines()[1].split()[:3])
    files = sorted((Path(__file__).parents[1] / "micropython").glob("*.py"))
    narrowest, pulse = uno_narrowest()
    burst, blind_ms = pio_burst()
    erased, programmed = wear(2000)
    print(f"uno: flash {text + data} of 32256 bytes, memory {data + bss} of 2048 bytes and the stack")
    print(f"uno: {uno_rate():g} tokens a second for ever, the slots in turn")
    print(f"uno: {uno_written():.1f} bytes are written for a token where slots and widths follow no order")
    print(f"uno: a burst of {uno_burst()} at 110 a second keeps every width")
    print(f"uno: {uno_flicker()} flashes a second in each slot at once, every edge seen")
    print(f"uno: narrowest token {narrowest:.2f} ms; shortest flash that is seen {pulse * 1000:g} us")
    print(f"uno: worn out after {uno.RECORDS * 100_000:,} tokens: {uno.RECORDS} records in a ring")
    print(f"uno: after {uno.RECORDS * 50_000:,} if a mark is written behind each")
    print(f"pico: {sum(file.stat().st_size for file in files)} bytes in {len(files)} files")
    print(f"pico: {burst} spells wait for {blind_ms} ms at 50 a second while interrupts are masked")
    print(f"pico: {erased:.2f} sectors erased and {programmed:.0f} bytes programmed for each token committed alone")
    print(f"pico: worn out after {SECTORS * 100_000 / erased:,.0f} such tokens, the whole file system levelled")
    each = costs(500)
    print(
        f"pico: {sum(sectors for sectors, _ in each) / len(each):.2f} sectors and "
        f"{sum(pages for _, pages in each) / len(each):.1f} pages for a commit, at most "
        f"{max(sectors for sectors, _ in each)} and {max(pages for _, pages in each)}"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for flash, turn_us in ((TYPICAL, 5_000), (TYPICAL, 50_000), (SLOWEST, 5_000)):
            taken = f"{flash.erase / 1000:g} ms for a sector, {flash.page / 1000:g} for a page"
            print(
                f"pico: {rate(folder, flash, turn_us)} tokens a second in each slot for 20 s without a loss, with "
                f"{taken}, {turn_us / 1000:g} for a turn, whatever it does (`make pico` has the chip's own time)"
            )
        memory = remembered(folder, 100_000, 10_000)
        first, *rest = memory["alive"]
        print(f"pico: {memory['recorded']} recorded, {memory['tokens']} published, {memory['files']} files")
        print(
            f"pico: {memory['loading']:,} bytes while the files are compiled; {first:,} alive after 10,000 tokens, "
            f"{min(rest):,} to {max(rest):,} until 100,000; with its garbage {memory['most']:,} at most"
        )


if __name__ == "__main__":
    main()
