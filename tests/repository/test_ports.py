"""Processes of tests that run beside each other never share a port."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).parents[2]

TAKES = """
import sys
from tests import brokers

brokers._BLOCKS = range(20_000, 22_000, 100)  # so few that independent choices would meet
print(*(brokers.free_port() for _ in range(250)), flush=True)
sys.stdin.read()
"""


def test_no_port_is_returned_to_two_processes_that_run_at_once() -> None:
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", TAKES], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            for _ in range(4)
        ]
        lines = [process.stdout.readline() for process in processes if process.stdout]
        for process in processes:
            process.communicate()
    ports = [port for line in lines for port in line.split()]
    assert len(ports) == 1_000
    assert len(set(ports)) == 1_000
