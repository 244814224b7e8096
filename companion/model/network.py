"""The network that this machine is on, as the pages show it."""

from __future__ import annotations

from typing import Protocol

import msgspec


class Wifi(msgspec.Struct, frozen=True):
    """A Wi-Fi in range."""

    name: str
    signal: int
    """From 0 to 100."""
    secured: bool = True


class Hotspot(msgspec.Struct, frozen=True):
    """The Wi-Fi that this machine opens itself if it is on no other network."""

    name: str
    password: str
    on: bool = False

    def as_qr(self) -> str:
        """Return the text of a QR code by which phones join it."""
        name, password = (
            "".join(f"\\{sign}" if sign in '\\;,:"' else sign for sign in text) for text in (self.name, self.password)
        )
        return f"WIFI:T:WPA;S:{name};P:{password};;"


class Network(msgspec.Struct, frozen=True):
    """The network according to NetworkManager; `managed` is false without it."""

    managed: bool = False
    wired: bool = False
    """Whether a cable connects it."""
    wifi: str = ""
    """The Wi-Fi that it is on; empty if none."""
    has_wifi: bool = False
    """Whether it has a device for Wi-Fi."""
    busy: bool = False
    """Whether it is joining a Wi-Fi just now."""
    in_reach: tuple[Wifi, ...] = ()
    """The strongest first, each name once."""
    hotspot: Hotspot | None = None
    can_join: bool = False
    """Whether a Wi-Fi can be chosen on the page."""
    joining: str = ""
    """The Wi-Fi that was chosen last, while it is being joined."""
    failed: str = ""
    """The Wi-Fi that was chosen last, if it could not be joined."""

    @property
    def hotspot_is_open(self) -> bool:
        """Whether this machine's own Wi-Fi is open."""
        return self.hotspot is not None and self.hotspot.on


class NetworkPort(Protocol):
    """Reads the state of the network, and joins another one."""

    def look(self) -> Network:
        """Return its state now."""

    def join(self, name: str, password: str) -> Network:
        """Start to join a Wi-Fi, without waiting for the result; raises `NetworkRefused`."""


class NetworkRefused(Exception):
    """A Wi-Fi is not joined; the message says why."""


class NoNetwork:
    """A machine whose network is not managed here."""

    def look(self) -> Network:
        """Return an unknown network."""
        return Network()

    def join(self, name: str, password: str) -> Network:
        """Refuse."""
        raise NetworkRefused(f"{name!r} cannot be joined: nobody manages the network of this machine here")
