"""How much memory and processor time both daemons use while nothing happens."""

from __future__ import annotations

import time

from bench.temple import peer
from bench.tools import daemons
from bench.tools.figures import Chapter, Row
from bench.tools.programs import Programs, Running
from bench.tools.readers import Readers


def _idle(running: list[Running], seconds: float) -> list[float]:
    """Return the share of one processor that each program takes, in percent, over the same stretch of time."""
    began = time.monotonic()
    before = [each.cpu_s() for each in running]
    time.sleep(seconds)
    spent = [each.cpu_s() - was for each, was in zip(running, before, strict=True)]
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
    held = [each.memory() for each in (controller.running, companion.running, other.running)]
    with Readers([(companion.port, companion.table)], phones) as readers:
        readers.wait_for_first()
        time.sleep(3)
        watched = _idle([companion.running], seconds)[0]
        held.append(companion.running.memory())
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
        " is from /proc/PID/smaps_rollup (PSS divides what several programs share), processor time from its clock."
        " The peer is mqtt-io, with interrupts unless the row says polling.",
    )
