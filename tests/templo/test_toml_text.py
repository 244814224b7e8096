"""Settings written as TOML are read as they were."""

from __future__ import annotations

import tomllib

from templo.toml_text import to_toml


def test_any_key_and_any_text_are_read_as_they_were_written() -> None:
    odd = '\U0001f5ff \x7f \x00 " \\ \n ñ'
    tables = {odd: odd, "table": {odd: [odd, {odd: odd}]}}
    assert tomllib.loads(to_toml(tables)) == tables
