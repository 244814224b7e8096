"""What a phone that holds some seats may see of a game, and the choices of each seat."""

from __future__ import annotations

from collections.abc import Sequence

from companion.games.kit import CHANCE, Json, Seat
from companion.model.table import Table


def page(table: Table, held: Sequence[Seat], stands_in: Seat = "") -> dict[str, Json]:
    """Return what a phone that holds these seats, or stands in for one, may see, with what each of them may choose.

    A phone that is passed round acts for the seat that must act, or on turn, or for its first. Beside what the
    game shows there are ``acting``, ``temple``, ``choices`` of the acting seat, ``also`` those of the others it
    holds, and ``chance``: what is due, whose it is, whether it is this phone's, and what may be typed in.
    """
    acting = _acting(table, held)
    seen = table.game.page.view(table.state, acting or None)
    view: dict[str, Json] = dict(table.game.page.for_stand_in(seen) if stands_in else seen)
    view["acting"] = acting
    view["temple"] = table.temple or ""
    view["choices"] = _choices(table, acting) if acting else []
    view["also"] = {seat: _choices(table, seat) for seat in held if seat != acting}
    view["chance"] = _chance(table, held)
    return view


def _acting(table: Table, held: Sequence[Seat]) -> Seat:
    if not held:
        return ""
    due = table.chance()
    if due and due.seat in held:
        return due.seat or ""
    able = [seat for seat in table.game.rules.to_act(table.state) if seat in held] or list(held)
    return table.on_turn if table.on_turn and table.on_turn in able else able[0]


def _chance(table: Table, held: Sequence[Seat]) -> Json:
    due = table.chance()
    if due is None:
        return None
    may = table.may_bring(held)
    return {
        "key": due.key,
        "seat": due.seat or "",
        "facts": dict(due.facts),
        "secret": due.secret,
        "may": may,
        "mine": may and (due.seat is None or due.seat in held),
        "choices": _choices(table, CHANCE) if may else [],
    }


def _choices(table: Table, seat: Seat) -> list[Json]:
    """Return what a seat may choose; nothing if the table was closed in the middle of its game."""
    return [] if table.is_closed else [choice.to_json() for choice in table.game.rules.choices(table.state, seat)]
