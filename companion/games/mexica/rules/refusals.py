"""How Mexica checks what was handed in: each reader gives the value or a refusal, for junk of any type and size."""

from __future__ import annotations

from companion.games.kit import Arg, Refusal, Seat
from companion.games.mexica.rules.state import State
from companion.games.mexica.rules.tallies import GODS, God


def shown(value: object) -> str:
    """Return a value as the facts of a refusal hold it: escaped, and short whatever its size."""
    if isinstance(value, str):
        return ascii(value[:40])[1:-1][:40]
    if type(value) is int and value.bit_length() <= 64:
        return str(value)
    return type(value).__name__[:40]


def a_god(value: object) -> God | Refusal:
    """Return a god's name."""
    if isinstance(value, str) and value in GODS:
        return value
    return Refusal("unknown_god", {"god": shown(value)})


def a_seat(state: State, value: object) -> Seat | Refusal:
    """Return a seat of this table."""
    if isinstance(value, str) and value in state.seats:
        return value
    return Refusal("unknown_seat", {"seat": shown(value)})


def a_number(value: object, low: int, high: int) -> int | Refusal:
    """Return a whole number from `low` to `high`."""
    if type(value) is int and low <= value <= high:
        return value
    return Refusal("bad_number", {"n": shown(value), "low": low, "high": high})


def wrong_length(name: str, args: tuple[Arg, ...], expected: int) -> Refusal | None:
    """Return a refusal unless a move has as many arguments as it needs."""
    if isinstance(args, tuple) and len(args) == expected:
        return None
    return Refusal("bad_arguments", {"move": name, "expected": expected})
