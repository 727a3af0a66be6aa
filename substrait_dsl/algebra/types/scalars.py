"""The types without parameters."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from substrait_dsl.algebra.types.base import Number, Req, Type, WrittenAs

if TYPE_CHECKING:
    from substrait_dsl.algebra.expressions.literals import YearMonths  # noqa: F401  # in strings
    from substrait_dsl.fluent.expr import Expr


@attrs.frozen(cache_hash=True, repr=False)
class Boolean(Type, WrittenAs[bool]):
    """True or false; with NULL, three-valued logic."""

    keyword: ClassVar[str] = "boolean"
    short_name: ClassVar[str] = "bool"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Boolean, Req]: ...
        def __set__(self, instance: Any, value: Expr[Boolean, Req]) -> None: ...


@attrs.frozen(cache_hash=True, repr=False)
class I8(Type, Number[int]):
    """A signed integer of 8 bits."""

    keyword: ClassVar[str] = "i8"
    short_name: ClassVar[str] = "i8"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[I8, Req]: ...
        def __set__(self, instance: Any, value: Expr[I8, Req]) -> None: ...


@attrs.frozen(cache_hash=True, repr=False)
class I16(Type, Number[int]):
    """A signed integer of 16 bits."""

    keyword: ClassVar[str] = "i16"
    short_name: ClassVar[str] = "i16"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[I16, Req]: ...
        def __set__(self, instance: Any, value: Expr[I16, Req]) -> None: ...


@attrs.frozen(cache_hash=True, repr=False)
class I32(Type, Number[int]):
    """A signed integer of 32 bits."""

    keyword: ClassVar[str] = "i32"
    short_name: ClassVar[str] = "i32"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[I32, Req]: ...
        def __set__(self, instance: Any, value: Expr[I32, Req]) -> None: ...


@attrs.frozen(cache_hash=True, repr=False)
class I64(Type, Number[int]):
    """A signed integer of 64 bits."""

    keyword: ClassVar[str] = "i64"
    short_name: ClassVar[str] = "i64"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[I64, Req]: ...
        def __set__(self, instance: Any, value: Expr[I64, Req]) -> None: ...


@attrs.frozen(cache_hash=True, repr=False)
class FP32(Type, Number[float]):
    """A 4-byte IEEE 754 number."""

    keyword: ClassVar[str] = "fp32"
    short_name: ClassVar[str] = "fp32"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[FP32, Req]: ...
        def __set__(self, instance: Any, value: Expr[FP32, Req]) -> None: ...


@attrs.frozen(cache_hash=True, repr=False)
class FP64(Type, Number[float]):
    """An 8-byte IEEE 754 number."""

    keyword: ClassVar[str] = "fp64"
    short_name: ClassVar[str] = "fp64"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[FP64, Req]: ...
        def __set__(self, instance: Any, value: Expr[FP64, Req]) -> None: ...


@attrs.frozen(cache_hash=True, repr=False)
class String(Type, WrittenAs[str]):
    """A Unicode string of any length."""

    keyword: ClassVar[str] = "string"
    short_name: ClassVar[str] = "str"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[String, Req]: ...
        def __set__(self, instance: Any, value: Expr[String, Req]) -> None: ...


@attrs.frozen(cache_hash=True, repr=False)
class Binary(Type, WrittenAs[bytes]):
    """A string of bytes of any length."""

    keyword: ClassVar[str] = "binary"
    short_name: ClassVar[str] = "vbin"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Binary, Req]: ...
        def __set__(self, instance: Any, value: Expr[Binary, Req]) -> None: ...


@attrs.frozen(cache_hash=True, repr=False)
class Date(Type, WrittenAs[dt.date]):
    """A day of the proleptic Gregorian calendar, years 1000 to 9999."""

    keyword: ClassVar[str] = "date"
    short_name: ClassVar[str] = "date"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Date, Req]: ...
        def __set__(self, instance: Any, value: Expr[Date, Req]) -> None: ...


@attrs.frozen(cache_hash=True, repr=False)
class IntervalYear(Type, WrittenAs["YearMonths"]):
    """A span of years and months."""

    keyword: ClassVar[str] = "interval_year"
    short_name: ClassVar[str] = "iyear"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[IntervalYear, Req]: ...
        def __set__(self, instance: Any, value: Expr[IntervalYear, Req]) -> None: ...


@attrs.frozen(cache_hash=True, repr=False)
class UUID(Type, WrittenAs[uuid.UUID]):
    """A universally unique identifier, 16 bytes."""

    keyword: ClassVar[str] = "uuid"
    short_name: ClassVar[str] = "uuid"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[UUID, Req]: ...
        def __set__(self, instance: Any, value: Expr[UUID, Req]) -> None: ...
