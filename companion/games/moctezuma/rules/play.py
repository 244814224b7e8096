"""The entry point of the rules: each move by its name, and the state after it. An illegal move gives a `Refusal`."""

from __future__ import annotations

from operator import attrgetter
from typing import TypeAlias

from companion.games.kit import (
    CHANCE,
    Move,
    MoveTable,
    MoveType,
    Refusal,
    Seat,
    a_seat,
    number,
    one_of,
    put,
    replace,
    text,
)
from companion.games.moctezuma.rules import chance, legal
from companion.games.moctezuma.rules.boards import LIBRARY, PLACES, toggled, whole
from companion.games.moctezuma.rules.pieces import CARDS, FACES, LAST, NAME, NAMES, SPACES, TEMPLES, WORTHS
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


def undoable(before: State, seat: Seat, move: Move) -> bool:
    """Return whether a seat may take back its own move while nothing has come of it."""
    return seat in before.seats and move.name in TAKEN_BACK


def _first(state: State, seat: Seat) -> Result:
    if state.stage != FIRST:
        return Refusal("nothing_due")
    return replace(state, stage=PLAYING, first=state.seats.index(seat))


def _chit(state: State, shows: str) -> Result:
    """Give a face to the chit that is looked at, or turned (rulings Z5 to Z7)."""
    if not (state.queue or state.flipping):
        return Refusal("nothing_due")
    face = FACES.index(shows)
    if chance.CHIT_MOVES[face] not in chance.weights(state):
        return Refusal("cannot_be", {"what": shows})
    space = state.queue[0] if state.queue else state.shown
    chits = put(state.chits, space, face)
    if state.queue:
        at = state.current
        seen = put(state.seen, at, state.seen[at] | 1 << space)
        return replace(state, chits=chits, seen=seen, queue=state.queue[1:])
    turned = replace(state, chits=chits, shown=space + 1, flipping=False)
    return replace(turned, stage=REVEAL) if space == LAST else _next_turn(turned)


def _name(state: State, read: str) -> Result:
    """Let a temple's name be seen, by its explorer or, at the end, by all."""
    name = NAMES.index(read)
    if state.drawing == 0 and state.stage != REVEAL:
        return Refusal("nothing_due")
    if chance.NAME_MOVES[name] not in chance.weights(state):
        return Refusal("cannot_be", {"what": read})
    if state.stage == REVEAL:
        revealed = state.revealed + 1
        names = put(state.names, state.revealed, name)
        return replace(state, names=names, revealed=revealed, stage=OVER if revealed == TEMPLES else REVEAL)
    at = state.current
    temple = state.places[at] - 1
    seen = put(state.read, at, state.read[at] | 1 << temple)
    return _drawn(replace(state, names=put(state.names, temple, name), read=seen), NAME)


def _treasure(state: State, worth: int) -> Result:
    if state.drawing == 0:
        return Refusal("nothing_due")
    if chance.CARD_MOVES[worth] not in chance.weights(state):
        return Refusal("cannot_be", {"what": worth})
    return _drawn(state, worth)


def _drawn(state: State, card: int) -> State:
    temple = state.places[state.current] - 1
    decks = put(state.decks, temple, chance.without(state.decks[temple], card, state.current))
    return replace(state, decks=decks, hand=(*state.hand, card), drawing=state.drawing - 1)


def _walk(state: State, place: int) -> Result:
    at = state.current
    if _busy(state):
        return Refusal("finish_first")
    if place not in state.ways[state.places[at]]:
        return Refusal("not_adjacent", {"place": place})
    if not state.points:
        return Refusal("too_few_points", {"n": 0, "cost": 1})
    return replace(state, places=put(state.places, at, place), points=state.points - 1)


def _study(state: State, n: int) -> Result:
    """Begin a research; where no more chits are left than may be looked at, all of them are (ruling Z9)."""
    if refusal := _dear(state, n):
        return refusal
    if state.places[state.current] != LIBRARY:
        return Refusal("not_here")
    points, left = state.points - COSTS[n], SPACES - state.shown
    if not left:
        return Refusal("nothing_left")
    if n >= left:
        return replace(state, points=points, queue=tuple(range(state.shown, SPACES)))
    return replace(state, points=points, looking=n, looked=0)


def _peek(state: State, space: int) -> Result:
    if not state.looking:
        return Refusal("not_now")
    if space < state.shown or state.looked >> space & 1:
        return Refusal("no_such_chit", {"chit": space})
    looking = state.looking - 1
    looked = state.looked | 1 << space if looking else 0
    return replace(state, looking=looking, looked=looked, queue=(space,))


def _explore(state: State, n: int) -> Result:
    """Begin to draw; a deck that holds its name alone has nothing to give (ruling Z11)."""
    if refusal := _dear(state, n):
        return refusal
    place = state.places[state.current]
    if place == LIBRARY:
        return Refusal("not_here")
    size = state.decks[place - 1].size
    if size < 2:
        return Refusal("nothing_left")
    return replace(state, points=state.points - COSTS[n], drawing=min(n, size))


def _keep(state: State, worth: int) -> Result:
    """Keep one treasure; the name card never (ruling Z12)."""
    if not state.hand or state.spare:
        return Refusal("not_now")
    if worth == NAME or worth not in state.hand:
        return Refusal("not_drawn", {"n": worth})
    return _returned(state, worth)


def _leave(state: State) -> Result:
    if not state.hand or state.spare or legal.LEAVE not in legal.moves(state, state.seat):
        return Refusal("not_now")
    return _returned(state, 0)


def _returned(state: State, kept: int) -> State:
    """Put the rest under the deck: as it was drawn, in the explorer's order, or shuffled (ruling Z13)."""
    at = state.current
    trip = Trip(state.places[at], state.hand, kept)
    rest = list(state.hand)
    if kept:
        rest.remove(kept)
    after = replace(state, hand=(), trips=put(state.trips, at, (*state.trips[at], trip)))
    if state.rules.bottom == "choose" and len(rest) > 1:
        return replace(after, spare=tuple(rest))
    if state.rules.bottom == "shuffle":
        mixed = tuple(sorted(rest))
        return _under(after, (Lower(at, mixed, mixed),) if rest else ())
    return _under(after, tuple(Lower(at, (card,), (card,)) for card in rest))


def _under(state: State, lower: tuple[Lower, ...]) -> State:
    temple = state.places[state.current] - 1
    deck = state.decks[temple]
    return replace(state, decks=put(state.decks, temple, deck._replace(below=deck.below + lower)))


def _put(state: State, card: int) -> Result:
    if not state.spare:
        return Refusal("not_now")
    if card not in state.spare:
        return Refusal("not_drawn", {"n": card})
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


def _path(state: State, a: int, b: int) -> Result:
    if a >= b:
        return Refusal("unknown_place", {"place": b})
    return replace(state, ways=toggled(state.ways, a, b))


def _ready(state: State) -> Result:
    return replace(state, stage=FIRST) if whole(state.ways) else Refusal("not_joined")


def _note(state: State, seat: Seat, line: int, text: str) -> Result:
    """Write one line of a seat's own notebook; an empty text takes the line out."""
    at = state.seats.index(seat)
    notes = state.notes[at]
    if line > len(notes):
        return Refusal("no_such_line", {"line": line})
    written = text.strip()
    lines = (*notes[:line], *([written] if written else []), *notes[line + 1 :])
    return replace(state, notes=put(state.notes, at, lines))


def _busy(state: State) -> bool:
    return bool(state.looking or state.hand or state.spare)


def _dear(state: State, n: int) -> Refusal | None:
    if _busy(state):
        return Refusal("finish_first")
    if COSTS[n] > state.points:
        return Refusal("too_few_points", {"n": state.points, "cost": COSTS[n]})
    return None


def _out_of_turn(state: State, seat: Seat, move: Move) -> Refusal | None:
    if move.name == NOTE or (seat == CHANCE and not state.over):
        return None
    if state.over:
        return Refusal("over")
    if state.stage == PLAYING:
        if seat != state.seat:
            return Refusal("not_your_turn")
        if chance.due(state):
            return Refusal("not_now", {"move": move.name})
    return None


_COST = one_of(*COSTS, code="bad_number")
_PLACE = number(0, PLACES - 1, "unknown_place")

MOVES: MoveTable[State] = MoveTable(
    MoveType("path", _path, {"from": number(0, PLACES - 1), "place": _PLACE}, during=(LAYING,)),
    MoveType("ready", _ready, during=(LAYING,)),
    MoveType("first", _first, {"seat": a_seat()}, CHANCE),
    MoveType("chit", _chit, {"face": one_of(*FACES)}, CHANCE),
    MoveType("name", _name, {"name": one_of(*NAMES)}, CHANCE),
    MoveType("treasure", _treasure, {"n": one_of(*WORTHS)}, CHANCE),
    MoveType("walk", _walk, {"place": _PLACE}, during=(PLAYING,)),
    MoveType("study", _study, {"n": _COST}, during=(PLAYING,)),
    MoveType("peek", _peek, {"chit": number(0, LAST, "no_such_chit")}, during=(PLAYING,)),
    MoveType("explore", _explore, {"n": _COST}, during=(PLAYING,)),
    MoveType("keep", _keep, {"n": one_of(*CARDS)}, during=(PLAYING,)),
    MoveType("leave", _leave, during=(PLAYING,)),
    MoveType("put", _put, {"n": one_of(*CARDS)}, during=(PLAYING,)),
    MoveType("end_turn", _end_turn, during=(PLAYING,)),
    MoveType(
        NOTE,
        _note,
        {
            "line": number(0, NOTES - 1, "no_such_line"),
            "text": text(
                f"[^\\x00-\\x1f\\x7f\\ud800-\\udfff]{{0,{NOTE_LENGTH}}}", "a line", "unwritable", n=NOTE_LENGTH
            ),
        },
        names_seat=True,
    ),
    seats=attrgetter("seats"),
    stage=attrgetter("stage"),
    gate=_out_of_turn,
)
"""Every move of the game."""
