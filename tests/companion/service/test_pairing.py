"""Codes of new temples: each is good once and for some minutes, and lets its temple serve its table."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from companion.adapters.credentials import Credentials, Offered, brokers_for
from companion.model.pairing import GROUP, NOTE, REMEMBERED, VALID
from companion.model.table import ServiceError
from templo.broker import Address
from templo.codes import grouped
from tests.companion.conftest import DATABASES, Home


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def refusal(home: Home, typed: str) -> str:
    with pytest.raises(ServiceError) as refused:
        home.services.pairing.use(typed)
    return refused.value.code


def test_a_code_lets_a_temple_that_nobody_knows_serve_its_table(home: Home) -> None:
    table = home.table()
    code = home.services.pairing.issue("attic", table.id)
    assert home.services.pairing.find(code).temple == "attic"
    assert home.services.temples.find("attic") is None
    served = home.services.pairing.use(f" {grouped(code, GROUP).lower()} ")
    assert served is not None
    assert (served.id, served.temple) == (table.id, "attic")
    assert home.services.temples.get("attic").table_id == table.id


def test_a_code_is_good_once_and_for_ten_minutes(home: Home) -> None:
    used, late = home.services.pairing.issue("attic", ""), home.services.pairing.issue("cellar", "")
    assert home.services.pairing.use(used) is None
    home.clock.now += VALID
    assert refusal(home, used) == "used_pairing_code"
    assert refusal(home, late) == "expired_pairing_code"
    assert refusal(home, "ABCDEFGH") == "wrong_pairing_code"
    assert refusal(home, "") == "wrong_pairing_code"


def test_a_new_code_for_a_temple_replaces_the_one_before(home: Home) -> None:
    first, other = home.services.pairing.issue("attic", ""), home.services.pairing.issue("cellar", "")
    second = home.services.pairing.issue("attic", "")
    assert refusal(home, first) == "expired_pairing_code"
    home.services.pairing.use(second)
    home.services.pairing.use(other)


def test_after_a_day_a_code_is_forgotten(home: Home) -> None:
    code = home.services.pairing.issue("attic", "")
    home.clock.now += REMEMBERED + VALID
    home.services.pairing.issue("cellar", "")
    assert refusal(home, code) == "wrong_pairing_code"


def test_of_two_who_use_one_code_at_once_one_does(home: Home) -> None:
    code = home.services.pairing.issue("attic", "")
    begin, refused = threading.Barrier(2), []

    def use() -> None:
        begin.wait(60)
        try:
            home.services.pairing.use(code)
        except ServiceError as error:
            refused.append(error.code)

    threads = [threading.Thread(target=use) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert refused == ["used_pairing_code"]


def test_no_code_is_in_the_store(home: Home) -> None:
    code = home.services.pairing.issue("attic", "")
    assert "attic" in home.store.note(NOTE)
    assert code not in home.store.note(NOTE)


def test_a_code_outlives_a_restart(home: Home) -> None:
    code = home.services.pairing.issue("attic", "")
    home.restart()
    home.services.pairing.use(code)


def test_a_table_that_is_over_by_then_is_left_out(home: Home) -> None:
    table = home.table()
    code = home.services.pairing.issue("attic", table.id)
    home.services.tables.close_for_players(table.id)
    assert home.services.pairing.use(code) is None
    assert home.services.temples.get("attic").table_id is None
    for wrong in (table.id, "0" * 32):
        with pytest.raises(ServiceError, match="unknown_table"):
            home.services.pairing.issue("attic", wrong)


def test_a_code_stays_good_where_its_temple_cannot_be_added(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    code = home.services.pairing.issue("attic", "")

    def refuse(name: str) -> None:
        raise ServiceError("busy")

    with monkeypatch.context() as patched:
        patched.setattr(home.services.temples, "expect", refuse)
        assert refusal(home, code) == "busy"
    assert home.services.pairing.use(code) is None


def test_a_used_code_gives_what_it_can_where_its_table_cannot_be_served(
    home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    code = home.services.pairing.issue("attic", home.table().id)

    def refuse(table_id: str, temple: str | None) -> None:
        raise ServiceError("busy")

    monkeypatch.setattr(home.services.temples.serving, "serve", refuse)
    assert home.services.pairing.use(code) is None
    assert "attic is paired" in caplog.text


def test_a_code_has_sixty_bits_in_three_groups(home: Home) -> None:
    code = home.services.pairing.issue("attic", "")
    assert len(code) == 12
    assert grouped("ABCDEFGHJKLM", GROUP) == "ABCD-EFGH-JKLM"


def test_a_folder_that_cannot_be_read_is_logged_once_and_a_missing_one_never(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    unreadable = tmp_path / "folder"
    unreadable.touch()
    caplog.set_level(logging.WARNING)
    offered = Offered(unreadable)
    assert offered.temples() == offered.temples() == []
    assert len(caplog.records) == 1
    assert f"{unreadable} cannot be read" in caplog.text
    assert (Offered(tmp_path / "missing").temples(), len(caplog.records)) == ([], 1)


def test_what_may_be_given_away_is_what_is_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "attic.env").write_text("TEMPLO_BROKER_USER=temple-attic\nTEMPLO_BROKER_PASSWORD=secret\nX=1\n")
    (tmp_path / "half.env").write_text("TEMPLO_BROKER_USER=temple-half\n")
    (tmp_path / "No Temple.env").touch()
    (tmp_path / "other.txt").touch()
    offered = Offered(tmp_path)
    assert offered.temples() == ["attic", "half"]
    assert offered.of("attic") == Credentials("temple-attic", "secret")
    assert "secret" not in repr(offered.of("attic"))
    for name in ("half", "nowhere", "../attic", ""):
        assert offered.of(name) is None
    for empty in (Offered(), Offered(tmp_path / "missing")):
        assert (empty.temples(), empty.of("attic")) == ([], None)


def test_a_broker_on_the_companion_s_machine_has_the_name_that_the_temple_reached_it_by() -> None:
    listed = [Address("127.0.0.1", 1883), Address("::1", 1884), Address("localhost", 1885), Address("fe80::2", 1886)]
    assert brokers_for("::5", listed) == "[::5]:1883,[::5]:1884,[::5]:1885,[fe80::2]:1886"
