"""Settings: a file, then the environment, then flags; each refusal holds the value, its origin and the expected."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import templo
from controller.app.settings import load
from controller.core.counting import MS
from controller.core.settings import DeclaredSettings, Settings
from templo.contract import God
from templo.settings import SettingsError, declared_settings, default_state

ROOT = Path(__file__).parents[3]


def loaded(
    home: Path,
    toml: str | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, tuple[str, str]] | None = None,
) -> Settings:
    file = None
    if toml is not None:
        file = home / "controller.toml"
        file.write_text(toml)
    return load(file=file, environ=environ or {}, flags=flags or {}, home=home)


def test_without_any_setting_the_defaults_hold(tmp_path: Path) -> None:
    settings = loaded(tmp_path)
    assert settings.temple == "templo"
    assert settings.state == tmp_path / ".local/state/templo-mayor"
    assert settings.beams.pins == {God.HUITZILOPOCHTLI: 17, God.TLALOC: 27}
    assert (settings.beams.broken, settings.beams.pull, settings.beams.factory) == ("low", "up", "lgpio")
    limits = settings.counting
    assert (limits.min_break, limits.min_clear, limits.max_break) == (3 * MS, 5 * MS, 250 * MS)
    assert (settings.broker.host, settings.broker.port, settings.broker.password) == ("127.0.0.1", 1883, "")


def test_lights_are_off_by_default_and_their_pins_are_free_for_others_then(tmp_path: Path) -> None:
    assert loaded(tmp_path).lights.lamps == "none"
    assert loaded(tmp_path, "[beams]\nemitters = 23").beams.emitters == 23
    with pytest.raises(
        SettingsError, match=r"lights.huitzilopochtli is 23 .*another pin than that of beams.emitters"
    ):
        loaded(tmp_path, '[beams]\nemitters = 23\n[lights]\nlamps = "leds"')


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    toml = 'temple = "of-the-file"\n[broker]\nport = 1\nhost = "h"\n[counting]\nmin_break_ms = 2.5\n'
    environ = {"TEMPLO_TEMPLE": "of-the-environment", "TEMPLO_BROKER_PORT": "2"}
    settings = loaded(tmp_path, toml, environ, {"broker.port": ("3", "--broker")})
    assert (settings.temple, settings.broker.port, settings.broker.host) == ("of-the-environment", 3, "h")
    assert settings.counting.min_break == 2_500_000


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("temple = 7", "temple is 7 (from {file}); expected 1 to 32 lower-case letters"),
        ('temple = "Templo Mayor"', "temple is 'Templo Mayor' (from {file}); expected 1 to 32"),
        ('[broker]\nport = "1883"', "broker.port is '1883' (from {file}); expected a port from 1"),
        ("[broker]\nport = true", "broker.port is True (from {file}); expected a port from 1 to 65535"),
        ("[broker]\nport = 0", "expected a port from 1 to 65535"),
        ("[beams]\ntlaloc = 99", "beams.tlaloc is 99 (from {file}); expected a BCM pin number from 0 to 27"),
        ("[beams]\ntlaloc = 17", "beams.tlaloc is 17 (from {file}); expected another pin than that of beams.huitz"),
        ("[beams]\nemitters = 27", "expected another pin than that of beams.tlaloc"),
        ('[lights]\nlamps = "leds"\ntlaloc = 17', "expected another pin than that of beams.huitzilopochtli"),
        ('[lights]\nlamps = "lasers"', "expected one of none, leds, ws2812"),
        ('[lights]\npiezo = 17', "expected another pin than that of beams.huitzilopochtli"),
        ('[lights]\nlamps = "ws2812"\n[beams]\ntlaloc = 10', "expected another pin than the output of /dev/spi"),
        ('[lights]\nlamps = "ws2812"\npiezo = 8', "expected another pin than the chip select 0 of /dev/spidev0.0"),
        ('[lights]\nlamps = "ws2812"\neach = 9', "lights.each"),
        ('[beams]\nfactory = "native"', "expected one of lgpio, rpigpio, mock"),
        ("[counting]\nmin_break_ms = nan", "counting.min_break_ms is nan (from {file}); expected milliseconds"),
        ("[counting]\nmax_break_ms = 2", "expected more than counting.min_break_ms, 3"),
        ("[counting]\nband_ms = 2", "counting.band_ms is 2 (from {file}); expected more than counting.min_br"),
        ("[counting]\nband_ms = 10\nnarrow_ms = 50", "expected more than counting.narrow_ms, 50"),
        ('[lights]\nspi = "/dev/spi0"', "lights.spi is '/dev/spi0' (from {file}); expected an SPI device, such as"),
        ('[beams]\nsource = "serial:/dev/ttyACM0"\nbroken = "high"', "expected beams on a header, as beams.broken"),
        ('[beams]\nsource = "serial:/dev/ttyACM0"\nemitters = 5', "a board behind a port has none of them"),
        ('[beams]\nsource = "serial:/dev/ttyACM0"\ntlaloc_below = 5', "a board behind a port has none of them"),
        ("[beams]\ntlaloc_below = 17", "another pin than that of beams.huitzilopochtli"),
        ("[counting]\nmin_brake_ms = 2", "'counting.min_brake_ms' (from {file}) is no setting; did you mean counting.min_break_ms?"),  # noqa: E501 (one message)
        ("[beamz]\ntlaloc = 5", "did you mean beams.tlaloc?"),
        ("wholly_unknown = 1", "is no setting; expected one of temple, state"),
        ("broker = 5", "'broker' (from {file}) is no setting"),
        ("temple = ", "the settings file {file} is not TOML"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_with_the_value_and_the_expected_one(tmp_path: Path, toml: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, toml)
    assert words.format(file=tmp_path / "controller.toml") in str(caught.value)


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"TEMPLO_BROKER_PORT": "many"}, "broker.port is 'many' (from TEMPLO_BROKER_PORT); expected a port"),
        ({"TEMPLO_BROKER_PORTS": "1"}, "TEMPLO_BROKER_PORTS is set in the environment; expected TEMPLO_BROKER_PORT"),
        ({"TEMPLO_COUNTING_BAND_MS": "1e999"}, "from TEMPLO_COUNTING_BAND_MS"),
        ({"TEMPLO_CONTROLLER_CONFIG": "/no.toml"}, "the settings file /no.toml cannot be read: No such file"),
        ({"TEMPLO_BROKER_PASSWORD_FILE": "/no"}, "broker.password_file /no (from TEMPLO_BROKER_PASSWORD_FILE)"),
    ],
)  # fmt: skip
def test_a_wrong_environment_is_refused(tmp_path: Path, environ: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, environ=environ)
    assert words in str(caught.value)


def test_the_variables_of_other_programs_are_nobodys_concern(tmp_path: Path) -> None:
    assert loaded(tmp_path, environ={"TEMPLO_WEB_PORT": "x", "PATH": "y"}).temple == "templo"


def test_a_settings_file_in_its_usual_place_is_found(tmp_path: Path) -> None:
    folder = tmp_path / ".config/templo-mayor"
    folder.mkdir(parents=True)
    (folder / "controller.toml").write_text('temple = "found"')
    assert loaded(tmp_path).temple == "found"


def test_a_password_comes_from_a_file_or_the_environment_and_never_shows(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("from-the-file\nand a second line")
    settings = loaded(tmp_path, f'[broker]\npassword_file = "{secret}"')
    assert settings.broker.password == "from-the-file"
    assert "from-the-file" not in repr(settings)
    environ = {"TEMPLO_BROKER_PASSWORD": "from-the-environment"}
    assert (
        loaded(tmp_path, f'[broker]\npassword_file = "{secret}"', environ).broker.password == "from-the-environment"
    )
    secret.write_text("")
    with pytest.raises(SettingsError, match="is empty; expected a password"):
        loaded(tmp_path, f'[broker]\npassword_file = "{secret}"')


def test_the_state_is_kept_where_systemd_or_the_desktop_says() -> None:
    home = Path("/home/moctezuma")
    assert default_state({"STATE_DIRECTORY": "/var/lib/templo:/other"}, home) == Path("/var/lib/templo")
    assert default_state({"XDG_STATE_HOME": "/xdg"}, home) == Path("/xdg/templo-mayor")
    assert default_state({"XDG_STATE_HOME": "relative"}, home) == home / ".local/state/templo-mayor"


def test_every_setting_has_a_variable_of_its_own() -> None:
    names = [each.variable for each in declared_settings(DeclaredSettings).values()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("TEMPLO_[A-Z0-9_]+", name) for name in names)


def test_the_program_and_the_distribution_agree_on_the_version() -> None:
    assert templo.__version__ == importlib.metadata.version("templo-mayor")


@pytest.mark.parametrize(
    ("environ", "page"),
    [
        ({}, "http://kitchen.local/temples/templo"),
        ({"TEMPLO_BROKER_HOST": "broker.lan"}, None),
        ({"TEMPLO_WEB_ADDRESS": "https://club.lan/", "TEMPLO_TEMPLE": "attic"}, "https://club.lan/temples/attic"),
    ],
)
def test_a_temple_s_page_is_the_companion_s_or_this_machine_s_beside_its_broker(
    tmp_path: Path, environ: dict[str, str], page: str | None
) -> None:
    assert loaded(tmp_path, environ=environ).page("kitchen.lan") == page


@pytest.mark.parametrize("address", ["temple.local", "ftp://temple.local", "http://", "http://a b"])
def test_an_address_that_is_no_link_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(SettingsError, match=r"web\.address is .*expected the companion's address, such as http://"):
        loaded(tmp_path, environ={"TEMPLO_WEB_ADDRESS": address})
