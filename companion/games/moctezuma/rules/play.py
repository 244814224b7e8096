"""One door to the rules: each move by its name, and what it makes of a state. Illegal is a value, whatever comes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from companion.games.kit import CHANCE, Arg, Move, Refusal, Seat, replace
from companion.games.moctezuma.rules import chance, legal
from companion.games.moctezuma.rules.boards import LIBRARY, PLACES, toggled, whole
from companion.games.moctezuma.rules.pieces import (
    FACES,
    LAST,
    NAME,
    NAMES,
    SPACES,
    TEMPLES,
    UNSEEN,
)
from companion.games.moctezuma.rules.state import (
    COSTS,
    FIRST,
    LAYING,
    OVER,
    PLAYING,
    POINTS,
    REVEAL,
    Lower,
    State,
    Trip,
)

Result: TypeAlias = State | Refusal

NOTE = "note"
NOTES, NOTE_LENGTH = 12, 120
"""How many lines a notebook has for free notes, and how long one may be."""

TAKEN_BACK = frozenset({"walk", "study", "explore", "peek", "keep", "leave", "put", "end_turn", "path", "ready"})
"""A seat's own moves. What chance brought after one bars it: nothing that was seen is unseen again."""


def play(state: State, seat: Seat, move: Move) -> Result:
    """Return the state after a seat's move, or why it cannot be made."""
    name = move.name
    rule = _MOVES.get(name) if isinstance(name, str) else None
    if not isinstance(seat, str) or (seat not in state.seats and seat != CHANCE):
        return Refusal("not_seated", {"seat": shown(seat)})
    if rule is None:
        return Refusal("unknown_move", {"move": shown(name)})
    if rule.by_chance != (seat == CHANCE):
        return Refusal("chance_only" if rule.by_chance else "players_only", {"move": name})
    if not isinstance(move.args, tuple) or len(move.args) != rule.length:
        return Refusal("bad_arguments", {"move": name, "expected": rule.length})
    if name == NOTE:
        return _note(state, seat, *move.args)
    if refusal := _out_of_turn(state, seat, rule):
        return refusal
    return rule.carry_out(state, *move.args)


def undoable(before: State, seat: Seat, move: Move) -> bool:
    """Return whether a seat may take back its own move while nothing has come of it."""
    return seat in before.seats and move.name in TAKEN_BACK


def _out_of_turn(state: State, seat: Seat, rule: _Rule) -> Refusal | None:
    if state.over:
        return Refusal("over")
    if rule.by_chance:
        return None
    if rule.stage != state.stage:
        return Refusal("not_now")
    if state.stage == PLAYING:
        if seat != state.seat:
            return Refusal("not_your_turn")
        if chance.due(state):
            return Refusal("not_now")
    return None


def _first(state: State, arg: Arg) -> Result:
    if state.stage != FIRST or not isinstance(arg, str) or arg not in state.seats:
        return Refusal("nothing_due")
    return replace(state, stage=PLAYING, first=state.seats.index(arg))


def _chit(state: State, arg: Arg) -> Result:
    """Give a face to the chit that is looked at, or turned (rulings Z5 to Z7)."""
    if not (state.queue or state.flipping):
        return Refusal("nothing_due")
    face = FACES.index(arg) if isinstance(arg, str) and arg in FACES else UNSEEN
    if face == UNSEEN or chance.CHIT_MOVES[face] not in chance.weights(state):
        return Refusal("cannot_be", {"what": shown(arg)})
    space = state.queue[0] if state.queue else state.shown
    chits = _with(state.chits, space, face)
    if state.queue:
        at = state.current
        seen = _with(state.seen, at, state.seen[at] | 1 << space)
        return replace(state, chits=chits, seen=seen, queue=state.queue[1:])
    turned = replace(state, chits=chits, shown=space + 1, flipping=False)
    return replace(turned, stage=REVEAL) if space == LAST else _next_turn(turned)


def _name(state: State, arg: Arg) -> Result:
    """Let a temple's name be seen, by its explorer or, at the end, by all."""
    name = NAMES.index(arg) if isinstance(arg, str) and arg in NAMES else UNSEEN
    if state.drawing == 0 and state.stage != REVEAL:
        return Refusal("nothing_due")
    if name == UNSEEN or chance.NAME_MOVES[name] not in chance.weights(state):
        return Refusal("cannot_be", {"what": shown(arg)})
    if state.stage == REVEAL:
        revealed = state.revealed + 1
        names = _with(state.names, state.revealed, name)
        return replace(state, names=names, revealed=revealed, stage=OVER if revealed == TEMPLES else REVEAL)
    at = state.current
    temple = state.places[at] - 1
    read = _with(state.read, at, state.read[at] | 1 << temple)
    return _drawn(replace(state, names=_with(state.names, temple, name), read=read), NAME)


def _treasure(state: State, arg: Arg) -> Result:
    if state.drawing == 0:
        return Refusal("nothing_due")
    if type(arg) is not int or arg == NAME or Move("treasure", (arg,)) not in chance.weights(state):
        return Refusal("cannot_be", {"what": shown(arg)})
    return _drawn(state, arg)


def _drawn(state: State, card: int) -> State:
    temple = state.places[state.current] - 1
    decks = _with(state.decks, temple, chance.without(state.decks[temple], card, state.current))
    return replace(state, decks=decks, hand=(*state.hand, card), drawing=state.drawing - 1)


def _walk(state: State, place: Arg) -> Result:
    at = state.current
    if _busy(state):
        return Refusal("finish_first")
    if type(place) is not int or not 0 <= place < PLACES:
        return Refusal("unknown_place", {"place": shown(place)})
    if place not in state.ways[state.places[at]]:
        return Refusal("not_adjacent", {"place": place})
    if not state.points:
        return Refusal("too_few_points", {"n": 0, "cost": 1})
    return replace(state, places=_with(state.places, at, place), points=state.points - 1)


def _study(state: State, n: Arg) -> Result:
    """Begin a research; where no more chits are left than may be looked at, all of them are (ruling Z9)."""
    if refusal := _dear(state, n):
        return refusal
    assert isinstance(n, int)
    if state.places[state.current] != LIBRARY:
        return Refusal("not_here")
    points, left = state.points - COSTS[n], SPACES - state.shown
    if not left:
        return Refusal("nothing_left")
    if n >= left:
        return replace(state, points=points, queue=tuple(range(state.shown, SPACES)))
    return replace(state, points=points, looking=n, looked=0)


def _peek(state: State, space: Arg) -> Result:
    if not state.looking:
        return Refusal("not_now")
    if type(space) is not int or not state.shown <= space < SPACES or state.looked >> space & 1:
        return Refusal("no_such_chit", {"chit": shown(space)})
    looking = state.looking - 1
    looked = state.looked | 1 << space if looking else 0
    return replace(state, looking=looking, looked=looked, queue=(space,))


def _explore(state: State, n: Arg) -> Result:
    """Begin to draw; a deck that holds its name alone has nothing to give (ruling Z11)."""
    if refusal := _dear(state, n):
        return refusal
    assert isinstance(n, int)
    place = state.places[state.current]
    if place == LIBRARY:
        return Refusal("not_here")
    size = state.decks[place - 1].size
    if size < 2:
        return Refusal("nothing_left")
    return replace(state, points=state.points - COSTS[n], drawing=min(n, size))


def _keep(state: State, worth: Arg) -> Result:
    """Keep one treasure; the name card never (ruling Z12)."""
    if not state.hand or state.spare:
        return Refusal("not_now")
    if type(worth) is not int or worth == NAME or worth not in state.hand:
        return Refusal("not_drawn", {"n": shown(worth)})
    return _back(state, worth)


def _leave(state: State) -> Result:
    if not state.hand or state.spare or legal.LEAVE not in legal.moves(state, state.seat):
        return Refusal("not_now")
    return _back(state, 0)


def _back(state: State, kept: int) -> State:
    """Put the rest under the deck: as it was drawn, in the explorer's order, or shuffled (ruling Z13)."""
    at = state.current
    trip = Trip(state.places[at], state.hand, kept)
    rest = list(state.hand)
    if kept:
        rest.remove(kept)
    after = replace(state, hand=(), trips=_with(state.trips, at, (*state.trips[at], trip)))
    if state.rules.bottom == "choose" and len(rest) > 1:
        return replace(after, spare=tuple(rest))
    if state.rules.bottom == "shuffle":
        mixed = tuple(sorted(rest))
        return _under(after, (Lower(at, mixed, mixed),) if rest else ())
    return _under(after, tuple(Lower(at, (card,), (card,)) for card in rest))


def _under(state: State, lower: tuple[Lower, ...]) -> State:
    temple = state.places[state.current] - 1
    deck = state.decks[temple]
    return replace(state, decks=_with(state.decks, temple, deck._replace(below=deck.below + lower)))


def _put(state: State, card: Arg) -> Result:
    if not state.spare:
        return Refusal("not_now")
    if type(card) is not int or card not in state.spare:
        return Refusal("not_drawn", {"n": shown(card)})
    rest, put = list(state.spare), (*state.put, card)
    rest.remove(card)
    if len(rest) > 1:
        return replace(state, spare=tuple(rest), put=put)
    lower = tuple(Lower(state.current, (each,), (each,)) for each in (*put, *rest))
    return _under(replace(state, spare=(), put=()), lower)


def _end_turn(state: State) -> Result:
    if _busy(state):
        return Refusal("finish_first")
    if state.rules.flip == "turn" or state.turn % len(state.seats) == 0:
        return replace(state, flipping=True, points=0)
    return _next_turn(state)


def _next_turn(state: State) -> State:
    return replace(state, turn=state.turn + 1, points=POINTS)


def _path(state: State, a: Arg, b: Arg) -> Result:
    if type(a) is not int or type(b) is not int or not 0 <= a < b < PLACES:
        return Refusal("unknown_place", {"place": shown(b)})
    return replace(state, ways=toggled(state.ways, a, b))


def _ready(state: State) -> Result:
    return replace(state, stage=FIRST) if whole(state.ways) else Refusal("not_joined")


def _note(state: State, seat: Seat, line: Arg, text: Arg) -> Result:
    """Write one line of a seat's own notebook; an empty text takes the line out."""
    at = state.seats.index(seat)
    notes = state.notes[at]
    if type(line) is not int or not 0 <= line <= len(notes) or line >= NOTES:
        return Refusal("no_such_line", {"n": shown(line)})
    if not isinstance(text, str) or len(text) > NOTE_LENGTH or not all(map(_writable, text)):
        return Refusal("unwritable", {"n": NOTE_LENGTH})
    written = text.strip()
    lines = (*notes[:line], *([written] if written else []), *notes[line + 1 :])
    return replace(state, notes=_with(state.notes, at, lines))


def _writable(sign: str) -> bool:
    return sign >= " " and sign != "\x7f" and not "\ud800" <= sign <= "\udfff"


def _busy(state: State) -> bool:
    return bool(state.looking or state.hand or state.spare)


def _dear(state: State, n: Arg) -> Refusal | None:
    if _busy(state):
        return Refusal("finish_first")
    if type(n) is not int or n not in COSTS:
        return Refusal("bad_number", {"n": shown(n)})
    if COSTS[n] > state.points:
        return Refusal("too_few_points", {"n": state.points, "cost": COSTS[n]})
    return None


def _with(values: tuple, at: int, value: object) -> tuple:  # type: ignore[type-arg]  # any tuple, the same kind back
    return (*values[:at], value, *values[at + 1 :])


def shown(value: object) -> str:
    """Return a value as the facts of a refusal hold it: escaped, and short whatever its size."""
    if isinstance(value, str):
        return ascii(value[:40])[1:-1][:40]
    if type(value) is int and value.bit_length() <= 64:
        return str(value)
    return type(value).__name__[:40]


class _Rule(NamedTuple):
    length: int
    carry_out: Callable[..., Result]
    stage: str = PLAYING
    by_chance: bool = False


_MOVES: Mapping[str, _Rule] = {
    "chit": _Rule(1, _chit, by_chance=True),
    "end_turn": _Rule(0, _end_turn),
    "explore": _Rule(1, _explore),
    "first": _Rule(1, _first, by_chance=True),
    "keep": _Rule(1, _keep),
    "leave": _Rule(0, _leave),
    "name": _Rule(1, _name, by_chance=True),
    NOTE: _Rule(2, _note),
    "path": _Rule(2, _path, LAYING),
    "peek": _Rule(1, _peek),
    "put": _Rule(1, _put),
    "ready": _Rule(0, _ready, LAYING),
    "study": _Rule(1, _study),
    "treasure": _Rule(1, _treasure, by_chance=True),
    "walk": _Rule(1, _walk),
}
