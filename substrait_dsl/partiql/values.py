"""PartiQL's values as Python objects, and the tuples of bindings, which are no values.

====================  =====================================================
a value of PartiQL    in Python
====================  =====================================================
null, missing         ``None``, `MISSING`
boolean               ``bool``
number                ``int``, ``decimal.Decimal``, ``float``
text, symbol          ``str``
blob                  ``bytes``
date, timestamp       ``datetime.date``, ``datetime.datetime``
list                  ``tuple``
bag                   `Bag`
struct                `Struct`
====================  =====================================================

Bags are equal as multisets, structs as multisets of attributes, whose names may repeat; numbers by what they are worth.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from math import isnan
from typing import Any, Final, Literal, TypeAlias, Union, get_args

import attrs

from substrait_dsl.errors import (
    InvalidArgumentError,
    SchemaError,
    UnsupportedError,
    error_context,
    quote,
    require_choice,
    shorten,
)

MAX_LEVELS = 128
"""The maximal nesting depth of expressions and values."""

CollectionType = Literal["bag", "list"]
"""Whether a collection is unordered or ordered."""


class Missing(Enum):
    """The type of `MISSING`."""

    MISSING = "MISSING"

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing.MISSING
"""The value of an absent attribute, which is not even null."""

Value: TypeAlias = Union[
    Missing, bool, int, float, Decimal, str, bytes, dt.date, "tuple[Value, ...]", "Bag", "Struct", None
]
"""A value; ``datetime.datetime`` is a ``datetime.date``."""


def _items(items: Sequence[Value]) -> tuple[Value, ...]:
    if not isinstance(items, tuple | list):
        raise InvalidArgumentError(f"the elements of a Bag are a tuple, got {shorten(repr(items))}")
    return tuple(items)


def _fields(fields: Sequence[tuple[str, Value]]) -> tuple[tuple[str, Value], ...]:
    """Return names and values. Raises `InvalidArgumentError` for other objects."""
    if not isinstance(fields, tuple | list):
        raise InvalidArgumentError(f"expected a tuple of pairs of a name and a value, got {shorten(repr(fields))}")
    for field in fields:
        if not (isinstance(field, tuple) and len(field) == 2):
            raise InvalidArgumentError(f"expected a pair of a name and a value, got {shorten(repr(field))}")
        _attribute(field[0])
    return tuple(fields)


@attrs.frozen(eq=False, repr=False)
class Bag:
    """An unordered collection; a value may occur several times."""

    items: tuple[Value, ...] = attrs.field(default=(), converter=_items)

    def __iter__(self) -> Iterator[Value]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __eq__(self, other: object) -> bool:
        return same(self, other) if isinstance(other, Bag) else NotImplemented

    def __hash__(self) -> int:
        return hash(key(self))

    def __repr__(self) -> str:
        return f"Bag({list(self.items)!r})"


@attrs.frozen(eq=False, repr=False)
class Struct:
    """Attributes, in an order that equality disregards; a name may occur several times."""

    fields: tuple[tuple[str, Value], ...] = attrs.field(default=(), converter=_fields)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(name for name, _ in self.fields)

    def get(self, name: str) -> Value:
        """Return the first attribute of a name; `MISSING`, if there is none."""
        return next((value for other, value in self.fields if other == name), MISSING)

    def __getitem__(self, name: str) -> Value:
        for other, value in self.fields:
            if other == name:
                return value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.fields)

    def __eq__(self, other: object) -> bool:
        return same(self, other) if isinstance(other, Struct) else NotImplemented

    def __hash__(self) -> int:
        return hash(key(self))

    def __repr__(self) -> str:
        return f"Struct({list(self.fields)!r})"


def _bind_fields(fields: Sequence[tuple[str, Value]]) -> tuple[tuple[str, Value], ...]:
    return tuple((name, value if _is_value(value) else to_value(value)) for name, value in _fields(fields))


def _is_value(candidate: object) -> bool:
    match candidate:
        case Bag(items=items) | (tuple() as items):
            return all(map(_is_value, items))
        case Struct(fields=fields):
            return all(_is_value(value) for _, value in fields)
        case _:
            return candidate is None or isinstance(
                candidate, Missing | bool | int | float | Decimal | str | bytes | dt.date
            )


@attrs.frozen
class BindingTuple:
    """Variables and their values, without duplicate names. It is not a value: only `scan` and `map_values` bridge."""

    fields: tuple[tuple[str, Value], ...] = attrs.field(converter=_bind_fields, eq=lambda fields: key(Struct(fields)))

    def __attrs_post_init__(self) -> None:
        require_distinct([name for name, _ in self.fields], "a binding tuple")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(name for name, _ in self.fields)

    def __getitem__(self, name: str) -> Value:
        return dict(self.fields)[name]


def _tuples(tuples: Sequence[BindingTuple]) -> tuple[BindingTuple, ...]:
    if not isinstance(tuples, tuple | list) or not all(isinstance(one, BindingTuple) for one in tuples):
        raise InvalidArgumentError(f"expected a tuple of BindingTuples, got {shorten(repr(tuples))}")
    return tuple(tuples)


@attrs.frozen
class BindingsData:
    """A bindings collection: a bag or a list of binding tuples."""

    collection_type: CollectionType
    tuples: tuple[BindingTuple, ...] = attrs.field(converter=_tuples, eq=False)
    _compared: Hashable = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        require_choice("collection type", self.collection_type, get_args(CollectionType))
        keys = [key(Struct(one.fields)) for one in self.tuples]
        compared = tuple(keys) if self.collection_type == "list" else frozenset(Counter(keys).items())
        object.__setattr__(self, "_compared", compared)

    def __iter__(self) -> Iterator[BindingTuple]:
        return iter(self.tuples)

    def __len__(self) -> int:
        return len(self.tuples)


def require_distinct(names: Sequence[str], where: str) -> None:
    """Raise `SchemaError` if a name occurs twice."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise SchemaError(f"{where} cannot have the name {quote(twice)} more than once; its names are {quote(names)}")


def to_value(obj: object, level: int = 0) -> Value:
    """Convert plain Python objects to a value: a dict becomes a struct, a list or tuple a list.

    Raises:
        InvalidArgumentError: it is no value: a set, an attribute whose name is no text, a decimal that is not finite.
        UnsupportedError: it is nested more than `MAX_LEVELS` levels deep; `level` is how deep it is already.
    """
    if level > MAX_LEVELS:
        raise UnsupportedError(f"values nested more than {MAX_LEVELS} levels deep are not supported")
    match obj:
        case Decimal() if not obj.is_finite():
            raise InvalidArgumentError(f"a decimal is finite, got {obj}", hint=f'write float("{obj}")')
        case None | Missing() | bool():
            return obj
        case int() | float() | Decimal() | str() | bytes() | dt.date():
            return obj if type(obj) in _SCALARS else _exactly(obj)
        case Bag(items=items):
            return Bag(tuple(to_value(item, level + 1) for item in items))
        case Struct(fields=fields):
            return Struct(tuple((_attribute(name), to_value(value, level + 1)) for name, value in fields))
        case Mapping():
            return Struct(tuple((_attribute(name), to_value(value, level + 1)) for name, value in obj.items()))
        case list() | tuple():
            return tuple(to_value(item, level + 1) for item in obj)
        case _:
            raise InvalidArgumentError(
                f"a value is None, MISSING, a bool, number, text, bytes, date, datetime, list, dict, Bag or Struct, "
                f"got {shorten(repr(obj))}",
                hint="a bag is partiql.bag([...])"
                if isinstance(obj, set | frozenset)
                else "list_of, bag_of and struct make values of expressions"
                if hasattr(type(obj), "expression")
                else None,
            )


_SCALARS: tuple[type, ...] = (int, float, Decimal, str, bytes, dt.datetime, dt.date)
"""The classes of scalars, subclasses first."""


def _exactly(obj: Any) -> Value:
    """Convert a scalar of a subclass, such as an `IntEnum` or ``numpy.float64``, to one of Python's own classes.

    Raises `InvalidArgumentError` if that is another value: a moment with nanoseconds, or none.
    """
    class_ = next(class_ for class_ in _SCALARS if isinstance(obj, class_))
    try:
        match obj:
            case dt.datetime():
                timestamp = dt.datetime.combine(obj.date(), obj.time(), obj.tzinfo)
                exact: Value = timestamp.replace(fold=obj.fold)
            case dt.date():
                exact = dt.date(obj.year, obj.month, obj.day)
            case str():
                exact = str.__str__(obj)  # `str` of a member of an enumeration is its name
            case _:
                exact = class_(obj)
    except (TypeError, ValueError):  # pandas' NaT is a datetime
        exact = MISSING
    if exact is MISSING or not (exact == obj or exact != exact):
        raise InvalidArgumentError(f"{shorten(repr(obj))} is no {class_.__name__} of Python's")
    return exact


def _attribute(name: object) -> str:
    if not isinstance(name, str):
        raise InvalidArgumentError(f"the names of attributes are texts, got {shorten(repr(name))}")
    return name if type(name) is str else str.__str__(name)


def levels(value: Value) -> int:
    """Return the nesting depth of a value: 0 for a number."""
    match value:
        case Struct(fields=fields):
            inside = [inner for _, inner in fields]
        case Bag(items=items) | (tuple() as items):
            inside = list(items)
        case _:
            return 0
    return 1 + max(map(levels, inside), default=0)


def bag(items: Iterable[object]) -> Bag:
    """Return a bag of these values: ``bag([{"x": 1}, {"x": 2}])``.

    Raises `InvalidArgumentError` for what is no values one after the other: a dict, a text, a set, a number.
    """
    with error_context(verb="bag"):
        _require_several(items, "the elements of a bag")
        return Bag(tuple(to_value(item, 1) for item in items))


def _require_several(items: object, what: str) -> None:
    """Raise `InvalidArgumentError` for an object that is not iterable, or is one value itself."""
    if isinstance(items, str | bytes | Mapping | Struct | set | frozenset) or not isinstance(items, Iterable):
        hint = f"[{shorten(repr(items), 40)}] is a list of it" if isinstance(items, str | Mapping | Struct) else None
        raise InvalidArgumentError(f"{what} are a list, got {shorten(repr(items))}", hint=hint)


def elements(value: Value) -> Sequence[Value]:
    """Return the elements of a bag or list; any other value is the only element."""
    return value if isinstance(value, tuple) else value.items if isinstance(value, Bag) else (value,)


def _ids(ids: Iterable[object]) -> tuple[Value, ...]:
    _require_several(ids, "the record ids of a table")
    return tuple(map(to_value, ids))


@attrs.frozen
class Table:
    """A value with a record id for each element.

    Raises `InvalidArgumentError` if there are more or fewer ids than elements.
    """

    value: Value = attrs.field(converter=to_value)
    record_ids: tuple[Value, ...] = attrs.field(converter=_ids)

    def __attrs_post_init__(self) -> None:
        expected = len(elements(self.value))
        if len(self.record_ids) != expected:
            raise InvalidArgumentError(f"a table of {expected} elements has {len(self.record_ids)} record ids")


Data: TypeAlias = "Mapping[str, Value | Table | Sequence[object] | Mapping[str, object]]"
"""Data of the interpreter, by name: values, or Python objects."""


def same(left: object, right: object) -> bool:
    """Whether two values are equal: null equals null, missing equals missing, 1 equals 1.0."""
    return key(left) == key(right)


def key(value: object) -> Hashable:
    """Return a key to compare and hash a value by."""
    match value:
        case bool() | None | Missing():
            return type(value).__name__, value
        case float() if isnan(value):
            return "number", "nan"
        case Decimal() if value.is_nan():
            return "number", "nan"
        case int() | float() | Decimal():
            return "number", value
        case _:
            nested = _nested_key(value, key)
            return (type(value).__name__, value) if nested is None else nested


def order_key(value: object) -> tuple[Any, ...]:
    """Return a key to sort values by: booleans, numbers, dates, timestamps, strings, blobs, lists, structs, bags."""
    match value:
        case bool():
            return 0, value
        case int() | float() | Decimal():
            return (1, 1) if value != value else (1, 0, value)  # NaN, which Python finds in no order, comes last
        case dt.datetime():
            return 3, value.tzinfo is not None, value
        case dt.date():
            return 2, value
        case str():
            return 4, value
        case bytes():
            return 5, value
        case tuple():
            return 6, tuple(map(order_key, value))
        case Struct(fields=fields):
            return 7, tuple(sorted((name, order_key(inner)) for name, inner in fields))
        case Bag(items=items):
            return 8, tuple(sorted(map(order_key, items)))
        case _:
            return (-1,)


def identity(value: object) -> Hashable:
    """Return a key that distinguishes 1 from 1.0, and orders of attributes."""
    match value:
        case Struct(fields=fields):
            return "Struct", tuple((name, identity(inner)) for name, inner in fields)
        case Bag(items=items):
            return "Bag", tuple(map(identity, items))
        case tuple():
            return "list", tuple(map(identity, value))
        case dt.datetime():
            return "datetime", value.isoformat()  # zones of the same offset are the same
        case _:
            return type(value).__name__, repr(value)


def _nested_key(value: object, inside: Callable[[object], Hashable]) -> Hashable | None:
    match value:
        case Struct(fields=fields):
            return "Struct", frozenset(Counter((name, inside(inner)) for name, inner in fields).items())
        case Bag(items=items):
            return "Bag", frozenset(Counter(map(inside, items)).items())
        case tuple():
            return "list", tuple(map(inside, value))
        case _:
            return None
