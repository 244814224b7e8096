"""The two beams on a Pico's pins: two PIO state machines each, which measure dark spells without the processor.

A flash erase masks interrupts for up to 0.4 s and stops nothing here. Eight spells wait in a state machine's queue
and a ninth in the machine itself, which then sees nothing more until somebody takes one; that spells may have been
lost is reported.
"""

import machine
import rp2

TICK_US = 5
_CYCLES = 3  # for each turn of both loops
FREQUENCY = 1000000 * _CYCLES // TICK_US
DEPTH = 9
_FDEBUG = 0x50200008  # PIO 0: bits 0 to 3 say that a full queue made a machine wait


@rp2.asm_pio(fifo_join=rp2.PIO.JOIN_RX)
def spells():  # noqa: D103, RUF100 (the assembler takes every statement for an instruction)
    wrap_target()
    wait(0, pin, 0)  # dark: an open collector pulls the line down
    mov(x, invert(null))
    label("dark")
    jmp(x_dec, "still_dark")
    label("still_dark")
    jmp(pin, "clear")
    jmp("dark")
    label("clear")
    mov(isr, x)  # the spell is over, if it stays so
    mov(y, osr)
    label("quiet")
    jmp(x_dec, "still_quiet")
    label("still_quiet")
    jmp(pin, "on")
    jmp("dark")  # too soon: the same spell goes on, its gap included
    label("on")
    jmp(y_dec, "quiet")
    push(block)
    wrap()


@rp2.asm_pio()
def falls():  # noqa: D103, RUF100 (the assembler takes every statement for an instruction)
    wrap_target()
    label("bright")
    wait(1, pin, 0)
    wait(0, pin, 0)
    jmp(x_dec, "bright")
    wrap()


def quiet_turns(min_clear_us):
    """Return what the machine counts down from while it waits for `min_clear`."""
    return max(0, min_clear_us // TICK_US - 1)


def width_us(word):
    """Return a spell's width from the word that holds it: a counter that ran down from all ones."""
    return (0xFFFFFFFF - word) * TICK_US


class Beam:
    """One receiver on a pin, pulled up, watched by two state machines of its own.

    The first measures spells, and merges those that are closer than `min_clear`; the second counts how often the beam
    goes dark, so that flicker too quick for its spells to be separated is recognised. Neither interrupts anybody:
    the queues are emptied in every turn.
    """

    def __init__(self, number, gpio, min_clear_us):
        """Claim the pin and start the machines."""
        self._number = number
        self._pin = machine.Pin(gpio, machine.Pin.IN, machine.Pin.PULL_UP)
        self._turns = quiet_turns(min_clear_us)
        self._sm = rp2.StateMachine(number, spells, freq=FREQUENCY, in_base=self._pin, jmp_pin=self._pin)
        self._falls = rp2.StateMachine(number + 2, falls, freq=FREQUENCY, in_base=self._pin, jmp_pin=self._pin)
        self._falls.exec("set(x, 0)")
        self._falls.exec("mov(x, invert(x))")
        self._falls.active(1)
        self._load()

    def again(self):
        """Restart the measuring machine: it did not report a spell."""
        self._sm.active(0)
        self._sm.restart()
        self._load()

    def dark(self):
        """Read the level now."""
        return self._pin.value() == 0

    def spell(self):
        """Return the width of the next spell that is over, in microseconds, or None."""
        return width_us(self._sm.get()) if self._sm.rx_fifo() else None

    def falls(self):
        """Return how often the beam went dark since the start."""
        self._falls.exec("mov(isr, x)")
        self._falls.exec("push(noblock)")
        return 0xFFFFFFFF - self._falls.get()

    def lost(self):
        """Return whether the queue was full since this was last asked, so that spells may be lost."""
        bit = 1 << self._number
        stalled = machine.mem32[_FDEBUG] & bit
        if stalled:
            machine.mem32[_FDEBUG] = bit
        return bool(stalled)

    def _load(self):
        # The state machine's queue is used for output only, so registers are loaded by instructions, five bits at a
        # time.
        sm, turns = self._sm, self._turns
        sm.exec("mov(isr, null)")
        for shift in (25, 20, 15, 10, 5, 0):
            sm.exec("set(x, %d)" % (turns >> shift & 31))
            sm.exec("in_(x, 5)")
        sm.exec("mov(osr, isr)")
        sm.active(1)
