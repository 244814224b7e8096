"""What is on its way: in order, never more than twenty, again after a silence, and news only once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.core.counting import SECOND
from controller.core.send_window import AckVerdict, SendWindow


def up(delivered: int = 0, last: int = 0) -> SendWindow:
    window = SendWindow(delivered, last)
    window.connected()
    return window


def send(window: SendWindow, now_ns: int) -> list[tuple[int, bool]]:
    """Send what is due and return each number with whether it was a replay."""
    return [(seq, window.sent(seq, now_ns)) for seq in window.due()]


@given(
    st.integers(0, 60),
    st.lists(
        st.sampled_from(["fall", "carry", "carry", "lose", "cut", "wait", "ack late"]) | st.integers(1, 80),
        max_size=120,
    ),
)
def test_every_token_arrives_in_order_whatever_is_lost_between(before: int, story: list[str | int]) -> None:
    """A line that loses, cuts and delays, and finally works: the companion has everything, once, in order."""
    window = SendWindow(0, before)
    window.connected()
    now, last = 0, before
    kept: list[int] = []
    fresh: set[int] = set()
    acknowledgement = 0

    def deliver(lost: bool) -> None:
        for seq, replayed in send(window, now):
            if not replayed:
                assert seq not in fresh
                assert seq > before
                fresh.add(seq)
            if not lost and seq == len(kept) + 1:
                kept.append(seq)
        assert 0 <= window.in_flight <= 20
        assert window.delivered <= len(kept)

    for step in [*story, *["carry"] * (before // 10 + len(story) + 2)]:
        now += SECOND // 4
        match step:
            case "fall":
                last += 1
                window.recorded(last, now)
            case "carry":
                now += 3 * SECOND
                if window.silent(now):
                    window.send_again()
                    now += 30 * SECOND
                deliver(lost=False)
                acknowledgement = len(kept)
                if acknowledgement:
                    window.acknowledged(acknowledgement, now)
            case "lose":
                deliver(lost=True)
            case "cut":
                window.disconnected()
                assert not window.due()
                assert window.deadline() is None
                window.connected()
            case "wait":
                now += 40 * SECOND
                if window.silent(now):
                    window.send_again()
            case "ack late":
                if acknowledgement:
                    assert window.acknowledged(acknowledgement, now) in (AckVerdict.OLD, AckVerdict.NEWS)
            case int(seq):
                answer = window.acknowledged(seq, now) if seq > last else None
                assert answer in (AckVerdict.BEYOND, None)
    now += 100 * SECOND
    for _ in range(last // 20 + 2):
        if window.silent(now):
            window.send_again()
        deliver(lost=False)
        if kept:
            window.acknowledged(len(kept), now)
        now += 100 * SECOND
    assert kept == list(range(1, last + 1))
    assert window.delivered == last
    assert window.deadline() is None


def test_no_more_than_twenty_are_in_flight() -> None:
    window = up(last=100)
    assert send(window, 0) == [(seq, True) for seq in range(1, 21)]
    assert not window.due()
    assert window.acknowledged(5, 1) is AckVerdict.NEWS
    assert window.due() == range(21, 26)


def test_a_token_is_news_once_and_only_when_it_is_sent_within_two_seconds() -> None:
    window = up()
    window.recorded(1, 0)
    window.recorded(2, SECOND)
    assert send(window, 2 * SECOND + 1) == [(1, True), (2, False)]
    window.connected()
    assert send(window, 2 * SECOND + 2) == [(1, True), (2, True)]


def test_what_fell_before_the_daemon_started_is_no_news() -> None:
    assert send(up(delivered=3, last=4), 0) == [(4, True)]


def test_a_silence_sends_everything_again_at_growing_intervals() -> None:
    window = up(last=2)
    send(window, 0)
    now, waits = 0, []
    for _ in range(6):
        deadline = window.deadline()
        assert deadline is not None
        assert not window.silent(deadline - 1)
        assert window.silent(deadline)
        waits.append((deadline - now) // SECOND)
        now = deadline
        window.send_again()
        assert [seq for seq, _ in send(window, now)] == [1, 2]
    assert waits == [2, 4, 8, 16, 30, 30]
    window.acknowledged(1, now)
    assert window.deadline() == now + 2 * SECOND


def test_an_acknowledgement_beyond_the_last_token_moves_nothing() -> None:
    window = up(last=3)
    assert window.acknowledged(4, 0) is AckVerdict.BEYOND
    assert window.delivered == 0


def test_a_number_without_an_id_is_believed_only_as_far_as_tokens_were_sent() -> None:
    """An older companion knows of tokens that a run before a crash has sent; the mark of them was lost."""
    window = up(last=100)
    assert window.acknowledged(100, 0) is AckVerdict.OLD
    for first in range(1, 101, 20):
        assert send(window, 0) == [(seq, True) for seq in range(first, first + 20)]
        assert window.acknowledged(100, 0) is AckVerdict.NEWS
        assert window.delivered == first + 19
    assert window.acknowledged(100, 0) is AckVerdict.OLD


def test_a_companion_that_names_the_token_is_believed_though_it_was_sent_by_an_earlier_run() -> None:
    window = up(last=30)
    assert window.acknowledged(25, 0, named=True) is AckVerdict.NEWS
    assert send(window, 0) == [(seq, True) for seq in range(26, 31)]


def test_a_companion_that_lost_everything_gets_it_again() -> None:
    window = up(delivered=30, last=30)
    window.resend_from(12)
    assert window.due() == range(12, 31)


def test_a_companion_that_answers_gets_what_is_in_flight_at_once() -> None:
    window = up(last=2)
    send(window, 0)
    window.resend_unacknowledged()
    assert window.due() == range(1, 3)


def test_what_the_broker_has_not_taken_is_not_sent_twice() -> None:
    window = up(last=2)
    send(window, 0)
    window.wait_on(2 * SECOND)
    assert not window.due()
    assert window.deadline() == 4 * SECOND


def test_sending_out_of_order_is_an_error() -> None:
    with pytest.raises(ValueError, match="expected 1, the first one due"):
        up(last=2).sent(2, 0)
