"""What every view works with: services, drawings, texts, and the language and cookies of a request."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, unquote

from flask import Flask, Response, current_app, jsonify, make_response, redirect, request
from markupsafe import Markup

from companion.adapters.news import Hub, PageCache, RenderedPage
from companion.adapters.owner import Owner
from companion.games import registry
from companion.games.kit import Game, Seat
from companion.model.lobby import LONGEST_NAME, digest
from companion.model.table import ServiceError, Table
from companion.model.temples import Temple
from companion.service.services import Services
from companion.web.config import WebConfig
from companion.web.rendering import scripts, styles
from companion.web.rendering.fonts import Fonts
from companion.web.rendering.renderer import ART, Renderer, check_layouts, placer, temple_news, temple_text
from companion.web.rendering.texts import LANGUAGES, Library, Texts
from companion.web.server import assets
from companion.web.server.guard import Lockout
from companion.web.view_models.table import Audience, table_topics, table_view_model, temple_tone, temple_topics
from companion.web.view_models.temple import temple_view_model
from templo.codes import normal_code

HERE = Path(__file__).parent
SHARED_ART = ("symbols.svg",)
DAY = 24 * 3600
YEAR = 365 * DAY
TOKEN_LENGTH = 32
NAME_COOKIE = "name"
SEATED = "seated"
"""The cookie by which other pages know at which tables this phone sits. It proves nothing: see `Site.sits_at`."""
COMING = "coming"
"""The cookie from which the tokens follow that a phone gets when it sits down, whether or not the answer arrives."""
MOST_SEATED = 12
"""The most tables in it, so that requests stay short."""
OWNER, ORGANISER = "owner", "organiser"
"""The cookies that prove that the owner's, or the organiser's, code was typed in a browser."""
ID_LENGTH, MARK_LENGTH = 32, 8

LIVE = "table.js"
"""The module in which the script of a live page is put together."""

RETRY_S = 10
"""Seconds after which a browser asks again by itself for a page that could not be shown."""

FORBIDDEN, NOT_FOUND, CONFLICT, BAD_FORM = 403, 404, 409, 422
"""The status of a refusal."""


class Site:
    """The web application's state, shared by all requests."""

    def __init__(
        self,
        app: Flask,
        services: Services,
        hub: Hub,
        config: WebConfig,
        lockout: Lockout,
    ) -> None:
        self.services = services
        self.hub = hub
        self.config = config
        self.lockout = lockout
        self.page_cache = PageCache(hub)
        offered = [(name, game) for name, game in services.tables.games.items() if not registry.parts(name)[1]]
        self.games = dict(sorted(offered, key=lambda offer: not offer[1].temple))
        """The games that a lobby offers, those with a temple first."""
        self.folders: Mapping[str, Path] = {name: registry.folder(game) for name, game in self.games.items()}
        check_layouts(services.tables.games, self.folders)
        library = Library(HERE / "texts", {name: folder / "texts" for name, folder in self.folders.items()})
        self.renderer = Renderer(library, self.folders, self.url, config.kept / "templates")
        routes = {rule.endpoint.rpartition(".")[2]: rule.endpoint for rule in app.url_map.iter_rules()}
        adapter = app.url_map.bind("localhost", script_name=f"{config.settings.path}/")
        self._path = lru_cache(maxsize=4096)(lambda route, **values: adapter.build(routes[route], values))
        own = ((name, folder / "static") for name, folder in self.folders.items())
        self.fonts = Fonts(config.kept / "fonts")
        faces = self.fonts.css(lambda file: self.url("font", filename=file))
        self.files = assets.files_of(("", HERE / "static"), *own, more=faces)
        self.live_script = scripts.joined(HERE / "static", LIVE)
        self.style = styles.of_site(HERE / "static" / "styles", faces)
        # One page's own names reach no other page, so that they cannot collide with a game's.
        self.page_styles = {**styles.of_pages(HERE / "static" / "pages"), "fonts": styles.of_fonts(faces)}
        self.game_styles = {name: styles.of_game(folder / "static") for name, folder in self.folders.items()}

    @property
    def address(self) -> str:
        """The URL for phones in the network of this request's client, which may change while this runs."""
        return self.config.address(request.remote_addr or "").rstrip("/")

    def url(self, route: str, **values: Any) -> str:
        """Return the path of a route by its plain name; needs no request, so a stream's thread can render."""
        path = self._path(route, **{key: value for key, value in values.items() if value != ""})
        if route not in assets.CACHED:
            return path
        prefix = self.config.settings.path
        return f"{prefix}{assets.versioned(path.removeprefix(prefix), self.files.version)}"

    def game(self, name: str) -> Game[Any]:
        """Return a game that a lobby offers; raises `ServiceError` ``unknown_game``."""
        try:
            return self.games[name]
        except KeyError:
            raise ServiceError("unknown_game", game=name[:32]) from None

    def game_style(self, game: str) -> str:
        """Return the path of the style sheet of a game or of a tool's game."""
        return self.url("game_style", game=registry.parts(game)[0])

    def game_scripts(self, game: str) -> list[str]:
        """Return the paths of the script modules of a game or of a tool's game."""
        name, _ = registry.parts(game)
        files = sorted((self.folders[name] / "static").glob("*.js"))
        return [self.url("game_static", game=name, filename=path.name) for path in files]

    def art(self, game: str) -> list[str]:
        """Return the sheets of symbols for a game's page: the common one, then its own if it has one."""
        own = f"{registry.parts(game)[0]}.svg"
        return [*SHARED_ART, *([own] if (ART / own).is_file() else [])]

    def art_of(self, games: Iterable[str]) -> list[str]:
        """Return the sheets of symbols for a page about several games, each once."""
        return list(dict.fromkeys([*SHARED_ART, *(sheet for game in games for sheet in self.art(game))]))

    # Words

    def words(self, table: Table | None = None) -> Texts:
        """Return the words in the language of this request."""
        return self.renderer.words(language(), table)

    def game_words(self, game: str) -> Texts:
        """Return the words of a game or a tool in the language of this request."""
        return self.renderer.library.words(language(), game)

    def refusal(self, error: ServiceError, table: Table | None = None) -> str:
        """Return the text of a refusal."""
        return self.renderer.own_words(language(), table)(f"refusal.{error.code}", **error.facts)

    # Pages

    def page(self, template: str, status: int = 200, **context: Any) -> Response:
        """Return a page of the shell in the language of this request."""
        words = self.words()
        html = self.renderer.page(
            template,
            words.language,
            {
                "language": words.language,
                "page_style": lambda page: self.url("page_style", page=page),
                "script": lambda name: self.url("static", filename=name),
                "live_scripts": [self.url("live_script")],
                "language_form": lambda: self._language_form(words),
                "game_t": lambda table: self.renderer.words(words.language, table),
                "words_of": lambda game: self.renderer.library.words(words.language, game),
                "art": SHARED_ART,
                "health": lambda temple: temple_text(words, temple),
                "news": lambda temple: temple_news(words, temple),
                "tone": lambda temple: temple_tone(temple),
                "has_authority": bool(self.config.settings.authority),
                "place": self.services.setup.name,
                **context,
            },
        )
        return make_response(html, status)

    def error_page(self, text: str, back: str, status: int = CONFLICT, **context: Any) -> Response:
        """Return the page that says why nothing was done, with a link back."""
        title = self.words()("error.not_found" if status == NOT_FOUND else "error.not_done")
        return self.page("error.html", status, title=title, words=text, back=back, **context)

    def failure(
        self,
        text: str,
        back: str,
        status: int = CONFLICT,
        *,
        kind: str = "refused",
        news: Callable[[], Mapping[str, object]] = dict,
        **context: Any,
    ) -> Response:
        """Return why nothing was done: for our own script as JSON with what is `news`, otherwise as a page."""
        if not wants_json():
            return self.error_page(text, back, status, **context)
        response = jsonify(ok=False, kind=kind, words=text, **news())
        response.status_code = status
        return response

    def _language_form(self, words: Texts) -> Markup:
        here = request.script_root + request.full_path.rstrip("?") if request.method == "GET" else self.url("first")
        others = [each for each in LANGUAGES if each != words.language]
        html = self.renderer.page("language_form.html", words.language, {"languages": others, "here": here})
        return Markup(html)  # noqa: S704  # a template that escapes

    # Pages

    def rendered(self, table: Table, audience: Audience) -> RenderedPage:
        """Return a table's page for an audience as of now.

        Each phase has regions of its own: what was made before the table's phase is not used again, even where the
        change has not been announced yet.
        """
        return self.page_cache.rendered(
            ("table", table.id, table.phase, audience),
            table_topics(table.id),
            lambda: table_view_model(self.services, table.id, audience),
            lambda: self.renderer.of_table(self.services.tables.get(table.id), audience),
        )

    def rendered_temple(self, temple: Temple, of_language: str) -> RenderedPage:
        """Return a temple's page as of now."""
        return self.page_cache.rendered(
            ("temple", temple.name, of_language),
            temple_topics(temple.name),
            lambda: temple_view_model(self.services, temple.name),
            lambda: self.renderer.of_temple(of_language),
        )

    def audience(self, table: Table, layout: str, stand_in: Seat = "") -> Audience:
        """Return the audience of this request; a table screen never holds a seat.

        A phone sees what its own seats may see, or the one seat `stand_in` for which it acts.
        """
        seats = self.visible_seats(table.id, layout, seat_token(table.id), stand_in)
        return Audience(language(), layout, seats, self.trusted(table), stand_in if seats == (stand_in,) else "")

    def visible_seats(self, table_id: str, layout: str, token: str, stand_in: Seat = "") -> tuple[Seat, ...]:
        """Return the seats that a page shows: a phone's own, or the one for which it stands in; none on a screen."""
        if layout != "phone" or not token:
            return ()
        own = self.services.seats.own(table_id, token)
        if not stand_in:
            return own
        return (stand_in,) if stand_in not in own and stand_in in self.services.seats.held(table_id, token) else ()

    def temple_region(self, rendered: RenderedPage) -> Any:
        """Return the function that puts a region into a temple's page."""
        return placer(self.words(), rendered, new_request)

    # Seats

    def held(self, table: Table) -> tuple[Seat, ...]:
        """Return the seats that this request's phone holds at a table."""
        token = seat_token(table.id)
        return self.services.seats.held(table.id, token) if token else ()

    def sits_at(self, table: Table) -> bool:
        """Return whether this request's phone sits at a table, for pages that the table's own cookie does not reach.

        It is a hint for links and allows nothing: acting needs the seat's token.
        """
        mark = _seated().get(table.id, "")
        return bool(mark) and any(key.startswith(mark) for key in table.keys.values())

    def trusted(self, table: Table) -> bool:
        """Return whether this request may invite and hand seats over: it holds a seat, or was given the code."""
        return bool(self.held(table)) or self.is_screen(table)

    def is_screen(self, table: Table) -> bool:
        """Return whether this request's browser was given the code of a table."""
        return self.services.seats.is_screen_pass(table.id, request.cookies.get(_screen_cookie(table.id), ""))

    def by_code(self, code: str) -> Table:
        """Return the table of a join code; wrong codes are counted, and too many lock the address out."""
        self.lockout.check(request.remote_addr)
        try:
            return self.services.tables.by_code(code)
        except ServiceError:
            self.lockout.wrong(request.remote_addr)
            raise

    def leave_of(self, temple: str | None, typed: str) -> str:
        """Return what lets this request take a temple from the table that holds it, or an empty string.

        That is a seat's token or the code of that table, or else `typed`, a code that somebody typed for it; raises
        `ServiceError` ``wrong_code``, counted, if that is not its code.
        """
        table = self.services.temples.serving.holder(temple)
        if table is None:
            return ""
        if self.held(table):
            return seat_token(table.id)
        if self.trusted(table):
            return table.code
        if typed.strip():
            self.check_code(table, typed)
        return typed

    def may_set_up(self) -> bool:
        """Return whether this request may set up the place: until somebody has, anybody may; then its owner."""
        if not self.services.setup.finished:
            return True
        return is_proved(self.config.owner, OWNER)

    def owner_proof(self, typed: str) -> str:
        """Return the owner's proof for a typed code; raises `ServiceError` ``wrong_owner_code``.

        Wrong ones are counted with those of tables; too many lock the address out.
        """
        return proof_for(self.config.owner, typed, self.lockout, "wrong_owner_code")

    def is_organiser(self) -> bool:
        """Return whether the organiser's code was typed in this request's browser."""
        return is_proved(self.config.organiser, ORGANISER)

    def organiser_proof(self, typed: str) -> str:
        """Return the organiser's proof for a typed code, as `owner_proof` does.

        Raises `ServiceError` ``wrong_organiser_code``.
        """
        return proof_for(self.config.organiser, typed, self.lockout, "wrong_organiser_code")

    def check_code(self, table: Table, code: str) -> None:
        """Raise `ServiceError` ``wrong_code`` if a code is not this table's.

        It is counted, except for clients that see this table's code anyway, so that others' guesses do not lock them
        out.
        """
        if self.trusted(table):
            if not hmac.compare_digest(table.code.encode(), normal_code(code).encode()):
                raise ServiceError("wrong_code")
        elif self.by_code(code).id != table.id:
            self.lockout.wrong(request.remote_addr)
            raise ServiceError("wrong_code")


def prove(response: Response, cookie: str, proof: str, path: str) -> None:
    """Set a cookie that proves for a year, under a path, that a code was typed."""
    set_cookie(response, cookie, proof, path, samesite="Strict")


def set_cookie(
    response: Response, name: str, value: str, path: str, max_age: int = YEAR, samesite: str = "Lax"
) -> None:
    """Set a cookie that no script reads, for a number of seconds; over TLS it is sent over TLS only."""
    secure = request.is_secure
    response.set_cookie(name, value, max_age, path=path, secure=secure, httponly=True, samesite=samesite)


def proof_for(holder: Owner | None, typed: str, lockout: Lockout, refusal: str) -> str:
    """Return the proof for a typed code of the owner or the organiser; raises `ServiceError` with the code `refusal`.

    Wrong codes of an address are counted, and too many lock it out.
    """
    lockout.check(request.remote_addr)
    if holder is None or not hmac.compare_digest(holder.code.encode(), normal_code(typed).encode()):
        lockout.wrong(request.remote_addr)
        raise ServiceError(refusal)
    return holder.proof


def is_proved(holder: Owner | None, cookie: str) -> bool:
    """Return whether this request's browser proves that a code was typed in it."""
    proof = request.cookies.get(cookie, "")
    return holder is not None and hmac.compare_digest(holder.proof.encode(), proof.encode())


def site() -> Site:
    """Return the site that serves this request."""
    return cast(Site, current_app.extensions["site"])


def language() -> str:
    """Return the language of this request: the chosen one, else the first that the browser names."""
    chosen = request.cookies.get("language", "")
    if chosen in LANGUAGES:
        return chosen
    return request.accept_languages.best_match(LANGUAGES, LANGUAGES[0])


def seat_token(table_id: str) -> str:
    """Return the token that this phone holds for a table, or nothing."""
    token = request.cookies.get(_cookie(table_id), "")
    return token if len(token) == TOKEN_LENGTH and token.isalnum() else ""


def set_token_cookie(response: Response, table_id: str, token: str) -> Response:
    """Set the cookie with a phone's token for a table, unreadable for scripts."""
    path = site().url("table", table_id=table_id)
    set_cookie(response, _cookie(table_id), token, path)
    seated = {table_id: digest(token)[:MARK_LENGTH]}
    seated |= {other: mark for other, mark in _seated().items() if other != table_id}
    listed = ".".join(f"{at}-{mark}" for at, mark in list(seated.items())[:MOST_SEATED])
    path = site().url("first")
    set_cookie(response, SEATED, listed, path)
    return response


def set_coming_cookie(response: Response, coming: str) -> Response:
    """Set the cookie with the pass of a phone that is about to sit down."""
    path = site().url("first")
    set_cookie(response, COMING, coming, path, DAY)
    return response


def set_name_cookie(response: Response, name: str) -> Response:
    """Set the cookie with the last name that somebody sat under."""
    path, value = site().url("first"), quote(name[:LONGEST_NAME])
    set_cookie(response, NAME_COOKIE, value, path)
    return response


def last_name() -> str:
    """Return the name that somebody last sat under with this phone, or nothing. It proves nothing."""
    return unquote(request.cookies.get(NAME_COOKIE, "")[: 12 * LONGEST_NAME])[:LONGEST_NAME]


def _seated() -> dict[str, str]:
    """Return the tables at which this phone took a seat, the last first, each with the beginning of its key there."""
    pairs = (each.partition("-") for each in request.cookies.get(SEATED, "").split(".")[:MOST_SEATED])
    lengths = (ID_LENGTH, MARK_LENGTH)
    return {at: mark for at, _, mark in pairs if (len(at), len(mark)) == lengths and (at + mark).isalnum()}


def set_code_cookie(response: Response, table: Table) -> Response:
    """Set the cookie with which a table screen proves later that it was given the table's code."""
    path, proof = site().url("table", table_id=table.id), site().services.seats.screen_pass(table.id)
    set_cookie(response, _screen_cookie(table.id), proof, path)
    return response


def renew_cookies(response: Response, table: Table) -> Response:
    """Set again the cookies that prove this request's seats, or its screen, at a table: a game may last months."""
    here = site()
    if here.held(table):
        set_token_cookie(response, table.id, seat_token(table.id))
    if here.is_screen(table):
        set_code_cookie(response, table)
    return response


def _screen_cookie(table_id: str) -> str:
    return f"screen-{table_id}"


def _cookie(table_id: str) -> str:
    return f"seat-{table_id}"


def request_id() -> str:
    """Return the id of a post, which identifies a repeated one; raises `ServiceError` if it is missing."""
    post_id = request.form.get("request", "")
    if not 1 <= len(post_id) <= 64 or not post_id.isalnum():
        raise ServiceError("bad_move")
    return post_id


def seat_to_act(table: Table, held: tuple[Seat, ...]) -> Seat:
    """Return which of the seats that a phone holds a form acts for: the one on turn, or the first."""
    return table.on_turn if table.on_turn in held and table.on_turn else next(iter(held), "")


def new_request() -> str:
    """Return a fresh request id for a form."""
    return secrets.token_hex(8)


def local_path(text: str, otherwise: str) -> str:
    """Return a path of this site, and never a foreign address."""
    fine = text.startswith("/") and text[1:2] not in ("/", "\\") and text.isprintable() and len(text) <= 300
    return text if fine else otherwise


def redirect_to(path: str) -> Response:
    """Redirect the browser to a page after a post."""
    response = redirect(path, 303)
    assert isinstance(response, Response)  # Flask's own class, as the app makes no other
    return response


def wants_json() -> bool:
    """Return whether our own script sent the request and wants JSON instead of a page."""
    return request.accept_mimetypes.best == "application/json"


def whole_number(text: str, high: int) -> int | None:
    """Return the whole number from 0 to `high` that a form holds, or None."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 and int(text) <= high else None


def free_seats(table: Table) -> Sequence[Seat]:
    """Return the seats that nobody holds."""
    return [chair.seat for chair in table.chairs if not chair.taken]
