"""The simulated world around a Pico: a clock that a test moves, levels on pins, and their listeners.

Runs under CPython and MicroPython. Times are whole microseconds.
"""

now_us = 0
levels = {}
pulses = {}
sent = {}
watchers = []
flash_busy = False


def reset():
    """Reset everything but the time."""
    levels.clear()
    pulses.clear()
    sent.clear()
    watchers.clear()


def level(pin):
    """Return a pin's level; an open collector that is let go of is pulled up."""
    return levels.get(pin, 1)


def put(pin, value):
    """Move a pin now."""
    if level(pin) != value:
        for each in watchers:
            each.pass_to(now_us)
        levels[pin] = value
        for each in watchers:
            each.changed(pin)


def pass_to(us):
    """Let the time pass."""
    global now_us
    now_us = us
    for each in watchers:
        each.pass_to(us)
