"""The companion's daemon and composition root: all its objects are created and connected here."""

from __future__ import annotations

import faulthandler
import gc
import logging
import os
import secrets
import shutil
import signal
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from companion.adapters import boot_fault, installation, known_update
from companion.adapters.background import Background
from companion.adapters.credentials import Offered, brokers_for
from companion.adapters.database import store_lock
from companion.adapters.database.opening import StoreError, sqlite_path, without_password
from companion.adapters.database.owners import Owners
from companion.adapters.database.sql_store import SqlStore
from companion.adapters.idleness import Idleness
from companion.adapters.message_end import MessageEnd
from companion.adapters.mqtt_intake import Intake
from companion.adapters.network.addresses import address_for, announced_name
from companion.adapters.network.network_helper import NetworkHelper
from companion.adapters.news import Hub
from companion.adapters.owner import FILE, ORGANISER_FILE, Owner, make_owner
from companion.adapters.pacer import Pacer
from companion.adapters.playtests import Playtests
from companion.adapters.shelving import Shelving
from companion.cli import demo
from companion.cli.trouble import start_when_possible
from companion.games import registry
from companion.games.kit import Game
from companion.service.messages import TOPIC as MESSAGE
from companion.service.services import Services
from companion.service.workspace import Workspace
from companion.settings import Settings
from companion.web import create_app
from companion.web.config import WebConfig
from companion.web.server.serving import Server
from templo import logs
from templo.liveness import Feeder, Pulse, Supervisor, supervisor
from templo.mqtt import Beats
from templo.settings import SettingsError

EXIT_DEAD = 70
"""A thread died; a supervisor should restart the companion."""

WATCH_S = 2.0
GARBAGE = 10_000
"""New objects after which Python looks for garbage that refers to itself: a page makes some hundreds, and no such."""
LOOPBACK = "127.0.0.1"
COMMAND = "templo-mayor"
"""The command that shows the owner's code, where Debian's package is installed."""


def run(settings: Settings, instance: str, wanted: demo.Demo | None = None) -> int:
    """Serve until a signal ends it.

    Raises `StoreError` if the store cannot be opened or another companion uses it; under a supervisor a page shows
    that, and the companion tries again.
    """
    logs.set_up("templo-companion", settings.log)
    logging.getLogger("sqlalchemy").setLevel(logging.WARNING)
    os.umask(0o077)
    games = registry.with_tools(registry.load(settings.games))
    if wanted:
        _check_demo(wanted, games)
        if settings.games:
            logging.getLogger().addHandler(demo.GameFaults(settings.games))
        settings = replace(settings, web=replace(settings.web, first_start="off"))
    try:
        settings.state_directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"state is {str(settings.state_directory)!r}; expected a writable directory ({error})"
        ) from None
    supervised = supervisor()

    def start() -> int:
        with store_lock.hold(settings.store_url, shared=settings.shared == "on"):
            _check_not_emptied(settings)
            with closing(SqlStore(settings.store_url)) as store:
                return _Daemon(settings, store, games, instance).serve(supervised, wanted)

    return start_when_possible(start, settings, supervised, lambda: _code(settings.state_directory / FILE))


def _check_demo(wanted: demo.Demo, games: Mapping[str, Game[Any]]) -> None:
    """Raise `SettingsError` for a game that there is not, or a deck that the demo's game does not take or use."""
    if wanted.game not in games:
        raise SettingsError(f"--game is {wanted.game!r}; expected {' or '.join(games)}")
    if wanted.deck and wanted.game != demo.GAME:
        raise SettingsError(f"--deck is given with --game {wanted.game!r}; expected one of the two")
    if wanted.deck:
        demo.check_takes_deck(games)


def _check_not_emptied(settings: Settings) -> None:
    """Raise `StoreError` for a file without a byte where there was a store before: it would begin a new one."""
    path = sqlite_path(settings.store_url)
    if path and path.exists() and not path.stat().st_size and (settings.state_directory / FILE).exists():
        raise StoreError(f"store {path} is empty; expected the database that was there before")


class _Daemon:
    """Every object of the companion, connected to the others; `serve` starts and stops them."""

    def __init__(
        self,
        settings: Settings,
        store: SqlStore,
        games: Mapping[str, Game[Any]],
        instance: str,
    ) -> None:
        self._settings = settings
        self._died: list[str] = []
        self._damage = ""
        self._is_stopping = False
        shared = settings.shared == "on"
        self._pulse = Pulse(
            ("intake", "link", "server", "pages", "pacer", *(("owners",) if shared else ())), time.monotonic
        )
        self._hub = Hub()
        self._store = store
        self._owners = self._shared_owners() if shared else None
        workspace = self._workspace = Workspace(
            self._store, games, _now, secrets.token_bytes, self._on_change, paced=True, owners=self._owners
        )
        self.services = services = Services.over(workspace)
        self._message_end = MessageEnd(lambda: services.messages.seconds_left, lambda: self._hub.publish(MESSAGE))
        self._pacer = Pacer(services, beat=self._pulse.of("pacer"))
        self._shelving = Shelving(self._shelve)
        self._playtests = Playtests(settings.state_directory / "playtests", settings.games)
        network = NetworkHelper()
        self._idleness = Idleness(settings.web.idle_s, lambda: self._hub.streams, self._stop)
        self._intake = Intake(
            services,
            settings.broker,
            instance,
            self._pulse.of("intake"),
            Beats(self._pulse.of("link"), self._pulse.of("network")),
            network.hotspot_is_open,
            self._idleness.touch,
            shared=shared,
        )
        config = self._web_config(instance, network)
        self._app = create_app(services, self._hub, config)
        self._app.before_request(self._idleness.touch)
        if services.setup.finished:  # before anything listens: a store that fails here has a page of its own
            services.setup.finish()
        self._server = Server(
            self._app,
            settings.web,
            beat=self._pulse.of("server"),
            pages_beat=self._pulse.of("pages"),
            prove=lambda: self._hub.streams,
        )

    def serve(self, supervised: Supervisor, wanted: demo.Demo | None) -> int:
        """Serve until a signal or a thread's death ends it; return the process's exit status.

        Raises `StoreError` if the store proves to be damaged meanwhile.
        """
        feeder = Feeder(self._pulse, supervised)
        watch = _Watch(feeder)
        self._store.on_damage = self._on_damage
        self._catch_ends()
        self._intake.start()
        self._pacer.start()
        self._workspace.on_taken.append(self._intake.take_over)
        if self._owners:
            self._owners.followed = self._workspace
            self._owners.count_wrong = self._app.extensions["site"].lockout.count
            self._owners.start()
        self._shelving.start()
        if self._settings.web.idle_s:
            self._idleness.start()
        self._message_end.look()
        watch.start()
        gc.freeze()  # what is here by now stays: no search for garbage goes through it again
        gc.set_threshold(GARBAGE)
        print(f"ready {self._address(LOOPBACK)}", flush=True)
        drafts = demo.tables(self.services, wanted) if wanted else []
        try:
            self._server.serve()
        finally:
            if not self._damage:
                feeder.stopping()
            self._hub.close()
            for draft in drafts:
                draft.stop()
            if self._owners:
                self._owners.stop()
            self._intake.stop()
            self._pacer.stop()
            self._shelving.stop()
            self._idleness.stop()
            self._message_end.stop()
            self._playtests.close()
            watch.stop()
        if self._damage:
            raise StoreError(f"store {without_password(self._settings.store_url)!r} is damaged ({self._damage})")
        return EXIT_DEAD if self._died else 0

    def _shared_owners(self) -> Owners:
        name = f"{socket.gethostname().partition('.')[0][:32]}:{self._settings.web.port}"
        return Owners(self._settings.store_url, secrets.token_hex(8), name, self._pulse.of("owners"))

    def _web_config(self, instance: str, network: NetworkHelper) -> WebConfig:
        settings, owners, intake = self._settings, self._owners, self._intake
        return WebConfig(
            settings.web,
            address=self._address,
            instance=instance,
            kept=settings.state_directory / "kept",
            playtests=self._playtests,
            owner=_code(settings.state_directory / FILE),
            owner_file=None if shutil.which(COMMAND) else settings.state_directory / FILE,
            organiser=_code(settings.state_directory / ORGANISER_FILE),
            installation=lambda: installation.look(
                owners.companions if owners else tuple, settings.broker.addresses, intake.broker
            ),
            offered=Offered(Path(settings.pairing.folder) if settings.pairing.folder else None),
            brokers=lambda host: settings.pairing.brokers or brokers_for(host, settings.broker.addresses),
            network=network,
            name_address=self._name_address,
            announce_wrong=owners.announce_wrong if owners else lambda who: None,
            is_connected=lambda: intake.subscribed,
            boot_fault=boot_fault.read,
            known_update=known_update.read,
        )

    def _on_change(self, topic: str) -> None:
        if topic == MESSAGE:
            self._message_end.look()
        self._hub.publish(topic)
        self._pacer.notice(topic)
        self._intake.notice(topic)

    def _shelve(self) -> None:
        self.services.tables.shelve()
        self._app.extensions["site"].page_cache.forget_unused()

    def _address(self, viewer: str) -> str:
        web = self._settings.web
        return web.address or web.url(web.only_host or address_for(viewer))

    def _name_address(self) -> str:
        web = self._settings.web
        name = "" if web.address or web.only_host else announced_name()
        return web.url(name) if name else ""

    def _catch_ends(self) -> None:
        """Stop on SIGTERM or SIGINT, and when any thread dies."""
        threading.excepthook = self._on_thread_exception
        with suppress(OSError, ValueError):  # stderr may be no file
            faulthandler.enable()  # so that a watchdog's SIGABRT leaves in the log where every thread stood
        signal.signal(signal.SIGTERM, lambda signum, frame: self._stop())
        signal.signal(signal.SIGINT, lambda signum, frame: self._stop())

    def _on_thread_exception(self, last: threading.ExceptHookArgs) -> None:
        self._died.append(last.thread.name if last.thread else "unknown")
        logging.critical("the thread %s died; ending, to be restarted", self._died[-1], exc_info=last.exc_value)
        self._stop()

    def _on_damage(self, problem: str) -> None:
        if not self._is_stopping:
            self._damage = problem
            self._stop()

    def _stop(self) -> None:
        self._is_stopping = True
        self._hub.close()
        self._server.stop()


class _Watch(Background):
    """The thread that watches the others and notifies the supervisor's watchdog; if it dies, the watchdog acts."""

    def __init__(self, feeder: Feeder) -> None:
        super().__init__("watch")
        self._feeder = feeder

    def _run(self) -> None:
        while not self._ending.wait(self._feeder.pause(WATCH_S)):
            self._feeder.turn()


def _code(file: Path) -> Owner | None:
    """Return the code in a file, or None if it can be neither read nor created; then nobody has the code."""
    try:
        return make_owner(file, secrets.token_bytes)
    except OSError as error:
        logging.warning("%s cannot be used, so nobody can do on the pages what takes its code: %s", file, error)
        return None


def _now() -> datetime:
    return datetime.now(UTC)
