"""Requested drops whose tokens are not all recorded yet: who waits for the reply, and until when.

Times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections import deque

from msgspec import Struct

from controller.core.commands import RefusedError
from controller.core.counting import SECOND
from controller.core.messages import DropRequest
from templo.contract import God, Trouble
from templo.quoting import counted

PATIENCE_NS = 5 * SECOND
"""How long a dropped token may take to be recorded after its last edge."""

_STEP_NS = SECOND
"""The most that passes at once: a clock that jumps, or a machine that stood still, is nothing that a drop took."""


class _Waiting(Struct):
    """A drop with the number of its tokens that are not recorded yet."""

    drop: DropRequest
    left: int
    until_ns: int


class Drops:
    """The waiting drops, in order for each slot; those through a beam are separate from those `by_hand`."""

    def __init__(self) -> None:
        """Begin with none."""
        self._waiting: dict[tuple[God, bool], deque[_Waiting]] = {
            (god, by_hand): deque() for god in God for by_hand in (False, True)
        }
        self._seen_ns = 0

    def wait(self, drop: DropRequest, by_hand: bool, now_ns: int, through_ns: int) -> None:
        """Let a drop wait for its tokens, the last of which has passed its beam at `through_ns`."""
        if self.deadline() is None:
            self._seen_ns = now_ns
        self._waiting[drop.god, by_hand].append(_Waiting(drop, drop.times, through_ns + PATIENCE_NS))

    def recorded(self, god: God, by_hand: bool, seq: int) -> None:
        """Count a recorded token, and answer the drop whose last token it was."""
        waiting = self._waiting[god, by_hand]
        if waiting:
            waiting[0].left -= 1
            if waiting[0].left == 0:
                drop = waiting.popleft().drop
                drop.respond({"god": drop.god, "recorded": drop.times, "seq": seq})

    def deadline(self) -> int | None:
        """Return when to look at the next waiting drop again, if there is one."""
        due = [waiting[0].until_ns for waiting in self._waiting.values() if waiting]
        return min(*due, self._seen_ns + _STEP_NS) if due else None

    def advance(self, now_ns: int, trouble: Trouble | None) -> None:
        """Reply to drops whose tokens are not recorded in time, for a `trouble` of the disk or a jammed slot."""
        passed = now_ns - self._seen_ns
        skipped = passed - min(max(0, passed), _STEP_NS)
        self._seen_ns = now_ns
        why = "the temple's status may say why"
        if trouble is not None:
            why = f"the disk refuses ({trouble}). What has fallen is kept, and recorded as soon as the disk takes it"
        for waiting in self._waiting.values():
            for each in waiting:
                each.until_ns += skipped
            while waiting and now_ns >= waiting[0].until_ns:
                _give_up(waiting.popleft(), why)

    def close(self) -> None:
        """Reply to all that wait."""
        for waiting in self._waiting.values():
            while waiting:
                _give_up(waiting.popleft(), "the temple is stopping")


def _give_up(waiting: _Waiting, why: str) -> None:
    drop = waiting.drop
    known = f"not recorded yet of what was dropped for {drop.god}: {waiting.left} of {counted(drop.times, 'token')}"
    drop.respond(RefusedError("not_recorded", f"{known}: {why}").result())
