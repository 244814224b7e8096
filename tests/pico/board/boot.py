"""On the board, before its `main.py`: takes the settings from the emulator, and lets it look on at each turn."""

import gc
import json
import time

import temple
from door import FOUND, SETTINGS, TURN, ask
from wire import GODS

for _each in ("calibration", "discovery", "lamp", "network", "proof", "settings", "beams", "clock", "link", "names"):
    __import__(_each)
gc.collect()
_given = bytearray(1024)
while not (_length := ask(SETTINGS, gc.mem_free(), _given)):
    time.sleep_ms(1)
if _length > 1:
    with open("settings.json", "wb") as _file:
        _file.write(memoryview(_given)[:_length])
del _given


class Watched(temple.Temple):
    """A temple whose turns are seen from outside."""

    def turn(self, now_ms):
        """Take a turn, and say how many tokens are recorded and delivered, and what is asked for."""
        super().turn(now_ms)
        ledger = self.ledger
        if ask(TURN, 0 if ledger is None else ledger.last_seq << 16 | self.window.delivered) == FOUND:
            found = self.findings()
            gc.collect()
            words = json.dumps({GODS[god]: [code for code, _ in found[god]] for god in range(2)})
            ask(FOUND, gc.mem_alloc(), words.encode())


temple.Temple = Watched
