"""Many cases in one test: each is tried, and a failure names every one that fails."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from tests.cases import every_case


def test_every_case_that_fails_is_named_and_the_others_are_tried_all_the_same() -> None:
    tried = []

    @every_case(("n", "word"), [(1, "a"), (2, "b"), (3, "c")])
    def check(n: int, word: str) -> None:
        tried.append(word)
        assert n == 2, f"{n} is not two"

    with pytest.raises(BaseExceptionGroup, match="2 of 3 cases fail") as caught:
        check()
    said = "".join(traceback.format_exception(caught.value))
    assert tried == ["a", "b", "c"]
    assert "1 is not two" in said
    assert "in the case 3, c" in said
    assert "2, b" not in said


def test_what_a_case_should_raise_and_does_not_is_a_failure() -> None:
    @every_case("n", [1])
    def check(n: int) -> None:
        with pytest.raises(ZeroDivisionError):
            assert 1 / n

    with pytest.raises(BaseExceptionGroup, match="1 of 1 cases fail"):
        check()


def test_every_case_of_a_test_with_cases_of_two_kinds_is_tried() -> None:
    tried = []

    @every_case("n", [1, 2])
    @every_case("word", ["a", "b"])
    def check(n: int, word: str) -> None:
        tried.append((n, word))
        pytest.fail(f"{n}{word} is wrong")

    with pytest.raises(BaseExceptionGroup, match="2 of 2 cases fail") as caught:
        check()
    said = "".join(traceback.format_exception(caught.value))
    assert tried == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]
    assert [f"{n}{word} is wrong" in said for n, word in tried] == [True] * 4


def test_a_test_without_a_case_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no case of n"):
        every_case("n", [])


@every_case("n", [1, 2])
def test_cases_share_what_the_test_is_given(n: int, tmp_path: Path) -> None:
    assert len(list(tmp_path.iterdir())) == n - 1
    (tmp_path / str(n)).touch()
