"""The texts that people read, in each language, and how facts are filled into them.

A folder of texts has a TOML file for each language, ``en.toml``, and perhaps further ones for its parts,
``en.board.toml``. Tables nest into dotted keys: ``[log]`` ``gave = "..."`` is ``log.gave``. A text may contain facts:

- ``{name}`` as it is; a whole number in the language's format
- ``{delta:+}`` a change, always with its sign
- ``{god:god}`` the text ``god.<value>``, so that facts are codes and never words
- ``{seat:who}`` the name of the player who sits there, else the text ``seat.<value>``
- ``{seat:and}`` the same after the language's "and", as in "Ana y Ben" and "Ana e Inés"
- ``{says:text}`` the text whose key the fact is, filled in with the same facts

A text with a plural is a table of the language's plural categories (``one``, ``other``), chosen by the fact ``n``.
A game's texts have precedence over the shell's.
"""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from babel import Locale
from babel.dates import format_date, format_skeleton, format_time
from babel.numbers import format_decimal
from markupsafe import Markup
from msgspec import Struct, field
from msgspec.structs import replace

from companion.web.rendering import names

LANGUAGES = ("en", "es")

Text: TypeAlias = str | Mapping[str, str]

_PLURALS = frozenset({"zero", "one", "two", "few", "many", "other"})
_SOUNDS_LIKE_I = re.compile(r"(?i)[ií]|h[ií](?![aeou])|y(?![aeiouáéíóú])")
"""How a name begins before which Spanish says "e" and not "y": Inés, Hipólito, Yves, and not Hierro, Yolanda."""

_ISOLATE, _POP = "\u2068", "\u2069"


class MissingText(LookupError):
    """A text, or a fact that a text needs, is missing; the message names the language and the key."""


class TextError(ValueError):
    """A file of texts cannot be read; the message names it."""


@cache
def load(folder: Path, language: str) -> Mapping[str, Text]:
    """Return a folder's texts in a language by their dotted keys, cached for the process; raises `TextError`."""
    found: dict[str, Text] = {}
    for path in (folder / f"{language}.toml", *sorted(folder.glob(f"{language}.*.toml"))):
        try:
            entries = _flat(tomllib.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise TextError(f"texts {path} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise TextError(f"texts {path} are {error}; expected a TOML file of words") from error
        if twice := sorted(found.keys() & entries.keys()):
            raise TextError(f"texts {path} say {twice[0]!r} again; expected each key in one file")
        found |= entries
    return found


def _flat(tree: Mapping[str, Any], stem: str = "") -> dict[str, Text]:
    flat: dict[str, Text] = {}
    for name, value in tree.items():
        key = f"{stem}{name}"
        if isinstance(value, str):
            flat[key] = value
        elif isinstance(value, dict) and "other" in value and value.keys() <= _PLURALS:
            flat[key] = {category: str(text) for category, text in value.items()}
        elif isinstance(value, dict):
            flat |= _flat(value, f"{key}.")
        else:
            raise ValueError(f"no words but {value!r} under {key!r}")
    return flat


@lru_cache(maxsize=4096)
def _cut(text: str) -> tuple[tuple[str, str | None, str | None], ...]:
    """Return a text split at its facts: the text before each, its name, its format."""
    return tuple((literal, name, kind) for literal, name, kind, _ in string.Formatter().parse(text))


@cache
def _locale(language: str) -> Locale:
    return Locale.parse(language)


@lru_cache(maxsize=4096, typed=True)
def _number(value: int | float, language: str) -> str:
    return format_decimal(value, locale=language).replace("-", "\N{MINUS SIGN}")


@lru_cache(maxsize=1024)
def _time(minute: datetime, language: str) -> str:
    return format_time(_local(minute), "short", locale=language)


def _local(at: datetime) -> datetime:
    """Return an aware time in this machine's zone; as it is at the edge of what a calendar can hold."""
    try:
        return at.astimezone()
    except OverflowError:  # a temple's clock may be as wrong as that
        return at


_Day: TypeAlias = date


class Texts(Struct, frozen=True):
    """The texts of one language, a game's before the shell's, and the names of the people at the table."""

    language: str
    layers: tuple[Mapping[str, Text], ...]
    people: Mapping[str, str] = field(default_factory=dict)
    marks_names: bool = False

    def __call__(self, key: str, /, **facts: Any) -> str:
        """Return a text filled in with its facts; raises `MissingText`."""
        text = self._find(key)
        if not isinstance(text, str):
            text = text[self._category(key, facts)]
        try:
            return "".join(self._parts(text, facts))
        except KeyError as error:
            raise MissingText(f"{self.language} {key!r} needs the fact {error}; got {sorted(facts)}") from None

    def named(self, key: str, /, **facts: Any) -> Markup:
        """Return a text as HTML whose long names are fitted into their lines; raises `MissingText`."""
        return names.fitted(replace(self, marks_names=True)(key, **facts))

    def has(self, key: str) -> bool:
        """Return whether there are words under a key."""
        return any(key in layer for layer in self.layers)

    def raw(self, key: str) -> str:
        """Return the text of a key with its facts unfilled, all plural forms of it; raises `MissingText`."""
        text = self._find(key)
        return text if isinstance(text, str) else " ".join(text.values())

    def number(self, value: int | float) -> str:
        """Return a number in the language's format."""
        return _number(value, self.language)

    def share(self, chance: float) -> str:
        """Return a probability in per cent: 0 and 100 only where it is certain (ruling Z28)."""
        if 0 < chance < 0.01:
            return self("share.under")
        if 0.99 < chance < 1:
            return self("share.over")
        return self("share.plain", percent=round(100 * chance))

    def time(self, at: datetime) -> str:
        """Return the time of day of an aware time, by this machine's zone."""
        return _time(at.replace(second=0, microsecond=0), self.language)

    def day(self, at: datetime) -> str:
        """Return the day of an aware time, by this machine's zone."""
        return format_date(_local(at), "medium", locale=self.language)

    def weekday(self, day: _Day) -> str:
        """Return a day with its weekday and year, in the language's format."""
        return format_date(day, "full", locale=self.language)

    def date(self, at: datetime) -> str:
        """Return the day of an aware time without its year, by this machine's zone."""
        return format_skeleton("MMMd", _local(at), locale=self.language)

    def _find(self, key: str) -> Text:
        for layer in self.layers:
            if key in layer:
                return layer[key]
        raise MissingText(f"no words for {key!r} in {self.language!r}")

    def _category(self, key: str, facts: Mapping[str, Any]) -> str:
        if type(facts.get("n")) is not int:
            raise MissingText(f"{self.language} {key!r} counts the fact 'n'; got {facts.get('n')!r}")
        text = self._find(key)
        category = _locale(self.language).plural_form(facts["n"])
        return category if category in text else "other"

    def _parts(self, text: str, facts: Mapping[str, Any]) -> list[str]:
        parts = []
        for literal, name, kind in _cut(text):
            parts.append(literal)
            if name is not None:
                parts.append(self(facts[name], **facts) if kind == "text" else self._fact(facts[name], kind or ""))
        return parts

    def _fact(self, value: Any, kind: str) -> str:
        if kind == "who":
            return self._typed(self.people[value]) if self.people.get(value) else self(f"seat.{value}")
        if kind == "and":
            name = self.people.get(value) or self(f"seat.{value}")
            return f"{self('names.and_i' if _SOUNDS_LIKE_I.match(name) else 'names.and')} {self._fact(value, 'who')}"
        if kind == "+":
            return f"{'−' if value < 0 else '+'}{self.number(abs(value))}"
        if kind:
            return self(f"{kind}.{value}")
        if isinstance(value, str):
            return self._typed(value)
        return self.number(value) if type(value) in (int, float) else str(value)

    def _typed(self, text: str) -> str:
        return isolated(names.marked(text) if self.marks_names else text)


def isolated(name: str) -> str:
    """Return typed text in bidirectional isolation, so that right-to-left letters do not reorder the sentence."""
    if names.reads_from_the_right(name):
        return f"{_ISOLATE}{name}{_POP}"
    return name


class Library:
    """All texts of the shell and of every game. Reading a language takes a while: a second waits for its reader."""

    def __init__(self, shell: Path, games: Mapping[str, Path]) -> None:
        """Read those of the first language; raises `TextError`. `games` gives each game's folder of texts."""
        self._shell, self._games = shell, games
        for folder in (shell, *games.values()):
            load(folder, LANGUAGES[0])
        self._tools: dict[tuple[str, str, str], Mapping[str, Text]] = {}

    def words(self, language: str, game: str = "", people: Mapping[str, str] | None = None) -> Texts:
        """Return the words of a language, with those of a game if one is named.

        Those of a tool, ``"<game>.<tool>"``, are in its game's file under ``aid.<tool>`` and have precedence.
        """
        name, _, tool = game.partition(".")
        layers: list[Mapping[str, Text]] = [load(self._games[name], language)] if game else []
        if tool:
            layers.insert(0, self._tool(name, tool, language))
        return Texts(language, (*layers, load(self._shell, language)), people or {})

    def _tool(self, game: str, tool: str, language: str) -> Mapping[str, Text]:
        stem = f"aid.{tool}."
        key = (game, tool, language)
        if key not in self._tools:
            texts = load(self._games[game], language)
            self._tools[key] = {
                name.removeprefix(stem): text for name, text in texts.items() if name.startswith(stem)
            }
        return self._tools[key]


def line_text(words: Callable[..., str], code: str, facts: Mapping[str, Any]) -> str:
    """Return one line of a table's story; a player who sits down without a name has a text of its own."""
    return words(f"log.{'sat_nameless' if code == 'sat' and not facts.get('name') else code}", **facts)
