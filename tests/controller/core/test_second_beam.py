"""A second beam in a slot: a token breaks both in order, and what breaks one alone is doubted."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.adapters.sqlite_ledger import Ledger
from controller.app.explanations import selftest_lines
from controller.app.scenarios import shipped
from controller.core.counting import MS, SECOND, WIDTH_NS, Counter, Detection, Edge, Limits
from controller.core.judge import TOGETHER_NS
from controller.core.messages import BelowSeen, CalibrationRequest, EdgeSeen, PipelineMessage
from controller.core.ports import BackendContext
from controller.core.second_beam import FORGET_NS, SecondBeam
from controller.core.settings import BeamSettings
from controller.simulation.beams import BELOW_NS, SimulatedBeams
from controller.simulation.fast import Outcome, play_fast
from controller.simulation.parser import ALIKE, APART, read, variants
from controller.simulation.timeline import TRANSIT, BelowChange, Change, expand
from templo import contract
from templo.contract import Flag, God
from tests.controller.program import call
from tests.controller.rig import Rig
from tests.waiting import eventually

T = God.TLALOC
LIMITS = Limits()
LAST_NS = 1000 * SECOND

Spell = tuple[int, int]
"""When a beam goes dark and when it is clear again."""


def levels(spells: Iterable[Spell]) -> list[Edge]:
    """Return the edges of a beam that is dark while any of the spells lasts."""
    steps = sorted([(start, 1) for start, _ in spells] + [(end, -1) for _, end in spells], key=lambda step: step[0])
    edges, depth = [], 0
    for at_ns, group in itertools.groupby(steps, key=lambda step: step[0]):
        before, depth = depth, depth + sum(step for _, step in group)
        if bool(before) != bool(depth):
            edges.append(Edge(at_ns, depth > 0))
    return edges


def counted(spells: Sequence[Spell]) -> list[Detection]:
    """Return what the counter counts of a first beam."""
    counter = Counter(LIMITS, dark=False, since_ns=0, proved=True)
    events = [event for edge in levels(spells) for event in counter.feed(edge)] + counter.advance(LAST_NS)
    return [event for event in events if isinstance(event, Detection)]


def alone(first: Sequence[Spell], second: Sequence[Spell]) -> list[str]:
    """Return which of the tokens of the first beam, numbered from 0, are alone."""
    beam = SecondBeam(LIMITS, dark=False, since_ns=0)
    for edge in levels(second):
        beam.feed(edge)
    for number, token in enumerate(counted(first)):
        beam.take(str(number), token.start_ns, token.start_ns + token.width_ns)
    return beam.alone(LAST_NS)


def ms(*spells: tuple[float, float]) -> list[Spell]:
    return [(round(start * MS), round((start + width) * MS)) for start, width in spells]


TOKENS = st.lists(
    st.tuples(
        st.integers(0, 800 * MS),
        st.integers(LIMITS.min_break, 40 * MS),
        st.integers(TOGETHER_NS, LIMITS.transit),
        st.integers(LIMITS.min_break, 40 * MS),
    ),
    min_size=1,
    max_size=40,
)
"""When each begins, how long the first beam is dark, how much later the second one goes dark, and for how long."""


@given(TOKENS)
def test_no_token_that_passes_both_beams_in_order_is_alone_however_they_merge(
    tokens: list[tuple[int, int, int, int]],
) -> None:
    first = [(at, at + width) for at, width, _, _ in tokens]
    second = [(at + later, at + later + width) for at, _, later, width in tokens]
    assert alone(first, second) == []


LIGHT = st.lists(
    st.tuples(st.integers(5 * MS, 400 * MS), st.integers(LIMITS.min_break, 120 * MS), st.integers(-MS, MS)),
    min_size=1,
)
"""How long it was light, how long it is dark then, and how much later the second beam changes."""


@given(LIGHT)
def test_all_that_breaks_both_beams_at_once_or_the_first_alone_is_alone(light: list[tuple[int, int, int]]) -> None:
    first, second, at_ns = [], [], SECOND
    for clear, dark, later in light:
        at_ns += clear
        first.append((at_ns, at_ns + dark))
        second.append((at_ns + later, at_ns + dark + later))
        at_ns += dark
    everything = [str(number) for number in range(len(counted(first)))]
    assert alone(first, second) == everything
    assert alone(first, []) == everything


def test_a_token_that_reaches_the_second_beam_too_late_or_first_is_alone() -> None:
    assert alone(ms((100, 12)), ms((112 + 90, 12))) == []
    assert alone(ms((100, 12)), ms((112 + 91, 12))) == ["0"]
    assert alone(ms((100, 12)), ms((90, 12))) == ["0"]
    assert alone(ms((100, 12)), ms((90, 5))) == ["0"]


def test_two_tokens_that_one_beam_sees_as_one_are_not_alone() -> None:
    assert alone(ms((100, 20)), ms((114, 8), (126, 8))) == []
    assert alone(ms((100, 8), (114, 8)), ms((114, 22))) == []


def test_the_second_spell_of_a_merged_pair_makes_no_later_token_doubtful() -> None:
    assert alone(ms((100, 20), (126, 8)), ms((114, 8), (124, 8), (140, 8))) == []


def test_a_second_beam_that_is_dark_longer_than_any_token_doubts_nothing_and_is_reported() -> None:
    beam = SecondBeam(LIMITS, dark=True, since_ns=SECOND)
    beam.take("a", 2 * SECOND, 2 * SECOND + 12 * MS)
    assert beam.alone(LAST_NS) == []
    assert [each.code for each in beam.findings(LAST_NS)] == ["below_dark"]
    beam.feed(Edge(LAST_NS, dark=False))
    beam.take("b", LAST_NS + SECOND, LAST_NS + SECOND + 12 * MS)
    assert beam.alone(LAST_NS + 2 * SECOND) == ["b"]
    assert beam.findings(LAST_NS + 2 * SECOND) == []


def test_a_second_beam_that_a_token_leaves_dark_follows_no_other() -> None:
    beam = SecondBeam(LIMITS, dark=False, since_ns=0)
    beam.feed(Edge(114 * MS, dark=True))
    for token in range(3):
        beam.take(str(token), token * SECOND + 100 * MS, token * SECOND + 112 * MS)
    assert beam.alone(LAST_NS) == []
    assert beam.to_dict()["followed"] == 1


def test_when_a_beam_that_stays_dark_is_to_be_reported_is_known_beforehand() -> None:
    beam = SecondBeam(LIMITS, dark=False, since_ns=0)
    assert beam.deadline(SECOND) is None
    beam.feed(Edge(SECOND, dark=True))
    due_ns = beam.deadline(SECOND)
    assert due_ns is not None
    assert beam.findings(due_ns - 1) == []
    assert [each.code for each in beam.findings(due_ns)] == ["below_dark"]
    assert beam.deadline(due_ns) is None


@pytest.mark.parametrize("lost", [0, 1])
def test_a_token_whose_second_spell_lacks_an_edge_is_not_alone(lost: int) -> None:
    beam = SecondBeam(LIMITS, dark=False, since_ns=0)
    beam.feed([Edge(114 * MS, dark=True), Edge(126 * MS, dark=False)][1 - lost])
    beam.take("a", 100 * MS, 112 * MS)
    assert beam.alone(LAST_NS) == []


def test_after_an_edge_that_was_lost_while_dark_the_next_token_but_one_is_judged_again() -> None:
    beam = SecondBeam(LIMITS, dark=False, since_ns=0)
    for edge in (Edge(114 * MS, True), Edge(SECOND + 114 * MS, True), Edge(SECOND + 126 * MS, False)):
        beam.feed(edge)
    for number in range(3):
        beam.take(str(number), number * SECOND + 100 * MS, number * SECOND + 112 * MS)
    assert beam.alone(LAST_NS) == ["2"]
    assert beam.findings(LAST_NS) == []


def test_a_token_is_judged_once_its_time_is_over_however_often_it_is_looked_at() -> None:
    beam = SecondBeam(LIMITS, dark=False, since_ns=0)
    assert beam.due_ns() is None
    beam.take("a", 100 * MS, 112 * MS)
    due_ns = beam.due_ns()
    assert due_ns is not None
    assert [beam.alone(due_ns - 1), beam.alone(due_ns), beam.alone(due_ns + SECOND)] == [[], ["a"], []]


def test_a_second_beam_that_follows_no_token_for_four_is_reported_until_it_follows_one() -> None:
    beam = SecondBeam(LIMITS, dark=False, since_ns=0)
    for number in range(4):
        assert beam.findings(LAST_NS) == []
        beam.take(None, number * SECOND, number * SECOND + 12 * MS)
        beam.alone(LAST_NS)
    assert [(each.code, each.facts) for each in beam.findings(LAST_NS)] == [("below_silent", {"tokens": 4})]
    beam.feed(Edge(10 * SECOND + 14 * MS, dark=True))
    beam.feed(Edge(10 * SECOND + 26 * MS, dark=False))
    beam.take(None, 10 * SECOND, 10 * SECOND + 12 * MS)
    beam.alone(LAST_NS)
    assert beam.findings(LAST_NS) == []


def test_spells_of_the_second_beam_that_no_token_explains_are_no_tokens_and_reported_if_they_repeat() -> None:
    beam = SecondBeam(LIMITS, dark=False, since_ns=0)
    for number in range(1, 5):
        assert beam.findings(LAST_NS) == []
        beam.feed(Edge(number * SECOND, dark=True))
        beam.feed(Edge(number * SECOND + 10 * MS, dark=False))
        assert beam.alone(number * SECOND + 2 * FORGET_NS) == []
    assert [(each.code, each.facts) for each in beam.findings(LAST_NS)] == [
        ("below_alone", {"spells": 4, "tokens": 0})
    ]


# -- in the pipeline --


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    found = Rig(tmp_path, below={T: False})
    found.connect()
    return found


def drop(rig: Rig, *, later_ms: int | None = None) -> None:
    """Let a token fall, and wait until it is judged; it reaches the second beam so much later, if at all."""
    rig.token(T)
    start_ns = rig.now_ns - 20 * MS
    if later_ms is not None:
        at_ns = start_ns + later_ms * MS
        rig.take(BelowSeen(T, at_ns, True), BelowSeen(T, at_ns + 12 * MS, False))
    rig.take(after_ns=SECOND)


def doubts(rig: Rig) -> list[contract.Doubt]:
    return [each for each in rig.broker.published if isinstance(each, contract.Doubt)]


@pytest.mark.usefixtures("expects_warnings")
def test_a_token_is_published_at_once_and_doubted_when_the_second_beam_does_not_follow(rig: Rig) -> None:
    rig.token(T)
    assert rig.broker.tokens() == [(1, False)]
    assert doubts(rig) == []
    wait = rig.pipeline.patience()
    assert wait is not None
    assert wait < 1
    rig.take(after_ns=SECOND)
    assert [(each.reason, each.tokens) for each in doubts(rig)] == [("alone", (rig.ledger()[0].token,))]


def test_a_token_that_the_second_beam_follows_is_not_doubted(rig: Rig) -> None:
    drop(rig, later_ms=14)
    assert rig.broker.tokens() == [(1, False)]
    assert doubts(rig) == []


def test_a_slot_without_a_second_beam_doubts_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path, below={God.HUITZILOPOCHTLI: False})
    rig.connect()
    drop(rig)
    assert doubts(rig) == []


def test_a_spell_of_the_second_beam_alone_counts_nothing(rig: Rig) -> None:
    rig.take(BelowSeen(T, rig.now_ns, True), BelowSeen(T, rig.now_ns + 12 * MS, False), after_ns=SECOND)
    assert rig.ledger() == []


def test_tokens_of_a_calibration_are_not_doubted_and_are_not_taken_for_spells_of_the_second_beam(rig: Rig) -> None:
    rig.take(CalibrationRequest(T, 1, None, lambda result: None))
    drop(rig)
    assert Flag.TEST in rig.ledger()[0].flags
    assert doubts(rig) == []


@pytest.mark.usefixtures("expects_warnings")
def test_at_the_end_of_the_program_a_token_whose_time_is_over_is_still_doubted(rig: Rig) -> None:
    rig.token(T)
    rig.take(after_ns=2 * LIMITS.transit)
    rig.stop()
    with closing(Ledger.open(rig.disk.path, str, read_only=True)) as ledger:
        assert [each.reason for each in ledger.doubts_after(0, 9)] == ["alone"]


def test_a_token_that_fell_just_before_the_end_of_the_program_is_not_doubted(rig: Rig) -> None:
    rig.token(T)
    rig.stop()
    with closing(Ledger.open(rig.disk.path, str, read_only=True)) as ledger:
        assert ledger.last_doubt == 0


def test_the_self_test_and_the_findings_say_what_the_second_beam_saw(tmp_path: Path) -> None:
    rig = Rig(tmp_path, below={T: True})
    rig.connect()
    beams = rig.selftest()["beams"]
    assert isinstance(beams, dict)
    assert "below" not in beams[God.HUITZILOPOCHTLI]
    assert beams[T]["below"] == {"reads": "dark", "followed": 0, "alone": 0, "unexplained": 0}
    assert [each["code"] for each in beams[T]["findings"]] == ["below_dark"]
    published = [each for each in rig.broker.published if isinstance(each, contract.Findings)]
    assert [each.code for each in published[-1].beams[T]] == ["below_dark"]
    rig.take(BelowSeen(T, rig.now_ns, False), EdgeSeen(T, rig.now_ns, True), after_ns=SECOND)
    published = [each for each in rig.broker.published if isinstance(each, contract.Findings)]
    assert "below_dark" not in [each.code for each in published[-1].beams[T]]


# -- in scenarios --


def played(folder: Path, text: bytes, below: str) -> dict[str, Outcome]:
    ids = (f"{number:032x}" for number in itertools.count(1))
    found: dict[str, Outcome] = {}
    for name, script in variants(b"below = " + f'"{below}"\n'.encode() + text).items():
        path = folder / f"{len(found)}.sqlite3"
        found[name] = play_fast(script, LIMITS, path, lambda: next(ids))
    return found


def files(folder: str) -> list[Path]:
    return [file for file in shipped() if file.parent.name == folder]


@pytest.mark.usefixtures("expects_warnings")
@pytest.mark.parametrize("below", [APART, ALIKE])
@pytest.mark.parametrize("name", ["shadows", "hair", "insect", "loose-plug", "camera-flash"])
def test_with_second_beams_light_scores_nothing(tmp_path: Path, name: str, below: str) -> None:
    (file,) = (file for file in files("light") if file.stem == name)
    for outcome in played(tmp_path, file.read_bytes(), below).values():
        assert [outcome.scored(god) for god in God] == [0, 0]


@pytest.mark.parametrize("file", files("controls"), ids=lambda file: file.stem)
def test_with_second_beams_nothing_that_people_do_with_tokens_is_doubted(tmp_path: Path, file: Path) -> None:
    for outcome in played(tmp_path, file.read_bytes(), APART).values():
        assert outcome.doubted == frozenset()


def test_the_table_can_be_printed_with_second_beams_in_every_scenario() -> None:
    done = call("scenario", "--table", "--below", "apart", str(files("light")[-1]))
    assert (done.returncode, done.stderr) == (0, "")


def moments(text: str, below: str) -> list[tuple[str, float, bool]]:
    script = read(f'v = 1\nbelow = "{below}"\n[[event]]\nat_ms = 100\ngod = "tlaloc"\n{text}'.encode())
    return [
        (type(each).__name__, each.at_ns / MS, each.dark)
        for each in expand(script).moments
        if isinstance(each, Change | BelowChange)
    ]


def test_a_token_of_a_scenario_breaks_a_second_beam_later_and_for_as_long() -> None:
    assert not any(name == "BelowChange" for name, _, _ in moments('do = "drop"', "none"))
    first, *second = [each for each in moments('do = "drop"', APART) if each[0] == "BelowChange"]
    assert first[2]
    assert TRANSIT.low_ns / MS <= first[1] - 100 <= TRANSIT.high_ns / MS
    ((_, clear_ms, dark),) = second
    assert clear_ms == pytest.approx(first[1] + 12)
    assert not dark


def test_light_of_a_scenario_breaks_a_second_beam_at_the_same_moment_or_not_at_all() -> None:
    light = 'do = "glitch"\nwidth_ms = 12'
    assert moments(light, APART) == [("Change", 100, True), ("Change", 112, False)]
    assert moments(light, ALIKE) == [
        ("Change", 100, True), ("BelowChange", 100, True), ("Change", 112, False), ("BelowChange", 112, False),
    ]  # fmt: skip


def test_a_train_may_say_what_the_second_beam_saw() -> None:
    train = 'do = "train"\ntokens = 1\nspells_ms = [[0, 12]]\nbelow_ms = [[15, 5], [22, 3]]'
    assert [each[1:] for each in moments(train, APART) if each[0] == "BelowChange"] == [
        (115, True), (120, False), (122, True), (125, False),
    ]  # fmt: skip


def test_a_second_beam_that_the_settings_name_is_broken_by_a_key_press_after_the_first() -> None:
    settings = BeamSettings(17, 27, "low", "up", "simulated", tlaloc_below=6)
    beams = SimulatedBeams(BackendContext(settings, LIMITS, Path("unused"), time.monotonic_ns, str))
    put: list[PipelineMessage] = []
    beams.open(put.append)
    try:
        assert [beams.below(god) for god in God] == [None, False]
        for god in God:
            beams.drop(god)
        eventually(lambda: len(put) == 6)
    finally:
        beams.close()
    (dark_ns, _) = [each.at_ns for each in put if isinstance(each, EdgeSeen) and each.god is T]
    below = [(each.god, each.at_ns - dark_ns, each.dark) for each in put if isinstance(each, BelowSeen)]
    assert below == [(T, BELOW_NS, True), (T, BELOW_NS + WIDTH_NS, False)]


def test_a_self_test_names_the_second_beam_in_its_slot_s_line(rig: Rig) -> None:
    drop(rig, later_ms=14)
    lines = list(selftest_lines(rig.selftest()))
    assert any("second beam reads clear, followed 1 token" in line for line in lines if "Tlaloc" in line)
    assert not any("second beam" in line for line in lines if "Huitzilopochtli" in line)
