"""The companion's settings: one TOML file, then the environment, then flags, each checked before anything starts."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

ENVIRONMENT = "TEMPLO_"
"""``TEMPLO_BROKER_PORT=1884`` sets ``port`` under ``[broker]``."""

_WORDS = {"int": "a whole number", "str": "text", "array": "a list", "object": "a table"}

Port = Annotated[int, Meta(ge=1, le=65535)]
Text = Annotated[str, Meta(max_length=255)]


class SettingsError(Exception):
    """A setting that cannot be used; the message holds where it stands, its value and what was expected."""


class BrokerSettings(Struct, forbid_unknown_fields=True, frozen=True):
    """The MQTT broker that the temples speak through."""

    host: Annotated[str, Meta(min_length=1, max_length=255)] = "localhost"
    port: Port = 1883
    user: Text = ""
    password: Text = ""
    keepalive_s: Annotated[int, Meta(ge=2, le=3600)] = 15


class WebSettings(Struct, forbid_unknown_fields=True, frozen=True):
    """Where phones reach the companion."""

    host: Annotated[str, Meta(min_length=1, max_length=255)] = "0.0.0.0"  # noqa: S104 phones must reach it
    port: Port = 8000
    allowed_hosts: tuple[Text, ...] = ()
    address: Text = ""
    streams: Annotated[int, Meta(ge=1, le=500)] = 64
    streams_each: Annotated[int, Meta(ge=1, le=500)] = 32
    connections_each: Annotated[int, Meta(ge=8, le=500)] = 64
    proxy: Text = ""


class Settings(Struct, forbid_unknown_fields=True, frozen=True):
    """Everything that can be set. `store` is a database URL, by default SQLite in the `state` directory."""

    broker: BrokerSettings = BrokerSettings()
    web: WebSettings = WebSettings()
    state: str = ""
    store: str = ""
    games: tuple[str, ...] = ()

    @property
    def state_directory(self) -> Path:
        """The directory that holds what must last."""
        if self.state:
            return Path(self.state).expanduser().absolute()
        home = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
        return Path(home).expanduser() / "templo-mayor"

    @property
    def store_url(self) -> str:
        """The URL of the database."""
        return self.store or f"sqlite:///{self.state_directory / 'companion.sqlite'}"


def load(file: Path | None, environment: Mapping[str, str], flags: Mapping[str, Any]) -> Settings:
    """Return the settings; `flags` maps ``"web.port"`` to a value, absent where a flag was not given.

    Raises `SettingsError`.
    """
    values: dict[str, Any] = {}
    if file is not None:
        try:
            values = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:  # TOML may be nested too deep
            raise SettingsError(
                f"settings file is {str(file)!r}; expected a readable TOML file ({_plain(str(error))})"
            ) from None
        _checked(values, str(file), strict=True)
    if directory := environment.get("STATE_DIRECTORY"):
        values.setdefault("state", directory)
    for path, value in _from_environment(environment):
        _set(values, path, value)
        _checked(values, f"{ENVIRONMENT}{path.replace('.', '_').upper()}")
    for path, value in flags.items():
        _set(values, path, value)
        _checked(values, f"--{path.removeprefix('web.').partition('.')[0]}")
    return _checked(values, "the settings together")


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for section, struct in (("broker", BrokerSettings), ("web", WebSettings)):
        for name in struct.__struct_fields__:
            value = environment.get(f"{ENVIRONMENT}{section}_{name}".upper())
            if value is not None:
                yield f"{section}.{name}", value.split(",") if name == "allowed_hosts" else value
    for name in ("store", "games"):
        value = environment.get(f"{ENVIRONMENT}{name}".upper())
        if value is not None:
            yield name, value.split(os.pathsep) if name == "games" else value


def _set(values: dict[str, Any], path: str, value: Any) -> None:
    *sections, name = path.split(".")
    for section in sections:
        values = values.setdefault(section, {})
    values[name] = value


def _checked(values: dict[str, Any], where: str, *, strict: bool = False) -> Settings:
    """Return the values as settings; only TOML knows types, the environment and flags hold their words."""
    try:
        return msgspec.convert(values, Settings, strict=strict)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$.")
        value = _value_at(values, path.rstrip("`"))
        # Beside a misspelt name may stand a password: of a section, its names are enough.
        found = "hidden" if "password" in path else ", ".join(value) if isinstance(value, dict) else _shown(value)
        place = path.rstrip("`") or "settings"
        raise SettingsError(_plain(f"{place} is {found} (from {where}); {_said(message)}")) from None


def _value_at(values: Any, path: str) -> Any:
    for name in filter(None, path.split(".")):
        values = values.get(name) if isinstance(values, dict) else values
    return values


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        text = "a huge number"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _plain(words: str) -> str:
    """Return words as a terminal may show them: in one line, every other sign written out, and no endless ones."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in words)[:600]


def _said(message: str) -> str:
    """Return what msgspec expected in a person's words."""
    message = re.sub(r", got `\w+`$", "", message).replace("Object contains unknown field", "there is no setting")
    for kind, words in _WORDS.items():
        message = message.replace(f"`{kind}`", words)
    return message[:1].lower() + message[1:]
