"""Publishes findings about the beams: at once when one is new, seldom when only its facts have changed.

Times are integer nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

from controller.core.counting import SECOND
from controller.core.ports import MessageSink
from templo import contract
from templo.contract import God

LOOK_NS = SECOND // 4
"""The shortest interval between diagnoses: tokens may fall fifty times a second."""

FACTS_NS = 5 * SECOND
"""The interval at which changed facts are published if there is no new finding."""

_TIMED = frozenset({"for_s", "ago_s"})
"""Facts that grow with time: the reader of a message adds the time since its `at`."""

_Gist: TypeAlias = tuple[object, ...]


class _Observed(Protocol):
    def deadline(self, now_ns: int) -> int | None: ...


class FindingsPublisher:
    """Publishes findings through an outlet."""

    def __init__(self, outlet: MessageSink) -> None:
        """Begin disconnected."""
        self._outlet = outlet
        self._up = False
        self._published: contract.Findings | None = None
        self._published_ns = 0
        self._look_ns = 0
        self._seen: object = None
        self._due_ns: int | None = None

    def connected(self) -> None:
        """Publish everything again: the broker may have lost what it retained."""
        self._up = True
        self._published = self._seen = None
        self._look_ns = 0

    def disconnected(self) -> None:
        """Publish nothing until connected."""
        self._up = False

    def repeat(self) -> None:
        """Publish the last message again, as a node of a cluster may have lost it."""
        if self._up and self._published is not None:
            self._outlet.publish(self._published)

    def publish_if_changed(
        self, seen: object, findings: Callable[[], contract.Findings], observed: Iterable[_Observed], now_ns: int
    ) -> None:
        """Publish what is wrong now, if it has changed and the last message is old enough.

        `seen` is everything that findings depend on except the time: while it is the same there is no new diagnosis.
        """
        if not self._up or (seen == self._seen and (self._due_ns is None or now_ns < self._due_ns)):
            return
        if now_ns < self._look_ns:
            self._due_ns = self._look_ns
            return
        self._look_ns, self._seen = now_ns + LOOK_NS, seen
        due = [at_ns for each in observed if (at_ns := each.deadline(now_ns)) is not None]
        now = findings()
        if self._published is None or _codes(now) != _codes(self._published):
            self._publish(now, now_ns)
        elif _facts(now) != _facts(self._published):
            if now_ns >= self._published_ns + FACTS_NS:
                self._publish(now, now_ns)
            else:
                due.append(self._published_ns + FACTS_NS)
        self._due_ns = min(due, default=None)

    def deadline(self) -> int | None:
        """Return when `publish_if_changed` will have something to publish by time alone."""
        return self._due_ns if self._up else None

    def _publish(self, findings: contract.Findings, now_ns: int) -> None:
        if self._outlet.publish(findings):
            self._published, self._published_ns = findings, now_ns


def _codes(of: contract.Findings) -> _Gist:
    """Return what is published as soon as it changes."""
    codes = (tuple(each.code for each in of.beams[god]) for god in God)
    return (of.session, of.emitters, tuple(sorted(of.limits.items())), *codes)


def _facts(of: contract.Findings) -> _Gist:
    """Return what is published some time after it changes."""
    every = (tuple(each.facts.items()) for god in God for each in of.beams[god])
    return tuple(tuple(fact for fact in facts if fact[0] not in _TIMED) for facts in every)
