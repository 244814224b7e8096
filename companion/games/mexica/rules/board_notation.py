"""The board's part of a notation: words for spaces, tribes, cards and the agenda, and the laws that they keep.

::

    board=13,12,... holders=-,east,... visited=east+west,-,... box=100:0:0 at=20:3:0h0t:0:0,... hand.east=war-3,...
    boosts.east=attack:2:next,... wards.east=any,... discards=day-wind-3,... agenda=sacrifice:east:1,...
    battle=east+west:4+0:1:0 step=0:0:0h0t:0 forced=0 again=- extras=5:east debts=east+west

``box`` is reserve, Tonantzin's pile and what is lost; ``at`` a tribe's place, tokens, part of a price, offerings to
Tonantzin and battles won.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from companion.games.kit import Arg, Seat
from companion.games.mexica.rules.battle import CORTEZ
from companion.games.mexica.rules.board import FORCED_LANDINGS, RESERVE, Battle, Board, Boost, Step, Task, Tribe
from companion.games.mexica.rules.calendar import AROUND, WEEK
from companion.games.mexica.rules.course import DECISIONS
from companion.games.mexica.rules.hands import deck
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import Gifts

_NONE = "-"
_NUMBER = re.compile(r"-?\d{1,9}", re.ASCII)
_GIFTS = re.compile(r"(-?\d{1,9})h(-?\d{1,9})t", re.ASCII)

TOKENS = AROUND * WEEK + RESERVE
"""All that are in the box."""


def words(board: Board, seats: tuple[Seat, ...]) -> dict[str, str]:
    """Return the board as words of a notation."""
    tribes = dict(zip(seats, board.tribes, strict=True))
    battle = board.battle
    return {
        "board": _list(map(str, board.spaces)),
        "holders": _list(each or _NONE for each in board.holders),
        "visited": _list(_plus(each) for each in board.visited),
        "box": f"{board.reserve}:{board.pile}:{board.lost}",
        "at": _list(
            f"{each.place}:{each.tokens}:{_gifts(each.toward)}:{each.fed}:{each.wins}" for each in board.tribes
        ),
        **{f"hand.{seat}": _list(each.hand) for seat, each in tribes.items()},
        **{f"boosts.{seat}": _list(map(_boost, each.boosts)) for seat, each in tribes.items()},
        **{f"wards.{seat}": _list(each.wards) for seat, each in tribes.items()},
        "discards": _list(board.discards),
        "agenda": _list(":".join((each.name, each.seat, *map(str, each.args))) for each in board.agenda),
        "battle": f"{_plus(battle.sides)}:{_plus(map(str, battle.dice))}:{battle.bonus}:{battle.stake}"
        if battle
        else _NONE,
        "step": f"{board.step.temple}:{board.step.tonantzin}:{_gifts(board.step.cards)}:{board.step.days}",
        "forced": str(board.forced),
        "again": _list(board.again),
        "extras": _list(f"{turn}:{seat}" for turn, seat in board.extras),
        "debts": _list(map(_plus, board.debts)),
    }


def read(words_: Mapping[str, str], seats: tuple[Seat, ...]) -> Board:
    """Read what `words` wrote; raises `ValueError` or `KeyError`."""
    reserve, pile, lost = map(_number, _parts(words_["box"], 3))
    tribes = tuple(_tribe(at, seat, words_) for at, seat in zip(_items(words_["at"]), seats, strict=True))
    temple, tonantzin, cards, days = _parts(words_["step"], 4)
    return Board(
        tribes=tribes,
        spaces=tuple(map(_number, _items(words_["board"]))),
        holders=tuple("" if each == _NONE else each for each in words_["holders"].split(",")),
        visited=tuple(_unplus(each) for each in words_["visited"].split(",")),
        reserve=reserve,
        pile=pile,
        lost=lost,
        discards=_items(words_["discards"]),
        agenda=tuple(map(_task, _items(words_["agenda"]))),
        battle=None if words_["battle"] == _NONE else _battle(words_["battle"]),
        step=Step(_number(temple), _number(tonantzin), _read_gifts(cards), _number(days)),
        forced=_number(words_["forced"]),
        again=_items(words_["again"]),
        extras=tuple(_extra(each) for each in _items(words_["extras"])),
        debts=tuple(_debt(each) for each in _items(words_["debts"])),
    )


def laws(state: State) -> dict[str, bool]:
    """Return the laws of a board, each with whether a state keeps it."""
    board, seats = state.laid, {*state.seats}
    held = [each for tribe in board.tribes for each in tribe.hand]
    cards = [*held, *board.discards]
    known = {each.id for each in deck(state.rules) if each.pile != "week"}
    signs = {each.id for each in deck(state.rules) if each.sign}
    tokens = sum(board.spaces) + sum(each.tokens for each in board.tribes) + state.tallies.total
    tokens += board.reserve + board.pile + board.lost
    battle, top = board.battle, board.agenda[0] if board.agenda else None
    return {
        f"{TOKENS} tokens in all": tokens == TOKENS or (state.rules.refill == "unlimited" and tokens > TOKENS),
        "twenty spaces": {len(board.spaces), len(board.holders), len(board.visited)} == {AROUND},
        "0 to 13 tokens on a space": all(0 <= each <= WEEK for each in board.spaces),
        "nobody below nothing": min(board.reserve, board.pile, board.lost, *(t.tokens for t in board.tribes)) >= 0,
        "tribes on spaces": all(1 <= each.place <= AROUND for each in board.tribes),
        "holders that sit here": {*board.holders} <= seats | {""},
        "visitors that sit here": all({*each} <= seats for each in board.visited),
        "each card once": len({*cards}) == len(cards) and {*cards} <= known,
        "week cards that are held": state.week_cards == board.issued,
        "no sign among the discards": not signs & {*board.discards},
        "at most three forced landings": 0 <= board.forced <= FORCED_LANDINGS,
        "extra turns of this table": {*board.again, *(seat for _, seat in board.extras)} <= seats,
        "debts of this table": {each for debt in board.debts for each in debt} <= seats,
        "a battle of this table": battle is None
        or ({*battle.sides} <= seats | {CORTEZ} and len(battle.sides) == len(battle.dice) > 1),
        "something due until the end": (top is None) == state.over
        and (top is None or (top.seat in seats and (top.name in DECISIONS or top.name in ("roll", "die", "draw")))),
    }


def _tribe(at: str, seat: Seat, words_: Mapping[str, str]) -> Tribe:
    place, tokens, toward, fed, wins = _parts(at, 5)
    return Tribe(
        place=_number(place),
        tokens=_number(tokens),
        hand=_items(words_[f"hand.{seat}"]),
        boosts=tuple(map(_read_boost, _items(words_[f"boosts.{seat}"]))),
        wards=_items(words_[f"wards.{seat}"]),
        toward=_read_gifts(toward),
        fed=_number(fed),
        wins=_number(wins),
    )


def _boost(boost: Boost) -> str:
    return f"{boost.what}:{boost.by}:{'now' if boost.now else 'next'}"


def _read_boost(text: str) -> Boost:
    what, by, when = _parts(text, 3)
    return Boost(what, _number(by), when == "now")


def _task(text: str) -> Task:
    name, seat, *args = text.split(":")
    return Task(name, seat, tuple(map(_arg, args)))


def _arg(text: str) -> Arg:
    return int(text) if _NUMBER.fullmatch(text) else text


def _battle(text: str) -> Battle:
    sides, dice, bonus, stake = _parts(text, 4)
    return Battle(_unplus(sides), tuple(map(_number, _unplus(dice))), _number(bonus), _number(stake))


def _extra(text: str) -> tuple[int, Seat]:
    turn, seat = _parts(text, 2)
    return _number(turn), seat


def _debt(text: str) -> tuple[Seat, Seat]:
    debtor, sign, creditor = text.partition("+")
    if not sign:
        raise ValueError(f"Mexica notation has the debt {ascii(text)[:40]}; expected debtor+creditor")
    return debtor, creditor


def _gifts(gifts: Gifts) -> str:
    return f"{gifts.huitzilopochtli}h{gifts.tlaloc}t"


def _read_gifts(text: str) -> Gifts:
    if not (found := _GIFTS.fullmatch(text)):
        raise ValueError(f"Mexica notation has the gifts {ascii(text)[:40]}; expected such as 3h0t")
    return Gifts(*map(int, found.groups()))


def _list(items: Iterable[str]) -> str:
    return ",".join(items) or _NONE


def _items(text: str) -> tuple[str, ...]:
    return () if text == _NONE else tuple(text.split(","))


def _plus(items: Iterable[str]) -> str:
    return "+".join(items) or _NONE


def _unplus(text: str) -> tuple[str, ...]:
    return () if text == _NONE else tuple(text.split("+"))


def _parts(text: str, count: int) -> list[str]:
    parts = text.split(":")
    if len(parts) != count:
        raise ValueError(f"Mexica notation has {ascii(text)[:80]}; expected {count} parts between colons")
    return parts


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"Mexica notation has the number {ascii(text)[:40]}; expected at most nine digits")
    return int(text)
