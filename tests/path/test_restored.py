"""A ledger that comes back from a backup: every token that falls from then on counts, and a person is shown why."""

from __future__ import annotations

import io
import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path

import pytest
from paho.mqtt import publish

import companion.cli.command_line
import controller.app.command_line
from controller.adapters.control_socket import send_request
from templo import contract
from tests.brokers import HOST, mosquitto
from tests.path.conftest import Way
from tests.waiting import eventually

STRANGE = "f" * 32


def report(way: Way) -> Mapping[str, object]:
    answer = send_request(way.temple_state, {"do": "status"}, 30)
    assert answer is not None
    return answer


def notices(way: Way) -> list[str]:
    standing = report(way)["notices"]
    assert isinstance(standing, list)
    return [notice["code"] for notice in standing]


def words(way: Way, *command: str) -> str:
    """Carry out a command of the controller on the temple's state and return what it prints."""
    return printed(controller.app.command_line.main, *command, "--state", str(way.temple_state))


def held(way: Way, *command: str) -> str:
    """Carry out `templo-companion held` on the store of a companion that is stopped, and return what it prints."""
    return printed(companion.cli.command_line.main, "held", *command, "--state", str(way.companion_state))


def printed(main: Callable[[Sequence[str]], int], *words: str) -> str:
    mask, out = os.umask(0o077), io.StringIO()
    try:
        with redirect_stdout(out):
            assert main(words) == 0
    finally:
        os.umask(mask)
    return out.getvalue()


def send_again_as_another(way: Way, seq: int) -> None:
    """Publish a token with another id under a number that is taken."""
    at = datetime.now(UTC)
    token = contract.Token(way.first_source(), seq, STRANGE, contract.God.TLALOC, at, 12.0)
    topic = contract.topic("templo", contract.Token.leaf)
    publish.single(topic, contract.encode(token), qos=1, hostname=HOST, port=way.broker.port)


@pytest.mark.parametrize("away", [False, True], ids=["companion-there", "companion-away"])
def test_every_token_that_falls_after_a_ledger_was_put_back_counts_once(tmp_path: Path, away: bool) -> None:
    with mosquitto(tmp_path) as broker:
        way = Way(tmp_path, broker)
        try:
            way.start()
            way.drop("tlaloc", 20)
            way.settled()
            assert way.temple.stop() == 0
            shutil.copytree(way.temple_state, tmp_path / "copy")
            way.temple.start()
            way.drop("tlaloc", 40)
            way.settled()
            before = way.kept()
            source = way.source()
            assert way.temple.stop() == 0
            shutil.rmtree(way.temple_state)
            shutil.copytree(tmp_path / "copy", way.temple_state)
            if away:
                way.companion.kill()
            way.temple.start()
            way.drop("huitzilopochtli", 60)
            way.dropped()
            fell = way.ledger()[20:]
            assert len(fell) == 60
            if away:
                way.companion.start()
            eventually(lambda: set(way.kept()) == set(before) | set(fell), what="every token is stored")
            eventually(lambda: Counter(way.scored()) == Counter(before) + Counter(fell), what="each counts once")
            assert Counter(way.kept()) == Counter(before) + Counter(fell)
            assert not set(way.held_apart()) - set(way.kept())
            eventually(lambda: report(way)["waiting"] == 0, what="all is acknowledged")
            assert report(way)["source"] != source
            assert (report(way)["state"], notices(way)) == ("alert", ["ledger_restored"])
            assert way.temple.stop() == 0
            assert "the ledger came from a backup" in words(way, "status")
            way.temple.start()
            assert (report(way)["state"], notices(way)) == ("alert", ["ledger_restored"])
            words(way, "dismiss", "ledger_restored")
            assert notices(way) == []
            way.temple.kill()
            way.temple.start()
            assert notices(way) == []
        finally:
            way.end()


def test_tokens_held_apart_before_a_restore_wait_through_it_and_are_counted_once(tmp_path: Path) -> None:
    """What the restore itself holds apart for a moment goes by itself; what a stranger sent stays for a person."""
    with mosquitto(tmp_path) as broker:
        way = Way(tmp_path, broker)
        try:
            way.start()
            way.drop("tlaloc", 10)
            way.settled()
            send_again_as_another(way, seq=5)
            eventually(lambda: way.undecided() == [STRANGE], what="the strange token is held apart")
            assert way.temple.stop() == 0
            shutil.copytree(way.temple_state, tmp_path / "copy")
            way.temple.start()
            way.drop("tlaloc", 20)
            way.settled()
            before = way.kept()
            assert way.temple.stop() == 0
            shutil.rmtree(way.temple_state)
            shutil.copytree(tmp_path / "copy", way.temple_state)
            way.temple.start()
            way.drop("huitzilopochtli", 30)
            way.dropped()
            counted = Counter(before) + Counter(way.ledger()[10:])
            eventually(lambda: Counter(way.scored()) == counted, what="each counts once")
            eventually(lambda: way.undecided() == [STRANGE], what="only the strange token waits")
            assert way.companion.stop() == 0
            assert STRANGE[:8] in held(way, "list")
            held(way, "count", "--all", "--for", "east")
            assert held(way, "list") == "No token is held apart.\n"
        finally:
            way.end()


def test_a_temple_that_is_killed_with_all_delivered_is_not_taken_for_a_restored_one(tmp_path: Path) -> None:
    """The mark of what is delivered rides with the next token: a kill after the last one loses it."""
    with mosquitto(tmp_path) as broker:
        way = Way(tmp_path, broker)
        try:
            way.companion.start()
            way.temple.start()
            way.broker.kill()
            way.drop("tlaloc", 60, every_ms=20)
            way.dropped()
            way.broker.start()
            way.settled()
            eventually(lambda: report(way)["waiting"] == 0, what="all is acknowledged")
            source = report(way)["source"]
            for _ in range(2):
                way.temple.kill()
                way.temple.start()
                eventually(lambda: report(way)["waiting"] == 0, what="all is acknowledged")
            assert (report(way)["source"], notices(way)) == (source, [])
            assert Counter(way.scored()) == Counter(way.ledger())
        finally:
            way.end()
