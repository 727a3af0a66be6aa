"""What Spark estimates of rows before it computes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from substrait_dsl.spark.failures import spark_errors

if TYPE_CHECKING:
    from substrait_dsl.spark.tables import Table

_SIZE = re.compile(r"Statistics\(sizeInBytes=([0-9.]+) ([KMGTPE]?)i?B\b")
_THRESHOLD = re.compile(r"([0-9]+) *([kmgtp]?)b?", re.IGNORECASE)
_UNSURE = re.compile(r"^[\s:|+-]*(?:Exchange|Generate)\b", re.MULTILINE)
"""What follows the rows of these in a plan may be other than was estimated, and Spark plans anew when it knows."""

_POWERS = {unit: 1024**power for power, unit in enumerate(("", "K", "M", "G", "T", "P", "E"))}


def are_few(table: Table) -> bool:
    """Whether Spark would send these rows to all tasks of a join, as far as it can tell beforehand."""
    space = table.space
    most = _bytes(_THRESHOLD.fullmatch(space.spark.conf.get("spark.sql.autoBroadcastJoinThreshold") or ""))
    if most is None:  # -1: it sends none
        return False
    try:
        plan = str(space.sql(f"EXPLAIN COST {table.as_text.query()}").collect()[0][0])
    except spark_errors():  # this is not the place to say what is wrong with the rows
        return False
    size = _bytes(_SIZE.search(plan))
    return size is not None and size <= most and not _UNSURE.search(plan)


def _bytes(found: re.Match[str] | None) -> float | None:
    """How many bytes a number and a unit are."""
    return None if found is None else float(found[1]) * _POWERS[found[2].upper()]
