"""What `make fresh` understands, what it takes over from the machine, and what it says where it cannot run."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import fresh

ROOT = Path(__file__).parents[2]


def test_alone_it_plays_the_demo_and_runs_the_tests_in_both_debians() -> None:
    assert fresh.parsed([]) == fresh.Wish(("bookworm", "trixie"), (("make", "demo"), ("make", "test")))


def test_all_is_every_target_of_ci_in_its_order() -> None:
    commands = fresh.parsed(["all"]).commands
    assert commands[0] == ("make", "demo")
    assert [" ".join(command) for command in commands[1:]] == [
        line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line.startswith("make")
    ]


def test_what_follows_two_dashes_is_the_one_command() -> None:
    wish = fresh.parsed(["--suite", "trixie", "--", "make", "test", "ARGS=tests/browser -x"])
    assert (wish.suites, wish.commands) == (("trixie",), (("make", "test", "ARGS=tests/browser -x"),))


@pytest.mark.parametrize(
    ("user", "missing", "words"),
    [
        (1000, "", "'sudo make fresh'"),
        (0, "mmdebstrap", "'sudo apt-get install mmdebstrap'"),
        (0, "unshare", "'sudo apt-get install util-linux'"),
    ],
)
def test_what_is_missing_is_one_sentence_with_its_mend(user: int, missing: str, words: str) -> None:
    with pytest.raises(fresh.FreshError, match=words) as caught:
        fresh.check_machine(user, lambda program: None if program == missing else f"/usr/bin/{program}")
    assert "\n" not in str(caught.value)


def test_a_root_takes_debian_from_where_this_machine_does_and_nothing_else() -> None:
    targets = [
        "Debian|http://mirror/debian/|bookworm-updates|main",
        "Debian|http://mirror/debian/|bookworm|main",
        "Debian|http://mirror/debian/|bookworm|contrib",
        "Debian|http://mirror/debian-security/|bookworm-security|main",
        "Debian Backports|http://mirror/debian/|bookworm-backports|main",
        "Somebody|http://elsewhere/|bookworm|main",
    ]
    assert fresh.sources(targets, "bookworm", "trixie") == [
        "deb http://mirror/debian/ trixie main",
        "deb http://mirror/debian-security/ trixie-security main",
        "deb http://mirror/debian/ trixie-updates main",
    ]


def test_a_base_is_made_again_when_its_packages_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def bootstrap(_suite: str, base: Path, packages: tuple[str, ...]) -> None:
        made.append(packages)
        (tmp_path / "hello").write_text(" ".join(packages))
        fresh.run("tar", "--create", "--file", base, "--directory", tmp_path, "hello")

    made: list[tuple[str, ...]] = []
    monkeypatch.setattr(fresh, "BUILD", tmp_path / "fresh")
    monkeypatch.setattr(fresh, "bootstrap", bootstrap)
    for packages in (("adduser",), ("adduser",), ("adduser", "fonts-noto-core")):
        with fresh.Root.made("trixie", purpose="test", packages=packages) as root:
            assert (root.folder / "hello").read_text() == " ".join(packages)
    assert made == [("adduser",), ("adduser", "fonts-noto-core")]
    assert len(list((tmp_path / "fresh").glob("*.tar"))) == 1


@pytest.mark.parametrize(("packages", "hooks"), [(("ca-certificates", "git"), 2), (("gpg",), 0)])
def test_this_machine_s_certificates_are_copied_only_to_where_debian_s_are(
    packages: tuple[str, ...], hooks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*words: str | Path, **_: object) -> str:
        commands.append(words)
        if words[0] == "mmdebstrap":
            (tmp_path / "base.new.tar").touch()
        return ""

    commands: list[tuple[str | Path, ...]] = []
    (tmp_path / "own.crt").touch()
    monkeypatch.setattr(fresh, "run", run)
    monkeypatch.setattr(fresh, "CERTIFICATES_HERE", tmp_path)
    fresh.bootstrap("trixie", tmp_path / "base.tar", packages)
    (bootstrapped,) = (words for words in commands if words[0] == "mmdebstrap")
    assert sum(str(word).startswith("--customize-hook=") for word in bootstrapped) == hooks


def test_of_the_environment_only_what_reaches_an_index_is_passed_on(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "certificates").touch()
    given = {
        "PIP_INDEX_URL": "http://index",
        "https_proxy": "http://proxy:3128",
        "SSL_CERT_FILE": "/etc/certificates",
        "PIP_FIND_LINKS": "/wheels",
        "PYTHONPATH": "/home/me",
        "PATH": "/home/me/bin",
    }
    passed = fresh.passed_on(given, tmp_path)
    assert {name for name in passed if name in given} == {"PIP_INDEX_URL", "https_proxy", "SSL_CERT_FILE", "PATH"}
    assert "/home/me" not in passed["PATH"]


@pytest.fixture
def terminal(tmp_path: Path) -> Callable[[str], fresh.Terminal]:
    return lambda script: fresh.Terminal(["sh", "-c", script], {"PATH": "/usr/bin:/bin"}, tmp_path / "log")


def test_keys_reach_a_command_in_a_terminal_and_ctrl_c_interrupts_it(
    terminal: Callable[[str], fresh.Terminal],
) -> None:
    with terminal(
        "trap 'echo over; exit 3' INT; test -t 0 && read key && echo got $key; while :; do sleep 0.1; done"
    ) as it:
        it.type("h\n")
        it.wait_for("got h", 60)
        it.type("\x03")
        it.wait_for("over", 60)
        assert it.wait(180) == 3
    assert "got h" in it.said


def test_ctrl_c_reaches_a_command_though_it_was_ignored_where_that_was_started(
    terminal: Callable[[str], fresh.Terminal],
) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with terminal("trap 'echo over; exit 3' INT; echo begun; while :; do sleep 0.1; done") as it:
            it.wait_for("begun", 60)
            it.type("\x03")
            assert it.wait(180) == 3
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_command_that_ends_too_soon_is_no_reason_to_wait(terminal: Callable[[str], fresh.Terminal]) -> None:
    begun = time.monotonic()
    with terminal("echo no") as it, pytest.raises(fresh.FreshError, match="ended before it said 'ready'"):
        it.wait_for("ready", 600)
    assert time.monotonic() - begun < 300
