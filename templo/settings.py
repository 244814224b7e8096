"""Reads a program's settings from a TOML file, the environment and flags, and checks them before anything starts.

A program declares its settings as a frozen dataclass, with one more for each section. ``[broker] port = 1884`` in the
file, ``TEMPLO_BROKER_PORT=1884`` in the environment and ``--set broker.port=1884`` say the same; flags win over the
environment, and that wins over the file. A service's unit may give defaults of its own, which everything else
overrides: ``TEMPLO_DEFAULT_WEB_PORT=80``. Only the settings file and password files are opened.
"""

from __future__ import annotations

import argparse
import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Generic, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from templo.quoting import nearest, printable, quoted
from templo.setting_types import split_port

PREFIX = "TEMPLO_"
DEFAULT_PREFIX = f"{PREFIX}DEFAULT_"
_DEFAULTS = "the defaults"
_T = TypeVar("_T")


class SettingsError(Exception):
    """A setting that cannot be used; the message holds its value, where it came from and what was expected."""


class Setting(NamedTuple):
    """One setting as it is declared."""

    key: str
    """Its name in the file, such as ``broker.port``."""
    type: Any
    expected: str
    hidden: bool
    separator: str
    """What separates the values of a list in the environment; empty for a single value."""
    about: str
    """What it does, and when to change it."""

    @property
    def variable(self) -> str:
        """The environment variable that sets it: that of ``broker.port`` is ``TEMPLO_BROKER_PORT``."""
        return PREFIX + self.key.replace(".", "_").upper()

    @property
    def default_variable(self) -> str:
        """The environment variable that replaces its default: ``TEMPLO_DEFAULT_WEB_PORT`` for ``web.port``."""
        return DEFAULT_PREFIX + self.variable.removeprefix(PREFIX)


class RawValue(NamedTuple):
    """What was given for a setting, and where; `typed` where the source has types of its own."""

    value: object
    origin: str
    typed: bool


Flags = Mapping[str, tuple[str, str]]
"""Values that flags give: by the setting's key the text, and the flag that gave it."""


@dataclass(frozen=True, slots=True)
class Loaded(Generic[_T]):
    """A program's settings, checked one by one."""

    values: _T
    raw: Mapping[str, RawValue]
    wrong: Mapping[str, SettingsError]
    """What is wrong, by its key, if it was read leniently; the whole file has the empty one. Defaults stand in."""

    @property
    def chosen(self) -> frozenset[str]:
        """The keys that somebody set; all others have their defaults."""
        return frozenset(key for key, raw in self.raw.items() if raw.origin != _DEFAULTS)

    def refusal(self, key: str, value: object, expected: str) -> SettingsError:
        """Return the error for a value that is wrong beside others."""
        return _refusal(key, self.raw.get(key) or RawValue(value, _DEFAULTS, True), expected)


def declared_settings(declared: type) -> Mapping[str, Setting]:
    """Return every setting that a dataclass and those of its sections declare, by its key.

    >>> from templo.broker import BrokerSettings
    >>> declared_settings(BrokerSettings)["port"].expected
    'a port from 1 to 65535'
    """
    return {setting.key: setting for setting in _walked(declared, "")}


def declared_defaults(declared: type, prefix: str = "") -> Mapping[str, object]:
    """Return the declared default of every setting that has one, by its key."""
    hints = get_type_hints(declared)
    found: dict[str, object] = {}
    for field in fields(declared):
        if is_dataclass(hints[field.name]):
            found |= declared_defaults(hints[field.name], f"{prefix}{field.name}.")
        elif field.default is not MISSING:
            found[f"{prefix}{field.name}"] = field.default
    return found


def described(declared: type, word: str = "") -> Iterator[str]:
    """Yield in lines for a terminal what each setting does and takes whose name or description has a word.

    >>> from templo.broker import BrokerSettings
    >>> for line in described(BrokerSettings, "silent connection"):
    ...     print(line)
    keepalive_s: seconds from 2 to 3600
      How often a silent connection is checked; after half as long again the broker publishes `lost`.
      Raise it on a slow network.
    """
    for key, setting in sorted(declared_settings(declared).items()):
        if word.lower() in f"{key} {setting.about}".lower():
            yield f"{key}: {setting.expected}"
            yield from (f"  {sentence}" for sentence in setting.about.replace(". ", ".\n").split("\n"))


def _walked(declared: type, prefix: str) -> Iterator[Setting]:
    for name, hint in get_type_hints(declared, include_extras=True).items():
        if is_dataclass(hint):
            assert isinstance(hint, type)
            yield from _walked(hint, f"{prefix}{name}.")
        elif name in {field.name for field in fields(declared)}:
            yield _setting(f"{prefix}{name}", hint)


def _setting(key: str, hint: Any) -> Setting:
    if NoneType in get_args(hint):  # None means that nothing was given, so no value may be None
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    metas = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, msgspec.Meta)]
    extra = {name: value for meta in metas for name, value in (meta.extra or {}).items()}
    plain = get_args(hint)[0] if metas else hint
    expected = next((meta.description for meta in metas if meta.description), None)
    if expected is None:
        assert get_origin(plain) is Literal, f"{key} does not say what it expects"
        expected = f"one of {', '.join(get_args(plain))}"
    separator = "" if get_origin(plain) is not tuple else os.pathsep if extra.get("pathsep") else ","
    return Setting(key, hint, expected, bool(extra.get("hidden")), separator, str(extra.get("about", "")))


def load(
    declared: type[_T],
    program: str,
    *,
    file: Path | None,
    environ: Mapping[str, str],
    flags: Flags,
    home: Path,
    defaults: Mapping[str, object] | None = None,
    lenient: bool = False,
) -> Loaded[_T]:
    """Read and check every setting that is declared; raises `SettingsError` for the first wrong one unless `lenient`.

    `file` is a settings file that must be there. Without one the variable ``TEMPLO_<PROGRAM>_CONFIG`` names it, or
    the first of `usual_files` that exists is read. `defaults` replace those of the declaration.
    """
    found = _Findings(declared_settings(declared), {})
    raw = {key: RawValue(value, _DEFAULTS, True) for key, value in (defaults or {}).items()}
    raw |= found.defaults_from_environment(environ)
    if file is None:
        file = named_file(program, environ)
    if file is None:
        file = next((path for path in usual_files(program, environ, home) if path.exists()), None)
    if file is not None:
        with found.collected(""):
            raw |= found.known({key: RawValue(value, str(file), True) for key, value in _entries(file).items()})
    raw |= found.from_environment(environ, _config_variable(program))
    raw |= found.known({key: RawValue(value, flag, False) for key, (value, flag) in flags.items()})
    for key, (_, flag) in flags.items():
        if key.endswith("password"):  # every user of the machine can read a command line
            with found.collected(key):
                raise _refusal(key, RawValue(None, flag, False), f"{found.settings[key].variable}, or {key}_file")
    values = dict(defaults or {})
    for key, value in raw.items():
        with found.collected(key):
            values[key] = _checked(found.settings[key], value)
    for key in [key for key in values if key.endswith("password_file")]:
        password = key.removesuffix("_file")
        if values[key] is not None and not values.get(password):
            with found.collected(key):
                values[password] = _first_line(Path(str(values[key])).expanduser(), key, raw[key].origin)
    if found.wrong and not lenient:
        raise next(iter(found.wrong.values()))
    return Loaded(_built(declared, "", values), raw, found.wrong)


@dataclass(frozen=True, slots=True)
class _Findings:
    """What is wrong with settings that are being read, in the order in which it was found."""

    settings: Mapping[str, Setting]
    wrong: dict[str, SettingsError]

    @contextmanager
    def collected(self, key: str) -> Iterator[None]:
        """Collect an error as that of a setting."""
        try:
            yield
        except SettingsError as error:
            self.wrong.setdefault(key, error)

    def known(self, given: Mapping[str, RawValue]) -> dict[str, RawValue]:
        """Return what was given for settings that there are."""
        for key in [key for key in given if key not in self.settings]:
            meant = nearest(key, self.settings)
            expected = f"did you mean {meant}?" if meant else f"expected one of {', '.join(self.settings)}"
            origin = given[key].origin
            self.wrong.setdefault(key, SettingsError(f"{quoted(key)} (from {origin}) is no setting; {expected}"))
        return {key: raw for key, raw in given.items() if key in self.settings}

    def defaults_from_environment(self, environ: Mapping[str, str]) -> dict[str, RawValue]:
        """Return what the environment gives as defaults."""
        variables = {key: setting.default_variable for key, setting in self.settings.items()}
        return {key: RawValue(environ[name], name, False) for key, name in variables.items() if name in environ}

    def from_environment(self, environ: Mapping[str, str], config: str) -> dict[str, RawValue]:
        """Return what the environment gives; the variable `config` names a file."""
        keys = {setting.variable: key for key, setting in self.settings.items()}
        # The other program has variables of its own: only a near miss is an error.
        for name in environ:
            if (
                name.startswith(PREFIX)
                and not name.startswith(DEFAULT_PREFIX)
                and name not in (*keys, config)
                and (meant := nearest(name, [*keys, config], 0.9))
            ):
                wrong = keys.get(meant, name)
                self.wrong.setdefault(wrong, SettingsError(f"{name} is set in the environment; expected {meant}"))
        return {keys[name]: RawValue(text, name, False) for name, text in environ.items() if name in keys}


def named_file(program: str, environ: Mapping[str, str]) -> Path | None:
    """Return the settings file that the environment names."""
    named = environ.get(_config_variable(program))
    return Path(named) if named else None


def _config_variable(program: str) -> str:
    return f"{PREFIX}{program.upper()}_CONFIG"


def usual_files(program: str, environ: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Return where a program's settings file is looked for: in the user's configuration, then in the system's."""
    folder = Path("templo-mayor") / f"{program}.toml"
    return (_base(environ, "XDG_CONFIG_HOME", home / ".config") / folder, Path("/etc") / folder)


def default_state(environ: Mapping[str, str], home: Path) -> Path:
    """Return where a program keeps what must last: systemd's state directory for it, else the user's own.

    >>> default_state({"STATE_DIRECTORY": "/var/lib/templo-controller"}, Path("/home/ana"))
    PosixPath('/var/lib/templo-controller')
    >>> default_state({}, Path("/home/ana"))
    PosixPath('/home/ana/.local/state/templo-mayor')
    """
    if directory := environ.get("STATE_DIRECTORY"):
        return Path(directory.split(":")[0])
    return _base(environ, "XDG_STATE_HOME", home / ".local/state") / "templo-mayor"


def _base(environ: Mapping[str, str], name: str, otherwise: Path) -> Path:
    base = environ.get(name) or ""
    return Path(base) if base.startswith("/") else otherwise  # the XDG standard says to ignore a relative path


def _entries(file: Path) -> dict[str, object]:
    """Return what a settings file gives, by each setting's key; raises `SettingsError`."""
    try:
        tables = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"the settings file {file} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # nested too deep, or a number that Python does not read, too
        raise SettingsError(f"the settings file {file} is not TOML: {printable(str(error), 200)}") from None
    entries: dict[str, object] = {}
    for name, value in tables.items():
        if isinstance(value, dict):
            entries |= {f"{name}.{key}": inner for key, inner in value.items()}
        else:
            entries[name] = value
    return entries


def _checked(setting: Setting, raw: RawValue) -> object:
    value = raw.value
    if setting.separator and isinstance(value, str) and not raw.typed:
        value = [each for each in value.split(setting.separator) if each]
    try:
        checked: object = msgspec.convert(value, setting.type, strict=raw.typed)
        if all(each.isprintable() for each in _texts(checked)):
            return checked
    except msgspec.ValidationError:
        pass
    raise _refusal(setting.key, raw._replace(value=None) if setting.hidden else raw, setting.expected)


def _texts(value: object) -> list[str]:
    return [each for each in (value if isinstance(value, tuple) else [value]) if isinstance(each, str)]


def _refusal(key: str, raw: RawValue, expected: str) -> SettingsError:
    found = "hidden" if raw.value is None else "a table" if isinstance(raw.value, dict) else quoted(raw.value)
    return SettingsError(f"{key} is {found} (from {printable(raw.origin)}); expected {expected}")


def _first_line(path: Path, key: str, origin: str) -> str:
    name = f"{key} {path} (from {origin})"
    try:
        with path.open(encoding="utf-8") as file:
            line = file.readline(4096).rstrip("\r\n")
    except OSError as error:
        raise SettingsError(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{name} is not UTF-8 text") from None
    if not line:
        raise SettingsError(f"{name} is empty; expected a password in its first line")
    return line


def _built(declared: type[_T], prefix: str, values: Mapping[str, object]) -> _T:
    hints = get_type_hints(declared)
    given: dict[str, Any] = {}
    for name in (field.name for field in fields(declared)):  # type: ignore[arg-type] # dataclasses are all that is declared
        if is_dataclass(hints[name]):
            given[name] = _built(hints[name], f"{prefix}{name}.", values)
        elif f"{prefix}{name}" in values:
            given[name] = values[f"{prefix}{name}"]
    return declared(**given)


class SettingFlag(argparse.Action):
    """A flag of the command line that gives the setting that its `dest` names; read it with `given_flags`.

    >>> parser = argparse.ArgumentParser()
    >>> _ = parser.add_argument("--state", action=SettingFlag)
    >>> given_flags(parser.parse_args(["--state", "kept"]))
    {'state': ('kept', '--state')}
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**options, "default": argparse.SUPPRESS})

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, flag: str | None = None
    ) -> None:
        """Keep what was given."""
        given = {key: (text, str(flag)) for key, text in self.read(str(value)).items()}
        namespace.given_flags = {**given_flags(namespace), **given}

    def read(self, value: str) -> dict[str, str]:
        """Return the settings that a flag's value gives."""
        return {self.dest: value}


class BrokerFlag(SettingFlag):
    """``--broker HOST[:PORT]``, or several of them separated by commas."""

    def read(self, value: str) -> dict[str, str]:
        """Return host and port; of several brokers each keeps its port in ``broker.host``."""
        host, port = (value, "") if "," in value else split_port(value)
        return {"broker.host": host, **({"broker.port": port} if port else {})}


class SetFlag(SettingFlag):
    """``--set KEY=VALUE``; raises `SettingsError` for anything else."""

    def read(self, value: str) -> dict[str, str]:
        """Return the one setting."""
        key, equals, text = value.partition("=")
        if not equals:
            raise SettingsError(f"--set is {quoted(value)}; expected KEY=VALUE, such as broker.port=1883")
        return {key: text}


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that every command of both programs has."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="the settings file, in TOML")
    parser.add_argument("--state", action=SettingFlag, metavar="DIR", help="where everything that must last is kept")
    parser.add_argument(
        "--broker",
        action=BrokerFlag,
        metavar="HOST[:PORT][,...]",
        help="the broker's address (127.0.0.1:1883); of several the first that answers",
    )
    parser.add_argument("--log", action=SettingFlag, metavar="LEVEL", help="debug, info, warning or error (info)")
    parser.add_argument("--set", action=SetFlag, metavar="KEY=VALUE", help="any other setting: broker.keepalive_s=5")


def given_flags(arguments: argparse.Namespace) -> dict[str, tuple[str, str]]:
    """Return the settings that flags gave, each with its flag."""
    return dict(getattr(arguments, "given_flags", {}))
