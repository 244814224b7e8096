"""What a buyer's purchase would bring: lanes, crowds, porters, governors and the ambassador.

Every porter and governor between vendor and buyer acts once, the one nearest to the vendor first; when the tokens run
out the rest do nothing (ruling A12).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from companion.games.market.rules.board import AMBASSADOR, FIRST_CROWD, FIRST_GOVERNOR, FIRST_PORTER, LANES
from companion.games.market.rules.state import State

_LOOK = {side: tuple(itemgetter(*lane) for lane in lanes) for side, lanes in LANES.items()}


class Deal(NamedTuple):
    """A purchase that can be made, and all that it does.

    `vendor` is the commodity bought; of the tokens `taken` porters put `returned` back and governors bring `to_king`
    to the king. `args` are the arguments of its move.
    """

    lane: int
    depth: int
    vendor: int
    taken: int
    returned: int
    to_king: int
    keeps_coin: bool
    args: tuple[int, ...]

    @property
    def brings(self) -> int:
        """How many tokens the buyer keeps."""
        return self.taken - self.returned - self.to_king


class Refused(NamedTuple):
    """Why a buyer cannot buy at a place: a code of a refusal."""

    code: str


def deals(state: State, seat: int) -> list[Deal]:
    """Return every purchase that a seat could make with its coins, in the order of their moves."""
    found: list[Deal] = []
    market, coins = state.market, state.coins
    buyer = 4 * seat - 1
    for lane, look in enumerate(_LOOK[state.seats[seat]]):
        buyer += 1
        if not coins[buyer]:
            continue
        for depth, vendor, tolls in _open(look(market)):
            taken = state.vendors[vendor]
            if taken and (not state.counts[buyer] or state.goods[buyer] == vendor):
                if tolls:
                    found += _tolled(state, lane, depth, vendor, taken, tolls)
                else:
                    found.append(Deal(lane, depth, vendor, taken, 0, 0, False, (lane, depth)))
    return found


@lru_cache(maxsize=10_000)
def _open(lane: tuple[int, ...]) -> tuple[tuple[int, int, tuple[int, ...]], ...]:
    """Return the vendors of a lane with no crowd before them: depth, commodity, and the tolls from the buyer out."""
    found = []
    tolls: tuple[int, ...] = ()
    for depth, tile in enumerate(lane):
        if tile < FIRST_CROWD:
            found.append((depth, tile, tolls))
        elif tile < FIRST_PORTER:
            break
        elif tile <= AMBASSADOR:
            tolls = (*tolls, tile)
    return tuple(found)


def deal(state: State, seat: int, args: Sequence[int]) -> Deal | Refused:
    """Return the purchase that a move's arguments name, or why it cannot be made; they are whole numbers.

    Lane and depth are from 0 to 3; the third, where there is one, is how many tokens the governors take.
    """
    lane, depth = args[:2]
    buyer, cells = 4 * seat + lane, LANES[state.seats[seat]][lane]
    between = [state.market[cell] for cell in cells[:depth]]
    vendor = state.market[cells[depth]]
    if not state.coins[buyer]:
        return Refused("no_coin")
    if vendor >= FIRST_CROWD:
        return Refused("no_vendor")
    if any(FIRST_CROWD <= tile < FIRST_PORTER for tile in between):
        return Refused("crowd")
    if not state.vendors[vendor]:
        return Refused("empty_vendor")
    if state.counts[buyer] and state.goods[buyer] != vendor:
        return Refused("other_commodity")
    tolls = tuple(tile for tile in between if FIRST_PORTER <= tile <= AMBASSADOR)
    possible = _tolled(state, lane, depth, vendor, state.vendors[vendor], tolls)
    if not possible:
        return Refused("changes_nothing")
    for each in possible:
        if each.args == tuple(args):
            return each
    return Refused("no_such_toll")


def _tolled(state: State, lane: int, depth: int, vendor: int, taken: int, tolls: tuple[int, ...]) -> list[Deal]:
    """Return the ways to buy past some tiles, given from the buyer outward: one, or with `toll_order` choice several.

    Without any that changes the game there is none: it could be made again and again (ruling A13).
    """
    keeps = AMBASSADOR in tolls
    governing = [tile >= FIRST_GOVERNOR for tile in reversed(tolls) if tile < AMBASSADOR]
    if state.rules.toll_stack == "once_per_kind":
        governing = [each for n, each in enumerate(governing) if each not in governing[:n]]
    governors = sum(governing)
    porters = len(governing) - governors
    if taken >= porters + governors or state.rules.toll_order == "path":
        ways = [sum(governing[:taken])]
        named = False
    else:
        ways = list(range(max(0, taken - porters), min(governors, taken) + 1))
        named = len(ways) > 1
    found = []
    for to_king in ways:
        returned = min(taken, porters + governors) - to_king
        if not (keeps and returned == taken):
            args = (lane, depth, to_king) if named else (lane, depth)
            found.append(Deal(lane, depth, vendor, taken, returned, to_king, keeps, args))
    return found
