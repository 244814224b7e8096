"""Every message of the contract, each declared once: its fields, its topic, who sends it and who reads it.

What follows from a declaration: both codecs, the topics, the tables of docs/protocol.md, the broker's access rules,
and the check that there are golden vectors. A new message is a class here, its name in `Message`, and a handler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, ClassVar, TypeAlias, get_args

from templo.contract.declarations import OMITTED, Catalogue, Omitted, Place, Record, Role, message
from templo.contract.field_types import (
    CODE,
    FACT,
    HEX_ID,
    MOST_FACTS,
    Colour,
    FieldType,
    Flags,
    Limits,
    ListOf,
    Number,
    Text,
    Whole,
    refuse,
)
from templo.contract.vocabulary import Beam, CommandName, Emitters, God, Kind, LightEffect, State, Timing, Trouble

MAX_WIDTH_MS = 86_400_000.0
MOST_FINDINGS = 16
MOST_NOTICES = 16
MOST_SIGNALS = 16
MOST_DOUBTED = 64
MOST_FAULT = 512

HexId: TypeAlias = Annotated[str, HEX_ID]
Code: TypeAlias = Annotated[str, CODE]
Seq: TypeAlias = Annotated[int, Whole(1)]
Total: TypeAlias = Annotated[int, Whole(0)]
Brightness: TypeAlias = Annotated[int, Whole(1, 255)]
RedGreenBlue: TypeAlias = Annotated[tuple[int, int, int], Colour()]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened to a temple's ledger at `at`, shown until a person dismisses it by its `code`.

    Codes of today: `ledger_restored` (the companion proved that the ledger came from a backup), `backup_restored` (a
    person restored one), `ledger_cloned` (another temple speaks from a copy of it), `ledger_damaged` and
    `ledger_missing` (a new one was begun). Readers show a code that they do not know as it is.
    """

    code: Code
    at: datetime


_NOTICES = ListOf(Record(Notice, "a JSON object with a code and a time"), MOST_NOTICES, "notices")


@message(
    about="the temple's health: at birth, at every change, every 30 s, and as the will",
    sent_by=(Role.TEMPLE,),
    read_by=(Role.TEMPLE, Role.COMPANION, Role.HOME_ASSISTANT),  # its own: it replaces junk that hides it
    retained=True,
    written_first=("state", "source"),
)
@dataclass(frozen=True, slots=True)
class Status:
    """Retained birth, will and every change of health. `source` is absent until the ledger could be opened.

    `notices`, oldest first, are those that nobody has dismissed, perhaps from before this session. `publication`
    numbers what this session has published here, the will of each connection too: a broker that brings an earlier
    message back brings its number back as well.
    """

    leaf: ClassVar[str] = "status"
    state: State
    session: HexId
    kind: Kind
    software: Annotated[str, Text(64)]
    timing: Timing
    beams: Mapping[God, Beam]
    source: HexId | None = None
    trouble: Trouble | None = None
    notices: Annotated[tuple[Notice, ...], _NOTICES, OMITTED] = ()
    publication: Omitted[Seq] = None


@message(about="one token that fell", sent_by=(Role.TEMPLE,), read_by=(Role.COMPANION,))
@dataclass(frozen=True, slots=True)
class Token:
    """One token that fell: `seq` orders it within its `source`, `token` is its own random id.

    `at` is when it fell, in UTC by the temple's clock; `width_ms` how long it kept the beam dark. `replayed` says
    that it is not news: it was sent before, or could not be sent when it fell.
    """

    leaf: ClassVar[str] = "token"
    source: HexId
    seq: Seq
    token: HexId
    god: God
    at: datetime
    width_ms: Annotated[float, Number(MAX_WIDTH_MS)]
    flags: Annotated[frozenset[str], Flags()] = frozenset()
    replayed: bool = False


@message(
    about="tokens that the temple doubts: light or its supply may have broken the beam",
    sent_by=(Role.TEMPLE,),
    read_by=(Role.COMPANION,),
)
@dataclass(frozen=True, slots=True)
class Doubt:
    """Tokens of a ledger that were recorded and may be none, by their ids, and why.

    `number` counts a ledger's doubts from 1. A doubt may arrive before its tokens; tokens about which a person has
    decided stay decided. Codes of today: `flicker` (more spells than a hand can drop), `regular` (periods and widths
    of a machine), `together` (both slots' beams broke and cleared at one moment, as a dip of the supply makes them),
    `unproved` (the emitter was switched and the receiver did not answer) and `alone` (of a slot's two beams one broke
    without the other, or they broke in the wrong order). Readers show a code that they do not know as a doubt without
    a reason.
    """

    leaf: ClassVar[str] = "doubt"
    source: HexId
    number: Seq
    reason: Code
    at: datetime
    tokens: Annotated[tuple[str, ...], ListOf(HEX_ID, MOST_DOUBTED, "tokens")]


@message(
    about="lifetime totals, for displays",
    sent_by=(Role.TEMPLE,),
    read_by=(Role.COMPANION, Role.HOME_ASSISTANT),
    retained=True,
)
@dataclass(frozen=True, slots=True)
class Count:
    """Retained lifetime totals, for screens; never an input to anything that counts."""

    leaf: ClassVar[str] = "count"
    source: HexId
    seq: Total
    totals: Mapping[God, Total]


@message(
    about="glitches and missed edges",
    sent_by=(Role.TEMPLE,),
    read_by=(Role.COMPANION, Role.HOME_ASSISTANT),
    retained=True,
)
@dataclass(frozen=True, slots=True)
class Noise:
    """Retained: glitches and missed edges of each beam since the session began, for diagnosis.

    `glitches` are dark spells too short for a token, `missed_edges` changes that the sensor skipped.
    """

    leaf: ClassVar[str] = "noise"
    session: HexId
    glitches: Mapping[God, Total]
    missed_edges: Mapping[God, Total]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a beam, or that nothing has proved right yet: a code with what was seen of it."""

    code: Code
    facts: Mapping[str, float] = field(default_factory=dict)


class FindingType(FieldType[Finding]):
    """A code, and its facts beside it."""

    expected = f"a JSON object with a code and less than {MOST_FACTS} facts"

    def read(self, where: str, value: object) -> Finding:
        if not isinstance(value, dict) or len(value) > MOST_FACTS:
            refuse(where, value, self.expected)
        facts = {CODE.read(where, key): FACT.read(f"{where}.{key}", value[key]) for key in value if key != "code"}
        return Finding(CODE.read(f"{where}.code", value.get("code")), facts)

    def write(self, value: Finding) -> dict[str, object]:
        return {"code": value.code, **value.facts}


_FINDINGS = ListOf(FindingType(), MOST_FINDINGS, "findings")


@message(
    about="what is wrong with the beams, and the current limits of counting",
    sent_by=(Role.TEMPLE,),
    read_by=(Role.COMPANION,),
    retained=True,
)
@dataclass(frozen=True, slots=True)
class Findings:
    """Retained: what is wrong with each beam as of `at`, what most needs a hand first, and how tokens are measured.

    `limits` are the counting's, by their settings' names, in milliseconds; one that is not set is None.
    """

    leaf: ClassVar[str] = "findings"
    session: HexId
    at: datetime
    emitters: Emitters
    limits: Annotated[Mapping[str, float | None], Limits()]
    beams: Mapping[God, Annotated[tuple[Finding, ...], _FINDINGS]]


@message(
    about="the totals of the game that the temple serves",
    sent_by=(Role.COMPANION,),
    read_by=(Role.HOME_ASSISTANT,),
    retained=True,
)
@dataclass(frozen=True, slots=True)
class Score:
    """Retained, by the companion: what counts for each god in the game that a temple serves, if it serves one.

    For screens that know no game, such as a home's; `table` is an opaque id, never a join code.
    """

    leaf: ClassVar[str] = "score"
    table: HexId | None
    totals: Mapping[God, Total]


@message(
    about="what the game that the temple serves, and the companion, have its lamps show",
    sent_by=(Role.COMPANION,),
    read_by=(Role.TEMPLE, Role.HOME_ASSISTANT),
    retained=True,
)
@dataclass(frozen=True, slots=True)
class Mood:
    """Retained, by the companion: the signals of the moment for a temple's lamps; none while all is calm.

    Codes of today: `flood` and `war` (what threatens, or has ended the game), `countdown` (the last turns, of which
    `left` remain), `hotspot` (the companion's machine has opened a Wi-Fi of its own), `level_tlaloc` and
    `level_huitzilopochtli` (the heap in that god's lake needs a hand). Readers ignore a code that they do not know.
    """

    leaf: ClassVar[str] = "mood"
    table: HexId | None
    signals: Annotated[tuple[str, ...], ListOf(CODE, MOST_SIGNALS, "signals")]
    left: Omitted[Total] = None


@message(
    about="how the temple's lamps are set",
    sent_by=(Role.TEMPLE,),
    read_by=(Role.HOME_ASSISTANT,),
    retained=True,
)
@dataclass(frozen=True, slots=True)
class Light:
    """Retained, by a temple with lamps: whether they are on, how bright, in which colour, and what they do at rest.

    While they are off they show nothing, no token either. The colour is that of `steady`; lamps of one colour have
    their own. `fault` is why the lamps cannot be driven, in plain words: they are then off, whatever is asked for.
    """

    leaf: ClassVar[str] = "light"
    on: bool
    brightness: Brightness
    colour: RedGreenBlue
    effect: LightEffect
    fault: Omitted[Annotated[str, Text(MOST_FAULT)]] = None


@message(about="a change of the temple's lamps", sent_by=(Role.HOME_ASSISTANT,), read_by=(Role.TEMPLE,))
@dataclass(frozen=True, slots=True)
class SetLight:
    """A change of a temple's lamps; what is left out stays as it is. The answer is the next `light`."""

    leaf: ClassVar[str] = "set_light"
    on: bool
    brightness: Omitted[Brightness] = None
    colour: Omitted[RedGreenBlue] = None
    effect: Omitted[LightEffect] = None


@message(about="everything up to this number is stored", sent_by=(Role.COMPANION,), read_by=(Role.TEMPLE,))
@dataclass(frozen=True, slots=True)
class Ack:
    """Everything of `source` up to and including `seq` is stored; at 0 nothing is yet.

    `token` is the id of the token stored as `seq`: a ledger that has another there was restored from a backup. `at`
    is the companion's time, by which a temple without a time server judges the age of commands. `doubts` is the
    number up to which the source's doubts are stored.
    """

    leaf: ClassVar[str] = "ack"
    source: HexId
    seq: Total
    token: Omitted[HexId] = None
    at: Omitted[datetime] = None
    doubts: Omitted[Total] = None


@message(about="a request to the temple", sent_by=(Role.COMPANION, Role.HOME_ASSISTANT), read_by=(Role.TEMPLE,))
@dataclass(frozen=True, slots=True)
class Command:
    """A request to a temple; after `expires` it is not carried out, except `resend`, which never expires.

    `seq` belongs to `resend`, `god` to `drop` and `calibrate`. `count` is how many tokens `calibrate` waits for;
    `keep` is the yes or no to what it proposed. `notice` is the code of the notice that `dismiss` takes away.
    """

    leaf: ClassVar[str] = "command"
    id: HexId
    name: CommandName
    expires: datetime
    seq: Seq | None = None
    god: God | None = None
    count: Omitted[Seq] = None
    keep: Omitted[bool] = None
    notice: Omitted[Code] = None


@message(about="the answer to a command", sent_by=(Role.TEMPLE,), read_by=(Role.COMPANION,))
@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a command, by its id: a result, or an error in plain words, with a `code` where it has one."""

    leaf: ClassVar[str] = "reply"
    id: HexId
    ok: bool
    result: Mapping[str, object] | None = None
    error: Annotated[str, Text(512)] | None = None
    code: Omitted[Code] = None


@message(
    about="a table has changed",
    sent_by=(Role.COMPANION,),
    read_by=(Role.COMPANION,),
    place=Place.TABLE,
)
@dataclass(frozen=True, slots=True)
class Changed:
    """By the companion, under `table_topic`: a table is another than before; `version` counts its log's entries."""

    leaf: ClassVar[str] = "changed"
    table: HexId
    version: Total


Message: TypeAlias = (
    Status
    | Token
    | Doubt
    | Count
    | Noise
    | Findings
    | Score
    | Mood
    | Light
    | SetLight
    | Ack
    | Command
    | Reply
    | Changed
)

CONTRACT = Catalogue(get_args(Message))
