"""Two clubs on one machine: each has a companion of its own that runs while it is used, and reaches nothing else."""

from __future__ import annotations

import re
import shlex
import time

from tests.appliance.machine import APT, Machine, must, say

CLUBS = ("club-a", "club-b")
TEMPLE_STATE = "/var/lib/attic"
LISTEN_S = 3


def hosted(machine: Machine) -> None:
    """Add two clubs, wake them, count tokens for one, try to reach the other's, let them sleep, and remove them."""
    print("Two clubs:", flush=True)
    machine.run(f"{APT} install mosquitto-clients")
    for name in CLUBS:
        said = machine.run(f"templo-mayor club-site add {name} --address http://{name}.example")
        must(f"{name} is added, and it says its organiser's code", bool(re.search(r"code is [A-Z0-9]{8}\.", said)))
    machine.until("the installation's temple counts again", machine.counts)
    for number, name in enumerate(CLUBS, 1):
        must(f"{name} sleeps", machine.show(f"templo-club@{name}.service", "ActiveState"), "inactive")
        begun = time.monotonic()
        must("and its first page wakes it", "Templo Mayor" in page(machine, name, number))
        say(f"the first page of {name} asleep", f"{time.monotonic() - begun:.1f} s")
        judged = machine.run(f"systemd-analyze security --no-pager templo-club@{name} || true")
        found = re.search(r"Overall exposure level for \S+: ([\d.]+)", judged)
        must("it has an exposure of 1.5 or less", float(found[1]) <= 1.5 if found else judged)
    must("a club answers to its own name alone", "Templo Mayor" in page(machine, "club-b", 1), False)
    files_apart(machine)
    topics_apart(machine)
    asleep(machine)
    removed(machine)


def page(machine: Machine, name: str, number: int, path: str = "/") -> str:
    """Return a page of a club, which listens on the port of its number."""
    return machine.page(f":{8100 + number}{path}", f"{name}.example")


def files_apart(machine: Machine) -> None:
    """Try to read everything of one club, and of the installation, as the process of the other."""

    def unread(name: str, files: tuple[str, ...]) -> list[str]:
        """Return what the process of a club cannot read, in its own view of the file system."""
        process = machine.show(f"templo-club@{name}.service", "MainPID")
        user = f"setpriv --reuid templo-club-{name} --regid templo-club-{name} --init-groups"
        script = f'for file in {" ".join(files)}; do cat "$file" >/dev/null 2>&1 || echo "$file"; done'
        return machine.run(f"nsenter --target {process} --mount {user} sh -c {shlex.quote(script)}").split()

    def of(name: str) -> tuple[str, ...]:
        state, settings = f"/var/lib/templo-club/{name}", f"/etc/templo-mayor/clubs/{name}"
        return (f"{state}/companion.sqlite", f"{state}/organiser-code", f"{settings}/companion.toml")

    secrets = ("/etc/templo-mayor/clubs/club-b/companion.env", "/etc/templo-mayor/companion.env")
    installation = ("/var/lib/templo-companion/companion.sqlite", "/var/lib/templo-companion/owner-code", *secrets)
    must("a club's process reads its own files", unread("club-a", of("club-a")), [])
    foreign = (*of("club-b"), *installation)
    must("and none of another club's, nor of the installation's", unread("club-a", foreign), list(foreign))
    process = machine.show("templo-club@club-a.service", "MainPID")
    owner = machine.run(f"stat --format=%U /proc/{process}").strip()
    must("it is a user of its own", owner, "templo-club-club-a")


def topics_apart(machine: Machine) -> None:
    """Let a temple of one club count, and users of the other listen to everything at every port."""
    for name in CLUBS:
        machine.run(f"templo-broker-access --again --club {name} --temple attic")
    machine.run("systemctl reload mosquitto")

    def client(command: str, name: str, file: str, port: int) -> str:
        user, folder = f"{name}.{file}" if name else file, f"/clubs/{name}" if name else ""
        password = f"$(sed -n 's/^TEMPLO_BROKER_PASSWORD=//p' /etc/templo-mayor{folder}/{file}.env)"
        return f"{command} -V 5 -h 127.0.0.1 -p {port} -u {user} -P {password} -q 1"

    def received(name: str, file: str, port: int, form: str = "%t", meanwhile: str = "true") -> str:
        listening = f"timeout {LISTEN_S} {client('mosquitto_sub', name, file, port)} -t '#' -F {form}"
        return machine.attempt(f"(sleep 1; {meanwhile}) & {listening} || true; wait").stdout

    temple = f"templo-controller run --simulate --state {TEMPLE_STATE}"
    settings = "-p EnvironmentFile=/etc/templo-mayor/clubs/club-a/temple-attic.env"
    machine.run(f"systemd-run --quiet --unit=attic {settings} {temple}")
    machine.until("its temple counts", lambda: 'up{temple="attic"} 1' in page(machine, "club-a", 1, "/metrics"))
    own = set(received("club-a", "watcher", 18831).split())
    must("a watcher of the club sees the topics of the protocol", "templo/attic/status" in own)
    must("and no other's", {topic for topic in own if topic.startswith(("club-", "templo/templo/"))}, set())
    for port in (1883, 18831, 18832):
        found = f"{received('club-b', 'watcher', port)}{received('club-b', 'companion', port)}"
        must(f"users of another club receive nothing of it at port {port}", "attic" in found, False)
        must(f"nor does the installation's watcher at port {port}", "attic" in received("", "watcher", port), False)
    must("the other club knows no such temple", "attic" in page(machine, "club-b", 2, "/metrics"), False)
    saying = f"{client('mosquitto_pub', 'club-b', 'temple-attic', 18832)} -t templo/attic/noise -m of-club-b"
    for name, port, expected in (("club-b", 18832, True), ("club-a", 18831, False), ("", 1883, False)):
        seen = "templo/attic/noise=of-club-b" in received(name, "watcher", port, "%t=%p", saying)
        must(f"a watcher at port {port} receives what a club's temple says: {expected}", seen, expected)


def asleep(machine: Machine) -> None:
    """Let both sleep; what their temples count meanwhile is stored when somebody opens a page."""
    for name in CLUBS:
        machine.run(f"echo 'idle_s = 3' >>/etc/templo-mayor/clubs/{name}/companion.toml")
        machine.run(f"systemctl restart templo-club@{name}.service")
    for name in CLUBS:
        machine.until(
            f"{name} ends", lambda name=name: machine.show(f"templo-club@{name}", "ActiveState") == "inactive"
        )
        must(f"{name} has ended well", machine.show(f"templo-club@{name}", "Result"), "success")
        must("and its socket is open", machine.show(f"templo-club@{name}.socket", "ActiveState"), "active")
    machine.run(f"templo-controller drop tlaloc --count 3 --state {TEMPLE_STATE}")
    time.sleep(2)
    must("tokens wake nobody", machine.show("templo-club@club-a", "ActiveState"), "inactive")
    stored = 'templo_tokens_received_total{temple="attic",god="tlaloc"} 3'
    machine.until("they are stored", lambda: stored in page(machine, "club-a", 1, "/metrics"))
    say("3 tokens dropped while it slept: all of them in its store once a page was opened")


def removed(machine: Machine) -> None:
    """Remove one club, and see the other live; then remove that, too."""
    machine.run("systemctl stop attic")
    must(
        "the list names both",
        [name for name in CLUBS if f"{name}: " in machine.run("templo-mayor club-site list")],
        [*CLUBS],
    )
    machine.run("templo-mayor club-site remove club-a --yes")
    left = "find /etc /var/lib -xdev -name '*club-a*' ! -path '/var/lib/systemd/*' 2>/dev/null || true"
    must("removed, nothing of a club is left", machine.run(left).split(), [])
    must("and nothing answers", page(machine, "club-a", 1), "")
    must("nor has it a user", machine.attempt("id templo-club-club-a").returncode, 1)
    must("the other one lives on", "Templo Mayor" in page(machine, "club-b", 2))
    machine.run(f"templo-mayor club-site remove club-b --yes; rm -rf {TEMPLE_STATE}")
    must("the broker listens on no club's port", machine.run("ss -Hltn 'sport >= 18831 and sport <= 18840'"), "")
    must("the list is empty", machine.run("templo-mayor club-site list").strip(), "This machine hosts no clubs.")
    machine.until("the installation's temple counts", machine.counts)
