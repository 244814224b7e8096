"""Scenario files: what they may hold, what edges follow, and that each of ours comes to what it says."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.app.scenarios import shipped
from controller.core.counting import MS, Limits
from controller.simulation.fast import Outcome, play_fast
from controller.simulation.parser import KINDS, ScenarioError, Script, read, variants
from controller.simulation.timeline import BrokerCut, Change, Restart, SplitMix, expand
from templo.contract import God
from tests.brokers import free_port, mosquitto
from tests.controller.program import ROOT, Companion, Temple, call
from tests.waiting import eventually

SCENARIOS = shipped()
GUIDE = ROOT / "docs" / "simulated-sensors.md"


def played(folder: Path, text: str | bytes | Script) -> Outcome:
    ids = (f"{number:032x}" for number in itertools.count(1))
    script = text if isinstance(text, Script) else read(text.encode() if isinstance(text, str) else text)
    return play_fast(script, Limits(), folder / "ledger.sqlite3", lambda: next(ids))


# -- the files that come with the program --


@pytest.mark.usefixtures("expects_warnings")
@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_each_scenario_comes_to_what_it_says(tmp_path: Path, file: Path) -> None:
    complaints = {}
    for number, (name, script) in enumerate(variants(file.read_bytes(), file.name).items()):
        assert script.title
        assert script.expected.tokens or script.expected.scored or script.expected.findings
        folder = tmp_path / str(number)
        folder.mkdir()
        if found := played(folder, script).complaints:
            complaints[name] = found
    assert complaints == {}


def test_of_what_people_do_with_tokens_nothing_is_found_but_that_some_merged() -> None:
    controls = [file for file in SCENARIOS if file.parent.name == "controls"]
    assert controls
    for file in controls:
        expected = read(file.read_bytes(), file.name).expected
        assert expected.tokens
        assert expected.findings
        assert frozenset().union(*expected.findings.values()) <= {"overlap"}, file.name


@pytest.mark.parametrize(
    "file", [each for each in SCENARIOS if each.parent.name == "controls"], ids=lambda each: each.stem
)
def test_nothing_that_people_do_with_tokens_is_doubted(tmp_path: Path, file: Path) -> None:
    assert played(tmp_path, file.read_bytes()).doubted == frozenset()


def test_the_guide_names_every_event_and_every_scenario() -> None:
    guide = GUIDE.read_text()
    assert [kind for kind in KINDS if f"`{kind}`" not in guide] == []
    assert [field for kind in KINDS.values() for field in kind if f"`{field}`" not in guide] == []
    assert [file.stem for file in SCENARIOS if f"`{file.stem}`" not in guide] == []


def test_the_example_of_the_guide_is_one_that_can_be_read() -> None:
    example = GUIDE.read_text().split("```toml\n")[1].split("```")[0]
    assert expand(read(example.encode())).fell == {God.TLALOC: 5, God.HUITZILOPOCHTLI: 1}


# -- reading --


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("v = 2", "x:1: v is 2; expected 1, the version of the format"),
        ("seed = 1", "x: v is None; expected 1"),
        ("v = 1\nspeed = 3", "x:2: 'speed' is no key of a scenario; expected v, title, seed"),
        ("v = 1\nseed = -1", "x:2: seed is -1; expected a whole number from 0 to 4294967295"),
        ("v = 1\n[[event]]\nat_ms = 1\ndo = 'rain'", "x:4: event 1: do is 'rain'; expected drop, handful"),
        ("v = 1\n[[event]]\ndo = 'restart'", "x:3: event 1 (restart): at_ms is missing"),
        ("v = 1\n[[event]]\nat_ms = 1\ndo = 'drop'\ngod = 'chac'", "god is 'chac'; expected \"huitzilopochtli\" or"),
        (
            "v = 1\n[[event]]\nat_ms = 1\ndo = 'restart'\n[[event]]\nat_ms = 5\ndo = 'jam'\ngod = 'both'\nfor_ms = 0",
            "x:9: event 2 (jam): for_ms is 0; expected milliseconds from 0.001 to 8.64e+07",
        ),
        (
            "v = 1\n[[event]]\nat_ms = 1\ndo = 'drop'\ngod = 'tlaloc'\nwidth_ms = [9, 3]",
            "width_ms is [9, 3]; expected milliseconds from 0.001 to 60000, or [lowest, highest] of them",
        ),
        (
            "v = 1\n[[event]]\nat_ms = 1\ndo = 'drop'\ngod = 'tlaloc'\nwide = 3",
            "x:6: event 1 (drop): wide is unknown",
        ),
        *(
            (
                f"v = 1\n[[event]]\nat_ms = 1\ndo = 'train'\ngod = 'tlaloc'\ntokens = 1\nspells_ms = {spells}",
                f"x:7: event 1 (train): spells_ms is {spells}; expected {expected}",
            )
            for spells, expected in (
                ("7", "[[start, width], ...] in milliseconds"),
                (
                    "[[0, 5], [9]]",
                    "pair 2 to be [start, width] in milliseconds, from 0 to 8.64e+07 and from 0.001 to",
                ),
                ("[[0, 0]]", "pair 1 to be [start, width] in milliseconds, from 0 to 8.64e+07 and"),
                ("[[-1, 5]]", "pair 1 to be [start, width] in milliseconds"),
                ("[['x', 5]]", "pair 1 to be [start, width] in milliseconds"),
                ("[[2, 5], [7, 5]]", "pair 2, [7, 5], to begin after the pair before it has ended, at 7"),
            )
        ),
        ("v = 1\n[[event]]\nat_ms = 1\ndo = 'train'\ngod = 'tlaloc'\nspells_ms = []", "(train): tokens is missing"),
        (
            "v = 1\n[[event]]\nat_ms = 1\ndo = 'train'\ngod = 'both'\nspells_ms = []\ntokens = 1",
            'x:5: event 1 (train): god is \'both\'; expected "huitzilopochtli" or "tlaloc"',
        ),
        ("v = 1\n[[event]]\nat_ms = nan\ndo = 'restart'", "x:3: event 1 (restart): at_ms is nan"),
        ("v = 1\nevent = 3", "x:2: event is 3; expected tables that begin with [[event]]"),
        ("v = 1\nend_ms = 5\n[[event]]\nat_ms = 9\ndo = 'restart'", "x:2: end_ms is 5; expected no less than"),
        ("v = 1\n[counting]\nband_ms = 'x'", "x:3: counting.band_ms is 'x'; expected milliseconds from 0.1"),
        ("v = 1\n[expect]\ntokens = { chac = 1 }", "x:3: expect.tokens names 'chac'"),
        ("v = 1\n[expect]\nfindings = { tlaloc = [1] }", "expected a list of codes, such as blocked"),
        ("v = 1\n\nthis is no TOML", "x:3: not TOML: Expected '=' after a key"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_line_its_value_and_what_was_expected(text: str, words: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        read(text.encode(), "x")
    assert words in str(refused.value)


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    with pytest.raises(ScenarioError, match=r"x:2: it holds b'\\xff'; expected text in UTF-8"):
        read(b"v = 1\n\xff", "x")


def test_limits_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"counting.max_break_ms is 2; expected more than"):
        read(b"v = 1\n[counting]\nmax_break_ms = 2").limits(Limits())


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, str) else str(value)


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_scenario_or_a_scenario_error(text: bytes) -> None:
    try:
        read(text)
    except ScenarioError:
        return
    raise AssertionError("random bytes hold no version")


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(sorted(KINDS)),
    st.dictionaries(
        st.sampled_from(sorted({"at_ms"} | {field for kind in KINDS.values() for field in kind})),
        _VALUES,
    ),
    st.dictionaries(st.sampled_from(["title", "seed", "end_ms", "counting", "expect", "event"]), _VALUES, max_size=2),
)
def test_any_values_are_a_scenario_with_a_timeline_or_a_scenario_error(
    kind: str, fields: dict[str, object], top: dict[str, object]
) -> None:
    event = "".join(f"{key} = {_toml(value)}\n" for key, value in {"at_ms": 3, "god": "tlaloc", **fields}.items())
    text = "v = 1\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in top.items())
    try:
        script = read(f"{text}[[event]]\ndo = '{kind}'\n{event}".encode(errors="surrogatepass"))
        expand(script)
    except ScenarioError:
        pass


# -- edges --


def edges(text: str, god: God = God.TLALOC) -> list[tuple[float, bool, bool]]:
    timeline = expand(read(f"v = 1\nseed = 7\n{text}".encode()))
    return [
        (each.at_ns / MS, each.dark, each.edge_seen)
        for each in timeline.moments
        if isinstance(each, Change) and each.god is god
    ]


def event(do: str, at_ms: float, **fields: object) -> str:
    values = {"at_ms": at_ms, "do": do, "god": "tlaloc", **fields}
    return "[[event]]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in values.items())


def test_splitmix_gives_the_numbers_that_every_language_gets() -> None:
    """The published first values of SplitMix64 for the seed 1234567."""
    random = SplitMix(0, 1234567)
    assert [random.next() for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_tokens_fall_at_their_time_with_their_width() -> None:
    assert edges(event("drop", 10, count=2, every_ms=50, width_ms=12)) == [
        (10, True, True), (22, False, True), (60, True, True), (72, False, True),
    ]  # fmt: skip


def test_widths_are_drawn_from_the_seed_and_each_event_draws_for_itself() -> None:
    one, two = event("drop", 0, count=20, width_ms=[9, 14]), event("drop", 9000, count=5, width_ms=[9, 14])
    assert edges(one) == edges(one)
    assert edges(one + two)[: len(edges(one))] == edges(one)
    found = edges(one)
    widths = {end[0] - begin[0] for begin, end in zip(found[::2], found[1::2], strict=True)}
    assert len(widths) > 10
    assert all(9 <= width <= 14.001 for width in widths)


def test_a_token_that_bounces_is_as_wide_as_one_that_does_not() -> None:
    found = edges(event("drop", 0, width_ms=12, bounces=2, gap_ms=1))
    assert len(found) == 6
    assert found[-1][0] == pytest.approx(12, abs=0.01)


def test_a_train_darkens_the_beam_when_and_as_long_as_it_says_whatever_fell() -> None:
    train = event("train", 10, spells_ms=[[0, 5.5], [20.125, 7]], tokens=3)
    assert edges(train) == [(10, True, True), (15.5, False, True), (30.125, True, True), (37.125, False, True)]
    unseen = event("train", 90, spells_ms=[], tokens=1)
    assert edges(train + unseen) == edges(train)
    assert expand(read(f"v = 1\n{train}{unseen}".encode())).fell[God.TLALOC] == 4


def test_tokens_that_overlap_are_one_spell_for_a_beam() -> None:
    assert edges(event("overlap", 0, width_ms=12, by_ms=4)) == [(0, True, True), (20, False, True)]


def test_what_shades_a_beam_twice_shades_it_until_both_are_gone() -> None:
    found = edges(event("jam", 0, for_ms=100) + event("drop", 90, width_ms=30))
    assert found == [(0, True, True), (120, False, True)]


def test_a_receiver_without_its_plug_reads_clear_and_one_without_its_emitter_dark() -> None:
    drop = event("drop", 50)
    assert edges(event("unplug", 0, part="receiver") + drop) == []
    assert edges(event("unplug", 10, for_ms=500) + drop) == [(10, True, True), (510, False, True)]
    assert expand(read(f"v = 1\n{event('unplug', 0)}{drop}".encode())).dark[God.TLALOC]


def test_a_lamp_keeps_a_receiver_clear_whatever_falls_and_is_unplugged() -> None:
    drop = event("drop", 50, count=3, every_ms=100)
    assert edges(event("lamp", 40, for_ms=150) + drop) == [(250, True, True), (262, False, True)]
    assert edges(event("unplug", 10) + event("lamp", 40)) == [(10, True, True), (40, False, True)]


def test_a_reversed_beam_is_dark_at_rest_and_bright_while_a_token_passes() -> None:
    assert edges(event("reverse", 0) + event("drop", 50, width_ms=12)) == [(50, False, True), (62, True, True)]


def test_a_missed_edge_changes_the_level_without_an_edge() -> None:
    assert edges(event("drop", 10, count=2, every_ms=50) + event("miss", 15)) == [
        (10, True, True), (22, False, False), (60, True, True), (72, False, True),
    ]  # fmt: skip


def test_a_deaf_beam_reports_no_edge_for_as_long_as_it_lasts() -> None:
    seen = [each[2] for each in edges(event("deaf", 5, for_ms=30) + event("drop", 10, count=2, every_ms=50))]
    assert seen == [False, False, True, True]


def test_a_broker_and_a_restart_are_moments_of_their_own() -> None:
    text = b"v = 1\n[[event]]\nat_ms = 5\ndo = 'broker_down'\nfor_ms = 10\n[[event]]\nat_ms = 7\ndo = 'restart'\n"
    assert expand(read(text)).moments == (BrokerCut(5 * MS, True), Restart(7 * MS, 0), BrokerCut(15 * MS, False))


def test_a_scenario_that_is_far_too_long_is_refused() -> None:
    with pytest.raises(ScenarioError, match="expected at most"):
        edges(event("flicker", 0, for_ms=86_400_000, per_s=2000))
    with pytest.raises(ScenarioError, match="expected at most"):
        edges(event("drop", 0, count=100_000, bounces=50))


# -- as fast as it can --


def test_the_same_scenario_comes_to_the_same_every_time(tmp_path: Path) -> None:
    text = (ROOT / "controller" / "simulation" / "scenarios" / "evening.toml").read_bytes()
    outcomes = []
    for name in "ab":
        (tmp_path / name).mkdir()
        outcomes.append(played(tmp_path / name, text))
    assert outcomes[0] == outcomes[1]


def test_tokens_that_fall_while_the_program_is_away_are_seen_by_nobody_and_all_others_are_delivered(
    tmp_path: Path,
) -> None:
    text = "v = 1\n[[event]]\nat_ms = 1050\ndo = 'restart'\nfor_ms = 1000\n" + "".join(
        event("drop", at_ms + at_ms // 100 % 3 * 9) for at_ms in range(0, 3000, 100)
    )
    outcome = played(tmp_path, text)
    assert (outcome.fell[God.TLALOC], outcome.counted(God.TLALOC)) == (30, 20)
    assert outcome.delivered == {token.seq for token in outcome.tokens}
    assert [token.seq for token in outcome.tokens] == list(range(1, 21))


def test_a_broker_that_stays_away_is_back_after_the_end(tmp_path: Path) -> None:
    text = "v = 1\n[[event]]\nat_ms = 0\ndo = 'broker_down'\n" + event("drop", 10, count=30, every_ms=[90, 200])
    outcome = played(tmp_path, text)
    assert len(outcome.delivered) == 30
    assert outcome.complaints == ()


def test_the_command_line_prints_what_came_of_a_scenario_and_exits_by_it(tmp_path: Path) -> None:
    done = call("scenario", str(ROOT / "controller/simulation/scenarios/blocked.toml"))
    assert done.returncode == 0
    assert "Tlaloc           6 tokens fell, 4 counted" in done.stdout
    assert "-> clear the chute" in done.stdout
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("v = 1\n[expect]\ntokens = { tlaloc = 3 }\n" + event("drop", 1))
    done = call("scenario", str(wrong), "--json")
    assert done.returncode == 1
    assert "tlaloc: 1 token was counted; expected 3" in done.stderr
    assert json.loads(done.stdout)["counted"] == {"huitzilopochtli": 0, "tlaloc": 1}
    wrong.write_text("v = 1\nseed = 'x'")
    done = call("scenario", str(wrong))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"templo-controller: {wrong}:2: seed is 'x'; expected")
    assert "cannot be read: No such file" in call("scenario", str(tmp_path / "absent.toml")).stderr


# -- in real time --


def test_a_scenario_in_real_time_breaks_the_beams_cuts_the_broker_and_restarts_the_temple(
    tmp_path: Path, temples: list[Temple]
) -> None:
    """Tokens before the cut, during it, and after a restart: all reach the companion, with their widths."""
    file = tmp_path / "short.toml"
    file.write_text(
        "v = 1\ntitle = 'A short one'\n"
        + event("drop", 2500, count=20, every_ms=100, width_ms=14)
        + "[[event]]\nat_ms = 3000\ndo = 'broker_down'\nfor_ms = 700\n"
        + "[[event]]\nat_ms = 5000\ndo = 'restart'\nfor_ms = 200\n"
        + event("drop", 8000, god="huitzilopochtli", count=3, every_ms=200)
    )
    with mosquitto(tmp_path) as broker, Companion(broker.port) as companion:
        temple = Temple(tmp_path / "state", broker.port)
        temple._words = ("run", "--simulate", str(file), *temple._words[2:])
        temples.append(temple)
        temple.start()
        companion.until(lambda: len(companion.kept) == 23)
        assert len({status.session for status in companion.statuses()}) >= 2
        kept = [token for _, token in sorted(companion.kept.items())]
        assert [token.god for token in kept] == [God.TLALOC] * 20 + [God.HUITZILOPOCHTLI] * 3
        assert [token.width_ms for token in kept[:20]] == [14] * 20
        eventually(lambda: "A short one is over; the temple goes on" in temple.log())
        words = call("selftest", "--state", str(temple.state)).stdout
        assert "Huitzilopochtli  reads clear, 3 tokens, 0 glitches" in words
        assert temple.stop() == 0


def test_a_scenario_ends_with_a_signal_while_the_temple_is_away(tmp_path: Path, temples: list[Temple]) -> None:
    file = tmp_path / "away.toml"
    file.write_text("v = 1\n[[event]]\nat_ms = 1500\ndo = 'restart'\nfor_ms = 60000\n")
    temple = Temple(tmp_path / "state", free_port())
    temple._words = ("run", "--simulate", str(file), *temple._words[2:])
    temples.append(temple)
    temple.start()
    eventually(lambda: not (temple.state / "control.sock").exists())
    assert temple.stop() == 0


def test_without_a_daemon_there_is_no_selftest(tmp_path: Path) -> None:
    done = call("selftest", "--state", str(tmp_path))
    assert done.returncode == 1
    assert "no daemon runs on" in done.stderr


# -- variants --


def test_a_field_that_varies_has_each_value_of_its_list_in_a_variant_of_its_own() -> None:
    text = "v = 1\n[vary]\ncount = [1, 3]\nwidth_ms = [9, [10, 12]]\n" + event(
        "drop", 0, count="vary", width_ms="vary"
    )
    found = variants(text.encode())
    assert list(found) == [f"count {count}, width_ms {width}" for count in (1, 3) for width in (9, [10, 12])]
    assert [script.happenings[0].ns("count") for script in found.values()] == [1, 1, 3, 3]


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ("vary = 3", "vary is 3; expected a table"),
        ("[vary]\ncount = 3", "vary.count is 3; expected a list of values"),
        ("[vary]\ncount = []", r"vary.count is \[\]; expected a list of values"),
        (f"[vary]\ncount = {list(range(1, 300))}", "it has 299 variants; expected at most 200"),
        ('[vary]\ncount = ["many"]', "count is 'many'; expected a whole number"),
    ],
)
def test_lists_that_vary_nothing_or_too_much_are_refused(vary: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        variants(f"v = 1\n{vary}\n{event('drop', 0, count='vary')}".encode())


def test_a_table_has_a_line_for_each_scenario_and_variant() -> None:
    done = call("scenario", "--table", str(ROOT / "controller/simulation/scenarios/light/dip.toml"))
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split("  ")[0] for line in done.stdout.splitlines()] == [
        "scenario",
        *(f"dip: width_ms {width}" for width in (4, 12, 40, 200)),
    ]


def test_a_command_that_names_no_scenario_says_what_it_expected() -> None:
    done = call("scenario")
    assert done.returncode == 2
    assert "no scenario is named; expected a FILE, or --all" in done.stderr
