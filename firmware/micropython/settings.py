"""The Pico's settings (Wi-Fi, broker, names), asked for once and stored in settings.json on the board.

The dialogue asks over the USB cable; what it does not understand it asks again.
"""

import json

import wire

FILE = "settings.json"
DEFAULTS = {
    "temple": "templo",
    "country": "",
    "port": 1883,
    "user": None,
    "password": None,
    "ntp": "pool.ntp.org",
    "huitzilopochtli": 16,
    "tlaloc": 17,
    "emitters": None,
    "min_break_ms": 3,
    "min_clear_ms": 5,
    "max_break_ms": 250,
    "flicker_per_s": 60,
    "fastest_per_s": 20,
    "band_ms": None,
    "narrow_ms": None,
    "lamps": "off",
    "lamp_huitzilopochtli": 18,
    "lamp_tlaloc": 19,
    "lamp_data": 18,
    "lamp_each": 1,
    "lamp_percent": 100,
    "piezo": None,
}
_TEXTS = ("ssid", "wifi_password", "broker", "temple", "country", "user", "password", "ntp", "lamps")
_PINS = ("huitzilopochtli", "tlaloc", "emitters", "lamp_huitzilopochtli", "lamp_tlaloc", "lamp_data", "piezo")
_WHOLE = ("port", "lamp_each", "fastest_per_s")  # and all pins
_EMPTY = ("user", "password", "band_ms", "narrow_ms", "emitters", "piezo")  # may be null
_RANGES = {
    "port": (1, 65535),
    "min_break_ms": (0.1, 1000),
    "min_clear_ms": (0.1, 1000),
    "max_break_ms": (1, 60000),
    "flicker_per_s": (2, 10000),
    "fastest_per_s": (1, 10000),
    "band_ms": (0.1, 60000),
    "narrow_ms": (0.1, 60000),
    "lamp_each": (1, 8),
    "lamp_percent": (1, 100),
}
_RADIO = (23, 24, 25)  # a Pico W's Wi-Fi chip is on these pins
_LAMPS = {"off": (), "leds": ("lamp_huitzilopochtli", "lamp_tlaloc"), "ws2812": ("lamp_data",)}
_LEARNABLE = ("min_break", "max_break", "band", "narrow")


class SettingsError(ValueError):
    """Settings that cannot be used; the message says which, and what was expected."""

    def __init__(self, message, *names):
        """Take the words and the names of the settings concerned, first the one to do without."""
        super().__init__(message)
        self.names = names


def load(file=FILE):
    """Read and check the settings; raises `SettingsError`, or OSError where there are none."""
    return checked(_read(file))


def usable(say, file=FILE):
    """Return what can be kept of settings that are refused, for a dialogue to begin with; `say` why of the rest."""
    try:
        kept = dict(_read(file))
    except (OSError, ValueError):
        return {}
    while True:
        whole = {"ssid": "-", "wifi_password": "", "broker": "-"}  # the dialogue asks for what is missing
        whole.update(kept)
        try:
            checked(whole)
            return kept
        except SettingsError as error:
            say("Not kept: %s" % error)
            kept.pop(next(name for name in error.names if name in kept))


def checked(given):
    """Return settings with their defaults, or raise `SettingsError`."""
    settings = dict(DEFAULTS)
    settings.update(given)
    for name in ("ssid", "wifi_password", "broker"):
        if settings.get(name) is None:
            raise SettingsError("%s is missing" % name, name)
    for name, value in settings.items():
        if value is None and name in _EMPTY:
            continue
        if name in _TEXTS:
            _text(name, value)
        elif name in DEFAULTS:
            settings[name] = _number(name, value)
        else:
            raise SettingsError("%s is no setting; expected one that docs/pico.md names" % name, name)
    try:
        wire.temple_name(settings["temple"])
    except ValueError as error:
        raise SettingsError(str(error), "temple")
    _apart(settings)
    if settings["max_break_ms"] <= settings["min_break_ms"]:
        words = "max_break_ms is %r; expected more than min_break_ms"
        raise SettingsError(words % settings["max_break_ms"], "max_break_ms", "min_break_ms")
    return settings


def _read(file):
    with open(file) as opened:
        try:
            given = json.load(opened)
        except ValueError:
            raise SettingsError("%s is no JSON; expected what the set-up dialogue writes" % file)
    if not isinstance(given, dict):
        raise SettingsError("a JSON object expected")
    return given


def _text(name, value):
    if name == "lamps" and value not in tuple(_LAMPS):
        raise SettingsError("lamps is %r; expected off, leds or ws2812" % (value,), name)
    if not isinstance(value, str):
        shown = "no text" if name.endswith("password") else repr(value)
        raise SettingsError("%s is %s; expected text in quotes" % (name, shown), name)
    if not value and name in ("ssid", "broker", "ntp"):
        raise SettingsError("%s is empty" % name, name)
    if name == "country" and len(value) not in (0, 2):
        raise SettingsError("country is %r; expected two letters, such as DE, or none" % value, name)


def _number(name, value):
    """Return a number, whole where it has to be; raises `SettingsError`."""
    low, high = _RANGES.get(name, (0, 28))
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
        raise SettingsError("%s is %r; expected a number from %s to %s" % (name, value, low, high), name)
    if name in _WHOLE or name in _PINS:
        if value != int(value):
            raise SettingsError("%s is %r; expected a whole number" % (name, value), name)
        value = int(value)
    if name in _PINS and value in _RADIO:
        raise SettingsError("%s is %d; expected another pin than 23 to 25, which the Wi-Fi has" % (name, value), name)
    return value


def has_lights(settings):
    """Return whether there is anything to shine or to sound."""
    return settings["lamps"] != "off" or settings["piezo"] is not None


def coloured(settings):
    """Return whether the lamps can show any colour; None without lamps."""
    return None if settings["lamps"] == "off" else settings["lamps"] == "ws2812"


def _apart(settings):
    """Refuse a pin that two things would share, and a tone that would change the lamps' own."""
    leds = _LAMPS["leds"]
    used = ["huitzilopochtli", "tlaloc"]
    used += _LAMPS[settings["lamps"]]
    used += [name for name in ("emitters", "piezo") if settings[name] is not None]
    for place, name in enumerate(used):
        for other in used[:place]:
            if settings[name] == settings[other]:
                words = "%s is %r; expected another pin than %s's"
                raise SettingsError(words % (name, settings[name], other), name, other)
            # Two neighbouring pins, an even one first, have one PWM, and so does the pin sixteen later.
            if name == "piezo" and other in leds and _pwm(settings[name]) == _pwm(settings[other]):
                words = "piezo is %r, which has the PWM of %s; expected a pin of another pair"
                raise SettingsError(words % (settings[name], other), name)


def _pwm(gpio):
    return gpio >> 1 & 7


def named(settings):
    """Return the names of the limits that somebody chose: these are not learned."""
    return [name for name in _LEARNABLE if settings[name + "_ms"] != DEFAULTS[name + "_ms"]]


def save(settings, rename, file=FILE):
    """Write the settings so that a power cut leaves the old ones or the new ones."""
    with open(file + ".new", "w") as opened:
        json.dump(settings, opened)
    rename(file + ".new", file)


def dialogue(ask, say, before):
    """Ask for every required setting, and return the settings. An empty answer keeps the value in brackets."""
    settings = dict(before)
    say("Settings of the temple. Return keeps what is in brackets.")
    settings["ssid"] = _asked(ask, say, "Wi-Fi name (2.4 GHz)", settings.get("ssid"), _some)
    settings["wifi_password"] = _asked(ask, say, "Wi-Fi password", settings.get("wifi_password"), _wifi, secret=True)
    settings["broker"] = _asked(ask, say, "Broker's address", settings.get("broker"), _some)
    settings["port"] = _asked(ask, say, "Broker's port", settings.get("port", 1883), _port)
    settings["temple"] = _asked(ask, say, "The temple's name", settings.get("temple", "templo"), wire.temple_name)
    user = _asked(ask, say, "Broker's user ('-' for none)", settings.get("user") or "-", _some)
    settings["user"] = None if user == "-" else user
    settings["password"] = None
    if user != "-":
        settings["password"] = _asked(ask, say, "Broker's password", before.get("password"), _some, secret=True)
    return checked(settings)


def _asked(ask, say, words, before, read, secret=False):
    shown = "" if before is None else " [%s]" % ("kept" if secret else before)
    while True:
        answer = ask("%s%s: " % (words, shown)).strip()
        if not answer and before is not None:
            return before
        try:
            return read(answer)
        except ValueError as error:
            say("  %s" % error)


def _some(text):
    if not 0 < len(text) <= 128:
        raise ValueError("1 to 128 characters expected")
    return text


def _wifi(text):
    if text and not 8 <= len(text) <= 63:
        raise ValueError("8 to 63 characters expected, or none for an open network")
    return text


def _port(text):
    if not text or not all(c in "0123456789" for c in text) or not 1 <= int(text) <= 65535:
        raise ValueError("a port from 1 to 65535 expected")
    return int(text)
