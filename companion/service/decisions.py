"""What people decide about tokens that are held apart, and about old ones: once each, and never in silence.

A token that counts goes the way of every token that waits for somebody's word: it falls at the table with a doubt,
and a seat claims it. Who may decide about a temple that serves no table is decided by whoever calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from companion.games.kernel import TEMPLE, Move, Refusal, Seat, Waiting
from companion.model.ports import COUNTED, HISTORY, LEFT_OUT, Decision, OldTokens, StoredToken, Transaction
from companion.model.ports import DISMISSED as NO_TOKEN
from companion.model.table import DECIDED, DISMISSED, HELD, OLD, OWNER, Entry, ServiceError, Table
from companion.model.temples import Temple
from companion.service.seats import Seating
from templo import contract

MOST_AT_ONCE = 500
"""Tokens that one decision takes at the most."""


class Deciding(Seating):
    """All tables and temples, and the decisions about tokens that do not count by themselves."""

    def held(self, name: str, limit: int = MOST_AT_ONCE) -> Sequence[StoredToken]:
        """Return a temple's tokens that are held apart and wait for a person, in the order of their arrival."""
        return self._store.held(self.temple(name).name, limit)

    def ever_held(self, name: str) -> int:
        """Return how many of a temple's tokens were ever held apart, decided or not."""
        return self._store.ever_quarantined(self.temple(name).name)

    def decisions(self, name: str, limit: int) -> Sequence[Decision]:
        """Return what was last decided about a temple's tokens that were held apart, newest first."""
        return self._store.decided(self.temple(name).name, limit)

    def decide(
        self, table_id: str, token: str, by: Seat, ids: Sequence[str], whose: Seat | None, request: str = ""
    ) -> Table:
        """Count tokens held apart for the seat `whose`, or with none dismiss them: all of them, or none.

        The table is the one that their temple serves, and `token` that of a phone that sits there and acts for the
        seat `by`. Raises `ServiceError` ``not_seated``, ``not_your_seat``, ``no_temple_here``, ``held_decided`` where
        somebody was faster, ``not_begun``, or what the game refuses the tokens with.
        """
        with self._lock:
            table = self.table(table_id)
            own = self._seated(table, token)
            if by not in self.seats_held(table_id, token):
                raise ServiceError("not_your_seat", seat=by[:24])
            if request and request in table.requests:
                return table
            if table.temple is None:
                raise ServiceError("no_temple_here")
            held = self._waiting(table.temple, ids)
            hand = "" if by in own else own[0]
            self._decide(table.temple, held, table, whose, by=by, hand=hand, request=request)
            return self.table(table_id)

    def decide_as_owner(self, name: str, ids: Sequence[str], whose: Seat | None) -> None:
        """Decide about a temple's tokens held apart at the command line of the companion's machine.

        They count at the table that the temple serves, whose log shows either decision. Raises `ServiceError` as
        `decide` does.
        """
        with self._lock:
            temple = self.temple(name)
            table = self._tables.get(temple.table_id or "")
            if table is None and whose is not None:
                raise ServiceError("serves_none", temple=name)
            self._decide(name, self._waiting(name, ids), table, whose, by=whose or OWNER, hand=OWNER if whose else "")

    def _waiting(self, name: str, ids: Sequence[str]) -> list[StoredToken]:
        wanted = dict.fromkeys(ids)
        held = [kept for kept in self.held(name) if kept.token.token in wanted]
        if not held or len(held) != len(wanted):
            raise ServiceError("held_decided")
        return held

    def _decide(
        self,
        name: str,
        held: Sequence[StoredToken],
        table: Table | None,
        whose: Seat | None,
        by: str,
        hand: str,
        request: str = "",
    ) -> None:
        now, after = self._clock(), table
        audited = OWNER if hand == OWNER else by
        with self._store.transaction() as change:
            if after is not None and whose is None:
                after = self._entered(change, after, by, Move(DECIDED, (DISMISSED, len(held))), request, hand)
            elif after is not None and whose is not None:
                after = self._run(change, self._counted(change, after, held, whose, by, request, hand))
            known = table is not None and audited in table.charter.seats
            player = (table.chair(audited).name or "") if table is not None and known else ""
            table_id = table.id if table else None
            verdict = COUNTED if whose else NO_TOKEN
            change.decide([Decision(each, verdict, now, audited, player, table_id, whose or "") for each in held])
        if after is not None:
            self._swap(after)
        temple = self.temple(name)
        self._put(replace(temple, quarantined=temple.quarantined - len(held)))

    def _counted(
        self,
        change: Transaction,
        table: Table,
        held: Sequence[StoredToken],
        whose: Seat,
        by: str,
        request: str,
        hand: str,
    ) -> Table:
        """Return the table after the tokens fell there and were claimed for a seat."""
        if table.began_at is None:
            raise ServiceError("not_begun")
        if not table.game.uses_temple:
            raise ServiceError("no_tokens_here")
        table.chair(whose)
        for kept in held:
            table = self._entered(change, table, TEMPLE, table.fall(kept.token, doubt=HELD))
        for kept in held:
            waiting = self._asked(table, kept.token.token)
            if whose not in waiting.claims:
                raise ServiceError("not_theirs", seat=whose)
            table = self._entered(change, table, by, waiting.claims[whose], request, hand)
            request = ""
        return table

    def _asked(self, table: Table, token: str) -> Waiting:
        reckoning = table.game.reckoning(table.state)
        for waiting in reckoning.waiting if reckoning else ():
            if waiting.id == token:
                return waiting
        raise ServiceError("held_decided")

    def _entered(
        self, change: Transaction, table: Table, by: str, move: Move, request: str = "", hand: str = ""
    ) -> Table:
        entry: Entry = table.entry(self._clock(), by, move, request, hand)
        after = table.extended(entry)
        if isinstance(after, Refusal):
            raise ServiceError(after.code, **after.facts)
        change.append(table.id, entry)
        return after

    def choose_old(self, name: str, choice: str, by: str) -> Temple:
        """Leave a temple's old tokens out, or keep them as its history: neither ever counts at a table.

        `by` says who chose, for the record. Raises `ServiceError` ``old_decided`` where something else was chosen.
        """
        with self._lock:
            temple = self.temple(name)
            old = self._undecided(temple, choice, None)
            if old is None:
                return temple
            if choice not in (LEFT_OUT, HISTORY):
                raise ServiceError("bad_move")
            self._store_choice(old, choice, by, None)
            return self.temple(name)

    def count_old(self, table_id: str, token: str) -> Temple:
        """Let the old tokens of a table's temple wait there for somebody to say whose they were.

        Those that arrive later go there too. Only who sits at the table may; raises `ServiceError` ``not_seated``,
        ``no_temple_here``, ``not_begun``, ``no_tokens_here``, ``old_decided``.
        """
        with self._lock:
            table = self.table(table_id)
            by = self._seated(table, token)[0]
            if table.temple is None:
                raise ServiceError("no_temple_here")
            temple = self.temple(table.temple)
            old = self._undecided(temple, COUNTED, table_id)
            if old is None:
                return temple
            if table.began_at is None:
                raise ServiceError("not_begun")
            if not table.game.uses_temple:
                raise ServiceError("no_tokens_here")
            self._store_choice(old, COUNTED, table.chair(by).name or by, table, by)
            return self.temple(temple.name)

    def _undecided(self, temple: Temple, choice: str, table_id: str | None) -> OldTokens | None:
        """Return a temple's old tokens, or none where the same was chosen before."""
        old = temple.old
        if old is None:
            raise ServiceError("no_old", temple=temple.name)
        if old.choice and (old.choice, old.table_id) != (choice, table_id):
            raise ServiceError("old_decided")
        return None if old.choice else old

    def _store_choice(self, old: OldTokens, choice: str, by: str, table: Table | None, seat: Seat = "") -> None:
        chosen = replace(
            old, choice=choice, by=by, decided_at=self._clock(), table_id=table.id if table is not None else None
        )
        with self._store.transaction() as change:
            change.set_old(chosen)
            if table is not None:
                table = self._entered(change, table, seat, Move(DECIDED, (OLD, old.through)))
                scored = [kept for kept in self._store.old_tokens(old) if contract.Flag.TEST not in kept.token.flags]
                for kept in scored:
                    table = self._entered(change, table, TEMPLE, table.fall(kept.token, doubt=OLD))
                change.assign(scored, table.id)
        self._old[old.source] = chosen
        if table is not None:
            self._swap(table)
        self._put(replace(self.temple(old.temple), old=chosen, totals=self._store.totals(old.temple)))
