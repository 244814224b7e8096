"""Networks that come and change, the name `templo.local`, and TLS."""

from __future__ import annotations

import shlex
import time

from tests.appliance.machine import APT, Machine, must, say, status

RESOLVE = """
import socket, struct, sys, time
name, own = sys.argv[1:]
labels = b''.join(bytes([len(each)]) + each.encode() for each in name.split('.'))
question = struct.pack('>6H', 7, 0, 1, 0, 0, 0) + labels + struct.pack('>x2H', 1, 1)
asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asked.bind((own, 0))
asked.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
asked.settimeout(1)
answers, until = set(), time.monotonic() + 5
while time.monotonic() < until:
    asked.sendto(question, ('224.0.0.251', 5353))
    try:
        while True:
            answer = asked.recv(9000)
            answers |= {socket.inet_ntoa(answer[-4:])} if struct.unpack('>H', answer[6:8])[0] else set()
    except TimeoutError:
        pass
print(*sorted(answers))
"""
"""Asks a network for the address of a `.local` name, as a phone does; prints every answer of five seconds."""

RIVAL = """
[server]
host-name={name}
use-ipv4=yes
use-ipv6=no
enable-dbus=no
[publish]
[rlimits]
"""
"""The configuration of another machine's avahi."""

SECURE = """
import ssl, sys, urllib.request
trusting = ssl.create_default_context(cafile='/etc/templo-mayor/tls/authority.pem')
print(urllib.request.urlopen(f'https://{sys.argv[1]}/', timeout=20, context=trusting).read().decode())
"""
"""Asks the first page over TLS, as somebody who trusts the authority."""


def networks(machine: Machine) -> None:
    """Connect a network after the boot, change its address, and check what is shown each time."""
    must("without a network `templo-mayor status` says so", "is on no network" in status(machine))
    machine.run("ip link add lan type veth peer name router && ip link set lan up && ip link set router up")
    machine.run("ip address add 192.168.178.20/24 dev lan")
    must("with a network it shows the address at once", "http://192.168.178.20\n" in status(machine))
    machine.run("ip address flush dev lan && ip address add 192.168.178.77/24 dev lan")
    must("and another one when that changes", "http://192.168.178.77\n" in status(machine))
    machine.run("echo 'search fritz.box' >/etc/resolv.conf")
    host = machine.run("hostname").strip().lower()
    time.sleep(6)  # the guard asks for its own names at most every 5 s
    for name in ("192.168.178.77", f"{host}.local", f"{host}.fritz.box", host):
        must(f"the page answers to {name}", "Templo Mayor" in machine.page("/", name))
    must("and to no stranger's name", machine.page("/", "evil.example"), "")


def named(machine: Machine) -> None:
    """Ask for `templo.local` from the other end of the network, and let another machine have it first."""
    machine.run("ip netns add other && ip link set router netns other")
    machine.run("ip netns exec other ip address add 192.168.178.1/24 dev router")
    machine.run("ip netns exec other ip link set lo up && ip netns exec other ip link set router up")
    machine.run("systemctl restart avahi-daemon")

    def rival(name: str) -> None:
        machine.run(f"printf '%s' {shlex.quote(RIVAL.format(name=name))} >/run/rival.conf")
        machine.run(
            "systemd-run --unit=rival --quiet --property=NetworkNamespacePath=/run/netns/other "
            "--property='TemporaryFileSystem=/run/avahi-daemon /etc/avahi/services' "
            "avahi-daemon --file=/run/rival.conf --no-drop-root --no-chroot"
        )

    def resolved(name: str) -> str:
        return machine.run(
            f"ip netns exec other python3 -c {shlex.quote(RESOLVE)} {name} 192.168.178.1 || true"
        ).strip()

    def reported() -> str:
        return machine.show("templo-mayor-name", "StatusText")

    machine.until("templo.local leads to this machine", lambda: resolved("templo.local") == "192.168.178.77")
    machine.until("the unit reports it", lambda: reported() == "announced as templo.local")
    say("templo.local leads to this machine, also after avahi was started anew")
    must("and the page answers to it", "Templo Mayor" in machine.page("/", "templo.local"))
    must("and `templo-mayor status` shows it", "http://templo.local\n" in status(machine))
    machine.run("systemctl stop templo-mayor-name")
    rival("templo")
    machine.until("the other machine has the name", lambda: resolved("templo.local") == "192.168.178.1")
    machine.run("systemctl start templo-mayor-name")
    machine.until("the alias is given up", lambda: "another machine" in reported())
    must("a name that another machine has is left to it", resolved("templo.local"), "192.168.178.1")
    host = machine.run("hostname").strip().lower()
    must("and this machine has its own name as before", resolved(f"{host}.local"), "192.168.178.77")
    must("which alone is shown", "http://templo.local" in status(machine), False)
    machine.run("systemctl stop rival; systemctl restart templo-mayor-name")
    machine.until("the alias is announced again", lambda: reported() == "announced as templo.local")
    say("and when it is free it is announced again")
    machine.run("systemctl stop avahi-daemon.socket avahi-daemon")
    rival(host)
    machine.until("the other machine has the host name", lambda: resolved(f"{host}.local") == "192.168.178.1")
    machine.run("systemctl start avahi-daemon.socket avahi-daemon")
    second = f"{host}-2.local"
    machine.until("avahi gives another name", lambda: resolved(second) == "192.168.178.77")
    machine.until("`templo-mayor status` shows it", lambda: f"http://{second}\n" in status(machine))
    must(
        "a host name that another machine has: that of avahi is shown",
        f"http://{host}.local\n" in status(machine),
        False,
    )
    machine.until("the page answers to it", lambda: "Templo Mayor" in machine.page("/", second))
    machine.run("systemctl stop rival; systemctl restart avahi-daemon templo-mayor-name")
    machine.until("the alias is announced again", lambda: reported() == "announced as templo.local")


def secured(machine: Machine) -> None:
    """Switch TLS on, change the address, and switch it off again."""

    def page(host: str) -> str:
        return machine.attempt(f"python3 -c {shlex.quote(SECURE)} {host}").stdout

    machine.run(f"{APT} install haproxy openssl")
    must("`templo-mayor tls` says how a phone trusts it", "/trust" in machine.run("templo-mayor tls"))
    machine.until("the companion answers again", lambda: machine.page("/"))
    must("who trusts the authority gets the page over TLS", "Templo Mayor" in page("192.168.178.77"))
    judged = machine.run("systemd-analyze security --no-pager templo-tls || true")
    must(
        "templo-tls has an exposure of 1.5 or less", float(judged.split("templo-tls.service: ")[1].split()[0]) <= 1.5
    )
    machine.run("ip address add 192.168.178.78/24 dev lan && systemctl start templo-tls-renew.service")
    machine.until("the certificate has the new address", lambda: "Templo Mayor" in page("192.168.178.78"))
    say("another address: the certificate was renewed for it")
    must("plain http serves the same page", "Templo Mayor" in machine.page("/", "192.168.178.77"))
    machine.run("templo-mayor tls off && ip address delete 192.168.178.78/24 dev lan")
    must("switched off, nothing answers over TLS", page("192.168.178.77"), "")
    machine.until("the temple counts", machine.counts)
