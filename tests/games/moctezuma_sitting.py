"""A sitting of Moctezuma's Revenge for tests: moves in the words of the table, and faces that a test deals."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

from companion.games.kit import CHANCE, Arg, Chance, Line, Move, Refusal, Seat, Value, outcome
from companion.games.moctezuma import GAME
from companion.games.moctezuma.rules.state import State


def all_options(**chosen: Value) -> dict[str, Value]:
    """Return the game's options at their defaults but for what was chosen."""
    return {option.key: option.default for option in GAME.options} | chosen


class Sitting:
    """One game, as its table plays it; red begins."""

    def __init__(self, players: int = 2, first: Seat = "red", **chosen: Value) -> None:
        self.options = all_options(**chosen)
        self.seats = GAME.seatings[players]
        self.state: State = GAME.rules.setup(self.options, self.seats)
        self.lines: list[Line] = []
        if self.state.stage == "first":
            self.deal("first", first)

    def do(self, name: str, *args: Arg, by: Seat | None = None) -> Sitting:
        """Make a move, by the seat on turn unless another is named."""
        seat, move = by or self.state.seat, Move(name, args)
        after = GAME.rules.play(self.state, seat, move)
        assert not isinstance(after, Refusal), f"{seat}'s {move} is refused: {after}"
        self.lines = GAME.page.log(self.state, seat, move, after)
        self.state = after
        return self

    def deal(self, name: str, *args: Arg) -> Sitting:
        """Let chance bring this outcome."""
        return self.do(name, *args, by=CHANCE)

    def dealt(self, *found: str | int) -> Sitting:
        """Let chance bring cards or faces one after another: worths, names, ``safe`` and ``cursed``."""
        for each in found:
            kind = "treasure" if isinstance(each, int) else "chit" if each in ("safe", "cursed") else "name"
            self.deal(kind, each)
        return self

    def refused(self, name: str, *args: Any, by: Seat | None = None) -> str:
        """Try a move that must be refused; returns the code."""
        refusal = GAME.rules.play(self.state, by or self.state.seat, Move(name, args))
        assert isinstance(refusal, Refusal), f"{name} {args} was not refused"
        return refusal.code

    def peek(self, *spaces: int, faces: str) -> Sitting:
        """Look at chits, as many as a research allows: ``s`` and ``c`` are the faces that they show."""
        self.do("study", len(spaces))
        for space, face in zip(spaces, faces, strict=True):
            self.do("peek", space).dealt({"s": "safe", "c": "cursed"}[face])
        return self

    def explore(self, temple: int, n: int, *cards: str | int, keep: int) -> Sitting:
        """Walk to a temple, wherever it is, draw these cards and keep one."""
        self.put(temple).do("explore", n).dealt(*cards)
        return self.do("keep", keep)

    def put(self, place: int) -> Sitting:
        """Set the researcher on turn down somewhere, for tests that are not about walking."""
        from companion.games.kit import replace

        places = list(self.state.places)
        places[self.state.current] = place
        self.state = replace(self.state, places=tuple(places))
        return self

    def end(self, face: str = "safe") -> Sitting:
        """End the turn; a chit that is turned then shows this face, or the one that somebody has seen."""
        self.do("end_turn")
        if self.state.flipping:
            dealt = [move.args[0] for move in self.moves(CHANCE)]
            self.deal("chit", face if face in dealt else dealt[0])
        return self

    def rounds(self, n: int, face: str = "safe") -> Sitting:
        """End turns until so many chits more lie face up."""
        until = self.state.shown + n
        while self.state.shown < until:
            self.end(face)
        return self

    def last_round(self, cursed: frozenset[int] = frozenset(range(7))) -> Sitting:
        """Go on to the moment before the last chit is turned; these spaces show a curse."""
        while self.state.shown < 14:
            self.end("cursed" if self.state.shown in cursed else "safe")
        return self

    def closed(self) -> Sitting:
        """End turns until the last chit is turned."""
        while self.state.stage == "playing":
            self.end()
        return self

    def dig(self, temple: int, n: int, keep: bool = True) -> Sitting:
        """Explore, let come what sorts last, keep the best, and end the turn."""
        self.put(temple).do("explore", n)
        while self.state.drawing:
            self.do(*self.moves(CHANCE)[-1].to_json(), by=CHANCE)  # type: ignore[arg-type]  # a name, then arguments
        return self.do("keep", max(self.state.hand)).end() if keep else self

    def names(self, *names: str) -> Sitting:
        """Let the temples show their names, from the first."""
        for name in names:
            self.deal("name", name)
        return self

    def moves(self, seat: Seat | None = None) -> list[Move]:
        """Return the legal moves of a seat, by default that on turn."""
        return GAME.rules.moves(self.state, seat or self.state.seat)

    def names_of_moves(self) -> set[str]:
        """Return what kinds of moves the seat on turn has."""
        return {move.name for move in self.moves()}

    @property
    def due(self) -> Chance:
        """What chance has to bring."""
        due = GAME.rules.chance(self.state)
        assert due is not None
        return due

    def chances(self) -> dict[tuple[Arg, ...], Fraction]:
        """Return the outcomes that are due by their arguments."""
        return {move.args: probability for move, probability in self.due.outcomes.items()}

    def view(self, seat: Seat | None = None) -> Any:
        """Return what a seat or a spectator sees."""
        return GAME.page.view(self.state, seat)

    def notebook(self, seat: Seat) -> Any:
        """Return a seat's own notebook."""
        return self.view(seat)["notebook"]


def played_out(players: int, seed: str, until: int = 10_000, **chosen: Value) -> list[tuple[State, Seat, Move]]:
    """Return a random game as its states, each with the move that led to it, the opening first."""
    random = Random(seed)
    state = GAME.rules.setup(all_options(**chosen), GAME.seatings[players])
    steps: list[tuple[State, Seat, Move]] = [(state, "", Move(""))]
    while GAME.rules.to_act(state) and len(steps) < until:
        seat = GAME.rules.to_act(state)[0]
        due = GAME.rules.chance(state)
        options = [move for move in GAME.rules.moves(state, seat) if move.name != "end_turn"]
        move = outcome(due, random.randrange) if due else random.choice(options or GAME.rules.moves(state, seat))
        after = GAME.rules.play(state, seat, move)
        assert not isinstance(after, Refusal)
        state = after
        steps.append((state, seat, move))
    return steps


STANDARD_NAMES = (
    "chimalpopoca", "itzcoatl", "moctezuma_i", "axayacatl", "tizoc", "ahuitzotl", "moctezuma_ii",
    "clue", "clue", "clue",
)  # fmt: skip
