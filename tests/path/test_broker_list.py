"""A temple and a companion with a list of brokers: each broker is killed, and every token is stored exactly once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from companion.adapters.mqtt_intake import Intake
from templo.broker import BrokerSettings
from tests.brokers import HOST, Broker, mosquitto, nats_cluster
from tests.companion.conftest import Home
from tests.controller.program import Temple
from tests.waiting import eventually


@contextmanager
def two_mosquittos(tmp_path: Path) -> Iterator[list[Broker]]:
    with ExitStack() as stack:
        yield [stack.enter_context(mosquitto(tmp_path)) for _ in range(2)]


@pytest.mark.parametrize("several", [two_mosquittos, nats_cluster])
def test_each_broker_of_a_list_may_die_in_turn_and_every_token_is_stored_once(
    several: Callable[[Path], AbstractContextManager[list[Broker]]], tmp_path: Path
) -> None:
    """With 6 s of keepalive: one of 2 s leaves a cluster that is electing its leaders before it can answer."""
    home = Home(f"sqlite:///{tmp_path / 'companion.db'}")
    table = home.table(temple="templo")
    with several(tmp_path) as brokers:
        hosts = ",".join(f"{HOST}:{each.port}" for each in brokers)
        intake = Intake(home.services, BrokerSettings(hosts, keepalive_s=6), "0" * 32)
        temple = Temple(tmp_path / "state", hosts, "--set", "broker.keepalive_s=6")
        intake.start()
        try:
            eventually(lambda: intake.subscribed)
            temple.start()
            pressed = 0
            for broker in brokers:
                temple.press("ht" * 20)
                broker.kill()
                temple.press("th" * 20)
                pressed += 80
                eventually(lambda: temple.report()["last_seq"] == pressed)  # noqa: B023 # called within this turn
                eventually(lambda: temple.report()["waiting"] == 0)
                broker.start()
                eventually(broker.healthy)
            numbers = [row["seq"] for row in temple.ledger()]
            assert numbers == list(range(1, pressed + 1))
            view = home.services.tables.get(table.id)
            state = view.state
            assert view.game.page.view(state, None)["total"] + len(state.unclaimed) == pressed  # some fell too fast
            assert sum(home.services.temples.get("templo").totals.values()) == pressed
        finally:
            intake.stop()
            temple.kill()
            home.store.close()
