"""Sail, the embedded engine: its rows are those by hand, or by the specification, or it is refused by name."""

from __future__ import annotations

import datetime as dt
import functools
import operator
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.node import walk
from substrait_dsl.errors import ExecutionError, SchemaError, TypeMismatchError, UnsupportedError
from substrait_dsl.spark.diagnostics.settings import require_settings
from substrait_dsl.spark.sail.engine import SAIL
from substrait_dsl.spark.sail.guards import GUARDS
from substrait_dsl.spark.session.engines import write_for
from substrait_dsl.testing import assert_same_rows
from tests.spark import sail_cases, test_functions
from tests.spark.canaries import answer, is_answer
from tests.spark.rows import values
from tests.spark.test_tour import FUNCTIONS, VERBS, Place
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RIGHT = 1_150
"""How many of the specification's cases of functions are right at least."""


@pytest.mark.parametrize("name", [guard.name for guard in GUARDS])
def test_the_fault_of_a_guard_is_there(name: str, sail: SparkSession, tmp_path: Path) -> None:
    guard = next(each for each in GUARDS if each.name == name)
    if "unsigned_byte" in guard.canary:
        pq.write_table(pa.table({"v": pa.array([255], pa.uint8())}), tmp_path / "byte.parquet")
        sail.read.parquet(str(tmp_path / "byte.parquet")).createOrReplaceTempView("unsigned_byte")
    nothing = pa.table({"s": pa.array([None], pa.struct([("v", pa.int32())]))})
    sail.createDataFrame(nothing).createOrReplaceTempView("null_struct")
    found = answer(guard, tmp_path, sail)
    assert is_answer(found, guard.fault), found


def test_cases_of_functions_are_right_or_fail(sail: SparkSession) -> None:
    test_functions.runnable()  # the cases, by what Spark can do
    with write_for(SAIL):
        found = sail_cases.function_cases(sail)
    assert [what for became, what in found if became == "wrong"] == []
    assert Counter(became for became, _ in found)["right"] >= RIGHT


# --- the tour

CHANGING = {
    "Relation.write", "read_named", "read_files", "create_table", "alter_table", "drop_table", "create_view",
    "alter_view", "drop_view", "subtree",
}  # fmt: skip
"""The stops of the tour that change something first, which Sail is not given."""


@pytest.mark.parametrize("name", [*VERBS, *FUNCTIONS])
def test_the_tour(name: str, sail: SparkSession, tmp_path: Path) -> None:
    build, expected = {**VERBS, **FUNCTIONS}[name]
    place = Place(sail, tmp_path / "place", "tour_on_sail")

    def found() -> list[tuple[Any, ...]]:
        relation = build(place)
        collected = [tuple(row) for row in relation.collect(sail)]
        return collected if relation.properties.ordering else sorted(collected, key=repr)

    if name in CHANGING:
        with refused(UnsupportedError, "Sail cannot run a plan that changes something"):
            found()
    elif name == "read_json":
        words = "Sail cannot run the function from_json exactly: its JSON is another"
        with refused(UnsupportedError, words, 'pyarrow.json.read_json("in.jsonl")'):
            found()
    else:
        assert found() in (expected, sorted(expected, key=repr))


def test_its_plans_are_called_its_own(sail: SparkSession) -> None:
    text = KEYED.filter(lambda r: r.k > 1).explain(sail)
    assert "\n--- on Sail\n" in text
    assert "Spark" not in text
    assert "root 1 on Sail\n" in sd.Plan(KEYED, KEYED).explain(sail)


# --- errors, in words of the plan

GROUPED = values({"x": "i64"}, (1,), (2,)).group_by("x").agg(n=f.count())
ROW = values({"a": "i64", "b": "i64", "s": "string"}, (1, 0, "x"))
NARROW = values({"a": "i64", "n": "i32"}, (2, 3))
FAILURES: dict[str, tuple[Any, str]] = {
    "a quotient": (ROW.select(c=lambda r: f.divide(r.a, r.b)), "division by zero in a / b (step: project"),
    "a remainder": (ROW.select(c=lambda r: f.modulus(r.a, r.b)), "division by zero in"),
    "a sum": (ROW.select(c=lambda r: f.add(r.a, 2**63 - 1)), "overflow in a + 9223372036854775807"),
    "a cast": (ROW.select(c=lambda r: r.s.cast(sd.I64)), "the value 'x' cannot be cast to i64 in cast(s as i64)"),
    "several rows": (
        ROW.select(c=sd.scalar_subquery(values({"z": "i64"}, (1,), (2,)))),
        "a scalar subquery gives more than one row in (subquery #1)",
    ),
    "a second match": (
        ROW.join(values({"k": "i64"}, (1,), (1,)), lambda x, y: x.a == y.k, "left_single").select("a"),
        "a row has more than one match in a single join",
    ),
    "a product of a cast": (
        NARROW.select(c=lambda r: r.a.cast(sd.I32) * 2_000_000_000),
        "the value 4000000000 does not fit i32 in cast(a as i32) * 2000000000 (step: project -> c: i32 ="
        " cast(a as i32) * 2000000000), or in cast(a as i32) (step: project",
    ),
    "a small product of a cast": (
        NARROW.select(c=lambda r: r.n.cast(sd.I8) * 100),
        "the value 300 does not fit i8 in cast(n as i8) * 100 (step: project -> c: i8 = cast(n as i8) * 100), or in"
        " cast(n as i8) (step: project",
    ),
    "a cast inside a product": (
        NARROW.select(c=lambda r: (r.a * 3_000_000_000).cast(sd.I32) * 1),
        "* 1), or in cast(a * 3000000000 as i32) (step: project",
    ),
    "a product of the cast of a text": (
        values({"s": "string"}, ("3",)).select(c=lambda r: r.s.cast(sd.I32) * 2_000_000_000),
        "overflow in cast(s as i32) * 2000000000 (step: project",
    ),
    "a cast of a float below a product": (
        values({"x": "fp64"}, (3e9,)).select(c=lambda r: r.x.cast(sd.I32) * 2),
        "the value 3000000000.0 cannot be cast to i32 in cast(x as i32) (step: project",
    ),
    "a product beside a cast to another type": (
        NARROW.select(c=lambda r: r.n.cast(sd.I32) * 2_000_000_000, d=lambda r: r.a.cast(sd.I8)),
        "overflow in cast(n as i32) * 2000000000 (step: project",
    ),
    "a quotient of a quotient": (
        values({"a": "i64", "b": "i64", "c": "i64"}, (6, 3, 0)).select(q=lambda r: f.divide(f.divide(r.a, r.b), r.c)),
        "division by zero in a / b / c (step: project -> q: i64 = a / b / c), or in a / b (step: project",
    ),
    "a text with a time and no date": (
        values({"s": "string"}, ("2024-02-30 10:00:00",)).select(c=lambda r: r.s.cast(sd.Date)),
        "the value 2024-02-30 10:00:00 does not fit date",
    ),
}


@pytest.mark.parametrize("case", FAILURES)
def test_errors_are_in_words_of_the_plan(case: str, sail: SparkSession) -> None:
    relation, words = FAILURES[case]
    with refused(ExecutionError, words):
        relation.collect(sail)


def test_what_to_do_about_a_value_that_fits_neither_a_cast_nor_a_product(sail: SparkSession) -> None:
    with pytest.raises(ExecutionError) as caught:
        NARROW.select(c=lambda r: r.n.cast(sd.I8) * 100).collect(sail)
    assert caught.value.hint == (
        'cast the operands to a wider type first, or where the cast fails: cast(type, on_failure="return_null") gives '
        "NULL there"
    )
    assert NARROW.select(c=lambda r: r.n.cast(sd.I8).cast(sd.I16) * 100).collect(sail) == [(300,)]


def test_the_date_of_a_text_with_a_time(sail: SparkSession) -> None:
    """What follows the date is passed over, as Spark does; without three parts a text is no date."""
    texts = ["2024-01-01 10:00:00", "2024-1-2T23:00-05:00", "2024-02-30 10:00", "2024-01 10:00", "2024-01-03"]
    read = values({"s": "string"}, *((text,) for text in texts))
    found = read.select(d=lambda r: r.s.cast(sd.Date, on_failure="return_null"), s="s").collect(sail)
    days = {row.s: row.d for row in found}
    assert [days[text] for text in texts] == [dt.date(2024, 1, 1), dt.date(2024, 1, 2), None, None, dt.date(2024, 1, 3)]
    other = values({"s": "string"}, ("2024-01-01 10:00:00 Europe/Berlin",))
    for cast in (lambda r: r.s.cast(sd.Date), lambda r: r.s.cast(sd.Date, on_failure="return_null")):
        with refused(
            ExecutionError, "Sail cannot cast a text with such a time to date", "functions.substring(x, 1, 10)"
        ):
            other.select(d=cast).collect(sail)
    assert other.select(d=lambda r: f.substring(r.s, 1, 10).cast(sd.Date)).collect(sail) == [(dt.date(2024, 1, 1),)]


def test_hints_for_truth_values_and_decimals(sail: SparkSession) -> None:
    read = values({"x": "decimal<9,2>", "b": "boolean"}, (Decimal("0.01"), True))
    with refused(UnsupportedError, "Sail cannot cast decimal<9,2> to boolean", "compare it with 0: x != 0"):
        read.select(z=lambda r: r.x.cast(sd.Boolean)).collect(sail)
    with refused(UnsupportedError, "Sail cannot cast boolean to decimal<9,2>", "x.cast(I8).cast"):
        read.select(z=lambda r: r.b.cast(sd.Decimal(9, 2))).collect(sail)
    followed = read.select(y=lambda r: r.x != 0, z=lambda r: r.b.cast(sd.I8).cast(sd.Decimal(9, 2)))
    assert followed.collect(sail) == [(True, Decimal("1.00"))]


def test_hints_of_pivot_and_value_counts(sail: SparkSession) -> None:
    """A measure that computes stands in agg, with a filter; a half of 4 and 5 is 4.5, and a sum of no row NULL."""
    read = values({"k": "i64", "count": "string", "x": "fp64"}, (1, "a", 4.0), (1, "a", 5.0), (2, "b", 3.0))
    with refused(TypeMismatchError, "computes with", 'functions.sum(x).filter(col("key") == value)'):
        read.group_by("k").pivot("count", ["a"], lambda r: f.sum(r.x) / 2.0)
    shares = read.group_by("k").agg(a=lambda r: f.sum(r.x).filter(sd.col("count") == "a") / 2.0)
    assert Counter(shares.collect(sail)) == Counter([(1, 4.5), (2, None)])
    with refused(SchemaError, 'two columns would be called "count"', 'name="..." calls the counts otherwise'):
        read.value_counts("count")
    assert read.value_counts("count", name="n").collect(sail) == [("a", 2), ("b", 1)]


def test_definitions_are_named_by_their_verbs(sail: SparkSession) -> None:
    for change, verb in ((sd.create_table("x", {"a": "i64"}), "create_table"), (sd.drop_view("x"), "drop_view")):
        with refused(UnsupportedError, f"such as {verb}\n"):
            change.collect(sail)


KEYED = values({"k": "i64", "v": "i64"}, (1, 9), (2, 5))
REFUSED: dict[str, tuple[Any, str]] = {
    "a frame that floats leave": (
        values({"x": "fp64"}, (1e16,), (1.0,), (2.0,)).select(m=lambda r: f.avg(r.x).over(order_by="x", rows=(-1, 0))),
        "Sail cannot compute avg of floats over a frame that rows leave exactly",
    ),
    "a correlated count": (
        ROW.select(n=lambda r: sd.scalar_subquery(ROW.filter(lambda q: q.a < r.a).aggregate(n=f.count()))),
        "Sail cannot run a subquery, or a join, that refers to an outer row as this one does (step: project",
    ),
    "a split at an empty separator": (
        ROW.select(c=lambda r: f.string_split(r.s, "")),
        "Sail cannot split at an empty separator exactly",
    ),
    "a float that is rounded to digits": (
        values({"x": "fp64"}, (1.005,)).select(c=lambda r: f.round(r.x, 2)),
        "Sail cannot round floats to digits exactly",
    ),
    "ties of decimals": (
        values({"x": "decimal<3,1>"}, (Decimal("2.5"),)).select(c=lambda r: f.round(r.x, 0, rounding="TIE_TO_EVEN")),
        "cannot run round with the option rounding",
    ),
    "the first row for each outer row": (
        KEYED.filter(lambda a: sd.exists(KEYED.filter(lambda b: b.k == a.k).sort("v").limit(1))),
        "of rows that depend on an outer row",
    ),
    "a truth value as a decimal": (
        ROW.select(c=lambda r: (r.a == 1).cast(sd.Decimal(5, 2))),
        "Sail cannot cast boolean to decimal<5,2>",
    ),
    "bits of decimals": (
        ROW.select(c=lambda r: f.bitwise_and(sd.lit(Decimal(5)), sd.lit(Decimal(3)))),
        "Sail cannot run the function bitwise_and exactly",
    ),
    "a write of files": (
        ROW.write(sd.files_target("/nowhere", "parquet"), "ctas"),
        "cannot run a plan that changes something",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_sail_does_not_do_exactly_is_refused_before_it_runs(case: str, sail: SparkSession) -> None:
    relation, words = REFUSED[case]
    with refused(UnsupportedError, words):
        relation.execute(sail)


# --- floats: one zero, one value that is no number; and what Sail gets wrong of either

NAN, INFINITE = float("nan"), float("inf")
FLOATS = values({"i": "i64", "x": "fp64"}, (1, 0.0), (2, -0.0), (3, NAN), (4, INFINITE), (5, -INFINITE), (6, 1.0))
NEGATED = FLOATS.select("i", x=lambda r: f.negate(r.x))
"""The same, with NaN of the other sign."""

ROWS_OF_FLOATS: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "NaN is last": (NEGATED.filter(lambda r: r.i.is_in([3, 4, 6])).sort("x").select("i"), [(4,), (6,), (3,)]),
    "zeros are equal in an order": (
        FLOATS.filter(lambda r: r.i <= 2).sort("x", sd.desc("i")).select("i"),
        [(2,), (1,)],
    ),
    "NaN equals NaN": (
        NEGATED.filter(lambda r: r.i == 3).join(FLOATS, lambda a, b: a.x == b.x, "inner").emit([0, 2]),
        [(3, 3)],
    ),
    "groups": (
        NEGATED.union_all(FLOATS).filter(lambda r: r.i <= 3).group_by("x").agg(n=f.count()).select("n").sort("n"),
        [(2,), (4,)],
    ),
    "the least of infinite ones": (
        FLOATS.filter(lambda r: r.i == 4).group_by("i").agg(m=lambda r: f.min(r.x)).select("m"),
        [(INFINITE,)],
    ),
    "the least beside NaN": (
        FLOATS.filter(lambda r: r.i.is_in([3, 6])).aggregate(m=lambda r: f.min(r.x)),
        [(1.0,)],
    ),
    "constants": (FLOATS.filter(lambda r: sd.lit(0.0).is_in([-0.0])).aggregate(n=f.count()), [(6,)]),
}


@pytest.mark.parametrize("case", ROWS_OF_FLOATS)
def test_floats(case: str, sail: SparkSession) -> None:
    relation, expected = ROWS_OF_FLOATS[case]
    assert [tuple(row) for row in relation.collect(sail)] == expected


def test_plans_of_nested_sums_of_decimals_are_as_long_as_these(sail: SparkSession) -> None:
    row = values({"a": "decimal<38,2>"}, (Decimal("1.50"),))

    def checks(number: int) -> int:
        summed = row.select(c=lambda r: functools.reduce(operator.add, [r.a] * (number + 1)))
        assert summed.collect(sail) == [(Decimal("1.50") * (number + 1),)]
        text: str = summed.explain(sail)
        return text.count("a decimal has more than 38 digits")

    assert checks(4) == 2 * checks(2) > 0


def test_rows_stay_in_order_when_columns_are_computed_of_them(sail: SparkSession) -> None:
    """Sail computes columns of several batches at once, and takes the one that is ready first."""
    order = [number * 7_919 % 100_003 for number in range(100_003)]  # both are prime: every number below once
    table = pa.table({"k": order}, schema=pa.schema([pa.field("k", pa.int64(), nullable=False)]))
    sail.createDataFrame(table).createOrReplaceTempView("out_of_order")
    read = sd.read_named("out_of_order", {"k": "i64"})
    for computed in (lambda r: r.k.cast("string"), lambda r: r.k.cast("fp64").cast("string").cast("fp64").cast("i64")):
        found = read.sort("k").select(c=computed).collect(sail)
        assert [int(row[0]) for row in found] == list(range(100_003))


# --- other rows that were wrong

KEYS = values({"k": "i64", "n": "i64?"}, (1, 1), (2, None), (3, 3))
PAIRS = values({"a": "i64", "b": "i64"}, (2, 9))
SPLIT = (
    ("a,b.c", ","),
    (".a.b", "."),
    (" a b", " "),
    ("a|b", "|"),
    ("a\\E.b", "\\E."),
    ("a\\b", "\\"),
    ("$1^[x]", "^["),
    ("a{1,2}", "{1,"),
    ("a#b~c&&d-e", "#b~c&&d-"),
    ("$0${0}", "${0}"),
    ("aBc", "b"),
    ("a'b\nc", "'b\n"),
    ("é(ü)*+?", "(ü)*+?"),
)
"""Texts, and what they are cut at: the marks of patterns stand for themselves."""
SPLITS = [
    ["a", "b.c"],
    ["", "a", "b"],
    ["", "a", "b"],
    ["a", "b"],
    ["a", "b"],
    ["a", "b"],
    ["$1", "x]"],
    ["a", "2}"],
    ["a", "e"],
    ["$0", ""],
    ["aBc"],
    ["a", "c"],
    ["é", ""],
]
ONE = values({"x": "i64"}, (1,))
ROWS_AS_THEY_ARE: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "an offset whose key is not used": (
        values({"k": "i64", "z": "i64"}, (1, 5), (2, 4), (3, 3), (4, 2))
        .sort("z")
        .fetch(offset=2)
        .select("k")
        .distinct()
        .sort("k"),
        [(1,), (2,)],
    ),
    "bits of NULL": (KEYS.sort("k").select(c=lambda r: f.bitwise_xor(r.n, r.n)), [(0,), (None,), (0,)]),
    "NOT IN of several": (
        KEYS.filter(lambda r: ~sd.record(r.k, r.n).is_in(PAIRS)).sort("k").select("k"),
        [(1,), (3,)],
    ),
    "windows of casts": (
        values({"v": "i64"}, (9,), (10,)).select(
            a=lambda r: f.min(r.v).over(), b=lambda r: f.max(r.v.cast(sd.Decimal(5, 1))).over()
        ),
        [(9, Decimal("10.0"))] * 2,
    ),
    "sums of casts": (
        values({"v": "i64"}, (9,), (10,)).aggregate(
            a=lambda r: f.sum(r.v), b=lambda r: f.sum(r.v.cast(sd.Decimal(5, 1)))
        ),
        [(19, Decimal("19.0"))],
    ),
    "quotients of decimals": (
        values({"a": "decimal<10,2>", "b": "decimal<10,2>"}, (Decimal("2.00"), Decimal("3.00"))).select(
            c=lambda r: f.divide(r.a, r.b)
        ),
        [(Decimal("0.6666666666667"),)],
    ),
    "a substring from NULL": (
        values({"s": "string", "n": "i32?"}, ("ab", None), ("ab", 2)).select(c=lambda r: f.substring(r.s, r.n)),
        [(None,), ("b",)],
    ),
    "ties of floats": (
        values({"x": "fp64"}, (2.5,), (3.5,)).select(c=lambda r: f.round(r.x, 0, rounding="TIE_TO_EVEN")),
        [(2.0,), (4.0,)],
    ),
    "elements beside keys": (
        GROUPED.select("x", xs=lambda r: sd.list_of(r.n, r.n))
        .unnest("xs")
        .sort("x", sd.desc("offset"))
        .select("x", "offset"),
        [(1, 1), (1, 0), (2, 1), (2, 0)],
    ),
    "duplicates beside keys": (
        GROUPED.expand(x=sd.col("x"), side=sd.switching("a", "b")).sort("x", sd.desc("side")).select("x", "side"),
        [(1, "b"), (1, "a"), (2, "b"), (2, "a")],
    ),
    "duplicates of one group": (
        values({"x": "i64"}, (1,), (2,))
        .aggregate(x=lambda r: f.max(r.x))
        .expand(x=sd.col("x"), side=sd.switching("a", "b"))
        .sort("x", sd.desc("side"))
        .select("x", "side"),
        [(2, "b"), (2, "a")],
    ),
    "duplicates of a union": (
        ONE.union_all(ONE)
        .expand(x=sd.col("x"), side=sd.switching("a", "b"))
        .sort("x", sd.desc("side"))
        .select("x", "side"),
        [(1, "b"), (1, "b"), (1, "a"), (1, "a")],
    ),
    "grouping sets beside keys": (
        GROUPED.group_by("x").rollup(n=f.count()).select("x", "n").sort(sd.desc("x", nulls="last")),
        [(2, 1), (1, 1), (None, 2)],
    ),
    "a split at a column": (
        values({"s": "string?", "p": "string?"}, *SPLIT, ("a", None), (None, ","), (None, ""), ("", ",")).select(
            c=lambda r: f.string_split(r.s, r.p)
        ),
        [(parts,) for parts in SPLITS] + [(None,), (None,), (None,), ([""],)],
    ),
    "splits at literals": (
        values({"k": "i64"}, (1,)).select(
            *(f.string_split(sd.lit(s), p).alias(f"c{n}") for n, (s, p) in enumerate(SPLIT))
        ),
        [tuple(SPLITS)],
    ),
    "structs that are required": (
        values({"w": "nstruct<a: i64, b: string?>"}, ((1, None),)),
        [((1, None),)],
    ),
}


@pytest.mark.parametrize("case", ROWS_AS_THEY_ARE)
def test_rows(case: str, sail: SparkSession) -> None:
    relation, expected = ROWS_AS_THEY_ARE[case]
    frame = relation.execute(sail)
    assert [tuple(row) for row in frame.collect()] == expected
    assert frame.schema == relation.schema.to_spark()


def test_settings_are_asked_for_in_two_requests(sail: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many matter to a plan; and each of them does."""
    at = dt.datetime(2024, 1, 2, tzinfo=dt.UTC)
    read = sd.read_virtual([(at, 1.0)], {"at": "precision_timestamp_tz<6>", "x": "fp64"})
    plan = read.aggregate("at", x=lambda r: f.std_dev(r.x)).filter(lambda r: r.at > at)
    nodes, client, asked = list(walk(plan._rel)), type(sail.client), list[object]()
    config = client.config

    def counted(own: Any, operation: Any) -> Any:
        asked.append(operation)
        return config(own, operation)

    monkeypatch.setattr(client, "config", counted)
    require_settings(plan._rel, nodes, sail)
    assert len(asked) == 2
    for key, value in (("spark.sql.session.timeZone", "Asia/Tokyo"), ("spark.sql.legacy.statisticalAggregate", "true")):
        former = sail.conf.get(key, None)
        sail.conf.set(key, value)
        try:
            with refused(UnsupportedError, key):
                require_settings(plan._rel, nodes, sail)
        finally:
            sail.conf.unset(key) if former is None else sail.conf.set(key, former)


@pytest.mark.parametrize("kind", ["i8", "i64", "decimal<10,2>", "fp64", "u!u32"])
def test_null_divided_by_zero_is_null(kind: str, sail: SparkSession) -> None:
    """And any other value is an error."""
    nullable = kind.replace("<", "?<") if "<" in kind else f"{kind}?"
    read = sd.read_named("t", {"x": nullable, "y": kind})
    operations: list[Any] = [lambda r: f.divide(r.x, r.y)]
    if kind not in ("fp64", "u!u32"):
        operations.append(lambda r: r.x % r.y)
    for operation in operations:
        divided = read.select(z=operation)
        assert_same_rows(divided, [(None,)], tables={"t": [(None, 0)]}, session=sail)
        with pytest.raises(ExecutionError, match="by zero"):
            assert_same_rows(divided, [], tables={"t": [(4, 0)]}, session=sail)


EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
MOMENTS = [
    dt.datetime(1000, 1, 1, tzinfo=dt.UTC),
    dt.datetime(1582, 10, 10, 23, 59, 59, 999999, tzinfo=dt.UTC),
    dt.datetime(1899, 12, 31, 12, tzinfo=dt.UTC),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=dt.UTC),
    dt.datetime(1969, 12, 31, 23, 59, 59, tzinfo=dt.UTC),
    *(dt.datetime(2023, 1, day, 0, 0, 0, 1, tzinfo=dt.UTC) for day in range(1, 8)),
    dt.datetime(2024, 12, 30, 3, tzinfo=dt.UTC),
    dt.datetime(9999, 12, 31, 3, tzinfo=dt.UTC),
]
COMPONENTS: dict[tuple[str, ...], Any] = {
    ("YEAR",): lambda at: at.year,
    ("ISO_YEAR",): lambda at: at.isocalendar().year,
    ("ISO_WEEK", "ONE"): lambda at: at.isocalendar().week,
    ("MONDAY_DAY_OF_WEEK", "ONE"): lambda at: at.isoweekday(),
    ("MONDAY_DAY_OF_WEEK", "ZERO"): lambda at: at.weekday(),
    ("SUNDAY_DAY_OF_WEEK", "ONE"): lambda at: at.isoweekday() % 7 + 1,
    ("DAY_OF_YEAR", "ONE"): lambda at: at.timetuple().tm_yday,
    ("UNIX_TIME",): lambda at: (at - EPOCH) // dt.timedelta(seconds=1),
}


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("kind", ["date", "precision_timestamp<6>", "precision_timestamp_tz<6>"])
def test_components_of_days_and_moments(kind: str, component: tuple[str, ...], sail: SparkSession) -> None:
    """As Python has them, also before 1970 and on Sundays. In these zones nobody sets clocks in 9999."""
    read = sd.read_named("t", {"x": kind})
    values: list[Any] = [at.date() if kind == "date" else at for at in MOMENTS]
    zones = ("America/Bogota", "Asia/Kolkata") if kind.startswith("precision_timestamp_tz") else (None,)
    for zone in zones:
        argument = [] if zone is None else [zone]
        shown = [
            at.astimezone(ZoneInfo(zone)) if zone else at.replace(hour=0, minute=0, second=0) if kind == "date" else at
            for at in MOMENTS
        ]
        if kind == "precision_timestamp<6>":
            values = [at.replace(tzinfo=None) for at in MOMENTS]
        rows = [(COMPONENTS[component](at),) for at in shown]
        found = read.select(y=f.extract(*component, sd.col("x"), *argument))
        assert_same_rows(found, rows, tables={"t": [(value,) for value in values]}, session=sail)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_bits_of_extreme_integers(bits: int, sail: SparkSession) -> None:
    """As Python has them of so many bits."""
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    values = [least, -1, 0, 1, most, None]
    read = sd.read_named("t", {"x": f"i{bits}?"})
    given = {"t": [(value,) for value in values]}
    complements = [(value, None if value is None else ~value) for value in values]
    assert_same_rows(read.select("x", y=lambda r: f.bitwise_not(r.x)), complements, tables=given, session=sail)
    if bits < 32:
        return
    for shift in (0, 1, bits - 1, bits + 1):
        shifted = [(value, None if value is None else (value % 2**bits) >> shift) for value in values]
        rows = [(x, y if y is None or y <= most else y - 2**bits) for x, y in shifted]
        by = read.select("x", y=f.shift_right_unsigned(sd.col("x"), sd.lit(shift, sd.I32)))
        assert_same_rows(by, rows, tables=given, session=sail)
        shifted = [(value, None if value is None else (value << shift) % 2**bits) for value in values]
        rows = [(x, y if y is None or y <= most else y - 2**bits) for x, y in shifted]
        by = read.select("x", y=f.shift_left(sd.col("x"), sd.lit(shift, sd.I32)))
        assert_same_rows(by, rows, tables=given, session=sail)
