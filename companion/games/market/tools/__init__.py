"""The market's tools: a score pad, the bag, a turn card and a purchase checker, each for use beside a real table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from companion.games.kit import Game
from companion.games.market.tools.bag import Bag
from companion.games.market.tools.lanes import Lanes
from companion.games.market.tools.score import ScorePad
from companion.games.market.tools.turn import TurnCard

TOOLS: Mapping[str, Game[Any]] = MappingProxyType(
    {"score": ScorePad().game(), "bag": Bag().game(), "turn": TurnCard().game(), "lanes": Lanes().game()}
)
