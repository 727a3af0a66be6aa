"""A tour on Spark: every verb, every function that makes a relation, and every relation, once, with its rows by hand.

It is what a run that is to be short has of each; the modules beside this one say the rest. A test holds the tables to
what there is, so that a new verb has its line here.
"""

from __future__ import annotations

import inspect
import itertools
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl import api
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.fluent.grouping import GroupBy
from tests.spark.rows import values
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"id": "i64", "key": "i64?", "name": "string"}
ADA, BOB, EVE = (1, 10, "ada"), (2, 20, "bob"), (3, None, "ada")
T = values(COLUMNS, ADA, BOB, EVE)
TEN, TWENTY, ZWANZIG = (10, "ten"), (20, "twenty"), (20, "zwanzig")
U = values({"number": "i64", "label": "string"}, TEN, TWENTY, ZWANZIG)
LISTS = values({"id": "i64", "xs": "list<i64>"}, (1, [5, 6]), (2, []))
DETAIL = sd.AnyMessage("type.googleapis.com/acme.Rule")
NUMBERS = itertools.count()

Rows = list[tuple[Any, ...]]


class Person(sd.Schema):
    id: sd.I64
    key: sd.Nullable[sd.I64]
    name: sd.String


class Label(sd.Schema):
    text: sd.String


@attrs.frozen
class Place:
    """What a stop of the tour may use: a session, an empty folder, and a name that no table has."""

    spark: SparkSession
    folder: Path
    name: str
    ran: list[Rel] = attrs.field(factory=list)
    """What was executed on the way, for what it changes."""

    def run(self, *relations: Any) -> None:
        """Execute relations for what they change."""
        for relation in relations:
            relation.execute(self.spark)
            self.ran.append(relation._rel)

    def stored(self) -> Any:
        """A table of Spark with the rows of `T`; what reads it."""
        self.run(sd.create_table(self.name, COLUMNS), T.write(self.name))
        return sd.read_named(self.name, COLUMNS)


def same(x: Any, y: Any) -> Any:
    """Whether a person's key is a number."""
    return x.key == y.number


Stop = tuple[Callable[[Place], Any], Rows]

VERBS: dict[str, Stop] = {
    "Relation.filter": (lambda _: T.filter(lambda x: x.key > 10), [BOB]),
    "Relation.select": (lambda _: T.select("name", twice=lambda x: x.id * 2), [("ada", 2), ("bob", 4), ("ada", 6)]),
    "Relation.drop": (lambda _: T.drop("id", "key"), [("ada",), ("bob",), ("ada",)]),
    "Relation.rename": (lambda _: T.rename({"id": "number"}).select("number"), [(1,), (2,), (3,)]),
    "Relation.with_columns": (lambda _: T.with_columns(id=lambda x: -x.id).select("id"), [(-1,), (-2,), (-3,)]),
    "Relation.project": (lambda _: T.project(next=lambda x: x.id + 1), [(*ADA, 2), (*BOB, 3), (*EVE, 4)]),
    "Relation.emit": (lambda _: T.emit([2, 0, 2]), [("ada", 1, "ada"), ("bob", 2, "bob"), ("ada", 3, "ada")]),
    "Relation.into": (lambda _: T.into(lambda x: Label(text=x.name)), [("ada",), ("bob",), ("ada",)]),
    "Relation.as_": (lambda _: T.as_(Person).filter(lambda x: x.id == 3), [EVE]),
    "Relation.sort": (lambda _: T.sort("name", sd.desc("id")), [EVE, ADA, BOB]),
    "Relation.fetch": (lambda _: T.sort("id").fetch(1, 1), [BOB]),
    "Relation.limit": (lambda _: T.sort(sd.desc("id")).limit(2), [EVE, BOB]),
    "Relation.top_n": (lambda _: T.top_n(1, sd.desc("name")), [BOB]),
    "Relation.distinct": (lambda _: T.select("name").distinct(), [("ada",), ("bob",)]),
    "Relation.first_of": (lambda _: T.first_of(1, partition_by="name", order_by=sd.desc("id")), [EVE, BOB]),
    "Relation.drop_nulls": (lambda _: T.drop_nulls("key"), [ADA, BOB]),
    "Relation.fill_null": (lambda _: T.fill_null(key=0).select("key"), [(10,), (20,), (0,)]),
    "Relation.value_counts": (lambda _: T.value_counts("name"), [("ada", 2), ("bob", 1)]),
    "Relation.describe": (
        lambda _: T.select("id", "name").describe(percentiles=[0.5]).drop("type", "std_dev"),
        [("id", 3, 0, 3, 2.0, "1", "2", "3"), ("name", 3, 0, 2, None, "ada", None, "bob")],
    ),
    "Relation.unpivot": (
        lambda _: T.select("id", "key").filter(lambda x: x.id > 1).unpivot("id", "key"),
        [("id", 2), ("key", 20), ("id", 3), ("key", None)],
    ),
    "Relation.aggregate": (lambda _: T.aggregate("name", n=f.count(sd.col("key"))), [("ada", 1), ("bob", 1)]),
    "Relation.group_by": (lambda _: T.group_by("name").agg(n=f.count()), [("ada", 2), ("bob", 1)]),
    "GroupBy.agg": (lambda _: T.group_by("name").agg(total=lambda x: f.sum(x.id)), [("ada", 4), ("bob", 2)]),
    "GroupBy.pivot": (
        lambda _: T.group_by("name").pivot("id", {"first": 1, "second": 2}, f.count()),
        [("ada", 1, 0), ("bob", 0, 1)],
    ),
    "GroupBy.rollup": (
        lambda _: T.group_by("name").rollup(n=f.count()).select("name", "n"),
        [("ada", 2), ("bob", 1), (None, 3)],
    ),
    "GroupBy.cube": (
        lambda _: T.group_by("name").cube(n=f.count()).select("name", "n"),
        [("ada", 2), ("bob", 1), (None, 3)],
    ),
    "Relation.join": (lambda _: T.join(U, same), [(*ADA, *TEN), (*BOB, *TWENTY), (*BOB, *ZWANZIG)]),
    "Relation.hash_join": (lambda _: T.hash_join(U, same, "left_anti"), [EVE]),
    "Relation.merge_join": (
        lambda _: T.sort("key").merge_join(U.sort("number"), same, "left_semi"),
        [ADA, BOB],
    ),
    "Relation.nested_loop_join": (
        lambda _: T.nested_loop_join(U, lambda x, y: x.id + 9 > y.number, "left_mark", mark="m").select("id", "m"),
        [(1, False), (2, True), (3, True)],
    ),
    "Relation.cross": (lambda _: T.select("id").cross(LISTS.select("id")).aggregate(n=f.count()), [(6,)]),
    "Relation.asof_join": (
        lambda _: T.select("id").asof_join(U, on=("id", "number"), direction="forward"),
        [(1, 10, "ten"), (2, 10, "ten"), (3, 10, "ten")],
    ),
    "Relation.lateral_join": (
        lambda _: T.select("id", "key").lateral_join(
            lambda x: U.filter(lambda y: y.number == x.key).aggregate(n=f.count())
        ),
        [(1, 10, 1), (2, 20, 2), (3, None, 0)],
    ),
    "Relation.unnest": (lambda _: LISTS.unnest("xs").select("id", "element", "offset"), [(1, 5, 0), (1, 6, 1)]),
    "Relation.set_op": (
        lambda _: U.select("number").set_op("minus_primary_all", values({"n": "i64"}, (20,))),
        [(10,), (20,)],
    ),
    "Relation.union": (lambda _: T.select("name").union(U.select("label").limit(0)), [("ada",), ("bob",)]),
    "Relation.union_all": (lambda _: LISTS.select("id").union_all(LISTS.select("id")), [(1,), (2,), (1,), (2,)]),
    "Relation.intersect": (lambda _: T.select("id").intersect(LISTS.select("id")), [(1,), (2,)]),
    "Relation.subtract": (lambda _: T.select("id").subtract(LISTS.select("id")), [(3,)]),
    "Relation.window": (
        lambda _: T.window(partition_by="name", order_by="id", place=f.row_number()).select("id", "place"),
        [(1, 1), (2, 1), (3, 2)],
    ),
    "Relation.expand": (
        lambda _: T.select("id").expand(id=sd.col("id"), side=sd.switching("a", "b")).filter(lambda x: x.id == 1),
        [(1, "a", 0), (1, "b", 1)],
    ),
    "Relation.exchange": (lambda _: T.exchange(sd.scatter("id"), partition_count=2), [ADA, BOB, EVE]),
    "Relation.merging_capture": (
        lambda _: T.sort("id").exchange(sd.round_robin(), partition_count=2).merging_capture(),
        [ADA, BOB, EVE],
    ),
    "Relation.simple_capture": (lambda _: T.exchange(sd.round_robin()).simple_capture(), [ADA, BOB, EVE]),
    "Relation.hint": (lambda _: T.hint(row_count=3, alias="people"), [ADA, BOB, EVE]),
    "Relation.with_extension": (
        lambda _: T.filter(sd.lit(True)).with_extension(sd.AdvancedExtension((DETAIL,))),
        [ADA, BOB, EVE],
    ),
    "Relation.write": (lambda place: T.write(place.name, "ctas", output="modified_records"), [ADA, BOB, EVE]),
}
"""By verb: a pipeline, and its rows; in their order if the pipeline says one."""

FUNCTIONS: dict[str, Stop] = {
    "read_named": (lambda place: place.stored().select("name", "id"), [("ada", 1), ("bob", 2), ("ada", 3)]),
    "read_virtual": (lambda _: sd.read_virtual([(1, None)], {"a": "i32", "b": "date?"}), [(1, None)]),
    "from_arrow": (lambda _: sd.from_arrow(pa.table({"a": [1, None]})), [(1,), (None,)]),
    "read_csv": (lambda place: typed_text(place), [ADA, BOB, EVE]),
    "read_files": (lambda place: files(place), [ADA, BOB, EVE]),
    "read_json": (lambda place: json_lines(place), [ADA, BOB, EVE]),
    "read_iceberg": (lambda place: iceberg(place), [(1,), (2,)]),
    "create_table": (lambda place: place.stored().write(place.name, output="modified_records"), [ADA, BOB, EVE]),
    "alter_table": (lambda place: altered(place), [(*ADA, None), (*BOB, None), (*EVE, None)]),
    "drop_table": (lambda place: dropped(place), [(7,)]),
    "create_view": (lambda place: view(place, sd.create_view), [BOB]),
    "alter_view": (lambda place: view(place, sd.create_view, sd.alter_view), [BOB]),
    "drop_view": (lambda place: view(place, sd.create_view, lambda name, _: sd.drop_view(name), sd.create_view), [BOB]),
    "shared": (lambda _: twice(sd.shared(T.select("id"))), [(1,), (2,), (3,), (1,), (2,), (3,)]),
    "subtree": (lambda place: changed_before(place), [ADA, BOB, EVE, (7, None, "new")]),
    "exists": (lambda _: T.filter(lambda x: sd.exists(U.filter(lambda y: same(x, y)))), [ADA, BOB]),
    "unique": (
        lambda _: T.filter(lambda x: sd.unique(U.filter(lambda y: same(x, y)).select("number"))),
        [ADA, EVE],
    ),
    "scalar_subquery": (
        lambda _: T.select("id", n=lambda x: sd.scalar_subquery(U.aggregate(n=f.max(sd.col("number"))))),
        [(1, 20), (2, 20), (3, 20)],
    ),
    "any_of": (lambda _: T.filter(lambda x: x.key == sd.any_of(U.select("number"))), [ADA, BOB]),
    "all_of": (lambda _: T.filter(lambda x: x.key >= sd.all_of(U.select("number"))), [BOB]),
}
"""By function of the library that takes or gives a relation."""

ELSEWHERE = ("check_all", "diff", "schema_of", "from_sql")
"""Functions that run nothing, and one that needs DataFusion: its queries run in `tests/producers`."""

REFUSED: dict[str, tuple[Callable[[Place], Any], str]] = {
    "Relation.extension_single": (lambda _: T.extension_single(DETAIL, COLUMNS), "an extension single"),
    "extension_leaf": (lambda _: sd.extension_leaf(DETAIL, COLUMNS), "an extension leaf"),
    "extension_multi": (lambda _: sd.extension_multi([T, U], DETAIL, COLUMNS), "an extension multi"),
    "read_extension": (lambda _: sd.read_extension(DETAIL, COLUMNS), "an extension table"),
    # rows change in tables of Iceberg, which tests/lake has; not in those of Spark itself
    "update": (lambda place: updated(place), "update"),
}
"""What Spark does not run: by name, with a word of the refusal."""

RUN = ("collect", "execute", "explain", "running", "show", "to_arrow", "to_pandas", "to_plan", "to_polars")
"""Verbs that run a relation, or show it; `test_every_way_to_run` has them."""

DESCRIBED = (
    "as_value",
    "c",
    "check",
    "columns",
    "lineage",
    "properties",
    "schema",
    "to_sql",
    "to_mermaid",
    "to_graphviz",
    "to_html",
)
"""What a relation says of itself and of engines; and it as a value of another algebra. Spark has no part in it."""


def typed_text(place: Place) -> sd.Relation[Any]:
    place.folder.mkdir(exist_ok=True)
    (place.folder / "in.csv").write_text("id,key,name\n1,10,ada\n2,20,bob\n3,,ada\n")
    return sd.read_csv(place.folder / "in.csv", COLUMNS)


def json_lines(place: Place) -> sd.Relation[Any]:
    place.folder.mkdir(exist_ok=True)
    rows = ('{"id": 1, "key": 10, "name": "ada"}', '{"name": "bob", "key": 20, "id": 2}', '{"id": 3, "name": "ada"}')
    (place.folder / "in.jsonl").write_text("\n".join(rows))
    return sd.read_json(place.folder / "in.jsonl", COLUMNS)


def files(place: Place) -> Any:
    path = str(place.folder / "t")
    place.run(T.write(sd.files_target(path, "parquet"), "ctas"))
    return sd.read_files(path, COLUMNS, kind="folder")


def iceberg(place: Place) -> Any:
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog

    place.folder.mkdir()
    catalog = SqlCatalog("tour", uri="sqlite://", warehouse=place.folder.as_uri())
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", pa.schema({"id": pa.int64()}))
    table.append(pa.table({"id": [1, 2]}))
    return sd.read_iceberg(table.metadata_location, {"id": "i64?"})


def altered(place: Place) -> Any:
    place.stored()
    columns = {**COLUMNS, "note": "string?"}
    place.run(sd.alter_table(place.name, columns))
    return sd.read_named(place.name, columns)


def dropped(place: Place) -> Any:
    """A table of other columns under the name of one that was dropped."""
    place.stored()
    place.run(sd.drop_table(place.name))
    return values({"n": "i64"}, (7,)).write(place.name, "ctas", output="modified_records")


def view(place: Place, *changes: Callable[[str, Any], Any]) -> Any:
    """A view of all the rows of a table, then of one of them."""
    table = place.stored()
    name = f"{place.name}_view"
    for change in changes:
        last = change is changes[-1]
        place.run(change(name, table.filter(lambda x: x.id == 2) if last else table))
    return sd.read_named(name, COLUMNS)


def changed_before(place: Place) -> Any:
    """A table, once a plan has evaluated a subtree that writes to it."""
    table = place.stored()
    change = values(COLUMNS, (7, None, "new")).write(place.name)
    (frame,) = sd.Plan(sd.subtree(change), table).execute(place.spark)
    assert frame.count() == 4
    return table


def twice(relation: Any) -> Any:
    return relation.union_all(relation)


def updated(place: Place) -> Any:
    place.stored()
    return sd.update(place.name, COLUMNS, {"id": 0}, where=True)


@contextmanager
def place_in(folder: Path, spark: SparkSession) -> Iterator[Place]:
    name = f"tour_{next(NUMBERS)}"
    yield Place(spark, folder / name, name)
    spark.sql(f"DROP VIEW IF EXISTS {name}_view")
    spark.sql(f"DROP TABLE IF EXISTS {name}")


@pytest.fixture
def place(spark: SparkSession, tmp_path: Path) -> Iterator[Place]:
    with place_in(tmp_path, spark) as made:
        yield made


def collected(relation: Any, spark: SparkSession) -> Rows:
    """The rows, sorted if the pipeline says no order."""
    rows = [tuple(row) for row in relation.collect(spark)]
    return rows if relation.properties.ordering else sorted(rows, key=repr)


@pytest.mark.parametrize("name", [*VERBS, *FUNCTIONS])
def test_every_verb_and_function(name: str, place: Place) -> None:
    build, rows = {**VERBS, **FUNCTIONS}[name]
    relation = build(place)
    assert collected(relation, place.spark) == (rows if relation.properties.ordering else sorted(rows, key=repr))


@pytest.mark.parametrize("name", REFUSED)
def test_what_spark_does_not_run_is_refused_by_name(name: str, place: Place) -> None:
    build, words = REFUSED[name]
    with refused(UnsupportedError, "execute", words):
        build(place).execute(place.spark)


def test_every_way_to_run(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    people = T.sort("id").select("id")
    assert [tuple(row) for row in people.collect(spark)] == [(1,), (2,), (3,)]
    assert [tuple(row) for row in people.execute(spark).collect()] == [(1,), (2,), (3,)]
    with people.running(spark) as frame:
        assert frame.count() == 3
    assert people.to_arrow(spark).to_pylist() == people.to_polars(spark).to_dicts() == [{"id": 1}, {"id": 2}, {"id": 3}]
    assert people.to_pandas(spark)["id"].tolist() == [1, 2, 3]
    people.show(spark, 2)
    assert "|  1|\n|  2|\n" in capsys.readouterr().out
    assert "== Physical Plan ==" in people.explain(spark)
    (again,) = sd.Plan.from_bytes(people.to_plan().to_bytes()).execute(spark)
    assert [tuple(row) for row in again.collect()] == [(1,), (2,), (3,)]


# --- nothing is left out


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_every_verb_is_here() -> None:
    verbs = {f"Relation.{name}" for name in public(sd.Relation) - {*RUN, *DESCRIBED}}
    verbs |= {f"GroupBy.{name}" for name in public(GroupBy) - {"keys"}}
    assert verbs == {*VERBS, *(name for name in REFUSED if name.startswith("Relation."))}


def test_every_function_of_relations_is_here() -> None:
    functions = {
        name
        for name in api.__all__
        if inspect.isfunction(function := getattr(api, name)) and "Relation" in str(inspect.signature(function))
    }
    assert functions == {*ELSEWHERE, *FUNCTIONS, *(name for name in REFUSED if not name.startswith("Relation."))}


def test_every_relation_is_here(spark: SparkSession, tmp_path: Path) -> None:
    here: set[type] = set()
    for build, _ in (*VERBS.values(), *FUNCTIONS.values(), *REFUSED.values()):
        with place_in(tmp_path, spark) as place:
            here |= {type(node) for rel in (build(place)._rel, *place.ran) for node in walk(rel)}
    assert [kind.__name__ for kind in typing.get_args(r.AnyRelation) if kind not in here] == []
