"""Expressions of the algebra as DuckDB SQL: what the specification says, in another engine's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Rel
from tests.differential.sql_functions import FUNCTIONS, cast, literal, measure, struct
from tests.differential.tables import FIELDS

COMPARISONS = {"eq": "=", "ne": "<>", "lt": "<", "gt": ">", "le": "<=", "ge": ">="}
DIRECTIONS = {
    "asc_nulls_first": "ASC NULLS FIRST",
    "asc_nulls_last": "ASC NULLS LAST",
    "desc_nulls_first": "DESC NULLS FIRST",
    "desc_nulls_last": "DESC NULLS LAST",
}


class Relations(Protocol):
    """Writes the relation of a subquery: the query, and what its columns are called."""

    def __call__(self, rel: Rel, outer: Mapping[int, Sequence[str]]) -> tuple[str, list[str]]: ...


@attrs.frozen
class Scope:
    """What expressions see: the columns of their row, of rows around it, and how relations are written."""

    columns: Sequence[str]
    outer: Mapping[int, Sequence[str]]
    relations: Relations


def sql(expression: ex.Expression, scope: Scope) -> str:
    """An expression."""

    def of(part: ex.Expression) -> str:
        return sql(part, scope)

    match expression:
        case ex.Literal(value=value, literal_type=type_):
            return literal(value, type_)
        case ex.FieldReference(position=position, root=ex.RootReference()):
            return scope.columns[position]
        case ex.FieldReference(position=position, root=ex.OuterReference(anchor)):
            return scope.outer[anchor][position]
        case ex.FieldAccess(input=value, segment=ex.StructField(position)):
            return f"struct_extract({of(value)}, '{FIELDS[position]}')"
        case ex.NestedStruct(fields=fields):
            return struct(map(of, fields))
        case ex.NestedList(values=values):
            return f"[{', '.join(map(of, values))}]"
        case ex.ScalarFunction():
            return function(expression, scope)
        case ex.Cast(input=value, target=target, on_failure=on_failure):
            return cast(of(value), value.type, target, "CAST" if on_failure == "throw" else "TRY_CAST")
        case ex.IfThen(clauses=clauses, otherwise=otherwise):
            whens = " ".join(f"WHEN {of(clause.condition)} THEN {of(clause.then)}" for clause in clauses)
            return f"CASE {whens} ELSE {of(otherwise)} END"
        case ex.Switch(match=value, cases=cases, otherwise=otherwise):
            whens = " ".join(f"WHEN {of(case.value)} THEN {of(case.then)}" for case in cases)
            return f"CASE {of(value)} {whens} ELSE {of(otherwise)} END"
        case ex.SingularOrList(value=value, options=options):
            return "(" + " OR ".join(f"{of(value)} = {of(option)}" for option in options) + ")"
        case ex.ScalarSubquery(input=rel):
            return f"({scope.relations(rel, scope.outer)[0]})"
        case ex.SetPredicate(op="exists", tuples=rel):
            return f"EXISTS ({scope.relations(rel, scope.outer)[0]})"
        case ex.SetPredicate(op="unique", tuples=rel):
            query, columns = scope.relations(rel, scope.outer)
            known = " AND ".join(f"{column} IS NOT NULL" for column in columns)
            listed = ", ".join(columns)
            return f"NOT EXISTS (SELECT 1 FROM ({query}) WHERE {known} GROUP BY {listed} HAVING count(*) > 1)"
        case ex.InPredicate(needles=needles, haystack=rel):
            query, columns = scope.relations(rel, scope.outer)
            pairs = zip(needles, columns, strict=True)
            return marked(query, " AND ".join(f"{of(needle)} = {column}" for needle, column in pairs))
        case ex.SetComparison(reduction=reduction, comparison=comparison, left=left, right=rel):
            query, (column,) = scope.relations(rel, scope.outer)
            test = f"({of(left)} {COMPARISONS[comparison]} {column})"
            return marked(query, test) if reduction == "any" else f"(NOT {marked(query, f'(NOT {test})')})"
        case ex.WindowFunction(call=call, partitions=partitions, sorts=sorts):
            return window(call, partitions, sorts, scope)
        case _:
            raise NotImplementedError(type(expression).__name__)


def marked(query: str, test: str) -> str:
    """Whether a test is true for any row of a query: true, else unknown if it is that for any, else false.

    By counting: DuckDB takes a correlated subquery in fewer places than SQL does.
    """
    return (
        "(SELECT CASE WHEN count(*) FILTER (WHERE t) > 0 THEN TRUE WHEN count(*) FILTER (WHERE t IS NULL) > 0 THEN NULL"
        f" ELSE FALSE END FROM (SELECT {test} AS t FROM ({query})))"
    )


def function(call: ex.ScalarFunction, scope: Scope) -> str:
    """The call of a scalar function."""
    texts = [sql(argument, scope) for argument in call.arguments if isinstance(argument, ex.Expression)]
    return FUNCTIONS[call.function.name](call, texts)


# --- windows


def window(call: ex.WindowCall, partitions: Sequence[ex.Expression], sorts: Sequence[ex.SortKey], here: Scope) -> str:
    """A window function."""
    texts = [sql(argument, here) for argument in call.arguments if isinstance(argument, ex.Expression)]
    by = ", ".join(sql(partition, here) for partition in partitions)
    over = f"PARTITION BY {by} " if by else ""
    return measure(call, texts, "", f" OVER ({over}{frame(call, sorts, here)})")


def frame(call: ex.WindowCall, sorts: Sequence[ex.SortKey], here: Scope) -> str:
    """The order and the frame of a window."""
    ranged = call.bounds_type == "range" and any(bound.offset is not None for bound in (call.lower, call.upper))
    keys = [
        f"{wide(sql(key.expression, here), key.expression.type) if ranged else sql(key.expression, here)}"
        f" {DIRECTIONS[str(key.direction)]}"
        for key in sorts
    ]
    order = f"ORDER BY {', '.join(keys)} " if keys else ""
    if call.function.name in ("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"):
        return order
    if call.bounds_type == "range" and not sorts:
        return ""  # all rows are peers
    first, last = bound(call.lower, "PRECEDING", ranged), bound(call.upper, "FOLLOWING", ranged)
    return f"{order}{call.bounds_type.upper()} BETWEEN {first} AND {last}"


def wide(text: str, type_: t.Type) -> str:
    """A sort key in a type in which no sum with an offset overflows."""
    match type_:
        case _ if type(type_) in t.INTEGER_RANGES:
            return f"CAST({text} AS HUGEINT)"
        case t.Decimal():
            return f"CAST({text} AS DECIMAL(30,2))"
        case _:
            return text


def bound(given: ex.Bound, end: str, ranged: bool) -> str:
    """Where a frame begins or ends."""
    match given.kind:
        case "unbounded":
            return f"UNBOUNDED {end}"
        case "current_row":
            return "CURRENT ROW"
        case kind:
            assert isinstance(given.offset, ex.Literal)
            text = literal(given.offset.value, given.offset.type)
            return f"{wide(text, given.offset.type) if ranged else text} {kind.upper()}"
