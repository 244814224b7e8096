"""A companion on the socket that systemd has opened for it: started by a request, ended when it is idle."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from tests.brokers import HOST, free_port
from tests.controller.program import ROOT, environment

AS_SYSTEMD = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
"""Passes a descriptor as systemd does, and becomes the program."""

PATIENCE_S = 120


def started(listening: socket.socket, state: Path, *, idle_s: int) -> subprocess.Popen[bytes]:
    words = [str(listening.fileno()), "-m", "companion", "run", "--state", str(state)]
    environ = environment(TEMPLO_WEB_IDLE_S=str(idle_s), TEMPLO_BROKER_PORT=str(free_port()), TEMPLO_WEB_PORT="1")
    return subprocess.Popen(
        [sys.executable, "-c", AS_SYSTEMD, *words], cwd=ROOT, env=environ, pass_fds=[listening.fileno()]
    )


def test_a_request_that_waits_is_answered_and_after_the_idle_time_it_ends_well_and_can_be_started_again(
    tmp_path: Path,
) -> None:
    with socket.create_server((HOST, 0)) as listening:
        url = f"http://{HOST}:{listening.getsockname()[1]}/"
        for _ in range(2):
            process = started(listening, tmp_path, idle_s=2)
            try:
                with urlopen(url, timeout=PATIENCE_S) as answer:
                    assert answer.status == 200
                assert process.wait(PATIENCE_S) == 0
            finally:
                process.kill()
                process.wait()
