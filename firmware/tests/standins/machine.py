"""A stand-in for MicroPython's `machine`: pins whose levels are the world's, and a watchdog that only listens."""

import world

fed = 0


class Pin:
    """A pin of the world's."""

    IN, OUT, PULL_UP = 0, 1, 1

    def __init__(self, number, mode=0, pull=None):
        """Take a pin by its number or name."""
        self.number = number

    def value(self, level=None):
        """Read the level, or set it."""
        if level is None:
            return world.level(self.number)
        world.levels[self.number] = int(level)
        return None


class PWM:
    """A pin that pulses: the world shows what was last set."""

    def __init__(self, pin):
        """Take a pin, at rest."""
        self._number = pin.number
        world.pulses[self._number] = [0, 0]

    def freq(self, hertz):
        """Choose how often it pulses in a second."""
        if not 8 <= hertz <= 62500000:
            raise ValueError("freq out of range")
        world.pulses[self._number][0] = hertz

    def duty_u16(self, duty):
        """Choose how long each pulse is, of 65535."""
        world.pulses[self._number][1] = duty


class WDT:
    """A watchdog that counts how often it is fed."""

    running = False

    def __init__(self, timeout):
        """Begin."""
        self.timeout = timeout
        WDT.running = True

    def feed(self):
        """Count one feeding."""
        global fed
        fed += 1


class Timer:
    """A timer that never fires."""

    def init(self, period, callback):
        """Remember nothing."""

    def deinit(self):
        """Stop."""


class _Registers:
    """Two registers: which state machines had to wait for a full queue, and one that stops the watchdog."""

    _WATCHDOG_CLEAR = 0x4005B000

    def __init__(self):
        self.stalled = 0

    def __getitem__(self, address):
        return self.stalled

    def __setitem__(self, address, bits):
        if address == self._WATCHDOG_CLEAR:
            WDT.running = WDT.running and not bits & 1 << 30
            return
        self.stalled &= ~bits


mem32 = _Registers()


def unique_id():
    """Return a board's own number."""
    return b"standin!"
