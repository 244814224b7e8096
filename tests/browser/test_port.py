"""The port of a companion for the browser tests: the last one's, unless another program listens there."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.request import urlopen

from tests.browser.conftest import Companion
from tests.companion.web.conftest import WebHome


def test_a_companion_whose_port_is_taken_listens_on_a_free_one(tmp_path: Path) -> None:
    home = WebHome(f"sqlite:///{tmp_path / 'companion.sqlite'}")
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        companion = Companion.started_at(taken, home)
        try:
            assert companion.server.port != taken
            with urlopen(f"{companion.address}/healthz", timeout=120) as answer:
                assert answer.status == 200
        finally:
            companion.stop()
            home.store.close()
