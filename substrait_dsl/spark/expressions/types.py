"""Types to and from Spark SQL: schemas, single types, and the type text that casts are written with.

Spark has fewer types than Substrait. A type whose values all fit another one's exactly becomes that one
(``precision_timestamp<3>`` is stored in microseconds, ``varchar<n>`` as a string); its own rules, such as a length,
are for expressions to keep. What would lose values or meaning is refused by name.

Specification: https://substrait.io/types/type_classes/ and https://spark.apache.org/docs/latest/sql-ref-datatypes.html.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import UNSIGNED_BITS, UNSIGNED_URN, refuse_deep_types
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError
from substrait_dsl.spark.session.engines import ENGINE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import DataType, StructType

MICROSECONDS: Literal[6] = 6
"""The number of fractional digits of a second that Spark stores."""


class _Atom(NamedTuple):
    """A Spark type without types inside: its class in ``pyspark.sql.types``, its SQL name, its parameters."""

    python: str
    sql: str
    parameters: tuple[int, ...] = ()

    @property
    def data_type(self) -> DataType:
        from pyspark.sql import types

        result: DataType = getattr(types, self.python)(*self.parameters)
        return result

    @property
    def text(self) -> str:
        return f"{self.sql}({','.join(map(str, self.parameters))})" if self.parameters else self.sql


ATOMS: Mapping[t.Type, _Atom] = {
    t.Boolean(): _Atom("BooleanType", "BOOLEAN"),
    t.I8(): _Atom("ByteType", "TINYINT"),
    t.I16(): _Atom("ShortType", "SMALLINT"),
    t.I32(): _Atom("IntegerType", "INT"),
    t.I64(): _Atom("LongType", "BIGINT"),
    t.FP32(): _Atom("FloatType", "FLOAT"),
    t.FP64(): _Atom("DoubleType", "DOUBLE"),
    t.String(): _Atom("StringType", "STRING"),
    t.Binary(): _Atom("BinaryType", "BINARY"),
    t.Date(): _Atom("DateType", "DATE"),
    t.PrecisionTimestamp(MICROSECONDS): _Atom("TimestampNTZType", "TIMESTAMP_NTZ"),
    t.PrecisionTimestampTZ(MICROSECONDS): _Atom("TimestampType", "TIMESTAMP_LTZ"),
    t.IntervalDay(MICROSECONDS): _Atom("DayTimeIntervalType", "INTERVAL DAY TO SECOND"),
    t.IntervalYear(): _Atom("YearMonthIntervalType", "INTERVAL YEAR TO MONTH"),
}
"""The types that Spark has under another name: read in both directions."""


class Unsigned(NamedTuple):
    """How Spark stores an unsigned integer: in a signed type that has all its values."""

    stored_as: t.Type
    largest: int


UNSIGNED: Mapping[t.Type, Unsigned] = {
    t.UserDefined(UNSIGNED_URN, name): Unsigned(stored_as, 2 ** UNSIGNED_BITS[name] - 1)
    for name, stored_as in (("u8", t.I16()), ("u16", t.I32()), ("u32", t.I64()), ("u64", t.Decimal(20, 0)))
}


def storage_type(type_: t.Type) -> t.Type:
    """Return the type in which Spark stores the values of a type: a signed one for unsigned integers."""
    unsigned = UNSIGNED.get(type_.as_required())
    return type_ if unsigned is None else unsigned.stored_as.with_nullability(type_.nullable)


PARTIQL_URN = "extension:substrait_dsl:partiql"

_DYNAMIC: Mapping[t.Type, _Atom] = {t.UserDefined(PARTIQL_URN, "dynamic"): _Atom("VariantType", "VARIANT")}
"""Types of the library's own extensions. A column of them is declared; no Spark type is read as one."""

_REFUSED_FROM_SPARK: Mapping[str, str] = {
    "CalendarIntervalType": "use a year-month and a day-time interval column instead",
    "DayTimeIntervalType": "cast it to INTERVAL DAY TO SECOND",
    "GeographyType": "convert it to well-known binary",
    "GeometryType": "convert it to well-known binary",
    "NullType": "cast it to the type that its values should have",
    "StringType": "only the collation UTF8_BINARY compares strings as Substrait does",
    "TimeType": f"cast it to TIME({MICROSECONDS})",
    "UserDefinedType": "use the type that it is stored as",
    "VariantType": "extract the values with try_variant_get, cast it to string, or declare it as partiql.DYNAMIC",
    "YearMonthIntervalType": "cast it to INTERVAL YEAR TO MONTH",
}
"""Spark types that Substrait has no equal for, in whole or for some parameters, and what to do."""


def to_spark(schema: NamedStruct) -> StructType:
    """Write a schema as the Spark schema that holds its rows.

    Args:
        schema: the fields, with any nesting; an unnamed nested struct gets its positions as names.

    Returns:
        A ``StructType`` with the same names, order and nullability at every level. Digits after the second widen to
        Spark's six; ``varchar``, ``fixedchar`` and ``uuid`` become strings, ``fixedbinary`` becomes binary,
        unsigned integers become the next wider type.

    Raises:
        UnsupportedError: Spark cannot hold the values of a type; the error names the type and the path to the column.
    """
    return _struct_to_spark(schema.row_type(), "")


@refuse_deep_types()
def from_spark(schema: StructType) -> NamedStruct:
    """Read the schema that a Spark schema stands for.

    Args:
        schema: a ``pyspark.sql.types.StructType``; ``CHAR`` and ``VARCHAR`` keep their lengths.

    Returns:
        The fields in order, with nullability and nested names.

    Raises:
        InvalidArgumentError: the argument is no ``StructType``.
        UnsupportedError: a Spark type has no Substrait equal; the error names it and the path to the column.
    """
    from pyspark.sql.types import StructType

    if not isinstance(schema, StructType):
        raise InvalidArgumentError(f"expected a pyspark.sql.types.StructType, got {schema!r}")
    return NamedStruct(
        tuple(Field(field.name, _from_spark(field.dataType, field.nullable, field.name)) for field in schema.fields)
    )


def type_to_spark(type_: t.Type) -> DataType:
    """Give the Spark type that holds the values of a type; the outermost nullability belongs to its column.

    Raises:
        UnsupportedError: Spark cannot hold the values of the type.
    """
    return _to_spark(type_, "")


@refuse_deep_types()
def type_from_spark(type_: DataType, nullable: bool) -> t.Type:
    """Read the type that a Spark type stands for, with the nullability that its column would say.

    Raises:
        UnsupportedError: the Spark type has no Substrait equal.
    """
    return _from_spark(type_, nullable, "")


@lru_cache(maxsize=4096)
def spark_sql_type(type_: t.Type) -> str:
    """Write a type as Spark SQL writes it in a cast: ``DECIMAL(15,2)``, ``ARRAY<BIGINT>``, ``STRUCT<f0: INT>``.

    Struct fields are called ``f0``, ``f1``, ...: in expressions a position is the name, and no name a user chose
    gets into SQL text. Nullability has no place in a cast.

    Raises:
        UnsupportedError: Spark cannot hold the values of the type.
    """
    _refuse_variation(type_, "")
    match type_:
        case t.Struct(types=types):
            fields = (f"f{position}: {spark_sql_type(inner)}" for position, inner in enumerate(types))
            return f"STRUCT<{', '.join(fields)}>"
        case t.List(element=element):
            return f"ARRAY<{spark_sql_type(element)}>"
        case t.Map(key=key, value=value):
            _refuse_map_inside(key, "")
            return f"MAP<{spark_sql_type(key)}, {spark_sql_type(value)}>"
        case _:
            return _atom(type_, "").text


def holds(type_: t.Type, part: type[t.Type] | tuple[type[t.Type], ...]) -> bool:
    """Whether a type is of some kind, or has such a one inside."""
    match type_:
        case t.Struct(types=types):
            inside: tuple[t.Type, ...] = types
        case t.List(element=element):
            inside = (element,)
        case t.Map(key=key, value=value):
            inside = (key, value)
        case _:
            inside = ()
    return isinstance(type_, part) or any(holds(inner, part) for inner in inside)


# Substrait -> Spark


def _to_spark(type_: t.Type, path: str) -> DataType:
    from pyspark.sql.types import ArrayType, MapType

    _refuse_variation(type_, path)
    match type_:
        case t.Struct():
            return _struct_to_spark(type_, path)
        case t.List(element=element):
            return ArrayType(_to_spark(element, f"{path}[]"), element.nullable)
        case t.Map(key=key, value=value):
            # A nullable key type holds no more keys than a required one: no key is ever NULL.
            key_type = _to_spark(key, f"{path}[key]")
            _refuse_map_inside(key, f"{path}[key]")
            return MapType(key_type, _to_spark(value, f"{path}[value]"), value.nullable)
        case _:
            return _atom(type_, path).data_type


def _struct_to_spark(type_: t.Struct, path: str) -> StructType:
    from pyspark.sql.types import StructField, StructType

    names = type_.field_names
    return StructType(
        [
            StructField(name, _to_spark(inner, _member(path, name)), inner.nullable)
            for name, inner in zip(names, type_.types, strict=True)
        ]
    )


def _atom(type_: t.Type, path: str) -> _Atom:
    """The Spark type for a type without types inside."""
    required = type_.as_required()
    match required:
        case t.Decimal():
            return _Atom("DecimalType", "DECIMAL", required.parameters)
        case t.FixedChar() | t.VarChar() | t.UUID():
            return ATOMS[t.String()]
        case t.FixedBinary():
            return ATOMS[t.Binary()]
        case t.PrecisionTime(precision=digits) if digits <= MICROSECONDS:
            return _Atom("TimeType", "TIME", (digits,))
        case (
            t.PrecisionTimestamp(precision=digits)
            | t.PrecisionTimestampTZ(precision=digits)
            | t.IntervalDay(precision=digits)
        ) if digits <= MICROSECONDS:
            return ATOMS[type(required)(MICROSECONDS)]
        case _ if required in ATOMS:
            return ATOMS[required]
        case _ if required in UNSIGNED:
            return _atom(UNSIGNED[required].stored_as, path)
        case _ if required in _DYNAMIC:
            return _DYNAMIC[required]
        case _:
            raise UnsupportedError(f"{ENGINE} has no type for {type_}", hint=_way_out(required), path=path)


def _way_out(type_: t.Type) -> str | None:
    """Return the hint for a type that Spark cannot store."""
    match type_:
        case t.PrecisionTime() | t.PrecisionTimestamp() | t.PrecisionTimestampTZ() | t.IntervalDay():
            digits = f"{ENGINE} keeps {MICROSECONDS} digits after the second"
            return f"{digits}; cast it to {type(type_)(MICROSECONDS)}, what is read in the data and in the schema"
        case t.IntervalCompound():
            return f"use an {t.IntervalYear()} and an {t.IntervalDay(MICROSECONDS)} column instead"
        case t.UserDefined():
            return (
                f"cast it to a type that {ENGINE} has; of user-defined types it has only unsigned integers and DYNAMIC"
            )
        case t.Func():
            return "a function is an argument, not a value that a column could hold"
        case t.Unbound():
            return "give the column a type first"
        case _:
            return None


def _refuse_variation(type_: t.Type, path: str) -> None:
    """Refuse a type variation: Spark has one form of each type, and functions may treat a variation differently."""
    if type_.variation is not None:
        raise UnsupportedError(
            f'{ENGINE} has no variations of types, got {type_} with "{type_.variation.name}" of {type_.variation.urn}',
            hint="cast it to the type without the variation",
            path=path,
        )


def _refuse_map_inside(key: t.Type, path: str) -> None:
    """Refuse a map in a map's key, on any level: Spark compares keys, and maps cannot be compared."""
    if "MAP<" in spark_sql_type(key):  # the text holds no names but ours
        raise UnsupportedError(f"the keys of a {ENGINE} map cannot be or hold maps, got {key}", path=path)


# Spark -> Substrait


@cache
def _readings() -> Mapping[DataType, t.Type]:
    """`ATOMS` read backwards."""
    return {atom.data_type: type_ for type_, atom in ATOMS.items()}


def _from_spark(type_: DataType, nullable: bool, path: str) -> t.Type:
    read = _readings().get(type_)
    return (read or _composite(type_, path)).with_nullability(nullable)


def _composite(type_: DataType, path: str) -> t.Type:
    """The type for a Spark type with parameters or with types inside."""
    from pyspark.sql import types as spark

    try:
        match type_:
            case spark.DecimalType(precision=precision, scale=scale):
                return t.Decimal(precision, scale)  # type: ignore[type-var]  # its validator checks what the literal type says
            case spark.CharType(length=length):
                return t.FixedChar(length)
            case spark.VarcharType(length=length):
                return t.VarChar(length)
            case spark.TimeType(precision=digits) if digits <= MICROSECONDS:
                return t.PrecisionTime(digits)  # type: ignore[type-var]  # its validator checks what the literal type says
            case spark.ArrayType(elementType=element, containsNull=nullable):
                return t.List(_from_spark(element, nullable, f"{path}[]"))
            case spark.MapType(keyType=key, valueType=value, valueContainsNull=nullable):
                key_type = _from_spark(key, False, f"{path}[key]")
                return t.Map(key_type, _from_spark(value, nullable, f"{path}[value]"))
            case spark.StructType(fields=fields):
                types = (_from_spark(f.dataType, f.nullable, _member(path, f.name)) for f in fields)
                return t.Struct(tuple(types), tuple(field.name for field in fields))
            case _:
                raise _refuse_type(type_, path)
    except InvalidArgumentError as error:  # parameters that the Substrait type cannot have
        raise _refuse_type(type_, path, error.message) from error


def _refuse_type(type_: DataType, path: str, reason: str | None = None) -> UnsupportedError:
    hints = (_REFUSED_FROM_SPARK.get(family.__name__) for family in type(type_).__mro__)
    because = f": {reason}" if reason else ""
    return UnsupportedError(
        f"the Spark type {type_.simpleString()} has no Substrait type{because}",
        hint=next(filter(None, hints), None),
        path=path,
    )


def _member(path: str, name: str) -> str:
    """The path to a field of the struct at `path`; a row itself has none."""
    return f"{path}.{name}" if path else name
