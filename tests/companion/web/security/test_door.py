"""Who may ask, write and see: hosts, origins, seats' tokens, and GETs that change nothing, on every route."""

from __future__ import annotations

import pytest

from companion.web.server.guard import host_name
from tests.companion.web.conftest import ORIGIN, Browser, WebHome, text_of
from tests.companion.web.security.routes import SCRIPT, Routes, asked, everything, seated

# -- allowed hosts only, on every route --


def test_every_route_refuses_a_foreign_host(home: WebHome) -> None:
    for method, path, _ in Routes(home, home.table().id)():
        headers = {"Host": "evil.example", "Origin": "http://evil.example"}
        answer = home.browser().client.open(path, method=method, headers=headers)
        assert answer.status_code == 400, (method, path)
        assert "evil.example" in text_of(answer)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8000",
        "localhost.evil.example",
        "192.168.1.8",
        "[::2]",
        "127.0.0.1.evil.example",
        "@localhost@x",
        "evil.example@localhost",
        "localhost/evil.example",
        "localhost:x",
        "localhost:80, localhost:80",
        "localhost:80, evil.example:80",
        "",
    ],
)
def test_a_host_that_is_not_this_machine_is_refused(phone: Browser, host: str) -> None:
    assert phone.get("/", Host=host).status_code == 400


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "templo.local:80", "templo.local.", "192.168.1.7:8000"]
)
def test_its_own_names_and_addresses_are_known(phone: Browser, host: str) -> None:
    assert phone.get("/", Host=host).status_code == 200


def test_an_address_is_asked_again_after_a_while(home: WebHome) -> None:
    assert home.browser().get("/", Host="192.168.1.9").status_code == 400
    home.seconds += 60
    assert home.browser().get("/", Host="192.168.1.7").status_code == 200


def test_the_invitation_s_address_is_asked_anew_for_each_page(home: WebHome) -> None:
    """A Pi that is switched on before its router has no address yet, and two networks have one each."""
    table = home.lobby()
    phone = home.browser("192.168.1.20")
    phone.sit(table, "east")
    home.addresses["192.168.1.20"] = "http://127.0.0.1"
    assert "http://127.0.0.1/join" in phone.get(f"/t/{table.id}/seats").text
    home.addresses["192.168.1.20"] = "http://192.168.1.7"
    assert "http://192.168.1.7/join" in phone.get(f"/t/{table.id}/seats").text


def test_the_machine_s_own_name_stands_beside_the_address_while_it_has_one(home: WebHome) -> None:
    table = home.lobby()
    phone = home.browser()
    phone.sit(table, "east")
    assert "or http://raspberrypi.local/join and type the code" in text_of(phone.get(f"/t/{table.id}/seats"))
    home.configure(name_address=str)
    assert "http://templo.local/join and type the code" in text_of(phone.get(f"/t/{table.id}/seats"))


def test_host_names_are_read_without_their_ports() -> None:
    assert [host_name(host) for host in ("a:1", "[::1]:8000", "A.local.", "[bad", "a b\n")] == [
        "a",
        "::1",
        "a.local",
        "",
        "",
    ]


# -- every write needs an origin of our own pages, and a seat's token --


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "https://localhost", "http://localhost:81"])
def test_every_write_needs_an_origin_of_its_own_page(home: WebHome, origin: str | None) -> None:
    table = home.table()
    before = everything(home)
    for method, path, _ in Routes(home, table.id, table.code)("POST", "PUT", "PATCH", "DELETE"):
        headers = {"Origin": origin} if origin else {}
        answer = home.browser().client.open(path, method=method, headers=headers, data={"code": table.code})
        assert answer.status_code == 403, path
        assert not answer.headers.get("Set-Cookie")
    assert everything(home) == before


def test_nothing_is_written_at_a_table_without_a_seat_s_token_or_the_table_s_code(
    home: WebHome, rooms: list[str]
) -> None:
    strangers = {"": home.browser(), "0" * 32: home.browser(), "x": home.browser()}
    before = everything(home)
    for room in rooms:
        table = home.services.tables.get(room)
        seat = table.on_turn or table.charter.seats[0]
        form = {"seat": seat, "version": str(table.version), "request": "r", "code": "WRONG2", "name": "Eve"}
        form |= {"move": '["end_turn"]', "temple": "table", "mode": "pass", "by": "app"}
        form |= {"token": f"{2:032x}", "to": seat, "picked": '["end_turn"]'}
        for token, stranger in strangers.items():
            stranger.client.set_cookie(f"seat-{room}", token, path=f"/t/{room}")
            for method, path, _ in Routes(home, room)("POST", "PUT", "PATCH", "DELETE"):
                if path.startswith("/t/"):
                    home.seconds += 400  # wrong codes are another test's
                    answer = stranger.client.open(path, method=method, data=form, headers={**ORIGIN, **SCRIPT})
                    assert answer.status_code >= 400, path
    assert everything(home) == before


def test_a_seat_s_token_moves_no_other_seat_and_no_other_table(home: WebHome, phone: Browser) -> None:
    table, other = home.table(), home.table()
    token = phone.sit(table, "west").headers["Set-Cookie"].split("=")[1].split(";")[0]
    phone.client.set_cookie(f"seat-{other.id}", token, path=f"/t/{other.id}")
    before = everything(home)
    for where, seat in ((table, "east"), (other, "east"), (other, "west")):
        version = home.services.tables.get(where.id).version
        assert phone.move(where, seat, "end_turn", version=version).status_code == 403
        undo = {"seat": seat, "version": str(version), "request": "u"}
        assert phone.post(f"/t/{where.id}/undo", undo).status_code == 403
    assert everything(home) == before


# -- no state change on GET --


def test_no_get_changes_anything(home: WebHome, phone: Browser, rooms: list[str]) -> None:
    for room in rooms:
        seated(home, phone, room)
    before = everything(home)
    for room in rooms:
        table = home.services.tables.get(room)
        fields = {"seat": table.on_turn or "east", "version": str(table.version), "request": "a", "code": table.code}
        fields |= {"move": '["end_turn"]', "picked": '["end_turn"]', "step": "2", "players": "2", "temple": "table"}
        for _, path, _ in Routes(home, room, table.code)("GET"):
            with_fields = "&".join(f"{name}={value}" for name, value in fields.items()).replace('"', "%22")
            for each in (path, f"{path}?{with_fields}"):
                assert asked(phone, each).status_code < 500, each
    assert everything(home) == before
