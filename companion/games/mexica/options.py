"""What a table may choose about Mexica: the options with their rulings, the presets, the seats. It plays nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from companion.games.kernel import Option, Seat, Value

OPTIONS: tuple[Option, ...] = (
    # What the app keeps. A table's log holds it, so that a table which asked for the temple alone stays one.
    Option("scope", "temple_only", "", ("temple_only",)),
    Option("apocalypse_trigger", "first_of", "M23", ("first_of", "tokens", "all_week", "disc1", "disc2", "disc3")),
    Option("apocalypse_tokens", 260, "M23", (52, 104, 260), low=13, high=360),
    Option("countdown", "turns13", "M25", ("turns13", "rounds13")),
    Option("apocalypse_locks_type", "off", "M26", ("off", "on")),
    Option("doom_by", "most", "M27", ("most", "least")),
    Option("doom_effects", "countdown", "M34", ("countdown", "doom")),
    Option("forestall", "bare", "M35", ("bare", "forever")),
)

PRESETS: Mapping[str, Mapping[str, Value]] = {"temple_only": {"scope": "temple_only"}}

SEATINGS: Mapping[int, tuple[Seat, ...]] = {
    2: ("east", "west"),
    3: ("east", "north", "west"),
    4: ("east", "north", "west", "south"),
}
"""East begins, and turns go round as the calendar runs, counter-clockwise (ruling M31)."""


@dataclass(frozen=True, slots=True)
class HouseRules:
    """One table's choice: a field for each option, under its key."""

    scope: str
    apocalypse_trigger: str
    apocalypse_tokens: int
    countdown: str
    apocalypse_locks_type: str
    doom_by: str
    doom_effects: str
    forestall: str

    @classmethod
    def of(cls, chosen: Mapping[str, Value]) -> HouseRules:
        """Read a complete choice; raises `ValueError` for one that is incomplete or that no option accepts."""
        for option in OPTIONS:
            if option.key not in chosen:
                raise ValueError(f"option {option.key} is missing; expected a value for each of Mexica's options")
            if not option.accepts(chosen[option.key]):
                raise ValueError(
                    f"option {option.key} is {ascii(chosen[option.key])[:60]}; expected {_accepted(option)}"
                )
        if unknown := sorted(set(chosen) - {option.key for option in OPTIONS}):
            raise ValueError(f"option {ascii(unknown[0])[:60]} is unknown; expected only Mexica's options")
        return cls(**chosen)  # type: ignore[arg-type]  # each value was accepted by the option of its field

    def chosen(self) -> dict[str, Value]:
        """Return the choice as it was given to `of`."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def _accepted(option: Option) -> str:
    if option.high:
        return f"a whole number from {option.low} to {option.high}"
    return " or ".join(map(str, option.values))
