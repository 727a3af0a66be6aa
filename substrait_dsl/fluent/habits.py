"""Words of other libraries and of SQL where the library has its own, and what to write here."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Mapping

from substrait_dsl.algebra.rules import LATERAL_JOIN_TYPES

JOIN_HABITS: Mapping[str, str] = {
    "anti": '"left_anti"',
    "cross": "cross(other)",
    "full": '"outer"',
    "full_outer": '"outer"',
    "fullouter": '"outer"',
    "left_outer": '"left"',
    "leftanti": '"left_anti"',
    "leftouter": '"left"',
    "leftsemi": '"left_semi"',
    "mark": '"left_mark"',
    "outer_left": '"left"',
    "outer_right": '"right"',
    "right_outer": '"right"',
    "rightouter": '"right"',
    "semi": '"left_semi"',
    "single": '"left_single"',
}
"""Join types of other libraries, and the specification's names."""

LATERAL_HABITS: Mapping[str, str] = {
    **{word: advice for word, advice in JOIN_HABITS.items() if advice.strip('"') in LATERAL_JOIN_TYPES},
    "cross": '"inner"',
    "cross_apply": '"inner"',
    "outer": '"left"',
    "outer_apply": '"left"',
}
"""Lateral joins of other libraries, and the specification's names."""

KEY_HABITS: Mapping[str, str] = {
    "=": '"eq"',
    "==": '"eq"',
    "equal": '"eq"',
    "equals": '"eq"',
    "<=>": '"is_not_distinct_from"',
    "eq_missing": '"is_not_distinct_from"',
    "eq_null_safe": '"is_not_distinct_from"',
    "is_not_distinct": '"is_not_distinct_from"',
    "null_safe": '"is_not_distinct_from"',
}
"""Comparisons of join keys in other libraries, and the specification's names."""

EXCHANGE_HABITS: Mapping[str, str] = {
    "broadcast": "broadcast()",
    "hash": 'scatter("column", ...)',
    "multi_bucket": "multi_bucket(...)",
    "multi_target": "multi_bucket(...)",
    "roundrobin": "round_robin()",
    "round_robin": "round_robin()",
    "scatter": 'scatter("column", ...)',
    "scatter_by_fields": 'scatter("column", ...)',
    "single_bucket": "single_bucket(...)",
    "single_target": "single_bucket(...)",
}
"""Kinds of exchanges as words, and what makes them."""

WRITE_HABITS: Mapping[str, str] = {
    "append": '"insert"',
    "create": '"ctas", or create_table(name, schema) for an empty table',
    "create_table": '"ctas", or create_table(name, schema) for an empty table',
    "merge": '"update" for rows whose key the table has, "insert" for the others',
    "overwrite": '"ctas", with create_mode="replace_if_exists"',
    "replace": '"ctas", with create_mode="replace_if_exists"',
    "upsert": '"update" for rows whose key the table has, "insert" for the others',
}
"""Ways to write of other libraries, and the specification's operations."""

CREATE_HABITS: Mapping[str, str] = {
    "append": '"append_if_exists"',
    "error": '"error_if_exists"',
    "errorifexists": '"error_if_exists"',
    "ignore": '"ignore_if_exists"',
    "overwrite": '"replace_if_exists"',
    "replace": '"replace_if_exists"',
}
"""What other libraries call the ways to create a table, and the specification's words."""

OUTPUT_HABITS: Mapping[str, str] = {
    "modified_tuples": '"modified_records"',
    "none": '"no_output"',
    "returning": '"modified_records"',
}
"""What a write puts out, elsewhere and in the specification."""

METHOD_HABITS: Mapping[str, str] = {
    "hashing": '"hash"',
    "sort": '"streaming"',
    "sorted": '"streaming"',
    "stream": '"streaming"',
}
"""Ways to aggregate of other libraries, and the specification's."""

WINDOW_HABITS: Mapping[str, str] = {
    "consistent": '"consistent_partition"',
    "hash": '"hashing"',
    "stream": '"streaming"',
}
"""Ways to compute windows of other libraries, and the specification's."""

SET_HABITS: Mapping[str, str] = {
    "except": '"minus_primary"',
    "except_all": '"minus_primary_all"',
    "intersect": '"intersection_multiset"',
    "intersect_all": '"intersection_multiset_all"',
    "minus": '"minus_primary"',
    "union": '"union_distinct"',
}
"""Set operations of SQL, and the specification's names."""

NAMES: Mapping[str, str] = {
    **dict.fromkeys(("read_csv", "scan_csv"), 'read_files(path, schema, format="csv")'),
    **dict.fromkeys(("read_parquet", "scan_parquet"), "read_files(path, schema)"),
    "read_orc": 'read_files(path, schema, format="orc")',
    **dict.fromkeys(("read_ipc", "scan_ipc", "read_feather"), 'read_files(path, schema, format="arrow")'),
    **dict.fromkeys(("read_table", "table", "from_table"), "read_named(name, schema)"),
    **dict.fromkeys(
        ("DataFrame", "LazyFrame", "createDataFrame", "from_dict", "from_records", "values"),
        "read_virtual(rows, schema)",
    ),
    **dict.fromkeys(("element", "field"), 'col("x")'),
    "case": "when(condition).then(value).otherwise(other)",
    "concat": "functions.concat(x, y) of texts, one.union_all(other) of relations",
    "literal": "lit(value)",
    "struct": "struct_of(a=x, b=y)",
    "array": "list_of(x, y)",
}
"""What other libraries call what stands in the package, and what to write here."""

TYPE_HABITS: Mapping[str, str] = {
    **dict.fromkeys(("tinyint", "byte", "int8"), "i8"),
    **dict.fromkeys(("smallint", "short", "int16", "int2"), "i16"),
    **dict.fromkeys(("int", "integer", "int32", "int4"), "i32"),
    **dict.fromkeys(("bigint", "long", "int64"), "i64"),
    **dict.fromkeys(("float", "real", "float32", "float4"), "fp32"),
    **dict.fromkeys(("double", "double precision", "float64", "float8"), "fp64"),
    **dict.fromkeys(("numeric", "number"), "decimal"),
    **dict.fromkeys(("bool", "bit"), "boolean"),
    **dict.fromkeys(("text", "str", "utf8", "large_string", "clob"), "string"),
    **dict.fromkeys(("char", "character"), "fixedchar"),
    **dict.fromkeys(("character varying", "nvarchar"), "varchar"),
    **dict.fromkeys(("bytes", "bytea", "blob", "varbinary", "large_binary"), "binary"),
    **dict.fromkeys(("timestamp", "datetime", "timestamp_ntz", "timestampntz"), "precision_timestamp"),
    **dict.fromkeys(("timestamptz", "timestamp_ltz", "timestamp with time zone"), "precision_timestamp_tz"),
    "timestamptype": "precision_timestamp_tz",  # PySpark's class; the suffix of the others tells nothing
    "time": "precision_time",
    **dict.fromkeys(("interval", "duration", "timedelta"), "interval_day"),
    "array": "list",
    **dict.fromkeys(("row", "record"), "struct"),
    "guid": "uuid",
}
"""Types of SQL, PySpark, Polars, Arrow and numpy, in small letters, and what the specification calls them."""

PYTHON_TYPES: Mapping[type, str] = {
    bool: "Boolean",
    int: "I64",
    float: "FP64",
    decimal.Decimal: "Decimal(precision, scale)",
    str: "String",
    bytes: "Binary",
    dt.date: "Date",
    dt.datetime: "PrecisionTimestamp(6)",
    dt.time: "PrecisionTime(6)",
    dt.timedelta: "IntervalDay(6)",
    uuid.UUID: "UUID",
    list: "List[...]",
    dict: "Map[..., ...]",
}
"""Types of Python, and what an annotation, or the type of a column, says instead."""
