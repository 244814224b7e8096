"""What follows from a message's declaration, shown with one that no release has."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, get_args

import pytest

from controller.adapters.home_assistant import announcement
from controller.core.publisher import Identity
from templo import contract
from templo.contract.access import access_rules
from templo.contract.declarations import Catalogue, Omitted, Place, Role, json_path, message
from templo.contract.field_types import Number, WireError
from templo.contract.messages import Code, HexId, Message, Total
from templo.contract.vocabulary import God
from tools.tables import DOCS, fields_table, message_tables, topics_table, users_table, with_tables

SESSION = "5d" * 16


@message(about="how warm the chutes are", sent_by=(Role.TEMPLE,), read_by=(Role.COMPANION,), retained=True)
@dataclass(frozen=True, slots=True)
class Warmth:
    """A message that no release has: a new topic is this declaration and its handler."""

    leaf: ClassVar[str] = "warmth"
    session: HexId
    celsius: Annotated[float, Number(80)]
    fans: Mapping[God, Total]
    sensor: Omitted[Code] = None


WITH_WARMTH = Catalogue([*get_args(Message), Warmth])
WARM = Warmth(SESSION, 21.5, {God.HUITZILOPOCHTLI: 0, God.TLALOC: 2})


def warned(temple: str, payload: bytes) -> str:
    """Handle the new message: all that a program adds to its declaration."""
    warmth: Warmth = WITH_WARMTH.decode("warmth", payload)
    return f"{temple} is at {warmth.celsius} °C"


def test_a_declared_message_is_written_and_read_back() -> None:
    payload = WITH_WARMTH.encode(WARM)
    assert payload == (
        b'{"v":1,"session":"5d5d5d5d5d5d5d5d5d5d5d5d5d5d5d5d","celsius":21.5,"fans":{"huitzilopochtli":0,"tlaloc":2}}'
    )
    assert WITH_WARMTH.decode("warmth", payload) == WARM
    assert warned("attic", payload) == "attic is at 21.5 °C"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("session", None, "warmth.session is None; expected 32 hexadecimal digits"),
        ("celsius", 80.5, "warmth.celsius is 80.5; expected a number from 0 to 80"),
        ("celsius", True, "warmth.celsius is True; expected a number from 0 to 80"),
        ("fans", {"tlaloc": 1}, "expected an entry for huitzilopochtli"),
        ("sensor", "A", "warmth.sensor is 'A'; expected lower-case letters, digits and underscores"),
        ("v", 2, "warmth.v is 2; expected 1"),
    ],
)
def test_a_field_outside_its_declaration_is_refused_by_its_name(name: str, value: object, words: str) -> None:
    values = json.loads(WITH_WARMTH.encode(WARM)) | {name: value}
    with pytest.raises(WireError, match=re.escape(words)):
        WITH_WARMTH.decode("warmth", json.dumps(values).encode())


def test_a_declared_message_has_its_topic_in_its_catalogue_alone() -> None:
    assert WITH_WARMTH.topic("attic", "warmth") == "templo/attic/warmth"
    assert WITH_WARMTH.parse_topic("templo/attic/warmth") == ("attic", "warmth")
    with pytest.raises(WireError, match="topic leaf is 'warmth'"):
        contract.topic("attic", "warmth")


def test_whoever_reads_a_message_by_its_declaration_subscribes_to_it() -> None:
    assert "warmth" in [each.leaf for each in WITH_WARMTH.read_by(Role.COMPANION)]
    assert "warmth" not in [each.leaf for each in WITH_WARMTH.read_by(Role.TEMPLE)]
    assert "warmth" in [each.leaf for each in WITH_WARMTH if Role.TEMPLE in each.sent_by]


def test_the_broker_lets_a_declared_message_pass_from_its_sender_to_its_reader_alone() -> None:
    rules = access_rules({"attic": "temple-attic"}, ["watcher"], WITH_WARMTH)
    before = access_rules({"attic": "temple-attic"}, ["watcher"])
    more = {user: set(rules[user]) - set(before[user]) for user in rules}
    assert more == {
        "temple-attic": {"write templo/attic/warmth"},
        "companion": {"read templo/+/warmth"},
        "watcher": set(),
        "homeassistant": set(),
    }


def test_the_documentation_of_a_declared_message_writes_itself() -> None:
    assert "| `warmth` | temple | 1 | yes | how warm the chutes are |\n" in topics_table(WITH_WARMTH)
    assert fields_table(WITH_WARMTH.declarations["warmth"]) == (
        "| field | takes | presence |\n"
        "|---|---|---|\n"
        "| `session` | 32 hexadecimal digits | required |\n"
        "| `celsius` | a number from 0 to 80 | required |\n"
        "| `fans` | for each god: a whole number from 0 to 9223372036854775807 | required |\n"
        "| `sensor` | lower-case letters, digits and underscores | may be left out |\n"
    )


def test_a_document_without_a_declared_message_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected once each topics, status, .*warmth"):
        with_tables((DOCS / "protocol.md").read_text("utf-8"), message_tables(WITH_WARMTH))


def test_the_table_of_users_names_what_each_of_them_sends_and_reads() -> None:
    before, after = users_table().splitlines(), users_table(WITH_WARMTH).splitlines()
    assert "\n| `watcher` | nothing | `templo/`: everything; `templo-tables/`: everything; " in users_table()
    assert [row.replace("`warmth`", "").count("`") for row in after] == [row.count("`") for row in before]
    temple, companion = (row for row in after if "warmth" in row)
    assert re.match(r"\| `temple-<name>` \| `templo/<name>/`: [^;|]*`warmth`", temple)
    assert re.match(r"\| `companion` \| [^|]* \| `templo/\+/`: [^;|]*`warmth`", companion)


# -- mistakes in a declaration --


@dataclass(frozen=True, slots=True)
class Unreadable:
    leaf: ClassVar[str] = "unreadable"
    anything: complex


def test_a_field_of_a_type_that_no_payload_can_hold_is_refused_when_it_is_declared() -> None:
    declare = message(about="", sent_by=(Role.TEMPLE,), read_by=())
    with pytest.raises(TypeError, match=r"Unreadable\.anything is <class 'complex'>"):
        declare(Unreadable)


@message(about="", sent_by=(Role.TEMPLE,), read_by=())
@dataclass(frozen=True, slots=True)
class Another:
    leaf: ClassVar[str] = "warmth"


def test_two_messages_of_one_leaf_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Another\.leaf is 'warmth', as Warmth's is"):
        Catalogue([Warmth, Another])


def test_a_template_that_names_no_declared_field_is_refused() -> None:
    assert json_path(contract.Count, "totals", "tlaloc") == "totals.tlaloc"
    with pytest.raises(ValueError, match="count has no field 'total'; expected one of source, seq, totals"):
        json_path(contract.Count, "total", "tlaloc")


# -- Home Assistant --


def topics_in(value: Any) -> Iterator[tuple[str, str]]:
    """Yield each topic of a discovery payload with the key that it stands under."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(each, dict | list):
            yield from topics_in(each)
        elif str(key).endswith("topic"):
            yield str(key), each


def test_home_assistant_may_read_and_publish_all_that_discovery_points_it_to() -> None:
    identity = Identity("attic", SESSION, contract.Kind.PI, "1.0.0", contract.Timing.KERNEL)
    found = set(topics_in(json.loads(announcement(identity, coloured=True)[1])))
    read = {each.leaf for each in contract.CONTRACT.read_by(Role.HOME_ASSISTANT)}
    sent = {each.leaf for each in contract.CONTRACT if Role.HOME_ASSISTANT in each.sent_by}
    assert {contract.parse_topic(topic)[1] for key, topic in found if key != "command_topic"} == read
    assert {contract.parse_topic(topic)[1] for key, topic in found if key == "command_topic"} == sent


# -- examples --


@pytest.mark.parametrize(
    "name",
    [each.name for each in pkgutil.iter_modules(contract.__path__, "templo.contract.") if "__" not in each.name],
)
def test_the_examples_of_the_contract_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_function_for_topics_and_payloads_has_an_example() -> None:
    for each in (contract.encode, contract.decode, contract.topic, contract.parse_topic, contract.table_topic):
        assert ">>> " in (each.__doc__ or ""), each.__name__


def test_a_table_s_message_has_no_place_under_a_temple() -> None:
    assert [each.topic for each in contract.CONTRACT if each.place is Place.TABLE] == [
        "templo-tables/<table>/changed"
    ]
