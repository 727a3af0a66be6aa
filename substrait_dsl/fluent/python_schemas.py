"""Columns that classes of Python declare: dataclasses, TypedDict, NamedTuple, models of attrs, pydantic and pandera.

What an annotation says is what a value of it is, as `lit` has it: `PYTHON_TYPES` is the table. A type of Substrait,
alone or beside a type of Python, says it exactly::

    @dataclass
    class Order:
        id: int  # i64
        price: Annotated[decimal.Decimal, sd.Decimal(15, 2)]
        comment: str | None  # string?

What a class says of values beyond their types, such as bounds, patterns and defaults, is no part of a schema.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NewType,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import attrs
import typing_extensions

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions.intervals import YearMonths
from substrait_dsl.algebra.expressions.literals import NATURAL_TYPES
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.errors import InvalidArgumentError, SchemaError, UnsupportedError, error_context
from substrait_dsl.fluent.schemas import Schema, as_type

PYTHON_TYPES: Mapping[type, t.Type] = {
    **{class_: type_ for class_, type_ in NATURAL_TYPES.items() if class_ is not YearMonths},
    dt.datetime: t.PrecisionTimestamp(6),  # without a zone; values with one do not fit it
}
"""What the annotations of Python's own classes become."""

_PYDANTIC_TYPES: Mapping[str, t.Type] = {
    "AwareDatetime": t.PrecisionTimestampTZ(6),
    "FutureDate": t.Date(),
    "NaiveDatetime": t.PrecisionTimestamp(6),
    "PastDate": t.Date(),
}
"""Classes of pydantic that say more of a time than Python's do."""

_LISTS = (list, Sequence)
_MAPS = (dict, Mapping)
_QUALIFIERS = (Final, Required, typing_extensions.Required, typing_extensions.ReadOnly)
_MAY_LACK = (NotRequired, typing_extensions.NotRequired)

Annotations = Mapping[str, tuple[Any, Sequence[Any]]]
"""By the names of columns: an annotation, and the metadata beside it."""


def columns_of_class(class_: Any) -> NamedStruct | None:
    """Return the columns that a class of Python declares; None for what is no class that declares any.

    Raises:
        InvalidArgumentError: an annotation that says no type of Substrait.
        SchemaError: a class that holds itself, or a name that Python does not know.
    """
    if not isinstance(class_, type):
        return None
    return _columns(class_, "", ())


def _columns(class_: type, path: str, owners: tuple[type, ...]) -> NamedStruct | None:
    """Return the columns of a class that stands at a path, inside of the classes that own it."""
    annotations = _annotations(class_)
    if annotations is None:
        return None
    if class_ in owners:
        raise SchemaError(f"{class_.__name__} holds itself, but a type has no end then", names=[class_.__name__])
    fields = []
    for name, (annotation, metadata) in annotations.items():
        place = f"{path}.{name}" if path else name
        with error_context(place="column", name=place, names=[class_.__name__]):
            fields.append(Field(name, _Reader(place, (*owners, class_)).type_of(annotation, metadata)))
    return NamedStruct(tuple(fields))


def _annotations(class_: type) -> Annotations | None:
    """Return the annotations of the columns of a class; None if it declares none."""
    fields = getattr(class_, "__pydantic_fields__", None)
    if isinstance(fields, Mapping):
        return {name: (field.annotation, field.metadata) for name, field in fields.items()}
    is_dict = is_typeddict(class_) or typing_extensions.is_typeddict(class_)
    names = None if is_dict else _names(class_)
    if names is None and not is_dict:
        return None
    try:
        hints = get_type_hints(class_, include_extras=True)
    except NameError as error:
        raise SchemaError(
            f"{class_.__name__}: the annotation {error.name} is not known where the class is written",
            names=[class_.__name__, error.name],
            hint="import it in the module itself; a class in a function sees the names of the module alone",
        ) from None
    may_lack = getattr(class_, "__optional_keys__", ()) if is_dict else ()
    return {
        name: (NotRequired[hints[name]] if name in may_lack else hints[name], ())
        for name in (hints if names is None else names)
    }


def _names(class_: type) -> list[str] | None:
    """Return the names of the columns of a class that declares them by annotations; None for another."""
    if dataclasses.is_dataclass(class_):
        return [field.name for field in dataclasses.fields(class_)]
    if attrs.has(class_) and not issubclass(class_, t.Type):
        return [attribute.name for attribute in attrs.fields(class_)]
    if issubclass(class_, tuple) and hasattr(class_, "_field_defaults"):
        return list(class_._fields)  # type: ignore[attr-defined]  # which classes with defaults of fields have
    return None


@dataclasses.dataclass(frozen=True)
class _Reader:
    """Reads the annotations of a column."""

    path: str
    owners: tuple[type, ...]

    def type_of(self, annotation: Any, metadata: Sequence[Any] = ()) -> t.Type:
        """Return the type that an annotation says, with the metadata beside it."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self.type_of(arguments[0], (*arguments[1:], *metadata))
        if origin in _QUALIFIERS:
            return self.type_of(arguments[0], metadata)
        if origin in _MAY_LACK:
            raise InvalidArgumentError(
                "a column stands in every row, but the key may be missing", hint="write a type | None in its place"
            )
        if isinstance(annotation, NewType):
            return self.type_of(annotation.__supertype__, metadata)
        if isinstance(annotation, typing_extensions.TypeAliasType):
            return self.type_of(annotation.__value__, metadata)
        if origin in (Union, UnionType):
            return self._one_of(arguments, metadata)
        if (declared := _declared(metadata)) is not None:
            return declared
        return self._plain(annotation, origin, arguments, metadata)

    def _one_of(self, options: Sequence[Any], metadata: Sequence[Any]) -> t.Type:
        present = [option for option in options if option is not NoneType]
        if len(present) > 1:
            names = ", ".join(getattr(option, "__name__", str(option)) for option in present)
            raise InvalidArgumentError(f"a column has one type, and not one of {names}")
        return self.type_of(present[0], metadata).as_nullable()

    def _plain(self, annotation: Any, origin: Any, arguments: Sequence[Any], metadata: Sequence[Any]) -> t.Type:
        """Return the type of an annotation that is no union, and has no type of Substrait beside it."""
        if origin is Literal:
            return self._derive_literal_type(arguments)
        if origin in _LISTS or (origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis):
            return t.List(self.type_of(arguments[0]))
        if origin in _MAPS:
            return t.Map(self.type_of(arguments[0]), self.type_of(arguments[1]))
        if annotation is decimal.Decimal:
            return _decimal(metadata)
        if isinstance(annotation, type):
            return self._derive_class_type(annotation)
        return _derive_library_type(annotation)

    def _derive_class_type(self, class_: type) -> t.Type:
        if (type_ := PYTHON_TYPES.get(class_)) is not None:
            return type_
        if class_.__module__.startswith("pydantic.") and class_.__name__ in _PYDANTIC_TYPES:
            return _PYDANTIC_TYPES[class_.__name__]
        if issubclass(class_, Schema):
            return class_.__struct__.row_type()
        if issubclass(class_, enum.Enum):
            return _derive_enum_type(class_)
        columns = _columns(class_, self.path, self.owners)
        return columns.row_type() if columns is not None else _derive_library_type(class_)

    def _derive_literal_type(self, values: Sequence[Any]) -> t.Type:
        """Return the type of a ``Literal``: that of its values."""
        classes = {type(value): None for value in values if value is not None}
        if len(classes) != 1:
            raise InvalidArgumentError("a column has one type, and not one of several", got=Literal[tuple(values)])
        type_ = self.type_of(next(iter(classes)))
        return type_.as_nullable() if None in values else type_


def _declared(metadata: Sequence[Any]) -> t.Type | None:
    """Return the type of Substrait that stands beside a type of Python, if one does."""
    for each in metadata:
        class_ = get_origin(each) or each
        if isinstance(each, t.Type) or (isinstance(class_, type) and issubclass(class_, t.Type | t.Nullable)):
            return as_type(each)
    return None


def _decimal(metadata: Sequence[Any]) -> t.Type:
    """Return the decimal whose digits pydantic's constraints say. Raises `InvalidArgumentError` without them."""
    precision, scale = (
        next((found for each in metadata if (found := getattr(each, name, None)) is not None), None)
        for name in ("max_digits", "decimal_places")
    )
    if precision is None or scale is None:
        raise InvalidArgumentError(
            "decimal.Decimal does not say how many digits it has",
            hint="write Annotated[decimal.Decimal, Decimal(15, 2)], of the type of this library",
        )
    return t.Decimal(precision, scale)


def _derive_enum_type(class_: type) -> t.Type:
    """Return the type of the members of an enum. Raises `InvalidArgumentError` if they are no texts and no numbers."""
    for base in (str, int):
        if issubclass(class_, base):
            return PYTHON_TYPES[base]
    raise InvalidArgumentError(
        f"the members of {class_.__name__} are no texts and no numbers", hint="make it an enum.StrEnum or IntEnum"
    )


_NO_COUNTERPARTS: Mapping[object, str] = {
    set: "write list[...]: of sets there are none",
    frozenset: "write list[...]: of sets there are none",
    tuple: "write a dataclass or a NamedTuple for a struct, list[...] for a list",
    list: "write list[...], with the type of its elements",
    dict: "write dict[..., ...], with the types of keys and values, or a TypedDict for a struct",
    complex: "write two columns",
    object: "write the type that the values have",
    Any: "write the type that the values have",
}
"""What to write for annotations that say no type of Substrait."""


def _derive_library_type(annotation: Any) -> t.Type:
    """Return the type that an annotation of this library says. Raises `InvalidArgumentError` for any other."""
    if (hint := _NO_COUNTERPARTS.get(get_origin(annotation) or annotation)) is not None:
        name = str(annotation) if get_args(annotation) else getattr(annotation, "__name__", str(annotation))
        raise InvalidArgumentError(f"{name} says no type of Substrait", hint=hint)
    return as_type(annotation)


# pandera


def columns_of_pandera(schema: Any) -> NamedStruct:
    """Return the columns of a schema or a model of pandera: their names, types and nullability.

    Raises:
        InvalidArgumentError: a column without a type, or one that need not be there.
        UnsupportedError: a type that pandera has of no library that says its Arrow type.
    """
    declared = schema.to_schema() if hasattr(schema, "to_schema") else schema
    return NamedStruct(tuple(Field(name, _pandera_type(name, column)) for name, column in declared.columns.items()))


def _pandera_type(name: Any, column: Any) -> t.Type:
    from substrait_dsl.arrow.exported import exported_type

    with error_context(place="column", name=str(name)):
        if not isinstance(name, str) or column.regex or not column.required:
            raise InvalidArgumentError("a column has one name, and stands in every row")
        if column.dtype is None:
            raise InvalidArgumentError("it has no type", hint="give the column of pandera one")
        type_ = exported_type(getattr(column.dtype, "type", column.dtype))
        if type_ is None:
            raise UnsupportedError(f"the type {column.dtype} of pandera has no Substrait type")
        return type_.with_nullability(bool(column.nullable))
