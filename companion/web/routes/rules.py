"""The page of a game's rules: its guide, each ruling's option, and what a table plays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response
from msgspec import Struct

from companion.games import registry
from companion.games.kit import Game, Option, Value
from companion.model.table import ServiceError, Table
from companion.web.rendering.guide import load
from companion.web.rendering.renderer import guide_file
from companion.web.rendering.texts import Texts
from companion.web.site import language, site

blueprint = Blueprint("rules", __name__)


class Reading(Struct, frozen=True):
    """One value of an option, in words: whether it is our reading, and whether a table plays by it."""

    words: str
    default: bool
    played: bool


class Setting(Struct, frozen=True):
    """An option as the rules page shows it beside its ruling."""

    key: str
    name: str
    readings: tuple[Reading, ...]
    differs: bool
    """Whether the table plays by another value than our reading."""
    left: bool
    """Whether it has no effect at the table because of another option."""


@blueprint.get("/games/<game>/rules")
def game_rules(game: str) -> Response:
    """Show a game's rules."""
    return _rules(site().game(game), None)


@blueprint.get("/t/<table_id>/rules")
def table_rules(table_id: str) -> Response:
    """Show a table's rules; for a tool's table those of its game."""
    table = site().services.tables.get(table_id)
    name, _ = registry.parts(table.charter.game)
    return _rules(site().game(name), table)


def _rules(game: Game[Any], table: Table | None) -> Response:
    here = site()
    if not here.renderer.guided(game.name):
        raise ServiceError("no_guide")
    words = here.game_words(game.name)
    played = table.options if table is not None and table.charter.game == game.name else {}
    settings: dict[str, list[Setting]] = {}
    for option in game.options:
        settings.setdefault(option.ruling, []).append(_setting(option, words, played))
    return here.page(
        "rules.html",
        game=game,
        gt=words,
        guide=load(guide_file(here.folders[game.name], language())),
        settings=settings,
        table=table,
        at_table=bool(played),
        changed=sum(setting.differs for each in settings.values() for setting in each),
    )


def _setting(option: Option, words: Texts, played: Mapping[str, Value]) -> Setting:
    left = bool(played) and not option.matters(played)
    now = played[option.key] if played and not left else option.default
    values = list(dict.fromkeys([*option.values, option.default, now])) if option.high else list(option.values)
    readings = tuple(
        Reading(_value(option, value, words), value == option.default, bool(played) and not left and value == now)
        for value in values
    )
    return Setting(option.key, words(f"option.{option.key}.name"), readings, now != option.default, left)


def _value(option: Option, value: Value, words: Texts) -> str:
    key = f"option.{option.key}.value.{value}"
    return words(key) if words.has(key) else str(value)
