"""The manual's own rules: how long it is, what it says once, and how its source is written."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cases import every_case
from tests.docs.pages import ROOT, text_without_fences, words_of, written
from tests.docs.test_docs import PAGES

MANUAL = [*PAGES, ROOT / "CHANGELOG.md"]
PAPERS = ("README.md", "CHANGELOG.md")
GENERATED = ("docs/moves.md", "docs/parts.md")
"""Pages that a program writes as a whole."""

MOST_WORDS = 30_000
ENDED = re.compile(r"[.:;!?][\"')*_]*$")
ITEM = re.compile(r" *(?:[-*] |\d+\. )")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


by_page = every_case("page", [page for page in MANUAL if name(page) not in GENERATED], ids=name)


def prose(page: Path) -> list[str]:
    """Return the lines of a page that are sentences: no code, table, heading, picture or mark."""
    lines = re.sub(r"```.*?```", "", written(page), flags=re.DOTALL).splitlines()
    return [line for line in lines if not re.match(r"\s*([|#<]|!\[|\[!\[)", line)]


def test_what_people_wrote_for_the_manual_is_short_enough_to_be_read() -> None:
    words = {name(page): words_of(page) for page in MANUAL if name(page) not in GENERATED}
    assert sum(words.values()) <= MOST_WORDS, "\n".join(f"{words[each]:6} {each}" for each in words)


@pytest.mark.parametrize("page", PAPERS)
def test_the_readme_and_the_changelog_have_sixty_lines_at_most(page: str) -> None:
    assert len((ROOT / page).read_text("utf-8").splitlines()) <= 60


def test_the_page_of_measurements_has_25_figures_each_with_a_command_and_a_date() -> None:
    lines = (ROOT / "docs" / "measured.md").read_text("utf-8").splitlines()
    _, _, *rows = [[cell.strip() for cell in line.split(" | ")] for line in lines if line.startswith("|")]
    assert 0 < len(rows) <= 25
    for what, figure, _, command, date in rows:
        assert re.search(r"\d", figure), what
        assert re.fullmatch(r"`.+`", command), what
        assert re.fullmatch(r"2\d{3}-\d\d-\d\d \|", date), what


@by_page
def test_a_line_of_the_source_holds_whole_sentences_or_clauses(page: Path) -> None:
    """A sentence that is broken in its middle makes every change of a word a change of the lines below it."""
    broken = [
        f"{before}\n{line}"
        for before, line in pairwise(prose(page))
        if before.strip() and not ENDED.search(before) and line.strip() and not ITEM.match(line)
    ]
    assert not broken, "\n\n".join(broken)


@by_page
def test_a_page_says_what_is_and_not_what_was_once_different(page: Path) -> None:
    text = text_without_fences(page)
    once = r"previously|formerly|used to be|earlier version|has since been|(?:is|was) fixed (?:now|since)|replaced in"
    wrong = re.findall(rf"(?i)[^.\n]*\b(?:{once})\b[^.\n]*", text)
    assert not wrong, "\n".join(wrong)


@every_case("page", MANUAL, ids=name)
def test_a_page_says_that_a_thing_is_not_another_and_not_that_it_is_no_other(page: Path) -> None:
    odd = re.findall(r"[^.\n]*(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b)[^.\n]*", text_without_fences(page))
    assert not odd, "\n".join(odd)


def test_no_sentence_stands_on_two_pages() -> None:
    seen: dict[str, set[str]] = {}
    for page in MANUAL:
        for line in prose(page):
            for sentence in re.split(r"(?<=[.:;]) ", line.strip(" -*")):
                if len(sentence.split()) >= 12:
                    seen.setdefault(sentence, set()).add(name(page))
    twice = [f"{' and '.join(sorted(pages))}: {each}" for each, pages in seen.items() if len(pages) > 1]
    assert not twice, "\n".join(twice)
