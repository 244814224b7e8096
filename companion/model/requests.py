"""A request to a temple and its progress: sent, answered, refused, or never answered.

A reply was written by another program, so it is checked: one of an unexpected form counts as no reply, and is shown
as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from companion.model.ports import StoredToken
from templo import contract

PATIENCE = timedelta(seconds=8)
"""How long a temple may take for a quick request: recording a test token may take five seconds."""

CALIBRATION = timedelta(seconds=130)
"""How long a calibration may take: the temple waits two minutes for known tokens."""

LIVES = timedelta(seconds=30)
"""How long a request is valid: one that arrives later is not carried out."""

USUAL = 10
MOST = 100
"""The number of known tokens that a calibration accepts."""

Amount = Annotated[int, Meta(ge=0)]
Milliseconds = Annotated[float, Meta(ge=0, le=contract.MAX_WIDTH_MS)]
Limits: TypeAlias = dict[str, float | None]


class Widths(Struct, frozen=True):
    """The widths of one beam's tokens."""

    number: Amount
    lowest: Milliseconds
    middle: Milliseconds
    highest: Milliseconds


class BeamReport(Struct, frozen=True):
    """A self-test's report of one beam; `proof` is None if no emitter was switched."""

    reads: Literal["dark", "clear"]
    tokens: Amount
    glitches: Amount
    missed_edges: Amount
    findings: tuple[dict[str, Any], ...]
    proof: bool | None = None
    widths_ms: Widths | None = None


class Selftest(Struct, frozen=True):
    """The reply to a self-test. `emitters` says whether they were switched: ``switched``, ``busy`` or ``fixed``."""

    beams: dict[str, BeamReport]
    emitters: str = "fixed"


class Proposal(Struct, frozen=True):
    """The reply to a calibration: the widths of the known tokens, and the limits that would follow."""

    god: str
    widths_ms: Annotated[tuple[Milliseconds, ...], Meta(min_length=1, max_length=MOST)]
    glitches: Amount
    spoilt: Amount
    limits: Limits
    proposed: Limits
    overruled: tuple[str, ...] = ()


class Verdict(Struct, frozen=True):
    """The reply to accepting or rejecting a proposal."""

    kept: bool
    limits: Limits


class Dropped(Struct, frozen=True):
    """The reply to a test token: its number in the temple's ledger."""

    seq: Annotated[int, Meta(ge=1)]


class Identity(Struct, frozen=True):
    """The reply to `identify`."""

    software: Annotated[str, Meta(max_length=64)]
    last_seq: Amount | None = None
    waiting: Amount | None = None
    unrecorded: Amount = 0


class Dismissed(Struct, frozen=True):
    """The reply to dismissing a notice: empty, because the next status lacks the notice."""


Answer: TypeAlias = Selftest | Proposal | Verdict | Dropped | Identity | Dismissed

_SHAPES: Mapping[contract.CommandName, type[Answer]] = {
    contract.CommandName.SELFTEST: Selftest,
    contract.CommandName.CALIBRATE: Proposal,
    contract.CommandName.DROP: Dropped,
    contract.CommandName.IDENTIFY: Identity,
    contract.CommandName.DISMISS: Dismissed,
}

SENT, ANSWERED, REFUSED, SILENT = "sent", "answered", "refused", "silent"


class TempleRequest(Struct, frozen=True):
    """One request to a temple and its outcome. `post` is the id of the post that made it."""

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

    @property
    def pending(self) -> bool:
        """Whether it still waits for its reply."""
        return self.stage == SENT

    @property
    def measuring(self) -> bool:
        """Whether it is a calibration that waits for tokens."""
        return self.pending and self.command.name is contract.CommandName.CALIBRATE and self.command.keep is None

    @property
    def until(self) -> datetime:
        """When its reply is overdue."""
        return self.sent_at + (CALIBRATION if self.measuring else PATIENCE)

    def replied(self, reply: contract.Reply, now: datetime) -> TempleRequest:
        """Return it after a reply; a late one still counts, and the last one is valid."""
        if reply.id != self.command.id:
            return self
        if not reply.ok:
            code, reason = reply.code or "", reply.error or ""
            return replace(self, stage=REFUSED, answered_at=now, code=code, error=reason)
        try:
            shape = Verdict if self.command.keep is not None else _SHAPES[self.command.name]
            answer: Any = msgspec.convert(dict(reply.result or {}), shape)
        except msgspec.ValidationError as error:
            reason = str(error)[:200]
            return replace(self, stage=REFUSED, answered_at=now, code="garbled", error=reason)
        return replace(self, stage=ANSWERED, answered_at=now, answer=answer)

    def timed(self, now: datetime) -> TempleRequest:
        """Return it as of now: its reply may be overdue."""
        return replace(self, stage=SILENT, answered_at=now) if self.pending and now >= self.until else self

    def saw(self, tokens: Iterable[StoredToken]) -> TempleRequest:
        """Return it after tokens arrived: those of a calibration have a flag."""
        if not self.measuring:
            return self
        widths = tuple(
            stored.token.width_ms
            for stored in tokens
            if stored.token.god is self.command.god
            and contract.Flag.TEST in stored.token.flags
            and not stored.token.flags & {contract.Flag.JAM, contract.Flag.MISSED_EDGE}
        )
        return replace(self, widths_ms=(*self.widths_ms, *widths)[:MOST]) if widths else self
