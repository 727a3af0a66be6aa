"""The types whose parameters are numbers: a length, digits after the second, precision and scale."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal

import attrs
from typing_extensions import TypeVar

from substrait_dsl.algebra.types.base import NarrowerThan, Req, Type, WrittenAs
from substrait_dsl.algebra.validators import between
from substrait_dsl.errors import InvalidArgumentError

if TYPE_CHECKING:
    from substrait_dsl.algebra.expressions.intervals import Compound, DaySeconds  # noqa: F401  # in strings
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

P = TypeVar("P", bound=Precision38, default=Any)
S = TypeVar("S", bound=Scale38, default=Any)
T = TypeVar("T", bound=SubSecond, default=Any)
Length = TypeVar("Length", bound=int, default=Any)


@attrs.frozen(eq=False, repr=False)
class FixedChar(Type, WrittenAs[str], Generic[Length]):
    """A Unicode string of exactly `length` characters (code points).

    Specification: ``Type.FixedChar``.

    Example:
        >>> print(sd.FixedChar(3))
        fixedchar<3>
        >>> sd.lit("Ada", sd.FixedChar(3))
        Expr('Ada': fixedchar<3>)
    """

    keyword: ClassVar[str] = "fixedchar"
    short_name: ClassVar[str] = "fchar"

    length: Length = attrs.field(validator=between(1, MAX_LENGTH))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.length,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[FixedChar[Length], Req]: ...
        def __set__(self, instance: Any, value: Expr[FixedChar[Length], Req]) -> None: ...


@attrs.frozen(eq=False, repr=False)
class VarChar(Type, WrittenAs[str], Generic[Length]):
    """A Unicode string of at most `length` characters (code points).

    Specification: ``Type.VarChar``.

    Example:
        >>> print(sd.VarChar(10))
        varchar<10>
        >>> sd.lit("Ada", sd.VarChar(10))
        Expr('Ada': varchar<10>)
    """

    keyword: ClassVar[str] = "varchar"
    short_name: ClassVar[str] = "vchar"

    length: Length = attrs.field(validator=between(1, MAX_LENGTH))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.length,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[VarChar[Length], Req]: ...
        def __set__(self, instance: Any, value: Expr[VarChar[Length], Req]) -> None: ...


@attrs.frozen(eq=False, repr=False)
class FixedBinary(Type, WrittenAs[bytes], Generic[Length]):
    """A string of exactly `length` bytes.

    Specification: ``Type.FixedBinary``.

    Example:
        >>> print(sd.FixedBinary(2))
        fixedbinary<2>
        >>> sd.lit(b"ab", sd.FixedBinary(2))
        Expr(x'6162': fixedbinary<2>)
    """

    keyword: ClassVar[str] = "fixedbinary"
    short_name: ClassVar[str] = "fbin"

    length: Length = attrs.field(validator=between(1, MAX_LENGTH))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.length,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[FixedBinary[Length], Req]: ...
        def __set__(self, instance: Any, value: Expr[FixedBinary[Length], Req]) -> None: ...


@attrs.frozen(eq=False, repr=False)
class IntervalDay(Type, WrittenAs["dt.timedelta | DaySeconds"], Generic[T]):
    """A span of days and seconds with `precision` digits after the second.

    Specification: ``Type.IntervalDay``.

    Example:
        >>> import datetime as dt
        >>> print(sd.IntervalDay(6))
        interval_day<6>
        >>> sd.lit(dt.timedelta(days=1), sd.IntervalDay(6))
        Expr(interval 'P1DT0.000000S': interval_day<6>)
    """

    keyword: ClassVar[str] = "interval_day"
    short_name: ClassVar[str] = "iday"

    precision: T = attrs.field(validator=between(0, 12))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.precision,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[IntervalDay[T], Req]: ...
        def __set__(self, instance: Any, value: Expr[IntervalDay[T], Req]) -> None: ...


@attrs.frozen(eq=False, repr=False)
class IntervalCompound(Type, WrittenAs["Compound"], Generic[T]):
    """A span of years, months, days and seconds with `precision` digits after the second.

    Specification: ``Type.IntervalCompound``.

    Example:
        >>> print(sd.IntervalCompound(6))
        interval_compound<6>
        >>> sd.lit(sd.Compound(sd.YearMonths(1, 6), sd.DaySeconds(1, 0, 0)), sd.IntervalCompound(6))
        Expr(interval 'P1Y6M1DT0.000000S': interval_compound<6>)
    """

    keyword: ClassVar[str] = "interval_compound"
    short_name: ClassVar[str] = "icompound"

    precision: T = attrs.field(validator=between(0, 12))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.precision,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[IntervalCompound[T], Req]: ...
        def __set__(self, instance: Any, value: Expr[IntervalCompound[T], Req]) -> None: ...


@attrs.frozen(eq=False, repr=False)
class PrecisionTime(Type, WrittenAs[dt.time], Generic[T]):
    """A time of day with `precision` digits after the second.

    Specification: ``Type.PrecisionTime``.

    Example:
        >>> import datetime as dt
        >>> print(sd.PrecisionTime(6))
        precision_time<6>
        >>> sd.lit(dt.time(9, 30), sd.PrecisionTime(6))
        Expr(time '09:30:00.000000': precision_time<6>)
    """

    keyword: ClassVar[str] = "precision_time"
    short_name: ClassVar[str] = "pt"

    precision: T = attrs.field(validator=between(0, 12))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.precision,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[PrecisionTime[T], Req]: ...
        def __set__(self, instance: Any, value: Expr[PrecisionTime[T], Req]) -> None: ...


@attrs.frozen(eq=False, repr=False)
class PrecisionTimestamp(Type, WrittenAs[dt.datetime], Generic[T]):
    """A date and time without time zone, with `precision` digits after the second.

    Specification: ``Type.PrecisionTimestamp``.

    Example:
        >>> import datetime as dt
        >>> print(sd.PrecisionTimestamp(6))
        precision_timestamp<6>
        >>> sd.lit(dt.datetime(2026, 1, 5), sd.PrecisionTimestamp(6))
        Expr(timestamp '2026-01-05 00:00:00.000000': precision_timestamp<6>)
    """

    keyword: ClassVar[str] = "precision_timestamp"
    short_name: ClassVar[str] = "pts"

    precision: T = attrs.field(validator=between(0, 12))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.precision,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[PrecisionTimestamp[T], Req]: ...
        def __set__(self, instance: Any, value: Expr[PrecisionTimestamp[T], Req]) -> None: ...


@attrs.frozen(eq=False, repr=False)
class PrecisionTimestampTZ(Type, WrittenAs[dt.datetime], Generic[T]):
    """A point in time, with `precision` digits after the second.

    Specification: ``Type.PrecisionTimestampTZ``.

    Example:
        >>> import datetime as dt
        >>> print(sd.PrecisionTimestampTZ(6))
        precision_timestamp_tz<6>
        >>> sd.lit(dt.datetime(2026, 1, 5, tzinfo=dt.UTC), sd.PrecisionTimestampTZ(6))
        Expr(timestamp_tz '2026-01-05 00:00:00.000000Z': precision_timestamp_tz<6>)
    """

    keyword: ClassVar[str] = "precision_timestamp_tz"
    short_name: ClassVar[str] = "ptstz"

    precision: T = attrs.field(validator=between(0, 12))

    @property
    def parameters(self) -> tuple[int, ...]:
        return (self.precision,)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any) -> Expr[PrecisionTimestampTZ[T], Req]: ...
        def __set__(self, instance: Any, value: Expr[PrecisionTimestampTZ[T], Req]) -> None: ...


@attrs.frozen(eq=False, repr=False)
class Decimal(Type, WrittenAs[int | decimal.Decimal], NarrowerThan["Decimal[Any, Any]"], Generic[P, S]):
    """An exact number of at most `precision` digits (1 to 38), `scale` of them after the point.

    Specification: ``Type.Decimal``.

    Example:
        >>> import decimal
        >>> print(sd.Decimal(15, 2))
        decimal<15,2>
        >>> sd.lit(decimal.Decimal("9.50"), sd.Decimal(15, 2))
        Expr(9.50: decimal<15,2>)
    """

    keyword: ClassVar[str] = "decimal"
    short_name: ClassVar[str] = "dec"

    precision: P = attrs.field(validator=between(1, 38))
    scale: S = attrs.field(validator=between(0, 38))

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
