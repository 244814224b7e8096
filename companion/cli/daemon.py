"""The companion's daemon and composition root: all its objects are created and connected here."""

from __future__ import annotations

import faulthandler
import logging
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from companion.adapters import boot_fault, installation
from companion.adapters.background import Background
from companion.adapters.credentials import Offered, brokers_for
from companion.adapters.database import store_lock
from companion.adapters.database.sql_store import SqlStore
from companion.adapters.database.tenants import Tenants
from companion.adapters.message_end import MessageEnd
from companion.adapters.mqtt_intake import Intake
from companion.adapters.network.addresses import address_for, announced_name
from companion.adapters.network.network_helper import NetworkHelper
from companion.adapters.news import Hub
from companion.adapters.owner import FILE, ORGANISER_FILE, Owner, make_owner
from companion.adapters.pacer import Pacer
from companion.adapters.playtests import Playtests
from companion.adapters.shelving import Shelving
from companion.cli import demo, sharing
from companion.cli.hosting.hosted import Hosted
from companion.cli.settings import Settings
from companion.cli.trouble import start_when_possible
from companion.games import registry
from companion.service.services import Services
from companion.service.workspace import MESSAGE, Workspace
from companion.web import create_app, host
from companion.web.config import WebConfig
from companion.web.server.serving import Server
from templo import logs
from templo.liveness import Feeder, Pulse, Supervisor, supervisor
from templo.settings import SettingsError

EXIT_DEAD = 70
"""A thread died; a supervisor should restart the companion."""

WATCH_S = 2.0
LOOPBACK = "127.0.0.1"


def run(settings: Settings, instance: str, demo_temples: Sequence[str] = (), deck: Path | None = None) -> int:
    """Serve until a signal ends it.

    Raises `StoreError` if the store cannot be opened or another companion uses it; under a supervisor a page shows
    that, and the companion tries again.
    """
    logs.set_up("templo-companion", settings.log)
    logging.getLogger("sqlalchemy").setLevel(logging.WARNING)
    os.umask(0o077)
    _check(settings)
    try:
        settings.state_directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(
            f"state is {str(settings.state_directory)!r}; expected a writable directory ({error})"
        ) from None
    supervised = supervisor()

    def start() -> int:
        with store_lock.hold(settings.store_url, shared=settings.shared == "on"):
            return _serve(settings, instance, demo_temples, deck, supervised)

    return start_when_possible(start, settings.web, supervised)


def _check(settings: Settings) -> None:
    """Raise `SettingsError` if the tenants' topics would be looked for below those of a tenant."""
    if settings.hosted == "on" and settings.broker.tenant:
        raise SettingsError(
            f"hosted is on and broker.tenant is {settings.broker.tenant!r}; expected no tenant for a companion that "
            "hosts tenants"
        )


def _serve(
    settings: Settings, instance: str, demo_temples: Sequence[str], deck: Path | None, supervised: Supervisor
) -> int:
    hub = Hub()
    store = SqlStore(settings.store_url)
    games = registry.with_tools(registry.load(settings.games))
    playtests = Playtests(settings.state_directory / "playtests", settings.games)
    shared = settings.shared == "on"
    pulse = Pulse(
        ("intake", "link", "server", "pages", "pacer", *(sharing.THREADS if shared else ())), time.monotonic
    )

    def on_change(topic: str) -> None:
        if topic == MESSAGE:
            message_end.look()
        if who := sharing.wrong_coder(topic):
            app.extensions["site"].lockout.count(who)
            return
        hub.publish(topic)
        pacer.notice(topic)

    workspace = Workspace(store, games, _now, secrets.token_bytes, on_change, paced=True, shared=shared)
    services = Services.over(workspace)
    if services.setup.finished:
        services.setup.finish()
    message_end = MessageEnd(lambda: services.messages.seconds_left, lambda: hub.publish(MESSAGE))
    name = f"{socket.gethostname().partition('.')[0][:32]}:{settings.web.port}"
    share = sharing.Share(settings.store_url, workspace, services, pulse, name) if shared else sharing.Alone()
    hosted = (
        Hosted(Tenants(settings.store_url), store, games, workspace, share, settings.broker, instance)
        if settings.hosted == "on"
        else None
    )
    pacer = Pacer(services, beat=pulse.of("pacer"), is_own=share.paces)
    shelving = Shelving(services.tables.shelve)
    if deck:
        demo.check_takes_deck(services)
    port = f":{settings.web.port}" if settings.web.port != 80 else ""

    def address(viewer: str) -> str:
        return settings.web.address or f"http://{address_for(viewer)}{port}"

    def name_address() -> str:
        name = "" if settings.web.address else announced_name()
        return f"http://{name}{port}" if name else ""

    network = NetworkHelper()
    config = WebConfig(
        allowed_hosts=settings.web.allowed_hosts,
        address=address,
        instance=instance,
        playtests=playtests,
        stream_cap=settings.web.streams,
        streams_each=settings.web.streams_each,
        owner=_code(settings.state_directory / FILE),
        organiser=_code(settings.state_directory / ORGANISER_FILE),
        installation=lambda: installation.look(share.companions, settings.broker.addresses, intake.broker),
        offered=Offered(Path(settings.pairing.folder) if settings.pairing.folder else None),
        brokers=lambda host: settings.pairing.brokers or brokers_for(host, settings.broker.addresses),
        network=network,
        name_address=name_address,
        first_start=settings.web.first_start == "on" and not demo_temples,
        authority=Path(settings.web.authority) if settings.web.authority else None,
        announce_wrong=share.announce_wrong,
        stores=share.consumes,
        is_connected=lambda: intake.subscribed,
        boot_fault=boot_fault.read,
        hosting=hosted.hosting if hosted else None,
    )
    app = create_app(services, hub, config)
    server = Server(
        app,
        settings.web.host,
        settings.web.port,
        settings.web.streams,
        connections_each=settings.web.connections_each,
        proxy=settings.web.proxy,
        beat=pulse.of("server"),
        pages_beat=pulse.of("pages"),
        prove=lambda: hub.streams,
    )
    intake = Intake(
        services,
        settings.broker,
        instance,
        _now,
        pulse.of("intake"),
        pulse.of("link"),
        pulse.of("network"),
        share.consumes,
        network.hotspot_is_open,
        hosted,
    )
    if hosted:
        hosted.serve(app, config, intake.link)
        host(app, hosted.visit)
    watch = _Watch(Feeder(pulse, supervised))
    died: list[str] = []

    def stop(signum: int, frame: FrameType | None) -> None:
        hub.close()
        if hosted:
            hosted.end_streams()
        server.stop()

    def on_thread_exception(last: threading.ExceptHookArgs) -> None:
        died.append(last.thread.name if last.thread else "unknown")
        logging.critical("the thread %s died; ending, to be restarted", died[-1], exc_info=last.exc_value)
        stop(0, None)

    threading.excepthook = on_thread_exception
    with suppress(OSError, ValueError):  # stderr may be no file
        faulthandler.enable()  # so that a watchdog's SIGABRT leaves in the log where every thread stood
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    intake.start()
    pacer.start()
    share.start(intake.take_over, pacer.look_at_all, hosted)
    if hosted:
        hosted.start()
    shelving.start()
    message_end.look()
    watch.start()
    print(f"ready {address(LOOPBACK)}", flush=True)
    drafts = demo.tables(services, demo_temples, deck)
    try:
        server.serve()
    finally:
        watch.stop()
        hub.close()
        for draft in drafts:
            draft.stop()
        share.stop()
        if hosted:
            hosted.stop()
        intake.stop()
        pacer.stop()
        shelving.stop()
        message_end.stop()
        playtests.close()
        store.close()
    return EXIT_DEAD if died else 0


class _Watch(Background):
    """The thread that watches the others and notifies the supervisor's watchdog; if it dies, the watchdog acts."""

    def __init__(self, feeder: Feeder) -> None:
        super().__init__("watch")
        self._feeder = feeder

    def stop(self) -> None:
        super().stop()
        self._feeder.stopping()

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
