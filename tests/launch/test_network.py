"""Which ports are free, and who holds one that is not."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.adapters.network import addresses
from companion.cli.programs import network


@pytest.fixture
def taken() -> Iterator[int]:
    """A port of loopback that this process listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_port_that_somebody_listens_on_is_not_free(taken: int) -> None:
    assert not network.free(taken)
    assert not network.free(taken, "127.0.0.1")


def test_a_port_whose_server_has_gone_is_free_although_its_last_connection_lingers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            server.accept()[0].close()
    assert network.free(port)


def test_the_holder_of_a_port_is_named_with_its_process(taken: int) -> None:
    holder = network.holder(taken)
    assert holder is not None
    assert holder.endswith(f", process {os.getpid()}")


def test_nobody_holds_a_free_port() -> None:
    assert network.holder(network.any_free_port()) is None


def test_the_next_free_port_skips_the_taken_ones(taken: int) -> None:
    assert network.next_free(taken - 1) > taken


def test_the_next_free_port_is_not_the_one_that_is_wanted_for_something_else(taken: int) -> None:
    other = network.next_free(taken)
    assert network.next_free(taken, [other]) > other


def test_after_the_last_port_the_search_goes_on_below() -> None:
    assert 1024 <= network.next_free(65535) < 65535


def test_the_way_out_is_an_address_that_phones_can_reach_or_none() -> None:
    address = addresses.towards_the_world()
    assert address is None or not address.startswith("127.")


def test_a_router_s_name_for_this_machine_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "RaspberryPi")
    resolver = tmp_path / "resolv.conf"
    resolver.write_text("# by NetworkManager\ndomain lan\nsearch fritz.box home.arpa.\nnameserver 192.168.178.1\n")
    assert addresses.own_names(resolver) == [
        "localhost", "raspberrypi", "raspberrypi.local", "templo.local", "raspberrypi.fritz.box",
        "raspberrypi.home.arpa",
    ]  # fmt: skip


def test_the_machine_s_own_name_is_one_while_avahi_announces_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "RaspberryPi.lan")
    announcer = tmp_path / "pid"
    assert addresses.announced_name(announcer) == ""
    announcer.touch()
    assert addresses.announced_name(announcer) == "raspberrypi.local"


def test_a_machine_without_a_resolver_has_its_own_names(tmp_path: Path) -> None:
    assert addresses.own_names(tmp_path / "resolv.conf")[0] == "localhost"


@pytest.mark.parametrize("viewer", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "fe80::1", "nonsense", ""])
def test_a_viewer_on_this_machine_is_given_the_address_that_phones_have(viewer: str) -> None:
    assert addresses.address_for(viewer) == addresses.phone_addresses()[0]
