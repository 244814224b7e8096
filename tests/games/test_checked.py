"""What `templo-companion game check` finds, it finds in no game: its bot plays on, its words fit what happened."""

from __future__ import annotations

from pathlib import Path

from companion.cli.data.game import faults
from companion.games import registry
from tests.cases import every_case
from tests.games.playouts import GAMES, OTHERS
from tests.games.your_own_game import EXAMPLES, opened

FOLDERS = (
    [registry.folder(game) for game in GAMES.values()]
    if OTHERS
    else sorted(path.parent for path in EXAMPLES.glob("*/__init__.py"))
)


@every_case("folder", FOLDERS)
def test_the_check_of_a_game_finds_nothing(folder: Path) -> None:
    if OTHERS:
        found = [*faults([folder])]
    else:
        with opened(folder):
            found = [*faults([folder])]
    if found:
        raise ExceptionGroup("the check finds faults", list(map(AssertionError, found)))
