"""A mapping whose values are computed on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from companion.games.kit.moves import Json


class Lazy(Mapping[str, Json]):
    """A mapping from names to the results of functions, each called once and only if its name is read.

    A view contains everything that a seat may know, and a bot reads a tenth of it.

    >>> view = Lazy({"double": lambda n: 2 * n, "none": lambda n: 1 // 0}, 4)
    >>> view["double"], list(view)
    (8, ['double', 'none'])
    """

    __slots__ = ("_found", "_makers", "_of")

    def __init__(self, makers: Mapping[str, Callable[..., Json]], *of: Any) -> None:
        """Make a mapping of named functions, each of which takes the further arguments."""
        self._makers, self._of = makers, of
        self._found: dict[str, Json] = {}

    def __getitem__(self, name: str) -> Json:
        """Return the value of a name; raises `KeyError`."""
        found = self._found
        if name not in found:
            found[name] = self._makers[name](*self._of)
        return found[name]

    def __contains__(self, name: object) -> bool:
        """Return whether there is a value of this name, without computing it."""
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._makers)

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self._makers)

    def __repr__(self) -> str:
        """Return all of it, as a test shows it that failed."""
        return repr(dict(self))
