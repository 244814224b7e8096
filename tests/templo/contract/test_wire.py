"""The contract: its golden vectors, and that bytes of any kind give a message or a `WireError`."""

from __future__ import annotations

import json
import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from templo import contract
from templo.contract import (
    Ack,
    Beam,
    Changed,
    Command,
    CommandName,
    Count,
    Emitters,
    Finding,
    Findings,
    God,
    Kind,
    Notice,
    Reply,
    State,
    Status,
    Timing,
    Token,
    Trouble,
    WireError,
)
from tests.cases import every_case

VECTORS = {
    path.stem: json.loads(path.read_text("utf-8")) for path in (Path(__file__).parent / "vectors").glob("*.json")
}
LEAVES = tuple(contract.CONTRACT.declarations)
OF_TEMPLES = tuple(each.leaf for each in contract.CONTRACT if each.place is contract.Place.TEMPLE)


def vectors(kind: str) -> list[Any]:
    return [(leaf, vector) for leaf, file in sorted(VECTORS.items()) for vector in file[kind]]


def payload(vector: dict[str, str]) -> bytes:
    return bytes.fromhex(vector["payload_hex"]) if "payload_hex" in vector else vector["payload"].encode()


# -- golden vectors --


def test_every_declared_message_has_vectors_good_and_bad() -> None:
    assert set(VECTORS) == set(LEAVES)
    assert all(file["topic"] == leaf and file["good"] and file["bad"] for leaf, file in VECTORS.items())


@every_case("leaf", LEAVES)
def test_every_declared_field_has_a_good_vector_that_fills_it_and_a_bad_one_that_breaks_it(leaf: str) -> None:
    refusals = [refusal(leaf, payload(vector)) for vector in VECTORS[leaf]["bad"]]
    for each in contract.CONTRACT.declarations[leaf].fields:
        assert any(vector["message"].get(each.name) is not None for vector in VECTORS[leaf]["good"]), each.name
        assert any(re.match(rf"{leaf}\.{each.name}\b", text) for text in refusals), each.name


def refusal(leaf: str, data: bytes) -> str:
    with pytest.raises(WireError) as caught:
        contract.decode(leaf, data)
    return str(caught.value)


@every_case(("leaf", "vector"), vectors("good"))
def test_a_good_payload_is_read_and_written_in_the_one_way(leaf: str, vector: dict[str, Any]) -> None:
    message = contract.decode(leaf, payload(vector))
    assert json.loads(contract.encode(message)) == vector["message"]
    assert message.leaf == leaf


@every_case(("leaf", "vector"), vectors("bad"))
def test_a_bad_payload_is_refused_with_its_reason(leaf: str, vector: dict[str, str]) -> None:
    with pytest.raises(WireError) as caught:
        contract.decode(leaf, payload(vector))
    assert vector["error"] in str(caught.value)
    assert len(str(caught.value)) < 400
    assert str(caught.value).isprintable()


# -- any bytes --

leaves = st.sampled_from(LEAVES)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)


def read(leaf: str, data: bytes) -> None:
    try:
        message = contract.decode(leaf, data)
    except WireError:
        return
    contract.encode(message)


@given(leaves, st.binary(max_size=300))
def test_bytes_of_any_kind_give_a_message_or_a_wire_error(leaf: str, data: bytes) -> None:
    read(leaf, data)


@every_case("leaf", LEAVES)
@every_case(
    "data",
    [
        b"[" * 100_000,
        b'{"v":' * 100_000,
        b'{"v": 1, "seq": ' + b"9" * 5_000 + b"}",
        b'{"v": ' + b"9" * 5_000 + b"}",
        b'{"v": 1e999, "seq": -1e999}',
        b'{"v": 1, "seq": NaN}',
        b'{"v": 1, "v": 1}',
        b'"' + b"x" * 1_000_000 + b'"',
        b'{"v": 1, "\\ud800": "\\u202e\\u0000"}',
        b"\xef\xbb\xbf{}",
        b"\x00" * 1_000,
        b"",
    ],
    ids=lambda data: f"{data[:12]!r} of {len(data)}",
)
def test_what_exhausts_other_readers_is_a_wire_error_in_one_line(leaf: str, data: bytes) -> None:
    with pytest.raises(WireError) as caught:
        contract.decode(leaf, data)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


BROKEN = 400
"""Broken copies of good payloads for each leaf, beside hypothesis's examples."""


@every_case("leaf", LEAVES)
def test_a_good_payload_that_a_line_broke_gives_a_message_or_a_wire_error(leaf: str) -> None:
    chance = random.Random(leaf)
    good = [payload(vector) for vector in VECTORS[leaf]["good"]]
    for _ in range(BROKEN):
        data = bytearray(chance.choice(good))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data) + 1)
            upto = min(len(data), at + chance.choice((0, 1, 2, 8, 32)))
            telling = [b"", data[at:upto] * 2, b"{", b"}", b'"', b"null", b"-1", b"1e99", b"\xff", b"\\u0000", b"[]"]
            data[at:upto] = chance.choice(telling)
        read(leaf, bytes(data))


@given(leaves, json_values)
def test_json_of_any_kind_gives_a_message_or_a_wire_error(leaf: str, value: Any) -> None:
    read(leaf, json.dumps(value).encode())


@given(st.data())
def test_a_good_payload_with_one_field_exchanged_gives_a_message_or_a_wire_error(data: st.DataObject) -> None:
    leaf = data.draw(leaves)
    value = json.loads(payload(data.draw(st.sampled_from(VECTORS[leaf]["good"]))))
    value[data.draw(st.sampled_from(sorted(value)))] = data.draw(json_values)
    read(leaf, json.dumps(value).encode())


@given(st.data())
def test_a_good_payload_with_one_byte_exchanged_gives_a_message_or_a_wire_error(data: st.DataObject) -> None:
    leaf = data.draw(leaves)
    good = bytearray(payload(data.draw(st.sampled_from(VECTORS[leaf]["good"]))))
    good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    read(leaf, bytes(good))


# -- round trips --

ids = st.binary(min_size=16, max_size=16).map(bytes.hex)
gods = st.sampled_from(God)
seqs = st.integers(1, contract.MAX_SEQ)
times = st.integers(-(10**13), 10**14).map(lambda ms: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms))
words = st.from_regex(r"[a-z][a-z0-9_]{0,31}", fullmatch=True)
texts = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=64)
results = st.dictionaries(st.text(max_size=10), st.integers() | st.text(max_size=10), max_size=4)

facts = st.integers(0, 10**9) | st.floats(0, contract.MAX_FACT)
findings = st.builds(Finding, words, st.dictionaries(words.filter(lambda name: name != "code"), facts, max_size=4))

messages = st.one_of(
    st.builds(
        Status,
        st.sampled_from(State),
        ids,
        st.sampled_from(Kind),
        texts,
        st.sampled_from(Timing),
        st.fixed_dictionaries({god: st.sampled_from(Beam) for god in God}),
        st.none() | ids,
        st.none() | st.sampled_from(Trouble),
        st.lists(st.builds(Notice, words, times), max_size=contract.MOST_NOTICES).map(tuple),
    ),
    st.builds(
        Token,
        ids,
        seqs,
        ids,
        gods,
        times,
        st.floats(0, contract.MAX_WIDTH_MS),
        st.frozensets(words, max_size=16),
        st.booleans(),
    ),
    st.builds(
        Count,
        ids,
        st.integers(0, contract.MAX_SEQ),
        st.fixed_dictionaries({god: st.integers(0, 2**40) for god in God}),
    ),
    st.builds(Ack, ids, seqs, st.none() | ids, st.none() | times),
    st.builds(
        Command,
        ids,
        st.sampled_from(CommandName),
        times,
        seq=st.none() | seqs,
        god=st.none() | gods,
        notice=st.none() | words,
    ),
    st.builds(Reply, ids, st.booleans(), st.none() | results, st.none() | texts, st.none() | words),
    st.builds(
        Findings,
        ids,
        times,
        st.sampled_from(Emitters),
        st.dictionaries(words, st.none() | facts, max_size=4),
        st.fixed_dictionaries({god: st.lists(findings, max_size=3).map(tuple) for god in God}),
    ),
    st.builds(Changed, ids, st.integers(0, contract.MAX_SEQ)),
)


@given(messages)
def test_what_is_written_is_read_back(message: contract.Message) -> None:
    assert contract.decode(message.leaf, contract.encode(message)) == message


# -- topics --


@given(st.from_regex(r"[a-z0-9][a-z0-9-]{0,31}", fullmatch=True), st.sampled_from(OF_TEMPLES))
def test_a_topic_names_its_temple_and_its_leaf(temple: str, leaf: str) -> None:
    assert contract.parse_topic(contract.topic(temple, leaf)) == (temple, leaf)


@given(st.text(max_size=60))
def test_any_text_is_a_topic_or_a_wire_error(text: str) -> None:
    try:
        temple, leaf = contract.parse_topic(text)
    except WireError:
        return
    assert contract.topic(temple, leaf) == text


@every_case("name", ["a", "templo-", "a--b", "9-", "x" * 32])
def test_a_name_may_end_with_a_hyphen_but_not_start_with_one(name: str) -> None:
    assert contract.temple_name(name) == name
    if len(name) < 32:
        with pytest.raises(WireError, match=contract.NAME_EXPECTED):
            contract.temple_name(f"-{name}")


@every_case("name", ["", "-templo", "Templo", "templo/mayor", "a+b", "#", "templo\n", "é", "x" * 33])
def test_a_name_that_could_not_be_a_temples_is_refused(name: str) -> None:
    with pytest.raises(WireError, match="temple name is"):
        contract.temple_name(name)
    with pytest.raises(WireError):
        contract.topic(name, "token")


def test_a_leaf_that_is_none_is_refused() -> None:
    with pytest.raises(WireError, match="topic leaf is 'changed'"):
        contract.topic("templo", "changed")
    with pytest.raises(WireError, match="topic leaf is 'chaged'"):
        contract.decode("chaged", b"{}")


def test_a_tables_topic_holds_its_id_and_never_a_join_code() -> None:
    assert contract.table_topic("0" * 32) == f"templo-tables/{'0' * 32}/changed"
    for text in ("", "ABC234", "+", "#", "0" * 31, "0" * 32 + "/x"):
        with pytest.raises(WireError, match="expected 32 hexadecimal digits"):
            contract.table_topic(text)
