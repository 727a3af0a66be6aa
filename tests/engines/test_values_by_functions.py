"""Timestamps, bytes and texts of a length on DuckDB 1.1.3, which reads no constants of these types: rows by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.errors import UnsupportedError
from tests.engines.processes import Engine
from tests.engines.runners import Rows, canonical_rows

f: Any = functions
UTC = dt.UTC
FIRST, LAST = dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)
BEFORE_1970 = dt.datetime(1969, 12, 31, 23, 59, 59, 999999)
LEAP = dt.datetime(2020, 2, 29, 1, 2, 3)

VALUES: dict[str, list[Any]] = {
    "precision_timestamp<6>": [FIRST, LAST, BEFORE_1970, LEAP],
    "precision_timestamp<3>": [FIRST, BEFORE_1970.replace(microsecond=999000), LEAP],
    "precision_timestamp<0>": [FIRST, LAST.replace(microsecond=0), LEAP],
    "precision_timestamp_tz<6>": [each.replace(tzinfo=UTC) for each in (FIRST, LAST, BEFORE_1970, LEAP)],
    "precision_timestamp_tz<0>": [LEAP.replace(tzinfo=UTC)],
    "binary": [b"", b"\x00\xff", bytes(range(256))],
    "varchar<6>": ["", "a'\\b", "ß𝄞e\u0301\x7f"],
}
"""Values of each type."""

EVENTS: sd.Relation[Any] = sd.read_named(
    "events",
    {
        "k": "i32",
        "at": "precision_timestamp<6>?",
        "s": "precision_timestamp<0>?",
        "z": "precision_timestamp_tz<6>?",
        "d": "date?",
        "b": "binary?",
        "c": "varchar<3>?",
    },
)
ROWS = [
    (1, BEFORE_1970, LEAP, LEAP.replace(tzinfo=UTC), dt.date(1, 1, 1), b"\x00", "a"),
    (2, LEAP, LEAP, BEFORE_1970.replace(tzinfo=UTC), dt.date(9999, 12, 31), b"\xff", "b"),
    (3, None, None, None, None, None, None),
]


@pytest.fixture
def engine(duckdb_substrait: Engine) -> Engine:
    schema = EVENTS.schema
    rows = [dict(zip(schema.names, row, strict=True)) for row in ROWS]
    duckdb_substrait.add_tables({"events": pa.Table.from_pylist(rows, schema.to_arrow())})
    return duckdb_substrait


def rows_of(engine: Engine, relation: sd.Relation[Any]) -> Rows:
    table = engine.run(relation.to_plan().to_bytes(engine="duckdb"))
    return canonical_rows(list(zip(*(column.to_pylist() for column in table.columns), strict=True)))


@pytest.mark.parametrize("kind", VALUES)
def test_rows_and_columns_of_constants(engine: Engine, kind: str) -> None:
    values = [*VALUES[kind], None]
    rows = sd.read_virtual([(n, value) for n, value in enumerate(values)], {"n": "i32", "v": f"{kind}?"})
    assert rows_of(engine, rows.sort("n")) == canonical_rows(list(enumerate(values)))
    required = sd.read_virtual([(value,) for value in VALUES[kind][:1]], {"v": kind})
    assert rows_of(engine, required) == canonical_rows([(VALUES[kind][0],)])
    columns = {f"c{n}": sd.lit(value, sd.parse_type(f"{kind}?")) for n, value in enumerate(values)}
    assert rows_of(engine, EVENTS.filter(lambda r: r.k == 1).select(**columns)) == canonical_rows([tuple(values)])


def moment(value: dt.datetime) -> Any:
    return sd.lit(value, sd.PrecisionTimestampTZ(6) if value.tzinfo else sd.PrecisionTimestamp(6))


CASES: dict[str, tuple[Callable[[], sd.Relation[Any]], Rows]] = {
    "comparisons with timestamps": (
        lambda: EVENTS.select(
            "k", a=lambda r: r.at < moment(LEAP), b=lambda r: r.at == moment(LEAP), c=lambda r: r.at >= moment(LEAP)
        ),
        [(1, True, False, False), (2, False, True, True), (3, None, None, None)],
    ),
    "comparisons with instants": (
        lambda: EVENTS.filter(lambda r: r.z > moment(BEFORE_1970.replace(tzinfo=UTC))).select("k"),
        [(1,)],
    ),
    "one of a list of timestamps": (
        lambda: EVENTS.filter(lambda r: r.at.is_in([BEFORE_1970, LAST])).select("k"),
        [(1,)],
    ),
    "bytes and texts": (
        lambda: EVENTS.select("k", a=lambda r: r.b == b"\xff", b=lambda r: r.c == sd.lit("a", sd.VarChar(3))),
        [(1, False, True), (2, True, False), (3, None, None)],
    ),
    "a timestamp where there is none": (
        lambda: EVENTS.select("k", v=lambda r: f.coalesce(r.at, moment(FIRST))),
        [(1, BEFORE_1970), (2, LEAP), (3, FIRST)],
    ),
    "an integer of 8 bits where there is none": (
        lambda: EVENTS.select(
            "k", v=lambda r: f.coalesce(sd.when(r.k == 1).then(sd.lit(7, "i8")).otherwise(None), sd.lit(9, "i8"))
        ),
        [(1, 7), (2, 9), (3, 9)],
    ),
    "a text of a length where there is none": (
        lambda: EVENTS.select("k", v=lambda r: f.coalesce(r.c, sd.lit("zz", sd.VarChar(3)))),
        [(1, "a"), (2, "b"), (3, "zz")],
    ),
    "NULL beside timestamps": (
        lambda: (
            EVENTS.select("k", v=sd.col("at"))
            .union_all(EVENTS.select("k", v=sd.lit(None, sd.PrecisionTimestamp(6, nullable=True))))
            .filter(lambda r: r.v > moment(FIRST))
        ),
        [(1, BEFORE_1970), (2, LEAP)],
    ),
    "groups of timestamps": (
        lambda: EVENTS.aggregate("s", "c", grouping_sets=[(0,), (1,)], n=f.count()).select("s", "c", "n"),
        [(LEAP, None, 2), (None, None, 1), (None, "a", 1), (None, "b", 1), (None, None, 1)],
    ),
    "the part of a NULL": (
        lambda: EVENTS.select("k", v=lambda r: f.extract("YEAR", sd.when(r.k == 1).then(r.at).otherwise(None))),
        [(1, 1969), (2, None), (3, None)],
    ),
    "dates of timestamps": (
        lambda: EVENTS.select("k", a=lambda r: r.at.cast("date?"), b=lambda r: r.s.cast("date?")),
        [
            (1, dt.date(1969, 12, 31), dt.date(2020, 2, 29)),
            (2, dt.date(2020, 2, 29), dt.date(2020, 2, 29)),
            (3, None, None),
        ],
    ),
    "timestamps of dates": (
        lambda: EVENTS.select("k", v=lambda r: r.d.cast("precision_timestamp<6>?")),
        [(1, FIRST), (2, dt.datetime(9999, 12, 31)), (3, None)],
    ),
    "texts of timestamps": (
        lambda: EVENTS.select("k", a=lambda r: r.at.cast("string?"), b=lambda r: r.s.cast("string?")),
        [(1, "1969-12-31 23:59:59.999999", "2020-02-29 01:02:03"), (2, *["2020-02-29 01:02:03"] * 2), (3, None, None)],
    ),
    "positions of texts": (
        lambda: EVENTS.filter(lambda r: r.k == 1).select(
            a=f.strpos(sd.lit("é𝄞ab"), "ab"),
            b=f.strpos(sd.lit("e\u0301b"), "b"),
            c=f.strpos(sd.lit("abc"), ""),
            d=f.strpos(sd.lit("abc"), "x"),
        ),
        [(3, 3, 1, 0)],
    ),
}
"""By what they show, plans and the rows that are due."""


@pytest.mark.parametrize("name", CASES)
def test_rows_are_those_that_are_due(engine: Engine, name: str) -> None:
    make, rows = CASES[name]
    assert sorted(map(repr, rows_of(engine, make()))) == sorted(map(repr, canonical_rows(rows)))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("precision_timestamp<9>", LEAP),
        ("precision_time<6>", dt.time(1)),
        ("fixedchar<2>", "ab"),
        ("fixedbinary<1>", b"a"),
    ],
)
def test_constants_of_other_types_are_refused(kind: str, value: Any) -> None:
    for relation in (EVENTS.select(v=sd.lit(value, sd.parse_type(kind))), sd.read_virtual([(value,)], {"v": kind})):
        report = relation.check("duckdb")
        assert report.verdict == "refused"
        with pytest.raises(UnsupportedError):
            relation.to_plan().to_bytes(engine="duckdb")
