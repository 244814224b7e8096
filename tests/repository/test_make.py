"""What make says on a machine that lacks something, and that it lists what it can do."""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("sh", "sed", "tr", "cut", "cat", "cksum", "dirname", "env", "grep", "tail", "rm", "mktemp", "printf")
FONTS = "fonts-dejavu-core fonts-noto-core"


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder for the PATH with nothing on it but a shell and its plainest tools."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found, tool
        (folder / tool).symlink_to(found)
    return folder


def program(folder: Path, name: str, body: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False)


def says(finished: subprocess.CompletedProcess[str]) -> str:
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert finished.stderr.count("\n") == 1, finished.stderr
    return finished.stderr


def system_packages(bare: Path) -> subprocess.CompletedProcess[str]:
    """Check for the tests' packages where nothing is installed."""
    nowhere = {"SBIN": "", "POSTGRESQL": str(bare), "FONTS": str(bare)}
    return run(ROOT / "tests/system-packages", PATH=str(bare), HOME=str(bare), **nowhere)


def environment(path: Path, *arguments: str) -> str:
    return says(run(ROOT / "tools/environment", *arguments, "broker", PATH=str(path)))


def test_make_alone_lists_every_target_in_words() -> None:
    listed = run("make", "--no-print-directory", PATH=os.environ["PATH"])
    assert listed.returncode == 0
    targets = {line.split()[1] for line in listed.stdout.splitlines()}
    assert targets == {
        "help",
        "club",
        "demo",
        "docs",
        "temple",
        "sheets",
        "starter",
        "test",
        "check",
        "conformance",
        "soak",
        "coverage",
        "image",
        "kernel",
        "pi",
        "pico",
        "lab",
        "layout",
        "bench",
        "chaos",
        "crash",
        "firmware",
        "packages",
        "packages-test",
        "appliance",
        "fresh",
        "hardware",
        "hardware-test",
        "physics",
        "pictures",
        "release",
        "repository",
        "reproducible",
        "validate",
        "clean",
    }
    assert all(len(line.split()) > 4 for line in listed.stdout.splitlines())


def test_an_old_python_is_named_with_its_mend(bare: Path) -> None:
    program(bare, "python3", "echo 3 9 64")
    sentence = environment(bare)
    assert "python3 is Python 3.9" in sentence
    assert "sudo apt install python3" in sentence


def test_a_newer_python_of_another_name_is_taken_instead_of_an_old_one(bare: Path) -> None:
    program(bare, "python3", "echo 3 9 64")
    program(bare, "python3.12", 'case "$2" in *ensurepip*) exit 1 ;; *) echo 3 12 64 ;; esac')
    assert "python3.12-venv" in environment(bare)


def test_a_missing_python_is_reported(bare: Path) -> None:
    assert "python3 is not there" in environment(bare)


def test_a_python_without_venv_names_the_package_to_install(bare: Path) -> None:
    program(bare, "python3", 'case "$2" in *ensurepip*) exit 1 ;; *) echo 3 11 64 ;; esac')
    assert "sudo apt install python3-venv" in environment(bare)


def test_a_32_bit_system_is_refused_with_what_it_needs(bare: Path) -> None:
    program(bare, "python3", "echo 3 11 32")
    assert "64-bit Raspberry Pi OS" in environment(bare)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A checkout of nothing but what makes an environment."""
    folder = tmp_path / "a clone"
    (folder / "tools").mkdir(parents=True)
    for name in ("tools/environment", "tools/extras.py", "pyproject.toml", "constraints.txt", "README.md"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def offline(folder: Path) -> dict[str, str]:
    """Return variables with which pip reaches no index."""
    index = {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    return {"PATH": os.environ["PATH"], "HOME": str(folder), **index}


def test_an_index_out_of_reach_is_distinguished_from_a_package_that_fails(clone: Path) -> None:
    finished = run("tools/environment", "broker", cwd=clone, **offline(clone))
    assert finished.returncode == 1
    assert "connect this machine to the internet" in finished.stderr
    assert finished.stderr.count("\n") == 1


def prepared(clone: Path, pip: str) -> None:
    """Put an environment there whose pip is a line of shell."""
    program(clone, "python", f'case "$*" in *"-m pip"*) {pip} ;; *) exec {sys.executable} "$@" ;; esac')
    (clone / ".venv" / "bin").mkdir(parents=True)
    (clone / "python").rename(clone / ".venv" / "bin" / "python")
    (clone / ".venv" / "made").write_text(f"{sys.version_info[0]}.{sys.version_info[1]} {clone}\n")
    (clone / ".venv" / "pyvenv.cfg").write_text("include-system-site-packages = false\n")


def make_environment(clone: Path, extras: str) -> str:
    finished = run("tools/environment", extras, cwd=clone, PATH=os.environ["PATH"], PYTHON=sys.executable)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_pip_runs_for_those_extras_that_are_lacking_or_have_changed(clone: Path, tmp_path: Path) -> None:
    asked, file = tmp_path / "asked", clone / "pyproject.toml"
    prepared(clone, f'echo "$*" >>{asked}')

    def installed(extras: str) -> str:
        asked.write_text("")
        make_environment(clone, extras)
        return asked.read_text().partition("--editable .")[2].partition(" ")[0].strip()

    assert installed("companion,broker") == "[companion,broker]"
    assert installed("companion,broker") == ""
    assert installed("companion,broker,lab") == "[lab]"
    file.write_text(file.read_text().replace("line-length = 118", "line-length = 117"))
    assert installed("companion,lab") == ""
    file.write_text(file.read_text().replace('"jinja2>=3.1"', '"jinja2>=3.2"'))
    assert installed("companion,lab") == "[lab]"
    (clone / "constraints.txt").write_text("jinja2==3.2\n")
    assert installed("lab") == "[lab]"
    assert installed("companion,lab") == "[companion]"


def test_a_failed_installation_is_tried_again(clone: Path) -> None:
    prepared(clone, "echo no such package; exit 1")
    for _ in range(2):
        finished = run("tools/environment", "lab", cwd=clone, PATH=os.environ["PATH"], PYTHON=sys.executable)
        assert finished.returncode == 1
        assert "no such package\npip could not install what is needed" in finished.stderr


def on_a_terminal(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Run a command whose output is a terminal, and return what it shows."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=cwd, env=environment, stdout=theirs, stderr=theirs):
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # a terminal that nobody writes to any more
            while more := os.read(ours, 4096):
                shown += more
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def test_pip_shows_its_progress_on_a_terminal_alone(clone: Path) -> None:
    prepared(clone, "echo Collecting lab")
    shown = on_a_terminal("tools/environment", "lab", cwd=clone, PATH=os.environ["PATH"], PYTHON=sys.executable)
    assert "Installing lab into .venv, which takes a minute or two the first time ...\nCollecting lab\n" in shown
    (clone / ".venv" / "installed.json").unlink()
    assert "Collecting" not in make_environment(clone, "lab")


def test_apt_shows_its_progress_on_a_terminal_alone(bare: Path) -> None:
    program(bare, "id", "echo 0")
    program(bare, "ldconfig", "")
    program(bare, "apt-get", "echo Unpacking")
    sheets = ROOT / "tests/system-packages", "sheets"
    assert on_a_terminal(*sheets, cwd=ROOT, PATH=str(bare), SBIN="").count("Unpacking\n") == 2
    assert "Unpacking" not in run(*sheets, PATH=str(bare), SBIN="").stdout


def test_a_second_make_waits_for_the_first_and_names_it(clone: Path) -> None:
    prepared(clone, ":")
    with (clone / ".venv.lock").open("w") as lock:
        lock.write("process 712, which installs lab\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = subprocess.Popen(
            ["tools/environment", "lab"],
            cwd=clone, env={"PATH": os.environ["PATH"], "PYTHON": sys.executable}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        with second:
            assert second.stdout
            assert second.stdout.readline() == "Waiting for process 712, which installs lab ...\n"
            assert second.poll() is None
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert second.wait(600) == 0
    assert (clone / ".venv.lock").read_text() == f"process {second.pid}, which installs lab\n"


@pytest.mark.parametrize("sudo", ["", "exit 1"])
def test_without_the_right_to_install_the_tests_packages_are_named_once(bare: Path, sudo: str) -> None:
    program(bare, "id", "echo 1000")
    program(bare, "apt-get", "echo must not be run >&2; exit 1")
    if sudo:
        program(bare, "sudo", sudo)
    sentence = says(system_packages(bare))
    programs = "mosquitto postgresql haproxy libnss3-tools valgrind openssh-client e2fsprogs chromium-headless-shell"
    assert f"{programs.replace(' ', ', ')}, fonts-dejavu-core and fonts-noto-core" in sentence
    assert f"sudo apt-get install --no-install-recommends {programs} {FONTS}" in sentence


def test_a_system_without_apt_is_not_asked_to_use_it(bare: Path) -> None:
    assert "apt-get" not in says(system_packages(bare))


def test_only_what_is_missing_is_installed(bare: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    program(bare, "id", "echo 0")
    program(bare, "mosquitto", "")
    program(bare, "initdb", "")
    program(bare, "haproxy", "")
    program(bare, "certutil", "")
    program(bare, "valgrind", "")
    program(bare, "ssh-keygen", "")
    program(bare, "debugfs", "")
    font = bare / "truetype" / "dejavu" / "DejaVuSans.ttf"
    font.parent.mkdir(parents=True)
    font.touch()
    program(bare, "apt-get", f'echo "$DEBIAN_FRONTEND $*" >> {asked}')
    finished = system_packages(bare)
    assert finished.returncode == 0, finished.stderr
    installing = asked.read_text().splitlines()[-1]
    assert installing.startswith("noninteractive ")
    assert installing.endswith("--no-install-recommends chromium-headless-shell fonts-noto-core")


def test_a_failed_installation_shows_its_last_words(bare: Path, tmp_path: Path) -> None:
    program(bare, "id", "echo 0")
    program(bare, "apt-get", "echo E: Unable to locate package; exit 100")
    finished = system_packages(bare)
    assert finished.returncode == 1
    assert "E: Unable to locate package" in finished.stderr
    assert "sudo apt-get install" in finished.stderr


def test_the_pdfs_ask_for_their_own_libraries_alone(bare: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    program(bare, "id", "echo 0")
    program(bare, "ldconfig", "echo libpango-1.0.so.0")
    program(bare, "apt-get", f'echo "$*" >> {asked}')
    finished = run(ROOT / "tests/system-packages", "sheets", PATH=str(bare), SBIN="", HOME=str(tmp_path))
    assert finished.returncode == 0, finished.stderr
    assert asked.read_text().endswith("--no-install-recommends libpangoft2-1.0-0 libharfbuzz-subset0\n")


def test_without_the_right_to_install_the_pdfs_libraries_are_named(bare: Path) -> None:
    program(bare, "id", "echo 1000")
    program(bare, "ldconfig", "")
    sentence = says(run(ROOT / "tests/system-packages", "sheets", PATH=str(bare), SBIN=""))
    assert "The PDFs need libpango-1.0-0, libpangoft2-1.0-0 and libharfbuzz-subset0" in sentence


def test_every_dependency_is_pinned_to_a_version_that_its_range_allows() -> None:
    import tomllib

    from packaging.requirements import Requirement

    pins = {
        Requirement(line).name.lower(): next(iter(Requirement(line).specifier)).version
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    }
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for requirement in map(Requirement, {text for texts in extras.values() for text in texts}):
        assert requirement.specifier.contains(pins[requirement.name.lower()]), requirement
