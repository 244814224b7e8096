"""One backup of a ledger and a store that are at work, restored on another card: every token counts once."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from companion.appliance.backup import LEDGER, STORE, Installation, Program, back_up, restore
from tests.brokers import mosquitto
from tests.controller.program import command_anywhere
from tests.path.conftest import Way
from tests.waiting import eventually


def installation(way: Way, folder: Path) -> Installation:
    programs = [
        Program(f"templo-{name}", command_anywhere(name), state, member, dict)
        for name, state, member in (
            ("controller", way.temple_state, LEDGER),
            ("companion", way.companion_state, STORE),
        )
    ]
    return Installation(programs, {"settings": folder / "etc"}, folder / "backups", lambda *_: "", lambda: None)


def test_a_backup_taken_while_tokens_fall_and_restored_on_another_card_counts_each_token_once(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker, TemporaryDirectory(prefix="templo-") as short:
        file = tmp_path / "all.tar.gz"
        (Path(short) / "a").mkdir()
        (Path(short) / "b").mkdir()
        way = Way(Path(short) / "a", broker)
        try:
            way.start()
            way.drop("tlaloc", 20)
            eventually(lambda: len(way.kept()) > 5, what="tokens are stored")
            with ThreadPoolExecutor() as pool:
                done = pool.submit(back_up, installation(way, Path(short) / "a"), file, datetime.now(UTC))
                while not done.done():
                    way.drop("tlaloc", 20)
                    way.dropped()
            done.result()
            way.drop("tlaloc", 20)
            way.settled()
            source, before = way.source(), way.ledger()
        finally:
            way.end()
        other = Way(Path(short) / "b", broker)
        try:
            restore(installation(other, Path(short) / "b"), file, datetime.now(UTC))
            in_ledger, in_store = other.ledger(), other.kept()
            assert 5 < len(in_ledger) < len(before)
            assert set(in_ledger) | set(in_store) <= set(before)
            other.start()
            other.drop("huitzilopochtli", 10)
            other.dropped()
            new = other.ledger()[len(in_ledger) :]
            assert len(new) == 10
            expected = Counter(set(in_ledger) | set(in_store) | set(new))
            eventually(lambda: Counter(other.kept()) == expected, what="every token is stored once")
            eventually(lambda: Counter(other.scored()) == expected, what="each counts once")
            assert other.held_apart() == []
            assert other.source() != source
        finally:
            other.end()
