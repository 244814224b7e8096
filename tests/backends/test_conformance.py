"""What every backend promises, whichever it is; `harness.py` says how one of your own is proved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from controller.app import backends
from controller.app.backends import BACKENDS
from controller.core.counting import Limits
from controller.core.messages import BelowSeen, BoardHello, BoardToken, EdgeSeen, EdgesLost
from controller.core.ports import BeamsError, Level, Source
from controller.core.settings import BeamSettings
from controller.core.slots import Slots
from templo.contract import Emitters, God
from tests.backends.harness import HARNESSES, Harness, Queue
from tests.waiting import eventually


class Opened:
    """A backend in its world, opened."""

    def __init__(self, harness: Harness, dark: frozenset[God] = frozenset()) -> None:
        self.harness, self.queue = harness, Queue()
        self.source: Source = harness.make()
        for god in dark:
            harness.set(god, True)
        self.levels = self.source.open(self.queue.put)


Open: TypeAlias = Callable[..., Opened]


@pytest.fixture(params=sorted(HARNESSES))
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Harness]:
    return lambda **words: HARNESSES[request.param](tmp_path, monkeypatch, **words)


@pytest.fixture
def opened(make: Callable[..., Harness]) -> Iterator[Open]:
    sources: list[Source] = []

    def open_one(dark: frozenset[God] = frozenset(), **words: Any) -> Opened:
        one = Opened(make(**words), dark)
        sources.append(one.source)
        return one

    yield open_one
    for source in sources:
        source.close()


def gives_edges(one: Opened) -> None:
    if one.source.capabilities.counts:
        pytest.skip("it counts by itself, and gives tokens")


def test_it_is_found_by_its_name_and_its_settings_are_checked(make: Callable[..., Harness]) -> None:
    harness = make()
    source = harness.make()
    settings = harness.context().settings
    assert type(source).__name__ == backends.find(settings).__name__
    with pytest.raises(ValueError, match=settings.backend):
        backends.find(replace(settings, source=f"{settings.backend}:{'' if settings.address else 'anything'}"))


def test_a_name_that_nobody_knows_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ValueError, match="one of gpio, gpiod, serial, simulated"):
        backends.find(BeamSettings(17, 27, "low", "up", "gpoi"))


def test_edges_arrive_in_order_each_beams_levels_in_turn_and_stamped_no_earlier_than_its_start(opened: Open) -> None:
    one = opened()
    gives_edges(one)
    for dark in (True, False) * 5:
        for number, god in enumerate(God, 1):
            before = len(one.queue.messages)
            one.harness.set(god, dark)
            eventually(lambda before=before: len(one.queue.messages) == before + 1)  # type: ignore[misc]
            assert one.source.dark(god) is dark, number
    for god in God:
        mine = [edge for edge in one.queue.of(EdgeSeen) if edge.god is god]
        assert [edge.dark for edge in mine] == [True, False] * 5
        stamps = [edge.at_ns for edge in mine]
        assert stamps == sorted(stamps)
        assert stamps[0] >= one.levels[god].at_ns


def test_a_second_beam_is_read_and_its_edges_are_put_apart_from_those_of_the_first(
    opened: Open, make: Callable[..., Harness]
) -> None:
    if not make().second:
        pytest.skip("it has no second beam, or none that a test can break alone")
    one = opened(below=True)
    assert [one.source.below(god) for god in God] == [None, False]
    for dark in (True, False):
        before = len(one.queue.messages)
        one.harness.set_below(dark)
        eventually(lambda before=before: len(one.queue.messages) == before + 1)  # type: ignore[misc]
        assert one.source.below(God.TLALOC) is dark
        assert one.source.dark(God.TLALOC) is False
    assert not one.queue.of(EdgeSeen)
    assert [(edge.god, edge.dark) for edge in one.queue.of(BelowSeen)] == [(God.TLALOC, True), (God.TLALOC, False)]


def test_both_levels_are_known_at_the_start(opened: Open) -> None:
    one = opened()
    assert set(one.levels) == set(God)
    assert all(isinstance(level, Level) and not level.dark for level in one.levels.values())


def test_a_beam_that_is_dark_at_the_start_is_reported_dark(opened: Open, make: Callable[..., Harness]) -> None:
    if make().make().capabilities.counts:
        pytest.skip("a board reports its levels itself")
    harness = make()
    if not harness.early:
        pytest.skip("its beams are clear until they are broken")
    one = opened(frozenset({God.TLALOC}))
    assert {god: level.dark for god, level in one.levels.items()} == {God.HUITZILOPOCHTLI: False, God.TLALOC: True}


def test_it_lives_until_it_is_closed_and_closing_twice_or_before_opening_is_no_error(
    opened: Open, make: Callable[..., Harness]
) -> None:
    make().make().close()
    one = opened()
    assert one.source.alive()
    one.source.close()
    one.source.close()


def test_nothing_is_put_after_it_was_closed(opened: Open) -> None:
    one = opened()
    gives_edges(one)
    one.source.close()
    before = list(one.queue.messages)
    with suppress(AttributeError, OSError):  # pins or a pipe that are gone
        one.harness.set(God.TLALOC, True)
    assert one.queue.messages == before


def test_a_board_puts_tokens_with_numbers_and_no_edges(opened: Open) -> None:
    one = opened()
    if not one.source.capabilities.counts:
        assert not one.queue.of(BoardToken)
        return
    (hello,) = eventually(lambda: one.queue.of(BoardHello))
    hello.respond(hello.initial)
    for number, god in enumerate((God.TLALOC, God.HUITZILOPOCHTLI), 1):
        one.harness.token(god, number)
    eventually(lambda: len(one.queue.of(BoardToken)) == 2)
    assert [(each.cursor.seq, each.god) for each in one.queue.of(BoardToken)] == [
        (1, God.TLALOC),
        (2, God.HUITZILOPOCHTLI),
    ]
    assert not one.queue.of(EdgeSeen, EdgesLost)
    one.source.recorded(hello.board, 2)
    one.source.learn(Limits(min_break=4_000_000))


def test_lost_edges_are_reported_with_their_exact_number_where_that_is_promised(opened: Open) -> None:
    one = opened()
    if not one.source.capabilities.lost_edges_known:
        assert not one.queue.of(EdgesLost)
        return
    one.harness.lose(God.TLALOC, 7)
    eventually(lambda: one.queue.of(EdgesLost))
    assert [(lost.god, lost.number) for lost in one.queue.of(EdgesLost)] == [(God.TLALOC, 7)]
    first = next(number for number, each in enumerate(one.queue.messages) if isinstance(each, EdgesLost))
    assert first == 0
    one.harness.set(God.HUITZILOPOCHTLI, True)
    eventually(lambda: one.queue.of(EdgeSeen) and one.queue.of(EdgeSeen)[-1].god is God.HUITZILOPOCHTLI)
    assert len(one.queue.of(EdgesLost)) == 1


def test_beams_break_on_demand_where_that_is_promised_and_nowhere_else(opened: Open) -> None:
    one = opened()
    if not one.source.capabilities.test_drops:
        with pytest.raises(BeamsError, match="no test drops"):
            one.source.drop(God.TLALOC, 1, 20_000_000)
        assert one.source.toggle(God.TLALOC) is None
        return
    one.source.drop(God.TLALOC, 2, 20_000_000)
    eventually(lambda: len(one.queue.of(EdgeSeen)) == 4)
    assert [one.source.toggle(God.TLALOC), one.source.toggle(God.TLALOC)] == [True, False]


def test_emitters_that_are_fixed_prove_nothing(opened: Open) -> None:
    one = opened()
    assert one.source.capabilities.emitters is Emitters.FIXED
    assert one.source.prove() is None


def test_switched_emitters_prove_both_beams_and_nothing_is_counted_of_it(
    opened: Open, make: Callable[..., Harness]
) -> None:
    if not make().switchable:
        pytest.skip("its emitters are never switched, or by a scenario")
    one = opened(switched=True)
    assert one.source.capabilities.emitters is Emitters.SWITCHED
    assert all(level.proved and not level.dark for level in one.levels.values())
    assert not [edge for edge in one.queue.of(EdgeSeen) if edge.at_ns >= one.levels[edge.god].at_ns]
    slots = Slots(one.source, one.levels, Limits())
    assert [events for _, events in slots.prove()] == [[], []]
    found = slots.selftest(0, True, None)["beams"]
    assert isinstance(found, dict)
    assert [found[god]["proof"] for god in God] == [True, True]
    assert [events for edge in one.queue.of(EdgeSeen) for _, events in slots.take(edge)] == []
    assert not one.queue.of(EdgesLost)


def test_every_backend_has_a_harness() -> None:
    assert set(BACKENDS) <= set(HARNESSES)
