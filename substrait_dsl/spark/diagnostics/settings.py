"""Settings of a session that change the meaning of a plan, which is refused then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.algebra.relations import DelimitedText, Orc
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.diagnostics import setting_predicates as predicates
from substrait_dsl.spark.session.connect import is_remote
from substrait_dsl.spark.session.time_zone import TIME_ZONE, UTC

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@attrs.frozen
class Without:
    """All lists of names that lack a certain one."""

    name: str

    def __contains__(self, value: str) -> bool:
        return self.name not in map(str.strip, value.split(","))


@attrs.frozen
class Setting:
    """A setting with its allowed values, and the plans that it affects."""

    key: str
    values: tuple[str, ...] | Without
    reason: str
    """The effect of another value, which may be shown as ``{value}``."""
    applies_to: Callable[[predicates.Plan], bool] = lambda plan: True
    default: str | None = None
    """The value where neither the session nor Spark has one; None: Spark has one, perhaps from its environment."""

    @property
    def fix(self) -> str:
        """How to correct it."""
        if isinstance(self.values, Without):
            return f'spark.conf.unset("{self.key}")'
        return f'spark.conf.set("{self.key}", "{self.values[0]}")'


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
        "the plan computes with timestamps, which Spark does in the session's time zone, {value}",
        predicates.has_points_in_time,
    ),
    Setting(
        "spark.sql.timeType.enabled",
        ("true",),
        "the plan has times of day, and the session has Spark's TIME type off",
        predicates.has_times,
        default="false",
    ),
    Setting(
        "spark.sql.legacy.timeParserPolicy",
        ("CORRECTED", "EXCEPTION"),
        "the session writes days as before Spark 3, and others where the year has not four digits",
        predicates.computes_moments,
        default="CORRECTED",
    ),
    Setting(
        "spark.sql.legacy.interval.enabled",
        ("false",),
        "the session has one type for all intervals, as before Spark 3.2",
        predicates.has_intervals,
        default="false",
    ),
    Setting(
        "spark.sql.retainGroupColumns",
        ("true",),
        "the session leaves the keys out of the groups of an aggregate",
        predicates.has_groups,
    ),
    *(
        Setting(
            f"spark.sql.{form}.aggregatePushdown",
            ("false",),
            f"the session has {form.upper()} files tell the least and the greatest value, and leave NaN out",
            predicates.has_groups,
        )
        for form in ("parquet", "orc")
    ),
    Setting(
        "spark.sql.legacy.nullInEmptyListBehavior",
        ("false",),
        "the session takes NULL IN (no rows) for NULL, which is false",
        predicates.has_membership,
        default="false",
    ),
    Setting(
        "spark.sql.legacy.followThreeValuedLogicInArrayExists",
        ("true",),
        "the session takes any_match for false where a NULL makes it unknown",
        predicates.has_any_match,
    ),
    Setting(
        "spark.sql.legacy.statisticalAggregate",
        ("false",),
        "the session takes the deviation of one value for NaN, which is NULL",
        predicates.has_deviations,
        default="false",
    ),
    Setting(
        "spark.sql.mapKeyDedupPolicy",
        ("EXCEPTION",),
        "the session takes the last of several values that a map has for one key, which is an error",
        predicates.makes_maps,
    ),
    *(
        Setting(
            key, ("CORRECTED", "EXCEPTION"), f"the session shifts the old days of Parquet files that it {does}", whom
        )
        for key, does, whom in (
            ("spark.sql.parquet.datetimeRebaseModeInRead", "reads", predicates.reads_parquet),
            ("spark.sql.parquet.int96RebaseModeInRead", "reads", predicates.reads_parquet),
            ("spark.sql.parquet.datetimeRebaseModeInWrite", "writes", predicates.writes_parquet),
            ("spark.sql.parquet.int96RebaseModeInWrite", "writes", predicates.writes_parquet),
        )
    ),
    *(
        Setting(
            f"spark.sql.files.ignore{what}Files",
            ("false",),
            f"the session skips {words} files",
            predicates.reads_files,
        )
        for what, words in (("Corrupt", "broken"), ("Missing", "missing"))
    ),
    Setting(
        "spark.sql.files.ignoreInvalidPartitionPaths",
        ("false",),
        "the session skips folders that are not named after a column, beside those that are",
        predicates.reads_files,
        default="false",
    ),
    Setting(
        "spark.sql.files.ignoredPathSegmentRegex",
        ("^[._]",),
        "the session skips files by their names, those that match {value}",
        predicates.reads_files,
        default="^[._]",
    ),
    Setting(
        "orc.force.positional.evolution",
        ("false",),
        "the session finds the columns of ORC files by position, not by name",
        predicates.may_read(Orc),
        default="false",
    ),
    Setting(
        "orc.filter.use.selected",
        ("false",),
        "the session has ORC files leave rows out, which Spark does not mind",
        predicates.may_read(Orc),
        default="false",
    ),
    Setting(
        "mapreduce.input.linerecordreader.line.maxlength",
        ("2147483647",),
        "the session skips lines of text that are longer than {value} bytes",
        predicates.may_read(DelimitedText),
        default="2147483647",
    ),
    Setting("spark.sql.orc.impl", ("native",), "the session reads ORC files as Hive does", predicates.may_read(Orc)),
    *(
        Setting(
            f"spark.sql.parquet.{key}",
            (value,),
            f"the session takes {mistake} of Parquet files",
            predicates.reads_parquet,
        )
        for key, value, mistake in (
            ("binaryAsString", "false", "bytes for texts"),
            ("inferTimestampNTZ.enabled", "true", "timestamps without a zone for instants"),
            ("respectSummaryFiles", "false", "the columns that a summary beside them names for those"),
        )
    ),
    Setting(
        "spark.sql.parquet.int96TimestampConversion",
        ("false",),
        "the session shifts the timestamps of Parquet files by its time zone",
        predicates.reads_parquet,
    ),
    *(
        Setting(
            f"spark.sql.{key}",
            (value,),
            "the session computes subqueries in an older way, or not",
            predicates.looks_up,
            value,
        )
        for key, value in (
            ("optimizer.decorrelateInnerQuery.enabled", "true"),
            ("optimizer.decorrelateLimit.enabled", "true"),
            ("optimizer.decorrelateOffset.enabled", "true"),
            ("optimizer.decorrelateSetOps.enabled", "true"),
            ("optimizer.scalarSubqueryUseSingleJoin", "true"),
            ("optimizer.decorrelateExistsSubqueryLegacyIncorrectCountHandling.enabled", "false"),
            ("legacy.scalarSubqueryCountBugBehavior", "false"),
        )
    ),
    Setting(
        "spark.sql.optimizer.excludedRules",
        Without("org.apache.spark.sql.catalyst.optimizer.ConstantFolding"),
        "the session leaves the bounds of windows uncomputed",
        predicates.has_windows,
        default="",
    ),
    Setting(
        "spark.sql.parser.escapedStringLiterals",
        ("false",),
        "the session reads the texts in statements as Spark 1.6 did",
        predicates.changes,
    ),
    Setting(
        "spark.sql.functionResolution.sessionOrder",
        ("second", "last"),
        "the session takes temporary functions of a user for Spark's of the same name",
        default="second",
    ),
    Setting(
        "spark.sql.legacy.raiseErrorWithoutErrorClass",
        ("false",),
        "the session keeps what an error of the plan says from being found",
        default="false",
    ),
    Setting(
        "spark.sql.analyzer.singlePassResolver.enabled",
        ("false",),
        "the session has the analyzer of Spark that is not finished",
        default="false",
    ),
)


def require_settings(rel: Rel, nodes: Sequence[Node], spark: SparkSession) -> None:
    """Raise `UnsupportedError` for a setting of the session that changes the meaning of the plan."""
    plan = predicates.Plan(rel, nodes)
    settings = [setting for setting in SETTINGS if setting.applies_to(plan)]
    known_values = _read_all(settings, spark) if is_remote(spark) else None
    for setting in settings:
        if (value := _value(setting, spark, known_values)) not in setting.values:
            raise UnsupportedError(setting.reason.format(value=value), hint=setting.fix)


def _read_all(settings: Sequence[Setting], spark: SparkSession) -> Mapping[str, str]:
    """Return all settings of the session, and Spark's values of some others, by two requests."""
    keys = [setting.key for setting in settings if setting.default is None]
    values = spark.client.get_configs(*keys)  # of a session of Spark Connect
    return {**spark.conf.getAll, **{key: value or "" for key, value in zip(keys, values, strict=True)}}


def _value(setting: Setting, spark: SparkSession, known_values: Mapping[str, str] | None) -> str:
    """Return the value of a setting; `known_values` is the result of `_read_all`, where requests are slow."""
    default = setting.default
    if default is None:
        return (spark.conf.get(setting.key) or "") if known_values is None else known_values[setting.key]
    if not setting.key.startswith("spark."):  # those of Hadoop may be made for all sessions
        default = _value(attrs.evolve(setting, key=f"spark.hadoop.{setting.key}"), spark, known_values)
    # A default that is given goes before Spark's own.
    return (
        known_values.get(setting.key, default)
        if known_values is not None
        else spark.conf.get(setting.key, default) or ""
    )
