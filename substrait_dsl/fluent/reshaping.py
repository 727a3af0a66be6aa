"""The verbs that give a table another shape, or values for its NULLs: counts of values, pivots, rows of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.types import String
from substrait_dsl.errors import InvalidArgumentError, SchemaError, TypeMismatchError, error_context, require
from substrait_dsl.fluent.base import RelationBase, S, wrap_relation
from substrait_dsl.fluent.calls import FunctionCall, Measure, MeasureBase, scalar, scalar_call
from substrait_dsl.fluent.column_arguments import (
    ColumnLike,
    Picked,
    Role,
    as_expression,
    call_function,
    call_with_rows,
    compute,
    is_list,
    is_plain,
    require_distinct,
    require_name,
    rows,
    sort_keys,
    unpacking_hint,
    unused_names,
)
from substrait_dsl.fluent.column_names import find_position
from substrait_dsl.fluent.expr import DynExpr, ExprBase, SortKey, bound_expr, unbound_expr
from substrait_dsl.fluent.schemas import DynRow
from substrait_dsl.fluent.scope import Scope, own_column

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation

Values: TypeAlias = "Sequence[object] | Mapping[str, object]"
"""The values that become columns, or these by the names of the columns."""


class ReshapingVerbs(RelationBase, Generic[S]):
    """Verbs that give a table another shape, or values for its NULLs."""

    __slots__ = ()

    def value_counts(
        self, /, *columns: str | int | ExprBase | Callable[[S], ExprBase], name: str = "count"
    ) -> Relation[DynRow]:
        """Count the rows of each different value, the most frequent first.

        Args:
            columns: names, positions, or expressions that have a name; of several their combinations are counted.
            name: the name of the column of the counts.

        Output: these columns, then the count, ``i64``; sorted by the count, largest first, then by the columns. NULL is
        a value like others. Raises `UnknownFieldError`, `SchemaError` for a name that one of them has.
        Specification: ``AggregateRel`` and ``SortRel``.

        Example:
            >>> print(orders.value_counts("customer").schema)
            0  customer  i64
            1  count     i64
        """
        from substrait_dsl.fluent.grouping import aggregate

        with error_context(verb="value_counts"):
            require(name, str, "the name of a column is a str")
            if not columns:
                raise InvalidArgumentError("expected at least one column", hint="aggregate(n=functions.count())")
            count: Measure[Any, Any] = Measure(FunctionCall("aggregate", "count", (), {}, None, None))
            try:
                counted = aggregate(self._rel, columns, {}, None, (), {name: count})
            except SchemaError as error:
                if [*error.names] == [name]:
                    error.hint = 'name="..." calls the counts otherwise'
                raise
            width = len(columns)
            keys = [SortKey(width, "desc_nulls_last"), *range(width)]
            return wrap_relation(rl.Sort(counted, sort_keys(keys, Scope("value_counts", (counted,)))))

    def describe(self, *columns: str | int, percentiles: Sequence[float] = (0.25, 0.5, 0.75)) -> Relation[DynRow]:
        """Look at the data: statistics of columns, a row for each column.

        Args:
            columns: names or positions; by default every column.
            percentiles: numbers from 0 to 1, each of which becomes a column: 0.9 is ``p90``.

        Output: ``column``; ``type``; ``count`` of values, and ``nulls``; ``approx_distinct``, about how many values
        differ; ``mean`` and ``std_dev``, of a sample; ``min``, the percentiles and ``max``: values of the column, as
        texts. What a column does not have is NULL: a mean is of numbers, and of booleans the share that is true;
        percentiles, those of `everyday.approx_percentile`, are of numbers, dates and timestamps without time zone; of
        bytes, times of day, intervals, UUIDs and nested values only the counts are there. The rows are in the order of
        the columns. Raises `UnknownFieldError`, `AmbiguousFieldError`, `SchemaError` for two columns of one name,
        `InvalidArgumentError` for a percentile that is no number from 0 to 1.
        Specification: one ``AggregateRel``, an ``ExpandRel``, a ``SortRel``; extremes of texts, and percentiles, are
        functions of an extension of this library.

        Example:
            >>> print(orders.describe("price", percentiles=[0.5]).schema)
            0  column           string
            1  type             string
            2  count            i64
            3  nulls            i64
            4  approx_distinct  i64?
            5  mean             fp64?
            6  std_dev          fp64?
            7  min              string?
            8  p50              string?
            9  max              string?
        """
        from substrait_dsl.fluent.describing import describe_columns, percentile_names

        with error_context(verb="describe"):
            schema = self._rel.schema
            shares = percentile_names(percentiles)
            for column in columns:
                if is_list(column):
                    raise InvalidArgumentError(
                        "a column is given by name or position", got=column, hint=unpacking_hint(column)
                    )
            positions = [find_position(schema, column, "describe({})") for column in columns]
            return describe_columns(wrap_relation(self._rel), positions or range(len(schema)), shares)

    def fill_null(self, values: Mapping[str, object] | None = None, /, **named: ColumnLike[S]) -> Relation[DynRow]:
        """Put values in place of NULLs.

        Args:
            values: by the names of columns: Python values, expressions, or lambdas that get the row. A text is a text.
            named: the same, as column=value.

        Output: the same columns. One whose value is required is required: the function ``coalesce`` would leave it
        nullable, so a cast says what is known. A required column stays as it is, as it does for `drop_nulls`. Raises
        `UnknownFieldError`, and `FunctionNotFoundError` for a value of another type. Specification: ``coalesce``, and
        ``Expression.Cast``, in a ``ProjectRel`` and emit.

        Example:
            >>> print(orders.fill_null(price=0.0).schema)
            0  id        i64
            1  customer  i64
            2  price     fp64
        """
        with error_context(verb="fill_null"):
            if values is not None and not isinstance(values, Mapping):
                raise InvalidArgumentError(
                    "expected values by the names of columns", got=values, hint="write fill_null(x=0), by column"
                )
            wanted = {**(values or {}), **named}
            if not wanted:
                raise InvalidArgumentError("expected at least one column, as name=value")
            schema = self._rel.schema
            scope = Scope("fill_null", (self._rel,))
            filled: dict[int, ex.Expression] = {}
            for name, value in wanted.items():
                with error_context(place="column", name=name):
                    filled[schema.position(name)] = _filled(scope.column(name), value, scope)
            picked: list[Picked] = [
                (field.name, filled.get(position, position)) for position, field in enumerate(schema)
            ]
            return wrap_relation(compute(self._rel, picked, scope))

    def unpivot(self, /, *columns: str | int, name: str = "name", value: str = "value") -> Relation[DynRow]:
        """Make a row of each of some columns: its name, and its value.

        Args:
            columns: names or positions of columns of one type, at least one.
            name: the name of the column of their names.
            value: the name of the column of their values.

        Output: the other columns, then the name, ``string``, and the value, nullable if one of the columns is; a row of
        the input gives one for each of them, also where its value is NULL. No order. Raises `TypeMismatchError` for
        columns of different types, `SchemaError` for a name that another column has.
        Specification: ``ExpandRel`` and emit.

        Example:
            >>> print(orders.unpivot("id", "customer", name="what", value="key").schema)
            0  price  fp64?
            1  what   string
            2  key    i64
        """
        from substrait_dsl.fluent.expand import Switching, expand

        with error_context(verb="unpivot"):
            for text in (name, value):
                require(text, str, "the name of a column is a str")
            schema = self._rel.schema
            for column in columns:
                if is_list(column):
                    raise InvalidArgumentError(
                        "a column is given by name or position", got=column, hint=unpacking_hint(column)
                    )
            positions = [schema.position(column) for column in columns]
            if not positions:
                raise InvalidArgumentError("expected at least one column")
            others = [position for position in range(len(schema)) if position not in positions]
            remaining = [schema.names[each] for each in others]
            require_distinct(remaining)
            if taken := [each for each in (name, value) if each in remaining] or ([name] if name == value else []):
                raise SchemaError(
                    f'two columns would be called "{taken[0]}"',
                    names=taken[:1],
                    hint='name="..." and value="..." name the new columns otherwise',
                )
            fields: dict[str, Any] = {schema.names[each]: _column(each) for each in others}
            fields[name] = Switching(tuple(_text(schema.names[each]) for each in positions))
            fields[value] = Switching(tuple(map(_column, positions)))
            (index,) = unused_names(["index"], [*fields])
            return wrap_relation(rl.emit(expand(self._rel, fields, index), range(len(fields))))


def _column(position: int) -> DynExpr:
    return unbound_expr(partial(own_column, position))


def _text(value: str) -> DynExpr:
    return bound_expr(ex.literal(value, String()), None)


def _filled(column: ex.FieldReference, value: Any, scope: Scope) -> ex.Expression:
    """Return the column with a value in place of NULL."""
    if callable(value) and not isinstance(value, ExprBase):
        value = call_function(value, scope, rows(scope))
    if value is None:
        raise InvalidArgumentError("expected a value, got None", hint="leave the column out to keep its NULLs")
    part = value if is_plain(value) and not is_list(value) else as_expression(value, scope, Role.VALUE)
    filled = scalar_call("coalesce", {}, None, None, [column, part])  # which also says that a value is of another type
    if not column.type.nullable:
        return column
    is_nullable = isinstance(part, ex.Expression) and part.type.nullable
    return filled if is_nullable else ex.Cast(filled, filled.type.as_required())


def pivoted_measures(on: Any, values: Any, measure: Any) -> dict[str, Callable[[Any], MeasureBase]]:
    """Return a measure for each value of a column, by its name; see `GroupBy.pivot`."""
    if not is_list(values) and not isinstance(values, Mapping):
        raise InvalidArgumentError("expected a list of the values that become columns", got=values)
    if not values:
        raise InvalidArgumentError("expected at least one value that becomes a column")
    named = dict(values) if isinstance(values, Mapping) else {}
    for name in named:
        require_name(name)
    if not isinstance(values, Mapping):
        texts = ["null" if value is None else str(value) for value in values]
        require_distinct(texts)
        named = dict(zip(texts, values, strict=True))
    return {name: partial(_measure_of_value, on, value, measure) for name, value in named.items()}


def _called(value: Any, row: DynRow) -> Any:
    """Return what a lambda returns for the row; anything else as it is."""
    return call_with_rows(value, [row]) if callable(value) and not isinstance(value, ExprBase) else value


def _measure_of_value(on: Any, value: object, measure: Any, row: DynRow) -> MeasureBase:
    from substrait_dsl.fluent.computed_measures import ComputedMeasure

    key = _called(on, row)
    if isinstance(key, str | int) and not isinstance(key, bool):
        key = row[key]
    if not isinstance(key, ExprBase):
        raise InvalidArgumentError("expected a column or an expression whose values become columns", got=key)
    found = _called(measure, row)
    if isinstance(found, ComputedMeasure):
        raise TypeMismatchError(
            f"pivot takes one aggregate function, but {found._lacks}",
            hint="write agg(...), with a column for each value, and in it a filter of each function: "
            'functions.sum(x).filter(col("key") == value); fill_null(...) puts a value in place of NULLs',
        )
    if not isinstance(found, Measure):
        raise InvalidArgumentError("expected an aggregate function", got=found, hint='write functions.sum(col("x"))')
    of_value = scalar("is_null", [key]) if value is None else scalar("equal", [key, value])
    own: Any = found._filter
    return found.filter(of_value if own is None else own & of_value)
