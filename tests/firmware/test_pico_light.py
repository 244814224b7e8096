"""Light before a Pico's beams, in its own files: what it counts, and what it doubts of it, as the controller does."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from importlib import import_module as module
from pathlib import Path
from typing import Any

import pytest

from controller.core.counting import Limits
from controller.simulation.fast import play_fast
from controller.simulation.parser import Script, variants
from controller.simulation.timeline import Change, expand
from templo import contract
from templo.contract import Emitters, Flag, God
from tests.firmware.test_pico_restored import new_id

ROOT = Path(__file__).parents[2]
SCENARIOS = {
    f"{file.stem} {name}": script
    for pattern in ("light/*.toml", "controls/*.toml", "switched*.toml")
    for file in sorted((ROOT / "controller" / "simulation" / "scenarios").glob(pattern))
    for name, script in variants(file.read_bytes(), file.name).items()
}
PINS = {God.HUITZILOPOCHTLI: 16, God.TLALOC: 17}
TURN_US = 5_000
BOOT_US = 3_000_000

Counted = Mapping[God, list[str]]
"""For each god why each token waits for a person, in order: a jam or the reason of a doubt; empty for the others."""


class Companion:
    """A link to a companion that stores and acknowledges at once."""

    up = True

    def __init__(self) -> None:
        self.tokens: dict[str, God] = {}
        self.reasons: dict[str, str] = {}
        self.replies: list[Any] = []
        self._inbox: list[Any] = ["up"]
        self._stored = 0

    def turn(self, now_ms: int, will: bytes) -> list[Any]:
        found, self._inbox = self._inbox, []
        return found

    def ask(self, command: contract.Command) -> None:
        """Send a command with the next turn."""
        self._inbox.append(("templo/templo/command", contract.encode(command), False))

    def room(self) -> bool:
        return True

    def publish(self, topic: str, payload: bytes, retain: bool = False) -> bool:
        said, leaf = json.loads(payload), topic.split("/")[-1]
        if leaf == "doubt":
            assert said["number"] == self._stored + 1
            self._stored += 1
            for token in said["tokens"]:
                self.reasons.setdefault(token, said["reason"])
        elif leaf == "reply":
            self.replies.append(said["result"])
        elif leaf == "token":
            self.tokens[said["token"]] = God(said["god"])
            if "jam" in said["flags"]:
                self.reasons[said["token"]] = "jam"
        if leaf in ("doubt", "token"):
            last = said.get("seq", len(self.tokens))
            ack = {"v": 1, "source": said["source"], "seq": last, "doubts": self._stored}
            self._inbox.append((topic.replace(leaf, "ack"), json.dumps(ack).encode(), False))
        return True

    def counted(self) -> Counted:
        return {god: [self.reasons.get(token, "") for token, of in self.tokens.items() if of is god] for god in God}


def pico(folder: Path, script: Script) -> tuple[Counted, Mapping[God, set[str]]]:
    """Play a scenario to the Pico's files, and return what its companion has and what its temple finds."""
    world, timeline, limits = module("world"), expand(script), script.limits(Limits())
    world.reset()
    world.pass_to(0)
    for god, dark in timeline.dark.items():
        world.put(PINS[god], int(not dark))
    us = [None if each is None else each // 1000 for each in (limits.band, limits.narrow)]
    own = module("slots").Limits(
        limits.min_break // 1000, limits.min_clear // 1000, limits.max_break // 1000, limits.flicker, *us,
        limits.fastest,
    )  # fmt: skip
    beams = [module("beams").Beam(n, PINS[god], own.min_clear, lambda: world.now_us) for n, god in enumerate(God)]
    companion = Companion()

    def switch(lit: int) -> None:
        """Let each receiver answer as the scenario says, where its level shows it."""
        answers = timeline.answers((world.now_us - BOOT_US) * 1000, True)
        for god, answer in (answers or {}).items():
            world.put(PINS[god], int(not (answer.lit_dark if lit else answer.unlit_dark)))

    def pulse() -> Any:
        own_us, sleep_us = (lambda: world.now_us), (lambda us: world.pass_to(world.now_us + us))
        return module("proof").send(switch, beams, own_us, sleep_us)

    temple = module("temple").Temple(
        {"temple": "templo"}, module("calibration").Calibration(own), beams,
        lambda: module("ledger").Ledger(str(folder), new_id), companion, "c" * 32, lambda: 1795286527123, 0,
        pulse=None if script.emitters is Emitters.FIXED else pulse,
    )  # fmt: skip
    changes = [each for each in timeline.moments if isinstance(each, Change)]
    moves = iter([(BOOT_US + each.at_ns // 1000, PINS[each.god], int(not each.dark)) for each in changes])
    move = next(moves, None)
    for turn_us in itertools.count(TURN_US, TURN_US):
        while move is not None and move[0] <= turn_us:
            world.pass_to(move[0])
            world.put(*move[1:])
            move = next(moves, None)
        world.pass_to(turn_us)
        temple.turn(turn_us // 1000)
        if move is None and turn_us > BOOT_US + timeline.end_ns // 1000 + 1_500_000:
            break
    temple.ledger.close()
    return companion.counted(), {
        god: {code for code, _ in found} for god, found in zip(God, temple.findings(), strict=True)
    }


def controller(folder: Path, script: Script) -> Counted:
    ids = (f"{number:032x}" for number in itertools.count(1))
    played = play_fast(script, Limits(), folder / "ledger.sqlite3", lambda: next(ids))
    with closing(sqlite3.connect(folder / "ledger.sqlite3")) as ledger:
        reasons = {
            token: reason
            for reason, tokens in ledger.execute("SELECT reason, tokens FROM doubt ORDER BY number DESC")
            for token in tokens.split()
        }
    assert set(reasons) == played.doubted
    return {
        god: [
            "jam" if Flag.JAM in each.flags else reasons.get(each.token, "")
            for each in played.tokens
            if each.god is god
        ]
        for god in God
    }


@pytest.mark.parametrize("script", SCENARIOS.values(), ids=SCENARIOS)
def test_a_pico_counts_and_doubts_in_each_scenario_what_the_controller_does(tmp_path: Path, script: Script) -> None:
    (found, findings), expected = pico(tmp_path / "pico", script), controller(tmp_path, script)
    for god in God:
        assert [bool(reason) for reason in found[god]] == [bool(reason) for reason in expected[god]]
        # Two that are 2 ms apart may be together by one clock and not by the other, which counts steps of 20 us.
        assert sum(one != other for one, other in zip(found[god], expected[god], strict=True)) <= 1
    assert {god: findings[god] for god in script.expected.findings} == dict(script.expected.findings)
    for god, most in script.expected.scored.items():
        assert found[god].count("") <= most
