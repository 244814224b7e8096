"""The addresses of this machine that phones on its network use and requests may name."""

from __future__ import annotations

import ipaddress
import socket

import ifaddr


def own_addresses() -> list[str]:
    """Return every address of this machine, the ones that a phone would reach first, loopback last."""
    found = [
        ipaddress.ip_address(ip.ip if isinstance(ip.ip, str) else ip.ip[0])
        for adapter in ifaddr.get_adapters()
        for ip in adapter.ips
    ]
    return [str(address) for address in sorted(set(found), key=_rank)]


def phone_address() -> str:
    """Return the address that a phone on the same network most likely reaches."""
    return next(iter(own_addresses()), "127.0.0.1")


def own_names() -> list[str]:
    """Return the names under which this machine is known on its network."""
    name = socket.gethostname().lower()
    return ["localhost", name, f"{name.split('.')[0]}.local"]


def _rank(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> tuple[bool, bool, bool, bool, str]:
    home = isinstance(address, ipaddress.IPv4Address) and address in ipaddress.ip_network("192.168.0.0/16")
    return address.is_loopback, address.version == 6, address.is_link_local, not home, str(address)
