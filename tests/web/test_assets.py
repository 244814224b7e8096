"""A browser keeps what pages are drawn with, until any of it changes; nothing else is answered below a version."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from companion.web.server import assets
from tests.web.conftest import WebHome


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "styles").mkdir()
    (tmp_path / "styles" / "lake.css").write_text("a {}")
    (tmp_path / "table.js").write_text("start();")
    return tmp_path


def test_the_version_changes_with_a_files_content_and_with_its_name(folder: Path) -> None:
    versions = [assets.version([folder])]
    (folder / "table.js").write_text("stop();")
    versions.append(assets.version([folder]))
    (folder / "table.js").rename(folder / "tables.js")
    versions.append(assets.version([folder]))
    assert len(set(versions)) == 3
    assert assets.version([folder]) == versions[-1]


def test_everything_that_a_table_is_drawn_with_is_kept_by_the_browser(home: WebHome) -> None:
    phone = home.browser()
    page = phone.get(f"/t/{home.table().id}").get_data(as_text=True)
    paths = set(re.findall(r'(?:href|src)="(/[^"]+\.(?:css|js|svg))"', page)) - {"/icon.svg"}
    assert len(paths) > 2
    for path in paths:
        assert path.startswith(f"/v/{home.app.extensions['site'].version}/"), path
        answer = phone.get(path)
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("below", ["", "/v/000000000000"])
@pytest.mark.parametrize("path", ["/static/table.js", "/styles.css", "/games/mexica/styles.css"])
def test_without_this_version_a_file_is_answered_and_asked_for_again(home: WebHome, below: str, path: str) -> None:
    answer = home.browser().get(below + path)
    assert answer.status_code == 200
    assert "no-cache" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/", "/tables", "/healthz", "/metrics", "/static/no.js", "", "/v/x/styles.css"])
def test_nothing_but_files_is_answered_below_a_version(home: WebHome, path: str) -> None:
    answer = home.browser().get(f"/v/{home.app.extensions['site'].version}{path}")
    assert answer.status_code == 404
    assert "immutable" not in answer.headers.get("Cache-Control", "")
