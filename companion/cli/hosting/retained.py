"""What the broker retains for tenants, remembered for those that are not in use."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable

from companion.model.tenants import MEBIBYTE

MOST_REMEMBERED = 20_000
MOST_BYTES_REMEMBERED = 8 * MEBIBYTE
"""The most retained messages of all tenants that are remembered, and the most bytes of their topics and payloads."""


class Retained:
    """What the broker retains for tenants, within bounds; beyond, the one with the most bytes loses its oldest.

    The caller holds the lock.
    """

    def __init__(self) -> None:
        self._kept: dict[str, OrderedDict[str, bytes]] = {}
        self._bytes: dict[str, int] = {}
        self._messages = self._all_bytes = 0
        self._unknown: set[str] = set()

    def put(self, tenant: str, topic: str, payload: bytes) -> None:
        """Remember a message in place of an earlier one with the same topic."""
        self._drop(tenant, topic)
        self._kept.setdefault(tenant, OrderedDict())[topic] = payload
        size = len(topic) + len(payload)
        self._bytes[tenant] = self._bytes.get(tenant, 0) + size
        self._all_bytes += size
        self._messages += 1
        while self._messages > MOST_REMEMBERED or self._all_bytes > MOST_BYTES_REMEMBERED:
            largest = max(self._bytes, key=self._bytes.__getitem__)
            self._drop(largest, next(iter(self._kept[largest])))

    def of(self, tenant: str) -> Iterable[tuple[str, bytes]]:
        """Return topics and payloads of one tenant, the oldest first."""
        return self._kept.get(tenant, {}).items()

    def forget(self, tenant: str) -> None:
        """Forget everything of a tenant."""
        self._messages -= len(self._kept.pop(tenant, ()))
        self._all_bytes -= self._bytes.pop(tenant, 0)

    def forget_unknown(self, known: Collection[str]) -> None:
        """Forget those that were no tenants the last time either: one may have been added a moment ago."""
        unknown = self._kept.keys() - set(known)
        for each in unknown & self._unknown:
            self.forget(each)
        self._unknown = unknown

    def _drop(self, tenant: str, topic: str) -> None:
        kept = self._kept.get(tenant, OrderedDict())
        if topic in kept:
            size = len(topic) + len(kept.pop(topic))
            self._bytes[tenant] -= size
            self._all_bytes -= size
            self._messages -= 1
            if not kept:
                self.forget(tenant)
