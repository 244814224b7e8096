"""The page of a companion that cannot start, in each of its states and languages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from companion.adapters.database.backup import Backup, BackupError, Restored
from companion.adapters.database.damage import Count, Damage
from companion.adapters.owner import Owner
from companion.web.rendering.texts import LANGUAGES
from companion.web.server.guard import Lockout
from companion.web.trouble import Repair, Trouble, create_trouble_app

STORE = Path("/there/companion.sqlite")
OWNER = Owner("ABCDEFGH", "5" * 32)
BACKUP = Backup(datetime(2026, 11, 20, 3, 30, tzinfo=UTC), {"tables": 1, "temples": 2, "tokens": 40, "held apart": 0})
DAMAGE = Damage(
    STORE,
    "row 7 is <b>missing</b>",
    {"tables": Count(1, False), "entries": Count(214, True), "temples": Count(0, False), "tokens": Count(1, True)},
)
EXAMINING = Trouble("the disk is full", is_examined=False)
UNDAMAGED = Trouble("the disk is full")
DAMAGED = Trouble("malformed", damage=DAMAGE, backup=BACKUP)
WITHOUT_BACKUP = Trouble("malformed", damage=DAMAGE)


def restored() -> Restored:
    return Restored(BACKUP, STORE.with_name("companion.sqlite.replaced-1"))


def refusing() -> Restored:
    raise BackupError("last-backup.sqlite is damaged")


def client(trouble: Trouble, restore: Callable[[], Restored] = restored, owner: Owner | None = OWNER) -> FlaskClient:
    repair = Repair(restore, lambda: owner, Path("/there/owner-code"), Path("/there"), Lockout(lambda: 0.0))
    return create_trouble_app(lambda: trouble, repair, (), lambda: ["localhost"], lambda: 0.0).test_client()


def tap(browser: FlaskClient, language: str = "en", **form: str) -> TestResponse:
    headers = {"Origin": "http://localhost", "Accept-Language": language}
    return browser.post("/setup/restore", data=form, headers=headers)


def text(answer: TestResponse) -> str:
    return answer.get_data(as_text=True)


@pytest.mark.parametrize("trouble", [EXAMINING, UNDAMAGED, DAMAGED, WITHOUT_BACKUP])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_address_answers_with_the_page_in_the_browsers_language(trouble: Trouble, language: str) -> None:
    for path in ("/", "/t/anything", "/setup/restore"):
        answer = client(trouble).get(path, headers={"Accept-Language": language})
        assert answer.status_code == 503
        assert f'<html lang="{language}">' in text(answer)
        assert answer.headers["Retry-After"] == "10"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_outcome_of_a_tap_has_words_in_every_language(language: str) -> None:
    browser = client(DAMAGED)
    asked = tap(browser, language)
    assert (asked.status_code, 'name="code"' in text(asked)) == (403, True)
    assert tap(browser, language, code="WRONG").status_code == 403
    done = tap(browser, language, code="abcd-efgh")
    assert (done.status_code, "companion.sqlite.replaced-1" in text(done)) == (200, True)
    assert tap(browser, language).status_code == 200, "the browser is known from now on"
    failed = tap(client(DAMAGED, refusing), language, code=OWNER.code)
    assert (failed.status_code, "last-backup.sqlite is damaged" in text(failed)) == (503, True)


def test_the_page_counts_what_can_be_read_and_says_what_may_be_lost() -> None:
    page = text(client(DAMAGED).get("/"))
    assert "1 table of a game (there may be more that cannot be read)" in page
    assert "214 entries in the logs of games</li>" in page
    assert "40 tokens" in page
    assert "row 7 is &lt;b&gt;missing" in page


@pytest.mark.parametrize("trouble", [EXAMINING, UNDAMAGED, WITHOUT_BACKUP])
def test_without_damage_and_backup_nothing_is_restored(trouble: Trouble) -> None:
    answer = tap(client(trouble, refusing), code=OWNER.code)
    assert answer.status_code == 503
    assert "<form" not in text(answer)


def test_where_nobody_has_the_code_nobody_restores() -> None:
    assert tap(client(DAMAGED, owner=None), code="").status_code == 403
    assert tap(client(DAMAGED, owner=None)).status_code == 403


def test_a_foreign_host_or_page_is_refused() -> None:
    browser = client(DAMAGED)
    assert browser.get("/", headers={"Host": "elsewhere.example"}).status_code == 400
    foreign = browser.post(
        "/setup/restore", data={"code": OWNER.code}, headers={"Origin": "http://elsewhere.example"}
    )
    assert foreign.status_code == 403
