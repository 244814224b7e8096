"""Which ports are free, and who holds one that is not."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.adapters.network import addresses
from companion.adapters.network.host_name import ASK_S, RETRY_S, HostName, ask_avahi
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
    assert addresses.own_names(resolver, lambda: "") == [
        "localhost", "raspberrypi", "raspberrypi.local", "templo.local", "raspberrypi.fritz.box",
        "raspberrypi.home.arpa",
    ]  # fmt: skip


def test_the_name_that_avahi_gave_this_machine_is_its_own_beside_its_host_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "raspberrypi")
    assert addresses.own_names(tmp_path / "resolv.conf", lambda: "raspberrypi-2.local") == [
        "localhost", "raspberrypi", "raspberrypi.local", "raspberrypi-2.local", "templo.local",
    ]  # fmt: skip


def test_the_machine_s_own_name_is_one_while_avahi_announces_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "RaspberryPi.lan")
    announcer = tmp_path / "pid"
    assert addresses.announced_name(announcer, lambda: "raspberrypi.local") == ""
    announcer.touch()
    assert addresses.announced_name(announcer, lambda: "") == "raspberrypi.local", "avahi did not answer"
    assert addresses.announced_name(announcer, lambda: "raspberrypi-2.local") == "raspberrypi-2.local"


def test_avahi_is_asked_for_its_name_again_after_a_few_seconds() -> None:
    now, names = [0.0], ["raspberrypi.local", "raspberrypi-2.local", "", "raspberrypi.local"]
    name = HostName(lambda: names.pop(0), lambda: now[0])
    assert [name.look(), name.look()] == ["raspberrypi.local"] * 2
    now[0] = ASK_S
    assert name.look() == "raspberrypi-2.local"
    now[0] = 2 * ASK_S
    assert name.look() == ""
    now[0] = 3 * ASK_S
    assert name.look() == "", "a daemon that does not answer is not waited for at every request"
    now[0] = 2 * ASK_S + RETRY_S
    assert name.look() == "raspberrypi.local"


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("echo 's \"RaspberryPi-2.local\"'", "raspberrypi-2.local"),
        ("echo 'Call failed: The name is not activatable' >&2; exit 1", ""),
        ("echo 's \"evil/name\"'", ""),
    ],
)
def test_the_answer_of_avahi_is_a_name_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, name: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    busctl = tmp_path / "busctl"
    busctl.write_text(f"#!/bin/sh\n{script}\n")
    busctl.chmod(0o755)
    assert ask_avahi() == name


def test_a_machine_without_a_resolver_has_its_own_names(tmp_path: Path) -> None:
    assert addresses.own_names(tmp_path / "resolv.conf")[0] == "localhost"


@pytest.mark.parametrize("viewer", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "fe80::1", "nonsense", ""])
def test_a_viewer_on_this_machine_is_given_the_address_that_phones_have(viewer: str) -> None:
    assert addresses.address_for(viewer) == addresses.phone_addresses()[0]
