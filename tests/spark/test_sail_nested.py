"""Random tables with nested columns on Sail: the rows are those that Python computes of the same values.

How many there are, and which, two environment variables say: ``NESTED_TABLES`` and ``NESTED_SEED``.
"""

from __future__ import annotations

import datetime as dt
import os
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from uuid import UUID

import attrs
import pyarrow as pa
import pyarrow.parquet as pq

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.testing import _key, assert_same_rows, rows_table
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = int(os.environ.get("NESTED_TABLES", "12"))
SEED = int(os.environ.get("NESTED_SEED", "1"))
MAX_FAILED = 0.01
"""The share of pipelines that Sail may be unable to run, with an error that says so."""

VALUES: dict[t.Type, list[Any]] = {
    t.Boolean(): [True, False],
    t.I8(): [0, 1, -128, 127],
    t.I16(): [0, -32768, 5],
    t.I32(): [0, 1, -(2**31), 2**31 - 1],
    t.I64(): [0, 1, -(2**63), 2**63 - 1],
    t.FP32(): [0.0, -0.0, 1.5, inf, nan],
    t.FP64(): [0.0, -0.0, 1e308, 5e-324, -inf, nan],
    t.Decimal(38, 10): [Decimal(0), Decimal("9" * 28 + "." + "9" * 10), Decimal("-1.5")],
    t.Decimal(5, 2): [Decimal("1.00"), Decimal("-999.99")],
    t.String(): ["", "a", "a\0b", "é𝄞", "e\u0301", "' \\ \"\n"],
    t.Binary(): [b"", b"\0\xff", b"a"],
    t.FixedBinary(2): [b"\0\1", b"ab"],
    t.FixedChar(3): ["abc", "a  "],
    t.VarChar(4): ["", "abcd"],
    t.UUID(): [UUID(int=0), UUID(int=2**128 - 1)],
    t.Date(): list(map(dt.date.fromisoformat, ("1970-01-01", "1000-01-01", "1582-10-10", "9999-12-31"))),
    t.PrecisionTime(6): [dt.time(0), dt.time(23, 59, 59, 999999)],
    t.PrecisionTimestamp(6): [dt.datetime(1000, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)],
    t.PrecisionTimestamp(3): [dt.datetime(1500, 1, 1, 0, 0, 0, 1000)],
    t.PrecisionTimestampTZ(6): [dt.datetime(2024, 7, 1, 1, 2, 3, 4, tzinfo=dt.UTC)],
    t.IntervalDay(6): [dt.timedelta(0), dt.timedelta(days=-1, microseconds=1)],
}
KEYS = (t.I64(), t.String(), t.I8(), t.Date(), t.Boolean(), t.UUID())

Row = tuple[Any, ...]


@attrs.frozen
class Table:
    """A table of a key and another column, and the relation that reads it."""

    type_: t.Type
    rows: list[Row]
    read: sd.Relation[Any]
    given: dict[str, pa.Table] | None

    @property
    def values(self) -> list[Any]:
        """The values that are different, each once."""
        return list({_key(value): value for _, value in self.rows}.values())


def random_type(random: Random, depth: int) -> t.Type:
    nullable, choice = random.random() < 0.5, random.random()
    if depth == 0 or choice < 0.2:
        return random.choice(list(VALUES)).with_nullability(nullable)
    if choice < 0.5:
        return t.List(random_type(random, depth - 1), nullable=nullable)
    if choice < 0.7:
        return t.Map(random.choice(KEYS), random_type(random, depth - 1), nullable=nullable)
    types = tuple(random_type(random, depth - 1) for _ in range(random.randint(1, 3)))
    return t.Struct(types, tuple("abc"[: len(types)]), nullable=nullable)


def random_value(random: Random, type_: t.Type) -> Any:
    if type_.nullable and random.random() < 0.3:
        return None
    match type_:
        case t.List(element=element):
            return [random_value(random, element) for _ in range(random.choice((0, 1, 2)))]
        case t.Map():
            many = range(random.choice((0, 1, 2)))
            return {random_value(random, type_.key): random_value(random, type_.value) for _ in many}
        case t.Struct(types=types):
            return tuple(random_value(random, each) for each in types)
        case _:
            return random.choice(VALUES[type_.as_required()])


def random_table(random: Random, folder: Path) -> Table:
    """Rows of a plan, a table that is given, or a file, with up to three types inside each other."""
    type_ = random_type(random, random.randint(0, 3))
    rows = [(key, random_value(random, type_)) for key in range(random.choice((1, 3, 6)))]
    schema = {"k": t.I64(), "c": type_}
    read = sd.read_named("t", schema)
    table = rows_table(rows, read.schema.struct)
    # What files have in another type: uuids as bytes, times of fewer digits inside of others.
    is_of_files = not any(isinstance(each, t.UUID) or getattr(each, "precision", 6) == 3 for each in t.types_in(type_))
    match random.choice(("plan", "table", "file" if is_of_files else "table")):
        case "plan":
            return Table(type_, rows, sd.read_virtual(rows, schema), None)
        case "table":
            return Table(type_, rows, read, {"t": table})
    path = folder / f"{random.random()}.parquet"
    pq.write_table(table, path)
    return Table(type_, rows, sd.read_files(str(path), schema), None)


def pipelines(table: Table) -> Iterator[tuple[sd.Relation[Any], list[Row]]]:
    """Pipelines over a table, and their rows."""
    read, rows, type_ = table.read, table.rows, table.type_
    counted = Counter(_key(value) for _, value in rows)

    def of_each(expression: Callable[[Any], Any], value: Callable[[Any], Any]) -> tuple[sd.Relation[Any], list[Row]]:
        return read.select("k", x=expression), [(key, value(each)) for key, each in rows]

    yield read, rows
    yield of_each(lambda r: r.c.is_null(), lambda each: each is None)
    yield read.select(x=lambda r: sd.struct_of(p=r.c, q=r.k)), [((each, key),) for key, each in rows]
    yield of_each(lambda r: sd.list_of(r.c, r.c), lambda each: [each, each])
    yield read.filter(lambda r: r.c.is_not_null()).select("c"), [(each,) for _, each in rows if each is not None]
    yield read.select("c").distinct(), [(each,) for each in table.values]
    yield read.aggregate("c", n=f.count()), [(each, counted[_key(each)]) for each in table.values]
    yield read.aggregate("k", x=lambda r: f.any_value(r.c)), rows
    yield read.union_all(read), rows + rows
    lagged = read.select("k", x=lambda r: f.lag(r.c).over(order_by="k"))
    yield lagged, [(key, rows[key - 1][1] if key else None) for key, _ in rows]
    chosen = read.select("k", x=lambda r: sd.when(r.k > 1).then(r.c).otherwise(None))
    yield chosen, [(key, each if key > 1 else None) for key, each in rows]
    joined = read.select(z=sd.col("k")).join(read.filter(lambda r: r.k > 0), lambda x, y: x.z == y.k, "left")
    yield joined.select("z", "c"), [(key, each if key else None) for key, each in rows]
    if not any(isinstance(each, t.Map) for each in t.types_in(type_)):
        equal = read.join(
            read.select(z=sd.col("k"), d=sd.col("c")), lambda x, y: f.is_not_distinct_from(x.c, y.d)
        ).select("k", "z")
        yield equal, [(a, b) for a, one in rows for b, other in rows if _key(one) == _key(other)]
    match type_:
        case t.Struct(names=tuple(names)):
            for place, name in enumerate(names):
                part = [(key, None if each is None else each[place]) for key, each in rows]
                yield read.select("k", x=sd.col("c")[name]), part
        case t.List():
            yield of_each(lambda r: r.c[0], lambda each: each[0] if each else None)
            yield of_each(lambda r: f.cardinality(r.c), lambda each: None if each is None else len(each))
            yield read.unnest("c").emit([0, 2]), [(key, one) for key, each in rows for one in each or []]
        case t.Map():
            some = VALUES[type_.key][0]
            yield of_each(lambda r: r.c[some], lambda each: None if each is None else each.get(some))


def test_random_nested_tables(sail: SparkSession, tmp_path: Path) -> None:
    random = Random(SEED)
    counted: Counter[str] = Counter()
    for number in range(TABLES):
        table = random_table(random, tmp_path)
        for relation, rows in pipelines(table):
            counted["run"] += 1
            try:
                assert_same_rows(relation, rows, tables=table.given, session=sail)
            except (UnsupportedError, ExecutionError) as error:
                counted["failed" if "Sail cannot run" in str(error) else f"{number}, {table.type_}: {error}"] += 1
            except AssertionError as error:
                raise AssertionError(f"table {number} of seed {SEED}, {table.type_}: {relation}\n{error}") from error
    assert counted["run"] > 10 * TABLES
    assert counted.keys() <= {"run", "failed"}, counted
    assert counted["failed"] <= MAX_FAILED * counted["run"], counted
