"""Parts of columns, divisions, averages, values put together, and dynamic values of PartiQL's algebra, on Spark."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, cast

import pytest

import substrait_dsl as sd
from substrait_dsl import partiql as pq
from substrait_dsl.algebra.node import Rel
from substrait_dsl.errors import EvaluationError, ExecutionError
from substrait_dsl.fluent.base import wrap_relation
from substrait_dsl.partiql import (
    MISSING,
    Bag,
    Struct,
    Tuple,
    Value,
    Values,
    data_text,
    parse_data,
    scan,
    struct,
    unpivot,
)
from substrait_dsl.partiql.values import to_value
from tests.partiql.engines import through_bytes
from tests.partiql.parts import DATA, DIRECT, TABLE, Parts, number_of, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def agreed(spark: SparkSession, values: Values, data: dict[str, Bag]) -> Value:
    """What Spark gives, from the bytes of a plan, which is what the interpreter gives."""

    def run(rel: Rel) -> list[tuple[object, ...]]:
        return [tuple(row) for row in wrap_relation(rel).execute(spark).collect()]

    found = through_bytes(values.expression, values.sources, run)
    wanted = values.evaluate(data)
    assert isinstance(found, Bag)
    assert isinstance(wanted, Bag)
    assert sorted(map(exact, found)) == sorted(map(exact, wanted))
    return found


def exact(value: Value) -> str:
    """A value as a text that tells 1 from 1.0, and null from missing, but not one order of attributes from another."""
    match value:
        case Struct(fields=fields):
            return f"{{{sorted((name, exact(inner)) for name, inner in fields)}}}"
        case tuple():
            return f"[{[exact(item) for item in value]}]"
        case Decimal():
            return repr(value.normalize())
        case _:
            return repr(value)


def test_random_parts(spark: SparkSession) -> None:
    """Each query computes many expressions, which are missing, null or a value by row."""
    of = rows()
    for first in range(0, 160, 40):
        drawn = {f"e{seed}": Parts(seed, Tuple(of)).any() for seed in range(first, first + 40)}
        agreed(spark, of.map_values(struct({"n": number_of(Tuple(of)), **drawn})), DATA)


def test_strict_mode_fails_for_the_rows_that_lack_a_value(spark: SparkSession) -> None:
    """As the interpreter says: for some rows, and not for the others."""
    of = rows()
    which = number_of(Tuple(of))
    numbers = cast(Bag, of.map_values(which).evaluate(DATA))
    for part in DIRECT:
        fine = []
        for number in numbers:
            try:
                of.filter(which == number).map_values(part).evaluate(DATA, "strict")
                fine.append(number)
            except EvaluationError:
                pass
        assert 0 < len(fine) < len(numbers), part
        kept = of.filter(which.is_in(fine)).map_values(part)
        assert kept.collect(spark, "strict") == kept.evaluate(DATA, "strict")
        with pytest.raises(ExecutionError):
            of.map_values(part).collect(spark, "strict")


def test_what_is_missing_is_said_in_strict_mode(spark: SparkSession) -> None:
    for part, said in ((DIRECT[0], "a list has no element 1"), (DIRECT[7], 'there is no attribute "c"')):
        with pytest.raises(ExecutionError) as caught:
            rows().map_values(part).collect(spark, "strict")
        assert str(caught.value) == f"collect: {said}"
        assert caught.value.__cause__ is not None


def test_averages(spark: SparkSession) -> None:
    of = scan(TABLE.as_value("t"), as_="t")
    counted = {"n": pq.count(lambda r: r.t), "one": pq.sum(1)}
    averages = {
        "a": pq.avg(lambda r: r.t.a),
        "b": pq.avg(lambda r: r.t.b),
        "d": pq.avg(lambda r: r.t.b * Decimal("1.25")),
        "x": pq.avg(lambda r: r.t.x),
    }
    for grouped in (
        of.group_by(measures={**averages, **counted}),
        of.group_by({"k": lambda r: r.t.b % 2}, averages),
        of.filter(lambda r: r.t.b > 100).group_by(measures={**averages, **counted}),
    ):
        assert grouped.collect(spark) == grouped.evaluate(DATA), str(grouped)
    thirds = scan([1, 2, 2], as_="x").group_by(measures={"a": pq.avg(lambda t: t.x)})
    assert data_text(thirds.collect(spark)) == "<< <{ a: 1.666667 }> >>"


def test_values_put_together_are_columns(spark: SparkSession) -> None:
    of = scan(TABLE.as_value("t"), as_="t")
    built = of.map_values(
        lambda r: struct(id=r.t.b, l=pq.list_of(r.t.a, 1), s=struct(x=r.t.x, e=pq.list_of(r.t.n["k"])))
    )
    frame = built.execute(spark)
    assert frame.schema.simpleString() == "struct<id:bigint,l:array<bigint>,s:struct<x:double,e:array<bigint>>>"
    found = {row.id: (row.l, tuple(row.s)) for row in frame.collect()}
    assert found == {
        0: ([1, 1], (2.5, [5])),
        3: ([None, 1], (0.0, [None])),
        2: ([-7, 1], (None, [None])),
        -2: ([0, 1], (0.0, [0])),
    }
    agreed(spark, built, DATA)


def test_literal_lists_of_several_sizes_and_nulls_beside_what_is_missing(spark: SparkSession) -> None:
    items = [{"xs": [{"y": [1]}, {"y": []}], "s": {"z": 1}}, {"xs": [], "s": None}, {"xs": None}, {"s": {"z": None}}]
    of = scan(pq.lit(pq.bag(items)), as_="t")
    agreed(spark, of.map_values(lambda r: r.t), {})
    agreed(spark, of.map_values(lambda r: struct(a=r.t.xs[0].y[0], b=r.t.s.z, c=r.t.s.z.is_missing(), d=r.t.s)), {})
    agreed(spark, scan(pq.lit(pq.bag([None, MISSING, 1])), as_="x").map_values(lambda r: r.x + 1), {})


def test_integers_and_floats_are_compared_exactly(spark: SparkSession) -> None:
    """Most integers of more than 53 bits are no floats; Python compares them exactly, too."""
    integers = [2**53 + 1, 2**53, -(2**53) - 1, 2**63 - 1, 2**63 - 513, -(2**63), 2**62 + 1, 0, 1, -1, None]
    floats = [2.0**53, 2.0**53 + 2, -(2.0**53), 2.0**63, -(2.0**63), 2.0**64, -(2.0**64), 2.0**62, 0.5, 1.0, -0.0]
    others = [*floats, float("inf"), -float("inf"), float("nan"), None]
    pairs = scan(pq.bag([{"i": i} for i in integers]), as_="l").cross_join(
        scan(pq.bag([{"x": x} for x in others]), as_="r")
    )

    def every(one: Values, other: object) -> Values:
        return pq.list_of(one == other, one != other, one < other, one <= other, one > other, one >= other)

    found = agreed(
        spark,
        pairs.map_values(
            lambda t: struct(
                i=t.l.i,
                x=t.r.x,
                a=every(t.l.i, t.r.x),
                b=every(t.r.x, t.l.i),
                s=struct(k=t.l.i) == struct(k=t.r.x),
                n=pq.list_of(t.l.i) != pq.list_of(t.r.x),
            )
        ),
        {},
    )
    compared = [each for each in cast(Bag, found) if isinstance(each, Struct) and {"i", "x"} <= {*each.names}]
    known = [each for each in compared if each["i"] is not None and each["x"] in floats]
    assert len(known) == (len(integers) - 1) * len(floats)
    for each in known:
        i, x = cast(int, each["i"]), cast(float, each["x"])
        assert each["a"] == (i == x, i != x, i < x, i <= x, i > x, i >= x)
        assert each["b"] == (x == i, x != i, x < i, x <= i, x > i, x >= i)
    by_float = scan(pq.bag([{"i": i, "xs": floats} for i in integers if i is not None]), as_="t")
    agreed(
        spark,
        by_float.map_values(
            lambda t: struct(
                i=t.t.i,
                written=pq.list_of(*(every(t.t.i, x) for x in others)),
                among=t.t.i.is_in(t.t.xs),
                one_of=t.t.i.is_in(floats),
                computed=t.t.i == t.t.i + 0.0,
            )
        ),
        {},
    )
    by_integer = scan(pq.bag([{"x": x} for x in others]), as_="t")
    agreed(
        spark, by_integer.map_values(lambda t: struct(x=t.t.x, w=pq.list_of(*(every(t.t.x, i) for i in integers)))), {}
    )


def test_a_concatenation_of_what_is_no_struct(spark: SparkSession) -> None:
    """It is null where an operand is, and missing elsewhere."""
    of = scan(pq.bag([{"n": 1, "m": None}, {"n": None, "m": 2}, {"n": 3, "m": 3}, {"n": None}, {}]), as_="v")
    found = agreed(spark, of.map_values(lambda t: pq.list_of(t.v.n, t.v.m, pq.struct_concat(t.v.n, {"a": 1}))), {})
    assert found == parse_data(
        "<< [1, null, MISSING], [null, 2, null], [3, 3, MISSING], [null, MISSING, null], [MISSING, MISSING, MISSING] >>"
    )
    agreed(spark, of.map_values(lambda t: pq.struct_concat(t.v.n, pq.lit(None))), {})
    agreed(spark, of.map_values(lambda t: pq.struct_concat(t.v, t.v.m, t.v.n)), {})
    padded = scan(pq.bag([1, 2]), as_="w").join(
        scan([{"a": 1, "l": [1]}], as_="v"), on=lambda t: t.w == t.v.a, how="left"
    )
    parts = padded.map_values(
        lambda t: pq.list_of(
            t.w,
            pq.struct_concat(t.v.z, {"a": 1}),
            pq.struct_concat(t.v, 5),
            pq.struct_concat(t.v, t.v.l),
            pq.struct_concat(t.v, {"b": 1}).b,
        )
    )
    found = agreed(spark, parts, {})
    assert found == parse_data("<< [1, MISSING, MISSING, MISSING, 1], [2, null, null, null, null] >>")
    both = padded.join(scan([{"k": 2}], as_="u"), on=lambda t: t.w == t.u.k, how="full").map_let(
        c=lambda t: pq.struct_concat(t.v, {"b": 1, "d": {"e": [5]}, "m": None}, struct(w=t.w), t.u, struct(x=t.v.z))
    )
    agreed(
        spark,
        both.map_values(
            lambda t: pq.list_of(
                t.w, t.c, t.c.b, t.c.d, t.c.d.e[0], t.c.m, t.c.w, t.c.k, t.c.a, t.c.x, t.c.x.is_missing(), t.c.q
            )
        ),
        {},
    )
    once = scan([{"a": 1}, {"a": 2}], as_="v").join(scan([{"k": 2}], as_="u"), on=lambda t: t.v.a == t.u.k, how="left")
    inside = once.map_let(c=lambda t: pq.struct_concat({"b": 1, "d": {"e": [5]}, "n": None}, t.u, t.v, struct(z=t.v.z)))
    found = agreed(
        spark,
        inside.map_values(lambda t: pq.list_of(t.c.b, t.c.d, t.c.d.e[0], t.c.n, t.c.k, t.c.a, t.c.z, t.c.d.is_null())),
        {},
    )
    assert found == parse_data(
        "<< [null, null, null, null, null, null, null, true], [1, {e: [5]}, 5, null, 2, 2, MISSING, false] >>"
    )


DOCUMENTS = (
    '{"k": 1, "s": "a", "b": true, "n": null, "xs": [1, "two", null, {"y": 2.5}], "o": {"p q": {"\\"": 7}}}',
    '{"k": "1", "s": null, "b": "true", "o": {"p q": null}}',
    '{"k": 2.50, "o": null, "xs": [], "s": 1}',
    '{"k": 1e3, "b": null, "s": "b"}',
    "[1, [2]]",
    "null",
    "5",
    None,
)


def parsed(document: str | None) -> Value:
    """What PartiQL takes a document of JSON for: numbers with an exponent are floats, others exact."""
    if document is None:
        return MISSING
    return to_value(json.loads(document, parse_float=lambda text: float(text) if "e" in text else Decimal(text)))


def test_and_and_or_of_what_is_no_boolean(spark: SparkSession) -> None:
    """A number beside them counts as null where it is null or missing; elsewhere the result is missing."""
    pairs: list[dict[str, object]] = [{"b": b, "n": n, "m": n} for b in (True, False, None) for n in (1, None)]
    of = scan(pq.bag([*pairs, {"b": False}, {"b": True}, {"n": 1}, {}]), as_="t")
    found = agreed(
        spark,
        of.map_values(
            lambda t: struct(
                both=t.t.b & t.t.n,
                either=t.t.b | t.t.n,
                three=(t.t.n & t.t.b) | t.t.m,
                said=(t.t.b & t.t.n).is_missing(),
                never=t.t.b & "a",
                not_known=t.t.n & t.t.m,
            )
        ),
        {},
    )
    assert isinstance(found, Bag)
    by_pair = {(pair["b"], pair["n"]): one for pair, one in zip(pairs, found, strict=False)}
    assert by_pair[False, None] == to_value(
        {"both": False, "either": None, "three": None, "said": False, "not_known": None}
    )
    assert by_pair[False, 1] == to_value({"said": True})


def test_dynamic_values(spark: SparkSession) -> None:
    """A column of VARIANT: null and missing apart, paths, values of one type, comparisons, and whole values."""
    frame = spark.createDataFrame(list(enumerate(DOCUMENTS)), "id bigint not null, text string")
    frame.selectExpr("id", "parse_json(text) AS doc").createOrReplaceTempView("documents")
    table = sd.read_named("documents", {"id": "i64", "doc": pq.DYNAMIC})
    attributes = [{"id": number, "doc": parsed(text)} for number, text in enumerate(DOCUMENTS)]
    data = {"documents": pq.bag([{k: v for k, v in one.items() if v is not MISSING} for one in attributes])}
    of = scan(table.as_value(), as_="t")

    def everything(row: Tuple) -> Values:
        doc = row.t.doc
        return struct(
            id=row.t.id,
            doc=doc,
            parts=pq.list_of(doc.n.q, doc.xs[1], doc.xs[2].y, doc.xs[3].y, doc["o"]["p q"]['"'], doc[1][0]),
            types=pq.list_of(pq.as_integer(doc.k), pq.as_float(doc.k), pq.as_text(doc.s), pq.as_boolean(doc.b)),
            computed=pq.list_of(pq.as_integer(doc.k) - row.t.id, pq.as_float(doc) / row.t.id),
            compared=pq.list_of(doc.s == "a", doc.s != "a", doc.b == True, doc.s == None, pq.as_text(doc.s) == doc.s),  # noqa: E711, E712  # of the algebra
            absent=pq.list_of(doc.n.is_null(), doc.n.is_missing(), doc.is_null(), doc.is_missing()),
        )

    agreed(spark, of.map_values(everything), data)
    doc = Tuple(of).t.doc
    for part in (doc, doc.xs, doc[1], doc.o["p q"]):
        for inside in (scan(part, as_="x", at="i"), unpivot(part, as_="x", at="i")):
            found = of.cross_join(inside).map_values(lambda r: struct(id=r.t.id, x=r.x, i=r.i, y=r.x.y))
            agreed(spark, found, data)
    structs = of.filter(lambda r: r.t.id < 4).cross_join(unpivot(doc, as_="x", at="i"))
    if not spark.version.startswith("4.1."):  # which computes what fails before the filter
        assert structs.collect(spark, "strict") == structs.evaluate(data, "strict")
    with pytest.raises(ExecutionError, match="unpivot: a value that is not a struct"):
        of.filter(lambda r: r.t.id == 4).cross_join(unpivot(doc, as_="x", at="i")).collect(spark, "strict")
    ids = of.map_let(n=lambda r: r.t.id - 1, s=lambda r: pq.as_text(r.t.doc.s))
    ordered = ids.map_values(
        lambda r: struct(
            id=r.t.id,
            n=pq.list_of(r.t.doc.k == 1, r.t.doc.k != r.n, r.t.doc.k < 2, r.t.doc.k >= r.n, r.t.doc > 4),
            s=pq.list_of(r.t.doc.s < "b", r.t.doc.s == r.s, r.t.doc.s >= r.s, r.s <= r.t.doc.k, r.t.doc.b > False),
        )
    )
    agreed(spark, ordered, data)
    true = of.filter(lambda r: r.t.doc.b).map_values(lambda r: r.t.id)
    assert agreed(spark, true, data) == Bag((0,))
    grouped = of.group_by(
        {"s": lambda r: pq.as_text(r.t.doc.s)},
        {"n": pq.count(lambda r: r.t.doc.k), "k": pq.sum(lambda r: pq.as_integer(r.t.doc.k))},
    )
    assert grouped.collect(spark) == grouped.evaluate(data)
    variants = of.map_values(lambda r: struct(id=r.t.id, k=r.t.doc.k)).execute(spark)
    assert variants.schema.simpleString() == "struct<id:bigint,k:variant>"
    texts = {row.id: row.k for row in variants.selectExpr("id", "to_json(k) AS k").collect()}
    assert texts == {0: "1", 1: '"1"', 2: "2.5", 3: "1000.0", 4: None, 5: "null", 6: None, 7: None}
    for fine, value in ((doc.k, 1), (pq.as_integer(doc.k), 1), (doc.k < 2, True), (doc.s == 5, False)):
        first = of.filter(lambda r: r.t.id == 0).map_values(fine)
        assert first.collect(spark, "strict") == first.evaluate(data, "strict") == Bag((value,))
    for failing, number in ((doc.z, 0), (pq.as_integer(doc.k), 1), (doc[1], 0), (doc.k < 2, 1), (doc.s < "b", 2)):
        wrong = of.filter(Tuple(of).t.id == number).map_values(failing)
        with pytest.raises(EvaluationError):
            wrong.evaluate(data, "strict")
        with pytest.raises(ExecutionError):
            wrong.collect(spark, "strict")


def test_dynamic_constants(spark: SparkSession) -> None:
    """Values of several types in one collection, which no other column holds."""
    numbers = [1, 2.5, Decimal("2.50"), Decimal(3), -0.0, 1e300, 2**63, -(2**63), Decimal("-0.000001"), True]
    numbers += [10**30 + 1, Decimal("12345678901234567890123456789012345.678")]
    others = [None, "", "two\n\"\u00e9\U0001f600'", [], [None, ["x", 1]], {}, {"x": None, "y": {"a b": 1}}]
    for items in ([*numbers, *others, MISSING], pq.bag([*numbers, *others, MISSING])):
        of = scan(pq.dynamic(items), as_="v", at="i")
        assert of.collect(spark) == of.evaluate()
        whole = of.map_values(lambda t: pq.list_of(t.v))
        assert list(map(exact, cast(Bag, whole.collect(spark)))) == list(map(exact, cast(Bag, whole.evaluate())))
        assert of.collection_type == of.evaluate().collection_type
        parts = of.map_values(
            lambda t: pq.list_of(
                t.v.x,
                t.v.x.is_missing(),
                t.v[1],
                pq.as_integer(t.v),
                pq.as_float(t.v),
                pq.as_text(t.v),
                t.v == True,  # noqa: E712  # of the algebra
            )
        )
        assert list(map(exact, cast(Bag, parts.collect(spark)))) == list(map(exact, cast(Bag, parts.evaluate())))
    some = [0, 1, -1, 2, -2, 3, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), -(2**63) + 1, 9007199254740993]
    near = [Decimal("-0.3"), Decimal("0.3"), Decimal("-1.5"), Decimal("1.5"), Decimal("2.49"), Decimal("-1.0"), 2.0**63]
    values = scan(pq.dynamic([*numbers, *near, 2.0**53, -1.5, 0.3, "1", *some, 2.0**53 + 2]), as_="v", at="i")
    compared = values.cross_join(scan([*some, None], as_="n")).map_values(
        lambda t: struct(
            n=t.n, i=t.i, o=pq.list_of(t.v < t.n, t.n < t.v, t.v <= t.n, t.v == t.n, t.n != t.v, t.n >= t.v)
        )
    )
    agreed(spark, compared, {})
    of = scan([1, 2], as_="n").map_let(v=lambda t: pq.dynamic({"x": [1, "a"], "y": None}))
    found = of.cross_join(lambda t: scan(t.v.x, as_="e", at="i")).map_values(
        lambda t: struct(n=t.n, e=t.e, i=t.i, y=t.v.y)
    )
    agreed(spark, found, {})
