"""The commands of the docs that `make appliance` runs, and those that it leaves out with a reason."""

from __future__ import annotations

import shutil
import subprocess

from tests.appliance.written import NOT_RUN, PAGES, commands, filled

FOUND = [command for page in PAGES for command in commands(page)]


def test_the_commands_of_an_owner_are_found_without_sudo() -> None:
    assert "apt install ./templo-mayor_*.deb" in FOUND
    assert "templo-mayor restore /media/usb/templo.tar.gz" in FOUND
    assert not [command for command in FOUND if command.startswith(("sudo", "make"))]


def test_each_command_that_is_left_out_stands_in_the_docs() -> None:
    assert NOT_RUN.keys() <= set(FOUND)


def test_each_command_that_is_run_is_one_for_a_shell_with_nothing_left_for_the_reader_to_put_in() -> None:
    shell = shutil.which("sh")
    assert shell
    for command in FOUND:
        if command not in NOT_RUN:
            assert "<" not in filled(command), command
            assert "FILE" not in filled(command), command
            subprocess.run([shell, "-nc", filled(command)], check=True)
