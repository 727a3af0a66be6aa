"""Calls of the catalogue's functions: overload resolution, literals for Python values, output types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Never, NoReturn

from typing_extensions import TypeVar

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.catalog import Catalog, Kind, Overload, standard_catalog
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError, error_context, require
from substrait_dsl.fluent.arguments import NoValue, Options, Resolved, describe_operand, resolve_call
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.expr import DynExpr, Expr, ExprBase, SortKey, combine, combine_in_scope
from substrait_dsl.fluent.guidance import bool_hint, no_attribute
from substrait_dsl.fluent.lambdas import LambdaFunction, is_function, resolve_functions, traced_argument
from substrait_dsl.fluent.measure_operators import MeasureOperators
from substrait_dsl.fluent.scope import Scope

if TYPE_CHECKING:
    from substrait_dsl.fluent.windows import Frame, FrameLike, Keys

T = TypeVar("T", bound=t.Type)
N = TypeVar("N", bound=t.Null, covariant=True, default=t.Req)

_SPLICED = ("and", "or")


def scalar(
    name: str,
    operands: Sequence[object],
    options: Options | None = None,
    *,
    urn: str | None = None,
    catalog: Catalog | None = None,
) -> DynExpr:
    """Return a call of a scalar function.

    Args:
        name: the function's name; the overload follows from the operands.
        operands: expressions; Python values, which become literals of the type the overload needs; words, for
            arguments that take one of the function's own words; Python functions, for arguments that are functions.
        options: the function's options.
        urn: the extension to look in; by default all.
        catalog: the functions to choose from; by default the specification's own.

    Raises `FunctionNotFoundError` for no such function or overload, `InvalidChoiceError` for an unknown option.
    """
    if any(isinstance(operand, MeasureBase) for operand in operands):
        from substrait_dsl.fluent.computed_measures import compute_from

        # A measure, of which the types say so: to what computes with it, it is as good as an expression.
        return compute_from(lambda parts: scalar(name, parts, options, urn=urn, catalog=catalog), operands)  # type: ignore[return-value]
    if not any(map(is_function, operands)):
        return combine(name, partial(scalar_call, name, options or {}, urn, catalog), operands)
    call = FunctionCall("scalar", name, operands, options or {}, urn, catalog)
    return combine_in_scope(name, partial(_call_on_row, call), call.expressions())


def _call_on_row(call: FunctionCall, scope: Scope) -> ex.ScalarFunction:
    return scalar_call(call.name, call.options, call.urn, call.catalog, call.parts(scope))


def scalar_call(
    name: str, options: Options, urn: str | None, catalog: Catalog | None, parts: Sequence[Any]
) -> ex.ScalarFunction:
    """Return the call of the algebra, of parts that are expressions of one row, or Python values.

    Raises as `scalar` does.
    """
    function, arguments, type_, chosen = resolve_call("scalar", name, parts, options, urn, catalog)
    first = arguments[0] if arguments else None
    if name in _SPLICED and isinstance(first, ex.ScalarFunction) and first.function == function:
        arguments = (*first.arguments, *arguments[1:])  # `a & b & c` is one call of three, not nested ones
    return ex.ScalarFunction(function, arguments, type_, chosen)


def quotient(left: object, right: object) -> DynExpr:
    """Return what ``left / right`` is: `divide` of numbers, not of two integers, whose fraction it would leave out.

    A measure if one of them is. Raises as `scalar` does, `TypeMismatchError` for two integers.
    """
    if isinstance(left, MeasureBase) or isinstance(right, MeasureBase):
        from substrait_dsl.fluent.computed_measures import compute_from

        return compute_from(lambda parts: quotient(*parts), (left, right))  # type: ignore[return-value]  # as in `scalar`
    return combine("divide", _quotient, (left, right))


def _quotient(parts: Sequence[Any]) -> ex.ScalarFunction:
    if all(map(_is_integer, parts)):
        columns = [isinstance(part, ex.Expression) for part in parts]
        names = [name if column else str(part) for part, name, column in zip(parts, "xy", columns, strict=True)]
        casts = [f"{name}.cast(FP64)" if column else name for name, column in zip(names, columns, strict=True)]
        raise TypeMismatchError(
            f"/ of two integers, {' and '.join(map(_shown, parts))}, would leave the fraction out",
            hint=f"{' / '.join(casts)} has it; functions.divide({', '.join(names)}) leaves it out",
        )
    return scalar_call("divide", {}, None, None, parts)


def _is_integer(part: Any) -> bool:
    return isinstance(part.type, t.INTEGER_TYPES) if isinstance(part, ex.Expression) else type(part) is int


def _shown(part: Any) -> str:
    return str(part.type if isinstance(part, ex.Expression) else part)


class MeasureBase(Picklable, NoValue):
    """The base class of `Measure`, whatever its type."""

    __slots__ = ("_call", "_distinct", "_filter", "_name", "_sorts")

    _call: FunctionCall
    _distinct: bool
    _filter: ExprBase | None
    _sorts: tuple[object, ...]
    _name: str | None

    @property
    def _title(self) -> str:
        """What errors call it."""
        return f"the measure {self._call.name}"

    @property
    def _lacks(self) -> str:
        return f"{self._call.name} is an aggregate function"

    @property
    def _advice(self) -> str:
        window = f"{self._call.name}(...).over(...)"
        return f"name it in aggregate(...), then use the column in with_columns(...); or give it a window: {window}"


class FunctionCall(Picklable):
    """The name, operands and options of a call whose relation is not known yet."""

    __slots__ = ("catalog", "kind", "name", "operands", "options", "urn")

    def __init__(
        self,
        kind: Kind,
        name: str,
        operands: Sequence[object],
        options: Options,
        urn: str | None,
        catalog: Catalog | None,
    ) -> None:
        self.kind, self.name, self.options = kind, name, options
        self.urn, self.catalog = urn, catalog or standard_catalog()
        self.operands = operands
        if any(map(is_function, operands)):
            overloads = self.overloads()
            self.operands = [traced_argument(name, overloads, operands, each) for each in range(len(operands))]

    def overloads(self) -> list[Overload]:
        """Every overload that the call may mean."""
        return [each for of in self.catalog.named(self.name, self.kind, self.urn) for each in of.overloads]

    def expressions(self) -> Iterator[ExprBase]:
        """Yield the expressions that the operands are, and those that functions among them use."""
        for operand in self.operands:
            if isinstance(operand, LambdaFunction):
                yield from operand.captured
            elif isinstance(operand, ExprBase):
                yield operand

    def parts(self, scope: Scope) -> list[Any]:
        """Return the operands over the row of a scope.

        Expressions of the algebra, and the others as they were given.
        """
        parts = [bind(operand, scope) if isinstance(operand, ExprBase) else operand for operand in self.operands]
        if any(isinstance(part, LambdaFunction) for part in parts):
            return resolve_functions(self.overloads(), parts, scope, partial(describe_operand, name=self.name))
        return parts

    def resolve_in(self, scope: Scope) -> Resolved:
        """Return the function, its arguments, type and options, over the row of a scope. Raises as `scalar` does."""
        return resolve_call(self.kind, self.name, self.parts(scope), self.options, self.urn, self.catalog)


class WindowFunction(Picklable, NoValue, Generic[T, N]):
    """A window function, or an aggregate function over a frame. It becomes an expression once it has a window.

    Specification: ``Expression.WindowFunction``.

    Example:
        >>> f.row_number().over(order_by="id")
        Expr(row_number(id))
    """

    __slots__ = ("bounds", "call", "distinct_values", "name")

    def __init__(
        self, call: FunctionCall, *, bounds: Frame | None = None, distinct_values: bool = False, name: str | None = None
    ) -> None:
        require(call, FunctionCall, "a window function is made by a function: functions.row_number()")
        self.call, self.bounds, self.distinct_values, self.name = call, bounds, distinct_values, name

    @property
    def _lacks(self) -> str:
        return f"{self.call.name} is a window function without a window"

    @property
    def _advice(self) -> str:
        return f"write {self.call.name}(...).over(...)"

    def over(
        self,
        *misplaced: Never,
        partition_by: Keys = (),
        order_by: Keys = (),
        rows: FrameLike | None = None,
        range: FrameLike | None = None,
    ) -> Expr[T, N]:
        """Compute the function for each row from the rows around it: an expression.

        Args:
            misplaced: nothing; the parts of a window are given by name.
            partition_by: columns or expressions, one or a list: only rows that agree on them are seen (NULL is NULL).
            order_by: sort keys, one or a list, as for `Relation.sort`.
            rows: the frame as a pair (first, last), both included: None is the end of the partition, 0 the current
                row, -3 three rows before, 3 three rows after it; expressions stand in ``preceding`` and ``following``.
            range: the same, but the numbers, or spans of time, are added to the one sort key: (-5, 0) has the rows
                whose key is at most 5 less. 0 is every row with the same key.

        Without a frame it is the one of SQL and Spark (spec decision 32): with `order_by` the range from the start of
        the partition to the current row and its equals, else the whole partition. Raises `InvalidArgumentError` for a
        frame that ends before it starts, `SchemaError` and `TypeMismatchError` for a range that does not fit its key.
        Specification: ``Expression.WindowFunction``.

        Example:
            >>> place = f.row_number().over(partition_by="customer", order_by=sd.desc("price"))
            >>> print(orders.project(place=place).schema)
            0  id        i64
            1  customer  i64
            2  price     fp64?
            3  place     i64?
        """
        from substrait_dsl.fluent.windows import over

        with error_context(verb="over"):
            return over(self, misplaced, partition_by, order_by, rows, range)

    def frame(self, *, rows: FrameLike | None = None, range: FrameLike | None = None) -> WindowFunction[T, N]:
        """Give the function a frame, for `Relation.window`, which gives partitions and order.

        Args:
            rows: as for `over`.
            range: as for `over`.

        Specification: ``ConsistentPartitionWindowRel.WindowRelFunction``.

        Example:
            >>> orders.window(order_by="id", first=lambda o: f.first_value(o.price).frame(rows=(-2, 0))).columns
            ('id', 'customer', 'price', 'first')
        """
        from substrait_dsl.fluent.windows import frame

        with error_context(verb="frame"):
            return self.framed(frame(rows, range))

    def framed(self, bounds: Frame) -> WindowFunction[T, N]:
        """Give the function these bounds; what `frame` makes of its arguments.

        Args:
            bounds: the frame.

        Specification: ``Expression.WindowFunction.Bound``.

        Example:
            >>> from substrait_dsl.fluent.windows import WHOLE_PARTITION
            >>> f.row_number().framed(WHOLE_PARTITION)
            WindowFunction(row_number)
        """
        return WindowFunction(self.call, bounds=bounds, distinct_values=self.distinct_values, name=self.name)

    if not TYPE_CHECKING:  # a checker must not take every name for a method

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("__"):
                raise AttributeError(name)
            raise no_attribute("a window function", name, "window", ("over", "frame"))

    def __repr__(self) -> str:
        return f"WindowFunction({self.call.name})"


class Measure(MeasureOperators, MeasureBase, Generic[T, N]):
    """An aggregate function, for `Relation.aggregate`, or what is computed of such functions and of keys.

    It is no expression: its value is known for each group, not for each row. What operators and functions make of it
    is a measure again, for which `Relation.aggregate` adds a project to the aggregate.

    Specification: ``AggregateFunction``.

    Example:
        >>> f.sum(sd.col("price")).distinct()
        Measure(sum)
        >>> print(orders.group_by("customer").agg(mean=lambda o: f.sum(o.price) / f.count(o.price).cast("fp64")).schema)
        0  customer  i64
        1  mean      fp64?
    """

    __slots__ = ()

    def __init__(self, call: FunctionCall) -> None:
        require(call, FunctionCall, "a measure is made by an aggregate function: functions.sum(x)")
        self._call, self._distinct, self._filter, self._sorts, self._name = call, False, None, (), None

    def distinct(self) -> Measure[T, N]:
        """Aggregate each value once.

        Specification: ``AggregateFunction.AGGREGATION_INVOCATION_DISTINCT``.

        Example:
            >>> print(orders.aggregate(n=lambda o: f.count(o.customer).distinct()))
            aggregate -> n: i64 = count(distinct customer)
              read orders -> id: i64, customer: i64, price: fp64?
        """
        return self._evolve(_distinct=True)

    def filter(self, condition: ExprBase) -> Measure[T, N]:
        """Aggregate only the rows for which a condition is true.

        Args:
            condition: a boolean expression.

        Raises `InvalidArgumentError` for what is no expression; `Relation.aggregate` raises `TypeMismatchError` for one
        that is no boolean. Specification: ``AggregateRel.Measure.filter``.

        Example:
            >>> print(orders.aggregate(n=lambda o: f.count().filter(o.price > 5.0)))
            aggregate -> n: i64 = count() filter (where price > 5.0)
              read orders -> id: i64, customer: i64, price: fp64?
        """
        own = f"{self._call.name}(...).filter"
        hint = f'write {own}(col("x") > 1), or a lambda around it: n=lambda r: {own}(r.x > 1)'
        expected = "the filter of a measure is an expression"
        require(condition, ExprBase, expected, hint if callable(condition) else bool_hint(condition))
        return self._evolve(_filter=condition)

    def order_by(self, *keys: ExprBase | SortKey | str) -> Measure[T, N]:
        """Aggregate the rows in this order.

        Args:
            keys: columns by name, expressions or sort keys.

        Specification: ``AggregateFunction.sorts``.

        Example:
            >>> print(customers.aggregate(names=lambda c: f.string_agg(c.name, ", ").order_by("key")))
            aggregate -> names: string = string_agg(name, ', ' order by key asc nulls first)
              read customers -> key: i64, name: string
        """
        return self._evolve(_sorts=keys)

    def alias(self, name: str) -> Measure[T, N]:
        """Give the measure a name.

        Args:
            name: the name of the column. Raises `InvalidArgumentError` for what is no text.

        Example:
            >>> orders.group_by("customer").agg(f.count().alias("n")).columns
            ('customer', 'n')
        """
        require(name, str, "the name of a column is a str")
        return self._evolve(_name=name)

    def over(
        self,
        *misplaced: Never,
        partition_by: Keys = (),
        order_by: Keys = (),
        rows: FrameLike | None = None,
        range: FrameLike | None = None,
    ) -> Expr[T, N]:
        """Aggregate the rows around each row: an expression.

        Args:
            misplaced: nothing; the parts of a window are given by name.
            partition_by: as for `WindowFunction.over`.
            order_by: as for `WindowFunction.over`.
            rows: as for `WindowFunction.over`.
            range: as for `WindowFunction.over`.

        Raises `InvalidArgumentError` for a measure with a filter or an order of its own, which a window does not take.
        Specification: ``Expression.WindowFunction``.

        Example:
            >>> print(orders.select(of_all=lambda o: f.sum(o.price).over(partition_by=o.customer)).schema)
            0  of_all  fp64?
        """
        window = self.windowed()
        return window.over(*misplaced, partition_by=partition_by, order_by=order_by, rows=rows, range=range)

    def frame(self, *, rows: FrameLike | None = None, range: FrameLike | None = None) -> WindowFunction[T, N]:
        """Aggregate over a frame, for `Relation.window`.

        Args:
            rows: as for `WindowFunction.over`.
            range: as for `WindowFunction.over`.

        Specification: ``ConsistentPartitionWindowRel.WindowRelFunction``.

        Example:
            >>> orders.window(order_by="id", last=lambda o: f.sum(o.price).frame(rows=(-2, 0))).columns
            ('id', 'customer', 'price', 'last')
        """
        return self.windowed().frame(rows=rows, range=range)

    def windowed(self) -> WindowFunction[T, N]:
        """Make the aggregate function a window function, which lacks its window.

        Raises `InvalidArgumentError` for a measure with a filter or an order of its own.

        Specification: ``Expression.WindowFunction``.

        Example:
            >>> f.count().windowed()
            WindowFunction(count)
        """
        name = self._call.name
        if self._filter is not None:
            raise InvalidArgumentError(
                f"{name}: a window function has no filter",
                hint=f"write {name}(when(condition).then(x).otherwise(None)): NULLs are not aggregated",
            )
        if self._sorts:
            raise InvalidArgumentError(
                f"{name}: the rows of a window are ordered by the window", hint="write over(order_by=...)"
            )
        return WindowFunction(self._call, distinct_values=self._distinct, name=self._name)

    def _evolve(self, **changed: Any) -> Measure[T, N]:
        measure: Measure[T, N] = Measure(self._call)
        for slot in MeasureBase.__slots__:
            setattr(measure, slot, changed.get(slot, getattr(self, slot)))
        return measure

    if not TYPE_CHECKING:  # a checker must not take every name for a method

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            raise no_attribute("a measure", name, "measure", dir(type(self)))

    def __repr__(self) -> str:
        return f"Measure({self._call.name})"


def _no_operator(self: NoValue, *_: object) -> NoReturn:
    raise TypeMismatchError(f"{self._lacks}, no value to compute with", hint=self._advice)


_OPERATORS = (
    "add sub mul truediv floordiv mod divmod pow matmul lshift rshift neg abs eq ne lt le gt ge and or xor invert"
)
_OTHER_OPERATIONS = ("__round__", "__int__", "__float__", "__getitem__", "__contains__", "__iter__")


def refuse_operators(of_class: type[NoValue]) -> None:
    """Let Python's operations on what is no value say so."""
    for operator in _OPERATORS.split():
        for prefix in ("__", "__r"):
            setattr(of_class, f"{prefix}{operator}__", _no_operator)
    for name in _OTHER_OPERATIONS:
        setattr(of_class, name, _no_operator)


refuse_operators(WindowFunction)


def measure_node(measure: MeasureBase, scope: Scope, sort_keys: Callable[..., tuple[ex.SortKey, ...]]) -> ex.Measure:
    """Return the measure of the algebra, over the rows of a scope. Raises as `scalar` does."""
    function = ex.AggregateFunction(
        *measure._call.resolve_in(scope), sort_keys(measure._sorts, scope), "distinct" if measure._distinct else "all"
    )
    condition = measure._filter
    return ex.Measure(function, None if condition is None else bind(condition, scope))
