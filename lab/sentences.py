"""The lab's own sentences and numbers, in each language of a report."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from babel.numbers import format_decimal

LANGUAGES = ("en", "es")


@dataclass(frozen=True, slots=True)
class Language:
    """A language of `LANGUAGES`, which sentences are said and numbers are written in."""

    code: str = LANGUAGES[0]

    def say(self, text: str, **facts: object) -> str:
        """Return an English sentence in this language, with its facts.

        >>> Language("es").say("seed %(n)s:", n=3)
        'semilla 3:'
        """
        return self.translated(text) % facts

    def translated(self, text: str) -> str:
        """Return an English sentence in this language, its facts not filled in yet."""
        return text if self.code == LANGUAGES[0] else _sentences(self.code)[text]

    def number(self, value: float, decimals: int = 0, signed: bool = False) -> str:
        """Return a number as this language writes it.

        >>> Language("es").number(12.56, 1, signed=True)
        '+12,6'
        """
        pattern = "#,##0." + "0" * decimals if decimals else "#,##0"
        return format_decimal(value, f"+{pattern};-{pattern}" if signed else pattern, self.code)

    def percent(self, share: float) -> str:
        """Return a share as a percentage: ``43.5 %``."""
        return f"{self.number(100 * share, 1)} %"


@cache
def _sentences(code: str) -> Mapping[str, str]:
    path = Path(__file__).parent / f"report.{code}.toml"
    return {english: str(text) for english, text in tomllib.loads(path.read_text(encoding="utf-8")).items()}
