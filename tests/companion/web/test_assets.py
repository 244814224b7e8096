"""A browser keeps what pages are drawn with, until any of it changes; nothing else is answered below a version."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from companion.web.server import assets
from tests.companion.web.conftest import WebHome


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "styles").mkdir()
    (tmp_path / "styles" / "lake.css").write_text("a {}")
    (tmp_path / "table.js").write_text("start();")
    return tmp_path


def version(folder: Path) -> str:
    return assets.Files({"": folder}).version


def test_the_version_changes_with_a_files_content_and_with_its_name(folder: Path) -> None:
    versions = [version(folder)]
    (folder / "table.js").write_text("stop();")
    versions.append(version(folder))
    (folder / "table.js").rename(folder / "tables.js")
    versions.append(version(folder))
    assert len(set(versions)) == 3
    assert version(folder) == versions[-1]


def test_a_file_that_an_update_replaced_or_took_away_is_not_what_it_was(folder: Path) -> None:
    files = assets.Files({"": folder})
    assert files.unchanged("", "table.js")
    (folder / "table.js").write_text("stop();")
    (folder / "styles" / "lake.css").unlink()
    (folder / "new.js").write_text("")
    assert not [name for name in ("table.js", "styles/lake.css", "new.js") if files.unchanged("", name)]


def test_a_file_that_was_replaced_while_the_companion_runs_is_not_kept(
    home: WebHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets.Files, "unchanged", lambda self, game, name: (game, name) != ("", "table.js"))
    below = f"/v/{home.app.extensions['site'].files.version}"
    for path, kept in {"/static/table.js": False, "/static/live.js": True, "/styles.css": True}.items():
        assert ("immutable" in home.browser().get(below + path).headers["Cache-Control"]) is kept, path


def test_everything_that_a_table_is_drawn_with_is_kept_by_the_browser(home: WebHome) -> None:
    phone = home.browser()
    page = phone.get(f"/t/{home.table().id}").get_data(as_text=True)
    paths = set(re.findall(r'(?:href|src)="(/[^"]+\.(?:css|js|svg))"', page)) - {"/icon.svg"}
    assert len(paths) > 2
    for path in paths:
        assert path.startswith(f"/v/{home.app.extensions['site'].files.version}/"), path
        answer = phone.get(path)
        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_a_live_page_names_one_script_of_all_modules_and_those_of_its_game_and_each_is_kept(home: WebHome) -> None:
    page = home.browser().get(f"/t/{home.services.tables.open('siege', 'Sunday', 2, 'classic', {}).id}")
    found = re.search(r'data-scripts="([^"]+)"', page.get_data(as_text=True))
    assert found
    paths = found[1].split()
    assert [path.rpartition("/")[2] for path in paths] == ["live.js", "hexes.js", "siege.js"]
    for path in paths:
        answer = home.browser().get(path)
        assert answer.mimetype == "text/javascript"
        assert "immutable" in answer.headers["Cache-Control"], path


@pytest.mark.parametrize("below", ["", "/v/000000000000"])
@pytest.mark.parametrize("path", ["/static/table.js", "/styles.css", "/games/mexica/styles.css"])
def test_without_this_version_a_file_is_answered_and_asked_for_again(home: WebHome, below: str, path: str) -> None:
    answer = home.browser().get(below + path)
    assert answer.status_code == 200
    assert "no-cache" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/", "/tables", "/healthz", "/metrics", "/static/no.js", "", "/v/x/styles.css"])
def test_nothing_but_files_is_answered_below_a_version(home: WebHome, path: str) -> None:
    answer = home.browser().get(f"/v/{home.app.extensions['site'].files.version}{path}")
    assert answer.status_code == 404
    assert "immutable" not in answer.headers.get("Cache-Control", "")
