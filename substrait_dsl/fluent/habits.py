"""Words of other libraries and of SQL where the library has its own, and what to write here."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Mapping

from substrait_dsl.algebra.rules import LATERAL_JOIN_TYPES
from substrait_dsl.calling import FIRST_OF_EACH, UNNEST_OUTER

_NEAREST = 'lateral_join(lambda l: other.filter(lambda r: r.t <= l.t).sort(desc("t")).limit(1), how="left")'

JOIN_HABITS: Mapping[str, str] = {
    "anti": '"left_anti"',
    "asof": _NEAREST,
    "cross": "cross(other)",
    "full": '"outer"',
    "full outer": '"outer"',
    "full_outer": '"outer"',
    "fullouter": '"outer"',
    "left outer": '"left"',
    "left_outer": '"left"',
    "leftanti": '"left_anti"',
    "leftouter": '"left"',
    "leftsemi": '"left_semi"',
    "mark": '"left_mark"',
    "outer_left": '"left"',
    "outer_right": '"right"',
    "right outer": '"right"',
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

_SPARKS = "execute(spark).write.{}(...), which is Spark's"

WRITER_HABITS: Mapping[str, str] = {
    "parquet": 'write(files_target(uri, "parquet"))',
    "orc": 'write(files_target(uri, "orc"))',
    "csv": f'write(files_target(uri, "csv")), of columns of texts; or {_SPARKS.format("csv")}',
    **{name: _SPARKS.format(name) for name in ("json", "text", "jdbc", "option", "options", "bucketBy")},
    "partitionBy": 'write(files_target("out/{x}/{y}", "parquet"))',
    "format": 'write(files_target(uri, "parquet"))',
    "insertInto": "write(name)",
    "mode": 'write(target, "ctas", create_mode="replace_if_exists"), or write(target) to add the rows',
    "save": "write(files_target(uri))",
    "saveAsTable": 'write(name, "ctas")',
}
"""What PySpark's ``frame.write`` has, and what to write here."""

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

VIEW_OF_A_FRAME = 'read_named("name", frame.schema), after frame.createOrReplaceTempView("name")'
"""How rows of a DataFrame of Spark's are read."""

_GIVEN = 'read_named("t", {1}), and collect(tables={{"t": {0}}})'

NAMES: Mapping[str, str] = {
    **dict.fromkeys(("read_csv", "scan_csv"), 'read_files(path, schema, format="csv")'),
    **dict.fromkeys(("read_parquet", "scan_parquet"), "read_files(path, schema)"),
    "read_orc": 'read_files(path, schema, format="orc")',
    **dict.fromkeys(("read_ipc", "scan_ipc", "read_feather"), 'read_files(path, schema, format="arrow")'),
    **dict.fromkeys(("read_table", "table", "from_table"), "read_named(name, schema)"),
    **dict.fromkeys(
        ("LazyFrame", "createDataFrame", "from_dict", "from_dicts", "from_records", "values"),
        "read_virtual(rows, schema)",
    ),
    **dict.fromkeys(("from_dataframe", "from_spark", "read_dataframe", "read_view"), VIEW_OF_A_FRAME),
    "DataFrame": f"read_virtual(rows, schema); of one of Spark's, {VIEW_OF_A_FRAME}",
    **dict.fromkeys(
        ("from_pandas", "read_pandas"),
        _GIVEN.format("frame", "pyarrow.Schema.from_pandas(frame, preserve_index=False)"),
    ),
    "from_polars": _GIVEN.format("frame", "frame.to_arrow().schema"),
    "from_arrow": _GIVEN.format("table", "table.schema")
    + "; read_virtual(table.to_pylist(), table.schema) holds its rows",
    **dict.fromkeys(("from_pylist", "memtable"), "read_virtual(rows, schema)"),
    **dict.fromkeys(
        ("read_json", "scan_json", "read_ndjson", "read_excel", "read_avro"),
        'read_files(path, schema, format="csv"), or of "parquet", "orc", "arrow": no other files are read',
    ),
    "read": "read_files(path, schema), or read_named(name, schema) of a table",
    "scan": "read_files(path, schema), or read_named(name, schema) of a table",
    "element": 'elements(0, 2) for elements of a list that keep(...) leaves; x[0] is one of them, col("x") a column',
    "field": 'col("x")',
    **dict.fromkeys(
        ("write_files", "write_parquet", "sink_parquet"), 'Relation.write(files_target("out/{day}", "parquet"))'
    ),
    **dict.fromkeys(("write_csv", "sink_csv"), 'Relation.write(files_target("out", "csv")), of columns of texts'),
    "write_orc": 'Relation.write(files_target("out", "orc"))',
    **dict.fromkeys(("write", "write_table", "write_named", "insert"), "Relation.write(name)"),
    "save": "Plan.save(path), of relation.to_plan()",
    "load": "Plan.load(path)",
    "execute": "Relation.execute(spark), or Plan.execute(spark) of several",
    "collect": "Relation.collect(spark)",
    "cols": 'col("x"), one by one',
    "and_": "functions.and_(x, y), or x & y",
    "or_": "functions.or_(x, y), or x | y",
    "not_": "functions.not_(x), or ~x",
    "delete": 'Relation.write(name, "delete"), of the rows to delete',
    "merge": 'Relation.write(name, "update"), of rows with keys; the verb join(...) for two relations',
    "case": "when(condition).then(value).otherwise(other)",
    "concat": "functions.concat(x, y) of texts, one.union_all(other) of relations",
    "literal": "lit(value)",
    "Window": 'functions.sum(x).over(partition_by="k", order_by="day", rows=(-2, 0)), with the window in the call',
    **dict.fromkeys(("sql", "sql_expr", "expr"), 'col("x") + 1 and the like, and verbs: text of SQL is not read'),
    **dict.fromkeys(
        ("udf", "pandas_udf"),
        "Relation.execute(spark), whose DataFrame takes one of Spark's: a plan holds no function of Python's",
    ),
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

_FIRST_OF_EACH = f"distinct() for whole rows; for some columns, {FIRST_OF_EACH}"

_NO_PYTHON = "with_columns(y=lambda r: r.x * 2): a lambda gets the columns, not the values of a row"

VERBS: Mapping[str, str] = {
    "agg": "aggregate(...)",
    **{
        name: f"with_columns(y={call}.over(order_by=...))"
        for name, call in (
            ("shift", 'functions.lag(col("x"), 1)'),
            ("cumsum", 'functions.sum(col("x"))'),
            ("cum_sum", 'functions.sum(col("x"))'),
            ("rank", "functions.rank()"),
        )
    },
    "diff": 'with_columns(y=col("x") - functions.lag(col("x"), 1).over(order_by=...))',
    "rolling": 'with_columns(y=functions.avg(col("x")).over(order_by=..., rows=(-2, 0))), for three rows',
    "cast": 'with_columns(x=col("x").cast(I64))',
    "registerTempTable": "execute(spark).createOrReplaceTempView(name)",
    "assign": "with_columns(...)",
    "alias": "join(other, lambda left, right: left.a == right.b): the rows have the names that the lambda gives",
    **dict.fromkeys(("append", "vstack"), "union_all(...)"),
    **dict.fromkeys(("apply", "map", "applymap", "map_rows"), _NO_PYTHON),
    "astype": 'with_columns(x=col("x").cast(I64))',
    "checkpoint": "execute(spark).checkpoint()",
    **dict.fromkeys(("describe", "summary"), "execute(spark).describe(), which is Spark's"),
    **dict.fromkeys(("dtypes", "info"), "schema, which prints as a text"),
    **dict.fromkeys(("fetchall", "iter_rows", "iterrows", "itertuples", "rows", "to_dicts"), "collect(spark)"),
    "lazy": "collect(spark) in the end: nothing runs before",
    **{name: f'aggregate(name=functions.{name}(col("x")))' for name in ("sum", "min", "max", "avg")},
    "mean": 'aggregate(name=functions.avg(col("x")))',
    "qualify": "with_columns(n=functions.row_number().over(...)), then filter(lambda r: r.n == 1)",
    "query": "filter(lambda r: r.x > 1): text of SQL is not read",
    "selectExpr": "select(y=lambda r: r.x + 1): text of SQL is not read",
    "shape": "columns, of which there are len(relation.columns); execute(spark).count() counts the rows",
    "sort_values": 'sort("x"), or sort(desc("x"))',
    "len": "aggregate(n=functions.count())",
    **dict.fromkeys(("isnull", "isna"), 'filter(col("x").is_null()), or select(y=col("x").is_null())'),
    **dict.fromkeys(("notnull", "notna"), 'filter(col("x").is_not_null()), or select(y=col("x").is_not_null())'),
    "na": 'with_columns(x=functions.coalesce(col("x"), value)) for a value in place of NULLs, filter(...) to drop them',
    "pivot_table": "group_by(...).agg(...) with functions.sum(x).filter(...) for each value",
    "reset_index": "group_by(...).agg(...) as it is: rows have no index, keys are columns",
    "set_index": "sort(...), or group_by(...): rows have no index",
    "sql": "filter(...), select(...) and the like: text of SQL is not read",
    "value_counts": 'group_by("x").agg(n=functions.count()).sort(desc("n"))',
    "concat": "union_all(...)",
    "count": "aggregate(n=functions.count())",
    "cube": "group_by(...).cube(...)",
    "except_": "subtract(...)",
    "explode": "unnest(...)",
    **dict.fromkeys(("explode_outer", "unnest_outer"), UNNEST_OUTER),
    **dict.fromkeys(("asof_join", "join_asof", "merge_asof"), _NEAREST),
    "filter_": "filter(...)",
    "groupBy": "group_by(...)",
    "groupby": "group_by(...)",
    "having": "filter(...) after the aggregate",
    "head": "limit(...)",
    "intersectAll": 'set_op("intersection_multiset_all", ...)',
    "exceptAll": 'set_op("minus_primary_all", ...)',
    "mutate": "with_columns(...)",
    "orderBy": "sort(...)",
    "order_by": "sort(...)",
    "save": "to_plan().save(path)",
    "toArrow": "to_arrow()",
    "take": "limit(...)",
    "minus": "subtract(...)",
    "pivot": "group_by(...).agg(...) with functions.sum(x).filter(...) for each value",
    "unique": _FIRST_OF_EACH,
    "dropna": "filter(lambda r: r.x.is_not_null())",
    **dict.fromkeys(("iloc", "loc"), "filter(...) for rows, select(...) for columns"),
    "melt": "expand(x=switching(...)), with one value of each column that becomes rows",
    "unpivot": "expand(x=switching(...)), with one value of each column that becomes rows",
    "printSchema": "schema, which prints as a text",
    **dict.fromkeys(("write_files", "write_parquet", "sink_parquet", "to_parquet"), WRITER_HABITS["parquet"]),
    **dict.fromkeys(("write_csv", "sink_csv", "to_csv"), WRITER_HABITS["csv"]),
    **dict.fromkeys(("to_sql", "to_table", "to_iceberg"), 'write(name), or write(name, "ctas") for a new table'),
    "drop_nulls": "filter(lambda r: r.x.is_not_null())",
    **dict.fromkeys(
        ("partitionBy", "partition_by"),
        f'{WRITER_HABITS["partitionBy"]} for a folder of each value, exchange(scatter("x")) to spread rows by it',
    ),
    "persist": "execute(spark).persist()",
    **dict.fromkeys(("pipe", "transform"), "filter(...) or another verb in a function of your own: step(relation)"),
    "isEmpty": "limit(1).collect(spark)",
    "union_distinct": "union(...)",
    "toPandas": "to_pandas()",
    "unionAll": "union_all(...)",
    "unionByName": "union_all(other.select(...)), with the columns in one order",
    "union_by_name": "union_all(other.select(...)), with the columns in one order",
    "cache": "execute(spark).cache()",
    "createOrReplaceTempView": "execute(spark).createOrReplaceTempView(name)",
    "fillna": 'with_columns(x=functions.coalesce(col("x"), value))',
    "fill_null": 'with_columns(x=functions.coalesce(col("x"), value))',
    "first": "limit(1)",
    "crossJoin": "cross(...)",
    "cross_join": "cross(...)",
    "drop_duplicates": _FIRST_OF_EACH,
    "dropDuplicates": _FIRST_OF_EACH,
    "insertInto": "write(name)",
    "insert_into": "write(name)",
    "insert": "write(name)",
    "delete": 'write(name, "delete")',
    "lateralJoin": "lateral_join(...)",
    "merge": "join(...)",
    "nlargest": "top_n(count, desc(...))",
    "sample": "execute(spark).sample(fraction), which is Spark's",
    "tail": 'sort(desc("x")).limit(...): rows have no order but one that is said',
    **dict.fromkeys(
        ("with_row_index", "with_row_count"), 'with_columns(index=functions.row_number().over(order_by="x"))'
    ),
    "rollup": "group_by(...).rollup(...)",
    "repartition": "exchange(...)",
    "repartition_by_hash": "exchange(scatter(...))",
    "saveAsTable": 'write(name, "ctas")',
    "top": "top_n(...)",
    "top_k": "top_n(...)",
    **dict.fromkeys(
        ("as_scalar", "item", "scalar"), "select(x=substrait_dsl.scalar_subquery(relation)), with its one value"
    ),
    **dict.fromkeys(("exists", "any"), "filter(substrait_dsl.exists(relation)), which tests for rows"),
    "writeTo": "write(name)",
    "write_table": "write(name)",
    "where": "filter(...)",
    "withColumn": "with_columns(...)",
    "withColumnRenamed": "rename(...)",
}
"""Verbs of other libraries, and what they are here."""

WINDOW_METHODS: Mapping[str, str] = {
    "alias": 'over(...).alias("name")',
    "distinct": "over(...); only aggregate functions take different values once",
    "filter": "over(...), then filter(...) the relation",
    "orderBy": "over(order_by=...)",
    "order_by": "over(order_by=...)",
    "partitionBy": "over(partition_by=...)",
    "partition_by": "over(partition_by=...)",
    "range": "over(range=(first, last))",
    "rangeBetween": "over(range=(first, last))",
    "range_between": "over(range=(first, last))",
    "rows": "over(rows=(first, last))",
    "rowsBetween": "over(rows=(first, last))",
    "rows_between": "over(rows=(first, last))",
    "window": "over(...)",
}
"""What other libraries call the parts of a window, and what to write here."""

MEASURE_METHODS: Mapping[str, str] = {
    **{
        name: advice
        for name, advice in WINDOW_METHODS.items()
        if name not in ("alias", "distinct", "filter", "order_by")
    },
    "orderBy": "order_by(...)",
    "sort": "order_by(...): the order in which the function takes its values",
    "within_group": "order_by(...)",
    "where": "filter(...)",
}
"""What other libraries call the parts of a measure, and what to write here."""

_COUNT = "agg(n=functions.count())"

GROUP_METHODS: Mapping[str, str] = {
    **{name: f'agg(name=functions.{name}(col("x")))' for name in ("sum", "min", "max", "avg")},
    "aggregate": "agg(...)",
    "count": _COUNT,
    "filter": "agg(...).filter(...)",
    "having": "agg(...).filter(...)",
    "len": _COUNT,
    "mean": 'agg(name=functions.avg(col("x")))',
    "pivot": "agg(...) with functions.sum(x).filter(...) for each value",
    "size": _COUNT,
    "grouping_sets": 'aggregate("x", "y", grouping_sets=[("x", "y"), ()], ...) of the relation',
    "limit": "agg(...).limit(...)",
    **dict.fromkeys(("apply", "applyInPandas", "map_groups"), "agg(...) with functions: Python's get no group"),
    **dict.fromkeys(("first", "head", "last", "tail"), f"with_columns(...) of the relation; {FIRST_OF_EACH}"),
    "nunique": 'agg(name=functions.count(col("x")).distinct())',
    "select": "agg(...).select(...)",
    "sort": "agg(...).sort(...)",
    "top_n": "agg(...).top_n(...)",
    "with_columns": "agg(...).with_columns(...)",
    "where": "agg(...).filter(...)",
}
"""What other libraries call on groups, and what to write here."""
