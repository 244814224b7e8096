"""Reads the files in a game's ``data`` folder: decks, maps, boards."""

from __future__ import annotations

from importlib.resources import files


def data_file(game: str, name: str) -> str:
    """Return the text of a file in a game's ``data`` folder.

    >>> data_file("mexica", "rain.toml").split("[")[1][:5]
    'rain]'
    """
    return (files(f"companion.games.{game}") / "data" / name).read_text("utf-8")
