"""The moves of a full game: what the active seat may do, what chance may bring, and how each is carried out.

A move is legal exactly when it is listed here; the table's chores, such as corrections, are listed in `legal`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache

from companion.games.kit import (
    CHANCE,
    Arg,
    Chance,
    Choice,
    Move,
    MoveType,
    Refusal,
    Seat,
    a_seat,
    number,
    one_of,
    replace,
)
from companion.games.mexica.rules import apocalypse, battle, course, events, landing, offerings
from companion.games.mexica.rules.board import Task
from companion.games.mexica.rules.calendar import SIGNS, place_of
from companion.games.mexica.rules.cards.deck import PILES, ids
from companion.games.mexica.rules.hands import IN_ORDER, card, hidden, is_sign, of_unseen, pile_of, undiscarded
from companion.games.mexica.rules.sacrifice import MOST_AT_ONCE
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import GODS, God

TAKEN_BACK = frozenset({"pass", "attack", "sacrifice", "tonantzin", "end_turn", "choose", "take"})
"""What may be undone while nothing has followed. A card that was shown is not hidden again, and dice stay rolled."""

DIE = tuple(Move("roll", (n,)) for n in range(1, 7))
_ROLLED = frozenset({"roll", "die"})
_PASSED = frozenset({"bless", "seek", "arm", "reroll", "challenge"})
_CLOSED = frozenset({"sacrifice", "cards"})
_CLOSING = frozenset({"pass", "end_turn"})
"""What may always be passed, and the steps that can be closed, the last of which ends the turn."""

_PASS = Move("pass")
_END_TURN = Move("end_turn")
_TONANTZIN = Move("tonantzin")
_TAPS = tuple(
    tuple(Move("sacrifice", (god, n)) for god in GODS for n in range(1, most + 1)) for most in range(MOST_AT_ONCE + 1)
)
"""The tokens that a tribe may give at once, by the most that it can."""
_DRAWS: dict[Arg, tuple[Move, ...]] = {
    pile: tuple(Move("draw", (pile, each)) for each in cards) for pile, cards in IN_ORDER.items()
}
_DRAW: dict[Arg, Move] = {move.args[1]: move for moves in _DRAWS.values() for move in moves}


def listed(state: State, seat: Seat) -> list[Move]:
    """Return the moves of a seat, or of chance, that advance the game; sorted, each once."""
    task = course.due_from(state, seat)
    return due(state, task) if task is not None else []


def in_page_order(state: State, seat: Seat) -> list[Move]:
    """Return the moves of a seat as its page lists them: sorted, but of cards to give the signs last (M44)."""
    return sorted(
        listed(state, seat),
        key=lambda move: (move.name == "give" and is_sign(state, str(move.args[0])), move.name != "give", move),
    )


def due(state: State, task: Task) -> list[Move]:
    """Return the moves that carry a task out, sorted, each once."""
    return _LISTS[task.name](state, task)


def chance(state: State) -> Chance | None:
    """Return the die or the card that is due, each outcome as likely as another."""
    task = course.due_from(state, CHANCE)
    if task is None:
        return None
    outcomes = listed(state, CHANCE)
    likely = dict.fromkeys(outcomes, Fraction(1, len(outcomes)))
    if task.name == "draw":
        secret = state.rules.open_hands == "off"
        return Chance("draw", likely, task.seat, {"pile": task.args[0], "seat": task.seat}, secret=secret)
    return Chance(task.name, likely, task.seat, {"seat": task.seat})


def typed(state: State) -> list[Move]:
    """Return what a person may type in for chance: of a pile every card that is not known to be elsewhere.

    Cards in hands stay on the list: what is missing from it would reveal who holds them.
    """
    task = course.due_from(state, CHANCE)
    if task is None:
        return []
    if task.name != "draw":
        return list(DIE)
    pile = str(task.args[0])
    return [_DRAW[each] for each in undiscarded(state, pile)]  # type: ignore[arg-type]  # a pile's name


def typing(state: State, picked: tuple[Arg, ...]) -> list[Choice]:
    """Return what may be typed in for chance, a level at a time: a die at once, a Day card by its sign and number."""
    listed_ = typed(state)
    if not listed_ or listed_[0].name == "roll":
        return [] if picked else [choice(state, CHANCE, move) for move in listed_]
    if not picked:
        task = course.due(state)
        assert task is not None  # or nothing would be listed
        return [
            Choice("drew", {"pile": str(task.args[0]), "seat": task.seat, "pick": "draw"}, "card", group="chance")
        ]
    cards = [choice(state, CHANCE, move) for move in listed_]
    signs = {str(each.facts.get("space", "")) for each in cards}
    by_number = sorted(cards, key=lambda each: each.facts["number"])
    match picked:
        case ("draw",) if signs == {""}:
            return by_number
        case ("draw",):
            return [
                Choice("drew_sign", {"space": sign, "place": place, "pick": sign}, f"sign:{sign}", group="chance")
                for place, sign in enumerate(SIGNS, start=1)
                if sign in signs
            ]
        case ("draw", str(sign)) if sign and sign in signs:
            return [each for each in by_number if each.facts["space"] == sign]
    return []


def refused(state: State, task: Task, move: Move) -> Refusal | None:
    """Return why a move does not carry out the due task, or None if it does."""
    if _legal(state, task, move):
        return None
    among = move.name in {each.name for each in due(state, task)}
    return Refusal("not_among" if among else "first_comes", {"move": move.name, "due": task.name})


def _legal(state: State, task: Task, move: Move) -> bool:
    """Return whether a move that is well formed is on the list of a task; lists are made only where needed."""
    (name, args), step = move, task.name
    if name in _CLOSING and step in _CLOSED:
        return name == _close(task).name
    if name == "pass" and step in _PASSED:
        return True
    if name == "roll":
        return step in _ROLLED
    if name == "draw":
        return step == "draw" and args[0] == task.args[0] and move == _DRAW[args[1]] and hidden(state, str(args[1]))
    if name == "sacrifice":
        held = state.laid.tribes[state.seats.index(task.seat)].tokens
        return step == "sacrifice" and int(args[1]) <= _most(state, held)
    if name == "play" and step in _PLAYED:
        return args[0] in _PLAYED[step](state, task.seat)
    return move in due(state, task)


def choice(state: State, seat: Seat, move: Move) -> Choice:
    """Return a move as the thing on the page that it belongs to."""
    task = course.due(state)
    assert task is not None  # or nothing would be listed
    args = move.args
    match move.name:
        case "roll":
            return Choice("roll", {"n": args[0], "seat": task.seat, "for": task.name}, "die", move, "chance")
        case "draw":
            known = card(state, str(args[1]))
            facts: dict[str, Arg] = {"pile": known.pile, "card": known.id, "number": known.number, "seat": task.seat}
            if known.space:
                return Choice("draw_day", facts | {"space": known.space}, f"card:{known.id}", move, "chance")
            return Choice("draw", facts, f"card:{known.id}", move, "chance")
        case "play" if events.moves_nobody(state, str(args[0])):
            return Choice("play_in_vain", {"card": args[0]}, f"card:{args[0]}", move, "card", confirm=True)
        case "play" | "give" | "return":
            return Choice(move.name, {"card": args[0]}, f"card:{args[0]}", move, "card", confirm=True)
        case "attack" | "choose":
            return Choice(move.name, {"seat": args[0]}, f"seat:{args[0]}", move, "tribe", confirm=True)
        case "take":
            return Choice("take", {"space": args[0]}, f"space:{args[0]}", move, "week")
        case "sacrifice":
            return gift(state, seat, move)
        case "tonantzin":
            n = offerings.price(state, seat, state.rules.day_card_cost)
            left = apocalypse.tokens_left(state) if state.rules.mary_counts == "on" and not state.clock else None
            wakes = left is not None and left <= n  # ruling M24
            return Choice("tonantzin", {"n": n, "seat": seat}, "tonantzin", move, "tap", confirm=wakes)
        case "end_turn":
            return Choice("end_turn", {"seat": seat}, "turn", move, "turn", confirm=apocalypse.ending(state))
    return Choice("pass", {"seat": seat, "due": task.name}, "turn", move, "turn")


def gift(state: State, seat: Seat, move: Move) -> Choice:
    """Return the choice of a sacrifice; one that turns the course of the apocalypse asks for a second tap."""
    god, n = str(move.args[0]), int(move.args[1])
    facts: dict[str, Arg] = {"god": god, "n": n, "seat": seat}
    return Choice("sacrifice", facts, god, move, "tap", confirm=apocalypse.turned_by(state, god, n))


def _dice(_state: State, _task: Task) -> list[Move]:
    return list(DIE)


def _draws(state: State, task: Task) -> list[Move]:
    pile = task.args[0]
    return of_unseen(state, pile, _DRAWS[pile])  # type: ignore[arg-type]  # a pile's name


def _plays(state: State, task: Task) -> list[Move]:
    return [_PASS, *_each("play", _PLAYED[task.name](state, task.seat))]


def _challenges(state: State, task: Task) -> list[Move]:
    return [*_each("attack", sorted(battle.within_reach(state, task.seat))), _PASS]


def _forfeits(state: State, task: Task) -> list[Move]:
    """Return the cards of which a loser gives one; a sign only if it has nothing else (rulings M16, M44)."""
    held = battle.forfeitable(state, task.seat)
    plain = [each for each in held if not is_sign(state, each)]
    given = plain if plain and state.rules.signs_protected == "on" else held
    return [*_each("give", given), *([_PASS] if state.rules.card_payment == "may" else [])]


def offers(state: State, task: Task, proposals: Iterable[Move] = ()) -> list[Move]:
    """Return the moves of a sacrifice step, sorted: how it is closed, the corrections given, what may be offered."""
    moves = [_close(task), *proposals]
    if tokens := state.laid.tribes[state.seats.index(task.seat)].tokens:
        moves += _TAPS[_most(state, tokens)]
        if offerings.tonantzin_open(state, task.seat):
            moves.append(_TONANTZIN)
    return moves


def _most(state: State, tokens: int) -> int:
    """Return how many of its tokens a tribe may give to the temple at once in its sacrifice step."""
    if not offerings.temple_open(state):
        return 0
    return min(MOST_AT_ONCE, tokens)


def _actions(state: State, task: Task) -> list[Move]:
    return [_close(task), *_each("play", events.actions(state, task.seat))]


def _choosing(state: State, task: Task) -> list[Move]:
    return _each("choose", sorted(events.targets(state, task.seat, str(task.args[0]))))


def _taking(state: State, _task: Task) -> list[Move]:
    return _each("take", events.unissued(state))


def _returning(state: State, task: Task) -> list[Move]:
    return _each("return", events.returnable(state, task.seat, str(task.args[0])))


def _close(task: Task) -> Move:
    return _END_TURN if task.args[0] else _PASS


def _each(name: str, of: Iterable[str]) -> list[Move]:
    return [_naming(name, each) for each in of]


@cache
def _naming(name: str, what: str) -> Move:
    """Return the move that names one card, one tribe or one space; each is made once."""
    return Move(name, (what,))


_PLAYED: Mapping[str, Callable[[State, Seat], list[str]]] = {
    "bless": events.blessings,
    "seek": events.afterthoughts,
    "arm": events.weapons,
    "reroll": events.second_thoughts,
    "cards": events.actions,
}
"""The cards that may be played at each step that is for playing some."""

_LISTS: Mapping[str, Callable[[State, Task], list[Move]]] = {
    "roll": _dice,
    "die": _dice,
    "draw": _draws,
    "bless": _plays,
    "seek": _plays,
    "arm": _plays,
    "reroll": _plays,
    "challenge": _challenges,
    "forfeit": _forfeits,
    "sacrifice": offers,
    "cards": _actions,
    "choose": _choosing,
    "take": _taking,
    "return": _returning,
}


def _popped(state: State) -> State:
    return replace(state, board=state.laid.done())


def _roll(state: State, n: int) -> State:
    task = state.laid.agenda[0]
    return course.moved(state, task.seat, n) if task.name == "roll" else battle.rolled(_popped(state), task.seat, n)


def _draw(state: State, _pile: str, card_id: str) -> State:
    return events.drawn(state, state.laid.agenda[0].seat, card_id)


def _play(state: State, card_id: str) -> State:
    # A tribe may play further cards at the same moment; only a second throw is one for each moment.
    name, seat, _ = state.laid.agenda[0]
    return events.played(_popped(state) if name == "reroll" else state, seat, card_id)


def _pass(state: State) -> State:
    task = state.laid.agenda[0]
    return offerings.ended(state, task, 0) if task.name == "sacrifice" else _popped(state)


def _attack(state: State, whom: Seat) -> State:
    seat = state.laid.agenda[0].seat
    return replace(state, board=_popped(state).laid.due(Task("fight", seat, (whom, 0, 0))))


def _give(state: State, card_id: str) -> State:
    _, seat, args = state.laid.agenda[0]
    if pile_of(card_id) == "week":
        board = _popped(state).laid.with_holder(place_of(card_id.removeprefix("week-")), str(args[0]))
        return replace(state, board=board)
    board = _popped(state).laid.without_card(state.index(seat), card_id)
    return replace(state, board=board.with_card(state.index(str(args[0])), card_id))


def _sacrifice(state: State, god: God, n: int) -> State:
    return offerings.to_temple(state, state.laid.agenda[0].seat, god, n)


def _tonantzin(state: State) -> State:
    return offerings.to_tonantzin(state, state.laid.agenda[0].seat)


def _end_turn(state: State) -> State:
    # The steps of the next turn come in the place of all that was due.
    task = state.laid.agenda[0]
    return course.end_turn(offerings.ended(state, task, 0) if task.name == "sacrifice" else state)


def _choose(state: State, whom: Seat) -> State:
    _, seat, args = state.laid.agenda[0]
    return events.chosen(_popped(state), seat, str(args[0]), whom)


def _take(state: State, space: str) -> State:
    return landing.issued(_popped(state), state.laid.agenda[0].seat, place_of(space))


def _return(state: State, card_id: str) -> State:
    return events.returned(_popped(state), state.laid.agenda[0].seat, card_id)


_CARD = {"card": one_of(*(each for pile in PILES for each in ids(pile)))}
GIFT = {"god": one_of(*GODS, code="unknown_god"), "n": number(1, MOST_AT_ONCE, "bad_number")}

TYPES: tuple[MoveType[State], ...] = (
    MoveType("roll", _roll, {"n": number(1, 6)}, CHANCE),
    MoveType("draw", _draw, {"pile": one_of(*IN_ORDER), "card": one_of(*_DRAW)}, CHANCE),
    MoveType("play", _play, _CARD),
    MoveType("pass", _pass),
    MoveType("attack", _attack, {"whom": a_seat("unknown_whom")}),
    MoveType("give", _give, _CARD),
    MoveType("sacrifice", _sacrifice, GIFT, token=True),
    MoveType("tonantzin", _tonantzin),
    MoveType("end_turn", _end_turn),
    MoveType("choose", _choose, {"whom": a_seat("unknown_whom")}),
    MoveType("take", _take, {"space": one_of(*SIGNS)}),
    MoveType("return", _return, _CARD),
)
"""Every move that only the seat that must act may make, or chance."""

NAMES = frozenset(each.name for each in TYPES)
"""Their names."""
