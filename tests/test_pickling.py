"""What people build pickles and copies: across processes, to any depth, and with what is shared still shared."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle
import re
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import errors, partiql
from substrait_dsl.algebra.node import Node, walk
from substrait_dsl.fluent.execution import Running
from tests.support import f

ORDERS = sd.read_named(
    "orders",
    {"id": "i64", "price": "decimal<15,2>?", "tags": "list<string?>?", "s": "struct<i64, string>?", "b": "i32?"},
)
ROWS = sd.read_virtual([(1, "a"), (2, None)], {"a": "i64", "c": "string?"})
X = sd.col("id")
EXTENSION = """\
urn: extension:x:y
scalar_functions:
  - name: shout
    impls: [{args: [{value: string}], return: string}, {args: [{value: i64}], return: i64}]
  - name: before
    impls: [{args: [{value: any1}, {value: any1}], return: i32}]
"""
MINE = sd.Functions(sd.standard_catalog().with_extension(EXTENSION))


class Orders(sd.Schema):
    id: sd.I64
    b: sd.Nullable[sd.I32]


EXPRESSIONS: Mapping[str, Callable[[], Any]] = {
    "col": lambda: X,
    "position": lambda: sd.col(1),
    "column of a relation": lambda: ORDERS.c.id,
    "column of a schema class": lambda: Orders.id,
    "alias": lambda: X.alias("y"),
    "operators": lambda: -(X + 1) * 2 > 3,
    "logic": lambda: (X > 1) & ~(X < 5) | sd.col("b").is_null(),
    "literal": lambda: sd.lit([1, None], "list<i64?>"),
    "null": lambda: sd.null("i64"),
    "cast": lambda: X.cast("i32", on_failure="return_null"),
    "assert_not_null": lambda: sd.col("price").assert_not_null(),
    "keep": lambda: sd.col("s").keep(0),
    "part": lambda: sd.col("tags")[0],
    "is_in": lambda: X.is_in([1, sd.col("id") + 1]),
    "is_in of a relation": lambda: X.is_in(ROWS.select("a")),
    "record": lambda: sd.record(X, sd.col("b")).is_in([(1, 2), (3, None)]),
    "record in a relation": lambda: sd.record(X).is_in(ROWS.select("a")),
    "any_of": lambda: sd.any_of(ROWS.select("a")) == X,
    "between": lambda: X.between(1, sd.col("b").cast("i64")),
    "when": lambda: sd.when(X > 1).then(2).when(X > 0).then(X).otherwise(None),
    "switch": lambda: sd.switch(X, {1: "a", 2: None}, default="b"),
    "exists": lambda: sd.exists(ROWS),
    "scalar_subquery": lambda: sd.scalar_subquery(ROWS.select("a")),
    "struct_of": lambda: sd.struct_of(a=X, b=2),
    "list_of": lambda: sd.list_of(X, 3),
    "map_of": lambda: sd.map_of([("a", X), ("b", 1)]),
    "function": lambda: f.coalesce(X, sd.null("i64"), 5),
    "options": lambda: f.add(X, 1, overflow="SATURATE"),
    "function of an extension": lambda: MINE.shout(X),
    "lambda": lambda: f.transform(sd.col("tags"), lambda tag: f.concat(tag, sd.col("s")[1])),
    "lambda in a lambda": lambda: f.transform(
        sd.col("tags"), lambda t: f.transform(sd.col("tags"), lambda u: f.concat(t, u))
    ),
    "lambda_": lambda: sd.lambda_({"x": "i64"}, lambda x: x + sd.col("id"))(X),
    "window": lambda: f.row_number().over(partition_by=["b", sd.col("id") % 2], order_by=sd.desc(X)),
    "window with a frame": lambda: f.sum(X).over(order_by=["id", "b"], rows=(-3, sd.following(X))),
    "window with a range": lambda: f.sum(X).over(order_by="id", range=(sd.preceding(5), 0)),
    "parameter": lambda: sd.parameter(1, "i64"),
    "current_timestamp": lambda: sd.current_timestamp(3),
    "extended expression": lambda: sd.ExtendedExpression(ORDERS, t=lambda r: r.id + 1).expression("t"),
}
"""Expressions that wait for their row, and such that have none."""

MEASURES: Mapping[str, Callable[[], Any]] = {
    "measure": lambda: f.count(X),
    "distinct": lambda: f.sum(X).distinct(),
    "filter": lambda: f.sum(X).filter(sd.col("b") > 1),
    "order_by": lambda: f.any_value(X).order_by("b", sd.desc(X)),
    "alias": lambda: f.max(X).alias("other"),
}

KEYS: Mapping[str, Callable[[], Any]] = {
    "asc": lambda: sd.asc("id", nulls="last"),
    "desc": lambda: sd.desc(X + 1),
    "clustered": lambda: sd.clustered("id"),
    "compared": lambda: sd.compared("id", MINE.before),
}

RELATIONS: Mapping[str, Callable[[], Any]] = {
    "named": lambda: ORDERS,
    "virtual": lambda: ROWS,
    "files": lambda: sd.read_files(["a.orc", "b.orc"], {"a": "i64"}, format=sd.Orc()),
    "iceberg": lambda: sd.read_iceberg("s3://x/m.json", {"a": "i64"}),
    "leaf": lambda: sd.extension_leaf(sd.AnyMessage("type.googleapis.com/x.Y", b"1"), {"a": "i64"}),
    "filter": lambda: ORDERS.filter(lambda r: r.id > 1),
    "correlated": lambda: ORDERS.filter(lambda r: sd.exists(ROWS.filter(lambda q: q.a == r.id))),
    "lateral": lambda: ORDERS.lateral_join(lambda r: ROWS.filter(lambda q: q.a == r.id)),
    "join": lambda: ORDERS.join(ROWS, lambda left, right: left.id == right.a, how="left"),
    "aggregate": lambda: ORDERS.aggregate("b", n=f.count(X)).sort("b").limit(3),
    "shared": lambda: (lambda s: s.union_all(s.filter(X > 1)))(sd.shared(ORDERS)),
    "exchange": lambda: ORDERS.exchange(sd.scatter("id")),
    "write": lambda: ROWS.write("t", "ctas"),
    "definition": lambda: sd.create_table("t", {"a": "i64"}),
    "update": lambda: sd.update("t", {"a": "i64"}, {"a": lambda r: r.a + 1}, where=True),
    "root of a plan": lambda: sd.Plan.from_bytes(ORDERS.to_plan().to_bytes()).roots[0],
    "root with settings": lambda: sd.Plan(
        ORDERS.filter(sd.parameter(1, "i64") < X), parameter_bindings={1: 5}, evaluation_mode="per_record"
    ).roots[0],
}

EXCHANGES: Mapping[str, Callable[[], Any]] = {
    "scatter": lambda: sd.scatter("id", sd.col("b")),
    "single_bucket": lambda: sd.single_bucket(sd.lit(1, "i32")),
    "multi_bucket": lambda: sd.multi_bucket(sd.list_of(sd.col("b"))),
    "round_robin": lambda: sd.round_robin(exact=True),
    "broadcast": sd.broadcast,
}

OTHERS: Mapping[str, Callable[[], Any]] = {
    "type": lambda: sd.parse_type("list<struct<i64, decimal<15,2>?>>?"),
    "schema": lambda: ORDERS.schema,
    "row": lambda: ORDERS.c,
    "properties": lambda: ORDERS.sort("id").properties,
    "begun condition": lambda: sd.when(X > 1),
    "condition without otherwise": lambda: sd.when(X > 1).then(2),
    "record": lambda: sd.record(X, sd.col("b")),
    "window function": f.row_number,
    "window function with a frame": lambda: f.sum(X).frame(rows=(-3, sd.following(X))),
    "offset": lambda: sd.preceding(X),
    "lambda": lambda: sd.lambda_({"x": "i64"}, lambda x: x + 1),
    "function": lambda: f.add,
    "functions": lambda: MINE,
    "group_by": lambda: ORDERS.group_by("id"),
    "join_key": lambda: sd.join_key("id"),
    "elements": lambda: sd.elements(first=5),
    "files_target": lambda: sd.files_target("out/{id}", "parquet"),
    "subtree": lambda: sd.subtree(ORDERS),
    "extended": lambda: sd.ExtendedExpression(ORDERS, t=lambda r: r.id + 1),
    "accesses": lambda: ORDERS.to_plan().accesses(),
    "requirements": lambda: ORDERS.to_plan().requirements(),
    "schema class": lambda: Orders,
}

WAYS: Mapping[str, Callable[[Any], Any]] = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "oldest protocol": lambda value: pickle.loads(pickle.dumps(value, protocol=0)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def same(left: sd.Relation[Any], right: sd.Relation[Any]) -> bool:
    """Whether two relations say the same, and derive the same for each of their nodes."""
    assert left.to_plan() == right.to_plan()
    return same_nodes(left._rel, right._rel)


def same_nodes(left: Node, right: Node) -> bool:
    derived = ("type", "schema", "properties", "free_anchors", "height", "size", "inside", "anchor", "common", "shared")
    pairs = list(zip(walk(left), walk(right), strict=True))
    assert left == right
    for mine, theirs in pairs:
        for name in (*derived, "settings"):
            assert getattr(mine, name, None) == getattr(theirs, name, None)
    return True


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(name: str, way: str) -> None:
    expression = EXPRESSIONS[name]()
    again = WAYS[way](expression)
    assert repr(again) == repr(expression)
    if name == "column of a relation":  # it belongs to that very relation, which went with it
        relation, again = WAYS[way]((ORDERS, expression))
        assert same(relation.select(z=again), ORDERS.select(z=expression))
        return
    assert same(ORDERS.with_columns(z=again), ORDERS.with_columns(z=expression))


@pytest.mark.parametrize("name", MEASURES)
def test_measures(name: str) -> None:
    measure = MEASURES[name]()
    again = WAYS["pickle"](measure)
    assert same(ORDERS.aggregate("b", n=again), ORDERS.aggregate("b", n=measure))
    assert WAYS["deepcopy"](measure) is measure


@pytest.mark.parametrize("name", KEYS)
def test_sort_keys(name: str) -> None:
    key = KEYS[name]()
    assert same(ORDERS.sort(WAYS["pickle"](key)), ORDERS.sort(key))


@pytest.mark.parametrize("name", EXCHANGES)
def test_exchanges(name: str) -> None:
    kind = EXCHANGES[name]()
    assert same(ORDERS.exchange(WAYS["pickle"](kind)), ORDERS.exchange(kind))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", RELATIONS)
def test_relations_and_plans(name: str, way: str) -> None:
    relation = RELATIONS[name]()
    assert same(WAYS[way](relation), relation)
    plan = relation.to_plan()
    again = WAYS[way](plan)
    assert again == plan
    assert again.to_bytes() == plan.to_bytes()
    assert str(again) == str(plan)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", OTHERS)
def test_other_values(name: str, way: str) -> None:
    value = OTHERS[name]()
    again = WAYS[way](value)
    assert type(again) is type(value)
    assert re.sub(" at 0x[0-9a-f]+", "", repr(again)) == re.sub(" at 0x[0-9a-f]+", "", repr(value))


def test_findings_of_a_plan_that_was_read() -> None:
    message = ORDERS.to_plan().to_proto()
    message.relations[0].root.input.read.named_table.names[:] = []
    message.relations[0].root.input.read.named_table.names.append("t")
    message.version.producer = "somebody"
    plan = sd.Plan.from_proto(message)
    again = WAYS["pickle"](plan)
    assert (again.findings, again.version) == (plan.findings, plan.version)


def test_the_pickler_in_python_writes_the_same() -> None:
    relation = RELATIONS["correlated"]()
    assert same(pickle.loads(pickle._dumps(relation)), relation)  # type: ignore[attr-defined]  # no stub has it


def test_what_is_shared_stays_shared() -> None:
    shared = sd.shared(ORDERS.filter(X > 1))
    one, other = WAYS["pickle"]((shared.limit(1), shared.sort("id")))
    assert one._rel.inputs[0] is other._rel.inputs[0]
    assert sd.Plan(one, other) == sd.Plan(shared.limit(1), shared.sort("id"))
    doubled = ORDERS
    for _ in range(60):  # 2**60 steps, if each were written as often as it is used
        doubled = doubled.union_all(doubled)
    data = pickle.dumps(doubled)
    assert len(data) < 10_000
    assert same_nodes(pickle.loads(data)._rel, doubled._rel)


def test_a_catalogue_goes_along_with_its_extensions() -> None:
    assert WAYS["pickle"](sd.standard_catalog()) is sd.standard_catalog()
    catalog = WAYS["pickle"](MINE)._catalog
    assert catalog.urns == MINE._catalog.urns
    assert catalog.named("shout") == MINE._catalog.named("shout")
    assert catalog.chosen(catalog.urns[0])[0] is sd.standard_catalog().chosen(catalog.urns[0])[0]
    assert len(pickle.dumps(f.add(X, 1))) < 1_000  # the specification's own functions are not in it


def chain(steps: int) -> tuple[Any, Any, Any]:
    relation, expression, nested = ORDERS, X, X
    for number in range(steps):
        relation = relation.filter(sd.col("id") > number)
        expression = expression + number
        nested = sd.struct_of(x=nested)
    return relation, expression, nested


def test_five_thousand_steps_and_a_linear_size() -> None:
    few, many = chain(1_000), chain(5_000)
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(len(inspect.stack()) + 80)
        for short, long in zip(few, many, strict=True):
            data = pickle.dumps(long)
            assert len(data) < 6 * len(pickle.dumps(short))
            again = pickle.loads(data)
            assert copy.deepcopy(long) is long
            if isinstance(long, sd.Relation):
                assert again._rel == long._rel
    finally:
        sys.setrecursionlimit(limit)
    relation = pickle.loads(pickle.dumps(many[0].to_plan())).roots[0]
    assert same_nodes(relation._rel, many[0]._rel)
    again = pickle.loads(pickle.dumps(few[1]))
    assert ORDERS.select(z=again)._rel == ORDERS.select(z=few[1])._rel


def test_a_row_inside_a_lambda_is_refused() -> None:
    kept: list[Any] = []

    def condition(row: Any) -> Any:
        inner = ROWS.filter(lambda q: q.a == row.id)
        kept.extend([row, row.id, row.id + X, f.count(row.id), sd.when(row.id > 1)])
        with pytest.raises(errors.InvalidArgumentError, match="a relation that refers to the row of a lambda cannot"):
            pickle.dumps(inner)
        return sd.exists(inner)

    ORDERS.filter(condition)
    for value in kept:
        with pytest.raises(errors.InvalidArgumentError, match="the row that filter passed to its lambda cannot be pic"):
            pickle.dumps(value)
        assert repr(copy.deepcopy(value)) == repr(value)


def test_what_runs_is_refused() -> None:
    running = Running("running", None, None, progress=False)  # type: ignore[arg-type]  # nothing is asked of it
    with pytest.raises(errors.InvalidArgumentError, match="what runs in a session cannot be pickled"):
        pickle.dumps(running)


def test_every_error() -> None:
    kinds = [each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, sd.SubstraitDslError)]
    assert len(kinds) > 15
    for kind in kinds:
        error = kind("a message", hint="a hint")
        error.path, error.verb, error.place = "line 2, column 7", "filter", 'column "x"'
        error.__dict__.update(step="filter", expression="x > 1", line=2, column=7)
        for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
            assert type(again) is kind
            assert str(again) == str(error)
            assert vars(again) == vars(error)
    with pytest.raises(errors.NotationError) as caught:
        partiql.parse_bindings("SCAN(")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def work(task: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, bytes]:
    relation, expression, measure, plan = task
    made = relation.with_columns(z=expression).aggregate("b", n=measure)
    return made, expression, plan.to_bytes()


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_pool_of_processes(method: str) -> None:
    relation, expression, measure = ORDERS.filter(X > 1), EXPRESSIONS["window"](), MEASURES["filter"]()
    plan = RELATIONS["correlated"]().to_plan()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        made, back, data = pool.submit(work, (relation, expression, measure, plan)).result(timeout=60)
        with pytest.raises(errors.UnknownFieldError, match='there is no column "nope"'):
            pool.submit(work, (relation, sd.col("nope"), measure, plan)).result(timeout=60)
    assert same(made, relation.with_columns(z=expression).aggregate("b", n=measure))
    assert same(relation.with_columns(z=back), relation.with_columns(z=expression))
    assert data == plan.to_bytes()
