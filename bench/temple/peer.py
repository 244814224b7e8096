"""mqtt-io from the package index, in a separate environment because it pins its dependencies."""

from __future__ import annotations

import json
import subprocess
import venv
from dataclasses import dataclass
from pathlib import Path

from bench.tools import beam
from bench.tools.programs import HOST, ROOT, BenchError, Programs, Running
from bench.tools.stopwatch import Beams

PACKAGES = ("mqtt-io==2.7.0", "gpiozero==2.0.1")
INPUT = "slot"
INPUTS = ("slot", "other")


@dataclass(frozen=True, slots=True)
class Peer:
    """One mqtt-io that runs: where it publishes, and its beam."""

    topic: str
    beams: Beams
    running: Running


def interpreter() -> Path:
    """Return the Python of the peer's environment, made at its first use; raises `BenchError`."""
    folder = ROOT / "build" / "bench" / "mqtt-io"
    python = folder / "bin" / "python"
    mark = folder / "installed"
    wanted = "\n".join(PACKAGES)
    if not mark.exists() or mark.read_text() != wanted:
        print(f"making an environment with {PACKAGES[0]} ...", flush=True)
        venv.create(folder, clear=True, with_pip=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet", *PACKAGES]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BenchError(f"{wanted} could not be installed: {done.stderr[-800:]}")
        mark.write_text(wanted)
    return python


@dataclass(frozen=True, slots=True)
class Both:
    """One mqtt-io with two inputs: where it publishes each, and its beams."""

    topics: tuple[str, str]
    beams: Beams


def start(programs: Programs, name: str, port: int, pin: int, **how: object) -> Peer:
    """Start an mqtt-io whose one digital input is `pin`; `how` is what its configuration says of the input.

    Its beam is gpiozero's own button, active while dark: ``ON`` and ``OFF`` at QoS 0, as it always publishes inputs.
    """
    beams, running = _start(programs, name, port, [{"name": INPUT, "module": "beams", "pin": pin, **how}])
    return Peer(f"{name}/input/{INPUT}", beams, running)


def start_both(programs: Programs, name: str, port: int, pins: tuple[int, int], **how: object) -> Both:
    """Start an mqtt-io with two digital inputs."""
    inputs = [{"name": each, "module": "beams", "pin": pin, **how} for each, pin in zip(INPUTS, pins, strict=True)]
    beams, _ = _start(programs, name, port, inputs)
    one, other = (f"{name}/input/{each}" for each in INPUTS)
    return Both((one, other), beams)


def _start(programs: Programs, name: str, port: int, inputs: list[dict[str, object]]) -> tuple[Beams, Running]:
    configuration = programs.folder / f"{name}.json"  # JSON is YAML
    settings = {
        "mqtt": {"host": HOST, "port": port, "topic_prefix": name},
        "gpio_modules": [{"name": "beams", "module": "gpiozero"}],
        "digital_inputs": inputs,
        "options": {"install_requirements": False},
        "logging": {
            "version": 1,
            "handlers": {"console": {"class": "logging.StreamHandler"}},
            "root": {"handlers": ["console"], "level": "WARNING"},
        },
    }
    configuration.write_text(json.dumps(settings))
    path = programs.folder / f"{name}.beam"
    running = programs.python(
        name,
        beam.__file__,
        str(path),
        "mqtt_io",
        str(configuration),
        interpreter=interpreter(),
        GPIOZERO_PIN_FACTORY="mock",
    )
    return Beams(path), running
