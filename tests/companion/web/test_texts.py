"""The words: the same in every language, each with the facts it needs, and none missing for what the code can say."""

from __future__ import annotations

import ast
import string
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

import companion
from companion.games import registry
from companion.web.rendering.names import fitted, marked
from companion.web.rendering.texts import LANGUAGES, Library, MissingText, Text, TextError, Texts, load

ROOT = Path(companion.__file__).parent
SHELL = ROOT / "web" / "texts"
FOLDERS = [SHELL, *(registry.folder(game) / "texts" for game in registry.load(()).values())]


def facts_of(text: Text) -> set[str]:
    """Return the facts that a text needs, with their kinds: ``{"n", "seat:who"}``."""
    parts = [text] if isinstance(text, str) else list(text.values())
    fields = [
        (name, kind) for part in parts for _, name, kind, _ in string.Formatter().parse(part) if name is not None
    ]
    return {f"{name}:{kind}" if kind else name for name, kind in fields} | ({"n"} if len(parts) > 1 else set())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_every_language_has_the_same_texts_with_the_same_facts(folder: Path) -> None:
    english = {key: facts_of(text) for key, text in load(folder, "en").items()}
    for language in LANGUAGES:
        assert {key: facts_of(text) for key, text in load(folder, language).items()} == english, language


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_a_text_that_counts_has_every_plural_of_its_language(folder: Path) -> None:
    for language in LANGUAGES:
        for key, text in load(folder, language).items():
            assert isinstance(text, str) or {"one", "other"} <= text.keys(), key


def codes(name: str, *files: str) -> set[str]:
    found = set()
    for file in files:
        for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                code = node.args[1 if name == "Refused" else 0] if node.args else None
                if isinstance(code, ast.Constant):
                    found.add(str(code.value))
    return found


def test_everything_that_can_be_refused_has_words() -> None:
    paths = [path.relative_to(ROOT) for path in ROOT.rglob("*.py")]
    files = [str(path) for path in paths if "games" not in path.parts]
    words = Library(SHELL, {}).words("en")
    refusals = codes("ServiceError", *files) | codes("Refused", *files) | codes("Refusal", *files)
    assert len(refusals) > 20
    assert [code for code in sorted(refusals) if not words.has(f"refusal.{code}")] == []
    assert [code for code in sorted(codes("Line", *files)) if not words.has(f"log.{code}")] == []


@pytest.mark.parametrize(("delta", "said"), [(1, "Ana: +1"), (-2, "Ana: −2"), (13, "Ana: +13")])
def test_a_change_is_reported_with_its_sign(delta: int, said: str) -> None:
    assert Texts("en", ({"a": "Ana: {delta:+}"},))("a", delta=delta) == said


def test_no_game_is_named_in_the_web_face() -> None:
    names = list(registry.load(()))
    for path in (ROOT / "web").rglob("*"):
        if path.suffix in (".py", ".html", ".js", ".toml"):
            text = path.read_text(encoding="utf-8").lower()
            assert [name for name in names if name in text] == [], path


def words(**texts: object) -> Texts:
    flat = {key.replace("__", "."): value for key, value in texts.items()}
    return Texts("en", (flat,), {"east": "Ana", "west": "\u05d3\u05d5\u05d3", "north": ""})  # type: ignore[arg-type]


def test_facts_are_filled_in_by_their_kind() -> None:
    say = words(a="{seat:who} gives {n} to {god:god}", seat__north="North", god__rain="Tlaloc")
    assert say("a", seat="east", n=1234, god="rain") == "Ana gives 1,234 to Tlaloc"
    assert say("a", seat="north", n=1, god="rain") == "North gives 1 to Tlaloc"
    assert say("a", seat="west", n=1, god="rain").startswith("\u2068\u05d3\u05d5\u05d3\u2069 gives")


def test_a_count_takes_its_plural() -> None:
    say = words(a={"one": "{n} token", "other": "{n} tokens"})
    assert [say("a", n=n) for n in (0, 1, 2)] == ["0 tokens", "1 token", "2 tokens"]


def test_what_is_missing_is_an_error_that_names_it() -> None:
    say = words(a="{n} {b}", c={"one": "x", "other": "y"}, d="{god:god}")
    for key, facts in (("x", {}), ("a", {"n": 1}), ("c", {}), ("d", {"god": "z"})):
        with pytest.raises(MissingText, match=r"'en'|en "):
            say(key, **facts)


def test_typed_braces_are_no_facts() -> None:
    assert words(a="{name}")("a", name="{n} {0.__class__}") == "{n} {0.__class__}"


def test_a_broken_file_of_texts_is_named(tmp_path: Path) -> None:
    (tmp_path / "en.toml").write_text("a = 1", encoding="utf-8")
    with pytest.raises(TextError, match=r"en\.toml"):
        load(tmp_path, "en")


@pytest.mark.parametrize(
    ("chance", "said"),
    [(0.0, "0 %"), (1 / 220, "under 1 %"), (0.01, "1 %"), (0.5, "50 %"), (219 / 220, "over 99 %"), (1.0, "100 %")],
)
def test_a_probability_is_0_or_100_per_cent_only_where_it_is_certain(chance: float, said: str) -> None:
    """Ruling Z28."""
    assert Library(SHELL, {}).words("en").share(chance) == said


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Rain ({})", "(Nezahualcoyotl)"),
        ("{}: March", "Nezahualcoyotl:"),
        ("¿{}?", "¿Nezahualcoyotl?"),
        ("{}’s turn", "Nezahualcoyotl’s"),
    ],
)
def test_a_long_name_is_kept_on_one_line_with_its_marks(said: str, kept: str) -> None:
    assert f' title="Nezahualcoyotl">{kept}</span>' in fitted(said.format(marked("Nezahualcoyotl")))


def test_what_hangs_on_a_name_that_a_log_may_cut_stands_beside_what_is_cut() -> None:
    name = "W" * 24
    assert f'title="{name}"><span class="cut ems-28">{name}</span>:</span> March' in fitted(f"{marked(name)}: March")
    assert "cut" not in fitted(f"{marked(name)} sits down")


def test_the_words_of_a_long_name_are_of_one_size() -> None:
    assert fitted(marked("Nezahualcoyotl von Li")).count('class="name ems-10"') == 3


def test_a_single_last_word_is_broken_into_lines_with_the_words_of_a_long_name() -> None:
    assert fitted(f"{marked('Maximilian von Wuermling')}’s turn").endswith(" turn</span></span>")
    assert fitted(f"{marked('Maximilian von Wuermling')} takes the turn").endswith("</span> takes the turn</span>")
    assert fitted(f"{marked('Wolfeschlegelsteinhausen')}’s turn").endswith("</span> turn</span>")
    assert fitted(f"{marked('Ana')}’s turn") == "Ana’s turn"


def test_a_temples_clock_at_the_edge_of_the_calendar_is_shown_in_every_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    say = Library(SHELL, {}).words("en")
    try:
        for zone in ("XXX+11", "XXX-11"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            for at in (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)):
                assert say.time(at)
                assert say.date(at)
                assert say.day(at).endswith(f", {at.year}")
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("other", "joined"),
    [
        ("Ben", "Ana y Ben"),
        ("Iván", "Ana e Iván"),
        ("Ígor", "Ana e Ígor"),
        ("hilario", "Ana e hilario"),
        ("Hierro", "Ana y Hierro"),
        ("Yves", "Ana e Yves"),
        ("Yolanda", "Ana y Yolanda"),
        ("", "Ana y Oeste"),
    ],
)
def test_spanish_joins_names_by_their_sound(other: str, joined: str) -> None:
    library = Library(SHELL, {game: registry.folder(each) / "texts" for game, each in registry.load(()).items()})
    people = {"east": "Ana", "west": other}
    assert library.words("es", "mexica", people)("ending.won_two", seat="east", other="west") == f"Ganan {joined}"
    assert " and " in library.words("en", "mexica", people)("ending.won_two", seat="east", other="west")


def test_a_name_that_is_read_from_the_right_stays_one_box_with_what_hangs_on_it() -> None:
    words = Texts("en", ({"turn": "{seat:who}’s turn"},), {"east": "محمد بن عبد الله"})
    html = words.named("turn", seat="east")
    assert html.count('class="name ') == 1
    assert ">\u2068محمد بن عبد الله\u2069’s</span> turn" in html
