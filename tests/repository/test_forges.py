"""A copy of the repository has tests from the first push, on both usual forges."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import fresh

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("file", [".github/workflows/ci.yml", ".gitlab-ci.yml"])
def test_a_forge_runs_what_every_change_must_pass_on_a_new_debian(file: str) -> None:
    text = (ROOT / file).read_text("utf-8")
    assert "debian:13" in text
    assert f"apt-get install --yes {' '.join(fresh.PACKAGES)}\n" in text
    assert text.rstrip().endswith("- run: .ci/run" if "github" in file else "- .ci/run")


@pytest.mark.parametrize("file", [".github/workflows/ci.yml", ".gitlab-ci.yml"])
def test_a_pin_that_cannot_be_audited_fails_the_audit(file: str) -> None:
    (line,) = [line for line in (ROOT / file).read_text("utf-8").splitlines() if "pip-audit" in line]
    assert {"constraints.txt", "--no-deps", "--strict"} <= set(line.split())
