"""Functions for everyday work, beside those of the specification: ``from substrait_dsl import everyday as e``.

Some are a shorter way to write functions of the specification, and stand in plans as these. The others are declared by
an extension of this library, `URN`: engines of other people do not know them, and `catalog` is for readers of plans.
"""

from __future__ import annotations

from substrait_dsl.catalog.everyday import URN
from substrait_dsl.everyday.aggregates import (
    approx_percentile,
    collect_list,
    collect_set,
    count_distinct,
    first,
    last,
    max,  # noqa: A004  # as in the specification, which has it for numbers and times
    max_by,
    min,  # noqa: A004  # likewise
    min_by,
    mode,
    percentile,
)
from substrait_dsl.everyday.calling import catalog
from substrait_dsl.everyday.dates import date_diff, date_trunc, last_day
from substrait_dsl.everyday.json_texts import from_json, get_json, to_json
from substrait_dsl.everyday.lists import array_distinct, greatest, least, map_entries, map_keys, map_values, sort_array
from substrait_dsl.everyday.texts import md5, parse_url, sha2, xxhash64
from substrait_dsl.everyday.time_texts import to_date, to_timestamp

__all__ = [
    "URN",
    "approx_percentile",
    "array_distinct",
    "catalog",
    "collect_list",
    "collect_set",
    "count_distinct",
    "date_diff",
    "date_trunc",
    "first",
    "from_json",
    "get_json",
    "greatest",
    "last",
    "last_day",
    "least",
    "map_entries",
    "map_keys",
    "map_values",
    "max",
    "max_by",
    "md5",
    "min",
    "min_by",
    "mode",
    "parse_url",
    "percentile",
    "sha2",
    "sort_array",
    "to_date",
    "to_json",
    "to_timestamp",
    "xxhash64",
]
