"""Settings: file, environment and flags in that order; each refusal names place, value and expectation."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from companion.adapters.database.opening import StoreError
from companion.adapters.database.sql_store import SqlStore
from companion.settings import Settings, SettingsError, load


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "companion.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_flags_win_over_the_environment_and_the_environment_over_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, '[web]\nport = 1\nhost = "file"\n[broker]\nhost = "file"\n')
    settings = load(file, {"TEMPLO_WEB_PORT": "2", "TEMPLO_WEB_HOST": "environment"}, {"web.port": ("3", "--port")})
    assert (settings.web.port, settings.web.host, settings.broker.host) == (3, "environment", "file")


def test_everything_wins_over_a_default_of_the_unit(tmp_path: Path) -> None:
    unit = {"TEMPLO_DEFAULT_WEB_PORT": "80"}
    assert load(None, unit, {}, tmp_path).web.port == 80
    file = written(tmp_path, "[web]\nport = 8080\n")
    assert load(file, unit, {}, tmp_path).web.port == 8080
    assert load(file, {**unit, "TEMPLO_WEB_PORT": "81"}, {}, tmp_path).web.port == 81
    with pytest.raises(SettingsError, match=r"web\.port is 'none' \(from TEMPLO_DEFAULT_WEB_PORT\); expected a port"):
        load(None, {"TEMPLO_DEFAULT_WEB_PORT": "none"}, {}, tmp_path)


def test_addresses_of_brokers_for_new_temples_are_checked_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"pairing\.brokers is 'two words' .*; expected host names or addresses"):
        load(written(tmp_path, '[pairing]\nbrokers = "two words"\n'), {}, {})
    for brokers in ("", "one.lan, two.lan:1884"):
        read = load(written(tmp_path, f'[pairing]\nbrokers = "{brokers}"\n'), {}, {})
        assert read.pairing.brokers == brokers


def test_a_command_for_a_store_takes_that_of_the_installed_service_where_no_other_is_meant(tmp_path: Path) -> None:
    home, installed = tmp_path / "home", tmp_path / "installed"
    usual = home / ".local/state/templo-mayor"
    assert load(None, {}, {}, home, installed).state == str(usual), "nothing is installed"
    installed.mkdir()
    assert load(None, {}, {}, home, installed).state == str(installed)
    assert load(None, {}, {"state": ("elsewhere", "--state")}, home, installed).state == "elsewhere"
    assert load(None, {}, {"store": ("sqlite:///x.sqlite", "--store")}, home, installed).state == str(usual)
    usual.mkdir(parents=True)
    (usual / "companion.sqlite").touch()
    assert load(None, {}, {}, home, installed).state == str(usual)


def test_another_user_than_the_installed_service_s_is_shown_how_to_become_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(SettingsError, match=f"store is in {tmp_path}: .* 'sudo -u templo-companion templo-companion"):
        load(None, {}, {}, tmp_path / "home", tmp_path)


def test_with_nothing_given_every_setting_has_its_default() -> None:
    assert load(None, {}, {}, Path("/home/ana")) == Settings(state="/home/ana/.local/state/templo-mayor")


@pytest.mark.parametrize(
    ("text", "place", "value", "expected"),
    [
        ("[web]\nport = 70000", "web.port", "70000", "65535"),
        ('[web]\nport = "8000"', "web.port", "'8000'", "expected a port from 1 to 65535"),
        ("[web]\nprot = 8000", "web.prot", "is no setting", "did you mean web.port?"),
        ("[broker]\nport = true", "broker.port", "True", "expected a port"),
        ("games = 3", "games", "3", "expected a list"),
    ],
)
def test_a_wrong_file_is_refused_with_place_value_and_need(
    tmp_path: Path, text: str, place: str, value: str, expected: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        load(written(tmp_path, text), {}, {})
    for part in ("companion.toml", place, value, expected):
        assert part in str(caught.value)


def test_a_file_that_is_no_toml_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"the settings file .*companion\.toml is not TOML"):
        load(written(tmp_path, "[web"), {}, {})
    with pytest.raises(SettingsError, match=r"absent\.toml cannot be read: No such file"):
        load(tmp_path / "absent.toml", {}, {})


def test_a_wrong_environment_variable_is_named() -> None:
    with pytest.raises(SettingsError, match=r"broker\.port is 'many' \(from TEMPLO_BROKER_PORT\)"):
        load(None, {"TEMPLO_BROKER_PORT": "many"}, {})


def test_a_wrong_flag_is_named() -> None:
    with pytest.raises(SettingsError, match=r"web\.port is '0' \(from --port\); expected a port from 1 to 65535"):
        load(None, {}, {"web.port": ("0", "--port")})


def test_the_words_that_the_controller_knows_too_mean_the_same(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret\n")
    environment = {
        "TEMPLO_STATE": "~/here",
        "TEMPLO_LOG": "debug",
        "TEMPLO_BROKER_PASSWORD_FILE": str(tmp_path / "secret"),
        "TEMPLO_BROKER_PROTOCOL": "3.1.1",
    }
    settings = load(None, environment, {})
    assert settings.state_directory == Path.home() / "here"
    assert (settings.log, settings.broker.password, settings.broker.protocol) == ("debug", "s3cret", "3.1.1")


def test_a_password_in_the_settings_file_still_counts(tmp_path: Path) -> None:
    assert load(written(tmp_path, '[broker]\npassword = "s3cret"'), {}, {}).broker.password == "s3cret"


def test_a_file_in_its_usual_place_is_found(tmp_path: Path) -> None:
    folder = tmp_path / ".config/templo-mayor"
    folder.mkdir(parents=True)
    (folder / "companion.toml").write_text("[web]\nport = 81")
    assert load(None, {}, {}, tmp_path).web.port == 81


def test_lists_are_separated_by_commas_and_folders_as_in_path() -> None:
    environment = {"TEMPLO_WEB_ALLOWED_HOSTS": "a.example,b.example", "TEMPLO_GAMES": "/one:/two"}
    settings = load(None, environment, {})
    assert settings.web.allowed_hosts == ("a.example", "b.example")
    assert settings.games == ("/one", "/two")


def test_a_password_is_never_shown_in_a_complaint() -> None:
    with pytest.raises(SettingsError) as caught:
        load(None, {"TEMPLO_BROKER_PASSWORD": "s3cret" * 100}, {})
    assert "s3cret" not in str(caught.value)


def test_a_misspelt_name_beside_a_password_does_not_give_it_away(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"did you mean broker\.port\?") as caught:
        load(written(tmp_path, '[broker]\npassword = "s3cret"\nprot = 1884'), {}, {})
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("url", ["nosuch://temple:s3cret@database/templo", "temple:s3cret@database"])
def test_a_store_that_cannot_be_opened_is_named_without_its_password(url: str) -> None:
    with pytest.raises(StoreError, match="expected a database that can be opened") as caught:
        SqlStore(url)
    assert "s3cret" not in str(caught.value)
