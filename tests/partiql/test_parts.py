"""Parts of columns, divisions, and values put together: the relations that they become."""

from __future__ import annotations

import datetime as dt

import pytest

import substrait_dsl as sd
from substrait_dsl import partiql as pq
from substrait_dsl.algebra import types as t
from substrait_dsl.errors import EvaluationError, InvalidArgumentError, UnsupportedError
from substrait_dsl.partiql import Tuple, Values, bind, data_text, parse, scan, table
from tests.partiql.evaluating import MODES
from tests.partiql.parts import TABLE, Parts, rows


def columns(values: Values) -> list[tuple[str, str]]:
    return [(field.name, str(field.type)) for field in values.as_relation().schema]


def test_every_part_is_lowered_and_read_back_from_a_plan() -> None:
    of = rows()
    for seed in range(150):
        drawn = of.map_values(Parts(seed, Tuple(of)).any())
        for mode in MODES:
            try:
                plan = drawn.to_plan(mode)
            except EvaluationError:
                assert mode == "strict"
                continue
            (root,) = sd.Plan.from_bytes(plan.to_bytes()).roots
            assert root._rel == plan.roots[0]._rel, seed


def test_a_relation_is_a_value() -> None:
    orders = sd.read_named("shop.orders", {"id": "i64"})
    assert str(orders.as_value()) == "(id 'shop.orders')"
    few = orders.filter(lambda o: o.id > 5)
    assert few.as_value("few").as_relation()._rel == table("few", few).as_relation()._rel
    with pytest.raises(InvalidArgumentError, match="as_value: the relation is no read of a named table") as caught:
        few.as_value()
    assert caught.value.hint == 'give it a name: relation.as_value("t")'


def test_structs_and_lists_are_columns_of_a_relation() -> None:
    of = scan(TABLE.as_value("t"), as_="t")
    made = of.map_values(
        lambda r: pq.struct(
            l=pq.list_of(r.t.a, 1, None),
            b=pq.bag_of(r.t.b),
            s=pq.struct(x=r.t.x, y=pq.struct(z=r.t.xs[0])),
            e=pq.list_of(),
        )
    )
    assert columns(made) == [
        ("l", "list<i64?>"),
        ("b", "list<i64>"),
        ("s", "struct<fp64?, struct<i32?>>"),
        ("e", "list<boolean?>"),
    ]
    mixed = of.map_values(lambda r: pq.list_of(r.t.b, r.t.s["1"]))
    with pytest.raises(UnsupportedError, match='"value" is a collection of values of several types, i64, string'):
        mixed.as_relation()


def test_lists_of_several_sizes_are_a_column() -> None:
    written = scan([{"xs": [1, 2]}, {"xs": []}, {"xs": [None]}, {}], as_="t").map_values(lambda r: r.t.xs)
    assert columns(written) == [("value", "list<i64?>?")]


@pytest.mark.parametrize(
    ("items", "average"),
    [
        ("[1, 2, 2]", "1.666667"),  # 5 / 3
        ("[-1, -2, -2]", "-1.666667"),
        ("[1, 2]", "1.500000"),
        ("[1.25, 2]", "1.625000"),
        ("[1.00000001, 1.00000002]", "1.00000002"),  # 1.000000015, rounded half up
        ("[1.0e0, 2]", "1.5e0"),
        ("[9223372036854775807, 9223372036854775807]", "9223372036854775807.000000"),
        ("[null, MISSING]", "null"),
        ("[1d300]", "MISSING"),  # of more than 38 digits
    ],
)
def test_averages(items: str, average: str) -> None:
    written = bind(parse(f"(group_by () ((a avg (id x))) null (scan (lit {items}) x))"), {})
    assert data_text(written.evaluate()) == f"<< <{{ a: {average} }}> >>"


def test_an_average_of_too_many_digits_is_an_error_in_strict_mode() -> None:
    grouped = scan([10**301], as_="v").group_by(measures={"m": pq.avg(lambda t: t.v)})
    with pytest.raises(EvaluationError, match="avg: the result is no number, or out of range"):
        grouped.evaluate(mode="strict")


def test_dynamic_values_are_of_a_type_before_engines_compute_with_them() -> None:
    docs = scan(sd.read_named("docs", {"id": "i64", "doc": pq.DYNAMIC}).as_value(), as_="t")
    for refused in (
        lambda: docs.map_values(lambda r: r.t.doc.k + 1),
        lambda: docs.map_values(lambda r: r.t.doc.k == 1.5),
        lambda: docs.map_values(lambda r: r.t.doc == r.t.doc),
        lambda: docs.map_values(lambda r: pq.struct(a=r.t.doc) == pq.struct(a=r.t.doc)),
        lambda: docs.map_values(lambda r: r.t.doc.k & True),
        lambda: docs.map_values(lambda r: pq.call("coalesce", r.t.doc, 1)),
        lambda: docs.map_values(lambda r: r.t.doc.k.is_in([1])),
        lambda: docs.order_by(lambda r: r.t.doc),
        lambda: docs.group_by({"k": lambda r: r.t.doc}),
        lambda: docs.group_by(measures={"n": pq.max(lambda r: r.t.doc)}),
    ):
        with pytest.raises(UnsupportedError) as caught:
            refused().as_relation()
        assert "is a dynamic value" in str(caught.value)
        assert caught.value.hint == "say of which type it is: as_boolean, as_integer, as_float, as_text"
    inside = sd.read_named("docs", {"docs": t.List(pq.DYNAMIC)})
    with pytest.raises(UnsupportedError, match="a dynamic value inside a column of list<u!dynamic"):
        scan(inside.as_value(), as_="t").as_relation()


def test_a_plan_declares_the_type_of_dynamic_values() -> None:
    docs = scan(sd.read_named("docs", {"doc": pq.DYNAMIC}).as_value(), as_="t")
    message = docs.filter(lambda r: r.t.doc.k == "a").to_plan().to_proto()
    assert [urn.urn for urn in message.extension_urns if "partiql" in urn.urn] == ["extension:substrait_dsl:partiql"]
    declared = {one.extension_type.name or one.extension_function.name for one in message.extensions}
    assert {"dynamic", "attribute:u!dynamic_str", "as_text:u!dynamic"} <= declared


@pytest.mark.parametrize(
    ("constant", "said"),
    [
        ([dt.date(2024, 2, 29)], "a date is no dynamic value that a plan could hold"),
        ([pq.bag([1])], "a bag is no dynamic value"),
        ([float("nan")], "a number is no dynamic value"),
        ([[pq.MISSING]], "a missing value is no dynamic value"),
        ([10**38], "a dynamic number has at most 38 digits"),
        ([pq.Struct((("a", 1), ("a", 2)))], "a dynamic struct has no repeated names"),
    ],
)
def test_constants_that_a_plan_cannot_hold_as_dynamic_values(constant: object, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        scan(pq.dynamic(constant), as_="v").as_relation()  # type: ignore[arg-type]


def test_dynamic_is_of_constants() -> None:
    docs = scan(sd.read_named("docs", {"id": "i64", "doc": pq.DYNAMIC}).as_value(), as_="t")
    as_it_is = docs.map_values(lambda r: pq.dynamic(r.t.doc)).as_relation()
    assert as_it_is._rel == docs.map_values(lambda r: r.t.doc).as_relation()._rel
    with pytest.raises(UnsupportedError, match="a dynamic value of what is computed from a row"):
        docs.map_values(lambda r: pq.dynamic(r.t.id)).as_relation()
    assert scan(pq.dynamic([1, "a"]), as_="v").collection_type == "list"
    assert (
        scan(pq.dynamic(1), as_="v").collection_type == scan(pq.dynamic(pq.bag([1])), as_="v").collection_type == "bag"
    )


def test_decimals_are_computed_exactly_or_not_at_all() -> None:
    prices = sd.read_named("prices", {"a": "decimal<15,2>", "b": "decimal<20,10>", "c": "decimal<38,4>", "n": "i32"})
    of = scan(prices.as_value(), as_="t")
    assert columns(of.map_values(lambda r: r.t.a * r.t.n)) == [("value", "decimal<35,2>")]
    assert columns(of.map_values(lambda r: r.t.c - r.t.n)) == [("value", "decimal<38,4>")]
    with pytest.raises(
        UnsupportedError, match="multiply of decimal<20,10> and decimal<20,10> is not lowered"
    ) as caught:
        of.map_values(lambda r: r.t.b * r.t.b).as_relation()
    assert "to 17 digits behind the point" in str(caught.value)  # 41 digits, of which 20 behind it, become 38
    with pytest.raises(UnsupportedError, match="add of decimal<38,4> and decimal<20,10> is not lowered"):
        of.map_values(lambda r: r.t.c + r.t.b).as_relation()
