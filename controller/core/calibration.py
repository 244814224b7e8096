"""Calibration: known tokens are dropped into one slot, limits follow from their widths, and a person accepts them.

Times are integer nanoseconds of one monotonic clock; it has no clock of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from controller.core import learned_limits
from controller.core.commands import RefusedError, Result
from controller.core.counting import MS, SECOND, Detection, Event, Glitch, Limits
from controller.core.learned_limits import Measured
from templo.contract import Flag, God
from templo.quoting import counted

PATIENCE_NS = 120 * SECOND
"""How long the known tokens may take."""

USUAL = 10
MOST = 100


class _Running(Struct):
    god: God
    wanted: int
    until_ns: int
    respond: Callable[[Result], None]
    widths: list[int] = field(default_factory=list)
    glitches: int = 0
    spoilt: int = 0


class Calibration:
    """The learned limits, at most one running calibration, and at most one proposal.

    Law: limits change only by a yes to the latest proposal, and only once it is saved.
    """

    def __init__(
        self,
        settings: Limits,
        chosen: frozenset[str] = frozenset(),
        known: Mapping[God, Measured] | None = None,
        save: Callable[[Mapping[God, Measured]], None] = lambda learned: None,
    ) -> None:
        """Start with the limits learned before; `save` raises `OSError` if it fails.

        Without a `save` nothing that is learned outlives the process. A limit that is `chosen` in the settings stays.
        """
        self._settings = settings
        self._chosen = chosen
        self._known = dict(known or {})
        self._save = save
        self._run: _Running | None = None
        self._proposal: tuple[God, Measured] | None = None

    @property
    def limits(self) -> Limits:
        """The limits by which the temple counts."""
        return learned_limits.limits(self._settings, self._chosen, self._known)

    def measures(self, god: God) -> bool:
        """Return whether tokens in a slot are being measured and do not score."""
        return self._run is not None and self._run.god is god

    def begin(self, god: God, wanted: int, now_ns: int, respond: Callable[[Result], None]) -> None:
        """Wait for a number of tokens, then respond with a proposal; raises `RefusedError`."""
        if self._run is not None:
            raise RefusedError("calibrating", f"a calibration of {self._run.god} is running; wait for its end")
        if not 1 <= wanted <= MOST:
            raise RefusedError("bad_count", f"calibrate counts {wanted} tokens; expected 1 to {MOST}")
        self._proposal = None
        self._run = _Running(god, wanted, now_ns + PATIENCE_NS, respond)

    def take(self, god: God, event: Event) -> None:
        """Process an event of a slot's counter."""
        run = self._run
        if run is None or run.god is not god:
            return
        if isinstance(event, Glitch):
            run.glitches += 1
        elif isinstance(event, Detection):
            if Flag.JAM in event.flags or Flag.MISSED_EDGE in event.flags:
                run.spoilt += 1
            else:
                run.widths.append(event.width_ns)
            if len(run.widths) == run.wanted:
                self._propose(run)

    def deadline(self) -> int | None:
        """Return when to give up waiting for known tokens."""
        return None if self._run is None else self._run.until_ns

    def advance(self, now_ns: int) -> None:
        """Give up on tokens that did not come."""
        if (run := self._run) is not None and now_ns >= run.until_ns:
            self._run = None
            seen = f"measured for {run.god}: {len(run.widths)} of {counted(run.wanted, 'token')}"
            message = f"{seen}, and {counted(run.glitches, 'spell')} too short to be one: see the self-test"
            run.respond(RefusedError("too_few", message).result())

    def decide(self, god: God, keep: bool) -> tuple[Limits, Result]:
        """Accept or reject the proposal; a rejection also ends a calibration of that slot. Raises `RefusedError`."""
        if not keep and (run := self._run) is not None and run.god is god:
            self._run = None
            run.respond(RefusedError("ended", f"the calibration of {god} was ended by hand").result())
            return self.limits, {"god": god, "kept": False, "limits": learned_limits.to_dict(self.limits)}
        if self._proposal is None or self._proposal[0] is not god:
            raise RefusedError("no_proposal", f"nothing is proposed for {god}; calibrate it first")
        _, measured = self._proposal
        if keep:
            after = {**self._known, god: measured}
            try:
                self._save(after)
            except OSError as error:
                raise RefusedError("not_saved", f"what was learned cannot be saved: {error.strerror}") from error
            self._known = after
        self._proposal = None
        return self.limits, {"god": god, "kept": keep, "limits": learned_limits.to_dict(self.limits)}

    def _propose(self, run: _Running) -> None:
        self._run = None
        measured = learned_limits.measured(run.widths)
        self._proposal = (run.god, measured)
        proposed = learned_limits.limits(self._settings, self._chosen, {**self._known, run.god: measured})
        run.respond(
            {
                "god": run.god,
                "widths_ms": [round(width / MS, 3) for width in run.widths],
                "glitches": run.glitches,
                "spoilt": run.spoilt,
                "limits": learned_limits.to_dict(self.limits),
                "proposed": learned_limits.to_dict(proposed),
                "overruled": sorted(key for key in self._chosen if key in _LEARNABLE),
            }
        )


_LEARNABLE = tuple(f"counting.{name}_ms" for name in ("min_break", "max_break", "band", "narrow"))
"""A limit that the settings name is not learned."""
