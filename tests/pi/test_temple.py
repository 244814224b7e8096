"""What `make pi` compares an emulated temple with, where no machine is started."""

from __future__ import annotations

import pytest

from tests import fresh
from tests.kernel import oracle
from tests.pi.machine import Pull
from tests.pi.run import LINES, judge, planned

EPOCH_NS = 1_700_000_000 * 1_000_000_000
Row = tuple[int, str, str, int, int, str]


def pulled(tokens: int) -> list[Pull]:
    """Return the pulls of a plan, each of which took 40 us."""
    at, pulls = 0, []
    for wait_us, line, dark in planned(tokens, seed=1):
        at += wait_us * 1000
        pulls.append((at, at + 40_000, line, dark))
    return pulls


def ledger(pulls: list[Pull]) -> list[Row]:
    """Return the rows of a temple that counts as it should."""
    counted = []
    for god, line in LINES.items():
        for spell in oracle.spells((before, after, dark) for before, after, of, dark in pulls if of == line):
            jam = spell.narrowest >= oracle.MAX_BREAK
            width = oracle.MAX_BREAK if jam else spell.narrowest
            counted += [(spell.start_ns, god, width, "jam" if jam else "")] * spell.fewest
    return [
        (seq, "", god, (EPOCH_NS + at) // oracle.MS, width, flags)
        for seq, (at, god, width, flags) in enumerate(sorted(counted), 1)
    ]


def test_as_many_tokens_fall_as_were_asked_for_and_some_of_them_at_once_or_for_long() -> None:
    pulls = pulled(400)
    rows = ledger(pulls)
    assert len(rows) == 400
    assert any("jam" in row[5] for row in rows)
    times = [{at for at, _, of, dark in pulls if of == line and dark} for line in LINES.values()]
    assert len(times[0] & times[1]) >= 20


def test_a_temple_that_counts_as_it_should_is_not_blamed() -> None:
    pulls = pulled(200)
    judge(ledger(pulls), EPOCH_NS, pulls)


@pytest.mark.parametrize("fault", ["lost", "invented", "no jam"])
def test_a_temple_that_does_not_is(fault: str) -> None:
    pulls = pulled(200)
    rows = ledger(pulls)
    jam = next(index for index, row in enumerate(rows) if row[5])
    if fault == "lost":
        del rows[60]
    elif fault == "invented":
        rows.insert(60, rows[60])
    else:
        rows[jam] = (*rows[jam][:5], "")
    with pytest.raises(fresh.FreshError):
        judge(rows, EPOCH_NS, pulls)
