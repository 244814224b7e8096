"""The Pico's composition root: it opens pins, flash, Wi-Fi and clocks, connects them, and runs the main loop.

The only file that chooses hardware. A key within three seconds of the start opens the set-up dialogue.
"""

import binascii
import gc
import os
import select
import socket
import sys
import time

import calibration
import discovery
import lamp
import machine
import network
import proof
import settings as configuration
import wire
from beams import Beam
from clock import Clock, TimeServer
from ledger import Ledger
from link import Link
from names import Resolver
from notices import FILE, Notices
from slots import Limits
from temple import KIND, SOFTWARE, Temple

FOLDER = "tokens"  # no module's name: MicroPython imports a folder before a file, and would start once only
WATCHDOG_MS = 8000
_WATCHDOG_CLEAR = 0x4005B000  # RP2040 data sheet, 4.7.6 and 2.1.2: writing ones here clears bits of CTRL
_WATCHDOG_ENABLE = 1 << 30
_TURN_MS = 5
_WIFI_MS = 15000
_SWEEP_MS = 1000
LIT = ("mood", "set_light")


def main():
    """Run the set-up dialogue if wanted, then count until somebody stops the program at the console."""
    chosen = _configured()
    try:
        run(chosen, lambda: True)
    except KeyboardInterrupt:
        # What copies new files stops the program first, and takes longer than the watchdog waits.
        machine.mem32[_WATCHDOG_CLEAR] = _WATCHDOG_ENABLE
        raise


def run(chosen, going):
    """Open everything and run turns while `going` returns true."""
    clock = Clock(time.ticks_us, time.ticks_diff)
    wlan = network.WLAN(network.STA_IF)
    radio = Radio(wlan, chosen)
    names = Resolver(lambda: _never_blocking(socket.SOCK_DGRAM), radio.name_server, os.urandom)
    lamp_pin = machine.Pin("LED", machine.Pin.OUT)
    limits = _limits(chosen)
    learned = calibration.Calibration(
        limits, configuration.named(chosen), calibration.load(), lambda known: calibration.save(known, os.rename)
    )
    beams = [Beam(number, chosen[god], limits.min_clear, clock.us) for number, god in enumerate(wire.GODS)]
    session = binascii.hexlify(os.urandom(16)).decode()
    temple, board = chosen["temple"], binascii.hexlify(machine.unique_id()).decode()
    link = Link(
        lambda host, port: dial(host, port, radio.up, names, clock.ms()),
        chosen,
        "templo-" + board,
        wire.topic(temple, "status"),
        [wire.topic(temple, leaf) for leaf in ("ack", "command", "status") + LIT * configuration.has_lights(chosen)],
        lambda words: print("No connection to the broker:", words),
    )
    server = TimeServer(clock, lambda: udp(chosen["ntp"], names, clock.ms()))
    one = Temple(
        chosen, learned, beams, open_ledger, link, session, clock.utc_ms, clock.ms(),
        lambda: discovery.announcement(temple, KIND, SOFTWARE, configuration.coloured(chosen)),
        Notices(board, FILE, os.rename), clock.suggested, lights(chosen), pulses(chosen, beams, clock),
    )  # fmt: skip
    watchdog = machine.WDT(timeout=WATCHDOG_MS)
    identified_ms, swept_ms = None, 0
    try:
        while going():
            now_ms = clock.ms()
            watchdog.feed()
            if radio.turn(now_ms):
                server.turn(now_ms)
            elif link.up:
                link.cut(now_ms)
                one.disconnected()
            one.turn(now_ms)
            if one.identified():
                identified_ms = now_ms
            state = lamp.state(
                now_ms, radio.up, link.up, link.refused, clock.utc_ms() is not None, one.alert(), one.recorded_ms,
                identified_ms,
            )  # fmt: skip
            lamp_pin.value(lamp.lit(state, now_ms))
            if now_ms >= swept_ms + _SWEEP_MS:
                swept_ms = now_ms
                gc.collect()
            time.sleep_ms(_TURN_MS)
    except KeyboardInterrupt:
        _close(one, names, clock)
        raise
    _close(one, names, clock)
    return one


def _limits(chosen):
    """Return the counter's limits in microseconds."""
    return Limits(
        int(chosen["min_break_ms"] * 1000),
        int(chosen["min_clear_ms"] * 1000),
        int(chosen["max_break_ms"] * 1000),
        chosen["flicker_per_s"],
        None if chosen["band_ms"] is None else int(chosen["band_ms"] * 1000),
        None if chosen["narrow_ms"] is None else int(chosen["narrow_ms"] * 1000),
        chosen["fastest_per_s"],
    )


def _close(one, names, clock):
    """End in order; after a crash the broker reports the temple as lost instead."""
    one.close(clock.ms())
    names.close()


class Radio:
    """The Wi-Fi: joined, and joined again when it was lost."""

    def __init__(self, wlan, chosen):
        """Switch the radio on."""
        self._wlan = wlan
        self._chosen = chosen
        self._next_ms = 0
        self.up = False
        if chosen["country"]:
            network.country(chosen["country"])
        wlan.active(True)
        # Saving power, the chip sleeps between two beacons: an answer then waits for a tenth of a second and more.
        wlan.config(pm=network.WLAN.PM_NONE)

    def turn(self, now_ms):
        """Join where it is due; return whether there is a network."""
        self.up = self._wlan.isconnected()
        if not self.up and now_ms >= self._next_ms:
            self._next_ms = now_ms + _WIFI_MS
            self._wlan.disconnect()
            self._wlan.connect(self._chosen["ssid"], self._chosen["wifi_password"] or None)
        return self.up

    def name_server(self):
        """Return the address of the name server that the network named."""
        return self._wlan.ifconfig()[3]


def pulses(chosen, beams, clock):
    """Return what sends a pulse of the emitters; None where no pin switches them."""
    if chosen["emitters"] is None:
        return None
    pin = machine.Pin(chosen["emitters"], machine.Pin.OUT)
    pin.value(1)
    return lambda: proof.send(pin.value, beams, clock.us, time.sleep_us)


def lights(chosen):
    """Open lamps and piezo, where there are any; a device that cannot be opened is reported once and left out."""
    if not configuration.has_lights(chosen):
        return None
    from lamps import Leds, Piezo
    from lights import Lights

    lamps = fault = None
    if chosen["lamps"] == "leds":
        lamps, fault = _opened(
            lambda: Leds((chosen["lamp_huitzilopochtli"], chosen["lamp_tlaloc"]), chosen["lamp_percent"])
        )
    elif chosen["lamps"] == "ws2812":
        from pixels import Ws2812

        lamps, fault = _opened(lambda: Ws2812(chosen["lamp_data"], chosen["lamp_each"], chosen["lamp_percent"]))
    piezo = None if chosen["piezo"] is None else _opened(lambda: Piezo(chosen["piezo"]))[0]
    return Lights(lamps, piezo, fault)


def _opened(device):
    """Return the device, and why it is none."""
    try:
        return device(), None
    except (OSError, ValueError) as error:
        print("It stays off until the next start:", error)
        return None, str(error)


def open_ledger():
    """Open the record in this board's flash."""
    return Ledger(FOLDER, lambda: os.urandom(16))


def dial(host, port, there, names, now_ms):
    """Begin to connect to the broker if there is a network; None while its name is looked up."""
    if not there:
        raise OSError(118)
    return _connected(socket.SOCK_STREAM, names.address(host, now_ms), port)


def udp(host, names, now_ms):
    """Return a socket to a time server; None while its name is looked up."""
    return _connected(socket.SOCK_DGRAM, names.address(host, now_ms), 123)


def _never_blocking(kind):
    one = socket.socket(socket.AF_INET, kind)
    one.setblocking(False)
    return one


def _connected(kind, address, port):
    if address is None:
        return None
    one = _never_blocking(kind)
    try:
        one.connect((address, port))
    except OSError as error:
        if error.args[0] not in (11, 36, 115, 119):
            one.close()
            raise
    return one


def _configured():
    """Return the settings; ask for them where there are none, or where a key is pressed at the start."""
    try:
        chosen = configuration.load()
    except (OSError, ValueError) as error:
        print("No settings that can be used:", error)
        return _ask(configuration.usable(print))
    print("Press a key within 3 seconds to change the settings.")
    if select.select([sys.stdin], [], [], 3)[0]:
        sys.stdin.readline()
        return _ask(chosen)
    return chosen


def _ask(before):
    pin, blinking = machine.Pin("LED", machine.Pin.OUT), machine.Timer()
    blinking.init(period=lamp.STEP_MS, callback=lambda _: pin.value(lamp.lit(lamp.SETUP, time.ticks_ms())))
    try:
        while True:
            try:
                chosen = configuration.dialogue(input, print, before)
            except ValueError as error:
                print(error)
                continue
            configuration.save(chosen, os.rename)
            print("Saved in settings.json on this board. The temple begins to count.")
            return chosen
    finally:
        blinking.deinit()


if __name__ == "__main__":
    main()
