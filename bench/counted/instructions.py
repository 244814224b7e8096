"""How many instructions the programs execute, for one tree."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

from bench.counted import appliance, companion, controller
from bench.tools.figures import Chapter, Row
from bench.tools.instructions import counted_programs
from bench.tools.programs import Programs, Tree

MILLION = 1e6
NIGHT_MIN = 8 * 60


def measure(programs: Programs, rest_s: float | None) -> Chapter:
    """Count what each program executes; raises `BenchError`."""
    rest = "" if rest_s is None else f" Rest is counted for {rest_s:g} s, and a night is {NIGHT_MIN} such minutes."
    return Chapter(
        "Instructions",
        tuple(Row(what, "million", count) for what, count in counted(programs, rest_s)),
        "Counted by Valgrind outside the kernel, in all threads of the real programs; mosquitto, phones and temples"
        " run beside them, uncounted. Hashes have a fixed seed. 500 million are a second of a Raspberry Pi 3 or Zero"
        f" 2 W.{rest} The controller's tokens are simulated, simulation included. 'First' is a start in an empty"
        " folder, with modules and templates that were compiled before, as Debian's package compiles them.",
    )


def counted(programs: Programs, rest_s: float | None) -> Iterator[tuple[str, float]]:
    """Yield each figure in millions of instructions, as soon as it is known; without rest, those of starts alone."""
    _compile(programs.tree)
    port = programs.mosquitto()
    resting = 0
    with counted_programs(programs) as within:
        for what, count in _figures(within, port, rest_s):
            print(f"  {what}: {count / MILLION:,.1f} million", flush=True)
            resting += count if what.endswith("at rest") else 0
            yield what, count / MILLION
    if rest_s is not None:
        yield "a night of 8 hours, controller and companion", resting * NIGHT_MIN / MILLION


def _figures(programs: Programs, port: int, rest_s: float | None) -> Iterator[tuple[str, int]]:
    yield from appliance.starts(programs)
    yield from controller.starts(programs)
    yield from companion.starts(programs, port)
    if rest_s is not None:
        yield from controller.work(programs, rest_s)
        yield from companion.work(programs, port, rest_s)


def _compile(tree: Tree) -> None:
    """Compile the modules and the templates, as an installation does; an earlier tree has no program for these."""
    folders = ("companion", "controller", "templo")
    subprocess.run([tree.interpreter, "-m", "compileall", "-q", *folders], cwd=tree.root, check=True)
    subprocess.run(
        [tree.interpreter, "-m", "companion.web.rendering.install"], cwd=tree.root, capture_output=True, check=False
    )
