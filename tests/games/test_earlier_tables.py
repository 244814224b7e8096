"""Tables that an earlier release stored still lead, move by move, to the states that they led to then."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import pytest

from companion.games.registry import load, with_tools
from tests.games.earlier_tables import STORED, trace

GAMES = with_tools(load())
FILE = json.loads(STORED.read_text(encoding="utf-8"))
BY_GAME: dict[str, list[tuple[dict[str, int | str], int, int, str]]] = defaultdict(list)
for _name, *_row in FILE["games"]:
    BY_GAME[_name].append(tuple(_row))  # type: ignore[arg-type]


def earlier_options(name: str, chosen: dict[str, int | str]) -> dict[str, int | str]:
    """Return the options as the earlier release stored them: younger ones are missing."""
    defaults = {option.key: option.default for option in GAMES[name].options}
    return {**{key: defaults[key] for key in FILE["options"][name]}, **chosen}


@pytest.mark.parametrize("name", BY_GAME)
def test_a_table_of_an_earlier_release_folds_to_the_same_states(name: str) -> None:
    alike: Counter[str] = Counter()
    for chosen, players, seed, digest in BY_GAME[name]:
        alike[str(chosen)] += 1
        if alike[str(chosen)] > 2:  # two tables of the same house rules must do
            continue
        found = trace(GAMES[name], earlier_options(name, chosen), players, seed)
        assert found == digest, f"{name} with {chosen}, {players} players, seed {seed}"
