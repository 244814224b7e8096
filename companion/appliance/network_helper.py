"""`templo-mayor network`, run as root: answers one request of the companion, or opens the hotspot.

It reads one line from a socket that only the companion may open, and changes nothing but Wi-Fi connections, one run
at a time.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from companion.adapters.network import network_manager
from companion.adapters.network.network_helper import ISSUE, MOST, Answer, Request
from companion.adapters.network.network_manager import NetworkError
from companion.model.network import Network

FOLDER = Path("/run/templo-network")

LEAVE_S = 8.0
"""The phone that chose a Wi-Fi may be on the hotspot.

It needs time to load one more page, for which the helper runs again.
"""

ALONE_S = 180.0
"""How long a machine that knows a Wi-Fi waits for it before it opens its own."""

RETRY_S = 600.0
"""How long a hotspot that nobody uses is open before a known Wi-Fi is tried again."""


JOIN_PATIENCE_S = 10.0
"""How long a join waits for another run of the helper; the companion gets its answer before its own 30 s are over."""

WATCH_PATIENCE_S = 60.0
"""How long the watch waits for a join, before it looks again later."""

WATCH_S = 120.0
"""Between two looks of the watch while there is no other network, or the hotspot is open."""

TRY_AGAIN_S = 0.5

JOINS, WATCHES = "another Wi-Fi is being joined", "this machine's own Wi-Fi is being looked after"
"""What a run of the helper that changes connections does, as the message says to whoever waited for it in vain."""


class BusyError(NetworkError):
    """Another run of the helper changes NetworkManager's connections; the message says what it does."""


class Last(msgspec.Struct):
    """What became of the Wi-Fi that was chosen last."""

    joining: str = ""
    failed: str = ""


class Helper(Struct, frozen=True):
    """One run of the helper: where it notes what the next one must know, and the time.

    `clock` gives seconds since the machine's start, `now` seconds since 1970, `wait` lets that many pass.
    """

    folder: Path = FOLDER
    issue: Path = ISSUE
    leases: Path = network_manager.LEASES
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    wait: Callable[[float], None] = time.sleep
    entropy: Callable[[int], bytes] = os.urandom

    def serve(self, source: IO[bytes], answer: Callable[[bytes], None]) -> int:
        """Answer the one request that is read; returns the exit code.

        `answer` sends what it is given and hangs up: a Wi-Fi is joined only after that.
        """
        try:
            request = msgspec.json.decode(source.readline(MOST), type=Request)
            if request.join:
                network_manager.check(request.join, request.password)
        except (msgspec.DecodeError, NetworkError) as error:
            answer(msgspec.json.encode(Answer(self._look(), str(error))))
            return 1
        if not request.join:
            answer(msgspec.json.encode(Answer(self._look())))
            return 0
        try:
            with self._changing(JOINS, JOIN_PATIENCE_S):
                self._note(Last(joining=request.join))
                answer(msgspec.json.encode(Answer(self._look())))
                self.wait(LEAVE_S)
                return self._join(request)
        except BusyError as error:
            answer(msgspec.json.encode(Answer(self._look(), f"{error}; wait a minute")))
            return 1

    @contextmanager
    def _changing(self, what: str, patience_s: float) -> Iterator[None]:
        """Let no other run of the helper change a connection until the block ends.

        `what` says what this one does, for those that wait. Raises `BusyError` if another one is not done within
        `patience_s`.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("a+") as lock:
            for _ in range(round(patience_s / TRY_AGAIN_S)):
                if _locked(lock):
                    break
                self.wait(TRY_AGAIN_S)
            else:
                if not _locked(lock):
                    lock.seek(0)
                    raise BusyError(lock.read() or "the network is being changed")
            lock.truncate(0)
            lock.write(what)
            lock.flush()
            yield

    def _join(self, request: Request) -> int:
        try:
            network_manager.join(request.join, request.password)
        except NetworkError as error:
            self._note(Last(failed=request.join))
            print(f"{request.join!r} could not be joined: {error}", flush=True)
            return 1
        self._note(Last())
        self._show(network_manager.look(secrets=True))
        return 0

    def keep_watch(self, report: Callable[[str], None]) -> None:
        """Look after the hotspot until the machine needs none; `report` gets what was done, and what was not and why.

        It is started when NetworkManager takes a connection down: where there is another network, nothing runs.
        """
        while True:
            try:
                if done := self.watch():
                    report(done)
                network = network_manager.look(secrets=True)
                has_another = bool(network.wired or network.wifi) and not network.hotspot_is_open
                if has_another or not network.managed or not network.has_wifi:
                    return
            except BusyError as error:
                report(f"left the hotspot as it is: {error}")
            except NetworkError as error:
                report(f"no hotspot: {error}")
            self.wait(WATCH_S)

    def watch(self) -> str:
        """Open the hotspot where the machine is on no network, and close it where there is another way.

        It waits for a running join, and then looks at what came of that. Returns what was done, or nothing. Raises
        `BusyError` if the join takes longer, and `NetworkError`.
        """
        with self._changing(WATCHES, WATCH_PATIENCE_S):
            last = self._last()
            if last.joining:  # left by a join that was killed: a running one holds the lock
                self._note(Last(failed=last.joining))
            return self._looked_after()

    def _looked_after(self) -> str:
        network = network_manager.look(secrets=True)
        if not network.managed or not network.has_wifi:
            return ""
        network_manager.prepare_hotspot(self.entropy)
        done = self._watched(network)
        self._show(network_manager.look(secrets=True) if done else network)
        return done

    def _watched(self, network: Network) -> str:
        is_used = network.hotspot_is_open and network_manager.guests(self.now(), self.leases) > 0
        if network.wired or network.wifi:
            self._forget("alone")
            if network.hotspot_is_open and not is_used:
                network_manager.close_hotspot()
                return "closed the hotspot: there is another network"
            return ""
        if network.busy or is_used:
            return ""
        knows = network_manager.knows_wifi()
        if network.hotspot_is_open:
            if not knows or self._since("open") < RETRY_S:
                return ""
            self._forget("open", "alone")
            network_manager.close_hotspot()
            return "closed the hotspot, to try the Wi-Fi that it knows"
        if knows and self._since("alone") < ALONE_S:
            return ""
        self._forget("open")
        self._since("open")
        network_manager.open_hotspot()
        return "opened the hotspot: there is no other network"

    def _look(self) -> Network:
        last = self._last()
        network = network_manager.look(secrets=True)
        return msgspec.structs.replace(network, can_join=network.has_wifi, joining=last.joining, failed=last.failed)

    def _last(self) -> Last:
        with suppress(OSError, msgspec.DecodeError):
            return msgspec.json.decode((self.folder / "last").read_bytes(), type=Last)
        return Last()

    def _note(self, last: Last) -> None:
        (self.folder / "last").write_bytes(msgspec.json.encode(last))

    def _since(self, what: str) -> float:
        """Return for how many seconds something is so, which begins now where it was not noted."""
        file = self.folder / what
        with suppress(OSError, ValueError):
            return self.clock() - float(file.read_text())
        self.folder.mkdir(parents=True, exist_ok=True)
        file.write_text(str(self.clock()))
        return 0.0

    def _forget(self, *names: str) -> None:
        for name in names:
            (self.folder / name).unlink(missing_ok=True)

    def _show(self, network: Network) -> None:
        """Show the hotspot above the login of a screen at the machine, while it is open."""
        hotspot = network.hotspot
        if hotspot is None or not hotspot.on:
            self.issue.unlink(missing_ok=True)
            return
        self.issue.parent.mkdir(parents=True, exist_ok=True)
        address = network_manager.HOTSPOT_ADDRESS
        self.issue.write_text(
            f"Templo Mayor: join the Wi-Fi {hotspot.name}, password {hotspot.password}, and open http://{address}\n\n"
        )


def _locked(lock: IO[str]) -> bool:
    """Return whether this process has a file's lock now."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
