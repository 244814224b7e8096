"""The two beams on a Pico's pins: two PIO state machines each, which measure dark spells without the processor.

A flash erase masks interrupts for up to 0.4 s and stops nothing here. Eight spells wait in a state machine's queue
and a ninth in the machine itself, which then sees nothing more until somebody takes one; that spells may have been
lost is reported.

A word holds when its spell began and when it was known to be over, each as the low 16 bits of a counter that runs
down by one in every tick of 20 us, whatever the program does. So widths and the times between spells are exact to a
tick, however late a word is taken, up to 1.2 s: after 1.3 s the 16 bits repeat.
"""

import machine
import rp2

TICK_US = 20
_CYCLES = 4  # on every way from one `jmp(x_dec)` to the next
FREQUENCY = 1000000 * _CYCLES // TICK_US
DEPTH = 9
_ROUND_US = TICK_US << 16
_SLACK_US = 50000
_X_TO_ISR, _PUSH = 0xA0C1, 0x8000  # mov(isr, x) and push(noblock): to assemble a text takes 10 ms, each time
_FDEBUG = 0x50200008  # PIO 0: bits 0 to 3 say that a full queue made a machine wait


@rp2.asm_pio(fifo_join=rp2.PIO.JOIN_RX)
def spells():  # noqa: D103, RUF100 (the assembler takes every statement for an instruction)
    # Dark pulls the line of an open collector down. The pin is read in the second and third cycle of each tick.
    wrap_target()
    label("bright")
    jmp(x_dec, "bright_1")
    label("bright_1")
    jmp(pin, "bright_2")
    jmp("begins")
    label("bright_2")
    jmp(pin, "bright_3")
    label("begins")
    in_(x, 16)
    label("dark")
    jmp(x_dec, "dark_1")
    label("dark_1")
    jmp(pin, "clear_2")
    jmp(pin, "clear_3")
    jmp("dark")
    label("clear_2")
    mov(y, osr)
    label("clear_3")
    mov(y, osr)
    label("quiet")  # the spell is over, if it stays so
    jmp(x_dec, "quiet_1")
    label("quiet_1")
    jmp(pin, "quiet_2")
    jmp("soon")
    label("quiet_2")
    jmp(pin, "quiet_3")
    label("soon")
    jmp("dark")  # the same spell goes on, its gap included
    label("quiet_3")
    jmp(y_dec, "quiet")
    jmp(x_dec, "over")
    label("over")
    in_(x, 16)
    push(block)
    label("bright_3")
    jmp("bright")
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
    return max(0, min_clear_us // TICK_US - 2)


def unpacked(word, turns):
    """Return when a spell began, in ticks, and its width in ticks, both modulo 16 bits."""
    began, over = word >> 16 ^ 0xFFFF, word & 0xFFFF ^ 0xFFFF
    return began, (over - began - turns - 2) & 0xFFFF


class Beam:
    """One receiver on a pin, pulled up, watched by two state machines of its own.

    The first measures spells, and merges those that are closer than `min_clear`; the second counts how often the beam
    goes dark, so that flicker too quick for its spells to be separated is recognised. Neither interrupts anybody:
    the queues are emptied in every turn.
    """

    def __init__(self, number, gpio, min_clear_us, clock_us):
        """Claim the pin and start the machines; `clock_us` gives microseconds that only grow."""
        self._number = number
        self._clock_us = clock_us
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
        dark = self._pin.value() == 0
        if not dark:
            self._dark_us = None
        elif self._dark_us is None:
            self._dark_us = self._clock_us()
        else:
            self._dark_for_us = max(self._dark_for_us, self._clock_us() - self._dark_us)
        return dark

    def spell(self):
        """Return the next spell that is over as (start, width) in microseconds of the clock, or None."""
        before_us = self._clock_us()
        if not self._sm.rx_fifo():
            self._empty_us = before_us
            return None
        began, width = unpacked(self._sm.get(), self._turns)
        now_us, width_us = self._clock_us(), width * TICK_US
        # How long it was read dark shows how often a long spell passed the 16 bits.
        width_us += max(0, (self._dark_for_us - width_us + _ROUND_US // 2) // _ROUND_US) * _ROUND_US
        self._dark_us, self._dark_for_us = None, 0
        rest_us = width_us + (self._turns + 2) * TICK_US
        late_us = (now_us - self._origin_us - began * TICK_US - rest_us + _SLACK_US) % _ROUND_US - _SLACK_US
        # The word came after the queue was last found empty. A machine that had to wait has stopped counting.
        known_us = max(0, min(late_us, now_us - self._empty_us))
        self._origin_us += late_us - known_us
        return now_us - known_us - rest_us, width_us

    def falls(self):
        """Return how often the beam went dark since the start."""
        self._falls.exec(_X_TO_ISR)
        self._falls.exec(_PUSH)
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
        sm.exec("set(x, 0)")
        sm.exec("mov(x, invert(x))")
        sm.active(1)
        self._origin_us = self._empty_us = self._clock_us()
        self._dark_us, self._dark_for_us = None, 0
