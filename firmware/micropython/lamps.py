"""Lamps and piezo on a Pico's pins: an LED for each door, dimmed by the chip's own PWM, and a passive piezo."""

import machine

LED_HERTZ = 1000
_FULL = 65535


class Leds:
    """Two LEDs."""

    def __init__(self, gpios, percent):
        """Claim the pins, with the LEDs off; `percent` bounds their brightness."""
        self._percent = percent
        self._leds = [machine.PWM(machine.Pin(gpio, machine.Pin.OUT)) for gpio in gpios]
        for led in self._leds:
            led.freq(LED_HERTZ)
            led.duty_u16(0)

    def show(self, colours):
        """Dim each of them to the brightest component of its colour, from 0 to 1."""
        for god, led in enumerate(self._leds):
            led.duty_u16(int(_FULL * max(colours[god]) * self._percent / 100))


class Piezo:
    """A piezo without electronics of its own."""

    def __init__(self, gpio):
        """Claim the pin, silent."""
        self._pwm = machine.PWM(machine.Pin(gpio, machine.Pin.OUT))
        self._pwm.duty_u16(0)

    def play(self, hertz):
        """Sound at a frequency until the next call, or be silent."""
        if hertz is None:
            self._pwm.duty_u16(0)
        else:
            self._pwm.freq(int(hertz))
            self._pwm.duty_u16(_FULL // 2)
