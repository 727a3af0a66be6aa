"""Window functions as trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Expression
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.sql_output.aggregate_functions import arguments_of, write_aggregate
from substrait_dsl.sql_output.dialects import Dialect
from substrait_dsl.sql_output.functions import refusal
from substrait_dsl.sql_output.orders import order_key
from substrait_dsl.sql_output.written import Written

if TYPE_CHECKING:
    from sqlglot import exp

RANKS = ("row_number", "rank", "dense_rank", "ntile", "percent_rank", "cume_dist")
"""Functions of the place of a row, which have no frame."""
SHIFTS = ("lag", "lead")
FIRSTS = ("first_value", "last_value", "nth_value")

Write = Callable[[Expression], Written]


def write_window(
    call: ex.WindowCall, partitions: Sequence[Expression], sorts: Sequence[ex.SortKey], write: Write, dialect: Dialect
) -> Written:
    """Write a window function. Raises `UnsupportedError` for one that is not known to be exact."""
    from sqlglot import exp

    urn, name = call.function.extension, call.function.name
    values = arguments_of(call, write, dialect)
    if call.invocation == "distinct":
        raise refusal(call, dialect, "distinct values of a window")
    for part in partitions:
        dialect.type_text(part.type)
    is_framed = True
    if urn == "functions_arithmetic" and name in (*RANKS, *SHIFTS, *FIRSTS):
        if call.options:
            raise refusal(call, dialect, "an option")
        is_framed = name in FIRSTS
        written = _write_own(call, values, dialect)
    else:
        written = write_aggregate(call, values, None, dialect)
    order = [order_key(key, write, dialect) for key in sorts]
    spec = _frame(call, sorts, dialect) if is_framed else None
    if not is_framed and not order and dialect.name == "spark":  # which numbers no rows that have no order
        order = [exp.Ordered(this=exp.Null())]
    window = {
        "partition_by": [write(each).tree.copy() for each in partitions],
        "order": exp.Order(expressions=order) if order else None,
        "spec": spec,
    }
    tree = written.tree
    functions = [tree] if isinstance(tree, exp.AggFunc | exp.Anonymous) else list(tree.find_all(exp.AggFunc))
    for each in functions:
        over = exp.Window(this=each.copy(), **{key: _copied(value) for key, value in window.items()})
        if each is tree:
            tree = over
        else:
            each.replace(over)
    return Written(tree, written.type, written.is_typed)


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [each.copy() for each in value]
    return None if value is None else value.copy()


def _write_own(call: ex.WindowCall, values: Sequence[Written], dialect: Dialect) -> Written:
    from sqlglot import exp

    name, type_ = call.function.name, call.output_type
    if name in ("ntile", "nth_value", *SHIFTS):
        for number in range(0 if name == "ntile" else 1, len(values)):
            argument = [each for each in call.arguments if isinstance(each, Expression)][number]
            is_offset = number == (0 if name == "ntile" else 1)
            if not isinstance(argument, ex.Literal) or (is_offset and (argument.value is None or argument.value < 1)):
                raise refusal(call, dialect, f"an argument {number} that is no constant from 1 on")
    trees = [
        value.tree.copy() if number == 1 and name in (*SHIFTS, "nth_value") else value.cast(dialect).copy()
        for number, value in enumerate(values)
    ]
    if name == "ntile":
        trees = [values[0].tree.copy()]
    tree = exp.Anonymous(this=name.upper(), expressions=trees)
    is_typed = name not in RANKS or isinstance(type_, t.FP64) or (dialect.name == "duckdb" and isinstance(type_, t.I64))
    return Written(tree, type_, is_typed)


def _frame(call: ex.WindowCall, sorts: Sequence[ex.SortKey], dialect: Dialect) -> exp.WindowSpec | None:
    bounds = (call.lower, call.upper)
    if call.bounds_type == "range":
        if any(bound.offset is not None for bound in bounds):
            raise refusal(call, dialect, "a range that has an offset")
        if not sorts or (call.lower.kind, call.upper.kind) == ("unbounded", "unbounded"):
            return None if not sorts else _spec("ROWS", *bounds, dialect)
    if not sorts and (call.lower.kind, call.upper.kind) == ("unbounded", "unbounded"):
        return None
    return _spec(call.bounds_type.upper(), *bounds, dialect)


def _spec(kind: str, lower: ex.Bound, upper: ex.Bound, dialect: Dialect) -> exp.WindowSpec:
    from sqlglot import exp

    start, start_side = _bound(lower, "PRECEDING", dialect)
    end, end_side = _bound(upper, "FOLLOWING", dialect)
    if _place(lower, -1) > _place(upper, 1):
        raise UnsupportedError(f"a frame that has no rows is not written as SQL of {dialect.title}")
    return exp.WindowSpec(kind=kind, start=start, start_side=start_side, end=end, end_side=end_side)


def _place(bound: ex.Bound, end: int) -> float:
    if bound.kind == "unbounded":
        return end * float("inf")
    if bound.offset is None:
        return 0
    assert isinstance(bound.offset, ex.Literal)
    return float(bound.offset.value) * (-1 if bound.kind == "preceding" else 1)


def _bound(bound: ex.Bound, end: str, dialect: Dialect) -> tuple[Any, str | None]:
    from sqlglot import exp

    match bound.kind:
        case "unbounded":
            return "UNBOUNDED", end
        case "current_row":
            return "CURRENT ROW", None
        case kind:
            if not isinstance(bound.offset, ex.Literal) or not isinstance(bound.offset.type, t.I64):
                raise UnsupportedError(
                    f"a frame whose bounds are no constants is not written as SQL of {dialect.title}"
                )
            if bound.offset.value >= 2**31:
                raise UnsupportedError(f"a frame of {bound.offset.value} rows is not written as SQL of {dialect.title}")
            return exp.Literal.number(bound.offset.value), kind.upper()
