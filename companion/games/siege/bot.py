"""The app's player: it hunts the enemy's leader and attacks where the odds are good."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from companion.games.kit import BEGINNER, STRONG, Below, Move, Skill, best_of
from companion.games.siege.rules.geometry import Grid, grid

View: TypeAlias = Mapping[str, Any]
Unit: TypeAlias = Mapping[str, Any]

LEADERS = {"aztecs": "cuauhtemoc", "spaniards": "cortez"}


class Commander(Skill, frozen=True, kw_only=True):
    """What a side goes by."""

    patience: int = 7
    """Hexes from its prey beyond which a unit marches by force."""
    guards: int = 4
    """One in so many units stays where it is, so that the leader is never alone; with 0 none does."""
    odds: int = 0
    """The least modifier of an attack on a unit."""
    hope: int = -1
    """The least modifier of an attack on the leader."""
    flight: int = 0
    """Hexes from the nearest enemy within which its leader goes elsewhere; with 0 it stays."""


PRACTISED_COMMANDER = Commander()

SKILLS = {BEGINNER: Commander(slips=10), STRONG: Commander(patience=5, odds=1, flight=2)}
"""How it plays at the other levels."""


def decide(view: View, moves: Sequence[Move], below: Below, commander: Commander | None = None) -> Move:
    """Return what the app plays; the moves are not empty."""
    names = {move.name for move in moves}
    for name, chosen in _POLICIES:
        if name in names:
            move = chosen(_Scene(view, commander or PRACTISED_COMMANDER, below), moves)
            if move is not None:
                return move
    return moves[below(len(moves))]


class _Scene:
    """A view as the player looks at it: who is whose, where the prey is."""

    def __init__(self, view: View, commander: Commander, below: Below) -> None:
        self.view, self.commander, self.below = view, commander, below
        self.side = str(view["decider"])
        self.board: Grid = grid(view["map"]["width"], view["map"]["height"])
        units = list(enumerate(view["units"]))
        self.own = [(n, unit) for n, unit in units if unit["hex"] and _of(unit) == self.side]
        self.foes = [unit for _, unit in units if unit["hex"] and _of(unit) != self.side and unit["people"] != "boat"]
        prey = LEADERS["spaniards" if self.side == "aztecs" else "aztecs"]
        self.prey = next((unit["hex"] for unit in self.foes if unit["people"] == prey), "")

    def distance(self, one: str, other: str) -> int:
        return self.board.distance(self.board.numbers[one], self.board.numbers[other])

    def to_prey(self, name: str) -> int:
        return self.distance(name, self.prey) if self.prey else 0

    def danger(self, name: str) -> int:
        return min((self.distance(name, foe["hex"]) for foe in self.foes), default=99)

    def hunts(self, number: int, unit: Unit) -> bool:
        """Return whether a unit goes after the enemy's leader: no leader, no boat, nobody in rout, no guard."""
        fit = unit["people"] not in (*LEADERS.values(), "boat") and not unit["routed"]
        return bool(fit and (not self.commander.guards or number % self.commander.guards))


def _of(unit: Unit) -> str:
    return "aztecs" if unit["people"] in ("cuauhtemoc", "warrior") else "spaniards"


def _named(moves: Sequence[Move], name: str) -> list[Move]:
    return [move for move in moves if move.name == name]


def _first(name: str) -> Callable[[_Scene, Sequence[Move]], Move | None]:
    return lambda _scene, moves: next(iter(_named(moves, name)), None)


def _march(scene: _Scene, moves: Sequence[Move]) -> Move | None:
    """Go on with the unit on its way while that brings it nearer; else send out the next, the foremost first."""
    active = scene.view["active"]
    if active is not None and (steps := _named(moves, "go")):
        unit = scene.view["units"][active]
        fleeing = scene.commander.flight and unit["people"] in LEADERS.values()
        if fleeing and (refuge := _refuge(scene, steps, unit["hex"])):
            return refuge
        reach = scene.view["reach"]
        best = best_of(steps, lambda move: (-scene.to_prey(str(move.args[0])), -reach[move.args[0]]), scene.below)
        if scene.hunts(active, unit) and scene.to_prey(str(best.args[0])) < scene.to_prey(unit["hex"]):
            return best
    fresh = {move.args[0] for move in _named(moves, "march")}
    for n, unit in scene.own:
        if n in fresh and unit["people"] in LEADERS.values() and scene.danger(unit["hex"]) <= scene.commander.flight:
            return Move("march", (n,))
    waiting = [
        (n, unit) for n, unit in scene.own if n in fresh and scene.hunts(n, unit) and scene.to_prey(unit["hex"]) > 1
    ]
    if not waiting:
        return Move("done")
    number, unit = best_of(waiting, lambda each: -scene.to_prey(each[1]["hex"]), scene.below)
    return Move("force" if scene.to_prey(unit["hex"]) > scene.commander.patience else "march", (number,))


def _refuge(scene: _Scene, steps: Sequence[Move], here: str) -> Move | None:
    """Return the step that leads a leader farthest from its enemies, or None if it is farthest already."""
    best = best_of(steps, lambda move: scene.danger(str(move.args[0])), scene.below)
    return best if scene.danger(str(best.args[0])) > scene.danger(here) else None


def _attack(scene: _Scene, _moves: Sequence[Move]) -> Move | None:
    """Attack the leader whenever there is any hope, others with even odds or better; a leader does not attack."""
    units, commander = scene.view["units"], scene.commander
    found = []
    for each in scene.view["attacks"]:
        hunting = each["hex"] == scene.prey
        if units[each["unit"]]["people"] in LEADERS.values() or each["modifier"] < (
            commander.hope if hunting else commander.odds
        ):
            continue
        found.append((hunting, each["modifier"], Move("attack", (each["unit"], each["hex"]))))
    if not found:
        return Move("done")
    return best_of(found, lambda each: each[:2], scene.below)[2]


def _advance(scene: _Scene, moves: Sequence[Move]) -> Move | None:
    here = scene.view["units"][scene.view["due"]["unit"]]
    if here["people"] in LEADERS.values():
        return Move("hold")
    best = best_of(_named(moves, "advance"), lambda move: -scene.to_prey(str(move.args[0])), scene.below)
    return best if scene.to_prey(str(best.args[0])) < scene.to_prey(here["hex"]) else Move("hold")


def _retreat(scene: _Scene, moves: Sequence[Move]) -> Move | None:
    return best_of(_named(moves, "retreat"), lambda move: scene.danger(str(move.args[0])), scene.below)


def _succumb(scene: _Scene, moves: Sequence[Move]) -> Move | None:
    """Lose a unit in rout first, then the one farthest from the prey; the leader last."""
    units = scene.view["units"]

    def worth(move: Move) -> tuple[bool, bool, int]:
        unit = units[int(move.args[0])]
        return unit["people"] not in LEADERS.values(), unit["routed"], scene.to_prey(unit["hex"])

    return best_of(_named(moves, "succumb"), worth, scene.below)


_POLICIES: Sequence[tuple[str, Callable[[_Scene, Sequence[Move]], Move | None]]] = (
    ("rest", _first("rest")),
    ("ready", _first("ready")),
    ("succumb", _succumb),
    ("retreat", _retreat),
    ("advance", _advance),
    ("hold", _first("hold")),
    ("attack", _attack),
    ("march", _march),
    ("go", _march),
    ("done", _first("done")),
)
"""What to do by the moves that there are, the first that is open."""
