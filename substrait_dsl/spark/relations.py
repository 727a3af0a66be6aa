"""Relations of one input that need no module of their own: filter, sort, project, emit, fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions import Expression, FieldReference, Literal
from substrait_dsl.algebra.expressions.references import ROOT
from substrait_dsl.algebra.relations import Emit, Fetch, Filter, Project, Sort
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.spark.expressions import direction_of
from substrait_dsl.spark.hosts import has_correlated, host
from substrait_dsl.spark.tables import Item, Rows

if TYPE_CHECKING:
    from substrait_dsl.spark.lowering import Lowering

MOST_ROWS = 2**31 - 1
"""How many rows Spark can skip and take at most, together."""


def lower_filter(rel: Filter, to: Lowering) -> Rows:
    """A WHERE; subqueries among its conjuncts become semi and anti joins."""
    return filtered(to[rel.input], rel.condition, rel.anchor, to)


def filtered(rows: Rows, condition: Expression, anchor: int | None, to: Lowering) -> Rows:
    """The rows for which a condition is true."""
    rows, here = host(to, rows, anchor, [condition])
    table = rows.table
    for conjunct in conjuncts(condition):
        table = table.where(here.condition(conjunct))
    return Rows(table, rows.columns)


def lower_sort(rel: Sort, to: Lowering) -> Rows:
    """An ORDER BY. A clustered key is sorted, which puts equal values together."""
    rows, here = host(to, to[rel.input], rel.anchor, [key.expression for key in rel.keys], hoist=True)
    return Rows(rows.table.sort([(here.sql(key.expression), direction_of(key)) for key in rel.keys]), rows.columns)


def lower_project(rel: Project, to: Lowering) -> Rows:
    """A SELECT of further columns; mere references are columns that are there already."""
    rows = to[rel.input]
    computed = [expression for expression in rel.expressions if _column(expression, rows) is None]
    made: list[Item] = []
    if computed:
        rows, here = host(to, rows, rel.anchor, computed)
        if has_correlated(computed):
            rows = rows.fenced()
        made = [Item(here.sql(expression), (to.space.name(),)) for expression in computed]
        rows = Rows(rows.extended(made).table, rows.columns)
    new = (item.names[0] for item in made)
    added = tuple(_column(expression, rows) or next(new) for expression in rel.expressions)
    return Rows(rows.table, rows.columns + added)


def _column(expression: Expression, rows: Rows) -> str | None:
    """The column that an expression merely refers to."""
    match expression:
        case FieldReference(position=position, root=root) if root == ROOT:
            return rows.columns[position]
        case _:
            return None


def lower_emit(rel: Emit, to: Lowering) -> Rows:
    """Nothing to do: the columns are chosen by whoever reads them."""
    return to[rel.input].pick(rel.mapping)


def lower_fetch(rel: Fetch, to: Lowering) -> Rows:
    """An OFFSET and a LIMIT, which Spark takes as numbers: other expressions are evaluated now."""
    rows = to[rel.input]
    offset = _number(rel.offset, "offset", to) or 0
    count = _number(rel.count, "count", to)
    if offset + (count or 0) > MOST_ROWS:
        raise UnsupportedError(
            f"Spark cannot skip {offset} and take {count or 'all'} rows: together no more than {MOST_ROWS}",
            hint="leave out the count, if all rows are meant",
        )
    return Rows(rows.table.fetch(offset, count), rows.columns)


def _number(expression: Expression | None, what: str, to: Lowering) -> int | None:
    """The value of a fetch's count or offset; None if it is not given, or NULL."""
    if expression is None:
        return None
    if isinstance(expression, Literal):
        number = expression.value
    elif expression.free_anchors:
        raise UnsupportedError(f"Spark cannot take the {what} of a fetch from an enclosing row")
    else:
        rows, here = host(to.main, Rows(to.main.one_row([]), ()), None, [expression])
        value = Item(f"CAST({here.sql(expression)} AS BIGINT)", (to.space.name(),))
        number = to.main.first(rows.extended([value]))
    if number is not None and number < 0:
        raise ExecutionError(f"the {what} of a fetch must not be negative, it is {number}")
    return None if number is None else int(number)
