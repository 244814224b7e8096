"""The two beams on a Pico's pins: a PIO state machine each, which measures dark spells without the processor.

A flash erase masks interrupts for up to 0.4 s and stops nothing here. Eight spells wait in a state machine's queue
and a ninth in the machine itself, which then sees nothing more until somebody takes one; that spells may have been
lost is told.
"""

import machine
import rp2

TICK_US = 5
_CYCLES = 3  # of each turn of both loops
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
    irq(rel(0))
    wrap()


def quiet_turns(min_clear_us):
    """Return what the machine counts down from while it waits for `min_clear`."""
    return max(0, min_clear_us // TICK_US - 1)


def width_us(word):
    """Return a spell's width from the word that tells it: a counter that ran down from all ones."""
    return (0xFFFFFFFF - word) * TICK_US


class Beam:
    """One receiver on a pin, pulled up, watched by a state machine of its own."""

    def __init__(self, number, gpio, min_clear_us, notice):
        """Claim the pin and start the machine; `notice` is called in an interrupt when a spell is over."""
        self._number = number
        self._pin = machine.Pin(gpio, machine.Pin.IN, machine.Pin.PULL_UP)
        sm = rp2.StateMachine(number, spells, freq=FREQUENCY, in_base=self._pin, jmp_pin=self._pin)
        # The queue only leads outwards, so the machine's own registers are loaded, five bits at a time.
        turns = quiet_turns(min_clear_us)
        sm.exec("mov(isr, null)")
        for shift in (25, 20, 15, 10, 5, 0):
            sm.exec("set(x, %d)" % (turns >> shift & 31))
            sm.exec("in_(x, 5)")
        sm.exec("mov(osr, isr)")
        sm.irq(notice)
        sm.active(1)
        self._sm = sm

    def dark(self):
        """Read the level now."""
        return self._pin.value() == 0

    def spell(self):
        """Return the width of the next spell that is over, in microseconds, or None."""
        return width_us(self._sm.get()) if self._sm.rx_fifo() else None

    def lost(self):
        """Say whether the queue was full since this was last asked, so that spells may be lost."""
        bit = 1 << self._number
        stalled = machine.mem32[_FDEBUG] & bit
        if stalled:
            machine.mem32[_FDEBUG] = bit
        return bool(stalled)
