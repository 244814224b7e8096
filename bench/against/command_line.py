"""Compares this tree with the tree of a git revision, alternating in one run: how much faster or slower it is.

``python -m bench against REVISION``. Both trees are driven through what does not change between revisions: their
programs' settings, MQTT messages, pages and posts, and the methods of a game.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import paho.mqtt.client as paho

from bench.against import trees
from bench.games import repaint, sittings
from bench.temple.throughput import CLEAR_MS, DARK_MS, LIMITS, Through
from bench.tools import daemons
from bench.tools.figures import number, spread, table
from bench.tools.phone import Phone
from bench.tools.programs import ROOT, THIS_TREE, BenchError, Programs, Tree, wait_until
from bench.tools.stopwatch import MS, Listener, Received
from templo import contract

PARTS = ("drive", "sustained", "posts", "playouts", "repaint", "sittings")
PER_SECOND = 20
"""The highest pace: each token waits until the one before has passed."""
TOKEN_MS = 12
"""How long a token breaks its beam."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What is measured: its name, its unit, and whether more of it is better."""

    what: str
    unit: str
    more: bool = False


Sample = Mapping[Figure, float]
"""The figures of one round of one tree."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure of both trees over all rounds: medians, and this tree's share of the other's in every round."""

    figure: Figure
    ours: float
    theirs: float
    ratios: tuple[float, ...]

    @property
    def cells(self) -> tuple[str, ...]:
        """The line of the table."""
        least, middle, most = min(self.ratios), statistics.median(self.ratios), max(self.ratios)
        better = "more" if self.figure.more else "less"
        return (
            self.figure.what,
            self.figure.unit,
            number(self.ours),
            number(self.theirs),
            f"{middle:.2f}",
            f"{least:.2f} to {most:.2f}",
            better,
        )


def compared(ours: Sequence[Sample], theirs: Sequence[Sample]) -> list[Comparison]:
    """Return each figure that both trees have, given their rounds in order.

    >>> speed = Figure("speed", "1/s", more=True)
    >>> [comparison] = compared([{speed: 10}, {speed: 12}, {speed: 30}], [{speed: 10}, {speed: 8}, {speed: 20}])
    >>> comparison.ours, comparison.theirs, comparison.ratios
    (12, 10, (1.0, 1.5, 1.5))
    """
    return [
        Comparison(
            figure,
            statistics.median(sample[figure] for sample in ours),
            statistics.median(sample[figure] for sample in theirs),
            tuple(one[figure] / other[figure] for one, other in zip(ours, theirs, strict=True)),
        )
        for figure in ours[0]
        if figure in theirs[0]
    ]


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
        self._listener = scope.enter_context(Listener(port, topics, self._acknowledge))
        # The status is retained: once it is here, so is the subscription.
        wait_until(lambda: bool(self._listener.received), 30, "the temple's status")
        self._tokens = tokens
        self._whims = random.Random(1)
        self.round()  # the first round only warms up

    def round(self) -> Sample:
        """Drop the tokens of one round."""
        self._listener.received.clear()
        began = self._controller.running.cpu_s()
        cleared = [self._dropped() for _ in range(self._tokens)]
        wait_until(lambda: len(self._received()) >= self._tokens, 60, f"{self._tokens} tokens at the subscriber")
        cpu = self._controller.running.cpu_s() - began
        waits = [(received.at_ns - at) / MS for received, at in zip(self._received(), cleared, strict=True)]
        return {
            Figure("beam clear to the subscriber, median", "ms"): spread(waits).median,
            Figure("beam clear to the subscriber, p95", "ms"): spread(waits).p95,
            Figure("controller, CPU for a token", "ms"): cpu * 1000 / self._tokens,
        }

    def _dropped(self) -> int:
        """Drop one token and rest; a pace that caught up would merge two dark spells."""
        time.sleep(self._whims.uniform(0.75, 1.25) / PER_SECOND)
        return self._controller.breaks().drop(daemons.PINS[0], TOKEN_MS).clear_ns

    def _received(self) -> list[Received]:
        return self._listener.under(self._topic)

    def _acknowledge(self, client: paho.Client, received: Received) -> None:
        if received.topic != self._topic:
            return
        token = contract.decode(contract.Token.leaf, received.payload)
        assert isinstance(token, contract.Token)
        ack = contract.Ack(token.source, token.seq)
        client.publish(contract.topic(daemons.TEMPLE, contract.Ack.leaf), contract.encode(ack), qos=1)


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
            command = [programs.tree.interpreter, str(ROOT / "bench" / "games" / "random_player.py")]
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


NOTES = {
    "drive": "Drive to subscriber: unchanged controllers over mock pins, each with a mosquitto of its own.",
    "sustained": "Sustained: from the first edge until the companion has acknowledged the last token.",
    "posts": "Posts: one phone with all four seats of a Mexica table ends turn after turn.",
    "playouts": "Playouts: random moves at the largest table, dice and cards among them, with the same seed.",
    "repaint": "A token at a full table: stored, and painted for four phones and a table screen.",
    "sittings": "Sittings: whole games of the classic preset, the same seeds on both sides.",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns 2 where a measurement could not be taken."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if unknown := [part for part in arguments.parts if part not in PARTS]:
        parser.error(f"part is {unknown[0]!r}; expected {', '.join(PARTS)}")
    makers: dict[str, Callable[[Programs, ExitStack], Measurement]] = {
        "drive": lambda programs, scope: Drive(programs, scope, arguments.tokens),
        "sustained": lambda programs, scope: Sustained(programs, scope, arguments.burst),
        "posts": lambda programs, scope: Posts(programs, scope, arguments.posts),
        "playouts": lambda programs, scope: Playouts(programs, scope, arguments.playouts),
        "repaint": lambda programs, scope: Repaint(programs, scope, arguments.repaint),
        "sittings": lambda programs, scope: Sittings(programs, scope, arguments.sittings),
    }
    parts = arguments.parts or PARTS
    found: dict[str, list[Comparison]] = {}
    failed = False
    try:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            other = trees.of_revision(arguments.revision, Path(folder) / "tree")
            for part in parts:
                print(f"measuring {part} ...", flush=True)
                try:
                    found[part] = _alternated(makers[part], other, Path(folder) / part, arguments.rounds)
                except BenchError as error:
                    failed = True
                    print(f"bench: {part} cannot be measured: {error}", file=sys.stderr)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    if not found:
        return 2
    head = ("figure", "unit", THIS_TREE.name, other.name, "ratio", "of single rounds", "better")
    print(f"\n{table(head, [each.cells for part in found.values() for each in part], left=(0, 1, 6))}\n")
    print(f"Medians of {arguments.rounds} rounds by turns; the ratio is this tree to {other.name}, round by round.")
    print("\n".join(NOTES[part] for part in found))
    return 2 if failed else 0


def _alternated(
    start: Callable[[Programs, ExitStack], Measurement], other: Tree, folder: Path, rounds: int
) -> list[Comparison]:
    """Start the programs of both trees and measure them alternately; each round begins with the other tree."""
    samples: dict[str, list[Sample]] = {"ours": [], "theirs": []}
    with ExitStack() as scope:
        sides: dict[str, Measurement] = {}
        for side, tree in (("ours", THIS_TREE), ("theirs", other)):
            programs = scope.enter_context(Programs(folder / side, tree))
            sides[side] = start(programs, scope)
        for order in _orders(rounds):
            for side in order:
                samples[side].append(sides[side].round())
    return compared(samples["ours"], samples["theirs"])


def _orders(rounds: int) -> Iterator[Sequence[str]]:
    for n in range(rounds):
        yield ("theirs", "ours") if n % 2 else ("ours", "theirs")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="make bench ARGS=against",
        description="Compares this tree with that of a git revision, alternating in one run.",
    )
    parser.add_argument("revision", metavar="REVISION", help="a commit, tag or branch of this clone")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"which parts, by default all of {', '.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each part (%(default)s)")
    parser.add_argument("--tokens", type=int, default=60, help="drive: tokens a side and round (%(default)s)")
    parser.add_argument("--burst", type=int, default=1500, help="sustained: tokens a side and round (%(default)s)")
    parser.add_argument("--posts", type=int, default=100, help="posts: moves a side and round (%(default)s)")
    parser.add_argument(
        "--playouts", type=float, default=0.2, help="playouts: CPU seconds a side, round and preset (%(default)s)"
    )
    parser.add_argument("--repaint", type=int, default=40, help="repaint: tokens a side and round (%(default)s)")
    parser.add_argument("--sittings", type=int, default=40, help="sittings: games a side and round (%(default)s)")
    return parser
