"""The Pico's files under CPython: the contract's vectors, counting, settings, lamp and clock."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import socket
import struct
import subprocess
import sys
import tomllib
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.adapters import home_assistant
from controller.core import learned_limits
from controller.core.counting import MS, Counter, Detection, Edge, Limits
from controller.core.publisher import Identity
from templo import __version__, contract
from templo.contract import Flag, God
from tests.firmware.conftest import FOLDERS

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "tests" / "templo" / "contract" / "vectors"


def module(name: str) -> ModuleType:
    return importlib.import_module(name)


def payload(vector: dict[str, str]) -> bytes:
    return bytes.fromhex(vector["payload_hex"]) if "payload_hex" in vector else vector["payload"].encode()


def vectors(leaf: str, kind: str) -> list[Any]:
    file = json.loads((VECTORS / f"{leaf}.json").read_text())
    return [pytest.param(leaf, each, id=f"{leaf}: {each['name']}") for each in file[kind]]


def since_1970(at: datetime) -> int:
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


# -- the contract --


@pytest.mark.parametrize(("leaf", "vector"), vectors("ack", "good") + vectors("command", "good"))
def test_valid_messages_of_the_companion_are_read(leaf: str, vector: dict[str, Any]) -> None:
    read = module("wire").read(leaf, payload(vector))
    message = contract.decode(leaf, payload(vector))
    if isinstance(message, contract.Ack):
        assert read == {
            "source": message.source,
            "seq": message.seq,
            "token": message.token,
            "at": None if message.at is None else since_1970(message.at),
            "doubts": message.doubts,
        }
    else:
        assert isinstance(message, contract.Command)
        assert read == {
            "id": message.id,
            "name": message.name,
            "expires": since_1970(message.expires),
            "seq": message.seq,
            "god": message.god,
            "count": message.count,
            "keep": message.keep,
            "notice": message.notice,
        }


@pytest.mark.parametrize(("leaf", "vector"), vectors("ack", "bad") + vectors("command", "bad"))
def test_what_breaks_the_contract_is_refused(leaf: str, vector: dict[str, Any]) -> None:
    wire = module("wire")
    with pytest.raises(wire.WireError):
        wire.read(leaf, payload(vector))


@given(at_ms=st.integers(0, 253402300799999), width_us=st.integers(0, 86_400_000_000), bits=st.integers(0, 31))
def test_a_token_is_written_byte_for_byte_as_the_controller_writes_it(at_ms: int, width_us: int, bits: int) -> None:
    flags = [flag for bit, flag in enumerate(module("ledger").FLAGS) if bits & 1 << bit]
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms)
    message = contract.Token("a" * 32, 7, "b" * 32, God.TLALOC, at, width_us / 1000, frozenset(flags), True)
    assert module("wire").token("a" * 32, 7, "b" * 32, "tlaloc", at_ms, width_us, flags, True) == contract.encode(
        message
    )
    assert module("wire").parse_utc(contract.format_utc(at)) == at_ms


def test_what_a_pico_says_of_itself_is_what_the_contract_expects() -> None:
    wire = module("wire")
    beams = {God.HUITZILOPOCHTLI: contract.Beam.CLEAR, God.TLALOC: contract.Beam.JAMMED}
    status = contract.Status(
        contract.State.ALERT, "c" * 32, contract.Kind.PICO, "1.0.0", contract.Timing.CALLBACK, beams, "a" * 32
    )
    assert wire.status("alert", "a" * 32, "c" * 32, "1.0.0", ("clear", "jammed"), None) == contract.encode(status)
    at = datetime(2026, 11, 21, 18, 42, 7, 123000, tzinfo=UTC)
    noticed = replace(status, notices=(contract.Notice("ledger_cloned", at), contract.Notice("ledger_damaged", at)))
    notices = [("ledger_cloned", since_1970(at)), ("ledger_damaged", since_1970(at))]
    assert wire.status("alert", "a" * 32, "c" * 32, "1.0.0", ("clear", "jammed"), None, notices) == (
        contract.encode(noticed)
    )
    totals = {God.HUITZILOPOCHTLI: 3, God.TLALOC: 4}
    assert wire.count("a" * 32, 7, [3, 4]) == contract.encode(contract.Count("a" * 32, 7, totals))
    assert wire.noise("c" * 32, [3, 4], [3, 4]) == contract.encode(contract.Noise("c" * 32, totals, totals))
    refused = contract.Reply("d" * 32, False, None, "no", "beyond")
    assert wire.reply("d" * 32, None, "no", "beyond") == contract.encode(refused)
    reply = contract.decode("reply", wire.reply("d" * 32, {"from": 1, "widths_ms": [wire.Ms(12_345)]}))
    assert reply == contract.Reply("d" * 32, True, {"from": 1, "widths_ms": [12.345]})


def test_findings_are_written_byte_for_byte_as_the_controller_writes_them() -> None:
    wire, calibration, slots = module("wire"), module("calibration"), module("slots")
    found = [
        [("hop", (("glitches", 4), ("tokens", 6), ("widest_ms", wire.Ms(2_500)))), ("unproved", ())],
        [("blocked", (("for_s", 3), ("tokens", 4)))],
    ]
    reported = {
        God.HUITZILOPOCHTLI: (
            contract.Finding("hop", {"glitches": 4, "tokens": 6, "widest_ms": 2.5}),
            contract.Finding("unproved"),
        ),
        God.TLALOC: (contract.Finding("blocked", {"for_s": 3, "tokens": 4}),),
    }
    at = datetime(2026, 11, 21, 18, 42, 7, 123000, tzinfo=UTC)
    expected = contract.Findings("c" * 32, at, contract.Emitters.FIXED, learned_limits.to_dict(Limits()), reported)
    limits = calibration.shown(slots.Limits())
    assert wire.findings("c" * 32, 1795286527123, limits, found) == contract.encode(expected)


@pytest.mark.parametrize("temple", ["templo", "up-stairs-2"])
def test_a_pico_announces_itself_byte_for_byte_as_the_controller_does(temple: str) -> None:
    own = module("temple")
    identity = Identity(temple, "c" * 32, contract.Kind.PICO, __version__, contract.Timing.CALLBACK)
    topic, payload = module("discovery").announcement(temple, own.KIND, own.SOFTWARE)
    assert (topic, bytes(payload)) == home_assistant.announcement(identity)


# -- counting --

durations = st.integers(1, 2000) | st.sampled_from([599, 600, 601, 999, 1000, 1001, 49_999, 50_000, 50_001])


@given(st.lists(st.tuples(durations, durations), max_size=30), st.integers(2, 60))
def test_the_pico_counts_what_the_pi_counts(spells: list[tuple[int, int]], flicker: int) -> None:
    """Spells and gaps in ticks of the PIO, 5 us each; it has merged them as its program does."""
    tick = 5
    limits = Limits(flicker=flicker)
    counter, at, train = Counter(limits, False, 0), 100_000, []
    for gap, dark in spells:
        begin = at + gap * tick
        at = begin + dark * tick
        train.append((begin, at))
    events = []
    for begin, end in train:
        events += counter.feed(Edge(begin * 1000, True)) + counter.feed(Edge(end * 1000, False))
    events += counter.advance(10**13)
    merged: list[tuple[int, int]] = []
    for begin, end in train:
        if merged and begin - merged[-1][1] < limits.min_clear // 1000:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((begin, end))
    slots = module("slots")
    slot = slots.Slot(slots.Limits(flicker=flicker), False, 0)
    reported = [slot.spell(begin / 1000, end - begin) for begin, end in merged]
    right = [event for event in events if isinstance(event, Detection)]
    # A Pi reports a jam while it lasts; the PIO reports it when it is over.
    assert [(set(flags), "jam" in flags or width) for _, width, flags in filter(None, reported)] == [
        ({str(flag) for flag in event.flags}, Flag.JAM in event.flags or event.width_ns // 1000) for event in right
    ]
    if Flag.JAM not in {flag for event in right for flag in event.flags} and slot.beam != "flicker":
        assert slot.glitches == counter.glitches


def test_a_stuck_beam_is_one_token_flagged_jam_however_long_it_lasts() -> None:
    slots = module("slots")
    slot = slots.Slot(slots.Limits(), False, 0)
    reported = [slot.level(now_ms, True) for now_ms in range(1000, 5000, 5)]
    (jam,) = filter(None, reported)
    assert jam[2] == ["jam"]
    assert slot.beam == "jammed"
    assert slot.spell(1000, 4_000_000) is None
    assert slot.beam == "clear"


def test_a_beam_that_is_dark_at_the_start_makes_no_token() -> None:
    slots = module("slots")
    slot = slots.Slot(slots.Limits(), True, 0)
    assert [slot.level(now_ms, True) for now_ms in range(0, 2000, 5)] == [None] * 400
    assert slot.beam == "dark"
    assert slot.spell(0, 2_000_000) is None
    assert slot.spell(3000, 12_000) == (3000, 12_000, [])


# -- around it --


def test_the_pins_are_the_table_s() -> None:
    pins = tomllib.loads((ROOT / "controller" / "app" / "pins.toml").read_text())["pico"]
    settings = module("settings")
    assert {god: settings.DEFAULTS[god] for god in God} == {god: pins[god] for god in God}


def test_the_dialogue_asks_again_for_what_it_cannot_use(tmp_path: Path) -> None:
    settings = module("settings")
    given = ["home", "short", "long-enough", "10.0.0.2", "99999", "1883", "Templo", "templo", "pico"]
    answers = iter([*given, "", "pw"])
    said: list[str] = []
    chosen = settings.dialogue(lambda words: next(answers), said.append, {})
    assert (chosen["ssid"], chosen["port"], chosen["user"], chosen["password"]) == ("home", 1883, "pico", "pw")
    assert len(said) == 5
    settings.save(chosen, os.rename, str(tmp_path / "settings.json"))
    assert settings.load(str(tmp_path / "settings.json")) == chosen
    kept = settings.dialogue(lambda words: "", said.append, chosen)
    assert kept == chosen
    assert "pw" not in str(said)


def configured() -> list[str]:
    """Return what runs a board's start up to its settings, in a process of its own."""
    program = f"import sys\nsys.path[:0] = {FOLDERS!r}\nimport main\nprint(sorted(main._configured()))"
    return [sys.executable, "-c", program]


def test_a_board_whose_file_has_a_mistake_says_which_and_its_answers_overwrite_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    written = {"ssid": "casa", "wifi_password": "", "broker": "192.168.1.7", "tlaloc": 14, "min_clear_ms": 2}
    file.write_text(json.dumps(written | {"user": "pico", "password": 12345678}))
    typed = ["", "", "", "", "", "", "s3cret!"]
    done = subprocess.run(
        configured(), input="\n".join([*typed, ""]), cwd=tmp_path, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Not kept: password" in done.stdout
    assert json.loads(file.read_text()).items() >= (written | {"user": "pico", "password": "s3cret!"}).items()


def test_a_user_who_types_wrong_things_at_the_console_is_asked_again_and_only_once_for_good(tmp_path: Path) -> None:
    """The board's own start, in a process of its own, with what is typed on its standard input."""
    typed = [
        "", "casa", "short", "long enough", "", "192.168.1.7", "mqtt", "0", "70000", "1884",
        "Templo Mayor", "-x", "patio", "pico", "", "s3cret!",
    ]  # fmt: skip
    command = configured()
    done = subprocess.run(
        command, input="\n".join([*typed, ""]), cwd=tmp_path, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("expected") == 9
    saved = json.loads((tmp_path / "settings.json").read_text())
    asked = ("ssid", "wifi_password", "broker", "port", "temple", "user", "password")
    given = ("casa", "long enough", "192.168.1.7", 1884, "patio", "pico", "s3cret!")
    assert tuple(saved[name] for name in asked) == given
    with subprocess.Popen(
        command, cwd=tmp_path, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as again:  # nobody types
        assert again.stdout is not None
        assert again.stdout.readline() == "Press a key within 3 seconds to change the settings.\n"
        assert "ssid" in again.stdout.readline()


def test_what_a_board_is_reported_or_learns_never_gets_into_the_repository() -> None:
    for name in ("settings.json", "settings.json.new", "learned.json", "notices.json"):
        path = f"firmware/micropython/{name}"
        done = subprocess.run(["git", "check-ignore", "-q", path], cwd=ROOT, check=False, capture_output=True)
        assert done.returncode in (0, 128), path  # 128: no repository, as in an unpacked archive


def test_a_limit_that_somebody_chose_is_not_learned_and_what_was_learned_outlives_a_bad_file(tmp_path: Path) -> None:
    settings, calibration, slots = module("settings"), module("calibration"), module("slots")
    good = {"ssid": "home", "wifi_password": "", "broker": "10.0.0.2"}
    assert settings.named(settings.checked(good)) == []
    chosen = settings.named(settings.checked({**good, "max_break_ms": 400}))
    assert chosen == ["max_break"]
    known = {"tlaloc": (8_000, 60_000, 10)}
    limits = calibration.learned_limits(slots.Limits(max_break=400_000), chosen, known)
    measured = {God.TLALOC: learned_limits.Measured(8 * MS, 60 * MS, 10)}
    right = learned_limits.limits(Limits(max_break=400 * MS), frozenset({"counting.max_break_ms"}), measured)
    assert {name: None if value is None else value.us / 1000 for name, value in calibration.shown(limits)} == (
        learned_limits.to_dict(right)
    )
    file = str(tmp_path / "learned.json")
    assert calibration.load(file) == {}
    calibration.save(known, os.replace, file)
    assert calibration.load(file) == known
    for text in (
        "",
        "[]",
        '{"learned": {"chac": [1, 2, 3]}}',
        '{"learned": {"tlaloc": [9, 2, 3]}}',
        '{"learned": 3}',
    ):
        Path(file).write_text(text)
        assert calibration.load(file) == {}


@pytest.mark.parametrize(
    "change",
    [
        *({"port": value} for value in (0, True, 1883.5, "1883", None)),
        *({"tlaloc": value} for value in (16, 16.5, 23, 24, 25, 29)),
        *({"lamps": "ws2812", "lamp_data": 24}, {"piezo": 23}, {"lamps": None}),
        *({"ssid": value} for value in (None, "", 5)),
        *({"broker": 10}, {"broker": ""}, {"wifi_password": 12345678}, {"temple": "A"}, {"temple": 7}),
        *({"user": 7}, {"user": "temple", "password": 12345678}),
        *({"ntp": value} for value in (None, 5, "")),
        *({"country": value} for value in (None, 3, "DEU")),
        *({"max_break_ms": 2}, {"max_break_ms": None}, {"min_brake_ms": 4}),
    ],
)
def test_settings_that_cannot_be_used_are_refused_by_name(change: dict[str, Any]) -> None:
    settings = module("settings")
    good = {"ssid": "home", "wifi_password": "", "broker": "10.0.0.2"}
    assert settings.checked({**good, "port": 1884.0})["port"] == 1884
    *_, name = change
    with pytest.raises(settings.SettingsError, match=name) as caught:
        settings.checked({**good, **change})
    assert "12345678" not in str(caught.value)


def test_a_dialogue_after_a_mistake_in_the_file_keeps_what_is_right_of_it(tmp_path: Path) -> None:
    settings = module("settings")
    file = tmp_path / "settings.json"
    right = {"ssid": "home", "wifi_password": "12345678", "tlaloc": 14, "min_clear_ms": 2, "lamps": "leds"}
    wrong = {"broker": 7, "password": 1, "piezo": 24, "lamp_each": 1.5, "min_brake_ms": 4, "max_break_ms": 1}
    file.write_text(json.dumps(right | wrong))
    said: list[str] = []
    kept = settings.usable(said.append, str(file))
    assert kept == right
    assert {line.split()[2] for line in said} == set(wrong)
    answers = iter(["", "", "10.0.0.2", "", "", ""])
    chosen = settings.dialogue(lambda words: next(answers), said.append, kept)
    assert chosen == {**settings.DEFAULTS, **right, "broker": "10.0.0.2"}
    # Pins that two things would share: one of them keeps its own, whatever the defaults are.
    for pins in ({"tlaloc": 16}, {"huitzilopochtli": 17}, {"huitzilopochtli": 3, "tlaloc": 3}):
        file.write_text(json.dumps(right | {"tlaloc": 17} | pins))
        assert settings.usable(said.append, str(file))["ssid"] == "home"
    for text in ("", "[]", "{"):
        file.write_text(text)
        assert settings.usable(said.append, str(file)) == {}


def test_the_lamp_shows_what_most_needs_showing() -> None:
    lamp = module("lamp")
    assert lamp.state(9000, True, True, False, True, False, 0, None) == lamp.READY
    assert lamp.state(9000, True, True, False, False, False, 0, None) == lamp.NO_TIME
    assert lamp.state(9000, True, False, True, False, False, 0, None) == lamp.REFUSED
    assert lamp.state(9000, True, False, False, False, False, 0, None) == lamp.NO_BROKER
    assert lamp.state(9000, False, False, True, False, False, 0, None) == lamp.NO_WIFI
    assert lamp.state(9000, False, False, False, False, True, 0, None) == lamp.ALERT
    assert lamp.state(9000, True, True, False, True, True, 8900, None) == lamp.TOKEN
    assert lamp.state(9000, True, True, False, True, True, 8900, 5000) == lamp.IDENTIFY
    shown = {name: tuple(lamp.lit(name, step * lamp.STEP_MS) for step in range(16)) for name in lamp.PATTERNS}
    assert len(set(shown.values())) == len(shown)


def test_a_clock_that_wraps_goes_on_and_a_time_server_sets_it() -> None:
    clock_ = module("clock")
    wrap = 2**30
    at = [wrap - 100_000]
    clock = clock_.Clock(lambda: at[0] % wrap, lambda a, b: (a - b + wrap // 2) % wrap - wrap // 2)
    at[0] += 250_600
    assert (clock.ms(), clock.us()) == (250, 250_600)
    assert clock.utc_ms() is None

    class Door:
        sent = 0

        def send(self, data: bytes) -> None:
            self.sent += 1

        def recv(self, most: int) -> bytes:
            return b"\x1c\x01" + bytes(38) + struct.pack(">II", 2208988800 + 1000, 2**31)

        def close(self) -> None:
            pass

    server = clock_.TimeServer(clock, Door)
    server.turn(clock.ms())
    at[0] += 40_000
    server.turn(clock.ms())
    assert clock.utc_ms() == 1_000_500 + 20


def test_a_time_server_that_never_answers_is_asked_ever_more_seldom() -> None:
    clock_ = module("clock")
    asked: list[int] = []
    at = [0]

    def nobody() -> None:
        asked.append(at[0])
        raise OSError(-2)

    server = clock_.TimeServer(clock_.Clock(lambda: 0, lambda a, b: 0), nobody)
    for at[0] in range(0, 3_600_000, 1_000):
        server.turn(at[0])
    gaps = [after - before for before, after in itertools.pairwise(asked)]
    assert gaps[:6] == [10_000, 20_000, 40_000, 80_000, 160_000, 320_000]
    assert set(gaps[6:]) == {320_000}


def test_a_board_goes_on_while_there_is_no_network_and_feeds_its_watchdog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The composition root itself, on the stand-ins: it turns, records, and ends in order."""
    monkeypatch.chdir(tmp_path)
    machine, network, world, main = module("machine"), module("network"), module("world"), module("main")
    monkeypatch.setattr(network, "there", False)
    monkeypatch.setattr(main.time, "ticks_us", lambda: world.now_us, raising=False)
    monkeypatch.setattr(main.time, "ticks_diff", lambda a, b: a - b, raising=False)
    monkeypatch.setattr(main.time, "sleep_ms", lambda ms: world.pass_to(world.now_us + ms * 1000), raising=False)
    chosen = module("settings").checked({"ssid": "home", "wifi_password": "12345678", "broker": "127.0.0.1"})
    turns = itertools.count()

    def going() -> bool:
        number = next(turns)
        if number in (20, 60, 100):
            world.put(17, 0)
        if number in (23, 63, 103):
            world.put(17, 1)
        return number < 200

    temple = main.run(chosen, going)
    assert temple.ledger.totals == [0, 3]
    assert machine.fed >= 200
    again = module("ledger").Ledger(str(tmp_path / module("main").FOLDER), lambda: b"x" * 16)
    assert again.last_seq == 3
    assert [again.read(seq)[3] for seq in (1, 2, 3)] == [15_000] * 3
    world.reset()


def test_a_board_that_is_stopped_at_the_console_leaves_no_watchdog_behind_that_would_reset_it_as_files_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    machine, world, main, settings = module("machine"), module("world"), module("main"), module("settings")
    monkeypatch.setattr(module("network"), "there", False)
    chosen = settings.checked({"ssid": "home", "wifi_password": "12345678", "broker": "127.0.0.1"})
    settings.save(chosen, os.rename)
    monkeypatch.setattr(main.select, "select", lambda *_: ([], [], []))
    monkeypatch.setattr(main.time, "ticks_us", lambda: world.now_us, raising=False)
    monkeypatch.setattr(main.time, "ticks_diff", lambda a, b: a - b, raising=False)
    running = []

    def stopped(ms: int) -> None:
        running.append(machine.WDT.running)
        raise KeyboardInterrupt

    monkeypatch.setattr(main.time, "sleep_ms", stopped, raising=False)
    with pytest.raises(KeyboardInterrupt):
        main.main()
    assert running == [True]
    assert not machine.WDT.running
    world.reset()


class _NameServer:
    """A name server on loopback: it answers after so many questions, with an address or without one."""

    def __init__(self, silent: int = 0, address: bytes | None = b"\x7f\0\0\x01") -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self._silent, self._address = silent, address
        self.asked: list[bytes] = []

    @property
    def at(self) -> tuple[str, int]:
        host, port = self._socket.getsockname()
        return str(host), int(port)

    def turn(self) -> None:
        try:
            packet, asker = self._socket.recvfrom(600)
        except BlockingIOError:
            return
        self.asked.append(packet)
        if len(self.asked) > self._silent:
            alias = b"\xc0\x0c\0\x05\0\x01\0\0\0\x3c\0\x02\xc0\x0c"
            found = b"" if self._address is None else b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04" + self._address
            code = b"\x81\x83" if self._address is None else b"\x81\x80"
            count = bytes([2 if found else 0])
            self._socket.sendto(
                packet[:2] + code + b"\0\x01\0" + count + 4 * b"\0" + packet[12:] + bool(found) * alias + found, asker
            )

    def close(self) -> None:
        self._socket.close()


def _resolver(monkeypatch: pytest.MonkeyPatch, server: _NameServer) -> Any:
    names = module("names")
    monkeypatch.setattr(names, "PORT", server.at[1])

    def udp() -> socket.socket:
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.setblocking(False)
        return one

    return names.Resolver(udp, lambda: server.at[0], os.urandom)


def _looked_up(resolver: Any, server: _NameServer, name: str, from_ms: int = 0) -> tuple[str, int]:
    """Return the address and when it was known, in turns of 5 ms."""
    for now_ms in range(from_ms, from_ms + 60_000, 5):
        address = resolver.address(name, now_ms)
        if address is not None:
            return str(address), now_ms
        server.turn()
    raise AssertionError("the look-up never ended")


@pytest.mark.parametrize(("silent", "most_ms"), [(0, 5), (2, 3_100)])
def test_a_name_is_looked_up_though_its_server_is_slow(
    silent: int, most_ms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(_NameServer(silent)) as server:
        resolver = _resolver(monkeypatch, server)
        address, at_ms = _looked_up(resolver, server, "broker.lan")
        assert (address, at_ms <= most_ms) == ("127.0.0.1", True)
        assert resolver.address("broker.lan", at_ms + 60_000) == "127.0.0.1"
        assert len(server.asked) == silent + 1
        assert resolver.address("192.168.1.7", 0) == "192.168.1.7"


def test_a_dead_name_server_is_an_error_and_an_address_that_was_known_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with closing(_NameServer()) as server:
        resolver = _resolver(monkeypatch, server)
        _looked_up(resolver, server, "broker.lan")
        server._silent = 1_000
        assert _looked_up(resolver, server, "broker.lan", 400_000) == ("127.0.0.1", 406_000)
        with pytest.raises(OSError, match=r"127.0.0.1 did not answer when asked for other.lan"):
            _looked_up(resolver, server, "other.lan")


def test_a_name_that_does_not_exist_and_a_network_without_a_name_server_are_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with closing(_NameServer(address=None)) as server:
        resolver = _resolver(monkeypatch, server)
        with pytest.raises(OSError, match=r"nobody.lan has no address"):
            _looked_up(resolver, server, "nobody.lan")
        resolver._server = lambda: "0.0.0.0"
        with pytest.raises(OSError, match=r"no name server is known that could look up nobody\.lan"):
            resolver.address("nobody.lan", 0)
        assert resolver._to("raspberrypi.local") == ("224.0.0.251", 5353)


@given(st.binary(max_size=80))
def test_any_bytes_as_an_answer_are_an_address_nothing_or_an_error(rest: bytes) -> None:
    names = module("names")
    asked = names.encoded("broker.lan", b"ab")
    for packet in (rest, b"ab\x81\x80\0\x01\0\x01\0\0\0\0" + asked[12:] + rest, b"ab\x81\x80" + rest):
        with suppress(OSError):
            address = names.decoded(packet, asked, "broker.lan")
            assert address is None or len(address.split(".")) == 4


@pytest.mark.parametrize(("server", "turns"), [("127.0.0.1", 2_000), ("0.0.0.0", 1_000)])
def test_a_board_whose_name_server_is_dead_goes_on_counting_and_feeds_its_watchdog_in_time(
    server: str, turns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look-up by MicroPython's own means would block: it is an error here. Nothing waits for the wall's clock."""
    monkeypatch.chdir(tmp_path)
    machine, network, world, main = module("machine"), module("network"), module("world"), module("main")
    with closing(_NameServer(silent=1_000)) as dead:
        monkeypatch.setattr(module("names"), "PORT", dead.at[1])
        monkeypatch.setattr(network, "name_server", server)
        monkeypatch.setattr(main.time, "ticks_us", lambda: world.now_us, raising=False)
        monkeypatch.setattr(main.time, "ticks_diff", lambda a, b: a - b, raising=False)
        monkeypatch.setattr(main.time, "sleep_ms", lambda ms: world.pass_to(world.now_us + ms * 1000), raising=False)
        monkeypatch.setattr(main.socket, "getaddrinfo", lambda *_: pytest.fail("a look-up that blocks"))
        given = {"ssid": "home", "wifi_password": "12345678", "broker": "broker.lan", "ntp": "time.lan"}
        fed_us: list[int] = []
        monkeypatch.setattr(machine.WDT, "feed", lambda self: fed_us.append(world.now_us))
        numbers = itertools.count()

        def going() -> bool:
            number = next(numbers)
            if number % 100 in (20, 23):
                world.put(17, int(number % 100 == 23))
            return number < turns

        temple = main.run(module("settings").checked(given), going)
        asked = []
        while True:
            dead.turn()
            if len(dead.asked) == len(asked):
                break
            asked = list(dead.asked)
    assert temple.ledger.totals == [0, turns // 100]
    assert max(after - before for before, after in itertools.pairwise(fed_us)) < 100_000
    assert not network.WLAN.power_saving
    assert bool(asked) is (server == "127.0.0.1")
    world.reset()
