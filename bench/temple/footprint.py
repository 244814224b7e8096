"""How much memory and processor time both daemons use while nothing happens."""

from __future__ import annotations

import time
from pathlib import Path

from bench.temple import peer
from bench.tools import daemons
from bench.tools.figures import Chapter, Row
from bench.tools.programs import BenchError, Programs, Running
from bench.tools.readers import Readers

MIB = 1024 * 1024


def resident(pid: int) -> tuple[float, float]:
    """Return a process's proportional and its resident memory in MiB (PSS, RSS), from the kernel's own sums."""
    found = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, _, rest = line.partition(":")
        found[name] = int(rest.split()[0]) * 1024 / MIB
    return found["Pss"], found["Rss"]


def on_processor(pid: int) -> float:
    """Return the seconds that a process's threads have spent on a processor, to the nanosecond.

    Ticks of 10 ms, which most tools read, are as long as all that an idle daemon takes in five seconds.
    """
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:
            raise BenchError(f"a thread of process {pid} ended meanwhile; expected an idle process") from None
    return total / 1e9


def _idle(running: list[Running], seconds: float) -> list[float]:
    """Return the share of one processor that each program takes, in percent, over the same stretch of time."""
    began = time.monotonic()
    before = [on_processor(each.pid) for each in running]
    time.sleep(seconds)
    spent = [on_processor(each.pid) - was for each, was in zip(running, before, strict=True)]
    return [100 * each / (time.monotonic() - began) for each in spent]


def measure(programs: Programs, seconds: float, phones: int) -> Chapter:
    """Measure both daemons and mqtt-io idle on one broker, then the companion with phones that watch."""
    port = programs.mosquitto()
    companion = daemons.start_companion(programs, port, daemons.CROWD)
    controller = daemons.start_controller(programs, port, simulated=True)
    other = peer.start(programs, "mqtt-io", port, daemons.PINS[0], interrupt="both")
    polled = peer.start(programs, "mqtt-io-polling", port, daemons.PINS[0])
    time.sleep(5)
    alone = _idle([controller.running, companion.running, other.running, polled.running], seconds)
    held = [resident(each.pid) for each in (controller.running, companion.running, other.running)]
    with Readers([(companion.port, companion.table)], phones) as readers:
        readers.wait_for_first()
        time.sleep(3)
        watched = _idle([companion.running], seconds)[0]
        held.append(resident(companion.running.pid))
    (own, own_rss), (served, served_rss), (theirs, _), (busy, busy_rss) = held
    return Chapter(
        "At rest",
        (
            Row("controller, memory (PSS)", "MiB", own, theirs, 35),
            Row("controller, memory (RSS)", "MiB", own_rss, held[2][1], 35),
            Row("controller, processor, beside interrupts", "% of a core", alone[0], alone[2], 0.2),
            Row("controller, processor, beside polling", "% of a core", alone[0], alone[3], 0.2),
            Row("companion, memory (PSS)", "MiB", served),
            Row("companion, memory (RSS)", "MiB", served_rss),
            Row("companion, processor", "% of a core", alone[1]),
            Row(f"companion with {phones} phones, memory (PSS)", "MiB", busy),
            Row(f"companion with {phones} phones, memory (RSS)", "MiB", busy_rss),
            Row(f"companion with {phones} phones, processor", "% of a core", watched),
        ),
        f"Over {seconds:g} s, connected to mosquitto, no tokens falling; the controller with simulated beams. Memory"
        " is from /proc/PID/smaps_rollup (PSS divides what several programs share), processor time from schedstat."
        " The peer is mqtt-io, with interrupts unless the row says polling.",
    )
