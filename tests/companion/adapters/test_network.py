"""What NetworkManager says, by a false `nmcli` on the PATH."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.adapters.network import network_manager
from companion.model.network import Network, Wifi


class Nmcli:
    """A false nmcli that answers by the words it is given."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.says("", "exit 10")

    def says(self, devices: str, seen: str = "") -> None:
        script = f"""#!/bin/sh
case "$*" in
    *"device status") cat <<'END'
{devices}
END
    ;;
    *"device wifi list"*) cat <<'END'
{seen}
END
    ;;
    *) echo "unexpected: $*" >&2; exit 2 ;;
esac
"""
        (self._folder / "nmcli").write_text(script)
        (self._folder / "nmcli").chmod(0o755)

    def fails(self, said: str) -> None:
        (self._folder / "nmcli").write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 8\n")


@pytest.fixture
def nmcli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Nmcli:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return Nmcli(tmp_path)


def test_the_wi_fi_that_it_is_on_is_known_by_its_own_name(nmcli: Nmcli) -> None:
    nmcli.says(
        "wifi:connected:preconfigured\nwifi-p2p:disconnected:\nloopback:connected (externally):lo",
        "\n".join([r"*:Casa\: Ruiz:72:WPA2", " :Weak:12:WPA2", " :Weak:40:WPA2", " ::90:WPA2", r" :Open\\air:55:"]),
    )
    assert network_manager.look() == Network(
        managed=True,
        wifi="Casa: Ruiz",
        has_wifi=True,
        in_reach=(Wifi("Casa: Ruiz", 72), Wifi("Open\\air", 55, secured=False), Wifi("Weak", 40)),
    )


def test_a_cable_is_a_network_too(nmcli: Nmcli) -> None:
    nmcli.says("ethernet:connected:Wired connection 1\nloopback:connected (externally):lo")
    assert network_manager.look() == Network(managed=True, wired=True)


def test_its_own_hotspot_is_no_network_that_it_is_on(nmcli: Nmcli) -> None:
    nmcli.says("wifi:connected:templo-mayor-hotspot", "*:Templo Mayor:0:WPA2\n :Casa:60:WPA2")
    found = network_manager.look()
    assert (found.wifi, found.has_wifi, found.in_reach[0]) == ("", True, Wifi("Casa", 60))


def test_where_networkmanager_does_not_run_it_manages_nothing(nmcli: Nmcli, monkeypatch: pytest.MonkeyPatch) -> None:
    nmcli.fails("Error: NetworkManager is not running.")
    assert network_manager.look() == Network()
    monkeypatch.setenv("PATH", "/nowhere")
    assert network_manager.look() == Network()


def test_lines_of_another_form_are_passed_over(nmcli: Nmcli) -> None:
    nmcli.says("something else\n\nwifi:disconnected:", "x\n:::::::")
    assert network_manager.look() == Network(managed=True, has_wifi=True)
