"""The contract between a temple and whoever listens: its topics, its messages, how they are written and checked.

Standard library only. It never connects, stores or logs. Bytes of any kind give a message or a `WireError`.
Messages are JSON objects with ``"v": 1``; unknown fields are ignored, wrong types and ranges are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import ClassVar, Never, TypeAlias, TypeVar, cast

VERSION = 1
ROOT = "templo"
TABLES_ROOT = "templo-tables"
MAX_PAYLOAD = 16_384
"""Bytes. A longer payload is refused unread."""

MAX_SEQ = 2**63 - 1
MAX_WIDTH_MS = 86_400_000.0
MAX_FACT = 1e12
MOST_FINDINGS = 16
MOST_FACTS = 16
MOST_NOTICES = 16

_TEMPLE = re.compile(r"[a-z0-9][a-z0-9-]{0,31}", re.ASCII)
_HEX_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_CODE = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_E = TypeVar("_E", bound=StrEnum)
_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", re.ASCII)


class WireError(ValueError):
    """Bytes or values that break the contract; the message holds the value and what was expected."""


class God(StrEnum):
    """The two slots at the top of the temple."""

    HUITZILOPOCHTLI = "huitzilopochtli"
    TLALOC = "tlaloc"


class State(StrEnum):
    """How a temple is, as its retained status says it."""

    READY = "ready"
    ALERT = "alert"
    STOPPED = "stopped"
    LOST = "lost"


class Kind(StrEnum):
    """What a temple runs on."""

    PI = "pi"
    PICO = "pico"
    ARDUINO = "arduino"
    SIMULATOR = "simulator"


class Timing(StrEnum):
    """Where the time stamps of edges come from: the kernel, a callback's own clock, or a script."""

    KERNEL = "kernel"
    CALLBACK = "callback"
    SIMULATED = "simulated"


class Beam(StrEnum):
    """What is known of one slot's beam."""

    UNPROVED = "unproved"
    """Clear by its level, but no edge was heard from it since the daemon started."""
    CLEAR = "clear"
    JAMMED = "jammed"
    """Dark for longer than any token: something is stuck in the chute."""
    DARK = "dark"
    """Dark from the start: unplugged, blocked or wired the other way round."""
    FLICKER = "flicker"
    """Far more edges than tokens could make: sunlight, a loose plug, a weak supply."""
    UNKNOWN = "unknown"
    """The daemon is not there to say."""


class Trouble(StrEnum):
    """What keeps a temple from recording tokens, when its beams are not the reason."""

    LEDGER_FULL = "ledger_full"
    LEDGER_READ_ONLY = "ledger_read_only"
    LEDGER_FAILING = "ledger_failing"
    LEDGER_RESTORED = "ledger_restored"
    """The ledger came from a backup, by a temple of an earlier release; today's say it in a `Notice`."""
    NAME_TAKEN = "name_taken"
    """Another temple speaks under this name at the same broker."""
    DEAF = "deaf"
    """The sensors' thread or the record's thread has died."""


class Flag(StrEnum):
    """What is unusual about a token."""

    JAM = "jam"
    OVERLAP = "overlap"
    MISSED_EDGE = "missed_edge"
    TEST = "test"
    SIMULATED = "simulated"


class Emitters(StrEnum):
    """Whether a temple can prove its beams by itself."""

    SWITCHED = "switched"
    """They hang on a pin: switched off and on, they prove the whole path."""
    FIXED = "fixed"
    """They shine always: nothing but a broken beam proves that its receiver is there."""


class CommandName(StrEnum):
    """What a companion may ask of a temple."""

    IDENTIFY = "identify"
    SELFTEST = "selftest"
    CALIBRATE = "calibrate"
    RESEND = "resend"
    DROP = "drop"
    DISMISS = "dismiss"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened to a temple's ledger, at `at`; it stands until a person dismisses it by its `code`.

    Codes of today: `ledger_restored` (the companion proved that the ledger came from a backup), `backup_restored` (a
    person restored one), `ledger_cloned` (another temple speaks from a copy of it), `ledger_damaged` and
    `ledger_missing` (a new one was begun). Readers show a code that they do not know as it is.
    """

    code: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Status:
    """Retained birth, will and every change of health. `source` is absent until the ledger could be opened.

    `notices`, oldest first, are what a person has not dealt with yet, since before this session perhaps.
    """

    leaf: ClassVar[str] = "status"
    state: State
    session: str
    kind: Kind
    software: str
    timing: Timing
    beams: Mapping[God, Beam]
    source: str | None = None
    trouble: Trouble | None = None
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Token:
    """One token that fell: `seq` orders it within its `source`, `token` is its own random id.

    `at` is when it fell, in UTC by the temple's clock; `width_ms` how long it kept the beam dark. `replayed` says
    that it is not news: it was sent before, or could not be sent when it fell.
    """

    leaf: ClassVar[str] = "token"
    source: str
    seq: int
    token: str
    god: God
    at: datetime
    width_ms: float
    flags: frozenset[str] = frozenset()
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """Retained lifetime totals, for screens; never an input to anything that counts."""

    leaf: ClassVar[str] = "count"
    source: str
    seq: int
    totals: Mapping[God, int]


@dataclass(frozen=True, slots=True)
class Noise:
    """Retained: what each beam heard since the session began that was no token, for whoever looks after it.

    `glitches` are dark spells too short for a token, `missed_edges` changes that the sensor skipped.
    """

    leaf: ClassVar[str] = "noise"
    session: str
    glitches: Mapping[God, int]
    missed_edges: Mapping[God, int]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a beam, or that nothing has proved right yet: a code with what was seen of it."""

    code: str
    facts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Findings:
    """Retained: what is wrong with each beam as of `at`, what most needs a hand first, and how tokens are measured.

    `limits` are the counting's, by their settings' names, in milliseconds; one that is not set is None.
    """

    leaf: ClassVar[str] = "findings"
    session: str
    at: datetime
    emitters: Emitters
    limits: Mapping[str, float | None]
    beams: Mapping[God, tuple[Finding, ...]]


@dataclass(frozen=True, slots=True)
class Score:
    """Retained, by the companion: what counts for each god in the game that a temple serves, if it serves one.

    For screens that know no game, such as a home's; `table` is an opaque id, never a join code.
    """

    leaf: ClassVar[str] = "score"
    table: str | None
    totals: Mapping[God, int]


@dataclass(frozen=True, slots=True)
class Ack:
    """Everything of `source` up to and including `seq` is stored.

    `token` is the id of the token stored as `seq`: a ledger that has another there was restored from a backup. `at`
    is the companion's time, by which a temple without a time server judges the age of commands.
    """

    leaf: ClassVar[str] = "ack"
    source: str
    seq: int
    token: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A request to a temple; after `expires` it is not carried out, except `resend`, which never expires.

    `seq` belongs to `resend`, `god` to `drop` and `calibrate`. `count` is how many tokens `calibrate` waits for;
    `keep` is the yes or no to what it proposed. `notice` is the code of the notice that `dismiss` takes away.
    """

    leaf: ClassVar[str] = "command"
    id: str
    name: CommandName
    expires: datetime
    seq: int | None = None
    god: God | None = None
    count: int | None = None
    keep: bool | None = None
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a command, by its id: a result, or an error in plain words, with a `code` where it has one."""

    leaf: ClassVar[str] = "reply"
    id: str
    ok: bool
    result: Mapping[str, object] | None = None
    error: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """By the companion, under `table_topic`: a table is another than before; `version` counts its log's entries."""

    leaf: ClassVar[str] = "changed"
    table: str
    version: int


Message: TypeAlias = Status | Token | Count | Noise | Findings | Score | Ack | Command | Reply | Changed


def topic(temple: str, leaf: str) -> str:
    """Return the topic of one leaf of a temple: ``templo/<temple>/<leaf>``.

    Raises `WireError` where the name could not be a temple's.
    """
    if leaf not in _LEAVES:
        raise WireError(f"topic leaf is {leaf!r}; expected one of {', '.join(_LEAVES)}")
    return f"{ROOT}/{temple_name(temple)}/{leaf}"


def parse_topic(text: str) -> tuple[str, str]:
    """Return the temple and the leaf that a topic names; raises `WireError`."""
    parts = text.split("/")
    if len(parts) != 3 or parts[0] != ROOT or parts[2] not in _LEAVES:
        raise WireError(f"topic is {_shown(text)}; expected {ROOT}/<temple>/<{'|'.join(_LEAVES)}>")
    return temple_name(parts[1]), parts[2]


def table_topic(table: str) -> str:
    """Return the topic under which a table's changes are told: ``templo-tables/<table>/changed``.

    Raises `WireError` where the id could not be a table's.
    """
    if not _HEX_ID.fullmatch(table):
        raise WireError(f"table is {_shown(table)}; expected 32 hexadecimal digits")
    return f"{TABLES_ROOT}/{table}/{Changed.leaf}"


def temple_name(text: str) -> str:
    """Return a temple's name unchanged, or raise `WireError`."""
    if not _TEMPLE.fullmatch(text):
        raise WireError(
            f"temple name is {_shown(text)}; expected 1 to 32 lower-case letters, digits and inner hyphens"
        )
    return text


def encode(message: Message) -> bytes:
    """Write a message as its payload. ``decode(message.leaf, encode(message)) == message``."""
    return json.dumps({"v": VERSION, **_WRITERS[message.leaf](message)}, separators=(",", ":")).encode()


def decode(leaf: str, payload: bytes) -> Message:
    """Read the payload that arrived under a leaf; raises `WireError` for anything that is not that message."""
    reader = _READERS.get(leaf)
    if reader is None:
        raise WireError(f"topic leaf is {_shown(leaf)}; expected one of {', '.join(_READERS)}")
    if len(payload) > MAX_PAYLOAD:
        raise WireError(f"{leaf} is {len(payload)} bytes long; expected at most {MAX_PAYLOAD}")
    try:
        value = json.loads(payload.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise WireError(f"{leaf} is {_shown(payload)}; expected a JSON object ({error})") from None
    if not isinstance(value, dict):
        raise WireError(f"{leaf} is {_shown(value)}; expected a JSON object")
    fields = _Fields(leaf, value)
    fields.version()
    return reader(fields)


def format_utc(at: datetime) -> str:
    """Write an aware time as the contract does, in UTC to the millisecond: ``2026-11-21T18:42:07.123Z``."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_utc(text: str) -> datetime:
    """Read a time that `format_utc` wrote; raises `WireError`."""
    if _UTC.fullmatch(text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass
    raise WireError(f"time is {_shown(text)}; expected UTC such as 2026-11-21T18:42:07.123Z")


class _Fields:
    """The fields of one payload, each read with its check."""

    def __init__(self, leaf: str, values: dict[str, object]) -> None:
        self._leaf = leaf
        self._values = values

    def version(self) -> None:
        value = self._values.get("v")
        if type(value) is not int or value != VERSION:
            self._refuse("v", value, f"{VERSION}, the version that this end speaks")

    def has(self, name: str) -> bool:
        return self._values.get(name) is not None

    def integer(self, name: str, low: int) -> int:
        value = self._values.get(name)
        if type(value) is not int or not low <= value <= MAX_SEQ:
            self._refuse(name, value, f"a whole number from {low} to {MAX_SEQ}")
        return value

    def number(self, name: str, high: float) -> float:
        value = self._values.get(name)
        if type(value) not in (int, float) or not 0 <= cast(float, value) <= high:
            self._refuse(name, value, f"a number from 0 to {high:g}")
        return float(cast(float, value))

    def truth(self, name: str) -> bool:
        value = self._values.get(name)
        if type(value) is not bool:
            self._refuse(name, value, "true or false")
        return value

    def text(self, name: str, longest: int) -> str:
        value = self._values.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= longest or not value.isprintable():
            self._refuse(name, value, f"1 to {longest} printable characters")
        return value

    def hex_id(self, name: str) -> str:
        value = self._values.get(name)
        if not isinstance(value, str) or not _HEX_ID.fullmatch(value):
            self._refuse(name, value, "32 hexadecimal digits")
        return value

    def utc(self, name: str) -> datetime:
        value = self._values.get(name)
        try:
            return parse_utc(value) if isinstance(value, str) else self._refuse(name, value, "a time in UTC")
        except WireError:
            self._refuse(name, value, "a time in UTC such as 2026-11-21T18:42:07.123Z")

    def one_of(self, name: str, kind: type[_E]) -> _E:
        return self._member(name, self._values.get(name), kind)

    def by_god(self, name: str, kind: type[_E]) -> dict[God, _E]:
        entries = self._both_gods(name)
        return {god: self._member(f"{name}.{god}", entries[god], kind) for god in God}

    def totals(self, name: str) -> dict[God, int]:
        entries = self._both_gods(name)
        inner = _Fields(f"{self._leaf}.{name}", entries)
        return {god: inner.integer(god, 0) for god in God}

    def codes(self, name: str) -> frozenset[str]:
        value = self._values.get(name)
        if not isinstance(value, list) or len(value) > 16:
            self._refuse(name, value, "a list of at most 16 flags")
        for item in value:
            if not isinstance(item, str) or not _CODE.fullmatch(item):
                self._refuse(name, item, "a flag of lower-case letters and underscores")
        return frozenset(value)

    def limits(self, name: str) -> dict[str, float | None]:
        entries = self.mapping(name)
        if len(entries) > MOST_FACTS:
            self._refuse(name, entries, f"at most {MOST_FACTS} limits")
        return {
            self._code(name, key): None if value is None else self._fact(f"{name}.{key}", value)
            for key, value in entries.items()
        }

    def findings(self, name: str) -> dict[God, tuple[Finding, ...]]:
        entries = self._both_gods(name)
        return {god: tuple(self._findings(f"{name}.{god}", entries[god])) for god in God}

    def _findings(self, name: str, value: object) -> Iterator[Finding]:
        if not isinstance(value, list) or len(value) > MOST_FINDINGS:
            self._refuse(name, value, f"a list of at most {MOST_FINDINGS} findings")
        for item in value:
            if not isinstance(item, dict) or len(item) > MOST_FACTS:
                self._refuse(name, item, f"a JSON object with a code and less than {MOST_FACTS} facts")
            facts = {self._code(name, key): self._fact(f"{name}.{key}", item[key]) for key in item if key != "code"}
            yield Finding(self._code(f"{name}.code", item.get("code")), facts)

    def notices(self, name: str) -> tuple[Notice, ...]:
        value = self._values.get(name)
        if not isinstance(value, list) or len(value) > MOST_NOTICES:
            self._refuse(name, value, f"a list of at most {MOST_NOTICES} notices")
        for item in value:
            if not isinstance(item, dict):
                self._refuse(name, item, "a JSON object with a code and a time")
        inner = [_Fields(f"{self._leaf}.{name}", item) for item in value]
        return tuple(Notice(each.code("code"), each.utc("at")) for each in inner)

    def _code(self, name: str, value: object) -> str:
        if not isinstance(value, str) or not _CODE.fullmatch(value):
            self._refuse(name, value, "lower-case letters, digits and underscores")
        return value

    def _fact(self, name: str, value: object) -> float:
        if type(value) not in (int, float) or not 0 <= cast(float, value) <= MAX_FACT:
            self._refuse(name, value, f"a number from 0 to {MAX_FACT:g}")
        return cast(float, value)

    def code(self, name: str) -> str:
        return self._code(name, self._values.get(name))

    def mapping(self, name: str) -> dict[str, object]:
        value = self._values.get(name)
        if not isinstance(value, dict):
            self._refuse(name, value, "a JSON object")
        return value

    def _both_gods(self, name: str) -> dict[str, object]:
        entries = self.mapping(name)
        if missing := [god for god in God if god not in entries]:
            self._refuse(name, entries, f"an entry for {missing[0]}")
        return entries

    def _member(self, name: str, value: object, kind: type[_E]) -> _E:
        if isinstance(value, str):
            try:
                return kind(value)
            except ValueError:
                pass
        self._refuse(name, value, " or ".join(kind))

    def _refuse(self, name: str, value: object, expected: str) -> Never:
        raise WireError(f"{self._leaf}.{name} is {_shown(value)}; expected {expected}")


def _refuse_constant(text: str) -> Never:
    raise ValueError(f"{text} is no JSON number")


def _shown(value: object) -> str:
    """Return a value as an error shows it: escaped, and short whatever its size."""
    if isinstance(value, bytes | str):
        value = value[:80]
    text = ascii(value) if not isinstance(value, int) or value.bit_length() < 256 else "a huge number"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _read_status(fields: _Fields) -> Status:
    return Status(
        state=fields.one_of("state", State),
        session=fields.hex_id("session"),
        kind=fields.one_of("kind", Kind),
        software=fields.text("software", 64),
        timing=fields.one_of("timing", Timing),
        beams=fields.by_god("beams", Beam),
        source=fields.hex_id("source") if fields.has("source") else None,
        trouble=fields.one_of("trouble", Trouble) if fields.has("trouble") else None,
        notices=fields.notices("notices") if fields.has("notices") else (),
    )


def _read_token(fields: _Fields) -> Token:
    return Token(
        source=fields.hex_id("source"),
        seq=fields.integer("seq", 1),
        token=fields.hex_id("token"),
        god=fields.one_of("god", God),
        at=fields.utc("at"),
        width_ms=fields.number("width_ms", MAX_WIDTH_MS),
        flags=fields.codes("flags"),
        replayed=fields.truth("replayed"),
    )


def _read_count(fields: _Fields) -> Count:
    return Count(fields.hex_id("source"), fields.integer("seq", 0), fields.totals("totals"))


def _read_noise(fields: _Fields) -> Noise:
    return Noise(fields.hex_id("session"), fields.totals("glitches"), fields.totals("missed_edges"))


def _read_findings(fields: _Fields) -> Findings:
    return Findings(
        session=fields.hex_id("session"),
        at=fields.utc("at"),
        emitters=fields.one_of("emitters", Emitters),
        limits=fields.limits("limits"),
        beams=fields.findings("beams"),
    )


def _read_score(fields: _Fields) -> Score:
    return Score(fields.hex_id("table") if fields.has("table") else None, fields.totals("totals"))


def _read_ack(fields: _Fields) -> Ack:
    return Ack(
        source=fields.hex_id("source"),
        seq=fields.integer("seq", 1),
        token=fields.hex_id("token") if fields.has("token") else None,
        at=fields.utc("at") if fields.has("at") else None,
    )


def _read_command(fields: _Fields) -> Command:
    return Command(
        id=fields.hex_id("id"),
        name=fields.one_of("name", CommandName),
        expires=fields.utc("expires"),
        seq=fields.integer("seq", 1) if fields.has("seq") else None,
        god=fields.one_of("god", God) if fields.has("god") else None,
        count=fields.integer("count", 1) if fields.has("count") else None,
        keep=fields.truth("keep") if fields.has("keep") else None,
        notice=fields.code("notice") if fields.has("notice") else None,
    )


def _read_reply(fields: _Fields) -> Reply:
    return Reply(
        id=fields.hex_id("id"),
        ok=fields.truth("ok"),
        result=fields.mapping("result") if fields.has("result") else None,
        error=fields.text("error", 512) if fields.has("error") else None,
        code=fields.code("code") if fields.has("code") else None,
    )


def _read_changed(fields: _Fields) -> Changed:
    return Changed(fields.hex_id("table"), fields.integer("version", 0))


def _write_status(message: Status) -> dict[str, object]:
    return {
        "state": message.state,
        "source": message.source,
        "session": message.session,
        "kind": message.kind,
        "software": message.software,
        "timing": message.timing,
        "beams": dict(message.beams),
        "trouble": message.trouble,
        **({"notices": [_write_notice(each) for each in message.notices]} if message.notices else {}),
    }


def _write_notice(notice: Notice) -> dict[str, object]:
    return {"code": notice.code, "at": format_utc(notice.at)}


def _write_token(message: Token) -> dict[str, object]:
    return {
        "source": message.source,
        "seq": message.seq,
        "token": message.token,
        "god": message.god,
        "at": format_utc(message.at),
        "width_ms": message.width_ms,
        "flags": sorted(message.flags),
        "replayed": message.replayed,
    }


def _write_count(message: Count) -> dict[str, object]:
    return {"source": message.source, "seq": message.seq, "totals": dict(message.totals)}


def _write_noise(message: Noise) -> dict[str, object]:
    return {
        "session": message.session,
        "glitches": dict(message.glitches),
        "missed_edges": dict(message.missed_edges),
    }


def _write_findings(message: Findings) -> dict[str, object]:
    return {
        "session": message.session,
        "at": format_utc(message.at),
        "emitters": message.emitters,
        "limits": dict(message.limits),
        "beams": {god: [{"code": each.code, **each.facts} for each in message.beams[god]] for god in God},
    }


def _write_score(message: Score) -> dict[str, object]:
    return {"table": message.table, "totals": dict(message.totals)}


def _write_ack(message: Ack) -> dict[str, object]:
    return {
        "source": message.source,
        "seq": message.seq,
        **({} if message.token is None else {"token": message.token}),
        **({} if message.at is None else {"at": format_utc(message.at)}),
    }


def _write_command(message: Command) -> dict[str, object]:
    return {
        "id": message.id,
        "name": message.name,
        "expires": format_utc(message.expires),
        "seq": message.seq,
        "god": message.god,
        **({} if message.count is None else {"count": message.count}),
        **({} if message.keep is None else {"keep": message.keep}),
        **({} if message.notice is None else {"notice": message.notice}),
    }


def _write_reply(message: Reply) -> dict[str, object]:
    return {
        "id": message.id,
        "ok": message.ok,
        "result": None if message.result is None else dict(message.result),
        "error": message.error,
        **({} if message.code is None else {"code": message.code}),
    }


def _write_changed(message: Changed) -> dict[str, object]:
    return {"table": message.table, "version": message.version}


_READERS: dict[str, Callable[[_Fields], Message]] = {
    Status.leaf: _read_status,
    Token.leaf: _read_token,
    Count.leaf: _read_count,
    Noise.leaf: _read_noise,
    Findings.leaf: _read_findings,
    Score.leaf: _read_score,
    Ack.leaf: _read_ack,
    Command.leaf: _read_command,
    Reply.leaf: _read_reply,
    Changed.leaf: _read_changed,
}

_LEAVES = tuple(leaf for leaf in _READERS if leaf != Changed.leaf)
"""What lies under a temple's own topic."""

_WRITERS: dict[str, Callable[..., dict[str, object]]] = {
    Status.leaf: _write_status,
    Token.leaf: _write_token,
    Count.leaf: _write_count,
    Noise.leaf: _write_noise,
    Findings.leaf: _write_findings,
    Score.leaf: _write_score,
    Ack.leaf: _write_ack,
    Command.leaf: _write_command,
    Reply.leaf: _write_reply,
    Changed.leaf: _write_changed,
}
