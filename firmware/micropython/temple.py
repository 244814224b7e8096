"""A temple in a single thread: dark spells become tokens, tokens are recorded and then published. It never blocks.

Everything that touches the world comes in: the beams, the ledger, the link, the clocks. It keeps to the laws of
controller/core/pipeline.py and controller/core/publisher.py, and to the contract in docs/protocol.md.
"""

import diagnosis
import proof
import wire
from bulletin import Bulletin
from calibration import USUAL, shown
from commands import Commands, RefusedError
from judge import REASONS, TOGETHER, Judge
from notices import Notices
from slots import DARK, FLICKER, JAMMED, Slot
from window import BEYOND, NEWS, DoubtWindow, Window

SOFTWARE = "1.0.0"
KIND = "pico"
NOISE_MS = 5000
COUNT_MS = 250
RETRY_MS = 500
RENEW_MS = 10000
"""How soon after a new source another may begin, so that nonsense on the wire cannot wear out the flash."""

STATUS_MS = 5000
"""How soon the status is published again if another has replaced it: two temples of one name would never stop."""

AGAIN_MS = 30000
"""How often the status and the totals are published though nothing is new: a broker of several nodes may lose one."""

RIVAL_MS = 20000
"""For how long after its last word another temple of this name counts as there."""

MOST_WAITING = 200
"""Tokens in memory while the flash refuses: more would leave no room to work."""

_ALARMING = (JAMMED, DARK, FLICKER)
_DROPPED_US = 12000
_SENT = 8  # doubts and tokens that are sent in a turn, at the most; one while tokens fall, for it takes 10 ms
_DRAINED = 16  # spells that are taken at once, at the most: the queue, and what follows while it is emptied
_BY_HAND = ["simulated", "test"]


class Temple:
    """`turn` does all there is to do now. Times are milliseconds of a clock that only grows."""

    def __init__(
        self, settings, calibration, beams, open_ledger, link, session, utc_ms, now_ms, announced=None, notices=None,
        take_time=None, lights=None, pulse=None,
    ):  # fmt: skip
        """Take over what was opened; `utc_ms` gives the time since 1970, or None while nobody has given it.

        `open_ledger` gives the ledger or raises OSError: then it is tried again until it works. `announced` gives
        (topic, payload) of what is said, retained, at every connection beside the contract. `take_time` takes the
        companion's time. `lights` shows what happens, where there are lamps or a piezo. `pulse` switches the emitters
        off and on, where a pin can, and returns a `proof.Pulse`.
        """
        self._lights = lights
        self._name = settings["temple"]
        self._calibration = calibration
        self._beams = beams
        self._open = open_ledger
        self._link = link
        self._session = session
        self._utc_ms = utc_ms
        self._announced = announced
        self._notices = Notices() if notices is None else notices
        self._take_time = take_time
        self._acks = []  # that came in this turn
        self._companion_ms = None  # the companion's time, less ours, as an ack of this connection gave it
        self.slots = [Slot(calibration.limits, beam.dark(), now_ms) for beam in beams]
        self.seen = [diagnosis.Seen(slot, slot.dark, now_ms) for slot in self.slots]
        self._bulletin = Bulletin()
        self._commands = Commands(
            {
                "identify": self._identify,
                "selftest": lambda command, reply: reply(self._selftest(now_ms=self._now_ms)),
                "calibrate": self._calibrate,
                "resend": self._resend,
                "drop": self._drop,
                "dismiss": self._dismiss,
            },
            lambda answer: self._send("reply", answer),
        )
        self._judge = Judge(calibration.limits)
        self._pulse = pulse
        self._proofs = proof.Proofs(now_ms)
        self._answers = [None, None]  # what the emitters proved of beams where nothing has changed since
        self._spells = []  # that are over and not counted: (end, god, start, width)
        self._edge_ms = now_ms
        self._now_ms = now_ms
        self._fallen = self._recorded = 0  # how many tokens since the start
        self._doubts = []  # that are not recorded: (reason, which of the tokens since the start)
        self._waiting = []  # fallen and not recorded: (god, fell_ms, width_us, flags)
        self._times = []  # of what was recorded before the clock was set: (seq, fell_ms)
        self.ledger = None
        self.window = Window(0, 0)
        self._doubt_window = DoubtWindow(0)
        self._trouble = None
        self._retry_ms = now_ms
        self._published_status = self._published_noise = self._published_count = None
        self._noise_ms = self._count_ms = 0
        self._renewed_ms = now_ms - RENEW_MS
        self._garbled, self._said_ms = False, now_ms - STATUS_MS  # whether another status has replaced ours
        self._rival = self._rival_ms = None  # another temple that speaks under this name: its session
        self.lost = 0  # tokens that found no room in memory while the flash refused
        self.recorded_ms = -1000
        self._identified = False

    def turn(self, now_ms):
        """Do everything that is due."""
        self._now_ms = now_ms
        self._count(now_ms)
        self._prove(now_ms)
        self._calibration.turn(now_ms)
        self._drain()
        self._record(now_ms)
        self._drain()
        self._date(now_ms)
        source = self.ledger.source if self.ledger else None
        unknown = ("unknown", "unknown")
        will = wire.status("lost", source, self._session, SOFTWARE, unknown, None, self._notices.standing)
        for happened in self._link.turn(now_ms, will):
            if happened == "up":
                self._published_status = self._published_noise = self._published_count = None
                self._noise_ms = self._count_ms = 0
                self._bulletin.connected()
                if self._announced is not None:
                    topic, payload = self._announced()
                    self._link.publish(topic, payload, True)
                self.window.connected()
                self._doubt_window.connected()
                if self._lights is not None:
                    self._lights.connected()
            elif happened == "down":
                self.disconnected()
            else:
                self._take(happened, now_ms)
        self._take_acks(now_ms)
        self._drain()
        if self._link.up:
            self._publish(now_ms)
        if self._lights is not None:
            stopped = [slot.beam in _ALARMING for slot in self.slots]
            self._lights.turn(now_ms, stopped, self._trouble_now() is not None)

    def disconnected(self):
        """Send nothing, and forget the companion's clock, until there is a connection again."""
        self.window.disconnected()
        self._doubt_window.disconnected()
        self._companion_ms = None

    def alert(self):
        """Return whether a hand is needed."""
        if self._trouble_now() is not None or self._notices.standing:
            return True
        return any([slot.beam in _ALARMING for slot in self.slots])

    def waiting(self):
        """Return how many tokens are in memory and not yet recorded."""
        return len(self._waiting)

    def close(self, now_ms):
        """Record what has fallen, publish the last status, and close everything."""
        self._count(now_ms)
        self._retry_ms = now_ms
        self._record(now_ms)
        source = self.ledger.source if self.ledger else None
        unknown = ("unknown", "unknown")
        gone = wire.status("stopped", source, self._session, SOFTWARE, unknown, None, self._notices.standing)
        self._link.publish(wire.topic(self._name, "status"), gone, True)
        self._link.leave()
        if self.ledger:
            self.ledger.close()

    def findings(self):
        """Return what is wrong with each beam, as `diagnosis.diagnose` does, with what both have at once."""
        found = diagnosis.diagnose(self.seen, self.slots, self._now_ms, self._answers)
        before = [("board_worn", ())] if self._trouble == "ledger_failing" else []
        after = [("no_time", ())] if self._utc_ms() is None else []
        return [before + each + after for each in found]

    def _drain(self):
        """Empty the beams' queues, before and after whatever takes long: they hold nine spells."""
        for god, beam in enumerate(self._beams):
            number = 0
            while number < _DRAINED and (spell := beam.spell()) is not None:
                start_us, width_us = spell
                self._spells.append((start_us + width_us, god, start_us, width_us))
                number += 1

    def _count(self, now_ms):
        self._drain()
        found, self._spells = self._spells, []
        found.sort()
        for _, god, start_us, width_us in found:
            self._spell(god, start_us, width_us, now_ms)
            self._drain()
        for god, beam in enumerate(self._beams):
            slot, seen = self.slots[god], self.seen[god]
            if beam.lost():
                slot.miss()
                seen.changed = True
            dark = beam.dark()
            self._counted(god, slot.level(now_ms, dark), now_ms)
            if seen.level(now_ms, dark, beam.falls() - self._proofs.falls[god]):
                slot.unheard()
                beam.again()

    def _spell(self, god, start_us, width_us, now_ms):
        """Take a spell that is over, unless a pulse of the emitters made it."""
        if self._proofs.take(god, start_us, width_us):
            return
        self._edge_ms = max(self._edge_ms, (start_us + width_us) // 1000)
        if self._answers[god] is not None and proof.finding(self._answers[god]) != "no_answer":
            self._answers[god] = None  # a receiver that its emitter does not change stays so until it is proved
        slot, seen, start_ms = self.slots[god], self.seen[god], start_us // 1000
        glitches, flickered = slot.glitches, slot.beam == FLICKER
        token = slot.spell(start_ms, width_us)
        seen.spell(now_ms, start_ms, width_us, glitches)
        if slot.glitches > glitches:
            self._calibration.glitch(wire.GODS[god])
        if slot.beam == FLICKER and not flickered:
            self._doubt(god, self._judge.flickers(god, now_ms * 1000), now_ms)
        self._counted(god, token, now_ms, start_us)

    def _prove(self, now_ms):
        """Switch the emitters when it is due, and judge the pulse."""
        if self._pulse is None:
            return
        self._judge_pulse(self._proofs.settle(now_ms), self._proofs.certain)
        for seen in self.seen:
            if seen.dark_ms is not None:
                self._edge_ms = max(self._edge_ms, seen.dark_ms)
        if not self._proofs.pending and now_ms >= self._proofs.due_ms(self._edge_ms):
            self._proofs.begin(self._pulse(), now_ms)

    def _judge_pulse(self, answers, certain):
        """Remember what receivers answered; where it is not certain, a proof that fails has to fail twice."""
        for god, answer in answers:
            slot, failed = self.slots[god], proof.finding(answer) is not None
            if slot.dark and answer[0] and answer[1]:  # it is known to be dark: that it stays so proves nothing
                if certain:
                    self._answers[god] = answer
                continue
            if failed and not certain and self._proofs.suspect(god):
                continue
            self._answers[god] = answer
            self._proofs.note(god, not failed)
            slot.prove(not failed)
            self.seen[god].changed = True
            self._doubt_unproved(god)

    def _doubt_unproved(self, god):
        """Doubt what a beam made since it was last proved, if its last proof failed."""
        since_ms = self._proofs.unproved_since(god)
        if since_ms is not None:
            self._doubts += self._judge.unproved(god, since_ms * 1000)

    def _counted(self, god, token, now_ms, start_us=None):
        """Take a token that a slot made of its beam's spells, and judge it unless it waits for a person anyway."""
        if token is None:
            return
        name, (_, width_us, flags) = wire.GODS[god], token
        measured = self._calibration.measures(name)
        self.seen[god].token(width_us, flags)
        if self._fell(god, token, now_ms, ["test"] if measured else []) and not measured and "jam" not in flags:
            self._doubt(god, self._judge.take(god, self._fallen, start_us, width_us), now_ms)
            self._doubt_unproved(god)
        self._calibration.token(name, width_us, flags)

    def _doubt(self, god, found, now_ms):
        for reason in {reason for reason, _ in found}:
            for each in range(2) if reason == TOGETHER else (god,):
                self.seen[each].doubt(reason == TOGETHER, now_ms)
        self._doubts += found

    def _fell(self, god, token, now_ms, flags):
        """Keep a token until it is recorded; return whether there was room for it."""
        if len(self._waiting) >= MOST_WAITING:
            self.lost += 1
            self.slots[god].miss()
            return False
        start_ms, width_us, own = token
        self._waiting.append((god, min(start_ms, now_ms), width_us, own + flags))
        self._fallen += 1
        return True

    def _record(self, now_ms):
        nothing = self.ledger is not None and not self._waiting and not self._doubts and self._trouble is None
        if nothing or now_ms < self._retry_ms:
            return
        try:
            if self.ledger is None:
                self.ledger = self._examined(self._open())
                self._follow(None)
            self._commit(now_ms)
            self._trouble = None
        except OSError as error:
            self._refused(error, now_ms)

    def _examined(self, ledger):
        """Return an opened ledger once it is known to be this board's own and whole, or begins a new source."""
        notices, code = self._notices, None
        if ledger.damaged:
            code = "ledger_damaged"
        elif ledger.fresh:
            code = "ledger_missing" if notices.missing() else None
        elif notices.copied():
            code = "ledger_cloned"
        if code is not None:  # first of all: a new source must never appear without its notice
            notices.add(code, self._utc_ms())
        if ledger.fresh:
            ledger.begin()
        elif code is not None:
            ledger.renew(ledger.delivered)
        try:
            notices.sign()
        except OSError:
            pass  # what is there can be read and sent all the same; the next start tries again
        return ledger

    def _renew(self, code, delivered, now_ms):
        """Begin a new source behind `delivered`, and say why; where the flash refuses, what proved it comes again."""
        if now_ms - self._renewed_ms < RENEW_MS:
            return
        try:
            self._notices.add(code, self._utc_ms())
            less = self.ledger.renew(delivered)
        except OSError as error:
            self._refused(error, now_ms)
            return
        self._renewed_ms = now_ms
        self._times = [(seq - less, fell_ms) for seq, fell_ms in self._times]
        self._follow(0)

    def _follow(self, stored):
        """Send from the ledger, whose source is new; `stored` is what the companion has of its doubts."""
        self.window = Window(self.ledger.delivered, self.ledger.last_seq)
        self._doubt_window = DoubtWindow(self.ledger.last_doubt, stored)
        self._published_count = None
        if self._link.up:
            self.window.connected()
            self._doubt_window.connected()

    def _refused(self, error, now_ms):
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
        first = ledger.last_seq - self._recorded
        doubted = [(reason, utc_ms or 0, first + token) for reason, token in self._doubts]
        try:
            if rows or doubted:
                ledger.record(rows, doubted)
            self._doubts = []
        finally:
            self._doubt_window.last = ledger.last_doubt
            # What is recorded is sent, even if the rest of it was refused.
            for seq in range(before + 1, ledger.last_seq + 1):
                god, fell_ms = self._waiting.pop(0)[:2]
                self._recorded += 1
                self.recorded_ms = now_ms
                if self._lights is not None:
                    self._lights.token(god, now_ms)
                self.window.recorded(seq, fell_ms)
                if utc_ms is None:
                    self._times.append((seq, fell_ms))
                    if len(self._times) > 64:
                        self._times.pop(0)

    def _date(self, now_ms):
        if self._notices.standing and now_ms >= self._retry_ms:
            try:
                self._notices.date(self._utc_ms())
            except OSError as error:
                self._refused(error, now_ms)

    def _trouble_now(self):
        if self._trouble is not None:
            return self._trouble
        if self.seen[0].deaf or self.seen[1].deaf:
            return "deaf"
        return None if self._rival is None else "name_taken"

    def _status(self):
        beams = [slot.beam for slot in self.slots]
        source = self.ledger.source if self.ledger else None
        state = "alert" if self.alert() else "ready"
        trouble = self._trouble_now()
        return wire.status(state, source, self._session, SOFTWARE, beams, trouble, self._notices.standing)

    def _send(self, leaf, payload, retain=False):
        return self._link.publish(wire.topic(self._name, leaf), payload, retain)

    def _publish(self, now_ms):
        if self._rival is not None and now_ms - self._rival_ms > RIVAL_MS:
            self._rival = None
        if self._garbled and now_ms - self._said_ms >= STATUS_MS:
            self._published_status = None
        if now_ms - self._said_ms >= AGAIN_MS:
            self._published_status = self._published_count = None
        status = self._status()
        if status != self._published_status and self._send("status", status, True):
            self._published_status, self._garbled, self._said_ms = status, False, now_ms
        if self.ledger is not None:
            if self._published_count is None:  # a new reader needs to know how much is old
                self._publish_count(now_ms)
            self._publish_tokens(now_ms, self._publish_doubts(now_ms))
            self._publish_count(now_ms)
        noise = wire.noise(
            self._session,
            [slot.glitches for slot in self.slots],
            [slot.missed_edges for slot in self.slots],
        )
        if noise != self._published_noise and now_ms >= self._noise_ms and self._send("noise", noise, True):
            self._published_noise = noise
            self._noise_ms = now_ms + NOISE_MS
        self._publish_findings(now_ms)
        lights = self._lights
        if lights is not None and lights.unpublished and self._send("light", lights.message(), True):
            lights.unpublished = False

    def _publish_findings(self, now_ms):
        if not self._bulletin.due(now_ms, self.seen[0].changed or self.seen[1].changed):
            return
        self.seen[0].changed = self.seen[1].changed = False
        found, limits = self.findings(), shown(self._calibration.limits)
        if self._lights is not None:
            self._lights.found(found)
        at_ms = self._utc_ms()
        self._bulletin.tell(
            found,
            [repr(each) for each in limits],
            lambda: self._send(
                "findings",
                wire.findings(self._session, now_ms if at_ms is None else at_ms, limits, found, self._emitters()),
                True,
            ),
            now_ms,
        )

    def _publish_doubts(self, now_ms):
        """Send doubts before tokens, so that a token that is doubted from the beginning never counts.

        Returns how many tokens may follow in this turn.
        """
        window = self._doubt_window
        window.turn(now_ms)
        left = _SENT
        while left and (number := window.due()) is not None and self._link.room():
            try:
                reason, at_ms, name = self.ledger.doubt(number)
            except OSError as error:
                self._refused(error, now_ms)
                break
            window.sent(number, now_ms)
            left = self._left(left)
            at_ms = at_ms or self._utc_ms() or now_ms
            self._send("doubt", wire.doubt(self.ledger.source, number, REASONS[reason], at_ms, name))
        return left

    def _left(self, most):
        """Return how many more may be sent in this turn; none where something fell, for that is counted first."""
        self._drain()
        return 0 if self._spells else most - 1

    def _publish_tokens(self, now_ms, most):
        self.window.turn(now_ms)
        while most:
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
                most -= 1
                continue
            if not self._link.room():
                return
            name, god, at_ms, width_us, flags = row
            most = self._left(most)
            replayed = self.window.sent(seq, now_ms)
            at_ms = at_ms or self._fell_at(seq, now_ms)
            fell = wire.token(self.ledger.source, seq, name, wire.GODS[god], at_ms, width_us, flags, replayed)
            self._send("token", fell)

    def _publish_count(self, now_ms):
        ledger = self.ledger
        if ledger.last_seq != self._published_count and now_ms >= self._count_ms:
            self._count_ms = now_ms + COUNT_MS
            if self._send("count", wire.count(ledger.source, ledger.last_seq, ledger.totals), True):
                self._published_count = ledger.last_seq

    def _take(self, arrived, now_ms):
        topic, payload, retained = arrived
        leaf = topic.split("/")[-1]
        if leaf == "status":
            self._take_status(payload, retained, now_ms)
            return
        if retained and leaf != "mood":
            return  # it may be of any age
        if leaf == "ack":
            self._acks.append(payload)
            return
        self._take_acks(now_ms)
        try:
            if leaf in ("mood", "set_light"):
                if self._lights is not None:
                    self._lights.take(leaf, payload, now_ms)
                return
            message = wire.read(leaf, payload)
        except wire.WireError:
            return
        utc_ms = self._utc_ms()
        if utc_ms is not None and self._companion_ms is not None:  # either clock may be wrong by years
            utc_ms = min(utc_ms, now_ms + self._companion_ms)
        self._commands.take(message, utc_ms)
        self.window.nudged()

    def _take_acks(self, now_ms):
        """Take the acks of numbers that another token has, which say nothing of doubts; then the last mark alone.

        It is the last that is about this ledger: it holds what came before, or that comes again.
        """
        marks, acks, self._acks = [], self._acks, []
        for payload in acks:
            if b'"doubts"' in payload:
                marks.append(payload)
            else:
                self._take_ack(payload, now_ms)
        while marks and not self._take_ack(marks.pop(), now_ms):
            pass

    def _take_ack(self, payload, now_ms):
        """Take an ack; return whether it is about this ledger."""
        try:
            message = wire.read("ack", payload)
        except wire.WireError:
            return False
        if message["at"] is not None:
            self._companion_ms = message["at"] - now_ms
            if self._take_time is not None:
                self._take_time(message["at"])
        if self.ledger is None or message["source"] != self.ledger.source:
            return False
        self._acknowledged(message["seq"], message["token"], message["doubts"], now_ms)
        return True

    def _acknowledged(self, seq, token, doubts, now_ms):
        try:
            name = None if token is None else self.ledger.name(seq)
        except OSError:
            return  # it comes again
        answer = self.window.acknowledged(seq, now_ms, None if name is None else name == token)
        if answer is NEWS:
            self.ledger.deliver(seq)
            if seq == self.ledger.last_seq:  # the next token, which would bring the mark to the flash, may be far
                try:
                    self.ledger.mark()
                except OSError as error:
                    self._refused(error, now_ms)
        elif answer is BEYOND:
            # What follows the last token that both have is not delivered, whatever this ledger believes.
            self._renew("ledger_restored", min(self.window.delivered, seq - 1), now_ms)
            return
        if doubts is not None:
            if self._doubt_window.acknowledged(doubts, now_ms):
                self.ledger.doubts_stored(doubts)
            else:
                self._renew("ledger_restored", self.window.delivered, now_ms)

    def _take_status(self, payload, retained, now_ms):
        """Take what is retained in the place of our status: ours, another temple's, or nonsense."""
        read = wire.read_status(payload)
        if read is None:
            self._garbled = True
            return
        state, source, session = read
        if session == self._session or retained:
            return
        self._garbled = True
        if state not in ("ready", "alert"):  # a will that comes late, or somebody who leaves
            if session == self._rival:
                self._rival = None
            return
        self._rival, self._rival_ms = session, now_ms
        # Two boards with one copied flash: the one whose session is the greater gives the source up, and both see it.
        if self.ledger is not None and source == self.ledger.source and self._session > session:
            self._renew("ledger_cloned", self.window.delivered, now_ms)

    def _identify(self, command, reply):
        ledger = self.ledger
        report = {
            "temple": self._name,
            "state": "alert" if self.alert() else "ready",
            "kind": KIND,
            "software": SOFTWARE,
            "timing": "callback",
            "session": self._session,
            "beams": {wire.GODS[god]: self.slots[god].beam for god in range(2)},
            "glitches": {wire.GODS[god]: self.slots[god].glitches for god in range(2)},
            "missed_edges": {wire.GODS[god]: self.slots[god].missed_edges for god in range(2)},
            "unrecorded": len(self._waiting),
        }
        if self._trouble_now() is not None:
            report["trouble"] = self._trouble_now()
        if ledger is not None:
            report["source"] = ledger.source
            report["totals"] = {wire.GODS[god]: ledger.totals[god] for god in range(2)}
            report["last_seq"] = ledger.last_seq
            report["delivered"] = self.window.delivered
            report["waiting"] = ledger.last_seq - self.window.delivered
        self._identified = True
        reply(report)

    def _emitters(self):
        return "fixed" if self._pulse is None else "switched"

    def _selftest(self, now_ms):
        quiet = now_ms - self._edge_ms >= proof.BRIEF_QUIET_MS
        if self._pulse is not None and quiet:
            pulse = self._pulse()
            self._proofs.begin(pulse, now_ms)
            self._judge_pulse(enumerate(pulse.answers), True)
        found, beams = self.findings(), {}
        for god in range(2):
            slot = self.slots[god]
            answer = self._answers[god]
            beams[wire.GODS[god]] = diagnosis.report(self.seen[god], slot, slot.dark, found[god], answer)
        return {
            "state": "alert" if self.alert() else "ready",
            "trouble": self._trouble_now(),
            "limits": dict(shown(self._calibration.limits)),
            "emitters": self._emitters() if quiet or self._pulse is None else "busy",
            "beams": beams,
        }

    def _calibrate(self, command, reply):
        god, number, keep = command["god"], command["count"], command["keep"]
        if god is None:
            raise RefusedError("no_god", "calibrate needs a god: %s" % " or ".join(wire.GODS))
        if keep is None:
            self._calibration.begin(god, USUAL if number is None else number, self._now_ms, reply)
            return
        result = self._calibration.decide(god, keep)
        for slot in self.slots:
            slot.limits = self._calibration.limits
        self._judge.limits = self._calibration.limits
        self.seen[0].changed = True
        reply(result)

    def _resend(self, command, reply):
        seq, ledger = command["seq"], self.ledger
        if seq is None:
            raise RefusedError("no_seq", "resend needs seq, the first token to send again")
        if ledger is None:
            raise RefusedError("ledger", "the ledger cannot be read now: see the temple's status")
        if seq > ledger.last_seq + 1:
            words = "resend from %d; expected at most %d, the next token"
            raise RefusedError("beyond", words % (seq, ledger.last_seq + 1))
        begin = max(seq, ledger.first)
        try:
            ledger.deliver_again(begin)
        except OSError:
            raise RefusedError("ledger", "the ledger refuses: see the temple's status")
        self.window.resend_from(begin)
        reply({"from": begin, "last_seq": ledger.last_seq})

    def _dismiss(self, command, reply):
        code = command["notice"]
        if code is None:
            raise RefusedError("no_notice", "dismiss needs notice, the code of what is to be taken away")
        try:
            self._notices.dismiss(code)
        except OSError:
            raise RefusedError("ledger", "the flash refuses: see the temple's status")
        reply({"notice": code})

    def _drop(self, command, reply):
        god = command["god"]
        if god is None:
            raise RefusedError("no_god", "drop needs a god: %s" % " or ".join(wire.GODS))
        self._record(self._now_ms)
        if not self._waiting:
            self._fell(wire.GODS.index(god), (self._now_ms, _DROPPED_US, []), self._now_ms, _BY_HAND)
            self._record(self._now_ms)
        if self._waiting:
            words = "the flash refuses: no token for %s is recorded yet, and what has fallen is kept"
            raise RefusedError("not_recorded", words % god)
        reply({"god": god, "recorded": 1, "seq": self.ledger.last_seq})

    def identified(self):
        """Return, once, whether somebody asked the board to identify itself."""
        asked, self._identified = self._identified, False
        return asked

    def _fell_at(self, seq, now_ms):
        """Return when a token fell that was recorded before the clock was set; now, if nothing shows it."""
        utc_ms = self._utc_ms()
        if utc_ms is None:
            return now_ms
        for known, fell_ms in self._times:
            if known == seq:
                return utc_ms - (now_ms - fell_ms)
        return utc_ms
