"""A board that counts by itself: its lines, its cable, and that each of its tokens is recorded once."""

from __future__ import annotations

import itertools
import os
import queue
import subprocess
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.adapters import learned_file, serial_protocol
from controller.adapters.serial_board import SerialBoard
from controller.adapters.serial_protocol import Greeting, Session, TokenLine, UnknownTokens, read, written
from controller.adapters.sqlite_ledger import Ledger
from controller.app.explanations import FINDINGS
from controller.core.calibration import Calibration
from controller.core.counting import MS, SECOND, Detection, Limits
from controller.core.learned_limits import Measured
from controller.core.ledger_access import LedgerAccess
from controller.core.messages import (
    BoardCursor,
    BoardFault,
    BoardHello,
    BoardStatus,
    BoardToken,
    PipelineMessage,
    SelftestRequest,
)
from controller.core.pipeline import Pipeline
from controller.core.ports import BackendContext, Host, Level
from controller.core.publisher import Identity
from controller.core.settings import BeamSettings
from controller.core.slots import Slots
from templo.contract import Beam, Flag, God, Kind, State, Timing, Trouble
from tests.brokers import free_port
from tests.controller.program import command, environment
from tests.controller.rig import NOON, Broker
from tests.waiting import eventually

NAME = "b" * 32
HELLO = written("H", 1, NAME, "1.0.0", 1, 3, 0)
HEALTH = written("B", "c", "c", 0, 0, 0, 0, 0, 0, 0)


def token(seq: int, god: str = "t", total: int = 0, flags: int = 0, age: object = None) -> bytes:
    """Return a token's line, by default as if it had fallen a while after the one before."""
    return written("T", seq, god, flags, 12_000, _age(seq) if age is None else age, total)


def _age(seq: int) -> int:
    return max(0, 60_000 - 300 * seq - seq % 2 * 90)


def begun(limits: Limits | None = None) -> Session:
    one = Session(limits or Limits(), 0)
    one.advance(0)
    assert one.out.popleft() == written("?")
    return one


def welcomed(cursor: BoardCursor = BoardCursor(0, 0), hello: bytes = HELLO) -> Session:  # noqa: B008 (a value)
    one = begun()
    (greeting,) = one.take(hello, MS)
    assert isinstance(greeting, Greeting)
    one.welcome(greeting, cursor)
    one.out.clear()
    return one


def tokens_of(happened: Any) -> list[tuple[int, God]]:
    return [(each.cursor.seq, each.god) for each in happened if isinstance(each, TokenLine)]


# -- lines --


@given(st.binary(max_size=300))
def test_bytes_of_any_kind_are_a_line_or_none_and_break_no_conversation(data: bytes) -> None:
    read(data)
    one = welcomed()
    list(one.take(data, SECOND))
    list(one.take(written("T", *(part.hex() for part in data.split(b"\n"))), SECOND))
    assert tokens_of(one.take(b"\n" + token(1), SECOND)) == [(1, God.TLALOC)]


@given(st.binary(min_size=1, max_size=60), st.integers(0, 63), st.integers(1, 255))
def test_a_line_that_was_changed_on_its_way_is_no_line(text: bytes, at: int, bits: int) -> None:
    line = bytearray(written(text.hex())[:-1])
    assert read(bytes(line)) == [text.hex()]
    line[at % len(line)] ^= bits
    assert read(bytes(line)) is None


def test_a_half_line_waits_for_its_other_half() -> None:
    one = welcomed()
    line = token(1)
    assert tokens_of(one.take(line[:9], SECOND)) == []
    assert tokens_of(one.take(line[9:] + token(2)[:3], SECOND)) == [(1, God.TLALOC)]
    assert tokens_of(one.take(token(2)[3:], SECOND)) == [(2, God.TLALOC)]


def test_a_token_that_comes_twice_is_passed_over_and_one_that_comes_early_is_waited_for() -> None:
    one = welcomed()
    assert tokens_of(one.take(token(1) + token(1) + token(3), SECOND)) == [(1, God.TLALOC)]
    assert tokens_of(one.take(token(1) + token(2) + token(3), 2 * SECOND)) == [(2, God.TLALOC), (3, God.TLALOC)]


def test_a_board_that_never_sends_what_is_waited_for_is_asked_what_it_has() -> None:
    one = welcomed()
    list(one.take(token(3), SECOND))
    one.advance(2 * SECOND)
    assert not one.out
    one.advance(5 * SECOND)
    assert one.out[-1] == written("?")


def test_what_a_board_no_longer_knows_is_reported_as_tokens_without_a_width() -> None:
    """Its memory went round: 5 to 9 are gone, and two of them were Huitzilopochtli's."""
    one = welcomed(BoardCursor(4, 1), written("H", 1, NAME, "1.0.0", 10, 12, 4))
    happened = [each for each in one.take(token(10, "h", total=4), SECOND) if isinstance(each, TokenLine)]
    assert [each.cursor for each in happened] == [
        BoardCursor(5, 2), BoardCursor(6, 3), BoardCursor(7, 3), BoardCursor(8, 3),
        BoardCursor(9, 3), BoardCursor(10, 4),
    ]  # fmt: skip
    assert [each.counted.flags for each in happened] == [frozenset({Flag.MISSED_EDGE})] * 5 + [frozenset()]


def test_what_fell_before_a_boards_first_controller_is_recorded_though_its_memory_went_round(
    bench: Workbench,
) -> None:
    cable, one = bench.plug()
    bench.receive(cable, one, written("H", 1, NAME, "1.0.0", 31, 33, 0))
    bench.receive(cable, one, token(31, "h", total=12) + token(32, "t", total=12) + token(33, "h", total=13))
    seqs = bench.seqs()
    assert [seq for seq, _ in seqs] == list(range(1, 34))
    assert sum(god is God.HUITZILOPOCHTLI for _, god in seqs) == 13
    missed = [each.seq for each in bench.ledger.tokens() if Flag.MISSED_EDGE in each.flags]
    assert missed == list(range(1, 31))


def test_what_a_board_counted_for_another_ledger_and_can_no_longer_send_is_logged_and_not_invented(
    bench: Workbench, caplog: pytest.LogCaptureFixture, expects_warnings: None
) -> None:
    cable, one = bench.plug()
    bench.receive(cable, one, written("H", 1, NAME, "1.0.0", 31, 32, 20))
    bench.receive(cable, one, token(31, "h", total=12) + token(32, "t", total=12))
    assert [seq for seq, _ in bench.seqs()] == [1, 2]
    assert "the 10 tokens from 21 to 30" in caplog.text


def test_a_board_that_claims_to_have_lost_billions_of_tokens_adds_none_of_them(
    bench: Workbench, caplog: pytest.LogCaptureFixture, expects_warnings: None
) -> None:
    cable, one = bench.plug()
    last = 2**32 - 2
    bench.receive(cable, one, written("H", 1, NAME, "1.0.0", last, last + 1, 0))
    bench.receive(cable, one, token(last, "h", total=2**31) + token(last + 1, "t", total=2**31))
    assert bench.seqs() == [(1, God.HUITZILOPOCHTLI), (2, God.TLALOC)]
    assert cable.said[-1] == ["A", str(last + 1)]
    assert f"goes on with number {last} after 0" in caplog.text


@pytest.mark.parametrize("total", [0, 9])
def test_totals_that_contradict_the_numbers_say_nothing_of_the_tokens_between(total: int) -> None:
    one = welcomed(BoardCursor(4, 3), written("H", 1, NAME, "1.0.0", 10, 12, 4))
    happened = list(one.take(token(10, "t", total=total), SECOND))
    assert happened[0] == UnknownTokens(NAME, 5, 9)
    assert tokens_of(happened) == [(10, God.TLALOC)]


def test_a_token_that_a_worn_cell_lost_is_made_good_by_the_next_one_s_totals() -> None:
    one = welcomed()
    happened = tokens_of(one.take(written("T", 1, "?") + token(2, "t", total=1), SECOND))
    assert happened == [(1, God.HUITZILOPOCHTLI), (2, God.TLALOC)]


# -- what may be wrong --


def problem(one: Session) -> str | None:
    return None if one.problem is None else one.problem.code


def test_a_board_that_says_nothing_is_silent_and_one_that_speaks_again_is_well() -> None:
    one = begun()
    one.advance(6 * SECOND)
    assert problem(one) == "board_silent"
    list(one.take(HELLO, 7 * SECOND))
    assert problem(one) is None


@pytest.mark.parametrize(("days", "timed"), [(47, True), (49, False)])
def test_an_age_that_no_clock_of_32_bits_can_give_is_none(days: int, timed: bool) -> None:
    age_ms = days * 86_400_000
    (happened,) = welcomed().take(token(1, age=age_ms), 60 * 86_400 * SECOND)
    assert isinstance(happened, TokenLine)
    assert happened.timed == timed
    assert not timed or happened.counted.start_ns == (60 - days) * 86_400 * SECOND


def test_a_foreign_device_is_distinguished_from_a_silent_board() -> None:
    one = begun()
    for second in range(1, 7):
        list(one.take(b"$GPGGA,123519,4807.038,N,01131.000,E*47\r\n", second * SECOND))
    assert problem(one) == "foreign_device"


def test_a_board_of_another_version_is_named_and_never_counted_with() -> None:
    one = begun()
    assert list(one.take(written("H", 2, NAME, "9.9.9", 1, 3, 0, "news"), SECOND)) == []
    assert list(one.take(token(1), SECOND)) == []
    assert one.problem is not None
    assert one.problem.facts == {"speaks": 2, "expected": 1}
    list(one.take(HELLO, 2 * SECOND))
    assert problem(one) is None


def test_noise_on_the_cable_is_reported_and_loses_nothing() -> None:
    one = welcomed()
    for number in range(6):
        list(one.take(b"T 1 t 0 12\x00\xff*0000\n", SECOND + number))
    assert problem(one) == "line_noise"
    assert tokens_of(one.take(token(1), 2 * SECOND)) == [(1, God.TLALOC)]
    list(one.take(HEALTH, 62 * SECOND))
    assert problem(one) is None


def test_every_finding_of_a_board_has_words_and_a_remedy() -> None:
    for code in ("no_board", "board_silent", "foreign_device", "other_protocol", "board_worn", "line_noise"):
        assert code in FINDINGS


# -- from the cable to the ledger --


class Cable:
    """A port whose other end is a test's."""

    def __init__(self) -> None:
        self.said: list[list[str]] = []
        self.to_read = b""
        self.pulled = False

    @property
    def in_waiting(self) -> int:
        return len(self.to_read)

    def read(self, size: int) -> bytes:
        if self.pulled:
            raise OSError(5, "Input/output error")
        data, self.to_read = self.to_read[:size], self.to_read[size:]
        return data

    def write(self, data: bytes) -> None:
        self.said += [words for line in data.split(b"\n")[:-1] if (words := read(line)) is not None]

    def close(self) -> None:
        pass


def context(monotonic_ns: Callable[[], int], new_id: Callable[[], str]) -> BackendContext:
    beams = BeamSettings(17, 27, "low", "up", "serial:/dev/ttyACM0")
    return BackendContext(beams, Limits(), Path("unused"), monotonic_ns, new_id)


class Workbench:
    """Board, pipeline and ledger, run by hand: what the board's thread would do is done step by step."""

    def __init__(self, folder: Path) -> None:
        self.now_ns = 1000 * SECOND
        self.items: list[PipelineMessage] = []
        self.path = folder / "ledger.sqlite3"
        ids = (f"{number:032x}" for number in itertools.count(1))
        self.new_id: Callable[[], str] = lambda: next(ids)
        self.broker = Broker()
        self.board = SerialBoard(context(lambda: self.now_ns, self.new_id))
        self.board._put = self.items.append  # as `open` does, without its thread
        self.pipeline = self.started()

    def started(self) -> Pipeline:
        self.ledger = Ledger.open(self.path, self.new_id)
        self.slots = Slots(self.board, {god: Level(False, self.now_ns) for god in God}, Limits())
        return Pipeline(
            identity=Identity("templo", "a" * 32, Kind.ARDUINO, "1.0.0", Timing.CALLBACK),
            slots=self.slots,
            access=LedgerAccess(lambda: self.ledger),
            link=self.broker,
            host=Host(lambda: self.now_ns, lambda: NOON, self.new_id),
            calibration=Calibration(Limits()),
            items=queue.SimpleQueue(),
        )

    def plug(self) -> tuple[Cable, Session]:
        cable = Cable()
        return cable, Session(Limits(), self.now_ns)

    def receive(self, cable: Cable, one: Session, data: bytes) -> None:
        """Let bytes arrive, be processed, and be answered."""
        for happened in one.take(data, self.now_ns):
            self.board._take(one, happened)
        self.settle()
        while not self.board._answers.empty():
            self.board._answers.get_nowait()(one)
        cable.write(b"".join(one.out))
        one.out.clear()

    def settle(self) -> None:
        items, self.items[:] = list(self.items), []
        self.pipeline.work(items)

    def seqs(self) -> list[tuple[int, God]]:
        return [(each.seq, each.god) for each in self.ledger.tokens()]


@pytest.fixture
def bench(tmp_path: Path) -> Any:
    made = Workbench(tmp_path)
    yield made
    made.ledger.abandon()


def test_a_token_is_acknowledged_to_the_board_only_after_it_is_durable(bench: Workbench) -> None:
    cable, one = bench.plug()
    bench.receive(cable, one, HELLO)
    assert cable.said[-1] == ["A", "0"]
    for happened in one.take(token(1), bench.now_ns):
        bench.board._take(one, happened)
    assert bench.board._answers.empty()
    bench.settle()
    assert bench.seqs() == [(1, God.TLALOC)]
    bench.receive(cable, one, b"")
    assert cable.said[-1] == ["A", "1"]


def test_tokens_across_a_replug_and_a_restart_of_the_controller_are_each_recorded_once(bench: Workbench) -> None:
    cable, one = bench.plug()
    bench.receive(cable, one, HELLO + token(1) + token(2, "h", 1))
    bench.receive(cable, one, token(1) + token(2, "h", 1))
    cable, one = bench.plug()  # the acknowledgements never arrived
    bench.receive(cable, one, HELLO)
    assert cable.said[-1] == ["A", "2"]
    bench.receive(cable, one, token(1) + token(2, "h", 1) + token(3, "t", 1))
    bench.ledger.close()
    bench.pipeline = bench.started()
    cable, one = bench.plug()
    bench.receive(cable, one, HELLO)
    assert cable.said[-1] == ["A", "3"]
    bench.receive(cable, one, token(3, "t", 1) + token(4, "t", 1))
    assert bench.seqs() == [(1, God.TLALOC), (2, God.HUITZILOPOCHTLI), (3, God.TLALOC), (4, God.TLALOC)]


def test_a_restored_ledger_takes_again_from_the_board_what_it_lacks_under_the_ids_it_had(
    bench: Workbench, tmp_path: Path
) -> None:
    cable, one = bench.plug()
    bench.receive(cable, one, HELLO)
    bench.receive(cable, one, token(1) + token(2, "h", 1))
    bench.ledger.close()
    copy = bench.path.read_bytes()
    bench.pipeline = bench.started()
    cable, one = bench.plug()
    bench.receive(cable, one, HELLO)
    bench.receive(cable, one, token(3, "t", 1) + token(4, "t", 1))
    bench.receive(cable, one, b"")
    assert cable.said[-1] == ["A", "4"]
    before = [(each.god, each.token) for each in bench.ledger.tokens()]
    bench.ledger.close()
    for file in tmp_path.iterdir():
        file.unlink()
    bench.path.write_bytes(copy)
    bench.pipeline = bench.started()
    cable, one = bench.plug()
    bench.receive(cable, one, written("H", 1, NAME, "1.0.0", 1, 4, 4))
    assert cable.said[-1] == ["A", "2"]  # the board goes back to there, although it was acknowledged
    bench.receive(cable, one, token(3, "t", 1) + token(4, "t", 1) + token(5, "t", 1))
    after = [(each.god, each.token) for each in bench.ledger.tokens()]
    assert after[:4] == before
    assert len({name for _, name in after}) == 5


def test_two_boards_have_each_their_own_numbers(bench: Workbench) -> None:
    other = written("H", 1, "c" * 32, "1.0.0", 1, 9, 5)
    for hello, first in ((HELLO, 1), (other, 6), (HELLO, 2), (other, 7)):
        cable, one = bench.plug()
        bench.receive(cable, one, hello)
        assert cable.said[-1] == ["A", str(first - 1)]
        bench.receive(cable, one, token(first))
    assert len(bench.seqs()) == 4


def test_a_new_board_gets_a_name_and_one_whose_memory_was_lost_gets_another(
    bench: Workbench, caplog: pytest.LogCaptureFixture, expects_warnings: None
) -> None:
    cable, one = bench.plug()
    bench.receive(cable, one, written("H", 1, "-", "1.0.0", 1, 0, 0))
    bench.receive(cable, one, b"")
    assert cable.said[-1][0] == "I"
    name = cable.said[-1][1]
    bench.receive(cable, one, written("H", 1, name, "1.0.0", 1, 5, 0))
    bench.receive(cable, one, b"".join(token(seq) for seq in range(1, 6)))
    bench.receive(cable, one, written("H", 1, name, "1.0.0", 1, 2, 0))
    assert cable.said[-1][0] == "I"
    assert cable.said[-1][1] != name
    assert "its memory was lost" in caplog.text
    bench.receive(cable, one, written("H", 1, cable.said[-1][1], "1.0.0", 1, 2, 0))
    bench.receive(cable, one, token(1) + token(2))
    assert len(bench.seqs()) == 7


def test_a_token_is_as_old_as_the_board_says_and_one_of_before_its_reset_is_no_news(bench: Workbench) -> None:
    bench.broker.up = True
    bench.pipeline.work([])
    cable, one = bench.plug()
    bench.receive(cable, one, HELLO)
    (old,) = [each for each in one.take(token(1, age="-"), bench.now_ns) if isinstance(each, TokenLine)]
    (new,) = [each for each in one.take(token(2, age=700), bench.now_ns) if isinstance(each, TokenLine)]
    assert (old.timed, new.timed) == (False, True)
    assert bench.now_ns - new.counted.start_ns == 700 * MS
    for each in (old, new):
        bench.board._take(one, each)
    fell = [item for item in bench.items if isinstance(item, BoardToken)]
    assert bench.now_ns - fell[0].fell_ns > 30 * SECOND
    assert bench.now_ns - fell[1].fell_ns < SECOND


def test_a_board_that_is_pulled_out_is_an_alert_with_its_finding_and_is_well_again_when_it_is_back(
    bench: Workbench, expects_warnings: None
) -> None:
    cable, one = bench.plug()
    bench.receive(cable, one, HELLO + HEALTH)
    assert bench.pipeline.reporter.status().state is State.READY
    bench.board._report(serial_protocol.Finding("no_board", {"errno": 5}))
    assert isinstance(bench.items[-1], BoardFault)
    bench.settle()
    status = bench.pipeline.reporter.status()
    assert (status.state, status.trouble) == (State.ALERT, Trouble.DEAF)
    assert set(status.beams.values()) == {Beam.UNKNOWN}
    results: list[Any] = []
    bench.pipeline.work([SelftestRequest(results.append)])
    assert results[0]["beams"]["tlaloc"]["findings"][0]["code"] == "no_board"
    bench.board._report(None)
    bench.receive(*bench.plug(), HELLO + HEALTH)
    assert bench.pipeline.reporter.status().state is State.READY


def test_the_beams_of_a_worn_board_stay_unknown_whatever_it_reports_of_them(
    bench: Workbench, expects_warnings: None
) -> None:
    cable, one = bench.plug()
    bench.receive(cable, one, HELLO + HEALTH)
    bench.board._report(serial_protocol.Finding("board_worn"))
    bench.settle()
    bench.receive(cable, one, HEALTH)
    assert set(bench.pipeline.reporter.status().beams.values()) == {Beam.UNKNOWN}
    bench.board._report(None)
    bench.settle()
    assert set(bench.pipeline.reporter.status().beams.values()) == {Beam.CLEAR}


def test_glitches_and_missed_edges_are_counted_through_a_reset_of_the_board(
    bench: Workbench, expects_warnings: None
) -> None:
    bench.receive(*bench.plug(), written("B", "c", "j", 5, 2, 0, 1, 0, 1, 0))
    bench.receive(*bench.plug(), written("B", "c", "c", 1, 2, 0, 0, 0, 0, 0))
    noise = bench.pipeline.reporter.noise()
    assert noise.glitches == {God.HUITZILOPOCHTLI: 6, God.TLALOC: 2}
    assert noise.missed_edges == {God.HUITZILOPOCHTLI: 0, God.TLALOC: 1}


def test_a_token_wider_than_the_learned_band_is_an_overlap_whoever_counted_it(bench: Workbench) -> None:
    slot = bench.slots.board_slots[God.TLALOC]
    slot.learn(Limits(band=10 * MS))
    bench.receive(*bench.plug(), b"")
    cable, one = bench.plug()
    bench.receive(cable, one, HELLO)
    bench.receive(cable, one, token(1))
    (recorded,) = bench.ledger.tokens()
    assert recorded.flags == {Flag.OVERLAP}


def test_the_thread_meets_a_board_loses_it_and_finds_it_again(expects_warnings: None) -> None:
    cables = [Cable(), Cable()]
    items: list[PipelineMessage] = []
    order = iter([OSError(2, "No such file or directory"), cables[0], cables[1]])

    def open_port(name: str) -> Any:
        one = next(order, cables[1])
        if isinstance(one, OSError):
            raise one
        return one

    from controller.adapters import serial_board as board_module

    now = itertools.count(0, 10 * MS)
    beams = SerialBoard(context(lambda: next(now), lambda: "d" * 32), open_port)
    patience, board_module.RETRY_S = board_module.RETRY_S, 0.01
    try:
        beams.open(items.append)
        eventually(lambda: any(isinstance(item, BoardFault) and item.finding is not None for item in items))
        cables[0].to_read = HELLO + HEALTH
        eventually(lambda: any(isinstance(item, BoardHello) for item in items))
        assert any(isinstance(item, BoardStatus) for item in items)
        met = next(item for item in items if isinstance(item, BoardHello))
        met.respond(BoardCursor(0, None))
        eventually(lambda: ["A", "0"] in cables[0].said)
        cables[0].pulled = True
        cables[1].to_read = HELLO
        eventually(lambda: sum(isinstance(item, BoardHello) for item in items) == 2)
        assert beams.alive()
    finally:
        beams.close()
        board_module.RETRY_S = patience
    assert not beams.alive()


def test_a_board_counts_by_the_learned_limits_from_the_start_of_the_controller(tmp_path: Path) -> None:
    learned_file.save(tmp_path, {God.TLALOC: Measured(2 * MS, 400 * MS, 10)})
    limits = Calibration(Limits(), known=learned_file.load(tmp_path)).limits
    controller, board = os.openpty()
    tty.setraw(controller)
    words = ["--beams", f"serial:{os.ttyname(board)}", "--broker", f"127.0.0.1:{free_port()}"]
    with (
        open(controller, "r+b", buffering=0) as cable,  # noqa: PTH123 (a descriptor)
        subprocess.Popen(command("run", *words, "--state", str(tmp_path)), env=environment()) as running,
    ):
        lines = (read(line.rstrip(b"\n")) for line in iter(cable.readline, b""))
        for sent in filter(None, lines):
            if sent[0] == "?":
                cable.write(HELLO)
            elif sent[0] == "L":
                break
        running.terminate()
    os.close(board)
    assert sent[1:4] == [str(each // 1000) for each in (limits.min_break, limits.min_clear, limits.max_break)]


def test_a_counted_token_keeps_its_shape() -> None:
    one = welcomed()
    (happened,) = one.take(token(1, "h", total=1, flags=3, age=5), SECOND)
    assert happened == TokenLine(
        NAME,
        BoardCursor(1, 1),
        God.HUITZILOPOCHTLI,
        Detection(SECOND - 5 * MS, 12 * MS, frozenset({Flag.JAM, Flag.MISSED_EDGE})),
        True,
    )
