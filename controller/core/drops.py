"""Requested drops whose tokens are not all recorded yet: who waits for the reply, and until when.

Times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from controller.core.commands import RefusedError
from controller.core.counting import SECOND
from controller.core.messages import DropRequest
from templo.contract import God

PATIENCE_NS = 5 * SECOND
"""How long a dropped token may take to be recorded after its last edge."""


@dataclass(slots=True)
class _Waiting:
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

    def wait(self, drop: DropRequest, by_hand: bool, through_ns: int) -> None:
        """Let a drop wait for its tokens, the last of which has passed its beam at `through_ns`."""
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
        """Return when to give up on the next waiting drop, if there is one."""
        return min((waiting[0].until_ns for waiting in self._waiting.values() if waiting), default=None)

    def forget(self, now_ns: int | None) -> None:
        """Give up on drops whose tokens did not arrive in time, for example in a jammed slot; with None on all."""
        for waiting in self._waiting.values():
            while waiting and (now_ns is None or now_ns >= waiting[0].until_ns):
                given_up = waiting.popleft()
                drop = given_up.drop
                recorded = f"{drop.times - given_up.left} of {drop.times} tokens"
                message = f"{recorded} dropped for {drop.god} were recorded: see the temple's status"
                drop.respond(RefusedError("not_recorded", message).result())
