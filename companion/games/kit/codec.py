"""Encodes a state as one line of text and decodes it, derived from the fields of its class."""

from __future__ import annotations

from typing import TypeVar

import msgspec

S = TypeVar("S")


def encoded(state: object) -> str:
    """Return a state in one line of JSON.

    >>> from companion.games.kit import Struct
    >>> class Pile(Struct, frozen=True):
    ...     beans: int
    ...     hands: tuple[str, ...] = ()
    >>> encoded(Pile(3, ("eagle",)))
    '{"beans":3,"hands":["eagle"]}'
    """
    return msgspec.json.encode(state).decode("utf-8")


def decoded(text: str, kind: type[S]) -> S:
    """Decode a state of a class; raises `ValueError` for a text that `encoded` did not write.

    >>> from companion.games.kit import Struct
    >>> class Pile(Struct, frozen=True):
    ...     beans: int
    >>> decoded('{"beans":3}', Pile)
    Pile(beans=3)
    >>> decoded("three beans", Pile)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: state is 'three beans'; expected what encoded() writes of a Pile (...)
    """
    try:
        state = msgspec.json.decode(text.encode("utf-8"), type=kind)
        if encoded(state) == text:
            return state
        why = "it is written in another way"
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        why = str(error)
    raise ValueError(f"state is {ascii(text)[:60]}; expected what encoded() writes of a {kind.__name__} ({why})")
