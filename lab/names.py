"""A game's names for its seats, presets, options and ends, from its texts; other codes stand for themselves."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from companion.games import registry
from companion.games.kit import Game


def of(game: Game[Any], language: str) -> Callable[[str, object], str]:
    """Return what names a code of a game by the key of its words, ``called("seat.east", "east")``."""
    texts = _texts(registry.folder(game) / "texts", language)
    return lambda key, code: texts.get(key, str(code))


@cache
def _texts(folder: Path, language: str) -> Mapping[str, str]:
    paths = (folder / f"{language}.toml", *sorted(folder.glob(f"{language}.*.toml")))
    texts = [tomllib.loads(path.read_text(encoding="utf-8")) for path in paths if path.is_file()]
    return {key: text for each in texts for key, text in _flat(each)}


def _flat(tree: Mapping[str, Any], stem: str = "") -> Iterator[tuple[str, str]]:
    for name, value in tree.items():
        if isinstance(value, str) and "{" not in value:
            yield f"{stem}{name}", value
        elif isinstance(value, dict):
            yield from _flat(value, f"{stem}{name}.")
