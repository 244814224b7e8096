"""MkDocs hooks: add the pages of the repository's root to the site, and turn links to source files into plain text.

Readers of the repository follow `../README.md` and `../tests/chaos/oracle.py`; the site has a page for the first
and none for the second.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

ROOT_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
"""File in the root -> page of the site."""

LINK = re.compile(r"(!?)\[((?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*)\]\(([^)\s]+)\)")


def slug(heading: str, separator: str = "-") -> str:
    """Give the anchor of a heading as GitHub does, so that a link works in both places."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def relink(markdown: str, source: str) -> str:
    """Rewrite the links of a page for the site.

    `source` is the path of the page in the repository: `docs/play.md`, `README.md`.
    """
    page = ROOT_PAGES.get(source, source.removeprefix("docs/"))

    def rewrite(match: re.Match[str]) -> str:
        bang, text, target = match.groups()
        text = LINK.sub(rewrite, text)
        path, hash_sign, anchor = target.partition("#")
        if "://" in target or not path:
            return f"{bang}[{text}]({target})"
        in_repository = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        on_site = ROOT_PAGES.get(in_repository, in_repository.removeprefix("docs/"))
        if in_repository not in ROOT_PAGES and not in_repository.startswith("docs/"):
            return text
        if (ROOT / in_repository).is_dir():
            return text
        relative = posixpath.relpath(on_site, posixpath.dirname(page) or ".")
        return f"{bang}[{text}]({relative}{hash_sign}{anchor})"

    return LINK.sub(rewrite, markdown)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the root."""
    from mkdocs.structure.files import File

    for name, page in ROOT_PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Rewrite the links of each page."""
    sources = {site: name for name, site in ROOT_PAGES.items()}
    return relink(markdown, sources.get(page.file.src_uri, f"docs/{page.file.src_uri}"))
