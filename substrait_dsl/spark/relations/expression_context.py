"""The context of expressions: the rows in their scope, and how the subqueries in them are lowered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING, cast

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.expressions import ROOT
from substrait_dsl.algebra.node import Node, walk
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.algebra.types import Type
from substrait_dsl.spark.expressions.bound_functions import is_nondeterministic
from substrait_dsl.spark.expressions.pushdown import column_sql
from substrait_dsl.spark.expressions.sql_text import AnySubquery, Scope, to_sql
from substrait_dsl.spark.relations import subqueries
from substrait_dsl.spark.relations.column_pruning import columns_outside, referenced_types
from substrait_dsl.spark.relations.correlated_floats import distinguish_zeros
from substrait_dsl.spark.relations.correlated_limits import exact_limits
from substrait_dsl.spark.relations.subqueries import (
    computed_operands,
    depends_on_row,
    is_constant,
    is_subquery,
    relation_of,
)
from substrait_dsl.spark.relations.tables import NAME, Item, Rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from substrait_dsl.spark.relations.input_lowering import InputLowering


_Part = AnySubquery | ex.WindowFunction | ex.Lambda | ex.ScalarFunction


@attrs.frozen
class ExpressionContext:
    """Writes the expressions of one relation."""

    scope: Scope
    inside: InputLowering
    """Lowers the subqueries, with the row of this context as their outer row."""

    def sql(self, expression: ex.Expression) -> str:
        """Write an expression."""
        return to_sql(expression, self.scope)

    def condition(self, conjunct: ex.Expression) -> str:
        """Write a conjunct of a filter: true exactly where the expression is true."""
        return subqueries.condition(conjunct, self.scope, self.inside)


def prepare_context(
    lowering: InputLowering,
    rows: Rows,
    anchor: int | None,
    expressions: Sequence[Node],
    *,
    hoist: bool = False,
    windows: bool = False,
    lookups: Sequence[Node] = (),
    visible: tuple[str, ...] | None = None,
    is_read: bool = True,
) -> tuple[Rows, ExpressionContext]:
    """Prepare rows for expressions over them, and the context in which these are lowered.

    Args:
        lowering: the lowering that the expressions' relation is part of.
        rows: the rows that the expressions see.
        anchor: the anchor of outer references to that row.
        expressions: the expressions.
        hoist: whether all subqueries are computed in a projection below: Spark accepts them in a filter and in a
            projection, but not everywhere else, nor in a lambda or a window there. Operands of subqueries always are.
        windows: whether window functions are allowed in the expressions, as in a projection. If not, they are computed
            below, and so is one that is nested in another.
        lookups: nodes that will be part of a subquery to which the relation itself is lowered.
        visible: the columns that the expressions see, by position, if they are not the rows' own.
        is_read: whether the expressions are part of a query, so that constants are hidden from predicate pushdown.

    Returns:
        The rows to build on, with the same columns, and the context.
    """
    nested = [node for expression in expressions for node in _find_restricted_parts(expression)]
    looked_up = [node for node in nested if is_subquery(node)]
    everything = lowering.as_text and (hoist or len(looked_up) < len(nested))  # a lambda or a window
    inner = [*lookups, *(expressions if everything else looked_up)]
    width = len(rows.columns)
    computed: dict[int, str] = {}
    rows, context = _make_context(lowering, rows, anchor, looked_up, inner, visible, computed)
    if not lookups:
        context.inside.exact_limits = _exact_limits(looked_up)
    alone = (
        _find_subqueries_beside_outer_rows(expressions, sees_outer=visible is not None) if lowering.as_text else set()
    )
    below = alone | _nested_parts(nested)
    if looked_up and not hoist:
        below |= _find_subqueries_beside_lambdas(expressions, context.scope, is_read=is_read)
    if windows:  # a column of a projection stands in one place
        columns = set(map(id, expressions))
        nested = [node for node in nested if not (is_nondeterministic(node) and id(node) in columns)]
    moved = [node for node in nested if id(node) in below or not _may_stay(node, hoist=hoist, windows=windows)]
    rows = _compute_below(moved, rows, context, computed, alone, lowering)
    return Rows(rows.table, rows.columns[:width]), context


def _compute_below(
    moved: Sequence[_Part],
    rows: Rows,
    context: ExpressionContext,
    computed: dict[int, str],
    alone: Set[int],
    lowering: InputLowering,
) -> Rows:
    """Compute parts of expressions as further columns.

    Args:
        moved: the parts, outer ones first; a lambda is no value, and stays.
        rows: the rows.
        context: the context of the expressions.
        computed: gets the columns, by the ids of the parts.
        alone: the ids of the parts that Spark must not push back into a condition.
        lowering: the lowering that the expressions' relation is part of.
    """
    for node in reversed(moved):
        if isinstance(node, ex.Lambda) or id(node) in computed:
            continue
        name = lowering.execution.name()
        if is_subquery(node) and depends_on_row(node):
            rows = rows.with_optimizer_barrier()
        # Spark does not push the output of a generator back into a condition.
        text = f"explode(array({context.sql(node)}))" if id(node) in alone else context.sql(node)
        rows = rows.append_columns([Item(text, (name,))])
        computed[id(node)] = name
    return rows


def _make_context(
    lowering: InputLowering,
    rows: Rows,
    anchor: int | None,
    looked_up: Sequence[AnySubquery],
    inner: Sequence[Node],
    visible: tuple[str, ...] | None,
    computed: Mapping[int, str],
) -> tuple[Rows, ExpressionContext]:
    """Make the context of expressions, and add the columns to the rows that their subqueries need.

    Args:
        lowering: the lowering that the expressions' relation is part of.
        rows: the rows that the expressions see.
        anchor: the anchor of outer references to that row.
        looked_up: the subqueries in the expressions.
        inner: the nodes that will be part of a subquery.
        visible: the columns that the expressions see, by position, if they are not the rows' own.
        computed: the columns of parts that are computed below, by the ids of these.
    """
    width = len(rows.columns)
    rows, outer = _carry_outer_columns(lowering, rows, inner)
    columns = rows.columns[:width] if visible is None else visible
    types = _subquery_column_types(looked_up, inner, anchor)
    rows, subquery_columns = distinguish_zeros(rows, columns, types, lowering.execution)
    inside = lowering.for_subquery(outer if anchor is None else {**outer, anchor: subquery_columns})

    def write(subquery: AnySubquery, scope: Scope) -> str:
        return subqueries.value(subquery, scope, inside)

    return rows, ExpressionContext(Scope(columns, outer, write, computed, subquery_columns=subquery_columns), inside)


def _exact_limits(looked_up: Sequence[AnySubquery]) -> set[int]:
    """Return the ids of the fetches in subqueries over one outer row for which a LIMIT is right."""
    if any(isinstance(node, ex.InPredicate | ex.SetComparison) for node in looked_up):
        return set()
    return exact_limits([relation_of(node) for node in looked_up])


def _nested_parts(parts: Sequence[Node]) -> set[int]:
    """Return the ids of the parts that are nested in others."""
    return {id(part) for node in parts for part in _find_restricted_parts(node) if part is not node}


def _may_stay(node: Node, *, hoist: bool, windows: bool) -> bool:
    """Whether a part may stay in its expression."""
    if is_nondeterministic(node):
        return False  # the texts of functions repeat their arguments
    return windows if isinstance(node, ex.WindowFunction) else not hoist


def _subquery_column_types(
    looked_up: Sequence[AnySubquery], inner: Sequence[Node], anchor: int | None
) -> dict[int, Type]:
    """Return the types of the columns that subqueries or their left operands use, by position."""
    types = dict(referenced_types(computed_operands(looked_up), ROOT, into_relations=False))
    if anchor is not None:
        types |= referenced_types(inner, ex.OuterReference(anchor))
    return types


def _find_subqueries_beside_lambdas(expressions: Sequence[Node], scope: Scope, *, is_read: bool) -> set[int]:
    """Return the ids of the subqueries in conjuncts whose text has a lambda: Spark allows none in its arguments.

    Functions whose text repeats a value bind it by a lambda, and so are constants hidden from predicate pushdown.
    """
    trial = attrs.evolve(scope, subquery=lambda subquery, inner: "(SELECT)")
    found: set[int] = set()
    for expression in expressions:
        for conjunct in conjuncts(expression) if isinstance(expression, ex.Expression) else ():
            inside = list(subqueries_of(conjunct))
            text = to_sql(conjunct, trial) if inside else ""
            if " -> " in (column_sql(text, conjunct) if is_read and inside else text):
                found.update(map(id, inside))
    return found


def _find_subqueries_beside_outer_rows(expressions: Sequence[Node], *, sees_outer: bool) -> set[int]:
    """Return the ids of uncorrelated scalar subqueries in conjuncts that depend on an outer row.

    Spark makes join conditions of such conjuncts, and may evaluate one side of an equality before it has run a subquery
    in it.
    """
    return {
        id(node)
        for expression in expressions
        if isinstance(expression, ex.Expression)
        for conjunct in conjuncts(expression)
        if sees_outer or conjunct.free_anchors
        for node in subqueries_of(conjunct)
        if is_constant(node)
    }


def has_correlated(expressions: Sequence[Node]) -> bool:
    """Whether a subquery in the expressions depends on the row that they see."""
    return any(depends_on_row(node) for expression in expressions for node in subqueries_of(expression))


def subqueries_of(expression: Node) -> Iterator[AnySubquery]:
    """The subqueries of an expression, but not those inside their relations; outer ones first."""
    return (node for node in walk(expression, into_relations=False) if is_subquery(node))


def _find_restricted_parts(expression: Node) -> Iterator[_Part]:
    """Yield the parts that Spark does not allow everywhere, nor nested in each other; outer ones first.

    A call with other values each time is one, too, but in a lambda, which is evaluated for each element.
    """
    in_lambdas: set[int] = set()
    for node in walk(expression, into_relations=False):
        if isinstance(node, ex.Lambda):
            in_lambdas.update(id(each) for each in walk(node, into_relations=False))
        is_part = is_subquery(node) or isinstance(node, ex.WindowFunction | ex.Lambda)
        if is_part or (is_nondeterministic(node) and id(node) not in in_lambdas):
            yield cast(_Part, node)


def _carry_outer_columns(
    lowering: InputLowering, rows: Rows, inner: Sequence[Node]
) -> tuple[Rows, Mapping[int, tuple[str, ...]]]:
    """Copy columns of outer rows into these rows where something inside a subquery refers to them.

    A subquery of Spark sees its own outer row, but not the outer row of that.
    """
    used = dict.fromkeys(columns_outside(inner, lowering.outer.keys()))
    if not used:
        return rows, lowering.outer
    texts = [lowering.outer[anchor][position] for anchor, position in used]
    names = {name: lowering.execution.name() for text in texts for name in NAME.findall(text)}
    outer = {
        anchor: tuple(NAME.sub(lambda name: names.get(name[0], name[0]), text) for text in columns)
        for anchor, columns in lowering.outer.items()
    }
    return rows.append_columns([Item(name, (fresh,)) for name, fresh in names.items()]), outer
