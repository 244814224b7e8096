"""A stand-in for MicroPython's `rp2`: it assembles a PIO program, and plays the one that measures spells.

`asm_pio` writes the machine's own words, which a test runs in an emulator; the machine here is a model of that
program, exact to a turn of its loop, so that a scenario of minutes takes no longer than it must. Runs under both
Pythons.
"""

import machine
import world

QUEUE = 8
_CONDITIONS = {"not_x": 1, "x_dec": 2, "not_y": 3, "y_dec": 4, "x_not_y": 5, "pin": 6, "not_osre": 7}
_SOURCES = {"pins": 0, "x": 1, "y": 2, "null": 3, "status": 5, "isr": 6, "osr": 7}
_PLACES = {"pins": 0, "x": 1, "y": 2, "exec": 4, "pc": 5, "isr": 6, "osr": 7}
_SETS = {"pins": 0, "x": 1, "y": 2, "pindirs": 4}


class PIO:
    """The options of a program."""

    JOIN_NONE, JOIN_TX, JOIN_RX = 0, 1, 2
    SHIFT_LEFT, SHIFT_RIGHT = 0, 1
    IN_LOW, IN_HIGH, OUT_LOW, OUT_HIGH = 0, 1, 2, 3


class Program:
    """A program in the machine's words; `wrap` is its first and last instruction."""

    def __init__(self, name, lines, labels, wrap, options):
        """Put every label's place where its name stands."""
        self.name = name
        self.words = [word | labels[name] if name is not None else word for word, name in lines]
        self.wrap = wrap
        self.options = options


class _Assembler:
    def __init__(self):
        self.lines = []
        self.labels = {}
        self.wrap = [0, 0]

    def names(self):
        found = {name: name for name in list(_CONDITIONS) + list(_SOURCES) + list(_SETS)}
        found.update(
            block=0x20,
            noblock=0,
            gpio="gpio",
            invert=lambda source: ("invert", source),
            rel=lambda number: 0x10 | number,
            wrap_target=lambda: self._wrap(0),
            wrap=lambda: self._wrap(1),
            label=self._label,
            wait=lambda level, source, index: self._add(
                0x2000 | level << 7 | (0x20 if source == "pin" else 0) | index
            ),
            jmp=self._jmp,
            mov=self._mov,
            out=lambda place, bits: self._add(0x6000 | _PLACES[place] << 5 | bits & 31),
            in_=lambda source, bits: self._add(0x4000 | _SOURCES[source] << 5 | bits & 31),
            set=lambda place, data: self._add(0xE000 | _SETS[place] << 5 | data),
            push=lambda how: self._add(0x8000 | how),
            irq=lambda number: self._add(0xC000 | number),
        )
        return found

    def _add(self, word, name=None):
        self.lines.append((word, name))
        return self

    def __getitem__(self, cycles):
        """Let the latest instruction take more cycles."""
        word, name = self.lines[-1]
        self.lines[-1] = (word | cycles << 8, name)

    def _label(self, name):
        self.labels[name] = len(self.lines)

    def _wrap(self, which):
        self.wrap[which] = len(self.lines) - which

    def _jmp(self, condition, name=None):
        return self._add(0, condition) if name is None else self._add(_CONDITIONS[condition] << 5, name)

    def _mov(self, place, source):
        how = 0
        if isinstance(source, tuple):
            how, source = 1, source[1]
        return self._add(0xA000 | _PLACES[place] << 5 | how << 3 | _SOURCES[source])


def asm_pio(**options):
    """Return what makes a program of a function: its statements are run with the instructions' names."""

    def assemble(function):
        assembler = _Assembler()
        names = function.__globals__
        before = dict(names)
        names.update(assembler.names())
        try:
            function()
        finally:
            for name in assembler.names():
                if name in before:
                    names[name] = before[name]
                else:
                    del names[name]
        return Program(function.__name__, assembler.lines, assembler.labels, tuple(assembler.wrap), options)

    return assemble


tapes = {}
"""By a machine's bit: the words that an emulator found, as (microseconds, word). A machine with a tape plays it."""

CLAIMED = 4
"""The machine that a Pico W's own Wi-Fi uses."""

_WORDS = {0xA0C1: "mov(isr, x)", 0x8000: "push(noblock)"}

deaf = set()
"""By a machine's bit: those that stand still, until they are restarted."""


class StateMachine:
    """A model of three programs: one measures spells, in ticks of the world's clock, one counts falls, one sends."""

    TICK_US = 20

    def __init__(self, number, program, freq, in_base=None, jmp_pin=None, out_base=None, set_base=None):
        """Begin without a level."""
        if number == CLAIMED:
            raise ValueError("StateMachine claimed by external resource")
        self._sent_to = out_base and out_base.number
        self._bit = 1 << number
        self._counts = program.name == "falls"
        self._falls = 0
        self._pin = jmp_pin and jmp_pin.number
        self._isr = self._x = self._osr = 0
        self._queue = []
        self._running = False
        self._start_us = self._end_us = self._stuck = None

    def exec(self, text):
        """Carry out one of the few instructions that a temple uses, as a text or as a word."""
        text = _WORDS.get(text, text)
        if text == "mov(isr, null)":
            self._isr = 0
        elif text == "in_(x, 5)":
            self._isr = (self._isr << 5 | self._x) & 0xFFFFFFFF
        elif text == "mov(osr, isr)":
            self._osr = self._isr
        elif text == "mov(x, invert(x))":
            self._x = 0xFFFFFFFF - self._x
        elif text == "mov(isr, x)":
            self._isr = self._x - self._falls
        elif text == "push(noblock)":
            self._queue.append(self._isr)
        elif text.startswith("set(x, "):
            self._x = int(text[7:-1])
        else:
            raise ValueError(text)

    def restart(self):
        """Restart."""
        deaf.discard(self._bit)
        self._queue = []
        self._start_us = self._end_us = self._stuck = None

    def put(self, words, shift):
        """Send words, each moved to the left first."""
        world.sent[self._sent_to] = [word << shift for word in words]

    def active(self, on):
        """Begin to watch, or to send."""
        self._running = bool(on)
        self._begun_us = world.now_us
        if self._sent_to is not None:
            return
        tape = tapes.get(self._bit)
        while tape and tape[0][0] <= world.now_us:  # written while nobody was there to read it
            tape.pop(0)
        if self not in world.watchers:
            world.watchers.append(self)
        self._dark = world.level(self._pin) == 0
        self.changed(self._pin)

    def rx_fifo(self):
        """Return how many words wait."""
        tape = tapes.get(self._bit)
        if tape is not None:
            return 1 if tape and tape[0][0] <= world.now_us else 0
        return len(self._queue)

    def get(self):
        """Take a word; a machine that stood still for it goes on with the level as it is then."""
        if self._bit in tapes:
            return tapes[self._bit].pop(0)[1]
        word = self._queue.pop(0)
        if self._stuck is not None:
            self._queue.append(self._stuck)
            self._stuck = None
            self.changed(self._pin)
        return word

    def changed(self, pin):
        """Take a level that may have changed just now."""
        if self._counts:
            if pin == self._pin:
                before, self._dark = self._dark, world.level(pin) == 0
                self._falls += self._dark and not before
            return
        if self._bit in deaf:
            return
        if pin != self._pin or not self._running or self._stuck is not None or self._bit in tapes:
            return
        if world.level(pin) == 0:
            if self._start_us is None:
                self._start_us = world.now_us
            self._end_us = None
        elif self._start_us is not None and self._end_us is None:
            self._end_us = world.now_us

    def pass_to(self, us):
        """Report a spell that has been over for long enough."""
        if self._end_us is None or us - self._end_us < (self._osr + 2) * self.TICK_US:
            return
        began = (self._start_us - self._begun_us) // self.TICK_US
        over = began + (self._end_us - self._start_us) // self.TICK_US + self._osr + 2
        self._start_us = self._end_us = None
        word = (began & 0xFFFF ^ 0xFFFF) << 16 | over & 0xFFFF ^ 0xFFFF
        if len(self._queue) < QUEUE:
            self._queue.append(word)
        else:
            self._stuck = word
            machine.mem32.stalled |= self._bit
