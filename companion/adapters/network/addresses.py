"""This machine's addresses: those that phones use, and those that requests may name as their host."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import ifaddr

from companion.adapters.network.host_name import HostName

_NOWHERE = "198.51.100.1"
"""An address that no machine has (RFC 5737), used to ask the kernel for a route without sending anything."""

_DISCARD = 9
"""A port number for that; nothing is sent to it."""

_IPV4_ADDRESSES = 0x10
"""``RTMGRP_IPV4_IFADDR``, a group of rtnetlink's."""

RESOLVER = Path("/etc/resolv.conf")

ALIAS = "templo.local"
"""The name that every installed temple announces besides its own; the first one in a network gets it."""

ANNOUNCER = Path("/run/avahi-daemon/pid")
"""There while avahi announces this machine's own name."""

ANNOUNCED = f"announced as {ALIAS}"
"""What the unit that announces the alias reports to systemd while it does."""

_HOST_NAME = HostName()


def address_changes() -> socket.socket:
    """Return a socket of the kernel's that can be read whenever an IPv4 address of this machine comes or goes."""
    changes = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
    changes.bind((0, _IPV4_ADDRESSES))
    return changes


def own_addresses() -> list[str]:
    """Return every address of this machine, the ones that a phone would reach first, loopback last."""
    found = [
        ipaddress.ip_address(ip.ip if isinstance(ip.ip, str) else ip.ip[0])
        for adapter in ifaddr.get_adapters()
        for ip in adapter.ips
    ]
    return [str(address) for address in sorted(set(found), key=_rank)]


def interface_addresses() -> list[tuple[int, str]]:
    """Return the IPv4 addresses that others in its networks may reach, each with the index of its interface."""
    return sorted(
        (adapter.index, ip.ip)
        for adapter in ifaddr.get_adapters()
        for ip in adapter.ips
        if adapter.index is not None and isinstance(ip.ip, str) and not ip.ip.startswith(("127.", "169.254."))
    )


def phone_addresses() -> tuple[str, ...]:
    """Return the addresses that phones may reach, the likeliest first; loopback if there is no network."""
    likeliest = towards_the_world()
    others = (address for address in own_addresses() if ":" not in address)
    outer = [address for address in others if not address.startswith(("127.", "169.254."))]
    return tuple(dict.fromkeys([likeliest, *outer] if likeliest else outer or ["127.0.0.1"]))


def towards_the_world() -> str | None:
    """Return the address that packets to elsewhere would leave from, or none without a route.

    It is the address that phones come to where a machine has several: those of containers and of virtual
    machines lead nowhere else.
    """
    return _source_towards(_NOWHERE)


def _source_towards(address: str) -> str | None:
    """Return the address that packets to another would leave from, or None; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, _DISCARD))
        except OSError:
            return None
        source: str = probe.getsockname()[0]
    return None if source.startswith("127.") else source


def address_for(viewer: str) -> str:
    """Return the address at which others in a viewer's network reach this machine.

    It is the one that answers to the viewer come from; for a viewer on this machine, the likeliest for phones.
    """
    try:
        seen = ipaddress.ip_address(viewer)
    except ValueError:
        return phone_addresses()[0]
    if isinstance(seen, ipaddress.IPv6Address):
        if seen.ipv4_mapped is None:
            return phone_addresses()[0]
        seen = seen.ipv4_mapped
    return (None if seen.is_loopback else _source_towards(str(seen))) or phone_addresses()[0]


def own_names(resolver: Path = RESOLVER, announced: Callable[[], str] | None = None) -> list[str]:
    """Return the names under which this machine is known on its network, in the domain of a router, too.

    A router that names its machines gives them its domain to search: ``raspberrypi.fritz.box``. The alias and the
    host name are among them even where another machine has them: a request that names them then comes here by mistake
    only.
    """
    name = socket.gethostname().lower()
    short = name.split(".")[0]
    local = [f"{short}.local", (announced or announced_name)()]
    searched = [f"{short}.{domain}" for domain in _searched(resolver)]
    return list(dict.fromkeys(each for each in ("localhost", name, *local, ALIAS, *searched) if each))


def announced_name(announcer: Path = ANNOUNCER, look: Callable[[], str] = _HOST_NAME.look) -> str:
    """Return this machine's own name in every network that it is on, or nothing where nobody announces it.

    `look` returns the name that avahi gave it, or nothing where that cannot be learned.
    """
    if not announcer.exists():
        return ""
    return look() or f"{socket.gethostname().lower().partition('.')[0]}.local"


def own_hosts() -> list[str]:
    """Return every name and address by which this machine is reached."""
    return [*own_names(), *own_addresses()]


def _searched(resolver: Path) -> list[str]:
    """Return the domains in which short names are looked up; the last line is used, as by the system."""
    domains: list[str] = []
    with suppress(OSError, UnicodeDecodeError):
        for line in resolver.read_text().splitlines():
            words = line.split()
            if words[:1] in (["search"], ["domain"]):
                domains = [word.strip(".").lower() for word in words[1:]]
    return [domain for domain in domains if domain]


def _rank(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> tuple[bool, bool, bool, bool, str]:
    home = isinstance(address, ipaddress.IPv4Address) and address in ipaddress.ip_network("192.168.0.0/16")
    return address.is_loopback, address.version == 6, address.is_link_local, not home, str(address)
