"""A daemon that a wrong setting stops publishes it once, retained, and ends: the temple's page says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.app.settings import broker_in_spite_of
from templo.contract import State, Trouble
from templo.liveness import EXIT_MISCONFIGURED
from tests.brokers import HOST
from tests.controller.program import Companion
from tests.liveness.conftest import PATIENCE_S, Bench, Watched

WRONG = ("--set", "counting.min_break_ms=-1")


def test_a_wrong_setting_is_published_for_the_page_and_stays_there(bench: Bench, tmp_path: Path) -> None:
    words = ["run", "--broker", f"{HOST}:{bench.broker.port}", "--state", str(bench.state("temple")), *WRONG]
    temple = Watched(tmp_path, "temple", ["-m", "controller", *words])
    bench.watched.append(temple)
    assert temple.process.wait(PATIENCE_S) == EXIT_MISCONFIGURED
    assert temple.log().count("counting.min_break_ms is '-1'") == 1
    assert temple.listen(PATIENCE_S, lambda: any("cannot start: counting.min" in each for each in temple.received))
    with Companion(bench.broker.port) as companion:
        companion.until(companion.statuses)
        (status,) = companion.statuses()
    assert (status.state, status.trouble, status.source) == (State.ALERT, Trouble.MISCONFIGURED, None)


def test_a_temple_with_the_setting_mended_takes_its_place(bench: Bench, tmp_path: Path) -> None:
    words = ["-m", "controller", *bench.words("controller", "temple")]
    wrong = Watched(tmp_path, "wrong", [*words, *WRONG])
    bench.watched.append(wrong)
    assert wrong.process.wait(PATIENCE_S) == EXIT_MISCONFIGURED
    with Companion(bench.broker.port) as companion:
        companion.until(companion.statuses)
        right = Watched(tmp_path, "right", words)
        bench.watched.append(right)
        right.ready()
        companion.until(lambda: companion.statuses()[-1].state is State.READY)
        assert [each for each in companion.statuses() if each.trouble is Trouble.NAME_TAKEN] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('temple = "attic"\n[broker]\nport = 1999\n[counting]\nmin_break_ms = -1\n', ("attic", 1999)),
        ("[broker]\nport = 1999\n[beams]\ntlaloc = 99\n", ("templo", 1999)),
        ('lgo = "info"\n', ("templo", 1883)),
        ("this is no TOML", ("templo", 1883)),
        ('temple = "No Name"\n', None),
        ("[broker]\nport = 0\n", None),
        ("[broker]\nprot = 1999\n", None),
        ('[broker]\npassword_file = "/nowhere/to/be/found"\n', None),
    ],
)
def test_the_broker_is_known_unless_its_own_settings_are_wrong(
    tmp_path: Path, text: str, found: tuple[str, int] | None
) -> None:
    file = tmp_path / "controller.toml"
    file.write_text(text)
    given = broker_in_spite_of(file=file, environ={}, flags={}, home=tmp_path)
    assert (given and (given[0], given[1].port)) == found
