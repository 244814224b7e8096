"""Replays an exported table on a terminal, entry by entry, and shows at which entry a broken one fails."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from companion.games import registry
from companion.games.kit import Game
from companion.model.entries import encode
from companion.model.exports import Export, ExportError, read
from companion.model.history import BrokenLog, ReplayStep, replay_log
from companion.model.table import ServiceError, Table
from companion.web.rendering import texts
from companion.web.rendering.texts import Library, Texts, line_text
from templo.quoting import counted

LANGUAGE = "en"


def replay(path: Path, games: Mapping[str, Game[Any]], out: TextIO, *, states: bool = True) -> int:
    """Print what each entry of a file did, and with `states` the notation of the state after it.

    Returns 0 where the whole log stands and leads to the state that the file names, else 1.
    """
    try:
        export = read(path.read_text(encoding="utf-8-sig"), games)
    except (OSError, UnicodeError, ExportError) as error:
        print(f"{path}: {getattr(error, 'strerror', error)}", file=out)
        return 1
    return Replay(export, games, out, states=states).run()


class Replay:
    """The replay of one file."""

    def __init__(self, export: Export, games: Mapping[str, Game[Any]], out: TextIO, *, states: bool) -> None:
        self._export = export
        self._game = games[export.charter.game]
        folder = registry.folder(self._game) / "texts"
        self._library = Library(
            Path(texts.__file__).parents[1] / "texts", {registry.parts(self._game.name)[0]: folder}
        )
        self._out = out
        self._states = states

    def run(self) -> int:
        """Print the log as far as it is legal; return the exit code."""
        charter = self._export.charter
        seats = counted(len(charter.seats), "seat")
        self._print(f"{charter.title}: {charter.game}, {charter.preset}, {seats}, {charter.opened_at:%F}")
        if charter.rules != self._game.rules_version:
            self._print(
                f"The file follows rules {charter.rules}; these are rules {self._game.rules_version}. It may break."
            )
        last: ReplayStep | None = None
        hidden = min(self._export.hidden, default=0)
        try:
            entries = self._export.entries[: hidden - 1] if hidden else self._export.entries
            for last in replay_log(charter, self._game, entries):
                self._print_step(last)
        except BrokenLog as broken:
            return self._broken(broken.entry.n, self._refusal(last, broken))
        except (ServiceError, ValueError, TypeError) as error:
            return self._broken(last.entry.n + 1 if last else 1, str(error))
        if hidden:
            self._print(
                f"Entry {hidden} is hidden: this file was made while the game ran, for a reader who may not know it. "
                "Nothing is broken; export the table again when the game is over."
            )
            return 1
        return self._ended(last.after if last else None)

    def _ended(self, table: Table | None) -> int:
        expected = self._export.state
        if table is None or table.state is None:
            self._print("The game has not begun.")
        elif expected and (reached := self._game.rules.notation(table.state)) != expected:
            self._print(f"The file does not lead where it says.\n  it says  {expected}\n  it leads {reached}")
            return 1
        else:
            whole = counted(len(self._export.entries), "entry", "entries")
            self._print(f"The whole log stands: {whole}. The game is {table.phase}.")
        return 0

    def _broken(self, n: int, why: str) -> int:
        self._print(f"Entry {n} cannot stand: {why}")
        entries = self._export.entries
        if n <= len(entries):
            entry = entries[n - 1]
            before = counted(n - 1, "entry before it stands", "entries before it stand")
            self._print(f"  it is {entry.by}'s {encode(entry.action)}; {before}")
        return 1

    def _refusal(self, last: ReplayStep | None, broken: BrokenLog) -> str:
        words = self._words(last.after if last else None)
        key = f"refusal.{broken.refusal.code}"
        return words(key, **broken.refusal.facts) if words.has(key) else broken.refusal.code

    def _words(self, table: Table | None) -> Texts:
        people = {chair.seat: chair.name for chair in table.chairs if chair.name} if table else {}
        return self._library.words(LANGUAGE, self._game.name, people)

    def _print_step(self, step: ReplayStep) -> None:
        entry, _, after = step
        words = self._words(after)
        what = "; ".join(line_text(words, line.code, line.facts) for line in step.lines) or " ".join(
            map(str, encode(entry.action))
        )
        self._print(f"{entry.n:5}  {entry.at:%H:%M:%S}  {what}{f' ({entry.hand})' if entry.hand else ''}")
        if self._states and after.state is not None:
            self._print(f"       {self._game.rules.notation(after.state)}")

    def _print(self, text: str) -> None:
        print(text, file=self._out)
