"""Window functions: a value for each row, computed from the rows around it.

Specification: https://substrait.io/expressions/window_functions/.
"""

from __future__ import annotations

import typing
from decimal import Decimal

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions.aggregates import AggregateFunction
from substrait_dsl.algebra.expressions.calls import Argument, FunctionOption, Invocation, check_call
from substrait_dsl.algebra.expressions.intervals import Compound, DaySeconds, YearMonths
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.algebra.expressions.sort_keys import SortKey
from substrait_dsl.algebra.function_ids import FunctionId, Phase
from substrait_dsl.algebra.node import Expression, Node, SubtreeFlags, walk
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import InvalidArgumentError, SchemaError, TypeMismatchError, require_choice

BoundsType = typing.Literal["rows", "range"]
BOUNDS_TYPES: tuple[BoundsType, ...] = typing.get_args(BoundsType)
BoundKind = typing.Literal["unbounded", "preceding", "current_row", "following"]
BOUND_KINDS: tuple[BoundKind, ...] = typing.get_args(BoundKind)


@attrs.frozen(eq=False, repr=False)
class Bound(Node):
    """Where a frame begins or ends: as far as the partition goes, at the current row, or so far before or after it."""

    kind: BoundKind
    offset: Expression | None = None
    """How far: only of `preceding` and `following`, and never 0, which is the current row."""

    def _validate(self) -> None:
        require_choice("bound", self.kind, BOUND_KINDS)
        if (self.offset is not None) is not (self.kind in ("preceding", "following")):
            raise InvalidArgumentError(f"a bound {self.kind} takes {'an' if self.offset is None else 'no'} offset")
        if self.offset is not None:
            _check_offset(self.offset, self.kind)


UNBOUNDED = Bound("unbounded")
CURRENT_ROW = Bound("current_row")


@attrs.frozen(eq=False, repr=False)
class WindowCall(Node):
    """A call of a window function, or of an aggregate function over a frame, without its window."""

    function: FunctionId
    arguments: tuple[Argument, ...]
    output_type: Type
    options: tuple[FunctionOption, ...] = ()
    lower: Bound = UNBOUNDED
    upper: Bound = UNBOUNDED
    bounds_type: BoundsType = "rows"
    """Whether offsets count rows, or are added to the sort key."""
    invocation: Invocation = "all"
    phase: Phase = "initial_to_result"

    def _validate(self) -> None:
        check_call(self.function, self.options, self.invocation, self.phase)
        require_choice("bounds type", self.bounds_type, BOUNDS_TYPES)
        if self.bounds_type == "rows":
            for bound in (self.lower, self.upper):
                if bound.offset is not None and not isinstance(bound.offset.type, t.I64):
                    raise TypeMismatchError(f"the bounds of a frame of rows are i64, not {bound.offset.type}")


@attrs.frozen(eq=False, repr=False)
class WindowFunction(Expression):
    """A window function with the rows that it sees: those of the same partition, in an order, within a frame."""

    own_flags: typing.ClassVar[SubtreeFlags] = SubtreeFlags(has_window_functions=True)

    call: WindowCall
    partitions: tuple[Expression, ...] = ()
    sorts: tuple[SortKey, ...] = ()

    def _derive_type(self) -> Type:
        check_frame(self.call, self.sorts)
        return self.call.output_type


def check_frame(call: WindowCall, sorts: tuple[SortKey, ...]) -> None:
    """Raise unless the sort keys of a window allow the frame of a call: a range with offsets needs exactly one."""
    offsets = [bound.offset for bound in (call.lower, call.upper) if bound.offset is not None]
    if call.bounds_type == "rows" or not offsets:
        return
    if len(sorts) != 1:
        raise SchemaError(
            f"a range with an offset needs exactly one sort key, this window has {len(sorts)}",
            hint='sort by one key, or use bounds="rows"',
        )
    if isinstance(sorts[0].direction, FunctionId) or sorts[0].direction == "clustered":
        raise SchemaError("a range with an offset needs a sort key that is ascending or descending")


def _check_offset(offset: Expression, kind: BoundKind) -> None:
    for node in walk(offset, into_relations=False):
        if isinstance(node, WindowFunction | AggregateFunction):
            raise InvalidArgumentError("the offset of a frame cannot contain a window or an aggregate function")
    if not isinstance(offset, Literal):
        return
    if offset.value is None:
        raise InvalidArgumentError(f"the offset of a bound {kind} must not be NULL")
    numbers = _distance(offset)
    if numbers and all(number <= 0 for number in numbers):
        raise InvalidArgumentError(
            f"the offset of a bound {kind} must be positive, got {offset.value}; 0 is current_row"
        )


def is_zero(offset: Expression) -> bool:
    """Return whether an offset is known to be 0, a number or an interval, which is the current row."""
    numbers = _distance(offset) if isinstance(offset, Literal) else ()
    return bool(numbers) and all(number == 0 for number in numbers)


_NUMBERS = (*t.INTEGER_RANGES, t.FP32, t.FP64, t.Decimal)


def _distance(offset: Literal) -> tuple[float | Decimal, ...]:
    """Return the numbers that a distance is made of; none for values that are no distances."""
    match offset.value:
        case YearMonths(years, months):
            return (12 * years + months,)
        case DaySeconds(days, seconds, subseconds):
            return (days, seconds, subseconds)
        case Compound(YearMonths(years, months), DaySeconds(days, seconds, subseconds)):
            return (12 * years + months, days, seconds, subseconds)
        case int() | float() | Decimal() as number if type(offset.type) in _NUMBERS:
            return (number,)
        case _:
            return ()
