"""The server imports aiohttp without the certificates that its client would trust; nothing else misses them."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys

import pytest

IMPORTED = """
import json, os, ssl
verified = []
context = ssl.create_default_context
ssl.create_default_context = lambda *words, **named: verified.append(context(*words, **named)) or verified[-1]
import companion.web.server.serving
print(json.dumps([[each.cert_store_stats()["x509"] for each in verified], os.environ.get("SSL_CERT_FILE")]))
"""


@pytest.mark.parametrize("given", [None, ssl.get_default_verify_paths().cafile])
def test_no_certificate_is_read_for_a_client_and_the_environment_stays(given: str | None) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "SSL_CERT_FILE"}
    if given:
        environment["SSL_CERT_FILE"] = given
    command = [sys.executable, "-c", IMPORTED]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    read, left = json.loads(ran.stdout)
    assert set(read) == {0}
    assert left == given
