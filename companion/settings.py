"""The companion's settings: the type and default of each, and how they are loaded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from templo import settings as reader
from templo.broker import BrokerSettings
from templo.setting_types import (
    BY_PATHSEP,
    HIDDEN,
    LogLevel,
    OptionalHosts,
    PathText,
    Port,
    StatePath,
    WebAddress,
    about,
    listed,
    matching,
    text,
    whole,
)
from templo.settings import Flags, SettingsError

__all__ = ["Settings", "SettingsError", "WebSettings", "load"]

PROGRAM = "companion"
FILE_NAME = "companion.sqlite"
"""What the store is called in the state directory."""

USER = "templo-companion"
"""Who the installed service runs as."""

INSTALLED = Path("/var/lib") / USER
"""The state directory of the installed service."""

Host: TypeAlias = Annotated[str, text(255, "a host name or address")]
OptionalHost: TypeAlias = Annotated[str, text(255, "a host name or address, or nothing", least=0)]


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Where phones reach the companion, and how much each of them may take."""

    host: Annotated[
        Host, about("The address that it listens on.", "Set it to 127.0.0.1 behind a proxy on the same machine.")
    ] = "0.0.0.0"  # noqa: S104 phones must reach it
    port: Annotated[
        Port, about("The port of the pages; the package's unit gives 80.", "Change it if another program has it.")
    ] = 8000
    allowed_hosts: Annotated[
        tuple[Host, ...],
        listed("a list of host names"),
        about(
            "Names and addresses that it answers to, besides this machine's own.",
            "Set it if a router or a proxy gives the machine another name.",
        ),
    ] = ()
    address: WebAddress = ""
    streams: Annotated[
        int,
        whole(1, 20_000, "a number of event streams"),
        about("How many pages may be live at once.", "Raise it for more than 250 phones and screens."),
    ] = 256
    streams_each: Annotated[
        int,
        whole(1, 20_000, "a number of event streams"),
        about(
            "How many of them one address may have.",
            "Raise it if more than sixty phones share an access point that hides their addresses.",
        ),
    ] = 64
    connections_each: Annotated[
        int,
        whole(8, 500, "a number of connections"),
        about(
            "How many connections one address may have: ten browsers of six each.",
            "Raise it together with `web.streams_each`.",
        ),
    ] = 64
    proxy: Annotated[
        OptionalHost,
        about(
            "The address that a reverse proxy connects from: its `X-Forwarded-For` is trusted and it has no limits.",
            "Set it behind a proxy.",
        ),
    ] = ""
    first_start: Annotated[
        str,
        matching("on|off", "on or off"),
        about(
            "Whether the first page leads through the setup until it is finished; the package's unit gives `on`.",
            "Set it to `off` for a machine that is set up by files.",
        ),
    ] = "off"
    authority: Annotated[
        str,
        text(4096, "a certificate's file, or nothing", least=0),
        about("The authority's certificate that phones may download at `/trust`.", "`templo-mayor tls` sets it."),
    ] = ""
    idle_s: Annotated[
        int,
        whole(0, 86_400, "seconds"),
        about(
            "After how long without a page, a stream or a token it ends, for its socket to start it again; 0: never.",
            "Set it where many clubs share a machine.",
        ),
    ] = 0

    @property
    def path(self) -> str:
        """The path that every page begins with, from the address; empty if the pages have a host of their own.

        >>> WebSettings(address="https://example.org/club-a/").path, WebSettings(address="http://templo.local").path
        ('/club-a', '')
        """
        return urlsplit(self.address).path.rstrip("/")

    @property
    def only_host(self) -> str:
        """The host that it listens on, as in a URL; empty if it listens on every address of the machine.

        >>> WebSettings(host="127.0.0.1").only_host, WebSettings(host="::1").only_host, WebSettings().only_host
        ('127.0.0.1', '[::1]', '')
        """
        if self.host in ("0.0.0.0", "::", "*"):  # noqa: S104 compared, not listened on
            return ""
        return f"[{self.host}]" if ":" in self.host else self.host

    def url(self, host: str) -> str:
        """Return the URL of its pages at a host.

        >>> WebSettings(port=8000).url("temple.local"), WebSettings(port=80).url("temple.local")
        ('http://temple.local:8000', 'http://temple.local')
        """
        return f"http://{host}" + (f":{self.port}" if self.port != 80 else "")


@dataclass(frozen=True, slots=True)
class PairingSettings:
    """What new temples may be given with a code of the organiser."""

    folder: Annotated[
        str,
        text(4096, "a folder, or nothing", least=0),
        about(
            "Where `templo-broker-access` puts the users of temples to come; without one none can be paired.",
            "The package's unit sets it.",
        ),
    ] = ""
    brokers: Annotated[
        OptionalHosts,
        about(
            "Where paired temples find the brokers; without it, at the companion's own addresses.",
            "Set it if those are not what a temple can reach, such as 127.0.0.1.",
        ),
    ] = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of the companion."""

    broker: BrokerSettings = field(default_factory=BrokerSettings)
    web: WebSettings = field(default_factory=WebSettings)
    pairing: PairingSettings = field(default_factory=PairingSettings)
    state: StatePath | None = None
    store: Annotated[
        str,
        HIDDEN,
        text(4096, "the URL of a database", least=0),
        about("The database; without one SQLite in `state`.", "Set it to use PostgreSQL."),
    ] = ""
    shared: Annotated[
        str,
        matching("on|off", "on or off"),
        about("Whether other companions use the same database.", "Set it to `on` at each of several companions."),
    ] = "off"
    games: Annotated[
        tuple[PathText, ...],
        BY_PATHSEP,
        listed("a list of folders"),
        about("Folders of games besides those that come with it.", "Set it to play a game of your own."),
    ] = ()
    log: LogLevel = "info"

    @property
    def state_directory(self) -> Path:
        """The state directory."""
        return Path(self.state or "").expanduser().absolute()

    @property
    def store_url(self) -> str:
        """The URL of the database."""
        return self.store or f"sqlite:///{self.state_directory / FILE_NAME}"


def load(
    file: Path | None,
    environ: Mapping[str, str],
    flags: Flags,
    home: Path | None = None,
    installed: Path | None = None,
) -> Settings:
    """Read and check every setting; raises `SettingsError`.

    `file` is a settings file that must exist; `flags` maps a key to the given text and its flag. `home` is the user's
    home directory, by default the process's. `installed` is the state directory of the installed service: it is used
    if no setting says which store is meant and the user has none of their own.
    """
    home = home or Path.home()
    values = reader.load(Settings, PROGRAM, file=file, environ=environ, flags=flags, home=home).values
    if values.state:
        return values
    settings = replace(values, state=str(reader.default_state(environ, home)))
    if installed is None or settings.store or (settings.state_directory / FILE_NAME).exists():
        return settings
    return replace(settings, state=str(installed)) if _is_ours(installed) else settings


def _is_ours(installed: Path) -> bool:
    """Return whether there is an installed service's directory; raises `SettingsError` if it is another user's.

    Even root would leave files there that the service cannot open.
    """
    try:
        owner = installed.stat().st_uid
    except FileNotFoundError:
        return False
    if owner != os.geteuid():
        raise SettingsError(
            f"the installed companion's store is in {installed}: run this as its user, with 'sudo -u {USER} "
            "templo-companion ...', or name another directory with --state"
        )
    return True
