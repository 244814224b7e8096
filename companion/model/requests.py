"""What was asked of a temple, and how it went: sent, answered, refused, or never answered at all.

Pure values: no clock, no network. An answer is what another program wrote, so it is read with suspicion: one of
another shape than expected is as good as none, and is shown as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from companion.model.ports import StoredToken
from templo import contract

PATIENCE = timedelta(seconds=8)
"""How long a temple may take over a small thing: a test token that is recorded may take five seconds."""

CALIBRATION = timedelta(seconds=130)
"""How long it may take over known tokens: it waits for them for two minutes."""

LIVES = timedelta(seconds=30)
"""How long a request is good for: one that arrives later is not carried out."""

USUAL = 10
MOST = 100
"""Known tokens that a calibration takes."""

Amount = Annotated[int, Meta(ge=0)]
Milliseconds = Annotated[float, Meta(ge=0, le=contract.MAX_WIDTH_MS)]
Limits: TypeAlias = dict[str, float | None]


class Widths(Struct, frozen=True):
    """How wide the tokens of one beam were."""

    number: Amount
    lowest: Milliseconds
    middle: Milliseconds
    highest: Milliseconds


class BeamReport(Struct, frozen=True):
    """What a self-test says of one beam; `proof` is None where no emitter was switched."""

    reads: Literal["dark", "clear"]
    tokens: Amount
    glitches: Amount
    missed_edges: Amount
    findings: tuple[dict[str, Any], ...]
    proof: bool | None = None
    widths_ms: Widths | None = None


class Selftest(Struct, frozen=True):
    """The answer to a self-test. `emitters` says whether they were switched: ``switched``, ``busy`` or ``fixed``."""

    beams: dict[str, BeamReport]
    emitters: str = "fixed"


class Proposal(Struct, frozen=True):
    """The answer to a calibration: what the known tokens measured, and the limits that would follow."""

    god: str
    widths_ms: Annotated[tuple[Milliseconds, ...], Meta(min_length=1, max_length=MOST)]
    glitches: Amount
    spoilt: Amount
    limits: Limits
    proposed: Limits
    overruled: tuple[str, ...] = ()


class Verdict(Struct, frozen=True):
    """The answer to a yes or no."""

    kept: bool
    limits: Limits


class Dropped(Struct, frozen=True):
    """The answer to a test token: its number in the temple's ledger."""

    seq: Annotated[int, Meta(ge=1)]


class Identity(Struct, frozen=True):
    """The answer to who is there."""

    software: Annotated[str, Meta(max_length=64)]
    last_seq: Amount | None = None
    waiting: Amount | None = None
    unrecorded: Amount = 0


class Dismissed(Struct, frozen=True):
    """The answer to a notice that was dismissed: nothing that a page needs; the next status lacks it."""


Answer: TypeAlias = Selftest | Proposal | Verdict | Dropped | Identity | Dismissed

_SHAPES: Mapping[contract.CommandName, type[Answer]] = {
    contract.CommandName.SELFTEST: Selftest,
    contract.CommandName.CALIBRATE: Proposal,
    contract.CommandName.DROP: Dropped,
    contract.CommandName.IDENTIFY: Identity,
    contract.CommandName.DISMISS: Dismissed,
}

SENT, ANSWERED, REFUSED, SILENT = "sent", "answered", "refused", "silent"


class _Stored(Struct, frozen=True):
    command: str
    post: str
    sent_at: datetime
    reply: str
    replied_at: datetime | None


@dataclass(frozen=True, slots=True)
class TempleRequest:
    """One request to a temple and what came of it. `post` is the id of the post that asked for it."""

    command: contract.Command
    post: str
    sent_at: datetime
    stage: str = SENT
    answered_at: datetime | None = None
    answer: Answer | None = None
    code: str = ""
    error: str = ""
    widths_ms: tuple[float, ...] = ()
    """What a calibration has measured so far, by the tokens themselves."""
    reply: contract.Reply | None = None
    """What the temple last answered, as it came."""

    def stored(self) -> str:
        """Return it as it is stored for other companions."""
        fields = {
            "command": contract.encode(self.command).decode(),
            "post": self.post,
            "sent_at": self.sent_at,
            "reply": contract.encode(self.reply).decode() if self.reply else "",
            "replied_at": self.answered_at if self.reply else None,
        }
        return msgspec.json.encode(fields).decode()

    @classmethod
    def read(cls, stored: str) -> TempleRequest:
        """Return what `stored` wrote.

        >>> now = datetime.fromisoformat("2026-11-21T18:00Z")
        >>> command = contract.Command("c" * 32, contract.CommandName.IDENTIFY, now)
        >>> request = TempleRequest(command, "post", now)
        >>> TempleRequest.read(request.stored()) == request
        True
        """
        fields = msgspec.json.decode(stored, type=_Stored)
        command = contract.decode(contract.Command.leaf, fields.command.encode())
        assert isinstance(command, contract.Command)
        request = cls(command, fields.post, fields.sent_at)
        if fields.reply and fields.replied_at:
            reply = contract.decode(contract.Reply.leaf, fields.reply.encode())
            assert isinstance(reply, contract.Reply)
            return request.replied(reply, fields.replied_at)
        return request

    def read_on(self, other: TempleRequest) -> TempleRequest:
        """Return it after another companion stored `other`: a newer request, or the reply to this one."""
        is_news = other.command.id != self.command.id or (self.stage != ANSWERED and not other.pending)
        return other if is_news else self

    @property
    def pending(self) -> bool:
        """Whether it still waits for its answer."""
        return self.stage == SENT

    @property
    def measuring(self) -> bool:
        """Whether it is a calibration that waits for tokens."""
        return self.pending and self.command.name is contract.CommandName.CALIBRATE and self.command.keep is None

    @property
    def until(self) -> datetime:
        """When its answer is overdue."""
        return self.sent_at + (CALIBRATION if self.measuring else PATIENCE)

    def replied(self, reply: contract.Reply, now: datetime) -> TempleRequest:
        """Return it after a reply; one that came late still counts, and only the last says what is so."""
        if reply.id != self.command.id:
            return self
        if not reply.ok:
            code, reason = reply.code or "", reply.error or ""
            return replace(self, stage=REFUSED, answered_at=now, code=code, error=reason, reply=reply)
        try:
            shape = Verdict if self.command.keep is not None else _SHAPES[self.command.name]
            answer: Any = msgspec.convert(dict(reply.result or {}), shape)
        except msgspec.ValidationError as error:
            reason = str(error)[:200]
            return replace(self, stage=REFUSED, answered_at=now, code="garbled", error=reason, reply=reply)
        return replace(self, stage=ANSWERED, answered_at=now, answer=answer, reply=reply)

    def timed(self, now: datetime) -> TempleRequest:
        """Return it as of now: an answer may be overdue."""
        return replace(self, stage=SILENT, answered_at=now) if self.pending and now >= self.until else self

    def saw(self, tokens: Iterable[StoredToken]) -> TempleRequest:
        """Return it after tokens arrived: those of a calibration are known by their flag."""
        if not self.measuring:
            return self
        widths = tuple(
            kept.token.width_ms
            for kept in tokens
            if kept.token.god is self.command.god
            and contract.Flag.TEST in kept.token.flags
            and not kept.token.flags & {contract.Flag.JAM, contract.Flag.MISSED_EDGE}
        )
        return replace(self, widths_ms=(*self.widths_ms, *widths)[:MOST]) if widths else self
