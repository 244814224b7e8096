"""The legal moves of a seat, sorted, and the same moves one level at a time."""

from __future__ import annotations

from bisect import insort
from functools import cache

from companion.games.kit import CHANCE, Arg, Choice, Move, Seat
from companion.games.mexica.rules import apocalypse, course, decisions
from companion.games.mexica.rules.apocalypse import WEEK_CARDS
from companion.games.mexica.rules.board import Task
from companion.games.mexica.rules.corrections import given_by, held_by
from companion.games.mexica.rules.sacrifice import MOST_AT_ONCE, may_have_given
from companion.games.mexica.rules.state import Proposal, State, Unclaimed
from companion.games.mexica.rules.tallies import GODS, HUITZILOPOCHTLI, TLALOC, God

_TAPS = [Move("sacrifice", (god, n)) for god in GODS for n in range(1, MOST_AT_ONCE + 1)]
_BARE, _CONFIRM, _END_TURN, _ISSUE, _WITHDRAW = map(Move, ("bare", "confirm", "end_turn", "issue", "withdraw"))


def moves(state: State, seat: Seat) -> list[Move]:
    """Return exactly the legal moves of a seat, sorted.

    The temple's own are not listed: a token brings its id with it, and is legal in every state.
    """
    if seat not in state.seats:
        return decisions.listed(state, CHANCE) if seat == CHANCE and state.board else []
    legal = _temple_moves(state, seat) if state.board is None else _full_moves(state, seat)
    if not state.unclaimed:
        return legal
    legal += [Move("dismiss", (token.id,)) for token in state.unclaimed]
    legal += [
        Move("claim", (token.id, each))
        for token in state.unclaimed
        for each in state.seats
        if may_have_given(state, each)
    ]
    return sorted(legal)


def _full_moves(state: State, seat: Seat) -> list[Move]:
    """Return the legal moves of a full game, without those of unclaimed tokens, sorted."""
    task, proposal = course.due_from(state, seat), state.proposal
    if proposal is None:
        if task is None:
            return []
        if task.name == "sacrifice":
            return decisions.offers(state, task, _proposals(state))
        return decisions.due(state, task)
    legal = decisions.due(state, task) if task is not None else []
    return _answering(legal, state, seat, proposal)


def _temple_moves(state: State, seat: Seat) -> list[Move]:
    """Return the legal moves in the temple's scope, without those of unclaimed tokens: by their names, so sorted."""
    if state.over:
        return []
    legal = [_BARE] if _may_be_bare(state) else []
    legal.append(_END_TURN)
    if state.week_cards < WEEK_CARDS:
        legal.append(_ISSUE)
    if state.proposal is None:
        legal += _proposals(state)
    legal += _TAPS
    legal += _settling(state.seats)
    return _answering(legal, state, seat, state.proposal) if state.proposal else legal


def choices(state: State, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
    """Return the legal moves of a seat one level at a time.

    What is picked is the beginning of a move, its name first; a choice that leads deeper holds what it adds to
    that in its fact ``pick``. Corrections of one token are at hand on the first level, larger ones behind
    ``propose_other``.
    """
    if state.board and seat == CHANCE:
        return decisions.typing(state, picked)
    if state.board and not picked:
        return _full(state, seat)
    if seat not in state.seats:
        return []
    if picked:
        return _deeper(state, seat, picked)
    level: list[Choice] = []
    if not state.over:
        ends = apocalypse.ending(state)
        level.append(Choice("end_turn", {"seat": state.seat}, "turn", Move("end_turn"), "turn", confirm=ends))
        level += [
            decisions.gift(state, state.seat, Move("sacrifice", (god, n)))
            for god in GODS
            for n in range(1, MOST_AT_ONCE + 1)
        ]
    for token in state.unclaimed:
        level += _unclaimed(state, token)
    if not state.over:
        level += _first_corrections(state, seat)
        if state.week_cards < WEEK_CARDS:
            level.append(Choice("issue", {"n": state.week_cards + 1}, "week", Move("issue"), "week"))
        if _may_be_bare(state):
            level.append(Choice("bare", {}, "clock", Move("bare"), "week", confirm=True))
        level += [
            Choice("settle", {"seat": each}, f"seat:{each}", Move("settle", (each,)), "end", confirm=True)
            for each in state.seats
        ]
    return level


def _full(state: State, seat: Seat) -> list[Choice]:
    """Return the first level in the full game: what carries it on, then the table's chores."""
    level = [decisions.choice(state, seat, move) for move in decisions.in_page_order(state, seat)]
    if seat in state.seats:
        for token in state.unclaimed:
            level += _unclaimed(state, token)
        level += _first_corrections(state, seat) if may_correct(state, seat) else []
    return level


def may_correct(state: State, seat: Seat) -> bool:
    """Return whether a seat may propose a correction, or answer the open one.

    In the full game the tribe in its sacrifice step proposes, for any tally: everybody looks at the temple then.
    """
    if state.board is None or state.over:
        return not state.over
    if state.proposal is not None:
        return True
    return proposes(course.due(state), seat)


def proposes(task: Task | None, seat: Seat) -> bool:
    """Return whether a tribe may propose a correction in the full game while a task is due."""
    return task is not None and task.name == "sacrifice" and task.seat == seat


def _may_be_bare(state: State) -> bool:
    return state.rules.forestall == "bare" and apocalypse.forestalled(state)


def _deltas(state: State, seat: Seat, god: God) -> list[int]:
    lowest = -min(MOST_AT_ONCE, given_by(state, seat, god))
    highest = min(MOST_AT_ONCE, held_by(state, seat))
    return [delta for delta in range(lowest, highest + 1) if delta]


def _answers(state: State, seat: Seat, proposal: Proposal) -> list[Move]:
    """Return what a seat may say to the correction that is proposed."""
    return [_CONFIRM, _WITHDRAW] if _may_confirm(state, seat, proposal) else [_WITHDRAW]


def _answering(legal: list[Move], state: State, seat: Seat, proposal: Proposal) -> list[Move]:
    """Return sorted moves with those among them that answer the correction that is proposed."""
    if _may_confirm(state, seat, proposal):
        insort(legal, _CONFIRM)
    legal.append(_WITHDRAW)  # no move has a later name
    return legal


def _may_confirm(state: State, seat: Seat, proposal: Proposal) -> bool:
    return proposal.by != seat and proposal.delta <= held_by(state, proposal.seat)


def _proposals(state: State) -> list[Move]:
    """Return every correction that may be proposed, by anybody, sorted."""
    legal: list[Move] = []
    tallies, board = state.tallies.tribes, state.board
    for n, of_war, of_rain in _all_proposals(state.seats):
        (war, rain), (more_war, more_rain) = tallies[n]
        war, rain = war + more_war, rain + more_rain
        end = MOST_AT_ONCE + board.tribes[n].tokens if board is not None else None
        # No more is taken out than was given, no more put there than is held.
        legal += of_war[MOST_AT_ONCE - war if war < MOST_AT_ONCE else 0 : end]
        legal += of_rain[MOST_AT_ONCE - rain if rain < MOST_AT_ONCE else 0 : end]
    return legal


@cache
def _all_proposals(seats: tuple[Seat, ...]) -> list[tuple[int, tuple[Move, ...], tuple[Move, ...]]]:
    """Return for each seat, by name, its place in turn order and all corrections: 13 taken out to 13 put there."""
    deltas = [delta for delta in range(-MOST_AT_ONCE, MOST_AT_ONCE + 1) if delta]

    def of(seat: Seat, god: God) -> tuple[Move, ...]:
        return tuple(Move("propose", (seat, god, delta)) for delta in deltas)

    return [(seats.index(seat), of(seat, HUITZILOPOCHTLI), of(seat, TLALOC)) for seat in sorted(seats)]


@cache
def _settling(seats: tuple[Seat, ...]) -> tuple[Move, ...]:
    return tuple(Move("settle", (each,)) for each in sorted(seats))


def _unclaimed(state: State, token: Unclaimed) -> list[Choice]:
    facts: dict[str, Arg] = {"token": token.id, "god": token.god, "doubt": token.doubt}
    element = f"token:{token.id}"
    claims = [
        Choice("claim", {**facts, "seat": each}, element, Move("claim", (token.id, each)), "unclaimed")
        for each in sorted(state.seats, key=lambda each: each != token.suggested)
        if may_have_given(state, each)
    ]
    return [*claims, Choice("dismiss", facts, element, Move("dismiss", (token.id,)), "unclaimed", confirm=True)]


def _first_corrections(state: State, seat: Seat) -> list[Choice]:
    if (open_ := state.proposal) is not None:
        facts: dict[str, Arg] = {"by": open_.by, "seat": open_.seat, "god": open_.god, "delta": open_.delta}
        return [Choice(move.name, facts, "correction", move, "correction") for move in _answers(state, seat, open_)]
    by_one = [
        _proposal(each, god, delta)
        for each in state.seats
        for god in GODS
        for delta in (-1, 1)
        if delta in _deltas(state, each, god)
    ]
    if not by_one:
        return []
    return [*by_one, Choice("propose_other", {"pick": "propose"}, "correction", group="correction")]


def _deeper(state: State, seat: Seat, picked: tuple[Arg, ...]) -> list[Choice]:
    if state.over or state.proposal or not may_correct(state, seat):
        return []
    match picked:
        case ("propose",):
            return [
                Choice("propose_seat", {"seat": each, "pick": each}, f"seat:{each}", group="correction")
                for each in state.seats
                if any(_deltas(state, each, god) for god in GODS)
            ]
        case ("propose", each) if each in state.seats:
            return [
                Choice("propose_god", {"seat": each, "god": god, "pick": god}, god, group="correction")
                for god in GODS
                if _deltas(state, str(each), god)
            ]
        case ("propose", str(each), str(god)) if each in state.seats and god in GODS:
            return [_proposal(each, god, delta) for delta in _deltas(state, each, god)]
    return []


def _proposal(seat: Seat, god: God, delta: int) -> Choice:
    facts: dict[str, Arg] = {"seat": seat, "god": god, "delta": delta}
    return Choice("propose", facts, f"seat:{seat}", Move("propose", (seat, god, delta)), "correction")
