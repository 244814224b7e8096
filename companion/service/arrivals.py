"""Takes in arriving tokens: each is stored once, together with all that it causes at its table, or not at all."""

from __future__ import annotations

import logging
from collections.abc import Collection, Container, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from companion.games.kit import TEMPLE, Refusal
from companion.model.entries import OLD
from companion.model.lobby import digest
from companion.model.ports import ARRIVED, COUNTED, Decision, OldTokens, StoredToken
from companion.model.seating import free_seat
from companion.model.temples import Receipt, Source, Temple
from companion.service.change import Change
from companion.service.ledgers import Ledgers
from companion.service.waiting import Waiting
from companion.service.workspace import Workspace
from templo import contract
from templo.bounded_log import BoundedLog

log = logging.getLogger(__name__)


class _Taken(NamedTuple):
    """The result of taking in tokens: the receipt for each source, and counts for the log."""

    receipts: list[Receipt]
    resent: int
    held_apart: Mapping[str, int]


class TokenIntake:
    """Takes in the temples' tokens."""

    def __init__(self, workspace: Workspace, ledgers: Ledgers, waiting: Waiting) -> None:
        self._workspace = workspace
        self._ledgers = ledgers
        self._waiting = waiting
        self._doubts = BoundedLog(log, lambda: workspace.clock().timestamp())

    def receive(self, arrivals: Sequence[tuple[str, contract.Token]]) -> list[Receipt]:
        """Store tokens with everything that they cause, in one change; return a receipt for each source.

        A token that is already stored changes nothing. One that is stored under another number, perhaps of another
        source, is recognised by its id: its new number is stored, and it does not count again. One whose number
        another token has is held apart; if it comes again under a number of its own, it counts as usual unless a
        person has decided about it. If the store fails, its error is raised and nothing has changed.
        """
        names = {name for name, _ in arrivals}
        taken = self._workspace.run(lambda change: self._take(change, arrivals), temples=names)
        if taken.resent:
            log.info("tokens sent again under a new source, known by their ids: %d", taken.resent)
        for name, count in taken.held_apart.items():
            self._doubts.warning("temple %r: tokens held apart, as their numbers were taken: %d", name, count)
        return taken.receipts

    def _take(self, change: Change, arrivals: Sequence[tuple[str, contract.Token]]) -> _Taken:
        temples = {token.source: name for name, token in arrivals}
        ids, stored, held, doubted = self._workspace.store.known([token for _, token in arrivals])
        sources = self._sources(change, temples, arrivals, stored)
        serving = [each.table_id for name in temples.values() if (each := change.find_temple(name))]
        serving += [each.old.table_id for each in sources.values() if each.old]
        change.lock_tables(*{table.id for each in serving if (table := self._workspace.tables.find(each))})
        batch = _Batch(change, doubted, self._waiting)
        for name, token in arrivals:
            seqs = ids[token.source]
            if token.seq in seqs:
                if seqs[token.seq] != token.token:
                    batch.hold_apart(name, token)
                continue
            seqs[token.seq] = token.token
            if token.token in stored:
                batch.take_again(name, token)
            else:
                stored.add(token.token)
                batch.take(name, token, sources[token.source].old, held.get(token.token))
        receipts = [
            self._receipt(change, source, ids[source.id], source.id in batch.apart_of) for source in sources.values()
        ]
        return _Taken(receipts, len(batch.resent), batch.enter(stored, held))

    def _sources(
        self,
        change: Change,
        temples: Mapping[str, str],
        arrivals: Sequence[tuple[str, contract.Token]],
        stored: Container[str],
    ) -> dict[str, Source]:
        """Return each source, with its old tokens determined now while it is new."""
        sources: dict[str, Source] = {}
        for id_, name in temples.items():
            source = replace(change.source(id_) or Source(id_, name, unsure=True), temple=name)
            tokens = [token for _, token in arrivals if token.source == id_]
            if source.unsure and any(token.token in stored for token in tokens):
                source = replace(source, unsure=False)  # A ledger that holds tokens known here is no stranger's.
            elif source.unsure:
                source = self._ledgers.judge(change.find_temple(name), source, tokens)
            sources[id_] = source
        return sources

    def _receipt(self, change: Change, source: Source, ids: Mapping[int, str], apart: bool) -> Receipt:
        """Update how far a source's tokens are stored; return the receipt for it."""
        mark = self._ledgers.mark(source.id).with_stored(ids)
        after = replace(source, mark=mark)
        if after != change.source(source.id):
            change.put_source(after)
        return Receipt(source.temple, source.id, mark.seq, mark.token, bool(mark.ahead), apart)


class _Batch:
    """A batch of arriving tokens, and what they change."""

    def __init__(self, change: Change, doubted: Mapping[str, str], waiting: Waiting) -> None:
        """Start empty; `doubted` are the ids of tokens that their temple doubts, with the reason."""
        self._change = change
        self._doubted = doubted
        self._waiting = waiting
        self._now = change.now
        self._temples: dict[str, Temple] = {}
        self._stored: list[StoredToken] = []
        self._arrived: list[Decision] = []
        self._apart: list[StoredToken] = []
        self.resent: list[contract.Token] = []
        self.apart_of: set[str] = set()
        """The sources of which a token came under a number that another one has."""

    def take(self, name: str, token: contract.Token, old: OldTokens | None, verdict: str | None) -> None:
        """Store a token, and enter it at the table that its temple serves.

        `old` are the old tokens of its source. `verdict` is the decision about it if it was held apart under another
        number, empty while it is undecided.
        """
        temple = self._temple(name, token)
        if verdict == "":
            self._arrived.append(Decision(StoredToken(name, token, self._now), ARRIVED, self._now, TEMPLE))
            self._temples[name] = replace(temple, quarantined=temple.quarantined - 1)
        self._stored.append(StoredToken(name, token, self._now, self._entered(temple, token, old, verdict)))

    def _entered(
        self, temple: Temple, token: contract.Token, old: OldTokens | None, verdict: str | None
    ) -> str | None:
        """Enter a token at a table; return the table's id, or None if it counts at none."""
        is_old = old is not None and old.holds(token)
        is_certain = token.source == temple.source and not (verdict or is_old or token.token in self._doubted)
        if is_certain and not token.replayed:
            self._seat(temple)
        if verdict or (is_old and old and old.choice != COUNTED) or contract.Flag.TEST in token.flags:
            return None
        table_id = old.table_id if is_old and old else temple.table_id
        if not table_id or table_id not in self._change.locked_tables:
            return None
        table = self._change.table(table_id)
        if table.began_at is None or not table.game.temple:
            return None
        doubt = self._doubted.get(token.token) or (OLD if is_old else "")
        move = table.fall(token, stranger=token.source != temple.source, doubt=doubt)
        after = self._change.extend(table_id, TEMPLE, move)
        if isinstance(after, Refusal):
            log.error("table %r refused token %d of %r: %s", table.title, token.seq, temple.name, after.code)
            return None
        return table_id

    def _seat(self, temple: Temple) -> None:
        """Seat the phone that waits for a token in the lobby of the table that a temple serves, if one does."""
        if not temple.table_id or temple.table_id not in self._change.locked_tables:
            return
        table = self._change.table(temple.table_id)
        phone = self._waiting.next(table, self._now) if table.phase == "lobby" else None
        if phone and not all(chair.taken for chair in table.chairs):
            self._change.sit(table.id, {free_seat(table, phone.name): phone.name}, digest(phone.token))

    def take_again(self, name: str, token: contract.Token) -> None:
        """Store a further number of a token, which does not count again."""
        self._temple(name, token)
        self.resent.append(token)

    def hold_apart(self, name: str, token: contract.Token) -> None:
        """Hold a token apart, unless this batch stores it: another one has its number."""
        self.apart_of.add(token.source)
        self._temples.setdefault(name, self._change.find_temple(name) or Temple(name))
        self._apart.append(StoredToken(name, token, self._now))

    def enter(self, stored: Container[str], held: Collection[str]) -> Mapping[str, int]:
        """Add all of it to the change; return how many tokens of each temple are newly held apart.

        Tokens that are `stored`, even under another number, or were `held` apart before are not among them.
        """
        apart = {
            each.token.token: each
            for each in self._apart
            if each.token.token not in stored and each.token.token not in held
        }
        if self._stored:
            self._change.also(lambda store: store.add_tokens(self._stored))
        if self.resent:
            self._change.also(lambda store: store.add_numbers(self.resent))
        if self._arrived:
            self._change.also(lambda store: store.decide(self._arrived))
        if apart:
            self._change.also(lambda store: store.quarantine([*apart.values()]))
        counts: dict[str, int] = {}
        for name, temple in self._temples.items():
            count = sum(each.temple == name for each in apart.values())
            source = self._change.source(temple.source or "")
            temple = replace(temple, old=source.old if source else None)
            self._change.put(temple.counted([each for each in self._stored if each.temple == name], count))
            if count:
                counts[name] = count
        return counts

    def _temple(self, name: str, token: contract.Token) -> Temple:
        temple = self._temples.get(name) or self._change.find_temple(name) or Temple(name)
        if temple.source is None:
            temple = replace(temple, source=token.source)
        self._temples[name] = temple
        return temple
