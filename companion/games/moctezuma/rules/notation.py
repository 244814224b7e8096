"""A game in one readable line that parses back, for errors, logs and tests. Only what it wrote is read.

``key=value`` words, the rules those that differ from their default, a seat's things joined by ``/`` in turn order::

    moctezuma rules=flip:turn seats=red,blue stage=playing first=1 turn=3 points=2 at=0,4 ways=-
    chits=??cs??????????? shown=1 seen=-/2.3 names=?,?,?,6,?,?,?,?,?,? read=-/4 decks=-,-,-,0.4.3.2.1;1:03,-,-,-,-,-,-
    trips=-/4:031:1 due=-:-:-:0 hand=-:-:- revealed=0 notes=-/-

Chits are ``s``, ``c`` or ``?`` where nobody has looked; names are numbers; a deck is what is untouched, by worth, and
what lies below by whose hand, with what that hand knows of it where another drew; ``due`` is flipping, chits to
choose, those chosen, those to come and cards to come.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from companion.games.moctezuma.rules.boards import LIBRARY, PAIRS, PLACES, Ways, joined, ways, whole
from companion.games.moctezuma.rules.options import COLOURS, OPTIONS, HouseRules
from companion.games.moctezuma.rules.pieces import (
    CARDS,
    COPIES,
    CURSED,
    DECK,
    FRESH,
    LAST,
    NAMES,
    SAFE,
    SPACES,
    TEMPLES,
    UNSEEN,
    chits,
)
from companion.games.moctezuma.rules.play import NOTE_LENGTH, NOTES
from companion.games.moctezuma.rules.state import (
    COSTS,
    FIRST,
    LAYING,
    OVER,
    PLAYING,
    POINTS,
    REVEAL,
    STAGES,
    Deck,
    Lower,
    State,
    Trip,
)

_NONE = "-"
_NUMBER = re.compile(r"\d{1,6}", re.ASCII)
_SIGNS = "sc?"
_KEYS = (
    "rules", "seats", "stage", "first", "turn", "points", "at", "ways", "chits", "shown", "seen", "names", "read",
    "decks", "trips", "due", "hand", "revealed", "notes",
)  # fmt: skip


def notation(state: State) -> str:
    """Return the state in one line; ``parse(notation(state)) == state``."""
    default = {option.key: option.default for option in OPTIONS}
    rules = [f"{key}:{value}" for key, value in state.rules.chosen().items() if value != default[key]]
    words = (
        _list(rules),
        ",".join(state.seats),
        state.stage,
        str(state.first),
        str(state.turn),
        str(state.points),
        _list(map(str, state.places)),
        _list(f"{a}.{b}" for a, b in PAIRS if b in state.ways[a]) if state.rules.board == "custom" else _NONE,
        "".join(_SIGNS[face] for face in state.chits),
        str(state.shown),
        "/".join(_bits(each) for each in state.seen),
        ",".join("?" if name == UNSEEN else str(name) for name in state.names),
        "/".join(_bits(each) for each in state.read),
        ",".join(map(_deck, state.decks)),
        "/".join(_list(f"{trip.temple}:{_digits(trip.cards)}:{trip.kept}" for trip in own) for own in state.trips),
        f"{int(state.flipping)}:{state.looking}:{_bits(state.looked)}:{_dots(state.queue)}:{state.drawing}",
        f"{_digits(state.hand)}:{_digits(state.spare)}:{_digits(state.put)}",
        str(state.revealed),
        "/".join(_list(line.encode().hex() for line in own) for own in state.notes),
    )
    return " ".join(("moctezuma", *(f"{key}={word}" for key, word in zip(_KEYS, words, strict=True))))


def parse(text: str) -> State:
    """Read a state that `notation` wrote; raises `ValueError` for any other text."""
    try:
        state = _read(text)
        if (again := notation(state)) != text:
            raise ValueError(f"notation is {_short(text)}; expected what writes the same state, {_short(again)}")
        _check(state)
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"notation is {_short(text)}; it lacks {error}") from None
    return state


def _read(text: str) -> State:
    title, *pairs = text.split(" ")
    words = {key: word for key, _, word in (pair.partition("=") for pair in pairs)}
    if title != "moctezuma" or tuple(words) != _KEYS or len(pairs) != len(_KEYS):
        raise ValueError(f"notation is {_short(text)}; expected 'moctezuma' and the words {' '.join(_KEYS)}")
    chosen = {option.key: option.default for option in OPTIONS}
    for rule in _items(words["rules"]):
        key, _, value = rule.partition(":")
        chosen[key] = value
    rules = HouseRules.of(chosen)
    flipping, looking, looked, queue, drawing = words["due"].split(":")
    hand, spare, put = words["hand"].split(":")
    return State(
        rules,
        tuple(words["seats"].split(",")),
        _ways(rules.board, words["ways"]),
        words["stage"],
        tuple(map(_number, words["at"].split(","))),
        tuple(map(_set, words["seen"].split("/"))),
        tuple(map(_set, words["read"].split("/"))),
        tuple(tuple(map(_trip, _items(own))) for own in words["trips"].split("/")),
        tuple(tuple(bytes.fromhex(line).decode() for line in _items(own)) for own in words["notes"].split("/")),
        first=_number(words["first"]),
        turn=_number(words["turn"]),
        points=_number(words["points"]),
        chits=tuple((SAFE, CURSED, UNSEEN)[_SIGNS.index(sign)] for sign in words["chits"]),
        names=tuple(UNSEEN if name == "?" else _number(name) for name in words["names"].split(",")),
        decks=tuple(map(_read_deck, words["decks"].split(","))),
        shown=_number(words["shown"]),
        flipping=bool(_number(flipping)),
        looking=_number(looking),
        looked=_set(looked),
        queue=() if queue == _NONE else tuple(map(_number, queue.split("."))),
        drawing=_number(drawing),
        hand=_cards(hand),
        spare=_cards(spare),
        put=_cards(put),
        revealed=_number(words["revealed"]),
    )


def _check(state: State) -> None:
    """Raise `ValueError` unless the state keeps its laws; its form is right already."""
    players, bag = len(state.seats), chits(state.rules.curse_rule)
    laws = {
        "the first two to six colours as seats": 2 <= players <= len(COLOURS) and state.seats == COLOURS[:players],
        "a stage of the game": state.stage in STAGES,
        "a seat that begins": 0 <= state.first < players,
        "turns from 1": state.turn >= 1,
        f"points up to {POINTS}": state.points <= POINTS,
        "a place of each seat": len(state.places) == players and max(state.places) < PLACES,
        "seats' own things for each": {players}
        == {len(each) for each in (state.seen, state.read, state.trips, state.notes)},
        f"{SPACES} chits and {TEMPLES} names": (len(state.chits), len(state.names), len(state.decks))
        == (SPACES, TEMPLES, TEMPLES),
        "chits of the bag": state.chits.count(CURSED) <= bag.cursed and state.chits.count(SAFE) <= bag.safe,
        "names that there are": all(name < len(NAMES) for name in state.names)
        and all(state.names.count(name) <= copies for name, copies in enumerate(COPIES)),
        "whole decks": _decks_whole(state) if len(state.decks) == TEMPLES else True,
        "what was seen and shown to be known": _known(state) if len(state.chits) == SPACES else True,
        "one thing due at a time": _due(state),
        "a whole board to play on": whole(state.ways) or state.stage == LAYING,
        "its own board for a table that lays it": state.stage != LAYING or state.rules.board == "custom",
        "notes that can be written": all(
            len(own) <= NOTES and all(0 < len(line) <= NOTE_LENGTH and line == line.strip() for line in own)
            for own in state.notes
        ),
    }
    for law, kept in laws.items():
        if not kept:
            raise ValueError(f"notation is {_short(notation(state))}; expected {law}")


def _decks_whole(state: State) -> bool:
    """Return whether each deck with all that was kept of it, and all in hand, is the twelve cards of a temple."""
    out: list[list[int]] = [[] for _ in range(TEMPLES)]
    for own in state.trips:
        for trip in own:
            if (
                not 1 <= trip.temple <= TEMPLES
                or (trip.kept and trip.kept not in trip.cards)
                or trip.kept not in CARDS
            ):
                return False
            if trip.kept:
                out[trip.temple - 1].append(trip.kept)
    held = (*state.spare, *state.put) if state.spare else state.hand
    place = state.places[state.current]
    if held:
        if place == LIBRARY:
            return False
        out[place - 1] += held
    for deck, away in zip(state.decks, out, strict=True):
        cards = [card for card, left in zip(CARDS, deck.fresh, strict=True) for _ in range(left)]
        cards += [card for lower in deck.below for card in lower.cards] + away
        if len(cards) != DECK or any(cards.count(card) != n for card, n in zip(CARDS, FRESH, strict=True)):
            return False
        for lower in deck.below:
            within = all(lower.known.count(card) >= lower.cards.count(card) for card in CARDS)
            if lower.owner >= len(state.seats) or not lower.cards or not within:
                return False
    return True


def _known(state: State) -> bool:
    """Return whether what a seat saw, and what all see, has a face; and what nobody saw has none."""
    seen, read = 0, 0
    for bits in state.seen:
        seen |= bits
    for bits in state.read:
        read |= bits
    faces = all((face != UNSEEN) == (n < state.shown or bool(seen >> n & 1)) for n, face in enumerate(state.chits))
    names = all((name != UNSEEN) == (n < state.revealed or bool(read >> n & 1)) for n, name in enumerate(state.names))
    return faces and names and seen >> SPACES == 0 and read >> TEMPLES == 0


def _due(state: State) -> bool:
    busy = [state.flipping, bool(state.looking or state.queue), bool(state.drawing or state.hand), bool(state.spare)]
    ended = state.stage in (REVEAL, OVER)
    return (
        sum(busy) <= (1 if state.stage == PLAYING else 0)
        and state.looking <= max(COSTS)
        and state.drawing + len(state.hand) <= max(COSTS)
        and (state.shown == SPACES) == ended
        and all(state.shown <= space <= LAST for space in state.queue)
        and (state.drawing == 0 or state.places[state.current] != LIBRARY)
        and (state.drawing == 0 or state.drawing <= state.decks[state.places[state.current] - 1].size)
        and (0 <= state.revealed <= TEMPLES)
        and (state.revealed == 0 or ended)
        and (state.revealed == TEMPLES) == (state.stage == OVER)
        and (state.stage not in (LAYING, FIRST) or state.turn == 1)
    )


def _ways(board: str, text: str) -> Ways:
    if board != "custom":
        return ways(board)
    pairs = [tuple(map(_number, pair.split("."))) for pair in _items(text)]
    if not all(pair in PAIRS for pair in pairs):
        raise ValueError(f"ways are {_short(text)}; expected pairs of places")
    return joined((a, b) for a, b in pairs)


def _deck(deck: Deck) -> str:
    if deck == Deck():
        return _NONE
    return ";".join([_dots(deck.fresh), *map(_lower, deck.below)])


def _lower(lower: Lower) -> str:
    known = f":{_digits(lower.known)}" if lower.known != lower.cards else ""
    return f"{lower.owner}:{_digits(lower.cards)}{known}"


def _read_deck(text: str) -> Deck:
    if text == _NONE:
        return Deck()
    fresh, *below = text.split(";")
    counts = tuple(map(_number, fresh.split(".")))
    if len(counts) != len(FRESH):
        raise ValueError(f"a deck is {_short(text)}; expected {len(FRESH)} counts")
    lower = []
    for each in below:
        owner, cards, *known = each.split(":")
        lower.append(Lower(_number(owner), _cards(cards), _cards(known[0] if known else cards)))
    return Deck(counts, tuple(lower))


def _trip(text: str) -> Trip:
    temple, cards, kept = text.split(":")
    return Trip(_number(temple), _cards(cards), _number(kept))


def _cards(text: str) -> tuple[int, ...]:
    cards = () if text == _NONE else tuple(map(_number, text))
    if not set(cards) <= {*CARDS}:
        raise ValueError(f"cards are {_short(text)}; expected digits of {CARDS}")
    return cards


def _bits(bits: int) -> str:
    return ".".join(str(n) for n in range(bits.bit_length()) if bits >> n & 1) or _NONE


def _set(text: str) -> int:
    return 0 if text == _NONE else sum({1 << min(_number(n), 64) for n in text.split(".")})


def _dots(numbers: Sequence[int]) -> str:
    return ".".join(map(str, numbers)) or _NONE


def _digits(numbers: Sequence[int]) -> str:
    return "".join(map(str, numbers)) or _NONE


def _list(parts: Iterable[str]) -> str:
    return ",".join(parts) or _NONE


def _items(text: str) -> list[str]:
    return [] if text == _NONE else text.split(",")


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"a number is {_short(text)}; expected digits")
    return int(text)


def _short(text: str) -> str:
    return ascii(text if len(text) <= 200 else f"{text[:200]}...")
