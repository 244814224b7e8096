"""Writes a manual page of each program from `docs/commands.md`, for the Debian packages.

The page of the manual is made from the programs' own parsers; this needs nothing but the standard library, so that a
package is built without what the programs import.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = {
    "templo-companion": (1, "scorekeeper of a Templo Mayor, on every phone at the table"),
    "templo-controller": (1, "counts the tokens that fall into a Templo Mayor"),
    "templo-mayor": (1, "shows and looks after an installed temple"),
    "templo-broker-access": (8, "makes the passwords and the access list of a temple's broker"),
}
"""The section of each page, and what the program does in a line."""

COMMON = "Flags of every command of controller and companion"
_ESCAPED = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga"}


def main(argv: Sequence[str]) -> int:
    """Write all pages into a folder."""
    folder = Path(argv[0])
    folder.mkdir(parents=True, exist_ok=True)
    sections = read((ROOT / "docs" / "commands.md").read_text("utf-8"))
    for program, (section, _) in PROGRAMS.items():
        (folder / f"{program}.{section}").write_text(page(program, sections), "utf-8")
    return 0


def read(markdown: str) -> dict[str, list[str]]:
    """Return the lines below each heading of the reference."""
    sections: dict[str, list[str]] = {}
    for part in re.split(r"^## ", markdown.partition("<!-- generated: commands -->\n")[2], flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("<!-- end -->")[0].partition("\n")
        sections[heading.strip()] = [line for line in body.splitlines() if line]
    return sections


def page(program: str, sections: dict[str, list[str]]) -> str:
    """Return a program's manual page, in roff."""
    section, short = PROGRAMS[program]
    lines = [f'.TH {program.upper()} {section} "" "Templo Mayor"', ".SH NAME", f"{_text(program)} \\- {_text(short)}"]
    lines += [".SH SYNOPSIS", f".B {_text(program)}", "[\\fIcommand\\fR] [\\fIoptions\\fR]"]
    for heading, body in sections.items():
        if heading == program or heading.startswith(f"{program} "):
            lines += [f".SH {_text('DESCRIPTION' if heading == program else heading.upper())}", *_body(body)]
    if program in ("templo-companion", "templo-controller"):
        lines += [f".SH {_text(COMMON.upper())}", *_body(sections[COMMON])]
    others = [f"\\fB{_text(other)}\\fR({number})" for other, (number, _) in PROGRAMS.items() if other != program]
    lines += [".SH SEE ALSO", ", ".join(others), "", "The manual is in /usr/share/doc/templo\\-mayor/."]
    return "\n".join(lines) + "\n"


def _body(body: Sequence[str]) -> Iterator[str]:
    for line in body:
        if not line.startswith("|"):
            yield from (".PP", _text(line))
        elif not re.match(r"\| (option|command) \||\|-", line):
            term, meaning, *further = re.split(r"(?<!\\) \| ", line.strip("| "))
            yield from (".TP", f"\\fB{_text(_plain(term))}\\fR", _text(_plain(meaning)))
            for option in further[0].split("<br>") if further and further[0] else ():
                typed, _, words = option.partition("`: ")
                yield from (".br", f"\\fI{_text(_plain(typed))}\\fR" + (f": {_text(_plain(words))}" if words else ""))


def _plain(cell: str) -> str:
    return cell.replace("\\|", "|").replace("`", "").strip()


def _text(text: str) -> str:
    """Return text in which roff sees no request and no escape."""
    escaped = "".join(_ESCAPED.get(letter, letter) for letter in text)
    return f"\\&{escaped}" if escaped.startswith((".", "\\(aq")) else escaped


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
