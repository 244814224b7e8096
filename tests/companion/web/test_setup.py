"""The first start leads through name, network, beams and first table; afterwards its pages are the owner's."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from companion.adapters.owner import Owner, make_owner, owner_in
from companion.model.network import Hotspot, Network, NetworkRefused, NoNetwork, Wifi
from companion.web.routes.setup import STEPS
from templo import contract
from tests.companion.web.conftest import OWNER, Browser, WebHome, text_of


@pytest.fixture
def new(tmp_path: Path) -> Iterator[WebHome]:
    """A companion that has just been installed."""
    home = WebHome(f"sqlite:///{tmp_path / 'companion.sqlite'}", first_start="on")
    yield home
    home.hub.close()
    home.store.close()


def next_of(home: WebHome, path: str) -> str:
    return home.browser().get(path).headers.get("Location", "")


def test_until_somebody_has_set_it_up_the_first_page_leads_through_the_steps(new: WebHome) -> None:
    assert next_of(new, "/") == "/setup"
    assert next_of(new, "/setup") == "/setup/step/name"
    for step, after in (("name", "network"), ("network", "beams"), ("beams", "table")):
        assert f'href="/setup/step/{after}"' in new.browser().get(f"/setup/step/{step}").get_data(as_text=True)
    answer = new.browser().post("/setup/finish", {"then": "table"})
    assert answer.headers["Location"] == "/tables/new"
    assert new.browser().get("/").status_code == 200


def test_every_step_can_be_skipped_and_the_end_leads_to_the_first_page(new: WebHome, phone: Browser) -> None:
    assert phone.get("/").status_code == 200  # where no first start is wanted
    assert new.browser().post("/setup/finish", {"then": "first"}).headers["Location"] == "/"
    new.restart()
    assert new.browser().get("/").status_code == 200


def test_who_opens_a_table_without_the_steps_has_set_it_up(new: WebHome) -> None:
    form = {"game": "mexica", "title": "Sunday", "players": "2", "preset": "temple_only"}
    assert new.browser().post("/tables", form).status_code == 303
    assert new.browser().get("/").status_code == 200
    assert new.browser().post("/setup/name", {"name": "Elsewhere"}).status_code == 403


def test_a_companion_that_had_tables_already_is_set_up(new: WebHome) -> None:
    new.lobby()
    new.restart()
    assert new.browser().get("/").status_code == 200


def test_the_place_s_name_is_shown_on_the_first_page_and_outlives_a_restart(new: WebHome) -> None:
    answer = new.browser().post("/setup/name", {"name": " Casa <Ruiz> "})
    assert answer.headers["Location"] == "/setup/step/network"
    new.browser().post("/setup/finish")
    new.restart()
    assert "Casa &lt;Ruiz&gt;" in new.browser().get("/").get_data(as_text=True)


def test_a_name_may_be_left_empty_and_one_that_is_too_long_is_refused_with_why(new: WebHome) -> None:
    phone = new.browser()
    refused = phone.post("/setup/name", {"name": "x" * 25})
    assert refused.status_code == 422
    assert "24" in text_of(refused)
    assert phone.post("/setup/name", {"name": "  "}).status_code == 303
    assert new.services.setup.name == ""


def test_once_it_is_set_up_only_the_owner_s_code_changes_it(new: WebHome) -> None:
    new.browser().post("/setup/finish")
    stranger, owner = new.browser(), new.browser()
    assert "The owner’s code" in text_of(stranger.get("/setup/step/name"))
    for path in ("/setup/name", "/setup/finish"):
        assert stranger.post(path, {"name": "Mine"}).status_code == 403
    assert stranger.post("/setup/code", {"code": "AAAAAAAA"}).status_code == 403
    unlocked = owner.post("/setup/code", {"code": "abcd-efgh", "step": "network"})
    assert unlocked.headers["Location"] == "/setup/step/network"
    assert owner.post("/setup/name", {"name": "Casa"}).status_code == 303
    assert new.services.setup.name == "Casa"
    assert stranger.post("/setup/name", {"name": "Mine"}).status_code == 403


def test_the_owner_s_code_is_not_guessed(new: WebHome) -> None:
    new.browser().post("/setup/finish")
    guesser = new.browser("192.168.1.9")
    for n in range(10):
        assert guesser.post("/setup/code", {"code": f"AAAAAAA{n % 8 + 2}"}).status_code == 403
    assert guesser.post("/setup/code", {"code": OWNER.code}).status_code == 429
    assert new.browser("192.168.1.10").post("/setup/code", {"code": OWNER.code}).status_code == 303


def test_what_proves_the_owner_is_a_cookie_that_no_script_reads_and_no_other_page_gets(new: WebHome) -> None:
    cookie = new.browser().post("/setup/code", {"code": OWNER.code}).headers["Set-Cookie"]
    for word in ("HttpOnly", "SameSite=Strict", "Path=/setup"):
        assert word in cookie
    assert OWNER.code not in cookie


def test_the_owner_s_code_is_made_once_and_only_its_user_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "owner-code"
    made = make_owner(file, lambda n: bytes(range(n)))
    assert made == Owner("ABCDEFGH", bytes(range(16)).hex())
    assert make_owner(file, lambda n: bytes(n)) == owner_in(file) == made
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("held", [b"x" * 10_000, b"", b"\xff"])
def test_a_file_without_a_code_is_left_as_it_is_and_nobody_has_the_code(tmp_path: Path, held: bytes) -> None:
    file = tmp_path / "owner-code"
    file.write_bytes(held)
    assert owner_in(file) is None
    with pytest.raises(OSError, match="it holds no code"):
        make_owner(file, bytes)
    assert file.read_bytes() == held


def test_a_code_that_cannot_be_read_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "owner-code"
    file.mkdir()  # which root cannot read either
    with pytest.raises(IsADirectoryError):
        make_owner(file, bytes)
    assert owner_in(file) is None


def test_the_network_is_shown_as_it_is(new: WebHome) -> None:
    new.network = Network(
        managed=True, wifi="Casa <Ruiz>", has_wifi=True, in_reach=(Wifi("Casa <Ruiz>", 72), Wifi("Other", 30))
    )
    said = text_of(new.browser().get("/setup/step/network"))
    assert "on the Wi-Fi “Casa &lt;Ruiz&gt;”" in said
    assert "Other 30 %" in said
    assert "http://templo.local" in said


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (Network(), "NetworkManager is not running on this machine"),
        (Network(managed=True, wired=True), "A cable connects the temple to the network."),
        (Network(managed=True, wired=True), "This machine has no Wi-Fi."),
        (Network(managed=True, has_wifi=True), "The temple is on no network."),
    ],
)
def test_a_machine_without_wi_fi_says_so(new: WebHome, network: Network, said: str) -> None:
    new.network = network
    assert said in text_of(new.browser().get("/setup/step/network"))


def test_the_beams_step_shows_the_temple_that_is_at_work_and_names_what_is_wrong(new: WebHome) -> None:
    assert "No temple has connected yet" in text_of(new.browser().get("/setup/step/beams"))
    new.beams("attic", contract.Beam.UNPROVED, contract.Beam.UNPROVED, contract.State.STOPPED)
    new.beams("templo", contract.Beam.DARK, contract.Beam.UNPROVED)
    answer = new.browser().get("/setup/step/beams")
    html = answer.get_data(as_text=True)
    assert 'data-stream="/temples/templo/stream"' in html
    assert 'data-beam="dark"' in html
    assert 'data-beam="unproved"' in html
    assert "Huitzilopochtli" in text_of(answer)
    other = new.browser().get("/setup/step/beams?temple=attic").get_data(as_text=True)
    assert 'data-stream="/temples/attic/stream"' in other


def test_a_step_that_is_none_is_not_found(phone: Browser) -> None:
    assert phone.get("/setup/step/nothing").status_code == 404


WITH_HOTSPOT = Network(
    managed=True,
    has_wifi=True,
    can_join=True,
    in_reach=(Wifi("Casa", 72),),
    hotspot=Hotspot("Templo Mayor", "ABCDE-FGHJK", on=True),
)


def test_a_wi_fi_is_chosen_on_the_page_which_says_where_to_go_on(new: WebHome) -> None:
    new.network = WITH_HOTSPOT
    phone = new.browser()
    assert "opened its own Wi-Fi “Templo Mayor”" in text_of(phone.get("/setup/step/network"))
    answer = phone.post("/setup/network", {"wifi": "Casa", "password": "correct horse"})
    assert answer.status_code == 200
    assert "connect it to “Casa” and open http://raspberrypi.local" in text_of(answer)
    assert "correct horse" not in answer.get_data(as_text=True)
    phone.post("/setup/network", {"wifi": "Casa", "other": " Hidden one ", "password": ""})
    assert new.joined == [("Casa", "correct horse"), ("Hidden one", "")]


def test_a_wi_fi_that_could_not_be_joined_is_named(new: WebHome) -> None:
    new.network = msgspec.structs.replace(WITH_HOTSPOT, failed="Casa")
    assert "“Casa” could not be joined" in text_of(new.browser().get("/setup/step/network"))
    refused = new.browser().post("/setup/network", {"wifi": "Casa", "password": "wrong"})
    assert refused.status_code == 422
    assert "that is no password of a Wi-Fi" in text_of(refused)


def test_only_who_may_set_it_up_chooses_a_wi_fi_and_is_shown_the_hotspot_s_password(new: WebHome) -> None:
    new.network = WITH_HOTSPOT
    owner, stranger = new.browser(), new.browser()
    assert "ABCDE-FGHJK" in text_of(owner.get("/setup/step/network"))
    new.browser().post("/setup/finish")
    owner.post("/setup/code", {"code": OWNER.code})
    assert "ABCDE-FGHJK" in text_of(owner.get("/setup/step/network"))
    assert owner.get("/setup/hotspot.svg").mimetype == "image/svg+xml"
    assert "ABCDE-FGHJK" not in stranger.get("/setup/step/network").get_data(as_text=True)
    assert stranger.get("/setup/hotspot.svg").status_code == 404
    assert stranger.post("/setup/network", {"wifi": "Casa", "password": "correct horse"}).status_code == 403
    assert new.joined == []


def test_the_hotspot_s_code_is_read_by_phones_whatever_its_signs() -> None:
    assert Hotspot('a;b"c', "x:y\\z").as_qr() == 'WIFI:T:WPA;S:a\\;b\\"c;P:x\\:y\\\\z;;'


def test_a_machine_whose_network_nobody_manages_refuses() -> None:
    with pytest.raises(NetworkRefused, match="nobody manages the network"):
        NoNetwork().join("Casa", "")


@pytest.mark.parametrize(("language", "words"), [("en", "has a mistake"), ("es", "tiene un error")])
def test_the_first_page_says_what_is_wrong_with_the_boot_partition_s_file(
    home: WebHome, language: str, words: str
) -> None:
    home.configure(boot_fault=lambda: "name is '<b>x</b>'; expected letters")
    page = home.browser(language=language).get("/").text
    assert words in page
    assert "name is &#39;&lt;b&gt;x&lt;/b&gt;&#39;; expected letters" in page


def test_a_new_card_whose_first_page_is_the_setup_says_it_there(home: WebHome) -> None:
    home.configure(boot_fault=lambda: "beams.tlaloc is 99", first_start="on")
    phone = home.browser()
    assert phone.get("/").headers["Location"] == "/setup"
    for step in STEPS:
        page = phone.get(f"/setup/step/{step}").text
        assert "has a mistake" in page, step
        assert "beams.tlaloc is 99" in page, step


def test_without_a_fault_the_first_page_says_nothing_of_it(phone: Browser) -> None:
    assert 'role="alert"' not in phone.get("/").text


@pytest.mark.parametrize(("language", "words"), [("en", "Release 1.0.1 is there"), ("es", "la versión 1.0.1")])
def test_every_page_of_the_settings_names_a_newer_release_with_what_installs_it(
    home: WebHome, language: str, words: str
) -> None:
    home.configure(known_update=lambda: "1.0.1")
    for step in STEPS:
        page = home.browser(language=language).get(f"/setup/step/{step}").text
        assert words in page, step
        assert "sudo apt upgrade" in page, step


def test_without_a_newer_release_nothing_is_said_of_one(home: WebHome) -> None:
    assert "apt upgrade" not in home.browser().get("/setup/step/name").text
