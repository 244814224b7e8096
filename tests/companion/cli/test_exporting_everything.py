"""`templo-companion export`: every table, temple and record in one JSON file, without a secret, while people play."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from companion.adapters.database import store_lock
from companion.cli.command_line import main
from companion.games import registry
from companion.model.exports import read
from tests.companion.conftest import DATABASES, Home
from tests.companion.model.test_evenings import played

TEMPLE = "templo"


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "everything.json"


def export(home: Home, file: Path) -> dict[str, Any]:
    with store_lock.hold(home.url):
        assert main(["export", str(file), "--store", home.url]) == 0
    content: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return content


def test_all_tables_temples_and_records_are_in_it_while_the_companion_runs(home: Home, file: Path) -> None:
    over = played(home, "Ana", "Ben", tokens=2)
    running = home.table(temple=TEMPLE)
    home.services.temples.intake.receive([(TEMPLE, home.token(seq)) for seq in (1, 2, 3)])
    content = export(home, file)
    tables = {each["id"]: each for each in content["tables"]}
    assert tables.keys() == {over.id, running.id}
    assert tables[over.id]["result"]["winners"] == ["west"]
    assert (tables[over.id]["names"], tables[over.id]["minutes"]) == ({"east": "Ana", "west": "Ben"}, 54)
    assert [each["seq"] for each in tables[running.id]["tokens"]] == [1, 2, 3]
    assert tables[running.id]["result"] is None
    assert [(each["name"], each["tokens"]["tlaloc"]) for each in content["temples"]] == [(TEMPLE, 3)]
    assert content["records"]["people"] == [
        {"name": "Ben", "played": 1, "won": 1, "games": 1},
        {"name": "Ana", "played": 1, "won": 0, "games": 1},
    ]


def test_each_of_its_tables_can_be_replayed(home: Home, file: Path) -> None:
    table = played(home, "Ana", "Ben", tokens=2)
    (exported,) = export(home, file)["tables"]
    again = read(json.dumps(exported), registry.with_tools(registry.load(())))
    assert [entry.action for entry in again.entries] == [e.action for e in home.services.tables.entries(table.id)]


def test_it_holds_no_code_and_no_key_and_only_its_owner_may_read_it(home: Home, file: Path) -> None:
    table = played(home, "Ana", "Ben")
    export(home, file)
    text = file.read_text("utf-8")
    assert table.code not in text
    assert not any(key in text for key in home.services.tables.get(table.id).keys.values())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_nothing_but_the_file_is_left_beside_it(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    export(home, folder / "everything.json")
    assert [path.name for path in folder.iterdir()] == ["everything.json"]


def test_a_file_that_is_there_is_not_written_over(home: Home, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("mine")
    assert main(["export", str(file), "--store", home.url]) == 2
    assert "is there already; expected the name of a new file" in capsys.readouterr().err
    assert file.read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_named(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(tmp_path / "none" / "x.json"), "--store", home.url]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_table_whose_log_cannot_be_replayed_is_named(
    home: Home, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = home.table()
    engine = sa.create_engine(home.url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE entry SET move = '[\"no-such-move\"]'"))
    engine.dispose()
    assert main(["export", str(file), "--store", home.url]) == 1
    assert f"The log of {table.title!r} cannot be replayed" in capsys.readouterr().out
    assert json.loads(file.read_text("utf-8"))["unreadable"] == ["Sunday"]
