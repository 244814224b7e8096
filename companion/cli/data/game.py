"""Checks the folder of a game of one's own: that it can be imported, and that its texts and templates can be read."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import jinja2

from companion.games import registry
from companion.web.rendering import renderer, texts


def main(given: Sequence[str]) -> int:
    """Run ``game check FOLDER...``; return 0 if no folder has a fault, else 1."""
    parser = argparse.ArgumentParser(prog="templo-companion game", description="Check the folders of games.")
    parser.add_argument("command", choices=("check",), metavar="check", help="what to do with the folders")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    found = list(faults(parser.parse_args(given).folders))
    print(*found or ["nothing is wrong"], sep="\n")
    return 1 if found else 0


def faults(folders: Sequence[Path]) -> Iterator[str]:
    """Yield what is wrong in game folders: of each the first fault of its code, then those of texts and templates."""
    for folder in (each.expanduser().resolve() for each in folders):
        try:
            games = registry.load([folder])
            renderer.check_layouts(registry.with_tools({folder.name: games[folder.name]}), {folder.name: folder})
        except registry.RegistryError as error:
            yield str(error)
        try:
            texts.load(folder / "texts")
        except texts.TextError as error:
            yield str(error)
        for path in sorted((folder / "templates").rglob("*.html")):
            try:
                jinja2.Environment(autoescape=True).parse(path.read_text(encoding="utf-8"))
            except jinja2.TemplateSyntaxError as error:
                yield f"{path}:{error.lineno}: {error.message}"
            except (OSError, ValueError) as error:
                yield f"{path}:1: {error}"
