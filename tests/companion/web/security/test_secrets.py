"""Keys, join codes and seat tokens: how long they are, and how they are stored and compared."""

from __future__ import annotations

import hmac
import math
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from companion.adapters.database.sql_store import SqlStore
from companion.model.lobby import CODE_LENGTH
from companion.model.table import ServiceError
from companion.web.server.guard import Lockout, Refused, client
from templo.codes import CODE_LETTERS
from tests.brokers import free_port
from tests.companion.web.conftest import Browser, WebHome, text_of
from tests.companion.web.security.routes import ROOT

# -- no debug mode, no default key: keys are made at first start, mode 0600 --


def test_nothing_is_debugged_and_nothing_is_signed_with_a_key_that_others_know(home: WebHome) -> None:
    assert not home.app.debug
    assert not home.app.testing
    assert home.app.secret_key is None
    assert not home.app.config["PROPAGATE_EXCEPTIONS"]
    sources = [path.read_text("utf-8") for path in (ROOT / "companion").rglob("*.py")]
    for word in ("debug=True", "SECRET_KEY", "secret_key", "app.run(", "use_debugger"):
        assert not any(word in source for source in sources), word


def test_what_the_companion_keeps_is_its_owner_s_alone_from_the_first_start(tmp_path: Path) -> None:
    state = tmp_path / "state"
    words = ["--host", "127.0.0.1", "--port", str(free_port()), "--state", str(state), "--broker", "127.0.0.1:1"]
    command = [sys.executable, "-m", "companion", "run", *words]
    with subprocess.Popen(command, cwd=ROOT, umask=0o022, stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout
            assert program.stdout.readline().startswith(b"ready")
            modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [state, *state.rglob("*")]}
        finally:
            program.terminate()
    assert state / "companion.sqlite" in modes
    assert modes == {path: 0o700 if path.is_dir() else 0o600 for path in modes}


def test_a_database_that_others_could_read_is_tightened(tmp_path: Path) -> None:
    database = tmp_path / "companion.sqlite"
    store = SqlStore(f"sqlite:///{database}")
    for path in tmp_path.iterdir():
        path.chmod(0o644)
    SqlStore(f"sqlite:///{database}").close()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    store.close()
    assert set(modes) == {"companion.sqlite", "companion.sqlite-wal", "companion.sqlite-shm"}
    assert set(modes.values()) == {0o600}


# -- join codes: 40 bits, or shorter with a lock-out; compared in constant time --


def test_a_join_code_is_of_thirty_bits_and_guessing_it_takes_longer_than_anybody_plays(home: WebHome) -> None:
    assert len(home.lobby().code) == CODE_LENGTH
    assert set(home.lobby().code) <= set(CODE_LETTERS)
    codes = len(CODE_LETTERS) ** CODE_LENGTH
    assert math.log2(codes) >= 30
    guesses_a_day = 10 * 24 * 3600 / 300  # the tests below: ten in five minutes
    assert codes / guesses_a_day > 365 * 1000


def test_ten_wrong_codes_lock_an_address_out_for_five_minutes(home: WebHome) -> None:
    table = home.lobby()
    guesser = home.browser("192.168.1.20")
    for _ in range(10):
        assert guesser.post("/join", {"code": "WRONG2"}).status_code == 403
    answer = guesser.post("/join", {"code": table.code})
    assert answer.status_code == 429
    assert "5 minutes" in text_of(answer)
    assert int(answer.headers["Retry-After"]) == 300
    assert guesser.get(f"/j/{table.code}").status_code == 429
    assert guesser.sit(table, "east").status_code == 429
    assert home.browser("192.168.1.21").post("/join", {"code": table.code}).status_code == 303
    home.seconds += 300
    assert guesser.post("/join", {"code": table.code}).status_code == 303


def test_a_code_is_guessed_nowhere_without_being_counted(home: WebHome) -> None:
    table, other = home.lobby(), home.lobby()
    guesser = home.browser("192.168.1.20")
    for _ in range(2):
        guesser.get("/j/WRONG2")
        guesser.post("/join", {"code": "WRONG2"})
        guesser.post(f"/t/{table.id}/sit", {"code": other.code, "seat": "east", "name": "Eve"})
        guesser.post(f"/t/{table.id}/share", {"code": "WRONG2"})
        guesser.post(f"/t/{table.id}/screen", {"code": "WRONG2"})
    assert guesser.post("/join", {"code": table.code}).status_code == 429


def _locked_out(home: WebHome, address: str) -> None:
    guesser = home.browser(address)
    for _ in range(10):
        assert guesser.post("/join", {"code": "WRONG2"}).status_code == 403
    assert guesser.post("/join", {"code": "WRONG2"}).status_code == 429


def test_a_guesser_locks_no_table_screen_and_no_seat_of_its_own_address_out(home: WebHome) -> None:
    table = home.lobby()
    screen, seated = home.browser("192.168.1.20"), home.browser("192.168.1.20")
    assert screen.post(f"/t/{table.id}/screen", {"code": table.code}).status_code == 303
    assert seated.sit(table, "east").status_code == 303
    _locked_out(home, "192.168.1.20")
    for browser in (screen, seated):
        assert browser.get(f"/t/{table.id}/screen").status_code == 200
        assert browser.get(f"/t/{table.id}/qr.svg").status_code == 200
        assert browser.post(f"/t/{table.id}/screen", {"code": table.code}).status_code == 303
    assert screen.post(f"/t/{table.id}/free", {"seat": "east"}).status_code == 303
    assert screen.sit(table, "west").status_code == 303
    assert home.browser("192.168.1.20").sit(table, "north").status_code == 429


def test_a_screen_s_proof_is_of_128_bits_outlives_a_restart_and_opens_no_other_table(home: WebHome) -> None:
    table, other = home.lobby(), home.lobby()
    screen = home.browser()
    cookie = screen.post(f"/t/{table.id}/screen", {"code": table.code}).headers["Set-Cookie"]
    proof = cookie.partition("=")[2].partition(";")[0]
    assert len(bytes.fromhex(proof)) == 16
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    home.restart()
    for at, answer in ((table, 200), (other, 403)):
        again = home.browser()
        again.client.set_cookie(f"screen-{at.id}", proof, path=f"/t/{at.id}")
        assert again.get(f"/t/{at.id}/qr.svg").status_code == answer


@pytest.mark.parametrize("proof", ["the code", "0" * 32, "é", "x" * 3000])
def test_a_made_up_proof_of_a_screen_opens_nothing_and_is_no_guess(home: WebHome, proof: str) -> None:
    table = home.lobby()
    home.services.seats.screen_pass(table.id)
    guesser = home.browser()
    proof = table.code if proof == "the code" else proof
    guesser.client.set_cookie(f"screen-{table.id}", proof, path=f"/t/{table.id}")
    for _ in range(20):
        assert guesser.get(f"/t/{table.id}").status_code == 200
        assert guesser.get(f"/t/{table.id}/qr.svg").status_code == 403
    assert guesser.post("/join", {"code": table.code}).status_code == 303


def test_many_addresses_together_guess_no_faster_than_sixty(home: WebHome) -> None:
    table = home.lobby()
    seated = home.browser("192.168.1.5")
    assert seated.sit(table, "east").status_code == 303
    for n in range(60):
        _locked_out(home, f"10.0.0.{n}")
    fresh = home.browser("10.0.1.1")
    assert fresh.post("/join", {"code": table.code}).status_code == 429
    assert seated.get(f"/t/{table.id}/qr.svg").status_code == 200
    home.seconds += 300
    assert fresh.post("/join", {"code": table.code}).status_code == 303


def test_the_lockout_counts_a_household_of_ipv6_as_one() -> None:
    assert client("2001:db8::1") == client("2001:db8::ffff")
    assert client("::ffff:192.168.1.5") == "192.168.1.5"
    assert client("fe80::1%eth0") != client("fe80::2%eth0")
    assert client(None) == ""


def test_the_lockout_forgets_the_oldest_of_many_addresses() -> None:
    lockout = Lockout(lambda: 0.0, most=1, addresses=2)
    for address in ("10.0.0.1", "10.0.0.2", "10.0.0.3"):
        lockout.wrong(address)
    lockout.check("10.0.0.1")
    with pytest.raises(Refused, match="429"):
        lockout.check("10.0.0.3")


def test_codes_and_tokens_are_compared_in_constant_time(home: WebHome, monkeypatch: pytest.MonkeyPatch) -> None:
    table = home.table()
    token = home.seated(table)
    compared: list[bytes] = []
    real = hmac.compare_digest

    def compare(one: Any, other: Any) -> bool:
        compared.extend((one, other))
        return real(one, other)

    monkeypatch.setattr("hmac.compare_digest", compare)
    with pytest.raises(ServiceError):
        home.services.seats.sit(table.id, "WRONG2", "west", "Ana")
    assert table.code.encode() in compared
    compared.clear()
    assert home.services.seats.held(table.id, token) == ("east",)
    assert home.services.tables.get(table.id).keys["east"].encode() in compared
    proof = home.services.seats.screen_pass(table.id)
    compared.clear()
    assert home.services.seats.is_screen_pass(table.id, proof)
    assert proof.encode() in compared


# -- seat tokens of 128 bits, stored hashed --


def test_a_seat_s_token_is_of_128_bits_and_is_nowhere_on_the_disk(home: WebHome, tmp_path: Path) -> None:
    table = home.table()
    token = home.seated(table)
    assert len(bytes.fromhex(token)) == 16
    assert any(home.services.tables.get(table.id).keys.values())
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("companion.sqlite*"))
    assert home.services.tables.get(table.id).keys["east"].encode() in kept
    assert token.encode() not in kept
    assert bytes.fromhex(token) not in kept


def test_a_seat_token_is_a_cookie_of_its_table_that_no_script_reads(home: WebHome, phone: Browser) -> None:
    table = home.lobby()
    cookie = phone.sit(table, "east").headers["Set-Cookie"]
    assert cookie.startswith(f"seat-{table.id}=")
    assert f"Path=/t/{table.id}" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
