"""The contract between a temple and its readers: its topics, its messages, how they are written and checked.

It uses the standard library alone, and never connects, stores or logs. Bytes of any kind give a message or a
`WireError`. Messages are JSON objects with ``"v": 1``; unknown fields are ignored, wrong types and ranges are
refused.
"""

from templo.contract.access import (
    DISCOVERY,
    access_rules,
    discovery_topic,
)
from templo.contract.codec import (
    decode,
    encode,
)
from templo.contract.declarations import (
    MAX_PAYLOAD,
    ROOT,
    TABLES_ROOT,
    VERSION,
    Catalogue,
    Declaration,
    Place,
    Role,
    declaration_of,
    json_path,
)
from templo.contract.field_types import (
    MAX_FACT,
    MAX_SEQ,
    MOST_FACTS,
    NAME_EXPECTED,
    TEMPLE_NAME,
    WireError,
    format_utc,
    parse_utc,
    temple_name,
)
from templo.contract.messages import (
    CONTRACT,
    MAX_WIDTH_MS,
    MOST_DOUBTED,
    MOST_FAULT,
    MOST_FINDINGS,
    MOST_NOTICES,
    Ack,
    Changed,
    Command,
    Count,
    Doubt,
    Finding,
    Findings,
    Light,
    Message,
    Mood,
    Noise,
    Notice,
    Reply,
    Score,
    SetLight,
    Status,
    Token,
)
from templo.contract.topics import (
    parse_topic,
    table_topic,
    topic,
)
from templo.contract.vocabulary import (
    Beam,
    CommandName,
    Emitters,
    Flag,
    God,
    Kind,
    LightEffect,
    State,
    Timing,
    Trouble,
)

__all__ = [
    "CONTRACT", "DISCOVERY", "MAX_FACT", "MAX_PAYLOAD", "MAX_SEQ", "MAX_WIDTH_MS", "MOST_DOUBTED",
    "MOST_FACTS", "MOST_FAULT", "MOST_FINDINGS", "MOST_NOTICES", "NAME_EXPECTED", "ROOT", "TABLES_ROOT",
    "TEMPLE_NAME", "VERSION", "Ack", "Beam", "Catalogue", "Changed", "Command", "CommandName", "Count",
    "Declaration", "Doubt", "Emitters", "Finding", "Findings", "Flag", "God", "Kind", "Light", "LightEffect",
    "Message", "Mood", "Noise", "Notice", "Place", "Reply", "Role", "Score", "SetLight", "State", "Status",
    "Timing", "Token", "Trouble", "WireError", "access_rules", "declaration_of", "decode", "discovery_topic",
    "encode", "format_utc", "json_path", "parse_topic", "parse_utc", "table_topic", "temple_name", "topic",
]  # fmt: skip
