"""The cells of tables in Markdown, written so that GitHub and the site show them alike."""

import html


def code(text: str) -> str:
    r"""Return code for a cell; with a bar in it as HTML, because the site would show the backslash before it.

    >>> code("int"), code("int | None")
    ('`int`', '<code>int &#124; None</code>')
    """
    return f"<code>{html.escape(text, quote=False).replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"


def words(text: str) -> str:
    r"""Return words for a cell.

    >>> print(words("this|that"))
    this&#124;that
    """
    return text.replace("|", "&#124;")
