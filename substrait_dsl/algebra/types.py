"""The types of Substrait: one class per kind, frozen instances as values.

A class (`I64`, `Decimal`, `Nullable`) is what a schema class is annotated with and what a type checker sees; an
instance (`I64(nullable=True)`, `Decimal(15, 2)`) is what a schema holds. The two are the same classes, so that
``price: Decimal[L[15], L[2]]`` and ``Decimal(15, 2)`` cannot drift apart.

Specification: https://substrait.io/types/type_classes/ and ``type.proto``.
"""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self

import attrs
from typing_extensions import TypeVar

from substrait_dsl.errors import InvalidArgumentError

if TYPE_CHECKING:  # the annotations on a schema class are descriptors: reading one gives a typed expression
    from substrait_dsl.algebra.expressions.literals import Compound, DaySeconds, YearMonths  # noqa: F401  # in strings
    from substrait_dsl.fluent.expr import Expr

MAX_LENGTH = 2**31 - 1

Precision38 = Literal[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
    21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38,
]  # fmt: skip
Scale38 = Literal[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
    21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38,
]  # fmt: skip
SubSecond = Literal[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]


class Null:
    """Type-level mark of a nullable expression; `Req` is its subtype."""


class Req(Null):
    """Type-level mark of a required expression: accepted wherever a nullable one is."""


V = TypeVar("V")


class WrittenAs(Generic[V]):
    """Type-level mark of a type whose values are written as Python values of type `V`."""

    __slots__ = ()


class Number(WrittenAs[V]):
    """Type-level mark of a type that arithmetic takes and gives back: all numbers but decimals."""

    __slots__ = ()


P = TypeVar("P", bound=Precision38, default=Any)
S = TypeVar("S", bound=Scale38, default=Any)
T = TypeVar("T", bound=SubSecond, default=Any)
Length = TypeVar("Length", bound=int, default=Any)
Item = TypeVar("Item", default=Any)
Key = TypeVar("Key", default=Any)
Value = TypeVar("Value", default=Any)
Row = TypeVar("Row", default=Any)
D = TypeVar("D", bound="Type")


@attrs.frozen
class TypeVariation:
    """A variation of a type, named by the extension (URN) that declares it."""

    urn: str
    name: str


@attrs.frozen
class Type:
    """Base of all types. `nullable` says whether NULL is a value of the type; required is the default."""

    keyword: ClassVar[str]
    """The type's name in the text syntax."""
    short_name: ClassVar[str]
    """The type's name in function signatures (``add:i64_i64``)."""

    nullable: bool = attrs.field(default=False, kw_only=True)
    variation: TypeVariation | None = attrs.field(default=None, kw_only=True)
    _other: Type | None = attrs.field(default=None, init=False, eq=False, repr=False)

    def with_nullability(self, nullable: bool) -> Self:
        """This type with its outermost nullability set."""
        if self.nullable is nullable:
            return self
        if self._other is None:
            other = attrs.evolve(self, nullable=nullable)
            object.__setattr__(self, "_other", other)
            object.__setattr__(other, "_other", self)
        return self._other  # type: ignore[return-value]  # the other one is always of this very class

    def as_nullable(self) -> Self:
        """This type, nullable."""
        return self.with_nullability(True)

    def as_required(self) -> Self:
        """This type, required."""
        return self.with_nullability(False)

    def matches(self, other: Type) -> bool:
        """Whether both are the same type, the outermost nullability aside (inner nullability counts)."""
        return self == other or self.as_required() == other.as_required()

    @property
    def parameters(self) -> tuple[int | Type | str, ...]:
        """What stands between ``<`` and ``>`` in the text syntax."""
        return ()

    def __str__(self) -> str:
        # decimal<15,2> but struct<i64, string?>: integers close together, types apart.
        separator = ", " if any(isinstance(p, Type) for p in self.parameters) else ","
        inside = separator.join(str(parameter) for parameter in self.parameters)
        variation = f"[{self.variation.name}]" if self.variation else ""
        return f"{self.keyword}{variation}{f'<{inside}>' if inside else ''}{'?' if self.nullable else ''}"


class Nullable(Generic[D]):
    """``Nullable[String]`` in a schema class: a column that may be NULL."""

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[D, Null]: ...
        def __set__(self, instance: Any, value: Expr[D, Null]) -> None: ...


def _between(low: int, high: int) -> Any:
    """A validator for an integer parameter in a closed range."""

    def check(instance: Type, attribute: attrs.Attribute[int], value: object) -> None:
        if type(value) is not int or not low <= value <= high:
            raise InvalidArgumentError(
                f"{attribute.name} of {type(instance).__name__} must be an integer from {low} to {high}, got {value!r}"
            )

    return check


def _is_type(instance: Type, attribute: attrs.Attribute[Any], value: object) -> None:
    """A validator for a type parameter (or a tuple of them) that must be a type instance."""
    for part in value if isinstance(value, tuple) else (value,):
        if not isinstance(part, Type):
            raise InvalidArgumentError(
                f"{attribute.name} of {type(instance).__name__} must be a type such as I64(), got {part!r}"
            )


@attrs.frozen
class Boolean(Type, WrittenAs[bool]):
    """True or false; with NULL, three-valued logic."""

    keyword: ClassVar[str] = "boolean"
    short_name: ClassVar[str] = "bool"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Boolean, Req]: ...
        def __set__(self, instance: Any, value: Expr[Boolean, Req]) -> None: ...


@attrs.frozen
class I8(Type, Number[int]):
    """A signed integer of 8 bits."""

    keyword: ClassVar[str] = "i8"
    short_name: ClassVar[str] = "i8"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[I8, Req]: ...
        def __set__(self, instance: Any, value: Expr[I8, Req]) -> None: ...


@attrs.frozen
class I16(Type, Number[int]):
    """A signed integer of 16 bits."""

    keyword: ClassVar[str] = "i16"
    short_name: ClassVar[str] = "i16"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[I16, Req]: ...
        def __set__(self, instance: Any, value: Expr[I16, Req]) -> None: ...


@attrs.frozen
class I32(Type, Number[int]):
    """A signed integer of 32 bits."""

    keyword: ClassVar[str] = "i32"
    short_name: ClassVar[str] = "i32"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[I32, Req]: ...
        def __set__(self, instance: Any, value: Expr[I32, Req]) -> None: ...


@attrs.frozen
class I64(Type, Number[int]):
    """A signed integer of 64 bits."""

    keyword: ClassVar[str] = "i64"
    short_name: ClassVar[str] = "i64"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[I64, Req]: ...
        def __set__(self, instance: Any, value: Expr[I64, Req]) -> None: ...


@attrs.frozen
class FP32(Type, Number[float]):
    """A 4-byte IEEE 754 number."""

    keyword: ClassVar[str] = "fp32"
    short_name: ClassVar[str] = "fp32"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[FP32, Req]: ...
        def __set__(self, instance: Any, value: Expr[FP32, Req]) -> None: ...


@attrs.frozen
class FP64(Type, Number[float]):
    """An 8-byte IEEE 754 number."""

    keyword: ClassVar[str] = "fp64"
    short_name: ClassVar[str] = "fp64"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[FP64, Req]: ...
        def __set__(self, instance: Any, value: Expr[FP64, Req]) -> None: ...


@attrs.frozen
class String(Type, WrittenAs[str]):
    """A Unicode string of any length."""

    keyword: ClassVar[str] = "string"
    short_name: ClassVar[str] = "str"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[String, Req]: ...
        def __set__(self, instance: Any, value: Expr[String, Req]) -> None: ...


@attrs.frozen
class Binary(Type, WrittenAs[bytes]):
    """A string of bytes of any length."""

    keyword: ClassVar[str] = "binary"
    short_name: ClassVar[str] = "vbin"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Binary, Req]: ...
        def __set__(self, instance: Any, value: Expr[Binary, Req]) -> None: ...


@attrs.frozen
class Date(Type, WrittenAs[dt.date]):
    """A day of the proleptic Gregorian calendar, years 1000 to 9999."""

    keyword: ClassVar[str] = "date"
    short_name: ClassVar[str] = "date"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Date, Req]: ...
        def __set__(self, instance: Any, value: Expr[Date, Req]) -> None: ...


@attrs.frozen
class IntervalYear(Type, WrittenAs["YearMonths"]):
    """A span of years and months."""

    keyword: ClassVar[str] = "interval_year"
    short_name: ClassVar[str] = "iyear"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[IntervalYear, Req]: ...
        def __set__(self, instance: Any, value: Expr[IntervalYear, Req]) -> None: ...


@attrs.frozen
class UUID(Type, WrittenAs[uuid.UUID]):
    """A universally unique identifier, 16 bytes."""

    keyword: ClassVar[str] = "uuid"
    short_name: ClassVar[str] = "uuid"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[UUID, Req]: ...
        def __set__(self, instance: Any, value: Expr[UUID, Req]) -> None: ...


@attrs.frozen
class FixedChar(Type, WrittenAs[str], Generic[Length]):
    """A Unicode string of exactly `length` characters (code points)."""

    keyword: ClassVar[str] = "fixedchar"
    short_name: ClassVar[str] = "fchar"

    length: Length = attrs.field(validator=_between(1, MAX_LENGTH))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.length,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[FixedChar[Length], Req]: ...
        def __set__(self, instance: Any, value: Expr[FixedChar[Length], Req]) -> None: ...


@attrs.frozen
class VarChar(Type, WrittenAs[str], Generic[Length]):
    """A Unicode string of at most `length` characters (code points)."""

    keyword: ClassVar[str] = "varchar"
    short_name: ClassVar[str] = "vchar"

    length: Length = attrs.field(validator=_between(1, MAX_LENGTH))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.length,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[VarChar[Length], Req]: ...
        def __set__(self, instance: Any, value: Expr[VarChar[Length], Req]) -> None: ...


@attrs.frozen
class FixedBinary(Type, WrittenAs[bytes], Generic[Length]):
    """A string of exactly `length` bytes."""

    keyword: ClassVar[str] = "fixedbinary"
    short_name: ClassVar[str] = "fbin"

    length: Length = attrs.field(validator=_between(1, MAX_LENGTH))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.length,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[FixedBinary[Length], Req]: ...
        def __set__(self, instance: Any, value: Expr[FixedBinary[Length], Req]) -> None: ...


@attrs.frozen
class IntervalDay(Type, WrittenAs["dt.timedelta | DaySeconds"], Generic[T]):
    """A span of days and seconds with `precision` digits after the second."""

    keyword: ClassVar[str] = "interval_day"
    short_name: ClassVar[str] = "iday"

    precision: T = attrs.field(validator=_between(0, 12))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.precision,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[IntervalDay[T], Req]: ...
        def __set__(self, instance: Any, value: Expr[IntervalDay[T], Req]) -> None: ...


@attrs.frozen
class IntervalCompound(Type, WrittenAs["Compound"], Generic[T]):
    """A span of years, months, days and seconds with `precision` digits after the second."""

    keyword: ClassVar[str] = "interval_compound"
    short_name: ClassVar[str] = "icompound"

    precision: T = attrs.field(validator=_between(0, 12))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.precision,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[IntervalCompound[T], Req]: ...
        def __set__(self, instance: Any, value: Expr[IntervalCompound[T], Req]) -> None: ...


@attrs.frozen
class PrecisionTime(Type, WrittenAs[dt.time], Generic[T]):
    """A time of day with `precision` digits after the second."""

    keyword: ClassVar[str] = "precision_time"
    short_name: ClassVar[str] = "pt"

    precision: T = attrs.field(validator=_between(0, 12))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.precision,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[PrecisionTime[T], Req]: ...
        def __set__(self, instance: Any, value: Expr[PrecisionTime[T], Req]) -> None: ...


@attrs.frozen
class PrecisionTimestamp(Type, WrittenAs[dt.datetime], Generic[T]):
    """A date and time without time zone, with `precision` digits after the second."""

    keyword: ClassVar[str] = "precision_timestamp"
    short_name: ClassVar[str] = "pts"

    precision: T = attrs.field(validator=_between(0, 12))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.precision,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[PrecisionTimestamp[T], Req]: ...
        def __set__(self, instance: Any, value: Expr[PrecisionTimestamp[T], Req]) -> None: ...


@attrs.frozen
class PrecisionTimestampTZ(Type, WrittenAs[dt.datetime], Generic[T]):
    """A point in time, with `precision` digits after the second."""

    keyword: ClassVar[str] = "precision_timestamp_tz"
    short_name: ClassVar[str] = "ptstz"

    precision: T = attrs.field(validator=_between(0, 12))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.precision,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[PrecisionTimestampTZ[T], Req]: ...
        def __set__(self, instance: Any, value: Expr[PrecisionTimestampTZ[T], Req]) -> None: ...


@attrs.frozen
class Decimal(Type, WrittenAs[int | decimal.Decimal], Generic[P, S]):
    """An exact number of at most `precision` digits (1 to 38), `scale` of them after the point."""

    keyword: ClassVar[str] = "decimal"
    short_name: ClassVar[str] = "dec"

    precision: P = attrs.field(validator=_between(1, 38))
    scale: S = attrs.field(validator=_between(0, 38))

    def __attrs_post_init__(self) -> None:
        if self.scale > self.precision:
            raise InvalidArgumentError(
                f"scale of Decimal must not exceed its precision, got Decimal({self.precision}, {self.scale})"
            )

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.precision, self.scale)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Decimal[P, S], Req]: ...
        def __set__(self, instance: Any, value: Expr[Decimal[P, S], Req]) -> None: ...


@attrs.frozen(cache_hash=True)
class Struct(Type, WrittenAs[tuple[Any, ...] | Mapping[str, Any]], Generic[Row]):
    """A tuple of values. `names`, where known, name the fields; they are not part of the type's identity."""

    keyword: ClassVar[str] = "struct"
    short_name: ClassVar[str] = "struct"

    types: tuple[Type, ...] = attrs.field(validator=_is_type)
    names: tuple[str, ...] | None = attrs.field(default=None, eq=False)

    def __attrs_post_init__(self) -> None:
        if self.names is not None and len(self.names) != len(self.types):
            raise InvalidArgumentError(f"Struct has {len(self.types)} fields but {len(self.names)} names")

    @classmethod
    def of(cls, fields: Mapping[str, Type], *, nullable: bool = False) -> Struct[Any]:
        """A struct type with named fields: ``Struct.of({"city": String(), "zip": String(nullable=True)})``."""
        return Struct(tuple(fields.values()), tuple(fields), nullable=nullable)

    @property
    def field_names(self) -> tuple[str, ...]:
        """The names of the fields; their positions, where they have none."""
        return self.names or tuple(str(position) for position in range(len(self.types)))

    @property
    def parameters(self) -> tuple[Type, ...]:
        return self.types

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Struct[Row], Req]: ...
        def __set__(self, instance: Any, value: Expr[Struct[Row], Req]) -> None: ...


@attrs.frozen(cache_hash=True)
class List(Type, WrittenAs[list[Any] | tuple[Any, ...]], Generic[Item]):
    """A list of values of one type."""

    keyword: ClassVar[str] = "list"
    short_name: ClassVar[str] = "list"

    element: Type = attrs.field(validator=_is_type)

    @property
    def parameters(self) -> tuple[Type, ...]:
        return (self.element,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[List[Item], Req]: ...
        def __set__(self, instance: Any, value: Expr[List[Item], Req]) -> None: ...


@attrs.frozen(cache_hash=True)
class Map(Type, WrittenAs[Mapping[Any, Any]], Generic[Key, Value]):
    """An unordered list of key-value pairs; keys may repeat but are never NULL."""

    keyword: ClassVar[str] = "map"
    short_name: ClassVar[str] = "map"

    key: Type = attrs.field(validator=_is_type)
    value: Type = attrs.field(validator=_is_type)

    @property
    def parameters(self) -> tuple[Type, ...]:
        return (self.key, self.value)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Map[Key, Value], Req]: ...
        def __set__(self, instance: Any, value: Expr[Map[Key, Value], Req]) -> None: ...


@attrs.frozen(cache_hash=True)
class Func(Type):
    """The type of a lambda: parameter types and the type it returns. It has no variations."""

    keyword: ClassVar[str] = "func"
    short_name: ClassVar[str] = "func"

    parameter_types: tuple[Type, ...] = attrs.field(validator=_is_type)
    return_type: Type = attrs.field(validator=_is_type)

    @property
    def parameters(self) -> tuple[Type, ...]:
        return (*self.parameter_types, self.return_type)

    def __str__(self) -> str:
        inputs = ", ".join(str(parameter) for parameter in self.parameter_types)
        left = inputs if len(self.parameter_types) == 1 else f"({inputs})"
        return f"func<{left} -> {self.return_type}>{'?' if self.nullable else ''}"


@attrs.frozen
class EnumParameter:
    """An enumeration value among the parameters of a user-defined type."""

    value: str

    def __str__(self) -> str:
        return self.value


TypeParameter = Type | bool | int | str | EnumParameter | None


@attrs.frozen(cache_hash=True)
class UserDefined(Type, WrittenAs[tuple[Any, ...]]):
    """A type that an extension declares: ``UserDefined("extension:io.substrait:functions_geometry", "geometry")``."""

    keyword: ClassVar[str] = "u!"
    short_name: ClassVar[str] = "u!"

    urn: str
    name: str
    type_parameters: tuple[TypeParameter, ...] = ()

    def __str__(self) -> str:
        inside = ", ".join(parameter_text(parameter) for parameter in self.type_parameters)
        variation = f"[{self.variation.name}]" if self.variation else ""
        return f"u!{self.name}{variation}{f'<{inside}>' if inside else ''}{'?' if self.nullable else ''}"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[UserDefined, Req]: ...
        def __set__(self, instance: Any, value: Expr[UserDefined, Req]) -> None: ...


@attrs.frozen
class Unbound(Type):
    """A type that is not known yet: a plan that holds one can be stored but not executed. It has no nullability."""

    keyword: ClassVar[str] = "unbound"
    short_name: ClassVar[str] = "unbound"


def parameter_text(parameter: TypeParameter) -> str:
    """A parameter of a user-defined type in the text syntax."""
    match parameter:
        case None:
            return "null"
        case bool():
            return "true" if parameter else "false"
        case str():
            escaped = parameter.replace("\\", "\\\\").replace("'", "\\'")
            return f"'{escaped}'"
        case _:
            return str(parameter)


SIMPLE_TYPES: tuple[type[Type], ...] = (
    Boolean, I8, I16, I32, I64, FP32, FP64, String, Binary, Date, IntervalYear, UUID, Unbound,
)  # fmt: skip
"""The types without parameters."""

PRECISION_TYPES = (IntervalDay, IntervalCompound, PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ)
"""The types with one parameter: digits after the second, 0 to 12."""

LENGTH_TYPES = (FixedChar, VarChar, FixedBinary)
"""The types with one parameter: a length of at least 1."""

INTEGER_RANGES: dict[type[Type], tuple[int, int]] = {
    kind: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for kind, bits in ((I8, 8), (I16, 16), (I32, 32), (I64, 64))
}
"""The integer types with their smallest and largest value."""


def struct_names(kind: Type) -> Iterator[str]:
    """The names below a type in depth-first order, as ``NamedStruct`` lists them; map keys before values.

    A struct whose fields have no names gets their positions.
    """
    match kind:
        case Struct():
            for name, inner in zip(kind.field_names, kind.types, strict=True):
                yield name
                yield from struct_names(inner)
        case List():
            yield from struct_names(kind.element)
        case Map():
            yield from struct_names(kind.key)
            yield from struct_names(kind.value)
        case _:
            return
