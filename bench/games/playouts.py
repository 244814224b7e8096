"""How fast the rules are: random playouts of every game beside python-chess, and the cost of views and regions.

Everything runs in one process; every game folder takes part.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import chess

from bench.tools.figures import Chapter, Row, spread
from bench.tools.programs import BenchError
from companion import web
from companion.games import registry
from companion.games.kit import CHANCE, Game, Refusal, Seat
from companion.model.entries import Action, Begin, Sit
from companion.model.table import Charter, Table
from companion.web.rendering.renderer import Renderer
from companion.web.rendering.texts import Library
from companion.web.view_models import seat as handheld
from companion.web.view_models.table import Audience

USUAL = 3.0
LEAST = {"siege": 1.0}
"""How many times python-chess's plies a game should make, where it is not `USUAL`."""

SLICE_S = 0.1
"""Seconds of play before the other side's turn, so that both meet the same load on the machine."""

LONGEST = 5_000
"""Plies after which a playout is abandoned; house rules may make a game endless."""

LOOKED_AT = 0.05
"""How many states of a playout are looked at, for what a view costs."""

CHANGES = 150
"""Moves of a table after which its changed regions are painted."""

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Field:
    """One game to be played out: its preset and its number of players."""

    game: Game[Any]
    preset: str
    seats: tuple[Seat, ...]

    @property
    def title(self) -> str:
        """What it is called among the figures."""
        return f"{self.game.name} {self.preset}, {len(self.seats)} seats"

    def options(self) -> dict[str, Any]:
        """Return every option with its value."""
        return {option.key: option.default for option in self.game.options} | dict(self.game.presets[self.preset])


def measure(seconds: float) -> Chapter:
    """Play every game for some seconds, python-chess as long in between, then look at views and regions."""
    games = registry.load()
    fields = _fields([*games.values()])
    rows: list[Row] = []
    for field in fields:
        ours, peer = _beside_chess(field, seconds)
        least = LEAST.get(field.game.name, USUAL) * peer
        rows.append(Row(f"{field.title}: plies", "1/s", ours, peer, least, more=True))
    rows += [Row(f"{field.title}: a view, median", "us", spread(_views(field)).median) for field in _largest(fields)]
    for field in _largest(fields):
        if listings := list(_listings(field)):
            whole, one = zip(*listings, strict=True)
            rows.append(Row(f"{field.title}: all legal moves of a seat, median", "us", spread(whole).median))
            rows.append(Row(f"{field.title}: the choices of one piece or kind, median", "us", spread(one).median))
    for field in _largest([field for field in fields if field.game is games.get(field.game.name)]):
        painted = list(_painted(field, games))
        times, sizes = spread(each[1] for each in painted), spread(each[2] for each in painted)
        rows += [
            Row(f"{field.title}: a changed region painted, median", "us", times.median),
            Row(f"{field.title}: a changed region painted, p99", "us", times.p99),
            Row(f"{field.title}: a changed region, median", "bytes", sizes.median),
            Row(f"{field.title}: a changed region, largest", "bytes", sizes.worst),
        ]
    return Chapter(
        "Playouts beside python-chess",
        tuple(rows),
        "Random moves from the full legal list at every step, dice and cards among them;"
        f" python-chess {chess.__version__} plays random games the same way, in turns of {SLICE_S:g} s with ours."
        f" Processor time counts, {seconds:g} s a side. A view is what the first seat may know in states of such"
        " playouts. A region is painted with the page's own templates for the first seat's phone, whenever one of"
        f" {CHANGES} moves changed it.",
    )


def _fields(games: Sequence[Game[Any]]) -> list[Field]:
    """Return every preset of every game at its smallest and its largest table."""
    return [
        Field(game, preset, game.seatings[players])
        for game in games
        for preset in game.presets
        for players in sorted({min(game.seatings), max(game.seatings)})
    ]


def _largest(fields: Sequence[Field]) -> list[Field]:
    """Return the field with the most seats of each game and preset."""
    return [field for field in fields if len(field.seats) == max(field.game.seatings)]


def _beside_chess(field: Field, seconds: float) -> tuple[float, float]:
    """Return the plies that a game and python-chess make in a second of processor time."""
    ours, chess_ = _plies(_playout(field)), _plies(_chess())
    made, spent = [0, 0], [0.0, 0.0]
    while min(spent) < seconds:
        for n, plies in enumerate((ours, chess_)):
            began = time.process_time()
            while (now := time.process_time()) - began < SLICE_S:
                made[n] += next(plies)
            spent[n] += now - began
    return made[0] / spent[0], made[1] / spent[1]


def _plies(playouts: Iterator[Any]) -> Iterator[int]:
    """Yield how many plies were made, a handful at a time: reading the clock must not be what is measured."""
    while True:
        for _ in range(20):
            next(playouts)
        yield 20


def _playout(field: Field) -> Iterator[Any]:
    """Play one random game after another, and yield each state."""
    whims = random.Random(1)
    game, options = field.game, field.options()
    while True:
        state = game.rules.setup(options, field.seats)
        for _ in range(LONGEST):
            acting = game.rules.to_act(state)
            if not acting:
                break
            seat = acting[0] if len(acting) == 1 else whims.choice(acting)
            state = game.rules.play(state, seat, whims.choice(game.rules.moves(state, seat)))
            yield state


def _chess() -> Iterator[chess.Board]:
    whims = random.Random(1)
    while True:
        board = chess.Board()
        while not board.is_game_over():
            board.push(whims.choice(list(board.legal_moves)))
            yield board


def _views(field: Field) -> Iterator[float]:
    """Yield what views of one playout cost, in microseconds."""
    whims = random.Random(2)
    playout = _playout(field)
    for state in (next(playout) for _ in range(2_000)):
        if whims.random() < LOOKED_AT:
            yield _timed(partial(field.game.page.view, state, field.seats[0]))[0]


def _listings(field: Field) -> Iterator[tuple[float, float]]:
    """Yield what all legal moves of a seat cost, and one level of its choices below the first, in microseconds.

    Each state follows another one, so that no list is remembered of the state itself.
    """
    whims = random.Random(4)
    playout = _playout(field)
    for state in [next(playout) for _ in range(4_000)]:
        seats = [seat for seat in field.game.rules.to_act(state) if seat != CHANCE]
        if not seats or whims.random() > LOOKED_AT:
            continue
        began = time.perf_counter()
        field.game.rules.moves(state, seats[0])
        took = time.perf_counter() - began
        deeper = [choice.facts["pick"] for choice in field.game.rules.choices(state, seats[0]) if choice.move is None]
        if deeper:
            picked = (whims.choice(deeper),)
            yield took * 1e6, _timed(partial(field.game.rules.choices, state, seats[0], picked))[0]


def _painted(field: Field, games: Mapping[str, Game[Any]]) -> Iterator[tuple[str, float, int]]:
    """Yield each region that a random move changed: its name, the microseconds of its painting, its bytes."""
    opening = _table(field)
    folders = {name: registry.folder(game) for name, game in games.items()}
    texts = Library(Path(web.__file__).parent / "texts", {name: folder / "texts" for name, folder in folders.items()})
    seat = field.seats[0]
    paint = Renderer(texts, folders, lambda route, **_: f"/{route}").of_table(
        opening, Audience("en", "phone", (seat,))
    )
    before: Mapping[str, Any] = {}
    for table in _moved(opening):
        regions = table.game.page.regions(handheld.page(table, (seat,)))
        for name, slice_ in regions.items():
            if before and before.get(name) != slice_:
                micros, html = _timed(partial(paint, name, slice_), times=1)  # what is shown again is kept
                yield name, micros, len(html.encode())
        before = regions


def _table(field: Field) -> Table:
    """Return a table of one game at which everybody sits and the game has begun."""
    game = field.game
    charter = Charter(
        "bench", "BENCHS", "Bench", game.name, game.rules_version, field.preset, field.options(), field.seats, NOW
    )
    table = Table.opened(charter, game)
    for seat in field.seats:
        table = _entered(table, seat, Sit(seat, seat.title()))
    return _entered(table, field.seats[0], Begin())


def _moved(table: Table) -> Iterator[Table]:
    """Yield a table after each of some random moves."""
    whims = random.Random(3)
    for _ in range(CHANGES):
        acting = table.game.rules.to_act(table.state)
        if not acting:
            return
        seat = whims.choice(acting)
        table = _entered(table, seat, whims.choice(table.game.rules.moves(table.state, seat)))
        yield table


def _entered(table: Table, seat: Seat, action: Action) -> Table:
    extended = table.extended(table.entry(NOW, seat, action))
    if isinstance(extended, Refusal):
        raise BenchError(f"{action} by {seat} is refused: {extended}; expected it to stand in the table's log")
    return extended


def _timed(work: Callable[[], Any], times: int = 2) -> tuple[float, Any]:
    """Return the microseconds that some work takes, the best of some times, and its result."""
    best = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        made = work()
        best = min(best, time.perf_counter() - began)
    return best * 1e6, made
