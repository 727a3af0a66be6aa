"""Lowering of `group_by`: an aggregate over columns of the keys and of the arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from substrait_dsl import functions
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldReference, literal
from substrait_dsl.algebra.node import Rel
from substrait_dsl.errors import FunctionNotFoundError, UnsupportedError, error_context
from substrait_dsl.fluent.base import wrap_relation
from substrait_dsl.partiql import lowered_values as lv
from substrait_dsl.partiql.bindings import AggregateFunction, GroupBy
from substrait_dsl.partiql.calls import call, cast, comparison_class_of_type
from substrait_dsl.partiql.collected_lists import collect_list_of, materialize_element
from substrait_dsl.partiql.constants import to_literal
from substrait_dsl.partiql.lowered import LoweredBindings
from substrait_dsl.partiql.node import ValueExpr
from substrait_dsl.partiql.untyped import is_dynamic, non_null_value, require_typed


def lower_group_by(
    group_by: GroupBy, rows: LoweredBindings, value_of: Callable[[ValueExpr], lv.LoweredValue]
) -> LoweredBindings:
    """Return a row for each combination of keys; keys and arguments become columns first."""

    def column(value: ValueExpr, what: str, is_counted: bool = False) -> lv.Column:
        lowered = lv.expand_constant(value_of(value))
        if isinstance(lowered, lv.Constant):
            return lv.Column(to_literal(lowered.value))
        if is_counted and isinstance(lowered, lv.NullableComposite):
            return lv.Column(call("nullif", lowered.is_present.expression, literal(False, t.Boolean())))
        if is_counted and not isinstance(lowered, lv.Column):
            return lv.Column(literal(True, t.Boolean()))  # it is there for each row
        if isinstance(lowered, lv.Column) and is_dynamic(lowered) and is_counted:
            return lv.Column(non_null_value(lowered))
        require_typed(lowered, what)
        if not isinstance(lowered, lv.Column):
            raise UnsupportedError(f"{what} that is no column is not lowered to Substrait")
        return lowered

    keys = [column(key.value, "a key of a group by").expression for key in group_by.keys]
    measured = []
    for one in group_by.measures:
        with error_context(place=f'"{one.name}"'):
            of = column(one.value, f"the {one.function} of what", is_counted=one.function == "count")
            measured.append(_prepare_argument(one.function, of).expression)
    member = lv.Attributes(tuple(rows.variables.items()))
    group = [] if group_by.group_as is None else [materialize_element(member, group_by.group_as)]
    computed = (*keys, *measured, *group)
    rows, columns = rows.with_columns(*((f"grouped{number}", one) for number, one in enumerate(computed)))
    aggregates = columns[len(keys) :]
    for one, argument in zip(group_by.measures, aggregates, strict=False):
        with error_context(place=f'"{one.name}"'):
            _require_function(one.function, argument, rows.rel)
    measures = [_measure(one.function, argument) for one, argument in zip(group_by.measures, aggregates, strict=False)]
    measures += map(collect_list_of, aggregates[len(measures) :])
    rel, found = _aggregate(rows.rel, columns[: len(keys)], measures)
    values: list[lv.LoweredValue] = [*found]
    if group:
        values[-1] = lv.CollectedList(found[-1], member)
    return LoweredBindings(rel, "bag", dict(zip(group_by.variables, values, strict=True)))


def _aggregate(rel: Rel, keys: Sequence[FieldReference], measures: Sequence[Any]) -> tuple[Rel, list[lv.Column]]:
    """Return the aggregate and its columns: keys, then measures. A missing key counts as null."""
    computed = [part for measure in measures for part in (measure if isinstance(measure, tuple) else (measure,))]
    folded = wrap_relation(rel).aggregate(
        *(key.position for key in keys), **{f"measure{number}": each for number, each in enumerate(computed)}
    )
    columns = iter([FieldReference(position, field.type) for position, field in enumerate(folded._rel.schema)])
    found: list[Expression] = [next(columns) for _ in keys]
    found += (
        _quotient(next(columns), next(columns)) if isinstance(measure, tuple) else next(columns) for measure in measures
    )
    return folded._rel, [lv.Column(each) for each in found]


def _require_function(function: AggregateFunction, column: FieldReference, rel: Rel) -> None:
    """Raise `UnsupportedError` for an aggregate that no function of Substrait computes for columns of the type."""
    if comparison_class_of_type(column.type) == "number":
        return
    try:
        wrap_relation(rel).aggregate(it=lambda row: getattr(functions, function)(row[column.position]))
    except FunctionNotFoundError as error:
        raise UnsupportedError(
            f"the {function} of {column.type} is not lowered: Substrait's {function} takes no such values",
            hint="order_by(key).limit(1) gives a tuple with the least, desc(key) one with the greatest"
            if function in ("min", "max")
            else None,
        ) from error


def _prepare_argument(function: AggregateFunction, column: lv.Column) -> lv.Column:
    """Return the argument of an aggregate. Raises `UnsupportedError` where engines compute other digits."""
    type_ = column.type
    if function == "avg" and isinstance(type_, t.Decimal) and type_.scale > _PLACES:
        raise UnsupportedError(
            f"the average of {type_} is not lowered to Substrait: engines keep {_PLACES} digits behind the point"
        )
    if function == "avg" and isinstance(type_, t.INTEGER_TYPES):
        return lv.Column(cast(column.expression, t.Decimal(19, 0)), column.absent)
    if function == "sum" and isinstance(type_, t.INTEGER_TYPES):
        return lv.Column(cast(column.expression, t.I64()), column.absent)
    if function in ("sum", "avg") and isinstance(type_, t.FP32):
        return lv.Column(cast(column.expression, t.FP64()), column.absent)
    return column


_PLACES = 6
"""The scale that Substrait keeps of a sum of decimals that is divided by a count."""


def _measure(function: AggregateFunction, column: FieldReference) -> Any:
    """Return the aggregate of a column, for the aggregate's lambda; an average of decimals needs two."""
    if function == "avg" and isinstance(column.type, t.Decimal):
        return _measure("sum", column), _measure("count", column)
    return lambda row: getattr(functions, function)(row[column.position])


def _quotient(total: Expression, count: Expression) -> Expression:
    """Return an average; NULL of no values."""
    many = call("nullif", count, literal(0, t.I64()))
    return call("divide", total, cast(many, t.Decimal(19, 0)))
