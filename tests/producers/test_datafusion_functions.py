"""DataFusion's functions: what its plan gives on Spark is what DataFusion computes, or the plan is refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from tests.producers.values import VALUES, Row, are_equal

if TYPE_CHECKING:
    from datafusion import SessionContext
    from pyspark.sql import SparkSession

TABLE = "datafusion_values"


@pytest.fixture(scope="module")
def context(datafusion: None, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> SessionContext:
    from datafusion import SessionContext

    path = str(tmp_path_factory.mktemp("values") / f"{TABLE}.parquet")
    pq.write_table(VALUES, path)
    made = SessionContext()
    made.register_parquet(TABLE, path)
    spark.read.parquet(path).createOrReplaceTempView(TABLE)
    return made


def read(context: SessionContext, query: str) -> sd.Plan:
    from datafusion.substrait import Serde

    return sd.Plan.from_bytes(bytes(Serde.serialize_bytes(query, context)))


def here(context: SessionContext, spark: SparkSession, query: str) -> list[Row]:
    (root,) = read(context, query).roots
    return sorted((tuple(row) for row in root.collect(spark)), key=lambda row: str(row[0]))


def there(context: SessionContext, query: str) -> list[Row]:
    rows = [tuple(row.values()) for row in context.sql(query).to_pylist()]
    return sorted(rows, key=lambda row: str(row[0]))


def differences(expressions: tuple[str, ...], expected: list[Row], got: list[Row]) -> list[str]:
    """The expressions whose values differ in some row, with the values; the first column is the key of the row."""
    assert [row[0] for row in expected] == [row[0] for row in got]
    return [
        f"{expression}: DataFusion {[row[number] for row in expected]}, here {[row[number] for row in got]}"
        for number, expression in enumerate(expressions, 1)
        if not all(
            are_equal(a[number : number + 1], b[number : number + 1]) for a, b in zip(expected, got, strict=True)
        )
    ]


SAME = {
    "quotients of decimals are cut": (
        "d / e",
        "e / d",
        "d / 3",
        "-d / 3",
        "d / e / 3",
        "w / 3",
        "w / e",
        "(d * e) / (e + 1)",
        "CASE WHEN d > 0 THEN d / 3 ELSE e END",
        "d / e > 3.0",
    ),
    "arithmetic of decimals": (
        "d * e",
        "d + e",
        "d - e",
        "d % e",
        "w * d",
        "w + d",
        "w - e",
        "-d",
        "abs(d)",
        "w * 0.5",
    ),
    "arithmetic of other numbers": (
        "i / 2",
        "-i",
        "x / 2",
        "i / 2.0",
        "d / 2.0",
        "abs(i)",
        "abs(x)",
        "i & 3",
        "i | 8",
        "i << 2",
        "i >> 1",
        "j << 2",
        "j >> 2",
        "j % 3",
    ),
    "casts to unsigned integers": (
        "try_cast(i as int unsigned)",
        "try_cast(x as tinyint unsigned)",
        "try_cast(j as bigint unsigned) + 1",
        "try_cast(s as smallint unsigned)",
    ),
    "rounding": (
        "ceil(x)",
        "floor(x)",
        "floor(d)",
        "round(x)",
        "round(x, 1)",
        "round(d)",
        "round(d, 1)",
        "round(e, 2)",
    ),
    "powers and logarithms": (
        "exp(y)",
        "ln(y)",
        "log(y)",
        "log10(y)",
        "log2(y)",
        "log(2, y)",
        "power(x, 2)",
        "power(j, 2)",
    ),
    "angles": (
        "sin(x)",
        "cos(x)",
        "tan(x)",
        "atan(y)",
        "atan2(x, y)",
        "sinh(y)",
        "tanh(y)",
        "degrees(x)",
        "radians(x)",
    ),
    "texts put together pass over NULL": (
        "concat(s, 'x')",
        "concat(s, r)",
        "concat(r)",
        "concat(s, r, 'z')",
        "concat_ws('-', s, r)",
    ),
    "the operator does not": ("s || r", "s || 'x'", "'<' || s || '>'"),
    "parts of texts": (
        "left(s, 2)",
        "left(s, 0)",
        "left(s, -2)",
        "left(s, -9)",
        "right(s, 2)",
        "right(s, -1)",
        "substr(s, 2)",
        "substr(s, 2, 2)",
        "substr(s, 0, 2)",
        "substr(s, -1, 4)",
        "substr(s, -1)",
        "substring(s FROM 2 FOR 3)",
        "lpad(s, 7)",
        "lpad(s, 7, 'z')",
        "rpad(s, 3, 'z')",
        "lpad(s, 0, 'z')",
    ),
    "lengths and places": (
        "length(s)",
        "char_length(s)",
        "octet_length(s)",
        "bit_length(s)",
        "strpos(s, r)",
        "position('b' IN s)",
    ),
    "texts without characters at their ends": (
        "trim(s)",
        "btrim(s)",
        "btrim(s, 'a ')",
        "ltrim(s)",
        "rtrim(s)",
        "ltrim(s, 'a')",
        "trim(BOTH 'a' FROM s)",
    ),
    "other functions of texts": (
        "lower(s)",
        "upper(s)",
        "repeat(s, 2)",
        "replace(s, 'b', 'zz')",
        "reverse(s)",
        "starts_with(s, 'ab')",
        "ends_with(s, 'e')",
        "contains(s, 'b')",
        "regexp_replace(s, '[a-c]', 'z')",
        "regexp_replace(s, '[a-c]', 'z', 'g')",
    ),
    "patterns with a backslash": (
        r"s LIKE 'ab\%c'",
        r"p LIKE '%\%'",
        r"p LIKE '%\\%'",
        r"p LIKE 'a\\b'",
        r"p LIKE 'a\_b'",
        r"p LIKE '%\_%'",
        r"p NOT LIKE '%\_b'",
        r"p LIKE '\a%'",
        r"p LIKE 'a\'",
        r"p LIKE '\\\%'",
    ),
    "patterns without": (
        "s LIKE 'ab%'",
        "s LIKE '_b%'",
        "s NOT LIKE '%c'",
        "s ILIKE 'AB%'",
        "p ILIKE '%B'",
        "s ILIKE '_B%'",
        "('\u017f' || s) ILIKE 's%'",
        "('\u212a' || s) ILIKE 'k%'",
        "('\u00df' || s) ILIKE 'SS%'",
    ),
    "greatest and least pass over NULL": (
        "greatest(x, y)",
        "least(x, y)",
        "greatest(i, 3)",
        "greatest(s, r)",
        "least(d, e)",
        "greatest(n, x)",
        "least(n, x)",
        "least(day, day2)",
    ),
    "conditions": (
        "coalesce(d, e)",
        "nullif(i, 3)",
        "nvl(i, 0)",
        "nvl2(i, 1, 2)",
        "CASE WHEN i > 1 THEN d ELSE e END",
        "CASE i WHEN 1 THEN 'one' WHEN 3 THEN 'three' END",
        "i IN (1, 3, NULL)",
        "i NOT IN (1, NULL)",
        "i BETWEEN 0 AND 5",
        "b AND c",
        "b OR c",
        "b IS UNKNOWN",
        "b IS NOT UNKNOWN",
        "b = c",
        "i IS DISTINCT FROM 3",
        "i IS NOT DISTINCT FROM j",
        "x > y",
        "d > e",
        "d > 0.5",
        "s > r",
        "isnan(n)",
    ),
    "casts": (
        "CAST(d AS INT)",
        "CAST(e AS INT)",
        "CAST(x AS BIGINT)",
        "CAST(d AS DOUBLE)",
        "CAST(e AS DECIMAL(10, 2))",
        "CAST(x AS DECIMAL(20, 1))",
        "CAST(i AS VARCHAR)",
        "CAST(d AS VARCHAR)",
        "CAST(b AS VARCHAR)",
        "CAST(day AS VARCHAR)",
        "CAST(ts AS DATE)",
        "CAST(b AS INT)",
        "TRY_CAST(s AS INT)",
    ),
    "dates and intervals": (
        "day + 5",
        "day - 5",
        "5 + day",
        "day + INTERVAL '1 month'",
        "day + INTERVAL '1 day'",
        "day - INTERVAL '1 year 2 months'",
        "day + INTERVAL '36 hours'",
        "day - INTERVAL '36 hours'",
        "day - INTERVAL '1 hour'",
        "day + INTERVAL '1 month 1 day'",
        "day - INTERVAL '1 month 1 day'",
        "day - INTERVAL '1 month -1 day'",
        "day + INTERVAL '-1 month'",
        "INTERVAL '1 day' + day",
        "day - day2",
        "day < day2",
        "day + 30 > day2",
    ),
    "timestamps and intervals": (
        "ts + INTERVAL '1 month'",
        "ts - INTERVAL '1 month 1 day'",
        "ts + INTERVAL '1 day 2 hours'",
        "ts - INTERVAL '90 minutes'",
        "ts + INTERVAL '1 year'",
        "ts - INTERVAL '1 microsecond'",
        "ts + INTERVAL '500 milliseconds'",
        "ts - INTERVAL '1.25 seconds'",
        "ts + INTERVAL '10 microseconds'",
        "ts + INTERVAL '1 day -0.5 seconds'",
        "ts - (ts - INTERVAL '31 minutes') > INTERVAL '30 minutes'",
        "(ts + INTERVAL '0.5 seconds') - ts = INTERVAL '500 milliseconds'",
        "INTERVAL '-1.5 hours' >= (ts - INTERVAL '2 hours') - ts",
        "ts < TIMESTAMP '2020-01-31 02:00:00'",
    ),
    "the begin of a unit": (
        "date_trunc('year', ts)",
        "date_trunc('QUARTER', ts)",
        "date_trunc('month', ts)",
        "date_trunc('week', ts)",
        "date_trunc('day', ts)",
        "date_trunc('hour', ts)",
        "date_trunc('minute', ts)",
        "date_trunc('second', ts)",
    ),
    "times as texts": ("to_char(day, '%Y-%m')", "to_char(ts, '%d/%m/%Y %H:%M:%S, day %j')"),
    "regular expressions": (
        "s ~ 'a.c'",
        "s ~ '^a'",
        "s !~ 'e$'",
        "s ~ '^$'",
        "s ~ '[b-d]+|x{2}'",
        "s ~ '(a|b)?'",
        "p ~ '[%_]'",
        r"p ~ '\\\\'",
        "regexp_like(s, '^[^a]*$')",
    ),
    "parts between separators": ("split_part(s, 'b', 1)", "split_part(s, 'b', 2)", "split_part(s, 'b', 9)"),
    "parts of dates": (
        "extract(YEAR FROM day)",
        "extract(QUARTER FROM day)",
        "extract(MONTH FROM ts)",
        "extract(WEEK FROM day)",
        "extract(DAY FROM ts)",
        "extract(DOW FROM day)",
        "extract(DOY FROM day)",
        "extract(ISOYEAR FROM day)",
        "extract(HOUR FROM ts)",
        "extract(MINUTE FROM ts)",
        "extract(SECOND FROM ts)",
        "date_part('year', ts)",
        "extract(EPOCH FROM ts)",
    ),
}
"""Expressions over the columns of `VALUES`, by what they are about."""


@pytest.mark.parametrize("expressions", SAME.values(), ids=SAME)
def test_what_datafusion_computes_is_computed_here(
    context: SessionContext, spark: SparkSession, expressions: tuple[str, ...]
) -> None:
    columns = ", ".join(f"{expression} AS c{number}" for number, expression in enumerate(expressions))
    query = f"SELECT k, {columns} FROM {TABLE}"
    assert differences(expressions, there(context, query), here(context, spark, query)) == []


AGGREGATES = (
    "sum(i)",
    "sum(j)",
    "sum(d)",
    "sum(e)",
    "avg(i)",
    "avg(d)",
    "avg(e)",
    "avg(x)",
    "avg(DISTINCT d)",
    "sum(DISTINCT d)",
    "avg(d) FILTER (WHERE i > 0)",
    "sum(d) FILTER (WHERE i > 100)",
    "sum(d) / sum(e)",
    "sum(d) / count(*)",
    "avg(d) > 1",
    "avg(d) * 2",
    "sum(d) * 1.0",
    "count(DISTINCT s)",
    "min(s)",
    "max(s)",
    "min(b)",
    "max(b)",
    "min(day)",
    "max(ts)",
    "median(x)",
    "median(i)",
    "stddev(x)",
    "stddev_pop(x)",
    "stddev(d)",
    "stddev(i)",
    "var(x)",
    "var_pop(x)",
    "corr(x, y)",
    "bool_and(b)",
    "bool_or(b)",
    "string_agg(s, ',' ORDER BY k)",
    "string_agg(s, ',' ORDER BY k) FILTER (WHERE k > 3)",
)
"""Aggregates over the rows of each value of `b`."""


@pytest.mark.parametrize("of", [AGGREGATES[:12], AGGREGATES[12:20], AGGREGATES[20:]], ids=["sums", "ratios", "others"])
def test_aggregates_are_what_datafusion_computes(
    context: SessionContext, spark: SparkSession, of: tuple[str, ...]
) -> None:
    columns = ", ".join(f"{expression} AS c{number}" for number, expression in enumerate(of))
    query = f"SELECT b, {columns} FROM {TABLE} GROUP BY b"
    assert differences(of, there(context, query), here(context, spark, query)) == []


WINDOWS = (
    "sum(d) OVER (PARTITION BY b)",
    "avg(d) OVER (PARTITION BY b)",
    "sum(d) OVER (ORDER BY k)",
    "avg(d) OVER (ORDER BY k)",
    "avg(d) OVER (ORDER BY k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "avg(e) OVER (ORDER BY k) > d",
    "d / avg(d) OVER ()",
    "rank() OVER (ORDER BY b)",
    "min(s) OVER (ORDER BY k)",
    "stddev(x) OVER (ORDER BY k)",
    "count(*) OVER ()",
    # What is NULL comes out, of a frame without rows, too, whatever the column is.
    *(
        f"{value} OVER (PARTITION BY b ORDER BY k {frame})"
        for value in ("first_value(i)", "last_value(i)", "last_value(s)", "first_value(k)", "last_value(k)")
        for frame in ("", "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING", "ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING")
    ),
    "last_value(i) OVER (ORDER BY k) + 1",
    "first_value(d) OVER (ORDER BY k DESC)",
    "nth_value(i, 2) OVER (ORDER BY k)",
    "lag(i) OVER (ORDER BY k)",
    "lead(s, 2) OVER (ORDER BY k)",
    "lag(k, 1, -1) OVER (ORDER BY k)",
)


def test_windows_are_what_datafusion_computes(context: SessionContext, spark: SparkSession) -> None:
    query = f"SELECT k, {', '.join(f'{each} AS c{number}' for number, each in enumerate(WINDOWS))} FROM {TABLE}"
    assert differences(WINDOWS, there(context, query), here(context, spark, query)) == []


GROUPINGS = (
    "SELECT b, c, sum(j) FROM {t} GROUP BY ROLLUP(b, c)",
    "SELECT b, c, grouping(b), grouping(c), grouping(b, c), avg(d) FROM {t} GROUP BY CUBE(b, c)",
    "SELECT c, grouping(c), sum(d), count(*) FROM {t} GROUP BY GROUPING SETS ((b, c), (c), (b), ())",
    "SELECT b, sum(j) FROM {t} GROUP BY GROUPING SETS ((b), (b), ())",
    "SELECT b, grouping(b), sum(j) FROM {t} GROUP BY GROUPING SETS ((b), (b), ())",
    "SELECT b, c, rank() OVER (PARTITION BY grouping(b) + grouping(c) ORDER BY sum(d)) FROM {t} GROUP BY ROLLUP(b, c)",
    "SELECT b, i + 1, sum(d) FROM {t} GROUP BY ROLLUP(b, i + 1) HAVING sum(d) > 0",
    "SELECT sum(j) FROM {t} GROUP BY ROLLUP(b, c, s, r, i, j, k, x)",
)
"""Queries with several grouping sets."""


@pytest.mark.parametrize("text", GROUPINGS)
def test_grouping_sets_have_the_columns_that_datafusion_counts(
    context: SessionContext, spark: SparkSession, text: str
) -> None:
    query = text.format(t=TABLE)
    (root,) = read(context, query).roots
    got = sorted(map(repr, map(tuple, root.collect(spark))))
    assert got == sorted(repr(tuple(row.values())) for row in context.sql(query).to_pylist())


REFUSED = {
    "s LIKE r": "this pattern depends on the row",
    r"p LIKE '_\%%'": "has wildcards, and characters that are none by a backslash",
    r"s ILIKE 'a\%'": "compared without case",
    "s ILIKE '%\u00c9%'": "which letters of",
    "regexp_replace(s, '(a)', '$1z')": "replaces the first match only",
    "CAST(x AS VARCHAR)": "writes fp64. as text in a way of its own",
    "concat(s, CAST(ts AS VARCHAR))": "writes precision_timestamp<6>. as text",
    "left(s, i)": "leaves out characters where its number is below 0",
    "extract(HOUR FROM day)": "is no extract of the specification",
    "extract(EPOCH FROM day)": "is no extract of the specification",
    "ts - (ts - INTERVAL '1 day') > INTERVAL '1 month'": "months, which differ in length",
    "to_char(day, '%b')": "has parts that other engines write otherwise",
    "split_part(s, 'b', k)": "depends on the row",
    "split_part(s, 'b', -1)": "of a number below 1",
    r"s ~ '\d+'": "may mean something else",
    "s ~ 'a(?i)b'": "may mean something else",
    "date_trunc('decade', ts)": "is no unit that is read",
}
"""Expressions whose plans are refused when they are read, with what is said."""


@pytest.mark.parametrize(("expression", "said"), REFUSED.items(), ids=REFUSED)
def test_what_the_specification_has_no_function_for_is_refused(
    context: SessionContext, expression: str, said: str
) -> None:
    with pytest.raises(UnsupportedError, match=said):
        read(context, f"SELECT {expression} FROM {TABLE}")


NOT_RUN = (
    "trunc(x)",
    "cbrt(x)",
    "cot(x)",
    "nanvl(n, x)",
    "s LIKE 'ab!%c' ESCAPE '!'",
    "initcap(s)",
    "ascii(s)",
    "md5(s)",
    "translate(s, 'ab', 'x')",
)
"""Expressions whose plans are read, with the call as it came, and refused by name when they are to run."""


@pytest.mark.parametrize("expression", NOT_RUN)
def test_a_function_that_is_not_known_is_refused_when_it_is_to_run(
    context: SessionContext, spark: SparkSession, expression: str
) -> None:
    (root,) = read(context, f"SELECT {expression} FROM {TABLE}").roots
    with pytest.raises(UnsupportedError, match="Spark cannot run the function") as error:
        root.collect(spark)
    is_known = "ESCAPE" in expression or expression == "initcap(s)"
    assert ("no extension of the specification has one of that name" in str(error.value)) is not is_known
