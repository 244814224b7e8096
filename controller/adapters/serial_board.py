"""The backend `serial`: a board that counts by itself, at the end of a USB cable, whose tokens come with numbers.

The only importer of pyserial, and only when a port is opened. Its thread reads and writes the port; what it reads
goes to the pipeline's queue, and what the pipeline answers comes back through a queue of its own.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from controller.adapters.serial_protocol import (
    BAUD,
    MOST_GONE,
    Greeting,
    Happened,
    Health,
    Session,
    TokenLine,
    UnknownTokens,
)
from controller.core.counting import SECOND, Limits
from controller.core.messages import BoardCursor, BoardFault, BoardHello, BoardStatus, BoardToken
from controller.core.ports import BackendContext, BeamsError, Capabilities, Level, Put, TokenSource
from controller.core.settings import BeamSettings
from templo.contract import Finding, God, Kind, Timing
from templo.liveness import SOON_S

RETRY_S = 1.0
"""How soon a port that is not there is tried again."""

_READ_S = 0.05
_UNTIMED_NS = 60 * SECOND
"""How old a token counts as whose time the board has forgotten: too old to be news."""

log = logging.getLogger(__name__)

Answered: TypeAlias = Callable[[Session], None]


class SerialBoard(TokenSource):
    """The beams of a board behind a serial port, whenever it is plugged in."""

    capabilities = Capabilities(Kind.ARDUINO, Timing.CALLBACK, counts=True)

    def __init__(self, context: BackendContext, open_port: Callable[[str], Any] | None = None) -> None:
        """Store the arguments; `open_port` is another way to open the port than pyserial's."""
        self._port_name = context.settings.address
        self._limits = context.limits
        self._put: Put = lambda message: None
        self._now = context.monotonic_ns
        self._new_id = context.new_id
        self._open_port = open_port or _open
        self._answers: queue.SimpleQueue[Answered] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._fault: Finding | None = None
        self._beat = context.beat
        self._thread = threading.Thread(target=self._run, name="beams", daemon=True)

    @classmethod
    def check(cls, settings: BeamSettings) -> None:
        """Refuse settings without a port, and those of pins that a board does not have."""
        if not settings.address.startswith("/"):
            raise ValueError("serial: and a port, such as serial:/dev/ttyACM0")
        if settings.broken != "low" or settings.emitters is not None or settings.below:
            raise ValueError(
                "beams on a header, as beams.broken, beams.emitters or a second beam is set: a board behind a port "
                "has none of them"
            )

    def open(self, put: Put) -> Mapping[God, Level]:
        """Look for the board from now on; raises `BeamsError` without pyserial."""
        try:
            import serial  # noqa: F401 (whether it is there)
        except ImportError as error:
            raise BeamsError(
                f"a board behind {self._port_name} needs pyserial ({error}): "
                "the extra 'controller' of this program brings it"
            ) from error
        self._put = put
        self._thread.start()
        return {god: Level(False, self._now()) for god in God}

    def alive(self) -> bool:
        """Return whether the port is still watched."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop watching the port."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def recorded(self, board: str, seq: int) -> None:
        """Acknowledge, from any thread, that the board's tokens are durable up to a number."""
        self._answers.put(lambda session: session.recorded(board, seq))

    def learn(self, limits: Limits) -> None:
        """Let the board count by other limits."""
        if limits != self._limits:
            self._limits = limits
            self._answers.put(lambda session: session.learn(limits))

    def _run(self) -> None:
        while not self._closing.is_set():
            self._beat(SOON_S)
            try:
                port = self._open_port(self._port_name)
            except OSError as error:  # pyserial's own error is one
                self._report(Finding("no_board", {"errno": error.errno or 0}), _why(error))
                self._closing.wait(RETRY_S)
                continue
            log.info("the port %s is open", self._port_name)
            try:
                self._serve(port)
            except OSError as error:
                self._report(Finding("no_board", {"errno": error.errno or 0}), _why(error))
            finally:
                with suppress(OSError):
                    port.close()
            self._closing.wait(RETRY_S)

    def _serve(self, port: Any) -> None:
        """Serve one connection, to its loss or the end."""
        while not self._answers.empty():  # answers to an earlier connection
            self._answers.get_nowait()
        session = Session(self._limits, self._now())
        while not self._closing.is_set():
            self._beat(SOON_S)
            data = port.read(1)
            if data:
                data += port.read(min(4096, port.in_waiting))
            for happened in session.take(data, self._now()):
                self._take(session, happened)
            while not self._answers.empty():
                self._answers.get_nowait()(session)
            session.advance(self._now())
            if session.out:
                port.write(b"".join(session.out))
                session.out.clear()
            self._report(session.problem)

    def _take(self, session: Session, happened: Happened) -> None:
        now_ns = self._now()
        match happened:
            case Greeting(None):
                session.name(self._new_id())
            case Greeting(str(board)):
                # Before its first token a board's totals are 0; at any other number they are not known.
                initial = BoardCursor(happened.acked, None if happened.acked else 0)
                self._put(BoardHello(board, initial, lambda cursor: self._welcome(happened, cursor)))
            case TokenLine(board, cursor, god, counted, timed):
                age_ns = 0 if timed else _UNTIMED_NS
                self._put(BoardToken(god, counted, board, cursor, counted.start_ns + counted.width_ns - age_ns))
            case UnknownTokens(board, first, last) if last - first >= MOST_GONE:
                log.error(
                    "the board %s goes on with number %d after %d: so many tokens are not believed, and none of "
                    "those between is recorded",
                    board,
                    last + 1,
                    first - 1,
                )
            case UnknownTokens(board, first, last):
                log.warning(
                    "the board %s can no longer send the %d tokens from %d to %d, nor say whose they were: "
                    "they are not recorded here",
                    board,
                    last - first + 1,
                    first,
                    last,
                )
            case Health():
                for god in God:
                    given = (happened.beams[god], happened.dark[god], happened.glitches[god], happened.missed[god])
                    self._put(BoardStatus(god, *given, now_ns))

    def _welcome(self, greeting: Greeting, cursor: BoardCursor) -> None:
        """Take, from the pipeline's thread, up to where a board's tokens are recorded here."""

        def answer(session: Session) -> None:
            if greeting.last < cursor.seq:
                log.error(
                    "the board %s has counted up to %d and %d were recorded: its memory was lost; it gets a new name",
                    greeting.name,
                    greeting.last,
                    cursor.seq,
                )
                session.name(self._new_id())
            else:
                session.welcome(greeting, cursor)

        self._answers.put(answer)

    def _report(self, finding: Finding | None, why: str = "") -> None:
        code = None if finding is None else finding.code
        if code != (None if self._fault is None else self._fault.code):
            if finding is not None:
                log.warning("the board behind %s: %s %s %s", self._port_name, code, dict(finding.facts), why)
            else:
                log.info("the board behind %s has recovered", self._port_name)
        if finding != self._fault:
            self._fault = finding
            self._put(BoardFault(finding, self._now()))


def _open(name: str) -> Any:
    import serial

    # Opening pulls DTR, which resets an Uno: what it counted is in its EEPROM.
    port = serial.Serial(name, BAUD, timeout=_READ_S, write_timeout=1, exclusive=True)
    _keep_dtr(port)
    return port


def _keep_dtr(port: Any) -> None:
    """Let DTR be when the port is closed, so that the next opening does not reset the board again."""
    import termios

    with suppress(termios.error, OSError):
        attributes = termios.tcgetattr(port.fileno())
        attributes[2] &= ~termios.HUPCL
        termios.tcsetattr(port.fileno(), termios.TCSANOW, attributes)


def _why(error: OSError) -> str:
    return str(error.strerror or error)[:120]
