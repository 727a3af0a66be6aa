"""The types without parameters: `Type` has all their fields, so attrs need not make classes of them again."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import TYPE_CHECKING, Any, ClassVar

from substrait_dsl.algebra.types.base import NarrowerThan, Number, Req, Type, WrittenAs

if TYPE_CHECKING:
    from substrait_dsl.algebra.expressions.intervals import YearMonths  # noqa: F401  # in strings
    from substrait_dsl.algebra.types.sized import Decimal  # noqa: F401  # in strings
    from substrait_dsl.fluent.expr import Expr


class Boolean(Type, WrittenAs[bool]):
    """True or false; with NULL, three-valued logic.

    Specification: ``Type.Boolean``.

    Example:
        >>> print(sd.Boolean(nullable=True))
        boolean?
        >>> sd.lit(True, sd.Boolean(nullable=True))
        Expr(true: boolean?)
    """

    __slots__ = ()

    keyword: ClassVar[str] = "boolean"
    short_name: ClassVar[str] = "bool"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Boolean, Req]: ...
        def __set__(self, instance: Any, value: Expr[Boolean, Req]) -> None: ...


class I8(Type, Number[int], NarrowerThan["I16 | I32 | I64 | FP32 | FP64 | Decimal[Any, Any]"]):
    """A signed integer of 8 bits.

    Specification: ``Type.I8``.

    Example:
        >>> print(sd.I8(nullable=True))
        i8?
        >>> sd.lit(-128, sd.I8(nullable=True))
        Expr(-128: i8?)
    """

    __slots__ = ()

    keyword: ClassVar[str] = "i8"
    short_name: ClassVar[str] = "i8"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[I8, Req]: ...
        def __set__(self, instance: Any, value: Expr[I8, Req]) -> None: ...


class I16(Type, Number[int], NarrowerThan["I32 | I64 | FP32 | FP64 | Decimal[Any, Any]"]):
    """A signed integer of 16 bits.

    Specification: ``Type.I16``.

    Example:
        >>> print(sd.I16(nullable=True))
        i16?
        >>> sd.lit(300, sd.I16(nullable=True))
        Expr(300: i16?)
    """

    __slots__ = ()

    keyword: ClassVar[str] = "i16"
    short_name: ClassVar[str] = "i16"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[I16, Req]: ...
        def __set__(self, instance: Any, value: Expr[I16, Req]) -> None: ...


class I32(Type, Number[int], NarrowerThan["I64 | FP64 | Decimal[Any, Any]"]):
    """A signed integer of 32 bits.

    Specification: ``Type.I32``.

    Example:
        >>> print(sd.I32(nullable=True))
        i32?
        >>> sd.lit(70000, sd.I32(nullable=True))
        Expr(70000: i32?)
    """

    __slots__ = ()

    keyword: ClassVar[str] = "i32"
    short_name: ClassVar[str] = "i32"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[I32, Req]: ...
        def __set__(self, instance: Any, value: Expr[I32, Req]) -> None: ...


class I64(Type, Number[int], NarrowerThan["Decimal[Any, Any]"]):
    """A signed integer of 64 bits.

    Specification: ``Type.I64``.

    Example:
        >>> print(sd.I64(nullable=True))
        i64?
        >>> sd.lit(5, sd.I64(nullable=True))
        Expr(5: i64?)
    """

    __slots__ = ()

    keyword: ClassVar[str] = "i64"
    short_name: ClassVar[str] = "i64"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[I64, Req]: ...
        def __set__(self, instance: Any, value: Expr[I64, Req]) -> None: ...


class FP32(Type, Number[float], NarrowerThan["FP64"]):
    """A 4-byte IEEE 754 number.

    Specification: ``Type.FP32``.

    Example:
        >>> print(sd.FP32(nullable=True))
        fp32?
        >>> sd.lit(0.5, sd.FP32(nullable=True))
        Expr(0.5: fp32?)
    """

    __slots__ = ()

    keyword: ClassVar[str] = "fp32"
    short_name: ClassVar[str] = "fp32"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[FP32, Req]: ...
        def __set__(self, instance: Any, value: Expr[FP32, Req]) -> None: ...


class FP64(Type, Number[float]):
    """An 8-byte IEEE 754 number.

    Specification: ``Type.FP64``.

    Example:
        >>> print(sd.FP64(nullable=True))
        fp64?
        >>> sd.lit(0.5, sd.FP64(nullable=True))
        Expr(0.5: fp64?)
    """

    __slots__ = ()

    keyword: ClassVar[str] = "fp64"
    short_name: ClassVar[str] = "fp64"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[FP64, Req]: ...
        def __set__(self, instance: Any, value: Expr[FP64, Req]) -> None: ...


class String(Type, WrittenAs[str]):
    """A Unicode string of any length.

    Specification: ``Type.String``.

    Example:
        >>> print(sd.String(nullable=True))
        string?
        >>> sd.lit("Ada", sd.String(nullable=True))
        Expr('Ada': string?)
    """

    __slots__ = ()

    keyword: ClassVar[str] = "string"
    short_name: ClassVar[str] = "str"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[String, Req]: ...
        def __set__(self, instance: Any, value: Expr[String, Req]) -> None: ...


class Binary(Type, WrittenAs[bytes]):
    r"""A string of bytes of any length.

    Specification: ``Type.Binary``.

    Example:
        >>> print(sd.Binary(nullable=True))
        binary?
        >>> sd.lit(b"\x00", sd.Binary(nullable=True))
        Expr(x'00': binary?)
    """

    __slots__ = ()

    keyword: ClassVar[str] = "binary"
    short_name: ClassVar[str] = "vbin"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Binary, Req]: ...
        def __set__(self, instance: Any, value: Expr[Binary, Req]) -> None: ...


class Date(Type, WrittenAs[dt.date]):
    """A day of the proleptic Gregorian calendar, years 1000 to 9999.

    Specification: ``Type.Date``.

    Example:
        >>> import datetime as dt
        >>> print(sd.Date(nullable=True))
        date?
        >>> sd.lit(dt.date(2026, 1, 5), sd.Date(nullable=True))
        Expr(date '2026-01-05': date?)
    """

    __slots__ = ()

    keyword: ClassVar[str] = "date"
    short_name: ClassVar[str] = "date"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[Date, Req]: ...
        def __set__(self, instance: Any, value: Expr[Date, Req]) -> None: ...


class IntervalYear(Type, WrittenAs["YearMonths"]):
    """A span of years and months.

    Specification: ``Type.IntervalYear``.

    Example:
        >>> print(sd.IntervalYear(nullable=True))
        interval_year?
        >>> sd.lit(sd.YearMonths(1, 6), sd.IntervalYear(nullable=True))
        Expr(interval 'P1Y6M': interval_year?)
    """

    __slots__ = ()

    keyword: ClassVar[str] = "interval_year"
    short_name: ClassVar[str] = "iyear"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[IntervalYear, Req]: ...
        def __set__(self, instance: Any, value: Expr[IntervalYear, Req]) -> None: ...


class UUID(Type, WrittenAs[uuid.UUID]):
    """A universally unique identifier, 16 bytes.

    Specification: ``Type.UUID``.

    Example:
        >>> import uuid
        >>> print(sd.UUID(nullable=True))
        uuid?
        >>> sd.lit(uuid.UUID(int=7), sd.UUID(nullable=True))
        Expr(uuid '00000000-0000-0000-0000-000000000007': uuid?)
    """

    __slots__ = ()

    keyword: ClassVar[str] = "uuid"
    short_name: ClassVar[str] = "uuid"

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[UUID, Req]: ...
        def __set__(self, instance: Any, value: Expr[UUID, Req]) -> None: ...
