"""What a program's unit needs where its broker is on another machine: a drop-in of systemd."""

from __future__ import annotations

FILE = "broker-elsewhere.conf"
"""What the drop-in is called, whoever writes it."""

_KEPT = {"companion": ("-/etc/templo-mayor/tls/settings.env",)}
"""Which files of its variables a program keeps: an empty `EnvironmentFile=` forgets all of them."""

_HOME = "link-local 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7"


def drop_in(origin: str, program: str) -> str:
    """Return the drop-in for a program whose broker, user and password are in its settings file.

    `origin` says where it comes from. The user of the machine's own broker, which the environment would give, is left
    out of it.
    """
    allowed = f"IPAddressAllow={_HOME}\n" if program == "controller" else ""
    kept = "".join(f"EnvironmentFile={file}\n" for file in _KEPT.get(program, ()))
    return f"# {origin}\n[Service]\nEnvironmentFile=\n{kept}{allowed}"
