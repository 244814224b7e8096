"""The settings of ``[broker]``, the same in both programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Annotated, Literal, NamedTuple, TypeAlias

from templo.setting_types import HIDDEN, Hosts, PathText, Port, about, split_port, text, whole

Protocol: TypeAlias = Literal["auto", "5", "3.1.1"]


class Address(NamedTuple):
    """Where one broker listens.

    >>> str(Address("127.0.0.1", 1883))
    '127.0.0.1:1883'
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def is_here(self) -> bool:
        """Whether the broker is on this machine, whatever its port.

        >>> Address("localhost", 1884).is_here, Address("::1", 1883).is_here, Address("broker.lan", 1883).is_here
        (True, True, False)
        """
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host.rstrip(".").lower() == "localhost"


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """Where the broker is and how to log in. The password is in no `repr` and in no message."""

    host: Annotated[
        Hosts,
        about(
            "Where the broker is; of several, the first that answers is used.",
            "Change it for a broker on another machine.",
        ),
    ] = "127.0.0.1"
    port: Annotated[
        Port,
        about("The port of every broker that names none in `broker.host`.", "Change it if yours listens elsewhere."),
    ] = 1883
    user: Annotated[
        str, text(128, "a user name", least=0), about("The user at the broker.", "Set it if the broker asks for one.")
    ] = ""
    password: Annotated[
        str,
        HIDDEN,
        text(255, "a password", least=0),
        about("That user's password; it wins over `broker.password_file`.", "Better use that file."),
    ] = field(default="", repr=False)
    password_file: (
        Annotated[PathText, about("A file whose first line is the password.", "Set it with `broker.user`.")] | None
    ) = None
    protocol: Annotated[
        Protocol,
        about(
            "The version of MQTT; `auto` is 5, or 3.1.1 at a broker that does not know 5.",
            "Change it only for a broker that answers `auto` wrongly.",
        ),
    ] = "auto"
    keepalive_s: Annotated[
        int,
        whole(2, 3600, "seconds"),
        about(
            "How often a silent connection is checked; after half as long again the broker publishes `lost`.",
            "Raise it on a slow network.",
        ),
    ] = 10

    @property
    def addresses(self) -> tuple[Address, ...]:
        """The brokers to try, in this order, each once.

        >>> [str(each) for each in BrokerSettings("one.local, two.local:1884, [::1]:1885").addresses]
        ['one.local:1883', 'two.local:1884', '::1:1885']
        """
        return tuple(dict.fromkeys(self._address(each.strip()) for each in self.host.split(",")))

    def _address(self, given: str) -> Address:
        host, port = split_port(given)
        return Address(host, int(port) if port else self.port)
