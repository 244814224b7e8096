"""Counts the code of git revisions: `python -m tools.count_tree BEFORE [NOW...] [--packages]`.

It counts modules, imports and lines of `templo`, `controller` and `companion`, lines of the tests, files, and the
code for three additions: a topic, a backend, a game. Every figure comes from the files of the revision, whatever the
layout. `--packages` counts the lines of code of each package instead.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("templo", "controller", "companion")
PAGES = (".html", ".css", ".js")
EXAMPLE = "docs/examples/beans/__init__.py"


class Tree:
    """The files of one revision, unpacked into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.packages = tuple(name for name in PACKAGES if (folder / name / "__init__.py").exists())
        sys.path.insert(0, str(folder))
        try:
            self.graph = grimp.build_graph(*self.packages, cache_dir=None)
        finally:
            sys.path.remove(str(folder))

    def files(self, *suffixes: str) -> Iterator[Path]:
        """Yield the packages' files with one of the suffixes."""
        for package in self.packages:
            yield from (path for path in (self.folder / package).rglob("*") if path.suffix in suffixes)

    def text(self, path: str) -> str:
        """Return the text of a file by its path in the project; empty if there is none."""
        file = self.folder / path
        return file.read_text("utf-8") if file.exists() else ""

    def name(self, path: Path) -> str:
        """Return the path of a file in the project."""
        return path.relative_to(self.folder).as_posix()


def modules_in_folders(tree: Tree) -> Counter[str]:
    """Return the number of modules directly in each folder, without `__init__` and `__main__`."""
    return Counter(tree.name(path.parent) for path in tree.files(".py") if not path.stem.startswith("__"))


def arrows(tree: Tree, unit: Callable[[str], str]) -> set[tuple[str, str]]:
    """Return which units import which others; `unit` gives the unit of a module."""
    graph = tree.graph
    pairs = {
        (unit(importer), unit(imported))
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
    }
    return {(importer, imported) for importer, imported in pairs if importer != imported}


def first_level(module: str) -> str:
    """Return the child of the top package that a module belongs to.

    >>> first_level("controller.core.counting")
    'controller.core'
    """
    return ".".join(module.split(".")[:2])


def code_lines(source: str) -> int:
    r"""Return the number of lines of a Python source without blank lines, comments and docstrings.

    >>> code_lines('x = 1  # one\n\n# two\ndef f():\n    "Three."\n    return 4\n')
    3
    """
    body = [node for node in ast.walk(ast.parse(source)) if hasattr(node, "body") and isinstance(node.body, list)]
    strings = {
        line
        for node in body
        for each in node.body
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and isinstance(each.value.value, str)
        for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)
    }
    return sum(
        number not in strings and bool(line.strip()) and not line.lstrip().startswith("#")
        for number, line in enumerate(source.splitlines(), 1)
    )


def naming(tree: Tree, pattern: str, *, without: str = "$^", packages: tuple[str, ...] = PACKAGES) -> Counter[str]:
    """Return how many lines name something, by file; files whose path matches `without` are left out."""
    found: Counter[str] = Counter()
    for path in tree.files(".py"):
        name = tree.name(path)
        if name.split("/")[0] in packages and not re.search(without, name):
            lines = sum(bool(re.search(pattern, line)) for line in path.read_text("utf-8").splitlines())
            if lines:
                found[name] = lines
    return found


def figures(tree: Tree) -> dict[str, str]:
    """Return every figure of a tree by its description."""
    folders = modules_in_folders(tree)
    deepest = max(folders, key=lambda name: folders[name])
    sources = [path.read_text("utf-8") for path in tree.files(".py")]
    topic = naming(tree, r"\b[Nn]oise\b")
    board = sum(
        lines
        for path, lines in naming(tree, r"(?i)serial|board", packages=("controller",)).items()
        if path.endswith(("/daemon.py", "/pipeline.py"))
    )
    gpiod = [path for path in tree.files(".py") if path.stem == "libgpiod"]
    within = {program: arrows(tree, first_level) for program in ("controller", "companion")}
    rows = {f"modules directly in `{program}/`": str(folders[program]) for program in ("controller", "companion")}
    rows["most modules in one folder"] = f"{folders[deepest]} (`{deepest}/`)"
    rows["folders with modules"] = str(len(folders))
    for program, pairs in within.items():
        inside = [pair for pair in pairs if all(name.split(".")[0] == program and "." in name for name in pair)]
        units = {name for pair in inside for name in pair}
        rows[f"parts of `{program}/` and import arrows between them"] = f"{len(units)} and {len(inside)}"
    rows["imports between modules"] = f"{len(arrows(tree, lambda module: module)):,}"
    rows["lines of Python"] = f"{sum(len(source.splitlines()) for source in sources):,}"
    rows["lines of Python without blank lines, comments and docstrings"] = f"{sum(map(code_lines, sources)):,}"
    pages = sum(len(path.read_text("utf-8").splitlines()) for path in tree.files(*PAGES))
    rows["lines of HTML, CSS and JavaScript"] = f"{pages:,}"
    tests = [path.read_text("utf-8") for path in sorted((tree.folder / "tests").rglob("*.py"))]
    rows["lines of Python under `tests`"] = f"{sum(len(source.splitlines()) for source in tests):,}"
    rows["of these without blank lines, comments and docstrings"] = f"{sum(map(code_lines, tests)):,}"
    rows["files of the whole tree"] = f"{sum(path.is_file() for path in tree.folder.rglob('*')):,}"
    rows["a topic: lines that name `noise`, and files"] = f"{topic.total()} in {len(topic)}"
    if gpiod:
        lines = sum(code_lines(path.read_text("utf-8")) for path in gpiod)
        elsewhere = naming(tree, r"\bgpiod\b", without=r"/libgpiod\.py").total()
        rows["a backend: lines of `gpiod`, and lines elsewhere that name it"] = f"{lines} and {elsewhere}"
    rows["lines of daemon and pipeline that name the serial board"] = str(board)
    rows[f"a game: lines of `{EXAMPLE}`"] = str(code_lines(tree.text(EXAMPLE)))
    return rows


def by_package(tree: Tree) -> dict[str, str]:
    """Return the lines of Python without blank lines, comments and docstrings of each package and in all.

    Modules that lie directly in a program belong to none of its packages.
    """
    found: Counter[str] = Counter()
    for path in tree.files(".py"):
        program, *folders = tree.name(path.parent).split("/")
        lines = code_lines(path.read_text("utf-8"))
        found[f"`{program}`"] += lines
        found["all"] += lines
        if folders and program != "templo":
            found[f"`{program}/{folders[0]}`"] += lines
    return {name: f"{found[name]:,}" for name in sorted(found, key=lambda name: (name == "all", name))}


def commit_of(revision: str) -> str:
    """Return the id of a revision's commit; raises `ValueError` where git knows none."""
    found = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    if found.returncode:
        raise ValueError(f"{revision!r} is no revision of this repository; expected a commit, a tag or a branch")
    return found.stdout.strip()


def of_commit(commit: str, count: Callable[[Tree], dict[str, str]]) -> dict[str, str]:
    """Return the figures of a commit."""
    archive = subprocess.run(["git", "archive", commit, "--", "."], cwd=ROOT, check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        return count(Tree(Path(folder)))


def table(columns: dict[str, dict[str, str]]) -> str:
    """Return a Markdown table with a column for each revision."""
    names = dict.fromkeys(name for rows in reversed(columns.values()) for name in rows)
    lines = [["", *columns], ["---"] * (1 + len(columns))]
    lines += [[name, *(rows.get(name, "-") for rows in columns.values())] for name in names]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Print the table of some revisions."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.count_tree", description="Count the code of git revisions."
    )
    parser.add_argument("before", metavar="BEFORE", help="a git revision")
    parser.add_argument("now", metavar="NOW", nargs="*", default=["HEAD"], help="later ones (HEAD)")
    parser.add_argument("--packages", action="store_true", help="count the lines of code of each package")
    given = parser.parse_args()
    try:
        revisions = [commit_of(each) for each in (given.before, *given.now)]
    except ValueError as error:
        parser.error(str(error))
    heads = ["before", *given.now[:-1], "now"]
    count = by_package if given.packages else figures
    columns = table({head: of_commit(each, count) for head, each in zip(heads, revisions, strict=True)})
    print(columns, end="")


if __name__ == "__main__":
    main()
