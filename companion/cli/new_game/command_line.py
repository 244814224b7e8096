"""Writes a new game's folder from the files beside this module."""

from __future__ import annotations

import argparse
import keyword
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import jinja2

from companion.games import registry

FILES = Path(__file__).parent / "files"
SUFFIX = ".jinja"

CHOICES = {
    "dice": "with a die, rolled by the app or at the table",
    "cards": "with a deck and hidden hands",
    "temple": "with the temple's tokens as a counter that all share",
}
"""What a new game may have, with the help for each."""


def main(given: Sequence[str]) -> int:
    """Run ``new-game NAME``; return 0, or 2 if the folder cannot be written."""
    arguments = make_parser().parse_args(given)
    folder = (arguments.into / arguments.name).absolute()
    try:
        write(folder, frozenset(choice for choice in CHOICES if getattr(arguments, choice)))
    except OSError as error:
        print(f"templo-companion: {folder}: {error.strerror}; expected a new folder", file=sys.stderr)
        return 2
    print(
        f"wrote {folder}",
        f"To play it: make demo ARGS={shlex.quote(f'--game {folder}')}",
        f"Go on with {folder / 'README.md'}",
        sep="\n",
    )
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser."""
    parser = argparse.ArgumentParser(
        prog="templo-companion new-game", description="Write the folder of a game that runs at once."
    )
    parser.add_argument("name", type=_name, metavar="NAME", help="its name in lower case: letters, digits and _")
    for choice, meaning in CHOICES.items():
        parser.add_argument(f"--{choice}", action="store_true", help=meaning)
    parser.add_argument("--into", type=Path, default=Path(), metavar="DIR", help="where (default: here)")
    return parser


def write(folder: Path, choices: frozenset[str]) -> None:
    """Write a game's folder with some of the `CHOICES`; raises `FileExistsError` if there is one already."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FILES),
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701  # the files are code and words, and the values a name and a path
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    folder.mkdir(parents=True)
    facts = {"name": folder.name, "title": folder.name.replace("_", " ").capitalize(), "folder": folder}
    for path in sorted(FILES.rglob(f"*{SUFFIX}")):
        within = path.relative_to(FILES)
        text = environment.get_template(within.as_posix()).render(
            facts, **{each: each in choices for each in CHOICES}
        )
        written = (folder / within).with_suffix("")
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text, encoding="utf-8")


def _name(text: str) -> str:
    taken = {path.stem for path in Path(registry.__file__).parent.iterdir()}
    if (
        text.isidentifier()
        and text.isascii()
        and text.islower()
        and not keyword.iskeyword(text)
        and text not in taken
    ):
        return text
    raise argparse.ArgumentTypeError(
        f"name is {text!r}; expected lower-case letters, digits and _, and not the name of a game that comes with"
        " the app; --into says in which folder"
    )
