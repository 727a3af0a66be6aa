"""PartiQL's algebra on Spark: the document's examples, the conformance cases, and random pipelines."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

import substrait_dsl as sd
from substrait_dsl import partiql as pq
from substrait_dsl.algebra.node import Rel
from substrait_dsl.errors import EvaluationError, ExecutionError, UnsupportedError
from substrait_dsl.fluent.base import wrap_relation
from substrait_dsl.partiql import (
    Mode,
    bind,
    data_text,
    evaluate_value,
    lit,
    parse_data,
    parse_value,
    scan,
    struct,
    table,
)
from tests.partiql.engines import VIRTUAL, through_bytes
from tests.partiql.evaluating import MODES, data
from tests.partiql.pipelines import DATA, LIST, STORED, pipeline
from tests.partiql.test_conformance import CASES
from tests.partiql.test_examples import BINDINGS, VALUES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_examples(spark: SparkSession) -> None:
    """Every example of the document, read back from the bytes of a plan, in both modes."""

    def run(rel: Rel) -> list[tuple[object, ...]]:
        return [tuple(row) for row in wrap_relation(rel).execute(spark).collect()]

    for name, (text, expected) in {**BINDINGS, **VALUES}.items():
        if name != "struct_concat":  # of two constants: there is nothing to run
            for mode in MODES:
                assert through_bytes(text, VIRTUAL, run, mode) == parse_data(expected), (name, mode)


def test_pivot(spark: SparkSession) -> None:
    """One struct of all rows; in strict mode a name that is no text is an error."""
    rows = lit([{"k": "a", "v": 1}, {"k": "b", "v": None}, {"k": "a", "v": 3}, {"k": "c"}])
    made_of = scan(rows, as_="f").filter(lambda t: t.f.k != "z").pivot(lambda t: t.f.k, lambda t: t.f.v)
    expected = parse_data("<< { a: 1, b: null, a: 3 } >>")
    assert made_of.collect(spark) == expected == pq.Bag((made_of.evaluate(),))
    unnamed = scan(lit([{"k": "a", "v": 1}, {"k": None, "v": 2}]), as_="f").pivot(lambda t: t.f.k, lambda t: t.f.v)
    assert unnamed.collect(spark) == parse_data("<< { a: 1 } >>")
    with pytest.raises(EvaluationError, match="name"):
        unnamed.collect(spark, "strict")
    with pytest.raises(EvaluationError, match="name"):
        unnamed.evaluate(mode="strict")
    with pytest.raises(UnsupportedError, match="pivot"):
        made_of.execute(spark)


def test_a_condition_that_is_no_boolean(spark: SparkSession) -> None:
    """Requirement R23: in strict mode an error for a row in which it is there, and only when it is evaluated."""
    rows = scan(lit([{"n": 1}, {"n": None}]), as_="f").filter(lambda t: t.f.n)
    assert data_text(rows.collect(spark, "permissive")) == "[]"
    with pytest.raises(Exception, match="a condition is a boolean, not a value such as 1"):
        rows.collect(spark, "strict")
    none = scan(lit([{"n": 1}, {"n": None}]), as_="f").filter(lambda t: t.f.n.is_null()).filter(lambda t: t.f.n)
    assert data_text(none.collect(spark, "strict")) == "[]"


def test_types_of_columns(spark: SparkSession) -> None:
    frame = spark.sql(
        "SELECT CAST(1 AS TINYINT) a, 1.50BD b, CAST(2.5 AS FLOAT) c, X'00ff' d, DATE'2024-02-29' e, "
        "TIMESTAMP_NTZ'2024-02-29 12:30:00.5' f, named_struct('x', 1, 'y', CAST(NULL AS STRING)) g, "
        "array(1, NULL) h, map('k', 2) i, CAST(NULL AS BOOLEAN) j"
    )
    frame.createOrReplaceTempView("kinds")
    kinds = table("kinds", sd.read_named("kinds", frame.schema))
    assert kinds.collect(spark) == data(
        "<< { a: 1, b: 1.50, c: 2.5e0, d: {{AP8=}}, e: 2024-02-29, f: 2024-02-29T12:30:00.500000-00:00, "
        "g: { x: 1, y: null }, h: [1, null], i: { k: 2 }, j: null } >>"
    )
    assert scan(kinds, as_="t").map_values(lambda t: t.t.g.x + t.t.b).collect(spark) == data("<< 2.50 >>")


def test_random_pipelines(spark: SparkSession) -> None:
    """Spark agrees with the interpreter: bags as multisets, lists in order."""
    filled = 0
    for seed in range(100):
        written = pipeline(seed)
        wanted = written.evaluate(DATA)
        got = written.collect(spark)
        assert type(got) is type(wanted), seed
        assert got == wanted, f"seed {seed}: {written}"
        assert written.collection_type == (
            "list" if isinstance(wanted, tuple) else getattr(wanted, "collection_type", "bag")
        ), seed
        filled += len(wanted) > 0  # type: ignore[arg-type]
    assert filled > 60


def test_nan_is_the_greatest_number(spark: SparkSession) -> None:
    """Spark agrees with the interpreter, whose order it is."""
    nan = float("nan")
    pairs = [(nan, 1.0), (1.0, nan), (nan, nan), (None, nan), (-0.0, 0.0), (float("inf"), nan)]
    rows = scan([{"x": x, "y": y} for x, y in pairs], as_="t")
    for compared in (
        lambda t: t.t.x < t.t.y,
        lambda t: t.t.x <= t.t.y,
        lambda t: t.t.x > t.t.y,
        lambda t: t.t.x >= t.t.y,
        lambda t: t.t.x == t.t.y,
        lambda t: t.t.x != t.t.y,
    ):
        found = rows.map_values(compared)
        assert found.collect(spark) == found.evaluate(), str(found)
    ordered = rows.order_by(lambda t: t.t.x).map_values(lambda t: t.t.x)
    assert data_text(ordered.collect(spark)) == "[-0.0e0, 1.0e0, +inf, nan, nan, null]"
    ends = rows.group_by(measures={"low": pq.min(lambda t: t.t.x), "high": pq.max(lambda t: t.t.x)})
    assert data_text(ends.collect(spark)) == data_text(ends.evaluate()) == "<< <{ low: -0.0e0, high: nan }> >>"


def test_types_that_partiql_lacks_are_refused_before_anything_runs(spark: SparkSession) -> None:
    times = scan(table("times", sd.read_virtual([], {"at": "precision_time<6>"})), as_="t")
    with pytest.raises(UnsupportedError, match=r'PartiQL has no values of .*time.*, the type of "t\.at"'):
        times.collect(spark)


def test_groups(spark: SparkSession) -> None:
    """Spark agrees with the interpreter, also about missing keys and no tuples at all."""
    rows = scan([{"k": 1, "n": 5}, {"n": 7}, {"k": 1}, {"k": 2, "n": -1}, {"n": 2, "k": 1}], as_="t")
    measures = {
        "n": pq.count(lambda t: t.t.n),
        "s": pq.sum(lambda t: t.t.n + 0.5),
        "a": pq.avg(lambda t: t.t.n * 1.0),
        "least": pq.min(lambda t: t.t.n),
        "most": pq.max(lambda t: t.t.n),
    }
    for grouped in (
        rows.group_by({"k": lambda t: t.t.k}, measures),
        rows.group_by(measures=measures),
        rows.filter(lambda t: t.t.n > 100).group_by(measures=measures),
        rows.filter(lambda t: t.t.n > 100).group_by({"k": lambda t: t.t.k}, measures),
        rows.group_by({"k": lambda t: t.t.k}).order_by(lambda t: t.k),
        rows.group_by({"k": lambda t: t.t.k, "n": lambda t: t.t.n, "s": lambda t: t.t.s}, {"c": pq.count(1)}),
        rows.group_by({"k": lambda t: t.t.k, "odd": lambda t: t.t.n % 2 == 1}, measures, group_as="g"),
    ):
        assert grouped.collect(spark) == grouped.evaluate(), str(grouped)


def test_groups_of_tuples(spark: SparkSession) -> None:
    """Spark agrees with the interpreter: what is in a group is a bag of structs, without what is missing."""
    rows = scan(lit(LIST), as_="t", at="i")
    stored = scan(table("nested", STORED), as_="u")
    joined = rows.join(stored, on=lambda t: t.t.n == t.u.n, how="full")
    for grouped in (
        rows.group_by({"n": lambda t: t.t.n}, group_as="g"),
        rows.group_by(measures={"n": pq.count(lambda t: t.t)}, group_as="g"),
        rows.filter(lambda t: t.t.n > 2**50).group_by(group_as="g"),
        scan(pq.bag([{}, {}]), as_="e").group_by(group_as="g"),
        stored.group_by({"n": lambda t: t.u.n}, {"top": pq.max(lambda t: t.u.id)}, group_as="g"),
        joined.map_let(n=lambda t: t.t.n).group_by({"n": lambda t: t.n}, {"m": pq.count(lambda t: t.u)}),
        rows.map_let(k=lambda t: t.t.n).cross_join(
            lambda t: stored.filter(lambda u: u.u.n == t.k).group_by(
                measures={"m": pq.count(lambda u: u.u)}, group_as="g"
            )
        ),
    ):
        assert grouped.collect(spark) == grouped.evaluate(DATA), str(grouped)
    groups = rows.group_by({"n": lambda t: t.t.n}, group_as="g")
    ids = groups.cross_join(lambda t: scan(t.g, as_="m", at="j").filter(lambda u: u.m.t.id > 10))
    inside = ids.map_values(lambda t: struct(n=t.n, id=t.m.t.id, q=t.m.t.q, i=t.m.i, j=t.j))
    assert inside.collect(spark) == inside.evaluate()
    relation = groups.as_relation()
    assert str(relation.schema.types[1]) == "list<struct<struct<i64, i64, fp64?>, i64>>"
    assert sorted(len(row.g) for row in relation.collect(spark)) == [1, 1, 2]


REFUSED = {
    "of several types": 9,
    "hold a ": 1,
    "the name of an attribute that is computed": 1,
}
"""What of the cases typed columns cannot hold, or is not lowered, by the words of the refusal; and how many cases."""


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("mode", MODES)
def test_conformance_cases(spark: SparkSession, mode: Mode) -> None:
    """Spark agrees with the interpreter, or refuses; the interpreter itself is held to the cases' own results."""
    refused: Counter[str] = Counter()
    failed = 0
    for case in CASES:
        if case["big"] or "UNREPRESENTABLE" in json.dumps(case):
            continue
        tables = {name: parse_data(text) for name, text in case["env"].items()}
        node = parse_value(case["sexp"])
        if "(id repeated)" in case["sexp"]:
            continue  # a name that nothing binds
        try:
            wanted = evaluate_value(node, tables, mode)  # type: ignore[arg-type]
        except EvaluationError:
            wanted = None  # which no collection is
        try:
            got = bind(node, tables).collect(spark, mode)
        except UnsupportedError as error:
            refused[next((words for words in REFUSED if words in str(error)), str(error))] += 1
            continue
        except (EvaluationError, ExecutionError):
            assert wanted is None, case["sexp"]
            failed += 1
            continue
        assert (type(got), got) == (type(wanted), wanted), case["sexp"]
    assert refused == REFUSED
    assert (failed > 5) == (mode == "strict")
