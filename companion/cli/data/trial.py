"""Tries a game of one's own for some seconds: its words, its templates, and games at random and by its bot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

import jinja2
import msgspec
from jinja2 import nodes

from companion.adapters.news import Region, RenderedPage
from companion.games import registry
from companion.games.kit import CHANCE, TEMPLE, Game, Move, Refusal, Seat, TokenDrop, outcome
from companion.games.standstill import led_by, standstill
from companion.model.entries import Begin
from companion.model.table import COMPANION, Charter, Table
from companion.web.rendering import texts
from companion.web.rendering.renderer import LAYOUTS, SHELL, SHELL_REGIONS, Renderer
from companion.web.view_models import seat as handheld
from companion.web.view_models.table import Audience
from templo.shrines import LEFT_TO_RIGHT

GAMES = 20
"""Half of them are played at random, half by the game's bot."""

LONGEST = 5_000
"""Moves after which a game should be over."""

LOOKED_AT = 0.1
"""In so many of its states the pages are drawn, besides the first and the last."""

TOKENS = 0.1
"""How often a token falls instead of a move."""

AT = datetime(2026, 1, 1, tzinfo=UTC)


class Fault(NamedTuple):
    """What is wrong, and where."""

    file: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


Report: TypeAlias = Callable[[BaseException | str, Path], None]
"""Takes a fault: an error that names its own place in the folder, or words; and the file where it has no place."""


def text_faults(folder: Path) -> Iterator[Fault]:
    """Yield each text that only one language has, or that has other plural forms in the other."""
    words = {language: texts.load(folder / "texts", language) for language in texts.LANGUAGES}
    for one, other in (texts.LANGUAGES, texts.LANGUAGES[::-1]):
        for key, text in words[one].items():
            if key not in words[other]:
                yield Fault(*_place_of(folder, one, key), f"{key!r} has no words in {other!r}")
                continue
            forms, others = (
                frozenset(each) if isinstance(each, Mapping) else None for each in (text, words[other][key])
            )
            if one < other and forms != others:
                yield Fault(*_place_of(folder, one, key), f"{key!r} has other plural forms in {other!r}")


def words_of(folder: Path) -> texts.Texts:
    """Return the words of a game's folder; raises `TextError`."""
    return texts.Library(SHELL / "texts", {folder.name: folder / "texts"}).words(texts.LANGUAGES[0], folder.name)


def template_faults(folder: Path, words: texts.Texts | None) -> Iterator[Fault]:
    """Yield each template that cannot be read, and each text that one names and that is none of the `words`."""
    for path in sorted((folder / "templates").rglob("*.html")):
        try:
            tree = jinja2.Environment(autoescape=True).parse(path.read_text(encoding="utf-8"))
        except jinja2.TemplateSyntaxError as error:
            yield Fault(path, error.lineno, error.message or "")
        except (OSError, ValueError) as error:
            yield Fault(path, 1, str(error))
        else:
            for call in tree.find_all(nodes.Call):
                named = call.node.name if isinstance(call.node, nodes.Name) and call.args else ""
                key = call.args[0].value if named == "t" and isinstance(call.args[0], nodes.Const) else None
                if words and isinstance(key, str) and not words.has(key):
                    yield Fault(path, call.lineno, f"no words for {key!r}")


def played_faults(game: Game[Any]) -> list[Fault]:
    """Return what goes wrong in some games of every preset and number of players, each fault once."""
    folder, found = registry.folder(game), dict[tuple[Path, int, str], Fault]()

    def report(fault: BaseException | str, file: Path) -> None:
        at = registry.place(fault, folder) if isinstance(fault, BaseException) else None
        named = isinstance(fault, str | texts.MissingText | Standing)
        words = " ".join((str(fault) if named else f"{type(fault).__name__}: {fault}").split())
        each = Fault(*(at or (file, 1)), words)
        found.setdefault((each.file, each.line, re.sub(r"\d+|, after move.*", "", words)), each)

    tables = [(preset, seats) for preset in game.presets for seats in game.seatings.values()]
    pages = Pages(game, folder, report)
    for n in range(max(GAMES, 2 * len(tables))):
        preset, seats = tables[n // 2 % len(tables)]
        random = Random(f"check {n}")  # noqa: S311  # the same games in every check
        try:
            _play(game, preset, seats, random, pages, bot=n % 2 == 1)
        except Exception as error:  # a game from elsewhere may raise anything
            report(error, folder / "__init__.py")
    return list(found.values())


class Standing(Exception):
    """A game that does not go on."""

    def __str__(self) -> str:
        return str(self.args[0])


def _play(game: Game[Any], preset: str, seats: Sequence[Seat], random: Random, pages: Pages, *, bot: bool) -> None:
    """Play one game and draw pages of it."""
    options = {option.key: option.default for option in game.options} | dict(game.presets[preset])
    charter = Charter("t", "ABCDEF", "t", game.name, game.rules_version, preset, options, tuple(seats), AT)
    table = Table.opened(charter, game)
    table = _after(table, table.entry(AT, COMPANION, Begin()))
    moves: list[Move] = []
    while game.rules.on_turn(table.state) is not None:
        if not moves or random.random() < LOOKED_AT:
            pages.draw(table)
        if len(moves) == LONGEST:
            pages.report(f"a game is not over, {led_by(moves)}", pages.rules)
            return
        if stuck := standstill(game, table.state, moves):
            pages.report(stuck, pages.rules)
            return
        if game.temple and random.random() < TOKENS:
            drop = TokenDrop(f"{len(moves):032x}", random.choice(LEFT_TO_RIGHT), random.choice(("", "", "jam")))
            seat, move = TEMPLE, game.temple.drop(table.state, drop)
        else:
            seat, move = _chosen(game, table.state, random, moves, bot=bot)
        before = table.state
        table = _after(table, table.entry(AT, seat, move))
        moves.append(move)
        pages.read(before, seat, move, table.state)
    pages.draw(table)
    pages.read_end(table)


def _after(table: Table, entry: Any) -> Table:
    after = table.extended(entry)
    if isinstance(after, Refusal):
        raise ValueError(f"{entry.action} by {entry.by} is listed, but refused with {after.code}")
    return after


def _chosen(game: Game[Any], state: Any, random: Random, made: Sequence[Move], *, bot: bool) -> tuple[Seat, Move]:
    """Return who moves and how: chance as it falls, else the bot, or any player anything."""
    if due := game.rules.chance(state):
        return CHANCE, outcome(due, random.randrange)
    acting = game.rules.to_act(state)
    for seat in acting if bot else ():
        moves = [move for move in game.rules.moves(state, seat) if move.name not in game.chores]
        move = game.decide(game.page.view(state, seat), moves, random.randrange) if moves else None
        if move is not None:
            if move not in moves:
                raise ValueError(f"the bot chose {move!r} for {seat}; expected one of the moves that it was given")
            return seat, move
    if bot:
        raise Standing(f"the bot waits for ever: it returns None for {acting[0]}, {led_by(made)}")
    seat = random.choice([seat for seat in acting if game.rules.moves(state, seat)])
    return seat, random.choice(game.rules.moves(state, seat))


class Pages:
    """Draws the pages of tables of one game, and reads its words in every language."""

    def __init__(self, game: Game[Any], folder: Path, report: Report) -> None:
        self._game, self._folder, self.report = game, folder, report
        self._library = texts.Library(SHELL / "texts", {game.name: folder / "texts"})
        self._renderer = Renderer(self._library, {game.name: folder}, lambda *_, **__: "/")
        self._said = set[object]()
        self._placed = set[tuple[str, str]]()
        self.rules = next(
            (each for each in (folder / "rules.py", folder / "rules/__init__.py") if each.is_file()),
            folder / "__init__.py",
        )

    def draw(self, table: Table) -> None:
        """Draw every region of the game for every seat and for all, and once each layout, in every language."""
        for language in texts.LANGUAGES:
            for seats in (*((seat,) for seat in table.seats), ()):
                layout = LAYOUTS[0] if seats else LAYOUTS[1]
                audience = Audience(language, layout, seats)
                try:
                    self._draw(table, audience)
                except texts.MissingText as error:
                    self.report(error, self._texts(language))
                except Exception as error:  # a template may raise anything
                    self.report(error, self._folder / "templates" / "play" / f"{layout}.html")

    def _draw(self, table: Table, audience: Audience) -> None:
        view = handheld.page(table, audience.seats)
        shown = self._game.page.view(table.state, next(iter(audience.seats), None))
        if msgspec.json.decode(msgspec.json.encode(shown, enc_hook=dict)) != shown:
            raise ValueError(f"the view is not plain JSON, with lists and not tuples: {shown}")
        render = self._renderer.of_table(table, audience)
        regions = {name: render(name, slice_) for name, slice_ in self._game.page.regions(view).items()}
        if (audience.language, audience.layout) in self._placed:
            return
        self._placed.add((audience.language, audience.layout))
        placed = dict.fromkeys(SHELL_REGIONS, "") | regions
        page = RenderedPage("", 0, table.version, "", {name: Region(html, 0) for name, html in placed.items()})
        self._renderer.layout(table, audience, page, lambda: "", {})

    def read(self, before: Any, by: Seat, move: Move, after: Any) -> None:
        """Read the lines of the log about a move."""
        for line in self._game.page.log(before, by, move, after):
            self._read(f"log.{line.code}", line.facts)

    def read_end(self, table: Table) -> None:
        """Read how a game ended."""
        end = self._game.rules.result(table.state)
        if end is None:
            self.report("nobody is on turn, but result() returns None", self.rules)
            return
        key = f"ending.why.{end.kind}"
        for language in texts.LANGUAGES:
            words = self._library.words(language, self._game.name)
            if words.has(key) and len(end.winners) != 1 and "{seat" in words.raw(key):
                many = f"{key!r} names {{seat}}, but {len(end.winners) or 'no'} seats won"
                self.report(many, self._texts(language))

    def _read(self, key: str, facts: Mapping[str, Any]) -> None:
        said = (key, *sorted(facts.items()))
        if said in self._said:
            return
        self._said.add(said)
        for language in texts.LANGUAGES:
            try:
                self._library.words(language, self._game.name)(key, **facts)
            except texts.MissingText as error:
                self.report(error, self._texts(language))

    def _texts(self, language: str) -> Path:
        return self._folder / "texts" / f"{language}.toml"


def _place_of(folder: Path, language: str, key: str) -> tuple[Path, int]:
    """Return the file and the line of a text."""
    paths = [folder / "texts" / f"{language}.toml", *sorted((folder / "texts").glob(f"{language}.*.toml"))]
    for path in paths:
        section = ""
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if header := re.match(r"\s*\[([^\[\]]+)\]", line):
                section = f"{header[1].strip()}."
            elif (entry := re.match(r"\s*([\w.\"-]+)\s*=", line)) and f"{key}.".startswith(
                f"{section}{entry[1].strip(chr(34))}."
            ):
                return path, number
    return paths[0], 1
