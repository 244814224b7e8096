"""A calibration: known tokens fall into one slot, their widths give limits, and a person accepts or rejects them.

What the controller's calibration and learned limits know, on a board, in whole microseconds. What was learned is one
small file in its flash, which appears whole or not at all. It has no clock of its own.
"""

import json

import wire
from commands import RefusedError
from slots import Limits

FILE = "learned.json"
PATIENCE_MS = 120000
USUAL = 10
MOST = 100
_LEARNABLE = ("min_break", "max_break", "band", "narrow")
_LONGEST_US = 60000000


def learned_limits(settings, chosen, known):
    """Return the limits by which a temple counts: the settings', and what was learned where nobody set a value.

    Both slots share them, so they fit the narrowest and the widest token of either. `known` holds for each god
    (lowest, highest, number of tokens).
    """
    if not known:
        return settings
    low = min([each[0] for each in known.values()])
    high = max([each[1] for each in known.values()])
    proposed = {
        "min_break": min(5000, max(1000, low * 3 // 10)),
        "max_break": max(250000, 10 * high),
        "band": high * 3 // 2,
        "narrow": low * 6 // 10,
    }
    chosen_or = [getattr(settings, name) if name in chosen else proposed[name] for name in _LEARNABLE]
    min_break, max_break, band, narrow = chosen_or
    return Limits(min_break, settings.min_clear, max_break, settings.flicker, band, narrow, settings.fastest)


def shown(limits):
    """Return limits as settings name them."""
    names = ("min_break", "min_clear", "max_break", "band", "narrow")
    values = [(name, getattr(limits, name)) for name in names]
    return tuple([(name + "_ms", None if value is None else wire.Ms(value)) for name, value in values])


def load(file=FILE):
    """Read what was learned; nothing where no file is, or none that can be used."""
    try:
        with open(file) as opened:
            value = json.load(opened)
        known = {}
        for god, (low, high, tokens) in value["learned"].items():
            whole = all([type(each) is int for each in (low, high, tokens)])
            if god not in wire.GODS or not whole or not 0 < low <= high <= _LONGEST_US:
                return {}
            known[god] = (low, high, tokens)
        return known
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def save(known, rename, file=FILE):
    """Make what was learned durable; raises `OSError`."""
    with open(file + ".new", "w") as opened:
        json.dump({"v": 1, "learned": known}, opened)
    rename(file + ".new", file)


class _Running:
    def __init__(self, god, wanted, until_ms, reply):
        self.god = god
        self.wanted = wanted
        self.until_ms = until_ms
        self.reply = reply
        self.widths = []
        self.glitches = 0
        self.spoilt = 0


class Calibration:
    """Holds what was learned, at most one run, and at most one proposal.

    Law: limits change only when the last proposal is accepted, and only once it is saved.
    """

    def __init__(self, settings, chosen=(), known=None, keep=lambda known: None):
        """Begin with what was learned before; `keep` makes it durable, or raises OSError."""
        self._settings = settings
        self._chosen = chosen
        self._known = dict(known or {})
        self._keep = keep
        self._run = None
        self._proposal = None
        self.limits = learned_limits(settings, chosen, self._known)

    def measures(self, god):
        """Return whether what falls into a slot is being measured, and scores nothing."""
        return self._run is not None and self._run.god == god

    def begin(self, god, wanted, now_ms, reply):
        """Wait for so many tokens, then send what they propose; raises `RefusedError`."""
        if self._run is not None:
            raise RefusedError("calibrating", "a calibration of %s is running; wait for its end" % self._run.god)
        if not 1 <= wanted <= MOST:
            raise RefusedError("bad_count", "calibrate counts %d tokens; expected 1 to %d" % (wanted, MOST))
        self._proposal = None
        self._run = _Running(god, wanted, now_ms + PATIENCE_MS, reply)

    def glitch(self, god):
        """Take a spell that was too short for a token."""
        if self.measures(god):
            self._run.glitches += 1

    def token(self, god, width_us, flags):
        """Take a token that fell."""
        if not self.measures(god):
            return
        run = self._run
        if "jam" in flags or "missed_edge" in flags:
            run.spoilt += 1
        else:
            run.widths.append(width_us)
        if len(run.widths) == run.wanted:
            self._propose(run)

    def turn(self, now_ms):
        """Give up on tokens that did not come."""
        run = self._run
        if run is not None and now_ms >= run.until_ms:
            self._run = None
            words = "%d of %d tokens were measured for %s, and %d spells were too short: see the self-test"
            run.reply(None, RefusedError("too_few", words % (len(run.widths), run.wanted, run.god, run.glitches)))

    def decide(self, god, keep):
        """Accept or reject the proposal; rejecting also ends a run of that slot. Raises `RefusedError`."""
        run = self._run
        if not keep and self.measures(god):
            self._run = None
            run.reply(None, RefusedError("ended", "the calibration of %s was ended by hand" % god))
        elif self._proposal is None or self._proposal[0] != god:
            raise RefusedError("no_proposal", "nothing is proposed for %s; calibrate it first" % god)
        else:
            if keep:
                after = dict(self._known)
                after[god] = self._proposal[1]
                try:
                    self._keep(after)
                except OSError as error:
                    raise RefusedError("not_saved", "what was learned cannot be saved: %s" % error)
                self._known = after
                self.limits = learned_limits(self._settings, self._chosen, after)
            self._proposal = None
        return {"god": god, "kept": keep, "limits": dict(shown(self.limits))}

    def _propose(self, run):
        self._run = None
        measured = (min(run.widths), max(run.widths), len(run.widths))
        self._proposal = (run.god, measured)
        after = dict(self._known)
        after[run.god] = measured
        proposed = learned_limits(self._settings, self._chosen, after)
        run.reply(
            {
                "god": run.god,
                "widths_ms": [wire.Ms(width) for width in run.widths],
                "glitches": run.glitches,
                "spoilt": run.spoilt,
                "limits": dict(shown(self.limits)),
                "proposed": dict(shown(proposed)),
                "overruled": sorted(["counting.%s_ms" % name for name in self._chosen]),
            }
        )
