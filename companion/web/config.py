"""The configuration that the daemon passes to the web application."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from companion.adapters.credentials import Offered
from companion.adapters.installation import Installation
from companion.adapters.network.addresses import own_hosts
from companion.adapters.owner import Owner
from companion.adapters.playtests import Playtests
from companion.model.network import NetworkPort, NoNetwork


@dataclass(frozen=True, slots=True)
class WebConfig:
    """What the web face needs to know about where and how it runs."""

    allowed_hosts: tuple[str, ...]
    """Names and addresses that it answers to, beside this machine's own."""
    address: Callable[[str], str]
    """Where phones in the network of a viewer's address reach it, such as "http://192.168.1.7:8000"."""
    instance: str
    """What ``/healthz`` answers."""
    stream_cap: int = 64
    own_hosts: Callable[[], Collection[str]] = own_hosts
    """This machine's own names and addresses."""
    streams_each: int = 32
    """How many of the `stream_cap` event streams one address may have."""
    authority: Path | None = None
    """The file of the certificate that phones may download and trust."""
    owner: Owner | None = None
    """Who may change how the place is set up once that is done; none if nobody may."""
    organiser: Owner | None = None
    """Who may see everything that runs, close tables and send messages to all; none if nobody may."""
    installation: Callable[[], Installation] = Installation
    """Which companions and brokers serve the tables now."""
    offered: Offered = field(default_factory=Offered)
    """The temples that may be paired."""
    brokers: Callable[[str], str] = lambda host: ""
    """Where a temple finds the brokers that reaches this companion by a name or an address."""
    network: NetworkPort = field(default_factory=NoNetwork)
    name_address: Callable[[], str] = str
    """Where phones find the companion by its name, whatever network it is on; nothing where it has none."""
    first_start: bool = False
    """Whether the first page leads through the first start until somebody has finished it."""
    announce_wrong: Callable[[str], None] = lambda who: None
    """Is given who typed each wrong code, for the other companions of the installation."""
    stores: Callable[[str], bool] = lambda temple: True
    """Whether a temple's tokens are this companion's to store, where several share the store."""
    is_connected: Callable[[], bool] = lambda: True
    """Whether it receives what temples publish."""
    boot_fault: Callable[[], str] = str
    """What is wrong with the settings on the boot partition, if anything."""
    playtests: Playtests = field(default_factory=lambda: Playtests(Path(os.devnull)))
    """Where many games are played for designers; nowhere where it is not given."""
