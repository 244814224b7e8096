"""On the board: what asks the emulator's door. A call hands over bytes where they lie, or a buffer for some."""

import machine
import uctypes

_DOOR = 0x40080000
OPEN, SEND, TAKE, CLOSE, SETTINGS, TURN, FOUND = range(1, 8)


def ask(what, number=0, data=b""):
    """Return the answer, which is negative for an error's number."""
    machine.mem32[_DOOR] = what
    machine.mem32[_DOOR + 4] = number
    machine.mem32[_DOOR + 8] = uctypes.addressof(data)
    machine.mem32[_DOOR + 12] = len(data)
    answer = machine.mem32[_DOOR + 16]
    if answer & 0x80000000:
        raise OSError(0x100000000 - answer & 0xFFFFFFFF)
    return answer
