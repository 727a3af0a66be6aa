"""The settings of a session that would give a plan another meaning: with such a one it is refused."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.expressions import (
    AggregateFunction,
    Cast,
    Expression,
    InPredicate,
    NestedMap,
    ScalarFunction,
    SetComparison,
    WindowCall,
    WindowFunction,
)
from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.algebra.relations import (
    Aggregate,
    FileItem,
    FilesTarget,
    LocalFiles,
    NamedTable,
    Orc,
    Parquet,
    Read,
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
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.types import holds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIME_ZONE = "spark.sql.session.timeZone"
UTC = ("UTC", "Etc/UTC", "Z", "GMT")


@attrs.frozen
class Plan:
    """What settings may matter to."""

    rel: Rel
    nodes: Sequence[Node]
    """All nodes of the plan."""
    computed: Collection[Type]
    """The types that its expressions compute with; what is only passed on is not among them."""


@attrs.frozen
class Setting:
    """A setting that must have one of some values for the plans that it matters to."""

    key: str
    values: tuple[str, ...]
    told: str
    """What another value, which may be mentioned as ``{value}``, does."""
    matters: Callable[[Plan], bool] = lambda plan: True
    default: str | None = None
    """What it is where neither the session nor Spark says it; None: Spark does, if need be by its environment."""


def _has_times(plan: Plan) -> bool:
    return any(holds(kind, PrecisionTime) for kind in {*plan.computed, *plan.rel.schema.types})


def _has_points_in_time(plan: Plan) -> bool:
    return any(holds(kind, PrecisionTimestampTZ) for kind in plan.computed)


def _computes_moments(plan: Plan) -> bool:
    return any(holds(kind, (Date, PrecisionTimestamp, PrecisionTimestampTZ)) for kind in plan.computed)


def _has_groups(plan: Plan) -> bool:
    return any(isinstance(node, Aggregate) for node in plan.nodes)


def _has_intervals(plan: Plan) -> bool:
    return any(isinstance(node, Expression) and holds(node.type, (IntervalDay, IntervalYear)) for node in plan.nodes)


def _has_membership(plan: Plan) -> bool:
    return any(isinstance(node, InPredicate | SetComparison) for node in plan.nodes)


def _has_any_match(plan: Plan) -> bool:
    return any(isinstance(node, ScalarFunction) and node.function.name == "any_match" for node in plan.nodes)


def _makes_maps(plan: Plan) -> bool:
    return any(
        isinstance(node, NestedMap) or (isinstance(node, Cast) and holds(node.target, Map)) for node in plan.nodes
    )


def _files(plan: Plan) -> list[FileItem]:
    sources = [node.definition for node in plan.nodes if isinstance(node, Read)]
    return [item for source in sources if isinstance(source, LocalFiles) for item in source.items]


def _reads_files(plan: Plan) -> bool:
    return bool(_files(plan))


def _reads_parquet(plan: Plan) -> bool:
    return any(isinstance(item.format, Parquet) for item in _files(plan))


def _reads_orc(plan: Plan) -> bool:
    """Whether files of ORC are read; what tables are kept in is not known yet."""
    definitions = (node.definition for node in plan.nodes if isinstance(node, Read))
    return any(isinstance(item.format, Orc) for item in _files(plan)) or any(
        isinstance(definition, NamedTable) for definition in definitions
    )


def _writes_parquet(plan: Plan) -> bool:
    targets = (node.target for node in plan.nodes if isinstance(node, Write))
    return any(isinstance(target, FilesTarget) and isinstance(target.format, Parquet) for target in targets)


_DEVIATIONS = ("std_dev", "variance", "corr")


def _has_deviations(plan: Plan) -> bool:
    return any(
        isinstance(node, AggregateFunction | WindowCall) and node.function.name in _DEVIATIONS for node in plan.nodes
    )


SETTINGS = (
    Setting(
        "spark.sql.ansi.enabled",
        ("true",),
        "the session has ANSI mode off: overflows would wrap and failures would become NULL",
    ),
    Setting(
        "spark.sql.decimalOperations.allowPrecisionLoss",
        ("true",),
        "the session keeps decimal arithmetic from losing digits: results would be of other types",
    ),
    Setting(
        TIME_ZONE,
        UTC,
        "the plan computes with points in time, which Spark does in the session's time zone, {value}",
        _has_points_in_time,
    ),
    Setting(
        "spark.sql.timeType.enabled",
        ("true",),
        "the plan has times of day, and the session has Spark's TIME type off",
        _has_times,
        default="false",
    ),
    Setting(
        "spark.sql.legacy.timeParserPolicy",
        ("CORRECTED", "EXCEPTION"),
        "the session writes days as before Spark 3, and others where the year has not four digits",
        _computes_moments,
        default="CORRECTED",
    ),
    Setting(
        "spark.sql.legacy.interval.enabled",
        ("false",),
        "the session has one type for all intervals, as before Spark 3.2",
        _has_intervals,
        default="false",
    ),
    Setting(
        "spark.sql.retainGroupColumns",
        ("true",),
        "the session leaves the keys out of the groups of an aggregate",
        _has_groups,
    ),
    *(
        Setting(
            f"spark.sql.{form}.aggregatePushdown",
            ("false",),
            f"the session has {form.upper()} files tell the least and the greatest value, and leave NaN out",
            _has_groups,
        )
        for form in ("parquet", "orc")
    ),
    Setting(
        "spark.sql.legacy.nullInEmptyListBehavior",
        ("false",),
        "the session takes NULL IN (no rows) for NULL, which is false",
        _has_membership,
        default="false",
    ),
    Setting(
        "spark.sql.legacy.followThreeValuedLogicInArrayExists",
        ("true",),
        "the session takes any_match for false where a NULL makes it unknown",
        _has_any_match,
    ),
    Setting(
        "spark.sql.legacy.statisticalAggregate",
        ("false",),
        "the session takes the deviation of one value for NaN, which is NULL",
        _has_deviations,
        default="false",
    ),
    Setting(
        "spark.sql.mapKeyDedupPolicy",
        ("EXCEPTION",),
        "the session takes the last of several values that a map has for one key, which is an error",
        _makes_maps,
    ),
    *(
        Setting(
            key, ("CORRECTED", "EXCEPTION"), f"the session shifts the old days of Parquet files that it {does}", whom
        )
        for key, does, whom in (
            ("spark.sql.parquet.datetimeRebaseModeInRead", "reads", _reads_parquet),
            ("spark.sql.parquet.int96RebaseModeInRead", "reads", _reads_parquet),
            ("spark.sql.parquet.datetimeRebaseModeInWrite", "writes", _writes_parquet),
            ("spark.sql.parquet.int96RebaseModeInWrite", "writes", _writes_parquet),
        )
    ),
    *(
        Setting(
            f"spark.sql.files.ignore{what}Files", ("false",), f"the session passes over {words} files", _reads_files
        )
        for what, words in (("Corrupt", "broken"), ("Missing", "missing"))
    ),
    Setting(
        "spark.sql.files.ignoredPathSegmentRegex",
        ("^[._]",),
        "the session passes over files by their names, those that match {value}",
        _reads_files,
        default="^[._]",
    ),
    Setting(
        "orc.force.positional.evolution",
        ("false",),
        "the session finds the columns of ORC files by position, not by name",
        _reads_orc,
        default="false",
    ),
    Setting(
        "spark.sql.parquet.int96TimestampConversion",
        ("false",),
        "the session shifts the points in time of Parquet files by its time zone",
        _reads_parquet,
    ),
)


def require_settings(rel: Rel, nodes: Sequence[Node], spark: SparkSession) -> None:
    """Raise `UnsupportedError` for a setting of the session that would give the plan another meaning."""
    plan = Plan(rel, nodes, _types(nodes))
    for setting in SETTINGS:
        if not setting.matters(plan):
            continue
        # A default that is given goes before Spark's own.
        value = spark.conf.get(setting.key, *(() if setting.default is None else (setting.default,)))
        if value not in setting.values:
            raise UnsupportedError(
                setting.told.format(value=value), hint=f'spark.conf.set("{setting.key}", "{setting.values[0]}")'
            )


def _types(nodes: Sequence[Node]) -> set[Type]:
    """The types that the expressions of a plan compute with; what is only passed on is not among them."""
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
