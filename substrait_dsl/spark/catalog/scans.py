"""Inspect Spark's plan of a table, a view or files: the formats of text records, and the size."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

import attrs

from substrait_dsl.spark.catalog.table_metadata import ICEBERG, catalog_format, split_catalog
from substrait_dsl.spark.catalog.table_names import SESSION_CATALOG, is_temporary
from substrait_dsl.spark.session.explain import ExplainMode, spark_plan
from substrait_dsl.spark.session.failures import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

_SCAN = re.compile(r"^[^A-Za-z\n]*(?:File|Batch)?Scan (csv|json|xml)\b", re.MULTILINE | re.IGNORECASE)
"""The line of a physical plan for a scan of text records."""
_EMPTY = "<empty>"
"""What the optimizer leaves of a join with no rows."""
_ANALYSED = re.compile(r"^== Analyzed Logical Plan ==\n.*\n((?:.*\n)+?)\n== Optimized", re.MULTILINE)
"""The analyzed logical plan, below the line of its columns."""
_STEP = re.compile(r" *(?:\+- )?(?:Filter|Project|SubqueryAlias|View|(?:Local|HiveTable)?Relation|LogicalRDD)\b")
"""A line for a source of rows, or for an operator that takes each row by itself."""
_CHANCE = re.compile(
    r"\b(?:randn?|random|randstr|uniform|uuid|shuffle|monotonically_increasing_id)\(|^ *(?:\+- )?Sample\b", re.MULTILINE
)
"""Random functions and samples in a plan."""
_GROUPS = re.compile(r"^ *(?:Aggregate|Distinct|DistinctOn|Intersect|Except)\b", re.MULTILINE)
"""A line of Sail's plan for groups or distinct rows."""
_SIZE = re.compile(r"Statistics\(sizeInBytes=([0-9.E+]+) ([KMGTPE]?)i?B\b")
"""The estimated size of an operator in a plan, the last operator first."""
_UNITS = ("", "K", "M", "G", "T", "P", "E")


@attrs.frozen
class Scan:
    """The scans of a plan."""

    records: frozenset[str]
    """The formats of text records."""
    is_empty: bool
    """Whether Spark knows that there are no rows, and the plan does not show the scans."""
    size: float
    """The size in bytes, as Spark estimates it."""


# What was found in a session, as to make a plan takes longer than all else that an execution does.
_SCANS: WeakKeyDictionary[SparkSession, dict[int, Scan]] = WeakKeyDictionary()
_ALONE: WeakKeyDictionary[SparkSession, dict[int, bool]] = WeakKeyDictionary()
_RANDOM: WeakKeyDictionary[SparkSession, dict[int, bool]] = WeakKeyDictionary()
_MAX_KNOWN = 10_000


def scan_of(frame: DataFrame) -> Scan | None:
    """Return the scans of a table, a view or files; None: there is no plan."""
    return _extract_from_plan(frame, "cost", _scan, _SCANS)


def _scan(plan: str) -> Scan:
    size = _SIZE.search(plan)
    return Scan(
        frozenset(format_.lower() for format_ in _SCAN.findall(plan)),
        _EMPTY in plan,
        inf if size is None else float(size[1]) * 1024 ** _UNITS.index(size[2]),
    )


def is_one_source(frame: DataFrame) -> bool:
    """Whether a table, a view or files are known to be one source, and no union.

    The physical plan does not tell: the optimizer may have removed a union.
    """
    return _extract_from_plan(frame, "extended", _is_alone, _ALONE) is True


def _is_alone(plan: str) -> bool:
    analysed = _ANALYSED.search(plan)
    return analysed is not None and all(map(_STEP.match, analysed[1].splitlines()))


def is_random(frame: DataFrame) -> bool:
    """Whether a table or a view is known to call random functions."""
    return _extract_from_plan(frame, "extended", _calls_chance, _RANDOM) is True


def _calls_chance(plan: str) -> bool:
    analysed = _ANALYSED.search(plan)
    return analysed is not None and _CHANCE.search(analysed[1]) is not None


def makes_groups(frame: DataFrame) -> bool:
    """Whether a table or a view may have groups or distinct rows, by Sail's plan of it."""
    try:
        return _GROUPS.search(spark_plan(frame, "extended")) is not None
    except spark_errors():
        return False  # the error is raised when the rows are computed


def _extract_from_plan(
    frame: DataFrame, mode: ExplainMode, read: Callable[[str], T], known: WeakKeyDictionary[SparkSession, dict[int, T]]
) -> T | None:
    """Extract something from Spark's plan of a DataFrame; None: there is no plan.

    The result is cached by the semantic hash: another table or view of the same name has another hash.
    """
    of_session = known.setdefault(frame.sparkSession, {})
    try:
        meant = frame.semanticHash()
        if (found := of_session.get(meant)) is not None:
            return found
        plan = spark_plan(frame, mode)
    except spark_errors():
        return None  # the error is raised when the rows are computed
    if len(of_session) == _MAX_KNOWN:
        of_session.clear()
    of_session[meant] = read(plan)
    return of_session[meant]


def is_of_iceberg(names: tuple[str, ...], spark: SparkSession) -> bool:
    """Whether a name is that of a table in an Iceberg catalog: to plan one takes long."""
    catalog, _ = split_catalog(names, spark)
    if catalog == SESSION_CATALOG or catalog_format(catalog, spark) != ICEBERG:
        return False
    return len(names) > 1 or not is_temporary(names[0], spark)
