"""Predicates of plans: which settings of a session affect a plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import attrs

from substrait_dsl.algebra.expressions import (
    AggregateFunction,
    Cast,
    Expression,
    InPredicate,
    NestedMap,
    ScalarFunction,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    WindowCall,
    WindowFunction,
)
from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.algebra.relations import (
    Aggregate,
    Ddl,
    FileFormat,
    FileItem,
    FilesTarget,
    HashJoin,
    Join,
    LateralJoin,
    LocalFiles,
    MergeJoin,
    NamedTable,
    NestedLoopJoin,
    Parquet,
    Read,
    Update,
    Window,
    Write,
)
from substrait_dsl.algebra.types import (
    Date,
    IntervalDay,
    IntervalYear,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Type,
)
from substrait_dsl.spark.expressions.types import holds
from substrait_dsl.spark.relations.join_strategies import JOIN_STRATEGIES


@attrs.frozen
class Plan:
    """A plan, as the predicates see it."""

    rel: Rel
    nodes: Sequence[Node]
    """All nodes of the plan."""
    computed: Collection[Type] = attrs.field(
        init=False, default=attrs.Factory(lambda self: _computed(self.nodes), takes_self=True)
    )
    """The types with which its expressions compute; mere references do not count."""


def _computed(nodes: Iterable[Node]) -> set[Type]:
    """Return the types with which the expressions of a plan compute; mere references do not count."""
    found: set[Type] = set()
    for node in nodes:
        if isinstance(node, ScalarFunction | Cast):
            found.add(node.type)
            found.update(child.type for child in node.children() if isinstance(child, Expression))
        elif isinstance(node, WindowFunction | Window):  # offsets are added to the sort key
            calls = node.functions if isinstance(node, Window) else (node.call,)
            if any(bound.offset is not None for call in calls for bound in (call.lower, call.upper)):
                found.update(key.expression.type for key in node.sorts)
    return found


def has_times(plan: Plan) -> bool:
    """Whether there are times of day."""
    return any(holds(type_, PrecisionTime) for type_ in {*plan.computed, *plan.rel.schema.types})


def has_points_in_time(plan: Plan) -> bool:
    """Whether it computes with timestamps."""
    return any(holds(type_, PrecisionTimestampTZ) for type_ in plan.computed)


def computes_moments(plan: Plan) -> bool:
    """Whether it computes with dates or timestamps."""
    return any(holds(type_, (Date, PrecisionTimestamp, PrecisionTimestampTZ)) for type_ in plan.computed)


def has_groups(plan: Plan) -> bool:
    """Whether there are aggregates."""
    return any(isinstance(node, Aggregate) for node in plan.nodes)


def has_intervals(plan: Plan) -> bool:
    """Whether there are intervals."""
    return any(isinstance(node, Expression) and holds(node.type, (IntervalDay, IntervalYear)) for node in plan.nodes)


def has_membership(plan: Plan) -> bool:
    """Whether it has IN or a set comparison with a subquery."""
    return any(isinstance(node, InPredicate | SetComparison) for node in plan.nodes)


def has_any_match(plan: Plan) -> bool:
    """Whether ``any_match`` is called."""
    return any(isinstance(node, ScalarFunction) and node.function.name == "any_match" for node in plan.nodes)


def makes_maps(plan: Plan) -> bool:
    """Whether it creates maps."""
    return any(
        isinstance(node, NestedMap) or (isinstance(node, Cast) and holds(node.target, Map)) for node in plan.nodes
    )


def _files(plan: Plan) -> list[FileItem]:
    sources = [node.definition for node in plan.nodes if isinstance(node, Read)]
    return [item for source in sources if isinstance(source, LocalFiles) for item in source.items]


def reads_files(plan: Plan) -> bool:
    """Whether files are read."""
    return bool(_files(plan))


def reads_parquet(plan: Plan) -> bool:
    """Whether Parquet files are read."""
    return any(isinstance(item.format, Parquet) for item in _files(plan))


def may_read(format_: type[FileFormat]) -> Callable[[Plan], bool]:
    """Whether it may read files of a format; the formats of tables are not known yet."""

    def may_read(plan: Plan) -> bool:
        definitions = (node.definition for node in plan.nodes if isinstance(node, Read))
        return any(isinstance(item.format, format_) for item in _files(plan)) or any(
            isinstance(definition, NamedTable) for definition in definitions
        )

    return may_read


def changes(plan: Plan) -> bool:
    """Whether tables or files are changed."""
    return any(isinstance(node, Write | Update | Ddl) for node in plan.nodes)


def has_windows(plan: Plan) -> bool:
    """Whether there are window functions."""
    return any(isinstance(node, WindowFunction | Window) for node in plan.nodes)


def looks_up(plan: Plan) -> bool:
    """Whether it has subqueries, of its own or in place of a join."""
    return any(
        isinstance(node, ScalarSubquery | InPredicate | SetPredicate | SetComparison | LateralJoin)
        or (
            isinstance(node, Join | HashJoin | MergeJoin | NestedLoopJoin)
            and JOIN_STRATEGIES[node.how].method in ("mark", "single")
        )
        for node in plan.nodes
    )


def writes_parquet(plan: Plan) -> bool:
    """Whether Parquet files are written."""
    targets = (node.target for node in plan.nodes if isinstance(node, Write))
    return any(isinstance(target, FilesTarget) and isinstance(target.format, Parquet) for target in targets)


_DEVIATIONS = ("std_dev", "variance", "corr")


def has_deviations(plan: Plan) -> bool:
    """Whether deviations, variances or correlations are computed."""
    return any(
        isinstance(node, AggregateFunction | WindowCall) and node.function.name in _DEVIATIONS for node in plan.nodes
    )
