"""Templates are compiled once for each text and each version of the code that compiles them."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

from companion.games import registry
from companion.web.rendering import compiled as module
from companion.web.rendering import install
from companion.web.rendering.compiled import Compiled
from companion.web.rendering.renderer import environment


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were compiled, in their order."""
    texts: list[str] = []
    compile_ = jinja2.Environment.compile

    def noted(self: jinja2.Environment, source: str, *rest: object) -> object:
        texts.append(source)
        return compile_(self, source, *rest)  # type: ignore[call-overload]

    monkeypatch.setattr(jinja2.Environment, "compile", noted)
    return texts


def shown(folder: Path, kept: Path) -> str:
    loader = jinja2.FileSystemLoader(folder)
    return (
        jinja2.Environment(loader=loader, autoescape=True, bytecode_cache=Compiled(kept)).get_template("a").render()
    )


def test_a_template_is_compiled_again_when_its_text_changes_and_at_no_later_start(
    tmp_path: Path, compiled: list[str]
) -> None:
    for text in ("one", "one", "two", "two"):
        (tmp_path / "a").write_text(text)
        assert shown(tmp_path, tmp_path / "kept") == text
    assert compiled == ["one", "two"]
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_it_is_compiled_again_when_the_code_that_compiles_it_changes(
    tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("one")
    shown(tmp_path, tmp_path / "kept")
    monkeypatch.setattr(jinja2, "__version__", "the next one")
    shown(tmp_path, tmp_path / "kept")
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"# changed")
    shown(tmp_path, tmp_path / "kept")
    assert compiled == ["one"] * 3


@pytest.mark.parametrize("damage", ["", "garbage", "whole"])
def test_what_cannot_be_read_is_compiled(tmp_path: Path, compiled: list[str], damage: str) -> None:
    (tmp_path / "a").write_text("one")
    shown(tmp_path, tmp_path / "kept")
    (file,) = (tmp_path / "kept").iterdir()
    file.write_bytes(file.read_bytes()[:-3] if damage == "whole" else damage.encode())
    assert shown(tmp_path, tmp_path / "kept") == "one"
    assert compiled == ["one"] * 2


def test_without_a_folder_that_can_be_written_pages_are_shown_all_the_same(
    tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("one")
    (tmp_path / "file").write_text("")
    assert shown(tmp_path, tmp_path / "file" / "kept") == "one"

    def full(*_: object, **__: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("jinja2.bccache.Bucket.write_bytecode", full)
    assert shown(tmp_path, tmp_path / "kept") == "one"
    assert not list((tmp_path / "kept").iterdir())


def test_what_the_package_compiled_is_compiled_by_no_start_and_may_be_read_by_the_service(
    tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (module, install):
        monkeypatch.setattr(each, "INSTALLED", tmp_path / "installed")
    install.main()
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "installed").iterdir()} == {0o644}
    assert compiled
    compiled.clear()
    folders = tuple((name, registry.folder(game)) for name, game in registry.load().items())
    for name in ("base.html", "game-mexica/play/board.html"):
        environment(folders, tmp_path / "kept").get_template(name)
    assert not compiled
    assert not list((tmp_path / "kept").iterdir())
