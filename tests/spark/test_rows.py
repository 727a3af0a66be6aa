"""Filter, project, emit, sort and fetch on Spark, and what a whole plan looks like from outside."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.plan import AlgebraPlan, Root
from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.spark.diagnostics.settings import require_settings
from substrait_dsl.spark.execute import execute
from tests.spark.rows import collected, counted, register, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_filter_keeps_what_is_true(spark: SparkSession) -> None:
    t = values({"x": "i64?"}, (1,), (None,), (3,))
    assert counted(t.filter(lambda r: r.x > 1), spark) == Counter([(3,)])
    assert counted(t.filter(lambda r: ~(r.x > 1)), spark) == Counter([(1,)])


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        (lambda: sd.asc("x", nulls="first"), [None, 1, 2]),
        (lambda: sd.asc("x", nulls="last"), [1, 2, None]),
        (lambda: sd.desc("x", nulls="first"), [None, 2, 1]),
        (lambda: sd.desc("x", nulls="last"), [2, 1, None]),
    ],
)
def test_sort_places_nulls(key: Any, wanted: list[Any], spark: SparkSession) -> None:
    t = values({"x": "i64?"}, (2,), (None,), (1,))
    assert collected(t.sort(key()), spark) == [(value,) for value in wanted]


def test_clustered_puts_equal_values_together(spark: SparkSession) -> None:
    found = [x for (x,) in collected(values({"x": "i64"}, (2,), (1,), (2,), (1,)).sort(sd.clustered("x")), spark)]
    assert found in ([1, 1, 2, 2], [2, 2, 1, 1])


def test_sort_by_expressions_and_subqueries(spark: SparkSession) -> None:
    ranks = register({"ranks": ({"k": "i64", "rank": "i64"}, [(1, 3), (2, 1), (3, 2)])}, spark)["ranks"]
    t = values({"x": "i64"}, (1,), (2,), (3,))

    def rank(row: Any) -> Any:
        return sd.scalar_subquery(ranks.filter(lambda k: k.k == row.x).select("rank"))

    assert collected(t.sort(lambda r: rank(r).asc()), spark) == [(2,), (3,), (1,)]
    assert collected(t.sort(lambda r: (0 - r.x).asc()), spark) == [(3,), (2,), (1,)]


@pytest.mark.parametrize(
    ("count", "offset", "wanted"),
    [(2, None, [0, 1]), (2, 3, [3, 4]), (None, 3, [3, 4]), (0, None, []), (10, 4, [4]), (None, None, [0, 1, 2, 3, 4])],
)
def test_fetch(count: Any, offset: Any, wanted: list[int], spark: SparkSession) -> None:
    t = values({"x": "i64"}, *((x,) for x in range(5))).sort("x")
    assert collected(t.fetch(count, offset), spark) == [(x,) for x in wanted]


def test_fetch_by_expressions(spark: SparkSession) -> None:
    t = values({"x": "i64"}, *((x,) for x in range(5))).sort("x")
    two = sd.scalar_subquery(values({"x": "i64"}, (5,), (7,)).aggregate(n=f.count()))
    assert collected(t.fetch(two, sd.lit(1) + 1), spark) == [(2,), (3,)]
    assert len(collected(t.fetch(sd.null(sd.I64), sd.null(sd.I64)), spark)) == 5  # NULL means all, and 0
    with pytest.raises(ExecutionError, match="the count of a fetch must not be negative, it is -1"):
        t.fetch(sd.lit(1) - 2).execute(spark)


@pytest.mark.parametrize("count", [2**31 - 1, 2**31, 2**63 - 3, 2**63 - 1])
def test_fetch_beyond_the_integers_of_spark(count: int, spark: SparkSession) -> None:
    t = values({"x": "i64"}, *((x,) for x in (3, 1, 2)))
    assert collected(t.sort("x").fetch(count, 1), spark) == [(2,), (3,)]
    assert collected(t.sort("x").fetch(1, count), spark) == []
    assert collected(t.top_n(count, sd.desc("x"), offset=1), spark) == [(2,), (1,)]
    inside = t.sort("x").fetch(count, 2)
    assert collected(t.filter(lambda r: r.x.is_in(inside)), spark) == [(3,)]


def test_ranks_beyond_the_integers_of_spark_are_refused(spark: SparkSession) -> None:
    t = values({"x": "i64"}, (1,))
    with pytest.raises(UnsupportedError, match="rank more than 2147483647 rows; a top n is of 2147483648"):
        t.top_n(2**31, "x", with_ties=True).execute(spark)


def test_projected_references_cost_nothing(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    t = values({"a": "i64", "b": "string"}, (1, "x"))
    shuffled = t.select("b", c=lambda r: r.a).rename(b="d").emit([1, 0, 1])
    found = shuffled.execute(spark)
    assert found.columns == ["c", "d", "c"]
    assert [tuple(row) for row in found.collect()] == [(1, "x", 1)]
    found.explain()
    assert "Project" not in capsys.readouterr().out


NAMES = ["a", "a", "A", "", "x.y", "`q`", "${spark.app.name}", "{n}", "SELECT", "naïve"]


def test_any_names_come_out_as_they_are(spark: SparkSession) -> None:
    t = values({f"c{number}": "i64" for number in range(len(NAMES))}, tuple(range(len(NAMES))))
    (found,) = execute(AlgebraPlan((Root(t._rel, tuple(NAMES)),)), spark)
    assert found.columns == NAMES
    assert [tuple(row) for row in found.collect()] == [tuple(range(len(NAMES)))]


def test_texts_are_never_read_as_sql(spark: SparkSession) -> None:
    texts = ["${env:HOME}", "{x}", "it's", '"', "\\n", "a\nb", "`", "--", "\0", "𝄞"]
    rows = [(number, text) for number, text in enumerate(texts)]
    t = register({"texts": ({"n": "i64", "s": "string"}, rows)}, spark)["texts"]
    for number, text in enumerate(texts[:4]):
        assert collected(t.filter(lambda r, text=text: r.s == text).select("n"), spark) == [(number,)]
    same = t.filter(
        lambda r: sd.exists(values({"s": "string"}, *((text,) for text in texts)).filter(lambda v: v.s == r.s))
    )
    assert counted(same, spark) == Counter(rows)


def test_nullability_is_the_derived_one(spark: SparkSession) -> None:
    spark.createDataFrame([(1, None), (2, 5)], "a: int, b: int").createOrReplaceTempView("loose")
    t = sd.read_named("loose", {"a": "i32", "b": "i32?"})  # Spark takes both for nullable
    found = t.project(c=sd.lit(1, sd.I32), d=sd.lit(1, sd.Nullable[sd.I32])).execute(spark)
    assert [field.nullable for field in found.schema.fields] == [False, True, False, True]
    assert Counter(map(tuple, found.collect())) == Counter([(1, None, 1, 1), (2, 5, 1, 1)])
    wrong = sd.read_named("loose", {"a": "i32", "b": "i32"})
    with pytest.raises(Exception, match='column "b" is required, but it is NULL'):
        wrong.execute(spark).collect()
    assert counted(wrong.select("a"), spark) == Counter([(1,), (2,)])


NESTED = "struct<i64, list<string?>, map<string, struct<i64?>>>"
EVERYTHING = {
    "boolean": True, "i8": -128, "i16": 300, "i32": 2**31 - 1, "i64": -(2**63), "fp32": 0.5, "fp64": 0.1,
    "string": "é", "varchar<3>": "abc", "fixedchar<2>": "ab", "binary": b"\0\xff", "fixedbinary<2>": b"ab",
    "decimal<38,10>": Decimal("1234567890123456789012345678.0123456789"), "decimal<5,2>": Decimal("-0.01"),
    "date": dt.date(1000, 1, 1), "precision_timestamp<6>": dt.datetime(2020, 2, 29, 1, 2, 3, 456789),
    "precision_timestamp<3>": dt.datetime(1969, 12, 31, 23, 59, 59, 999000),
    "interval_day<6>": dt.timedelta(days=-1, microseconds=5), "precision_time<6>": dt.time(23, 59, 59, 999999),
    "list<i64?>": [1, None], "list<list<i64>>": [[1], []], "map<string, i64?>": {"a": 1, "b": None},
}  # fmt: skip


def test_every_type_comes_back_as_it_went(spark: SparkSession) -> None:
    columns = {f"c{number}": kind for number, kind in enumerate(EVERYTHING)}
    row = tuple(EVERYTHING.values())
    one = values(columns, row)
    assert [tuple(found) for found in one.execute(spark).collect()] == [
        tuple(bytearray(value) if isinstance(value, bytes) else value for value in row)
    ]
    maybe = {name: f"{kind}?" for name, kind in columns.items()}
    nulls = values(maybe, tuple(None for _ in row), row).execute(spark)
    assert all(field.nullable for field in nulls.schema.fields)
    assert [None] * len(row) in [list(found) for found in nulls.collect()]


def test_nested_names_and_nullability(spark: SparkSession) -> None:
    from pyspark.sql import types as s

    t = values({"v": NESTED}, ((1, ["x", None], {"k": (None,)}),))
    (found,) = execute(AlgebraPlan((Root(t._rel, ("v", "p", "q", "r", "inside it")),)), spark)
    inner = s.StructType([s.StructField("inside it", s.LongType(), True)])
    wanted = s.StructType(
        [
            s.StructField("p", s.LongType(), False),
            s.StructField("q", s.ArrayType(s.StringType(), True), False),
            s.StructField("r", s.MapType(s.StringType(), inner, False), False),
        ]
    )
    assert found.schema == s.StructType([s.StructField("v", wanted, False)])
    (row,) = found.collect()
    assert row.v.asDict(recursive=True) == {"p": 1, "q": ["x", None], "r": {"k": {"inside it": None}}}


def test_a_struct_of_which_spark_knows_a_part_less_well(spark: SparkSession) -> None:
    """It takes NaN, which has no literal, for something that may be NULL, and beside it the integer for required."""
    kind = "struct<i32, fp64>?"
    pairs = values({"p": kind}, ((2, math.nan),))
    t = values({"x": "i64", "k": kind}, (1, (1, 0.5)), (2, None)).with_columns(p=sd.scalar_subquery(pairs))
    found = t.execute(spark)
    assert [str(row.p) for row in found.collect()] == ["Row(0=2, 1=nan)"] * 2
    assert [field.nullable for field in found.schema["p"].dataType.fields] == [False, False]
    assert [row.k and tuple(row.k) for row in found.collect()] == [(1, 0.5), None]


RULES = "org.apache.spark.sql.catalyst.optimizer"


@pytest.mark.filterwarnings("ignore:The SQL config")  # a client of Spark Connect tells of those that may be removed
def test_settings_that_change_meaning_are_refused(tmp_path: Path, spark: SparkSession) -> None:
    t = values({"x": "i64"}, (1,))
    points = values({"x": "precision_timestamp_tz<6>"}, (dt.datetime(2020, 1, 1, tzinfo=dt.UTC),))
    times = values({"x": "precision_time<6>"}, (dt.time(1),))
    later = points.filter(lambda r: r.x > dt.datetime(2019, 1, 1, tzinfo=dt.UTC))
    nested = points.select(y=lambda r: sd.list_of(r.x)).select(y=lambda r: r.y.cast("list<string>"))
    t.execute(spark).write.parquet(f"{tmp_path}/read")
    files = sd.read_files(tmp_path / "read", {"x": "i64"}, kind="folder")
    t.execute(spark).write.orc(f"{tmp_path}/orc")
    orc = sd.read_files(tmp_path / "orc", {"x": "i64?"}, kind="folder", format="orc")
    made = t.write(sd.files_target(tmp_path / "written", "parquet"))
    (tmp_path / "x.csv").write_text("a\nlonger\n")
    text = sd.read_files(tmp_path / "x.csv", {"x": "string"}, format=sd.DelimitedText())
    u = t.rename(x="z")

    def less(left: Any, right: Any) -> Any:
        return left.x < right.z

    cases: list[tuple[str, str, sd.Relation[Any], str]] = [
        ("spark.sql.ansi.enabled", "false", t, "ANSI"),
        ("spark.sql.decimalOperations.allowPrecisionLoss", "false", t, "decimal arithmetic"),
        ("spark.sql.session.timeZone", "Asia/Tokyo", later, "Asia/Tokyo"),
        ("spark.sql.timeType.enabled", "false", times, "TIME"),
        ("spark.sql.parquet.aggregatePushdown", "true", t.aggregate(n=f.count()), "PARQUET files tell the least"),
        ("spark.sql.orc.aggregatePushdown", "true", t.aggregate(n=f.count()), "ORC files tell the least"),
        ("spark.sql.legacy.nullInEmptyListBehavior", "true", t.filter(lambda r: r.x.is_in(t)), "no rows"),
        ("spark.sql.legacy.nullInEmptyListBehavior", "true", t.filter(lambda r: r.x == sd.any_of(t)), "no rows"),
        (
            "spark.sql.legacy.followThreeValuedLogicInArrayExists",
            "false",
            t.select(y=lambda r: f.any_match(sd.list_of(r.x), lambda x: x > 1)),
            "any_match",
        ),
        (
            "spark.sql.legacy.statisticalAggregate",
            "true",
            t.with_columns(x=1.5).aggregate(y=lambda r: f.std_dev("SAMPLE", r.x)),
            "deviation of one value",
        ),
        (
            "spark.sql.mapKeyDedupPolicy",
            "LAST_WIN",
            t.select(y=lambda r: sd.map_of([(r.x, 1), (1, 2)])),
            "values that a map has for one key",
        ),
        (
            "spark.sql.parquet.datetimeRebaseModeInRead",
            "LEGACY",
            files,
            "shifts the old days of Parquet files that it r",
        ),
        (
            "spark.sql.mapKeyDedupPolicy",
            "LAST_WIN",
            t.select(y=lambda r: sd.list_of(sd.map_of({r.x: 1}))).select(y=lambda r: r.y.cast("list<map<i32, i32>>")),
            "values that a map has for one key",
        ),
        ("spark.sql.session.timeZone", "Asia/Tokyo", nested, "Asia/Tokyo"),
        ("spark.sql.legacy.timeParserPolicy", "LEGACY", later.select(y=lambda r: r.x.cast("string")), "before Spark 3"),
        ("spark.sql.legacy.interval.enabled", "true", t.select(y=sd.lit(sd.YearMonths(1))), "one type for all interv"),
        ("spark.sql.retainGroupColumns", "false", t.aggregate("x", n=f.count()), "leaves the keys out"),
        ("spark.sql.files.ignoredPathSegmentRegex", "^([._]|b)", files, r"files by their names, .*\^\(\[\._\]\|b\)"),
        ("spark.sql.files.ignoreCorruptFiles", "true", files, "skips broken files"),
        ("spark.sql.files.ignoreMissingFiles", "true", files, "skips missing files"),
        ("orc.force.positional.evolution", "true", orc, "ORC files by position"),
        ("spark.sql.parquet.int96RebaseModeInRead", "LEGACY", files, "shifts the old days"),
        ("spark.sql.parquet.int96TimestampConversion", "true", files, "shifts the timestamps of Parquet"),
        (
            "spark.sql.parquet.datetimeRebaseModeInWrite",
            "LEGACY",
            made,
            "shifts the old days of Parquet files that it w",
        ),
        ("spark.sql.parquet.int96RebaseModeInWrite", "LEGACY", made, "shifts the old days"),
        ("orc.filter.use.selected", "true", orc, "has ORC files leave rows out"),
        ("spark.hadoop.orc.filter.use.selected", "true", orc, "has ORC files leave rows out"),
        ("mapreduce.input.linerecordreader.line.maxlength", "4", text, "lines of text that are longer than 4 bytes"),
        ("spark.sql.orc.impl", "hive", orc, "as Hive does"),
        ("spark.sql.parquet.binaryAsString", "true", files, "takes bytes for texts"),
        ("spark.sql.parquet.inferTimestampNTZ.enabled", "false", files, "without a zone for instants"),
        ("spark.sql.parquet.respectSummaryFiles", "true", files, "a summary beside them"),
        *(
            (f"spark.sql.{key}", value, relation, "subqueries in an older way")
            for key, value in (
                ("optimizer.decorrelateInnerQuery.enabled", "false"),
                ("optimizer.decorrelateLimit.enabled", "false"),
                ("optimizer.decorrelateOffset.enabled", "false"),
                ("optimizer.decorrelateSetOps.enabled", "false"),
                ("optimizer.scalarSubqueryUseSingleJoin", "false"),
                ("optimizer.decorrelateExistsSubqueryLegacyIncorrectCountHandling.enabled", "true"),
                ("legacy.scalarSubqueryCountBugBehavior", "true"),
            )
            for relation in (
                t.filter(lambda r: sd.exists(t.filter(lambda i: i.x == r.x))),
                t.join(u, less, "left_mark"),
            )
        ),
        (
            "spark.sql.optimizer.excludedRules",
            f"{RULES}.CollapseProject, {RULES}.ConstantFolding",
            t.select(y=lambda r: f.sum(r.x).over(order_by="x", rows=(-1, 0))),
            "bounds of windows",
        ),
        ("spark.sql.functionResolution.sessionOrder", "first", t, "temporary functions of a user"),
        ("spark.sql.files.ignoreInvalidPartitionPaths", "true", files, "folders that are not named after a column"),
        ("spark.sql.parser.escapedStringLiterals", "true", made, "texts in statements"),
        ("spark.sql.legacy.raiseErrorWithoutErrorClass", "true", t, "what an error of the plan says"),
        ("spark.sql.analyzer.singlePassResolver.enabled", "true", t, "analyzer of Spark that is not finished"),
    ]
    for setting, value, relation, said in cases:
        before = spark.conf.get(setting, None)
        spark.conf.set(setting, value)
        try:
            with pytest.raises(UnsupportedError, match=said):
                relation.execute(spark)
        finally:
            if before is None:
                spark.conf.unset(setting)
            else:
                spark.conf.set(setting, before)
        relation.execute(spark)


def test_what_timestamp_means_to_a_session_changes_nothing(spark: SparkSession) -> None:
    moment = dt.datetime(2024, 5, 1, 5, tzinfo=dt.UTC)
    t = values(
        {"s": "string", "t": "precision_timestamp<6>"}, ("2024-05-01 10:00:00+05:00", dt.datetime(2024, 5, 1, 7))
    )
    points = t.select(
        a=lambda r: r.s.cast("precision_timestamp_tz<6>"),
        b=lambda r: f.assume_timezone(r.t, "Europe/Paris"),
        c=lambda r: f.coalesce(sd.null("precision_timestamp_tz<6>"), moment),
        d=lambda r: r.s.cast("precision_timestamp_tz<6>") == moment,
    )
    name = "points_in_time"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")
    try:
        frame = points.execute(spark)
        sd.create_table(name, {"a": "precision_timestamp_tz?<6>"}).execute(spark)
    finally:
        spark.conf.unset("spark.sql.timestampType")
    assert [kind for _, kind in frame.dtypes] == ["timestamp", "timestamp", "timestamp", "boolean"]
    local = moment.replace(tzinfo=None)  # as the session's zone is UTC
    assert [tuple(row) for row in frame.collect()] == [(local, local, local, True)]
    assert spark.table(name).dtypes == [("a", "timestamp")]
    spark.sql(f"DROP TABLE {name}")


def test_settings_that_nobody_made_are_those_of_spark() -> None:
    """As of a Java that runs in another time zone, and of ``SPARK_ANSI_SQL_MODE=false``."""

    class Conf:
        own: Mapping[str, str]

        def get(self, key: str, *default: str) -> str:
            return default[0] if default else self.own[key]

    class Session:
        conf = Conf()

    session: Any = Session()
    points = values({"x": "precision_timestamp_tz<6>"}, (dt.datetime(2020, 1, 1, tzinfo=dt.UTC),))
    rel = points.filter(lambda r: r.x > dt.datetime(2019, 1, 1, tzinfo=dt.UTC))._rel
    usual = {
        "spark.sql.ansi.enabled": "true",
        "spark.sql.decimalOperations.allowPrecisionLoss": "true",
        "spark.sql.session.timeZone": "UTC",
    }
    session.conf.own = usual
    require_settings(rel, list(walk(rel)), session)
    for key, value in (("spark.sql.session.timeZone", "Asia/Tokyo"), ("spark.sql.ansi.enabled", "false")):
        session.conf.own = {**usual, key: value}
        with pytest.raises(UnsupportedError):
            require_settings(rel, list(walk(rel)), session)


def test_a_shared_subtree_is_lowered_once(spark: SparkSession) -> None:
    from substrait_dsl.spark.lowering import Lowering
    from substrait_dsl.spark.session.execution_context import ExecutionContext
    from substrait_dsl.spark.sources.arrow_tables import ArrowTables

    t = values({"x": "i64"}, (1,))
    for _ in range(4):
        t = t.intersect(t)
    assert collected(t, spark) == [(1,)]
    execution = ExecutionContext(spark, ArrowTables({}, spark))
    Lowering(execution).lower(t._rel)
    names = int(execution.name().removeprefix("__s"))
    assert names < 50  # 16 times as many leaves would need hundreds
