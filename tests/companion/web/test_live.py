"""The hub and the page cache: each page is rendered once, only changes are sent, and no stream misses one."""

from __future__ import annotations

import json
import threading
import tracemalloc

import pytest

from companion.adapters.news import Hub, HubClosed, PageCache, Region, RenderedPage, StreamsFull
from companion.web.view_models.table import Audience, table_topics
from tests.companion.web.conftest import WebHome


def news(rendered: RenderedPage, seen: str) -> dict[str, str]:
    event = rendered.event(seen).decode()
    if not event:
        return {}
    regions: dict[str, str] = json.loads(event.partition("data: ")[2])["regions"]
    return regions


def test_a_stream_wakes_for_its_topics_alone() -> None:
    hub = Hub()
    woken: list[str] = []
    hub.open(["table:a"], lambda: woken.append("a"))
    hub.publish("table:b")
    assert woken == []
    hub.publish("table:a")
    assert woken == ["a"]


def test_more_streams_than_the_cap_are_refused_until_one_leaves() -> None:
    hub = Hub(cap=2)
    first, _ = hub.open([]), hub.open([])
    with pytest.raises(StreamsFull, match="expected fewer than 2"):
        hub.open([])
    first.leave()
    first.leave()
    assert hub.open([])
    assert hub.streams == 2


def test_a_closed_hub_ends_its_streams_and_opens_no_more() -> None:
    hub = Hub()
    woken: list[bool] = []
    stream = hub.open(["a"], lambda: woken.append(stream.ended))
    hub.close()
    assert woken == [True]
    with pytest.raises(HubClosed):
        hub.open([])


def test_only_what_changed_is_painted_again(home: WebHome) -> None:
    table = home.table()
    token = home.seated(table)
    site = home.app.extensions["site"]
    audience = Audience("en", "phone", ("east",), True)
    first = site.rendered(home.services.tables.get(table.id), audience)
    home.play(table, token, "east", "end_turn")
    second = site.rendered(home.services.tables.get(table.id), audience)
    assert second.version == first.version + 1
    changed = news(second, first.id)
    assert {"turn", "log"} <= changed.keys()
    assert "health" not in changed
    assert second.regions["health"] is first.regions["health"]


def test_an_audience_is_painted_once_for_all_who_look(home: WebHome) -> None:
    page_cache, painted = PageCache(home.hub), []
    table = home.table()
    site = home.app.extensions["site"]
    paint = site.renderer.of_table

    def counted(*args: object) -> object:
        painted.append(args)
        return paint(*args)

    site.renderer.of_table = counted
    audience = Audience("en")
    threads = [
        threading.Thread(target=lambda: site.rendered(home.services.tables.get(table.id), audience)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(painted) == 1
    assert page_cache is not site.page_cache


def test_a_name_that_changes_is_painted_wherever_it_stands(home: WebHome) -> None:
    table = home.table()
    site = home.app.extensions["site"]
    first = site.rendered(home.services.tables.get(table.id), Audience("en"))
    home.seated(table, "east", "Ana")
    second = site.rendered(home.services.tables.get(table.id), Audience("en"))
    assert "Ana" in news(second, first.id)["turn"]


@pytest.mark.parametrize(("region", "times"), [("board", 1), ("turn", 2)])
def test_a_region_is_painted_again_for_a_table_screen_only_if_it_differs_there(
    home: WebHome, region: str, times: int
) -> None:
    table = home.services.tables.open("mexica", "Sunday", 4, "classic", {}, None)
    table = home.services.seats.begin(table.id, table.code)
    site = home.app.extensions["site"]
    painted: list[str] = []
    template = site.renderer.template
    site.renderer.template = lambda name: (painted.append(name.rpartition("/")[2]), template(name))[1]
    for layout in ("phone", "screen", "phone"):
        site.rendered(table, Audience("en", layout))
    assert painted.count(f"{region}.html") == times


@pytest.mark.parametrize(
    "seen", ["", "other.1", "boot.", "boot.-1", "boot.x", "boot.\u0661", "boot.99999", "boot." + "9" * 40]
)
def test_what_a_stranger_has_seen_is_nothing(home: WebHome, seen: str) -> None:
    table = home.table()
    rendered = home.app.extensions["site"].rendered(table, Audience("en"))
    assert news(rendered, seen).keys() == rendered.regions.keys()
    assert rendered.since(seen) == news(rendered, seen)


def test_who_saw_the_same_from_another_process_is_sent_what_differs_and_nothing_else(home: WebHome) -> None:
    table = home.table()
    token = home.seated(table)
    audience = Audience("en", "phone", ("east",), True)
    before = home.app.extensions["site"].rendered(home.services.tables.get(table.id), audience)
    home.hub = Hub(boot="restarted")
    home.restart()
    same = home.app.extensions["site"].rendered(home.services.tables.get(table.id), audience)
    assert same.id != before.id
    assert same.event(before.id) == b""
    home.play(table, token, "east", "end_turn")
    changed = news(home.app.extensions["site"].rendered(home.services.tables.get(table.id), audience), before.id)
    assert {"turn", "log"} <= changed.keys()
    assert "health" not in changed


def test_what_was_taken_back_between_two_events_of_a_stream_is_painted_over() -> None:
    """The answer to a post may have shown what the stream, which is paced, never saw."""
    pages = [
        RenderedPage("b", n, 1, "", {"pick": Region(html, n)}) for n, html in enumerate(("none", "some", "none"))
    ]
    assert news(pages[2], pages[0].id) == {"pick": "none"}


def test_browsers_that_say_they_saw_ever_other_pages_take_no_memory() -> None:
    page = RenderedPage("b", 9, 1, "", {name: Region(name * 10_000, n) for n, name in enumerate("abcdefgh")})
    digests = [region.digest for region in page.regions.values()]
    unknown = [f"visitor-{n}" for n in range(500)]
    mixed = [
        "other.1." + "".join("x" * 8 if n >> k & 1 else each for k, each in enumerate(digests)) for n in range(256)
    ]
    tracemalloc.start()
    try:
        for seen in (*unknown, *mixed, *(f"b.{n}.{'x' * n}" for n in range(500))):
            page.event(seen)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1_000_000


def test_an_event_is_written_once_for_all_who_have_seen_the_same_page(monkeypatch: pytest.MonkeyPatch) -> None:
    page = RenderedPage("b", 2, 1, "", {"old": Region("a", 1), "new": Region("b", 2)})
    first, whole = page.event("b.1.seen"), page.event("")
    monkeypatch.setattr("companion.adapters.news.json.dumps", None)
    assert page.event("b.1.seen") is first
    assert page.event("") is whole
    assert page.event("b.2.") == b""


def test_who_has_seen_everything_is_sent_nothing(home: WebHome) -> None:
    rendered = home.app.extensions["site"].rendered(home.table(), Audience("en"))
    assert rendered.event(rendered.id) == b""


def test_an_event_carries_the_version_that_its_forms_are_made_against(home: WebHome) -> None:
    table = home.table()
    home.seated(table)
    table = home.services.tables.get(table.id)
    rendered = home.app.extensions["site"].rendered(table, Audience("en", "phone", ("east",)))
    action = news(rendered, "")["action"]
    assert f'name="version" value="{table.version}"' in action
    assert "version\x1a" not in action


def test_the_page_cache_forgets_what_nobody_looked_at_for_longest(home: WebHome) -> None:
    page_cache = PageCache(home.hub, room=2)
    site = home.app.extensions["site"]
    site.page_cache = page_cache
    table = home.table()
    first = site.rendered(table, Audience("en"))
    for language in ("es", "en", "es"):
        site.rendered(table, Audience(language))
    assert site.rendered(table, Audience("en")) is first
    site.rendered(table, Audience("en", "screen"))
    assert site.rendered(table, Audience("en")) is first


def test_a_page_that_nobody_looks_at_is_forgotten_and_one_that_somebody_listens_to_is_not(home: WebHome) -> None:
    site = home.app.extensions["site"]
    looked_at, heard, left = (home.table() for _ in range(3))
    audience = Audience("en")
    first = {table.id: site.rendered(table, audience) for table in (looked_at, heard, left)}
    stream = home.hub.open(table_topics(heard.id))
    site.page_cache.forget_unused()
    site.rendered(looked_at, audience)
    site.page_cache.forget_unused()
    again = {table.id: site.rendered(table, audience) for table in (looked_at, heard, left)}
    kept = [again[table.id] is first[table.id] for table in (looked_at, heard, left)]
    assert kept == [True, True, False]
    home.hub.leave(stream)
