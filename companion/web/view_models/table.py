"""What a table's page shows to one audience: the game's own regions, and those that every table has.

Everything that a page shows of a table is decided here: who may see it, and who may act.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from companion.adapters.news import ViewModel
from companion.games.kit import Fault, Guide, Json, Line, Recap, Result, Seat, no_film
from companion.model.entries import LEVEL_OF, PACES, away_modes
from companion.model.plays import minutes, ranked, result_of
from companion.model.seating import empty_seats, seats_without_empty
from companion.model.table import Chair, Table
from companion.model.temples import Health, Temple
from companion.service.messages import TOPIC as MESSAGE
from companion.service.seats import empty_choices
from companion.service.services import Services
from companion.web.view_models import seat as handheld
from companion.web.view_models.recap import recap
from templo import contract
from templo.shrines import LEFT_TO_RIGHT

LOG_LINES = {"phone": 14, "screen": 40}
"""How many entries of the log a page shows: a phone leads to all of them, and draws slowly what nobody scrolls to."""
GREAT = 20
"""How many entries ago a great moment may be for a page that has missed it to show it."""
FAULTS = 3
"""How many faults of a file that a table follows a page shows: it is a table to play at."""


def table_topic(table_id: str) -> str:
    """Return the topic of a table. A temple's change is published for the table that it serves as well."""
    return f"table:{table_id}"


def table_topics(table_id: str) -> tuple[str, str]:
    """Return what a table's page listens to: the table first, and the organiser's message to all."""
    return (table_topic(table_id), MESSAGE)


def temple_topics(name: str) -> tuple[str, str]:
    """Return what a temple's page listens to: the temple, and the tables it may be moved to."""
    return (f"temple:{name}", "tables")


class Audience(Struct, frozen=True):
    """Who looks: which seats the phone holds, on what page, in what language. Alike audiences share a picture."""

    language: str
    layout: str = "phone"
    """``phone`` or ``screen``; ``sit`` of the page on which a seat is taken."""
    seats: tuple[Seat, ...] = ()
    trusted: bool = False
    """Whether it may invite and hand seats over: it holds a seat or knows the table's code."""
    stands_in: Seat = ""
    """The absent player's seat for which it acts here: all that it does is confirmed first."""


def table_view_model(services: Services, table_id: str, audience: Audience) -> ViewModel:
    """Cut a table for an audience: the game's own regions, and the shell's log, health, seats and lobby."""
    table = services.tables.get(table_id)
    if audience.layout == "sit":
        return ViewModel(table.version, "sit", _frame(table), {"places": _places(table)})
    temple = services.temples.get(table.temple) if table.temple else None
    slices: dict[str, Mapping[str, Json]] = {
        "log": _log(table, audience.layout),
        "health": _table_health(services, table, temple, audience),
        "seats": _seats(table, audience),
        "message": {"text": services.messages.text},
    }
    if (faults := services.tables.draft(table_id)) is not None:
        slices["draft"] = _draft(faults)
    if table.phase == "lobby":
        slices["lobby"] = _lobby(table, temple, audience)
    else:
        slices["undo"] = _undo(table, audience)
        slices["after"] = _after(table, audience)
        slices["ending"] = {**ending(table, audience), "recap": recap(services.tables.recap(table))}
        slices["call"] = call(table, audience)
        slices["yours"] = _yours(table, audience)
        slices["absent"] = _absent(table, audience)
        view = handheld.page(table, audience.seats, audience.stands_in)
        if audience.layout == "phone" and table.phase == "running" and "." not in table.charter.game:
            guide = table.game.page.guide(view)
            slices["guide"] = _guide(table, guide, mine=bool(slices["call"]["mine"]))
            slices["phases"] = {"phases": [*guide.phases], "now": guide.phase}
        slices |= table.game.page.regions(view)
    phase = "lobby" if table.phase == "lobby" else "play"
    mark = f"{phase}:{audience.layout}:{','.join(audience.seats)}:{'trusted' if audience.trusted else 'public'}"
    mark += f":for-{audience.stands_in}" if audience.stands_in else ""
    return ViewModel(table.version, f"{mark}:draft" if "draft" in slices else mark, _frame(table), slices)


def _frame(table: Table) -> Json:
    """Return what every region of a table's page depends on: who sits where."""
    return [[chair.seat, chair.name or ""] for chair in table.chairs]


def cut_past(table: Table) -> Mapping[str, Mapping[str, Json]]:
    """Cut a table as it stood after some entry of its log: what a spectator saw then, with nothing to tap."""
    game = {} if table.phase == "lobby" else table.game.page.regions(handheld.page(table, ()))
    return {"log": {**_log(table, "screen"), "story": False}, "ending": ending(table, Audience("")), **game}


def _log(table: Table, layout: str) -> Mapping[str, Json]:
    return {
        "story": True,
        "entries": [
            {
                "n": entry.n,
                "at": contract.format_utc(entry.at),
                "hand": entry.hand,
                "lines": [{"code": line.code, "facts": line.facts, "mark": line.mark} for line in entry.lines],
            }
            for entry in table.log(LOG_LINES[layout])
        ],
    }


def _draft(faults: Sequence[Fault]) -> Mapping[str, Json]:
    """Return what is wrong in the file that a table follows while its designer edits it."""
    first: list[Json] = [{"line": each.line, "code": each.code, "facts": each.facts} for each in faults[:FAULTS]]
    return {"faults": first, "count": len(faults)}


def _table_health(services: Services, table: Table, temple: Temple | None, audience: Audience) -> Mapping[str, Json]:
    slice_ = health(temple, tapped=table.game.has_taps)
    may_choose = bool(audience.seats) and table.game.temple is not None and table.phase != "over"
    return {
        **slice_,
        "unsettled": _unsettled(services, table, temple),
        "used": table.game.temple is not None or temple is not None,
        "notice": temple.notices[-1].code if temple and temple.notices else "",
        "held": temple.quarantined if temple else 0,
        "rush": _rush(table, temple, audience),
        "level": [*temple.to_level] if temple and table.phase == "running" else [],
        "may_level": bool(audience.seats),
        "hosting": audience.trusted and audience.layout == "screen" and table.phase != "lobby",
        "temples": [other.name for other in services.temples.all()] if may_choose else [],
        "busy": [other.name for other in services.temples.all() if other.table_id not in (None, table.id)]
        if may_choose
        else [],
    }


def _unsettled(services: Services, table: Table, temple: Temple | None) -> int:
    """Return how many tokens need somebody's hand: they wait for a word, or cannot come while the temple is away."""
    away = temple is not None and not (temple.alive and temple.reachable)
    return len(table.unclaimed) + (
        sum(services.temples.ledgers.on_way(temple.name).values()) if temple and away and table.began_at else 0
    )


def _rush(table: Table, temple: Temple | None, audience: Audience) -> int:
    """Return how many tokens fell within a minute, if it is a question to this phone, whose seat is on turn."""
    is_asked = audience.layout == "phone" and table.phase == "running" and table.on_turn in audience.seats
    return temple.rush if temple and table.game.temple and is_asked else 0


def health(temple: Temple | None, *, tapped: bool) -> Mapping[str, Json]:
    """Return a temple's health as a slice: a code with words, the slot it is about, and how loud to say it.

    Without a temple tokens are `tapped` or do not exist.
    """
    if temple is None:
        return {"temple": "", "code": "none" if tapped else "none_idle", "god": "", "tone": "none"}
    now = temple.health()
    return {"temple": temple.name, "code": now.code, "god": now.god, "tone": temple_tone(temple)}


def tone(health_now: Health) -> str:
    """Return how loud a health is said: ``well``, ``ask`` where a token would settle it, or ``ill``."""
    if health_now.well:
        return "well"
    return "ask" if health_now.code == str(contract.Beam.UNPROVED) else "ill"


def temple_tone(temple: Temple) -> str:
    """Return how loud a temple is said to be as it is: ``ask`` where all is well but something waits for a person."""
    loud = tone(temple.health())
    waits = temple.notices or temple.undecided or temple.quarantined
    return "ask" if loud == "well" and waits else loud


def _seats(table: Table, audience: Audience) -> Mapping[str, Json]:
    return {
        "chairs": [
            {
                "seat": chair.seat,
                "name": chair.name or "",
                "taken": chair.taken,
                "shared": chair.shared,
                "away": chair.away,
                "modes": _modes(table, chair) if audience.seats else [],
                "mine": chair.seat in audience.seats,
                "on_turn": chair.seat == table.on_turn,
                "can_free": audience.trusted and chair.taken and chair.seat not in audience.seats,
            }
            for chair in table.chairs
        ],
        "lobby": table.phase == "lobby",
        "open": not all(chair.taken for chair in table.chairs),
        "join": audience.layout == "phone" and not audience.seats,
        "code": table.code if audience.trusted and table.phase == "running" else "",
        "rolls": table.rolls,
        "keeps": table.phase
        if audience.seats and audience.layout == "phone" and "." not in table.charter.game
        else "",
        "title": table.title,
        "archived": table.is_archived,
        "sounds": table.sounds,
        "pace": table.pace,
        "paces": [*PACES] if any(chair.away in LEVEL_OF for chair in table.chairs) and bool(audience.seats) else [],
        "may_roll": bool(audience.seats) and table.phase == "running" and table.chance() is not None,
    }


def _places(table: Table) -> Mapping[str, Json]:
    """Return what somebody sees who is about to sit down: who sits where, and what is free."""
    reserved = table.reserved()
    return {
        "table": table.id,
        "chairs": [
            {
                "seat": chair.seat,
                "name": chair.name or "",
                "taken": chair.taken,
                "app": chair.away in LEVEL_OF,
                "kept": reserved.get(chair.seat, ""),
            }
            for chair in table.chairs
        ],
        "free": sum(not chair.taken for chair in table.chairs),
        "token": bool(table.temple) and table.phase == "lobby",
    }


def _modes(table: Table, chair: Chair) -> list[Json]:
    """Return what may become of a seat beside what it is: before the game, that the app plays a free one."""
    if table.phase == "running":
        modes = (*away_modes(table.game.bot.levels), "")
    elif table.phase == "lobby" and not chair.taken and "." not in table.charter.game:
        modes = (*(mode for mode in away_modes(table.game.bot.levels) if mode in LEVEL_OF), "")
    else:
        modes = ()
    return [mode for mode in modes if mode != chair.away]


def _lobby(table: Table, temple: Temple | None, audience: Audience) -> Mapping[str, Json]:
    status = temple.status if temple else None
    slots: list[Json] = [
        {"god": god, "beam": str(status.beams[contract.God(god)] if status else contract.Beam.UNKNOWN)}
        for god in LEFT_TO_RIGHT
    ]
    return {
        "temple": temple.name if temple else "",
        "slots": slots,
        "unproved": not status or any(status.beams[god] is not contract.Beam.CLEAR for god in contract.God),
        "mine": bool(audience.seats),
        "empty": [*empty_seats(table)],
        "choices": [*empty_choices(table)],
        "players": len(seats_without_empty(table)),
    }


def _undo(table: Table, audience: Audience) -> Mapping[str, Json]:
    announced = {each["seat"] for each in _acted_for(table, audience)}
    return {"seats": [seat for seat in audience.seats if seat not in announced and table.undo_refused(seat) is None]}


def _acted_for(table: Table, audience: Audience) -> list[dict[str, Json]]:
    """Return what others did for the seats of a phone, each with whether that seat can still take it back."""
    last = table.steps[-1].whose if table.steps else ""
    return [
        {
            "seat": seat,
            "by": acted.by,
            "lines": [{"code": line.code, "facts": line.facts} for line in acted.lines],
            "undo": seat == last and table.undo_refused(seat) is None,
        }
        for seat, acted in table.acted_for.items()
        if seat in audience.seats and acted.by not in audience.seats and not audience.stands_in
    ]


def _yours(table: Table, audience: Audience) -> Mapping[str, Json]:
    """Return what concerns a phone's own seats beside the game: who acted for them, for whom it may act, and doubts.

    The others for whom anyone may act are named while the table waits for them.
    """
    phone = audience.layout == "phone" and bool(audience.seats) and table.phase == "running"
    awaited = {*table.game.rules.to_act(table.state), table.on_turn} if phone else set()
    delegated = [seat for seat in table.delegated_seats() if seat in awaited and seat not in audience.seats]
    return {
        "acted": [*_acted_for(table, audience)] if phone else [],
        "away": [
            {"seat": chair.seat, "mode": chair.away}
            for chair in table.chairs
            if phone and chair.seat in audience.seats and chair.away and not audience.stands_in
        ],
        "delegated": [*delegated] if not audience.stands_in else [],
        "doubts": doubts(table) if audience.layout == "phone" and audience.seats and not audience.stands_in else {},
        "seat": audience.seats[0] if audience.seats else "",
        "stands_in": audience.stands_in,
    }


def doubts(table: Table) -> dict[str, Json]:
    """Return how many waiting tokens their temple doubts, why, and the last of them; nothing where it doubts none."""
    doubtful = table.doubtful
    if not doubtful:
        return {}
    return {
        "n": len(doubtful),
        "reasons": list(dict.fromkeys(each.doubt for each in doubtful)),
        "last": doubtful[-1].id,
        "suggested": any(each.suggested for each in doubtful),
    }


def _after(table: Table, audience: Audience) -> Mapping[str, Json]:
    """Return where a tool leads when it is done."""
    return {
        "over": table.phase == "over",
        "mine": bool(audience.seats),
        "game": table.charter.game,
    }


def _absent(table: Table, audience: Audience) -> Mapping[str, Json]:
    """Return for whom a seated phone may say that they are away, and whether one without a seat may take one."""
    phone = audience.layout == "phone" and not audience.stands_in and "." not in table.charter.game
    running = phone and table.phase == "running"
    return {
        "seats": [
            chair.seat
            for chair in table.chairs
            if running and audience.seats and chair.seat not in audience.seats and not chair.away
        ],
        "modes": [*away_modes(table.game.bot.levels)],
        "join": running and not audience.seats,
        "open": not all(chair.taken for chair in table.chairs),
    }


def call(table: Table, audience: Audience) -> Mapping[str, Json]:
    """Return what calls people who are not looking: who is awaited, how many tokens count, the last great moment.

    `mine` says that it is a seat of this page's phone that is awaited.
    """
    due, actors, on_turn = table.chance(), table.game.rules.to_act(table.state), table.on_turn or ""
    awaited = due.seat if due and due.seat else on_turn
    if not due and on_turn not in actors and table.phase == "running":
        awaited = next((seat for seat in actors if seat in table.seats), on_turn)
    great = next(
        ((entry.n, line) for entry in reversed(table.logged[-GREAT:]) for line in entry.lines if line.picture), None
    )
    return {
        "seat": awaited,
        "mine": awaited in audience.seats,
        "shared": len(audience.seats) > 1,
        "turn": table.turn,
        "tokens": table.tokens,
        "over": table.phase == "over",
        "sounds": table.sounds,
        "end": {"over": False} if table.is_closed else ending(table, audience),
        "moment": None if great is None else _moment(*great, table, audience),
    }


def _moment(n: int, line: Line, table: Table, audience: Audience) -> Mapping[str, Json]:
    """Return a great moment; if a god brings it, where in the order of the seats this phone sits, or -1."""
    seats = table.charter.seats
    god = line.mark if line.mark in LEFT_TO_RIGHT else ""
    place = next((at for at, seat in enumerate(seats) if seat in audience.seats), -1) if god else -1
    return {
        "n": n,
        "code": line.code,
        "facts": line.facts,
        "picture": line.picture,
        "god": god,
        "place": place,
        "of": len(seats),
    }


def _guide(table: Table, guide: Guide, *, mine: bool) -> Mapping[str, Json]:
    """Return what a first turn's guide says to who must act; the page's script knows who wants to read it."""
    texts = {"why": guide.why, "lit": guide.lit} if mine else {"why": "", "lit": ""}
    return {"game": table.charter.game, "turn": table.game.rules.turn(table.state), "mine": mine, **texts}


def _because(result: Result) -> Json:
    """Return the sentence of who won, by how much and why: the game's own, or that of one who has the most points."""
    if result.because:
        return {"code": result.because.code, "facts": dict(result.because.facts)}
    points = sorted(result.points.values())
    if len(result.winners) != 1 or len(points) < 2:
        return None
    return {"code": "won", "facts": {"seat": result.winners[0], "n": points[-1] - points[-2]}}


def ending(table: Table, audience: Audience) -> Mapping[str, Json]:
    """Return how a game ended, who came where, and where the table leads from here; of a tool nothing."""
    if table.phase != "over" or "." in table.charter.game:
        return {"over": False}
    result = result_of(table)
    return {
        "over": True,
        "kind": result.kind,
        "picture": result.picture,
        "because": _because(result),
        "recap": recap(Recap()),
        "film": not table.is_closed and table.game.page.film is not no_film,
        "winners": [*result.winners],
        "seats": [
            {"seat": seat, "points": result.points.get(seat), "won": seat in result.winners}
            for seat in ranked(table, result)
        ],
        "turn": table.turn,
        "minutes": minutes(table),
        "mine": bool(audience.seats),
        "again": table.again,
    }
