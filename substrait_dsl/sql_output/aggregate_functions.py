"""The aggregate functions that engines are known to compute as the plan means them.

Specification: the files ``functions_*.yaml``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Expression
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.sql_output.decimals import convert_units
from substrait_dsl.sql_output.dialects import Dialect
from substrait_dsl.sql_output.functions import refusal
from substrait_dsl.sql_output.orders import order_key
from substrait_dsl.sql_output.written import Written, as_decimal, fill

if TYPE_CHECKING:
    from sqlglot import exp

EXTREMES = ("min", "max")
WRITTEN_AGGREGATES = ("count", "sum", "sum0", "avg", *EXTREMES, "any_value", "bool_and", "bool_or", "string_agg")
"""The functions that `_template` has."""
ARITHMETIC = ("functions_arithmetic", "functions_arithmetic_decimal")
_OPTIONS = {"overflow": ("ERROR", "SILENT"), "rounding": ("TIE_TO_EVEN",), "ignore_nulls": ("TRUE",)}


def write_measure(measure: ex.Measure, write: Callable[[Expression], Written], dialect: Dialect) -> Written:
    """Write a measure. Raises `UnsupportedError` for a function that is not known to be exact."""
    call = measure.function
    if call.function.standard_name == "string_agg":
        return _join_texts(measure, write, dialect)
    if call.sorts:
        raise refusal(call, dialect, "an order of its rows")
    condition = None if measure.filter is None else write(measure.filter)
    return write_aggregate(call, arguments_of(call, write, dialect), condition, dialect)


def _join_texts(measure: ex.Measure, write: Callable[[Expression], Written], dialect: Dialect) -> Written:
    """Write the texts of a group joined by a constant; the engines' own is NULL of none, the plan's the empty text."""
    from sqlglot import exp

    call = measure.function
    text, separator = (each for each in call.arguments if isinstance(each, Expression))
    is_distinct = call.invocation == "distinct"
    if call.options or not isinstance(separator, ex.Literal) or separator.value is None or (is_distinct and call.sorts):
        raise refusal(call, dialect, "an option, a separator that is no constant, or an order of distinct texts")
    _check(call, dialect)
    tree = write(text).cast(dialect).copy()
    if is_distinct:
        tree = exp.Distinct(expressions=[tree])
    if call.sorts:
        tree = exp.Order(this=tree, expressions=[order_key(each, write, dialect) for each in call.sorts])
    joined: exp.Expr = exp.GroupConcat(this=tree, separator=write(separator).tree.copy())
    if measure.filter is not None:
        joined = exp.Filter(this=joined, expression=exp.Where(this=write(measure.filter).tree.copy()))
    return Written(exp.Coalesce(this=joined, expressions=[exp.Literal.string("")]), call.output_type)


def arguments_of(
    call: ex.AggregateFunction | ex.WindowCall, write: Callable[[Expression], Written], dialect: Dialect
) -> list[Written]:
    """Return the arguments that are values, as they are aggregated."""
    values = [each for each in call.arguments if isinstance(each, Expression)]
    for each in values:
        dialect.type_text(each.type)  # which refuses what engines may compare otherwise
    if call.function.standard_name in ("sum", "sum0", "avg"):
        values = [without_widening(each) for each in values]
    return [write(each) for each in values]


def write_aggregate(
    call: ex.AggregateFunction | ex.WindowCall, values: Sequence[Written], condition: Written | None, dialect: Dialect
) -> Written:
    """Write the call of an aggregate function."""
    template, is_typed = _template(call, dialect)
    _check(call, dialect)
    return _assemble(template, call, values, condition, dialect, is_typed=is_typed)


def _check(call: ex.AggregateFunction | ex.WindowCall, dialect: Dialect) -> None:
    if call.phase != "initial_to_result":
        raise UnsupportedError(f"{call.function.name} of a part of an aggregation is not written as SQL")
    for option in call.options:
        if not {each.upper() for each in option.preferences} & {*_OPTIONS.get(option.name.lower(), ())}:
            raise refusal(call, dialect, f"the option {option.name} = {' or '.join(option.preferences)}")


def _template(call: ex.AggregateFunction | ex.WindowCall, dialect: Dialect) -> tuple[str, bool]:
    """Return what is computed of the aggregates ``{SUM}`` and the like, and whether that has the derived type."""
    urn, name, type_ = call.function.extension, call.function.name, call.output_type
    is_duckdb = dialect.name == "duckdb"
    match urn, name:
        case "functions_aggregate_generic", "count" | "any_value":
            return f"{{{name.upper()}}}", True
        case _, "min" | "max" if urn in _OF_EXTREMES:
            return f"{{{name.upper()}}}", True
        case "functions_boolean", "bool_and" | "bool_or":
            return f"{{{name.upper()}}}", True
        case _, "sum" | "sum0" if urn in ARITHMETIC:
            is_typed = isinstance(type_, (t.FP64, t.Decimal if is_duckdb else t.I64))
            return ("{SUM}", is_typed) if name == "sum" else ("COALESCE({SUM}, 0)", is_typed)
        case "functions_arithmetic", "avg" if isinstance(type_, t.FP64):
            return "{AVG}", True
        case "functions_arithmetic", "avg" if isinstance(type_, t.INTEGER_TYPES):
            return f"CAST({{SUM}} {'//' if is_duckdb else 'DIV'} {{COUNT}} AS {{T}})", True
        case "functions_arithmetic_decimal", "avg" if isinstance(type_, t.Decimal):
            return _decimal_average(call, type_, dialect), True
        case _:
            raise refusal(call, dialect)


_OF_EXTREMES = (*ARITHMETIC, "functions_datetime", "functions_string")

_FINE, _FINEST = 6, 19
"""From six digits after the point on Spark divides a decimal by a count to the same scale; up to 19 it rounds once."""


def _decimal_average(call: ex.AggregateFunction | ex.WindowCall, type_: t.Decimal[Any, Any], dialect: Dialect) -> str:
    """Return a sum by a count, rounded once, half away from zero; the engines' own averages are of other types."""
    scale = type_.scale
    if dialect.name == "duckdb":
        own = without_widening(_first_argument(call)).type
        assert isinstance(own, t.Decimal)
        if own.precision - own.scale + 2 * scale > 38:
            raise refusal(call, dialect, f"values of {own.as_required()}: give it ones with fewer digits")
        units = f"CAST({{SUM}} * {10**scale} AS HUGEINT)"
        nearest = f"(2 * {units} + SIGN({units}) * {{COUNT}}) // (2 * {{COUNT}})"
        return f"CAST({convert_units(nearest, scale)} AS {{T}})"
    if scale > _FINEST:
        raise refusal(call, dialect, f"more than {_FINEST} digits after the point")
    total, many = "CAST({SUM} AS {T})", "CAST({COUNT} AS DECIMAL(20, 0))"
    if scale >= _FINE:
        return f"CAST({total} / {many} AS {{T}})"
    rest = f"({total} % {many})"
    return f"CAST(CAST(({total} - {rest}) / {many} AS {{T}}) + CAST({rest} / {many} AS {{T}}) AS {{T}})"


def without_widening(value: Expression) -> Expression:
    """Return a decimal before it was cast to more digits: a sum is the same, and has room for them."""
    match value:
        case ex.Cast(
            input=Expression(type=t.Decimal(precision=digits, scale=scale)) as narrow,
            target=t.Decimal(precision=more, scale=wide),
        ) if wide >= scale and more - wide >= digits - scale:
            return without_widening(narrow)
        case _:
            return value


def _first_argument(call: ex.AggregateFunction | ex.WindowCall) -> Expression:
    return next(each for each in call.arguments if isinstance(each, Expression))


def _assemble(
    template: str,
    call: ex.AggregateFunction | ex.WindowCall,
    values: Sequence[Written],
    condition: Written | None,
    dialect: Dialect,
    *,
    is_typed: bool,
) -> Written:
    """Put the aggregates into a template."""
    trees = [_operand(call, value, dialect) for value in values]
    distinct = "DISTINCT " if call.invocation == "distinct" and call.function.name not in EXTREMES else ""
    arguments = ", ".join(f"{{{number}}}" for number in range(len(trees))) or "*"
    behind = "" if condition is None else f" FILTER(WHERE {{{len(trees)}}})"
    if condition is not None:
        trees.append(condition.tree)
    text = template
    for word in ("COUNT", "SUM", "AVG", "MIN", "MAX", "BOOL_AND", "BOOL_OR", "ANY_VALUE"):
        text = text.replace(f"{{{word}}}", f"{word}({distinct}{arguments}){behind}")
    types = {"T": dialect.type_text(call.output_type)} if "{T}" in text else {}
    return Written(fill(text, trees, types, dialect), call.output_type, is_typed)


def _operand(call: ex.AggregateFunction | ex.WindowCall, value: Written, dialect: Dialect) -> exp.Expr:
    """Return what is aggregated; of decimals any type will do that has the same values."""
    needs_type = call.function.name in (*EXTREMES, "any_value") or not isinstance(value.type, t.Decimal)
    return value.cast(dialect) if needs_type else as_decimal(value, dialect)
