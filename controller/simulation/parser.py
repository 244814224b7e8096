"""Parses a scenario file into a `Script`, or raises a `ScenarioError` whatever the bytes are.

The format is version 1, described in ``docs/simulated-sensors.md``. `timeline.py` derives the edges from a script.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from itertools import product
from math import prod
from typing import Any, Never, TypeAlias

from msgspec import Struct

from controller.core.counting import MS, Limits
from templo.contract import Emitters, God
from templo.quoting import quoted

VERSION = 1
MAX_BYTES = 1_000_000
MOST_EVENTS = 10_000
MOST_TOKENS = 100_000
MOST_VARIANTS = 200
DAY_MS = 86_400_000
US = 1_000

BOTH = "both"

NONE, APART, ALIKE = BELOW = ("none", "apart", "alike")
"""No second beams; one below each, which only tokens break; one that whatever else breaks the first breaks too."""


class ScenarioError(Exception):
    """A scenario that cannot be used: ``file:line: what it holds; what was expected``."""


class Span(Struct, frozen=True):
    """A time in nanoseconds, or a range of them from which each use draws one."""

    low_ns: int
    high_ns: int


Spells: TypeAlias = tuple[tuple[int, int], ...]
"""Dark spells in order, each as its beginning after the event's and its width, in nanoseconds."""


class Happening(Struct, frozen=True):
    """One event of the file: `values` holds every field of its kind, defaults included, times in nanoseconds."""

    do: str
    at_ns: int
    gods: tuple[God, ...]
    values: Mapping[str, int | str | Span | Spells | None]

    def ns(self, name: str) -> int:
        """Return a field that is one time, or a number."""
        value = self.values[name]
        assert isinstance(value, int)
        return value

    def until_ns(self) -> int | None:
        """Return when it is over; None if `for_ms` was left out."""
        lasting = self.values["for_ms"]
        assert lasting is None or isinstance(lasting, int)
        return None if lasting is None else self.at_ns + lasting

    def span(self, name: str) -> Span:
        """Return a field from which each use draws."""
        value = self.values[name]
        assert isinstance(value, Span)
        return value

    def spells(self, name: str) -> Spells | None:
        """Return a field that is a train of dark spells; None if it was left out."""
        value = self.values[name]
        assert value is None or isinstance(value, tuple)
        return value


class Expected(Struct, frozen=True):
    """The result that the file expects; a god that is not named may have anything.

    `scored` is how many tokens at most may count without a person's decision.
    """

    tokens: Mapping[God, int]
    scored: Mapping[God, int]
    findings: Mapping[God, frozenset[str]]


class Script(Struct, frozen=True):
    """A whole file. `end_ns` is when it should be over, if that is given; `counting` is in milliseconds."""

    title: str
    seed: int
    end_ns: int | None
    counting: Mapping[str, float]
    emitters: Emitters
    below: str
    """What second beams there are: a word of `BELOW`."""
    happenings: tuple[Happening, ...]
    expected: Expected

    def limits(self, settings: Limits) -> Limits:
        """Return the limits of a temple in this scenario; raises `ScenarioError` if they contradict themselves."""
        given = {name: round(value * MS) for name, value in self.counting.items() if name.endswith("_ms")}
        limits = Limits(
            min_break=given.get("min_break_ms", settings.min_break),
            min_clear=given.get("min_clear_ms", settings.min_clear),
            max_break=given.get("max_break_ms", settings.max_break),
            flicker=int(self.counting.get("flicker_per_s", settings.flicker)),
            fastest=int(self.counting.get("fastest_per_s", settings.fastest)),
            band=given.get("band_ms", settings.band),
            narrow=given.get("narrow_ms", settings.narrow),
            transit=given.get("transit_ms", settings.transit),
        )
        if limits.max_break <= limits.min_break:
            raise ScenarioError(
                f"counting.max_break_ms is {limits.max_break / MS:g}; expected more than counting.min_break_ms, "
                f"{limits.min_break / MS:g}"
            )
        return limits


class _Ms(Struct, frozen=True):
    """Milliseconds, as nanoseconds in whole microseconds; None if they may be left out without a default."""

    low: float
    high: float
    default: float | None = None
    needed: bool = False

    def read(self, value: object) -> int:
        if type(value) not in (int, float) or not self.low <= value <= self.high:  # type: ignore[operator]
            raise ValueError(f"milliseconds from {self.low:g} to {self.high:g}")
        return round(value * US) * US  # type: ignore[operator]


class _Range(_Ms, frozen=True):
    """Milliseconds, or ``[low, high]``."""

    def read(self, value: object) -> Span:  # type: ignore[override]
        ends = value if isinstance(value, list) else [value, value]
        try:
            if len(ends) != 2:
                raise ValueError
            low, high = _Ms(self.low, self.high).read(ends[0]), _Ms(self.low, self.high).read(ends[1])
            if low > high:
                raise ValueError
        except ValueError:
            expected = f"milliseconds from {self.low:g} to {self.high:g}, or [lowest, highest] of them"
            raise ValueError(expected) from None
        return Span(low, high)


class _Spells(Struct, frozen=True):
    """``[[start, width], ...]`` in milliseconds."""

    default: None = None
    needed: bool = False

    def read(self, value: object) -> Spells:
        if not isinstance(value, list):
            raise ValueError("[[start, width], ...] in milliseconds")
        found: list[tuple[int, int]] = []
        for number, pair in enumerate(value, 1):
            try:
                if not isinstance(pair, list) or len(pair) != 2:
                    raise ValueError
                start, width = _Ms(0, DAY_MS).read(pair[0]), _Ms(0.001, 60_000).read(pair[1])
            except ValueError:
                raise ValueError(
                    f"pair {number} to be [start, width] in milliseconds, from 0 to {DAY_MS:g} and from 0.001 to "
                    f"60000, not {quoted(pair)}"
                ) from None
            if found and start <= sum(found[-1]):
                raise ValueError(
                    f"pair {number}, {quoted(pair)}, to begin after the pair before it has ended, at "
                    f"{sum(found[-1]) / MS:g}"
                )
            found.append((start, width))
        return tuple(found)


class _Whole(Struct, frozen=True):
    low: int
    high: int
    default: int | None = None
    needed: bool = False

    def read(self, value: object) -> int:
        if type(value) is not int or not self.low <= value <= self.high:
            raise ValueError(f"a whole number from {self.low} to {self.high}")
        return value


class _Choice(Struct, frozen=True):
    words: tuple[str, ...]
    default: str | None = None
    needed: bool = False

    def read(self, value: object) -> str:
        if value not in self.words:
            raise ValueError(" or ".join(f'"{word}"' for word in self.words))
        return str(value)


_Field: TypeAlias = _Ms | _Spells | _Whole | _Choice
_Kind: TypeAlias = Mapping[str, _Field]

_AT = _Ms(0, DAY_MS, needed=True)
_LASTING = _Ms(0.001, DAY_MS)
_FOR = _Ms(0.001, DAY_MS, needed=True)
_COUNT = _Whole(1, MOST_TOKENS, 1)
_WIDTH = _Range(0.001, 60_000, 12)
_SLOT = _Choice(tuple(God), needed=True)
_SLOTS = _Choice((*God, BOTH), needed=True)

KINDS: Mapping[str, _Kind] = {
    "drop": {
        "god": _SLOT,
        "count": _COUNT,
        "every_ms": _Range(0.001, DAY_MS, 100),
        "width_ms": _WIDTH,
        "bounces": _Whole(0, 50, 0),
        "gap_ms": _Range(0.001, 1000, 1),
    },
    "handful": {"god": _SLOT, "count": _Whole(1, 1000, 5), "span_ms": _Ms(0.001, 60_000, 60), "width_ms": _WIDTH},
    "overlap": {"god": _SLOT, "width_ms": _WIDTH, "by_ms": _Ms(0.001, 60_000, 4)},
    "hop": {"god": _SLOT, "count": _COUNT, "every_ms": _Range(0.001, DAY_MS, 100), "width_ms": _Range(0, 60_000, 1)},
    "glitch": {
        "god": _SLOTS,
        "count": _COUNT,
        "every_ms": _Range(0.001, DAY_MS, 100),
        "width_ms": _Range(0.001, 60_000, 1),
    },
    "train": {
        "god": _SLOT,
        "spells_ms": _Spells(needed=True),
        "tokens": _Whole(0, MOST_TOKENS, needed=True),
        "below_ms": _Spells(),
    },
    "jam": {"god": _SLOTS, "for_ms": _LASTING},
    "unplug": {"god": _SLOTS, "part": _Choice(("emitter", "receiver"), "emitter"), "for_ms": _LASTING},
    "flicker": {"god": _SLOTS, "for_ms": _FOR, "per_s": _Whole(2, 2000, 100)},
    "lamp": {"god": _SLOTS, "for_ms": _LASTING},
    "reverse": {"god": _SLOTS, "for_ms": _LASTING},
    "miss": {"god": _SLOTS, "edges": _Whole(1, MOST_TOKENS, 1)},
    "deaf": {"god": _SLOTS, "for_ms": _LASTING, "until": _Choice(("end", "claim"), "end")},
    "broker_down": {"for_ms": _LASTING},
    "restart": {"for_ms": _Ms(0, DAY_MS, 0)},
}
"""What may happen, with the fields of each."""

_COUNTING: Mapping[str, _Ms | _Whole] = {
    "min_break_ms": _Ms(0.1, 1000),
    "min_clear_ms": _Ms(0.1, 1000),
    "max_break_ms": _Ms(1, 60_000),
    "band_ms": _Ms(0.1, 60_000),
    "narrow_ms": _Ms(0.1, 60_000),
    "flicker_per_s": _Whole(2, 10_000),
    "fastest_per_s": _Whole(1, 10_000),
    "transit_ms": _Ms(0.1, 1000),
}
_TOP = ("v", "title", "seed", "end_ms", "emitters", "below", "counting", "vary", "expect", "event")
_EXPECT = ("tokens", "scored", "findings")
_CODE = re.compile(r"[a-z][a-z_]{0,31}", re.ASCII)


def read(text: bytes, name: str = "scenario") -> Script:
    """Read a scenario file's bytes; raises `ScenarioError`, which begins with `name` and, if known, the line.

    Of a file with variants it is the first.
    """
    return next(iter(variants(text, name).values()))


def variants(text: bytes, name: str = "scenario") -> dict[str, Script]:
    r"""Read every variant of a scenario file, by its values, as in the example; raises `ScenarioError`.

    A file without ``[vary]`` has one, without a name. Each combination of the lists of ``[vary]`` is a variant, in
    which an event's field that holds ``"vary"`` has the value of its list.

    >>> text = b'v = 1\n[vary]\nper_s = [20, 50]\n[[event]]\nat_ms = 0\ndo = "flicker"\ngod = "both"\n'
    >>> list(variants(text + b'for_ms = 200\nper_s = "vary"\n'))
    ['per_s 20', 'per_s 50']
    """
    return _Reader(text, name).variants()


class _Reader:
    def __init__(self, text: bytes, name: str) -> None:
        self._name = name
        self._lines: list[str] = []
        if len(text) > MAX_BYTES:
            self._refuse(None, f"it is {len(text)} bytes long; expected at most {MAX_BYTES}")
        try:
            decoded = text.decode("utf-8")
            self._lines = decoded.splitlines()
            self._tables = tomllib.loads(decoded)
        except UnicodeDecodeError as error:
            self._refuse(
                text[: error.start].count(b"\n") + 1,
                f"it holds {text[error.start : error.start + 1]!a}; expected text in UTF-8",
            )
        except tomllib.TOMLDecodeError as error:
            message = str(error)
            place = re.search(r" \(at line (\d+), column \d+\)", message)
            self._refuse(int(place[1]) if place else None, f"not TOML: {message}")
        except (RecursionError, ValueError) as error:  # nested too deep; a date or a number that Python cannot hold
            self._refuse(None, f"not TOML that can be read: {str(error)[:80]}")

    def variants(self) -> dict[str, Script]:
        lists = self._table("vary", self._tables.pop("vary", {}))
        for key, values in lists.items():
            if not isinstance(values, list) or not values:
                self._refuse(self._line_of(key), f"vary.{key[:40]} is {quoted(values)}; expected a list of values")
        if (number := prod(len(values) for values in lists.values() if isinstance(values, list))) > MOST_VARIANTS:
            self._refuse(self._line_of("vary"), f"it has {number} variants; expected at most {MOST_VARIANTS}")
        events = self._tables.get("event", [])
        found = {}
        for values in product(*lists.values()):  # type: ignore[call-overload]
            chosen = dict(zip(lists, values, strict=True))
            if isinstance(events, list):
                self._tables["event"] = [_with(each, chosen) for each in events]
            found[", ".join(f"{key} {value}" for key, value in chosen.items())] = self.script()
        return found

    def script(self) -> Script:
        tables = self._tables
        for key in tables:
            if key not in _TOP:
                self._refuse(
                    self._line_of(key), f"{ascii(key)[:60]} is no key of a scenario; expected {', '.join(_TOP)}"
                )
        version = tables.get("v")
        if type(version) is not int or version != VERSION:
            self._refuse(self._line_of("v"), f"v is {quoted(version)}; expected {VERSION}, the version of the format")
        title = tables.get("title", "")
        if not isinstance(title, str) or len(title) > 200:
            self._refuse(self._line_of("title"), f"title is {quoted(title)}; expected at most 200 characters")
        seed = self._value("seed", _Whole(0, 2**32 - 1), tables.get("seed", 1))
        happenings = self._happenings(tables.get("event", []))
        last = max((each.at_ns for each in happenings), default=0)
        end_ns = None
        if "end_ms" in tables:
            end_ns = self._value("end_ms", _Ms(0.001, 2 * DAY_MS), tables["end_ms"])
            if end_ns < last:
                self._refuse(
                    self._line_of("end_ms"),
                    f"end_ms is {end_ns / MS:g}; expected no less than the last at_ms, {last / MS:g}",
                )
        emitters = self._value(
            "emitters", _Choice(tuple(Emitters), Emitters.FIXED), tables.get("emitters", Emitters.FIXED)
        )
        below = self._value("below", _Choice(BELOW), tables.get("below", NONE))
        return Script(title, seed, end_ns, self._counting(), Emitters(emitters), below, happenings, self._expected())

    def _counting(self) -> dict[str, float]:
        table = self._table("counting", self._tables.get("counting", {}))
        found = {}
        for key, value in table.items():
            if key not in _COUNTING:
                self._refuse(
                    self._line_of(key),
                    f"counting.{ascii(key)[1:-1][:40]} is unknown; expected {', '.join(_COUNTING)}",
                )
            self._value(f"counting.{key}", _COUNTING[key], value)
            assert isinstance(value, int | float)
            found[key] = value
        return found

    def _expected(self) -> Expected:
        table = self._table("expect", self._tables.get("expect", {}))
        for key in table:
            if key not in _EXPECT:
                self._refuse(
                    self._line_of(key), f"expect.{ascii(key)[1:-1][:40]} is unknown; expected {', '.join(_EXPECT)}"
                )
        numbers: dict[str, dict[God, int]] = {"tokens": {}, "scored": {}}
        findings: dict[God, frozenset[str]] = {}
        for key in _EXPECT:
            for name, value in self._table(f"expect.{key}", table.get(key, {})).items():
                if name not in tuple(God):
                    self._refuse(
                        self._line_of(key), f"expect.{key} names {quoted(name)}; expected {' or '.join(God)}"
                    )
                if key in numbers:
                    numbers[key][God(name)] = self._value(f"expect.{key}.{name}", _Whole(0, 10 * MOST_TOKENS), value)
                    continue
                if not isinstance(value, list) or not all(isinstance(c, str) and _CODE.fullmatch(c) for c in value):
                    self._refuse(
                        self._line_of(key),
                        f"expect.findings.{name} is {quoted(value)}; expected a list of codes, such as blocked",
                    )
                findings[God(name)] = frozenset(value)
        return Expected(numbers["tokens"], numbers["scored"], findings)

    def _happenings(self, events: object) -> tuple[Happening, ...]:
        if not isinstance(events, list) or not all(isinstance(each, dict) for each in events):
            self._refuse(
                self._line_of("event"), f"event is {quoted(events)}; expected tables that begin with [[event]]"
            )
        if len(events) > MOST_EVENTS:
            self._refuse(None, f"there are {len(events)} events; expected at most {MOST_EVENTS}")
        found = tuple(self._happening(number, each) for number, each in enumerate(events, 1))
        tokens = sum(each.ns(name) for each in found for name in ("count", "tokens") if name in each.values)
        if tokens > MOST_TOKENS:
            self._refuse(None, f"the events make {tokens} tokens and glitches; expected at most {MOST_TOKENS}")
        return found

    def _happening(self, number: int, table: dict[str, object]) -> Happening:
        do = table.get("do")
        where = f"event {number}"
        if not isinstance(do, str) or do not in KINDS:
            self._refuse(self._line_of("do", number), f"{where}: do is {quoted(do)}; expected {', '.join(KINDS)}")
        fields: _Kind = {"at_ms": _AT, **KINDS[do]}
        for key in table:
            if key != "do" and key not in fields:
                self._refuse(
                    self._line_of(key, number),
                    f"{where} ({do}): {ascii(key)[1:-1][:40]} is unknown; expected {', '.join(fields)}",
                )
        values: dict[str, int | str | Span | Spells | None] = {}
        for key, kind in fields.items():
            if key in table:
                values[key] = self._value(key, kind, table[key], f"{where} ({do}): ", number)
            elif kind.needed:
                self._refuse(self._line_of("do", number), f"{where} ({do}): {key} is missing")
            else:
                values[key] = None if kind.default is None else kind.read(kind.default)
        god = values.get("god")
        gods = tuple(God) if god == BOTH else () if god is None else (God(str(god)),)
        at_ns = values.pop("at_ms")
        assert isinstance(at_ns, int)
        return Happening(do, at_ns, gods, values)

    def _value(self, key: str, kind: _Field, value: object, where: str = "", number: int = 0) -> Any:
        try:
            return kind.read(value)
        except (ValueError, TypeError, OverflowError) as error:
            self._refuse(
                self._line_of(key.rpartition(".")[2], number), f"{where}{key} is {quoted(value)}; expected {error}"
            )

    def _table(self, key: str, value: object) -> dict[str, object]:
        if not isinstance(value, dict):
            self._refuse(self._line_of(key.rpartition(".")[2]), f"{key} is {quoted(value)}; expected a table")
        return value

    def _line_of(self, key: str, event: int = 0) -> int | None:
        """Return the line of a key, in the event of that number if one is given, as nearly as it is known."""
        begin = 0
        if event:
            heads = [line for line, text in enumerate(self._lines) if re.match(r"\s*\[\[\s*event\s*\]\]", text)]
            if event > len(heads):
                return None
            begin = heads[event - 1]
        for line in range(begin + bool(event), len(self._lines)):
            if event and self._lines[line].lstrip().startswith("["):
                break
            if re.match(rf"\s*(\[\[?\s*)?{re.escape(key)}\s*(=|\]|\.)", self._lines[line]):
                return line + 1
        return begin + 1 if event else None

    def _refuse(self, line: int | None, message: str) -> Never:
        raise ScenarioError(f"{self._name}:{'' if line is None else f'{line}:'} {message}")


def _with(event: object, chosen: Mapping[str, object]) -> object:
    """Return an event whose fields that vary have the chosen values."""
    if not isinstance(event, dict):
        return event
    return {key: chosen.get(key, value) if value == "vary" else value for key, value in event.items()}
