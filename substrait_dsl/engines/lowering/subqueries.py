"""Decorrelation: subqueries become joins.

A subquery is evaluated for all distinct values of its outer references at once (`dependent.py`), and joined to the
outer rows by these. Comparisons with the rows of a subquery (IN, ANY, ALL, a mark join) are one test, `any_match`, in
three-valued logic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Node, Rel, rebuild, walk
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.algebra.row_counts import has_one_row_at_most
from substrait_dsl.algebra.rules import JoinType
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.dependent import for_each, outer_positions
from substrait_dsl.engines.lowering.terms import (
    FALSE,
    TRUE,
    UNKNOWN,
    as_type,
    call,
    case_when,
    cast,
    column,
    columns,
    compare,
    conjunction,
    equal,
    first_columns,
    is_not_null,
    is_null,
    map_fields,
    measure,
    negate,
    number,
    one_zero,
    row_count,
    same,
    shift_fields,
    with_columns,
)

Subquery = ex.ScalarSubquery | ex.InPredicate | ex.SetPredicate | ex.SetComparison

COMPARISONS: dict[ex.ComparisonOp, str] = {
    "eq": "equal", "ne": "not_equal", "lt": "lt", "gt": "gt", "le": "lte", "ge": "gte",
}  # fmt: skip


def has_subquery(node: Node) -> bool:
    """Whether an expression contains a subquery."""
    return node.flags.has_subqueries


def filter_rows(lowering: Lowering, rel: Rel, condition: ex.Expression, anchor: int | None) -> Rel:
    """Return the rows for which a condition is true; a subquery that is a conjunct is a semi or an anti join."""
    if not has_subquery(condition):
        return rl.Filter(rel, condition)
    parts = list(conjuncts(condition))
    plain = [part for part in parts if not has_subquery(part)]
    if plain:
        rel = rl.Filter(rel, conjunction(plain))
    others: list[ex.Expression] = []
    for part in (part for part in parts if has_subquery(part)):
        joined = _semi_join(lowering, rel, part, anchor)
        if joined is None:
            others.append(part)
        else:
            rel = joined
    if not others:
        return rel
    width = len(rel.schema)
    attached, remaining = attach(lowering, rel, others, anchor)
    return first_columns(rl.Filter(attached, conjunction(remaining)), width)


def attach(
    lowering: Lowering, rel: Rel, expressions: Sequence[ex.Expression], anchor: int | None
) -> tuple[Rel, list[ex.Expression]]:
    """Return a relation with a column for each subquery in some expressions, and these over the columns.

    Expressions with the same subquery get the same column.
    """
    found: dict[Node, ex.Expression] = {}
    for expression in expressions:
        for node in walk(expression, into_relations=False):
            if isinstance(node, Subquery) and node not in found:
                rel, value = _attach_subquery(lowering, rel, node, anchor)
                found[node] = as_type(value, node.type)
    change = lambda node: found.get(node, node) if isinstance(node, Subquery) else node  # noqa: E731
    return rel, [rebuild(each, change, into_relations=False) for each in expressions]


def _attach_subquery(lowering: Lowering, rel: Rel, node: Subquery, anchor: int | None) -> tuple[Rel, ex.Expression]:
    """Return the relation with further columns, and the value of a subquery over them."""
    match node:
        case ex.ScalarSubquery(input=child):
            return _scalar(lowering, rel, child, anchor)
        case ex.SetPredicate(op="exists", tuples=child):
            return _any_row(lowering, rel, child, TRUE, anchor)
        case ex.SetPredicate(op="unique", tuples=child):
            return _unique(lowering, rel, child, anchor)
        case ex.InPredicate(needles=needles, haystack=child):
            return any_match(lowering, rel, child, _build_in_condition(rel, needles, child), anchor)
        case ex.SetComparison(reduction=reduction, comparison=comparison, left=left, right=child):
            value = ex.FieldReference(len(rel.schema), child.schema.types[0])
            test = compare(COMPARISONS[comparison], left, value)
            if reduction == "any":
                return any_match(lowering, rel, child, test, anchor)
            rel, found = any_match(lowering, rel, child, negate(test), anchor)
            return rel, negate(found)
        case ex.SetPredicate():
            raise lowering.refusal(f"a set predicate {node.op}")
        case _:
            assert_never(node)


def _build_in_condition(rel: Rel, needles: Sequence[ex.Expression], child: Rel) -> ex.Expression:
    """Return the condition that values equal a row of a subquery, over both rows."""
    values = columns(child)
    return conjunction([equal(a, shift_fields(b, len(rel.schema))) for a, b in zip(needles, values, strict=True)])


# --- conditions by themselves


def _semi_join(lowering: Lowering, rel: Rel, part: ex.Expression, anchor: int | None) -> Rel | None:
    """Return the rows for which a subquery, or its negation, is true; None for another condition."""
    match part:
        case ex.SetPredicate(op="exists", tuples=child):
            return _matching(lowering, rel, child, TRUE, anchor, "left_semi")
        case ex.InPredicate(needles=needles, haystack=child) if not any(map(has_subquery, needles)):
            return _matching(lowering, rel, child, _build_in_condition(rel, needles, child), anchor, "left_semi")
        case ex.ScalarFunction(arguments=(ex.SetPredicate(op="exists", tuples=child),)) if (
            part.function.standard_name == "not"
        ):
            return _matching(lowering, rel, child, TRUE, anchor, "left_anti")
        case ex.ScalarFunction(arguments=(ex.InPredicate(needles=needles, haystack=child) as test,)) if (
            part.function.standard_name == "not" and not test.type.nullable and not any(map(has_subquery, needles))
        ):
            return _matching(lowering, rel, child, _build_in_condition(rel, needles, child), anchor, "left_anti")
        case _:
            return None


def _matching(
    lowering: Lowering, rel: Rel, child: Rel, condition: ex.Expression, anchor: int | None, how: JoinType
) -> Rel:
    """Return the rows with, or without, a row of a subquery for which a condition over both is true."""
    child, pulled = _with_conditions_above(rel, child, anchor, is_exists=condition is TRUE)
    conditions = [each for each in (condition, *pulled) if each is not TRUE]
    positions = outer_positions(child, anchor)
    if anchor is not None and positions:
        domain = distinct(rel, positions)
        width, added = len(rel.schema), len(positions)
        spread = for_each(lowering, child, domain, anchor, positions)
        keys = [same(column(rel, at), shift_fields(column(spread, n), width)) for n, at in enumerate(positions)]
        conditions = [map_fields(each, lambda at: at if at < width else at + added) for each in conditions]
        return rl.Join(rel, spread, how, conjunction([*keys, *conditions]))
    return rl.Join(rel, child, how, conjunction(conditions))


def _with_conditions_above(
    rel: Rel, child: Rel, anchor: int | None, *, is_exists: bool
) -> tuple[Rel, list[ex.Expression]]:
    """Split off the top filters of a subquery that refer to the outer row; they are over both rows.

    For EXISTS, columns and order do not matter.
    """
    pulled: list[ex.Expression] = []
    while anchor is not None and anchor in child.free_anchors:
        match child:
            case rl.Filter(input=inner, condition=condition):
                pulled.append(condition)
                child = inner
            case rl.Emit(input=inner) | rl.Project(input=inner) | rl.Sort(input=inner) if is_exists and not pulled:
                child = inner
            case _:
                break
    width = len(rel.schema)

    def move_past_left(node: Node) -> Node:
        match node:
            case ex.FieldReference(position=position, root=root) if root == ex.ROOT:
                return ex.FieldReference(position + width, node.column_type)
            case ex.FieldReference(position=position, root=ex.OuterReference(named)) if named == anchor:
                return ex.FieldReference(position, node.column_type)
            case _:
                return node

    return child, [rebuild(each, move_past_left, into_relations=False) for each in pulled]


# --- values


def distinct(rel: Rel, positions: Sequence[int]) -> Rel:
    """Return the distinct values of some columns."""
    keys = columns(rel, positions)
    for key in keys:
        one_zero(key)  # which refuses what is not compared
    return rl.Aggregate(rel, keys, (tuple(range(len(keys))),), (), tuple(f"key{n}" for n in range(len(keys))))


def _left_join(rel: Rel, found: Rel, positions: Sequence[int]) -> Rel:
    """Left join a relation by its first columns to columns of the rows.

    The other columns of the relation stand behind those of the rows.
    """
    width, added = len(rel.schema), len(positions)
    keys = [same(column(rel, at), shift_fields(column(found, n), width)) for n, at in enumerate(positions)]
    joined = rl.Join(rel, found, "left", conjunction(keys))
    return rl.emit(joined, [*range(width), *range(width + added, len(joined.schema))])


def _rows_for_each(lowering: Lowering, rel: Rel, child: Rel, anchor: int | None, positions: list[int]) -> Rel:
    """Return the rows of a subquery behind the outer columns that it refers to."""
    if anchor is None or not positions:
        return child
    return for_each(lowering, child, distinct(rel, positions), anchor, positions)


def _scalar(lowering: Lowering, rel: Rel, child: Rel, anchor: int | None) -> tuple[Rel, ex.Expression]:
    """Return the value of the only row of a subquery."""
    width = len(rel.schema)
    positions = outer_positions(child, anchor)
    spread = _rows_for_each(lowering, rel, child, anchor, positions)
    if not has_one_row_at_most(child):
        spread = one_at_most(lowering, spread, len(positions), "a scalar subquery")
    if not positions and child.single_row:
        joined: Rel = rl.Cross(rel, spread)
    else:
        joined = _left_join(rel, spread, positions)
    return joined, column(joined, width)


def one_at_most(lowering: Lowering, rel: Rel, keys: int, what: str) -> Rel:
    """Return the rows of a relation, which fails where several are equal in the first `keys` columns.

    The failure is a cast of a message to a number.
    """
    width = len(rel.schema)
    if lowering.has_window_functions():
        counted = with_columns(rel, row_count(columns(rel, range(keys))), name="rows")
        return first_columns(rl.Filter(counted, _is_one(column(counted, width), what)), width)
    names = (*(f"key{n}" for n in range(keys)), "rows")
    sets = (tuple(range(keys)),) if keys else ()
    counts = rl.Aggregate(rel, columns(rel, range(keys)), sets, (measure("aggregate_generic", "count"),), names)
    single = rl.Filter(counts, _is_one(column(counts, keys), what))
    tests = [
        same(one, shift_fields(other, width)) for one, other in zip(columns(rel), columns(single)[:keys], strict=False)
    ]
    joined = rl.Join(rel, single, "inner", conjunction(tests)) if keys else rl.Cross(rel, single)
    return first_columns(joined, width)


def _is_one(many: ex.Expression, what: str) -> ex.Expression:
    """Return the condition that a count is at most one; it fails if it is not, also where all cases are computed."""
    text = call(
        "string",
        "concat",
        ex.Literal(f"{what} has ", t.String()),
        cast(many, t.String()),
        ex.Literal(" rows", t.String()),
    )
    zero = as_type(ex.Literal("0", t.String()), text.type)
    return equal(cast(case_when([(call("comparison", "gt", many, number(1)), text)], zero), t.I64()), number(0))


def _any_row(
    lowering: Lowering, rel: Rel, child: Rel, condition: ex.Expression, anchor: int | None
) -> tuple[Rel, ex.Expression]:
    """Return whether a subquery has a row for which a condition over both rows is true."""
    width = len(rel.schema)
    found, positions = _join_to_domain(lowering, rel, child, condition, anchor)
    if not positions:
        counted = rl.Aggregate(found, (), (), (measure("aggregate_generic", "count"),), ("rows",))
        joined: Rel = rl.Cross(rel, counted)
        return joined, call("comparison", "gt", column(joined, width), number(0))
    marked = with_columns(distinct(found, range(len(positions))), TRUE, name="mark")
    joined = _left_join(rel, marked, positions)
    return joined, is_not_null(column(joined, width))


def any_match(
    lowering: Lowering, rel: Rel, child: Rel, condition: ex.Expression, anchor: int | None
) -> tuple[Rel, ex.Expression]:
    """Return whether a condition is true of a row and any row of a subquery, in three-valued logic.

    False where it is false of all of them, or there are none; else NULL where it is true of none.

    Args:
        lowering: the state of lowering the plan.
        rel: the rows.
        child: the subquery, which may refer to the row of the anchor.
        condition: sees the row and, behind it, the row of the subquery.
        anchor: that of the row.
    """
    if has_subquery(condition):
        raise lowering.refusal("a subquery in the value that another subquery is compared with")
    if not condition.type.nullable:
        return _any_row(lowering, rel, child, condition, anchor)
    width = len(rel.schema)
    found, positions = _join_to_domain(lowering, rel, child, condition, anchor, is_filtered=False)
    test = column(found, len(found.schema) - 1)
    outcome = case_when(
        [(call("comparison", "coalesce", test, FALSE), number(2)), (is_null(test), number(1))], number(0)
    )
    coded = with_columns(found, outcome, name="outcome")
    keys = columns(coded, range(len(positions)))
    best = measure("arithmetic", "max", column(coded, len(coded.schema) - 1))
    groups = rl.Aggregate(
        coded,
        keys,
        (tuple(range(len(keys))),) if keys else (),
        (best,),
        (*(f"key{n}" for n in range(len(keys))), "best"),
    )
    joined = _left_join(rel, groups, positions) if keys else rl.Cross(rel, groups)
    value = call("comparison", "coalesce", column(joined, width), as_type(number(0), t.I64(nullable=True)))
    is_true, is_unknown = (call("comparison", "equal", value, number(each)) for each in (2, 1))
    return joined, case_when([(is_true, TRUE), (is_unknown, UNKNOWN)], FALSE)


def _join_to_domain(
    lowering: Lowering, rel: Rel, child: Rel, condition: ex.Expression, anchor: int | None, *, is_filtered: bool = True
) -> tuple[Rel, list[int]]:
    """Return the rows of a subquery behind the distinct outer values that it, or a condition, refers to.

    Only those for which the condition is true, or all, with its value as the last column; also the positions of the
    outer columns.
    """
    width = len(rel.schema)
    used = {
        node.position
        for node in walk(condition, into_relations=False)
        if isinstance(node, ex.FieldReference) and node.root == ex.ROOT and node.position < width
    }
    own = outer_positions(child, anchor)
    positions = [*own, *sorted(used - set(own))]
    new_positions = {position: n for n, position in enumerate(positions)}
    if not positions:
        spread = child
    elif own and anchor is not None:
        spread = for_each(lowering, child, distinct(rel, positions), anchor, positions)
    else:
        spread = rl.Cross(distinct(rel, positions), child)
    test = map_fields(condition, lambda at: new_positions[at] if at < width else at - width + len(positions))
    if is_filtered:
        return (spread if test is TRUE else rl.Filter(spread, test)), positions
    return with_columns(spread, test, name="test"), positions


def _unique(lowering: Lowering, rel: Rel, child: Rel, anchor: int | None) -> tuple[Rel, ex.Expression]:
    """Return whether no two rows of a subquery are equal."""
    positions = outer_positions(child, anchor)
    spread = _rows_for_each(lowering, rel, child, anchor, positions)
    width, outer = len(rel.schema), len(positions)
    keys = columns(spread)
    names = (*(f"key{n}" for n in range(len(keys))), "rows")
    rows = measure("aggregate_generic", "count")
    counted = rl.Aggregate(spread, keys, (tuple(range(len(keys))),), (rows,), names)
    several = rl.Filter(counted, call("comparison", "gt", column(counted, len(spread.schema)), number(1)))
    values = columns(several, range(outer, len(spread.schema)))
    known = [is_not_null(each) for each in values if each.type.nullable]  # a row with a NULL equals no other
    repeated: Rel = rl.Filter(several, conjunction(known)) if known else several
    if not outer:
        total = rl.Aggregate(repeated, (), (), (measure("aggregate_generic", "count"),), ("rows",))
        joined: Rel = rl.Cross(rel, total)
        return joined, call("comparison", "equal", column(joined, width), number(0))
    marked = with_columns(distinct(repeated, range(outer)), TRUE, name="mark")
    joined = _left_join(rel, marked, positions)
    return joined, is_null(column(joined, width))
