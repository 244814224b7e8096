"""A temple of one thread: spells become tokens, tokens are recorded, and only then told. It turns, and never waits.

Everything that touches the world comes in: the beams, the ledger, the link, the clocks. It keeps to the laws of
controller/pipeline.py and controller/herald.py, and to the contract in docs/protocol.md.
"""

import wire
from slots import DARK, FLICKER, JAMMED, UNPROVED, Slot
from window import Window

SOFTWARE = "0.1.0"
NOISE_MS = 5000
COUNT_MS = 250
RETRY_MS = 500
MOST_WAITING = 200
"""Tokens in memory while the flash refuses: more would leave no room to work."""

_ALARMING = (JAMMED, DARK, FLICKER)
_REMEMBERED = 16


class Temple:
    """`turn` does all there is to do now. Times are milliseconds of a clock that only grows."""

    def __init__(self, settings, limits, beams, open_ledger, link, session, utc_ms, now_ms, flags=()):
        """Take over what was opened; `utc_ms` gives the time since 1970, or None while nobody has told it.

        `open_ledger` gives the ledger or raises OSError: then it is tried again until it works.
        """
        self._name = settings["temple"]
        self._limits = limits
        self._beams = beams
        self._open = open_ledger
        self._link = link
        self._session = session
        self._utc_ms = utc_ms
        self._flags = list(flags)
        self.slots = [Slot(limits, beam.dark(), now_ms) for beam in beams]
        self._waiting = []  # fallen and not recorded: (god, fell_ms, width_us, flags)
        self._times = []  # of what was recorded before the clock was set: (seq, fell_ms)
        self.ledger = None
        self.window = Window(0, 0)
        self._trouble = None
        self._retry_ms = now_ms
        self._told_status = self._told_noise = self._told_count = None
        self._noise_ms = self._count_ms = 0
        self._seen = []
        self.lost = 0  # tokens that found no room in memory while the flash refused
        self.recorded_ms = -1000
        self._identified = False

    def turn(self, now_ms):
        """Do what is due."""
        self._count(now_ms)
        self._record(now_ms)
        source = self.ledger.source if self.ledger else None
        unknown = ("unknown", "unknown")
        will = wire.status("lost", source, self._session, SOFTWARE, unknown, None)
        for happened in self._link.turn(now_ms, will):
            if happened == "up":
                self._told_status = self._told_noise = self._told_count = None
                self._noise_ms = 0
                self.window.connected()
            elif happened == "down":
                self.window.disconnected()
            else:
                self._take(happened, now_ms)
        if self._link.up:
            self._tell(now_ms)

    def alert(self):
        """Say whether a hand is needed."""
        return self._trouble_now() is not None or any([slot.beam in _ALARMING for slot in self.slots])

    def waiting(self):
        """Return how many tokens are in memory and not yet recorded."""
        return len(self._waiting)

    def close(self, now_ms):
        """Record what has fallen, say goodbye, and let go."""
        self._count(now_ms)
        self._retry_ms = now_ms
        self._record(now_ms)
        source = self.ledger.source if self.ledger else None
        gone = wire.status("stopped", source, self._session, SOFTWARE, ("unknown", "unknown"), None)
        self._link.publish(wire.topic(self._name, "status"), gone, True)
        self._link.leave()
        if self.ledger:
            self.ledger.close()

    def _count(self, now_ms):
        for god in range(2):
            beam, slot = self._beams[god], self.slots[god]
            while True:
                width_us = beam.spell()
                if width_us is None:
                    break
                start_ms = now_ms - (width_us + self._limits.min_clear) // 1000
                self._fell(god, slot.spell(start_ms, width_us), now_ms)
            if beam.lost():
                slot.miss()
            self._fell(god, slot.level(now_ms, beam.dark()), now_ms)

    def _fell(self, god, token, now_ms, flags=()):
        if token is None:
            return
        if len(self._waiting) >= MOST_WAITING:
            self.lost += 1
            self.slots[god].miss()
            return
        start_ms, width_us, own = token
        self._waiting.append((god, min(start_ms, now_ms), width_us, own + list(flags) + self._flags))

    def _record(self, now_ms):
        if now_ms < self._retry_ms or (self.ledger is not None and not self._waiting and self._trouble is None):
            return
        try:
            if self.ledger is None:
                self.ledger = self._open()
                self.window = Window(self.ledger.delivered, self.ledger.last_seq)
                if self._link.up:
                    self.window.connected()
            self._commit(now_ms)
            self._trouble = None
        except OSError as error:
            full = error.args and error.args[0] == 28
            self._trouble = "ledger_full" if full else "ledger_failing"
            self._retry_ms = now_ms + RETRY_MS

    def _commit(self, now_ms):
        ledger, before, utc_ms = self.ledger, self.ledger.last_seq, self._utc_ms()
        ledger.deliver(self.window.delivered)
        rows = []
        for god, fell_ms, width_us, flags in self._waiting:
            at_ms = 0 if utc_ms is None else utc_ms - (now_ms - fell_ms)
            rows.append((god, at_ms, width_us, flags))
        try:
            if rows:
                ledger.record(rows)
        finally:
            # What is recorded is told, even where the rest of it was refused.
            for seq in range(before + 1, ledger.last_seq + 1):
                fell_ms = self._waiting.pop(0)[1]
                self.recorded_ms = now_ms
                self.window.recorded(seq, fell_ms)
                if utc_ms is None:
                    self._times.append((seq, fell_ms))
                    if len(self._times) > 64:
                        self._times.pop(0)

    def _trouble_now(self):
        return self._trouble or ("ledger_restored" if self.window.restored else None)

    def _status(self):
        beams = [slot.beam for slot in self.slots]
        source = self.ledger.source if self.ledger else None
        state = "alert" if self.alert() else "ready"
        return wire.status(state, source, self._session, SOFTWARE, beams, self._trouble_now())

    def _say(self, leaf, payload, retain=False):
        return self._link.publish(wire.topic(self._name, leaf), payload, retain)

    def _tell(self, now_ms):
        status = self._status()
        if status != self._told_status and self._say("status", status, True):
            self._told_status = status
        if self.ledger is not None:
            self._tell_tokens(now_ms)
            self._tell_count(now_ms)
        noise = wire.noise(
            self._session,
            [slot.glitches for slot in self.slots],
            [slot.missed_edges for slot in self.slots],
        )
        if noise != self._told_noise and now_ms >= self._noise_ms and self._say("noise", noise, True):
            self._told_noise = noise
            self._noise_ms = now_ms + NOISE_MS

    def _tell_tokens(self, now_ms):
        self.window.turn(now_ms)
        for _ in range(20):
            seq = self.window.due()
            if seq is None:
                return
            try:
                row = self.ledger.read(seq)
            except OSError:
                self._trouble = "ledger_failing"
                self._retry_ms = now_ms + RETRY_MS
                return
            if row is None:  # removed long ago: it was delivered, and nobody can have it again
                self.window.delivered = max(self.window.delivered, self.ledger.first - 1)
                self.window.nudged()
                continue
            if not self._link.room():
                return
            name, god, at_ms, width_us, flags = row
            replayed = self.window.sent(seq, now_ms)
            at_ms = at_ms or self._fell_at(seq, now_ms)
            fell = wire.token(self.ledger.source, seq, name, wire.GODS[god], at_ms, width_us, flags, replayed)
            self._say("token", fell)

    def _tell_count(self, now_ms):
        ledger = self.ledger
        if ledger.last_seq != self._told_count and now_ms >= self._count_ms:
            self._count_ms = now_ms + COUNT_MS
            if self._say("count", wire.count(ledger.source, ledger.last_seq, ledger.totals), True):
                self._told_count = ledger.last_seq

    def _take(self, arrived, now_ms):
        topic, payload, retained = arrived
        leaf = topic.split("/")[-1]
        if leaf == "status":
            if not wire.is_status(payload):
                self._told_status = None
            return
        if retained:
            return  # it may be of any age
        try:
            message = wire.read(leaf, payload)
        except wire.WireError:
            return
        if leaf == "ack":
            if self.ledger is not None and message["source"] == self.ledger.source:
                if self.window.acknowledged(message["seq"], now_ms):
                    self.ledger.deliver(message["seq"])
            return
        self._obey(message, now_ms)
        self.window.nudged()

    def _obey(self, command, now_ms):
        """Carry a command out once; the same one again, as QoS 1 allows, gets the answer that it had."""
        for name, answer in self._seen:
            if name == command["id"]:
                self._say("reply", answer)
                return
        result, error, utc_ms = None, None, self._utc_ms()
        if utc_ms is None:
            error = "this temple does not know the time yet, and cannot tell whether the command has expired"
        elif utc_ms > command["expires"]:
            error = "%s has expired" % command["name"]
        elif command["name"] == "identify":
            result = self._report()
            self._identified = True
        elif command["name"] == "selftest":
            result = self._selftest()
        elif command["name"] == "resend":
            result, error = self._resend(command["seq"])
        elif command["name"] == "drop" and command["god"] is not None:
            self._fell(wire.GODS.index(command["god"]), (now_ms, 12000, []), now_ms, ("simulated", "test"))
            self._record(now_ms)
            if self._waiting:
                error = "the ledger refuses: see the temple's status"
            else:
                result = {"god": command["god"], "recorded": 1, "seq": self.ledger.last_seq}
        elif command["name"] == "drop":
            error = "drop needs a god"
        else:
            error = "a Pico cannot calibrate: its limits are in settings.json"
        answer = wire.reply(command["id"], result, error)
        self._seen.append((command["id"], answer))
        if len(self._seen) > _REMEMBERED:
            self._seen.pop(0)
        self._say("reply", answer)

    def _resend(self, seq):
        if seq is None:
            return None, "resend needs seq, the first token to send again"
        if self.ledger is None:
            return None, "the ledger cannot be read now: see the temple's status"
        if seq > self.ledger.last_seq + 1:
            return None, "resend from %d; expected at most %d, the next token" % (seq, self.ledger.last_seq + 1)
        begin = max(seq, self.ledger.first)
        try:
            self.ledger.deliver_again(begin)
        except OSError:
            return None, "the ledger refuses: see the temple's status"
        self.window.resend_from(begin)
        return {"from": begin, "last_seq": self.ledger.last_seq}, None

    def _report(self):
        ledger = self.ledger
        report = {
            "temple": self._name,
            "state": "alert" if self.alert() else "ready",
            "kind": "pico",
            "software": SOFTWARE,
            "timing": "callback",
            "session": self._session,
            "beams": {wire.GODS[god]: self.slots[god].beam for god in range(2)},
            "unrecorded": len(self._waiting),
        }
        if ledger is not None:
            report["source"] = ledger.source
            report["totals"] = {wire.GODS[god]: ledger.totals[god] for god in range(2)}
            report["last_seq"] = ledger.last_seq
            report["delivered"] = self.window.delivered
            report["waiting"] = ledger.last_seq - self.window.delivered
        return report

    def _selftest(self):
        beams = {}
        for god in range(2):
            slot, findings = self.slots[god], []
            if slot.beam in (DARK, JAMMED):
                findings.append({"code": "dark" if slot.beam == DARK else "blocked", "for_s": 0, "tokens": 0})
            elif slot.beam == FLICKER:
                findings.append({"code": "flicker", "per_s": self._limits.flicker})
            elif slot.beam == UNPROVED:
                findings.append({"code": "unproved"})
            if slot.missed_edges:
                findings.append({"code": "missed_edges", "missed": slot.missed_edges})
            beams[wire.GODS[god]] = {
                "reads": "dark" if slot.dark else "clear",
                "beam": slot.beam,
                "proof": None,
                "glitches": slot.glitches,
                "missed_edges": slot.missed_edges,
                "findings": findings,
            }
        return {"state": "alert" if self.alert() else "ready", "trouble": self._trouble_now(), "beams": beams}

    def identified(self):
        """Say, once, whether somebody asked who this is."""
        asked, self._identified = self._identified, False
        return asked

    def _fell_at(self, seq, now_ms):
        """Return when a token fell that was recorded before the clock was set; now, where nothing tells."""
        utc_ms = self._utc_ms()
        if utc_ms is None:
            return now_ms
        for known, fell_ms in self._times:
            if known == seq:
                return utc_ms - (now_ms - fell_ms)
        return utc_ms
