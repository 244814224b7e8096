"""What README, CONTRIBUTING, SECURITY and docs/ name exists: links, anchors, files, commands, flags and targets."""

from __future__ import annotations

import re
import shlex
import tomllib
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import pytest

from companion.cli import command_line as companion_program
from controller.app import command_line as controller_program
from tests.cases import every_case
from tests.docs.pages import ROOT, code, text_without_fences
from tools import count_tree, draw_architecture, site_pages, tables

PAGES = sorted(
    [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]
)
PROGRAMS = {"controller": controller_program, "companion": companion_program}
PATH_ROOTS = (
    ".ci",
    "bench",
    "companion",
    "controller",
    "debian",
    "docs",
    "firmware",
    "hardware",
    "systemd",
    "templo",
)
PATH_ROOTS += ("tests", "tools")

by_page = every_case("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@cache
def anchors(page: Path) -> frozenset[str]:
    headings = re.findall(r"^#+ +(.*)$", text_without_fences(page), re.MULTILINE)
    return frozenset(site_pages.slug(re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading)) for heading in headings)


@by_page
def test_no_page_holds_what_a_merge_left_open(page: Path) -> None:
    assert not re.findall(r"(?m)^(?:<{7}|>{7}) .*", page.read_text("utf-8"))


@by_page
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", text_without_fences(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name}: link to {target}, but there is no such file"
        assert not anchor or anchor in anchors(file), f"{page.name}: link to {target}, but there is no such heading"


@by_page
def test_every_file_that_is_named_exists(page: Path) -> None:
    for piece in code(page):
        for path in re.findall(rf"(?<![\w./<-])(?:{'|'.join(map(re.escape, PATH_ROOTS))})/[\w./*-]*[\w*/]", piece):
            if re.search(rf"{re.escape(path)}[<>{{…]", piece) or path.startswith(
                ("build/", "companion/web/static/pages")
            ):
                continue
            found = any(ROOT.glob(path.rstrip("/"))) if "*" in path else (ROOT / path).exists()
            assert found, f"{page.name}: `{piece}` names {path}, but there is no such file"


@by_page
def test_every_make_target_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for piece in code(page):
        for target in re.findall(r"(?:^|[$#] |sudo |-- )make ([a-z][a-z-]+)", piece):
            assert target in targets, f"{page.name}: `{piece}`, but the Makefile has no target {target}"


def words(command: str) -> list[str]:
    """Split a command as a shell does, without comments, placeholders' angles and what follows a pipe."""
    try:
        return shlex.split(re.split(r" [|>&;]+ |&&", command)[0], comments=True)
    except ValueError:
        return command.split()


@cache
def help_of(program: str, *command: str) -> str:
    out = StringIO()
    with redirect_stdout(out), pytest.raises(SystemExit) as ended:
        PROGRAMS[program].main([*command, "--help"])
    assert ended.value.code == 0, f"{program} {command}: --help ended with {ended.value.code}"
    return out.getvalue()


def source_of(module: str) -> str:
    path = ROOT.joinpath(*module.split("."))
    files = sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    assert any(file.exists() for file in files), f"there is no module {module}"
    if "." in module:  # options that several programs of a package share are beside them
        files += [file for file in sorted(path.parent.glob("*.py")) if file not in files]
    return "\n".join(file.read_text("utf-8") for file in files)


def check_program(program: str, arguments: list[str]) -> None:
    if not arguments or arguments[0].startswith("-"):
        return
    if program == "companion" and arguments[1:2] == ["check"]:
        assert "usage" in help_of(program, *arguments[:2])
        return
    command = [arguments[0]]
    known = help_of(program, *command) if known_command(program, command[0]) else ""
    assert known, f"{program} has no command {command[0]}"
    action = re.search(r"\{(\w+(?:,\w+)+)\}", known) if command[0] in ("held", "forget") else None
    if action and len(arguments) > 1:
        for name in arguments[1].split("|"):
            assert name in action[1].split(","), f"{program} {command[0]} has no action {name}"
            known += help_of(program, command[0], name)
    for flag in arguments[1:]:
        if re.match(r"--[a-z]", flag):
            assert re.search(rf"{re.escape(flag.partition('=')[0])}\b", known), (
                f"{program} {command[0]} has no {flag}"
            )


def known_command(program: str, command: str) -> bool:
    listed = re.search(r"\{([\w,]+)\}", help_of(program))
    names = listed[1].split(",") if listed else re.findall(r"^    ([\w-]+)", help_of(program), re.MULTILINE)
    return command in names


@by_page
def test_every_command_of_the_programs_exists_with_its_flags(page: Path) -> None:
    for piece in code(page):
        found = re.search(r"(?:(?<![\w-])templo-|python -m )(controller|companion) ((?![\w-]+\.)[a-z].*)", piece)
        if found and not re.search(r"templo-(controller|companion) templo-", piece):
            try:
                check_program(found[1], words(found[2]))
            except AssertionError as error:
                pytest.fail(f"{page.name}: `{piece}`: {error}")


@by_page
def test_every_module_that_is_run_exists_with_its_flags(page: Path) -> None:
    recipes = (ROOT / "Makefile").read_text("utf-8")
    for piece in code(page):
        runs = re.findall(r"python -m ((?!pytest|controller\b|companion\b)[a-z_.]+)(.*)", piece)
        for target, arguments in re.findall(r"make ([a-z-]+) ARGS=(\"[^\"]*\"|\S+)", piece):
            recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", recipes, re.MULTILINE)
            module = re.search(r"-m ((?!pytest)[a-z_.]+)( [a-z]+)?", recipe[1]) if recipe else None
            if module and module[1] == "companion":
                check_program("companion", [str(module[2]).strip(), *arguments.strip('"').split()])
            elif module:
                runs.append((module[1], arguments.strip('"')))
        for name, arguments in runs:
            source = source_of(name)
            for flag in set(re.findall(r"(?<!\S)--[a-z][a-z-]*", arguments)) - {"--help"}:
                assert f'"{flag}"' in source, f"{page.name}: `{piece}`, but {name} has no {flag}"


def test_every_page_is_in_the_site_s_menu() -> None:
    menu = set(re.findall(r"^ *- ([\w/.-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE))
    written = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert menu == written | set(site_pages.ROOT_PAGES.values())


@pytest.mark.parametrize(
    "page",
    sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in site_pages.ROOT_PAGES)]),
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_link_of_the_site_leads_to_a_file_of_the_site(page: Path) -> None:
    """`make docs` ends at any other: a folder is no page."""
    source = page.relative_to(ROOT).as_posix()
    place = (ROOT / "docs" / site_pages.ROOT_PAGES.get(source, source.removeprefix("docs/"))).parent
    for target in re.findall(r"\]\(([^)\s#]+)", site_pages.relink(text_without_fences(page), source)):
        if "://" not in target:
            found = (place / target).resolve()
            made = found.relative_to(ROOT / "docs").as_posix() in site_pages.ROOT_PAGES.values()
            assert made or found.is_file(), f"{source}: {target} is no file of the site"


def test_links_are_rewritten_for_the_site() -> None:
    assert site_pages.relink("[a](docs/play.md#b)", "README.md") == "[a](play.md#b)"
    assert site_pages.relink("[a](../../README.md)", "docs/decisions/0001.md") == "[a](../index.md)"
    assert site_pages.relink("[a](../tests/x.py)", "docs/play.md") == "a"
    assert site_pages.relink("[a](examples/club/)", "docs/club.md") == "a"
    assert site_pages.relink("![a](pictures/x.png)", "docs/play.md") == "![a](pictures/x.png)"
    assert site_pages.relink("[a](https://mqtt.org) [b](#c)", "docs/play.md") == "[a](https://mqtt.org) [b](#c)"


def test_the_drawings_of_the_architecture_are_the_script_s() -> None:
    for name, drawing in draw_architecture.drawings().items():
        kept = (ROOT / "docs" / "pictures" / name).read_text("utf-8")
        assert kept == drawing, f"{name} differs: run python -m tools.draw_architecture"


def test_what_writes_into_the_docs_writes_nothing_when_it_is_asked_for_help_or_given_what_it_does_not_know(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr(Path, "write_text")
    for module in (draw_architecture, tables):
        for arguments, status, words in ((["--help"], 0, "usage: python -m "), (["--wrong"], 2, "--wrong")):
            with pytest.raises(SystemExit) as ended:
                module.main(arguments)
            assert ended.value.code == status
            assert words in "".join(capsys.readouterr())


def test_a_revision_that_git_does_not_know_is_refused_with_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["count_tree", "HEAD", "nosuch"])
    with pytest.raises(SystemExit):
        count_tree.main()
    assert "'nosuch' is no revision of this repository" in capsys.readouterr().err


def test_the_docs_extra_is_pinned() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]["docs"]
    pinned = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    assert {re.split(r"[<>=]", extra)[0] for extra in extras} <= set(pinned)
