"""The vocabulary of the contract: every value that a field may take from a fixed list."""

from __future__ import annotations

from enum import StrEnum


class God(StrEnum):
    """The two slots at the top of the temple."""

    HUITZILOPOCHTLI = "huitzilopochtli"
    TLALOC = "tlaloc"


class State(StrEnum):
    """The state of a temple in its retained status."""

    READY = "ready"
    ALERT = "alert"
    STOPPED = "stopped"
    LOST = "lost"


class Kind(StrEnum):
    """The kind of device that a temple runs on."""

    PI = "pi"
    PICO = "pico"
    ARDUINO = "arduino"
    SIMULATOR = "simulator"


class Timing(StrEnum):
    """Where the time stamps of edges come from: the kernel, a callback's own clock, or a script."""

    KERNEL = "kernel"
    CALLBACK = "callback"
    SIMULATED = "simulated"


class Beam(StrEnum):
    """The condition of one slot's beam."""

    UNPROVED = "unproved"
    """Clear by its level, but no edge was detected since the daemon started."""
    CLEAR = "clear"
    JAMMED = "jammed"
    """Dark for longer than any token: something is stuck in the chute."""
    DARK = "dark"
    """Dark from the start: unplugged, blocked or wired the other way round."""
    FLICKER = "flicker"
    """Far more edges than tokens could make: sunlight, a loose plug, a weak supply."""
    UNKNOWN = "unknown"
    """The daemon is not running."""


class Trouble(StrEnum):
    """What keeps a temple from recording tokens, when its beams are not the reason."""

    LEDGER_FULL = "ledger_full"
    LEDGER_READ_ONLY = "ledger_read_only"
    LEDGER_FAILING = "ledger_failing"
    LEDGER_NEWER = "ledger_newer"
    """A newer release wrote the ledger, and this one leaves it alone."""
    NAME_TAKEN = "name_taken"
    """Another temple speaks under this name at the same broker."""
    DEAF = "deaf"
    """The sensors' thread or the record's thread has died."""
    BEAMS_MISSING = "beams_missing"
    """What the beams are read with is not there: the GPIO chip, the board, or the library for it."""
    BEAMS_BUSY = "beams_busy"
    """Another program uses the beams' lines."""
    MISCONFIGURED = "misconfigured"
    """A setting is wrong, and no token is counted until somebody mends it."""


class Flag(StrEnum):
    """What is unusual about a token."""

    JAM = "jam"
    OVERLAP = "overlap"
    MISSED_EDGE = "missed_edge"
    TEST = "test"
    SIMULATED = "simulated"


class Emitters(StrEnum):
    """Whether a temple can prove its beams by itself."""

    SWITCHED = "switched"
    """They are on a pin: switching them off and on proves the whole path."""
    FIXED = "fixed"
    """They are always on: only a broken beam proves that its receiver is there."""


class LightEffect(StrEnum):
    """What a temple's lamps do while nothing happens."""

    SIGNALS = "signals"
    """They are dark, and light up for tokens and signals."""
    STEADY = "steady"
    """They shine, below tokens and signals."""


class CommandName(StrEnum):
    """The commands that may be sent to a temple."""

    IDENTIFY = "identify"
    SELFTEST = "selftest"
    CALIBRATE = "calibrate"
    RESEND = "resend"
    DROP = "drop"
    DISMISS = "dismiss"
