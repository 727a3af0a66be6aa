"""Subqueries as SQL text: as values anywhere, and as conditions of a filter.

As a value each follows three-valued logic exactly. A condition need only be true when the subquery is true, which
leaves Spark free to plan a semi or anti join.

Specification: https://substrait.io/expressions/subqueries/.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeGuard, assert_never

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.relations import Aggregate, Emit, Filter, Project
from substrait_dsl.algebra.relations.joins import BOOLEAN_URN
from substrait_dsl.spark.expressions.grouping_keys import as_key
from substrait_dsl.spark.expressions.pushdown import hide_column_from_readers, hide_from_readers, predicate_sql
from substrait_dsl.spark.expressions.sql_text import AnySubquery, Scope, to_sql
from substrait_dsl.spark.expressions.templates import require_comparable
from substrait_dsl.spark.relations.mark_joins import Key, Test, mark
from substrait_dsl.spark.relations.tables import Item
from substrait_dsl.spark.relations.texts import TextTable
from substrait_dsl.spark.session.engines import current_engine

if TYPE_CHECKING:
    from substrait_dsl.algebra.expressions.subqueries import ComparisonOp
    from substrait_dsl.algebra.node import Node, Rel
    from substrait_dsl.spark.relations.input_lowering import InputLowering
    from substrait_dsl.spark.session.execution_context import ExecutionContext

_SQL: dict[ComparisonOp, str] = {"eq": "=", "ne": "<>", "lt": "<", "gt": ">", "le": "<=", "ge": ">="}
_OPPOSITE: dict[ComparisonOp, ComparisonOp] = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def is_subquery(node: Node) -> TypeGuard[AnySubquery]:
    """Whether a node is an expression that holds a relation."""
    return isinstance(node, AnySubquery)


def relation_of(subquery: AnySubquery) -> Rel:
    """Return the relation of a subquery."""
    match subquery:
        case (
            ex.ScalarSubquery(input=rel)
            | ex.InPredicate(haystack=rel)
            | ex.SetPredicate(tuples=rel)
            | ex.SetComparison(right=rel)
        ):
            return rel
        case never:
            assert_never(never)


def computed_operands(subqueries: Iterable[AnySubquery]) -> Iterator[ex.Expression]:
    """Yield the computed left operands. In comparisons of a mere column both zeros are equal."""
    for subquery in subqueries:
        match subquery:
            case ex.InPredicate(needles=needles):
                yield from (needle for needle in needles if not isinstance(needle, ex.FieldReference))
            case ex.SetComparison(left=left) if not isinstance(left, ex.FieldReference):
                yield left
            case _:
                pass


def depends_on_row(subquery: AnySubquery) -> bool:
    """Whether the SQL text of a subquery refers to the outer row."""
    return isinstance(subquery, ex.InPredicate | ex.SetComparison) or bool(subquery.free_anchors)


def is_constant(subquery: AnySubquery) -> bool:
    """Whether a subquery is one value for all rows: it is scalar and uncorrelated."""
    return isinstance(subquery, ex.ScalarSubquery) and not subquery.free_anchors


def value(subquery: AnySubquery, scope: Scope, lowering: InputLowering) -> str:
    """Write the value of a subquery.

    Args:
        subquery: the expression.
        scope: the scope of the expression's own relation, for the left operands.
        lowering: the lowering of the relation inside, with that scope as outer rows.
    """
    match subquery:
        case ex.ScalarSubquery(input=rel):
            table, (column,) = lowering.lower_to_text(rel)
            return scalar(table.query([Item(column, (column,))]), rel)
        case ex.SetPredicate(op="exists", tuples=rel):
            return lowering.lower_to_text(rel)[0].exists(outer_columns=lowering.outer_columns(rel))
        case ex.SetPredicate(tuples=rel):
            return _unique(rel, lowering)
        case ex.InPredicate(needles=needles, haystack=rel):
            table, columns = lowering.lower_to_text(rel)
            keys = _keys(needles, rel, columns, scope)
            return mark(
                table, keys, lowering.execution, outer_columns=lowering.outer_columns(rel), fixed=not rel.free_anchors
            )
        case ex.SetComparison(reduction="all", comparison=comparison, left=left, right=rel):
            # All rows compare so, unless any compares the opposite way: in three-valued logic, too.
            return f"(NOT {_any(_OPPOSITE[comparison], left, rel, scope, lowering)})"
        case ex.SetComparison(comparison=comparison, left=left, right=rel):
            return _any(comparison, left, rel, scope, lowering)
        case never:
            assert_never(never)


def scalar(query: str, rel: Rel, *, folded: bool = False) -> str:
    """Write a scalar subquery.

    Args:
        query: its text, without an order or a limit.
        rel: where its rows come from.
        folded: whether it makes one row of these.
    """
    return f"({query}{_KEEPS_ROWS if _has_inner_aggregate(rel, folded=folded) else ''})"


_KEEPS_ROWS = " OFFSET 0"
"""An OFFSET that keeps the row that a nested aggregate makes of no rows.

Where a scalar subquery is an aggregate, Spark restores only that aggregate's row for outer rows without a match:
``SELECT count(1) FROM (SELECT max(c) FROM t WHERE c < outside)`` gives 0 there, not 1. Where the subquery is anything
else, it restores the row of every aggregate.
"""


def _has_inner_aggregate(rel: Rel, *, folded: bool) -> bool:
    """Whether below an aggregate there is another one that makes one row of correlated rows."""
    top = rel
    # below a relation that is not named here, an aggregate counts as an inner one, whose row is kept
    while isinstance(top, Project | Emit | Filter):
        top = top.input
    inner = (node for node in walk(rel) if folded or node is not top)
    return any(
        isinstance(node, Aggregate) and node.single_row and node.free_anchors & rel.free_anchors for node in inner
    )


def condition(expression: ex.Expression, scope: Scope, lowering: InputLowering) -> str:
    """Write a conjunct of a filter: true exactly where the expression is true."""
    negated = _operand_of_not(expression)
    match negated or expression:
        case ex.InPredicate(needles=needles, haystack=rel):
            table, columns = lowering.lower_to_text(rel)
            keys = _keys(needles, rel, columns, scope)
            # Spark carries an IN over to other columns that are equal to the needle, an EXISTS it does not.
            return (
                _none_match(table, keys, rel, lowering)
                if negated
                else _write_in_predicate(table, keys, lowering.execution, lowering.outer_columns(rel))
            )
        case ex.SetPredicate() as predicate:
            return f"{'NOT ' if negated else ''}{value(predicate, scope, lowering)}"
        case ex.SetComparison(reduction=reduction, comparison=comparison, left=left, right=rel):
            # "not any" is "all", the opposite way round; either way, look for rows that speak against it or for it.
            table, (column,) = lowering.lower_to_text(rel)
            wanted = comparison if reduction == "any" else _OPPOSITE[comparison]
            test = _comparison(wanted, left, rel, column, scope)
            if (reduction == "any") is (negated is None):
                return table.exists(test.holds, outer_columns=lowering.outer_columns(rel))
            return _none_match(table, [test], rel, lowering)
        case _:
            return predicate_sql(to_sql(expression, scope), expression)


def _operand_of_not(expression: ex.Expression) -> ex.Expression | None:
    """Return the operand of a ``not``."""
    match expression:
        case ex.ScalarFunction(function=function, arguments=(ex.Expression() as argument,)) if (
            function.urn == BOOLEAN_URN and function.name == "not"
        ):
            return argument
        case _:
            return None


def _keys(needles: tuple[ex.Expression, ...], rel: Rel, columns: tuple[str, ...], scope: Scope) -> list[Key]:
    for needle in needles:
        require_comparable(needle.type, "is_in")
    return [
        Key(
            hide_from_readers(to_sql(needle, scope.for_operands), needle, ()),
            hide_column_from_readers(column, field.type, [needle]),
            needle.type.nullable or field.type.nullable,
        )
        for needle, column, field in zip(needles, columns, rel.schema, strict=True)
    ]


def _comparison(comparison: ComparisonOp, left: ex.Expression, rel: Rel, column: str, scope: Scope) -> Key | Test:
    require_comparable(left.type, "a comparison with the values of a relation")
    type_ = rel.schema.fields[0].type
    nullable = left.type.nullable or type_.nullable
    by_order = comparison not in ("eq", "ne")
    needle = hide_from_readers(to_sql(left, scope.for_operands), left, ())
    value = hide_column_from_readers(column, type_, [left], ordered=by_order)
    if comparison == "eq":
        return Key(needle, value, nullable)
    test = f"({needle} {_SQL[comparison]} {value})"
    return Test(test, nullable, test)


def _any(comparison: ComparisonOp, left: ex.Expression, rel: Rel, scope: Scope, lowering: InputLowering) -> str:
    table, (column,) = lowering.lower_to_text(rel)
    test = _comparison(comparison, left, rel, column, scope)
    return mark(
        table, [test], lowering.execution, outer_columns=lowering.outer_columns(rel), fixed=not rel.free_anchors
    )


def _write_in_predicate(
    table: TextTable, keys: Sequence[Key], execution: ExecutionContext, outer_columns: Sequence[str]
) -> str:
    if len(keys) > 1 and not current_engine().has_tuples:
        return table.exists(*(key.holds for key in keys), outer_columns=outer_columns)
    inside = table.query([Item(key.inside, (execution.name(),)) for key in keys])
    return f"({', '.join(key.outside for key in keys)}) IN ({inside})"


def _none_match(table: TextTable, tests: Sequence[Key | Test], rel: Rel, lowering: InputLowering) -> str:
    """Write a condition: for every row of the table, some test is false."""
    keys = [test for test in tests if isinstance(test, Key)]
    is_nullable = any(test.nullable for test in tests)
    engine = current_engine()
    is_native = len(keys) == len(tests) and (len(keys) == 1 or engine.has_tuples)
    is_native = is_native and (engine.negates_each or not rel.free_anchors)
    if is_nullable and is_native:  # Spark has a null-aware join for this, and only for this
        return f"NOT {_write_in_predicate(table, keys, lowering.execution, lowering.outer_columns(rel))}"
    against = (f"coalesce({test.value}, true)" if is_nullable else test.holds for test in tests)
    return f"NOT {table.exists(*against, outer_columns=lowering.outer_columns(rel))}"


def _unique(rel: Rel, lowering: InputLowering) -> str:
    """Whether no two rows are equal; a row with a NULL in it equals none."""
    table, columns = lowering.lower_to_text(rel)
    many, *keys = lowering.execution.names(1 + len(columns))
    for column in columns:
        table = table.where(f"{column} IS NOT NULL")
    key_texts = map(as_key, columns, rel.schema.types)
    table = table.select([Item(text, (key,)) for text, key in zip(key_texts, keys, strict=True)])
    counted = table.group(keys, [Item("count(1)", (many,))])
    return f"(NOT {counted.exists(f'{many} > 1', outer_columns=lowering.outer_columns(rel))})"
