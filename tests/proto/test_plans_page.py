"""The pages about plans: their examples run as they stand there, and engines take what the table says they take."""

from __future__ import annotations

import datetime as dt
import doctest
import functools
import re
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from substrait.type_inference import infer_plan_schema

import substrait_dsl as sd
from examples.tpch.queries import QUERIES
from examples.tpch.schemas import TABLES
from substrait_dsl.algebra.settings import OuterReferences
from tests.support import f, table

if TYPE_CHECKING:
    from datafusion import SessionContext

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"plans.md": 25, "plans/analysis.md": 10, "plans/extensions.md": 25, "plans/consumers.md": 25}
"""The pages, and how many examples each has at least."""
TEXT = (DOCS / "plans" / "consumers.md").read_text(encoding="utf-8")
ENGINES = TEXT.partition("<!-- engines -->")[2].partition("<!-- end -->")[0]

T = table("id: i64, n: i32?, k: i64?, x: fp64?, s: string?, day: date?", "t")
U = table("k: i64?, name: string?", "u")
NAMED = U.rename(k="key")

ROWS: dict[str, list[tuple[Any, ...]]] = {
    "t": [
        (1, 1, 1, 1.5, "ab", dt.date(2020, 5, 1)),
        (2, 2, 1, 2.5, "Ba", dt.date(2021, 5, 1)),
        (3, 3, 2, -3.0, None, None),
        (4, 4, None, None, "b", dt.date(2020, 5, 1)),
    ],
    "u": [(1, "one"), (2, "two"), (2, "deux"), (9, "nine")],
}
"""What the engines compute with."""


def arrow(rel: sd.Relation[Any], rows: list[tuple[Any, ...]]) -> pa.Table:
    schema = rel.schema.to_arrow()
    columns = zip(zip(*rows, strict=True), schema, strict=True)
    return pa.table([pa.array(values, field.type) for values, field in columns], schema=schema)


DATA = {name: arrow(rel, ROWS[name]) for name, rel in (("t", T), ("u", U))}


def joined(how: str, on: Callable[[Any, Any], Any] = lambda t, u: t.k == u.key) -> Any:
    return T.select("id", "k").join(NAMED, on, how)


def named(how: str) -> Any:
    return joined(how).select("id", "name")


MATCHES: list[tuple[Any, ...]] = [(1, "one"), (2, "one"), (3, "two"), (3, "deux")]
ALL_OF_U = ROWS["u"]
MESSAGE = sd.AnyMessage("type.googleapis.com/google.protobuf.Duration")

Case = tuple[Any, list[tuple[Any, ...]] | None]
"""A relation or a plan, and its rows; None where any rows are wrong."""

CASES: dict[str, list[Case]] = {
    "filter, computed columns, sort": [
        (T.filter(lambda t: t.x > 1.0).select("id", y=lambda t: t.x * 2.0), [(1, 3.0), (2, 5.0)]),
        (T.select("id", "k").sort(sd.desc("id")), [(4, None), (3, 2), (2, 1), (1, 1)]),
    ],
    "joins on one equality: inner, outer, left, right": [
        (named("inner"), MATCHES),
        (named("left"), [*MATCHES, (4, None)]),
        (named("right"), [*MATCHES, (None, "nine")]),
        (named("outer"), [*MATCHES, (4, None), (None, "nine")]),
    ],
    "joins on other conditions; `cross`": [
        (joined("inner", lambda t, u: (t.k == u.key) & (t.id > 1)).select("id", "name"), MATCHES[1:]),
        (joined("inner", lambda t, u: t.k > u.key).select("id", "name"), [(3, "one")]),
        (T.select("id").filter(lambda t: t.id > 3).cross(U.select("k")), [(4, 1), (4, 2), (4, 2), (4, 9)]),
    ],
    "`left_semi`, `left_anti`": [(joined("left_semi"), [(1, 1), (2, 1), (3, 2)]), (joined("left_anti"), [(4, None)])],
    "the same, and `select` on them": [
        (joined("left_semi").select("id"), [(1,), (2,), (3,)]),
        (joined("left_anti").select("id"), [(4,)]),
    ],
    "`left_mark`: the mark of a NULL key, which is NULL": [
        (joined("left_mark").select("id", "mark"), [(1, True), (2, True), (3, True), (4, None)]),
    ],
    "`left_single`": [(T.filter(lambda t: t.id < 3).join(NAMED, lambda t, u: t.k == u.key, "left_single"), None)],
    "`fetch`, `limit`": [
        (U.sort("name").fetch(2, 1), [(9, "nine"), (1, "one")]),
        (U.sort("name").limit(2), [(2, "deux"), (9, "nine")]),
    ],
    "aggregates of columns, without keys": [
        (T.aggregate(n=lambda t: f.count(t.x), s=lambda t: f.sum(t.x), m=lambda t: f.max(t.n)), [(3, 1.0, 4)]),
    ],
    "`f.avg` of integers, which is an integer": [  # however it is rounded, it is not 1.5
        (T.filter(lambda t: t.n < 3).aggregate(a=lambda t: f.avg(t.n)), [(1,)]),
    ],
    "groups, `distinct()`": [
        (T.group_by("k").agg(s=lambda t: f.sum(t.x)), [(1, 4.0), (2, -3.0), (None, None)]),
        (U.select("k").distinct(), [(1,), (2,), (9,)]),
    ],
    "filtered and distinct measures": [
        (T.aggregate(s=lambda t: f.sum(t.x).filter(t.x > 0.0)), [(4.0,)]),
        (T.aggregate(n=lambda t: f.count(t.k).distinct()), [(2,)]),
    ],
    "several grouping sets": [(T.group_by("k", "n").rollup(c=f.count()), None)],
    "`union`, `intersect`, `subtract`": [
        (T.select("k").union(U.select("k")), [(1,), (2,), (None,), (9,)]),
        (T.select("k").intersect(U.select("k")), [(1,), (2,)]),
        (T.select("k").subtract(U.select("k")), [(None,)]),
    ],
    "`minus_primary_all`, `intersection_multiset_all`": [
        (T.select("k").set_op("minus_primary_all", U.select("k")), [(1,), (None,)]),
        (T.select("k").set_op("intersection_multiset_all", U.select("k")), [(1,), (2,)]),
    ],
    "window functions": [
        (
            T.select("id", s=lambda t: f.sum(t.x).over(order_by="id", rows=(-1, 0))),
            [(1, 1.5), (2, 4.0), (3, -0.5), (4, -3.0)],
        ),
        (
            T.select("id", n=lambda t: f.row_number().over(partition_by="k", order_by="id")),
            [(1, 1), (2, 2), (3, 1), (4, 1)],
        ),
    ],
    "window functions of a range, `range=(-1, 0)`": [
        (T.select("id", s=lambda t: f.sum(t.id).over(order_by="id", range=(-1, 0))), [(1, 1), (2, 3), (3, 5), (4, 7)]),
    ],
    "subqueries": [
        (T.filter(lambda t: t.k.is_in(U.select("k"))).select("id"), [(1,), (2,), (3,)]),
        (T.filter(lambda t: t.k == sd.scalar_subquery(U.aggregate(m=f.min(sd.col("k"))))).select("id"), [(1,), (2,)]),
        (T.filter(lambda t: sd.exists(U)).select("id"), [(1,), (2,), (3,), (4,)]),
    ],
    "correlated subqueries": [(T.filter(lambda t: sd.exists(U.filter(lambda u: u.k == t.k))), None)],
    "`when`": [
        (
            T.select("id", w=lambda t: sd.when(t.x > 2.0).then("big").otherwise(None)),
            [(1, None), (2, "big"), (3, None), (4, None)],
        )
    ],
    "`switch`": [(T.select(w=lambda t: sd.switch(t.id, {1: "one"}, "many")), None)],
    "`hash_join`, `merge_join`, `nested_loop_join`, `top_n`, `expand`, `window`": [
        (T.select("id", "k").hash_join(U, "k"), None),
        (T.select("id", "k").sort("k").merge_join(U.sort("k"), "k"), None),
        (T.select("id").nested_loop_join(U, lambda t, u: t.id < u.k), None),
        (U.top_n(2, "name"), None),
        (U.expand(k=sd.switching(sd.col("k"), None), name=sd.col("name")), None),
        (T.select("id", "k").window(partition_by="k", order_by="id", r=f.rank()), None),
    ],
    "`exchange`": [(U.exchange(sd.scatter("k"), partition_count=2), ALL_OF_U)],
    "`read_virtual`": [(sd.read_virtual([(1, "x"), (2, None)], {"a": "i64", "b": "string?"}), [(1, "x"), (2, None)])],
    "`read_named(..., filter=)`": [(sd.read_named("u", U.schema, filter=lambda u: u.k > 1), ALL_OF_U[1:])],
    "`read_named(..., columns=)`": [
        (sd.read_named("u", U.schema, columns=["name"]), [(name,) for _, name in ALL_OF_U])
    ],
    "`read_named(..., ordering=)`, optimizations of others": [
        (sd.read_named("u", U.schema, ordering=["k"]), ALL_OF_U),
        (U.with_extension(common=sd.AdvancedExtension((MESSAGE,))), ALL_OF_U),
    ],
    "enhancements of others, which must not be ignored": [
        (U.with_extension(common=sd.AdvancedExtension(enhancement=MESSAGE)), None)
    ],
    "`shared`; several roots": [
        (sd.shared(U).cross(sd.shared(U)), None),
        (sd.Plan(U, U.select("k")), None),
    ],
    "parameters": [(sd.Plan(U.filter(lambda u: u.k == sd.parameter(1, sd.I64)), parameter_bindings={1: 9}), None)],
    "`f.like`, `f.upper`": [
        (T.filter(lambda t: f.like(t.s, "%b")).select("id"), [(1,), (4,)]),
        (T.select(u=lambda t: f.upper(t.s)), [("AB",), ("BA",), (None,), ("B",)]),
    ],
    '`f.extract("YEAR", day)`': [
        (T.select("id", y=lambda t: f.extract("YEAR", t.day)), [(1, 2020), (2, 2021), (3, None), (4, 2020)])
    ],
    "`f.concat` with a NULL": [(T.select(c=lambda t: f.concat(t.s, "!")), [("ab!",), ("Ba!",), (None,), ("b!",)])],
    'the option `overflow="SATURATE"`': [
        (T.select(n=lambda t: f.add(t.n, sd.lit(2**31 - 1, sd.I32), overflow="SATURATE")), [(2**31 - 1,)] * 4)
    ],
}
"""What the page has a row for, and what the specification says it gives."""


@functools.cache
def session() -> SessionContext:
    from datafusion import SessionContext

    context = SessionContext()
    for name, data in DATA.items():
        context.register_record_batches(name, [data.to_batches()])
    return context


def run_datafusion(data: bytes) -> pa.Table:
    from datafusion.substrait import Consumer, Serde

    plan = Consumer.from_substrait_plan(session(), Serde.deserialize_bytes(data))
    return session().create_dataframe_from_logical_plan(plan).to_arrow_table()


def run_pyarrow(data: bytes) -> pa.Table:
    def provider(names: list[str], schema: object) -> pa.Table:
        return DATA[names[0]]

    return import_module("pyarrow.substrait").run_query(data, table_provider=provider).read_all()


def outcome(run: Callable[[bytes], pa.Table], case: Case) -> str:
    what, expected = case
    plan = what if isinstance(what, sd.Plan) else what.to_plan()
    try:
        result = run(plan.to_bytes())
    except Exception:  # engines have errors of many kinds
        return "refused"
    rows = list(zip(*(column.to_pylist() for column in result.columns), strict=True))
    is_ordered = isinstance(what, sd.Relation) and what.properties.ordering
    is_right = expected is not None and (rows == expected if is_ordered else Counter(rows) == Counter(expected))
    return "yes" if is_right else "**wrong**"


@pytest.mark.usefixtures("datafusion")
@pytest.mark.parametrize("name", PAGES)
def test_the_examples_of_the_page(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = DOCS / name
    for file, text in re.findall(r"`(\w+\.yaml)`:\n\n```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        Path(file).write_text(text, encoding="utf-8")
    done = doctest.testfile(str(page), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert done.attempted >= PAGES[name]
    assert done.failed == 0


@pytest.mark.usefixtures("datafusion")
@pytest.mark.parametrize("feature", CASES)
def test_engines_take_what_the_page_says(feature: str) -> None:
    [(datafusion, pyarrow)] = re.findall(rf"^\| {re.escape(feature)} \| (\S+) \| (\S+) \|$", ENGINES, re.MULTILINE)
    assert {outcome(run_datafusion, case) for case in CASES[feature]} == {datafusion}
    assert {outcome(run_pyarrow, case) for case in CASES[feature]} == {pyarrow}


def test_the_page_has_a_row_for_each_feature_and_no_others() -> None:
    assert len(CASES) == len(re.findall(r"^\| [^|]+ \| [^|]+ \| [^|]+ \|$", ENGINES, re.MULTILINE))


def test_the_versions_of_the_page_are_those_that_are_measured() -> None:
    said = TEXT.partition("<!-- versions -->")[2].partition("<!-- end -->")[0]
    found = [version(name) for name in ("datafusion", "pyarrow", "substrait")]
    assert said == "DataFusion {}, pyarrow {} and substrait {}".format(*found)


@pytest.mark.usefixtures("datafusion")
def test_the_queries_that_datafusion_takes_are_counted() -> None:
    from datafusion import SessionContext
    from datafusion.substrait import Consumer, Serde

    context = SessionContext()
    for name, rel in TABLES.items():
        context.register_record_batches(name, [[pa.RecordBatch.from_pylist([], rel.schema.to_arrow())]])

    def refusals(outer_references: OuterReferences) -> list[str]:
        found: list[str] = []
        for query in QUERIES.values():
            plan = Serde.deserialize_bytes(query().to_plan().to_bytes(outer_references=outer_references))
            try:
                context.create_dataframe_from_logical_plan(Consumer.from_substrait_plan(context, plan)).collect()
            except Exception as error:  # DataFusion's errors are bare
                found.append(str(error))
        return found

    refused = refusals("rel_reference")
    assert len(QUERIES) - len(refused) == 13
    assert sum("OuterReference" in text for text in refused) == 6
    assert sum("non-Value type" in text for text in refused) == 3
    assert ["non-Value type" in text for text in refusals("steps_out")] == [True] * 3


def test_the_inference_of_the_package_agrees() -> None:
    relations = [what for cases in CASES.values() for what, _ in cases if isinstance(what, sd.Relation)]
    for relation in relations:
        message = relation.to_plan().to_proto()
        assert infer_plan_schema(message).struct.types == relation.schema.to_proto().struct.types
    with pytest.raises(Exception, match="write"):
        infer_plan_schema(U.write("v").to_plan().to_proto())


def filtered(steps: int) -> Any:
    return functools.reduce(lambda rel, number: rel.filter(lambda u: u.k != number), range(100, 100 + steps), U)


def summed(additions: int) -> Any:
    return U.select(k=lambda u: functools.reduce(lambda sum_, _: sum_ + u.k, range(additions), u.k))


def test_a_plan_is_cut_at_the_depths_that_the_page_says() -> None:
    def trees(rel: Any) -> int:
        return len(rel.to_plan().to_proto().relations)

    def detached(rel: Any) -> int:
        return len(rel.to_plan().to_proto().relations[0].detached_expressions)

    assert (trees(filtered(45)), trees(filtered(46))) == (1, 2)
    assert (detached(summed(30)), detached(summed(31))) == (0, 1)
    wide = U.filter(lambda u: functools.reduce(lambda any_, n: any_ | (u.k == n), range(500), u.k == 500))
    assert (trees(wide), detached(wide)) == (1, 0)


@pytest.mark.usefixtures("datafusion")
@pytest.mark.parametrize("run", [run_datafusion, run_pyarrow])
def test_engines_take_plans_that_are_not_cut(run: Callable[[bytes], pa.Table]) -> None:
    assert outcome(run, (filtered(45), ALL_OF_U)) == "yes"
    assert outcome(run, (filtered(46), ALL_OF_U)) == "refused"
    assert outcome(run, (summed(30), [(31 * k,) for k, _ in ALL_OF_U])) == "yes"
    assert outcome(run, (summed(31), [(32 * k,) for k, _ in ALL_OF_U])) == "refused"
