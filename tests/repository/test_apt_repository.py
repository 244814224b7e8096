"""What `make repository` says before it makes anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import repository


def test_without_a_key_it_says_how_to_make_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert repository.main([]) == 1
    assert "gpg --quick-generate-key" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "address", "said"),
    [
        ("missing.gpg", "https://example.org/apt", "where no file is; expected a secret key"),
        ("key.gpg", "example.org/apt", "expected one such as https://example.org/apt"),
    ],
)
def test_a_wrong_key_or_address_is_named_at_once(
    key: str, address: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "key.gpg").touch()
    assert repository.main(["--key", str(tmp_path / key), "--address", address]) == 1
    assert said in capsys.readouterr().err
