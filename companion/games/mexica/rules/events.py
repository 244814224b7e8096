"""What cards do when they are drawn or played: carries out each effect of the closed set (ruling M20).

If an effect needs a tribe, a week card or another card to be chosen, it puts that question on the agenda.
"""

from __future__ import annotations

from companion.games.kit import Seat, replace
from companion.games.mexica.rules import apocalypse, battle, board, landing
from companion.games.mexica.rules.board import Task, with_card
from companion.games.mexica.rules.bonuses import boosted, wards_off_attack, wards_off_card
from companion.games.mexica.rules.calendar import SIGNS, place_of, start, walk
from companion.games.mexica.rules.cards import effects
from companion.games.mexica.rules.cards.deck import Card
from companion.games.mexica.rules.cards.timing import Moment
from companion.games.mexica.rules.hands import any_of, card, pile_of, weeks_of
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import God


def drawn(state: State, seat: Seat, card_id: str) -> State:
    """Return the state after a tribe drew the card that was due next: a Day card's event comes at once (M38)."""
    known, board_, n = card(state, card_id), state.laid, state.index(seat)
    rest = board_.agenda[1:]
    if known.pile == "day" and known.sign is None and state.rules.card_timing == "text":
        board_ = replace(board_, agenda=rest, discards=with_card(board_.discards, card_id))
        return happen(replace(state, board=board_), seat, known)
    tribes = board_.tribes_with(n, hand=with_card(board_.tribes[n].hand, card_id))
    return replace(state, board=replace(board_, agenda=rest, tribes=tribes))


def played(state: State, seat: Seat, card_id: str) -> State:
    """Return the state after a tribe played a card from its hand; a ward may hold a reroll of its die off."""
    board_ = state.laid.without_card(state.index(seat), card_id).discard(card_id)
    state = replace(state, board=board_)
    if board_.battle and seat in board_.battle.sides and (held_off := _reroll_held_off(state, seat, card_id)):
        return held_off
    return happen(state, seat, card(state, card_id))


def _reroll_held_off(state: State, seat: Seat, card_id: str) -> State | None:
    """Return the state after a ward held a second roll of its holder's die off (ruling M50), or None."""
    effect = card(state, card_id).effect
    if not isinstance(effect, effects.Reroll) or effect.whose != "theirs":
        return None  # a tribe's card on itself is turned on nobody
    enemy = battle.highest_enemy(state, seat)
    return wards_off_card(state, enemy, card_id) if enemy != battle.CORTEZ else None


def happen(state: State, seat: Seat, known: Card) -> State:
    """Return the state after a card's effect on a tribe, or with the question that the effect needs answered."""
    match known.effect:
        case effects.Walk(spaces):
            here = state.laid.tribes[state.index(seat)].place
            return landing.forced(state, seat, walk(here, spaces))
        case effects.GoTo(space, bonus):
            wins = state.laid.tribes[state.index(seat)].wins
            if bonus and not landing.exhausted(state):  # ruling M47
                state = _due(state, Task("bonus", seat, (bonus, wins)))
            return landing.forced(state, seat, place_of(space))
        case effects.GoToStart(of):
            return landing.forced(state, seat, start(of, state.rules.starts))
        case effects.Attack(whom, bonus):
            return _attack(state, seat, known, whom, bonus)
        case effects.Draw(pile):
            return _due(state, board.draw(seat, pile))
        case effects.AnotherTurn():
            return replace(state, board=replace(state.laid, again=(*state.laid.again, seat)))
        case effects.TakeWeek(which):
            return _take_week(state, seat, which)
        case effects.Ward(against):
            return _ward(state, seat, against)
        case effects.Boost(what, by, "mine"):
            return boosted(state, seat, board.Boost(what, by, now=known.pile != "day"))
        case effects.Reroll(whose):
            return battle.again(state, seat, whose)
        case effects.Pay(_, "one") | effects.Demand() | effects.Boost() | effects.ReturnCard():
            return _choose_tribe(state, seat, known)
        case effects.Sign() | effects.Standing() | effects.Nothing():
            return state
    return _tokens(state, seat, known.effect)


def bonus(state: State, seat: Seat, tokens: int, wins: int) -> State:
    """Return the state after a tribe received what awaited it on a space, doubled by a battle won there (row 1)."""
    n = state.index(seat)
    doubled = 2 if state.laid.tribes[n].wins > wins else 1
    return replace(state, board=state.laid.from_reserve(n, tokens * doubled))


def targets(state: State, seat: Seat, card_id: str) -> list[Seat]:
    """Return the tribes that a card may be turned on, in turn order."""
    effect = card(state, card_id).effect
    return [
        each
        for each in state.others(seat)
        if not isinstance(effect, effects.ReturnCard) or returnable(state, each, effect.pile)
    ]


def chosen(state: State, seat: Seat, card_id: str, whom: Seat) -> State:
    """Return the state after a card was turned on a tribe, which a ward may hold off (row 28)."""
    known, n, other = card(state, card_id), state.index(seat), state.index(whom)
    effect = known.effect
    if isinstance(effect, effects.Pay):
        return replace(state, board=state.laid.pay(n, other, effect.tokens))
    if held_off := wards_off_card(state, whom, card_id):
        return held_off
    match effect:
        case effects.Demand(tokens, "me"):
            return replace(state, board=state.laid.pay(other, n, tokens))
        case effects.Demand(tokens, god):
            return offer(state, whom, god, tokens)
        case effects.Boost(what, by, _):
            return boosted(state, whom, board.Boost(what, by))
        case effects.ReturnCard(pile):
            return _due(state, Task("return", whom, (pile,)))
    raise AssertionError(f"{card_id} is turned on nobody")


def offer(state: State, seat: Seat, god: God, tokens: int) -> State:
    """Return the state after a tribe sacrificed tokens that earn no card, as many as it has."""
    n = state.index(seat)
    tokens = min(tokens, state.laid.tribes[n].tokens)
    if not tokens:
        return state
    state = replace(state, board=state.laid.receive(n, -tokens), tallies=state.tallies.credit(n, god, tokens))
    return apocalypse.update(state)


def returnable(state: State, seat: Seat, pile: str) -> list[str]:
    """Return the cards that a tribe may return, sorted: of its hand and of its week cards."""
    hand = state.laid.tribes[state.index(seat)].hand
    return sorted(each for each in (*hand, *weeks_of(state, seat)) if pile in ("any", pile_of(each)))


def returned(state: State, seat: Seat, card_id: str) -> State:
    """Return the state after a card went back to its pile, a week card to its space (row 26)."""
    if pile_of(card_id) == "week":
        return landing.came_back(state, place_of(card_id.removeprefix("week-")))
    return replace(state, board=state.laid.without_card(state.index(seat), card_id))


def unissued(state: State) -> list[str]:
    """Return the signs of the week cards at their spaces, sorted."""
    return sorted(sign for sign, holder in zip(SIGNS, state.laid.holders, strict=True) if not holder)


def weapons(state: State, seat: Seat) -> list[str]:
    """Return the cards that a tribe may play before the dice of a battle, sorted."""
    fought = state.laid.battle
    assert fought is not None  # asked in a battle alone
    return _playable(state, seat, "attack" if fought.sides[0] == seat else "defence")


def second_thoughts(state: State, seat: Seat) -> list[str]:
    """Return the cards that a tribe may play after the dice of a battle, sorted."""
    return _playable(state, seat, "dice")


def blessings(state: State, seat: Seat) -> list[str]:
    """Return the Rain cards that a tribe may play as it lands, sorted: none that may move it first (M45)."""
    found = _playable(state, seat, "landing")
    if state.rules.flood_gather == "off" and state.clock and apocalypse.biting(state) == apocalypse.FLOOD:
        return [each for each in found if not _gathers(card(state, each).effect)]  # ruling M48
    return found


def afterthoughts(state: State, seat: Seat) -> list[str]:
    """Return the Rain cards that a tribe may play once it has collected, as they may move it, sorted (M45)."""
    return _playable(state, seat, "landed")


def actions(state: State, seat: Seat) -> list[str]:
    """Return the cards that a tribe may play in its card step, sorted: attacks, and Day cards that it held (M38)."""
    return _playable(state, seat, "cards")


def holds(state: State, seat: Seat, *piles: str) -> bool:
    """Return whether a tribe holds a card of one of these piles, which everybody sees by its back."""
    hand = state.laid.tribes[state.seats.index(seat)].hand
    return True in [any_of(hand, pile) for pile in piles]


def _playable(state: State, seat: Seat, moment: Moment) -> list[str]:
    playable = state.rules.cards.playable[moment]
    return [each for each in state.laid.tribes[state.seats.index(seat)].hand if each in playable]


def _gathers(effect: effects.Effect) -> bool:
    return isinstance(effect, effects.Boost) and effect.what == "gather"


def moves_nobody(state: State, card_id: str) -> bool:
    """Return whether a card would move a tribe, but no longer can in this turn (ruling M47)."""
    effect = card(state, card_id).effect
    return isinstance(effect, effects.Walk | effects.GoTo | effects.GoToStart) and landing.exhausted(state)


def _tokens(state: State, seat: Seat, effect: effects.Effect) -> State:
    n, board_ = state.index(seat), state.laid
    match effect:
        case effects.Gain(tokens):
            return replace(state, board=board_.from_reserve(n, tokens))
        case effects.Lose(tokens):
            return replace(state, board=board_.to_reserve(n, tokens))
        case effects.Pay(tokens, _):
            for each in state.others(seat):
                board_ = board_.pay(n, state.index(each), tokens)
            return replace(state, board=board_)
        case effects.Give(god, tokens):
            return offer(state, seat, god, tokens)
    raise AssertionError(f"{effect} moves no tokens")


def _attack(state: State, seat: Seat, known: Card, whom: str, bonus_: int) -> State:
    enemy = battle.nearest(state, seat) if whom == "nearest" else whom
    if enemy == seat or enemy not in state.seats:
        return state
    if held_off := wards_off_attack(state, enemy, known.id):
        return held_off
    return _due(state, Task("fight", seat, (enemy, bonus_, 0)))


def _take_week(state: State, seat: Seat, which: str) -> State:
    if which == "any":
        return _due(state, Task("take", seat)) if unissued(state) else state
    place = state.laid.tribes[state.index(seat)].place
    return state if state.laid.holders[place - 1] else landing.issued(state, seat, place)


def _ward(state: State, seat: Seat, against: str) -> State:
    if battle.fighting(state, seat):
        return battle.leave(state, seat)
    n = state.index(seat)
    return replace(state, board=state.laid.tribe(n, wards=(*state.laid.tribes[n].wards, against)))


def _choose_tribe(state: State, seat: Seat, known: Card) -> State:
    """Return the state with a tribe to be chosen; a lone possible one is chosen already."""
    possible = targets(state, seat, known.id)
    if len(possible) == 1:
        return chosen(state, seat, known.id, possible[0])
    return _due(state, Task("choose", seat, (known.id,))) if possible else state


def _due(state: State, task: Task) -> State:
    return replace(state, board=state.laid.due(task))
