"""A resource that a test leaves open fails its own module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

LEAKS = """
def test_leaks():
    files = [open(__file__)]
    files.append(files)  # only a garbage collection finds a cycle
"""


def test_a_leak_fails_the_module_that_made_it(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import collected, pytest_collection_finish\n", "utf-8")
    (tmp_path / "test_a_leak.py").write_text(LEAKS, "utf-8")
    (tmp_path / "test_b_later.py").write_text("def test_later():\n    pass\n", "utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-W",
            "error",
            "--rootdir",
            tmp_path,
            tmp_path,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ERROR at teardown of test_leaks" in done.stdout
    assert "2 passed, 1 error" in done.stdout
