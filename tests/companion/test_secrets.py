"""What lets somebody in: how long it is, how it is kept, and how it is compared."""

from __future__ import annotations

import hmac
from pathlib import Path
from typing import Any

import pytest

from companion.table import HouseError
from tests.companion.conftest import Home


def test_a_seat_s_token_is_of_128_bits_and_is_nowhere_on_the_disk(home: Home, tmp_path: Path) -> None:
    table = home.table()
    token = home.seated(table)
    assert len(bytes.fromhex(token)) == 16
    assert any(home.house.table(table.id).keys.values())
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("companion.sqlite*"))
    assert home.house.table(table.id).keys["east"].encode() in kept
    assert token.encode() not in kept
    assert bytes.fromhex(token) not in kept


def test_codes_and_tokens_are_compared_in_constant_time(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    table = home.table()
    token = home.seated(table)
    compared: list[bytes] = []
    real = hmac.compare_digest

    def compare(one: Any, other: Any) -> bool:
        compared.extend((one, other))
        return real(one, other)

    monkeypatch.setattr("hmac.compare_digest", compare)
    with pytest.raises(HouseError):
        home.house.sit(table.id, "WRONG2", "west", "Ana")
    assert table.code.encode() in compared
    compared.clear()
    assert home.house.seats_held(table.id, token) == ("east",)
    assert home.house.table(table.id).keys["east"].encode() in compared
