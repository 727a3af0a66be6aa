"""Predicates of plans: which settings of a session affect a plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.spark.expressions.types import holds
from substrait_dsl.spark.relations.join_strategies import JOIN_STRATEGIES


@attrs.frozen
class Plan:
    """A plan, as the predicates see it."""

    rel: Rel
    nodes: Sequence[Node]
    """All nodes of the plan."""
    computed: Collection[t.Type] = attrs.field(
        init=False, default=attrs.Factory(lambda self: _collect_computed_types(self.nodes), takes_self=True)
    )
    """The types with which its expressions compute; mere references do not count."""


def _collect_computed_types(nodes: Iterable[Node]) -> set[t.Type]:
    """Return the types with which the expressions of a plan compute; mere references do not count."""
    found: set[t.Type] = set()
    for node in nodes:
        if isinstance(node, ex.ScalarFunction | ex.Cast):
            found.add(node.type)
            found.update(child.type for child in node.children() if isinstance(child, ex.Expression))
        elif isinstance(node, ex.WindowFunction | rl.Window):  # offsets are added to the sort key
            calls = node.functions if isinstance(node, rl.Window) else (node.call,)
            if any(bound.offset is not None for call in calls for bound in (call.lower, call.upper)):
                found.update(key.expression.type for key in node.sorts)
    return found


def has_times(plan: Plan) -> bool:
    """Whether there are times of day."""
    return any(holds(type_, t.PrecisionTime) for type_ in {*plan.computed, *plan.rel.schema.types})


def has_points_in_time(plan: Plan) -> bool:
    """Whether it computes with timestamps."""
    return any(holds(type_, t.PrecisionTimestampTZ) for type_ in plan.computed)


def computes_moments(plan: Plan) -> bool:
    """Whether it computes with dates or timestamps."""
    return any(holds(type_, (t.Date, t.PrecisionTimestamp, t.PrecisionTimestampTZ)) for type_ in plan.computed)


def has_groups(plan: Plan) -> bool:
    """Whether there are aggregates."""
    return any(isinstance(node, rl.Aggregate) for node in plan.nodes)


def has_intervals(plan: Plan) -> bool:
    """Whether there are intervals."""
    return any(
        isinstance(node, ex.Expression) and holds(node.type, (t.IntervalDay, t.IntervalYear)) for node in plan.nodes
    )


def has_membership(plan: Plan) -> bool:
    """Whether it has IN or a set comparison with a subquery."""
    return any(isinstance(node, ex.InPredicate | ex.SetComparison) for node in plan.nodes)


def has_any_match(plan: Plan) -> bool:
    """Whether ``any_match`` is called."""
    return any(isinstance(node, ex.ScalarFunction) and node.function.name == "any_match" for node in plan.nodes)


def makes_maps(plan: Plan) -> bool:
    """Whether it creates maps."""
    return any(
        isinstance(node, ex.NestedMap) or (isinstance(node, ex.Cast) and holds(node.target, t.Map))
        for node in plan.nodes
    )


def _files(plan: Plan) -> list[rl.FileItem]:
    sources = [node.definition for node in plan.nodes if isinstance(node, rl.Read)]
    return [item for source in sources if isinstance(source, rl.LocalFiles) for item in source.items]


def reads_files(plan: Plan) -> bool:
    """Whether files are read."""
    return bool(_files(plan))


def reads_parquet(plan: Plan) -> bool:
    """Whether Parquet files are read."""
    return any(isinstance(item.format, rl.Parquet) for item in _files(plan))


def may_read(format_: type[rl.FileFormat]) -> Callable[[Plan], bool]:
    """Whether it may read files of a format; the formats of tables are not known yet."""

    def may_read(plan: Plan) -> bool:
        definitions = (node.definition for node in plan.nodes if isinstance(node, rl.Read))
        return any(isinstance(item.format, format_) for item in _files(plan)) or any(
            isinstance(definition, rl.NamedTable) for definition in definitions
        )

    return may_read


def changes(plan: Plan) -> bool:
    """Whether tables or files are changed."""
    return any(isinstance(node, rl.Write | rl.Update | rl.Ddl) for node in plan.nodes)


def has_windows(plan: Plan) -> bool:
    """Whether there are window functions."""
    return any(isinstance(node, ex.WindowFunction | rl.Window) for node in plan.nodes)


def looks_up(plan: Plan) -> bool:
    """Whether it has subqueries, of its own or in place of a join."""
    return any(
        isinstance(node, ex.ScalarSubquery | ex.InPredicate | ex.SetPredicate | ex.SetComparison | rl.LateralJoin)
        or (
            isinstance(node, rl.Join | rl.HashJoin | rl.MergeJoin | rl.NestedLoopJoin)
            and JOIN_STRATEGIES[node.how].method in ("mark", "single")
        )
        for node in plan.nodes
    )


def writes_parquet(plan: Plan) -> bool:
    """Whether Parquet files are written."""
    targets = (node.target for node in plan.nodes if isinstance(node, rl.Write))
    return any(isinstance(target, rl.FilesTarget) and isinstance(target.format, rl.Parquet) for target in targets)


_DEVIATIONS = ("std_dev", "variance", "corr")


def has_deviations(plan: Plan) -> bool:
    """Whether deviations, variances or correlations are computed."""
    return any(
        isinstance(node, ex.AggregateFunction | ex.WindowCall) and node.function.name in _DEVIATIONS
        for node in plan.nodes
    )
