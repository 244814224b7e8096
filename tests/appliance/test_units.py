"""The units: how exposed each is by systemd's own judgement, and that they agree with the programs they start."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from companion.appliance.backup import FOLDER
from companion.appliance.boot import FILES, LOGINS
from companion.settings import Settings
from companion.web.server import connections, serving
from templo import liveness
from templo.settings import declared_settings, default_state
from tests.controller.program import ROOT

RULES = ROOT / "debian" / "rules"
UNITS = ("templo-controller", "templo-companion")
MOST = 1.5
OFF = (
    "LockPersonality",
    "MemoryDenyWriteExecute",
    "NoNewPrivileges",
    "PrivateTmp",
    "ProtectClock",
    "ProtectControlGroups",
    "ProtectHome",
    "ProtectHostname",
    "ProtectKernelLogs",
    "ProtectKernelModules",
    "ProtectKernelTunables",
    "RemoveIPC",
    "RestrictNamespaces",
    "RestrictRealtime",
    "RestrictSUIDSGID",
)
RESTARTED_S = 15


def unit(name: str) -> dict[str, list[str]]:
    """Return a unit's directives, each with its values in order."""
    directives: dict[str, list[str]] = {}
    for line in (ROOT / "systemd" / f"{name}.service").read_text().splitlines():
        if line and line[0] not in "#;[":
            key, _, value = line.partition("=")
            directives.setdefault(key, []).append(value)
    return directives


@pytest.mark.parametrize("name", [*UNITS, "templo-tls", "templo-mayor-name"])
def test_a_unit_is_exposed_by_no_more_than_1_5(name: str) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not here; the directives are tested below")
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", ROOT / "systemd" / f"{name}.service"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze judges only what is running; the directives are tested below")
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert exposure, done.stderr
    assert float(exposure[1]) <= MOST, done.stdout


PACKAGES = sorted(path.stem for path in (ROOT / "debian").glob("*.install"))


def installed(package: str) -> set[str]:
    """Return the paths that a package installs of the files that its lists name, as debhelper places them."""
    lists = ROOT / "debian"
    pairs = [line.rsplit(" ", 1) for line in (lists / f"{package}.install").read_text().splitlines()]
    docs = lists / f"{package}.docs"
    if docs.exists():
        pairs += [[line, f"usr/share/doc/{package}"] for line in docs.read_text().splitlines()]
    return {f"/{folder}/{path.name}" for names, folder in pairs for name in names.split() for path in ROOT.glob(name)}


@pytest.mark.parametrize("package", PACKAGES)
def test_the_documentation_that_a_unit_names_is_installed_by_its_package_as_it_is(package: str) -> None:
    files = installed(package)
    units = [Path(each).name for each in files if each.startswith("/usr/lib/systemd/system/templo-")]
    named = {
        (name, value)
        for name in units
        for value in re.findall(r"^Documentation=file://(.+)$", (ROOT / "systemd" / name).read_text(), re.MULTILINE)
    }
    assert named
    assert {each for each in named if each[1] not in files} == set()
    compressing = re.search(r"^override_dh_compress:\n\tdh_compress (.+)$", RULES.read_text(), re.MULTILINE)
    assert compressing, "debhelper compresses what is longer than 4 kB"
    assert "--exclude=.md" in compressing[1].split()


def test_the_backup_of_every_night_is_a_command_that_there_is_and_has_the_capabilities_that_it_needs() -> None:
    backup = unit("templo-mayor-backup")
    assert backup["ExecStart"] == ["/usr/bin/templo-mayor backup"]
    assert "SETUID" in backup["CapabilityBoundingSet"][0], "each database is copied by its program's user"
    assert str(FOLDER).startswith(backup["ReadWritePaths"][0].split()[0])
    timer = (ROOT / "systemd" / "templo-mayor-backup.timer").read_text()
    assert "Persistent=true" in timer, "a temple is switched off at night"


def test_the_certificate_is_looked_at_as_soon_as_the_clock_is_set() -> None:
    timer = (ROOT / "systemd" / "templo-tls-renew.timer").read_text()
    assert {"OnClockChange=yes", "OnUnitActiveSec=15min"} <= set(timer.splitlines())


def test_the_settings_of_the_boot_partition_are_applied_before_anything_uses_them() -> None:
    boot = unit("templo-mayor-boot")
    assert boot["ExecStart"] == ["/usr/libexec/templo-mayor/boot"]
    assert {f"{name}.service" for name in (*UNITS, "mosquitto", "NetworkManager")} <= set(boot["Before"][0].split())
    for file in FILES:
        assert f"|{file}" in boot["ConditionPathExists"]
    assert boot["ConditionFileNotEmpty"] == [f"|!/etc/templo-mayor/{name}" for name in LOGINS]


def test_the_unit_that_announces_a_name_reaches_avahi_and_no_network() -> None:
    name = unit("templo-mayor-name")
    assert name["ExecStart"] == ["/usr/libexec/templo-mayor/announce"]
    assert name["RestrictAddressFamilies"] == ["AF_UNIX AF_NETLINK"]
    assert "IPAddressAllow" not in name
    assert (ROOT / "debian" / "libexec" / "announce").stat().st_mode & 0o111


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_gives_away_nothing_that_its_program_does_not_need(name: str) -> None:
    directives = unit(name)
    for key in OFF:
        assert directives[key] == ["yes"], key
    assert directives["ProtectSystem"] == ["strict"]
    assert directives["DevicePolicy"] == ["closed"]
    # A playtest lowers its own priority.
    own = {"templo-companion": ["setpriority"]}.get(name, [])
    assert directives["SystemCallFilter"] == ["@system-service", "~@privileged @resources", *own]
    assert directives["IPAddressDeny"] == ["any"]
    assert directives["User"] == [name]
    assert directives["StateDirectory"] == [name]
    assert directives["StateDirectoryMode"] == ["0700"]
    assert directives["UMask"] == ["0077"]


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_starts_a_command_that_there_is_as_a_user_that_is_made(name: str) -> None:
    assert f'{name} = "' in (ROOT / "pyproject.toml").read_text()
    (command,) = unit(name)["ExecStart"]
    assert command == f"/usr/bin/{name} run"
    assert f"u {name} - " in (ROOT / "systemd" / "sysusers.d" / f"{name}.conf").read_text()


@pytest.mark.parametrize("name", UNITS)
def test_a_program_that_dies_or_freezes_is_started_anew_within_15_s_however_often(name: str) -> None:
    directives = unit(name)
    assert directives["Type"] == ["notify"]
    assert directives["Restart"] == ["always"]
    assert directives["StartLimitIntervalSec"] == ["0"]
    own = serving.BUSY_S if name == "templo-companion" else 0
    longest = max(liveness.SOON_S, liveness.DISK_S, liveness.REST_S, own)
    assert longest + int(directives["WatchdogSec"][0]) + int(directives["RestartSec"][0]) <= RESTARTED_S


def test_the_broker_is_started_again_however_often_it_ends_but_not_with_a_configuration_that_it_refuses() -> None:
    lines = (ROOT / "systemd" / "mosquitto.service.d" / "templo-mayor.conf").read_text().splitlines()
    assert {"StartLimitIntervalSec=0", "Restart=always", "RestartPreventExitStatus=3 13"} <= set(lines)


@pytest.mark.parametrize("file", sorted((ROOT / "systemd").glob("*.service")), ids=lambda file: file.stem)
def test_what_is_started_again_by_itself_may_log_200_lines_in_30_s_at_most(file: Path) -> None:
    """The journal bounds itself, and a flood in it would push out what others logged."""
    directives = unit(file.stem)
    if "Restart" in directives:
        assert directives["LogRateLimitIntervalSec"] == ["30"]
        assert int(directives["LogRateLimitBurst"][0]) <= 200


def test_the_broker_logs_to_the_journal_with_the_same_limit() -> None:
    lines = (ROOT / "systemd" / "mosquitto.service.d" / "templo-mayor.conf").read_text().splitlines()
    assert {"LogRateLimitIntervalSec=30", "LogRateLimitBurst=200"} <= set(lines)
    config = (ROOT / "systemd" / "mosquitto" / "templo.conf").read_text()
    assert config.index("log_dest none\n") < config.index("log_dest stderr\n")


@pytest.mark.parametrize("name", UNITS)
def test_a_wrong_setting_is_reported_to_systemd_and_starts_nothing_anew(name: str, tmp_path: Path) -> None:
    settings = tmp_path / "wrong.toml"
    settings.write_text('[broker]\nport = "none"\n')
    module = "controller.app" if name == "templo-controller" else "companion.cli"
    program = f"import sys; from {module}.command_line import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "run", "--config", str(settings)]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(60)
        environment = {**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify"), "HOME": str(tmp_path)}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.stderr.count("broker.port") == 1, done.stderr
        assert systemd.recv(4096).decode().startswith("STATUS=cannot start: broker.port is 'none'")
    assert [str(done.returncode)] == unit(name)["RestartPreventExitStatus"]


def test_the_controller_alone_reaches_devices_and_only_gpio_chips_and_usb_ports() -> None:
    controller, companion = unit("templo-controller"), unit("templo-companion")
    assert controller["DeviceAllow"] == ["char-gpiochip rw", "char-166 rw", "char-188 rw"]
    assert controller["SupplementaryGroups"] == ["gpio dialout"]
    assert "g gpio -" in (ROOT / "systemd" / "sysusers.d" / "templo-controller.conf").read_text()
    assert "PrivateDevices" not in controller
    assert "PrivateUsers" not in controller  # a device's group would be nobody's
    assert companion["PrivateDevices"] == ["yes"]
    assert "DeviceAllow" not in companion


def test_the_controller_may_read_which_board_it_is_on() -> None:
    assert unit("templo-controller")["ProcSubset"] == ["all"]


@pytest.mark.parametrize("name", UNITS)
def test_no_unit_waits_for_a_network_or_a_broker(name: str) -> None:
    """Debian's mosquitto waits for `network-online.target`, which takes a minute or two without a router."""
    assert {"After", "Wants", "Requires"}.isdisjoint(unit(name))


def test_counting_comes_first_while_the_machine_starts() -> None:
    assert unit("templo-controller")["StartupCPUWeight"] == ["1000"]
    assert "StartupCPUWeight" not in unit("templo-companion")


def test_what_serves_tls_has_no_user_of_its_own_and_alone_is_given_the_key() -> None:
    directives = unit("templo-tls")
    assert directives["DynamicUser"] == ["yes"]
    assert directives["LoadCredential"] == ["server.pem:/etc/templo-mayor/tls/server.pem"]
    assert directives["ConditionPathExists"] == ["/etc/templo-mayor/tls/server.pem"]
    assert directives["CapabilityBoundingSet"] == directives["AmbientCapabilities"] == ["CAP_NET_BIND_SERVICE"]
    for key in (*OFF[:2], *OFF[4:13]):
        assert directives[key] == ["yes"], key


def test_lgpio_s_working_directory_is_where_the_controller_puts_it() -> None:
    directives = unit("templo-controller")
    state = default_state({"STATE_DIRECTORY": "/var/lib/templo-controller"}, Path("/home/x"))
    assert f"LG_WD={state}/lgpio".replace("/var/lib", "%S") in directives["Environment"]
    assert directives["WorkingDirectory"] == ["%S/templo-controller"]


def test_the_companion_may_take_port_80_and_nothing_else_that_is_privileged() -> None:
    companion = unit("templo-companion")
    assert companion["CapabilityBoundingSet"] == companion["AmbientCapabilities"] == ["CAP_NET_BIND_SERVICE"]
    assert "TEMPLO_DEFAULT_WEB_PORT=80" in companion["Environment"]
    assert unit("templo-controller")["CapabilityBoundingSet"] == [""]


def test_what_the_companion_s_unit_gives_of_its_settings_are_defaults_that_its_file_overrides() -> None:
    defaults = {each.default_variable for each in declared_settings(Settings).values()}
    given = {each.partition("=")[0] for each in unit("templo-companion")["Environment"]}
    assert given - defaults == {"PYTHONUNBUFFERED", "MALLOC_ARENA_MAX"}


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_opens_as_many_files_as_its_program_may_need(name: str) -> None:
    """systemd's own limit may be lower than what the companion's connections come to, in all, with what is beside."""
    (limit,) = unit(name)["LimitNOFILE"]
    assert int(limit) >= (connections.LOW + 4 * (20_000 + serving.PAGES) if name == "templo-companion" else 256)


@pytest.mark.parametrize("name", UNITS)
def test_no_unit_holds_a_password(name: str) -> None:
    text = (ROOT / "systemd" / f"{name}.service").read_text()
    assert not re.search(r"PASSWORD=\S", text)
    settings = ["-/etc/templo-mayor/tls/settings.env"] if name == "templo-companion" else []
    assert unit(name)["EnvironmentFile"] == [f"-/etc/templo-mayor/{name.removeprefix('templo-')}.env", *settings]


def test_a_club_s_companion_is_as_confined_as_the_only_one_and_shares_its_store() -> None:
    one, several = unit("templo-companion"), unit("templo-companion@")
    differing = {key for key in one | several if one.get(key) != several.get(key)}
    assert differing == {
        *("Description", "Documentation", "After", "Conflicts"),
        *("StateDirectory", "WorkingDirectory", "Environment", "EnvironmentFile"),
        *("CapabilityBoundingSet", "AmbientCapabilities"),
    }
    assert several["StateDirectory"] == ["templo-companion/%i"], "each has a state of its own"
    assert {"TEMPLO_SHARED=on", "TEMPLO_WEB_PORT=800%i"} <= set(several["Environment"])
    assert several["CapabilityBoundingSet"] == several["AmbientCapabilities"] == [""]
    assert several["Conflicts"] == ["templo-companion.service"]


def test_a_hosted_club_s_companion_is_as_confined_as_the_only_one_and_ends_for_its_socket_to_start_it() -> None:
    one, hosted = unit("templo-companion"), unit("templo-club@")
    differing = {key for key in one | hosted if one.get(key) != hosted.get(key)}
    assert differing == {
        *("Description", "Documentation", "After", "Requires", "Restart", "User", "Group", "WantedBy"),
        *("StartLimitIntervalSec", "StartLimitBurst"),
        *("StateDirectory", "WorkingDirectory", "Environment", "EnvironmentFile"),
        *("CapabilityBoundingSet", "AmbientCapabilities"),
    }
    assert hosted["User"] == hosted["Group"] == ["templo-club-%i"], "each is a user of its own"
    assert hosted["StateDirectory"] == ["templo-club/%i"]
    assert "TEMPLO_DEFAULT_WEB_IDLE_S=3600" in hosted["Environment"]
    assert hosted["Restart"] == ["on-failure"]
    assert hosted["Requires"] == ["templo-club@%i.socket"]


def complaints(folder: Path, unit: str, *kinds: str) -> str:
    """Return what systemd says of an instance of our units of these kinds, whose files it reads in a folder."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not here; the directives are tested above")
    template = unit.partition("@")[0]
    for kind in kinds:
        text = (ROOT / "systemd" / f"{template}@.{kind}").read_text()
        (folder / f"{template}@.{kind}").write_text(text.replace("/usr/bin/templo-companion", sys.executable))
    return subprocess.run(
        ["systemd-analyze", "verify", "--man=no", folder / unit],
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    ).stderr


def test_systemd_reads_the_units_of_a_hosted_club(tmp_path: Path) -> None:
    port = tmp_path / "templo-club@club-a.socket.d" / "port.conf"
    port.parent.mkdir()
    port.write_text("[Socket]\nListenStream=127.0.0.1:8101\n")
    assert "templo-club@" not in complaints(tmp_path, "templo-club@club-a.service", "service", "socket")


def test_systemd_reads_the_unit_of_a_club_s_companion(tmp_path: Path) -> None:
    assert "templo-companion@" not in complaints(tmp_path, "templo-companion@1.service", "service")
