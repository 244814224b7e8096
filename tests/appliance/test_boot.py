"""The settings file on the boot partition: applied as a whole, or refused as a whole with what is wrong."""

from __future__ import annotations

import subprocess
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from companion.adapters import boot_fault
from companion.appliance import boot
from companion.appliance.boot import BootError, Machine
from companion.settings import load as load_companion
from controller.app.settings import load as load_controller
from tests.controller.program import command_anywhere

WHOLE = """
name = "attic"

[wifi]
country = "MX"
ssid = "Café 5"
password = 'back\\slash and spaces '

[broker]
host = "192.168.1.5"
user = "temple-attic"
password = "secret word"

[beams]
source = "gpio"
tlaloc = 22
huitzilopochtli = 23

[web]
allowed_hosts = ["temple.example", "ñandú.example"]
"""


@dataclass
class Card:
    """A card with a boot partition, and a machine whose commands are only noted, but for the controller's."""

    folder: Path
    commands: list[tuple[str, ...]] = field(default_factory=list)
    failing: str = ""

    @property
    def file(self) -> Path:
        return self.folder / "firmware" / "templo-mayor.toml"

    @property
    def fault(self) -> Path:
        return self.folder / "run" / "boot-fault"

    def machine(self) -> Machine:
        return Machine(self.folder / "etc", self.folder / "units", self.folder / "connections", self.run)

    def run(self, *command: str) -> None:
        if command[0] != "templo-controller":
            self.commands.append(command)
            if command[0] == self.failing:
                raise BootError(f"{self.failing} failed")
            return
        words = [*command_anywhere("controller"), *command[1:]]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise BootError(done.stderr.strip().removeprefix("templo-controller: "))

    def boot(self, text: str | None) -> int:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            self.file.write_text(text)
        return boot.boot(self.file if text is not None else None, self.machine(), self.fault)

    def written(self) -> dict[str, str]:
        folders = ("etc", "units", "connections")
        return {
            str(path.relative_to(self.folder)): path.read_text()
            for folder in folders
            for path in (self.folder / folder).rglob("*")
            if path.is_file()
        }


@pytest.fixture
def card(tmp_path: Path) -> Card:
    card = Card(tmp_path)
    (tmp_path / "etc").mkdir()
    for name in boot.LOGINS:
        (tmp_path / "etc" / name).write_text("TEMPLO_BROKER_USER=x\nTEMPLO_BROKER_PASSWORD=made before\n")
    return card


def test_a_whole_file_becomes_settings_of_both_programs_a_wi_fi_and_drop_ins(card: Card, tmp_path: Path) -> None:
    assert card.boot(WHOLE) == 0, card.fault.read_text()
    etc = tmp_path / "etc"
    controller = load_controller(file=etc / "controller.toml", environ={}, flags={}, home=tmp_path)
    assert (controller.temple, controller.beams.tlaloc, controller.beams.huitzilopochtli) == ("attic", 22, 23)
    assert (controller.broker.host, controller.broker.password) == ("192.168.1.5", "secret word")
    companion = load_companion(etc / "companion.toml", {}, {}, tmp_path)
    assert companion.web.allowed_hosts == ("temple.example", "ñandú.example")
    assert companion.broker.user == "temple-attic"
    for program in ("controller", "companion"):
        assert (etc / f"{program}.toml").stat().st_mode & 0o777 == 0o640
        drop_in = tmp_path / "units" / f"templo-{program}.service.d" / "broker-elsewhere.conf"
        assert "\nEnvironmentFile=\n" in drop_in.read_text()
    assert (
        "IPAddressAllow="
        in (tmp_path / "units" / "templo-controller.service.d" / "broker-elsewhere.conf").read_text()
    )
    wifi = tmp_path / "connections" / "templo-mayor.nmconnection"
    assert wifi.stat().st_mode & 0o777 == 0o600
    assert "ssid=67;97;102;195;169;32;53;\n" in wifi.read_text()
    assert "psk=back\\\\slash and spaces\\s\n" in wifi.read_text()
    assert card.commands[0] == ("systemctl", "daemon-reload")


def test_the_file_is_applied_once_and_set_aside_without_its_passwords(card: Card) -> None:
    card.file.parent.mkdir()
    card.file.with_suffix(".error.txt").write_text("an earlier mistake")
    assert card.boot(WHOLE) == 0
    assert [path.name for path in card.file.parent.iterdir()] == ["templo-mayor.applied.toml"]
    applied = card.file.with_suffix(".applied.toml").read_text()
    assert 'name = "attic"' in applied
    assert "slash" not in applied
    assert "secret" not in applied
    assert not card.fault.exists()


def test_no_line_of_a_password_stays_however_it_is_written(card: Card) -> None:
    text = (
        '# the password is secret zero\nname = "attic"\n'
        'broker = {user = "x", password = "secret one", port = 1884}\n'
        '[wifi]\ncountry = "MX"\nssid = "Home"\n"password" = """\nsecret two"""\n'
    )
    assert card.boot(text) == 0, card.fault.read_text()
    applied = card.file.with_suffix(".applied.toml").read_text()
    assert "secret" not in applied
    assert tomllib.loads(applied) == {
        "name": "attic",
        "broker": {"user": "x", "port": 1884},
        "wifi": {"country": "MX", "ssid": "Home"},
    }


def test_a_file_that_windows_saved_with_a_byte_order_mark_is_read(card: Card) -> None:
    assert card.boot('\ufeffname = "attic"\r\n') == 0
    assert card.written()["etc/controller.toml"] == 'temple = "attic"\n'


def test_a_name_for_the_broker_on_this_machine_is_given_to_its_access_list(card: Card) -> None:
    assert card.boot('name = "attic"\n') == 0
    assert card.commands[0] == ("templo-broker-access", "--again", "--own", "attic")
    assert card.written()["etc/controller.toml"] == 'temple = "attic"\n'
    assert not (card.folder / "units").exists()


@pytest.mark.parametrize("text", ['name = "attic"\n', "[beams]\ntlaloc = 22\n"])
def test_settings_for_the_broker_on_this_machine_remove_what_was_for_one_elsewhere(card: Card, text: str) -> None:
    drop_in = card.folder / "units" / "templo-controller.service.d" / "broker-elsewhere.conf"
    drop_in.parent.mkdir(parents=True)
    drop_in.write_text("[Service]\nEnvironmentFile=\n")
    assert card.boot(text) == 0
    assert not drop_in.exists()
    assert ("systemctl", "daemon-reload") in card.commands


def test_a_file_that_leaves_the_broker_as_it_is_leaves_its_drop_in_too(card: Card) -> None:
    assert card.boot(WHOLE) == 0
    before = card.written()
    assert card.boot("[wifi]\nssid = 'Home'\ncountry = 'MX'\n") == 0
    assert {name: text for name, text in card.written().items() if "connections" not in name} == {
        name: text for name, text in before.items() if "connections" not in name
    }


def drop_ins(card: Card) -> list[str]:
    return sorted(path.parent.name for path in (card.folder / "units").rglob("broker-elsewhere.conf"))


def test_both_programs_stay_at_a_broker_elsewhere_that_a_later_file_leaves_out(card: Card, tmp_path: Path) -> None:
    assert card.boot(WHOLE) == 0
    card.commands.clear()
    assert card.boot('name = "attic"\n[web]\nallowed_hosts = ["temple.example"]\n') == 0
    etc = tmp_path / "etc"
    controller = load_controller(file=etc / "controller.toml", environ={}, flags={}, home=tmp_path)
    companion = load_companion(etc / "companion.toml", {}, {}, tmp_path)
    for broker in (controller.broker, companion.broker):
        assert (broker.host, broker.user, broker.password) == ("192.168.1.5", "temple-attic", "secret word")
    assert drop_ins(card) == ["templo-companion.service.d", "templo-controller.service.d"]
    assert card.commands == [("systemctl", "daemon-reload")]


def test_a_later_file_leaves_the_settings_that_it_does_not_give(card: Card, tmp_path: Path) -> None:
    assert card.boot(WHOLE) == 0
    controller = tmp_path / "etc" / "controller.toml"
    controller.write_text(controller.read_text() + '\n[lamps]\nkind = "leds"\n')
    assert card.boot("[counting]\nmin_break_ms = 4\n[web]\nport = 8080\n") == 0
    tables = tomllib.loads(controller.read_text())
    assert tables["temple"] == "attic", "the broker knows it by this name alone"
    assert (tables["beams"]["tlaloc"], tables["counting"]) == (22, {"min_break_ms": 4})
    assert tables["lamps"] == {"kind": "leds"}
    assert tomllib.loads((tmp_path / "etc" / "companion.toml").read_text())["web"] == {"port": 8080}
    controller.write_text("no TOML")
    assert card.boot('name = "cellar"') == 0
    assert tomllib.loads(controller.read_text()) == {"temple": "cellar"}


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:1884", "LocalHost", "[::1]:1884", "127.0.1.1, localhost:1884"]
)
def test_a_later_file_leads_both_programs_back_to_the_broker_on_this_machine(
    card: Card, tmp_path: Path, host: str
) -> None:
    assert card.boot(WHOLE) == 0
    assert card.boot(f"[broker]\nhost = '{host}'\n") == 0
    for program in ("controller", "companion"):
        settings = tomllib.loads((tmp_path / "etc" / f"{program}.toml").read_text())
        assert settings["broker"] == {"host": host}
    assert drop_ins(card) == []


def test_of_several_brokers_one_on_another_machine_is_enough_for_the_drop_ins(card: Card) -> None:
    assert card.boot("[broker]\nhost = '127.0.0.1:1884, broker.lan'\n") == 0
    assert drop_ins(card) == ["templo-companion.service.d", "templo-controller.service.d"]


def test_a_country_that_cannot_be_set_is_only_logged(
    card: Card, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(boot.shutil, "which", lambda name: f"/usr/bin/{name}")
    card.failing = "raspi-config"
    assert card.boot(WHOLE) == 0
    assert "wifi.country 'MX' could not be set: raspi-config failed" in caplog.text
    assert "connections/templo-mayor.nmconnection" in card.written()
    assert not card.fault.exists()


def test_a_name_that_the_broker_does_not_take_changes_no_settings(card: Card) -> None:
    before = card.written()
    card.failing = "templo-broker-access"
    assert card.boot('name = "attic"\n') == 1
    assert card.fault.read_text() == "templo-broker-access failed\n"
    assert card.written() == before


def test_a_file_that_cannot_be_set_aside_is_reported_and_not_applied_again(
    card: Card, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(boot_fault, "FILE", card.fault)
    own, obstacle = card.folder / "etc" / "controller.toml", card.file.with_suffix(".applied.toml")
    obstacle.mkdir(parents=True)
    assert card.boot("[beams]\ntlaloc = 22\n") == 0
    assert f"{card.file} was applied, but cannot be renamed" in caplog.text
    own.write_text('log = "debug"\n')
    assert boot.boot(card.file, card.machine(), card.fault) == 0
    assert own.read_text() == 'log = "debug"\n', "what the owner changed since stays"
    assert str(card.file) in boot_fault.read_kept()
    assert boot_fault.read() == ""
    assert card.boot("[beams]\ntlaloc = 24\n") == 0
    assert own.read_text() == 'log = "debug"\n\n[beams]\ntlaloc = 24\n'
    obstacle.rmdir()
    own.unlink()
    assert boot.boot(card.file, card.machine(), card.fault) == 0
    assert not card.file.exists()
    assert not own.exists()
    assert boot_fault.read_kept() == ""
    assert card.boot("[beams]\ntlaloc = 24\n") == 0
    assert own.exists(), "whoever writes the same file again wants it applied again"


def test_settings_that_were_there_are_kept_beside_the_new_ones(card: Card) -> None:
    (card.folder / "etc" / "controller.toml").write_text('log = "debug"\n')
    assert card.boot("[beams]\ntlaloc = 22\n") == 0
    assert card.written()["etc/controller.toml.before-boot"] == 'log = "debug"\n'


HOME = "[wifi]\nssid = 'Home'\ncountry = 'MX'\n"


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("password = 'long enough'\n", ["key-mgmt=wpa-psk", "psk=long enough"]),
        ("security = 'wpa3'\npassword = 'long enough'\n", ["key-mgmt=sae", "psk=long enough"]),
        ("hidden = 'on'\n", ["hidden=true"]),
        ("security = 'wpa3'\nhidden = 'on'\npassword = 'long enough'\n", ["hidden=true", "key-mgmt=sae"]),
    ],
)
def test_a_wi_fi_of_wpa3_alone_and_one_that_does_not_show_its_name_are_joined_in_their_ways(
    card: Card, given: str, written: list[str]
) -> None:
    assert card.boot(HOME + given) == 0, card.fault.read_text()
    lines = card.written()["connections/templo-mayor.nmconnection"].splitlines()
    assert set(written) <= set(lines)
    assert ("hidden=true" in lines) == ("hidden" in given)
    assert ("[wifi-security]" in lines) == ("password" in given)


def test_another_wi_fi_replaces_the_one_of_an_earlier_file(card: Card) -> None:
    connections = card.folder / "connections"
    connections.mkdir()
    for password in ("the old one", "the new one"):
        assert card.boot(f"[wifi]\ncountry = 'MX'\nssid = 'Home'\npassword = '{password}'\n") == 0
    assert [path.name for path in connections.iterdir()] == ["templo-mayor.nmconnection"]
    assert "psk=the new one" in (connections / "templo-mayor.nmconnection").read_text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wifi = 3\nnonsense", "{file} is not TOML"),
        ("nmae = 'attic'\n", "'nmae' (from {file}) is no setting; did you mean name?"),
        ("[screen]\n", "'screen' (from {file}) is no setting; expected one of name, wifi, beams"),
        ("name = 'My Temple'\n", "name is 'My Temple' (from {file}); expected 1 to 32 lower-case letters"),
        ("[wifi]\nssid = 'Home'\n", "wifi.country is missing (from {file})"),
        ("[wifi]\ncountry = 'MX'\npassword = 'long enough'\n", "wifi.ssid is missing (from {file})"),
        ("[wifi]\ncountry = 'Mexico'\n", "wifi.country is 'Mexico' (from {file}); expected two capital letters"),
        (
            "[wifi]\nssid = 'Home'\ncountry = 'MX'\npassword = 'short'\n",
            "wifi.password is hidden (from {file}); expected a password of 8 to 63",
        ),
        (
            "[wifi]\nssid = 'Home'\ncountry = 'MX'\nsecurity = 'wpa3'\n",
            "wifi.security is 'wpa3' and wifi.password is missing (from {file})",
        ),
        (
            "[wifi]\nssid = 'Home'\ncountry = 'MX'\nsecurity = 'wep'\npassword = 'long enough'\n",
            "wifi.security is 'wep' (from {file}); expected one of wpa2, wpa3",
        ),
        ("[wifi]\nhidden = 'on'\n", "wifi.ssid is missing (from {file})"),
        ("[wifi]\nsid = 'Home'\n", "'wifi.sid' (from {file}) is no setting; did you mean wifi.ssid?"),
        ("[broker]\nport = 0\n", "broker.port is 0 (from {file}); expected a port from 1 to 65535"),
        ("[beams]\ntlaloc = 99\n", "beams.tlaloc is 99 (from {file}); expected a BCM pin number from 0 to 27"),
        ("[beams]\ntlaloc = 17\nhuitzilopochtli = 17\n", "(from {file}); expected another pin than"),
        ("[web]\nport = 'http'\n", "web.port is 'http' (from {file}); expected a port from 1 to 65535"),
        ("wifi = 'Home'\n", "is no setting"),
    ],
)
def test_a_wrong_file_changes_nothing_and_is_named_with_value_and_expectation(
    card: Card, text: str, expected: str
) -> None:
    before = card.written()
    assert card.boot(f"{text}") == 1
    said = card.fault.read_text()
    assert expected.format(file=card.file) in said
    assert card.file.with_suffix(".error.txt").read_text() == said
    assert card.written() == before
    assert card.commands == []
    assert card.file.exists()
    assert "short" not in said


def test_a_mended_file_is_applied_at_the_next_boot(card: Card) -> None:
    assert card.boot("[beams]\ntlaloc = 99\n") == 1
    assert card.boot("[beams]\ntlaloc = 22\n") == 0
    assert not card.fault.exists()
    assert not card.file.with_suffix(".error.txt").exists()


def test_an_image_without_passwords_gets_its_own_at_its_first_boot(card: Card) -> None:
    for name in boot.LOGINS:
        (card.folder / "etc" / name).unlink()
    assert card.boot(None) == 0
    assert card.commands == [("templo-broker-access", "--again")]
    assert not card.fault.exists()


@pytest.mark.parametrize("name", boot.LOGINS)
@pytest.mark.parametrize("remains", [None, "", "TEMPLO_BROKER_USER=x\n"])
def test_a_login_that_a_power_cut_left_without_its_password_is_made_anew(
    card: Card, name: str, remains: str | None
) -> None:
    (card.folder / "etc" / name).unlink()
    if remains is not None:
        (card.folder / "etc" / name).write_text(remains)
    assert card.boot(None) == 0
    assert card.commands == [("templo-broker-access", "--again")]


def test_logins_that_have_their_passwords_stay_as_they_are(card: Card) -> None:
    assert card.boot(None) == 0
    assert card.commands == []


def test_without_a_fault_there_is_nothing_to_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boot_fault, "FILE", tmp_path / "boot-fault")
    assert boot_fault.read() == ""
    (tmp_path / "boot-fault").write_text("name is 'x y'\n")
    assert boot_fault.read() == "name is 'x y'"
