"""As-of joins: rows as of DuckDB and Polars, over random data with NULLs and equal times; columns, errors, hints."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import substrait_dsl as sd
from substrait_dsl.errors import (
    AmbiguousFieldError,
    InvalidArgumentError,
    InvalidChoiceError,
    SignatureError,
    TypeMismatchError,
    UnknownFieldError,
)
from substrait_dsl.fluent.asof import AsofDirection, AsofHow
from tests.support import columns, refused, table

Row = tuple[Any, ...]

TIMES: dict[str, Callable[[int], Any]] = {
    # the type of a time, and the time of a small number
    "i16": int,
    "i64": lambda n: n * 10**17,
    "decimal<9,2>": lambda n: Decimal(n) / 4,
    "fp64": lambda n: n / 8,
    "date": lambda n: dt.date(1969, 12, 28) + dt.timedelta(days=n),
    "precision_timestamp<6>": lambda n: dt.datetime(1969, 12, 31, 23, 59, 59) + dt.timedelta(microseconds=300_001 * n),
    "precision_timestamp_tz<6>": lambda n: (
        dt.datetime(2024, 3, 31, 0, 59, 59, tzinfo=dt.UTC) + dt.timedelta(microseconds=300_001 * n)
    ),
}
SPANS: dict[str, tuple[Any, str]] = {
    # the distance of the times of 0 and 2, in Python and in SQL
    "i16": (2, "2"),
    "i64": (2 * 10**17, "200000000000000000"),
    "decimal<9,2>": (Decimal("0.5"), "0.5"),
    "fp64": (0.25, "0.25"),
    "date": (dt.timedelta(days=2), "2"),
    "precision_timestamp<6>": (dt.timedelta(microseconds=600_002), "INTERVAL '600002 microseconds'"),
    "precision_timestamp_tz<6>": (dt.timedelta(microseconds=600_002), "INTERVAL '600002 microseconds'"),
}
MATCHES: dict[AsofDirection, tuple[str, str]] = {
    # which right row matches: of equal times the last by v, but after a row the first
    "backward": ("r.t <= l.t", "r.t DESC, r.v DESC"),
    "forward": ("r.t >= l.t", "r.t, r.v"),
    "nearest": (
        "l.t IS NOT NULL AND r.t IS NOT NULL",
        "greatest(r.t - l.t, l.t - r.t), r.t DESC, CASE WHEN r.t <= l.t THEN -r.v ELSE r.v END",
    ),
}


def rows_of(sql: str, **tables: sd.Relation[Any]) -> Counter[Row]:
    """The rows that DuckDB gives for tables of these names."""
    from duckdb import connect

    with connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name, relation in tables.items():
            connection.register(name, relation.to_arrow())
        found: pa.Table = connection.sql(sql).to_arrow_table()
        return Counter(tuple(row.values()) for row in found.to_pylist())


def lateral_sql(direction: AsofDirection, span: str | None) -> str:
    """The query by its definition: of all right rows that may match, the first by how near it is."""
    condition, order = MATCHES[direction]
    near = f"AND r.t - l.t <= {span} AND l.t - r.t <= {span}" if span else ""
    inner = f"SELECT r.t AS s, r.v FROM r WHERE r.k = l.k AND {condition} {near} ORDER BY {order} LIMIT 1"
    return f"SELECT l.id, l.k, l.t, m.s, m.v FROM l LEFT JOIN LATERAL ({inner}) m ON true"


SMALL = st.one_of(st.none(), st.integers(0, 6))
KEY = st.sampled_from([None, "a", "b"])


@pytest.mark.usefixtures("duckdb")
@settings(max_examples=3)
@given(
    st.sampled_from(sorted(TIMES)),
    st.lists(st.tuples(KEY, SMALL), max_size=8),
    st.lists(st.tuples(KEY, SMALL), max_size=8),
)
def test_rows_are_those_of_the_definition(type_: str, left: list[Any], right: list[Any]) -> None:
    """By DuckDB, for every direction, with NULLs in keys and times, equal times, and sides without rows."""

    def at(number: int | None) -> Any:
        return None if number is None else TIMES[type_](number)

    l_rows = [(number, key, at(time)) for number, (key, time) in enumerate(left)]
    r_rows = [(key, at(time), number) for number, (key, time) in enumerate(right)]
    one = sd.read_virtual(l_rows, {"id": "i64", "k": "string?", "t": f"{type_}?"})
    other = sd.read_virtual(r_rows, {"k": "string?", "s": f"{type_}?", "v": "i64"})
    tables = {"l": one, "r": other.rename(s="t")}
    span, in_sql = SPANS[type_]
    for direction in MATCHES:
        for tolerance, text in ((None, None), (span, in_sql)):
            joined = one.asof_join(
                other,
                on=("t", "s"),
                by="k",
                direction=direction,
                tolerance=tolerance,
                order_by="v",
            )
            expected = rows_of(lateral_sql(direction, text), **tables)
            found = Counter(tuple(row.values()) for row in joined.to_arrow().to_pylist())
            assert found == expected, (direction, tolerance)


def random_sides(seed: int) -> tuple[sd.Relation[Any], sd.Relation[Any]]:
    """Quotes whose times are all different, and trades; the times of 5 keys."""
    random = Random(seed)
    times = random.sample(range(3000), 400)
    quotes = [(random.choice("abcde"), time, number) for number, time in enumerate(times)]
    trades = [(number, random.choice("abcdef"), random.randrange(3000)) for number in range(300)]
    return (
        sd.read_virtual(trades, {"id": "i64", "k": "string", "t": "i64"}),
        sd.read_virtual(quotes, {"k": "string", "t": "i64", "v": "i64"}),
    )


@pytest.mark.usefixtures("duckdb")
def test_rows_are_those_of_the_asof_join_of_duckdb() -> None:
    trades, quotes = random_sides(1)
    joins: dict[AsofHow, str] = {"left": "LEFT", "inner": ""}
    signs: dict[AsofDirection, str] = {"backward": ">=", "forward": "<="}
    for how, sql in joins.items():
        for direction, sign in signs.items():
            joined = trades.asof_join(quotes, on="t", by="k", how=how, direction=direction)
            query = f"SELECT l.id, l.k, l.t, r.v FROM l ASOF {sql} JOIN r ON l.k = r.k AND l.t {sign} r.t"
            found = Counter(tuple(row) for row in joined.collect())
            assert found == rows_of(query, l=trades, r=quotes), (how, direction)


def test_rows_are_those_of_polars() -> None:
    import polars as pl

    trades, quotes = random_sides(2)
    left, right = (pl.DataFrame(pl.from_arrow(side.to_arrow())).sort("t") for side in (trades, quotes))
    for direction in MATCHES:
        for tolerance in (None, 20):
            joined = trades.asof_join(quotes, on="t", by="k", direction=direction, tolerance=tolerance)
            expected = left.join_asof(right, on="t", by="k", strategy=direction, tolerance=tolerance)
            assert Counter(map(tuple, joined.collect())) == Counter(expected.rows()), (direction, tolerance)


@pytest.mark.usefixtures("duckdb")
def test_without_keys_all_rows_are_of_one_group() -> None:
    trades, quotes = random_sides(3)
    joined = trades.asof_join(quotes.select("t", "v"), on="t")
    query = "SELECT l.id, l.k, l.t, r.v FROM l ASOF LEFT JOIN r ON l.t >= r.t"
    assert Counter(map(tuple, joined.collect())) == rows_of(query, l=trades, r=quotes)


@pytest.mark.usefixtures("duckdb")
def test_a_condition_on_required_columns_may_follow() -> None:
    """An engine moves the condition to rows of the right side, too, which have no values there."""
    trades, quotes = random_sides(4)
    joined = trades.asof_join(quotes, on="t", by="k", how="inner").filter(lambda r: (r.id > 100) & (r.v < 300))
    query = "SELECT l.id, l.k, l.t, r.v FROM l ASOF JOIN r ON l.k = r.k AND l.t >= r.t WHERE id > 100 AND v < 300"
    assert Counter(map(tuple, joined.collect())) == rows_of(query, l=trades, r=quotes)


def test_frames_begin_with_the_first_row() -> None:
    """Of a frame from a row to the last one Spark computes the value anew in each row: of n rows, n * n / 2 values."""
    trades, quotes = random_sides(5)
    for direction in MATCHES:
        text = " ".join(str(trades.asof_join(quotes, on="t", by="k", direction=direction, tolerance=1)).split())
        frames = re.findall(r"rows between ([a-z ]+) and", text.replace("| ", ""))
        assert len(frames) > 2
        assert set(frames) == {"unbounded preceding"}, direction


def test_signed_zeros_are_equal_and_nan_is_near_nothing() -> None:
    one = sd.read_virtual([(1, 0.0), (2, -0.0), (3, float("nan"))], {"id": "i64", "t": "fp64"})
    other = sd.read_virtual([(-0.0, "zero"), (float("nan"), "none")], {"t": "fp64", "v": "string"})
    for direction in MATCHES:
        found = one.asof_join(other, on="t", direction=direction).collect()
        assert {row.id: row.v for row in found} == {1: "zero", 2: "zero", 3: None}, direction


@pytest.mark.usefixtures("datafusion")
def test_keys_of_floats_are_equal_as_in_a_join() -> None:
    """0.0 and -0.0 are one key, and NaN is one."""
    from datafusion import SessionContext

    nan = float("nan")
    one = sd.read_virtual([(1, 0.0, 5), (2, -0.0, 5), (3, nan, 5)], {"id": "i64", "k": "fp64", "t": "i64"})
    other = sd.read_virtual(
        [(-0.0, 1, "a"), (0.0, 2, "zero"), (nan, 3, "nan")], {"k": "fp64", "t": "i64", "v": "string"}
    )
    expected: dict[AsofDirection, dict[int, str | None]] = {
        "backward": {1: "zero", 2: "zero", 3: "nan"},
        "forward": {1: None, 2: None, 3: None},
    }
    for direction, matches in expected.items():
        joined = one.asof_join(other, on="t", by="k", direction=direction)
        for session in (None, SessionContext()):
            assert {row.id: row.v for row in joined.collect(session)} == matches, (session, direction)


@pytest.mark.usefixtures("datafusion", "duckdb")
@pytest.mark.parametrize("how", ["left", "inner"])
def test_rows_on_datafusion_are_those_of_duckdb(how: AsofHow) -> None:
    """Required columns stay required, of which DataFusion makes no check."""
    from datafusion import SessionContext

    trades, quotes = random_sides(5)
    joined = trades.asof_join(quotes, on="t", by="k", how=how)
    sql = f"SELECT l.id, l.k, l.t, r.v FROM l ASOF {'LEFT' if how == 'left' else ''} JOIN r ON l.k = r.k AND l.t >= r.t"
    assert Counter(map(tuple, joined.collect(SessionContext()))) == rows_of(sql, l=trades, r=quotes)


def test_the_largest_numbers_have_a_distance() -> None:
    """2**63 - 1 is 1 away from 2**63 - 2, and more than an i64 holds from -2**63."""
    one = sd.read_virtual([(2**63 - 2,)], {"t": "i64"})
    other = sd.read_virtual([(-(2**63), "far"), (2**63 - 1, "near")], {"t": "i64", "v": "string"})
    assert one.asof_join(other, on="t", direction="nearest").collect() == [(2**63 - 2, "near")]
    assert one.asof_join(other, on="t", tolerance=5).collect() == [(2**63 - 2, None)]


# --- columns ---

L = table("id: i64, k: i64, t: date")
R = table("k: i64, t: date, v: string, w: i32?", "r")


def test_columns() -> None:
    """Those of a name that both sides have once, those of a pair on both sides; of a side that may lack, nullable."""
    assert columns(L.asof_join(R, on="t", by="k")) == "id: i64, k: i64, t: date, v: string?, w: i32?"
    assert columns(L.asof_join(R, on="t", by="k", how="inner")) == "id: i64, k: i64, t: date, v: string, w: i32?"
    assert columns(L.asof_join(R, on="t")) == "id: i64, k: i64, t: date, k: i64?, v: string?, w: i32?"
    other = R.rename(k="key", t="since")
    paired = L.asof_join(other, on=("t", "since"), by=[("k", "key")])
    assert columns(paired) == "id: i64, k: i64, t: date, key: i64?, since: date?, v: string?, w: i32?"
    assert columns(L.asof_join(other, on=("t", "since"), by=[("k", "key")], how="inner")) == (
        "id: i64, k: i64, t: date, key: i64, since: date, v: string, w: i32?"
    )


SAID: list[tuple[Any, type[Exception], tuple[str, ...]]] = [
    (lambda: L.asof_join(R, on="tt"), UnknownFieldError, ("asof_join, on: on the left side", '"tt"', 'mean "t"?')),
    (lambda: L.asof_join(R, on=("t", "tt")), UnknownFieldError, ("on the right side", '"tt"', 'mean "t"?')),
    (lambda: L.asof_join(R, on="id"), UnknownFieldError, ("on the right side", 'a pair: on=("left", "right")')),
    (
        lambda: L.asof_join(R, on="t", by="id"),
        UnknownFieldError,
        ("by: on the right", 'a pair: by=[("left", "right")]'),
    ),
    (lambda: L.asof_join(R, on="t", by=("id", "k")), UnknownFieldError, ("by: ", 'by=[("left", "right")]')),
    (lambda: L.asof_join(R, on=["t", "k", "v"]), InvalidArgumentError, ("expected a name that both sides have", "on=")),
    (lambda: L.asof_join(R, on="t", by=5), InvalidArgumentError, ("asof_join, by: expected names", 'by="k"')),
    (lambda: L.asof_join(R, on="t", by=["k", "k"]), InvalidArgumentError, ('the column "k" stands twice',)),
    (lambda: L.asof_join(R, on="t", by="t"), InvalidArgumentError, ('the column "t" stands twice',)),
    (
        lambda: L.asof_join(R.with_columns(t=sd.col("t").cast("precision_timestamp<6>")), on="t"),
        TypeMismatchError,
        ('"t": the left side has date, the right one precision_timestamp<6>', 'cast("precision_timestamp<6>")'),
    ),
    (
        lambda: L.asof_join(R, on="t", by=[("id", "w")]),
        TypeMismatchError,
        (
            '"id" and "w": the left side has i64, the right one i32',
            'of the right side before: with_columns(w=col("w").cast("i64"))',
        ),
    ),
    (
        lambda: L.with_columns(v=sd.lit("x")).asof_join(R, on="v"),
        TypeMismatchError,
        ('by a number, a date or a timestamp; "v" is string', "by="),
    ),
    (lambda: L.asof_join(R, on="t", direction="back"), InvalidChoiceError, ("direction 'back'", '"backward"')),
    (lambda: L.asof_join(R, on="t", how="outer"), InvalidChoiceError, ("how 'outer'", '"inner"')),
    (lambda: L.asof_join(R, on="t", tolerance=5), TypeMismatchError, ("tolerance of date", "datetime.timedelta(")),
    (lambda: L.asof_join(R, on="k", tolerance=1.5), TypeMismatchError, ("tolerance of i64 is an int", "tolerance=5")),
    (lambda: L.asof_join(R, on="k", tolerance=True), TypeMismatchError, ("tolerance of i64 is an int",)),
    (lambda: L.asof_join(R, on="k", tolerance=-1), InvalidArgumentError, ("a tolerance is not negative",)),
    (
        lambda: table("t: precision_timestamp<9>").asof_join(
            table("t: precision_timestamp<9>"), "t", direction="nearest"
        ),
        TypeMismatchError,
        ("distances of timestamps are measured in microseconds",),
    ),
    (
        lambda: table("t: decimal<38,2>").asof_join(table("t: decimal<38,2>"), "t", tolerance=1),
        TypeMismatchError,
        ("distances of decimals", '"decimal<37,2>"'),
    ),
    (lambda: L.asof_join(R, on="t", order_by="vv"), UnknownFieldError, ("asof_join, order_by", '"vv"')),
    (lambda: L.asof_join(R, on="t", order_by=sd.clustered("v")), InvalidArgumentError, ("clustered", "asc(")),
    (lambda: L.asof_join(L.cross(R), on="t"), AmbiguousFieldError, ('"t" is ambiguous',)),
    # habits of pandas and Polars
    (lambda: L.asof_join(R, left_on="t", right_on="t"), SignatureError, ('on=("left", "right")',)),
    (lambda: L.asof_join(R, on="t", strategy="forward"), SignatureError, ("direction=",)),
    (lambda: L.asof_join(R, on="t", left_by="k"), SignatureError, ('by=[("left", "right")]',)),
]


@pytest.mark.parametrize(("call", "error", "said"), SAID)
def test_joins_that_are_refused(call: Any, error: Any, said: tuple[str, ...]) -> None:
    with refused(error, *said):
        call()


def test_what_the_hints_say_works() -> None:
    with pytest.raises(InvalidChoiceError) as caught:
        L.join(R, "k", how="asof")
    assert caught.value.hint == 'write asof_join(other, on="time", by="key")'
    assert columns(L.asof_join(R, on="t", by="k")) == "id: i64, k: i64, t: date, v: string?, w: i32?"
    wide = table("t: decimal<38,2>").with_columns(t=sd.col("t").cast("decimal<37,2>"))
    assert columns(wide.asof_join(wide, "t", tolerance=Decimal("0.5"))) == "t: decimal<37,2>"
    seconds = L.with_columns(t=sd.col("t").cast("precision_timestamp<6>"))
    stamped = R.with_columns(t=sd.col("t").cast("precision_timestamp<6>"))
    assert columns(seconds.asof_join(stamped, on="t", by="k", tolerance=dt.timedelta(hours=1))).startswith("id: i64")
