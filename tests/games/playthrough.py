"""Golden playthroughs: a game written out move by move with what every seat sees, to be read and to be compared.

``python -m tests.games.playthrough FILE...`` writes files again from the lines that a person wrote: the heading, the
remarks (``#``) and the moves (``>``). Whatever else stands in a file is what the rules made of them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from companion.games.kit import Arg, Game, Json, Move, Refusal, Seat
from tests.games.playouts import GAMES

FOLDER = Path(__file__).parent / "playthroughs"
FILES = sorted(FOLDER.glob("*.txt"))

_NUMBER = re.compile(r"[+-]?\d{1,9}", re.ASCII)
_EMPTY = '""'
_LONG = 600
"""Letters of a value above which a page shows only those of its parts that have changed."""


def written(text: str) -> str:
    """Return a playthrough with all that follows from its heading and its moves."""
    lines = text.splitlines()
    heading = heading_of(text)
    game = GAMES[heading["game"]]
    seats = tuple(heading["seats"].split())
    state = game.rules.setup(_options(game, heading), seats)
    book = _Book(game, seats)
    out = [f"{key} {heading[key]}".rstrip() for key in ("game", "preset", "options", "seats")]
    begun = False
    for line in lines:
        if line.startswith("#"):
            out += ["", line]
        elif line.startswith("> "):
            if not begun:
                out += ["", *book.page(state)]
                begun = True
            state, story = _made(game, state, line)
            out += ["", line, *story]
            if not story[-1].startswith("  refused"):
                out += book.page(state)
    return "\n".join(out) + "\n"


def heading_of(text: str) -> dict[str, str]:
    """Return the game, preset, options and seats that a playthrough names."""
    found = dict(re.findall(r"^(game|preset|options|seats) ?(.*)$", text, re.MULTILINE))
    return {"options": "", **found}


class _Book:
    """What was written of each view, so that a page holds only what has changed."""

    def __init__(self, game: Game[Any], seats: tuple[Seat, ...]) -> None:
        self._game = game
        self._seats = seats
        self._public: Mapping[str, Json] = {}
        self._private: dict[Seat, dict[str, Json]] = {seat: {} for seat in seats}

    def page(self, state: Any) -> Iterator[str]:
        """Yield the notation, what changed for all, and what changed of that in which a seat's view differs."""
        yield f"= {self._game.rules.notation(state)}"
        public = self._game.page.view(state, None)
        for key, value in public.items():
            if key not in self._public or self._public[key] != value:
                yield from _changed(key, self._public.get(key), value)
        self._public = public
        for seat in self._seats:
            view = self._game.page.view(state, seat)
            private = {key: value for key, value in view.items() if key not in public or public[key] != value}
            hidden = sorted(public.keys() - view.keys())
            assert not hidden, f"a spectator sees {hidden}, which {seat} does not"
            if private != self._private[seat]:
                yield f"  {seat} sees {json.dumps(private, default=dict)}"
            self._private[seat] = private


def _changed(key: str, before: Json, after: Json) -> Iterator[str]:
    """Yield a value, or of a long one that was shown before the parts that differ."""
    text = json.dumps(after, default=dict)
    if len(text) > _LONG:
        if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
            yield from (
                f"  {key}.{part} {json.dumps(value, default=dict)}"
                for part, value in after.items()
                if before[part] != value
            )
            return
        if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
            pairs = enumerate(zip(before, after, strict=True), start=1)
            yield from (f"  {key}[{n}] {json.dumps(now, default=dict)}" for n, (then, now) in pairs if then != now)
            return
    yield f"  {key} {text}"


def _options(game: Game[Any], heading: Mapping[str, str]) -> dict[str, Arg]:
    chosen = dict(each.split("=") for each in heading["options"].split())
    values = {option.key: option.default for option in game.options} | dict(game.presets[heading["preset"]])
    return values | {key: _arg(value) for key, value in chosen.items()}


def _made(game: Game[Any], state: Any, line: str) -> tuple[Any, list[str]]:
    seat, name, *args = line.removeprefix("> ").split(" ")
    move = Move(name, tuple(_arg(each) for each in args))
    after = game.rules.play(state, seat, move)
    if isinstance(after, Refusal):
        return state, [f"  refused {after.code}{_facts(after.facts)}"]
    story = [f"  {each.code}{_facts(each.facts)}" for each in game.page.log(state, seat, move, after)]
    return after, story or ["  nothing to tell"]


def _facts(facts: Mapping[str, Arg]) -> str:
    return "".join(f" {key}={value}" for key, value in sorted(facts.items()))


def _arg(text: str) -> Arg:
    return int(text) if _NUMBER.fullmatch(text) else "" if text == _EMPTY else text


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
