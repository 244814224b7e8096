"""What ``templo-mayor status`` shows of an installed temple, and what it says to do next."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from companion.adapters.owner import LENGTH, ORGANISER_FILE, make_owner
from companion.appliance import command_line, status
from companion.appliance.status import Installation
from companion.model.network import Hotspot
from companion.settings import WebSettings
from templo.settings import SettingsError
from tests.controller.program import ROOT

ALL = dict.fromkeys(status.UNITS, "active")
PAGES = ("http://192.168.1.7", "http://raspberrypi.local")


def shown(found: Installation) -> str:
    return "\n".join(status.described(found, lambda text: [f"<code of {text}>"]))


def test_a_temple_that_counts_is_shown_with_its_address_and_its_code() -> None:
    found = Installation(ALL, PAGES, {"templo": True})
    assert found.counts
    said = shown(found)
    assert "On a phone in the same network  http://192.168.1.7\n" in said
    assert "or  http://raspberrypi.local\n" in said
    assert "<code of http://192.168.1.7>" in said
    assert "drop a token through each slot and watch http://192.168.1.7/temples" in said


def test_a_unit_that_does_not_run_is_named_with_where_to_look() -> None:
    found = Installation({**ALL, "controller": "failed"}, PAGES, {"templo": False})
    assert not found.counts
    assert "The controller is not running (failed): 'sudo journalctl -n 30 -u templo-controller' says why." in shown(
        found
    )


def test_a_unit_that_failed_by_a_setting_is_shown_with_the_setting_and_what_to_do() -> None:
    reason = "cannot start: web.port is 'x' (from companion.toml); expected a port"
    found = Installation({**ALL, "companion": "failed"}, PAGES, None, {"companion": reason})
    assert f"The companion {reason}. After you have mended that: 'sudo systemctl restart templo-companion'." in shown(
        found
    )


def test_where_the_pages_are_served_over_tls_their_address_is_shown_with_what_it_takes() -> None:
    found = Installation({**ALL, "tls": "active"}, PAGES, {"templo": True}, secure=["https://192.168.1.7"])
    assert found.counts
    assert "where the authority is trusted  https://192.168.1.7  (http://192.168.1.7/trust)" in shown(found)
    stopped = Installation({**ALL, "tls": "failed"}, PAGES, {"templo": True}, secure=["https://192.168.1.7"])
    assert "The tls is not running (failed): 'sudo journalctl -n 30 -u templo-tls' says why." in shown(stopped)


def test_the_owner_s_code_is_shown_to_those_who_may_read_it() -> None:
    found = Installation(ALL, PAGES, {"templo": True}, owner="ABCDEFGH")
    assert "for settings on the page  ABCD-EFGH" in shown(found)
    assert "owner" not in shown(Installation(ALL, PAGES, {"templo": True}))


def test_the_organiser_s_code_is_shown_with_its_page_to_those_who_may_read_it() -> None:
    found = Installation(ALL, PAGES, {"templo": True}, organiser="ABCDEFGH")
    assert "The organiser's code, for http://192.168.1.7/organiser  ABCD-EFGH" in shown(found)
    hidden = shown(status.without_secrets(found))
    assert "ABCD" not in hidden
    assert "'sudo templo-mayor status' shows the owner's code, the organiser's code" in hidden


def test_a_nightly_backup_that_failed_is_named_though_all_else_is_well() -> None:
    found = Installation(ALL, PAGES, {"templo": True}, backup_failed=True)
    assert found.counts
    assert "The last nightly backup failed: 'sudo journalctl -n 30 -u templo-mayor-backup' says why." in shown(found)


def test_below_the_codes_it_says_whether_all_is_well_and_since_when() -> None:
    well = Installation(ALL, PAGES, {"templo": True}, since=datetime.fromisoformat("2026-11-28T21:05"))
    assert "\n\nAll is well since 2026-11-28 21:05.\n  Prove the beams" in shown(well)
    hotspot = Hotspot("Templo Mayor", "mictlan-1234", on=True)
    last = status.described(replace(well, hotspot=hotspot), lambda text: [f"<code of {text}>"])[-4:]
    assert [each.strip()[:12] for each in last] == ["", "All is well ", "Prove the be", "Then play: o"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"backup_failed": True},
        {"boot_fault": "name is 1"},
        {"temples": {"templo": True, "attic": False}},
        {"temples": {"templo": None}},
        {"pages": ()},
    ],
)
def test_what_somebody_has_to_do_is_not_well(wrong: dict[str, object]) -> None:
    said = shown(replace(Installation(ALL, PAGES, {"templo": True}), **wrong))
    assert "ll is well" not in said
    assert "\n\nTo do:\n  " in said


def test_a_second_temple_that_is_switched_off_is_shown_and_all_is_well() -> None:
    said = shown(Installation(ALL, PAGES, {"templo": True, "attic": None}))
    assert "  attic       is not connected\n" in said
    assert "All is well.\n" in said


def test_a_newer_release_is_named_with_what_installs_it_and_all_is_still_well() -> None:
    said = shown(Installation(ALL, PAGES, {"templo": True}, update="1.0.1"))
    assert "All is well.\n" in said
    assert said.endswith("Release 1.0.1 is there: 'sudo apt upgrade' installs it, with no game running.")


def test_a_wrong_settings_file_on_the_boot_partition_is_named_first() -> None:
    found = Installation(ALL, PAGES, {"templo": True}, boot_fault="name is 'x y'; expected letters")
    assert (
        "\n\nTo do:\n  The settings on the boot partition were not applied: name is 'x y'; expected letters\n"
        in shown(found)
    )


def test_what_apt_logs_at_the_end_of_an_installation_holds_no_secret(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hotspot = Hotspot("Templo Mayor", "mictlan-1234", on=True)
    found = Installation(ALL, PAGES, {"templo": True}, owner="ABCDEFGH", hotspot=hotspot)
    monkeypatch.setattr(status, "look", lambda *_: found)
    (line,) = [each for each in (ROOT / "debian" / "templo-mayor.postinst").read_text().splitlines()
               if "templo-mayor status" in each]  # fmt: skip
    words = line.partition("||")[0].split()
    assert command_line.main(words[1:]) == 0
    said = capsys.readouterr().out
    assert "ABCD" not in said
    assert "mictlan" not in said
    assert "On a phone in the same network  http://192.168.1.7\n" in said
    assert "'sudo templo-mayor status' shows the owner's code" in said
    assert command_line.main(["status"]) == 0
    said = capsys.readouterr().out
    assert "ABCD-EFGH" in said
    assert "mictlan-1234" in said


def test_whoever_may_not_read_the_companion_s_settings_is_told_who_may(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def refused(*_: object) -> Installation:
        raise SettingsError("web.port is 0")

    settings = tmp_path / "companion.toml"
    monkeypatch.setattr(status, "look", refused)
    monkeypatch.setattr(status, "SETTINGS", settings)
    assert command_line.main(["status"]) == 1
    assert capsys.readouterr().out == "The companion cannot start: web.port is 0\n"
    settings.touch()
    monkeypatch.setattr(os, "access", lambda path, mode: path != settings)
    assert command_line.main(["status"]) == 1
    assert capsys.readouterr().out == f"You may not read {settings}: sudo templo-mayor status\n"


def test_a_machine_with_ipv6_alone_is_on_a_network_and_is_told_what_the_pages_need() -> None:
    said = shown(Installation(ALL, (), {"templo": True}, has_ipv6=True))
    assert "This machine has no IPv4 address; the pages need one." in said
    assert "on no network" not in said


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        (["2001:db8::7", "fe80::1", "127.0.0.1", "::1"], True),
        (["fd00::7", "127.0.0.1"], True),
        (["fe80::1", "127.0.0.1", "::1"], False),
        (["127.0.0.1"], False),
    ],
)
def test_an_address_of_this_link_alone_is_no_network(addresses: list[str], expected: bool) -> None:
    assert status.reaches_by_ipv6(addresses) == expected


def test_a_settings_file_that_could_not_be_set_aside_is_named_though_all_else_is_well() -> None:
    kept = "/boot/firmware/templo-mayor.toml was applied, but cannot be renamed"
    assert f"  {kept}" in shown(Installation(ALL, PAGES, {"templo": True}, boot_kept=kept))


def test_without_a_network_it_says_how_to_get_one() -> None:
    assert "This machine is on no network" in shown(Installation(ALL, (), {"templo": True}))


def test_a_page_that_does_not_answer_is_no_temple_that_counts() -> None:
    found = Installation(ALL, PAGES, None)
    assert not found.counts
    assert "The page does not answer" in shown(found)


def test_a_temple_with_trouble_leads_to_its_page() -> None:
    assert "http://192.168.1.7/temples says what is wrong" in shown(Installation(ALL, PAGES, {"templo": False}))


def test_a_temple_that_never_came_is_not_taken_for_one_that_counts() -> None:
    found = Installation(ALL, PAGES, {})
    assert not found.counts
    assert "No temple has connected yet" in shown(found)


def test_the_pages_are_where_the_settings_put_them() -> None:
    assert status.pages(WebSettings(port=8000), ["192.168.1.7"], "pi.local") == [
        "http://192.168.1.7:8000",
        "http://pi.local:8000",
    ]
    assert status.pages(WebSettings(address="http://templo.local/"), ["192.168.1.7"], "pi.local") == [
        "http://templo.local"
    ]
    assert status.pages(WebSettings(host="192.168.1.8"), ["192.168.1.7"], "pi.local") == ["http://192.168.1.8:8000"]
    assert status.pages(WebSettings(port=80), ["127.0.0.1"], "pi.local") == []
    assert status.pages(WebSettings(port=80), ["192.168.1.7"], "") == ["http://192.168.1.7"]


def test_the_output_of_systemd_the_page_and_the_codes_files_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def systemd(*words: str) -> str:
        return (
            "active\nactive\nfailed"
            if words[0] == "is-active"
            else 'PYTHONUNBUFFERED=1 TEMPLO_DEFAULT_WEB_PORT=8080 "TEMPLO_WEB_HOST=0.0.0.0"'
        )

    ports = []

    def fetch(port: int) -> str:
        ports.append(port)
        return (
            '# TYPE templo_temple_up gauge\ntemplo_temple_up{temple="templo"} 1\ntemplo_temple_up{temple="attic"} 0\n'
            'templo_temple_up{temple="cellar"} 1\ntemplo_temple_trouble{temple="cellar",code="beams_missing"} 1\n'
        )

    make_owner(tmp_path / ORGANISER_FILE, lambda size: bytes(size))
    monkeypatch.setattr(status, "STATE", tmp_path)
    found = status.look(systemd, fetch)
    assert (len(found.organiser), found.owner) == (LENGTH, "")
    assert ports == [8080]
    assert found.units == {"broker": "active", "controller": "active", "companion": "failed"}
    assert found.temples == {"templo": True, "attic": None, "cellar": False}
