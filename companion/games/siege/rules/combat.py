"""The consequences of an attack: defeat, destruction or rout, retreats, panic, fire, the victor's step.

Each function applies one die or one decision and returns the next state; what follows is put on the agenda.
"""

from __future__ import annotations

from companion.games.kit import replace
from companion.games.siege.rules import fighting, marching
from companion.games.siege.rules.geometry import bits
from companion.games.siege.rules.roster import SIDES
from companion.games.siege.rules.state import DEAD, Outcome, State, Task, afloat, as_set, is_boat, moved, on, threat

NOTHING = -1
"""In a task, the hex that does not burn."""

DESTROYED = 2
"""The highest roll by which a defeated unit is destroyed."""
PANICS = 2
RALLIES = 5
GOES_OUT = 2


def attack(state: State, unit: int, target: int) -> State:
    """Return the state in which the die of an attack is due."""
    spent = state.spent | 1 << unit
    return replace(state, spent=spent, last_attack=state.turn, agenda=(("strike", unit, target), *state.agenda))


def struck(state: State, unit: int, target: int, n: int) -> State:
    """Return the state after the die of an attack (rulings S20, S34)."""
    modifier = sum(fighting.modifiers(state, unit, target).values())
    match fighting.verdict(n, modifier, state.rules.natural_hit == "on"):
        case "defender":
            won = replace(state, agenda=(("victory", unit), *state.agenda))
            return defeated(won, fighting.defender_of(state, target), state.at[unit])
        case "attacker":
            return defeated(state, unit, target)
    return state


def defeated(state: State, unit: int, victor: int) -> State:
    """Return the state after a unit was beaten from a hex: an empty boat sinks, of others a die decides."""
    if fighting.sinks(state, unit):
        return destroyed(state, unit)
    crew = on(state, state.at[unit])
    if state.rules.capture == "defeated" and (taken := captured(state, crew)):
        return taken
    return replace(state, agenda=(("fate", unit, victor), *state.agenda))


def fated(state: State, unit: int, victor: int, n: int) -> State:
    """Return the state after the die that destroys or routs a defeated unit (rulings S13, S18, S27, S28)."""
    here = state.at[unit]
    burn = here if state.field.housing >> here & 1 else NOTHING
    if n <= DESTROYED:
        return burnt(destroyed(state, unit), burn)
    crew = as_set(on(state, here))
    witnesses = _witnesses(state, here, crew, victor)
    tasks = (("flight", unit, victor, 1, burn), *(("panic", each, victor) for each in witnesses))
    checked = crew | as_set(tuple(witnesses))
    return replace(state, routed=state.routed | crew, checked=checked, agenda=(*tasks, *state.agenda))


def _witnesses(state: State, here: int, known: int, victor: int) -> list[int]:
    """Return the friends beside a hex that panic asks, the nearest to the victor first (ruling S35)."""
    side = state.roster.side[on(state, here)[0]]
    near = state.field.grid.around[here] & threat(state, side)
    units = [u for h in bits(near) for u in on(state, h) if not is_boat(state, u) or on(state, h) == (u,)]
    witnesses = [u for u in units if not (known | state.routed) >> u & 1]
    return sorted(witnesses, key=lambda u: (state.field.grid.distance(state.at[u], victor), u))


def panicked(state: State, unit: int, victor: int, n: int) -> State:
    """Return the state after the die for a unit that saw a neighbour rout (rulings S18, S35)."""
    if n > PANICS:
        return state
    here = state.at[unit]
    crew = as_set(on(state, here))
    tasks: list[Task] = [("flight", unit, victor, 1, NOTHING)] if state.rules.panic_move == "on" else []
    checked = state.checked | crew
    routed = replace(state, routed=state.routed | crew)
    more: list[Task] = []
    if state.rules.panic == "chain":
        witnesses = _witnesses(routed, here, checked, victor)
        more = [("panic", each, victor) for each in witnesses]
        checked |= as_set(tuple(witnesses))
    return replace(routed, checked=checked, agenda=(*tasks, *_with_panics(state.agenda, more)))


def _with_panics(agenda: tuple[Task, ...], more: list[Task]) -> tuple[Task, ...]:
    """Return an agenda in which further units decide after those that decide anyhow."""
    waiting = 0
    while waiting < len(agenda) and agenda[waiting][0] == "panic":
        waiting += 1
    return (*agenda[:waiting], *more, *agenda[waiting:])


def flown(state: State, unit: int, enemy: int, tries: int, burn: int, n: int) -> State:
    """Return the state after the 1D3 of a retreat: the owner picks a way, takes the only one, or loses the unit."""
    ends = marching.retreats(state, unit, enemy, n)
    if not ends:
        return burnt(destroyed(state, unit), burn)
    if len(ends) == 1:
        return retreated(state, unit, tries, burn, ends[0])
    return replace(state, agenda=(("retreat", unit, enemy, n, tries, burn), *state.agenda))


def retreated(state: State, unit: int, tries: int, burn: int, to: int) -> State:
    """Return the state after a retreat: still beside an enemy, a unit flees once more, then is lost (ruling S37)."""
    gone = burnt(moved(state, on(state, state.at[unit]), to), burn)
    enemy = contact(gone, unit)
    if enemy is None or state.rules.rout_contact != "now":
        return gone
    if not tries:
        return destroyed(gone, unit)
    return replace(gone, agenda=(("flight", unit, enemy, tries - 1, NOTHING), *gone.agenda))


def contact(state: State, unit: int) -> int | None:
    """Return the hex of an enemy beside a unit, of several the one with the lowest number, or None."""
    foes = state.field.grid.around[state.at[unit]] & threat(state, 1 - state.roster.side[unit])
    return min(bits(foes), key=lambda h: state.at.index(h)) if foes else None


def destroyed(state: State, unit: int) -> State:
    """Return the state without a unit; on the water its boat and its riders go down together (ruling S13)."""
    crew = on(state, state.at[unit]) if afloat(state, unit) else (unit,)
    gone = moved(state, crew, DEAD)
    return captured(gone, crew) or replace(gone, routed=gone.routed & ~as_set(crew))


def captured(state: State, units: tuple[int, ...]) -> State | None:
    """Return the end of the siege where a leader is among the units that were lost (ruling S4), or None."""
    for side in (0, 1):
        if state.roster.leader[side] in units:
            return replace(state, agenda=(), outcome=Outcome("captured", SIDES[1 - side]))
    return None


def burnt(state: State, hexagon: int) -> State:
    """Return the state with a hex on fire (rulings S28, S29)."""
    return state if hexagon == NOTHING else replace(state, fires=state.fires | 1 << hexagon)


def advances(state: State, unit: int) -> list[int]:
    """Return where a victor may step to: an adjacent space, at any cost (rulings S25, S39)."""
    if state.at[unit] < 0 or (state.rules.advance == "once" and state.advanced >> unit & 1):
        return []
    side, field, here = state.roster.side[unit], state.field, state.at[unit]
    near = field.grid.around[here] & ~state.fires & ~fighting.targets(state, side)
    if afloat(state, unit):
        return list(bits(near & field.water & ~state.hulls))
    near &= ~field.water & ~state.held[side]
    if state.rules.garrison == "always" and side == 0 and not marching.may_leave(state, unit):
        near &= field.quarter_hexes[field.quarter_of[here]]
    return list(bits(near))


def advanced(state: State, unit: int, to: int) -> State:
    """Return the state after a victor's step; it may attack again."""
    gone = moved(state, on(state, state.at[unit]), to)
    return replace(gone, spent=gone.spent & ~(1 << unit), advanced=gone.advanced | 1 << unit)


def rally_bonus(state: State, unit: int) -> int:
    """Return what is added to a rally's roll, by a house rule the attack's bonuses too (rulings S22, S30, S42)."""
    bonus = int(fighting.led(state, unit))
    if state.rules.roll_bonus == "all":
        bonus += int(fighting.is_conquistador(state, unit)) - int(afloat(state, unit))
    return bonus


def rallied(state: State, unit: int, n: int) -> State:
    """Return the state after the die of a rally."""
    if n + rally_bonus(state, unit) < RALLIES:
        return state
    return replace(state, routed=state.routed & ~(1 << unit))
