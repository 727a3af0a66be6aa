"""Columns of rows around a subquery in places where Spark does not take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp


def find_unknown_column(query: exp.Query) -> str | None:
    """Return what is wrong with a column of a row outside: Spark does not know it there; None if nothing is."""
    from sqlglot import exp

    tables: dict[int, set[str]] = {}
    for column in query.find_all(exp.Column):
        levels = _levels(column, tables) if column.table else 0
        if levels > 1:
            return f"the column {column.name} of a row around two subqueries, one in the other,"
        if levels == 1 and _is_mixed(column, tables):
            return f"the column {column.name} of a row around a subquery, in an aggregate of columns of its own,"
    return None


def _is_mixed(outside: exp.Column, tables: dict[int, set[str]]) -> bool:
    """Whether a column of a row outside is in an aggregate function that has a column of its own query, too."""
    from sqlglot import exp

    call = outside.find_ancestor(exp.AggFunc, exp.Filter, exp.Select)
    select = outside.find_ancestor(exp.Select)
    if select is None or not isinstance(call, exp.AggFunc | exp.Filter):
        return False
    if isinstance(call.parent, exp.Filter):
        call = call.parent
    own = tables.setdefault(id(select), set(_tables_of(select)))
    return any(column.table in own for column in call.find_all(exp.Column))


def _levels(column: exp.Column, tables: dict[int, set[str]]) -> int:
    """Return how many subqueries are between a column and the query that has its table; `tables` has those seen."""
    from sqlglot import exp

    levels, node = 0, column.parent
    while node is not None:
        match node:
            case exp.Select():
                if id(node) not in tables:
                    tables[id(node)] = set(_tables_of(node))
                if column.table in tables[id(node)]:
                    return levels
            case exp.Exists() | exp.In() | exp.Lateral():
                levels += 1
            case exp.Subquery() if not isinstance(node.parent, exp.From | exp.Join | exp.In | exp.Lateral | exp.Exists):
                levels += 1
        node = node.parent
    return 0


def _tables_of(select: exp.Select) -> list[str]:
    """Return the names of the tables that a query reads."""
    source = select.args.get("from_")
    joins = [join.this for join in select.args.get("joins") or ()]
    views = select.args.get("laterals") or ()
    return [each.alias_or_name for each in ([] if source is None else [source.this]) + joins + list(views)]
