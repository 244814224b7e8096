"""Files that people write, of any content: each is read, or refused as declared, with place and expectation.

Four kinds of content go into every reader: any bytes; any TOML over the names that its files use; a good file with
one value exchanged; and good files broken as disks and editors break them, a few bytes at a time.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion import settings as companion_settings
from companion.cli.data import check as checking
from companion.games import registry
from companion.model.lobby import read_text
from controller.app import settings as controller_settings
from controller.simulation import parser, timeline
from tests.cases import every_case

ROOT = Path(__file__).parents[2]
BROKEN = 900
"""Broken copies of good files that each reader is given, beside hypothesis's examples."""

Read = Callable[[bytes], str | None]
"""Reads a file; returns why it was refused, or none. Whatever else it raises fails the test."""


@dataclass(frozen=True)
class Reader:
    """Something that reads files: how, what good ones look like, and what a refusal says beside what it found."""

    name: str
    read: Read
    good: tuple[bytes, ...]
    says: str
    costly: int = 1
    """How many times fewer files it is given than the others: it does more with each."""


def companion_file(folder: Path) -> Read:
    file = folder / "companion.toml"

    def read(data: bytes) -> str | None:
        file.write_bytes(data)
        try:
            companion_settings.load(file, {}, {})
        except companion_settings.SettingsError as error:
            return str(error)
        return None

    return read


def controller_file(folder: Path) -> Read:
    file = folder / "controller.toml"

    def read(data: bytes) -> str | None:
        file.write_bytes(data)
        try:
            controller_settings.load(file=file, environ={}, flags={}, home=folder)
        except controller_settings.SettingsError as error:
            return str(error)
        return None

    return read


def scenario(data: bytes) -> str | None:
    try:
        timeline.expand(parser.read(data))
    except parser.ScenarioError as error:
        return str(error)
    return None


def brought(game: str, key: str) -> Read:
    """Return what reads a file that a table brings, and reports its faults in both languages."""
    found = registry.load(())[game]
    option = checking.option_of(found, key)
    said = checking.words_of(found)
    spanish = checking.texts.Library(checking.HERE / "texts", {game: registry.folder(found) / "texts"}).words(
        "es", game
    )

    def read(data: bytes) -> str | None:
        text, faults = read_text(data)
        faults = faults or option.faults(text)
        if not faults:
            assert option.reader is not None
            named = [
                words(f"contents.{code}", **facts)
                for code, facts in option.reader.contents(text)
                for words in (said, spanish)
            ]
            assert all(named)
            return None
        lines = data.count(b"\n") + data.count(b"\r") + 1
        assert all(1 <= fault.line <= lines for fault in faults)
        assert checking.fault_lines(Path("x"), faults, spanish)
        return checking.fault_lines(Path("x"), faults, said)[0]

    return read


def files(*patterns: str) -> tuple[bytes, ...]:
    found = [path.read_bytes() for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    assert found, patterns
    return tuple(found)


COMPANION = b"""state = "/var/lib/templo"
store = "sqlite:////var/lib/templo/x"
games = ["/home/me/beans"]
[broker]
host = "templo.local"
port = 1883
user = "companion"
password = "x"
[web]
host = "0.0.0.0"
port = 80
allowed_hosts = ["a.local"]
address = "http://a.local"
streams = 64
"""
CONTROLLER = b"""temple = "templo"
log = "info"
[broker]
host = "127.0.0.1"
port = 1883
[beams]
factory = "mock"
tlaloc = 27
pull = "up"
[counting]
min_break_ms = 3.5
max_break_ms = 250
"""
DECK = b"""[day]
day-rabbit-2 = { effect = "gain", tokens = 5 }
[words.en]
day-rabbit-2 = { title = "A", story = "b" }
"""


@pytest.fixture(params=["companion settings", "controller settings", "scenario", "deck", "map"])
def reader(request: pytest.FixtureRequest, tmp_path: Path) -> Reader:
    expected = r"expected|unknown|is no setting|not TOML|is missing|cannot be read"
    match request.param:
        case "companion settings":
            return Reader(request.param, companion_file(tmp_path), (COMPANION,), expected)
        case "controller settings":
            return Reader(request.param, controller_file(tmp_path), (CONTROLLER,), expected)
        case "scenario":
            return Reader(
                request.param, scenario, files("controller/simulation/scenarios/**/*.toml"), expected, costly=3
            )
        case "deck":
            piles = files("companion/games/mexica/data/[drw]*.toml")
            return Reader(request.param, brought("mexica", "deck"), (DECK, *piles), r"x:\d+: .", costly=3)
        case _:
            return Reader(
                request.param,
                brought("siege", "map"),
                files("companion/games/siege/data/[fs]*.toml"),
                r"x:\d+: .",
                costly=5,
            )


def check(reader: Reader, data: bytes) -> str | None:
    """Let a file be read; a refusal is one that a person can use."""
    refusal = reader.read(data)
    if refusal is not None:
        assert re.search(reader.says, refusal), refusal
        assert refusal.isprintable(), ascii(refusal)
        assert len(refusal) < 1000
    return refusal


def bounded(reader: Reader, examples: int) -> Any:
    return settings(max_examples=examples // reader.costly)


# -- any bytes --


def test_any_bytes_are_read_or_refused(reader: Reader) -> None:
    @bounded(reader, 150)
    @given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
    def tried(data: bytes) -> None:
        check(reader, data)

    tried()


HUGE = (
    b"",
    b"\xef\xbb\xbf",
    b"\x00" * 100,
    b"\xff\xfe",
    b"x = " + b"[" * 5_000,
    b"x = " + b"[" * 5_000 + b"]" * 5_000,
    b"x = " + b"{a=" * 5_000,
    b"[" * 5_000,
    b"a." * 1_000 + b"b = 1",
    b"x = " + b"9" * 5_000,
    b"x = 0x" + b"f" * 10_000,
    b"x = 1e999",
    b"x = -inf\ny = nan",
    b"x = 9999-12-31T23:59:60Z",
    b"x = '''" + b"a\n" * 50_000 + b"'''",
    b"# " + b"x" * 300_000,
    b'"\\u0000" = 1\n"\\u202e" = 2',
)


@every_case("data", HUGE, ids=lambda data: f"{data[:8]!r} of {len(data)}")
def test_what_exhausts_other_readers_is_refused(reader: Reader, data: bytes) -> None:
    assert check(reader, data) is not None or reader.name.endswith("settings")
    for good in reader.good[:1]:
        check(reader, data + b"\n" + good)


# -- any TOML --


@dataclass(frozen=True)
class Raw:
    """A value as TOML writes it, which Python may not be able to write."""

    text: str


TEXTS = st.text(max_size=12) | st.sampled_from(["", "\x00", "\u202e", "'''", '"', "\\", "tlaloc", "gain", "@x"])
LEAVES = st.one_of(
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-2, 100),
    st.floats(),
    TEXTS,
    st.datetimes(),
    st.dates(),
    st.times(),
    st.sampled_from([Raw("0x" + "f" * 900), Raw("0x" + "f" * 5000), Raw("2026-02-30"), Raw("inf"), Raw("1_0")]),
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=5
)


def toml(value: object) -> str:
    """Write a value as TOML, tables in one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, str):
        return '"' + "".join(_sign(sign) for sign in value) + '"'
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(each)}" for key, each in value.items()) + "}"
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return repr(value)


def _sign(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    if "\ud800" <= sign <= "\udfff":
        return "?"
    return sign if sign >= " " and sign != "\x7f" else f"\\u{ord(sign):04x}"


def keys(text: bytes) -> list[str]:
    """Return every name that a TOML text gives a value or a table to."""
    found = re.findall(rb"^\s*\[*([\w.-]+)\]*\s*(?:=|$)|([\w-]+) = ", text, re.MULTILINE)
    return sorted({(one or other).decode() for one, other in found})


def test_any_toml_over_the_names_that_its_files_use_is_read_or_refused(reader: Reader) -> None:
    names = sorted({name for good in reader.good for name in keys(good)})
    name = st.sampled_from(names)
    lines = st.lists(
        st.one_of(
            st.builds(lambda key, value: f"{key} = {toml(value)}", name, VALUES),
            name.map(lambda key: f"[{key}]"),
            name.map(lambda key: f"[[{key}]]"),
        ),
        min_size=1,
        max_size=6,
    )

    @bounded(reader, 300)
    @given(lines)
    def tried(lines: list[str]) -> None:
        check(reader, ("\n".join(["v = 1", *lines] if reader.name == "scenario" else lines)).encode())

    tried()


# -- a good file with one value exchanged --


def places(text: bytes) -> list[tuple[int, int]]:
    """Return where the values of a text stand that take one line."""
    return [match.span(1) for match in re.finditer(rb"= ([^={}\n]+?)(?= *[,}\n])", text)]


def test_good_files_are_taken(reader: Reader) -> None:
    for good in reader.good:
        assert reader.read(good) is None


def test_a_good_file_with_one_value_exchanged_is_read_or_refused(reader: Reader) -> None:
    @bounded(reader, 300)
    @given(st.data())
    def tried(data: st.DataObject) -> None:
        good = data.draw(st.sampled_from(reader.good))
        begin, end = data.draw(st.sampled_from(places(good)))
        check(reader, good[:begin] + toml(data.draw(VALUES)).encode() + good[end:])

    tried()


# -- good files, broken --


def broken(reader: Reader, seed: int) -> Iterator[bytes]:
    """Yield good files with a few bytes flipped, cut out, doubled, moved or exchanged for what means something."""
    chance = random.Random(seed)
    telling = [
        b"[",
        b"]",
        b"{",
        b"}",
        b"=",
        b'"',
        b"'''",
        b"#",
        b"\n",
        b"\r",
        b"\x00",
        b"\xff",
        b",",
        b".",
        b"-1",
        b"1e9",
    ]
    for _ in range(BROKEN // reader.costly):
        data = bytearray(chance.choice(reader.good))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data) + 1)
            upto = min(len(data), at + chance.choice((0, 1, 2, 8, 64)))
            match chance.randrange(5):
                case 0:
                    data[at:upto] = b""
                case 1:
                    data[at:at] = data[at:upto]
                case 2:
                    data[at:upto] = chance.choice(telling)
                case 3 if at < len(data):
                    data[at] ^= 1 << chance.randrange(8)
                case _:
                    data[at:at] = bytes(chance.choices(b"[]{}=\"'#.,\n 019azAZ_-\xc3", k=chance.randint(1, 6)))
        yield bytes(data)


def test_a_good_file_that_a_disk_or_an_editor_broke_is_read_or_refused(reader: Reader) -> None:
    refused = sum(check(reader, data) is not None for data in broken(reader, 1521))
    assert refused > BROKEN // reader.costly // 10, "next to nothing was broken"


# -- what is refused is named --

WRONG: Mapping[str, tuple[tuple[bytes, bytes, str, str], ...]] = {
    "companion settings": (
        (b"port = 80", b"port = 70000", "web.port is 70000", "65535"),
        (b"streams = 64", b"streams = 'many'", "web.streams is 'many'", "expected a number of event streams from 1"),
    ),
    "controller settings": (
        (b"tlaloc = 27", b"tlaloc = 99", "beams.tlaloc is 99", "expected a BCM pin"),
        (b"min_break_ms = 3.5", b"min_break_ms = []", "counting.min_break_ms is []", "expected milliseconds"),
    ),
    "scenario": ((b"v = 1", b"v = 7", "v is 7", "expected 1"),),
    "deck": ((b"tokens = 5", b"tokens = 55", "tokens is 55", "expected"),),
    "map": ((b'lake = "~~', b'lake = "?~', "x:", "?"),),
}


def test_a_wrong_value_is_named_with_what_was_expected(reader: Reader) -> None:
    for good, bad, value, expected in WRONG[reader.name]:
        holding = [text for text in reader.good if good in text]
        if not holding:
            assert reader.name == "map"
            continue
        refusal = check(reader, holding[0].replace(good, bad, 1))
        assert refusal is not None
        assert value in refusal
        assert expected in refusal
