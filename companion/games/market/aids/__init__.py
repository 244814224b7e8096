"""The market's aids: a score pad, the bag, a turn card and a purchase checker, each for use beside a real table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from companion.games.kernel import Game
from companion.games.market.aids.bag import Bag
from companion.games.market.aids.lanes import Lanes
from companion.games.market.aids.score import ScorePad
from companion.games.market.aids.turn import TurnCard

AIDS: Mapping[str, Game[Any]] = MappingProxyType(
    {"score": ScorePad(), "bag": Bag(), "turn": TurnCard(), "lanes": Lanes()}
)
