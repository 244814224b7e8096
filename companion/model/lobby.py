"""Checks what people enter before a game begins, such as names, join codes, options and files."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Container, Mapping
from typing import Any

from companion.games.kit import Fault, Game, Seat, Value
from companion.model.table import ServiceError
from templo.codes import CODE_LETTERS

CODE_LENGTH = 6
LONGEST_NAME = 24
JOINER = "\u200d"
"""The zero-width joiner, which makes one emoji of several, such as a family."""

BLANKS = "\u115f\u1160\u2800\u3164\uffa0"
"""Characters that are invisible."""


def new_code(entropy: Callable[[int], bytes], taken: Container[str]) -> str:
    """Return a join code that no table has; `entropy` gives that many random bytes."""
    while True:
        code = "".join(CODE_LETTERS[byte % len(CODE_LETTERS)] for byte in entropy(CODE_LENGTH))
        if code not in taken:
            return code


def complete_options(game: Game[Any], preset: str, chosen: Mapping[str, Value]) -> dict[str, Value]:
    """Return every option of a game with its value: the chosen one, else the preset's, else the default."""
    if preset not in game.presets:
        raise ServiceError("unknown_preset", preset=preset[:32])
    options = {option.key: option for option in game.options}
    values: dict[str, Value] = {key: option.default for key, option in options.items()} | dict(game.presets[preset])
    for key, value in chosen.items():
        if key not in options:
            raise ServiceError("unknown_option", option=key[:32])
        if not options[key].accepts(value):
            raise ServiceError("bad_option", option=key, value=str(value)[:32])
        values[key] = value
    return values


def seats_of(game: Game[Any], players: int) -> tuple[Seat, ...]:
    """Return the seats for a number of players; raises ``bad_players``."""
    if players not in game.seatings:
        raise ServiceError("bad_players", players=players, fewest=min(game.seatings), most=max(game.seatings))
    return game.seatings[players]


def read_text(data: bytes) -> tuple[str, tuple[Fault, ...]]:
    """Return the text of an uploaded file, with line ends unified, or the reason why it is no text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return "", (Fault(data.count(b"\n", 0, error.start) + 1, "no_text"),)
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), ()


def clean_name(text: str) -> str:
    r"""Return a name without control and direction marks and with single blanks; raises ``bad_name``.

    >>> clean_name("  Ana \u202e María ")
    'Ana María'
    """
    visible = (sign for sign in unicodedata.normalize("NFC", text) if _visible(sign))
    name = " ".join("".join(visible).split()).strip(JOINER)  # a browser cuts what is too long within an emoji
    if len(name) > LONGEST_NAME or not any(map(is_inked, name)):
        raise ServiceError("bad_name", length=len(name), longest=LONGEST_NAME)
    return name


def is_inked(sign: str) -> bool:
    """Return whether a character leaves a mark, as a letter or an emoji does."""
    return unicodedata.category(sign)[0] in "LNPS" and sign not in BLANKS


def _visible(sign: str) -> bool:
    return sign in (" ", JOINER) or unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def digest(token: str) -> str:
    """Return the digest of a phone's token, which is stored in its place."""
    return hashlib.sha256(token.encode()).hexdigest()
