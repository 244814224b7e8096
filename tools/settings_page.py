"""Writes the table of docs/settings.md from the declarations of both programs: ``python -m tools.settings_page``."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from companion.settings import Settings as CompanionSettings
from controller.app.settings import default_pins
from controller.core.settings import DeclaredSettings
from templo.settings import declared_defaults, declared_settings

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
_TABLE = re.compile(r"(<!-- generated: settings -->\n).*?(<!-- end -->)", re.DOTALL)
_HEAD = "| setting | what it takes | without it | controller | companion |\n|---|---|---|---|---|\n"


def with_table(text: str) -> str:
    """Return the page with its table replaced."""
    return _TABLE.sub(lambda found: f"{found[1]}{table()}{found[2]}", text)


def table() -> str:
    """Return one row for each setting: its key, what it takes, its default, and which programs have it."""
    controller, companion = declared_settings(DeclaredSettings), declared_settings(CompanionSettings)
    defaults = declared_defaults(CompanionSettings) | declared_defaults(DeclaredSettings) | default_pins()
    rows = [
        f"| `{key}` | {setting.expected} | {_shown(defaults.get(key))} | {_mark(key in controller)} "
        f"| {_mark(key in companion)} |\n"
        for key, setting in sorted((controller | companion).items())
    ]
    return _HEAD + "".join(rows)


def _shown(default: object) -> str:
    return "" if default in (None, "", ()) else f"`{default:g}`" if isinstance(default, float) else f"`{default}`"


def _mark(has: bool) -> str:
    return "yes" if has else ""


def main(argv: Sequence[str]) -> int:
    """Write the table."""
    argparse.ArgumentParser(prog="python -m tools.settings_page", description=__doc__).parse_args(argv)
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
