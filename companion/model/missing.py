"""Tokens that a temple's ledger has and this companion has not stored: when to request them again, and the outcome.

Times are seconds of a monotonic clock, because the time of day may be set meanwhile.
"""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from templo import contract

QUIET_S = 2.0
"""How long a ledger must be ahead with nothing new stored; until then its tokens are in flight, not missing."""

ANSWER_S = 8.0
"""How long a temple may take to answer: a token that it is recording may take five seconds."""

ARRIVAL_S = 30.0
"""How long the first missing token may take once the temple has answered."""

FIRST_WAIT_S = 5.0
LONGEST_WAIT_S = 120.0
"""Intervals between requests, doubled each time until something arrives."""

NEVER = datetime(9999, 12, 31, tzinfo=UTC)
"""When a request for missing tokens expires: practically never, because clocks may be wrong and repeating it is
harmless.
"""

REFUSED, SILENT, EMPTY = "resend_refused", "resend_silent", "resend_empty"
"""The troubles: refused, not answered, answered without effect."""


class Trouble(Struct, frozen=True):
    """Why missing tokens do not arrive: one of the codes above, and the temple's message if it refused."""

    code: str
    error: str = ""


class Missing(Struct, frozen=True):
    """What is missing of one ledger, as of the last check.

    Laws: a new gap is requested at once, but not sooner than `QUIET_S` after an earlier request. A ledger that is
    only ahead gets a request after `QUIET_S` in which nothing was stored. After that each wait is twice as long,
    until the mark moves.
    """

    source: str
    mark: int = 0
    gap: bool = False
    due_s: float | None = None
    """When to send the next request; None while nothing is missing."""
    wait_s: float = FIRST_WAIT_S
    request: str = ""
    """The id of the last request since something arrived."""
    requested_s: float | None = None
    """When a request was last made."""
    unanswered_s: float | None = None
    """Since when requests have had no answer."""
    answered_s: float | None = None
    """When the temple first agreed to send them."""
    last_seq: int | None = None
    """The last number in the ledger, according to the temple's answer."""
    trouble: Trouble | None = None

    def looked(self, now_s: float, mark: int, gap: bool, recorded: int | None) -> Missing:
        """Return it as of now.

        Everything up to `mark` is stored, and tokens above it if there is a `gap`. `recorded` is the ledger's last
        number according to its temple; None if unknown.
        """
        if not gap and (recorded is None or recorded <= mark):
            return Missing(self.source, mark, requested_s=self.requested_s)
        if self.due_s is None or mark != self.mark:
            due_s = self._at_once(now_s) if gap and not self.gap else now_s + QUIET_S
            return Missing(self.source, mark, gap, due_s, requested_s=self.requested_s)
        if gap and not self.gap:
            return replace(self, gap=True, due_s=self._at_once(now_s), wait_s=FIRST_WAIT_S)
        return self._judged(now_s)

    def requested(self, request: str, now_s: float) -> Missing:
        """Return it after a request was sent."""
        return replace(
            self,
            request=request,
            requested_s=now_s,
            unanswered_s=now_s if self.unanswered_s is None else self.unanswered_s,
            due_s=now_s + self.wait_s,
            wait_s=min(2 * self.wait_s, LONGEST_WAIT_S),
        )

    def replied(self, reply: contract.Reply, now_s: float) -> Missing:
        """Return it after a reply; a reply to another request changes nothing."""
        if reply.id != self.request:
            return self
        if not reply.ok:
            return replace(self, unanswered_s=None, trouble=Trouble(REFUSED, reply.error or ""))
        last_seq = (reply.result or {}).get("last_seq")
        return replace(
            self,
            unanswered_s=None,
            answered_s=now_s if self.answered_s is None else self.answered_s,
            last_seq=last_seq if isinstance(last_seq, int) else None,
            trouble=self.trouble if self.trouble and self.trouble.code == EMPTY else None,
        )

    def due(self, now_s: float) -> bool:
        """Return whether a request is due."""
        return self.due_s is not None and now_s >= self.due_s

    def _at_once(self, now_s: float) -> float:
        return now_s if self.requested_s is None else max(now_s, self.requested_s + QUIET_S)

    def _judged(self, now_s: float) -> Missing:
        if self.trouble is not None:
            return self
        if self.unanswered_s is not None and now_s >= self.unanswered_s + ANSWER_S:
            return replace(self, trouble=Trouble(SILENT))
        has_more = self.last_seq is None or self.last_seq > self.mark  # its own reply; anybody may publish a count
        if has_more and self.answered_s is not None and now_s >= self.answered_s + ARRIVAL_S:
            return replace(self, trouble=Trouble(EMPTY))
        return self
