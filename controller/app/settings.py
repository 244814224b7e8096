"""What may be set, from where, and what each value must be: a TOML file, then the environment, then flags.

It reads and checks everything before anything starts. It never opens what a setting names, save the settings file and
the password file, and no message holds a password.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from controller.app import backends
from controller.core.counting import MS, Limits
from controller.core.settings import BeamSettings, BrokerSettings, Settings
from templo.contract import God
from templo.setting_types import Milliseconds, OneOf, RawValue, SettingType, Temple, Text, Whole

PREFIX = "TEMPLO_"
PASSWORD = "TEMPLO_BROKER_PASSWORD"  # noqa: S105 (the name of a variable)
CONFIG = "TEMPLO_CONFIG"


class SettingsError(Exception):
    """A setting that cannot be used; the message holds its value, where it came from and what was expected."""


_PATH = Text(4096, "a path")
_PIN = Whole(0, 27, "a BCM pin number")

_KINDS: dict[str, SettingType] = {
    "temple": Temple(),
    "state": _PATH,
    "log": OneOf("debug", "info", "warning", "error"),
    "beams.source": Text(4096, "the name of a backend"),
    "beams.factory": OneOf("lgpio", "rpigpio", "mock"),
    "beams.chip": Text(64, "the label of a GPIO chip, such as pinctrl-rp1"),
    "beams.huitzilopochtli": _PIN,
    "beams.tlaloc": _PIN,
    "beams.emitters": _PIN,
    "beams.broken": OneOf("low", "high"),
    "beams.pull": OneOf("up", "down", "none"),
    "counting.min_break_ms": Milliseconds(0.1, 1000),
    "counting.min_clear_ms": Milliseconds(0.1, 1000),
    "counting.max_break_ms": Milliseconds(1, 60_000),
    "counting.band_ms": Milliseconds(0.1, 60_000),
    "counting.narrow_ms": Milliseconds(0.1, 60_000),
    "counting.flicker_per_s": Whole(2, 10_000),
    "broker.host": Text(253, "a host name or address"),
    "broker.port": Whole(1, 65_535, "a port"),
    "broker.user": Text(128, "a user name"),
    "broker.password_file": _PATH,
    "broker.protocol": OneOf("auto", "5", "3.1.1"),
    "broker.keepalive_s": Whole(2, 3600),
}

KEYS = tuple(_KINDS)
_DEFAULTS = "the defaults"


def variable(key: str) -> str:
    """Return the environment variable that sets a key: ``broker.host`` is ``TEMPLO_BROKER_HOST``."""
    return PREFIX + key.replace(".", "_").upper()


def nearest(word: str, known: list[str], closeness: float = 0.6) -> str | None:
    """Return the known word that was probably meant."""
    from difflib import get_close_matches

    found = get_close_matches(word, known, 1, closeness)
    return found[0] if found else None


def default_state(environ: Mapping[str, str], home: Path) -> Path:
    """Return where a temple keeps its ledger: what systemd says, else the user's own state folder."""
    if directory := environ.get("STATE_DIRECTORY"):
        return Path(directory.split(":")[0])
    base = environ.get("XDG_STATE_HOME") or ""
    return (Path(base) if base.startswith("/") else home / ".local/state") / "templo-mayor"


def default_files(environ: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Return where a settings file is looked for when none is named; the first that is there counts."""
    base = environ.get("XDG_CONFIG_HOME") or ""
    own = Path(base) if base.startswith("/") else home / ".config"
    return (own / "templo-mayor/controller.toml", Path("/etc/templo-mayor/controller.toml"))


def default_pins() -> dict[str, object]:
    """Return the table of pins and polarity that ships with the program."""
    from importlib.resources import files

    return tomllib.loads(files("controller.app").joinpath("pins.toml").read_text("utf-8"))


def load(
    *,
    file: Path | None,
    environ: Mapping[str, str],
    flags: Mapping[str, tuple[str, str]],
    home: Path,
) -> Settings:
    """Read and check every setting; raises `SettingsError`.

    `file` is a settings file that must be there; without one `TEMPLO_CONFIG` or the usual places count. `flags` maps
    a key to the text that was given and the flag that gave it.
    """
    given = _defaults(environ, home)
    given |= _from_file(file, environ, home)
    given |= _from_environment(environ)
    for key, (text, flag) in flags.items():
        given[_known(key, flag)] = RawValue(text, flag, True)
    values = {key: _read(key, value) for key, value in given.items()}
    return _together(values, given, environ)


def _defaults(environ: Mapping[str, str], home: Path) -> dict[str, RawValue]:
    pins = default_pins()
    receivers, polarity = pins["receivers"], pins["polarity"]
    assert isinstance(receivers, dict)
    assert isinstance(polarity, dict)
    limits = Limits()
    plain: dict[str, object] = {
        "temple": "templo",
        "state": str(default_state(environ, home)),
        "log": "info",
        "beams.source": "gpio",
        "beams.factory": "lgpio",
        "beams.huitzilopochtli": receivers["huitzilopochtli"],
        "beams.tlaloc": receivers["tlaloc"],
        "beams.broken": polarity["broken"],
        "beams.pull": polarity["pull"],
        "counting.min_break_ms": limits.min_break / MS,
        "counting.min_clear_ms": limits.min_clear / MS,
        "counting.max_break_ms": limits.max_break / MS,
        "counting.flicker_per_s": limits.flicker,
        "broker.host": "127.0.0.1",
        "broker.port": 1883,
        "broker.protocol": "auto",
        "broker.keepalive_s": 10,
    }
    return {key: RawValue(value, _DEFAULTS, False) for key, value in plain.items()}


def _from_file(file: Path | None, environ: Mapping[str, str], home: Path) -> dict[str, RawValue]:
    if file is None and (named := environ.get(CONFIG)):
        file = Path(named)
    if file is None:
        file = next((path for path in default_files(environ, home) if path.exists()), None)
    if file is None:
        return {}
    try:
        tables = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"the settings file {file} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # nested too deep, or a number that Python does not read, too
        raise SettingsError(f"the settings file {file} is not TOML: {_plain(error)}") from None
    given = {}
    for name, value in tables.items():
        entries = {name: value}
        if isinstance(value, dict):
            entries = {f"{name}.{key}": inner for key, inner in value.items()}
        for key, inner in entries.items():
            given[_known(key, str(file))] = RawValue(inner, str(file), False)
    return given


def _from_environment(environ: Mapping[str, str]) -> dict[str, RawValue]:
    names = {variable(key): key for key in KEYS}
    given = {}
    for name, text in environ.items():
        if name in names:
            given[names[name]] = RawValue(text, name, True)
            continue
        if not name.startswith(PREFIX) or name in (PASSWORD, CONFIG):
            continue
        # Other programs of the house read variables of their own: only a near miss is an error.
        if meant := nearest(name, [*names, PASSWORD, CONFIG], 0.9):
            raise SettingsError(f"{name} is set in the environment; expected {meant}")
    return given


def _known(key: str, origin: str) -> str:
    if key in _KINDS:
        return key
    meant = nearest(key, list(KEYS))
    raise SettingsError(
        f"{key!r} (from {origin}) is no setting; "
        + (f"did you mean {meant}?" if meant else f"expected one of {', '.join(KEYS)}")
    )


def _read(key: str, given: RawValue) -> object:
    kind = _KINDS[key]
    try:
        return kind.read(given)
    except (ValueError, OverflowError):
        shown = _shown(given.value)
        raise SettingsError(f"{key} is {shown} (from {given.origin}); expected {kind.expected}") from None


def _plain(error: Exception) -> str:
    return ascii(str(error))[1:-1][:200]


def _shown(value: object) -> str:
    try:
        text = ascii(value)
    except ValueError:  # Python writes no number of thousands of digits
        text = "a huge number"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _together(values: dict[str, object], given: dict[str, RawValue], environ: Mapping[str, str]) -> Settings:
    """Check what no value can be wrong in alone, and build the whole."""

    def refuse(key: str, expected: str) -> SettingsError:
        return SettingsError(f"{key} is {_shown(given[key].value)} (from {given[key].origin}); expected {expected}")

    def whole(key: str) -> int:
        value = values[key]
        assert isinstance(value, int)
        return value

    def text(key: str) -> str | None:
        value = values.get(key)
        return None if value is None else str(value)

    if whole("counting.max_break_ms") <= whole("counting.min_break_ms"):
        least = f"more than counting.min_break_ms, {whole('counting.min_break_ms') / MS:g}"
        raise refuse("counting.max_break_ms", least)
    pins: dict[int, str] = {}
    for key in ("beams.huitzilopochtli", "beams.tlaloc", "beams.emitters"):
        if key in values and (other := pins.setdefault(whole(key), key)) != key:
            raise refuse(key, f"another pin than that of {other}")
    state = Path(str(values["state"])).expanduser()
    beams = BeamSettings(
        source=str(values["beams.source"]),
        factory=str(values["beams.factory"]),
        chip=text("beams.chip"),
        pins={god: whole(f"beams.{god}") for god in God},
        emitters=whole("beams.emitters") if "beams.emitters" in values else None,
        broken=str(values["beams.broken"]),
        pull=str(values["beams.pull"]),
    )
    try:
        backends.find(beams)
    except ValueError as error:
        raise refuse("beams.source", str(error)) from None
    return Settings(
        temple=str(values["temple"]),
        state=state.absolute(),
        log=str(values["log"]),
        beams=beams,
        counting=Limits(
            min_break=whole("counting.min_break_ms"),
            min_clear=whole("counting.min_clear_ms"),
            max_break=whole("counting.max_break_ms"),
            flicker=whole("counting.flicker_per_s"),
            band=whole("counting.band_ms") if "counting.band_ms" in values else None,
            narrow=whole("counting.narrow_ms") if "counting.narrow_ms" in values else None,
        ),
        broker=BrokerSettings(
            host=str(values["broker.host"]),
            port=whole("broker.port"),
            user=text("broker.user"),
            password=_password(values, given, environ),
            protocol=str(values["broker.protocol"]),
            keepalive=whole("broker.keepalive_s"),
        ),
        chosen=frozenset(key for key, value in given.items() if value.origin != _DEFAULTS),
    )


def _password(values: dict[str, object], given: dict[str, RawValue], environ: Mapping[str, str]) -> str | None:
    """Return the broker's password, from the environment or else from its file's first line."""
    if password := environ.get(PASSWORD):
        return password
    if "broker.password_file" not in values:
        return None
    path = Path(str(values["broker.password_file"])).expanduser()
    name = f"broker.password_file {path} (from {given['broker.password_file'].origin})"
    try:
        with path.open(encoding="utf-8") as file:
            password = file.readline(4096).rstrip("\r\n")
    except OSError as error:
        raise SettingsError(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{name} is not UTF-8 text") from None
    if not password:
        raise SettingsError(f"{name} is empty; expected a password in its first line")
    return password
