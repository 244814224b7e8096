"""The drop-in for a broker elsewhere: it leaves out the password of this machine's broker, and nothing else."""

from __future__ import annotations

import pytest

from templo.broker_elsewhere import drop_in
from tests.controller.program import ROOT


def environment_files(*texts: str) -> list[str]:
    """Return what systemd reads for a unit and its drop-ins: an empty value forgets all files before it."""
    files: list[str] = []
    for line in "\n".join(texts).splitlines():
        key, equals, value = line.partition("=")
        if key == "EnvironmentFile" and equals:
            files = [*files, value] if value else []
    return files


@pytest.mark.parametrize("program", ["controller", "companion"])
def test_every_other_file_of_the_unit_survives(program: str) -> None:
    unit = (ROOT / "systemd" / f"templo-{program}.service").read_text()
    password = f"-/etc/templo-mayor/{program}.env"
    before = environment_files(unit)
    assert password in before
    assert environment_files(unit, drop_in("By a test.", program)) == [each for each in before if each != password]
