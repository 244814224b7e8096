"""A game of Mexica in one readable line that parses back, for errors, logs and tests. Only what it wrote is read.

A line begins with the scope and holds ``key=value`` words; the rules are those that differ from their default::

    temple_only rules=countdown:rounds13 turn=5 east=3h,0t west=0h,2t,+1h,-1t lake=hhthth week=1 clock=-
    counted=9f,a0 dismissed=- unclaimed=a1:tlaloc:jam:east correction=west:east:tlaloc:-1 end=-

A deck of the table's own stands among the rules as ``deck:~`` and its text in the URL's base 64. A tribe's first two
are credited, the further two corrected. ``clock`` is left:turn:cause:locked:bare.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from companion.games.kit import Seat, Value
from companion.games.mexica.rules import board_notation
from companion.games.mexica.rules.apocalypse import CARDS, COUNTDOWN, FLOOD, STILLNESS, TOKENS, WAR, WEEK_CARDS
from companion.games.mexica.rules.options import FULL, SEATINGS, HouseRules, options_of
from companion.games.mexica.rules.sacrifice import MOST_AT_ONCE
from companion.games.mexica.rules.state import Clock, Outcome, Proposal, State, Unclaimed
from companion.games.mexica.rules.tallies import GODS, Gifts, Tallies, Tally
from companion.games.mexica.rules.turn import SETTLED

_T = TypeVar("_T")

_NONE = "-"
_TALLY = re.compile(r"(\d{1,9})h,(\d{1,9})t(?:,([+-]\d{1,9})h,([+-]\d{1,9})t)?", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d{1,9}", re.ASCII)


def notation(state: State) -> str:
    """Return the state in one line; ``parse(notation(state)) == state``."""
    tribes = zip(state.seats, state.tallies, strict=True)
    words = {
        "rules": _listed(f"{key}:{value}" for key, value in _departures(state.rules)),
        "turn": str(state.turn),
        **{seat: _tally(tally) for seat, tally in tribes},
        "lake": state.tallies.lake or _NONE,
        "week": str(state.week_cards),
        "clock": _clock(state.clock),
        "counted": _listed(state.counted),
        "dismissed": _listed(state.dismissed),
        "unclaimed": _listed(
            f"{each.id}:{each.god}:{each.doubt}:{each.suggested or _NONE}" for each in state.unclaimed
        ),
        "correction": _correction(state.proposal),
        "end": _outcome(state.outcome),
        **(board_notation.words(state.board, state.seats) if state.board else {}),
    }
    return " ".join((state.rules.scope, *(f"{key}={value}" for key, value in words.items())))


def parse(text: str) -> State:
    """Read a state that `notation` wrote; raises `ValueError` for any other text."""
    try:
        state = _read(text)
    except (KeyError, IndexError, StopIteration) as error:
        raise ValueError(f"Mexica notation is {_short(text)}; it lacks {error}") from None
    if (again := notation(state)) != text:
        raise ValueError(f"Mexica notation is {_short(text)}; expected what writes the same state, {_short(again)}")
    _check(state)
    return state


def _read(text: str) -> State:
    scope, *pairs = text.split(" ")
    words = dict(_pair(each) for each in pairs)
    named = [key for key in words if key in SEATINGS[max(SEATINGS)]]
    seats = next((seats for seats in SEATINGS.values() if list(seats) == named), None)
    if seats is None:
        raise ValueError(f"Mexica notation has the seats {named}; expected a seating of the game")
    return State(
        rules=_rules(scope, _items(words["rules"])),
        seats=seats,
        tallies=Tallies(tuple(_read_tally(words[seat]) for seat in seats), _maybe(words["lake"], str) or ""),
        turn=_number(words["turn"]),
        week_cards=_number(words["week"]),
        counted=_items(words["counted"]),
        dismissed=_items(words["dismissed"]),
        unclaimed=tuple(_read_unclaimed(each) for each in _items(words["unclaimed"])),
        proposal=_maybe(words["correction"], _read_correction),
        clock=_maybe(words["clock"], _read_clock),
        outcome=_maybe(words["end"], _read_outcome),
        board=board_notation.read(words, seats) if scope == FULL else None,
    )


def _check(state: State) -> None:
    """Raise `ValueError` unless the state keeps the laws of `State` and `Tallies`; its form is right already."""
    tallies, clock, end, proposal = state.tallies, state.clock, state.outcome, state.proposal
    ids = [*state.counted, *state.dismissed, *(each.id for each in state.unclaimed)]
    laws = {
        "a lake of what was given": set(tallies.lake) <= {"h", "t"}
        and all(tallies.of(god) == sum(tally.given(god) for tally in tallies) for god in GODS),
        "no tribe below nothing": all(tally.given(god) >= 0 for tally in tallies for god in GODS),
        "each token once": len(set(ids)) == len(ids),
        "turns from 1": state.turn >= 1,
        f"week cards from 0 to {WEEK_CARDS}": 0 <= state.week_cards <= WEEK_CARDS,
        "gods that there are": {each.god for each in state.unclaimed} | ({proposal.god} if proposal else set())
        <= {*GODS},
        "seats of this table": {
            *(each.suggested for each in state.unclaimed),
            *((proposal.by, proposal.seat) if proposal else ()),
            end and end.seat,
        }
        <= {None, *state.seats},
        "a clock that can be": clock is None
        or (
            0 <= clock.left <= COUNTDOWN
            and 1 <= clock.turn <= state.turn
            and clock.cause in (TOKENS, CARDS)
            and clock.locked in ("", FLOOD, WAR)
        ),
        "an end where the clock ran out": (clock is not None and clock.left == 0)
        == (end is not None and end.kind != SETTLED),
        "a correction that can be made": proposal is None
        or (
            end is None
            and 0 < abs(proposal.delta) <= MOST_AT_ONCE
            and tallies.tribes[state.seats.index(proposal.seat)].given(proposal.god) + proposal.delta >= 0
        ),
        "an end that there is": end is None
        or (end.seat is None and end.kind in (FLOOD, WAR, STILLNESS))
        or (end.seat is not None and end.kind == SETTLED),
    }
    if state.board:
        laws |= board_notation.laws(state)
    for law, kept in laws.items():
        if not kept:
            raise ValueError(f"Mexica notation is {_short(notation(state))}; expected {law}")


def _departures(rules: HouseRules) -> list[tuple[str, Value]]:
    chosen = rules.chosen()
    return [
        (each.key, chosen[each.key] if chosen[each.key] in each.values or each.high else _packed(chosen[each.key]))
        for each in options_of(rules.scope)
        if each.key != "scope" and chosen[each.key] != each.default
    ]


def _rules(scope: str, departures: Iterable[str]) -> HouseRules:
    chosen = {each.key: each.default for each in options_of(scope)} | {"scope": scope}
    for each in departures:
        key, _, value = each.partition(":")
        chosen[key] = _number(value) if _NUMBER.fullmatch(value) else _unpacked(value) if value[:1] == "~" else value
    return HouseRules.of(chosen)


def _packed(text: Value) -> str:
    """Return a text of the table's own as one word. It is not compressed: that comes out otherwise elsewhere."""
    return "~" + base64.urlsafe_b64encode(str(text).encode()).decode()


def _unpacked(word: str) -> str:
    return base64.b64decode(word[1:].encode(), altchars=b"-_", validate=True).decode()


def _tally(tally: Tally) -> str:
    credited, corrected = tally.credited, tally.corrected
    more = f",{corrected.huitzilopochtli:+d}h,{corrected.tlaloc:+d}t" if any(corrected) else ""
    return f"{credited.huitzilopochtli}h,{credited.tlaloc}t{more}"


def _read_tally(text: str) -> Tally:
    if not (found := _TALLY.fullmatch(text)):
        raise ValueError(f"tally is {_short(text)}; expected such as 3h,0t or 3h,0t,+1h,-1t")
    numbers = [int(each or 0) for each in found.groups()]
    return Tally(Gifts(*numbers[:2]), Gifts(*numbers[2:]))


def _clock(clock: Clock | None) -> str:
    if clock is None:
        return _NONE
    return f"{clock.left}:{clock.turn}:{clock.cause}:{clock.locked or _NONE}:{'bare' if clock.bare else _NONE}"


def _read_clock(text: str) -> Clock:
    left, turn, cause, locked, bare = _parts(text, 5)
    return Clock(_number(left), _number(turn), cause, _maybe(locked, str) or "", bare == "bare")


def _read_unclaimed(text: str) -> Unclaimed:
    token, god, doubt, suggested = _parts(text, 4)
    return Unclaimed(token, god, doubt, _maybe(suggested, str))


def _correction(proposal: Proposal | None) -> str:
    return f"{proposal.by}:{proposal.seat}:{proposal.god}:{proposal.delta:+d}" if proposal else _NONE


def _read_correction(text: str) -> Proposal:
    by, seat, god, delta = _parts(text, 4)
    return Proposal(by, seat, god, _number(delta))


def _outcome(outcome: Outcome | None) -> str:
    return f"{outcome.kind}:{outcome.seat or _NONE}" if outcome else _NONE


def _read_outcome(text: str) -> Outcome:
    kind, seat = _parts(text, 2)
    return Outcome(kind, _maybe(seat, str))


def _listed(items: Iterable[str]) -> str:
    return ",".join(items) or _NONE


def _items(text: str) -> tuple[Seat, ...]:
    return () if text == _NONE else tuple(text.split(","))


def _maybe(text: str, read: Callable[[str], _T]) -> _T | None:
    return None if text == _NONE else read(text)


def _pair(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign:
        raise ValueError(f"Mexica notation has the word {_short(text)}; expected key=value")
    return key, value


def _parts(text: str, count: int) -> list[str]:
    parts = text.split(":")
    if len(parts) != count:
        raise ValueError(f"Mexica notation has {_short(text)}; expected {count} parts between colons")
    return parts


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"Mexica notation has the number {_short(text)}; expected at most nine digits")
    return int(text)


def _short(text: object) -> str:
    return ascii(str(text)[:200])
