"""TOML from strangers: what would cost too much is refused before it is parsed, and nothing slips past the scan."""

from __future__ import annotations

import tomllib
from pathlib import Path
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.games import registry
from companion.games.kit import LONGEST_LINE, LONGEST_TEXT, Option, toml

GAMES = Path(registry.__file__).parent
SHIPPED = sorted(path for path in GAMES.glob("*/**/data/*.toml"))

TAKERS = [option for game in registry.load(()).values() for option in game.options if option.reader]

ROOM = LONGEST_TEXT - LONGEST_LINE


def _lines(line: str) -> str:
    """Return as many copies of a line as a text may hold."""
    return f"{line}\n" * (ROOM // (len(line) + 1))


def _numbered(form: str) -> str:
    """Return as many lines as a text may hold, a number of its own in each."""
    lines: list[str] = []
    room = ROOM
    while room > 0:
        lines.append(form.format(f"{len(lines):x}"))
        room -= len(lines[-1]) + 1
    return "\n".join(lines)


HOSTILE = {
    "dotted keys": _numbered(".".join(["a"] * 490) + ".k{}=1"),
    "dotted headers": _numbered("[" + ".".join(["a"] * 490) + ".k{}]"),
    "quoted dotted keys": _numbered(".".join(['"a"'] * 240) + ".k{}=1"),
    "eight parts": _numbered("a.b.c.d.e.f.g.{}=1"),
    "one part": _numbered("{}=1"),
    "cards that are none": "[day]\n" + _numbered("{}=1")[:60_000],
    "words that are none": "[words.en]\n" + _numbered("{}=1")[:60_000],
    "tables": _numbered("[{}]"),
    "tables of words": _numbered("[words.{}]"),
    "arrays of tables": _lines("[[a]]"),
    "nested arrays": "a=[\n" + _lines("[" * 490),
    "closed arrays": "a=[\n" + _lines("[" * 400 + "]" * 400 + ",") + "]",
    "inline tables": "a=[\n" + _lines("{a=1}," * 150) + "]",
    "inline dotted": "a=[\n" + _lines("{" + ".".join(["a"] * 400) + "=1},") + "]",
    "numbers": "a=[\n" + _lines("1," * 490) + "]",
    "escapes": "a=[\n" + _lines('"' + "\\n" * 490 + '",') + "]",
    "quotes": _lines("'" * 990),
    "empty strings": "a=[\n" + _lines('"",' * 330) + "]",
    "lines": 'a="""' + "\n" * ROOM + '"""',
    "continued lines": 'a="""' + "\\\n" * (ROOM // 2) + '"""',
    "comments": _lines("#"),
    "no end": _lines("#") + "=",
}


def _cost(option: Option, text: str) -> float:
    """Return the seconds of CPU that it takes to judge a text, which is judged once for each that differs."""
    began = thread_time()
    assert option.faults(text)
    return thread_time() - began


@pytest.mark.parametrize("option", TAKERS, ids=lambda option: option.key)
@pytest.mark.parametrize("kind", HOSTILE)
def test_any_text_is_judged_within_a_fifth_of_a_second_of_cpu(option: Option, kind: str) -> None:
    for text in (HOSTILE[kind], HOSTILE[kind][:59_000]):
        assert any(_cost(option, f"{text}\n{'#' * n}") < 0.2 for n in range(3))  # a busy machine's caches are cold


def test_every_file_that_comes_with_a_game_is_well_below_the_limits() -> None:
    together = "\n".join(path.read_text(encoding="utf-8") for path in SHIPPED if "mexica" in path.parts)
    assert len(together) > 100_000
    toml.check(together * 2)
    for path in SHIPPED:
        assert toml.read(path.read_text(encoding="utf-8")).tree


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a.b.c.d.e.f.g.h = 1", None, 0),
        ("\na.b.c.d.e.f.g.h.i = 1", "long_key", 2),
        ('["a"."b".c.d . e.f.g.h.i]', "long_key", 1),
        ("a = {x.b.c.d.e.f.g.h.i = 1}", "long_key", 1),
        ("a = " + "[" * 16 + "]" * 16, None, 0),
        ("a = " + "[" * 17 + "]" * 17, "nested", 1),
        ("a = " + "{a = " * 17 + "1" + "}" * 17, "nested", 1),
        ("a = '''x'''', " + "[" * 17, "nested", 1),
        ('a = """x""""", ' + "[" * 17, "nested", 1),
        ('a = "' + "[" * 99 + '" # ' + "[" * 99, None, 0),
        ("a = '''\n" + "[\n" * 99 + "'''", None, 0),
        ('a = """\\"""' + "[" * 99 + '"""', None, 0),
        ("a = 1.5\nb = 1.5\n" * 9 + "#", None, 0),
        ("a = [\n" + "1,\n" * toml.MOST_SIGNS, "many_signs", toml.MOST_SIGNS // 2),
    ],
)
def test_a_text_is_refused_for_its_depth_its_keys_and_its_size_alone(text: str, code: str | None, line: int) -> None:
    if code is None:
        toml.check(text)
        return
    with pytest.raises(toml.TomlLimitError) as refused:
        toml.check(text)
    assert (refused.value.fault.code, refused.value.fault.line) == (code, line)


def _depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)


PIECES = [
    "a",
    "'",
    "'''",
    '"',
    '"""',
    "\\",
    "#",
    "\n",
    "[",
    "[[",
    "]",
    "{",
    "}",
    ",",
    ".",
    "=",
    "a=",
    " ",
    "1",
    "a.b",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_what_passes_the_scan_is_never_deeper_than_it_may_be(text: str) -> None:
    """A text in which the scan sees fewer brackets than there are would hide them from it, and not from `tomllib`."""
    deep = text.replace("[", "[" * 6).replace("]", "]" * 6)
    for each in (text, deep):
        try:
            toml.check(each)
            value = tomllib.loads(each)
        except ValueError:
            continue
        assert _depth(value) <= toml.MOST_PARTS * toml.DEEPEST


@given(st.lists(st.sampled_from(["'", '"', "'x'", '"x"', "\\\\", "\\'", '\\"', "[", " "]), max_size=12).map("".join))
def test_no_string_is_left_earlier_or_later_than_tomllib_leaves_it(inside: str) -> None:
    """After a text in any quotes stand brackets that are too many: the scan sees them whenever `tomllib` does."""
    for quotes in ("'", '"', "'''", '"""'):
        text = f"a = [{quotes}{inside}{quotes}, {'[' * 20}{']' * 20}]"
        try:
            seen = len(tomllib.loads(text)["a"]) == 2
        except ValueError:
            continue
        if seen:
            with pytest.raises(toml.TomlLimitError):
                toml.check(text)


def test_every_key_table_and_item_has_its_line_and_column() -> None:
    document = toml.read(
        'name = "a = [1] # none"\n'
        '"two words".b = { t = "]}", s = [1.5, 2] }  # a = 1\n'
        "[[rows]]\n"
        "  text = '''\nb = 1\n'''\n"
        "  dates = [\n"
        "    1979-05-27 07:32:00,  # a comment, with a comma\n"
        "    [true, -1e3],\n"
        "  ]\n"
    )
    places = {
        ("name",): (1, 1),
        ("two words", "b"): (2, 1),
        ("two words", "b", "t"): (2, 19),
        ("two words", "b", "s", 1): (2, 39),
        ("rows",): (3, 1),
        ("rows", "text"): (4, 3),
        ("rows", "dates", 0): (8, 5),
        ("rows", "dates", 1, 1): (9, 12),
    }
    assert {path: document.position(*path) for path in places} == places
    assert document.position("rows", "dates", 9) == document.position("rows", "dates") == (7, 3)


def test_every_key_of_the_files_that_come_with_a_game_stands_where_it_is_said_to() -> None:
    for path in SHIPPED:
        document = toml.read(path.read_text(encoding="utf-8"))
        lines = document.text.split("\n")
        for table, inner in document.tree.items():
            for key in inner if isinstance(inner, dict) else ():
                line, column = document.position(table, key)
                assert lines[line - 1][column - 1 :].lstrip("[\"'").startswith((key, f"{table}.{key}"))


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_whatever_is_toml_has_places(text: str) -> None:
    try:
        document = toml.read(text)
    except ValueError:
        return
    assert all(document.position(key)[0] >= 1 for key in document.tree)
