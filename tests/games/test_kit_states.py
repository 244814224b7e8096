"""What every game's rules count on: a state is a frozen `Struct`, and a copy of it with some fields changed."""

from __future__ import annotations

import pytest

from companion.games import registry
from companion.games.kit import Game, Struct, replace
from tests.games.playouts import GAMES


class Place(Struct, frozen=True):
    """A value as the games make them."""

    place: int
    hand: tuple[str, ...] = ()


def test_a_copy_has_the_changed_fields_and_all_others() -> None:
    before = Place(3, ("war-1",))
    after = replace(before, place=4)
    assert (type(after), after.place, after.hand) == (Place, 4, ("war-1",))
    assert before == Place(3, ("war-1",))
    assert hash(replace(after, place=3)) == hash(before)


def test_nobody_can_change_a_state_or_its_copy() -> None:
    for value in (Place(3), replace(Place(3), place=4)):
        with pytest.raises(AttributeError):
            value.place = 1  # type: ignore[misc]


def test_a_field_that_a_state_does_not_have_is_an_error() -> None:
    with pytest.raises(TypeError, match="wins"):
        replace(Place(3), wins=1)


@pytest.mark.parametrize("game", registry.with_tools(GAMES).values(), ids=lambda game: game.name)
def test_every_state_of_a_game_is_a_frozen_struct(game: Game[object]) -> None:
    options = {option.key: option.default for option in game.options}
    state = game.rules.setup(options, next(iter(game.seatings.values())))
    assert isinstance(state, Struct)
    assert state.__struct_config__.frozen
