"""People's decisions about tokens held apart and old tokens. Each is made once, in sight of the table.

A token that is counted becomes an unclaimed token at the table, and a seat claims it as usual. Who may decide about a
temple that serves no table is up to the caller.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from companion.games.kit import TEMPLE, Seat, UnclaimedToken
from companion.model.entries import DISMISSED, OLD, Decide
from companion.model.ports import COUNTED, HISTORY, LEFT_OUT, Decision, OldTokens, StoredToken
from companion.model.ports import DISMISSED as NO_TOKEN
from companion.model.seating import require_seats, seats_held
from companion.model.table import HELD, OWNER, ServiceError, Table
from companion.model.temples import Temple
from companion.service.automatic import play_on
from companion.service.change import Change
from companion.service.workspace import Workspace
from templo import contract

MOST_AT_ONCE = 500
"""The most tokens in one decision."""


class Decisions:
    """Applies people's decisions about tokens that do not count by themselves."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._store = workspace.store

    def held(self, name: str, limit: int = MOST_AT_ONCE) -> Sequence[StoredToken]:
        """Return a temple's tokens that are held apart and undecided, in order of arrival."""
        return self._store.held(self._workspace.temples.get(name).name, limit)

    def ever_held(self, name: str) -> int:
        """Return how many of a temple's tokens were ever held apart, decided or not."""
        return self._store.ever_quarantined(self._workspace.temples.get(name).name)

    def last(self, name: str, limit: int) -> Sequence[Decision]:
        """Return the last decisions about a temple's tokens held apart, newest first."""
        return self._store.decided(self._workspace.temples.get(name).name, limit)

    def decide(
        self, table_id: str, token: str, by: Seat, ids: Sequence[str], whose: Seat | None, request: str = ""
    ) -> Table:
        """Count tokens held apart for the seat `whose`, or dismiss them if it is None: all of them, or none.

        The table is the one that their temple serves, and `token` belongs to a phone there that acts for the seat
        `by`. Raises `ServiceError` ``not_seated``, ``not_your_seat``, ``no_temple_here``, ``held_decided`` if
        somebody was faster, ``not_begun``, or what the game refuses the tokens with.
        """

        def work(change: Change) -> Table:
            table = change.lock_with_temple(table_id)
            own = require_seats(table, token)
            if by not in seats_held(table, token):
                raise ServiceError("not_your_seat", seat=by[:24])
            if request and request in table.requests:
                return table
            if table.temple is None:
                raise ServiceError("no_temple_here")
            held = self._waiting(table.temple, ids)
            hand = "" if by in own else own[0]
            self._decide(change, table.temple, held, table, whose, by=by, hand=hand, request=request)
            return change.table(table_id)

        return self._workspace.run(work)

    def decide_as_owner(self, name: str, ids: Sequence[str], whose: Seat | None) -> None:
        """Decide about a temple's tokens held apart at the command line of the companion's machine.

        They count at the table that the temple serves, whose log shows either decision. Raises `ServiceError` as
        `decide` does.
        """

        def work(change: Change) -> None:
            table = self._workspace.tables.find(change.temple(name).table_id)
            if table is not None:
                change.lock_tables(table.id)
                table = change.table(table.id)
            elif whose is not None:
                raise ServiceError("serves_none", temple=name)
            hand = OWNER if whose else ""
            self._decide(change, name, self._waiting(name, ids), table, whose, by=whose or OWNER, hand=hand)

        self._workspace.run(work, temples=[name])

    def _waiting(self, name: str, ids: Sequence[str]) -> list[StoredToken]:
        wanted = dict.fromkeys(ids)
        held = [stored for stored in self.held(name) if stored.token.token in wanted]
        if not held or len(held) != len(wanted):
            raise ServiceError("held_decided")
        return held

    def _decide(
        self,
        change: Change,
        name: str,
        held: Sequence[StoredToken],
        table: Table | None,
        whose: Seat | None,
        by: str,
        hand: str,
        request: str = "",
    ) -> None:
        now = change.now
        audited = OWNER if hand == OWNER else by
        if table is not None and whose is None:
            change.enter(table.id, by, Decide(DISMISSED, len(held)), request, hand)
        elif table is not None and whose is not None:
            self._count(change, table, held, whose, by, request, hand)
            play_on(change, table.id, self._workspace.below)
        known = table is not None and audited in table.seats
        player = (table.chair(audited).name or "") if table is not None and known else ""
        table_id = table.id if table else None
        verdict = COUNTED if whose else NO_TOKEN
        decisions = [Decision(each, verdict, now, audited, player, table_id, whose or "") for each in held]
        change.also(lambda store: store.decide(decisions))
        temple = change.temple(name)
        change.put(replace(temple, quarantined=temple.quarantined - len(held)))

    def _count(
        self,
        change: Change,
        table: Table,
        held: Sequence[StoredToken],
        whose: Seat,
        by: str,
        request: str,
        hand: str,
    ) -> None:
        """Enter tokens at a table, and claim them there for a seat."""
        _check_takes_tokens(table)
        table.chair(whose)
        for stored in held:
            table = change.enter(table.id, TEMPLE, table.fall(stored.token, doubt=HELD))
        for stored in held:
            waiting = _unclaimed(table, stored.token.token)
            if whose not in waiting.claims:
                raise ServiceError("not_theirs", seat=whose)
            table = change.enter(table.id, by, waiting.claims[whose], request, hand)
            request = ""

    def choose_old(self, name: str, choice: str, by: str) -> Temple:
        """Leave a temple's old tokens out, or count them only in its totals.

        `by` says who chose, for the record. Raises `ServiceError` ``old_decided`` if something else was chosen.
        """

        def work(change: Change) -> None:
            temple = change.temple(name)
            old = _undecided(temple, choice, None)
            if old is None:
                return
            if choice not in (LEFT_OUT, HISTORY):
                raise ServiceError("bad_move")
            _put_choice(change, temple, replace(old, choice=choice, by=by, decided_at=change.now))

        self._workspace.temples.get(name)
        self._workspace.run(work, temples=[name])
        return self._with_totals(name)

    def count_old(self, table_id: str, token: str) -> Temple:
        """Enter the old tokens of a table's temple there as unclaimed tokens.

        Those that arrive later are entered there too. Only people who sit at the table may do it; raises
        `ServiceError` ``not_seated``, ``no_temple_here``, ``not_begun``, ``no_tokens_here``, ``old_decided``.
        """

        def work(change: Change) -> str:
            table = change.lock_with_temple(table_id)
            by = require_seats(table, token)[0]
            if table.temple is None:
                raise ServiceError("no_temple_here")
            temple = change.temple(table.temple)
            old = _undecided(temple, COUNTED, table_id)
            if old is None:
                return temple.name
            _check_takes_tokens(table)
            name = table.chair(by).name or by
            table = change.enter(table_id, by, Decide(OLD, old.through))
            arrived = self._store.old_tokens(old)
            scored = [stored for stored in arrived if contract.Flag.TEST not in stored.token.flags]
            for stored in scored:
                table = change.enter(table_id, TEMPLE, table.fall(stored.token, doubt=OLD))
            change.also(lambda store: store.assign(scored, table_id))
            chosen = replace(old, choice=COUNTED, by=name, decided_at=change.now, table_id=table_id)
            _put_choice(change, temple, chosen)
            return temple.name

        return self._with_totals(self._workspace.run(work))

    def _with_totals(self, name: str) -> Temple:
        """Return a temple with its totals read again, after a choice of which of its tokens count."""

        def work(change: Change) -> None:
            change.put(replace(change.temple(name), totals=self._store.totals(name)))

        self._workspace.run(work, temples=[name])
        return self._workspace.temples.get(name)


def _check_takes_tokens(table: Table) -> None:
    if table.began_at is None:
        raise ServiceError("not_begun")
    if not table.game.temple:
        raise ServiceError("no_tokens_here")


def _unclaimed(table: Table, token: str) -> UnclaimedToken:
    for waiting in table.unclaimed:
        if waiting.id == token:
            return waiting
    raise ServiceError("held_decided")


def _undecided(temple: Temple, choice: str, table_id: str | None) -> OldTokens | None:
    """Return a temple's undecided old tokens, or None if the same was chosen before."""
    old = temple.old
    if old is None:
        raise ServiceError("no_old", temple=temple.name)
    if old.choice and (old.choice, old.table_id) != (choice, table_id):
        raise ServiceError("old_decided")
    return None if old.choice else old


def _put_choice(change: Change, temple: Temple, chosen: OldTokens) -> None:
    source = change.source(chosen.source)
    if source is None:
        raise ValueError(f"old tokens are of source {chosen.source!r}; expected one whose tokens are known")
    change.put_source(replace(source, old=chosen))
    change.put(replace(temple, old=chosen))
