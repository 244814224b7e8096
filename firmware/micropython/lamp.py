"""Which pattern the board's lamp shows for the temple's health. Pure: the caller gives the time and sets the lamp."""

SETUP, NO_WIFI, NO_BROKER, REFUSED, NO_TIME, READY, ALERT, TOKEN, IDENTIFY = (
    "set-up", "no Wi-Fi", "no broker", "refused", "no time", "ready", "alert", "token", "identify",
)  # fmt: skip

PATTERNS = {
    SETUP: (1, 1, 0, 0, 0, 0, 0, 0),
    NO_WIFI: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    NO_BROKER: (1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    REFUSED: (1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    NO_TIME: (0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
    READY: (1,),
    ALERT: (1, 0),
    TOKEN: (0,),
    IDENTIFY: (1, 0, 1, 0, 1, 0, 0, 0),
}
STEP_MS = 125
TOKEN_MS = 150
IDENTIFY_MS = 5000


def lit(state, now_ms):
    """Return whether the lamp is on now."""
    pattern = PATTERNS[state]
    return bool(pattern[now_ms // STEP_MS % len(pattern)])


def state(now_ms, wifi, broker, refused, time, alert, recorded_ms, identified_ms):
    """Return what most needs to be shown."""
    if identified_ms is not None and now_ms - identified_ms < IDENTIFY_MS:
        return IDENTIFY
    if now_ms - recorded_ms < TOKEN_MS:
        return TOKEN
    if alert:
        return ALERT
    if not wifi:
        return NO_WIFI
    if not broker:
        return REFUSED if refused else NO_BROKER
    return READY if time else NO_TIME
