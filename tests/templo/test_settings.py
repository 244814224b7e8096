"""The settings reader: what both programs' settings have in common."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from companion.cli import command_line as companion_program
from companion.settings import Settings as CompanionSettings
from controller.app import command_line as controller_program
from controller.app import settings as controller
from controller.core.settings import DeclaredSettings
from templo.quoting import nearest
from templo.settings import SettingsError, add_flags, declared_settings, given_flags, load

HOME = Path("/home/ana")


def test_no_variable_of_one_program_is_taken_for_a_misspelt_one_of_the_other() -> None:
    """Both may find one environment: `launch` and a unit's drop-in give them one."""
    programs = {"CONTROLLER": DeclaredSettings, "COMPANION": CompanionSettings}
    names = {
        program: {each.variable for each in declared_settings(declared).values()} | {f"TEMPLO_{program}_CONFIG"}
        for program, declared in programs.items()
    }
    for mine, others in ((names["CONTROLLER"], names["COMPANION"]), (names["COMPANION"], names["CONTROLLER"])):
        assert not {name: meant for name in others - mine if (meant := nearest(name, mine, 0.9))}


def test_a_setting_that_both_programs_have_is_declared_alike() -> None:
    of_controller, of_companion = declared_settings(DeclaredSettings), declared_settings(CompanionSettings)
    both = of_controller.keys() & of_companion.keys()
    assert {"state", "log", "broker.password_file", "broker.keepalive_s"} <= both
    assert all(of_controller[key] == of_companion[key] for key in both)


@pytest.mark.parametrize("declared", [DeclaredSettings, CompanionSettings])
def test_every_setting_says_what_it_does_when_to_change_it_and_its_unit(declared: type) -> None:
    for key, setting in declared_settings(declared).items():
        assert re.fullmatch(r"[A-Z].{10,140}\. [`A-Z].{8,90}\.", setting.about), f"{key}: {setting.about!r}"
        assert not setting.expected.startswith("a whole number"), f"{key} has no unit"


@pytest.mark.parametrize("program", [controller_program.main, companion_program.main])
def test_both_programs_print_the_settings_that_a_word_is_about(
    program: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert program(["settings", "KEEPALIVE"]) == 0
    key, *sentences = capsys.readouterr().out.splitlines()
    assert key == "broker.keepalive_s: seconds from 2 to 3600"
    assert (
        " ".join(each.strip() for each in sentences)
        == declared_settings(DeclaredSettings)["broker.keepalive_s"].about
    )
    assert program(["settings"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 50


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["--broker", "temple.local"], {"broker.host": ("temple.local", "--broker")}),
        (["--broker", "h:1884"], {"broker.host": ("h", "--broker"), "broker.port": ("1884", "--broker")}),
        (["--broker", "[::1]:1884"], {"broker.host": ("::1", "--broker"), "broker.port": ("1884", "--broker")}),
        (["--broker", "::1"], {"broker.host": ("::1", "--broker")}),
        (["--broker", "[::1]"], {"broker.host": ("::1", "--broker")}),
        (["--broker", "a,b:1884"], {"broker.host": ("a,b:1884", "--broker")}),
        (["--set", "log=debug", "--state", "/s"], {"log": ("debug", "--set"), "state": ("/s", "--state")}),
        ([], {}),
    ],
)
def test_flags_give_settings_each_with_its_own_name(words: list[str], given: dict[str, tuple[str, str]]) -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser)
    assert given_flags(parser.parse_args(words)) == given


def test_a_flag_without_a_value_is_refused() -> None:
    parser = argparse.ArgumentParser()
    add_flags(parser)
    with pytest.raises(SettingsError, match="--set is 'log'; expected KEY=VALUE"):
        parser.parse_args(["--set", "log"])


def test_a_password_is_no_flag_because_others_can_read_a_command_line() -> None:
    with pytest.raises(SettingsError, match=r"broker\.password is hidden \(from --set\)") as caught:
        load(
            CompanionSettings,
            "companion",
            file=None,
            environ={},
            flags={"broker.password": ("s3cret", "--set")},
            home=HOME,
        )
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("host", ["a,,b", "a:0", "a:70000", "a,b:x", ",", "a b", "[::1"])
def test_a_list_of_brokers_that_cannot_be_read_is_refused_with_its_value(host: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"broker\.host is .* expected host names or addresses"):
        controller.load(file=None, environ={"TEMPLO_BROKER_HOST": host}, flags={}, home=tmp_path)
