"""This tree measured beside that of a revision: the comparison runs, and a revision that is none is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bench.against import command_line
from bench.against.comparison import Figure, compared
from bench.tools import trees
from bench.tools.programs import ROOT, BenchError

TINY = ["--rounds", "1", "--tokens", "2", "--burst", "10", "--posts", "4"]
TINY += ["--playouts", "0.001", "--repaint", "1", "--sittings", "1"]
in_a_clone = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="needs a clone: there is no revision without git"
)


@in_a_clone
def test_every_figure_of_both_trees_stands_in_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["HEAD", *TINY]) == 0
    shown = capsys.readouterr().out
    for figure in (
        "beam clear to the subscriber, median",
        "beam to acknowledgement, sustained",
        "companion, CPU for a post",
        "mexica classic: plies in a second of CPU",
        "siege skirmish: plies in a second of CPU",
        "a token at a full table, CPU",
        "mexica with four app players, CPU for a game",
    ):
        assert f"| {figure} " in shown


@in_a_clone
def test_a_revision_that_git_does_not_know_is_refused_with_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["no-such-revision"]) == 2
    assert "no-such-revision" in capsys.readouterr().err


def test_a_tree_has_the_files_of_its_revision_and_no_later_ones(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    pyproject = '[project]\nname = "old"\ndependencies = []\n'
    for name, text in {"pyproject.toml": pyproject, "constraints.txt": "", "speed": "slow"}.items():
        (clone / name).write_text(text)
    commit(clone, "first")
    (clone / "speed").write_text("quick")
    commit(clone, "second")
    tree = trees.of_revision("HEAD~1", tmp_path / "old", clone)
    assert (tree.root / "speed").read_text() == "slow"


@pytest.mark.parametrize(
    ("requirement", "pins", "agree"),
    [
        ("msgspec>=0.19", "", True),
        ("msgspec>=0.19", "msgspec==0.0.1\n", False),
        ("no_such-package>=1", "", False),
        ("msgspec>=0.19", "no_such-package==1\n", True),
        ("no_such-package>=1; python_version < '3'", "", True),
    ],
)
def test_a_tree_shares_the_interpreter_only_where_its_packages_are_installed(
    tmp_path: Path, requirement: str, pins: str, agree: bool
) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "old"\ndependencies = ["{requirement}"]\n')
    (tmp_path / "constraints.txt").write_text(pins)
    assert trees.dependencies_agree(tmp_path) is agree


def test_what_only_one_tree_has_is_not_compared() -> None:
    old, new, both = (Figure(name, "1/s") for name in ("old", "new", "both"))
    assert [each.figure for each in compared([{new: 1, both: 2}], [{old: 1, both: 4}])] == [both]


def test_the_ratio_is_the_median_of_the_rounds_beside_their_least_and_most() -> None:
    figure = Figure("speed", "1/s", more=True)
    [comparison] = compared([{figure: 10}, {figure: 12}, {figure: 4}], [{figure: 10}, {figure: 6}, {figure: 8}])
    assert comparison.cells == ("speed", "1/s", "10", "8", "1.00", "0.50 to 2.00", "more")


def test_a_folder_that_is_no_clone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="expected a revision of the clone"):
        trees.of_revision("HEAD", tmp_path / "old", tmp_path)


def commit(clone: Path, subject: str) -> None:
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@example.invalid")
    if not (clone / ".git").exists():
        subprocess.run(["git", "init", "--quiet", str(clone)], check=True)
    subprocess.run(["git", "-C", str(clone), "add", "."], check=True)
    subprocess.run(["git", "-C", str(clone), *who, "commit", "--quiet", "-m", subject], check=True)
