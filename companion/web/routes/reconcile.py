"""The page that compares temple and ledger: what fell, what counts, and the tokens still to be assigned."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from companion.games.kit import Move, Seat, TokenAudit
from companion.model.reconcile import Sheet, Unclaimed, reconciled
from companion.model.table import ServiceError, Table
from companion.service.play import Played
from companion.web.rendering.renderer import clock
from companion.web.rendering.texts import Texts
from companion.web.routes.table import played_response, posted, refusal_text
from companion.web.site import (
    BAD_FORM,
    new_request,
    redirect_to,
    seat_to_act,
    seat_token,
    site,
    wants_json,
)
from companion.web.view_models.table import doubts
from templo import contract

blueprint = Blueprint("reconcile", __name__, url_prefix="/t/<table_id>")

AT_ONCE = 60
"""The most tokens on one page: more than anybody sorts out at once, and few enough for a post."""

NONE = "none"
"""What is posted instead of a seat if something in the chute was no token."""


@blueprint.get("/reconcile")
def reconcile(table_id: str) -> Response:
    """Show both sides of a table, and the unclaimed tokens to assign."""
    return _page(site().services.tables.get(table_id))


@blueprint.post("/reconcile")
def settle(table_id: str) -> Response:
    """Credit the marked tokens to one seat, or dismiss them: all of them, or none."""
    here, form = site(), request.form
    table = here.services.tables.get(table_id)
    seat, version, post_id = posted()
    if post_id in table.requests:
        return _answered(Played(table, accepted=True))
    if form.get("every"):  # the buttons for all doubted tokens up to the last one that the page knew
        settling = _moves_for_all(table, form.get("last", ""), form.get("every", ""))
        if not settling:
            return _answered(Played(table, accepted=False, stale=True))
        return _answered(here.services.play.moves(table_id, seat_token(table_id), seat, settling, version, post_id))
    one, to = form.get("one", ""), form.get("to", "")
    if one:  # the button of one token: its id, and whose it is
        token, _, to = one.partition(" ")
        chosen = [token]
    else:
        chosen = form.getlist("shown" if form.get("all") else "token")
    if not chosen or not to:
        return _page(table, here.words()("reconcile.choose"), BAD_FORM)
    moves = _moves(_audit(table), chosen, to)
    if isinstance(moves, str):
        if moves == "answered":
            return _answered(Played(table, accepted=False, stale=True))
        return _page(table, here.words(table)("reconcile.not_theirs", seat=table.chair(to).seat), BAD_FORM)
    return _answered(here.services.play.moves(table_id, seat_token(table_id), seat, moves, version, post_id))


def _moves_for_all(table: Table, last: str, to: str) -> list[Move]:
    """Return the moves that settle the doubtful tokens up to the id `last`; none if that waits no longer."""
    doubted = table.doubtful
    through = next((n for n, each in enumerate(doubted, 1) if each.id == last), 0)
    if to == NONE:
        return [each.dismiss for each in doubted[:through]]
    return [each.claims[each.suggested] for each in doubted[:through] if each.suggested]


def _moves(audit: TokenAudit, chosen: list[str], to: str) -> list[Move] | str:
    """Return the moves that give the chosen tokens to a seat, or why there are none."""
    waiting = {each.id: each for each in audit.waiting}
    moves = []
    for token in dict.fromkeys(chosen):
        each = waiting.get(token)
        if each is None:
            return "answered"
        move = each.dismiss if to == NONE else each.claims.get(to)
        if move is None:
            return "not_theirs"
        moves.append(move)
    return moves


def _answered(played: Played) -> Response:
    if wants_json():  # from the table's page
        return played_response(played.table.id, played)
    if played.accepted:
        return redirect_to(site().url("reconcile", table_id=played.table.id))
    if played.refusal is None:
        return _notice(played.table, site().words()("notice.stale"))
    return _notice(played.table, refusal_text(played.table, played.refusal))


def _notice(table: Table, text: str) -> Response:
    return site().error_page(text, site().url("reconcile", table_id=table.id))


def _audit(table: Table) -> TokenAudit:
    if table.began_at is None:
        raise ServiceError("not_begun")
    if (audit := table.audit) is None:
        raise ServiceError("no_tokens_here")
    return audit


def _page(table: Table, problem: str = "", status: int = 200) -> Response:
    here = site()
    audit = _audit(table)
    temple = here.services.temples.get(table.temple) if table.temple else None
    on_way = here.services.temples.ledgers.on_way(temple.name) if temple else dict.fromkeys(contract.God, 0)
    sheet = reconciled(here.services.tables.tokens(table.id), audit, on_way)
    words, held = here.words(table), here.held(table)
    return here.page(
        "reconcile.html",
        status,
        table=table,
        gt=words,
        layout="page",
        temple=temple,
        away=temple is not None and not (temple.alive and temple.reachable),
        sheet=sheet,
        asked=[_unclaimed(words, each) for each in sheet.unclaimed[:AT_ONCE]],
        beyond=max(0, len(sheet.unclaimed) - AT_ONCE),
        doubts=doubts(table),
        seats=_likeliest(table, sheet),
        acting=seat_to_act(table, held),
        no_token=NONE,
        version=table.version,
        request_id=new_request(),
        problem=problem,
        clock=lambda at: clock(words, contract.format_utc(at)),
    )


def _likeliest(table: Table, sheet: Sheet) -> list[Seat]:
    """Return the seats that may have dropped any of the unclaimed tokens, in turn order."""
    return [seat for seat in table.seats if any(seat in each.waiting.claims for each in sheet.unclaimed)]


def _unclaimed(words: Texts, unclaimed: Unclaimed) -> dict[str, Any]:
    waiting, stored = unclaimed.waiting, unclaimed.stored
    doubt = f"doubt.{waiting.doubt}"
    return {
        "id": waiting.id,
        "god": waiting.god,
        "why": words(doubt if words.has(doubt) else "doubt.other"),
        "at": stored.token.at if stored else None,
        "width_ms": round(stored.token.width_ms, 1) if stored else None,
        "flags": sorted(stored.token.flags) if stored else [],
        "suggested": waiting.suggested or "",
        "claims": list(waiting.claims),
    }
