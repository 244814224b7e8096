"""Two companions of one PostgreSQL: each tenant is followed at both, and its announcements reach nobody else."""

from __future__ import annotations

import itertools
import secrets

import pytest

from companion.model.tenants import Limits
from companion.web.server.guard import Refused
from templo import contract
from tests.companion.conftest import OTHER, SOURCE
from tests.hosted.conftest import OWN, TEMPLE, TENANTS, A, B, Companion, eventually, populate, status, token
from tests.hosted.test_apart import rows

Pair = tuple[Companion, Companion]


@pytest.mark.parametrize("tenant", TENANTS)
def test_what_changes_at_one_companion_is_shown_by_the_other_for_the_same_tenant_alone(
    two: Pair, tenant: str
) -> None:
    first, second = two
    prefix = f"/h/{tenant}" if tenant else ""
    for each, other in itertools.product(two, TENANTS):
        each.of(other)
    table = first.of(tenant).tables.open("mexica", "Sunday", 4, "temple_only")
    seat = first.of(tenant).seats.sit(table.id, table.code, "east", "Ana")
    first.of(tenant).seats.begin(table.id, table.code)
    eventually(lambda: second.ask("GET", f"{prefix}/t/{table.id}").status_code == 200)
    for other in set(TENANTS) - {tenant}:
        beside = f"/h/{other}" if other else ""
        assert second.ask("GET", f"{beside}/t/{table.id}", f"seat-{table.id}={seat}").status_code == 404
        assert second.of(other).tables.find(table.id) is None
        assert not second.of(other).tables.all()
    before = second.of(tenant).tables.get(table.id).version
    first.of(tenant).tables.rename(table.id, seat, "Monday")
    eventually(lambda: second.of(tenant).tables.get(table.id).version == before + 1)
    assert second.of(tenant).tables.get(table.id).title == "Monday"


@pytest.mark.parametrize("tenant", [A, B])
def test_a_token_is_stored_by_one_of_two_companions_and_shown_by_both(two: Pair, tenant: str) -> None:
    other = B if tenant == A else A
    for each in two:
        each.publish(tenant, status(SOURCE), retained=True)
        each.publish(other, status(SOURCE), retained=True)
        each.of(tenant)
        each.of(other)

    def arrives(seq: int) -> bool:
        for each in two:
            each.publish(tenant, token(seq, SOURCE, each.clock.now))
        return all(each.of(tenant).temples.get(TEMPLE).totals[contract.God.TLALOC] >= seq for each in two)

    for seq in range(1, 4):  # published again until somebody holds the lease, as a temple does
        eventually(lambda seq=seq: arrives(seq))  # type: ignore[misc]
    for each in two:
        assert each.of(other).temples.get(TEMPLE).totals[contract.God.TLALOC] == 0
    assert len(rows(two[0], tenant)["token"]) == 3
    assert rows(two[0], other)["token"] == []
    assert rows(two[0], OWN)["token"] == []


def test_two_posts_at_one_version_are_judged_one_after_the_other(two: Pair) -> None:
    first, second = two
    table = first.of(A).tables.open("mexica", "Sunday", 4, "temple_only")
    seat = first.of(A).seats.sit(table.id, table.code, "east", "Ana")
    first.of(A).seats.begin(table.id, table.code)
    eventually(lambda: second.of(A).tables.find(table.id))
    version = first.of(A).tables.get(table.id).version
    first.of(A).tables.rename(table.id, seat, "One")
    second.of(A).tables.rename(table.id, seat, "Two")
    eventually(lambda: first.of(A).tables.get(table.id).title == "Two")
    assert second.of(A).tables.get(table.id).version == version + 2


def test_wrong_codes_at_one_companion_count_at_the_other_for_that_tenant_alone(two: Pair) -> None:
    first, second = two
    for each, tenant in itertools.product(two, (A, B)):
        each.site(tenant)
    for _ in range(10):
        first.site(A).lockout.wrong("10.9.9.9")

    def is_locked(companion: Companion, tenant: str) -> bool:
        try:
            companion.site(tenant).lockout.check("10.9.9.9")
        except Refused:
            return True
        return False

    eventually(lambda: is_locked(second, A))
    assert not is_locked(second, B)
    assert not is_locked(second, OWN)


def test_a_tenant_that_one_companion_no_longer_uses_is_taken_over_by_the_other(two: Pair) -> None:
    for each in two:
        each.publish(A, status(OTHER), retained=True)
        each.of(A)
    lease = f"tenant/{two[0].tenants.get(A).place}"
    eventually(lambda: any(each.share.holds(lease) for each in two))
    holder, other = sorted(two, key=lambda each: not each.share.holds(lease))
    holder.hosted.stop()
    eventually(lambda: other.share.holds(lease))

    def arrives() -> bool:
        other.publish(A, token(1, OTHER, other.clock.now))
        return bool(other.of(A).temples.get(TEMPLE).totals[contract.God.TLALOC])

    eventually(arrives)


def test_no_statement_of_a_tenant_is_answered_from_another_s_schema(two: Pair) -> None:
    """All tenants use the same few connections, in any order; what each reads and writes stays its own."""
    everybody = {tenant: populate(two[0], tenant, number) for number, tenant in enumerate(TENANTS)}
    for _ in range(3):
        for tenant, each in everybody.items():
            for companion in two:
                assert [charter.id for charter in companion.of(tenant).tables.all()].count(each.table.id) == 1
    for tenant, other in itertools.permutations(TENANTS, 2):
        assert not [mark for mark in everybody[other].marks if mark in str(rows(two[0], tenant))]


def test_tenants_that_two_companions_use_are_shared_evenly_and_every_one_is_served(two: Pair) -> None:
    names = [A, B, *(f"club-{n}" for n in range(4))]
    for name in names[2:]:
        two[0].tenants.add(name, Limits(), secrets.token_bytes)
    for name in names:
        eventually(lambda name=name: two[0].hosted._registry.find(name))  # type: ignore[misc]
        two[0].of(name)
    leases = [f"tenant/{two[0].tenants.get(name).place}" for name in names]
    eventually(lambda: all(map(two[0].share.holds, leases)))
    for name in names:
        eventually(lambda name=name: two[1].hosted._registry.find(name))  # type: ignore[misc]
        two[1].of(name)
    eventually(lambda: [sum(map(each.share.holds, leases)) for each in two] == [3, 3])
    for number, name in enumerate(names):

        def arrives(name: str = name, source: str = f"{number:x}" * 32) -> bool:
            for each in two:
                each.publish(name, token(1, source, each.clock.now))
            known = [each.of(name).temples.find(TEMPLE) for each in two]
            return all(each and each.totals[contract.God.TLALOC] == 1 for each in known)

        eventually(arrives)
