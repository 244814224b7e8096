"""What is compared of two trees: each part measures one of them, whose programs it starts.

Both are driven through what does not change between revisions: their programs' settings, MQTT messages, pages and
posts, and the functions of a game.
"""

from __future__ import annotations

import json
import random
import socket
import time
from contextlib import ExitStack
from typing import Any, Protocol

from bench.against.comparison import Figure, Sample
from bench.counted import instructions
from bench.games import random_player, repaint, sittings
from bench.temple.throughput import CLEAR_MS, DARK_MS, LIMITS, Through
from bench.tools import daemons
from bench.tools.figures import spread
from bench.tools.phone import Phone
from bench.tools.programs import BenchError, Programs, wait_until
from bench.tools.stopwatch import MS, Listener, Received
from templo import contract

PER_SECOND = 10
"""The highest pace: each token waits until the one before has passed."""
TOKEN_MS = 12
"""How long a token breaks its beam."""


class Measurement(Protocol):
    """One part of the comparison, of one tree, whose programs have been started."""

    def round(self) -> Sample:
        """Measure once; raises `BenchError`."""
        ...


class Drive:
    """From a beam to a subscriber of the broker, which acknowledges as a companion does."""

    def __init__(self, programs: Programs, scope: ExitStack, tokens: int) -> None:
        port = programs.mosquitto()
        self._controller = daemons.start_controller(programs, port)
        scope.callback(self._controller.breaks().close)
        self._topic = contract.topic(daemons.TEMPLE, contract.Token.leaf)
        topics = (self._topic, contract.topic(daemons.TEMPLE, contract.Status.leaf))
        self._listener = scope.enter_context(Listener(port, topics, daemons.acknowledge))
        # The status is retained: once it is here, so is the subscription.
        wait_until(lambda: bool(self._listener.received), 30, "the temple's status")
        self._tokens = tokens
        self._whims = random.Random(1)
        self.round()  # the first round only warms up

    def round(self) -> Sample:
        """Drop the tokens of one round."""
        self._listener.received.clear()
        began = self._controller.running.cpu_s()
        cleared = [self._dropped(daemons.PINS[n % 2]) for n in range(self._tokens)]
        wait_until(lambda: len(self._received()) >= self._tokens, 60, f"{self._tokens} tokens at the subscriber")
        cpu = self._controller.running.cpu_s() - began
        waits = [(received.at_ns - at) / MS for received, at in zip(self._received(), cleared, strict=True)]
        return {
            Figure("beam clear to the subscriber, median", "ms"): spread(waits).median,
            Figure("beam clear to the subscriber, p95", "ms"): spread(waits).p95,
            Figure("controller, CPU for a token", "ms"): cpu * 1000 / self._tokens,
        }

    def _dropped(self, pin: int) -> int:
        """Drop one token and rest; a pace that caught up would merge two dark spells."""
        time.sleep(self._whims.uniform(0.75, 1.25) / PER_SECOND)
        return self._controller.breaks().drop(pin, TOKEN_MS).clear_ns

    def _received(self) -> list[Received]:
        return self._listener.under(self._topic)


class Sustained:
    """The whole way, as fast as tokens go: beam, ledger, broker, store with table, acknowledgement."""

    def __init__(self, programs: Programs, scope: ExitStack, tokens: int) -> None:
        port = programs.mosquitto()
        self._companion = daemons.start_companion(programs, port)
        self._controller = daemons.start_controller(programs, port, LIMITS)
        scope.callback(self._controller.breaks().close)
        self._through = Through()
        self._listener = Listener(port, (contract.topic(daemons.TEMPLE, contract.Ack.leaf),), self._through)
        scope.enter_context(self._listener)
        self._tokens = tokens
        self._fallen = 0
        time.sleep(1)
        self.round()

    def round(self) -> Sample:
        """Drop the tokens of one round, both beams in turn, and wait for the last acknowledgement."""
        before = self._controller.running.cpu_s(), self._companion.running.cpu_s()
        one, other = daemons.PINS
        driven = self._controller.breaks().burst((one, other), self._tokens, DARK_MS, CLEAR_MS)
        self._fallen += self._tokens
        wait_until(self._acknowledged, 180, f"token {self._fallen} to be acknowledged")
        seconds = (self._through.at_ns - driven.dark_ns) / 1e9
        after = self._controller.running.cpu_s(), self._companion.running.cpu_s()
        controller, companion = (1000 * (now - was) / self._tokens for now, was in zip(after, before, strict=True))
        return {
            Figure("beam to acknowledgement, sustained", "tokens/s", more=True): self._tokens / seconds,
            Figure("sustained: controller, CPU for a token", "ms"): controller,
            Figure("sustained: companion, CPU for a token", "ms"): companion,
        }

    def _acknowledged(self) -> bool:
        self._controller.running.check()
        self._companion.running.check()
        return self._through.seq >= self._fallen


class Posts:
    """Moves at one table, each answered with the regions of the page that it changed."""

    def __init__(self, programs: Programs, scope: ExitStack, posts: int) -> None:
        self._companion = daemons.start_companion(programs, programs.mosquitto())
        self._phone = scope.enter_context(Phone(self._companion))
        self._posts = posts
        self.round()

    def round(self) -> Sample:
        """Post the moves of one round, one after the other."""
        began_cpu, began = self._companion.running.cpu_s(), time.monotonic()
        for _ in range(self._posts):
            self._phone.end_turn()
        seconds = time.monotonic() - began
        return {
            Figure("posts at a table", "1/s", more=True): self._posts / seconds,
            Figure("companion, CPU for a post", "ms"): (self._companion.running.cpu_s() - began_cpu)
            * 1000
            / self._posts,
        }


class Playouts:
    """Random playouts of every game with every preset, in one process that stays."""

    def __init__(self, programs: Programs, scope: ExitStack, seconds: float) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [programs.tree.interpreter, random_player.__file__]
            self._running = programs.start("random_player", command, stdin=theirs.fileno())
        ours.settimeout(120)
        self._lines = scope.enter_context(ours.makefile("rw", encoding="utf-8"))
        ours.close()  # the file keeps it open
        self._seconds = seconds
        self._fields: list[list[str]] = self._answer()
        self.round()

    def round(self) -> Sample:
        """Play every game with every preset for a while."""
        found: dict[Figure, float] = {}
        for game, preset in self._fields:
            print(json.dumps([game, preset, self._seconds]), file=self._lines, flush=True)
            plies, seconds = self._answer()
            found[Figure(f"{game} {preset}: plies in a second of CPU", "1/s", more=True)] = plies / seconds
        return found

    def _answer(self) -> Any:
        if line := self._lines.readline():
            return json.loads(line)
        raise BenchError(f"the random player ended; expected an answer; it said: {self._running.said()[-1500:]}")


class Repaint:
    """A token at a full table of Mexica, in a new program."""

    def __init__(self, programs: Programs, _scope: ExitStack, tokens: int) -> None:
        self._tree, self._tokens = programs.tree, tokens

    def round(self) -> Sample:
        """Store and paint the tokens of one round, the same in every round."""
        return {Figure("a token at a full table, CPU", "ms"): sum(repaint.timed(self._tree, self._tokens))}


class Sittings:
    """Mexica with four app players, on two processes of a new program."""

    def __init__(self, programs: Programs, _scope: ExitStack, games: int) -> None:
        self._tree, self._games = programs.tree, games

    def round(self) -> Sample:
        """Play the games of one round, the same in every round."""
        cpu, _ = sittings.timed(self._tree, self._games)
        return {Figure("mexica with four app players, CPU for a game", "ms"): 1000 * cpu / self._games}


class Instructions:
    """What the programs execute, counted: one round is as good as many."""

    def __init__(self, programs: Programs, _scope: ExitStack, rest_s: float | None) -> None:
        self._programs, self._rest_s = programs, rest_s

    def round(self) -> Sample:
        """Count everything once."""
        counted = instructions.counted(self._programs, self._rest_s)
        return {Figure(what, "million"): count for what, count in counted}
