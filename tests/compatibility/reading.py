"""What this release makes of the files that a release wrote: facts that stay the same in every later one."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from contextlib import closing, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

import companion.cli.command_line
import companion.settings
import controller.app.command_line
import controller.app.settings
from companion.appliance import backup
from companion.cli.data import check
from companion.games import registry
from companion.games.kit import Game
from companion.model.exports import read
from controller.adapters import learned_file
from controller.adapters.sqlite_ledger import FILE_NAME, Ledger
from tests.appliance.test_backup import NOW, Card
from tests.appliance.test_boot import Card as BootCard
from tests.games.your_own_game import opened

FACTS = "facts.json"
PICO = Path(__file__).with_name("pico.py")


def facts(written: Path, scratch: Path) -> dict[str, Any]:
    """Read a copy of everything in the folder `written`, in an empty folder."""
    files = scratch / "files"
    shutil.copytree(written, files)
    return {
        "ledger": ledger(files / "temple"),
        "temple's backup": restored_ledger(files / "temple.templo", scratch / "restored"),
        "store": store(files / "companion.sqlite"),
        "companion's backup": restored_store(files / "companion.backup", scratch / "restored.sqlite"),
        "backup of everything": everything(files / "everything.tar.gz", scratch / "card"),
        "export": replayed(files / "table.json"),
        "settings": settings(files),
        "boot file": booted(files / "templo-mayor.toml", scratch / "boot"),
        "deck": contents(files / "deck.toml", "mexica", "deck"),
        "map": contents(files / "map.toml", "siege", "map"),
        "game": played(files / "beans"),
        "pico": json.loads(pico("read", files / "pico")),
    }


def ledger(state: Path) -> dict[str, Any]:
    """Open a temple's state for writing, as its controller does."""
    with closing(Ledger.open(state / FILE_NAME, str)) as found:
        tokens = [
            [each.seq, each.token, each.god, each.at.isoformat(), sorted(each.flags)] for each in found.tokens()
        ]
        learned = {god: [each.low_ns, each.high_ns, each.tokens] for god, each in learned_file.load(state).items()}
        return {"source": found.source, "tokens": tokens, "learned": learned}


def restored_ledger(file: Path, state: Path) -> list[str]:
    """Restore a temple's backup into an empty state; a new source begins, and the tokens are the same."""
    command(controller.app.command_line.main, "restore", "--state", str(state), str(file))
    with closing(Ledger.open(state / FILE_NAME, str)) as found:
        return [each.token for each in found.tokens()]


def store(file: Path) -> dict[str, Any]:
    """Export everything of a companion's store."""
    into = file.with_suffix(".json")
    command(companion.cli.command_line.main, "export", str(into), "--store", f"sqlite:///{file}")
    found: dict[str, Any] = json.loads(into.read_text("utf-8"))
    return {key: value for key, value in found.items() if key not in ("format", "version", "made_at")}


def restored_store(file: Path, into: Path) -> dict[str, Any]:
    """Restore a companion's backup in place of no store, and export it."""
    command(companion.cli.command_line.main, "restore", "--store", f"sqlite:///{into}", str(file))
    return store(into)


def everything(file: Path, folder: Path) -> dict[str, Any]:
    """Restore the backup of a whole machine onto a new card."""
    folder.mkdir()
    card = Card(folder)
    card.settings.mkdir()
    backup.restore(card.installation(), file, NOW)
    with closing(card.ledger()) as found:
        tokens = [each.token for each in found.tokens()]
    settings = {path.name: path.read_text("utf-8") for path in sorted(card.settings.iterdir())}
    return {"tokens": tokens, "settings": settings, "tables": store(card.store)["tables"]}


def replayed(file: Path) -> dict[str, Any]:
    """Replay an exported table to the end."""
    said = command(companion.cli.command_line.main, "replay", str(file))
    export = read(file.read_text("utf-8"), registry.with_tools(registry.load(())))
    return {"entries": len(export.entries), "state": export.state, "last": said.splitlines()[-1]}


def settings(folder: Path) -> dict[str, Any]:
    """Load both programs' settings from their files alone; returns what the files give, for a default may change."""
    temple = controller.app.settings.load(file=folder / "controller.toml", environ={}, flags={}, home=folder)
    scorekeeper = companion.settings.load(folder / "companion.toml", {}, {}, folder)
    loaded = {"controller": asdict(temple), "companion": asdict(scorekeeper)}
    return {
        name: {
            table: {key: _plain(found[table][key]) for key in given}
            for table, given in tomllib.loads((folder / f"{name}.toml").read_text("utf-8")).items()
        }
        for name, found in loaded.items()
    }


def booted(file: Path, folder: Path) -> dict[str, str]:
    """Apply the settings file of a boot partition."""
    (folder / "etc").mkdir(parents=True)
    card = BootCard(folder)
    assert card.boot(file.read_text("utf-8")) == 0, card.fault.read_text()
    return {name: text for name, text in card.written().items() if name.endswith(".toml")}


def contents(file: Path, game: str, key: str) -> list[Any]:
    """Return what a file for a game's option contains; it has no fault."""
    option = check.option_of(registry.load(())[game], key)
    assert option.reader is not None
    text = file.read_text("utf-8")
    assert not option.faults(text)
    return _plain([[code, facts] for code, facts in option.reader.contents(text)])


def played(folder: Path) -> str:
    """Play a game of somebody's own to its end, always the last legal move; returns how it stands then."""
    with opened(folder) as game:
        return _to_the_end(game)


def pico(action: str, folder: Path) -> str:
    """Write or read a Pico's files with the board's own program, whose modules have names of their own."""
    words = [sys.executable, str(PICO), action, str(folder)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _to_the_end(game: Game[Any]) -> str:
    rules = game.rules
    state: Any = rules.setup({option.key: option.default for option in game.options}, game.seatings[2])
    n = 0
    while not rules.result(state) and n < 1000:
        seat = rules.to_act(state)[0]
        moves = rules.moves(state, seat)
        state = rules.play(state, seat, moves[n % len(moves)] if rules.chance(state) else moves[-1])
        n += 1
    return f"{n} moves: {rules.notation(state)}"


def command(main: Any, *words: str) -> str:
    """Run a program's command; returns what it printed."""
    out = io.StringIO()
    with redirect_stdout(out):
        code = main(words)
    assert code == 0, out.getvalue()
    return out.getvalue()


def missing(expected: Any, found: Any, where: str = "") -> list[str]:
    """Return what is expected and not found; a later release may add keys, and changes nothing else.

    >>> missing({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3, "c": 4}]})
    ['.a.1.b: 3; expected 2']
    """
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return [each for key, value in expected.items() for each in missing(value, found.get(key), f"{where}.{key}")]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [
            each
            for n, pair in enumerate(zip(expected, found, strict=True))
            for each in missing(*pair, f"{where}.{n}")
        ]
    return [] if expected == found else [f"{where}: {found!r}; expected {expected!r}"]


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))
