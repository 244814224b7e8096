"""Every page fits a phone, has its drawings, and every target on it is large enough for a thumb, on a laptop too."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from string import Formatter
from urllib.parse import urldefrag, urlsplit

from playwright.sync_api import Page, ViewportSize

from companion.adapters.credentials import Offered
from companion.adapters.network import certificates
from companion.model.network import Hotspot, Network, Wifi
from companion.model.table import Table
from companion.service.tables import TableService
from controller.app.explanations import FINDINGS
from templo.contract import Finding, God
from tests.browser.conftest import PHONE, Companion, Device
from tests.browser.layout import too_full, too_wide
from tests.browser.test_look_back import doubtful
from tests.companion.web.conftest import ORGANISER
from tests.pictures import temple_page

Make = Callable[..., Device]

KEPT = os.environ.get("TEMPLO_PAGES", "")
"""A folder in which the HTML of every page is kept, for `make validate`."""

MEASURE = (Path(__file__).parent / "targets.js").read_text(encoding="utf-8")
THUMB = 44
"""The least width and height of what is tapped, in px."""

LAPTOP: ViewportSize = {"width": 1366, "height": 768}

NOT_DRAWN = """() => [...document.querySelectorAll("use")].map(use => use.getAttribute("href"))
  .filter(href => !document.getElementById(href.slice(1))).map(href => `${href} is no drawing here`)"""

NOWHERE = "/no/such/page"

FILES = {
    "pages.manifest", "pages.game_static", "pages.game_style", "pages.healthz", "pages.icon", "pages.style",
    "pages.page_style", "pages.live_script", "static",
    "metrics.metrics", "interface.interface", "setup.hotspot", "play.follow",
    "story.export_csv", "story.export_json", "play.qr", "play.made", "results.result_play",
    "results.result_picture", "results.result_film", "results.result_text", "streams.stream",
    "streams.temple_stream", "trust.authority",
    "organiser.organiser_stream", "organiser.rounds_stream",
    "play.preview", "trust.worker", "pages.font", "playtests.report", "playtests.playtest",
}  # fmt: skip
"""What answers with a file, or leads to another page; a playtest's own page needs hundreds of games first."""

GAMES = (
    ("mexica", "temple_only"),
    ("mexica", "classic"),
    ("market", "short"),
    ("moctezuma", "swift"),
    ("siege", "skirmish"),
)


def paths(companion: Companion, device: Device, folder: Path) -> list[str]:
    """Return the address of every page, for somebody who plays at each table."""
    home, services = companion.home, companion.home.services
    authority = folder / "authority.pem"
    authority.write_text(certificates.make_authority("temple", ["temple"], datetime.now(UTC)).certificate)
    (folder / f"{'w' * 32}.env").write_text("TEMPLO_BROKER_USER=one\nTEMPLO_BROKER_PASSWORD=two\n")
    home.configure(first_start="on", authority=str(authority), offered=Offered(folder))
    home.network = Network(
        managed=True,
        wifi="Casa",
        has_wifi=True,
        can_join=True,
        in_reach=(Wifi("Casa", 72), Wifi("W" * 32, 30)),
        hotspot=Hotspot("Templo Mayor", "obsidian-ocelot-7"),
    )
    running = troubled(companion)
    device.join(companion, running, "west", "Nezahualcoyotl Texcoco")
    services.temples.intake.receive([("table", home.token(1, "huitzilopochtli", token="f" * 32))])
    lobby, absent = home.lobby(), companion.table(2, None)
    services.temples.expect("attic")
    waits = services.tables.open("mexica", "Monday", 4, "temple_only", {}, "attic")
    device.page.goto(f"{companion.address}/j/{waits.code}")
    device.page.fill('.sit-form input[name="name"]', "Ana")
    device.page.click('.sit-form button[value="drop"]')
    device.page.wait_for_url(f"**/t/{waits.id}/drop")
    key = home.seated(absent, "west", "Ben")
    services.seats.away(absent.id, key, "west", "anyone")
    device.join(companion, absent, "east", "Ana")
    home.services.messages.send("Pizza is here", 60)
    services.rounds.start(
        "mexica", "temple_only", 2, "swiss", f"{'W' * 24}\nAna\nBen", lambda n, table: f"Round {n} · Table {table}"
    )
    device.context.add_cookies(
        [{"name": "organiser", "value": ORGANISER.proof, "domain": "localhost", "path": "/organiser"}]
    )
    found = ["/", "/setup", "/setup/step/name", "/setup/step/network", "/setup/step/beams", "/setup/step/table",
             "/organiser", "/organiser/codes", "/organiser/rounds", "/organiser/pairing",
             "/trust", "/tables", "/evenings", "/temples", "/temples/table", "/temples/table/held", "/join", "/games",
             "/playtests", NOWHERE, f"/t/{running.id}/held", f"/t/{running.id}/reconcile", f"/t/{running.id}/seats",
             f"/t/{running.id}/story", f"/t/{running.id}/replay?step=1", f"/j/{lobby.code}", f"/t/{lobby.id}",
             f"/t/{lobby.id}/screen", f"/t/{absent.id}/for/west", f"/t/{waits.id}/drop",
             "/games/mexica/print/tallies",
             "/games/mexica/print?players=4"]  # fmt: skip
    for game in dict.fromkeys(game for game, _ in GAMES):
        found += [f"/games/{game}", f"/games/{game}/rules", f"/tables/new?game={game}"]
    siege = ""
    for game, preset in GAMES:
        table = begun(companion, device, game, preset)
        found += [f"/t/{table.id}", f"/t/{table.id}/screen"]
        siege = table.id
    device.watch(companion, services.tables.get(siege))
    deeper = device.page.locator("a.deeper").first.get_attribute("href") or ""
    aids = [f"{game}.{aid}" for game, _ in GAMES[1:] for aid in home.games[game].tools]
    opened = [begun(companion, device, aid, next(iter(home.games[aid].presets))) for aid in aids]
    return [*found, deeper, f"/t/{siege}/print/map", *(f"/t/{table.id}" for table in opened)]


def begun(companion: Companion, device: Device, game: str, preset: str) -> Table:
    """Begin a table whose seats this device has."""
    services = companion.home.services
    table = services.tables.open(game, "Sunday", max(companion.home.games[game].seatings), preset, {})
    key = services.seats.share(table.id, table.code, {})
    device.context.add_cookies([{"name": f"seat-{table.id}", "value": key, "url": companion.address}])
    return services.seats.begin(table.id, key)


def troubled(companion: Companion) -> Table:
    """Return a table with tokens in doubt, on a temple in all kinds of trouble."""
    table = doubtful(companion)
    facts = {field for what, _ in FINDINGS.values() for _, field, _, _ in Formatter().parse(what) if field}
    troubles = tuple(Finding(code, dict.fromkeys(facts, 1440)) for code in FINDINGS)
    temple_page.evening(companion.home, {God.TLALOC: troubles, God.HUITZILOPOCHTLI: troubles[:3]})
    temple_page.selftest(companion.home)
    return table


def linked(page: Page) -> Iterator[str]:
    """Yield the pages of ours that a page leads to."""
    for href in page.evaluate("[...document.querySelectorAll('a[href]:not([download])')].map(a => a.href)"):
        url = urlsplit(urldefrag(href).url)
        if url.netloc == urlsplit(page.url).netloc and not re.search(r"\.\w+$", url.path):
            yield url.path + (f"?{url.query}" if url.query else "")


ALIKE = re.compile(r"/t/(\w+)/(print|replay|rules|seats|story)\b")
"""Pages of a table that are made alike for all tables of a game, and those but the rules for the game's aids too."""


def kind_of(path: str, tables: TableService) -> str:
    """Return the kind of a page: its address without moments, ways to print and picks."""

    def of_its_game(found: re.Match[str]) -> str:
        game = tables.get(found[1]).charter.game
        return f"/{game if found[2] == 'rules' else game.partition('.')[0]}/{found[2]}"

    path = re.sub(r"(?<=step=)\d+|[?&](paper|ink|sides|players|stock)=[\w.]+|(?<=seat=)\w+|,[^,]+?(?=%5D)", "", path)
    return ALIKE.sub(of_its_game, path)


def test_every_page_fits_a_phone_and_has_its_drawings_and_every_target_is_large_enough_for_a_thumb(
    companion: Companion, device: Make, tmp_path: Path
) -> None:
    """Every page that has an address of its own, and one of each kind that links lead to from there.

    They are looked at in the longer language and the wider font, which need most room.
    """
    reader = device(PHONE, "es", guide=True)
    routes = companion.home.app.url_map
    found: dict[str, str] = {}
    left = {rule.endpoint for rule in routes.iter_rules() if "GET" in (rule.methods or ())} - FILES
    ahead = paths(companion, reader, tmp_path)
    tables = companion.home.services.tables
    seen = {kind_of(path, tables) for path in ahead}
    while ahead:
        path = ahead.pop()
        reader.page.set_viewport_size(PHONE)
        answer = reader.page.goto(companion.address + path)
        assert answer
        assert answer.status == (404 if path == NOWHERE else 200), path
        if KEPT:
            name = re.sub(r"[^\w.=-]+", "-", path.strip("/")) or "first"
            (Path(KEPT) / f"{name}.html").write_bytes(answer.body())
        if path != NOWHERE:
            left -= {routes.bind("localhost").match(path.partition("?")[0])[0]}
        reader.page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
        for words in (*too_wide(reader.page), *too_full(reader.page), *reader.page.evaluate(NOT_DRAWN)):
            found.setdefault(words, path)
        for viewport in (PHONE, LAPTOP):
            reader.page.set_viewport_size(viewport)
            for small in reader.page.evaluate(f"({MEASURE})({THUMB})"):
                found.setdefault(small, f"{path} at {viewport['width']} px")
        further = {kind_of(link, tables): link for link in linked(reader.page)}
        further = {kind: link for kind, link in further.items() if kind not in seen}
        seen |= set(further)
        ahead += further.values()
    reader.complaints.clear()  # the page that is not there is one of them
    assert len(seen) > 100
    assert left == set(), "pages that nobody measured"
    assert "\n".join(f"{words} on {path}" for words, path in found.items()) == ""
