"""What users have bound to aggregate functions of their own extensions, as Spark SQL text.

SQL text says itself where a filter, a window and DISTINCT go. In a Column each aggregate function gets the filter. A
Python function gets the rows of a group as a list, which Spark collects as it collects any list: so filters, DISTINCT,
an order, other measures, groups without rows and windows are what they are for Spark's own functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.catalog.implementations import DISTINCT, FILTER, Implementation, placeholders
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.bound_functions import (
    CLAUSE,
    CONDITION,
    ON_SPARK,
    BoundCall,
    bound_to,
    function_of_python,
    require_at_each,
    text_of_columns,
    text_of_sql,
)
from substrait_dsl.spark.expressions.literals import record_to_sql
from substrait_dsl.spark.expressions.signed_zeros import one_zero
from substrait_dsl.spark.expressions.sorting import SortKeys, list_in_order
from substrait_dsl.spark.session.engines import ENGINE, current_engine

_KEY = "__sd_key_{}__"
"""The name that stands for a sort key until its text is filled in."""


def bound_aggregate(
    call: ex.AggregateFunction, texts: Sequence[str], sorts: SortKeys, condition: str | None
) -> str | None:
    """Write the call of an aggregate function as the implementation that is bound to it; None: there is none.

    Args:
        call: the call.
        texts: the SQL text of its arguments.
        sorts: the SQL text of its sort keys.
        condition: the SQL text of its filter.

    Raises:
        UnsupportedError: the implementation does not run on the engine, or not with this filter, order or DISTINCT, or
            its result is of another type.
    """
    bound = bound_to(call)
    if bound is None:
        return None
    where = f" FILTER (WHERE {condition})" if condition else ""
    match bound.found.takes:
        case "sql":
            _require_no_order(bound.found, sorts)
            distinct = _distinct(bound)
            _require_places(bound.found, {DISTINCT: distinct, FILTER: where})
            asked = f" FILTER (WHERE {CONDITION})" if where else ""
            template = text_of_sql(bound, {DISTINCT: distinct, FILTER: CLAUSE}, {DISTINCT: distinct, FILTER: asked})
            for name in [DISTINCT] * bool(distinct) + [FILTER] * bool(where):
                require_at_each(bound, name)
            return bound.checked(template, texts, {CLAUSE: where})
        case "columns":
            _require_no_order(bound.found, sorts)
            if bound.is_distinct:
                raise _refuse_rows(bound.found, "distinct values")
            template = text_of_columns(bound, filtered=condition is not None)
            return bound.checked(template, texts, {CONDITION: condition or ""})
        case _:
            _require_order_of_values(bound, texts, sorts)
            keys = {_KEY.format(position): (text, way) for position, (text, way) in enumerate(sorts)}
            template = _call_of_python(bound, [(name, way) for name, (_, way) in keys.items()])
            return bound.checked(template, texts, {CLAUSE: where, **{name: text for name, (text, _) in keys.items()}})


def bound_window(call: ex.WindowCall, texts: Sequence[str], frame: str) -> str | None:
    """Write the call of an aggregate function over a frame as what is bound to it; None: nothing is.

    Raises:
        UnsupportedError: the implementation does not run on the engine, or not over a window.
    """
    bound = bound_to(call)
    if bound is None:
        return None
    if bound.is_distinct:
        raise UnsupportedError(f"{ENGINE} cannot run {call.function.name} over the distinct values of a window")
    match bound.found.takes:
        case "sql":
            _require_places(bound.found, {FILTER: frame})
            template = text_of_sql(bound, {DISTINCT: "", FILTER: CLAUSE}, {DISTINCT: "", FILTER: ""})
            require_at_each(bound, FILTER)
        case "columns":
            raise _refuse_rows(bound.found, "the rows of a window")
        case _:
            template = _call_of_python(bound, ())
    return bound.checked(template, texts, {CLAUSE: frame})


def _distinct(bound: BoundCall) -> str:
    return "DISTINCT " if bound.is_distinct else ""


def _require_places(found: Implementation, clauses: dict[str, str]) -> None:
    """Raise `UnsupportedError` for text that has no place for a clause of the call."""
    assert isinstance(found.body, str)
    places = set(placeholders(found.body)) - set(found.arguments)
    for name, clause in clauses.items():
        if clause and name not in places:
            raise UnsupportedError(
                f"{found.title} has no {{{name}}}, and a call of it has {clause.split()[0]}",
                hint=f"write it at each aggregate function in the text: avg({{{DISTINCT}}}{{0}}){{{FILTER}}}",
            )


def _require_no_order(found: Implementation, sorts: SortKeys) -> None:
    """Raise `UnsupportedError` for an order of rows, which only Python functions get."""
    if sorts:
        raise _refuse_rows(found, "rows in an order")


def _refuse_rows(found: Implementation, rows: str) -> UnsupportedError:
    what = "SQL text" if found.takes == "sql" else "a function of Columns"
    elsewhere = "" if current_engine().runs_python_functions else f"; {ON_SPARK}"
    return UnsupportedError(
        f"{found.title} is {what}, which is not run over {rows}",
        hint=f'sd.implement(my.{found.name}, "spark", ..., takes="values") takes lists of the values of such rows'
        f"{elsewhere}",
    )


def _require_order_of_values(bound: BoundCall, texts: Sequence[str], sorts: SortKeys) -> None:
    """Raise `UnsupportedError` for distinct values in an order of something else."""
    if bound.is_distinct and any(key not in texts for key, _ in sorts):
        raise UnsupportedError(
            f"{ENGINE} cannot run {bound.call.function.name} of distinct values that are ordered by something else than"
            " themselves"
        )


def _call_of_python(bound: BoundCall, sorts: SortKeys) -> str:
    """Return the call of a Python function with the list of the rows of a group, with names for its arguments."""
    name = function_of_python(bound)
    texts = bound.names
    if bound.is_distinct:
        texts = [one_zero(text, value.type) for text, value in zip(texts, bound.values, strict=True)]
    record = record_to_sql({f"v{position}": text for position, text in enumerate(texts)})
    distinct = _distinct(bound)
    if sorts:
        return f"{name}({list_in_order(record, sorts, {'distinct': distinct, 'filter': CLAUSE})})"
    return f"{name}(collect_list({distinct}{record}){CLAUSE})"
