"""Commands to a Pico: its own files, running, with a real broker between them and the contract."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion

from controller.adapters import home_assistant
from controller.core import learned_limits
from controller.core.counting import Limits
from controller.core.publisher import Identity
from firmware.tests.pico_pio import NODE
from templo import contract
from templo.contract import CommandName, Flag, God, Kind, Reply, State, Timing, Trouble
from tests.brokers import HOST, Broker, mosquitto
from tests.controller.program import Companion

HERE = Path(__file__).parent
TLALOC, HUITZILOPOCHTLI = "t", "h"
SETTINGS = {
    "min_break_ms": 3, "min_clear_ms": 5, "max_break_ms": 250, "flicker_per_s": 60, "fastest_per_s": 20,
    "band_ms": None, "narrow_ms": None,
}  # fmt: skip
PYTHONS: dict[str, Callable[[Path], list[str]]] = {
    "cpython": lambda folder: [sys.executable, str(HERE / "pico_cpython.py"), str(folder)],
    "micropython": lambda folder: [
        "node", str(HERE / "micropython.mjs"), str(NODE), str(HERE / "pico_micropython.py"), str(folder),
    ],
}  # fmt: skip


@dataclass
class Board:
    """A running Pico, its companion at the broker, and control of its beams."""

    process: subprocess.Popen[str]
    companion: Companion
    asked: set[str] = field(default_factory=set)

    def do(self, words: str) -> None:
        """Send the board's runner an instruction: see pico_run."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{words}\n")
        self.process.stdin.flush()

    def fall(self, slot: str, *widths_us: int) -> None:
        """Let tokens fall, each seen before the next comes."""
        for width in widths_us:
            before = len(self.companion.kept)
            self.do(f"D {slot} {width}")
            self.companion.until(lambda before=before: len(self.companion.kept) > before)

    def command(self, name: CommandName, **more: Any) -> contract.Command:
        """Return a command that is good for a minute."""
        return contract.Command(uuid.uuid4().hex, name, datetime.now(UTC) + timedelta(minutes=1), **more)

    def answers(self, command: contract.Command) -> list[Reply]:
        return [reply for reply in self.companion.replies() if reply.id == command.id]

    def ask(self, name: CommandName, **more: Any) -> Reply:
        """Send a command and wait for the reply."""
        return self.put(self.command(name, **more))

    def put(self, command: contract.Command) -> Reply:
        self.companion.say(command)
        answers: list[Reply] = self.companion.until(lambda: self.answers(command))
        return answers[-1]

    def settled(self) -> int:
        """Wait until nothing is on its way any more; return how many tokens were received, repeats included."""
        while True:  # seldom: a board remembers only so many commands
            report = self.ask(CommandName.IDENTIFY).result
            assert report is not None
            if report["waiting"] == 0:
                return len(self.companion.tokens())
            time.sleep(0.5)

    def notices(self, *codes: str) -> contract.Status:
        """Wait for a status with exactly these notices."""

        def latest() -> contract.Status | None:
            status = self.companion.statuses()[-1]
            return status if tuple(each.code for each in status.notices) == codes and status.source else None

        found: contract.Status = self.companion.until(latest)
        return found

    def begin(self, command: contract.Command, times: int = 1) -> None:
        """Send a command that is answered later, and wait until it was accepted."""
        for _ in range(times):
            self.companion.say(command)
        assert self.ask(CommandName.IDENTIFY).ok

    def glitches(self, god: God) -> int:
        """Return how many of a beam were reported last."""
        said = [each for each in list(self.companion.received) if isinstance(each, contract.Noise)]
        return said[-1].glitches[god]

    def refusal(self, name: CommandName, **more: Any) -> str | None:
        """Send a command that is refused, and return the reason."""
        reply = self.ask(name, **more)
        assert not reply.ok
        assert reply.result is None
        assert reply.error
        return reply.code

    def findings(self, until: Callable[[contract.Findings], Any]) -> contract.Findings:
        """Wait for findings of which something holds."""

        def latest() -> contract.Findings | None:
            said = [each for each in list(self.companion.received) if isinstance(each, contract.Findings)]
            return said[-1] if said and until(said[-1]) else None

        found: contract.Findings = self.companion.until(latest)
        return found

    def codes(self, god: God, *codes: str) -> contract.Findings:
        """Wait until exactly this is wrong with a beam."""
        return self.findings(lambda said: tuple(each.code for each in said.beams[god]) == codes)


Start = Callable[..., Board]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with mosquitto(tmp_path_factory.mktemp("broker")) as running:
        yield running


class Proving(Companion):
    """Names in each acknowledgement the token that it kept, and its time; it acknowledges at each status too."""

    def say(self, message: contract.Message, retain: bool = False) -> None:
        if isinstance(message, contract.Ack):
            kept = self.kept[message.source, message.seq]
            message = contract.Ack(message.source, message.seq, kept.token, datetime.now(UTC))
        super().say(message, retain)

    def _on_message(self, client: Any, data: Any, arrived: paho.MQTTMessage) -> None:
        super()._on_message(client, data, arrived)
        _, leaf = contract.parse_topic(arrived.topic)
        if leaf != contract.Status.leaf:
            return
        source = self.statuses()[-1].source
        if source is not None and (seqs := [seq for of, seq in self.kept if of == source]):
            self.say(contract.Ack(source, max(seqs)))

    def different(self) -> set[str]:
        """Return the ids of all tokens that were kept."""
        return {token.token for token in self.kept.values()}


@pytest.fixture(params=PYTHONS)
def start(request: pytest.FixtureRequest, broker: Broker, tmp_path: Path) -> Iterator[Start]:
    """Start boards, each a temple of its own unless it is given a name, and end them."""
    with ExitStack() as stack:

        def started(
            acknowledges: bool = True, kind: type[Companion] = Companion, temple: str = "", **settings: Any
        ) -> Board:
            temple = temple or f"pico-{uuid.uuid4().hex[:12]}"
            folder = tmp_path / uuid.uuid4().hex
            folder.mkdir()
            chosen = {**SETTINGS, "temple": temple, "broker": HOST, "port": broker.port, **settings}
            story = [[10**12, "E"]]
            (folder / "job.json").write_text(
                json.dumps({"settings": chosen, "story": story, "speed": 1, "patience_s": 60})
            )
            companion = stack.enter_context(kind(broker.port, temple, name=folder.name))
            companion.acknowledges = acknowledges
            log = stack.enter_context((folder / "log").open("w"))
            process = stack.enter_context(
                subprocess.Popen(
                    PYTHONS[request.param](folder), stdin=subprocess.PIPE, stdout=log, stderr=log, text=True
                )
            )
            stack.callback(process.kill)
            companion.until(lambda: any(status.source for status in companion.statuses()))
            return Board(process, companion)

        yield started


# -- identify, selftest, drop, resend --


def test_identify_reports_who_is_there_as_a_pi_does(start: Start) -> None:
    board = start()
    board.fall(TLALOC, 12_000)
    result = board.ask(CommandName.IDENTIFY).result
    assert result is not None
    status = board.companion.statuses()[-1]
    assert (result["kind"], result["source"], result["session"]) == ("pico", status.source, status.session)
    assert result["totals"] == {"huitzilopochtli": 0, "tlaloc": 1}
    # What controller.core.pipeline.Pipeline.report holds, but for what is null.
    assert set(result) == {
        *("temple", "state", "kind", "software", "timing", "session", "source", "beams", "glitches", "missed_edges"),
        *("totals", "last_seq", "delivered", "waiting", "unrecorded"),
    }


def test_a_selftest_reports_what_was_seen_and_what_is_wrong(start: Start) -> None:
    board = start()
    board.fall(TLALOC, 9_000, 12_340, 15_000)
    result: Any = board.ask(CommandName.SELFTEST).result
    assert (result["state"], result["emitters"], result["limits"]["min_break_ms"]) == ("ready", "fixed", 3)
    tlaloc = result["beams"]["tlaloc"]
    assert (tlaloc["reads"], tlaloc["beam"], tlaloc["tokens"], tlaloc["edges"]) == ("clear", "clear", 3, 6)
    assert tlaloc["widths_ms"] == {"number": 3, "lowest": 9, "middle": 12.34, "highest": 15}
    assert tlaloc["findings"] == []
    other = result["beams"]["huitzilopochtli"]
    assert (other["widths_ms"], other["findings"]) == (None, [{"code": "unproved"}])
    board.do("t 0")
    board.codes(God.TLALOC, "blocked")
    result = board.ask(CommandName.SELFTEST).result
    assert (result["state"], result["beams"]["tlaloc"]["reads"]) == ("alert", "dark")
    assert result["beams"]["tlaloc"]["findings"][0]["code"] == "blocked"


def test_a_drop_is_one_test_token_however_often_its_command_comes(start: Start) -> None:
    board = start()
    command = board.command(CommandName.DROP, god=God.TLALOC)
    first = board.put(command)
    assert first.result == {"god": "tlaloc", "recorded": 1, "seq": 1}
    for times in (2, 3):
        board.companion.say(command)
        board.companion.until(lambda times=times: len(board.answers(command)) == times)
    assert set(map(str, board.answers(command))) == {str(first)}
    assert board.refusal(CommandName.DROP) == "no_god"
    identity: Any = board.ask(CommandName.IDENTIFY).result
    assert identity["last_seq"] == 1
    (token,) = board.companion.kept.values()
    assert (token.god, token.flags) == (God.TLALOC, {Flag.TEST, Flag.SIMULATED})


def test_resend_sends_everything_from_there_again(start: Start) -> None:
    board = start()
    board.fall(TLALOC, 10_000, 11_000, 12_000)
    before = board.settled()
    assert board.refusal(CommandName.RESEND) == "no_seq"
    assert board.refusal(CommandName.RESEND, seq=5) == "beyond"
    command = board.command(CommandName.RESEND, seq=2)
    assert board.put(command).result == {"from": 2, "last_seq": 3}
    board.companion.until(lambda: len(board.companion.tokens()) >= before + 2)
    again = board.companion.tokens()[before:][:2]
    assert [(token.seq, token.replayed) for token in again] == [(2, True), (3, True)]
    assert board.ask(CommandName.RESEND, seq=4).result == {"from": 4, "last_seq": 3}
    # It comes a second time after it was answered: nothing is sent again.
    sent = board.settled()
    board.companion.say(command)
    board.companion.until(lambda: len(board.answers(command)) == 2)
    assert board.settled() == sent


def test_a_flash_that_takes_nothing_refuses_and_is_reported_as_a_pi_reports_it(start: Start) -> None:
    board = start()
    board.do("W 1")
    board.do("D h 12000")
    board.companion.until(lambda: board.companion.statuses()[-1].trouble == "ledger_failing")
    assert board.codes(God.HUITZILOPOCHTLI, "board_worn").beams[God.TLALOC][0].code == "board_worn"
    assert board.refusal(CommandName.DROP, god=God.TLALOC) == "not_recorded"
    assert board.refusal(CommandName.RESEND, seq=1) == "ledger"
    board.do("W 0")
    board.companion.until(lambda: len(board.companion.kept) == 1)
    board.companion.until(lambda: board.companion.statuses()[-1].trouble is None)


# -- time --


def test_a_command_that_is_too_late_is_refused_and_one_before_the_time_is_known_too(start: Start) -> None:
    board = start(clock=False)
    assert board.codes(God.TLALOC, "unproved", "no_time").at.year == 1970
    for name in set(CommandName) - {CommandName.RESEND}:
        assert board.refusal(name, god=God.TLALOC, seq=1) == "no_time"
    assert board.ask(CommandName.RESEND, seq=1).ok
    board.fall(TLALOC, 12_000)
    board.do("C")
    assert abs(board.codes(God.TLALOC).at - datetime.now(UTC)) < timedelta(minutes=5)
    late = contract.Command(
        uuid.uuid4().hex, CommandName.DROP, datetime.now(UTC) - timedelta(minutes=10), god=God.TLALOC
    )
    assert board.put(late).code == "expired"
    assert board.ask(CommandName.DROP, god=God.TLALOC).result == {"god": "tlaloc", "recorded": 1, "seq": 2}


def test_the_companions_time_is_enough_for_a_board_without_a_time_server(start: Start) -> None:
    board = start(clock=False, kind=Proving)
    assert board.refusal(CommandName.IDENTIFY) == "no_time"
    board.fall(TLALOC, 12_000)
    board.codes(God.TLALOC)
    assert board.ask(CommandName.IDENTIFY).ok
    late = contract.Command(
        uuid.uuid4().hex, CommandName.DROP, datetime.now(UTC) - timedelta(minutes=10), god=God.TLALOC
    )
    assert board.put(late).code == "expired"
    board.fall(TLALOC, 12_000)
    assert abs(board.companion.tokens()[-1].at - datetime.now(UTC)) < timedelta(minutes=5)


# -- a flash that is not what it was --


def test_an_old_flash_that_is_written_back_loses_no_token_and_is_reported_until_it_is_dismissed(start: Start) -> None:
    board = start(kind=Proving)
    board.fall(TLALOC, 10_000, 11_000, 12_000)
    board.settled()
    board.do("K")
    board.fall(TLALOC, 13_000, 14_000)
    source = board.notices().source
    board.do("R")
    assert board.notices("ledger_restored").source != source
    board.settled()
    board.fall(TLALOC, 15_000, 16_000)
    companion = board.companion
    assert isinstance(companion, Proving)
    companion.until(lambda: len(companion.different()) == 7)  # one more than fell since may come: known by its id
    assert companion.clashes == []
    board.do("P 50000")
    board.companion.until(lambda: len({status.session for status in board.companion.statuses()}) == 3)
    assert board.notices("ledger_restored").state is State.ALERT
    assert board.refusal(CommandName.DISMISS) == "no_notice"
    for _ in range(2):
        assert board.ask(CommandName.DISMISS, notice="ledger_restored").ok
    assert board.notices().state is State.READY


def test_a_flash_full_of_nonsense_begins_anew_and_says_so(start: Start) -> None:
    board = start(kind=Proving)
    board.fall(TLALOC, 10_000, 11_000)
    source = board.notices().source
    board.settled()
    board.do("X")
    assert board.notices("ledger_damaged").source != source
    board.do("D t 12000")
    companion = board.companion
    assert isinstance(companion, Proving)
    companion.until(lambda: len(companion.different()) == 3)


def _flash(folder: Path) -> dict[str, str]:
    """Return a ledger of three tokens as the files of a flash."""
    program = (
        "import itertools, ledger, sys; number = itertools.count(1)\n"
        "one = ledger.Ledger(sys.argv[1], lambda: next(number).to_bytes(16, 'big'))\n"
        "one.record([(1, 0, 12_000, [])] * 3)\n"
        "one.close()\n"
    )
    modules = str(HERE.parent / "micropython")
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, env={"PYTHONPATH": modules})
    return {file.name: file.read_bytes().hex() for file in folder.iterdir()}


def test_two_boards_with_one_copied_flash_end_with_two_sources(start: Start, tmp_path: Path) -> None:
    flash, temple = _flash(tmp_path / "flash"), f"pico-{uuid.uuid4().hex[:12]}"
    first = start(kind=Proving, temple=temple, flash=flash)
    first.companion.until(lambda: len(first.companion.kept) == 3)
    second = start(kind=Proving, temple=temple, flash=flash, client="second", acknowledges=False)

    def parted() -> bool:
        last = {status.session: status for status in first.companion.statuses()}.values()
        notices = sorted(tuple(each.code for each in status.notices) for status in last)
        return notices == [(), ("ledger_cloned",)] and {status.trouble for status in last} == {Trouble.NAME_TAKEN}

    first.companion.until(parted)
    last = {status.session: status.source for status in first.companion.statuses()}
    assert len(set(last.values())) == 2
    for board in (first, second):
        board.do("D t 12000")
    assert isinstance(first.companion, Proving)
    companion = first.companion
    companion.until(lambda: len(companion.different()) == 5)
    assert companion.clashes == []


# -- calibrate --

WIDTHS = (10_000, 12_000, 14_000, 11_000)


def _limits(widths_us: tuple[int, ...]) -> dict[str, float | None]:
    """Return what a Pi would learn."""
    measured = learned_limits.measured([width * 1000 for width in widths_us])
    return learned_limits.to_dict(learned_limits.limits(Limits(), frozenset(), {God.TLALOC: measured}))


def test_a_calibration_learns_what_a_pi_learns_and_keeps_it_over_a_power_cut(start: Start) -> None:
    board = start()
    measuring = board.command(CommandName.CALIBRATE, god=God.TLALOC, count=len(WIDTHS))
    board.begin(measuring, times=2)
    busy = board.command(CommandName.CALIBRATE, god=God.HUITZILOPOCHTLI)
    assert board.put(busy).code == "calibrating"
    assert board.answers(measuring) == []
    board.do("D t 1000")
    board.companion.until(lambda: board.glitches(God.TLALOC) == 1)
    board.fall(TLALOC, *WIDTHS)
    board.companion.until(lambda: board.answers(measuring))
    proposal: Any = board.answers(measuring)[0].result
    assert all(abs(a - b / 1000) <= 0.01 for a, b in zip(proposal["widths_ms"], WIDTHS, strict=True))
    assert proposal["limits"] == learned_limits.to_dict(Limits())
    expected = _limits(tuple(round(width * 1000) for width in proposal["widths_ms"]))
    assert proposal["proposed"] == expected
    assert (proposal["glitches"], proposal["spoilt"], proposal["overruled"]) == (1, 0, [])
    assert {token.flags for token in board.companion.kept.values()} == {frozenset({Flag.TEST})}
    # Nothing is changed before a yes, and a yes for the other slot is none.
    assert board.refusal(CommandName.CALIBRATE, god=God.HUITZILOPOCHTLI, keep=True) == "no_proposal"
    board.do("W 1")
    assert board.refusal(CommandName.CALIBRATE, god=God.TLALOC, keep=True) == "not_saved"
    board.do("W 0")
    keep = board.command(CommandName.CALIBRATE, god=God.TLALOC, keep=True)
    for _ in range(2):
        assert board.put(keep).result == {"god": "tlaloc", "kept": True, "limits": expected}
    assert board.refusal(CommandName.CALIBRATE, god=God.TLALOC, keep=True) == "no_proposal"
    session = board.findings(lambda said: said.limits == expected).session
    board.do("P 50000")
    board.findings(lambda said: said.session != session and said.limits == expected)
    board.fall(TLALOC, 30_000)
    assert max(board.companion.kept.items())[1].flags == {Flag.OVERLAP}


def test_a_calibration_is_refused_forgotten_and_ended(start: Start) -> None:
    board = start(band_ms=40)
    assert board.refusal(CommandName.CALIBRATE) == "no_god"
    assert board.refusal(CommandName.CALIBRATE, god=God.TLALOC, count=101) == "bad_count"
    assert board.refusal(CommandName.CALIBRATE, god=God.TLALOC, keep=False) == "no_proposal"
    measuring = board.command(CommandName.CALIBRATE, god=God.TLALOC)
    board.begin(measuring)
    assert board.ask(CommandName.CALIBRATE, god=God.TLALOC, keep=False).ok
    assert [reply.code for reply in board.answers(measuring)] == ["ended"]
    one = board.command(CommandName.CALIBRATE, god=God.TLALOC, count=1)
    board.begin(one)
    board.fall(TLALOC, 20_000)
    board.companion.until(lambda: board.answers(one))
    proposal: Any = board.answers(one)[0].result
    assert proposal["overruled"] == ["counting.band_ms"]
    assert (proposal["proposed"]["band_ms"], proposal["proposed"]["narrow_ms"]) == (40, 12)
    forgotten: Any = board.ask(CommandName.CALIBRATE, god=God.TLALOC, keep=False).result
    assert (forgotten["kept"], forgotten["limits"]["narrow_ms"]) == (False, None)
    assert board.refusal(CommandName.CALIBRATE, god=God.TLALOC, keep=True) == "no_proposal"


# -- what it publishes by itself --


def test_a_machine_that_stands_still_is_reported_started_anew_and_counts_again(start: Start) -> None:
    board = start()
    board.fall(TLALOC, 12_000)
    session = board.codes(God.TLALOC).session
    board.do("S t")
    board.do("D t 60000")
    board.companion.until(lambda: any(status.trouble == "deaf" for status in board.companion.statuses()))
    board.codes(God.TLALOC, "deaf")
    board.fall(TLALOC, 13_000)
    assert board.codes(God.TLALOC, "was_deaf").session == session
    assert board.companion.statuses()[-1].state is State.READY
    assert max(board.companion.kept.items())[1].flags == {Flag.MISSED_EDGE}


def test_home_assistant_finds_a_pico_by_the_controllers_own_description(start: Start, broker: Broker) -> None:
    found: list[paho.MQTTMessage] = []
    board = start()
    temple = board.companion.temple
    client = paho.Client(CallbackAPIVersion.VERSION2, client_id=f"home-{temple}")
    client.on_message = lambda _client, _data, message: found.append(message)
    client.on_connect = lambda client, *_: client.subscribe(f"homeassistant/device/{temple}/config", 1)
    client.connect(HOST, broker.port)
    client.loop_start()
    try:
        until = time.monotonic() + 60
        while not found and time.monotonic() < until:
            time.sleep(0.02)
    finally:
        client.disconnect()
        client.loop_stop()
    software = board.companion.statuses()[-1].software
    identity = Identity(temple, "c" * 32, Kind.PICO, software, Timing.CALLBACK)
    topic, payload = home_assistant.announcement(identity)
    assert (found[0].topic, bytes(found[0].payload), found[0].retain) == (topic, payload, True)
