"""Moves at every table: those that phones post, each once, and the dice that they let the app roll.

Results are frozen values; what cannot be done raises `ServiceError`. Time and randomness come from the workspace.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from companion.games.kit import CHANCE, Move, Refusal, Seat, outcome
from companion.model.entries import APP, Action, Rolls, SetPace, SetSound, Undo, is_pace, is_reserved
from companion.model.seating import require_seats, seats_held
from companion.model.table import ServiceError, Table
from companion.service.automatic import play_on
from companion.service.change import Change
from companion.service.workspace import Workspace


class Played(Struct, frozen=True):
    """The result of a post: the table as it is now, and the reason if the move was not made."""

    table: Table
    accepted: bool
    refusal: Refusal | None = None
    stale: bool = False


class _Post(Struct, frozen=True):
    """What a phone posts: the actions of a seat, or a roll if there are none, made against a version."""

    token: str
    seat: Seat
    actions: Sequence[Action]
    version: int
    request: str


class PlayService:
    """Moves at all tables."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def move(self, table_id: str, token: str, seat: Seat, move: Move, version: int, request: str) -> Played:
        """Make a seat's move, made against a version of the table, once for each request id.

        A post older than the last thing that a person did is stale and changes nothing; tokens do not make it stale.
        Raises `ServiceError` ``unknown_table``, ``not_seated``, ``not_your_seat``.
        """
        if is_reserved(move):
            return Played(
                self._workspace.tables.get(table_id), False, Refusal("unknown_move", {"move": move.name[:24]})
            )
        return self._play(table_id, _Post(token, seat, [move], version, request))

    def moves(
        self, table_id: str, token: str, seat: Seat, moves: Sequence[Move], version: int, request: str
    ) -> Played:
        """Make several moves of a seat as one: all of them, or none if one is refused.

        Raises `ServiceError` as `move` does, and ``bad_move`` for no move at all.
        """
        if not moves or any(map(is_reserved, moves)):
            raise ServiceError("bad_move")
        return self._play(table_id, _Post(token, seat, moves, version, request))

    def undo(self, table_id: str, token: str, seat: Seat, version: int, request: str) -> Played:
        """Undo a seat's last move, if nothing has happened since."""
        return self._play(table_id, _Post(token, seat, [Undo()], version, request))

    def roll(self, table_id: str, token: str, version: int, request: str) -> Played:
        """Let the app roll or draw the outcome that is due."""
        return self._play(table_id, _Post(token, CHANCE, [], version, request))

    def let_app_roll(self, table_id: str, token: str, by_itself: bool) -> Table:
        """Switch automatic rolling and drawing on or off; anyone seated may."""

        def work(change: Change) -> Table:
            by = require_seats(change.table(table_id), token)[0]
            change.enter(table_id, by, Rolls(APP if by_itself else ""))
            return play_on(change, table_id, self._workspace.below)

        return self._workspace.run(work, tables=[table_id])

    def set_pace(self, table_id: str, token: str, pace: str) -> Table:
        """Set how long the app waits before its moves for absent players; anyone seated may.

        Raises `ServiceError` ``not_seated``, ``unknown_pace``.
        """
        if not is_pace(pace):
            raise ServiceError("unknown_pace", pace=pace[:24])

        def work(change: Change) -> Table:
            table = change.table(table_id)
            by = require_seats(table, token)[0]
            if table.pace != pace:
                change.enter(table_id, by, SetPace(pace))
            return play_on(change, table_id, self._workspace.below)

        return self._workspace.run(work, tables=[table_id])

    def set_sound(self, table_id: str, token: str, on: bool) -> Table:
        """Switch sounds on or off for devices where nobody has chosen; anyone seated may.

        Raises `ServiceError` ``not_seated``, ``not_running``.
        """

        def work(change: Change) -> Table:
            table = change.table(table_id)
            by = require_seats(table, token)[0]
            if table.phase == "over":
                raise ServiceError("not_running")
            return table if table.sounds is on else change.enter(table_id, by, SetSound("on" if on else "off"))

        return self._workspace.run(work, tables=[table_id])

    def go_on(self, table_id: str) -> Table:
        """Make the app's next move for an absent player, and everything that follows automatically."""
        return self._workspace.run(
            lambda change: play_on(change, table_id, self._workspace.below, due=True), tables=[table_id]
        )

    def _play(self, table_id: str, post: _Post) -> Played:
        return self._workspace.run(lambda change: self._carry_out(change, table_id, post), tables=[table_id])

    def _carry_out(self, change: Change, table_id: str, post: _Post) -> Played:
        table = change.table(table_id)
        own, held = require_seats(table, post.token), seats_held(table, post.token)
        beside = bool(post.actions) and all(map(table.is_aside, post.actions))
        # What a player wrote for itself, nobody else writes over.
        if post.seat != CHANCE and post.seat not in (own if beside else held):
            raise ServiceError("not_your_seat", seat=post.seat[:24])
        if post.request and post.request in table.requests:
            return Played(table, True)
        if post.version < table.basis and not beside:
            return Played(table, False, stale=True)
        if post.seat == CHANCE and not table.may_bring(held):
            return Played(table, False, Refusal("no_chance"))
        actions, hand = post.actions, own[0] if post.seat not in own else ""
        if post.seat == CHANCE and (due := table.chance()) and due.seat in own:
            hand = due.seat or hand
        if not actions:
            due = table.chance()
            assert due is not None  # or it could not be rolled
            actions, hand = [outcome(due, self._workspace.below)], APP
        request = post.request
        for action in actions:
            after = change.extend(table_id, post.seat, action, request, hand)
            if isinstance(after, Refusal):
                change.discard()
                return Played(table, False, after)
            request = ""
        return Played(play_on(change, table_id, self._workspace.below, rolled=hand == APP), True)
