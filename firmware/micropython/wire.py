"""The contract with the companion, as far as a temple needs it: docs/protocol.md, templo/contract/messages.py.

It encodes what a temple publishes and decodes what it receives; it never connects.
It runs under MicroPython and CPython alike.
"""

import json

GODS = ("huitzilopochtli", "tlaloc")
COMMANDS = ("identify", "selftest", "calibrate", "resend", "drop", "dismiss")
MAX_PAYLOAD = 16384
MAX_SEQ = 2**63 - 1


class WireError(ValueError):
    """Bytes that break the contract."""


class Ms:
    """Microseconds that are written as milliseconds, without floats, which are short on a Pico."""

    def __init__(self, us):
        """Store whole microseconds."""
        self.us = us

    def __repr__(self):
        """Return what is written."""
        return _ms(self.us)


def topic(temple, leaf):
    """Return the topic of one leaf of a temple."""
    return "templo/%s/%s" % (temple, leaf)


def temple_name(text):
    """Return a temple's name unchanged, or raise `WireError`."""
    well = isinstance(text, str) and 0 < len(text) <= 32 and text[0] != "-"
    if not well or text.strip("abcdefghijklmnopqrstuvwxyz0123456789-"):
        raise WireError(
            "temple name: 1 to 32 lower-case letters, digits and hyphens, not starting with a hyphen expected"
        )
    return text


def is_id(value):
    """Return whether a value is 32 lower-case hexadecimal digits."""
    # What `strip` leaves holds another character; a Pico takes 2 ms to look at 32 of them one by one.
    return isinstance(value, str) and len(value) == 32 and not value.strip("0123456789abcdef")


def is_code(value):
    """Return whether a value is a code: 1 to 32 lower-case letters, digits and underscores, a letter first."""
    if not (isinstance(value, str) and 0 < len(value) <= 32 and "a" <= value[0] <= "z"):
        return False
    return not value.strip("abcdefghijklmnopqrstuvwxyz0123456789_")


def format_utc(ms):
    """Write milliseconds since 1970 as the contract does."""
    days, rest = divmod(ms, 86400000)
    # From the days to the date: the Gregorian calendar repeats every 146,097 days; its years begin in March here.
    days += 719468
    era, day = divmod(days, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    of_year = day - (365 * year + year // 4 - year // 100)
    part = (5 * of_year + 2) // 153
    month = part + 3 if part < 10 else part - 9
    date = (era * 400 + year + (month <= 2), month, of_year - (153 * part + 2) // 5 + 1)
    seconds, millis = divmod(rest, 1000)
    clock = (seconds // 3600, seconds // 60 % 60, seconds % 60, millis)
    return "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ" % (date + clock)


def parse_utc(text):
    """Read a time that the contract allows, as milliseconds since 1970; raises `WireError`."""
    if not (isinstance(text, str) and 20 <= len(text) <= 27 and text[-1] == "Z"):
        raise WireError("a time in UTC expected")
    if len(text) == 21 or (len(text) > 21 and text[19] != "."):
        raise WireError("a time in UTC expected")
    for at, mark in ((4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")):
        if text[at] != mark:
            raise WireError("a time in UTC expected")
    numbers = [text[:4], text[5:7], text[8:10], text[11:13], text[14:16], text[17:19], text[20:-1] or "0"]
    if "".join(numbers).strip("0123456789"):
        raise WireError("a time in UTC expected")
    year, month, day, hour, minute, second = [int(number) for number in numbers[:6]]
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or year < 1:
        raise WireError("a date expected")
    longest = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]
    if not 1 <= day <= longest or hour > 23 or minute > 59 or second > 59:
        raise WireError("a date and a time of day expected")
    years, months = (year - 1, month + 9) if month <= 2 else (year, month - 3)
    era = years // 400
    of_era = years % 400
    days = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + (153 * months + 2) // 5 + day - 1 - 719468
    return ((days * 24 + hour) * 60 + minute) * 60000 + second * 1000 + int((numbers[6] + "00")[:3])


def opened(leaf, payload):
    """Read a message of this version as a dict; raises `WireError` for anything else."""
    if len(payload) > MAX_PAYLOAD:
        raise WireError("%s is too long" % leaf)
    try:
        value = json.loads(_utf8(payload))
    except (ValueError, RuntimeError, MemoryError):
        raise WireError("%s: a JSON object expected" % leaf)
    if not isinstance(value, dict) or type(value.get("v")) is not int or value["v"] != 1:
        raise WireError("%s: an object of version 1 expected" % leaf)
    return value


def read(leaf, payload):
    """Read an `ack` or a `command`: its fields as a dict; raises `WireError` for anything else."""
    value = opened(leaf, payload)
    if leaf == "ack":
        if not is_id(value.get("source")):
            raise WireError("ack.source: 32 hexadecimal digits expected")
        token, at = value.get("token"), value.get("at")
        if token is not None and not is_id(token):
            raise WireError("ack.token: 32 hexadecimal digits expected")
        return {
            "source": value["source"],
            "seq": whole(value, "seq", 0),
            "token": token,
            "at": None if at is None else parse_utc(at),
            "doubts": whole(value, "doubts", 0) if value.get("doubts") is not None else None,
        }
    if not is_id(value.get("id")) or value.get("name") not in COMMANDS:
        raise WireError("command: an id and a name expected")
    god, keep = value.get("god"), value.get("keep")
    if (god is not None and god not in GODS) or (keep is not None and type(keep) is not bool):
        raise WireError("command: a god, and true or false expected")
    notice = value.get("notice")
    if notice is not None and not is_code(notice):
        raise WireError("command.notice: lower-case letters, digits and underscores expected")
    return {
        "id": value["id"],
        "name": value["name"],
        "expires": parse_utc(value.get("expires")),
        "seq": None if value.get("seq") is None else whole(value, "seq"),
        "god": god,
        "count": None if value.get("count") is None else whole(value, "count"),
        "keep": keep,
        "notice": notice,
    }


def read_status(payload):
    """Return a status as (state, source or None, session), or None for what is none: that is to be written over."""
    try:
        value = json.loads(_utf8(payload))
    except (ValueError, RuntimeError, MemoryError):
        return None
    if not isinstance(value, dict) or value.get("v") != 1 or not is_id(value.get("session")):
        return None
    state, source = value.get("state"), value.get("source")
    if state not in ("ready", "alert", "stopped", "lost") or not (source is None or is_id(source)):
        return None
    return state, source, value["session"]


def token(source, seq, name, god, at_ms, width_us, flags, replayed):
    """Write a token."""
    shown = ",".join(['"%s"' % flag for flag in sorted(flags)])
    again = "true" if replayed else "false"
    form = '{"v":1,"source":"%s","seq":%d,"token":"%s","god":"%s","at":"%s","width_ms":%s,"flags":[%s],"replayed":%s}'
    return (form % (source, seq, name, god, format_utc(at_ms), _ms(width_us), shown, again)).encode()


def status(state, source, session, software, beams, trouble, notices=()):
    """Write a status of a Pico; `beams` holds how each is, in the order of the gods, `notices` (code, ms) pairs."""
    shown = ",".join(['{"code":"%s","at":"%s"}' % (code, format_utc(at_ms)) for code, at_ms in notices])
    return (
        '{"v":1,"state":"%s","source":%s,"session":"%s","kind":"pico","software":"%s","timing":"callback",'
        '"beams":{"huitzilopochtli":"%s","tlaloc":"%s"},"trouble":%s%s}'
        % (
            state, _text(source), session, software, beams[0], beams[1], _text(trouble),
            ',"notices":[%s]' % shown if shown else "",
        )
    ).encode()  # fmt: skip


def doubt(source, number, reason, at_ms, name):
    """Write a doubt about one token, by its name."""
    form = '{"v":1,"source":"%s","number":%d,"reason":"%s","at":"%s","tokens":["%s"]}'
    return (form % (source, number, reason, format_utc(at_ms), name)).encode()


def count(source, seq, totals):
    """Write the lifetime totals, in the order of the gods."""
    form = '{"v":1,"source":"%s","seq":%d,"totals":{"huitzilopochtli":%d,"tlaloc":%d}}'
    return (form % (source, seq, totals[0], totals[1])).encode()


def noise(session, glitches, missed):
    """Write what the beams saw that was no token."""
    return (
        '{"v":1,"session":"%s","glitches":{"huitzilopochtli":%d,"tlaloc":%d},'
        '"missed_edges":{"huitzilopochtli":%d,"tlaloc":%d}}'
        % (session, glitches[0], glitches[1], missed[0], missed[1])
    ).encode()


def finding(code, facts):
    """Return a finding as pairs, its code first."""
    fields = [("code", code)]
    fields.extend(facts)
    return fields


def findings(session, at_ms, limits, found, emitters="fixed"):
    """Write what is wrong with the beams; `found` holds for each god what `diagnosis.diagnose` returns."""
    beams = []
    for god in range(2):
        fields = [_object(finding(code, facts)) for code, facts in found[god]]
        beams.append('"%s":[%s]' % (GODS[god], ",".join(fields)))
    form = '{"v":1,"session":"%s","at":"%s","emitters":"%s","limits":%s,"beams":{%s}}'
    return (form % (session, format_utc(at_ms), emitters, _object(limits), ",".join(beams))).encode()


def reply(request, result, error=None, code=None):
    """Write the answer to a command: a result, or an error in plain words with its code."""
    ok = error is None
    fields = [("v", 1), ("id", request), ("ok", ok), ("result", result if ok else None), ("error", error)]
    if code is not None:
        fields.append(("code", code))
    return _object(fields).encode()


def _utf8(payload):
    text = bytes(payload).decode("utf-8")
    # MicroPython's reader takes more for JSON than JSON is: what could matter is refused here.
    if not text.strip(" \t\r\n").endswith("}"):
        raise ValueError
    return text


def whole(value, name, least=1):
    """Return a field that is a whole number; raises `WireError` for anything else."""
    number = value.get(name)
    if type(number) is not int or not least <= number <= MAX_SEQ:
        raise WireError("%s: a whole number from %d expected" % (name, least))
    return number


def _object(pairs):
    return "{%s}" % ",".join(['"%s":%s' % (name, _json(value)) for name, value in pairs])


def _json(value):
    if isinstance(value, Ms):
        return _ms(value.us)
    if isinstance(value, dict):
        return _object(value.items())
    if isinstance(value, list):
        return "[%s]" % ",".join([_json(each) for each in value])
    return json.dumps(value)


def _ms(us):
    text = "%d.%03d" % (us // 1000, us % 1000)
    text = text.rstrip("0")
    return text + "0" if text[-1] == "." else text


def _text(value):
    return "null" if value is None else '"%s"' % value
