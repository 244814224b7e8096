"""What helps at a real table, each alone: a small game with one seat. Dice may be typed everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from companion.games.kernel import Game
from companion.games.siege.aids.dice import Dice
from companion.games.siege.aids.editor import Editor
from companion.games.siege.aids.events import Events
from companion.games.siege.aids.fires import Fires
from companion.games.siege.aids.phases import Phases
from companion.games.siege.aids.roster import Strengths

AIDS: Mapping[str, Game[Any]] = MappingProxyType(
    {
        "phases": Phases(),
        "dice": Dice(),
        "events": Events(),
        "roster": Strengths(),
        "fires": Fires(),
        "editor": Editor(),
    }
)
"""The aids by their names, in the order in which a table wants them."""
