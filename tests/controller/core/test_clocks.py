"""A temple and a companion whose clocks differ: what is carried out, and what has expired."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from controller.core.messages import BrokerDisconnected, MessageReceived
from templo import contract
from templo.contract import CommandName
from tests.controller.rig import NOON, Rig

APART = [timedelta(seconds=90), timedelta(days=3650)]


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    rig = Rig(tmp_path)
    rig.connect()
    return rig


def here(rig: Rig) -> datetime:
    return NOON + timedelta(microseconds=rig.now_ns // 1000)


def ask(rig: Rig, name: CommandName, companion_now: datetime, **more: int) -> contract.Reply:
    """Send a command that expires in half a minute by the companion's clock, and return the answer."""
    number = f"{len(rig.broker.replies()) + 1:032x}"
    expires = companion_now + timedelta(seconds=30)
    rig.take(MessageReceived(contract.Command(number, name, expires, seq=more.get("seq"))))
    return rig.broker.replies()[-1]


@pytest.mark.parametrize("apart", [*APART, *(-apart for apart in APART)])
def test_a_request_for_missing_tokens_never_expires(rig: Rig, apart: timedelta) -> None:
    rig.token()
    assert ask(rig, CommandName.RESEND, here(rig) - apart, seq=1).ok


@pytest.mark.parametrize("apart", [*APART, *(-apart for apart in APART)])
def test_a_command_is_carried_out_where_the_companion_s_time_is_known(rig: Rig, apart: timedelta) -> None:
    companion_now = here(rig) - apart
    rig.take(MessageReceived(contract.Ack("f" * 32, 1, at=companion_now)))
    assert ask(rig, CommandName.IDENTIFY, companion_now).ok


def test_a_command_has_expired_where_it_has_by_both_clocks(rig: Rig) -> None:
    companion_now = here(rig) - timedelta(seconds=90)
    rig.take(MessageReceived(contract.Ack("f" * 32, 1, at=companion_now)))
    late = ask(rig, CommandName.IDENTIFY, companion_now - timedelta(seconds=60))
    assert (late.ok, late.code) == (False, "expired")


def test_a_companion_s_time_is_forgotten_with_the_connection(rig: Rig) -> None:
    companion_now = here(rig) - timedelta(seconds=90)
    rig.take(MessageReceived(contract.Ack("f" * 32, 1, at=companion_now)))
    rig.take(BrokerDisconnected())
    rig.connect()
    assert ask(rig, CommandName.IDENTIFY, companion_now).code == "expired"
