"""A Pico whose flash was restored, copied, damaged or lost: no token is lost or counted twice, and it says so."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from importlib import import_module as module
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from templo import contract
from templo.contract import CommandName

NOW_MS = 1_795_286_527_123
TOPIC = "templo/templo/"
_random = count(1)


def new_id() -> bytes:
    return next(_random).to_bytes(16, "big")


class Broker:
    """Passes on what temples publish, to each other and to a companion, and keeps each status."""

    def __init__(self) -> None:
        self.temples: list[Pico] = []
        self.all: list[Pico] = []
        self.companion: Companion | None = None
        self.status: bytes | None = None

    def take(self, topic: str, payload: bytes) -> None:
        if topic.endswith("/status"):
            self.status = payload
            for each in self.temples:
                each.link.inbox.append((topic, payload, False))
        if self.companion is not None:
            self.companion.take(topic.rpartition("/")[2], payload)


class Companion:
    """Stores each token once, by its id, and acknowledges with the id and its time, at each status too."""

    def __init__(self, broker: Broker, *, names: bool = True, at_ms: int | None = NOW_MS) -> None:
        self.names, self.at_ms = names, at_ms
        self.stored: dict[str, dict[int, str]] = {}
        self.counted: list[str] = []
        self.held: list[str] = []
        self.replies: list[contract.Reply] = []
        self._broker = broker
        broker.companion = self

    def take(self, leaf: str, payload: bytes) -> None:
        message = contract.decode(leaf, payload) if leaf in ("status", "token", "reply") else None
        if isinstance(message, contract.Token):
            own = self.stored.setdefault(message.source, {})
            if own.setdefault(message.seq, message.token) != message.token:
                self.held.append(message.token)
            elif message.token not in self.counted:
                self.counted.append(message.token)
            self.acknowledge(message.source)
        elif isinstance(message, contract.Status) and message.source is not None:
            self.acknowledge(message.source)
        elif isinstance(message, contract.Reply):
            self.replies.append(message)

    def acknowledge(self, source: str) -> None:
        own, seq = self.stored.get(source, {}), 0
        while seq + 1 in own:
            seq += 1
        if seq:
            at = None if self.at_ms is None else contract.parse_utc(module("wire").format_utc(self.at_ms))
            self.say(contract.Ack(source, seq, own[seq] if self.names else None, at))

    def say(self, message: contract.Message, *, retained: bool = False) -> None:
        for each in self._broker.temples:
            each.link.inbox.append((TOPIC + message.leaf, contract.encode(message), retained))


class Link:
    """A connection to the broker that stands whenever it is wanted."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self.up = False
        self.there = True
        self.inbox: list[Any] = []

    def turn(self, now_ms: int, will: bytes) -> list[Any]:
        if self.up != self.there:
            self.up = self.there
            if not self.up:
                return ["down"]
            retained = [(TOPIC + "status", self._broker.status, True)] if self._broker.status else []
            self.inbox = []
            return ["up", *retained]
        found, self.inbox = self.inbox, []
        return found if self.up else []

    def publish(self, topic: str, payload: bytes, retain: bool = False) -> bool:
        if self.up:
            self._broker.take(topic, payload)
        return self.up

    def room(self) -> bool:
        return self.up

    def leave(self) -> None:
        self.up = False


class Beam:
    """A beam on which tokens fall, each dark for 12 ms."""

    def __init__(self, clock_us: Callable[[], int]) -> None:
        self.fallen = self._seen = 0
        self._clock_us = clock_us

    def dark(self) -> bool:
        return False

    def spell(self) -> tuple[int, int] | None:
        if self._seen == self.fallen:
            return None
        self._seen += 1
        return self._clock_us() - 17_000, 12_000

    def lost(self) -> bool:
        return False

    def falls(self) -> int:
        return self.fallen

    def again(self) -> None:
        pass


class Pico:
    """One board: its flash in a folder, its own chip, and a clock that may not know the time of day."""

    def __init__(self, flash: Path, broker: Broker, *, board: str = "01", server: bool = False) -> None:
        self.flash, self._broker, self._board, self._server = flash, broker, board, server
        self._now_ms = 0
        self.refuses = False
        broker.temples.append(self)
        broker.all.append(self)
        self.start()

    def start(self) -> None:
        """Switch the board on."""
        self.flash.mkdir(exist_ok=True)
        self.session = new_id().hex()[::-1]
        self.link = Link(self._broker)
        self.beams = [Beam(lambda: self._now_ms * 1000) for _ in range(2)]
        self.clock = module("clock").Clock(lambda: self._now_ms * 1000, lambda later, earlier: later - earlier)
        if self._server:
            self.clock.set_by_server(NOW_MS, 0)
        notices = module("notices").Notices(self._board, str(self.flash / "notices.json"), self._replace)
        self.temple = module("temple").Temple(
            {"temple": "templo"}, module("calibration").Calibration(module("slots").Limits()), self.beams,
            lambda: module("ledger").Ledger(str(self.flash / "ledger"), new_id), self.link, self.session,
            self.clock.utc_ms, self._now_ms, None, notices, self.clock.suggested,
        )  # fmt: skip

    def off(self) -> None:
        """Cut the power."""
        self.link.there = self.link.up = False
        if self.temple.ledger is not None:
            self.temple.ledger.close()

    def restart(self) -> None:
        self.off()
        self.start()
        self.turn()

    def turn(self, seconds: float = 1) -> None:
        for _ in range(int(seconds * 20)):
            self._now_ms += 50
            self.temple.turn(self._now_ms)

    def fall(self, tokens: int) -> None:
        for number in range(tokens):
            self.beams[number % 2].fallen += 1
            self.turn(0.05)
        self.turn()

    def status(self) -> contract.Status:
        status = contract.decode("status", self.temple._status())
        assert isinstance(status, contract.Status)
        return status

    def notices(self) -> list[str]:
        return [each.code for each in self.status().notices]

    def _replace(self, old: str, new: str) -> None:
        if self.refuses:
            raise OSError(5)
        Path(old).replace(new)


@pytest.fixture
def broker() -> Iterator[Broker]:
    made = Broker()
    yield made
    for each in made.all:
        each.off()


def restored(pico: Pico, copy: Path) -> None:
    """Write an old image of the flash back while the board is off."""
    pico.off()
    shutil.rmtree(pico.flash)
    shutil.copytree(copy, pico.flash)
    pico.start()


def test_a_doubt_that_was_never_recorded_here_proves_that_an_old_flash_was_written_back(
    broker: Broker, tmp_path: Path
) -> None:
    companion, pico = Companion(broker), Pico(tmp_path / "flash", broker)
    pico.fall(3)
    ledger = pico.temple.ledger
    source, last = ledger.source, ledger.last_doubt
    for doubts in (last, last + 1):
        assert ledger.source == source
        companion.say(contract.Ack(source, 3, None, None, doubts))
        pico.turn(11)
    assert ledger.source != source
    assert pico.notices() == ["ledger_restored"]


def test_every_token_that_falls_after_an_old_flash_was_written_back_counts(broker: Broker, tmp_path: Path) -> None:
    companion, pico = Companion(broker), Pico(tmp_path / "flash", broker)
    pico.fall(20)
    shutil.copytree(pico.flash, tmp_path / "copy")
    pico.fall(40)
    source = pico.temple.ledger.source
    restored(pico, tmp_path / "copy")
    pico.turn()
    pico.fall(60)
    assert len(companion.counted) == 120
    assert companion.held == []
    assert pico.notices() == ["ledger_restored"]
    ledger = pico.temple.ledger
    assert ledger.source != source
    # The old flash did not know of its last acknowledgements: two tokens came again, and were known by their ids.
    assert (ledger.last_seq, pico.temple.window.delivered, sum(ledger.totals)) == (62, 62, 62)


@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("offline", [5, 60])
def test_tokens_that_fell_before_the_broker_was_there_count_too(
    broker: Broker, tmp_path: Path, offline: int, names: bool
) -> None:
    """By the token's id wherever there is one; by the number alone where nothing of it had been sent yet."""
    companion, pico = Companion(broker, names=names), Pico(tmp_path / "flash", broker)
    pico.fall(20)
    shutil.copytree(pico.flash, tmp_path / "copy")
    pico.fall(40)
    restored(pico, tmp_path / "copy")
    pico.link.there = False
    pico.fall(offline)
    pico.link.there = True
    pico.turn(40)
    assert len(companion.counted) == 60 + offline
    assert pico.notices() == ["ledger_restored"]


def test_what_was_not_yet_acknowledged_goes_on_under_the_new_source_with_its_own_ids(
    broker: Broker, tmp_path: Path
) -> None:
    companion, pico = Companion(broker), Pico(tmp_path / "flash", broker)
    pico.fall(10)
    pico.link.there = False
    pico.fall(4)
    shutil.copytree(pico.flash, tmp_path / "copy")
    pico.link.there = True
    pico.fall(6)
    assert len(companion.counted) == 20
    restored(pico, tmp_path / "copy")
    pico.turn(10)
    ledger = pico.temple.ledger
    assert (ledger.last_seq, ledger.totals) == (4, [2, 2])
    assert [companion.stored[ledger.source][seq] for seq in (1, 2, 3, 4)] == companion.counted[10:14]
    pico.restart()
    again = pico.temple.ledger
    assert (again.source, again.last_seq, again.totals) == (ledger.source, 4, [2, 2])
    pico.fall(100)
    assert len(companion.counted) == 120
    assert again.read(4)[0] == companion.counted[13]


def test_an_acknowledgement_of_a_token_that_the_flash_no_longer_holds_proves_nothing(
    broker: Broker, tmp_path: Path
) -> None:
    Companion(broker)
    pico = Pico(tmp_path / "flash", broker)
    pico.fall(800)
    ledger = pico.temple.ledger
    assert ledger.first > 1
    assert broker.companion is not None
    broker.companion.say(contract.Ack(ledger.source, 1, "f" * 32))
    broker.companion.say(contract.Ack(ledger.source, ledger.last_seq, ledger.name(ledger.last_seq)))
    pico.turn()
    assert pico.notices() == []


@pytest.mark.parametrize("names", [True, False])
def test_an_ordinary_restart_is_no_restored_flash_however_much_was_delivered_since_the_last_token(
    broker: Broker, tmp_path: Path, names: bool
) -> None:
    companion, pico = Companion(broker, names=names), Pico(tmp_path / "flash", broker)
    pico.link.there = False
    pico.fall(100)
    pico.link.there = True
    pico.turn(10)
    pico.restart()
    pico.turn(10)
    pico.fall(5)
    assert len(companion.counted) == 105
    assert pico.notices() == []


def test_nonsense_on_the_wire_cannot_wear_the_flash_out(broker: Broker, tmp_path: Path) -> None:
    companion, pico = Companion(broker), Pico(tmp_path / "flash", broker)
    pico.fall(3)
    sources = set()
    for _ in range(600):
        companion.say(contract.Ack(pico.temple.ledger.source, 2, "f" * 32))
        pico.turn(0.1)
        sources.add(pico.temple.ledger.source)
    assert len(sources) <= 8
    assert len(list((tmp_path / "flash" / "ledger").iterdir())) <= 6
    pico.fall(5)
    pico.turn(10)
    assert len(companion.counted) == 8


def test_a_full_flash_can_still_begin_a_new_source(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module("ledger"), "SEGMENT", 9)
    monkeypatch.setattr(module("ledger"), "MOST", 6)
    companion, pico = Companion(broker), Pico(tmp_path / "flash", broker)
    pico.fall(3)
    shutil.copytree(pico.flash, tmp_path / "copy")
    pico.fall(3)
    restored(pico, tmp_path / "copy")
    pico.link.there = False
    pico.fall(60)
    assert pico.status().trouble is contract.Trouble.LEDGER_FULL
    pico.link.there = True
    pico.turn(30)
    assert pico.notices() == ["ledger_restored"]
    assert len(companion.counted) == 66
    assert pico.status().trouble is None


# -- notices --


def dismissed(pico: Pico, companion: Companion, code: str | None) -> contract.Reply:
    at = contract.parse_utc(module("wire").format_utc(NOW_MS + 60_000))
    companion.say(contract.Command(new_id().hex(), CommandName.DISMISS, at, notice=code))
    pico.turn()
    return companion.replies[-1]


def test_a_notice_stands_through_restarts_until_it_is_dismissed(broker: Broker, tmp_path: Path) -> None:
    companion, pico = Companion(broker), Pico(tmp_path / "flash", broker)
    pico.fall(3)
    shutil.copytree(pico.flash / "ledger", tmp_path / "copy")
    pico.fall(3)
    pico.off()
    shutil.rmtree(pico.flash / "ledger")
    shutil.copytree(tmp_path / "copy", pico.flash / "ledger")
    pico.start()
    pico.fall(1)
    for _ in range(3):
        assert pico.notices() == ["ledger_restored"]
        assert pico.status().state is contract.State.ALERT
        pico.restart()
    assert abs(pico.status().notices[0].at.timestamp() - NOW_MS / 1000) < 600
    pico.fall(1)
    assert dismissed(pico, companion, None).code == "no_notice"
    for _ in range(2):
        assert dismissed(pico, companion, "ledger_restored").ok
    assert (pico.notices(), pico.status().state) == ([], contract.State.READY)
    pico.restart()
    assert pico.notices() == []


def test_a_notice_from_before_the_time_was_known_gets_the_time_at_which_it_is(broker: Broker, tmp_path: Path) -> None:
    pico = Pico(tmp_path / "flash", broker)
    pico.fall(3)
    pico.off()
    shutil.rmtree(pico.flash / "ledger")
    pico.start()
    pico.turn()
    assert [(each.code, each.at.year) for each in pico.status().notices] == [("ledger_missing", 1970)]
    Companion(broker)
    pico.fall(1)
    assert pico.status().notices[0].at.year == 2026
    pico.restart()
    assert pico.status().notices[0].at.year == 2026


def test_a_board_that_was_never_used_says_nothing_however_often_it_starts(broker: Broker, tmp_path: Path) -> None:
    pico = Pico(tmp_path / "flash", broker)
    pico.turn()
    source = pico.temple.ledger.source
    for _ in range(3):
        pico.restart()
        assert pico.notices() == []
        assert pico.temple.ledger.source == source


# -- damage --


def _lost_head(folder: Path) -> None:
    data = bytearray((folder / "0000000001.log").read_bytes())
    data[9] ^= 1
    (folder / "0000000001.log").write_bytes(data)


def _nonsense(folder: Path) -> None:
    (folder / "0000000001.log").write_bytes(b"\x55" * 4000)


@pytest.mark.parametrize("damage", [_lost_head, _nonsense])
def test_a_damaged_flash_begins_anew_and_says_so_once(
    broker: Broker, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    companion, pico = Companion(broker), Pico(tmp_path / "flash", broker)
    pico.fall(5)
    source = pico.temple.ledger.source
    pico.off()
    damage(pico.flash / "ledger")
    pico.start()
    pico.fall(5)
    assert pico.temple.ledger.source != source
    assert pico.notices() == ["ledger_damaged"]
    assert len(companion.counted) == 10
    source = pico.temple.ledger.source
    pico.restart()
    assert pico.temple.ledger.source == source
    pico.fall(5)
    assert len(companion.counted) == 15


def test_a_file_of_which_nothing_can_be_read_leaves_the_tokens_of_the_others(broker: Broker, tmp_path: Path) -> None:
    companion, pico = Companion(broker), Pico(tmp_path / "flash", broker)
    pico.fall(80)
    pico.link.there = False
    pico.fall(20)
    pico.off()
    (pico.flash / "ledger" / "0000000085.log").write_bytes(b"\x55" * 4000)
    (pico.flash / "ledger" / "strange.log").write_bytes(b"\x55")
    pico.start()
    pico.fall(5)
    assert len(companion.counted) == 89  # sixteen were in the file that is lost
    assert pico.notices() == ["ledger_damaged"]
    assert pico.temple.ledger.last_seq == 9


def test_a_record_that_rotted_has_a_name_that_no_token_of_another_source_has(tmp_path: Path) -> None:
    names = set()
    for number in range(2):
        folder = tmp_path / f"l{number}"
        ledger = module("ledger").Ledger(str(folder), new_id)
        ledger.record([(0, 0, 12_000, [])] * 3)
        ledger.close()
        (file,) = folder.iterdir()
        data = bytearray(file.read_bytes())
        data[module("ledger").RECORD * 2 + 9] ^= 4
        file.write_bytes(data)
        again = module("ledger").Ledger(str(folder), new_id)
        assert again.name(2) is None
        names.add(again.read(2)[0])
        again.renew(1)
        names.add(again.read(1)[0])
        again.close()
    assert len(names) == 2


# -- copies --


def test_a_copied_flash_is_known_by_its_chip_before_anything_is_said(broker: Broker, tmp_path: Path) -> None:
    companion = Companion(broker)
    first = Pico(tmp_path / "flash", broker)
    first.fall(5)
    shutil.copytree(first.flash, tmp_path / "copy")
    second = Pico(tmp_path / "copy", broker, board="02")
    second.fall(5)
    assert second.notices() == ["ledger_cloned"]
    assert second.temple.ledger.source != first.temple.ledger.source
    first.turn()
    assert first.notices() == []
    assert len(companion.counted) == 10
    source = second.temple.ledger.source
    second.restart()
    assert second.temple.ledger.source == source


def test_of_two_boards_with_one_source_one_gives_it_up_and_both_show_the_conflict(
    broker: Broker, tmp_path: Path
) -> None:
    """A flash that was copied before its board had signed it, as by an earlier release."""
    companion = Companion(broker)
    first = Pico(tmp_path / "flash", broker)
    first.fall(5)
    (first.flash / "notices.json").unlink()
    first.off()
    shutil.copytree(first.flash, tmp_path / "copy")
    first.start()
    second = Pico(tmp_path / "copy", broker)
    for _ in range(20):
        first.turn(0.5)
        second.turn(0.5)
    both = (first, second)
    assert first.temple.ledger.source != second.temple.ledger.source
    assert sorted(each.notices() for each in both) == [[], ["ledger_cloned"]]
    assert {each.status().trouble for each in both} == {contract.Trouble.NAME_TAKEN}
    for each in both:
        each.fall(3)
    assert len(companion.counted) == 11
    second.off()
    broker.temples.remove(second)
    first.turn(30)
    assert first.status().trouble is None


def test_two_temples_of_one_name_do_not_flood_the_broker(broker: Broker, tmp_path: Path) -> None:
    first, second = Pico(tmp_path / "a", broker), Pico(tmp_path / "b", broker)
    said: list[bytes] = []
    take = broker.take
    broker.take = lambda topic, payload: (said.append(payload), take(topic, payload))[1]  # type: ignore[method-assign]
    for _ in range(600):
        first.turn(0.1)
        second.turn(0.1)
    assert first.status().trouble is contract.Trouble.NAME_TAKEN
    assert (first.notices(), second.notices()) == ([], [])
    assert sum(b'"state"' in each for each in said) < 40


def test_the_status_and_the_totals_are_published_again_though_nothing_is_new(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pico = Pico(tmp_path / "flash", broker)
    pico.turn(20)
    again: list[str] = []
    monkeypatch.setattr(broker, "take", lambda topic, payload: again.append(topic.rpartition("/")[2]))
    pico.turn(5)
    assert again == []
    pico.turn(10)
    assert again == ["status", "count"]


def test_what_was_retained_or_comes_late_from_an_earlier_session_is_no_other_temple(
    broker: Broker, tmp_path: Path
) -> None:
    pico = Pico(tmp_path / "flash", broker)
    pico.turn()
    ours = pico.status()
    for state, retained in (("ready", True), ("lost", False), ("stopped", False)):
        old = json.loads(contract.encode(ours)) | {"session": "0" * 32, "state": state}
        pico.link.inbox.append((TOPIC + "status", json.dumps(old).encode(), retained))
        broker.status = json.dumps(old).encode()
        pico.turn(10)
        assert pico.status() == ours
        if not retained:  # ours lies in its place again
            assert broker.status == contract.encode(ours)


# -- time --


def command(name: CommandName, at_ms: int, **more: Any) -> contract.Command:
    return contract.Command(new_id().hex(), name, contract.parse_utc(module("wire").format_utc(at_ms)), **more)


def test_a_resend_is_carried_out_without_the_time_and_after_its_time(broker: Broker, tmp_path: Path) -> None:
    companion, pico = Companion(broker, at_ms=None), Pico(tmp_path / "flash", broker)
    pico.fall(5)
    companion.stored.clear()
    companion.counted.clear()
    companion.say(command(CommandName.RESEND, 0, seq=1))
    pico.turn(5)
    assert companion.replies[-1].ok
    assert len(companion.counted) == 5
    companion.at_ms = NOW_MS
    pico.fall(1)
    companion.say(command(CommandName.RESEND, NOW_MS - 90_000, seq=1))
    pico.turn(5)
    assert companion.replies[-1].ok


def test_a_board_without_a_time_server_takes_the_companions_time_and_obeys(broker: Broker, tmp_path: Path) -> None:
    companion, pico = Companion(broker, at_ms=None), Pico(tmp_path / "flash", broker)
    pico.fall(1)
    companion.say(command(CommandName.IDENTIFY, NOW_MS + 60_000))
    pico.turn()
    assert companion.replies[-1].code == "no_time"
    assert [code for code, _ in pico.temple.findings()[0]][-1] == "no_time"
    companion.at_ms = NOW_MS
    pico.fall(2)
    assert "no_time" not in [code for code, _ in pico.temple.findings()[0]]
    for name in (CommandName.IDENTIFY, CommandName.SELFTEST):
        companion.say(command(name, NOW_MS + 60_000))
        pico.turn()
        assert companion.replies[-1].ok
    companion.say(command(CommandName.IDENTIFY, NOW_MS - 60_000))
    pico.turn()
    assert companion.replies[-1].code == "expired"
    pico.fall(1)
    ledger = pico.temple.ledger
    assert ledger.read(1)[2] == 0
    assert abs(ledger.read(ledger.last_seq)[2] - NOW_MS) < 10_000


def test_a_time_server_is_believed_before_any_companion(broker: Broker, tmp_path: Path) -> None:
    Companion(broker, at_ms=NOW_MS - 90_000)
    pico = Pico(tmp_path / "flash", broker, server=True)
    pico.fall(3)
    assert abs(pico.clock.utc_ms() - NOW_MS) < 60_000


def test_a_command_has_expired_once_both_clocks_say_so(broker: Broker, tmp_path: Path) -> None:
    """As on a Pi: either clock may be wrong by years, and an ack says how the companion's is."""
    companion, pico = Companion(broker), Pico(tmp_path / "flash", broker, server=True)
    for behind_ms in (60_000, 0, -10 * 86_400_000):
        companion.at_ms = NOW_MS - behind_ms
        pico.fall(1)
        for lives_ms, refused in ((30_000, None), (-30_000, "expired")):
            companion.say(command(CommandName.IDENTIFY, NOW_MS - max(0, behind_ms) + lives_ms))
            pico.turn()
            assert companion.replies[-1].code == refused
    companion.at_ms = NOW_MS - 60_000
    pico.fall(1)
    companion.at_ms = None
    pico.link.there = False  # another companion may be there after this
    pico.turn()
    pico.link.there = True
    pico.turn()
    companion.say(command(CommandName.IDENTIFY, NOW_MS - 30_000))
    pico.turn()
    assert companion.replies[-1].code == "expired"


def test_a_retained_acknowledgement_gives_no_time(broker: Broker, tmp_path: Path) -> None:
    companion, pico = Companion(broker, at_ms=None), Pico(tmp_path / "flash", broker)
    pico.turn()
    at = contract.parse_utc(module("wire").format_utc(NOW_MS))
    companion.say(contract.Ack(pico.temple.ledger.source, 1, None, at), retained=True)
    pico.turn()
    assert pico.clock.utc_ms() is None
