"""What every game's rules count on: copies of frozen values, with slots and without."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, replace
from typing import Any

import pytest

from companion.games.kit import changed


@dataclass(frozen=True)
class Open:
    """A value with a ``__dict__``."""

    place: int
    hand: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Closed:
    """A value with slots."""

    place: int
    hand: tuple[str, ...] = ()

    @property
    def hidden(self) -> bool:
        return not self.hand


@dataclass(frozen=True, slots=True)
class Further(Closed):
    """A value with slots of its own beside those that it inherits."""

    wins: int = 0


VALUES: list[Any] = [Open(3, ("war-1",)), Closed(3, ("war-1",)), Further(3, ("war-1",), 2)]
KINDS = [type(value).__name__ for value in VALUES]


@pytest.mark.parametrize("value", VALUES, ids=KINDS)
def test_a_changed_value_is_what_replace_would_make(value: Any) -> None:
    for changes in ({}, {"place": 4}, {"place": 5, "hand": ()}):
        copy = changed(value, **changes)
        assert type(copy) is type(value)
        assert copy == replace(value, **changes)
        assert hash(copy) == hash(replace(value, **changes))
        assert changed(copy, place=3, hand=("war-1",)) == value


@pytest.mark.parametrize("value", VALUES, ids=KINDS)
def test_the_given_value_stays_as_it_was_and_its_copy_is_as_frozen(value: Any) -> None:
    copy = changed(value, place=9)
    assert (value.place, copy.place) == (3, 9)
    with pytest.raises(FrozenInstanceError):
        copy.place = 1


def test_a_copy_has_its_class_with_all_that_belongs_to_it() -> None:
    copy = changed(Closed(3, ("war-1",)), hand=())
    assert copy.hidden
    assert isinstance(copy, Closed)


def test_a_field_that_a_class_with_slots_does_not_have_is_an_error() -> None:
    with pytest.raises(AttributeError):
        changed(Closed(3), wins=1)
