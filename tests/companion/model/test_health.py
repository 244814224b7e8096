"""The health of a temple: one code, for what most needs somebody's hand."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec.structs import replace

from companion.model.temples import Health, Temple
from templo import contract
from templo.contract import Beam, God, State
from tests.companion.conftest import SOURCE

AT = datetime(2026, 6, 1, 20, tzinfo=UTC)
CLEAR = dict.fromkeys(God, Beam.CLEAR)


def temple(state: State = State.READY, beams: dict[God, Beam] = CLEAR) -> Temple:
    """Return a temple with one status."""
    kind, timing = contract.Kind.SIMULATOR, contract.Timing.SIMULATED
    return Temple("templo").with_status(contract.Status(state, "c" * 32, kind, "1.0.0", timing, beams, SOURCE), AT)


def test_a_temple_at_work_with_clear_beams_is_well() -> None:
    assert temple().health() == Health("ready")
    assert temple().health().well


def test_a_broker_out_of_reach_comes_before_all_that_the_temple_last_reported() -> None:
    assert replace(temple(State.LOST), reachable=False).health() == Health("no_broker")


def test_a_temple_that_never_reported_is_named_so() -> None:
    assert Temple("templo").health() == Health("never")


def test_a_temple_that_stopped_is_stopped_whatever_its_beams_were() -> None:
    jammed = {**CLEAR, God.TLALOC: Beam.JAMMED}
    assert temple(State.STOPPED, jammed).health() == Health("stopped")


def test_a_jammed_beam_is_named_with_its_god() -> None:
    health = temple(beams={**CLEAR, God.TLALOC: Beam.JAMMED}).health()
    assert health == Health("jammed", "tlaloc")
    assert not health.well
