"""Starts the Pico's files under MicroPython, with node's sockets: see micropython.mjs."""

import binascii
import gc
import json

import bridge
from pico_run import Pico


class Socket:
    def __init__(self, host, port):
        self._id = bridge.connect(host, port)

    def send(self, data):
        bridge.send(self._id, binascii.hexlify(data).decode())
        return len(data)

    def recv(self, most):
        text = bridge.recv(self._id)
        if text == "":
            raise OSError(11)
        return b"" if text == "closed" else binascii.unhexlify(text)

    def close(self):
        bridge.close(self._id)


def begin():
    global pico, turns
    with open("/job.json") as file:
        job = json.load(file)
    random = lambda n: binascii.unhexlify(bridge.random(n))  # noqa: E731
    wall, next_words = lambda: bridge.wall(), lambda: bridge.words()
    pico = Pico(job["settings"], "/ledger", random, Socket, wall, int(bridge.epoch()), next_words)
    turns = pico.play(job["story"], job["speed"], job["patience_s"])


def step():
    try:
        return next(turns)
    except StopIteration:
        return json.dumps(pico.result)


# A long story is millions of bytes: to look through them every 16 kB would take most of the time.
gc.threshold(1 << 20)
begin()
