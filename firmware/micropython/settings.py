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
    "min_break_ms": 3,
    "min_clear_ms": 5,
    "max_break_ms": 250,
    "flicker_per_s": 60,
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
_LAMPS = {"off": (), "leds": ("lamp_huitzilopochtli", "lamp_tlaloc"), "ws2812": ("lamp_data",)}
_LEARNABLE = ("min_break", "max_break", "band", "narrow")


class SettingsError(ValueError):
    """Settings that cannot be used; the message says which, and what was expected."""


def load(file=FILE):
    """Read and check the settings; raises `SettingsError`, or OSError where there are none."""
    with open(file) as opened:
        try:
            given = json.load(opened)
        except ValueError:
            raise SettingsError("%s is no JSON; expected what the set-up dialogue writes" % file)
    return checked(given)


def checked(given):
    """Return settings with their defaults, or raise `SettingsError`."""
    if not isinstance(given, dict):
        raise SettingsError("a JSON object expected")
    settings = dict(DEFAULTS)
    settings.update(given)
    for name in ("ssid", "wifi_password", "broker"):
        if not isinstance(settings.get(name), str):
            raise SettingsError("%s is missing" % name)
    wire.temple_name(settings["temple"])
    for name, low, high in (
        ("port", 1, 65535),
        ("huitzilopochtli", 0, 28),
        ("tlaloc", 0, 28),
        ("min_break_ms", 0.1, 1000),
        ("min_clear_ms", 0.1, 1000),
        ("max_break_ms", 1, 60000),
        ("flicker_per_s", 2, 10000),
        ("band_ms", 0.1, 60000),
        ("narrow_ms", 0.1, 60000),
        ("lamp_huitzilopochtli", 0, 28),
        ("lamp_tlaloc", 0, 28),
        ("lamp_data", 0, 28),
        ("lamp_each", 1, 8),
        ("lamp_percent", 1, 100),
        ("piezo", 0, 28),
    ):
        value = settings[name]
        if value is None and name in ("band_ms", "narrow_ms", "piezo"):
            continue
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
            raise SettingsError("%s is %r; expected a number from %s to %s" % (name, value, low, high))
    if settings["lamp_each"] != int(settings["lamp_each"]):
        raise SettingsError("lamp_each is %r; expected a whole number" % settings["lamp_each"])
    settings["lamp_each"] = int(settings["lamp_each"])
    if settings["lamps"] not in tuple(_LAMPS):
        raise SettingsError("lamps is %r; expected off, leds or ws2812" % settings["lamps"])
    _apart(settings)
    if settings["max_break_ms"] <= settings["min_break_ms"]:
        raise SettingsError("max_break_ms is %r; expected more than min_break_ms" % settings["max_break_ms"])
    return settings


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
    if settings["piezo"] is not None:
        used.append("piezo")
    for place, name in enumerate(used):
        for other in used[:place]:
            if settings[name] == settings[other]:
                raise SettingsError("%s is %r; expected another pin than %s's" % (name, settings[name], other))
            # Two neighbouring pins, an even one first, have one PWM, and so does the pin sixteen later.
            if name == "piezo" and other in leds and _pwm(settings[name]) == _pwm(settings[other]):
                words = "piezo is %r, which has the PWM of %s; expected a pin of another pair"
                raise SettingsError(words % (settings[name], other))


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
