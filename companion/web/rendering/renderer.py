"""Renders slices as HTML, with the templates and texts of the shell and of each game.

A game's folder has ``templates/play/phone.html`` and ``templates/play/screen.html``, which place regions with ``{{
region("lake") }}``, and ``templates/play/<region>.html`` for each region of its own. The templates of a tool are in
``templates/aids/<tool>/``, and the pages that several tools share in ``templates/aids/``. The charts of a game's
story are in ``templates/story/``, those of a tool's in ``templates/aids/<tool>/story/``. These templates can use:

- ``slice`` what the region may show, and nothing else of the game
- ``t(key, **facts)`` a text, the game's before the shell's; ``words.number(n)``, ``words.has(key)``
- ``url(endpoint, **values)``, ``clock(iso)`` a time of day that the browser puts in its own zone
- ``at`` the page: ``table`` (its id), ``layout``, ``seats`` (held by this phone), ``language``
- ``form(choice, seat="", words="", css="")`` a button that makes a choice's move; used with ``{% call %}``
  what is inside is shown on the button. One with a second tap first shows the text ``preview.<key>``
- ``typed(move, label, value, most, seat="", css="")`` a field for a whole number, which becomes the last argument of
  a move written as a list; it is sent when it is left, or by its button where no script runs
- ``bring(words, css="")`` the button with which the app rolls or draws; the outcome of a real die or deck is
  entered with the form of its choice and ``seat="chance"``
- ``for_another(seat, what="", words="")`` a disclosure that names a seat; used with ``{% call %}``: forms in it act
  for that seat and need a second tap. It contains everything that a phone may do for a seat that it does not hold
- ``symbol(id, css="")`` a drawing of `companion/art`, explained by the words beside it
- ``{% from "whose_turn.html" import head %}``, then ``head(emblem, note, whose, doing="")`` whose turn it is, in a
  region ``turn`` within ``<div class="board-head">``: on a table screen at the place and in the size of all games
- ``guided(game)`` whether a game's folder has a guide, and so a page of rules

Regions within an element with ``data-first`` are updated a frame before the others: those that people look at after a
tap, such as a map. An element with ``data-speak="name"`` is read out by screen readers when it has changed: its
``data-says``, its label or its words. ``data-guide-at`` names it for the guide of a first turn.

``templates/print/<name>.html`` is a printable page: one ``<section class="leaf">`` for each page of paper. It can use
``slice``, ``t`` and ``words`` as above, and:

- ``sheet`` its own name, for ids that are unique where several are printed together
- ``paper`` its ``name``, ``width`` and ``height``, and ``paper.grid(width, height)`` for pieces to be cut apart
  (`companion.web.printing.paper`); all lengths are millimetres
- ``drawing(id, width, height=width)`` a symbol of `companion/art` in a true size
- ``placed(id, x, y, width, height=width)`` the same inside an SVG of one's own
- ``colour(name)`` a colour of the palette's day, for attributes of an SVG
- ``cut_marks(grid)`` where to cut, and ``ruler()`` the 100 mm that show whether a printer scaled the page
- ``tuck_boxes(cards, width, height)`` the boxes for a deck (`companion.web.printing.tuck_box`); a page that includes
  ``print_boxes.html`` draws those of ``slice.boxes``, each with its ``name`` (a text), ``cards``, ``width``,
  ``height``, ``drawing`` and ``tint``, and ``slice.emblem`` on their backs
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import jinja2
from markupsafe import Markup
from msgspec.structs import replace

from companion.adapters.news import REQUEST_MARK, VERSION_MARK, RegionRenderer, RenderedPage
from companion.games import registry
from companion.games.kit import Arg, Json, Seat
from companion.model.table import Table
from companion.model.temples import Temple
from companion.web.rendering import names
from companion.web.rendering.art import Art
from companion.web.rendering.compiled import Compiled
from companion.web.rendering.texts import LANGUAGES, Library, MissingText, Texts
from companion.web.rendering.widths import LEAST, plot
from companion.web.view_models.table import Audience
from templo import contract
from templo.codes import grouped

SHELL = Path(__file__).parents[1]
ART = SHELL.parent / "art"
SHARED = 1024
"""The most regions in the cache that audiences share: some 3 MB for each layout."""
LOG_ENTRIES = 4096
"""The most rendered log entries in the cache: some 2 MB."""
DAY = "styles/tokens/day.css"
"""The style sheet of the day's colours, which the pages for the printer share."""

LAYOUTS = ("phone", "screen")
"""The pages of a table, for each of which a game has a template."""

SHELL_REGIONS = frozenset(
    {
        "log",
        "health",
        "seats",
        "lobby",
        "undo",
        "after",
        "draft",
        "yours",
        "ending",
        "call",
        "absent",
        "places",
        "guide",
        "phases",
        "message",
    }
)


Url: TypeAlias = Callable[..., str]
"""Builds the path of a route from its name and its values."""


class FolderEnvironment(jinja2.Environment):
    """Jinja in which a game's template names its neighbours as ``./name.html``."""

    def join_path(self, template: str, parent: str) -> str:
        """Return the full name of a template that another one names."""
        if template.startswith("./"):
            return f"{parent.rpartition('/')[0]}/{template[2:]}"
        return template


class Folders(jinja2.PrefixLoader):
    """Loads a game's templates under their full names, so that they can name their neighbours."""

    load = jinja2.BaseLoader.load


@cache
def environment(games: tuple[tuple[str, Path], ...], kept: Path | None) -> jinja2.Environment:
    """Return the templates of the shell and of some games, compiled in a folder; a process loads them once."""
    folders: dict[str, jinja2.BaseLoader] = {"art": jinja2.FileSystemLoader(ART)}
    folders |= {f"game-{name}": jinja2.FileSystemLoader(path / "templates") for name, path in games}
    environment = FolderEnvironment(
        loader=jinja2.ChoiceLoader([jinja2.FileSystemLoader(SHELL / "templates"), Folders(folders)]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
        bytecode_cache=Compiled(kept) if kept else None,
    )
    environment.globals["symbol"] = symbol
    environment.filters["name"] = lambda name: names.fitted(names.marked(name))
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}  # what a page carries to its script
    return environment


class At:
    """The page that a region stands on.

    It records whether a template reads which seats its phone holds, and in which layout it stands; otherwise the
    region is the same on every phone, and on a table screen.
    """

    def __init__(self, table: str, layout: str, seats: tuple[Seat, ...], language: str, stands_in: Seat = "") -> None:
        self.table, self.language, self.stands_in = table, language, stands_in
        self.reads_seats = self.reads_layout = False
        self._layout, self._seats = layout, seats

    @property
    def layout(self) -> str:
        """The layout of the page: ``phone``, ``screen``, ``sit`` or ``page``."""
        self.reads_layout = True
        return self._layout

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats that the page's phone holds."""
        self.reads_seats = True
        return self._seats


class Renderer:
    """Renders pages, layouts and regions with the templates of the shell and of the games."""

    def __init__(self, library: Library, games: Mapping[str, Path], url: Url, kept: Path | None = None) -> None:
        self.library = library
        self.art = Art(ART, SHELL / "static" / DAY)
        self._games = games
        self._url = url
        self._templates = environment(tuple(games.items()), kept)
        self._log_entries: dict[object, Markup] = {}
        self._shared: dict[object, dict[str, tuple[Mapping[str, Json], str, bool]]] = {}
        """The last of each region in each layout: its slice, its HTML, and whether it reads the layout."""

    def page(self, name: str, language: str, context: Mapping[str, Any]) -> str:
        """Return a whole page of the shell."""
        words = self.words(language)
        base = self._context(words, At("", "page", (), language))
        return self.template(name).render({**base, **context})

    def words(self, language: str, table: Table | None = None) -> Texts:
        """Return the words of a page; for a table those of its game, with the players' names."""
        if table is None:
            return self.library.words(language)
        people = {chair.seat: chair.name for chair in table.chairs if chair.name}
        return self.library.words(language, table.charter.game, people)

    def own_words(self, language: str, table: Table | None) -> Texts:
        """Return the words for the companion's own code; it is not a game's, even if spelled alike."""
        words = self.words(language, table)
        return replace(words, layers=words.layers[::-1])

    def of_table(self, table: Table, audience: Audience) -> RegionRenderer:
        """Return the renderer of a table's regions for an audience; audiences share what looks the same to them."""
        context = self._at_table(table, audience)
        at, words = context["at"], context["words"]
        render = self._region_renderer(context, game_folder(table.charter.game), SHELL_REGIONS)
        whose = (table.id, audience.language, audience.stands_in, *words.people.items())

        def once(region: str, slice_: Mapping[str, Json]) -> str:
            shared = self._shared.get((region, whose), {})
            for layout, (shown, html, reads_layout) in [*shared.items()]:
                if shown == slice_ and (layout == audience.layout or not reads_layout):
                    return html
            at.reads_seats = at.reads_layout = False
            html = render(region, slice_)
            if not at.reads_seats:
                if len(self._shared) >= SHARED:
                    self._shared.clear()
                shared = self._shared.setdefault((region, whose), shared)
                shared[audience.layout] = slice_, html, at.reads_layout
            return html

        return once

    def of_story(self, table: Table, language: str) -> RegionRenderer:
        """Return the renderer of the regions that a game adds to a table's story."""
        context = self._context(self.words(language, table), At(table.id, "page", (), language))
        return self._region_renderer(context, story_folder(table.charter.game))

    def of_temple(self, language: str) -> RegionRenderer:
        """Return the renderer of the regions of a temple's page."""
        words = self.words(language)
        context = {
            **self._context(words, At("", "page", (), language)),
            "moment": lambda iso: moment(words, datetime.fromisoformat(iso)),
            "finding_words": lambda part, finding: finding_text(words, part, finding),
            "ms": lambda width: milliseconds(words, width),
            "width_plot": lambda slot: plot(slot, room=max(LEAST, len(slot["points"]))),
        }
        return self._region_renderer(context, "regions")

    def of_organiser(self, language: str) -> RegionRenderer:
        """Return the renderer of the regions of the organiser's pages."""
        context = {
            **self._context(self.words(language), At("", "page", (), language)),
            "words_of": lambda game: self.library.words(language, game),
        }
        return self._region_renderer(context, "regions")

    def _region_renderer(
        self, context: Mapping[str, Any], folder: str, shell: frozenset[str] = frozenset()
    ) -> RegionRenderer:
        """Return the renderer of a folder's templates, and of the shell's own regions."""

        def render(region: str, slice_: Mapping[str, Json]) -> str:
            name = f"{'regions' if region in shell else folder}/{region}.html"
            return self.template(name).render(context, slice=slice_)

        return render

    def layout(
        self,
        table: Table,
        audience: Audience,
        rendered: RenderedPage,
        request_id: Callable[[], str],
        invitation: Mapping[str, Json],
    ) -> Markup:
        """Return all regions of a table in the layout of the lobby or of its game."""
        context = self._at_table(table, audience)
        lobby = table.phase == "lobby"
        pages = ("lobby.html",) if lobby else page_templates(table.charter.game, audience.layout)
        region = placer(context["words"], rendered, request_id)
        above = [
            name for name in ("message", "call", "draft", "yours", "ending", "guide") if name in rendered.regions
        ]
        inside = Markup(  # noqa: S704  # every part comes out of a template that escapes
            self._templates.select_template(pages).render(
                context,
                region=region,
                table=table,
                seats=audience.seats,
                layout=audience.layout,
                invitation=invitation,
            )
        )
        if not lobby:
            inside = Markup('<div class="game" id="game">{}</div>').format(inside)
        below = [name for name in ("phases", "absent") if name in rendered.regions]
        return Markup().join(map(region, above)) + inside + Markup().join(map(region, below))

    def title_of_end(self, words: Texts, end: Mapping[str, Json]) -> str:
        """Return how a game ended in a few words."""
        said: Any = self.template("ending_words.html").module
        return str(said.title(words, words, end)).strip()

    @cached_property
    def pale_art(self) -> Art:
        """The drawings for pages that save ink."""
        return self.art.in_low_ink()

    def forms(self, table: Table, audience: Audience) -> Forms:
        """Return the writer of forms for an audience's choices."""
        forms: Forms = self._at_table(table, audience)["form"]
        return forms

    def guided(self, game: str) -> bool:
        """Return whether a game, or the game of a tool, has a guide."""
        return guide_file(self._games[registry.parts(game)[0]], LANGUAGES[0]).is_file()

    def template(self, name: str) -> jinja2.Template:
        """Return a template by its full name."""
        return self._templates.get_template(name)

    def _at_table(self, table: Table, audience: Audience) -> dict[str, Any]:
        at = At(table.id, audience.layout, audience.seats, audience.language, audience.stands_in)
        words = self.words(audience.language, table)
        whose = (audience.language, table.charter.game, *words.people.items())
        return {
            **self._context(words, at),
            "log_entry": lambda entry: self._log_entry(words, whose, entry),
        }

    def _log_entry(self, words: Texts, whose: tuple[object, ...], entry: Mapping[str, Any]) -> Markup:
        """Return an entry of a table's log, rendered once for all pages in the same words."""
        lines = tuple([(line["code"], line["mark"], *line["facts"].items()) for line in entry["lines"]])
        key = (whose, entry["n"], entry["at"], entry["hand"], lines)
        if (entry_html := self._log_entries.get(key)) is None:
            if len(self._log_entries) >= LOG_ENTRIES:
                self._log_entries.clear()
            context = {"t": words, "clock": lambda iso: clock(words, iso)}
            html = self.template("log_entry.html").render(context, entry=entry)
            entry_html = self._log_entries[key] = Markup(html)  # noqa: S704  # a template that escapes
        return entry_html

    def _context(self, words: Texts, at: At) -> dict[str, Any]:
        return {
            "t": words,
            "words": words,
            "at": at,
            "url": self._url,
            "clock": lambda iso: clock(words, iso),
            "notice_words": lambda part, code: notice_text(words, part, code),
            "health_words": lambda code, god="": health_text(words, code, god),
            "form": (forms := Forms(self.template("macros.html"), words, at, self._url)),
            "bring": forms.bring,
            "for_another": forms.for_another,
            "typed": forms.typed,
            "guided": self.guided,
            "spelled": grouped,
            "version_mark": VERSION_MARK,
            "request_mark": REQUEST_MARK,
        }


def guide_file(folder: Path, language: str) -> Path:
    """Return the path of a game's guide."""
    return folder / f"guide.{language}.md"


def fill_marks(html: str, version: int, request_id: Callable[[], str]) -> str:
    """Return HTML with the table's version and a fresh request id in each form that posts."""
    html = html.replace(VERSION_MARK, str(version))
    while REQUEST_MARK in html:
        html = html.replace(REQUEST_MARK, request_id(), 1)
    return html


def placer(words: Texts, rendered: RenderedPage, request_id: Callable[[], str]) -> Callable[..., Markup]:
    """Return a function that puts a named region into a page, usable without script."""

    def region(name: str, css: str = "") -> Markup:
        html = fill_marks(rendered.regions[name].html, rendered.version, request_id)
        label = f"region.{name}"
        return Markup('<section class="region region-{}{}" id="region-{}" data-region="{}"{}>{}</section>').format(
            name,
            f" {css}" if css else "",
            name,
            name,
            Markup(' aria-label="{}"').format(words(label)) if words.has(label) else "",
            Markup(html),  # noqa: S704  # from a template that escapes
        )

    return region


class Forms:
    """Writes the form that makes a choice's move, or that opens the next level."""

    def __init__(self, macros: jinja2.Template, words: Texts, at: At, url: Url) -> None:
        self._macros: Any = macros.module
        self._words = words
        self._at = at
        self._url = url

    def __call__(
        self,
        choice: Mapping[str, Any],
        seat: Seat = "",
        words: str = "",
        css: str = "",
        picked: Sequence[Arg] = (),
        caller: Callable[[], Markup] | None = None,
    ) -> Markup:
        """Return the form for a choice, made by `seat`, or by the phone's first seat."""
        by = seat or self._first
        inside: str = caller() if caller else words or self._words.named(f"choice.{choice['key']}", **choice["facts"])
        if choice["move"] is None:
            path = json.dumps([*picked, choice["facts"]["pick"]])
            page = self._url("picks", table_id=self._at.table, seat=by, picked=path)
            return Markup(self._macros.deeper(page, inside, css, choice["element"]))  # noqa: S704  # escaped there
        action, fields = self._move(by, choice["move"])
        confirm = choice["confirm"] or bool(self._at.stands_in)
        form = self._macros.move(action, fields, inside, css, choice["element"], confirm)
        return Markup(form)  # noqa: S704  # escaped there

    def typed(self, move: Sequence[Arg], label: str, value: int, most: int, seat: Seat = "", css: str = "") -> Markup:
        """Return the field that makes a move with a typed number; `value` is the present one."""
        action, fields = self._move(seat or self._first, move)
        form = self._macros.typed(action, fields, label, value, most, css, self._words("typed.go"))
        return Markup(form)  # noqa: S704  # escaped there

    @property
    def _first(self) -> Seat:
        """The first seat that this phone holds, or none."""
        return self._at.seats[0] if self._at.seats else ""

    def _move(self, by: Seat, move: Sequence[Arg]) -> tuple[str, dict[str, str]]:
        """Return where a seat's move is posted, and the fields of its form."""
        fields = {
            "seat": by,
            "move": json.dumps(list(move), separators=(",", ":")),
            "version": VERSION_MARK,
            "request": REQUEST_MARK,
        }
        return self._url("play", table_id=self._at.table), fields

    def bring(self, words: str = "", css: str = "", caller: Callable[[], Markup] | None = None) -> Markup:
        """Return the form with which the app rolls or draws."""
        inside: str = caller() if caller else words
        action = self._url("chance", table_id=self._at.table)
        fields = {"version": VERSION_MARK, "request": REQUEST_MARK}
        form = self._macros.move(action, fields, inside, css, "chance", bool(self._at.stands_in))
        return Markup(form)  # noqa: S704  # escaped there

    def for_another(
        self, seat: Seat, what: str = "", words: str = "", caller: Callable[[], Markup] = Markup
    ) -> Markup:
        """Return the disclosure for what this phone may do for another seat.

        `what` distinguishes several for the same seat, so that each stays open or closed when its region changes.
        """
        words = words or self._words.named("for_another.open", seat=seat)
        html = self._macros.for_another(f"for-{seat}{'-' if what else ''}{what}", words, caller())
        return Markup(html)  # noqa: S704  # escaped there


def game_folder(game: str) -> str:
    """Return the folder of the templates of a game's or a tool's pages."""
    name, tool = registry.parts(game)
    return f"game-{name}/aids/{tool}" if tool else f"game-{name}/play"


def page_templates(game: str, layout: str) -> Sequence[str]:
    """Return the names of the template of a game's or a tool's page; the first that exists is used.

    >>> page_templates("beans.pad", "phone")
    ['game-beans/aids/pad/phone.html', 'game-beans/aids/phone.html']
    """
    folder = game_folder(game)
    shared = [f"{folder.rpartition('/')[0]}/{layout}.html"] if registry.parts(game)[1] else []
    return [f"{folder}/{layout}.html", *shared]


def check_layouts(games: Iterable[str], folders: Mapping[str, Path]) -> None:
    """Raise `RegistryError` if a game or a tool has no template of a phone's page or of a table screen's."""
    for game in games:
        folder = folders[registry.parts(game)[0]]
        for layout in LAYOUTS:
            names = [f"templates/{name.partition('/')[2]}" for name in page_templates(game, layout)]
            if not any((folder / name).is_file() for name in names):
                missing = " or ".join(names)
                raise registry.RegistryError(
                    f"game folder {folder}: it has no {missing}; expected a page for {game!r}"
                )


def story_folder(game: str) -> str:
    """Return the folder of the templates that a game or a tool adds to a story."""
    name, tool = registry.parts(game)
    return f"game-{name}/aids/{tool}/story" if tool else f"game-{name}/story"


@lru_cache(maxsize=1024)
def symbol(name: str, css: str = "") -> Markup:
    """Return one of the page's symbols, hidden from screen readers."""
    of_class = Markup(' class="{}"').format(css) if css else ""
    html = '<svg{} aria-hidden="true" focusable="false"><use href="#{}"/></svg>'
    return Markup(html).format(of_class, name)  # noqa: S704  # its values are escaped


def clock(words: Texts, iso: str) -> Markup:
    """Return a time of day, which the browser converts to its own time zone."""
    at = datetime.fromisoformat(iso)
    return _clock(at.isoformat(timespec="seconds"), words.time(at))


@lru_cache(maxsize=1024)
def _clock(iso: str, time: str) -> Markup:
    return Markup('<time class="clock" datetime="{}">{}</time>').format(iso, time)


def health_text(words: Texts, code: str, god: str = "") -> str:
    """Return a health code in words: what is wrong with which slot, and what to do."""
    return words(f"health.{code}", god=god) if god else words(f"health.{code}")


def finding_text(words: Texts, part: str, finding: Mapping[str, Any]) -> str:
    """Return the words of a finding: what was found (``seen``), or what to do (``todo``).

    Code and facts come from another program: one without a text, or without a fact for it, gets a general text.
    """
    key = f"finding.{finding['code']}.{part}"
    facts = {name: round(fact, 1) for name, fact in finding["facts"].items()} | {"god": finding["god"]}
    try:
        if words.has(key):
            return words(key, **facts)
    except MissingText:
        pass
    return words(f"finding.other.{part}", code=str(finding["code"]), god=finding["god"])


def notice_text(words: Texts, part: str, code: str) -> str:
    """Return the words of a notice: what happened (``seen``), or what that means (``means``)."""
    key = f"notice.{code}.{part}"
    return words(key) if words.has(key) else words(f"notice.other.{part}", code=code)


def moment(words: Texts, at: datetime) -> Markup:
    """Return a day and a time, or a dash if the clock had no time."""
    if at.year < 2000:
        return Markup("–")
    return Markup("{}, {}").format(words.date(at), clock(words, contract.format_utc(at)))


def temple_news(words: Texts, temple: Temple) -> list[str]:
    """Return one line for each thing on a temple's page that needs a person."""
    news = [notice_text(words, "seen", notice.code) for notice in temple.notices]
    if temple.undecided:
        news.append(words("old.news", n=temple.undecided.through))
    if temple.quarantined:
        news.append(words("held.unsettled", n=temple.quarantined))
    return news


def milliseconds(words: Texts, width: float) -> str:
    """Return a width as the language writes it."""
    return words("temple.width", ms=round(width, 1))


def temple_text(words: Texts, temple: Temple) -> str:
    """Return a temple's health in words."""
    now = temple.health()
    return health_text(words, now.code, now.god)
