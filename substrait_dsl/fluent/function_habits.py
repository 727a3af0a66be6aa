"""Functions and methods of other libraries and of SQL, and what to write here."""

from __future__ import annotations

from collections.abc import Mapping

_HAS_PATTERN = "functions.regexp_count_substring(x, pattern) > 0"

METHODS: Mapping[str, str] = {
    "and_": "x & y",
    "or_": "x | y",
    "not_": "~x, such as ~(x > 1)",
    "asc_nulls_first": 'asc(nulls="first")',
    "asc_nulls_last": 'asc(nulls="last")',
    "desc_nulls_first": 'desc(nulls="first")',
    "desc_nulls_last": 'desc(nulls="last")',
    "eqNullSafe": "functions.is_not_distinct_from(x, ...)",
    "eq_missing": "functions.is_not_distinct_from(x, ...)",
    "contains": "functions.contains(x, y) of texts, functions.any_match(xs, lambda x: x == y) of a list",
    "ilike": 'functions.like(x, pattern, case_sensitivity="CASE_INSENSITIVE")',
    "endswith": "functions.ends_with(x, ...)",
    "fill_null": "functions.coalesce(x, ...)",
    "fillna": "functions.coalesce(x, ...)",
    "isNotNull": "is_not_null()",
    "isNull": "is_null()",
    "isin": "is_in(...)",
    "isna": "is_null()",
    **dict.fromkeys(("notna", "notnull", "isnotnull"), "is_not_null()"),
    "astype": "cast(to)",
    **{name: f"x {sign} y" for name, sign in (("eq", "=="), ("ne", "!="), ("ge", ">="), ("le", "<="))},
    **dict.fromkeys(
        ("map", "apply", "map_elements"), "a function such as functions.upper(x): Python never sees the values"
    ),
    "name": "alias(...)",
    "rlike": _HAS_PATTERN,
    "regexp_like": _HAS_PATTERN,
    "strip": 'functions.trim(x, " ")',
    "lstrip": 'functions.ltrim(x, " ")',
    "rstrip": 'functions.rtrim(x, " ")',
    "str": "functions.contains(x, y) and the like: functions on texts have no namespace",
    "dt": 'functions.extract("YEAR", x) and the like: functions on dates have no namespace',
    "startswith": "functions.starts_with(x, ...)",
    "substr": "functions.substring(x, start, length)",
    "slice": "functions.substring(x, start, length)",
    **dict.fromkeys(("rowsBetween", "rows_between"), "functions.sum(x).over(order_by=..., rows=(None, 0))"),
    **dict.fromkeys(("rangeBetween", "range_between"), "functions.sum(x).over(order_by=..., range=(None, 0))"),
    "diff": "x - functions.lag(x, 1).over(order_by=...)",
    "try_cast": 'cast(to, on_failure="return_null")',
    "over": "functions.sum(x).over(...): a window is that of one function, not of an expression",
    "getField": 'x["field"], by name',
    "getItem": 'x[0] of a list, x["key"] of a map',
    "withField": "the struct anew: struct_of(...)",
}
"""Methods that expressions have elsewhere, and what to write here; others are called as `FUNCTIONS` are."""


def difference(zone: str = "") -> str:
    """What to write for the difference of two points in time; `zone` is a further argument, after a comma."""
    return f'extract("UNIX_TIME", x{zone}): the difference of two is in seconds'


_RUNNING = "{}(x).over(order_by=..., rows=(None, 0))"
_MOVING = "{}(x).over(order_by=..., rows=(-2, 0)), for three rows"
_NO_SQL = 'substrait_dsl.col("x") + 1 and the like: text of SQL is not read'
_NO_LISTS = 'string_agg(x, ","): no function of the specification makes a list of a column'
_EPOCH = "substrait_dsl.lit(datetime.datetime(1970, 1, 1)) + x * datetime.timedelta(seconds=1)"
FIRST_OF_GROUP = "row_number().over(partition_by=..., order_by={}) in with_columns(...); then filter by it == 1"
_LARGEST = FIRST_OF_GROUP.format('substrait_dsl.desc("y")')
_SMALLEST = FIRST_OF_GROUP.format('substrait_dsl.asc("y", nulls="last")')
_PERCENTILE = (
    'cume_dist().over(order_by="x") in with_columns(...), of the rows where x.is_not_null(); '
    "then filter by it, such as >= 0.9, and take min(x)"
)
_BUCKET = (
    'substrait_dsl.col("x").cast(Date) for the day; concat(strftime(x, "%Y-%m"), "-01").cast(Date) for the month; '
    's - modulus(s, 900, division_type="FLOOR") for 15 minutes, s being extract("UNIX_TIME", x), and '
    "substrait_dsl.lit(datetime.datetime(1970, 1, 1)) + s * datetime.timedelta(seconds=1)"
)
_OUTER = 'substrait_dsl.Relation.lateral_join(..., how="left") with the list of a row, unnested'
_FROM_PARTS = 'concat(y.cast(String), "-", lpad(m.cast(String), 2, "0"), "-", lpad(d.cast(String), 2, "0")).cast(Date)'
_FILL = (
    "nth_value(x, 1).over(partition_by=n, order_by=..., rows=(None, None)), "
    "n being count(x).over(order_by=..., rows=(None, 0))"
)
_DATE = 'substrait_dsl.col("x").cast(Date), which reads texts such as "2024-05-31"'
_TIMESTAMP = 'substrait_dsl.col("x").cast(PrecisionTimestamp(6)), which reads texts such as "2024-05-31 12:00:00"'
_FOLD = (
    'substrait_dsl.scalar_subquery(one.with_columns(x=r.xs).unnest("x").aggregate(s=lambda e: sum(e.element))), '
    'one being a relation of one row, such as substrait_dsl.read_virtual([(0,)], {"z": "i64"})'
)
_LAST_DAY = (
    'concat(strftime(x, "%Y-%m"), "-01").cast(Date) for the first day d; '
    "(d + substrait_dsl.YearMonths(months=1) - datetime.timedelta(days=1)).cast(Date)"
)
_IF = "substrait_dsl.when(condition).then(value).otherwise(other)"
_ANY = "bool_or(x) of a group, any_match(xs, lambda x: ...) of a list"
_ALL = "bool_and(x) of a group, all_match(xs, lambda x: ...) of a list"

FUNCTIONS: Mapping[str, str] = {
    **dict.fromkeys(("aggregate", "reduce", "fold", "array_sum", "list_sum", "array_max", "list_max"), _FOLD),
    **dict.fromkeys(("array_min", "list_min", "list_mean", "list_avg", "array_join", "list_aggregate"), _FOLD),
    **dict.fromkeys(("array_agg", "list_agg"), _NO_LISTS),
    "last_day": _LAST_DAY,
    "asc": "substrait_dsl.asc(...)",
    "broadcast": "substrait_dsl.Relation.exchange(substrait_dsl.broadcast()) of one side of a join",
    "collect_list": _NO_LISTS,
    "collect_set": _NO_LISTS,
    **dict.fromkeys(("any", "any_", "bool_any", "some"), _ANY),
    **dict.fromkeys(("every", "all", "all_", "bool_all"), _ALL),
    **dict.fromkeys(("max_by", "arg_max", "argmax"), _LARGEST),
    **dict.fromkeys(("min_by", "arg_min", "argmin"), _SMALLEST),
    **dict.fromkeys(("array_contains", "list_contains"), "any_match(xs, lambda x: x == y)"),
    **dict.fromkeys(("case", "case_when", "if_", "ifelse", "iff", "iif"), _IF),
    **dict.fromkeys(("cast", "to_number"), 'substrait_dsl.col("x").cast(I64)'),
    **dict.fromkeys(("try_cast", "safe_cast"), 'substrait_dsl.col("x").cast(I64, on_failure="return_null")'),
    **dict.fromkeys(("convert_timezone", "from_utc_timestamp", "at_time_zone"), 'local_timestamp(x, "Asia/Tokyo")'),
    "to_utc_timestamp": 'assume_timezone(x, "Asia/Tokyo")',
    **dict.fromkeys(("count_if", "countif"), "count().filter(condition)"),
    **dict.fromkeys(("sum_if", "sumif"), "sum(x).filter(condition)"),
    "avg_if": "avg(x).filter(condition)",
    **dict.fromkeys(("dateadd", "date_add"), "add(day, datetime.timedelta(days=30))"),
    **dict.fromkeys(("cumsum", "cum_sum"), _RUNNING.format("sum")),
    **dict.fromkeys(("cummax", "cum_max"), _RUNNING.format("max")),
    **dict.fromkeys(("cummin", "cum_min"), _RUNNING.format("min")),
    "cum_count": _RUNNING.format("count"),
    "rolling_sum": _MOVING.format("sum"),
    "rolling_mean": _MOVING.format("avg"),
    "shift": "lag(x, 1).over(order_by=...)",
    **dict.fromkeys(("expr", "sql_expr"), _NO_SQL),
    "ilike": 'like(x, pattern, case_sensitivity="CASE_INSENSITIVE")',
    **dict.fromkeys(("grouping", "grouping_id"), 'substrait_dsl.col("grouping_set"), the number of the set of a row'),
    "nanvl": "substrait_dsl.when(functions.is_nan(x)).then(y).otherwise(x)",
    "split_part": 'string_split(x, ",")[0] for the first part',
    "translate": 'replace(x, "a", "b") for each letter',
    **dict.fromkeys(("datesub", "date_sub"), "subtract(day, datetime.timedelta(days=30))"),
    "add_months": "add(day, substrait_dsl.YearMonths(months=1))",
    **dict.fromkeys(("date_trunc", "time_bucket", "datetrunc", "trunc"), _BUCKET),
    **dict.fromkeys(("date_part", "datepart", "dt_part"), 'extract("YEAR", x)'),
    **dict.fromkeys(("make_date", "date_from_parts", "datefromparts"), _FROM_PARTS),
    **dict.fromkeys(("forward_fill", "ffill"), _FILL),
    **dict.fromkeys(("dayofmonth", "day_of_month"), 'extract("DAY", "ONE", x)'),
    **dict.fromkeys(("dayofweek", "day_of_week"), 'extract("SUNDAY_DAY_OF_WEEK", "ONE", x), 1 being Sunday'),
    "weekday": 'extract("MONDAY_DAY_OF_WEEK", "ZERO", x), 0 being Monday',
    **dict.fromkeys(("dayofyear", "day_of_year"), 'extract("DAY_OF_YEAR", "ONE", x)'),
    **dict.fromkeys(("weekofyear", "week"), 'extract("ISO_WEEK", "ONE", x)'),
    "distinct": "count(x).distinct()",
    **dict.fromkeys(("element_at", "getItem", "list_get"), 'substrait_dsl.col("x")[0] of a list, ["key"] of a map'),
    **dict.fromkeys(("from_unixtime", "from_epoch", "timestamp_seconds"), _EPOCH),
    **dict.fromkeys(("instr", "position", "charindex", "locate"), "strpos(x, y), y being what is looked for"),
    **dict.fromkeys(("approx_percentile", "approx_quantile", "percentile", "percentile_approx"), _PERCENTILE),
    **dict.fromkeys(("percentile_cont", "percentile_disc", "quantile_cont", "quantile_disc"), _PERCENTILE),
    "slice": "substring(x, start, length), of a text",
    "switch": "substrait_dsl.switch(x, {1: value}, default=other)",
    "to_char": 'strftime(x, "%Y-%m")',
    "date_format": 'strftime(x, "%Y-%m")',
    **dict.fromkeys(("datediff", "date_diff", "timestampdiff", "timestamp_diff"), difference()),
    **dict.fromkeys(("epoch", "to_unix_timestamp"), 'extract("UNIX_TIME", x)'),
    "last": _LARGEST,
    "list": _NO_LISTS,
    **dict.fromkeys(("n_unique", "nunique"), "count(x).distinct()"),
    **dict.fromkeys(("listagg", "group_concat"), 'string_agg(x, ",")'),
    **dict.fromkeys(("array_length", "list_length"), "cardinality"),
    **dict.fromkeys(("in_", "isin", "is_in"), 'substrait_dsl.col("x").is_in([1, 2])'),
    "not_in": 'substrait_dsl.col("x").is_in([1, 2]), with ~ before it',
    "plus": "add",
    "minus": "subtract",
    "times": "multiply",
    "greater": "gt",
    "less": "lt",
    "try_divide": "divide(x, nullif(y, 0))",
    **dict.fromkeys(("lowercase", "to_lowercase", "lcase"), "lower"),
    **dict.fromkeys(("uppercase", "to_uppercase", "ucase"), "upper"),
    "zfill": 'lpad(x, 5, "0")',
    "to_string": 'substrait_dsl.col("x").cast(String)',
    "quarter": 'extract("QUARTER", "ONE", x)',
    **dict.fromkeys(("regexp_extract", "regexp_substr"), "regexp_match_substring(x, pattern, 1, 1, group)"),
    "regexp_like": "regexp_count_substring(x, pattern) > 0",
    "rlike": "regexp_count_substring(x, pattern) > 0",
    "unix_timestamp": 'extract("UNIX_TIME", x)',
    "desc": "substrait_dsl.desc(...)",
    "split": "string_split",
    "to_date": _DATE,
    "date": f"substrait_dsl.lit(datetime.date(2024, 5, 31)) for a constant, {_DATE}",
    "to_timestamp": _TIMESTAMP,
    "timestamp": f"substrait_dsl.lit(datetime.datetime(2024, 5, 31)) for a constant, {_TIMESTAMP}",
    "strptime": f"{_DATE}; on engines other than Spark strptime_date(x, format), strptime_timestamp(x, format, digits)",
    "when": "substrait_dsl.when(...)",
    "array": "substrait_dsl.list_of(...)",
    "array_size": "cardinality",
    "array_sort": "sort",
    "array_transform": "transform(xs, lambda x: ...)",
    "ceiling": "ceil",
    "col": "substrait_dsl.col(...)",
    "column": "substrait_dsl.col(...)",
    "count_distinct": "count(x).distinct()",
    "countDistinct": "count(x).distinct()",
    "create_map": "substrait_dsl.map_of(...)",
    "current_date": "substrait_dsl.current_date()",
    "current_timestamp": "substrait_dsl.current_timestamp()",
    "current_timezone": "substrait_dsl.current_timezone()",
    "day": 'extract("DAY", "ONE", x)',
    **dict.fromkeys(("explode", "posexplode", "flatten"), "substrait_dsl.Relation.unnest(...)"),
    **dict.fromkeys(("explode_outer", "posexplode_outer"), _OUTER),
    "exists": "any_match(xs, lambda x: ...)",
    "first": FIRST_OF_GROUP.format('"y"'),
    "forall": "all_match(xs, lambda x: ...)",
    "hour": 'extract("HOUR", x)',
    "ifnull": "coalesce",
    "isnull": "is_null",
    "len": "char_length(x) of a text, cardinality(x) of a list, count() of the rows of a group",
    "length": "char_length",
    "lit": "substrait_dsl.lit(...)",
    "list_filter": "filter(xs, lambda x: ...)",
    "list_transform": "transform(xs, lambda x: ...)",
    "log": "ln",
    "mean": "avg",
    "minute": 'extract("MINUTE", x)',
    "mod": "modulus",
    "month": 'extract("MONTH", "ONE", x)',
    "named_struct": "substrait_dsl.struct_of(...)",
    "now": "substrait_dsl.current_timestamp()",
    "nvl": "coalesce",
    "pow": "power",
    "second": 'extract("SECOND", x)',
    "size": "cardinality",
    "stddev": "std_dev",
    "stddev_samp": 'std_dev("SAMPLE", x)',
    "struct": "substrait_dsl.struct_of(...)",
    "substr": "substring",
    "sum_distinct": "sum(x).distinct()",
    "var_samp": 'variance("SAMPLE", x)',
    "year": 'extract("YEAR", x)',
}
"""Functions of SQL and of other libraries, and what the specification calls them."""

ABSENT = frozenset(
    [
        "crc32",
        "decode",
        "encode",
        "from_json",
        "get_json_object",
        "hash",
        "input_file_name",
        "json_extract",
        "json_extract_string",
        "levenshtein",
        "map_entries",
        "map_keys",
        "map_values",
        "md5",
        "monotonically_increasing_id",
        "months_between",
        "rand",
        "randn",
        "random",
        "sha1",
        "sha2",
        "shuffle",
        "soundex",
        "to_json",
        "typeof",
        "uuid",
        "xxhash64",
    ]
)
"""Functions of others that the specification has not, nor any that does the same."""

NO_FUNCTION = "the specification has no such function; Functions(catalog) offers those of an extension of your own"
