"""Runs in the virtual machine under systemd: what an owner does with the hotspot, from a phone's radio.

It imports nothing of the project. The phone and the home's Wi-Fi have network namespaces and radios of their own; all
that the phone knows of the hotspot is what the machine's screen shows above its login.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ISSUE = Path("/run/issue.d/templo-mayor.issue")
PATIENCE_S = 900.0
"""An emulator on a busy host may stand still for a long time."""

HOME, PASSWORD = "Casa: Ruiz", "correct horse"
HOME_NETWORK = "192.168.77"
COMPANION = "templo-companion.service"
WORK = Path("/run/wifi")
LEASED = """#!/bin/sh
[ "$1" = bound ] || [ "$1" = renew ] || exit 0
ip address flush dev "$interface"
ip address add "$ip/24" dev "$interface"
ip route replace default via "$router"
"""
FETCH = """
import sys, urllib.error, urllib.parse, urllib.request
url, origin, form = sys.argv[1], sys.argv[2], sys.argv[3:]
data = urllib.parse.urlencode([each.partition("=")[::2] for each in form]).encode() if form else None
asked = urllib.request.Request(url, data, {"Origin": origin, "Accept-Language": "en"})
try:
    answer = urllib.request.urlopen(asked, timeout=120)
except urllib.error.HTTPError as error:
    answer = error
print(answer.status, answer.url, answer.read().decode(), sep="\\n")
"""


def main() -> int:
    WORK.mkdir()
    begun = time.monotonic()
    until("three radios", lambda: len(radios()) == 3)
    own, phone_radio, home_radio = radios()
    phone, home = Place("phone", phone_radio), Place("home", home_radio)
    until("NetworkManager answers", lambda: run("nmcli", "--terse", "general", "status", check=False))
    print(f"{run('NetworkManager', '--version').strip()}, {run('wpa_supplicant', '-v').splitlines()[0]}", flush=True)

    until("the hotspot is shown above the login", ISSUE.exists)
    shown = re.search(r"join the Wi-Fi (.+), password (\S+), and open (http://\S+)", ISSUE.read_text())
    assert shown is not None, ISSUE.read_text()
    name, password, address = shown.groups()
    assert active() == {"templo-mayor-hotspot"}, active()
    report("without a network the hotspot opens, after the start", begun)

    begun = time.monotonic()
    phone.join(name, password)
    assert phone.address().startswith("10.42.0."), phone.address()
    report(f"the phone joins {name!r} with the password of the screen, and has the address {phone.address()}", begun)
    until("the companion is ready", lambda: run("systemctl", "is-active", COMPANION, check=False).strip() == "active")
    begun = time.monotonic()
    page = phone.page(address)
    assert "/setup" in page, page[:2000]
    page = phone.page(f"{address}/setup/step/network")
    assert name in page, page[:3000]
    assert 'name="password"' in page, page[:3000]
    report("the phone gets the first start's pages", begun)

    home.serve()
    begun = time.monotonic()
    phone.page(f"{address}/setup/network", f"other={HOME}", "password=wrong horse")
    until("the helper gives up", lambda: "failed" in last() and HOME in last(), 2)
    until("the hotspot is open again", lambda: active() == {"templo-mayor-hotspot"})
    report("a wrong password: the hotspot is open again, and the page says what failed", begun)
    phone.join(name, password)
    page = phone.page(f"{address}/setup/step/network")
    assert HOME in page, page[:3000]

    begun = time.monotonic()
    phone.page(f"{address}/setup/network", f"other={HOME}", f"password={PASSWORD}")
    until("the home's Wi-Fi is joined", lambda: active() == {HOME}, 2)
    until("an address of the home's", lambda: HOME_NETWORK in run("ip", "-brief", "address", "show", "dev", own))
    report("the Wi-Fi that was chosen on the page is joined, and the hotspot closed", begun)
    until("nothing above the login", lambda: not ISSUE.exists())
    report("the screen shows the hotspot no more", begun)
    begun = time.monotonic()
    phone.join(HOME, PASSWORD)
    report(f"the phone joins it too, and has the address {phone.address()}", begun)
    found = re.search(rf"{HOME_NETWORK}\.\d+", run("ip", "-brief", "address", "show", "dev", own))
    assert found is not None
    page = phone.page(f"http://{found[0]}/setup/step/network")
    assert HOME in page, page[:3000]
    assert "type managed" in run("iw", "dev", own, "info"), run("iw", "dev", own, "info")
    report("it finds the page there; the machine's radio is no access point any more", begun)
    run("systemctl", "start", "--wait", "templo-hotspot.service")
    assert active() == {HOME}, active()
    kept = run("nmcli", "--terse", "--fields", "NAME,AUTOCONNECT", "connection", "show")
    report(f"NetworkManager keeps {kept.split()}")
    home.close()
    begun = time.monotonic()
    until("the hotspot opens again", lambda: active() == {"templo-mayor-hotspot"}, 2)
    report("the home's Wi-Fi goes away: the hotspot opens again", begun)
    return 0


def report(what: str, begun: float | None = None) -> None:
    """Print one result, and how long it took since `begun`."""
    print(f"  {what}" + (f": {time.monotonic() - begun:.0f} s" if begun is not None else ""), flush=True)


def run(*command: str, check: bool = True) -> str:
    """Return what a program prints; raises where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    if check and done.returncode:
        raise ChildProcessError(f"{shlex.join(command)} ended with {done.returncode}: {done.stdout} {done.stderr}")
    return done.stdout if done.returncode == 0 else ""


def until(what: str, true: Callable[[], object], pause_s: float = 0.5) -> None:
    """Wait until a condition holds."""
    begun = time.monotonic()
    while not true():
        if time.monotonic() - begun > PATIENCE_S:
            for log in ("templo-hotspot", "templo-network@*", "NetworkManager", COMPANION):
                print(run("journalctl", "--no-pager", "--lines=40", "--unit", log), flush=True)
            for file in WORK.glob("*.log"):
                print(file.name, *file.read_text().splitlines()[-30:], sep="\n", flush=True)
            raise TimeoutError(f"{what}: not within {PATIENCE_S:.0f} s")
        time.sleep(pause_s)


def radios() -> list[str]:
    """Return the radios' interfaces."""
    return sorted(path.parent.name for path in Path("/sys/class/net").glob("wlan*/phy80211"))


def active() -> set[str]:
    """Return the Wi-Fi connections of the machine that are up."""
    rows = run("nmcli", "--terse", "--escape", "no", "--fields", "TYPE,STATE,NAME", "connection", "show", "--active")
    found = (row.split(":", 2) for row in rows.splitlines())
    return {name for kind, state, name in found if (kind, state) == ("802-11-wireless", "activated")}


def last() -> str:
    """Return what the helper notes of the Wi-Fi that was chosen last."""
    file = Path("/run/templo-network/last")
    said = json.loads(file.read_text()) if file.exists() else {}
    return " ".join(f"{key} {value}" for key, value in said.items() if value)


class Place:
    """A radio in a network namespace of its own: a phone, or what gives a home its Wi-Fi."""

    def __init__(self, name: str, radio: str) -> None:
        self._name, self._radio = name, radio
        self._supplicant: subprocess.Popen[bytes] | None = None
        self._server: subprocess.Popen[bytes] | None = None
        run("ip", "netns", "add", name)
        phy = Path(f"/sys/class/net/{radio}/phy80211/name").read_text().strip()
        run("iw", "phy", phy, "set", "netns", "name", name)
        self._run("ip", "link", "set", "lo", "up")
        self._script = WORK / "leased"
        self._script.write_text(LEASED)
        self._script.chmod(0o755)

    def join(self, name: str, password: str) -> None:
        """Join a Wi-Fi, and get an address there."""
        self.close()
        self._run("ip", "address", "flush", "dev", self._radio)
        self._supply(f'network={{\nssid="{name}"\npsk="{password}"\nscan_ssid=1\n}}\n')
        until(f"{self._name} joins {name}", lambda: "Connected to" in self._run("iw", "dev", self._radio, "link"))
        self._run(*("udhcpc", "-i", self._radio, "-q", "-n", "-t", "20", "-T", "5", "-s", str(self._script)))

    def serve(self) -> None:
        """Open the home's Wi-Fi, and give addresses there."""
        self._run("ip", "link", "set", self._radio, "up")
        self._run("ip", "address", "add", f"{HOME_NETWORK}.1/24", "dev", self._radio)
        self._supply(
            f'ap_scan=2\nnetwork={{\nssid="{HOME}"\nmode=2\nfrequency=2437\nkey_mgmt=WPA-PSK\nproto=RSN\n'
            f'pairwise=CCMP\npsk="{PASSWORD}"\n}}\n'
        )
        until("the home's Wi-Fi", lambda: f"ssid {HOME}" in self._run("iw", "dev", self._radio, "info"))
        self._server = subprocess.Popen(
            [
                *("ip", "netns", "exec", self._name, "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null"),
                *("--port=0", f"--interface={self._radio}", f"--dhcp-range={HOME_NETWORK}.10,{HOME_NETWORK}.50,12h"),
                *(f"--dhcp-leasefile={WORK}/{self._name}.leases", f"--pid-file={WORK}/{self._name}.pid"),
            ]
        )

    def close(self) -> None:
        """Leave the Wi-Fi, or take it away."""
        for process in (self._supplicant, self._server):
            if process is not None:
                process.terminate()
                process.wait(PATIENCE_S)
        self._supplicant = self._server = None

    def address(self) -> str:
        """Return the address that it was given."""
        found = re.search(r"(\d+\.){3}\d+", self._run("ip", "-brief", "address", "show", "dev", self._radio))
        return found[0] if found else ""

    def page(self, url: str, *form: str) -> str:
        """Fetch a page, or send a form; returns the last address and the page."""
        origin = "/".join(url.split("/")[:3])
        status, page = self._run(sys.executable, "-c", FETCH, url, origin, *form).split("\n", 1)
        assert status == "200", f"{url}: {status} {page[:2000]}"
        return page

    def _supply(self, config: str) -> None:
        file = WORK / f"{self._name}.conf"
        file.write_text(config)
        self._supplicant = subprocess.Popen(
            ["ip", "netns", "exec", self._name, "wpa_supplicant", "-Dnl80211", f"-i{self._radio}", f"-c{file}"],
            stdout=(WORK / f"{self._name}.log").open("ab"),
        )

    def _run(self, *command: str) -> str:
        return run("ip", "netns", "exec", self._name, *command)


if __name__ == "__main__":
    sys.exit(main())
