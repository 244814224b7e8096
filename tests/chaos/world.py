"""A whole temple for faults to happen to: broker, proxies, companion and controller as programs, and tokens.

It starts them, ends only what it started, and reads the books from their disks; it judges nothing.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from controller.adapters import learned_file
from controller.adapters.ledger_recovery import MARK_NAME
from controller.adapters.sqlite_ledger import FILE_NAME
from templo.contract import God
from tests.brokers import HOST, Broker, free_port
from tests.chaos import person
from tests.chaos.oracle import Books, Store, judge
from tests.chaos.patient import CLEAR_NS, QUIET
from tests.chaos.players import Seats
from tests.chaos.proxy import Proxy
from tests.path.conftest import ROOT, Program

KEEPALIVE_S = 2
"""The shortest that both programs allow: what is frozen for longer than twice that is given up."""

NARROWEST_US = 6_000
"""Token 0 is as wide as this; each further one a microsecond wider."""

APART_S = 0.004
"""From one token to the next, in whichever slot: two at once and as wide as each other are a dip of the supply."""

CLONED = 20_000
"""The first token that falls into the first cloned temple: no run has as many of its own."""

PATIENCE_S = 120.0
"""For what must come in the end. Nothing is measured by it; a machine may be busy."""

SETTLES_S = 150.0
"""For what must arrive before a fault goes on; a full disk or a lost acknowledgement may hold it up for a minute."""

STORE = "companion.sqlite"

LONGEST_MS = 10_000
"""A machine that is busy elsewhere may let a simulated beam wait for its end; that is no jam of the slot."""

_HELD = """
SELECT temple, width_ms FROM quarantine
WHERE token NOT IN (SELECT token FROM token UNION SELECT token FROM held_decision)
"""
_OLD = "SELECT token.temple, width_ms FROM token JOIN old_tokens USING (source) WHERE seq <= through AND choice = ''"

_OF_TOKENS = ("token", "doubt", "claim", "dismiss")
"""The moves of a game that say what becomes of a token, whose id is their first argument."""

_ADVICE = ("max_", "set_tcp_nodelay")


class Patient(Program):
    """One of our programs under `tests.chaos.patient`, with the folder that governs it."""

    ready_s = 120.0

    def __init__(self, folder: Path, words: list[str], ready: str) -> None:
        folder.mkdir()
        self.folder = folder
        super().__init__(["tests.chaos.patient", str(folder), *words], ready, folder / "log")

    def disk(self, fault: str | None) -> None:
        """Set the state of its disk."""
        self._order("disk", fault)

    def clock(self, seconds: float) -> None:
        """Set how far its wall clock is off."""
        self._order("clock", str(seconds) if seconds else None)

    def freeze(self, seconds: float) -> None:
        """Stop it from running for a while, its connections open; it may be killed meanwhile."""
        frozen = self.process
        assert frozen is not None
        frozen.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        frozen.send_signal(signal.SIGCONT)

    def ended(self) -> int | None:
        """Return its exit code if it has ended."""
        return None if self.process is None else self.process.poll()

    def raise_from_the_dead(self) -> str:
        """Start it again if it ended by itself, as its supervisor would; return what had happened, if it had."""
        code = self.ended()
        if code is None:
            return ""
        self.begin_again()
        return f"{self.folder.name} had ended with {code}"

    def begin_again(self) -> None:
        """Start it again after it ended by itself."""
        self.start()

    def _order(self, name: str, text: str | None) -> None:
        order = self.folder / name
        if text is None:
            order.unlink(missing_ok=True)
        else:
            fresh = order.with_suffix(".new")
            fresh.write_text(text)
            fresh.replace(order)


class Rain:
    """Drops tokens into a temple that lives, each as wide as its number, and notes which fell during which life."""

    def __init__(self, beams: Path, seed: str, first: int = 0) -> None:
        """Drop nothing until tokens are allowed; `seed` chooses the slots, and `first` is the first token's name."""
        self._beams = str(beams)
        self._whims = random.Random(seed)
        self._changed = threading.Condition()
        self._first = first
        self._allowed = 0
        self._pauses = 0
        self._stopped = False
        self.dropped = 0
        """Tokens and spells of light so far."""
        self.light: list[tuple[int, ...]] = []
        """The spells of each lamp and each dip of the supply."""
        self.lives: list[dict[str, list[int]]] = [{god.value: [] for god in God}]
        self._thread = threading.Thread(target=self._run, name="rain", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def allow(self, number: int) -> None:
        """Let tokens fall until so many have in all, light not counted."""
        with self._changed:
            self._allowed = number
            self._changed.notify_all()

    def fallen(self, patience_s: float) -> bool:
        """Wait until all that are allowed have fallen; return whether they have."""
        with self._changed:
            return self._changed.wait_for(lambda: self._tokens >= self._allowed, patience_s)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let nothing fall while the context lasts."""
        with self._changed:
            self._pauses += 1
        try:
            yield
        finally:
            with self._changed:
                self._pauses -= 1
                self._changed.notify_all()

    def end_life(self, kill: Callable[[], None]) -> None:
        """Kill the temple between two tokens: what fell before belongs to this life, and the next begins."""
        with self._changed:
            kill()
            self.lives.append({god.value: [] for god in God})

    def stop(self) -> None:
        """Let no more fall."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def flicker(self, slot: str, spells: int) -> bool:
        """Let a lamp light a slot's receiver, at once, with equal periods; return whether a temple was there."""
        return self._shine([slot] * spells)

    def dip(self) -> bool:
        """Let the supply of both beams dip once, when both have been quiet; return whether a temple was there."""
        return self._shine([god.value for god in God], QUIET)

    def _shine(self, slots: Sequence[str], *before: str) -> bool:
        with self._changed, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as lamp:
            spells = [*enumerate(slots, self._first + self.dropped)]
            orders = [_order(slot, name, CLEAR_NS) for name, slot in spells]
            try:
                lamp.sendto("\n".join([*before, *orders]).encode(), self._beams)
            except OSError:  # the temple is dead
                return False
            for name, slot in spells:
                self.lives[-1][slot].append(name)
            self.light.append(tuple(name for name, _ in spells))
            self.dropped += len(spells)
            return True

    @property
    def _tokens(self) -> int:
        return self.dropped - sum(map(len, self.light))

    def _run(self) -> None:
        free = {god.value: 0.0 for god in God}
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as hand:
            hand.setblocking(False)
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._stopped or self._may_drop())
                    if self._stopped:
                        return
                    slot = self._whims.choice(list(God)).value
                # Equal periods are a machine's.
                apart_ns = CLEAR_NS * 3 // 2 if self.dropped % 2 else CLEAR_NS
                while not self._drop(hand, slot, apart_ns, free[slot]):
                    if self._stopped:
                        return
                free[slot] = (
                    max(time.monotonic(), free[slot]) + (_width_ns(self._first + self.dropped) + apart_ns) / 1e9
                )

    def _may_drop(self) -> bool:
        return not self._pauses and self._tokens < self._allowed

    def _drop(self, hand: socket.socket, slot: str, apart_ns: int, free: float) -> bool:
        """Drop one token once its slot is free, if somebody is there to count it; return whether it fell."""
        time.sleep(max(APART_S, free - time.monotonic()))
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._may_drop())
            if self._stopped:
                return False
            number = self._first + self.dropped
            try:
                hand.sendto(_order(slot, number, apart_ns).encode(), self._beams)
            except OSError:  # the temple is dead, or frozen with its buffer full
                fell = False
            else:
                fell = True
                self.lives[-1][slot].append(number)
                self.dropped += 1
                self._changed.notify_all()
        if not fell:
            time.sleep(0.02)
        return fell


class Temple(Patient):
    """A controller with simulated beams, its ledger, and the tokens that rain into it."""

    def __init__(
        self,
        folder: Path,
        state: Path,
        brokers: str,
        seed: str,
        *,
        first: int = 0,
        name: str = "templo",
        keepalive_s: int = KEEPALIVE_S,
    ) -> None:
        """Prepare; `brokers` are their addresses, and `first` is the name of the first token that falls."""
        super().__init__(
            folder,
            ["controller", "run", "--simulate", "--temple", name, "--state", str(state),
             "--broker", brokers, "--set", f"broker.keepalive_s={keepalive_s}",
             "--set", f"counting.max_break_ms={LONGEST_MS}", "--set", "counting.fastest_per_s=10000"],
            "templo-controller ready",
        )  # fmt: skip
        self.name = name
        self.state = state
        self.rain = Rain(folder / "beams", seed, first)

    def die(self) -> None:
        """End it as a power cut does, between two tokens."""
        self.rain.end_life(self.kill)

    def begin_again(self) -> None:
        """Start it again after it ended by itself."""
        self.rain.end_life(lambda: None)
        self.start()

    def end(self) -> None:
        """End it for good."""
        self.rain.stop()
        if self.process is not None:
            self.kill()

    def ledger(self) -> list[int]:
        """Return what its ledger holds, in the order of its rows."""
        return _ledger(self.state / FILE_NAME)

    def committed(self) -> frozenset[int]:
        """Return what it has said that it committed."""
        return self._said("committed")

    def doubted(self) -> frozenset[int]:
        """Return what it has said that it doubts."""
        return self._said("doubted")

    def _said(self, book: str) -> frozenset[int]:
        with suppress(FileNotFoundError):
            lines = (self.folder / book).read_text().splitlines()
            return frozenset(_name(float(line)) for line in lines)
        return frozenset()

    def books(self, store: Store, put_away: Sequence[Store] = ()) -> Books:
        """Return what fell here, and what every station holds of it now."""
        return Books(
            fell=self.rain.lives,
            committed=self.committed(),
            ledger=self.ledger(),
            store=store,
            put_away=put_away,
            due=_due(self.state / FILE_NAME),
            light=self.rain.light,
            doubted=self.doubted(),
            ledger_doubts=_doubts(self.state / FILE_NAME),
        )

    def has_committed_all(self) -> bool:
        """Return whether all that fell since its last start is committed."""
        return {token for tokens in self.rain.lives[-1].values() for token in tokens} <= self.committed()


class World:
    """Everything between a beam and the companion's store."""

    def __init__(self, folder: Path, broker: Broker, seed: str, tokens: int = 0, table: bool = True) -> None:
        """Prepare; `start` starts it. So many tokens will fall; with a `table`, every token enters its log."""
        self._tokens = tokens
        self.broker = broker
        self.temple_link, self.companion_link = Proxy(broker.port), Proxy(broker.port)
        (folder / "companion.toml").write_text(f"[broker]\nkeepalive_s = {KEEPALIVE_S}\n")
        self.companion_state = folder / "companion-state"
        self.port = free_port()
        self.companion = Patient(
            folder / "companion",
            ["companion", "run", "--config", str(folder / "companion.toml"), "--host", HOST,
             "--port", str(self.port), "--state", str(self.companion_state),
             "--broker", f"{HOST}:{self.companion_link.port}", *(["--demo-table", "templo"] * table)],
            "table " if table else "ready ",
        )  # fmt: skip
        self.temple = Temple(folder / "temple", folder / "temple-state", f"{HOST}:{self.temple_link.port}", seed)
        self.clones: list[Temple] = []
        self.put_away: list[Path] = []
        """The state folders of companions that others took the place of."""
        self.uncertain: set[int] = set()
        self.shared: set[int] = set()
        self.earlier: set[int] = set()
        self.gone_doubts: set[int] = set()
        self.decided: dict[int, str] = {}
        """What a person decided, and the companion accepted."""
        self._seats: dict[str, Seats] = {}
        """What the person's phone holds, by the id of each companion's table."""
        self._exchanges = 0
        self._folder = folder
        self._seed = seed
        self.rain = self.temple.rain

    def start(self) -> None:
        """Start everything; no token falls yet."""
        self.temple_link.start()
        self.companion_link.start()
        self.companion.start()
        self.temple.start()
        self.rain.start()

    def end(self) -> None:
        """End everything at once."""
        for temple in (self.temple, *self.clones):
            temple.end()
        if self.companion.process is not None:
            self.companion.kill()
        self.temple_link.close()
        self.companion_link.close()

    def raise_the_dead(self) -> list[str]:
        """Start again what ended by itself, as its supervisor would; return what had."""
        return [each for program in (self.temple, self.companion) if (each := program.raise_from_the_dead())]

    def forget_what_waits(self) -> None:
        """Cancel deeds that no packet has matched."""
        for link in (self.temple_link, self.companion_link):
            link.disarm()

    @property
    def done(self) -> int:
        """How many tokens have fallen so far."""
        return self.rain.dropped

    def allow(self, share: Fraction) -> None:
        """Let a share of all tokens fall."""
        self.rain.allow(int(self._tokens * share))

    def wait_until_done(self) -> None:
        """Wait until all that was allowed has happened, or fail."""
        assert self.rain.fallen(PATIENCE_S), f"no token falls any more: {self.temple.log.read_text()[-2000:]}"

    def copy_ledger(self) -> Path:
        """Return a copy of the temple's ledger as it is now, whole."""
        return _copied(self.temple.state / FILE_NAME, self._folder / "ledger-copy")

    def put_ledger_back(self, copy: Path) -> int:
        """Replace the ledger by a copy while its daemon is stopped; return how many tokens the copy lacks.

        Those that no companion has by now are uncertain: they were nowhere else, but may be on their way.
        """
        gone = frozenset(self.temple.ledger()) - frozenset(_ledger(copy))
        stores = self._stores()
        self.uncertain |= gone - {token for store in stores for token in store.tokens}
        doubts = _doubts(self.temple.state / FILE_NAME) - _doubts(copy)
        self.gone_doubts |= doubts - {token for store in stores for token in store.doubted}
        _put_back(copy, self.temple.state / FILE_NAME)
        return len(gone)

    def copy_store(self) -> Path:
        """Return a copy of the companion's database as it is now, whole."""
        return _copied(self.companion_state / STORE, self._folder / "store-copy")

    def put_store_back(self, copy: Path) -> int:
        """Replace the database by a copy while its companion is stopped; return how many tokens the copy lacks."""
        gone = len(self.received()) - len(_store(copy).tokens)
        _put_back(copy, self.companion_state / STORE)
        return gone

    def exchange_companion(self, state: Path | None = None) -> Path:
        """Start another companion in this one's place, with an empty store or the state folder of an earlier one.

        Returns where the state of the one that was there is put away. No token falls until the temple is known.
        """
        with self.rain.paused():
            self.companion.kill()
            away = self._folder / f"companion-away-{self._exchanges}"
            self._exchanges += 1
            self.companion_state.rename(away)
            self.put_away.append(away)
            if state is not None:
                state.rename(self.companion_state)
                self.put_away.remove(state)
            self.companion.start()
            self.settle()
            if state is None:
                self.earlier.update(range(self.rain.dropped))
        return away

    def clone(self, tokens: int) -> Temple:
        """Start a second temple under this one's name with a copy of its state; so many tokens will fall there."""
        number = len(self.clones)
        state = self._folder / f"clone-{number}-state"
        state.mkdir(mode=0o700)
        _copied(self.temple.state / FILE_NAME, state / FILE_NAME)
        for name in (MARK_NAME, learned_file.FILE_NAME):
            with suppress(FileNotFoundError):
                shutil.copy(self.temple.state / name, state / name)
        first = CLONED + 100 * number
        clone = Temple(
            self._folder / f"clone-{number}",
            state,
            f"{HOST}:{self.broker.port}",
            f"{self._seed} clone {first}",
            first=first,
        )
        self.uncertain.update(range(first, first + tokens))
        self.clones.append(clone)
        clone.start()
        clone.rain.start()
        clone.rain.allow(tokens)
        return clone

    def decide(self, whims: random.Random, seats: Seats | None = None) -> int:
        """Let a person decide about tokens that wait, at the world's own table if not where the person sits.

        Return how many were decided.
        """
        decided = person.decide(self.port, seats or self._sat_down(), whims)
        names = names_of(lambda query: _rows(self.companion_state / STORE, query))
        self.decided |= {names[token][1]: seat for token, seat in decided.items()}
        return len(decided)

    def _sat_down(self) -> Seats:
        code, table = re.findall(r"^table (\S+) /t/(\S+)$", self.companion.log.read_text(), re.MULTILINE)[-1]
        held = self._seats.get(table)
        self._seats[table] = person.sit(self.port, table, code, held.token if held else "")
        return self._seats[table]

    def received(self) -> list[int]:
        """Return what the companion's store holds, ledger by ledger, in the order of their numbers."""
        return _store(self.companion_state / STORE).tokens

    def books(self) -> Books:
        """Return what every station holds now."""
        store, *away = self._stores()
        return replace(
            self.temple.books(store, away),
            uncertain=frozenset(self.uncertain),
            shared=frozenset(self.shared),
            earlier=frozenset(self.earlier),
            gone_doubts=frozenset(self.gone_doubts),
            decided=self.decided,
        )

    def settled(self, patience_s: float) -> bool:
        """Wait until all that fell is committed, and all that is committed arrived, doubts too; return whether so."""
        until = time.monotonic() + patience_s
        while time.monotonic() < until:
            if self.temple.has_committed_all():
                verdict = judge(self.books())
                if not verdict.lost and not verdict.undelivered and not verdict.undoubted:
                    return True
            time.sleep(0.2)
        return False

    def settle(self) -> None:
        """Wait until all that fell so far is committed and arrived, or fail."""
        assert self.settled(SETTLES_S), f"not delivered within {SETTLES_S:g} s: {judge(self.books())}"

    def _stores(self) -> list[Store]:
        return [_store(state / STORE) for state in (self.companion_state, *self.put_away)]


def advice() -> str:
    """Return the limits that the project's own configuration of mosquitto sets, and a door for everybody."""
    lines = (ROOT / "systemd" / "mosquitto" / "templo.conf").read_text().splitlines()
    return "\n".join([*(line for line in lines if line.startswith(_ADVICE)), "allow_anonymous true"])


def _width_ns(name: int) -> int:
    return (NARROWEST_US + name) * 1000


def _order(slot: str, name: int, apart_ns: int) -> str:
    return f"{slot} {_width_ns(name)} {apart_ns}"


def _name(width_ms: float) -> int:
    return round(width_ms * 1000) - NARROWEST_US


def _ledger(path: Path) -> list[int]:
    return [_name(width_ns / 1e6) for (width_ns,) in _rows(path, "SELECT width_ns FROM token ORDER BY seq")]


def _doubts(path: Path) -> frozenset[int]:
    """Return what a ledger doubts of what it holds."""
    ids = {token for (tokens,) in _rows(path, "SELECT tokens FROM doubt") for token in tokens.split()}
    return frozenset(
        _name(width_ns / 1e6) for token, width_ns in _rows(path, "SELECT token, width_ns FROM token") if token in ids
    )


def _due(path: Path) -> frozenset[int]:
    """Return what a ledger holds under the source that it has now."""
    first = 1
    with suppress(sqlite3.OperationalError):  # it has never begun another one
        first = _rows(path, "SELECT coalesce(max(first), 1) FROM source")[0][0]
    return frozenset(_ledger(path)[first - 1 :])


def _store(path: Path) -> Store:
    """Return what a companion's database holds at one moment."""
    with closing(_reading(path)) as store:
        store.execute("BEGIN")
        return store_of(lambda query: store.execute(query).fetchall())


def names_of(rows: Callable[[str], Sequence[tuple[Any, ...]]]) -> dict[str, tuple[str, int]]:
    """Return for the id of each token in a companion's database its temple and its name."""
    return {token: (of, _name(width_ms)) for token, of, width_ms in rows("SELECT token, temple, width_ms FROM token")}


def store_of(rows: Callable[[str], Sequence[tuple[Any, ...]]], temple: str = "") -> Store:
    """Return what a companion's database holds, of one temple where one is named; `rows` answers a query."""
    received: dict[str, list[int]] = {}
    names = names_of(rows)
    for source, token in rows("SELECT source, token FROM token ORDER BY source, seq"):
        if temple in ("", names[token][0]):
            received.setdefault(source, []).append(names[token][1])
    entries = rows("SELECT move FROM entry ORDER BY table_id, n")
    moves = [json.loads(move) if isinstance(move, str) else move for (move,) in entries]
    made = [(*names[args[0]], move, args) for move, *args in moves if move in _OF_TOKENS]
    mine = [(move, token, args) for of, token, move, args in made if temple in ("", of)]
    held, old = (
        frozenset(_name(width_ms) for of, width_ms in rows(query) if temple in ("", of)) for query in (_HELD, _OLD)
    )
    known = [names[token] for (token,) in rows("SELECT token FROM doubted_token") if token in names]
    doubted = frozenset(token for of, token in known if temple in ("", of))
    return _sorted_out(mine, Store([*received.values()], held=held, old=old, doubted=doubted))


def _sorted_out(moves: Sequence[tuple[str, int, Sequence[str]]], store: Store) -> Store:
    """Return a store with what the moves of a log made of its tokens: scored, waiting, claimed and dismissed."""
    scored: list[int] = []
    waiting: dict[int, str] = {}
    claimed: dict[int, str] = {}
    dismissed: set[int] = set()
    for move, token, args in moves:
        waiting.pop(token, None)
        claimed.pop(token, None)
        dismissed.discard(token)
        match move:
            case "token" | "doubt":
                scored += [token] if move == "token" else []
                if args[2]:
                    waiting[token] = args[2]
            case "claim":
                claimed[token] = args[1]
            case "dismiss":
                dismissed.add(token)
    return replace(store, scored=scored, waiting=waiting, claimed=claimed, dismissed=frozenset(dismissed))


def _copied(database: Path, copy: Path) -> Path:
    with closing(_reading(database)) as original, closing(sqlite3.connect(copy)) as target:
        original.backup(target)
    return copy


def _put_back(copy: Path, database: Path) -> None:
    for path in (database, copy):  # whoever reads a copy leaves the same two files beside it
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    copy.replace(database)


def _rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(_reading(database)) as connection:
        return connection.execute(query).fetchall()


def _reading(database: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10, isolation_level=None)
