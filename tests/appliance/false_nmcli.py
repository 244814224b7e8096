#!/usr/bin/env python3
"""A false nmcli: its state is in the file that FALSE_NMCLI names, and it answers as the real one does.

Of `air` come the Wi-Fis in reach, with signal, security and password; `connections` are what NetworkManager keeps.
"""

import json
import os
import sys
import uuid
from pathlib import Path

STATE = Path(os.environ["FALSE_NMCLI"])
VALUED = {"--wait", "--fields", "--get-values", "--escape", "--rescan"}


def main() -> int:
    state = json.loads(STATE.read_text())
    state["asked"].append(sys.argv[1:])
    words, options = parsed(sys.argv[1:])
    try:
        print(answered(state, words, options), end="")
    except LookupError as error:
        print(f"Error: {error.args[0]}", file=sys.stderr)
        return 10
    finally:
        STATE.write_text(json.dumps(state))
    return 0


def parsed(given):
    words, options, rest = [], {}, iter(given)
    for word in rest:
        if word in VALUED:
            options[word] = next(rest)
        elif word.startswith("--"):
            options[word] = "yes"
        else:
            words.append(word)
    return words, options


def answered(state, words, options):
    if words == ["device", "status"]:
        return rows(options, devices(state))
    if words == ["device", "wifi", "list"]:
        return rows(options, wifis(state))
    if words == ["connection", "show"]:
        return rows(options, [shown(each) for each in state["connections"]])
    if words[:3] == ["connection", "show", "id"]:
        return values(options, found(state, "id", words[3]))
    if words[:2] == ["connection", "add"]:
        return added(state, dict(zip(words[2::2], words[3::2], strict=True)))
    if words[:2] == ["connection", "up"]:
        return risen(state, found(state, words[2], words[3]))
    if words[:2] == ["connection", "down"]:
        state["active"] = ""
        return ""
    if words[:2] == ["connection", "delete"]:
        gone = found(state, words[2], words[3])
        state["connections"].remove(gone)
        if state["active"] == gone["uuid"]:
            state["active"] = ""
        return ""
    raise LookupError(f"unexpected: {words}")


def devices(state):
    active = next((each for each in state["connections"] if each["uuid"] == state["active"]), None)
    for device in state["devices"]:
        if device == "wifi":
            kind = state.get("wifi_state") or ("connected" if active else "disconnected")
            yield {"TYPE": "wifi", "STATE": kind, "CONNECTION": active["con-name"] if active else ""}
        else:
            kind = "connected" if state["cable"] else "unavailable"
            yield {"TYPE": device, "STATE": kind, "CONNECTION": "Wired" if state["cable"] else ""}


def wifis(state):
    active = next((each for each in state["connections"] if each["uuid"] == state["active"]), None)
    for name, (signal, security, _) in state["air"].items():
        is_used = active is not None and active["ssid"] == name
        yield {"IN-USE": "*" if is_used else " ", "SSID": name, "SIGNAL": str(signal), "SECURITY": security}


def shown(each):
    return {
        "UUID": each["uuid"],
        "TYPE": "802-11-wireless",
        "NAME": each["con-name"],
        "AUTOCONNECT": each.get("autoconnect", "yes"),
    }


def found(state, by, value):
    key = {"id": "con-name", "uuid": "uuid"}[by]
    for each in state["connections"]:
        if each[key] == value:
            return each
    raise LookupError(f"{value} - no such connection profile.")


def values(options, each):
    names = {"802-11-wireless.ssid": "ssid", "802-11-wireless-security.psk": "wifi-sec.psk"}
    return "".join(f"{each.get(names[field], '')}\n" for field in options["--get-values"].split(","))


def added(state, given):
    made = {**given, "uuid": str(uuid.uuid4())}
    state["connections"].append(made)
    return f"Connection '{made['con-name']}' ({made['uuid']}) successfully added.\n"


def risen(state, wanted):
    if wanted.get("802-11-wireless.mode") != "ap":
        in_air = state["air"].get(wanted["ssid"])
        if in_air is None:
            state["active"] = ""
            raise LookupError("Connection activation failed: The Wi-Fi network could not be found")
        if in_air[2] != wanted.get("wifi-sec.psk", ""):
            state["active"] = ""
            raise LookupError("Connection activation failed: Secrets were required, but not provided.")
    state["active"] = wanted["uuid"]
    return "Connection successfully activated\n"


def rows(options, found):
    fields = options["--fields"].split(",")
    lines = (":".join(row[field].replace("\\", "\\\\").replace(":", "\\:") for field in fields) for row in found)
    return "".join(f"{line}\n" for line in lines)


sys.exit(main())
