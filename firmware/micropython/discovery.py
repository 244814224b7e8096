"""Home Assistant's discovery payload: the one of controller/adapters/home_assistant.py, byte for byte.

It builds one payload, a piece at a time: memory is scarce here, and it is published once for each connection.
"""

from wire import GODS, topic

PRESSED_S = 30
_NAMES = ("Huitzilopochtli", "Tlaloc")


def announcement(temple, kind, software, coloured=None):
    """Return the topic under which a temple is announced, retained, and the payload.

    `coloured` is None for a temple without lamps, and else whether they can show any colour.
    """
    name = "Templo Mayor" if temple == "templo" else "Templo Mayor %s" % temple
    payload = bytearray()
    payload += (
        '{"device":{"identifiers":["templo-%s"],"name":"%s","manufacturer":"Templo Mayor","model":"%s",'
        '"sw_version":"%s"},'
        '"origin":{"name":"templo-mayor","sw_version":"%s"},"availability":[%s],'
        '"qos":1,"components":{' % (temple, name, kind, software, software, _alive(temple))
    ).encode()
    for god in range(2):
        for part in _parts(temple, GODS[god], _NAMES[god]):
            payload += part.encode()
            payload += b","
    payload += _button(temple, "identify", "Identify", "identify", "", '"device_class":"identify"').encode()
    if coloured is not None:
        for part in (_lamps(temple, coloured), _mood(temple)):
            payload += b","
            payload += part.encode()
    payload += b"}}"
    return "homeassistant/device/%s/config" % temple, payload


def _alive(temple):
    return (
        '{"topic":"%s","value_template":'
        "\"{{ 'online' if value_json.state in ['ready', 'alert'] else 'offline' }}\"}" % topic(temple, "status")
    )


def _parts(temple, god, name):
    totals = "totals.%s" % god
    more = '"state_class":"total_increasing","unit_of_measurement":"tokens","icon":"mdi:counter"'
    yield _number(temple, "total_%s" % god, "%s, of all time" % name, "count", totals, more)
    more = '"state_class":"measurement","unit_of_measurement":"tokens","icon":"mdi:stairs-up"'
    yield _number(temple, "score_%s" % god, "%s, this game" % name, "score", totals, more)
    yield (
        '%s,"platform":"binary_sensor","name":"%s\'s beam","device_class":"problem","state_topic":"%s",'
        '"value_template":'
        "\"{{ 'ON' if value_json.beams.%s in ['jammed', 'dark', 'flicker'] else 'OFF' }}\"}"
        % (_begun(temple, "beam_%s" % god), name, topic(temple, "status"), god)
    )
    for key, words in (("glitches", "glitches"), ("missed_edges", "missed edges")):
        more = '"state_class":"total_increasing","unit_of_measurement":"%s","entity_category":"diagnostic"' % words
        yield _number(temple, "%s_%s" % (key, god), "%s's %s" % (name, words), "noise", "%s.%s" % (key, god), more)
    of_god = ',\\"god\\":\\"%s\\"' % god
    yield _button(temple, "drop_%s" % god, "Test token for %s" % name, "drop", of_god, '"icon":"mdi:ray-start-end"')


def _lamps(temple, coloured):
    more = (
        '{% if brightness is defined %},\\"brightness\\":{{ brightness }}{% endif %}'
        '{% if effect is defined %},\\"effect\\":\\"{{ effect }}\\"{% endif %}'
    )
    templates, light = "", topic(temple, "light")
    if coloured:
        more += '{% if red is defined %},\\"colour\\":[{{ red }},{{ green }},{{ blue }}]{% endif %}'
        for n, name in enumerate(("red", "green", "blue")):
            templates += '"%s_template":"{{ value_json.colour[%d] }}",' % (name, n)
    return (
        '%s,"platform":"light","schema":"template","name":"Lamps","icon":"mdi:fire",'
        '"availability":[%s,{"topic":"%s","value_template":'
        "\"{{ 'offline' if value_json.fault is defined else 'online' }}\"}],"
        '"availability_mode":"all","state_topic":"%s",'
        "\"state_template\":\"{{ 'on' if value_json.on else 'off' }}\","
        '"brightness_template":"{{ value_json.brightness }}","effect_template":"{{ value_json.effect }}",'
        '"effect_list":["signals","steady"],%s"command_topic":"%s",'
        '"command_on_template":"{\\"v\\":1,\\"on\\":true%s}","command_off_template":"{\\"v\\":1,\\"on\\":false}"}'
        % (_begun(temple, "lamps"), _alive(temple), light, light, templates, topic(temple, "set_light"), more)
    )


def _mood(temple):
    return (
        '%s,"platform":"sensor","name":"Mood","icon":"mdi:weather-lightning-rainy","state_topic":"%s",'
        "\"value_template\":\"{{ value_json.signals | join(', ') or 'calm' }}\"}"
        % (_begun(temple, "mood"), topic(temple, "mood"))
    )


def _begun(temple, key):
    return '"%s":{"unique_id":"templo-%s-%s"' % (key, temple, key)


def _number(temple, key, name, leaf, path, more):
    return '%s,"platform":"sensor","name":"%s","state_topic":"%s","value_template":"{{ value_json.%s }}",%s}' % (
        _begun(temple, key),
        name,
        topic(temple, leaf),
        path,
        more,
    )


def _button(temple, key, name, command, fields, more):
    template = (
        '{\\"v\\":1,\\"id\\":\\"{{ \'%%032d\' | format((utcnow().timestamp() * 1000000) | int) }}\\",'
        '\\"name\\":\\"%s\\",'
        '\\"expires\\":\\"{{ (utcnow() + timedelta(seconds=%d)).strftime(\'%%Y-%%m-%%dT%%H:%%M:%%SZ\') }}\\"%s}'
        % (command, PRESSED_S, fields)
    )
    return (
        '%s,"platform":"button","name":"%s","command_topic":"%s","command_template":"%s","entity_category":"diagnostic",%s}'
        % (_begun(temple, key), name, topic(temple, "command"), template, more)
    )
