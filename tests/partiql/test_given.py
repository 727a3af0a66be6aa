"""What the interpreter computes with where an expression names a table of the engine."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import partiql as pq
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError, UnknownFieldError
from substrait_dsl.partiql.values import key
from tests.partiql.engines import BAR_ROWS, BAR_SCHEMA, FOO_ROWS, FOO_SCHEMA
from tests.support import refused

FOO = pq.table("Foo", sd.read_named("Foo", FOO_SCHEMA), record_id="uid")
BAR = pq.table("Bar", sd.read_named("Bar", BAR_SCHEMA))
ROWS = [dict(zip(FOO_SCHEMA, row, strict=True)) for row in FOO_ROWS]
BARS = [dict(zip(BAR_SCHEMA, row, strict=True)) for row in BAR_ROWS]


def test_a_list_of_rows_is_a_bag_as_it_is_on_engines() -> None:
    bars = pq.scan(BAR, as_="b", at="i")
    assert bars.collection_type == "bag"
    found = bars.evaluate({"Bar": BARS})
    assert found == bars.evaluate({"Bar": pq.bag(BARS)})
    assert found.collection_type == "bag"
    assert [one["i"] for one in found.tuples] == [pq.MISSING, pq.MISSING]


def test_the_first_example_of_the_document() -> None:
    """Its table has record ids, which are no attributes."""
    expected = """<<
        <{ f: { FooId: 100, FooName: 'Foo #1' }, idx: MISSING, uid: 'c7559f84-3768' }>,
        <{ f: { FooId: 200, FooName: 'Foo #2' }, idx: MISSING, uid: 'd2bdb79e-4432' }>,
    >>"""
    scanned = pq.scan(FOO, as_="f", at="idx", by="uid")
    assert scanned.evaluate({"Foo": ROWS}) == pq.parse_data(expected)
    alone = pq.bag([{name: row[name] for name in ("FooId", "FooName")} for row in ROWS])
    given = pq.Table(alone, [row["uid"] for row in ROWS])
    assert scanned.evaluate({"Foo": given}) == pq.parse_data(expected)
    assert [one["uid"] for one in scanned.evaluate({"Foo": alone}).tuples] == [pq.MISSING, pq.MISSING]


def test_record_ids_are_texts_as_casts_write_them() -> None:
    kept = sd.read_named("t", {"id": "i64?", "x": "i64"}).as_value("t")
    stored = pq.table("t", sd.read_named("t", {"id": "i64?", "x": "i64"}), record_id="id")
    rows = [{"id": 7, "x": 1}, {"id": None, "x": 2}]
    ids = pq.scan(stored, as_="r", by="u").evaluate({"t": rows}).tuples
    assert [one["u"] for one in ids] == ["7", pq.MISSING]
    assert pq.scan(kept, as_="r").map_values(lambda t: t.r.id).evaluate({"t": rows}) == pq.bag([7, None])


class Inner(sd.Schema):
    a: sd.I64
    b: sd.Nullable[sd.String]


class Kinds(sd.Schema):
    i: sd.Nullable[sd.I32]
    d: sd.Decimal[sd.L[5], sd.L[2]]
    s: sd.VarChar[sd.L[9]]
    y: sd.Date
    ms: sd.PrecisionTimestamp[sd.L[3]]
    z: sd.PrecisionTimestampTZ[sd.L[6]]
    xs: sd.List[sd.Nullable[sd.I64]]
    m: sd.Map[sd.String, sd.FP64]
    n: sd.Struct[Inner]


def test_rows_in_a_plan_are_known() -> None:
    moment = dt.datetime(2024, 2, 29, 23, 59, 59, 123_000)
    aware = dt.datetime(1969, 12, 31, 12, 0, 0, 1, tzinfo=dt.UTC)
    row = (None, Decimal("1.50"), "x", dt.date(2020, 1, 2), moment, aware, [1, None], {"k": 0.5}, (1, None))
    table = pq.table("t", sd.read_virtual([row], Kinds))
    parts = (*row[:6], (1, None), {"k": 0.5}, {"a": 1, "b": None})
    expected = pq.bag([dict(zip(Kinds.__annotations__, parts, strict=True))])
    found: Any = pq.scan(table, as_="r").map_values(lambda t: t.r).evaluate()
    assert key(found) == key(expected)
    assert found == expected
    (got,) = found
    assert got["ms"] == moment
    assert got["z"] == aware
    assert pq.scan(table, as_="r").map_values(lambda t: t.r.i).evaluate({"t": [{"i": 5}]}) == pq.bag([5])


def test_rows_that_are_computed_are_asked_for() -> None:
    rows = sd.read_virtual([(1,), (2,)], {"x": "i64"})
    for relation in (rows.filter(lambda r: r.x > 1), sd.read_virtual([(uuid.UUID(int=7),)], {"x": "uuid"})):
        with refused(UnknownFieldError, 'evaluate: there are no data of the table "t"; there are those of none'):
            pq.scan(pq.table("t", relation), as_="r").evaluate()


def test_tables_without_data() -> None:
    both = pq.scan(FOO, as_="f").cross_join(pq.scan(BAR, as_="b"))
    with refused(UnknownFieldError, 'no data of the table "Bar"', 'those of "Foo", "bar"', 'did you mean "bar"?'):
        both.evaluate({"Foo": ROWS, "bar": BARS})
    with refused(UnknownFieldError, 'evaluate({"Foo": [{..}, {..}]})'):
        pq.scan(FOO, as_="f").evaluate()
    given: Any = {"Foo": 5}
    with refused(InvalidArgumentError, 'evaluate: the data of the table "Foo" are a bag or a list of rows, got 5'):
        pq.scan(FOO, as_="f").evaluate(given)
    relation: Any = {"Foo": sd.read_named("Foo", FOO_SCHEMA)}
    with refused(InvalidArgumentError, 'the data of the table "Foo"', "got a relation", "collect(spark)"):
        pq.scan(FOO, as_="f").evaluate(relation)
    query: Any = pq.scan(FOO, as_="f")
    with refused(TypeMismatchError, "evaluate_bindings takes a bindings expression", "query.expression"):
        pq.evaluate_bindings(query)


@pytest.mark.parametrize("table", [FOO, BAR], ids=str)
def test_tables_that_are_values_are_bound(table: pq.Values) -> None:
    """A table as `table` makes it, with its record id."""
    name = str(table.expression.name)  # type: ignore[attr-defined]
    read = pq.bind(pq.parse_bindings("(scan (id T) f null uid)"), {"T": table})
    assert read.as_relation().schema == pq.scan(table, as_="f", by="uid").as_relation().schema, name
    with refused(InvalidArgumentError, "bind: a value is None"):
        pq.bind(pq.parse("(id T)"), {"T": pq.lit(1) + 1})
