"""Battles: who fights whom, the dice with their bonuses, and what a loss costs (rulings M12 to M17, M39).

Each part is a task on the agenda: weapons, die, second thoughts, judgement. `chance` rolls the dice.
"""

from __future__ import annotations

from companion.games.kit import Seat, replace
from companion.games.mexica.rules import apocalypse
from companion.games.mexica.rules.board import Battle, Task
from companion.games.mexica.rules.bonuses import after_battle, spend, standing, waiting, warded
from companion.games.mexica.rules.calendar import apart
from companion.games.mexica.rules.hands import weeks_of
from companion.games.mexica.rules.state import State

CORTEZ: Seat = "cortez"
"""The enemy of the author's later war, who always rolls five (option ``war``)."""

CORTEZ_ROLLS = 5


def battles(state: State, task: Task, at: int) -> State:
    """Return the state with the battles due of a tribe that has just arrived, in turn order (ruling M14)."""
    seat, board = task.seat, state.laid
    places = [each.place for each in board.tribes]
    here = places[state.seats.index(seat)]
    if places.count(here) == 1 and state.rules.war != "cortez5":
        return state
    met = [each for each in state.others(seat) if places[state.index(each)] == here]
    fights = [Task("meet", seat, (each, 0, 0)) for each in met]
    if state.rules.melee == "first":
        fights = fights[:1]
    elif state.rules.melee == "all" and met:
        fights = [Task("meet", seat, (*met, 0, 0))]
    if state.rules.war == "cortez5" and apocalypse.biting(state) == apocalypse.WAR:
        fights.append(Task("meet", seat, (CORTEZ, 0, 0)))
    return replace(state, board=replace(board, agenda=(*fights, *board.agenda[at + 1 :])))


def meet(state: State, task: Task) -> State:
    """Return the state with a battle begun against who was met; who has left the space by now lapses (ruling M46).

    Cortez is wherever a tribe lands (ruling M55).
    """
    tribes, seat = state.laid.tribes, task.seat
    here = tribes[state.index(seat)].place
    met = [str(each) for each in task.args[:-2]]
    still = [each for each in met if each == CORTEZ or tribes[state.index(each)].place == here]
    return begin(state, seat, tuple(still), 0, 0)


def within_reach(state: State, seat: Seat) -> list[Seat]:
    """Return the tribes on other spaces that a tribe may attack from where it stands, in turn order."""
    reach = standing(state, seat, "range")
    if reach <= 0:
        return []
    tribes = state.laid.tribes
    here = tribes[state.index(seat)].place
    return [each for each in state.others(seat) if 0 < apart(here, tribes[state.index(each)].place) <= reach]


def nearest(state: State, seat: Seat) -> Seat:
    """Return the tribe the fewest spaces away in either direction; of equals the first in turn order."""
    tribes = state.laid.tribes
    here = tribes[state.index(seat)].place
    return min(state.others(seat), key=lambda each: apart(here, tribes[state.index(each)].place))


def begin(state: State, seat: Seat, defenders: tuple[Seat, ...], bonus: int, stake: int) -> State:
    """Return the state with a battle begun, its parts due one by one; warded tribes stay out of it."""
    sides = [seat]
    for each in defenders:
        held_off = None if each == CORTEZ else warded(state, each, "attack")
        if held_off:
            state = held_off
        else:
            sides.append(each)
    if len(sides) == 1:
        return state
    dice = tuple(CORTEZ_ROLLS if each == CORTEZ else 0 for each in sides)
    tribes = [each for each in sides if each != CORTEZ]
    board = replace(state.laid, battle=Battle(tuple(sides), dice, bonus, stake))
    tasks = [Task(name, each) for name in ("arm", "die", "reroll") for each in tribes]
    return replace(state, board=board.due(*tasks, Task("judge", seat)))


def leave(state: State, seat: Seat) -> State:
    """Return the state after a defender's ward took it out of the battle, and ended one that had no other."""
    battle = state.laid.battle
    assert battle is not None  # a ward is played in a battle
    if len(battle.sides) == 2:
        return _ended(state)
    at = battle.sides.index(seat)
    sides, dice = battle.sides[:at] + battle.sides[at + 1 :], battle.dice[:at] + battle.dice[at + 1 :]
    return replace(state, board=replace(state.laid, battle=replace(battle, sides=sides, dice=dice)))


def fighting(state: State, seat: Seat) -> bool:
    """Return whether a tribe is in the battle now fought."""
    battle = state.laid.battle
    return battle is not None and seat in battle.sides


def rolled(state: State, seat: Seat, die: int) -> State:
    """Return the state with a die of the battle on the table."""
    battle = state.laid.battle
    assert battle is not None  # or no die is due
    at = battle.sides.index(seat)
    dice = (*battle.dice[:at], die, *battle.dice[at + 1 :])
    return replace(state, board=replace(state.laid, battle=replace(battle, dice=dice)))


def again(state: State, seat: Seat, whose: str) -> State:
    """Return the state with a die due once more: one's own, or the enemy's that is highest."""
    battle = state.laid.battle
    assert battle is not None  # the card is played in a battle
    again_ = highest_enemy(state, seat) if whose == "theirs" else seat
    if again_ == CORTEZ:
        return state
    return replace(state, board=rolled(state, again_, 0).laid.due(Task("die", again_)))


def highest_enemy(state: State, seat: Seat) -> Seat:
    """Return the enemy whose die in the battle now fought is highest; of equals the first."""
    battle = state.laid.battle
    assert battle is not None  # asked in a battle alone
    others = [(die, each) for each, die in zip(battle.sides, battle.dice, strict=True) if each != seat]
    return max(others, key=lambda each: each[0])[1]


def bonus(state: State, battle: Battle, n: int) -> int:
    """Return what week cards, boosts and the card that began a battle add to one side's die."""
    seat = battle.sides[n]
    if seat == CORTEZ:
        return 0
    role = "defence" if n else "attack"
    own = standing(state, seat, role) + waiting(state, seat, role, "battle")
    return own if n else own + battle.bonus


def judge(state: State, seat: Seat) -> State:
    """Return the state after the battle was decided: the bonus decides who wins, the die what it costs (M39)."""
    battle = state.laid.battle
    assert battle is not None  # `fighting` was asked before
    sums = [max(0, die + bonus(state, battle, n)) for n, die in enumerate(battle.dice)]
    best = [n for n, each in enumerate(sums) if each == max(sums)]
    if len(best) > 1:
        if state.rules.battle_tie == "reroll":
            tied = tuple(0 if n in best and battle.sides[n] != CORTEZ else die for n, die in enumerate(battle.dice))
            dice = [Task("die", battle.sides[n]) for n in best if battle.sides[n] != CORTEZ]
            board = replace(state.laid, battle=replace(battle, dice=tied))
            return replace(state, board=board.due(*dice, Task("judge", seat)))
        defenders = [n for n in best if n]
        if state.rules.battle_tie == "none" or len(defenders) > 1:
            return _ended(state)
        best = defenders
    return _won(state, battle, sums, best[0])


def _won(state: State, battle: Battle, sums: list[int], winner: int) -> State:
    """Return the state after a victory: each loser owes the winner, or the week card fought for passes."""
    victor = battle.sides[winner]
    costs = [(seat, _loot(state, battle, sums, winner, n)) for n, seat in enumerate(battle.sides) if n != winner]
    state = _ended(state)
    if victor != CORTEZ:
        n = state.index(victor)
        state = replace(state, board=state.laid.tribe(n, wins=state.laid.tribes[n].wins + 1))
        state = spend(state, victor, "loot") if not battle.stake else state
    if battle.stake:
        return replace(state, board=state.laid.with_holder(battle.stake, victor))
    for seat, _ in costs:
        if seat != CORTEZ:
            state = spend(state, seat, "ransom")
    owing = [Task("ransom", seat, (victor, cost)) for seat, cost in costs if seat != CORTEZ and cost > 0]
    return replace(state, board=state.laid.due(*owing))


def _loot(state: State, battle: Battle, sums: list[int], winner: int, loser: int) -> int:
    natural = state.rules.loot_die == "natural"
    won, lost = (battle.dice if natural else sums)[winner], (battle.dice if natural else sums)[loser]
    match state.rules.battle_loot:
        case "lower":
            loot = lost
        case "difference":
            loot = max(0, won - lost)
        case _:
            loot = 1
    for seat, what in ((battle.sides[winner], "loot"), (battle.sides[loser], "ransom")):
        loot += 0 if seat == CORTEZ else waiting(state, seat, what)
    return max(0, loot)


def ransom(state: State, seat: Seat, victor: Seat, cost: int) -> State:
    """Return the state after a loser paid: tokens, else a card of its choice, else one it must draw (M16, M17)."""
    board, n = state.laid, state.index(seat)
    if victor == CORTEZ:
        return replace(state, board=board.lose(n, cost))
    if board.tribes[n].tokens:
        return replace(state, board=board.pay(n, state.index(victor), cost))
    if forfeitable(state, seat):
        return replace(state, board=board.due(Task("forfeit", seat, (victor,))))
    return replace(state, board=board.due(Task("draw", victor, ("day",))))


def forfeitable(state: State, seat: Seat) -> list[str]:
    """Return the cards that a loser without tokens may give, of its hand and of its week cards (M16, M44)."""
    hand = state.laid.tribes[state.index(seat)].hand
    return [*hand, *weeks_of(state, seat)] if state.rules.week_cards_pay == "on" else [*hand]


def _ended(state: State) -> State:
    """Return the state with the battle over, and the bonuses that had their moment in it gone."""
    battle = state.laid.battle
    assert battle is not None
    for n, seat in enumerate(battle.sides):
        if seat != CORTEZ and 0 not in battle.dice:
            state = spend(state, seat, "defence" if n else "attack", "battle")
    return after_battle(replace(state, board=replace(state.laid, battle=None)))
