"""How a message is declared, and what follows from the declarations: codecs, topics, who sends and who reads.

A message is a frozen dataclass whose annotations say what each field takes; `message` adds what the broker needs to
know. A `Catalogue` is a set of such messages. This module knows none of them.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import (
    Annotated,
    Any,
    ClassVar,
    Never,
    Protocol,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from templo.contract.field_types import (
    AnyObject,
    ByGod,
    FieldType,
    Member,
    Time,
    Truth,
    WireError,
    refuse,
    temple_name,
)
from templo.contract.vocabulary import God
from templo.quoting import quoted

VERSION = 1
ROOT = "templo"
TABLES_ROOT = "templo-tables"
MAX_PAYLOAD = 16_384
"""Bytes. A longer payload is refused unread."""


class Role(StrEnum):
    """Who publishes and reads messages. A watcher, which only reads, reads all of them."""

    TEMPLE = "temple"
    COMPANION = "companion"
    HOME_ASSISTANT = "homeassistant"


class Place(StrEnum):
    """The first level of a message's topic; the second names what the message is about, the third is its leaf."""

    TEMPLE = ROOT
    TABLE = TABLES_ROOT


class AnyMessage(Protocol):
    """What every message has: the last level of its topic."""

    leaf: ClassVar[str]


_T = TypeVar("_T")
_C = TypeVar("_C", bound=type)

OMITTED = "omitted"
Omitted: TypeAlias = Annotated[_T | None, OMITTED]
"""A field that is left out of the payload where it is None. Any other field that is None is written as null."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message, as its payload holds it."""

    name: str
    type: FieldType[Any]
    default: object
    """What a payload without this field, or with null in it, stands for; `MISSING` where there must be a value."""
    omitted: bool
    """Whether it is left out where it has its default; any other field is always written."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """Everything about one message that is the same for all payloads."""

    type: type
    leaf: str
    place: Place
    sent_by: tuple[Role, ...]
    read_by: tuple[Role, ...]
    retained: bool
    qos: int
    about: str
    fields: tuple[Field, ...]
    """In the order of the dataclass, in which they are read."""
    read: Callable[[Mapping[str, object]], Any]
    write: Callable[[Any], dict[str, object]]

    @property
    def topic(self) -> str:
        """The message's topic, as documentation shows it."""
        return f"{self.place}/<{self.place.name.lower()}>/{self.leaf}"


_DECLARED: dict[type, Declaration] = {}


def message(
    *,
    about: str,
    sent_by: tuple[Role, ...],
    read_by: tuple[Role, ...],
    retained: bool = False,
    place: Place = Place.TEMPLE,
    written_first: tuple[str, ...] = (),
) -> Callable[[_C], _C]:
    """Declare the frozen dataclass below as a message of the contract, at QoS 1.

    `about` says in a few words what it is, `sent_by` and `read_by` who may publish it and who needs it. Fields are
    written in the dataclass's order, except those that `written_first` names.
    """

    def declare(cls: _C) -> _C:
        declared = fields_of(cls)
        order = (*written_first, *(each.name for each in declared if each.name not in written_first))
        _DECLARED[cls] = Declaration(
            type=cls,
            leaf=cls.leaf,  # type: ignore[attr-defined] # a message without one fails here, when it is imported
            place=place,
            sent_by=sent_by,
            read_by=read_by,
            retained=retained,
            qos=1,
            about=about,
            fields=declared,
            read=_reader(cls, declared),
            write=_writer(sorted(declared, key=lambda each: order.index(each.name))),
        )
        return cls

    return declare


class Catalogue:
    """A set of messages, each read and written by its declaration."""

    def __init__(self, messages: Iterable[type]) -> None:
        """Take classes that `message` declared."""
        self.declarations: dict[str, Declaration] = {}
        for declaration in (_DECLARED[each] for each in messages):
            if other := self.declarations.get(declaration.leaf):
                names = declaration.type.__name__, other.type.__name__
                raise ValueError(f"{names[0]}.leaf is {declaration.leaf!r}, as {names[1]}'s is; expected another")
            self.declarations[declaration.leaf] = declaration
        self._temple_leaves = tuple(each.leaf for each in self if each.place is Place.TEMPLE)

    def __iter__(self) -> Iterator[Declaration]:
        return iter(self.declarations.values())

    def encode(self, message: AnyMessage) -> bytes:
        """Write a message as its payload."""
        return _to_json(self.declarations[message.leaf].write(message)).encode()

    def decode(self, leaf: str, payload: bytes) -> Any:
        """Read the payload that arrived under a leaf; raises `WireError` for anything that is not that message."""
        declaration = self.declarations.get(leaf)
        if declaration is None:
            refuse("topic leaf", leaf, f"one of {', '.join(self.declarations)}")
        if len(payload) > MAX_PAYLOAD:
            raise WireError(f"{leaf} is {len(payload)} bytes long; expected at most {MAX_PAYLOAD}")
        try:
            value = json.loads(payload.decode("utf-8"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise WireError(f"{leaf} is {quoted(payload)}; expected a JSON object ({error})") from None
        if not isinstance(value, dict):
            refuse(leaf, value, "a JSON object")
        version = value.get("v")
        if type(version) is not int or version != VERSION:
            refuse(f"{leaf}.v", version, f"{VERSION}, the version that this end speaks")
        return declaration.read(value)

    def topic(self, temple: str, leaf: str) -> str:
        """Return the topic of one leaf of a temple; raises `WireError` if the name cannot be a temple's."""
        if leaf not in self._temple_leaves:
            raise WireError(f"topic leaf is {leaf!r}; expected one of {', '.join(self._temple_leaves)}")
        return f"{ROOT}/{temple_name(temple)}/{leaf}"

    def parse_topic(self, text: str) -> tuple[str, str]:
        """Return the temple and the leaf that a topic names; raises `WireError`."""
        levels = text.split("/")
        if len(levels) != 3 or levels[0] != ROOT or levels[2] not in self._temple_leaves:
            refuse("topic", text, f"{ROOT}/<temple>/<{'|'.join(self._temple_leaves)}>")
        return temple_name(levels[1]), levels[2]

    def read_by(self, role: Role) -> list[Declaration]:
        """Return what one role needs to read."""
        return [each for each in self if role in each.read_by]


def declaration_of(message: type[AnyMessage]) -> Declaration:
    """Return how a message was declared.

    >>> from templo.contract import Token
    >>> declaration_of(Token).leaf
    'token'
    """
    return _DECLARED[message]


def json_path(message: type[AnyMessage], name: str, *inner: str) -> str:
    """Return the path to a value in a message's payload, for templates of other programs: ``totals.tlaloc``.

    Raises `ValueError` if the message has no such field.

    >>> from templo.contract import Count
    >>> json_path(Count, "totals", "tlaloc")
    'totals.tlaloc'
    """
    known = [each.name for each in _DECLARED[message].fields]
    if name not in known:
        raise ValueError(f"{message.leaf} has no field {name!r}; expected one of {', '.join(known)}")
    return ".".join((name, *inner))


def fields_of(cls: type) -> tuple[Field, ...]:
    """Return the fields that a dataclass declares, by its annotations."""
    hints = get_type_hints(cls, include_extras=True)
    return tuple(_field(cls, each.name, hints[each.name], each.default) for each in fields(cls))


class Record(FieldType[Any]):
    """A JSON object with declared fields, inside a message."""

    def __init__(self, cls: type, expected: str) -> None:
        self._cls = cls
        self._fields = fields_of(cls)
        self.expected = expected

    def read(self, where: str, value: object) -> Any:
        if not isinstance(value, dict):
            refuse(where, value, self.expected)
        return self._cls(*(each.type.read(f"{where}.{each.name}", value.get(each.name)) for each in self._fields))

    def write(self, value: Any) -> dict[str, object]:
        return {each.name: each.type.write(getattr(value, each.name)) for each in self._fields}


def _field(cls: type, name: str, hint: object, default: object) -> Field:
    omitted = OMITTED in getattr(hint, "__metadata__", ())
    found, nullable = _field_type(hint)
    if found is None:
        raise TypeError(
            f"{cls.__name__}.{name} is {hint}; expected a type that has a FieldType, or Annotated with one"
        )
    if not (nullable or omitted):
        default = MISSING
    elif default is MISSING:
        default = None
    return Field(name, found, default, omitted)


def _field_type(hint: Any) -> tuple[FieldType[Any] | None, bool]:
    """Return how an annotation's values are read, and whether None is one of them."""
    arguments = get_args(hint)
    if get_origin(hint) is Annotated:
        for each in arguments[1:]:
            if isinstance(each, FieldType):
                return each, False
        return _field_type(arguments[0])
    if get_origin(hint) in (Union, types.UnionType):
        inner = [each for each in arguments if each is not types.NoneType]
        return (_field_type(inner[0])[0], len(inner) < len(arguments)) if len(inner) == 1 else (None, False)
    if get_origin(hint) is not None:
        if arguments == (str, object):
            return AnyObject(), False
        each, _ = _field_type(arguments[1]) if arguments[0] is God else (None, False)
        return (ByGod(each) if each else None), False
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return Member(hint), False
    plain: dict[Any, FieldType[Any]] = {bool: Truth(), datetime: Time()}
    return plain.get(hint), False


def _reader(cls: Any, declared: tuple[Field, ...]) -> Callable[[Mapping[str, object]], Any]:
    plan = tuple((each.name, f"{cls.leaf}.{each.name}", each.type.read, each.default) for each in declared)

    def read(values: Mapping[str, object]) -> Any:
        arguments = []
        for name, where, read_value, default in plan:
            value = values.get(name)
            arguments.append(read_value(where, value) if value is not None or default is MISSING else default)
        return cls(*arguments)

    return read


def _writer(declared: Iterable[Field]) -> Callable[[Any], dict[str, object]]:
    plan = tuple((each.name, each.type.writer, each.omitted, each.default) for each in declared)

    def write(message: Any) -> dict[str, object]:
        values: dict[str, object] = {"v": VERSION}
        for name, write_value, omitted, default in plan:
            value = getattr(message, name)
            if omitted and value == default:
                continue
            values[name] = value if write_value is None or value is None else write_value(value)
        return values

    return write


def _refuse_constant(text: str) -> Never:
    raise ValueError(f"{text} is no JSON number")


_to_json = json.JSONEncoder(separators=(",", ":")).encode
