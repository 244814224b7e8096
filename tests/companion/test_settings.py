"""Settings: file, environment and flags in that order, each checked, each complaint naming place, value and need."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.adapters.sql_store import SqlStore, StoreError
from companion.cli.settings import Settings, SettingsError, load


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "companion.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_flags_win_over_the_environment_and_the_environment_over_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, '[web]\nport = 1\nhost = "file"\n[broker]\nhost = "file"\n')
    settings = load(file, {"TEMPLO_WEB_PORT": "2", "TEMPLO_WEB_HOST": "environment"}, {"web.port": "3"})
    assert (settings.web.port, settings.web.host, settings.broker.host) == (3, "environment", "file")


def test_with_nothing_given_every_setting_has_its_default() -> None:
    assert load(None, {}, {}) == Settings()


@pytest.mark.parametrize(
    ("text", "place", "value", "expected"),
    [
        ("[web]\nport = 70000", "web.port", "70000", "65535"),
        ('[web]\nport = "8000"', "web.port", "'8000'", "expected a whole number"),
        ("[web]\nprot = 8000", "web", "prot", "there is no setting `prot`"),
        ("[broker]\nport = true", "broker.port", "True", "expected a whole number"),
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
    with pytest.raises(SettingsError, match=r"companion\.toml.*expected a readable TOML file"):
        load(written(tmp_path, "[web"), {}, {})
    with pytest.raises(SettingsError, match="expected a readable TOML file"):
        load(tmp_path / "absent.toml", {}, {})


def test_a_wrong_environment_variable_is_named() -> None:
    with pytest.raises(SettingsError, match=r"broker\.port is 'many' \(from TEMPLO_BROKER_PORT\)"):
        load(None, {"TEMPLO_BROKER_PORT": "many"}, {})


def test_a_wrong_flag_is_named() -> None:
    with pytest.raises(SettingsError, match=r"web\.port is '0' \(from --port\); expected a whole number >= 1"):
        load(None, {}, {"web.port": "0"})


def test_a_password_is_never_shown_in_a_complaint() -> None:
    with pytest.raises(SettingsError) as caught:
        load(None, {"TEMPLO_BROKER_PASSWORD": "s3cret" * 100}, {})
    assert "s3cret" not in str(caught.value)


def test_a_misspelt_name_beside_a_password_does_not_give_it_away(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="broker is password, prot") as caught:
        load(written(tmp_path, '[broker]\npassword = "s3cret"\nprot = 1884'), {}, {})
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("url", ["nosuch://temple:s3cret@database/templo", "temple:s3cret@database"])
def test_a_store_that_cannot_be_opened_is_named_without_its_password(url: str) -> None:
    with pytest.raises(StoreError, match="expected a database that can be opened") as caught:
        SqlStore(url)
    assert "s3cret" not in str(caught.value)
