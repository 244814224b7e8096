"""The configuration of haproxy in front of several companions: TLS, and each table always at the same companion."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from companion.settings import WebSettings

_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"
"""Where Debian keeps daemons, and an ordinary user's PATH does not look."""

_TEMPLATE = """\
# {origin}

global
    maxconn {most}
    # Where the system allows fewer descriptors than that takes, it serves fewer connections.
    no strict-limits
    log stdout format raw local0 notice
    ssl-default-bind-options ssl-min-ver TLSv1.2

defaults
    mode http
    log global
    timeout connect 5s
    # A head must arrive as soon as at a companion; a live page gets a heartbeat every 8 s.
    timeout http-request 10s
    timeout http-keep-alive 60s
    timeout client 60s
    timeout server 60s
    timeout check 4s

frontend tls
    bind {bind} ssl crt {certificate} alpn h2,http/1.1
    # A companion does not limit its proxy's connections: one address may have this many. Raise the number together
    # with web.streams_each where a whole hall comes from one address.
    stick-table type ipv6 size 100k expire 1m store conn_cur
    tcp-request connection track-sc0 src
    tcp-request connection reject if {{ sc0_conn_cur gt {connections_each} }}
    # What a client says of itself is replaced, not added to.
    http-request set-header X-Forwarded-For %[src]
    http-request set-header X-Forwarded-Proto https
    # A table, and a temple, has one companion: it draws a page once for all who look at it. So have the playtests,
    # whose files are one companion's own. Any companion serves everything else.
    http-request del-header X-Templo-Key
    http-request set-header X-Templo-Key %[path,field(3,/)] if {{ path_beg /t/ /temples/ }}
    http-request set-header X-Templo-Key playtests if {{ path_reg ^(/games/[^/]+)?/playtests }}
    default_backend workers

backend workers
    balance hdr(X-Templo-Key)
    # Without one companion its tables alone go to others, and they return with it.
    hash-type consistent
    option httpchk
    http-check send meth GET uri /healthz hdr Host localhost
    http-check expect status 200
    # Repeated is a request that no companion has received, and no other.
    retries 3
    option redispatch 1
    # A new connection for each request: none that the companion is just closing is used again.
    option http-server-close
    http-reuse never
    http-response set-header X-Templo-Worker %s
    # The streams of a companion that stands still are closed, so that phones find another.
    default-server check inter 2s fall 2 rise 1 on-marked-down shutdown-sessions
{servers}
"""


def program() -> Path | None:
    """Return haproxy, or None."""
    found = shutil.which("haproxy") or shutil.which("haproxy", path=_SBIN)
    return Path(found) if found else None


def configuration(
    origin: str,
    bind: str,
    certificate: str,
    workers: Mapping[str, str],
    most: int = 10_000,
) -> str:
    """Return the configuration.

    `origin` is its first line, `certificate` a file with certificate and key, `workers` each companion's address by
    its name, such as ``{"worker-1": "10.0.0.11:8001"}``, and `most` how many connections there may be at once.
    """
    servers = "\n".join(f"    server {name} {address}" for name, address in workers.items())
    return _TEMPLATE.format(
        origin=origin,
        bind=bind,
        certificate=certificate,
        servers=servers,
        most=most,
        connections_each=WebSettings().connections_each,
    )
