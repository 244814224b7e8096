"""WS2812 LEDs on one of a Pico's pins, timed by a PIO state machine: the processor's interrupts stay enabled.

MicroPython's own `neopixel` disables them while it sends, 30 us for each LED. Here eight LEDs' words wait in the
machine's queue, so an interrupt of up to 240 us between two words leaves no gap on the line. The beams' four machines
are those of PIO 0; this one is the last of PIO 1, whose first the Wi-Fi uses.
"""

from array import array

import machine
import rp2

MACHINE = 7
HERTZ = 6400000
_GAMMA = 2.2


@rp2.asm_pio(
    set_init=rp2.PIO.OUT_LOW,
    out_init=rp2.PIO.OUT_LOW,
    out_shiftdir=rp2.PIO.SHIFT_LEFT,
    autopull=True,
    pull_thresh=24,
    fifo_join=rp2.PIO.JOIN_TX,
)
def bits():  # noqa: D103, RUF100 (the assembler takes every statement for an instruction)
    # Eight cycles a bit, 1.25 us: two high, three at the bit's own level, three low. It waits for words while low.
    wrap_target()
    out(x, 1)
    set(pins, 1)[1]
    mov(pins, x)[2]
    set(pins, 0)[1]
    wrap()


class Ws2812:
    """A chain of LEDs, first those before Huitzilopochtli's door, then as many before Tlaloc's."""

    def __init__(self, gpio, each, percent):
        """Claim pin and state machine, with `each` LEDs a door off; `percent` bounds their brightness."""
        pin = machine.Pin(gpio, machine.Pin.OUT)
        self._percent = percent
        self._each = each
        self._words = array("I", [0] * (2 * each))
        self._sm = rp2.StateMachine(MACHINE, bits, freq=HERTZ, out_base=pin, set_base=pin)
        self._sm.active(1)
        self._sm.put(self._words, 8)

    def show(self, colours):
        """Set the colour of every LED; each component is from 0 to 1."""
        for god, (red, green, blue) in enumerate(colours):
            word = self._byte(green) << 16 | self._byte(red) << 8 | self._byte(blue)
            for place in range(god * self._each, (god + 1) * self._each):
                self._words[place] = word
        self._sm.put(self._words, 8)

    def _byte(self, value):
        # The LEDs' light grows with the number, the eye's impression does not.
        return int(255 * value**_GAMMA * self._percent / 100 + 0.5)
