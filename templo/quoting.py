"""How messages quote values and people's names: escaped, in one line, and short; and how they count things."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST = 80


def quoted(value: object) -> str:
    r"""Return a value as a message quotes it: escaped, and short whatever its size.

    >>> quoted("a\nb")
    "'a\\nb'"
    >>> quoted(10**5000)
    'a huge number'
    >>> len(quoted("x" * 1000))
    80
    """
    if isinstance(value, bytes | str):
        value = value[:LONGEST]
    try:
        text = ascii(value)
    except ValueError:  # Python writes no number of thousands of digits
        text = "a huge number"
    if isinstance(value, int) and len(text) > LONGEST:
        text = "a huge number"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def counted(number: object, one: str, others: str = "") -> str:
    """Return a number with the word that goes with it; `others` is the plural where it is not made with an s.

    >>> counted(1, "token"), counted(2, "token"), counted(0, "entry", "entries"), counted("unknown", "token")
    ('1 token', '2 tokens', '0 entries', 'unknown tokens')
    """
    return f"{number} {one if number == 1 else others or one + 's'}"


def printable(text: str, longest: int = 600) -> str:
    r"""Return words as a terminal may show them: in one line, other signs written out.

    >>> printable("no such file: \x1b[2J")
    'no such file: \\x1b[2J'
    """
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)[:longest]


def nearest(word: str, known: Iterable[str], closeness: float = 0.6) -> str | None:
    """Return the known word that was probably meant.

    >>> nearest("broker.prot", ["broker.host", "broker.port"])
    'broker.port'
    """
    from difflib import get_close_matches  # slow to import, and needed for errors alone

    found = get_close_matches(word, list(known), 1, closeness)
    return found[0] if found else None
