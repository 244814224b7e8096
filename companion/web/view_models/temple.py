"""What a temple's page shows, as codes and numbers: its health, what to do now, and pending requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from statistics import median
from typing import Any, NamedTuple

import msgspec

from companion.adapters.news import ViewModel
from companion.games.kit import Json
from companion.model.ports import StoredToken
from companion.model.requests import MOST, USUAL, Proposal, Selftest, TempleRequest
from companion.model.table import OWN_DOUBTS, Table
from companion.model.temples import BEAM_FAULTS, Temple
from companion.service.services import Services
from companion.web.view_models.table import tone
from templo import contract, lake
from templo.shrines import LEFT_TO_RIGHT

LISTED = 8
"""Tokens in the list of the last ones."""

DRAWN = 40
"""Tokens of one slot whose widths are drawn."""

OF_THE_BOARD = ("no_board", "foreign_device", "other_protocol", "board_silent", "board_worn")
"""What is wrong with a board that counts, or with its cable: both beams have it."""

URGENT = (
    *OF_THE_BOARD,
    *("deaf", "no_light", "no_answer", "reversed", "both_dark", "dark", "blocked", "weak_supply", "flicker"),
)
"""Findings because of which tokens are not counted, or counted wrongly, what most needs a hand first."""

MILD = (
    "no_time",
    "below_silent",
    "below_dark",
    "missed_edges",
    "line_noise",
    "hop",
    "outside_band",
    "overlap",
    "flickered",
    "dipped",
    "was_deaf",
    "below_alone",
    "unproved",
)
"""Findings beside which tokens are counted."""

_COMMON = {
    **{code: code for code in (*OF_THE_BOARD, "line_noise", "both_dark", "weak_supply", "no_time")},
    "unproved": "both_unproved",
}
"""What both beams have at once, and what that is called then."""

_ORDER = {code: place for place, code in enumerate((*URGENT, *MILD))}
_DRAWN_AS = {
    "no_answer": "mute",
    "no_light": "dark",
    "dark": "dark",
    "both_dark": "dark",
    "weak_supply": "flicker",
    "flicker": "flicker",
    "deaf": "deaf",
    "reversed": "reversed",
}


class Todo(NamedTuple):
    """One thing that somebody should do: what was found of which slot, or what else waits."""

    kind: str
    """``health``, ``finding``, ``request``, ``notice``, ``old``, ``level``, ``held``, ``unclaimed``, ``doubted``."""
    code: str
    god: str = ""
    facts: Mapping[str, float] = {}
    since: str = ""
    error: str = ""
    """The temple's own words, in English."""

    @property
    def urgent(self) -> bool:
        """Whether tokens are not counted because of it, or counted wrongly."""
        return self.code in URGENT if self.kind == "finding" else self.kind == "health" and self.code != "unproved"

    def to_dict(self) -> dict[str, Json]:
        """Return it as a slice holds it."""
        return {**self._asdict(), "facts": dict(self.facts), "urgent": self.urgent}


def temple_view_model(services: Services, name: str) -> ViewModel:
    """Cut a temple's page."""
    temple = services.temples.get(name)
    serves = services.tables.find(temple.table_id)
    slices: dict[str, Mapping[str, Json]] = {
        "now": _now(temple, serves),
        "beams": _beams(temple),
        "ask": _requests(temple, serves),
        "widths": {"slots": [_widths(temple, contract.God(god)) for god in LEFT_TO_RIGHT]},
        "ledger": _ledger(services, temple, serves),
        "recent": {"tokens": [_token(stored) for stored in temple.recent[:LISTED]]},
        "heaps": _heaps(temple, serves),
        "serving": _serving(services, temple, serves),
        "source": _source(temple),
    }
    return ViewModel(0, "temple", None, slices)


def todos(temple: Temple, serves: Table | None) -> list[Todo]:
    """Return what the owner should do now, what most needs a hand first; nothing for a temple that is well."""
    health = temple.health()
    found = [] if health.well or health.god else [_of_health(temple, health.code)]
    if temple.alive and temple.reachable:
        found += sorted(_findings(temple), key=lambda todo: _ORDER.get(todo.code, len(_ORDER)))
    if temple.conflict and health.code != "conflict":
        found.append(Todo("health", "conflict"))
    if temple.trouble and health.code != temple.trouble.code:
        found.append(_of_health(temple, temple.trouble.code))
    if (request := temple.request) is not None and (request.measuring or isinstance(request.answer, Proposal)):
        found.append(Todo("request", "measuring" if request.measuring else "proposed", str(request.command.god)))
    found += [Todo("notice", each.code, since=contract.format_utc(each.at)) for each in temple.notices]
    if temple.undecided:
        found.append(Todo("old", "old", facts={"n": temple.undecided.through}))
    if serves and serves.phase == "running":
        found += [Todo("level", "level", god, {"n": temple.heaps[god]}) for god in temple.to_level]
    if temple.quarantined:
        found.append(Todo("held", "held", facts={"n": temple.quarantined}))
    waiting = Counter("" if each.doubt in OWN_DOUBTS else each.doubt for each in serves.unclaimed) if serves else {}
    for doubt, n in waiting.items():
        found.append(Todo("doubted" if doubt else "unclaimed", doubt or "unclaimed", facts={"n": n}))
    return found


def _of_health(temple: Temple, code: str) -> Todo:
    trouble = temple.trouble
    return Todo("health", code, error=trouble.error if trouble and trouble.code == code else "")


def _findings(temple: Temple) -> Iterator[Todo]:
    """Yield what is wrong with the beams; what both have at once is one thing."""
    diagnosis = temple.diagnosis
    if diagnosis is None:
        yield from _of_status(temple)
        return
    each_has = [{finding.code for finding in diagnosis.beams[god]} for god in contract.God]
    common = each_has[0] & each_has[1] & _COMMON.keys()
    for god in map(contract.God, LEFT_TO_RIGHT):
        for each in diagnosis.beams[god]:
            if each.code in common and god != LEFT_TO_RIGHT[0]:
                continue
            age = each.facts.get("for_s", each.facts.get("ago_s"))
            since = _before(diagnosis.at, age) if age is not None else ""
            if each.code in common:
                yield Todo("finding", _COMMON[each.code], "", each.facts, since)
            else:
                yield Todo("finding", each.code, str(god), each.facts, since)


def _of_status(temple: Temple) -> Iterator[Todo]:
    """Yield findings from the beams' states alone, for a temple that publishes none."""
    assert temple.status is not None  # it is alive
    for god in map(contract.God, LEFT_TO_RIGHT):
        beam = temple.status.beams[god]
        if beam in BEAM_FAULTS or beam is contract.Beam.UNPROVED:
            yield Todo("health", str(beam), str(god))


def _before(at: datetime, seconds: float) -> str:
    if at.year < 2000:  # a temple that does not know the time
        return ""
    try:
        return contract.format_utc(at - timedelta(seconds=seconds))
    except OverflowError:  # another program's number
        return ""


def _now(temple: Temple, serves: Table | None) -> Mapping[str, Json]:
    health = temple.health()
    found = todos(temple, serves)
    loud = tone(health)
    if any(each.urgent and each.kind == "finding" for each in found):
        loud = "ill"
    elif loud == "well" and found:
        loud = "ask"
    return {
        "code": health.code,
        "god": health.god,
        "tone": loud,
        "since": contract.format_utc(temple.since) if temple.since else "",
        "exact": temple.exact,
        "here": temple.alive and temple.reachable,
        "pace": len(temple.falls),
        "emitters": str(temple.diagnosis.emitters) if temple.diagnosis else "",
        "todos": [each.to_dict() for each in found],
        "temple": temple.name,
        "table": serves.id if serves else "",
        "title": serves.title if serves else "",
        "running": serves.id if serves and serves.phase == "running" else "",
        "counting": serves is not None and serves.phase == "running" and serves.game.temple is not None,
        "free": temple.request is None or not temple.request.pending,
    }


def _beams(temple: Temple) -> Mapping[str, Json]:
    diagnosis, status = temple.diagnosis, temple.status
    slots: list[Json] = []
    for god in map(contract.God, LEFT_TO_RIGHT):
        beam = str(status.beams[god]) if status and temple.reachable else str(contract.Beam.UNKNOWN)
        codes = [each.code for each in diagnosis.beams[god]] if diagnosis else []
        last = next((stored for stored in temple.recent if stored.token.god is god), None)
        slots.append(
            {
                "god": str(god),
                "beam": beam,
                "drawn": next((_DRAWN_AS[code] for code in codes if code in _DRAWN_AS), beam),
                "switched": bool(
                    diagnosis and diagnosis.emitters is contract.Emitters.SWITCHED and beam == contract.Beam.CLEAR
                ),
                "total": temple.totals.get(god, 0),
                "last": _token(last) if last else None,
            }
        )
    return {"slots": slots, "here": temple.alive and temple.reachable}


def _requests(temple: Temple, serves: Table | None) -> Mapping[str, Json]:
    request = temple.request
    limits = temple.diagnosis.limits if temple.diagnosis else {}
    return {
        "temple": temple.name,
        "table": serves.id if serves and serves.phase == "running" else "",
        "title": serves.title if serves and serves.phase == "running" else "",
        "here": temple.alive and temple.reachable,
        "free": request is None or not request.pending,
        "gods": [*LEFT_TO_RIGHT],
        "usual": USUAL,
        "most": MOST,
        "limits": {name: limits[name] for name in sorted(limits)},
        "request": _request(temple, request) if request else None,
    }


def _request(temple: Temple, request: TempleRequest) -> dict[str, Json]:
    command = request.command
    what = {None: str(command.name), True: "keep", False: "discard"}[command.keep]
    view: dict[str, Any] = {
        "what": what,
        "god": str(command.god or ""),
        "count": command.count or 0,
        "stage": request.stage,
        "asked_at": contract.format_utc(request.sent_at),
        "answered_at": contract.format_utc(request.answered_at) if request.answered_at else "",
        "code": request.code,
        "error": request.error,
        "widths": [round(width, 1) for width in request.widths_ms],
        "measuring": request.measuring,
        "answer": msgspec.to_builtins(request.answer) if request.answer is not None else None,
    }
    if isinstance(request.answer, Selftest):
        view["answer"]["beams"] = _reports(request.answer)
    if isinstance(request.answer, Proposal):
        view["answer"]["widths_ms"] = sorted(request.answer.widths_ms)
        view["answer"]["middle"] = round(median(request.answer.widths_ms), 1)
    if command.name is contract.CommandName.DROP and request.answer is not None:
        seq = view["answer"]["seq"]
        view["arrived"] = any(
            stored.token.seq == seq and stored.token.source == temple.source for stored in temple.recent
        )
    return view


def _reports(answer: Selftest) -> list[dict[str, Json]]:
    """Return a self-test's beams as their shrines stand, each finding with its code and its numbers."""
    reports: list[dict[str, Json]] = []
    for god in map(contract.God, LEFT_TO_RIGHT):
        report = answer.beams.get(god)
        if report is None:
            continue
        findings: list[Json] = [
            {
                "code": str(each.get("code", ""))[:32],
                "god": str(god),
                "facts": {key: value for key, value in each.items() if type(value) in (int, float)},
            }
            for each in report.findings
        ]
        reports.append({**msgspec.to_builtins(report), "god": str(god), "findings": findings})
    return reports


def _widths(temple: Temple, god: contract.God) -> dict[str, Json]:
    tokens = [stored.token for stored in reversed(temple.recent) if stored.token.god is god and stored.fell][-DRAWN:]
    limits = temple.findings.limits if temple.findings else {}
    low, high = limits.get("narrow_ms"), limits.get("band_ms")
    clean = [token.width_ms for token in tokens if contract.Flag.JAM not in token.flags]
    outside = sum((high is not None and width > high) or (low is not None and width < low) for width in clean)
    return {
        "god": str(god),
        "points": [[round(token.width_ms, 1), contract.Flag.JAM in token.flags] for token in tokens],
        "jams": len(tokens) - len(clean),
        "low": low,
        "high": high,
        "min_break": limits.get("min_break_ms"),
        "lowest": round(min(clean), 1) if clean else None,
        "middle": round(median(clean), 1) if clean else None,
        "highest": round(max(clean), 1) if clean else None,
        "outside": outside,
    }


def _ledger(services: Services, temple: Temple, serves: Table | None) -> Mapping[str, Json]:
    queue = services.temples.ledgers.queue(temple.name)
    return {
        "recorded": queue.recorded,
        "acknowledged": queue.acknowledged,
        "waiting": queue.waiting,
        "here": temple.alive and temple.reachable,
        "unclaimed": len(serves.unclaimed) if serves else 0,
        "table": serves.id if serves else "",
        "temple": temple.name,
        "quarantined": temple.quarantined,
        "decided": bool(services.temples.decisions.last(temple.name, 1)),
        "old": _old(services, temple),
    }


def _old(services: Services, temple: Temple) -> dict[str, Json] | None:
    """Return what was chosen for a temple's old tokens, if anything was."""
    old = temple.old
    if old is None or old.decided_at is None:
        return None
    table = services.tables.find(old.table_id)
    return {
        "choice": old.choice,
        "n": old.through,
        "table": table.title if table else "",
        "by": old.by,
        "at": contract.format_utc(old.decided_at),
    }


def _token(stored: StoredToken) -> dict[str, Json]:
    token = stored.token
    return {
        "god": str(token.god),
        "at": contract.format_utc(token.at),
        "width_ms": round(token.width_ms, 1),
        "flags": sorted(token.flags),
        "replayed": token.replayed,
        "table": stored.table_id or "",
    }


def _serving(services: Services, temple: Temple, serves: Table | None) -> Mapping[str, Json]:
    tables: Sequence[Table] = services.tables.all()
    return {
        "table": serves.id if serves else "",
        "title": serves.title if serves else "",
        "tables": [
            {"id": table.id, "title": table.title}
            for table in tables
            if table.phase != "over" and table.game.temple and table.id != temple.table_id
        ],
    }


def _heaps(temple: Temple, serves: Table | None) -> Mapping[str, Json]:
    seen = temple.findings.limits.get("band_ms") if temple.findings else None
    return {
        "temple": temple.name,
        "table": serves.id if serves and serves.phase == "running" else "",
        "slots": [{"god": god, "heap": temple.heaps[contract.God(god)]} for god in LEFT_TO_RIGHT],
        "heap": temple.heap,
        "token": temple.token,
        "seen": lake.kind_seen(seen).name if seen else "",
        "kinds": [kind.name for kind in lake.KINDS] + [lake.DEEP],
    }


def _source(temple: Temple) -> Mapping[str, Json]:
    status, noise = temple.status, temple.noise
    recent = noise if noise and status and noise.session == status.session else None
    return {
        "source": temple.source or "",
        "conflict": temple.conflict.source if temple.conflict else "",
        "kind": str(status.kind) if status else "",
        "timing": str(status.timing) if status else "",
        "software": status.software if status else "",
        "glitches": sum(recent.glitches.values()) if recent else None,
        "missed": sum(recent.missed_edges.values()) if recent else None,
    }
