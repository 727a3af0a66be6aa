"""Maps that are told apart on Spark: in groups, in sets, and as distinct values, against Python's own equality."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra.rules import SET_OPS
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.spark.expressions.types import to_spark
from tests.spark.test_sets import COPIES
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NONE, ZERO, TWO = {"a": 1, "b": None}, {"b": 0, "a": 1}, {"a": 2}
TURNED = {"b": None, "a": 1}
"""As `NONE`, but the entries come the other way round."""

SHAPES: dict[str, Callable[[Any], Any]] = {
    "map<string, i64?>?": lambda value: value,
    "list<map<string, i64?>?>": lambda value: [value, TWO, value],
    "struct<i32, map<string, i64?>?>": lambda value: (1, value),
    "map<i32, map<string, i64?>?>": lambda value: {1: value, 2: TWO},
}


def plain(value: Any) -> Any:
    """A value that Python compares and hashes."""
    match value:
        case dict():
            return frozenset((key, plain(inner)) for key, inner in value.items())
        case list() | tuple():
            return tuple(map(plain, value))
        case _:
            return value


def found(relation: sd.Relation[Any], spark: SparkSession) -> Counter[Any]:
    return Counter(plain(tuple(row)) for row in relation.execute(spark).collect())


@pytest.fixture(params=SHAPES)
def table(request: pytest.FixtureRequest, tmp_path: Path, spark: SparkSession) -> tuple[Any, list[Any]]:
    """A stored table with such values, and these values: what is constant Spark computes in another way."""
    kind = request.param
    given = [SHAPES[kind](value) for value in (NONE, ZERO, TURNED, TWO, None, None)]
    relation = sd.read_virtual(list(enumerate(given)), {"n": "i32", "m": kind})
    relation.execute(spark).write.parquet(f"{tmp_path}/maps")
    return sd.read_files(tmp_path / "maps", {"n": "i32", "m": kind}, kind="folder"), list(map(plain, given))


def test_maps_with_a_null_are_other_maps(table: tuple[Any, list[Any]], spark: SparkSession) -> None:
    maps, given = table
    counts = Counter(given)
    assert len(counts) == 4
    assert found(maps.aggregate("m", n=f.count()), spark) == Counter(counts.items())
    assert found(maps.select("m").distinct(), spark) == Counter((value,) for value in counts)
    sets = maps.aggregate("m", n=f.count(), grouping_sets=[["m"], [], ["m"]])
    assert found(sets, spark) == Counter(
        [(value, count, index) for value, count in counts.items() for index in (0, 2)] + [(None, 6, 1)]
    )
    copies = maps.expand(m=sd.col("m"), y=sd.switching(sd.col("n"), sd.col("n"))).aggregate("m", n=f.count())
    assert found(copies, spark) == Counter((value, 2 * count) for value, count in counts.items())
    each = maps.select(l=lambda r: sd.list_of(r.m, r.m)).unnest("l").select("element").distinct()
    assert found(each, spark) == Counter((value,) for value in counts)
    number = maps.aggregate(n=lambda r: f.count(r.m).distinct(), about=lambda r: f.approx_count_distinct(r.m))
    there = len(counts) - (None in counts)
    assert found(number, spark) == Counter([(there, there)])
    over = maps.select(n=lambda r: f.count(r.m).distinct().over(), about=lambda r: f.approx_count_distinct(r.m).over())
    assert found(over, spark) == Counter({(there, there): len(given)})


def test_sets_of_maps(table: tuple[Any, list[Any]], spark: SparkSession) -> None:
    maps, given = table
    everything, others = maps.select("m"), maps.filter(lambda r: r.n > 2).select("m")
    ours, theirs = Counter(given), Counter(given[3:])
    for op in SET_OPS:
        wanted = Counter({(value,): COPIES[op](ours[value], [theirs[value]]) for value in ours})
        assert found(everything.set_op(op, others), spark) == +wanted, op
    unique = sd.read_virtual([(1,)], {"x": "i32"}).select(
        all=sd.unique(everything), some=sd.unique(maps.filter(lambda r: r.n < 2).select("m"))
    )
    assert found(unique, spark) == Counter([(False, True)])


KEYS: list[tuple[str, str, Any]] = [
    ("map(array(1L, CAST(n AS BIGINT)), 5L)", "map<list<i64>, i64>", "an element of a key"),
    ("map(named_struct('a', CAST(n AS BIGINT)), 5L)", "map<struct<i64>, i64>", "field 0 of a key"),
    ("map(named_struct('a', array(CAST(n AS BIGINT))), 5L)", "map<struct<list<i64>>, i64>", "an element of field 0 of"),
    ("array(map(named_struct('a', CAST(n AS BIGINT)), n))", "list<map<struct<i64>, string?>>", "field 0 of a key"),
]


@pytest.mark.parametrize(("text", "kind", "told"), KEYS, ids=[kind for _, kind, _ in KEYS])
def test_what_is_required_inside_of_keys(text: str, kind: str, told: str, spark: SparkSession) -> None:
    for name, value in (("keys_there", "'7'"), ("keys_missing", "CAST(NULL AS STRING)")):
        spark.sql(f"SELECT {text} AS m FROM (SELECT {value} AS n)").createOrReplaceTempView(name)
    there = sd.read_named("keys_there", {"m": kind}).execute(spark)
    assert there.schema == to_spark(NamedStruct.of({"m": sd.parse_type(kind)}))
    assert len(there.selectExpr("CAST(m AS STRING)").collect()) == 1
    missing = sd.read_named("keys_missing", {"m": kind})
    with (
        refused(ExecutionError, "running", told, "is required, but it is NULL"),
        missing.running(spark) as frame,
    ):
        frame.selectExpr("CAST(m AS STRING)").collect()


def test_what_may_be_null_inside_of_keys(spark: SparkSession) -> None:
    """Also where Spark knows that it is none."""
    made = sd.read_virtual([(None,), (2,)], {"z": "i64?"}).select(
        m=lambda r: sd.map_of([(sd.list_of(f.coalesce(r.z, 1)), sd.struct_of(a=r.z))])
    )
    assert str(made.schema["m"]) == "map<list<i64?>, struct<i64?>>"
    assert made.execute(spark).schema == to_spark(made.schema.struct)


def test_maps_are_not_compared(spark: SparkSession) -> None:
    maps = sd.read_virtual([({"a": 1},)], {"m": "map<string, i64>"})
    with refused(UnsupportedError, "execute", "is_in"):
        maps.filter(lambda r: r.m.is_in(maps)).execute(spark)
