"""The functions of this library's extension for everyday work, ``catalog/everyday.yaml``, that Spark runs exactly."""

from __future__ import annotations

from substrait_dsl.catalog.everyday import URN as EVERYDAY_URN
from substrait_dsl.spark.expressions.templates import Table, Template

__all__ = ["EVERYDAY", "EVERYDAY_AGGREGATES", "EVERYDAY_URN"]

_MONTHS = "CAST((year({1}) - year({0})) * 12 + month({1}) - month({0})"
_INCOMPLETE = (
    "CASE WHEN {1} > {0} AND day({1}) < day({0}) THEN 1 WHEN {1} < {0} AND day({1}) > day({0}) THEN -1 ELSE 0 END"
)

EVERYDAY: Table = {
    "date_diff_days": Template("CAST(datediff({1}, {0}) AS BIGINT)"),
    "date_diff_months": Template(f"{_MONTHS} - {_INCOMPLETE} AS BIGINT)"),
    "last_day": Template("last_day({0})"),
    "md5": Template("md5({0})"),
    "sha256": Template("sha2({0}, 256)"),
    "sha512": Template("sha2({0}, 512)"),
    "array_distinct": Template("array_distinct({0})", requires_comparable=True),
    "map_keys": Template("map_keys({0})"),
    "map_values": Template("map_values({0})"),
}

EVERYDAY_AGGREGATES: Table = {
    "collect_list": Template("collect_list({0}){filter}"),
    "collect_set": Template("collect_set({0}){filter}", requires_comparable=True),
    "max_by": Template("max_by({0}, {1}){filter}"),
    "min_by": Template("min_by({0}, {1}){filter}"),
    "percentile": Template("percentile({0}, {1}){filter}"),
    "min": Template("min({0}){filter}"),
    "max": Template("max({0}){filter}"),
}
