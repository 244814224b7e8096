"""What counts for each god, and a game's mood, for those who know no game: pure, and retained at a real broker."""

from __future__ import annotations

import time
from pathlib import Path

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from companion.model import temples
from companion.model.scores import mood_of, score_of
from companion.model.table import Table
from templo import contract
from tests.brokers import leave, mosquitto
from tests.companion.adapters.test_intake import Temple, listening, status
from tests.companion.conftest import Home
from tests.waiting import eventually

H, T = contract.God.HUITZILOPOCHTLI, contract.God.TLALOC


def served(home: Home) -> temples.Temple:
    return home.services.temples.find("templo") or temples.Temple("templo")


def score(home: Home, table: Table) -> contract.Score:
    return score_of(home.services.tables.get(table.id), home.services.tables.tokens)


def test_a_temple_without_a_table_has_a_score_of_nothing(home: Home) -> None:
    assert score_of(None, home.services.tables.tokens) == contract.Score(None, {H: 0, T: 0})


def test_tokens_that_count_are_the_score_and_those_that_wait_or_test_are_not(home: Home) -> None:
    table = home.table(temple="templo")
    home.services.temples.intake.receive(
        [("templo", home.token(1)), ("templo", home.token(2, str(H))), ("templo", home.token(3))]
    )
    home.services.temples.intake.receive(
        [("templo", home.token(4, "tlaloc", "jam")), ("templo", home.token(5, "tlaloc", "test"))]
    )
    assert score(home, table) == contract.Score(table.id, {H: 1, T: 2})


def test_an_open_hotspot_is_a_signal_beside_those_of_the_game_and_without_a_table(home: Home) -> None:
    assert mood_of(None, served(home), hotspot=True) == contract.Mood(None, ("hotspot",))
    table = home.table(temple="templo", apocalypse_tokens=13)
    home.services.temples.intake.receive([("templo", home.token(n)) for n in range(1, 14)])
    mood = mood_of(home.services.tables.get(table.id), served(home), hotspot=True)
    assert mood == contract.Mood(table.id, ("hotspot", "countdown", "flood"), 13)


def market(home: Home) -> Table:
    """Return a running table of a game that has no use for a temple, served by one all the same."""
    home.services.temples.expect("templo")
    table = home.services.tables.open("market", "Sunday", 4, next(iter(home.games["market"].presets)), {}, "templo")
    return home.services.seats.begin(table.id, table.code)


def test_a_game_that_audits_no_tokens_is_scored_by_what_fell_for_it(home: Home) -> None:
    table = market(home)
    assert table.game.temple is None
    home.services.temples.intake.receive([("templo", home.token(1)), ("templo", home.token(2))])
    assert score_of(table, lambda _: home.services.temples.get("templo").recent) == contract.Score(
        table.id, {H: 0, T: 2}
    )


def test_a_token_that_falls_for_a_game_without_a_use_for_it_is_kept_and_enters_no_log(home: Home) -> None:
    table = market(home)
    (receipt,) = home.services.temples.intake.receive([("templo", home.token(1))])
    assert receipt.seq == 1
    assert home.services.temples.get("templo").totals[T] == 1
    assert home.services.tables.get(table.id).version == table.version
    assert score(home, table) == contract.Score(table.id, {H: 0, T: 0})


def test_a_table_s_mood_is_its_game_s_and_calm_before_it_begins_and_after_it_was_closed(home: Home) -> None:
    assert mood_of(None, served(home)) == contract.Mood(None, ())
    table = home.table(temple="templo", apocalypse_tokens=13)
    assert mood_of(table, served(home)) == contract.Mood(table.id, ())
    home.services.temples.intake.receive([("templo", home.token(n)) for n in range(1, 14)])
    threatened = mood_of(home.services.tables.get(table.id), served(home))
    assert threatened == contract.Mood(table.id, ("countdown", "flood"), 13)
    home.services.tables.close(table.id, home.seated(table))
    assert mood_of(home.services.tables.get(table.id), served(home)) == contract.Mood(table.id, ())


def test_a_game_without_a_use_for_a_temple_leaves_its_lamps_calm(home: Home) -> None:
    table = market(home)
    assert mood_of(table, served(home)) == contract.Mood(table.id, ())


class Watcher:
    """Somebody who comes later and takes what is retained, and what changes."""

    def __init__(self, host: str, port: int) -> None:
        self.scores: list[contract.Score] = []
        self.moods: list[contract.Mood] = []
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2)
        self.client.on_connect = lambda client, *_: client.subscribe(
            [("templo/templo/score", 1), ("templo/templo/mood", 1)]
        )
        self.client.on_message = self._on_message
        self.client.connect(host, port)
        self.client.loop_start()

    def _on_message(self, _client: object, _data: object, message: mqtt.MQTTMessage) -> None:
        received = contract.decode(contract.parse_topic(message.topic)[1], bytes(message.payload))
        if isinstance(received, contract.Score):
            self.scores.append(received)
        elif isinstance(received, contract.Mood):
            self.moods.append(received)

    def leave(self) -> None:
        leave(self.client)


def test_the_lamps_of_every_temple_learn_that_the_hotspot_opens_and_closes(home: Home, tmp_path: Path) -> None:
    opened: list[bool] = [True]
    with (
        mosquitto(tmp_path) as broker,
        listening(home, broker.host, broker.port, hotspot=lambda: opened[-1]),
    ):
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        watcher = Watcher(broker.host, broker.port)
        eventually(lambda: contract.Mood(None, ("hotspot",)) in watcher.moods, 30)
        opened.append(False)
        eventually(lambda: watcher.moods[-1] == contract.Mood(None, ()), 30)
        watcher.leave()
        temple.close()


def test_the_score_is_retained_follows_the_game_and_is_said_again_to_a_broker_that_forgot(
    home: Home, tmp_path: Path
) -> None:
    table = home.table(temple="templo")
    with mosquitto(tmp_path) as broker, listening(home, broker.host, broker.port):
        temple = Temple(broker.host, broker.port)
        temple.says(status(), retain=True)
        temple.says(home.token(1))
        eventually(lambda: temple.acked() == 1)
        time.sleep(1.5)
        watcher = Watcher(broker.host, broker.port)
        eventually(lambda: watcher.scores == [contract.Score(table.id, {H: 0, T: 1})])
        eventually(lambda: watcher.moods == [contract.Mood(table.id, ())])
        temple.says(home.token(2, str(H)))
        eventually(lambda: watcher.scores[-1] == contract.Score(table.id, {H: 1, T: 1}))
        home.services.temples.serving.serve(table.id, None)
        eventually(lambda: watcher.scores[-1] == contract.Score(None, {H: 0, T: 0}))
        watcher.leave()
        temple.close()
        broker.kill()
        broker.start()
        late = Watcher(broker.host, broker.port)
        eventually(lambda: late.scores == [contract.Score(None, {H: 0, T: 0})], 30)
        eventually(lambda: late.moods == [contract.Mood(None, ())], 30)
        late.leave()
