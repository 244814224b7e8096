"""The settings of ``[broker]``, the same in both programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Annotated, Literal, NamedTuple, TypeAlias

from templo.setting_types import HIDDEN, Hosts, PathText, Port, split_port, text, whole

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

    host: Hosts = "127.0.0.1"
    port: Port = 1883
    user: Annotated[str, text(128, "a user name", least=0)] = ""
    password: Annotated[str, HIDDEN, text(255, "a password", least=0)] = field(default="", repr=False)
    password_file: PathText | None = None
    """A file whose first line is the password; `password` counts where both are given."""
    protocol: Protocol = "auto"
    """The version of MQTT; ``auto`` is 5, or 3.1.1 at a broker that does not know 5."""
    keepalive_s: Annotated[int, whole(2, 3600, "seconds")] = 10

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
