"""The server as a state machine: whatever phones, tokens and restarts do, a table is the fold of what it accepted.

Hypothesis drives real requests against the real web face over a real SQLite file: players join, leave and come back,
post twice, post late, type nonsense; tokens fall in bursts and are sent again; the companion dies and restarts.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from companion.games.kit import CHANCE, TEMPLE, Move, Refusal
from companion.model.entries import Begin, Undo, encode
from companion.model.table import Entry, Table
from templo import contract
from tests.companion.web.conftest import WebHome

JSON = {"Accept": "application/json"}
WELL = {200, 303, 400, 403, 409, 422, 429}
"""What a request may be answered with; 500 is none of them."""

PHONES = st.integers(0, 2)
MOSTLY_THEIRS = st.sampled_from([None, None, None, None, 0, 1, 2])
"""Which phone acts for a seat: the one that holds it, or now and then any."""


class Server(RuleBasedStateMachine):
    """Three phones, one temple and one table of Mexica under any of its presets."""

    @initialize(data=st.data())
    def open(self, data: st.DataObject) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.home = WebHome(f"sqlite:///{self.folder / 'companion.sqlite'}")
        game = self.home.services.tables.games["mexica"]
        preset = data.draw(st.sampled_from(sorted(game.presets)), label="preset")
        players = data.draw(st.sampled_from(sorted(game.seatings)), label="players")
        self.home.services.temples.expect("templo")
        self.table_id = self.home.services.tables.open("mexica", "Sunday", players, preset, {}, "templo").id
        self.phones = [self.home.browser(f"10.0.0.{n}") for n in range(3)]
        self.fallen: list[contract.Token] = []
        self.posts: list[tuple[int, dict[str, str], str]] = []
        self.accepted: set[str] = set()
        for n, seat in enumerate(self.table.charter.seats):
            if data.draw(st.integers(0, 9), label="sits"):
                self.join(n % 3, seat)
        if data.draw(st.integers(0, 9), label="begins"):
            self.begin(0)

    @property
    def table(self) -> Table:
        return self.home.services.tables.get(self.table_id)

    def teardown(self) -> None:
        if hasattr(self, "home"):
            self.home.hub.close()
            self.home.store.close()
            shutil.rmtree(self.folder)

    def _post(self, phone: int, path: str, form: dict[str, str]) -> Any:
        answer = self.phones[phone].post(f"/t/{self.table_id}/{path}", form, **JSON)
        assert answer.status_code in WELL, (path, form, answer.status_code)
        return answer.json if answer.is_json else None

    def _move(self, phone: int, form: dict[str, str], path: str) -> None:
        before = self.table
        answer = self._post(phone, path, form)
        after = self.table
        if answer and answer.get("ok") and form["request"] not in self.accepted:
            self.accepted.add(form["request"])
            assert after.version > before.version
        else:
            assert after == before, "a post that was repeated, or was not accepted, changed the table"

    # What phones do

    @rule(phone=PHONES, seat=st.sampled_from(["east", "north", "west", "south"]))
    def join(self, phone: int, seat: str) -> None:
        if seat not in self.table.charter.seats:
            return
        before = self.table
        self._post(phone, "sit", {"code": before.code, "seat": seat, "name": "Ana"})
        assert self.table.chair(seat).taken
        assert self.table == before or not before.chair(seat).taken, "two phones took one chair"

    @rule(phone=PHONES, data=st.data())
    def hand_a_seat_over(self, phone: int, data: st.DataObject) -> None:
        self._post(phone, "free", {"seat": data.draw(st.sampled_from(self.table.charter.seats))})

    @rule(phone=PHONES, data=st.data(), mode=st.sampled_from(["app", "pass", "anyone", "", "asleep"]))
    def be_away(self, phone: int, data: st.DataObject, mode: str) -> None:
        self._post(phone, "away", {"seat": data.draw(st.sampled_from(self.table.charter.seats)), "mode": mode})

    @rule(phone=PHONES, by=st.sampled_from(["app", ""]))
    def let_the_app_roll(self, phone: int, by: str) -> None:
        self._post(phone, "rolls", {"by": by})

    @rule(phone=PHONES)
    def begin(self, phone: int) -> None:
        self._post(phone, "begin", {})

    @precondition(lambda self: self.table.began_at is not None)
    @rule(phone=MOSTLY_THEIRS, data=st.data(), late=st.sampled_from([0, 0, 0, 0, 1, 5]), many=st.integers(1, 12))
    def play(self, phone: int | None, data: st.DataObject, late: int, many: int) -> None:
        for _ in range(many):
            table = self.table
            due, acting = table.chance(), [seat for seat in table.game.rules.to_act(table.state) if seat != CHANCE]
            seat = data.draw(st.sampled_from([CHANCE] if due else acting or list(table.charter.seats)))
            moves = table.game.rules.moves(table.state, seat)
            move = data.draw(st.sampled_from(moves[:40])) if moves else Move("end_turn")
            holder = self._holder(str(due.seat) if due else seat)
            self._say(holder if phone is None else phone, seat, move, table.version - late)

    @precondition(lambda self: self.table.began_at is not None)
    @rule(
        phone=PHONES, seat=st.sampled_from(["east", "west", CHANCE, TEMPLE, "", "nobody"]), move=st.text(max_size=40)
    )
    def post_nonsense(self, phone: int, seat: str, move: str) -> None:
        form = {"seat": seat, "move": move, "version": str(self.table.version), "request": self._request()}
        self._move(phone, form, "play")

    @precondition(lambda self: self.table.chance() is not None)
    @rule(phone=PHONES)
    def ask_the_app_to_roll(self, phone: int) -> None:
        self._move(phone, {"version": str(self.table.version), "request": self._request()}, "chance")

    @precondition(lambda self: self.table.began_at is not None)
    @rule(phone=PHONES, data=st.data())
    def undo(self, phone: int, data: st.DataObject) -> None:
        seat = data.draw(st.sampled_from(self.table.charter.seats))
        form = {"seat": seat, "version": str(self.table.version), "request": self._request()}
        self._move(phone, form, "undo")

    @precondition(lambda self: self.posts)
    @rule(data=st.data())
    def repeat_a_post(self, data: st.DataObject) -> None:
        phone, form, path = data.draw(st.sampled_from(self.posts))
        self._move(phone, form, path)

    @rule(phone=PHONES)
    def look(self, phone: int) -> None:
        for page in ("", "/screen", "/seats"):
            assert self.phones[phone].get(f"/t/{self.table_id}{page}").status_code == 200

    @rule(phone=PHONES)
    def lose_the_phone(self, phone: int) -> None:
        self.phones[phone] = self.home.browser(f"10.0.0.{phone}")

    def _say(self, phone: int, seat: str, move: Move, version: int) -> None:
        form = {
            "seat": seat,
            "move": json.dumps(move.to_json()),
            "version": str(max(0, version)),
            "request": self._request(),
        }
        self.posts.append((phone, form, "play"))
        self._move(phone, form, "play")

    def _holder(self, seat: str) -> int:
        """Return the phone that acts for a seat, or the first where none does."""
        for n, phone in enumerate(self.phones):
            cookie = phone.client.get_cookie(f"seat-{self.table_id}", path=f"/t/{self.table_id}")
            if cookie and seat in self.home.services.seats.held(self.table_id, cookie.value):
                return n
        return 0

    def _request(self) -> str:
        return f"r{next(self.home.requests)}"

    # What the temple and the companion do

    @rule(
        gods=st.lists(st.sampled_from(["huitzilopochtli", "tlaloc"]), min_size=1, max_size=8), again=st.integers(0, 3)
    )
    def tokens_fall(self, gods: list[str], again: int) -> None:
        fresh = [self.home.token(len(self.fallen) + n + 1, god) for n, god in enumerate(gods)]
        self.fallen += fresh
        self.home.services.temples.intake.receive([("templo", token) for token in [*fresh, *self.fallen[:again]]])

    @rule()
    def time_passes(self) -> None:
        self.home.clock.pass_(seconds=30)

    @rule()
    def the_companion_dies_and_starts_anew(self) -> None:
        cookies = [phone.client for phone in self.phones]
        before = self.table
        self.home.restart()
        for phone, client in zip(self.phones, cookies, strict=True):
            phone.client = self.home.app.test_client()
            phone.client._cookies = client._cookies  # what a browser keeps over a restart of the server
        assert self.table == before

    # What always holds

    @invariant()
    def the_table_is_the_fold_of_its_log(self) -> None:
        if not hasattr(self, "table_id"):
            return
        entries = self.home.services.tables.entries(self.table_id)
        assert [entry.n for entry in entries] == list(range(1, len(entries) + 1))
        assert _folded(self.table, entries) == self.table.state
        assert len({entry.request for entry in entries if entry.request}) == sum(
            bool(each.request) for each in entries
        )

    @invariant()
    def every_token_that_fell_is_kept_once(self) -> None:
        if not hasattr(self, "table_id"):
            return
        entered = [
            encode(entry.action)[1]
            for entry in self.home.services.tables.entries(self.table_id)
            if entry.by == TEMPLE
        ]
        assert len(entered) == len(set(entered))
        kept = self.home.store.totals("templo")
        assert sum(kept.values()) == len(self.fallen)


def _folded(table: Table, entries: Any) -> Any:
    """Return the state that the game's pure rules give for a log: no companion, no table, no undo list."""
    states: list[Any] = []
    for entry in entries:
        match entry:
            case Entry(action=Begin()):
                states = [table.game.rules.setup(table.options, table.charter.seats)]
            case Entry(action=Undo()):
                states.pop()
            case Entry(action=Move() as move):
                after = table.game.rules.play(states[-1], entry.by, move)
                assert not isinstance(after, Refusal)
                states.append(after)
    return states[-1] if states else None


TestServer = Server.TestCase
TestServer.settings = settings(
    max_examples=12, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
