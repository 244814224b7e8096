"""Lays out the manual's site, build/site, as one PDF with a contents page: build/manual/templo-mayor-manual.pdf."""

from __future__ import annotations

import html
import posixpath
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from templo import __version__

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "build" / "site"
BASE = "file:///manual/"
"""Where the site is, for the PDF."""

INTO = ROOT / "build" / "manual" / "templo-mayor-manual.pdf"
STYLE = """
@page { size: A4; margin: 18mm 17mm; @bottom-center { content: counter(page); font-size: 8pt } }
body { font: 9.5pt/1.4 "Noto Sans", "DejaVu Sans", sans-serif; color: #222 }
article { break-before: page }
h1, h2, h3 { line-height: 1.2; break-after: avoid; color: #8c1c13 }
h1 { font-size: 20pt; bookmark-level: 1 }
h2 { font-size: 14pt; bookmark-level: 2 }
h3 { font-size: 11pt; bookmark-level: none }
a { color: #1b5e7d; text-decoration: none }
.headerlink, svg.twemoji { display: none }
img, svg { max-width: 100%; max-height: 200mm }
table { border-collapse: collapse; width: 100%; font-size: 8pt; margin: 3mm 0 }
th, td { border: 0.3pt solid #aaa; padding: 1mm 1.5mm; text-align: left; vertical-align: top }
td { overflow-wrap: anywhere }
pre, code { font-family: "Noto Sans Mono", "DejaVu Sans Mono", monospace; font-size: 8pt }
pre { background: #f4f1e8; padding: 2mm; white-space: pre-wrap; overflow-wrap: anywhere }
nav a::after { content: " " leader(".") " " target-counter(attr(href), page) }
nav p { margin: 1mm 0 }
"""
_ARTICLE = re.compile(r"<article[^>]*>(.*?)</article>", re.DOTALL)
_TITLE = re.compile(r"<h1[^>]*>(.*?)(?:<a class=\"headerlink\".*?)?</h1>", re.DOTALL)
_NAMED = re.compile(r'(?<= )(id|href|src)="([^"]*)"')
_DETAILS = re.compile(r"<(?:form|script|button)\b.*?</(?:form|script|button)>", re.DOTALL)


def pages_of(menu: object) -> Iterator[str]:
    """Yield the pages of a site's menu in its order.

    >>> list(pages_of(["index.md", {"Makers": [{"Tutorial": ["starter.md"]}]}]))
    ['index.html', 'starter.html']
    """
    if isinstance(menu, str):
        yield menu.removesuffix(".md") + ".html"
    elif isinstance(menu, Mapping):
        for part in menu.values():
            yield from pages_of(part)
    elif isinstance(menu, Sequence):
        for part in menu:
            yield from pages_of(part)


def moved(article: str, page: str, pages: Collection[str]) -> str:
    """Return a page's text with its anchors and links as they are in one document of many pages.

    >>> moved('<h1 id="a"><a href="b.html#x">b</a><a href="c.py">c</a>', "p/a.html", ["p/a.html", "p/b.html"])
    '<h1 id="p/a.html-a"><a href="#p/b.html-x">b</a><a>c</a>'
    """

    def rewrite(match: re.Match[str]) -> str:
        name, value = match.groups()
        if name == "id":
            return f'id="{page}-{value}"'
        if ":" in value:
            return match[0]
        path, _, anchor = value.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        if name == "src":
            return f'src="{target}"'
        return f'href="#{target}{"-" * bool(anchor)}{anchor}"' if target in pages else ""

    return _NAMED.sub(rewrite, _DETAILS.sub("", article)).replace("<a >", "<a>")


def document(site: Path, menu: object) -> str:
    """Return the whole manual as one HTML document, whose pictures are found from the site's folder."""
    pages = list(pages_of(menu))
    texts = {page: _ARTICLE.findall((site / page).read_text("utf-8"))[0] for page in pages}
    titles = {page: re.sub(r"<[^>]+>", "", found[1]) if (found := _TITLE.search(text)) else page
              for page, text in texts.items()}  # fmt: skip
    contents = "".join(f'<p><a href="#{page}">{titles[page]}</a></p>' for page in pages)
    articles = "".join(f'<article id="{page}">{moved(texts[page], page, pages)}</article>' for page in pages)
    title = html.escape(f"Templo Mayor {__version__}")
    return (
        f'<!doctype html><html lang="en"><title>{title}</title><style>{STYLE}</style>'
        f"<h1>{title}</h1><nav>{contents}</nav>{articles}</html>"
    )


def main() -> int:
    """Write the PDF of the site that `make docs` built."""
    from mkdocs.config import load_config
    from weasyprint import HTML
    from weasyprint.urls import URLFetcher, URLFetcherResponse

    class Fetcher(URLFetcher):
        """Reads the site's files. A PDF names each picture after its address, which must be the same everywhere."""

        def fetch(self, url: str, headers: dict[str, str] | None = None) -> URLFetcherResponse:
            return super().fetch(url.replace(BASE, f"{SITE.as_uri()}/", 1), headers)

    menu = load_config(str(ROOT / "mkdocs.yml"))["nav"]
    INTO.parent.mkdir(parents=True, exist_ok=True)
    manual = HTML(string=document(SITE, menu), base_url=BASE, url_fetcher=Fetcher())
    manual.write_pdf(INTO, optimize_images=True, dpi=150)
    print(INTO.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
