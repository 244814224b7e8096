"""The model of a disk allows what a power cut may do, and nothing that a sync forbids."""

from __future__ import annotations

import random

from tests.crash.platter import Platter
from tests.crash.recording import Created, Deleted, Event, FolderSynced, Synced, Truncated, Wrote


def images(*events: Event, number: int = 400) -> set[tuple[tuple[str, bytes], ...]]:
    """Return every image that is drawn after these events, shared memory left out."""
    platter = Platter()
    for event in events:
        platter.take(event)
    drawn = platter.images(random.Random("images"), number)
    return {
        tuple(sorted((name, data) for name, data in image.files.items() if not name.endswith("-shm")))
        for image in drawn
    }


MADE = (Created("a"), Wrote("a", 0, b"old" * 500), Synced("a"), FolderSynced())
OLD = b"old" * 500


def test_what_was_synced_under_a_synced_name_is_always_there() -> None:
    assert images(*MADE) == {(("a", OLD),)}


def test_a_name_that_was_not_synced_may_be_missing_and_a_deleted_one_may_be_back() -> None:
    assert images(Created("a"), Wrote("a", 0, b"x"), Synced("a")) == {(), (("a", b"x"),)}
    assert images(*MADE, Deleted("a")) == {(), (("a", OLD),)}
    assert images(*MADE, Deleted("a"), FolderSynced()) == {()}


def test_what_was_not_synced_is_dropped_kept_torn_reordered_or_garbage_sector_by_sector() -> None:
    drawn = {dict(image)["a"] for image in images(*MADE, Wrote("a", 0, b"new" * 500))}
    new = b"new" * 500
    assert OLD in drawn
    assert new in drawn
    assert any(each[:512] == OLD[:512] and each[512:1024] == new[512:1024] for each in drawn)
    assert any(each[:512] == new[:512] and each[1024:] == OLD[1024:] for each in drawn)
    assert any(each[:512] not in (OLD[:512], new[:512]) for each in drawn)


def test_of_two_writes_to_one_place_either_may_be_there_and_the_later_may_be_alone() -> None:
    drawn = {dict(image)["a"][:4] for image in images(*MADE, Wrote("a", 0, b"1111"), Wrote("a", 0, b"2222"))}
    assert {b"oldo", b"1111", b"2222"} <= drawn


def test_bytes_that_no_write_named_are_never_harmed() -> None:
    for image in images(*MADE, Wrote("a", 700, b"new")):
        content = dict(image)["a"]
        assert content[:700] + content[703:] == OLD[:700] + OLD[703:]


def test_a_truncation_may_have_happened_or_not_until_it_is_synced() -> None:
    assert {len(dict(image)["a"]) for image in images(*MADE, Truncated("a", 10))} == {10, 1500}
    assert {len(dict(image)["a"]) for image in images(*MADE, Truncated("a", 10), Synced("a"))} == {10}
