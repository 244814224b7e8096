"""The daemon and its composition root: opens everything, connects it, watches it, and closes it.

Clocks, randomness, signals and threads are chosen only here. If a thread dies, the temple's status says that it does
not count, and the process ends so that its supervisor restarts it.
"""

from __future__ import annotations

import faulthandler
import logging
import queue
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime

from controller.adapters import home_assistant, learned_file
from controller.adapters.control_socket import (
    ControlError,
    ControlServer,
    HasLeft,
    InUseError,
    StateLock,
    prepare,
    socket_path,
)
from controller.adapters.keyboard import Keyboard
from controller.adapters.ledger_copy import read_copy
from controller.adapters.ledger_recovery import open_ledger
from controller.adapters.leds import Leds
from controller.adapters.light_thread import Buzzer, Lamps, LightThread
from controller.adapters.mqtt_link import Link
from controller.adapters.piezo import Piezo
from controller.adapters.sqlite_ledger import FILE_NAME, Ledger
from controller.adapters.ws2812 import Ws2812
from controller.app import backends
from controller.app.waiting import wait_for_beams
from controller.core.calibration import PATIENCE_NS, USUAL, Calibration
from controller.core.commands import Result
from controller.core.counting import MS, SECOND
from controller.core.ledger_access import LedgerAccess
from controller.core.level_watch import WATCH_S, LevelWatch
from controller.core.messages import (
    CalibrationRequest,
    DismissRequest,
    DropRequest,
    LevelRead,
    PipelineMessage,
    SelftestRequest,
    StatusRequest,
    Stop,
)
from controller.core.pipeline import Pipeline
from controller.core.ports import BackendContext, BeamsError, Capabilities, Host, LedgerTrouble
from controller.core.publisher import Identity, client_id
from controller.core.settings import Settings
from controller.core.slots import Slots
from controller.simulation.beams import MOST_DROPS, SPACING_NS, SimulatedBeams
from controller.simulation.parser import Script
from controller.simulation.realtime import ScriptPlayer
from templo import __version__
from templo.contract import God, State, Trouble
from templo.liveness import Beat, Feeder, Pulse, Supervisor, no_heartbeat, supervisor
from templo.mqtt import Beats

EXIT_DEAD = 70
"""A thread died; a supervisor should start the daemon again."""

RESTART = -1
"""The scenario restarts the daemon."""

_ANSWER_S = 5.0
_LOOK_S = 0.5
"""How often a calibration looks whether somebody still waits for it."""
_DROPS_S = 60.0
_LAST_S = 10.0

log = logging.getLogger(__name__)


def run(settings: Settings, keys: bool, script: Script | None = None) -> int:
    """Run a temple until a signal comes; return the exit code. `script` is played on simulated beams.

    Raises `BeamsError`, `ControlError` and `InUseError` if it cannot start, and `ScenarioError` for a script that
    cannot be played. A fault of the disk or the ledger does not prevent a start: the temple's status reports it.
    """
    socket_path(settings.state)
    player = None
    if script is not None:
        wanted = {f"counting.{name}" for name in script.counting}
        settings = replace(settings, counting=script.limits(settings.counting), chosen=settings.chosen | wanted)
        player = ScriptPlayer(script, SimulatedBeams(_context(settings)), time.monotonic_ns, _print)
    prepare(settings.state)
    lock = StateLock(settings.state)
    with suppress(ControlError):  # opening the ledger tries again, and reports it
        lock.take()
    supervised = supervisor()
    try:
        if player is None:
            daemon = _watching(settings, lock, supervised)
            return daemon.run(keys) if daemon else 0
        player.start()
        while (code := _Daemon(settings, lock, supervised, player).run(keys)) == RESTART and player.rest():
            pass
        player.close()
        return 0 if code == RESTART else code
    finally:
        lock.release()


def _watching(settings: Settings, lock: StateLock, supervised: Supervisor) -> _Daemon | None:
    """Return a daemon whose beams are open, or None if it was stopped before they could be opened.

    Raises `BeamsError` if the process has no supervisor: a person who typed the command reads it at once. A
    supervised process would only be restarted for ever, while the temple's page says that it is switched off.
    """
    ended = threading.Event()
    while True:
        try:
            return _Daemon(settings, lock, supervised)
        except BeamsError as error:
            if not supervised.present:
                raise
            source = backends.find(settings.beams)(_context(settings))
            identity = _identity(settings, source.capabilities)
            before = {
                number: signal.signal(number, lambda _number, _frame: ended.set())
                for number in (signal.SIGTERM, signal.SIGINT)
            }
            if not wait_for_beams(settings, identity, error, lambda: _try_open(settings), supervised, ended):
                return None
            for number, handler in before.items():  # a signal during the next try ends the process at once
                signal.signal(number, handler)


def _try_open(settings: Settings) -> None:
    """Open the beams and close them again; raises `BeamsError`."""
    source = backends.find(settings.beams)(_context(settings))
    source.open(lambda _: None)
    source.close()


def find_lamps(settings: Settings) -> Lamps | None:
    """Return the lamps that the settings name, not yet opened; None if there are none."""
    if settings.lights.lamps == "leds":
        return Leds(settings.lights, settings.beams, settings.state)
    return Ws2812(settings.lights) if settings.lights.lamps == "ws2812" else None


def find_buzzer(settings: Settings) -> Buzzer | None:
    """Return the buzzer that the settings name, not yet opened; None if they name none."""
    pin = settings.lights.piezo
    return None if pin is None else Piezo(pin, settings.beams, settings.state)


def _identity(settings: Settings, capabilities: Capabilities) -> Identity:
    return Identity(
        temple=settings.temple,
        session=secrets.token_hex(16),
        kind=capabilities.kind,
        software=__version__,
        timing=capabilities.timing,
    )


class _Daemon:
    """One run of the daemon. It also does what keys and the control socket request."""

    def __init__(
        self, settings: Settings, lock: StateLock, supervised: Supervisor, player: ScriptPlayer | None = None
    ) -> None:
        """Open the beams before anything else that would have to be closed again; raises `BeamsError`."""
        self._settings = settings
        self._lock = lock
        self._player = player
        self._ended = threading.Event()
        self._pulse = Pulse(("beams", "pipeline", "link", "control"), time.monotonic)
        self._feeder = Feeder(self._pulse, supervised)
        self._restarts = False
        items: queue.SimpleQueue[PipelineMessage] = queue.SimpleQueue()
        self._items = items
        calibration = Calibration(
            settings.counting,
            settings.chosen,
            learned_file.load(settings.state),
            lambda measured: learned_file.save(settings.state, measured),
        )
        context = _context(replace(settings, counting=calibration.limits), self._pulse.of("beams"))
        self._beams = backends.find(settings.beams)(context) if player is None else player.source(context)
        levels = self._beams.open(items.put)
        self._identity = _identity(settings, self._beams.capabilities)
        access = LedgerAccess(self._open, lambda: read_copy(settings.state / FILE_NAME))
        lamps = find_lamps(settings)
        self._lights: LightThread | None = None
        buzzer = find_buzzer(settings)
        if lamps is not None or buzzer is not None:
            self._lights = LightThread(lamps, time.monotonic_ns, lambda light: self._link.publish(light), buzzer)
        self._link = Link(
            settings.broker,
            settings.temple,
            client_id(access.source or self._identity.session),
            self._identity.gone(State.LOST, access.source),
            items.put,
            beats=Beats(self._pulse.of("link"), self._pulse.of("network")),
            announced=dict(
                [
                    home_assistant.announcement(
                        self._identity,
                        lamps.coloured if lamps else None,
                        settings.page(socket.gethostname()),
                    )
                ]
            ),
            lights=self._lights,
        )
        self._pipeline = Pipeline(
            identity=self._identity,
            slots=Slots(self._beams, levels, calibration.limits),
            access=access,
            link=self._link,
            host=Host(
                time.monotonic_ns,
                lambda: datetime.now(UTC),
                lambda: secrets.token_hex(16),
                lambda seq: _print(f"token {seq} waits: whose was it?"),
            ),
            calibration=calibration,
            items=items,
            lights=self._lights,
        )
        pipeline_beat = self._pulse.of("pipeline")
        self._thread = threading.Thread(
            target=lambda: self._pipeline.run(pipeline_beat), name="pipeline", daemon=True
        )
        self._dead: str | None = None
        self._levels = LevelWatch()
        self._complained = False

    def run(self, keys: bool) -> int:
        """Start all threads, wait for the end, and stop them in order."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda _number, _frame: self._request_end())
        threading.excepthook = self._on_thread_exception
        with suppress(OSError, ValueError):  # stderr may be no file
            faulthandler.enable()  # so that a watchdog's SIGABRT leaves in the log where every thread stood
        with ExitStack() as stack:
            self._thread.start()
            self._link.connection.start()
            if self._lights is not None:
                stack.callback(self._lights.close)
                self._lights.start()
            if (control := self._open_control()) is None:
                self._pulse.rest("control")
            else:
                stack.callback(control.close)
            _print(
                f"templo-controller ready: temple={self._settings.temple} state={self._settings.state} "
                f"broker={self._link.connection.address} beams={self._settings.beams.source}"
            )
            if keys:
                keyboard = Keyboard(sys.stdin.fileno(), self, _print)
                stack.callback(keyboard.stop)
                keyboard.start()
            if self._player is not None:
                self._player.enter(self)
            watched = {
                "beams": self._beams.alive,
                "pipeline": self._thread.is_alive,
                "link": self._link.connection.alive,
            }
            if control is not None:
                watched["control"] = control.alive
            while not self._ended.wait(self._feeder.pause(WATCH_S)):
                if dead := [name for name, alive in watched.items() if not alive()]:
                    self._dead = dead[0]
                    break
                self._check_levels()
                if control is None and (control := self._open_control()) is not None:
                    stack.callback(control.close)
                    watched["control"] = control.alive
                self._feeder.turn()
            if self._dead is not None:
                return self._give_up(self._dead)
        self._feeder.stopping()
        if self._restarts and self._player is not None:
            self._player.leave()
        else:
            self._beams.close()
        self._items.put(Stop())
        self._thread.join(_LAST_S)
        self._link.stop(self._pipeline.gone(State.STOPPED))
        return RESTART if self._restarts else 0

    def drop(self, god: God) -> str:
        """Drop a token for a key; a temple with real beams gets a test."""
        self._items.put(DropRequest(god, 1, SPACING_NS, False, lambda result: _print(_dropped(result))))
        return f"a token falls for {god}"

    def hold(self, god: God) -> str:
        """Hold a simulated beam dark, or release it."""
        if (dark := self._beams.toggle(god)) is None:
            return f"the beam of {god} is real: hold it dark by hand"
        return f"the beam of {god} is {'held dark' if dark else 'let go'}"

    def plug(self) -> str:
        """Pull the plug of the broker's connection, or put it back."""
        pulled = not self._link.connection.unplugged
        self._link.connection.pull_plug(pulled)
        return f"the plug to {self._link.connection.address} is {'pulled' if pulled else 'back in'}"

    def cut(self, pulled: bool) -> None:
        """Cut the connection to the broker for a scenario, or let it come back."""
        self._link.connection.pull_plug(pulled)

    def restart(self) -> None:
        """Stop in order for a scenario, to be started again."""
        self._restarts = True
        self._ended.set()

    def status(self) -> str:
        """Return the temple's status in one line."""
        try:
            report = self._report()
        except ControlError as error:
            return str(error)
        beams, totals = report["beams"], report["totals"] or {}
        assert isinstance(beams, Mapping)
        assert isinstance(totals, Mapping)
        slots = ", ".join(f"{god} {beams[god]} at {totals.get(god, 'an unknown count')}" for god in God)
        broker = "connected" if self._link.connection.protocol else "not connected"
        return f"{report['state']}: {slots}; {report['waiting']} waiting for the companion, {broker}"

    def quit(self) -> str:
        """Stop the daemon."""
        self._request_end()
        return "closing the temple"

    def _request_end(self) -> None:
        self._restarts = False
        if self._player is not None:
            self._player.end()
        self._ended.set()

    def _on_thread_exception(self, last: threading.ExceptHookArgs) -> None:
        """`threading.excepthook`: log the exception and stop the daemon, for a library's threads too."""
        self._dead = last.thread.name if last.thread is not None else "unknown"
        if last.exc_value is not None:
            log.critical("a thread died", exc_info=last.exc_value)
        self._ended.set()

    def _open(self) -> Ledger:
        try:
            self._lock.take()
        except (ControlError, InUseError) as error:
            raise LedgerTrouble(Trouble.LEDGER_READ_ONLY, str(error)) from error
        return open_ledger(self._settings.state, lambda: secrets.token_hex(16), lambda: datetime.now(UTC))

    def _open_control(self) -> ControlServer | None:
        """Open the control socket; return None if that fails: the temple still counts, without the command line."""
        try:
            control = ControlServer(socket_path(self._settings.state), self._answer, self._pulse.of("control"))
        except ControlError as error:
            if not self._complained:
                log.error("%s: the command line cannot reach this temple", error)
            self._complained = True
            return None
        control.start()
        return control

    def _check_levels(self) -> None:
        """Compare the beams' levels with what their edges lead to: edges can be lost, or never arrive at all."""
        for god, counter in self._pipeline.counters.items():
            read_ns = time.monotonic_ns()
            dark = self._beams.dark(god)
            if dark is not None and self._levels.differs(god, dark, counter):
                self._items.put(LevelRead(god, read_ns, dark))
                log.info("the level of %s changed and no edge came", god)
                self._beams.heal()

    def _give_up(self, dead: str) -> int:
        log.critical("the thread of the %s is dead; ending, to be restarted", dead)
        self._link.publish(self._identity.gone(State.ALERT, self._pipeline.source, Trouble.DEAF))
        until = time.monotonic() + 1
        while self._link.congested() and time.monotonic() < until:
            time.sleep(0.02)
        return EXIT_DEAD

    def _report(self) -> Mapping[str, object]:
        result = self._request(StatusRequest, _ANSWER_S)
        connection = self._link.connection
        return {**result, "broker": {"address": str(connection.address), "protocol": connection.protocol}}

    def _request(
        self, item: Callable[[Callable[[Mapping[str, object]], None]], PipelineMessage], patience_s: float
    ) -> Result:
        """Send a request to the pipeline and wait for its answer."""
        answers: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self._items.put(item(answers.put))
        try:
            return answers.get(timeout=patience_s)
        except queue.Empty:
            raise ControlError(f"no answer within {patience_s:g} s") from None

    def _answer(self, request: Mapping[str, object], has_left: HasLeft) -> Mapping[str, object]:
        """Carry out a request of the command line: ``{"do": "status"}`` or ``{"do": "drop", "god": ..., ...}``."""
        match request.get("do"):
            case "status":
                return self._report()
            case "drop":
                return self._drop_many(request)
            case "calibrate":
                return self._calibrate(request, has_left)
            case "selftest":
                return self._request(SelftestRequest, _ANSWER_S)
            case "dismiss":
                return _unless_refused(
                    self._request(lambda respond: DismissRequest(str(request.get("code")), respond), _ANSWER_S)
                )
            case other:
                expected = "calibrate, dismiss, drop, selftest or status"
                raise ControlError(f"the request is to {other!r}; expected {expected}")

    def _calibrate(self, request: Mapping[str, object], has_left: HasLeft) -> Mapping[str, object]:
        """Measure tokens, or decide about what they propose; end the measuring if whoever asked for it has left.

        Until its end no token in that slot scores, and nobody would see why.
        """
        god, number, keep = _god(request), request.get("count", USUAL), request.get("keep")
        if type(number) is not int:
            raise ControlError(f"count is {number!r}; expected a whole number")
        if keep is not None and not isinstance(keep, bool):
            raise ControlError(f"keep is {keep!r}; expected true or false")
        answers: queue.SimpleQueue[Result] = queue.SimpleQueue()
        self._items.put(CalibrationRequest(god, number, keep, answers.put))
        until = time.monotonic() + PATIENCE_NS / SECOND + _ANSWER_S
        while time.monotonic() < until:
            with suppress(queue.Empty):
                return _unless_refused(answers.get(timeout=_LOOK_S))
            if has_left():
                self._items.put(CalibrationRequest(god, None, False, log.debug))
                raise ControlError(f"whoever calibrates {god} has left: the calibration ends")
        raise ControlError("no answer in time")

    def _drop_many(self, request: Mapping[str, object]) -> Mapping[str, object]:
        god = _god(request)
        count, every = request.get("count", 1), request.get("every_ms", SPACING_NS / MS)
        if type(count) is not int or not 1 <= count <= MOST_DROPS:
            raise ControlError(f"count is {count!r}; expected a whole number from 1 to {MOST_DROPS}")
        if not isinstance(every, int | float) or not 1 <= every <= 60_000:
            raise ControlError(f"every_ms is {every!r}; expected milliseconds from 1 to 60000")
        patience_s = _DROPS_S + count * every / 1000
        result = _unless_refused(
            self._request(lambda respond: DropRequest(god, count, round(every * MS), False, respond), patience_s)
        )
        return {**result, "test": not self._beams.capabilities.test_drops}


def _god(request: Mapping[str, object]) -> God:
    try:
        return God(str(request.get("god")))
    except ValueError:
        raise ControlError(f"god is {request.get('god')!r}; expected {' or '.join(God)}") from None


def _unless_refused(result: Result) -> Result:
    if "error" in result:
        raise ControlError(str(result["error"]))
    return result


def _context(settings: Settings, beat: Beat = no_heartbeat) -> BackendContext:
    return BackendContext(
        settings.beams,
        settings.counting,
        settings.state,
        time.monotonic_ns,
        lambda: secrets.token_hex(16),
        beat,
        settings.lights.claimed,
    )


def _dropped(result: Result) -> str:
    return str(result.get("error") or f"token {result['seq']} is recorded for {result['god']}")


def _print(line: str) -> None:
    with suppress(OSError):  # the reader of our output may be gone
        print(line, flush=True)
