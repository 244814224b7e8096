"""The reference of what a game is made of: the public names of the kit, with signature, meaning and example."""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from companion.games import kit

LONG = 40
"""Characters of a default at most."""

FIRST = (
    "Game", "Option", "Rules", "MoveTable", "MoveType", "Move", "number", "one_of", "a_seat", "put", "added",
    "Result", "Page", "Line", "Chance", "TokenCount", "Tokens", "Bot",
)  # fmt: skip
"""What a first game needs, before everything else."""


def names() -> list[tuple[str, str, Any]]:
    """Return each public name of the kit, with the module that declares it and the object.

    `FIRST` ones come first, the others in the order of the kit's list.
    """
    tree = ast.parse(Path(str(kit.__file__)).read_text("utf-8"))
    found = [
        (each.name, node.module, getattr(kit, each.name))
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(kit.__name__)
        for each in node.names
    ]
    places = {name: place for place, name in enumerate(FIRST)}
    return sorted(found, key=lambda each: places.get(each[0], len(FIRST)))


def sections() -> Iterator[str]:
    """Yield the lines of the reference, one heading for each name."""
    last = ""
    for line in _sections():
        if line or last:
            yield line
        last = line


def _sections() -> Iterator[str]:
    for name, module, thing in names():
        documented = _attribute_docs(module)
        yield from (f"## {name}", "")
        if (inspect.isclass(thing) and thing.__module__ != "builtins") or inspect.isfunction(thing):
            yield from _described(name, thing, documented)
        else:
            meaning = documented.get(name, "")
            if not meaning:
                raise ValueError(f"{module}.{name} does not say what it is; give it a docstring")
            yield from (_value(name, thing), "", *_text(meaning), "")


def _described(name: str, thing: Any, documented: Mapping[str, str]) -> Iterator[str]:
    meaning = inspect.cleandoc(thing.__doc__ or "")
    if not meaning or meaning.startswith(f"{name}("):
        raise ValueError(f"{thing.__module__}.{name} does not say what it is; give it a docstring")
    if inspect.isfunction(thing):
        yield from ("```python", f"{name}{_signature(thing)}", "```", "")
    yield from (*_text(meaning), "")
    if inspect.isclass(thing):
        yield from _fields(name, thing, documented)
        for method, function in vars(thing).items():
            if inspect.isfunction(function) and not method.startswith("_") and function.__doc__:
                yield from (
                    f"`{name}.{method}{_signature(function)}`:",
                    *_text(inspect.cleandoc(function.__doc__)),
                    "",
                )


def _fields(name: str, thing: type, documented: Mapping[str, str]) -> Iterator[str]:
    found = [each for each in _declared(thing) if not each[0].startswith("_")]
    if found and not any(f"{name}.{field}" in documented for field, _, _ in found):
        yield from ("```python", *(f"{field}: {kind}{default and f' = {default}'}" for field, kind, default in found))
        yield from ("```", "")
    elif found:
        yield from ("| field | type | without it | meaning |", "|---|---|---|---|")
        for field, kind, default in found:
            meaning = " ".join(documented.get(f"{name}.{field}", "").split())
            if not meaning:
                raise ValueError(f"{thing.__module__}.{name}.{field} does not say what it is; give it a docstring")
            yield f"| `{field}` | {_code(kind)} | {_code(default)} | {_cell(meaning)} |"
        yield ""


def _declared(thing: type) -> Iterator[tuple[str, str, str]]:
    """Yield the fields of a data class, a struct or a named tuple: name, type and default."""
    hints = {name: _plain(hint) for name, hint in getattr(thing, "__annotations__", {}).items()}
    if is_dataclass(thing):
        for each in fields(thing):
            made = each.default_factory() if each.default_factory is not MISSING else each.default
            default = "" if made is MISSING else _default(made)
            yield each.name, hints.get(each.name, ""), default
    elif isinstance(thing, msgspec.StructMeta):
        for given in msgspec.structs.fields(thing):
            made = given.default if given.default_factory is msgspec.NODEFAULT else given.default_factory()
            yield given.name, hints.get(given.name, ""), "" if given.required else _default(made)
    elif issubclass(thing, tuple) and hasattr(thing, "_fields"):
        for one in thing._fields:
            default = _default(thing._field_defaults[one]) if one in thing._field_defaults else ""
            yield one, hints.get(one, ""), default


def _default(value: object) -> str:
    """Return a default: of a function what it returns, or its name; ``...`` for one that has no short form."""
    if inspect.isfunction(value):
        (made,) = ast.parse(textwrap.dedent(inspect.getsource(value))).body
        last = made.body[-1] if isinstance(made, ast.FunctionDef) else None
        if not value.__name__.startswith("_"):
            return value.__name__
        returned = ast.unparse(last.value) if isinstance(last, ast.Return) and last.value else ""
        return f"returns {returned}" if 0 < len(returned) <= LONG else "..."
    if isinstance(value, msgspec.Struct) or (is_dataclass(value) and not isinstance(value, type)):
        return f"{type(value).__name__}()"
    short = json.dumps(value) if isinstance(value, str) else repr(value).removeprefix("operator.")
    return "..." if isinstance(value, type) or len(short) > LONG or " at 0x" in short else short


def _plain(hint: object) -> str:
    hint = getattr(hint, "__forward_arg__", hint)
    return hint if isinstance(hint, str) else getattr(hint, "__name__", str(hint))


def _signature(function: Any) -> str:
    """Return a signature whose annotations are not quoted; a default that is a text is."""
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(function)))


def _value(name: str, thing: object) -> str:
    if typing.get_origin(thing) is not None or isinstance(thing, type | typing.TypeVar):
        return f"A type: `{_tidy(_plain(thing) if isinstance(thing, type) else str(thing))}`."
    return f"`{name} = {thing!r}`"


def _tidy(text: str) -> str:
    return re.sub(r"\b(?:typing|collections\.abc|companion\.games\.kit\.\w+)\.", "", text)


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
    return f"`{_cell(text)}`" if text else ""


def _cell(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")


def _attribute_docs(module: str) -> dict[str, str]:
    """Return the docstrings below the assignments of a module, those of its classes by ``Class.field``."""
    body = ast.parse(Path(str(import_module(module).__file__)).read_text("utf-8")).body
    found = dict(_docs(body, ""))
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module and any(each.asname == each.name for each in node.names):
            passed_on = _attribute_docs(node.module)
            found |= {each.name: passed_on[each.name] for each in node.names if each.name in passed_on}
    return found


def _docs(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, str]]:
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef):
            yield from _docs(node.body, f"{node.name}.")
        target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(node, ast.Assign):
            target = node.targets[0]
        if isinstance(target, ast.Name) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            yield prefix + target.id, inspect.cleandoc(str(after.value.value))
        elif isinstance(target, ast.Tuple) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            for each in target.elts:
                if isinstance(each, ast.Name):
                    yield prefix + each.id, inspect.cleandoc(str(after.value.value))
