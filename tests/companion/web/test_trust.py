"""The page that helps a phone to trust this machine's certificate authority, and the download of it."""

from __future__ import annotations

import hashlib
import re
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from companion.adapters.network import certificates
from tests.companion.web.conftest import Browser, WebHome, text_of


@pytest.fixture
def authority(home: WebHome, tmp_path: Path) -> str:
    file = tmp_path / "authority.pem"
    file.write_text(certificates.make_authority("raspberrypi", ["raspberrypi"], datetime.now(UTC)).certificate)
    home.configure(authority=str(file))
    return file.read_text()


@pytest.mark.usefixtures("authority")
def test_the_page_leads_a_device_of_any_sort_to_the_address_over_tls(home: WebHome) -> None:
    said = text_of(home.browser().get("/trust"))
    for system in ("Android", "iPhone", "Windows, macOS and Linux", "Firefox"):
        assert system in said
    assert 'href="https://localhost/"' in home.browser().get("/trust").get_data(as_text=True)
    assert "Su huella (SHA-256)" in text_of(home.browser(language="es").get("/trust"))


def test_the_authority_is_downloaded_as_phones_take_it_with_the_fingerprint_that_the_page_shows(
    phone: Browser, authority: str
) -> None:
    answer = phone.get("/trust/templo-mayor.crt")
    assert answer.mimetype == "application/x-x509-ca-cert"
    assert answer.data == ssl.PEM_cert_to_DER_cert(authority)
    shown = re.sub(
        r"[^0-9A-F:]", "", text_of(phone.get("/trust")).partition("(SHA-256)")[2].partition("The device")[0]
    )
    assert shown == hashlib.sha256(answer.data).digest().hex(":").upper()


@pytest.mark.usefixtures("authority")
def test_every_page_leads_there_where_there_is_an_authority(phone: Browser) -> None:
    assert 'href="/trust"' in phone.get("/").get_data(as_text=True)


def test_without_an_authority_the_page_says_how_to_get_one_and_no_other_leads_there(phone: Browser) -> None:
    assert "sudo templo-mayor tls" in text_of(phone.get("/trust"))
    assert phone.get("/trust/templo-mayor.crt").status_code == 404
    assert 'href="/trust"' not in phone.get("/").get_data(as_text=True)


def test_a_file_that_is_no_certificate_is_not_offered(home: WebHome, phone: Browser, tmp_path: Path) -> None:
    (tmp_path / "authority.pem").write_text("nothing")
    home.app.extensions["site"].authority = tmp_path / "authority.pem"
    assert phone.get("/trust/templo-mayor.crt").status_code == 404
    assert phone.get("/trust").status_code == 200


def test_the_script_that_shows_notifications_may_serve_every_page(phone: Browser) -> None:
    answer = phone.get("/worker.js")
    assert answer.mimetype in ("text/javascript", "application/javascript")
    assert "notificationclick" in answer.get_data(as_text=True)
