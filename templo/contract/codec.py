"""Encodes messages as payloads and decodes them."""

from __future__ import annotations

from typing import cast

from templo.contract.messages import CONTRACT, Message


def encode(message: Message) -> bytes:
    """Write a message as its payload. ``decode(message.leaf, encode(message)) == message``.

    >>> from templo.contract import Changed
    >>> encode(Changed("77" * 16, 41))
    b'{"v":1,"table":"77777777777777777777777777777777","version":41}'
    """
    return CONTRACT.encode(message)


def decode(leaf: str, payload: bytes) -> Message:
    """Read the payload that arrived under a leaf; raises `WireError` for anything that is not that message.

    >>> decode("changed", b'{"v": 1, "table": "77777777777777777777777777777777", "version": 41, "new": true}')
    Changed(table='77777777777777777777777777777777', version=41)
    >>> decode("changed", b'{"v": 1, "table": 77, "version": 41}')
    Traceback (most recent call last):
    templo.contract.field_types.WireError: changed.table is 77; expected 32 hexadecimal digits
    """
    return cast(Message, CONTRACT.decode(leaf, payload))
