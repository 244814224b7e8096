"""Writes what this release writes, for every later one to read: ``python -m tests.compatibility.write``.

It is run once for each release, into a folder of the release's name; what is there already stays as it is. It needs
what `make firmware` does.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import companion.cli.command_line
import controller.app.command_line
from companion.adapters.database.backup import back_up as back_up_store
from companion.appliance import backup
from companion.model.exports import exported, written
from controller.adapters import learned_file
from controller.adapters.sqlite_ledger import FILE_NAME, Ledger
from controller.core.learned_limits import Measured
from firmware.tests import uno
from templo import __version__
from templo.contract import God
from tests.appliance.test_backup import NOW, Card
from tests.appliance.test_boot import WHOLE
from tests.companion.conftest import Home
from tests.companion.model.test_evenings import played
from tests.compatibility.reading import FACTS, command, facts, pico
from tests.games.your_own_game import BEANS

FILES = Path(__file__).parent / "files"
DECK = """\
[day]
day-rabbit-2 = { effect = "gain", tokens = 5 }
day-flower-1 = { effect = "sign", of = "flower", plain = { effect = "gain", tokens = 1 } }

[war]
war-17 = { effect = "boost", what = "battle", by = 3 }

[words.en]
day-rabbit-2 = { title = "Five at once", story = "They came out of one hole, one after the other." }
"""
SETTINGS = {
    "controller.toml": '[beams]\nhuitzilopochtli = 23\ntlaloc = 22\n\n[broker]\nhost = "192.168.1.5"\n',
    "companion.toml": '[web]\nport = 8080\nallowed_hosts = ["temple.example"]\n\n[broker]\nhost = "192.168.1.5"\n',
}


def main() -> int:
    """Write the folder of this release, with the facts that are read from it."""
    into = FILES / __version__
    if into.exists():
        print(f"{into} is there already, and stays as it is", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        write(into, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        found = facts(into, Path(folder))
    (into / FACTS).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(into)
    return 0


def write(into: Path, folder: Path) -> None:
    """Play a little on a card in an empty folder, and write every kind of file."""
    into.mkdir(parents=True)
    card = Card(folder)
    card.settings.mkdir()
    card.drop(5)
    with closing(Ledger.open(card.temple / FILE_NAME, str)) as ledger:
        ledger.deliver(2)
    learned_file.save(card.temple, {God.TLALOC: Measured(9_000_000, 21_000_000, 40)})
    card.store.parent.mkdir(parents=True)
    home = Home(f"sqlite:///{card.store}")
    over = played(home, "Ana", "Ben", tokens=2)
    home.clock.now += timedelta(days=1)
    running = home.table(temple="templo", deck=DECK)
    home.seated(running, "east", "Ana")
    home.services.temples.intake.receive([("templo", home.token(seq)) for seq in (1, 2, 3)])
    table = home.services.tables.get(over.id)
    (into / "table.json").write_text(
        written(exported(table.charter, table.game, home.services.tables.replay(table), ())), "utf-8"
    )
    home.close()
    for name, text in SETTINGS.items():
        (card.settings / name).write_text(text, "utf-8")
        (into / name).write_text(text, "utf-8")
    backup.back_up(card.installation(), into / "everything.tar.gz", NOW)
    back_up_store(home.url, into / "companion.backup", NOW)
    command(controller.app.command_line.main, "backup", "--state", str(card.temple), str(into / "temple.templo"))
    shutil.copytree(card.temple, into / "temple", ignore=shutil.ignore_patterns("*.lock", "*-shm", "*-wal"))
    shutil.copy(card.store, into / "companion.sqlite")
    (into / "templo-mayor.toml").write_text(WHOLE, "utf-8")
    (into / "deck.toml").write_text(DECK, "utf-8")
    skirmish = Path(companion.cli.command_line.__file__).parents[1] / "games" / "siege" / "data" / "skirmish.toml"
    shutil.copy(skirmish, into / "map.toml")
    shutil.copytree(BEANS, into / "beans", ignore=shutil.ignore_patterns("__pycache__"))
    pico("write", into / "pico")
    write_uno(into / "uno")


def write_uno(into: Path) -> None:
    """Let tokens fall on an Uno, the last of which nobody takes, and write its record with what a later one sends."""
    into.mkdir()
    uno.build()
    with tempfile.TemporaryDirectory() as folder:
        with uno.plugged(Path(folder), uno.pulses(uno.row(God.TLALOC, 5, 100.0)), 1.0) as tty:
            uno.taken(tty, 5)
        spells = [*uno.row(God.HUITZILOPOCHTLI, 2, 100.0, 21.0), (God.TLALOC, 1000.0, 3000.0)]
        uno.run(Path(folder), uno.pulses(spells))
        shutil.copy(Path(folder) / uno.EEPROM, into)
        with uno.plugged(Path(folder), [(0, "E")], 1.0) as tty:
            sent = uno.sent(tty, 8)
    (into / FACTS).write_text(json.dumps(sent, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
