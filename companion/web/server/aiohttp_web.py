"""aiohttp's server, imported without the certificates of all authorities, which its client would trust.

aiohttp reads them as it is imported, a sixth of the companion's start on a Pi, and the companion is nobody's client.
Whoever else verifies a certificate still finds them: the environment is as before once this is imported.
"""

from __future__ import annotations

import os

_FILE = "SSL_CERT_FILE"
_given = os.environ.get(_FILE)
os.environ[_FILE] = os.devnull
try:
    from aiohttp import HttpVersion11, web
finally:
    del os.environ[_FILE]
    if _given is not None:
        os.environ[_FILE] = _given

__all__ = ["HttpVersion11", "web"]
