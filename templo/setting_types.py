"""The types that settings are declared with; each says in words what it expects.

A setting is a field of a dataclass, annotated with one of these: ``port: Port = 1883``, or
``pin: Annotated[int, whole(0, 27, "a BCM pin number")]``.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Meta

from templo.contract import NAME_EXPECTED, TEMPLE_NAME


def whole(low: int, high: int, what: str = "a whole number") -> Meta:
    """Describe a whole number within a range.

    >>> whole(0, 27, "a BCM pin number").description
    'a BCM pin number from 0 to 27'
    """
    return Meta(ge=low, le=high, description=f"{what} from {low} to {high}")


def number(low: float, high: float, unit: str) -> Meta:
    """Describe a number of a unit within a range.

    >>> number(0.1, 1000, "milliseconds").description
    'milliseconds from 0.1 to 1000'
    """
    return Meta(ge=low, le=high, description=f"{unit} from {low:g} to {high:g}")


def text(longest: int, expected: str, least: int = 1) -> Meta:
    """Describe printable text by its length."""
    return Meta(min_length=least, max_length=longest, description=expected)


def matching(pattern: str, expected: str) -> Meta:
    """Describe printable text that matches a regular expression as a whole."""
    return Meta(pattern=rf"\A(?:{pattern})\Z", max_length=4096, description=expected)


def listed(expected: str) -> Meta:
    """Describe a list."""
    return Meta(description=expected)


def about(*sentences: str) -> Meta:
    """Say beside another description what a setting does, and when to change it.

    >>> about("The broker's port.", "Change it for a broker of your own.").extra
    {'about': "The broker's port. Change it for a broker of your own."}
    """
    return Meta(extra={"about": " ".join(sentences)})


HIDDEN = Meta(extra={"hidden": True})
"""Beside another description: no message shows the value."""

BY_PATHSEP = Meta(extra={"pathsep": True})
"""Beside a list: the environment separates its values as PATH does, and not by commas."""

_PORT = r"(?::(?:6553[0-5]|655[0-2]\d|65[0-4]\d{2}|6[0-4]\d{3}|[1-5]\d{4}|[1-9]\d{0,3}))?"
_ADDRESS = rf"(?:\[[^\s,\[\]]+\]{_PORT}|[^\s,:\[\]]+{_PORT}|[^\s,:\[\]]*(?::[^\s,:\[\]]*){{2,}})"
_HOSTS = "host names or addresses, separated by commas, each with :PORT where it is not broker.port"

_LISTED = rf"{_ADDRESS}(?:, *{_ADDRESS})*"

Hosts: TypeAlias = Annotated[str, matching(_LISTED, _HOSTS)]
OptionalHosts: TypeAlias = Annotated[
    str, matching(rf"(?:{_LISTED})?", "host names or addresses as in broker.host, or nothing")
]
WebAddress: TypeAlias = Annotated[
    str,
    matching(r"(?:https?://[^\s/?#]+(?:/[^\s?#]*)?)?", "the companion's address, such as http://temple.local"),
    about(
        "Where phones find the companion, in QR codes and links; without it, each program finds that out itself.",
        "Set it behind a proxy, or if the companion is on another machine than the temple.",
    ),
]
LogLevel: TypeAlias = Annotated[
    str,
    matching("debug|info|warning|error", "one of debug, info, warning, error"),
    about("The least important messages that are logged.", "Set it to `debug` to find a fault."),
]
PathText: TypeAlias = Annotated[str, text(4096, "a path")]
StatePath: TypeAlias = Annotated[
    PathText,
    about(
        "The directory of everything that must last; without one systemd's, or `~/.local/state/templo-mayor`.",
        "Change it to keep the data elsewhere.",
    ),
]
Port: TypeAlias = Annotated[int, whole(1, 65_535, "a port")]
TempleName: TypeAlias = Annotated[str, matching(TEMPLE_NAME, NAME_EXPECTED)]


def split_port(address: str) -> tuple[str, str]:
    """Return the host and the port of an address; the port is empty if it has none.

    >>> split_port("temple.local:1884"), split_port("[::1]:1884"), split_port("::1")
    (('temple.local', '1884'), ('::1', '1884'), ('::1', ''))
    """
    host, colon, port = address.rpartition(":")
    if not colon or (":" in host and not host.startswith("[")) or address.endswith("]"):
        host, port = address, ""  # a bare name, or a bare IPv6 address
    return host.strip("[]"), port
