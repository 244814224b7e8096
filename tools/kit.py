"""The reference of what a game is made of: the public names of the kit, with signature, meaning and example."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import griffe

from companion.games import kit
from tools import cells

LONG = 40
"""Characters of a default at most."""

FIRST = (
    "Game", "Option", "Rules", "MoveTable", "MoveType", "Move", "number", "one_of", "a_seat", "put", "added",
    "Result", "Page", "Line", "Chance", "TokenCount", "Tokens", "Bot",
)  # fmt: skip
"""What a first game needs, before everything else."""

LIBRARY = "msgspec"
"""Whose names the kit passes on; they are described there."""


def names() -> list[griffe.Object]:
    """Return what griffe reads of each public name of the kit, in the module that declares it.

    `FIRST` ones come first, the others in the order of the kit's list.
    """
    found = [
        _module(node.module)[each.name]
        for node in ast.parse(Path(str(kit.__file__)).read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module and not node.module.startswith(LIBRARY)
        for each in node.names
    ]
    places = {name: place for place, name in enumerate(FIRST)}
    return sorted(found, key=lambda each: places.get(each.name, len(FIRST)))


@cache
def _module(name: str) -> griffe.Module:
    path = Path(str(import_module(name).__file__))
    source, lines = path.read_text("utf-8"), griffe.LinesCollection()
    lines[path] = source.splitlines()
    return griffe.visit(name, path, source, lines_collection=lines)


def sections() -> Iterator[str]:
    """Yield the lines of the reference, one heading for each name."""
    last = ""
    for line in (line for thing in names() for line in _section(thing)):
        if line or last:
            yield line
        last = line


def _section(thing: griffe.Object) -> Iterator[str]:
    meaning = _meaning(thing)
    yield from (f"## {thing.name}", "")
    if isinstance(thing, griffe.Attribute):
        yield f"`{thing.name} = {thing.value}`"
    elif isinstance(thing, griffe.Function):
        yield from ("```python", thing.signature(), "```")
    yield from ("", *_text(meaning), "")
    if isinstance(thing, griffe.Class):
        yield from _fields(thing)
        for method in thing.functions.values():
            if not method.name.startswith("_") and method.docstring:
                yield from (f"`{thing.name}.{method.signature()}`:", *_text(method.docstring.value), "")


def _meaning(thing: griffe.Object) -> str:
    if not thing.docstring:
        raise ValueError(f"{thing.path} does not say what it is; give it a docstring")
    return thing.docstring.value


def _fields(thing: griffe.Class) -> Iterator[str]:
    """Yield a table of the fields of a data class, a struct or a named tuple."""
    found = [
        each
        for each in thing.attributes.values()
        if each.annotation and not each.name.startswith("_") and not each.labels & {"property", "cached"}
    ]
    if found:
        yield from ("| field | type | without it | meaning |", "|---|---|---|---|")
        for field in found:
            meaning = cells.words(" ".join(_meaning(field).split()).replace("``", "`"))
            yield f"| `{field.name}` | {_code(str(field.annotation))} | {_code(_default(field))} | {meaning} |"
        yield ""


def _default(field: griffe.Attribute) -> str:
    """Return a default as it is written, of a function that has no public name what it returns.

    ``...`` stands for one that has no short form.
    """
    written = "" if field.value is None else str(field.value)
    made = re.fullmatch(r"field\(default_factory=(\w+)\)", written)
    if written.startswith("_") and isinstance(held := field.module[written], griffe.Function):
        *_, last = held.source.splitlines()
        written = last.strip().replace("return", "returns", 1) if last.startswith("    return") else "..."
    short = f"{made[1]}()" if made else written
    return "..." if short.startswith("_") or len(short) > LONG else short


def _text(docstring: str) -> Iterator[str]:
    """Yield a docstring as Markdown: each paragraph on a line, its examples as code."""
    for block in docstring.split("\n\n"):
        lines = block.strip("\n").splitlines()
        if lines and lines[0].lstrip().startswith(">>> "):
            yield from ("", "```pycon", *lines, "```")
        elif lines and lines[0].startswith("    "):
            yield from ("", "```python", *(line[4:] for line in lines), "```")
        else:
            yield from ("", " ".join(line.strip() for line in lines).replace("``", "`").replace(" ::", ":"))


def _code(text: str) -> str:
    return cells.code(text) if text else ""
