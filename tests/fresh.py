"""Tries the project as a new owner does: a Debian with git, make and python3-venv alone, and the README's commands.

``make fresh`` makes a root of Debian 12 and one of 13, clones the last commit into each, plays with ``make demo`` and
runs ``make test``. ``ARGS=all`` runs every target of `.ci/run` instead of the tests alone, and
``ARGS="--suite trixie -- make test ARGS=tests/browser"`` one command in one of them. It needs root and mmdebstrap;
of Python, the standard library alone.

A root is entered in namespaces of its own for processes and mounts, so that whatever runs or is mounted there ends
with the command that began it. How this machine reaches Debian's mirror and the indexes of pip and npm holds there
too; of the rest of this machine a root sees nothing but its network.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import termios
import time
import urllib.request
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).parents[1]
BUILD = PROJECT / "build" / "fresh"
SUITES = ("bookworm", "trixie")
PACKAGES = ("ca-certificates", "git", "make", "python3-venv")
"""The README's three, and the certificates that every installed Debian has and mmdebstrap's smallest lacks."""

SETTLED = re.compile(r"Acquire::(https?|ftp|Check-\w+|Retries|By-Hash|Max-\w+)\b")
"""What of apt's configuration says how this machine reaches a mirror."""

NETWORK = re.compile(r"(?i)(PIP|NPM_CONFIG)_\w+|(https?|ftp|no|all)_proxy|(CURL|REQUESTS)_CA_BUNDLE")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO")
"""What of this machine's environment says how it reaches the indexes of pip and npm, together with `NETWORK`."""

CONFIGURED = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/npmrc", "/usr/etc/npmrc")
CONFIGURED_AT_HOME = (".config/pip/pip.conf", ".pip/pip.conf", ".npmrc")

CERTIFICATES_HERE = Path("/usr/local/share/ca-certificates")
"""Where Debian's `ca-certificates` looks for those of a machine's own."""

WEEK = 7 * 24 * 3600
"""Seconds after which a base is made again, so that its packages are not long behind the mirror's."""

INSTALLED_S = 1800.0
INTERRUPTED = 128 + signal.SIGINT
"""What a shell says of make, which Ctrl-C in a terminal reaches as well as the demo."""

ANSWERED_S = 120.0

ENTER = r"""
set -eu
root=$1; shift
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for node in null zero full random urandom tty; do
    : >"$root/dev/$node"
    mount --bind "/dev/$node" "$root/dev/$node"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,mode=0620,ptmxmode=0666 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
while [ "$1" != -- ]; do
    mkdir -p "$(dirname "$root$2")"
    [ -e "$root$2" ] || : >"$root$2"
    mount --bind -o ro "$1" "$root$2"
    shift 2
done
shift
exec chroot "$root" "$@"
"""
"""Mounts what every Debian has, and pairs of files to be seen at another place; then runs a command in the root."""

RUN = '"$@"; exit $?'
"""Runs a command below a shell: the first process of a namespace must wait for those that lost their parents."""

UNTROUBLED = ("env", "--default-signal")
"""Ctrl-C reaches what runs in a root, though `make fresh` may itself run in the background, where it is ignored."""

WATCHED = r"""
trap : INT
"$@"
code=$?
for process in /proc/[0-9]*; do
    words=$(tr '\0' ' ' <"$process/cmdline") 2>/dev/null || words=
    [ "$process" = "/proc/$$" ] || [ -z "$words" ] || echo "left behind: $words"
done
for file in /tmp/* /tmp/.[!.]*; do
    [ ! -e "$file" ] || echo "left behind: $file"
done
git status --porcelain | sed 's/^/left behind: /'
exit $code
"""
"""Runs a command, and lists what is still there after it: its namespaces hold nothing else."""


class FreshError(Exception):
    """What prevents a run, in a sentence that names the remedy."""


def main(argv: Sequence[str]) -> int:
    """Run the commands in the roots; returns 0 where all of them passed."""
    wish = parsed(argv)
    trouble = []
    try:
        check_machine(os.geteuid(), shutil.which)
        for suite in wish.suites:
            with Root.made(suite, renew=wish.renew, again=wish.again, keep=wish.keep) as root:
                trouble += [f"{suite}: {said}" for command in wish.commands if (said := tried(root, command))]
    except FreshError as error:
        print(error, file=sys.stderr)
        return 1
    for each in trouble:
        print(each, file=sys.stderr)
    return 1 if trouble else 0


@dataclass(frozen=True)
class Wish:
    """What the command line asked for."""

    suites: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    renew: bool = False
    again: bool = False
    keep: bool = False


def parsed(argv: Sequence[str]) -> Wish:
    """Read the command line; what follows ``--`` is the one command to run."""
    parser = argparse.ArgumentParser(prog="make fresh ARGS=", description=__doc__.partition("\n")[0])
    parser.add_argument("which", nargs="?", choices=["all"], help="every target of .ci/run")
    parser.add_argument("--suite", action="append", choices=SUITES, help="a single Debian release")
    parser.add_argument("--renew", action="store_true", help="rebuild a base system younger than a week")
    parser.add_argument("--keep", action="store_true", help="leave the root in build/fresh")
    parser.add_argument("--again", action="store_true", help="continue in the root that --keep left; implies --keep")
    argv = list(argv)
    own, command = (argv[: argv.index("--")], argv[argv.index("--") + 1 :]) if "--" in argv else (argv, [])
    given = parser.parse_args(own)
    if command:
        commands = [tuple(command)]
    elif given.which == "all":
        commands = [("make", "demo"), *targets_of_ci()]
    else:
        commands = [("make", "demo"), ("make", "test")]
    return Wish(tuple(given.suite or SUITES), tuple(commands), given.renew, given.again, given.keep or given.again)


def targets_of_ci() -> Iterator[tuple[str, ...]]:
    """Yield the commands of `.ci/run`, in its order."""
    for line in (PROJECT / ".ci" / "run").read_text().splitlines():
        if line.startswith("make "):
            yield tuple(shlex.split(line))


def check_machine(user: int, which: Callable[[str], str | None], command: str = "make fresh") -> None:
    """Raise `FreshError` where roots of Debian cannot be made."""
    if user != 0:
        raise FreshError(f"Roots of Debian are made and entered by root alone: run 'sudo {command}'.")
    for program, package in {"mmdebstrap": "mmdebstrap", "unshare": "util-linux", "git": "git", "tar": "tar"}.items():
        if which(program) is None:
            raise FreshError(f"{command} needs {program}: install it with 'sudo apt-get install {package}'.")


def tried(root: Root, command: tuple[str, ...]) -> str:
    """Run one command and say how it went; returns what went wrong, or nothing."""
    words = shlex.join(command)
    log = BUILD / f"{root.suite}-{re.sub(r'[^A-Za-z0-9]+', '-', words)[:60].strip('-')}.log"
    print(f"{root.suite}: {words} ...", flush=True)
    begun = time.monotonic()
    wrong = played(root, command, log) if command[:2] == ("make", "demo") else ran(root, command, log)
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    print(
        f"{root.suite}: {words}: {wrong or 'passed'} after {time.monotonic() - begun:.0f} s; {lines[-1:]}", flush=True
    )
    if wrong:
        print(*(f"    {line}" for line in lines[-40:]), sep="\n", flush=True)
        return f"{words}: {wrong}; all that it said is in {log.relative_to(PROJECT)}."
    return ""


def ran(root: Root, command: Sequence[str], log: Path) -> str:
    """Run a command to its end; returns what went wrong, or nothing."""
    with log.open("wb") as out:
        done = subprocess.run(
            root.inside(["sh", "-c", RUN, "run", *command]),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env=root.environment,
            check=False,
        )
    return "" if done.returncode == 0 else f"ended with exit code {done.returncode}"


def played(root: Root, command: Sequence[str], log: Path) -> str:
    """Start the demo in a terminal, drop a token by its key, see it on the page, and end it with Ctrl-C."""
    if not (free(8000) and free(11883)):
        print(f"{root.suite}: the demo's ports are taken on this machine, so that it takes others", flush=True)
        command = [*command, "ARGS=--ports 0 0"]
    with Terminal(root.inside(["sh", "-c", WATCHED, "demo", *command]), root.environment, log) as terminal:
        try:
            terminal.wait_for(r"Ctrl-C ends everything", INSTALLED_S)
            address = terminal.wait_for(r"(http://127\.0\.0\.1:\d+)(/t/\w+)", ANSWERED_S)
            if "Templo Mayor" not in got(address[1] + "/"):
                return "the first page does not name the temple"
            if not token_shown(terminal, address[0]):
                return f"a token dropped with 'h' did not show on {address[2]}"
            terminal.type("\x03")
            terminal.wait_for(r"Everything has ended", ANSWERED_S)
            code = terminal.wait(ANSWERED_S)
        except FreshError as error:
            return str(error)
    if code not in (0, INTERRUPTED):
        return f"ended with exit code {code} after Ctrl-C"
    return "something was left behind" if "left behind:" in terminal.said else ""


def token_shown(terminal: Terminal, address: str) -> bool:
    """Press the key that drops a token until the page counts one: the temple may start after its companion."""
    until = time.monotonic() + ANSWERED_S
    while time.monotonic() < until:
        terminal.type("h")
        for _ in range(20):
            terminal.read(0.5)
            if re.search(r'value="[1-9]\d*" data-piece="count-huitzilopochtli"', got(address)):
                return True
    return False


def got(address: str) -> str:
    """Return a page."""
    with urllib.request.urlopen(address, timeout=60) as answer:
        return str(answer.read().decode())


def free(port: int) -> bool:
    """Return whether nobody listens on a port of this machine, which the root shares."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            probe.bind(("0.0.0.0", port))
            return True
    return False


class Terminal:
    """A command in a terminal of its own, as a person sits before it."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self.said = ""
        self._log = log.open("w")
        self._master, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (50, 120))
        self._process = subprocess.Popen(
            ["setsid", "--ctty", *UNTROUBLED, *command], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
        )
        os.close(theirs)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        """End what still runs: with the first process of a namespace of processes all of them end."""
        self._process.kill()
        self._process.wait()
        os.close(self._master)
        self._log.close()

    def type(self, keys: str) -> None:
        """Press keys; ``"\\x03"`` is Ctrl-C."""
        os.write(self._master, keys.encode())

    def read(self, seconds: float) -> bool:
        """Read output for a time; returns false once the command has ended."""
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._master, 65536).decode(errors="replace")
        except OSError:  # so a terminal reports that its other end is closed
            return False
        self.said += data
        self._log.write(data)
        self._log.flush()
        return True

    def wait_for(self, pattern: str, seconds: float) -> re.Match[str]:
        """Wait until something is said."""
        until = time.monotonic() + seconds
        while not (found := re.search(pattern, self.said)):
            if not self.read(1):
                raise FreshError(f"ended before it said {pattern!r}")
            if time.monotonic() > until:
                raise FreshError(f"did not say {pattern!r} within {seconds:.0f} s")
        return found

    def wait(self, seconds: float) -> int:
        """Wait for the end; returns the exit code."""
        until = time.monotonic() + seconds
        while self.read(1):
            if time.monotonic() > until:
                raise FreshError(f"did not end within {seconds:.0f} s")
        return self._process.wait(seconds)


@dataclass
class Root:
    """A Debian in a folder, with a clone of the last commit."""

    suite: str
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    files: tuple[tuple[Path, str], ...] = ()

    @classmethod
    @contextmanager
    def made(
        cls,
        suite: str,
        *,
        renew: bool = False,
        again: bool = False,
        keep: bool = False,
        purpose: str = "",
        packages: Sequence[str] = PACKAGES,
    ) -> Iterator[Root]:
        """Unpack a base, cached for a week, and clone into it; afterwards the root is removed unless it is kept.

        A `purpose` names a base of other packages, which is made again when they change; without git there is no
        clone.
        """
        BUILD.mkdir(parents=True, exist_ok=True)
        name = f"{suite}-{purpose}" if purpose else suite
        folder, base = BUILD / name, base_of(name, packages)
        with (BUILD / f"{name}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise FreshError(f"A root of {name} is in use already: let it end first.") from None
            if again and not folder.exists():
                raise FreshError(f"There is no {folder.relative_to(PROJECT)} to go on in: run it with --keep before.")
            if not again:
                if renew or not base.exists() or time.time() - base.stat().st_mtime > WEEK:
                    for old in BUILD.glob(f"{name}.*.tar"):
                        old.unlink()
                    bootstrap(suite, base, packages)
                print(f"{suite}: unpacking the base{' and cloning' * ('git' in packages)} ...", flush=True)
                remove(folder)
                folder.mkdir()
                run("tar", "--extract", "--file", base, "--directory", folder, "--numeric-owner")
            try:
                home = Path.home()
                own = [(Path(name), name) for name in CONFIGURED]
                own += [(home / name, f"/root/{name}") for name in CONFIGURED_AT_HOME]
                root = cls(
                    suite, folder, passed_on(os.environ, folder), tuple(each for each in own if each[0].exists())
                )
                if "git" in packages:
                    root.clone(again=again)
                yield root
            finally:
                if not keep:
                    remove(folder)

    def clone(self, *, again: bool) -> None:
        """Clone this checkout's last commit as a new owner clones the repository, or bring a clone up to it."""
        if run("git", "-C", PROJECT, "status", "--porcelain").strip():
            print(f"{self.suite}: what is not committed is not tried", flush=True)
        origin = self.folder / "srv" / "templo-mayor.git"
        remove(origin)
        run("git", "clone", "--quiet", "--bare", "--depth=1", f"file://{PROJECT}", origin)
        if again:
            update = "git fetch --quiet --depth=1 origin HEAD && git reset --quiet --hard FETCH_HEAD"
            run(*self.inside(["sh", "-c", update]), environment=self.environment)
        else:
            clone = ["git", "clone", "--quiet", "/srv/templo-mayor.git", "templo-mayor"]
            run(*self.inside(clone, "/root"), environment=self.environment)

    def check_out(self, revision: str) -> None:
        """Bring the clone to another commit of this checkout."""
        origin = self.folder / "srv" / "templo-mayor.git"
        wanted = run("git", "-C", PROJECT, "rev-parse", "--verify", f"{revision}^{{commit}}").strip()
        run("git", "-C", origin, "fetch", "--quiet", "--depth=1", f"file://{PROJECT}", f"{wanted}:refs/heads/wanted")
        update = "git fetch --quiet --depth=1 origin wanted && git reset --quiet --hard FETCH_HEAD"
        run(*self.inside(["sh", "-c", update]), environment=self.environment)

    def inside(self, command: Sequence[str], folder: str = "/root/templo-mayor") -> list[str]:
        """Return the command line that runs another in a folder of the root and ends every process that it leaves."""
        pairs = [str(word) for pair in self.files for word in pair]
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child=KILL"]
        there = [*UNTROUBLED, "--chdir", folder, *command]
        return [*unshare, "sh", "-c", ENTER, "enter", str(self.folder), *pairs, "--", *there]


def base_of(name: str, packages: Sequence[str]) -> Path:
    """Return the file of a base, which holds these packages."""
    return BUILD / f"{name}.{zlib.crc32(' '.join(packages).encode()):08x}.tar"


def bootstrap(suite: str, base: Path, packages: Sequence[str]) -> None:
    """Make the tarball of a new Debian, from the mirror that this machine uses.

    Where it has Debian's certificates, it has those of this machine too.
    """
    print(f"{suite}: making a new Debian with {', '.join(packages)} ...", flush=True)
    options = [f"--aptopt={line}" for line in run("apt-config", "dump").splitlines() if SETTLED.match(line)]
    own = sorted(CERTIFICATES_HERE.glob("*.crt")) if "ca-certificates" in packages else []
    hooks = [f"--customize-hook=copy-in {shlex.quote(str(file))} {CERTIFICATES_HERE}" for file in own]
    if own:
        hooks.append('--customize-hook=chroot "$1" update-ca-certificates')
    made = base.with_suffix(".new.tar")
    run(
        *("mmdebstrap", "--quiet", "--variant=minbase", f"--include=apt,{','.join(packages)}", *options, *hooks),
        *(suite, made, *mirrors(suite)),
    )
    made.replace(base)


def mirrors(suite: str) -> list[str]:
    """Return the lines of apt's sources for a suite, from where this machine takes its own Debian.

    Empty where this machine is no Debian: mmdebstrap then takes Debian's usual mirrors.
    """
    release = Path("/etc/os-release").read_text()
    codename = re.search(r"^VERSION_CODENAME=(\w+)", release, re.MULTILINE)
    if not codename:
        return []
    wanted = ["$(ORIGIN)", "$(REPO_URI)", "$(RELEASE)", "$(COMPONENT)"]
    listed = run("apt-get", "indextargets", "--format", "|".join(wanted), "Created-By: Packages")
    return sources(listed.splitlines(), codename[1], suite)


def sources(targets: Iterable[str], ours: str, suite: str) -> list[str]:
    """Return a suite's lines for apt, from this machine's targets as ``ORIGIN|URI|RELEASE|COMPONENT``.

    >>> sources(["Debian|http://mirror/debian/|bookworm-updates|main"], "bookworm", "trixie")
    ['deb http://mirror/debian/ trixie-updates main']
    """
    lines = []
    for target in targets:
        origin, uri, release, component = target.split("|")
        if origin == "Debian" and component == "main" and re.fullmatch(rf"{ours}(-updates|-security)?", release):
            lines.append(f"deb {uri} {release.replace(ours, suite)} main")
    return sorted(set(lines), key=lambda line: ("-" in line.split()[2], line))


def passed_on(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return a root's environment: a new owner's, and how this machine reaches the indexes of pip and npm.

    What names a file or folder that the root has not is left out.
    """
    own = {
        name: value
        for name, value in environment.items()
        if (NETWORK.fullmatch(name) or name in CERTIFICATES)
        and not (value.startswith("/") and not (folder / value[1:]).exists())
    }
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return own | {"PATH": path, "HOME": "/root", "USER": "root", "LANG": "C.UTF-8", "TERM": "xterm"}


def remove(folder: Path) -> None:
    """Remove a root; nothing is mounted there outside of the namespaces, and they ended with their commands."""
    if folder.exists():
        run("rm", "-rf", "--one-file-system", folder)


def run(*command: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """Run a program of this machine; returns its output, raises `FreshError` with the end of it."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-12:])
        raise FreshError(f"{shlex.join(map(str, command[:2]))} ended with exit code {done.returncode}:\n{last}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
