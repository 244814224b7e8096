"""The codes that people read to each other and type: their letters, and how what was typed is compared."""

from __future__ import annotations

CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Thirty-two characters that are not confused when they are read out."""

PAIRING_LENGTH = 12
"""Letters of a temple's code: 60 bits. Its digest is not salted, and must not be found by trying while it is good."""


def normal_code(text: str) -> str:
    """Return a code as it is stored, however it was typed.

    >>> normal_code(" abc-def")
    'ABCDEF'
    """
    return "".join(sign for sign in text.upper() if sign.isalnum())[:32]


def grouped(code: str, size: int = 3) -> str:
    """Return a code as it is shown and read out.

    >>> grouped("ABCDEF"), grouped("ABCDEFGHJKLM", 4)
    ('ABC-DEF', 'ABCD-EFGH-JKLM')
    """
    return "-".join(code[at : at + size] for at in range(0, len(code), size))


def is_pairing_code(text: str) -> bool:
    """Return whether what was typed has the form of a temple's code.

    >>> is_pairing_code("abcd-efgh-jklm"), is_pairing_code("abcd-efgh")
    (True, False)
    """
    code = normal_code(text)
    return len(code) == PAIRING_LENGTH and set(code) <= set(CODE_LETTERS)
