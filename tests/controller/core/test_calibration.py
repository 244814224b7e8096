"""Known tokens teach a temple their widths: accepted limits are used, and outlive the program; others are not."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.adapters import learned_file
from controller.app.explanations import calibration_lines
from controller.core import learned_limits
from controller.core.counting import MS, SECOND, Limits
from controller.core.learned_limits import Measured
from controller.core.messages import CalibrationRequest
from templo.contract import Flag, God
from tests.brokers import free_port
from tests.cases import every_case
from tests.controller.program import Temple, call, command, environment
from tests.controller.rig import Rig
from tests.waiting import eventually

Answers = list[Mapping[str, object]]


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def begin(rig: Rig, number: int = 5, god: God = God.TLALOC) -> Answers:
    answers: Answers = []
    rig.take(CalibrationRequest(god, number, None, answers.append))
    return answers


def decide(rig: Rig, keep: bool, god: God = God.TLALOC) -> Mapping[str, object]:
    answers: Answers = []
    rig.take(CalibrationRequest(god, None, keep, answers.append))
    return answers[0]


def test_widths_are_reported_with_what_they_propose_and_the_tokens_score_nothing(rig: Rig) -> None:
    answers = begin(rig)
    for width in (10, 11, 12, 13, 14):
        assert answers == []
        rig.token(width_ms=width)
    (answer,) = answers
    assert answer["widths_ms"] == [10, 11, 12, 13, 14]
    assert answer["proposed"] == {
        "min_break_ms": 3, "min_clear_ms": 5, "max_break_ms": 250, "band_ms": 21, "narrow_ms": 6,
    }  # fmt: skip
    rig.token()
    assert [Flag.TEST in token.flags for token in rig.ledger()] == [True] * 5 + [False]


def test_a_token_of_the_other_slot_is_scored_meanwhile_and_measures_nothing(rig: Rig) -> None:
    answers = begin(rig, 1)
    rig.token(God.HUITZILOPOCHTLI)
    assert answers == []
    assert rig.ledger()[0].flags == frozenset()


def test_nothing_changes_before_a_proposal_is_accepted(rig: Rig, tmp_path: Path) -> None:
    begin(rig, 1)
    rig.token(width_ms=10)
    assert decide(rig, keep=False)["kept"] is False
    assert learned_file.load(tmp_path) == {}
    rig.token(width_ms=30)
    assert Flag.OVERLAP not in rig.ledger()[-1].flags
    assert "nothing is proposed" in str(decide(rig, keep=True)["error"])


def test_an_accepted_proposal_is_used_at_once_and_after_a_restart(rig: Rig, tmp_path: Path) -> None:
    begin(rig, 1)
    rig.token(width_ms=10)
    assert decide(rig, keep=True)["kept"] is True
    rig.token(width_ms=30)
    assert Flag.OVERLAP in rig.ledger()[-1].flags
    again = Rig(tmp_path)
    again.token(width_ms=30)
    assert Flag.OVERLAP in again.ledger()[-1].flags


def test_the_limits_fit_the_tokens_of_both_slots(rig: Rig) -> None:
    for god, width in ((God.TLALOC, 10), (God.HUITZILOPOCHTLI, 30)):
        begin(rig, 1, god)
        rig.token(god, width_ms=width)
        result = decide(rig, True, god)
    limits = result["limits"]
    assert isinstance(limits, dict)
    assert (limits["narrow_ms"], limits["band_ms"]) == (6, 45)


@pytest.mark.parametrize(("width", "said"), [(3.5, "min_break_ms is 3"), (10, None), (240, "max_break_ms is 250")])
def test_widths_that_come_close_to_a_limit_are_warned_of(rig: Rig, width: float, said: str | None) -> None:
    answers = begin(rig, 2)
    for each in (10, width):
        rig.token(width_ms=each)
    warnings = [line for line in calibration_lines(answers[0]) if "Close to a limit" in line]
    assert len(warnings) == (said is not None)
    assert said is None or said in warnings[0]


def test_limits_that_the_settings_name_are_not_learned_and_reported_as_such(tmp_path: Path) -> None:
    rig = Rig(tmp_path, chosen=frozenset({"counting.band_ms", "temple"}))
    answers = begin(rig, 1)
    rig.token()
    assert answers[0]["overruled"] == ["counting.band_ms"]
    proposed = answers[0]["proposed"]
    assert isinstance(proposed, dict)
    assert proposed["band_ms"] is None


def test_tokens_that_do_not_come_are_given_up_after_two_minutes(rig: Rig) -> None:
    answers = begin(rig)
    rig.token()
    rig.token(width_ms=1)
    rig.token()
    assert rig.pipeline.patience() is not None
    rig.take(after_ns=120 * SECOND)
    assert "measured for tlaloc: 2 of 5 tokens, and 1 spell too short" in str(answers[0]["error"])
    rig.token()
    assert rig.ledger()[-1].flags == frozenset()


@pytest.mark.usefixtures("expects_warnings")
def test_a_token_that_sticks_measures_nothing(rig: Rig) -> None:
    answers = begin(rig, 1)
    rig.token(width_ms=900)
    assert answers == []
    rig.token()
    assert answers[0]["spoilt"] == 1


def test_a_second_calibration_waits_for_the_first_and_numbers_have_bounds(rig: Rig) -> None:
    assert "expected 1 to 100" in str(begin(rig, 0)[0]["error"])
    begin(rig)
    assert "a calibration of tlaloc is running" in str(begin(rig)[0]["error"])


def test_what_cannot_be_saved_changes_nothing(rig: Rig, tmp_path: Path) -> None:
    begin(rig, 1)
    rig.token()
    (tmp_path / "learned.new").mkdir()
    assert "cannot be saved: Is a directory" in str(decide(rig, keep=True)["error"])
    rig.token(width_ms=40)
    assert Flag.OVERLAP not in rig.ledger()[-1].flags


@given(st.floats(0.001, 60_000), st.floats(1, 20), st.integers(1, 100))
def test_whatever_was_measured_the_limits_count_it(low_ms: float, times: float, tokens: int) -> None:
    """Every measured token of 1 ms or more is one token, in the band, and no jam."""
    low, high = round(low_ms * MS), round(low_ms * times * MS)
    found = learned_limits.limits(Limits(), frozenset(), {God.TLALOC: Measured(low, high, tokens)})
    assert found.band is not None
    assert found.narrow is not None
    assert found.min_break < found.max_break
    assert found.narrow <= low <= high <= found.band
    assert high < found.max_break
    assert found.min_break <= max(low, MS)


@pytest.mark.usefixtures("expects_warnings")
@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"v": 2}', '{"v": 1, "learned": {"tlaloc": {"low_ms": 9, "high_ms": 1, "tokens": 1}}}', "\x00"],
)
def test_an_unreadable_file_is_ignored_and_reported(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / learned_file.FILE_NAME).write_text(text)
    assert learned_file.load(tmp_path) == {}
    assert "cannot be read" in caplog.text


def test_the_command_line_measures_asks_and_saves(tmp_path: Path, temples: list[Temple]) -> None:
    temples.append(Temple(tmp_path / "state", free_port()).start())
    with subprocess.Popen(
        command("calibrate", "tlaloc", "--count", "4", "--yes", "--state", str(tmp_path / "state")),
        stdout=subprocess.PIPE, env=environment(), text=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        first = running.stdout.readline()
        temples[0].drop("tlaloc", 4)
        words = first + running.stdout.read()
    assert words.startswith("Drop 4 tokens into the slot of Tlaloc, one at a time.")
    assert "Widths           12, 12, 12, 12 ms" in words
    assert "band_ms          none -> 18" in words
    assert "Saved, and used from now on." in words
    assert learned_file.load(tmp_path / "state")[God.TLALOC].high_ns == 12 * MS
    assert call("calibrate", "tlaloc", "--state", str(tmp_path)).returncode == 1


@every_case(
    ("typed", "stopped", "code", "said"),
    [
        (b"y\n", False, 0, "Saved, and used from now on."),
        (b"y\n", True, 1, "no daemon runs on"),
        (b"n\n", True, 0, "Nothing was changed."),
        (b"\x04", False, 0, "Nothing was changed."),
    ],
)
def test_only_a_daemon_that_took_the_answer_at_the_terminal_has_saved_the_limits(
    tmp_path: Path, temples: list[Temple], typed: bytes, stopped: bool, code: int, said: str
) -> None:
    state = tmp_path / f"state-{typed.hex()}-{stopped}"
    temple = Temple(state, free_port()).start()
    temples.append(temple)
    terminal, keyboard = pty.openpty()
    with subprocess.Popen(
        command("calibrate", "tlaloc", "--count", "2", "--state", str(state)),
        stdin=keyboard, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(),
    ) as running:  # fmt: skip
        assert running.stdout is not None
        running.stdout.readline()
        temple.drop("tlaloc", 2)
        asked = b""
        while not asked.endswith(b"[y/N] "):
            more = running.stdout.read(1)
            assert more, asked
            asked += more
        if stopped:
            temple.kill()
        os.write(terminal, typed)
        words = running.stdout.read().decode()
    os.close(terminal)
    os.close(keyboard)
    assert running.returncode == code
    assert said in words
    assert ("Saved" in words) == bool(learned_file.load(state))


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_a_calibration_ends_with_the_command_that_began_it_and_what_falls_then_is_scored(
    tmp_path: Path, temples: list[Temple], ending: signal.Signals
) -> None:
    temples.append(Temple(tmp_path / "state", free_port()).start())
    words = ("calibrate", "tlaloc", "--state", str(tmp_path / "state"))
    with subprocess.Popen(
        command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True
    ) as first:
        assert first.stdout is not None
        first.stdout.readline()
        eventually(lambda: temples[0].drop("tlaloc") and "test" in temples[0].ledger()[-1]["flags"])
        first.send_signal(ending)
    eventually(lambda: temples[0].drop("tlaloc") and "test" not in temples[0].ledger()[-1]["flags"])
