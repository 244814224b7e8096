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
from companion.settings import WebSettings


@dataclass(frozen=True, slots=True)
class WebConfig:
    """What the web application is given: its settings, and what the rest of the daemon answers it."""

    settings: WebSettings
    address: Callable[[str], str]
    """Return the URL for phones in the network of a viewer's address, such as "http://192.168.1.7:8000"."""
    instance: str
    """The response of ``/healthz``."""
    own_hosts: Callable[[], Collection[str]] = own_hosts
    """This machine's own names and addresses."""
    owner: Owner | None = None
    """The code for changing the setup once it is finished; None if nobody may."""
    owner_file: Path | None = None
    """The file with the owner's code, where no command of this machine shows it."""
    organiser: Owner | None = None
    """The code of the organiser, who sees all programs, closes tables and sends messages; None if nobody may."""
    installation: Callable[[], Installation] = Installation
    """The companions and brokers of the installation."""
    offered: Offered = field(default_factory=Offered)
    """The temples that may be paired."""
    brokers: Callable[[str], str] = lambda host: ""
    """Return the brokers that a temple uses, for a companion that it reaches by a name or an address."""
    network: NetworkPort = field(default_factory=NoNetwork)
    name_address: Callable[[], str] = str
    """Return the URL with the companion's name, which is valid in every network; empty if it has no name."""
    announce_wrong: Callable[[str], None] = lambda who: None
    """Called with the client of each wrong code, for the other companions of the installation."""
    is_connected: Callable[[], bool] = lambda: True
    """Whether it is connected to the broker."""
    boot_fault: Callable[[], str] = str
    """What is wrong with the settings on the boot partition, if anything."""
    known_update: Callable[[], str] = str
    """The newer release that this machine's apt knows, if any."""
    kept: Path = Path(os.devnull)
    """The folder of what can be made again: the pages' fonts, and their templates as compiled."""
    playtests: Playtests = field(default_factory=lambda: Playtests(Path(os.devnull)))
