"""What fails while a job runs comes back in the words of the pipeline: the step, the expression, and no generated name.

The expected texts are what people wrote, as ``print(relation)`` shows it.
"""

from __future__ import annotations

import datetime as dt
import pickle
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, InvalidArgumentError, UnsupportedError
from substrait_dsl.spark.diagnostics.explanations import describe_failure
from substrait_dsl.spark.relations import collecting
from substrait_dsl.spark.session.failures import failure_of
from substrait_dsl.spark.session.source_map import Record
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BIG = 2**63 - 1
YEARS = sd.lit(sd.YearMonths(1, 0))
COLUMNS = {"a": "i64", "b": "i64", "zero": "i64", "s": "string", "d": "decimal<5,2>?", "tiny": "i8"}
T = sd.read_virtual([(1, 2, 0, "abc", None, 100), (BIG, 2, 0, "12", None, 100)], COLUMNS)
U = sd.read_virtual([(2, 1), (2, 2)], {"k": "i64", "v": "i64"})

Case = tuple[Any, str, str | None, str]
"""A relation, and of its error how the message begins, the expression and the step."""

CASES: dict[str, Case] = {
    "a project": (
        T.project(q=lambda r: f.divide(r.a, r.zero) + 1),
        "division by zero in a / zero",
        "a / zero",
        "project -> q: i64 = a / zero + 1",
    ),
    "a column among others": (
        T.project(p=lambda r: r.a - 1, q=lambda r: (r.a + r.b) * 2),
        "overflow in a + b",
        "a + b",
        "project -> q: i64 = (a + b) * 2",
    ),
    "small integers": (
        T.project(q=lambda r: r.tiny + r.tiny),
        "overflow in tiny + tiny",
        "tiny + tiny",
        "project -> q: i8 = tiny + tiny",
    ),
    "a sign, of which Spark does not say where": (
        T.project(x=lambda r: r.b + 1, y=lambda r: -(0 - r.a - 1)),
        "overflow in -(0 - a - 1)",
        "-(0 - a - 1)",
        "project -> y: i64 = -(0 - a - 1)",
    ),
    "an absolute value, likewise": (
        T.project(x=lambda r: r.b + 1, y=lambda r: f.abs(0 - r.a - 1)),
        "overflow in abs(0 - a - 1)",
        "abs(0 - a - 1)",
        "project -> y: i64 = abs(0 - a - 1)",
    ),
    "many seconds, of which Spark does not say where": (
        T.project(x=lambda r: -r.b, y=lambda r: dt.date(2024, 5, 1) + (r.a - 1) * dt.timedelta(seconds=1)),
        "overflow in date '2024-05-01' + (a - 1) * interval 'P0DT1.000000S'",
        "date '2024-05-01' + (a - 1) * interval 'P0DT1.000000S'",
        "project -> y: precision_timestamp<6> = date '2024-05-01' + (a - 1) * interval 'P0DT1.000000S'",
    ),
    "many years, likewise": (
        T.project(x=lambda r: -r.b, y=lambda r: ((r.b.cast(sd.I32) * 1_000_000_000) * YEARS).is_null()),
        "overflow in cast(b as i32) * 1000000000 * interval 'P1Y0M'",
        "cast(b as i32) * 1000000000 * interval 'P1Y0M'",
        "project -> y: boolean = cast(b as i32) * 1000000000 * interval 'P1Y0M' is null",
    ),
    "a map": (
        T.project(m=lambda r: sd.map_of([(r.zero, 1), (r.zero * 2, 2)])),
        "a map has one key twice",
        "{zero: 1, zero * 2: 2}",
        "project -> m: map<i64, i64> = {zero: 1, zero * 2: 2}",
    ),
    "a filter": (
        T.filter(lambda r: r.b > 1, lambda r: r.a % r.zero > 1),
        "division by zero in a % zero",
        "a % zero",
        "filter b > 1 and a % zero > 1",
    ),
    "a sort": (
        T.sort(lambda r: f.divide(r.b, r.zero)),
        "division by zero in b / zero",
        "b / zero",
        "sort by b / zero asc nulls first",
    ),
    "a join": (
        T.join(U, lambda t, u: f.divide(t.a, t.zero) == u.k),
        "division by zero in a / zero",
        "a / zero",
        "join inner on a / zero = k",
    ),
    "a hash join's filter": (
        T.hash_join(U, [("b", "k")], post_filter=lambda r: f.divide(r.a, r.zero) > r.v),
        "division by zero in a / zero",
        "a / zero",
        "hash join inner build right on b = k then filter a / zero > v",
    ),
    "what a measure is of": (
        T.group_by("b").agg(total=lambda r: f.sum(f.divide(r.a, r.zero))),
        "division by zero in a / zero",
        "a / zero",
        "aggregate by b -> total: i64? = sum(a / zero)",
    ),
    "the filter of a measure": (
        T.aggregate(
            n=lambda r: f.count().filter(f.divide(r.b, r.zero) > 1),
            total=lambda r: f.sum(r.b).filter(f.divide(r.b, r.a) > 0),
        ),
        "division by zero in b / zero",
        "b / zero",
        "aggregate -> n: i64 = count() filter (where b / zero > 1)",
    ),
    "what a measure with a filter is of": (
        T.aggregate(total=lambda r: f.sum(f.divide(r.a, r.zero)).filter(r.b > 1)),
        "division by zero in a / zero",
        "a / zero",
        "aggregate -> total: i64? = sum(a / zero) filter (where b > 1)",
    ),
    "a sum, of which Spark does not say where": (
        T.project(x=lambda r: r.b + 1).aggregate(n=f.count(), total=lambda r: f.sum(r.a)),
        "overflow in sum(a)",
        "sum(a)",
        "aggregate -> total: i64? = sum(a)",
    ),
    "aggregates that stand in an expression": (
        T.filter(
            lambda r: r.a > sd.scalar_subquery(T.aggregate(x=f.count()).select(y=lambda r: f.divide(1, r.x - r.x)))
        ),
        "division by zero in 1 / (x - x)",
        "1 / (x - x)",
        "project -> y: i64 = 1 / (x - x)",
    ),
    "a window": (
        T.window(order_by="b", total=lambda r: f.sum(r.a)),
        "overflow in sum(a)",
        "sum(a) over (range between unbounded preceding and current row)",
        "window order by b asc nulls first "
        "-> total: i64? = sum(a) over (range between unbounded preceding and current row)",
    ),
    "a window inside an expression": (
        T.select(total=lambda r: f.sum(r.a).over() + 1),
        "overflow in sum(a) over (rows between unbounded preceding and unbounded following)",
        "sum(a) over (rows between unbounded preceding and unbounded following)",
        "project -> total: i64? = sum(a) over (rows between unbounded preceding and unbounded following) + 1",
    ),
    "a result that does not fit": (
        sd.read_virtual([(-128, -1)], {"a": "i8", "b": "i8"}).select(x=lambda r: f.divide(r.a, r.b)),
        "overflow in a / b",
        "a / b",
        "project -> x: i8 = a / b",
    ),
    "a decimal that is rounded up": (
        sd.read_virtual([(Decimal("9" * 38),)], {"d": "decimal<38,0>"}).select(x=lambda r: f.round(r.d, -1)),
        "overflow in round(d, -1)",
        "round(d, -1)",
        "project -> x: decimal<38,0>? = round(d, -1)",
    ),
    "a text that is no number": (
        T.project(n=lambda r: r.s.cast(sd.I32)),
        "the value 'abc' cannot be cast to i32 in cast(s as i32)",
        "cast(s as i32)",
        "project -> n: i32 = cast(s as i32)",
    ),
    "a number too large, of which Spark does not say where": (
        T.project(m=lambda r: r.b.cast(sd.I16), n=lambda r: r.a.cast(sd.I32)),
        f"the value {BIG} cannot be cast to i32 in cast(a as i32)",
        "cast(a as i32)",
        "project -> n: i32 = cast(a as i32)",
    ),
    "a text that is no moment": (
        T.project(n=lambda r: r.s.cast(sd.Date)),
        "the value abc does not fit date in cast(s as date)",
        "cast(s as date)",
        "project -> n: date = cast(s as date)",
    ),
    "a text too long": (
        T.project(n=lambda r: r.s.cast(sd.VarChar(2))),
        "a value does not fit varchar<2> in cast(s as varchar<2>)",
        "cast(s as varchar<2>)",
        "project -> n: varchar<2> = cast(s as varchar<2>)",
    ),
    "an assertion": (
        T.project(n=lambda r: r.d.assert_not_null()),
        "a required value is NULL in cast(d as decimal<5,2>)",
        "cast(d as decimal<5,2>)",
        "project -> n: decimal<5,2> = cast(d as decimal<5,2>)",
    ),
    "a correlated scalar subquery": (
        T.project(k=lambda t: sd.scalar_subquery(U.filter(lambda u: u.k == t.b).select("v"))),
        "a scalar subquery gives more than one row in (subquery #1)",
        "(subquery #1)",
        "project -> k: i64? = (subquery #1)",
    ),
    "beside one that is always one row": (
        T.project(
            n=lambda t: sd.scalar_subquery(U.filter(lambda u: u.k == t.b).aggregate(n=f.count())),
            k=lambda t: sd.scalar_subquery(U.filter(lambda u: u.k == t.b).select("v")),
        ),
        "a scalar subquery gives more than one row in (subquery #2)",
        "(subquery #2)",
        "project -> k: i64? = (subquery #2)",
    ),
    "a single join": (
        T.join(U, lambda t, u: t.b == u.k, "left_single"),
        "a row has more than one match in a single join: 2 rows have k = 2 (step: join left_single on b = k)",
        None,
        "join left_single on b = k",
    ),
    "one of several single joins": (
        T.join(U.select(once=sd.col("v")), lambda t, u: t.b == u.once, "left_single")
        .join(U.aggregate("k", n=f.count()), lambda t, u: t.b == u.k, "left_single")
        .hash_join(U.select(twice=sd.col("k")), [("b", "twice")], "left_single"),
        "a row has more than one match in a single join: 2 rows have twice = 2 "
        "(step: hash join left_single build right on b = twice)",
        None,
        "hash join left_single build right on b = twice",
    ),
    "a scalar subquery": (
        T.project(n=lambda r: r.b + sd.scalar_subquery(U.select("v"))),
        "a scalar subquery gives more than one row in (subquery #1)",
        "(subquery #1)",
        "project -> n: i64? = b + (subquery #1)",
    ),
    "inside a correlated subquery": (
        T.filter(lambda o: sd.exists(U.filter(lambda i: f.divide(i.v, o.zero) == o.b))),
        "division by zero in v / outer.zero",
        "v / outer.zero",
        "filter v / outer.zero = outer.b",
    ),
    "inside a lambda": (
        T.select(xs=lambda r: f.transform(sd.list_of(r.a, r.b), lambda x: f.divide(x, 0))),
        "division by zero in @0 / 0",
        "@0 / 0",
        "project -> xs: list<i64> = transform([a, b], (@0: i64) -> @0 / 0)",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_step_and_the_expression_are_named(case: str, spark: SparkSession) -> None:
    relation, message, expression, step = CASES[case]
    with pytest.raises(ExecutionError) as caught:
        relation.collect(spark)
    error = caught.value
    assert error.message.startswith(message)
    assert (error.expression, error.step) == (expression, step)
    assert str(error).startswith(f"collect: {message}")
    assert error.message.endswith(f"(step: {step})")
    assert error.hint
    assert "__" not in str(error)
    assert "ansi" not in str(error)
    assert error.__cause__ is not None


def test_a_null_in_a_required_column_names_the_read(spark: SparkSession) -> None:
    sd.read_virtual([(1, None)], {"k": "i64", "v": "i64?"}).execute(spark).createOrReplaceTempView("with_nulls")
    declared = sd.read_named("with_nulls", {"k": sd.I64, "v": sd.I64})
    for relation in (declared.filter(lambda r: r.k > 0).rename(v="w"), declared.exchange(sd.round_robin()).select("v")):
        with pytest.raises(ExecutionError, match=r"is required, but it is NULL \(step: read with_nulls"):
            relation.collect(spark)


def test_a_null_in_a_window_that_declares_none_says_what_else_there_is(spark: SparkSession) -> None:
    last: Any = f.last_value(sd.col("v")).over(order_by="k", rows=(None, 0))
    relation = sd.read_virtual([(1, None), (2, 1)], {"k": "i64", "v": "i64?"}).with_columns(last=last)
    with refused(ExecutionError, 'column "last" is required, but it is NULL', "nth_value(x, 1)"):
        relation.collect(spark)
    with refused(ExecutionError, 'column "next" is required, but it is NULL', "nth_value(x, 1)"):
        relation.select(next=lambda r: r.last + 1).collect(spark)
    held: Any = f.last_value(sd.struct_of(v=sd.col("v"))).over(order_by="k", rows=(None, 0))["v"]
    assert sorted(map(tuple, relation.select("k", held=held).collect(spark))) == [(1, None), (2, 1)]


def test_a_null_by_an_option_says_that_the_type_does_not_tell(spark: SparkSession) -> None:
    halves = T.select(half=lambda r: f.divide(r.a, r.zero, on_division_by_zero="NULL"))
    with pytest.raises(ExecutionError, match='column "half" is required, but it is NULL') as caught:
        halves.collect(spark)
    assert "functions.nullif(y, 0)" in (caught.value.hint or "")


def test_a_null_of_a_position_out_of_range(spark: SparkSession) -> None:
    text = sd.read_virtual([("",)], {"s": "string"})
    with refused(ExecutionError, 'column "x" is required, but it is NULL', "position out of range"):
        text.select(x=lambda r: f.replace_slice(r.s, 1, 1, "y")).collect(spark)
    assert text.select(x=lambda r: f.replace_slice(r.s.cast("string?"), 1, 1, "y")).collect(spark) == [(None,)]


def test_no_wider_type_is_advised_than_there_is(spark: SparkSession) -> None:
    largest = sd.read_virtual([(Decimal("9" * 38),)] * 2, {"d": "decimal<38,0>"})
    with pytest.raises(ExecutionError, match=r"overflow in sum\(d\)") as caught:
        largest.aggregate(x=lambda r: f.sum(r.d)).collect(spark)
    assert caught.value.hint == "the result does not fit decimal<38,0>"


def test_all_places_are_named_where_spark_does_not_tell_them_apart(spark: SparkSession) -> None:
    both = T.aggregate(x=lambda r: f.sum(r.a), y=lambda r: f.sum(r.a * 1))
    with pytest.raises(ExecutionError) as caught:
        both.collect(spark)
    assert caught.value.message == (
        "overflow in sum(a) (step: aggregate -> x: i64? = sum(a)), or "
        "in sum(a * 1) (step: aggregate -> y: i64? = sum(a * 1))"
    )
    assert caught.value.step is None
    many = T.aggregate(**{f"x{n}": f.sum(sd.col("a")) for n in range(5)})
    with pytest.raises(ExecutionError, match="or in 2 more places"):
        many.collect(spark)


def test_running_translates_what_comes_of_the_relation_only(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.errors import AnalysisException, ArithmeticException

    bad = T.project(q=lambda r: f.divide(r.a, r.zero))
    with refused(ExecutionError, "running: division by zero in a / zero"), bad.running(spark) as frame:
        frame.filter("b > 0").write.parquet(str(tmp_path / "out"))
    with pytest.raises(AnalysisException), T.running(spark) as frame:
        frame.select("nope").collect()
    with pytest.raises(ArithmeticException), T.running(spark) as frame:
        frame.selectExpr("b DIV (b - 2)").collect()
    with pytest.raises(KeyError), T.running(spark) as frame:
        raise KeyError("mine")
    with T.running(spark) as frame:
        assert frame.schema == T.schema.to_spark()
        assert frame.count() == 2
    with refused(ExecutionError, "running: division by zero"), sd.Plan(T, bad).running(spark) as (first, second):
        assert first.count() == 2
        second.collect()


def test_what_the_plan_knows_nothing_of_is_told_without_stacks_and_names(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    file.write_bytes(b"PAR1 this is no parquet PAR1")
    with pytest.raises(ExecutionError) as caught:
        sd.read_files(str(file), {"a": "i64"}, format=sd.Parquet()).filter(lambda r: r.a > 1).collect(spark)
    assert "t.parquet" in caught.value.message
    assert "\n" not in caught.value.message
    assert "__s" not in caught.value.message
    assert "SQLSTATE" not in caught.value.message


def test_files_that_cannot_be_read_name_the_read(spark: SparkSession, tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    folder = tmp_path / "a folder"
    folder.mkdir()
    parquet.write_table(pa.table({"a": range(100_000)}), folder / "t.parquet", use_dictionary=False)
    content = bytearray((folder / "t.parquet").read_bytes())
    content[1000:100_000] = bytes(99_000)  # the pages, not the footer
    (folder / "t.parquet").write_bytes(content)
    broken = sd.read_files(folder, {"a": "i64?"}, kind="folder")
    with (
        pytest.raises(ExecutionError, match=r"running: .*t\.parquet.* \(step: read files"),
        broken.running(spark) as frame,
    ):
        frame.collect()
    with pytest.raises(ExecutionError, match=r"there is nothing to read: .*nowhere"):
        sd.read_files(tmp_path / "nowhere", {"a": "i64?"}).collect(spark)
    for uri, told, advice in (
        ("file:///~/nowhere.parquet", "there is nothing to read", "os.path.expanduser"),
        ("s3://bucket/t.parquet", 'Spark has no file system for "s3"', "hadoop-aws"),
        # Newer ones know a class of that name, and lack it.
        (
            "gs://bucket/t.parquet",
            'Spark has no file system for ("gs"|this, it lacks .*HadoopFileSystem)',
            "hadoop-aws",
        ),
    ):
        with pytest.raises(ExecutionError, match=f"collect: {told}(.|\n)*{advice}"):
            sd.read_files(uri, {"a": "i64?"}).collect(spark)
    (tmp_path / "short.csv").write_text("a,b\n1,2\n3\n")
    short = sd.read_files(tmp_path / "short.csv", {"a": "string", "b": "string"}, format="csv")
    with pytest.raises(
        ExecutionError, match=r"record of delimited text has not the declared fields: (3 |\[null,3,null)"
    ) as caught:
        short.select("a").collect(spark)
    (tmp_path / "open.csv").write_text('a,b\n1,"2\n3,4\n')
    with pytest.raises(ExecutionError, match='a quote is still open at the end of a record of delimited text: 1,"2 '):
        sd.read_csv(tmp_path / "open.csv", {"a": "i64", "b": "string"}).collect(spark)
    with pytest.raises(ExecutionError, match=rf'hint: in {tmp_path} is "open.csv"; Spark looks'):
        sd.read_csv(tmp_path / "opne.csv", {"a": "i64"}).collect(spark)
    assert caught.value.step
    assert caught.value.step.startswith("read files")
    assert caught.value.hint
    assert (
        """a field for each column, separated by ','; a field may stand in "...", where "" is a quote"""
        in caught.value.hint
    )


@pytest.mark.parametrize("verb", ["hash_join", "merge_join", "nested_loop_join"])
def test_physical_joins_with_a_second_match_are_named(verb: str, spark: SparkSession) -> None:
    t, u = T.sort("b"), U.sort("k")
    on: Any = (lambda t, u: t.b == u.k) if verb == "nested_loop_join" else [("b", "k")]
    with pytest.raises(ExecutionError, match="more than one match") as caught:
        getattr(t, verb)(u, on, how="left_single").collect(spark)
    assert caught.value.step
    assert "left_single" in caught.value.step


def test_one_expression_in_two_places(spark: SparkSession, tmp_path: Path) -> None:
    T.execute(spark).write.parquet(f"{tmp_path}/t")
    t = sd.read_files(tmp_path / "t", {"s": "string?"}, kind="folder")
    twice = t.filter(lambda r: r.s.cast("i32?") > 1).select(n=lambda r: r.s.cast("i32?"))
    with pytest.raises(ExecutionError, match=r"cannot be cast to i32 in .*or in cast") as caught:
        twice.collect(spark)
    assert "return_null" in str(caught.value)


def test_the_count_of_a_fetch_is_computed_at_once(spark: SparkSession) -> None:
    relation = T.fetch(f.divide(sd.lit(1), sd.lit(1) - 1))
    runs: dict[str, Any] = {"collect": relation.collect, "execute": relation.execute}
    for verb, run in runs.items():
        with refused(ExecutionError, f"{verb}: division by zero in 1 / (1 - 1) (step: fetch 1 / (1 - 1))"):
            run(spark)


def test_rows_come_back_as_from_execute(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    assert U.collect(spark) == U.execute(spark).collect()
    assert U.filter(lambda r: r.v > 1).collect(spark)[0].asDict() == {"k": 2, "v": 2}
    U.show(spark, 1)
    assert "only showing top 1 row" in capsys.readouterr().out
    U.sort("v").show(spark, vertical=True, truncate=False)
    assert " v   | 2 " in capsys.readouterr().out
    with refused(ExecutionError, "show: division by zero"):
        T.project(q=lambda r: f.divide(r.a, r.zero)).show(spark)


def test_what_python_cannot_hold(spark: SparkSession) -> None:
    from pyspark.errors import PySparkValueError

    last = sd.read_virtual([(dt.date(9999, 12, 31),)], {"x": "date"})
    with pytest.raises(ExecutionError, match=r"^collect: the rows hold a date or a time outside of the years"):
        last.select(d=lambda r: r.x + sd.YearMonths(1, 0)).collect(spark)
    with pytest.raises(ExecutionError, match="outside of the years 1 to 9999"):
        last.select(d=lambda r: r.x + dt.timedelta(days=2)).collect(spark)
    refused: Any = SimpleNamespace(collect=Mock(side_effect=PySparkValueError("something else")))
    with pytest.raises(PySparkValueError):
        collecting.collect_rows(refused)
    spans = sd.read_virtual([([sd.YearMonths(1, 2)],)], {"x": "list<interval_year>"})
    with pytest.raises(UnsupportedError, match=r'^collect: pyspark gives Python no values of .* column "x"'):
        spans.collect(spark)
    spans.show(spark)


DIVIDED = """[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead. \
If necessary set "spark.sql.ansi.enabled" to "false" to bypass this error. SQLSTATE: 22012
== SQL (line 1, position 237) ==
...T `b` AS __s0 FROM `p`) WHERE (CAST(10L div (__s0 - __s0) AS BIGINT) > 2L)) INNER...
                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
"""
MISFIT = """[CAST_INVALID_INPUT] The value 'x\ny' of the type "STRING" cannot be cast to "BIGINT" because it is \
malformed. Correct the value as per the syntax, or change its target type. SQLSTATE: 22018
"""
SEVERAL = "[STAGE_MATERIALIZATION_MULTIPLE_FAILURES] Multiple failures (2) in stage materialization: \n"


@pytest.mark.parametrize("remote", [False, True])
@pytest.mark.parametrize(
    ("listed", "condition", "told", "fragments"),
    [
        (
            f"  1. SparkArithmeticException: {DIVIDED}\n  2. SparkNumberFormatException: {MISFIT}",
            "DIVIDE_BY_ZERO",
            "division by zero",
            ("CAST(10L div (__s0 - __s0) AS BIGINT)",),
        ),
        (
            f"  1. SparkException: Job 3 cancelled\n  2. SparkNumberFormatException: {MISFIT}",
            "CAST_INVALID_INPUT",
            "the value 'x\ny' cannot be cast to bigint",
            (),
        ),
        ("  1. IOException: no such disk\n  2. IOException: nor such a one", "", "no such disk", ()),
        ("  1. IOException: nor this", "", "nor this", ()),
        ("", "STAGE_MATERIALIZATION_MULTIPLE_FAILURES", "Multiple failures (2) in stage materialization:", ()),
    ],
    ids=["the first has a name", "the second has one", "none has one", "a list of one", "no list"],
)
def test_of_stages_that_fail_at_once_one_is_told(
    remote: bool,
    listed: str,
    condition: str,
    told: str,
    fragments: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As Spark lists them: a session in this process gives the list with stacks, in which the cause is a circle."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    text = f"{SEVERAL}{listed} SQLSTATE: XX000"
    if remote:
        error: Exception = PySparkException(text)
        monkeypatch.setattr(error, "getCondition", lambda: SEVERAL[1:].partition("]")[0])
    else:
        error = Py4JError(
            f"An error occurred while calling o81.collectToPython.\n: org.apache.spark.SparkException: {text}\n"
            f"\tat org.apache.spark.sql.Dataset.collect\n\tSuppressed: org.apache.spark.SparkException: {MISFIT}\n"
            f"\t\t... 1 more\nCaused by: [CIRCULAR REFERENCE: org.apache.spark.SparkArithmeticException: {DIVIDED}]\n"
        )
    failure = failure_of(error)
    assert failure is not None
    assert failure.condition == condition
    assert failure.fragments == fragments
    assert describe_failure(failure, None, Record(T._rel)) == told


def test_stages_that_fail_at_once(spark: SparkSession, tmp_path: Path) -> None:
    """Whether they do depends on the clock, and what is told does not: most of these fail so."""
    T.execute(spark).write.parquet(f"{tmp_path}/t")
    t = sd.read_files(tmp_path / "t", {"b": "i64?", "zero": "i64?"}, kind="folder")
    bad = t.filter(lambda r: f.divide(r.b, r.zero) > 2)
    both = bad.join(bad.project(c=lambda r: r.b), lambda l, r: l.b == r.c)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        for _ in range(8):
            with refused(ExecutionError, "collect: division by zero in b / zero (step: filter b / zero > 2)", "nullif"):
                both.collect(spark)
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")


def test_arguments_of_the_verbs_that_run(spark: SparkSession) -> None:
    verbs: Any = (U.collect, U.running, U.show, sd.Plan(U).running)
    for verb in verbs:
        with refused(InvalidArgumentError, verb.__name__, "progress is True or False", "'yes'"):
            verb(spark, progress="yes")
    keeping: Any = (U.collect, U.running, sd.Plan(U).running)
    for verb in keeping:
        with refused(InvalidArgumentError, verb.__name__, "persist_shared is True or False"):
            verb(spark, persist_shared=1)
    for arguments in ({"n": True}, {"n": -1}, {"n": "5"}, {"n": 2**31}, {"truncate": "x"}, {"vertical": 1}):
        with refused(InvalidArgumentError, "show", *arguments):
            U.show(spark, **arguments)
    with refused(InvalidArgumentError, "collect", "expected a SparkSession"):
        U.collect("spark")  # type: ignore[arg-type]


def test_a_remainder_that_java_cannot_compute(tmp_path: Path, spark: SparkSession) -> None:
    rows: Any = sd.read_virtual([(Decimal(10**37), Decimal("7E-38"))], {"a": "decimal<38,0>", "b": "decimal<38,38>"})
    target = sd.files_target(str(tmp_path / "rows"), "parquet")
    rows.write(target, "ctas").execute(spark)
    files: Any = sd.read_files(tmp_path / "rows", {"a": "decimal<38,0>?", "b": "decimal<38,38>?"})
    told = "a remainder cannot be computed, as the whole quotient has too many digits in a % b (step: project -> m"
    for source in (rows, files):
        with refused(ExecutionError, "collect: " + told, "fp64"):
            source.select(m=lambda r: r.a % r.b).collect(spark)


def test_an_error_may_be_pickled() -> None:
    error = ExecutionError("overflow in a + b")
    error.step, error.expression = "project", "a + b"
    again = pickle.loads(pickle.dumps(error))
    assert (again.step, again.expression, str(again)) == ("project", "a + b", "overflow in a + b")


def test_a_time_zone_that_is_none(spark: SparkSession) -> None:
    columns = {"t": "precision_timestamp<6>", "zone": "string"}
    moments: Any = sd.read_virtual([(dt.datetime(2024, 5, 1), "Asia/Tokio")], columns)
    with refused(ExecutionError, "Asia/Tokio", 'did you mean "Asia/Tokyo"?'):
        moments.select(x=lambda r: f.assume_timezone(r.t, r.zone)).collect(spark)
