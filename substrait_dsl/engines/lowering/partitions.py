"""Windows over entire partitions, for engines without window functions: groups joined to their rows."""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Node, Rel, rebuild, walk
from substrait_dsl.engines.lowering.aggregates import lower_aggregate
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.terms import as_type, column, conjunction, one_zero, same, shift_fields


def over_partitions(
    child: Rel, expressions: Sequence[ex.Expression], to: Lowering
) -> tuple[Rel, tuple[ex.Expression, ...]]:
    """Return a relation with a column for each window function in some expressions, and these over the columns.

    Raises:
        UnsupportedError: the relation is computed twice, and may have other rows each time, or depends on outer rows.
    """
    if not to.is_stable(child):
        raise to.refusal("a window over rows that may be others each time that they are computed")
    if child.free_anchors or any(each.free_anchors for each in expressions):
        raise to.refusal("a window that depends on an outer row")
    found: dict[Node, ex.Expression] = {}
    windows = [
        node for each in expressions for node in walk(each, into_relations=False) if isinstance(node, ex.WindowFunction)
    ]
    source = child
    for partitions in dict.fromkeys(each.partitions for each in windows):
        some = [each for each in dict.fromkeys(windows) if each.partitions == partitions]
        source, columns = _with_groups(child, source, partitions, some, to)
        found.update(zip(some, columns, strict=True))
    return source, tuple(
        rebuild(each, lambda node: found.get(node, node), into_relations=False) for each in expressions
    )


def _with_groups(
    child: Rel, source: Rel, partitions: tuple[ex.Expression, ...], windows: Sequence[ex.WindowFunction], to: Lowering
) -> tuple[Rel, list[ex.Expression]]:
    """Join groups of a relation to a relation that begins with its columns; also the values of the groups."""
    keys = tuple(map(one_zero, partitions))
    measures = tuple(
        ex.Measure(
            ex.AggregateFunction(each.call.function, each.call.arguments, each.call.output_type, each.call.options)
        )
        for each in windows
    )
    names = tuple(f"c{n}" for n in range(len(keys) + len(measures)))
    sets = (tuple(range(len(keys))),) if keys else ()
    groups = lower_aggregate(rl.Aggregate(child, keys, sets, measures, names), to)
    width = len(source.schema)
    tests = [same(key, shift_fields(column(groups, n), width)) for n, key in enumerate(keys)]
    joined = rl.Join(source, groups, "inner", conjunction(tests)) if tests else rl.Cross(source, groups)
    return joined, [as_type(column(joined, width + len(keys) + n), each.type) for n, each in enumerate(windows)]
