"""The oracle finds each kind of wrong book, and names it correctly."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.chaos.oracle import NONE, Books, Posts, PostsVerdict, Store, Verdict, judge, judge_posts, maybe, waiting

ALL = [0, 1, 2, 3, 5, 6, 7]
WELL = Books(
    fell=[{"tlaloc": [0, 2, 4], "huitzilopochtli": [1, 3]}, {"tlaloc": [5, 7], "huitzilopochtli": [6]}],
    committed=frozenset(ALL),
    ledger=ALL,
    store=Store([ALL], ALL),
    due=frozenset(ALL),
)
"""Token 4 was under way when the first temple died."""


def stored(*tokens: int) -> Store:
    return Store([tokens], tokens)


def test_a_token_under_way_when_its_temple_died_may_be_counted_or_not() -> None:
    assert maybe(WELL) == {4}
    assert judge(WELL).well
    counted = [0, 1, 2, 3, 4, 5, 6, 7]
    assert judge(replace(WELL, ledger=counted, store=stored(*counted))).well


def test_lost_is_distinguished_from_undelivered() -> None:
    fewer = [0, 1, 2, 3, 5, 6]
    kept = judge(replace(WELL, store=stored(*fewer)))
    assert (kept.undelivered, kept.lost) == ([7], [])
    gone = judge(replace(WELL, ledger=fewer, store=stored(*fewer), due=frozenset(fewer)))
    assert (gone.undelivered, gone.lost) == ([], [7])


def test_a_token_that_is_anywhere_twice_is_doubled() -> None:
    assert judge(replace(WELL, ledger=[*ALL, 3])).doubled == [3]
    assert judge(replace(WELL, store=Store([[*ALL, 3]], ALL))).doubled == [3]
    assert judge(replace(WELL, store=Store([ALL], [*ALL, 3]))).doubled == [3]


def test_what_nobody_committed_and_nobody_may_have_is_invented() -> None:
    assert judge(replace(WELL, store=stored(*ALL, 8))).invented == [8]


def test_what_was_committed_although_nothing_fell_is_invented() -> None:
    more = [*ALL, 8]
    assert judge(Books(WELL.fell, WELL.committed | {8}, more, stored(*more))).invented == [8]


def test_what_was_passed_over_or_fell_into_a_temple_that_lived_on_is_missed() -> None:
    assert judge(replace(WELL, committed=WELL.committed - {0})).missed == [0]
    assert judge(replace(WELL, committed=WELL.committed - {7})).missed == [7]
    assert judge(replace(WELL, committed=WELL.committed - {3}, ledger=[0, 1, 2, 5, 6, 7])).missed == []


def test_the_tokens_of_a_slot_are_numbered_in_the_order_in_which_they_fell() -> None:
    assert judge(replace(WELL, store=Store([[2, 1, 0, 3, 5, 6, 7]], ALL))).disordered == [2]
    assert judge(replace(WELL, store=Store([[1, 0, 2, 3, 5, 6, 7]], ALL))).disordered == []


def test_the_numbers_of_two_sources_have_no_order_between_them() -> None:
    assert judge(replace(WELL, store=Store([[5, 6, 7], [0, 1, 2, 3]], ALL))).well


def test_what_never_entered_the_game_is_unscored() -> None:
    assert judge(replace(WELL, store=Store([ALL], ALL[1:]))).unscored == [0]


class TestARestoredLedger:
    """Tokens 6 and 7 were recorded after the copy was taken that took the ledger's place."""

    BACK = replace(WELL, ledger=[0, 1, 2, 3, 5], due=frozenset({5}))

    def test_may_lack_what_the_companion_has(self) -> None:
        assert judge(self.BACK).well

    def test_loses_a_token_that_was_delivered_to_nobody_unless_it_was_the_only_one_to_have_it(self) -> None:
        fewer = replace(self.BACK, store=stored(0, 1, 2, 3, 5, 6))
        assert judge(fewer).lost == [7]
        assert judge(replace(fewer, uncertain=frozenset({7}))).well

    def test_doubles_a_token_that_a_new_source_carried_over_and_that_counted_under_both(self) -> None:
        assert judge(replace(self.BACK, store=Store([ALL, [5]], ALL))).doubled == [5]
        assert judge(replace(self.BACK, store=Store([ALL], [*ALL, 5]))).doubled == [5]

    def test_sets_no_token_apart(self) -> None:
        apart = replace(self.BACK, store=Store([ALL[:-1]], ALL[:-1], held=frozenset({7})))
        assert (judge(apart).lost, judge(apart).held) == ([], [7])


class TestARestoredStore:
    """The ledger has everything: nothing may be missing."""

    def test_lacks_a_token_that_was_never_sent_again(self) -> None:
        assert judge(replace(WELL, store=stored(0, 1, 2, 5, 6, 7))).undelivered == [3]

    def test_doubles_a_token_that_was_sent_again_and_scored_again(self) -> None:
        assert judge(replace(WELL, store=Store([ALL], [*ALL, 2]))).doubled == [2]


class TestAClonedCard:
    """Tokens 90 and 91 fell into the clone, while 6 and 7 fell into the temple itself."""

    CLONED = replace(WELL, uncertain=frozenset({90, 91}), shared=frozenset({6, 7, 90, 91}))

    @pytest.mark.parametrize("counted", [[], [90], [90, 91]])
    def test_may_bring_its_own_tokens_or_not(self, counted: list[int]) -> None:
        assert judge(replace(self.CLONED, store=stored(*ALL, *counted))).well
        assert judge(replace(self.CLONED, store=Store([ALL], ALL, held=frozenset(counted)))).well

    def test_brings_none_of_them_twice(self) -> None:
        assert judge(replace(self.CLONED, store=Store([ALL, [90], [90]], [*ALL, 90]))).doubled == [90]

    def test_hides_no_token_of_the_temple_itself(self) -> None:
        assert judge(replace(self.CLONED, store=stored(*ALL[:-1], 90))).undelivered == [7]

    def test_lets_a_token_whose_number_it_took_wait_for_a_person_and_no_other(self) -> None:
        apart = replace(self.CLONED, store=Store([[0, 1, 2, 3, 5, 6, 90]], [*ALL[:-1], 90], held=frozenset({7})))
        assert judge(apart).well
        assert waiting(apart) == {7}
        assert judge(replace(apart, shared=frozenset({6}))).held == [7]

    def test_explains_no_token_that_fell_nowhere(self) -> None:
        assert judge(replace(self.CLONED, store=stored(*ALL, 92))).invented == [92]


class TestAnExchangedCompanion:
    """Tokens 0 to 3 fell before the new companion met the temple."""

    BEFORE = frozenset({0, 1, 2, 3})
    NEW = replace(
        WELL, store=Store([ALL], [5, 6, 7], old=BEFORE), put_away=[stored(0, 1, 2, 3)], earlier=frozenset(BEFORE)
    )

    def test_may_leave_old_tokens_to_a_person(self) -> None:
        assert judge(self.NEW).well

    def test_lacks_what_only_the_one_before_it_has_although_the_ledger_has_it_too(self) -> None:
        assert judge(
            replace(self.NEW, store=Store([[1, 2, 3, 5, 6, 7]], [5, 6, 7], old=self.BEFORE))
        ).undelivered == [0]

    def test_need_not_have_what_fell_under_a_source_that_is_over(self) -> None:
        assert judge(replace(self.NEW, store=stored(5, 6, 7), due=frozenset({5, 6, 7}))).well

    def test_scores_every_token_that_is_not_old(self) -> None:
        assert judge(replace(self.NEW, store=Store([ALL], [5, 6], old=self.BEFORE))).unscored == [7]
        assert judge(replace(self.NEW, store=Store([ALL], [5, 6], old=self.BEFORE | {7}))).held == [7]


class TestClocksApartAndDisksThatAreFullAtTheStart:
    """They excuse nothing: what the ledger holds arrives, once, and counts."""

    def test_leave_no_token_in_the_ledger(self) -> None:
        assert judge(replace(WELL, store=stored(0, 1, 2, 3))).undelivered == [5, 6, 7]

    def test_lose_no_token_that_fell_into_a_temple_which_waits_for_its_disk(self) -> None:
        rest = [0, 1, 2, 3, 5, 6]
        assert judge(Books(WELL.fell, frozenset(rest), rest, stored(*rest))).missed == [7]

    def test_count_nothing_twice_that_was_published_before_the_disk_could_be_written(self) -> None:
        assert judge(replace(WELL, store=Store([ALL, [0]], ALL))).doubled == [0]


class TestDoubts:
    """Tokens 5 and 7 were a lamp that flickered in Tlaloc's slot; they wait for a person."""

    LAMP = frozenset({5, 7})
    STORE = replace(WELL.store, waiting={5: "regular", 7: "regular"}, doubted=LAMP)
    LIT = replace(WELL, store=STORE, light=[(5, 7)], doubted=LAMP, ledger_doubts=LAMP)

    def counting(self, books: Books, *tokens: int, **changed: object) -> Books:
        """Return the books after these tokens have begun to count."""
        waiting = {token: why for token, why in books.store.waiting.items() if token not in tokens}
        return replace(books, store=replace(books.store, waiting=waiting, **changed))  # type: ignore[arg-type]

    def test_let_what_is_doubted_wait_and_nothing_else(self) -> None:
        assert judge(self.LIT).well
        assert judge(replace(self.LIT, store=replace(self.STORE, waiting={**self.STORE.waiting, 0: "earlier"}))).well
        also = replace(self.LIT, store=replace(self.STORE, waiting={**self.STORE.waiting, 0: "flicker"}))
        assert judge(also).held == [0]
        assert judge(replace(also, uncertain=frozenset({0}))).held == []

    def test_let_no_token_score_that_no_person_has_confirmed(self) -> None:
        assert judge(self.counting(self.LIT, 5)) == Verdict(unconfirmed=[5])
        assert judge(self.counting(self.LIT, 5, claimed={5: "east"})).well
        assert judge(self.counting(self.LIT, 5, dismissed=frozenset({5}))).well

    def test_are_lost_where_neither_a_store_nor_a_ledger_has_them(self) -> None:
        lost = replace(self.counting(self.LIT, 5, doubted=frozenset({7})), ledger_doubts=frozenset({7}))
        assert judge(lost) == Verdict(undoubted=[5], unconfirmed=[5])
        assert judge(replace(lost, gone_doubts=frozenset({5}))).well

    def test_reach_the_present_companion_as_long_as_the_ledger_has_them(self) -> None:
        assert judge(self.counting(self.LIT, 5, doubted=frozenset({7}))).undoubted == [5]
        elsewhere = replace(self.counting(self.LIT, 5, doubted=frozenset({7})), put_away=[self.STORE])
        assert judge(elsewhere).undoubted == [5]
        assert judge(replace(elsewhere, ledger_doubts=frozenset({7}))) == Verdict(unconfirmed=[5])

    def test_bind_a_companion_that_was_put_away_as_far_as_it_had_received_them(self) -> None:
        away = self.counting(self.LIT, 5).store
        assert judge(replace(self.LIT, put_away=[away])).unconfirmed == [5]
        assert judge(replace(self.LIT, put_away=[replace(away, doubted=frozenset({7}))])).well

    @pytest.mark.parametrize("seat", ["east", NONE])
    def test_are_not_raised_again_once_a_person_has_decided(self, seat: str) -> None:
        assert judge(replace(self.LIT, decided={5: seat})) == Verdict(forgotten=[5])

    def test_are_settled_as_the_person_said(self) -> None:
        claimed = replace(self.counting(self.LIT, 5, claimed={5: "east"}), decided={5: "east"})
        dismissed = replace(self.counting(self.LIT, 7, dismissed=frozenset({7})), decided={7: NONE})
        assert judge(claimed).well
        assert judge(dismissed).well
        assert judge(replace(claimed, decided={5: "west"})).forgotten == [5]
        assert judge(replace(claimed, decided={5: NONE})).forgotten == [5]
        assert judge(replace(dismissed, decided={7: "east"})).forgotten == [7]
        assert judge(replace(self.LIT, decided={5: "east"}, put_away=[claimed.store])).well

    def test_are_raised_about_all_light_that_one_life_has_counted_to_the_end(self) -> None:
        blind = replace(
            self.counting(self.LIT, 5, 7, doubted=frozenset()), doubted=frozenset(), ledger_doubts=frozenset()
        )
        assert judge(blind) == Verdict(trusted=[5, 7])
        assert judge(replace(blind, light=[(0,), (2, 5)])).trusted == [0]


class TestPosts:
    """Two tables: the first has three entries, two of them caused by posts; nobody was answered about `c`."""

    WELL = Posts(frozenset({"a", "b"}), frozenset({"d"}), [[(1, "a"), (2, ""), (3, "c")], [(1, "b")]])

    def test_what_nobody_was_answered_may_be_in_a_log_or_not(self) -> None:
        assert judge_posts(self.WELL) == PostsVerdict()
        assert judge_posts(replace(self.WELL, logs=[[(1, "a"), (2, "")], [(1, "b")]])) == PostsVerdict()

    def test_an_accepted_post_that_is_in_no_log_is_lost(self) -> None:
        assert judge_posts(replace(self.WELL, logs=self.WELL.logs[:1])).lost == ["b"]

    def test_a_post_that_is_in_a_log_twice_is_doubled_whoever_accepted_it(self) -> None:
        assert judge_posts(replace(self.WELL, logs=[*self.WELL.logs, [(1, "b"), (2, "c")]])).doubled == ["b", "c"]

    def test_a_rejected_post_that_is_in_a_log_is_undead(self) -> None:
        assert judge_posts(replace(self.WELL, logs=[*self.WELL.logs, [(1, "d")]])).undead == ["d"]

    def test_a_number_that_is_left_out_or_given_twice_is_a_gap(self) -> None:
        for log in ([(1, ""), (3, "")], [(1, ""), (1, "")], [(2, "")]):
            assert judge_posts(replace(self.WELL, logs=[*self.WELL.logs, log])).gaps[0].startswith("table 2: ")
