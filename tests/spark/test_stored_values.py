"""Columns of tables and files that Spark, or its readers, would take for something else: ``CHAR(n)``, names, uuids."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from tests.spark.rows import by_tag, counted, tagged
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXTS = {1: "ab   ", 2: "abc  ", 3: None}
"""What a column of CHAR(5) holds, by id."""
SHORT = "ab "
"""What one of CHAR(3) holds: to Spark it equals the first text, as would ``ab``."""
SHORTS = sd.read_named("padded_short", {"k": "string?"})

AB = sd.lit("ab", sd.VarChar(9))

Shape = Callable[[Any], sd.Relation[Any]]


def where(condition: Callable[[Any], Any]) -> Shape:
    return lambda t: t.filter(lambda r: condition(r.c.cast("string?"))).select("id")


def text(r: Any) -> Any:
    return r.c.cast("string?")


def joined_rows(t: Any, how: Any, **options: Any) -> Any:
    return t.join(SHORTS, lambda r, s: text(r) == s.k, how, **options)


def joined(how: Any) -> Shape:
    return lambda t: joined_rows(t, how).select("id")


SHAPES: Mapping[str, tuple[Shape, list[int]]] = {
    "=": (where(lambda c: c == "ab"), []),
    "= with spaces": (where(lambda c: c == "ab   "), [1]),
    "<=": (where(lambda c: c <= "ab"), []),
    "in": (where(lambda c: c.is_in(["ab", "abc", "x"])), []),
    "in with spaces": (where(lambda c: c.is_in(["ab", "abc  "])), [2]),
    "between": (where(lambda c: c.between("ab", "ab ")), []),
    "a record": (where(lambda c: sd.record(c, c).is_in([("ab", "ab")])), []),
    "switch": (where(lambda c: sd.switch(c, {"ab": True}, False)), []),
    "not distinct": (where(lambda c: f.is_not_distinct_from(c, "ab")), []),
    "nullif": (where(lambda c: f.nullif(c, "ab").is_null()), [3]),
    "when": (where(lambda c: sd.when(c == "ab").then(True).otherwise(False)), []),
    "as varchar": (
        lambda t: t.filter(lambda r: r.c.cast("varchar<9>?") == sd.lit("ab", sd.VarChar(9))).select("id"),
        [],
    ),
    "as it is": (lambda t: t.filter(lambda r: r.c.cast("varchar<5>?").cast("string?") == "ab   ").select("id"), [1]),
    "a measure": (
        lambda t: t.aggregate(n=f.count().filter(sd.col("c").cast("string?") == "ab")).select(
            id=sd.col("n").cast("i64?")
        ),
        [0],
    ),
    "inner": (joined("inner"), []),
    "left semi": (joined("left_semi"), []),
    "left anti": (joined("left_anti"), [1, 2, 3]),
    "a single join": (
        lambda t: (
            t.join(SHORTS, lambda r, s: text(r) == s.k, "left_single").filter(~sd.col("k").is_null()).select("id")
        ),
        [],
    ),
    "a mark": (
        lambda t: joined_rows(t, "left_mark", mark="m").filter(sd.col("m")).select("id"),
        [],
    ),
    "exists": (lambda t: t.filter(lambda r: sd.exists(SHORTS.filter(lambda s: s.k == text(r)))).select("id"), []),
    "in a subquery": (
        lambda t: SHORTS.filter(lambda s: s.k.is_in(t.select(c=text))).select(id=sd.lit(0).cast("i64?")),
        [],
    ),
    "exists over it": (
        lambda t: SHORTS.filter(lambda s: sd.exists(t.filter(lambda r: text(r) == s.k))).select(
            id=sd.lit(0).cast("i64?")
        ),
        [],
    ),
}
"""Pipelines over a table of ids and texts, with the ids that they give."""


@pytest.fixture(scope="module")
def padded(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Reads of columns that are CHAR(5) to Spark, without their types, and of the same rows as constants."""
    folder = tmp_path_factory.mktemp("padded")
    tables = ("padded", "padded_short", "padded_orc")
    for view in ("VIEW padded_stored", *(f"TABLE {table}" for table in tables)):
        spark.sql(f"DROP {view.replace(' ', ' IF EXISTS ', 1)}")
    for table, n, kind in [("padded", 5, "parquet"), ("padded_short", 3, "parquet"), ("padded_orc", 5, "orc")]:
        columns = "k CHAR(3)" if n == 3 else "id BIGINT, c CHAR(5)"
        spark.sql(f"CREATE TABLE {table} ({columns}) USING {kind} LOCATION '{folder / table}'")
        rows = "('ab')" if n == 3 else "(1, 'ab'), (2, 'abc'), (3, NULL)"
        spark.sql(f"INSERT INTO {table} VALUES {rows}")
    spark.sql("CREATE VIEW padded_stored AS SELECT * FROM padded")
    spark.table("padded").createOrReplaceTempView("padded_view")
    spark.table("padded").createOrReplaceGlobalTempView("padded_global")
    spark.table("padded").coalesce(1).write.parquet(str(folder / "written"))
    (one,) = (folder / "written").glob("*.parquet")
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(one), folder / "copy.parquet")
    names: list[Any] = ["padded", "padded_orc", "padded_stored", "padded_view", ("global_temp", "padded_global")]
    yield {
        **{f"{name}": lambda schema, name=name: sd.read_named(name, schema) for name in names},
        "files": lambda schema: sd.read_files(folder / "written", schema, kind="folder"),
        "a copy": lambda schema: sd.read_files(folder / "copy.parquet", schema),
        "constants": lambda schema: sd.read_virtual(list(TEXTS.items()), schema),
    }
    spark.sql("DROP VIEW padded_stored")
    spark.catalog.dropTempView("padded_view")
    spark.catalog.dropGlobalTempView("padded_global")
    for table in tables:
        spark.sql(f"DROP TABLE {table}")
    shutil.rmtree(folder)


@pytest.mark.parametrize("kind", ["string?", "varchar<5>?", "fixedchar<5>?"])
def test_texts_that_spark_fills_with_spaces_have_them(kind: str, padded: Any, spark: SparkSession) -> None:
    """Spark adds spaces to what a column of CHAR(n) is compared with, in files that it wrote from one, too.

    All such sources are read the same way; so of the declarations that are rarer, a table, files and constants do.
    """
    for source in padded if kind == "string?" else ("padded", "files", "constants"):
        t = padded[source]({"id": "i64?", "c": kind})
        assert counted(t, spark) == dict.fromkeys(TEXTS.items(), 1), source
        found = by_tag(tagged({shape: made(t) for shape, (made, _) in SHAPES.items()}), spark)
        wanted = {shape: {(number,): 1 for number in ids} for shape, (_, ids) in SHAPES.items() if ids}
        assert found == wanted, source


def test_texts_inside_values_that_spark_fills_with_spaces(tmp_path: Path, spark: SparkSession) -> None:
    spark.sql("DROP TABLE IF EXISTS padded_inside")
    spark.sql(
        "CREATE TABLE padded_inside (s STRUCT<x: CHAR(2)>, a ARRAY<CHAR(2)>, p CHAR(2)) USING parquet "
        f"PARTITIONED BY (p) LOCATION '{tmp_path}/inside'"
    )
    spark.sql("INSERT INTO padded_inside VALUES (named_struct('x', 'u'), array('v'), 'w')")
    declared = {"s": sd.Struct.of({"x": sd.String(nullable=True)}, nullable=True), "a": "list<string>?", "p": "string?"}
    t = sd.read_named("padded_inside", declared)
    conditions: list[tuple[Any, bool]] = [
        (lambda r: r.s["x"] == "u", False),
        (lambda r: r.s["x"] == "u ", True),
        (lambda r: r.a[0] == "v", False),
        (lambda r: r.a == sd.lit(["v"]), False),
        (lambda r: r.a == sd.lit(["v "]), True),
        (lambda r: r.p == "w", False),
        (lambda r: r.p == "w ", True),
    ]
    found = t.select(**{f"c{number}": condition for number, (condition, _) in enumerate(conditions)}).collect(spark)
    assert [tuple(row) for row in found] == [tuple(wanted for _, wanted in conditions)]
    spark.sql("DROP TABLE padded_inside")


PROPERTY = "${user.dir}"


def test_columns_of_tables_that_spark_takes_for_properties_of_java(tmp_path: Path, spark: SparkSession) -> None:
    from pyspark.sql.types import LongType, StructField, StructType

    flat = StructType([StructField("id", LongType()), StructField(PROPERTY, LongType())])
    nested = StructType([StructField("id", LongType()), StructField("s", flat)])
    rows = spark.createDataFrame([(1, 5)], flat)
    inside = spark.createDataFrame([(1, (2, 5))], nested)
    inside.write.orc(str(tmp_path / "nested"))
    rows.write.csv(str(tmp_path / "csv"))
    foreign = pa.table({"id": [1], PROPERTY: [5]})
    (tmp_path / "foreign").mkdir()
    pyarrow.parquet.write_table(foreign, tmp_path / "foreign" / "x.parquet")
    tables = ("property_orc", "property_parquet", "property_csv")
    spark.sql("DROP VIEW IF EXISTS property_stored")
    for table in tables:
        spark.sql(f"DROP TABLE IF EXISTS {table}")
    spark.catalog.createTable("property_orc", str(tmp_path / "orc"), "orc", flat)
    rows.write.insertInto("property_orc")
    spark.catalog.createTable("property_parquet", str(tmp_path / "foreign"), "parquet", flat)
    spark.catalog.createTable("property_csv", str(tmp_path / "csv"), "csv", flat)
    spark.sql("CREATE VIEW property_stored AS SELECT * FROM property_orc")
    spark.read.parquet(str(tmp_path / "foreign")).createOrReplaceTempView("property_view")
    spark.read.schema(nested).orc(str(tmp_path / "nested")).createOrReplaceTempView("property_inside")
    rows.createOrReplaceTempView("property_memory")

    declared = {"id": "i64?", PROPERTY: "i64?"}
    for name in ("property_orc", "property_parquet", "property_stored", "property_view"):
        with refused(
            UnsupportedError, "execute", f'table "{name}" has the column "{PROPERTY}"', "a property of Java's"
        ):
            sd.read_named(name, declared).execute(spark)
        assert sd.read_named(name, {"id": "i64?"}).collect(spark) == [(1,)]
    of_struct = sd.read_named("property_inside", {"id": "i64?", "s": "struct<i64?, i64?>?"})
    with refused(UnsupportedError, "execute", f'the column "s" with a field named "{PROPERTY}"'):
        of_struct.execute(spark)
    one = sd.read_virtual([(1,)], {"k": "i64"})
    with refused(UnsupportedError, "execute", 'the column "s" with a field'):  # where it is read as text
        one.filter(lambda o: sd.exists(of_struct.filter(lambda r: r.id == o.k))).execute(spark)
    for name in ("property_memory", "property_csv"):
        assert sd.read_named(name, declared).collect(spark) == [(1, 5)]

    spark.sql("DROP VIEW property_stored")
    for table in tables:
        spark.sql(f"DROP TABLE {table}")
    for view in ("view", "inside", "memory"):
        spark.catalog.dropTempView(f"property_{view}")


FIRST, SECOND = uuid.UUID("0a1b2c3d-0000-4000-8000-00000000abcd"), uuid.UUID("ffffffff-ffff-4fff-bfff-ffffffffffff")


@pytest.fixture
def spelled(tmp_path: Path, spark: SparkSession) -> Iterator[list[Any]]:
    """Reads of uuids of both spellings, three of the first one and one of the second: of files, and of a table."""
    texts = [str(FIRST), str(FIRST).upper(), str(FIRST), str(SECOND).upper(), None]
    pyarrow.parquet.write_table(pa.table({"id": [1, 2, 3, 4, 5], "x": texts}), tmp_path / "x.parquet")
    pa.orc.write_table(pa.table({"id": [1, 2, 3, 4, 5], "x": texts}), tmp_path / "x.orc")
    spark.read.parquet(str(tmp_path / "x.parquet")).createOrReplaceTempView("spelled")
    schema = {"id": "i64?", "x": "uuid?"}
    yield [
        sd.read_named("spelled", schema),
        sd.read_files(tmp_path / "x.parquet", schema),
        sd.read_files(tmp_path / "x.orc", schema, format="orc"),
    ]
    spark.catalog.dropTempView("spelled")


def test_uuids_of_both_spellings_are_equal(spelled: list[Any], spark: SparkSession) -> None:
    for t in spelled:
        assert sorted(t.filter(lambda r: r.x == FIRST).select("id").collect(spark)) == [(1,), (2,), (3,)]
        assert t.filter(lambda r: r.x > FIRST).select("id").collect(spark) == [(4,)]
        assert counted(t.select("x").distinct(), spark) == {(str(FIRST),): 1, (str(SECOND),): 1, (None,): 1}
        pairs = t.select("x", one=lambda r: r.id).join(t, lambda a, b: (a.x == b.x) & (a.one < b.id))
        assert counted(pairs.select("one", "id"), spark) == {(1, 2): 1, (1, 3): 1, (2, 3): 1}
        late = t.filter(lambda r: r.id > 3).select("x")
        known = sd.read_virtual([(FIRST,), (SECOND,)], {"u": "uuid?"})
        found = known.filter(sd.col("u").is_in(late))
        assert counted(found, spark) == {(str(SECOND),): 1}


def test_uuids_inside_values(tmp_path: Path, spark: SparkSession) -> None:
    upper = str(FIRST).upper()
    spark.createDataFrame(
        [([upper, None], {upper: upper}, ([(upper, 1)],)), (None, None, None)],
        "a array<string>, m map<string, string>, s struct<l: array<struct<x: string, n: int>>>",
    ).createOrReplaceTempView("spelled_inside")
    pair = "struct<uuid?, i32?>?"
    t = sd.read_named("spelled_inside", {"a": "list<uuid?>?", "m": "map<uuid, uuid?>?", "s": f"struct<list<{pair}>?>?"})
    lower = str(FIRST)
    assert [row.asDict(recursive=True) for row in t.collect(spark)] == [
        {"a": [lower, None], "m": {lower: lower}, "s": {"0": [{"0": lower, "1": 1}]}},
        {"a": None, "m": None, "s": None},
    ]
    spark.catalog.dropTempView("spelled_inside")
