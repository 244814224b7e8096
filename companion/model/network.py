"""The network that this machine is on, as the pages show it."""

from __future__ import annotations

import msgspec


class Wifi(msgspec.Struct, frozen=True):
    """One Wi-Fi in reach."""

    name: str
    signal: int
    """From 0 to 100."""
    secured: bool = True


class Hotspot(msgspec.Struct, frozen=True):
    """The Wi-Fi that this machine opens itself where it is on no other network."""

    name: str
    password: str
    on: bool = False


class Network(msgspec.Struct, frozen=True):
    """What NetworkManager says; `managed` is false where there is none."""

    managed: bool = False
    wired: bool = False
    """Whether a cable connects it."""
    wifi: str = ""
    """The Wi-Fi that it is on; empty where it is on none."""
    has_wifi: bool = False
    """Whether it has a device for Wi-Fi."""
    in_reach: tuple[Wifi, ...] = ()
    """The strongest first, each name once."""
    hotspot: Hotspot | None = None
