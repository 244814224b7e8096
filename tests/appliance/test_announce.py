"""`templo.local` is announced for the addresses of now, and left to another machine that has it."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from jeepney import HeaderFields, Message, MessageFlag, new_error, new_method_return

from companion.adapters.network import avahi as avahi_adapter
from companion.adapters.network.addresses import ANNOUNCED, address_changes
from companion.adapters.network.avahi import AvahiError, GroupState
from companion.appliance.announce import LOOK_S, RETRY_S, Announcer

HOME = [(2, "192.168.1.7")]


@dataclass
class Group:
    """One announcement; its state is the daemon's."""

    addresses: Sequence[tuple[int, str]]
    avahi: Avahi
    closed: bool = False

    def fileno(self) -> int:
        return self.avahi.end.fileno()

    def has_news(self) -> bool:
        with suppress(BlockingIOError):
            return bool(self.avahi.end.recv(100, socket.MSG_DONTWAIT))
        return False

    def state(self) -> GroupState:
        self.avahi.answer()
        return self.avahi.state

    def close(self) -> None:
        self.closed = True


@dataclass
class Avahi:
    """A daemon with one state for all announcements; it may be away."""

    state: GroupState = GroupState.ESTABLISHED
    away: bool = False
    groups: list[Group] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    own_name: str = "raspberrypi.local"

    def __post_init__(self) -> None:
        self.end, self.says = socket.socketpair()

    def announcer(self) -> Announcer:
        return Announcer(self.publish, self.reports.append, lambda: self.own_name)

    def publish(self, name: str, addresses: Sequence[tuple[int, str]]) -> Group:
        assert name == "templo.local"
        self.answer()
        self.groups.append(Group(addresses, self))
        return self.groups[-1]

    def answer(self) -> None:
        if self.away:
            raise AvahiError("avahi did not answer")

    def announced(self) -> list[Sequence[tuple[int, str]]]:
        return [group.addresses for group in self.groups if not group.closed]


@pytest.fixture
def avahi() -> Iterator[Avahi]:
    made = Avahi()
    yield made
    made.end.close()
    made.says.close()


def test_the_name_is_announced_once_and_reported_when_it_is_established(avahi: Avahi) -> None:
    announcer, avahi.state = avahi.announcer(), GroupState.REGISTERING
    announcer.look(HOME, 0)
    assert avahi.reports == []
    avahi.state = GroupState.ESTABLISHED
    for second in range(1, 100):
        announcer.look(HOME, second)
    assert avahi.reports == [ANNOUNCED]
    assert avahi.announced() == [HOME]
    assert len(avahi.groups) == 1
    announcer.close()
    assert avahi.announced() == []


def test_a_network_that_comes_later_and_another_address_are_announced_at_once(avahi: Avahi) -> None:
    announcer = avahi.announcer()
    announcer.look([], 0)
    assert "on no network" in avahi.reports[-1]
    announcer.look(HOME, LOOK_S)
    assert avahi.announced() == [HOME]
    both = [*HOME, (3, "10.0.0.4")]
    announcer.look(both, 2 * LOOK_S)
    assert avahi.announced() == [both]
    announcer.look([], 3 * LOOK_S)
    assert avahi.announced() == []


def test_a_name_that_another_machine_has_is_left_to_it_and_taken_when_it_is_free(avahi: Avahi) -> None:
    announcer, avahi.state = avahi.announcer(), GroupState.COLLISION
    for second in range(0, round(RETRY_S), round(LOOK_S)):
        announcer.look(HOME, second)
    assert len(avahi.groups) == 1
    assert avahi.announced() == []
    assert avahi.reports == [
        "templo.local is not announced: another machine in this network has that name",
    ]
    avahi.state = GroupState.ESTABLISHED
    announcer.look(HOME, RETRY_S)
    assert avahi.announced() == [HOME]
    assert avahi.reports[-1] == ANNOUNCED


def test_a_machine_that_has_the_name_itself_announces_it_only_after_another_one_has_taken_it(avahi: Avahi) -> None:
    announcer, avahi.own_name = avahi.announcer(), "templo.local"
    announcer.look(HOME, 0)
    assert avahi.announced() == []
    assert avahi.reports == ["templo.local is this machine's own name, which avahi announces by itself"]
    avahi.own_name, avahi.state = "templo-2.local", GroupState.COLLISION
    announcer.look(HOME, LOOK_S)
    assert avahi.reports[-1] == "templo.local is not announced: another machine in this network has that name"


def test_a_name_that_is_lost_later_is_given_up(avahi: Avahi) -> None:
    announcer = avahi.announcer()
    announcer.look(HOME, 0)
    avahi.state = GroupState.COLLISION
    announcer.look(HOME, LOOK_S)
    assert avahi.announced() == []
    assert "another machine" in avahi.reports[-1]


def test_a_daemon_that_is_away_is_tried_again(avahi: Avahi) -> None:
    announcer, avahi.away = avahi.announcer(), True
    announcer.look(HOME, 0)
    announcer.look(HOME, LOOK_S)
    assert avahi.reports == ["templo.local is not announced: avahi did not answer"]
    avahi.away = False
    announcer.look(HOME, RETRY_S)
    assert avahi.announced() == [HOME]


def test_a_daemon_that_was_started_anew_gets_the_name_at_the_next_look(avahi: Avahi) -> None:
    announcer = avahi.announcer()
    announcer.look(HOME, 0)
    avahi.away = True
    announcer.look(HOME, LOOK_S)
    assert avahi.announced() == []
    avahi.away = False
    announcer.look(HOME, 2 * LOOK_S)
    assert avahi.announced() == [HOME]
    assert avahi.reports[-1] == ANNOUNCED


def test_nothing_that_is_asked_of_avahi_starts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bus:
        def send_and_get_reply(self, message: Message, timeout: float) -> Message:
            asked.append(message)
            if message.header.fields[HeaderFields.member] == "EntryGroupNew":
                return new_error(message, "org.freedesktop.DBus.Error.NameHasNoOwner")
            return new_method_return(message)

        def close(self) -> None:
            pass

    asked: list[Message] = []
    monkeypatch.setattr(avahi_adapter, "open_dbus_connection", lambda bus: Bus())
    with pytest.raises(AvahiError, match="EntryGroupNew"):
        avahi_adapter.Announcement("templo.local", HOME)
    assert len(asked) > 1
    assert all(message.header.flags & MessageFlag.no_auto_start for message in asked)


def test_nothing_is_looked_at_until_avahi_or_the_kernel_says_something(avahi: Avahi) -> None:
    announcer = avahi.announcer()
    other, rings = socket.socketpair()
    with other, rings:
        announcer.look([], 0)
        rings.send(b"an address")
        assert announcer.wait(other) == [other]
        other.recv(100)
        announcer.look(HOME, 1)
        avahi.says.send(b"a collision")
        assert announcer.wait(other) == []
        avahi.state = GroupState.COLLISION
        announcer.look(HOME, 2)
        rings.send(b"an address")
        assert announcer.wait(other) == [other]


def test_the_kernel_says_when_an_address_may_have_changed() -> None:
    with address_changes() as changes:
        assert changes.getsockname()[1] == 0x10
        with pytest.raises(BlockingIOError):
            changes.recv(100)
