"""Legal relations that engines take for others, or fail at, written so that they do not.

All of a plan are looked at, those that lowering made among them.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.expressions import Expression, FieldReference, ScalarFunction, WindowFunction
from substrait_dsl.algebra.node import Node, Rel, rebuild
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.engines.lowering.dependent import MAX_ROW
from substrait_dsl.engines.lowering.terms import FALSE, call, columns, conjunction, number, only
from substrait_dsl.engines.lowering.windows import outermost_windows


def without_misreadings(top: Rel) -> Rel:
    """The relation with the same rows, which engines read as it is meant."""
    projections = 0

    def change(node: Node) -> Node:
        nonlocal projections
        match node:
            case r.Project() if windows := outermost_windows(node):
                projections += 1
                made = node if projections == 1 else _with_partition_key(node, number(projections))
                keys = [
                    key for each in windows for key in (*each.partitions, *(sort.expression for sort in each.sorts))
                ]
                return attrs.evolve(made, input=_as_one_part(made.input, keys))
            case r.Sort():
                return _with_keys_of_a_projection(node)
            case r.Aggregate() if not any(node.grouping_sets) and node.measures:
                # Engines move conditions without a column, or that turn out to have none, to the input, and the one
                # row comes out of no rows, too. They do not move them through a fetch.
                return r.Fetch(node, number(1), None)
            case r.Set(op="union_all" | "union_distinct"):
                first, *others = node.relations
                return attrs.evolve(node, relations=(first, *map(_as_projection, others)))
            case r.Join():
                return _with_keys_of_both_sides(node)
            case _:
                return node

    return rebuild(top, change)


def _with_partition_key(project: r.Project, key: Expression) -> r.Project:
    """A projection whose window functions have a constant as a further partition key, which changes no value.

    Engines name columns by what computes them, and refuse a window function whose input has a column of that name.
    """

    def keyed(node: Node) -> Node:
        if not isinstance(node, WindowFunction):
            return node
        return attrs.evolve(node, partitions=(*node.partitions, key))

    return attrs.evolve(
        project, expressions=tuple(rebuild(each, keyed, into_relations=False) for each in project.expressions)
    )


def _with_keys_of_a_projection(sort: r.Sort) -> r.Sort:
    """A sort by computed keys, above a projection.

    In keys engines take an expression of the relation below, such as the condition of a filter or the number of a
    fetch, for a column of it.
    """
    keys = [key.expression for key in sort.keys]
    if all(isinstance(key, FieldReference) for key in keys):
        return sort
    source = _as_one_part(sort.input, keys)
    if isinstance(source, r.Filter | r.Sort | r.Fetch):
        source = _as_projection(source)
    return sort if source is sort.input else attrs.evolve(sort, input=source)


def _as_one_part(rel: Rel, keys: Sequence[Expression]) -> Rel:
    """What is to be sorted by some keys; all rows of it by a fetch, if it is a union and keys are computed.

    Engines sort the inputs of a union, leave out keys that are constants there, and find the whole not sorted.
    """
    inner = rel
    while isinstance(inner, r.Emit | r.Project | r.Filter | r.Sort):
        inner = inner.input
    is_union = isinstance(inner, r.Set) and inner.op == "union_all"
    if not is_union or all(isinstance(key, FieldReference) for key in keys):
        return rel
    return r.Fetch(rel, number(MAX_ROW), None)


def _as_projection(rel: Rel) -> Rel:
    """A relation that is a projection.

    Engines give the columns of such an input of a union the names of those of the first input. To the columns of others
    they give none, and fail when they move a condition on the union to its inputs.
    """
    return rel if isinstance(rel, r.Emit | r.Project) else only(rel, columns(rel), rel.schema.names)


def _with_keys_of_both_sides(join: r.Join) -> r.Join:
    """A join without an equality of two columns of one input, which engines take for a key of both."""
    width = len(join.left.schema)
    tests = tuple(conjuncts(join.condition))
    changed = tuple(
        call("comparison", "coalesce", test, FALSE) if _is_of_one_side(test, width) else test for test in tests
    )
    return join if changed == tests else attrs.evolve(join, condition=conjunction(changed))


def _is_of_one_side(test: Expression, width: int) -> bool:
    match test:
        case ScalarFunction(arguments=(FieldReference(position=one), FieldReference(position=other))):
            is_equality = test.function.name in ("equal", "is_not_distinct_from")
            return is_equality and (one < width) == (other < width)
        case _:
            return False
