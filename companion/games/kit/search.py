"""An information-set tree search: what a seat cannot know is drawn again for each of many playthroughs.

After Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search" (2012), with one tree over what the
searching seat sees. A playthrough goes on by a game's own policy from the edge of the tree, and is judged where it
stops. Nodes widen while they are visited (Coulom 2007). Of the moves at the root the worse half is dropped again and
again (Karnin, Koren and Somekh 2013), since only the move that is made counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import ceil, log, log2, sqrt
from typing import Generic, TypeVar

from msgspec import Struct, field

from companion.games.kit.chance import Below, Chance, outcome
from companion.games.kit.moves import CHANCE, Move, Refusal, Seat

S = TypeVar("S")

EXPLORING = 0.15
"""The weight of exploration against the mean reward, which is between 0 and 1."""

SCARCE = 4
"""Visits below which a node follows the policy."""

FINE = 1 << 40
"""The resolution of random numbers that several moves share."""

LONGEST = 300
"""Moves after which a playthrough is judged, wherever it is."""


def _same(state: S, seat: Seat, below: Below) -> S:
    return state


class Search(Struct, Generic[S], frozen=True, kw_only=True):
    """A game as the search sees it: its rules, a policy for all seats, and an evaluation."""

    to_act: Callable[[S], tuple[Seat, ...]]
    """As in `Rules`: the seats that have a move now."""
    moves: Callable[[S, Seat], Sequence[Move]]
    """As in `Rules`: the legal moves of a seat."""
    play: Callable[[S, Seat, Move], S | Refusal]
    """As in `Rules`: the state after a move."""
    chance: Callable[[S], Chance | None]
    """As in `Rules`: what is due from chance."""
    turn: Callable[[S], int]
    """As in `Rules`: the number of the turn."""
    resample: Callable[[S, Seat, Below], S] = _same
    """As in `Rules`; without it nothing is hidden."""
    policy: Callable[[S, Seat, Sequence[Move], Below], Move]
    """What a seat plays beyond the tree."""
    ranked: Callable[[S, Seat, Sequence[Move], Below], Sequence[Move]]
    """The moves of a seat that deserve a look, the policy's first and no other twice."""
    rewards: Callable[[S], Mapping[Seat, float]]
    """From 0 to 1, how good a state is for each seat."""
    turns: int
    """How many turns a playthrough lasts."""

    def best(self, state: S, seat: Seat, moves: Sequence[Move], below: Below, playthroughs: int) -> Move:
        """Return the best move of a seat after a number of playthroughs.

        The first playthrough of each move has the same dice as the first of every other, and so on, however often its
        players draw between moves that are worth the same.
        """
        left = list(self.ranked(state, seat, moves, below))
        root = {move: _Node() for move in left}
        dice: defaultdict[int, list[int]] = defaultdict(list)
        draws: defaultdict[int, list[int]] = defaultdict(list)
        rounds = max(1, ceil(log2(len(left))))
        while len(left) > 1:
            for _ in range(max(1, playthroughs // (rounds * len(left)))):
                for move in left:
                    n = root[move].visits
                    self._try(root[move], state, seat, move, _again(dice[n], below), _again(draws[n], below))
            left.sort(key=lambda move: -root[move].mean)  # stable: of equal moves the policy's stays first
            del left[ceil(len(left) / 2) :]
        return left[0]

    def _try(self, node: _Node, state: S, seat: Seat, move: Move, dice: Below, below: Below) -> None:
        """Play a move once and continue: down the tree, which grows by a node, then by the policy."""
        after = self._after(self.resample(state, seat, dice), seat, move)
        path, inside, last = [(seat, node)], True, self.turn(state) + self.turns
        for _ in range(LONGEST):
            acting = self.to_act(after)
            if not acting or self.turn(after) >= last:
                break
            due = self.chance(after)
            if due is not None:
                after = self._after(after, CHANCE, outcome(due, dice))
                continue
            listed = self.moves(after, acting[0])
            picked = self._picked(node, after, acting[0], listed, below) if inside else None
            if picked:
                inside = picked in node.after
                node = node.after.setdefault(picked, _Node())
                path.append((acting[0], node))
            after = self._after(after, acting[0], picked or self.policy(after, acting[0], listed, below))
        rewards = self.rewards(after)
        for by, each in path:
            each.visits += 1
            each.total += rewards[by]

    def _picked(self, node: _Node, state: S, seat: Seat, moves: Sequence[Move], below: Below) -> Move:
        """Return a move not tried yet while a node widens, else the one with the highest confidence bound."""
        if node.visits < SCARCE:
            return self.policy(state, seat, moves, below)
        able = list(self.ranked(state, seat, moves, below))[: int(sqrt(node.visits))]
        fresh = next((move for move in able if move not in node.after), None)
        if fresh is not None:
            return fresh
        for move in able:
            node.after[move].able += 1
        return max(able, key=lambda move: node.after[move].bound)

    def _after(self, state: S, seat: Seat, move: Move) -> S:
        after = self.play(state, seat, move)
        assert not isinstance(after, Refusal)  # the move was listed
        return after


def _again(drawn: list[int], below: Below) -> Below:
    """Return a source of chance that brings what was drawn before, in the same order, and goes on from there."""
    at = 0

    def draw(n: int) -> int:
        nonlocal at
        if at == len(drawn):
            drawn.append(below(FINE))
        at += 1
        return drawn[at - 1] * n // FINE

    return draw


class _Node(Struct):
    """The statistics of a move: how often it was made, how often it was available, the rewards of its player."""

    visits: int = 0
    able: int = 0
    total: float = 0.0
    after: dict[Move, _Node] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        return self.total / self.visits

    @property
    def bound(self) -> float:
        return self.mean + EXPLORING * sqrt(log(self.able + 1) / self.visits)
