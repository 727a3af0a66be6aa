"""Tables that are given for one execution: read under their names, checked, and gone after it."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import substrait_dsl as sd
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import (
    ExecutionError,
    InvalidArgumentError,
    NotAllowedError,
    SchemaError,
    SubstraitDslError,
    UnsupportedError,
)
from tests.support import f, refused

IDS = sd.read_named("given", {"id": "i64"})
OTHERS = sd.read_named(("shop", "others"), {"id": "i64"})
ROWS = pa.table({"id": [1, 2, 3]})
TWO = pa.table({"id": [2]})


def test_rows_of_one_execution(spark: SparkSession) -> None:
    assert IDS.filter(lambda r: r.id > 1).sort("id").collect(spark, tables={"given": ROWS}) == [(2,), (3,)]
    with refused(ExecutionError, 'there is no table "given"', 'tables={"given": frame}', 'TempView("given")'):
        IDS.collect(spark)
    with refused(ExecutionError, 'there is no table "shop.others"', 'tables={("shop", "others"): frame}'):
        OTHERS.collect(spark)
    assert OTHERS.collect(spark, tables={("shop", "others"): TWO}) == [(2,)]


def test_it_stands_before_a_table_of_the_session(spark: SparkSession) -> None:
    spark.range(9, 10).createOrReplaceTempView("given")
    try:
        assert IDS.collect(spark, tables={"given": TWO}) == [(2,)]
        assert IDS.collect(spark) == [(9,)]
    finally:
        spark.catalog.dropTempView("given")


@pytest.mark.parametrize("joined", ["join", "exists", "scalar", "lateral", "shared", "union", "two names"])
def test_all_places_of_a_plan(joined: str, spark: SparkSession) -> None:
    tables: dict[str | tuple[str, ...], pa.Table] = {"given": ROWS, ("shop", "others"): TWO}
    if joined == "join":
        rows = IDS.join(OTHERS, on=lambda a, b: a.id == b.id, how="left").sort(0).collect(spark, tables=tables)
        assert rows == [(1, None), (2, 2), (3, None)]
    elif joined == "exists":
        found = IDS.filter(lambda r: sd.exists(OTHERS.filter(lambda o: o.id == r.id)))
        assert found.collect(spark, tables=tables) == [(2,)]
    elif joined == "scalar":
        most = OTHERS.aggregate(most=lambda o: f.max(o.id))
        found = IDS.filter(lambda r: r.id > sd.scalar_subquery(most))
        assert found.collect(spark, tables=tables) == [(3,)]
    elif joined == "lateral":
        found = IDS.lateral_join(lambda r: OTHERS.filter(lambda o: o.id < r.id), how="inner")
        assert found.collect(spark, tables=tables) == [(3, 2)]
    elif joined == "shared":
        first = sd.shared(IDS.sort("id").limit(1))
        assert first.union_all(first).collect(spark, tables={"given": ROWS}) == [(1,), (1,)]
    elif joined == "union":
        assert sorted(IDS.union_all(OTHERS, IDS).collect(spark, tables=tables)) == [(1,)] * 2 + [(2,)] * 3 + [(3,)] * 2
    else:
        other = sd.read_named("GIVEN", {"id": "i64"})  # a name as the plan writes it
        both = IDS.union_all(other)
        assert sorted(both.collect(spark, tables={"given": TWO, "GIVEN": ROWS})) == [(1,), (2,), (2,), (3,)]


def test_a_plan_of_several_roots_and_a_running_one(spark: SparkSession) -> None:
    plan = sd.Plan(IDS, IDS.aggregate(n=f.count()))
    first, second = plan.execute(spark, tables={"given": ROWS})
    assert (first.count(), second.collect()) == (3, [(3,)])
    with plan.running(spark, tables={"given": ROWS}) as (frame, _), IDS.running(spark, tables={"given": TWO}) as other:
        assert (frame.count(), other.count()) == (3, 1)


def test_show_and_explain(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    IDS.show(spark, tables={"given": TWO})
    assert capsys.readouterr().out == "+---+\n| id|\n+---+\n|  2|\n+---+\n\n"
    assert "--- on Spark" in IDS.explain(spark, tables={"given": TWO})
    assert "--- on Spark" in sd.Plan(IDS).explain(spark, tables={"given": TWO})


def test_explain_without_a_session_takes_no_tables() -> None:
    with refused(InvalidArgumentError, "explain", "tables are for the plan of a session's engine"):
        IDS.explain(tables={"given": TWO})


def frames(folder: Path) -> dict[str, Any]:
    pq.write_table(ROWS, folder / "rows.parquet")
    with pa.ipc.new_file(folder / "rows.arrow", ROWS.schema) as file:
        file.write_table(ROWS)
    with pa.ipc.new_stream(folder / "rows.stream", ROWS.schema) as stream:
        stream.write_table(ROWS)

    class Exporting:
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            return ROWS.__arrow_c_stream__(requested_schema)

    return {
        "table": ROWS,
        "batch": ROWS.to_batches()[0],
        "reader": ROWS.to_reader(),
        "pandas": pd.DataFrame({"id": [1, 2, 3]}, index=[7, 8, 9]),
        "stream": Exporting(),
        "parquet": folder / "rows.parquet",
        "text of a path": str(folder / "rows.parquet"),
        "arrow": folder / "rows.arrow",
        "arrow stream": folder / "rows.stream",
    }


def test_every_kind_of_frame(tmp_path: Path, spark: SparkSession) -> None:
    for kind, frame in frames(tmp_path).items():
        assert sorted(IDS.collect(spark, tables={"given": frame})) == [(1,), (2,), (3,)], kind


VALUES: dict[str, tuple[str, pa.Array, Any]] = {
    "u64": ("u!u64?", pa.array([2**64 - 1, None], pa.uint64()), Decimal(2**64 - 1)),
    "u8": ("u!u8?", pa.array([255, None], pa.uint8()), 255),
    "decimal": ("decimal<38,2>?", pa.array([Decimal("1.25"), None], pa.decimal128(38, 2)), Decimal("1.25")),
    "small decimal": ("decimal<5,2>?", pa.array([Decimal("1.25"), None], pa.decimal32(5, 2)), Decimal("1.25")),
    "wide decimal": ("decimal<38,2>?", pa.array([Decimal("1.25"), None], pa.decimal256(38, 2)), Decimal("1.25")),
    "timestamp": (
        "precision_timestamp<6>?",
        pa.array([1_000_001, None], pa.timestamp("us")),
        dt.datetime(1970, 1, 1, 0, 0, 1, 1),
    ),
    "milliseconds": (
        "precision_timestamp<3>?",
        pa.array([1, None], pa.timestamp("ms")),
        dt.datetime(1970, 1, 1, 0, 0, 0, 1000),
    ),
    "nanoseconds": (
        "precision_timestamp<6>?",
        pa.array([1000, None], pa.timestamp("ns")),
        dt.datetime(1970, 1, 1, 0, 0, 0, 1),
    ),
    "another zone": (
        "precision_timestamp_tz<6>?",
        pa.array([0, None], pa.timestamp("us", "Asia/Tokyo")),
        dt.datetime.fromtimestamp(0),
    ),
    "time": ("precision_time<6>?", pa.array([dt.time(1, 2, 3, 4), None], pa.time64("us")), dt.time(1, 2, 3, 4)),
    "time of ms": ("precision_time<3>?", pa.array([3_600_001, None], pa.time32("ms")), dt.time(1, 0, 0, 1000)),
    "time of s": ("precision_time<0>?", pa.array([3_601, None], pa.time32("s")), dt.time(1, 0, 1)),
    "duration": ("interval_day<6>?", pa.array([61, None], pa.duration("s")), dt.timedelta(seconds=61)),
    "date": ("date?", pa.array([86_400_000, None], pa.date64()), dt.date(1970, 1, 2)),
    "uuid": ("uuid?", pa.array([UUID(int=7).bytes, None], pa.uuid()), str(UUID(int=7))),
    "dictionary": ("string?", pa.array(["a", None]).dictionary_encode(), "a"),
    "large text": ("string?", pa.array(["a", None], pa.large_string()), "a"),
    "view": ("varchar<3>?", pa.array(["a", None], pa.string_view()), "a"),
    "bytes": ("fixedbinary<2>?", pa.array([b"ab", None], pa.binary(2)), b"ab"),
    "large list": ("list<i32?>?", pa.array([[1, None], None], pa.large_list(pa.int32())), [1, None]),
    "map": ("map<string, i64?>?", pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())), {"k": 1}),
    "struct": ("struct<i64?, list<string?>?>?", pa.array([{"a": 1, "b": ["x"]}, None]), (1, ["x"])),
}


def test_values_are_those_of_the_table(spark: SparkSession) -> None:
    """All columns in one table: each has its value and NULL; without rows, none; nothing is lost in silence."""
    columns = {name: kind for name, (kind, _, _) in VALUES.items()}
    table = pa.table({name: values for name, (_, values, _) in VALUES.items()})
    relation = sd.read_named("given", columns)
    full, empty = relation.collect(spark, tables={"given": table})
    assert dict(zip(columns, full, strict=True)) == {name: value for name, (_, _, value) in VALUES.items()}
    assert set(empty) == {None}
    assert relation.collect(spark, tables={"given": table.slice(0, 0)}) == []


WRONG: dict[str, tuple[str, pa.Array, str]] = {
    "finer than Spark": ("precision_timestamp<6>", pa.array([1], pa.timestamp("ns")), 'column "x" is timestamp[ns]'),
    "another precision": ("precision_time<3>", pa.array([1], pa.time64("us")), "is time(6)"),
    "another width": ("i32", pa.array([1], pa.int64()), "is bigint"),
    "another scale": ("decimal<10,2>", pa.array([Decimal("1.5")], pa.decimal128(10, 1)), "is decimal(10,1)"),
    "NULLs without a type": ("i64?", pa.nulls(1), "is null"),
    "half floats": ("fp32", pa.array([1.5], pa.float16()), "is halffloat"),
    "with a zone": ("precision_timestamp<6>", pa.array([1], pa.timestamp("us", "UTC")), "is timestamp"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_refused(case: str, spark: SparkSession) -> None:
    kind, values, told = WRONG[case]
    with refused(SchemaError, "collect", 'table "given" does not fit', told):
        sd.read_named("given", {"x": kind}).collect(spark, tables={"given": pa.table({"x": values})})


def test_a_column_that_is_not_there(spark: SparkSession) -> None:
    with refused(SchemaError, 'it has no column "id"', 'did you mean "idd"?'):
        IDS.collect(spark, tables={"given": pa.table({"idd": [1], "other": pa.nulls(1)})})
    with refused(SchemaError, 'it has no column "id"'):
        IDS.collect(spark, tables={"given": pa.table({})})


def test_undeclared_columns_do_not_matter(spark: SparkSession) -> None:
    table = pa.table({"x": pa.nulls(1), "ID": [4], "half": pa.array([1.5], pa.float16())})
    assert IDS.collect(spark, tables={"given": table}) == [(4,)]


def test_a_read_of_no_column_has_as_many_rows(spark: SparkSession) -> None:
    read = sd.Relation(rl.Read(NamedStruct(()), rl.NamedTable(("given",))))
    assert read.aggregate(n=f.count()).collect(spark, tables={"given": ROWS}) == [(3,)]


def test_nulls_of_a_required_column_fail(spark: SparkSession) -> None:
    """Arrow does not check what a field says of NULLs, also of those inside."""
    told = pa.table([pa.array([None, 1])], schema=pa.schema([pa.field("id", pa.int64(), nullable=False)]))
    with refused(ExecutionError, 'column "id" is required, but it is NULL'):
        IDS.collect(spark, tables={"given": told})
    with refused(ExecutionError, 'column "id" is required, but it is NULL'):
        IDS.collect(spark, tables={"given": pa.table({"id": pa.array([None], pa.int64())})})
    inside = pa.list_(pa.field("item", pa.int64(), nullable=False))
    lists = pa.table({"xs": pa.ListArray.from_arrays([0, 1], pa.array([None], pa.int64()), type=inside)})
    with refused(ExecutionError, 'an element of column "xs" is required'):
        sd.read_named("given", {"xs": "list<i64>"}).collect(spark, tables={"given": lists})


def test_what_pandas_has_no_types_for(spark: SparkSession) -> None:
    columns = {"price": "decimal<10,2>?", "at": "precision_timestamp<6>?"}
    frame = pd.DataFrame({"price": [Decimal("1.5"), None], "at": [pd.Timestamp(2020, 1, 2), pd.NaT]})
    rows = sd.read_named("given", columns).collect(spark, tables={"given": frame})
    assert rows == [(Decimal("1.50"), dt.datetime(2020, 1, 2)), (None, None)]
    with refused(SchemaError, 'column "price" is decimal(5,4)'):
        sd.read_named("given", {"price": "decimal<10,2>?"}).collect(
            spark, tables={"given": pd.DataFrame({"price": [Decimal("1.2345")]})}
        )


class Unknown:
    def __repr__(self) -> str:
        return "Unknown()"


GIVEN: dict[str, tuple[Any, type[SubstraitDslError], tuple[str, ...], str | None]] = {
    "another name": ({"give": ROWS}, InvalidArgumentError, ('table "give"', 'it reads "given"'), '"given"'),
    "no name": ({5: ROWS}, InvalidArgumentError, ("neither a str nor a tuple", "5"), None),
    "no table": ({"given": Unknown()}, InvalidArgumentError, ('table "given"', "got Unknown()"), None),
    "rows": ({"given": [(1,)]}, InvalidArgumentError, ('table "given"', "got [(1,)]"), "from_pylist"),
    "no dict": ([ROWS], InvalidArgumentError, ("tables is a dict",), None),
    "twice": ({"given": ROWS, ("given",): ROWS}, InvalidArgumentError, ("twice",), None),
    "no file": ({"given": "/nothing/here.parquet"}, ExecutionError, ("there is no file",), None),
    "another file": ({"given": __file__}, ExecutionError, ("neither a Parquet nor an Arrow file",), None),
    "a folder": ({"given": Path(__file__).parent}, ExecutionError, ("is a folder",), "read_files"),
}


@pytest.mark.parametrize("case", GIVEN)
def test_what_is_no_table_of_the_plan(case: str, spark: SparkSession) -> None:
    tables, kind, words, hint = GIVEN[case]
    with refused(kind, "collect", *words, hint or ""):
        IDS.collect(spark, tables=tables)


def test_hints_for_python_values(sail: SparkSession) -> None:
    rel = sd.read_named("o", {"id": "i64", "k": "string?", "x": "decimal<9,2>?"})
    rows = [(1, "a", Decimal(1)), (2, None, None)]
    dicts = [dict(zip(rel.schema.names, row, strict=True)) for row in rows]
    columns = {"id": [1, 2], "k": ["a", None], "x": [Decimal(1), None]}
    calls: dict[str, tuple[Any, Any]] = {
        "([dict(zip(rel.schema.names, row)) for row in rows], rel.schema.to_arrow()) makes a table of tuples": (
            rows,
            pa.Table.from_pylist([dict(zip(rel.schema.names, row)) for row in rows], rel.schema.to_arrow()),  # noqa: B905
        ),
        "pyarrow.Table.from_pylist(rows, rel.schema.to_arrow()) makes a table of dicts": (
            dicts,
            pa.Table.from_pylist(dicts, rel.schema.to_arrow()),
        ),
        "pyarrow.table(columns, schema=rel.schema.to_arrow()) makes a table of lists": (
            columns,
            pa.table(columns, schema=rel.schema.to_arrow()),
        ),
    }
    for hint, (given, followed) in calls.items():
        with refused(InvalidArgumentError, 'table "o"', hint):
            rel.collect(sail, tables={"o": given})
        assert Counter(rel.collect(sail, tables={"o": followed})) == Counter(rows)


def test_one_dict_serves_several_plans(spark: SparkSession) -> None:
    """What a plan does not read is passed over, also what is no table, if nothing that it reads lacks."""
    tables = {"given": ROWS, ("shop", "others"): TWO, "neither": Unknown()}
    assert OTHERS.collect(spark, tables=tables) == [(2,)]
    assert IDS.collect(spark, tables=tables) == IDS.collect(spark, tables={"given": ROWS})
    with refused(InvalidArgumentError, 'table "neither"', 'it reads "given", "shop.others"'):
        IDS.cross(OTHERS.rename(id="other")).collect(spark, tables={"given": ROWS, "neither": TWO})
    with refused(InvalidArgumentError, 'table "given"', "it reads none", "a relation of rows"):
        sd.read_virtual([(1,)], {"id": "i64"}).collect(spark, tables=tables)
    with refused(UnsupportedError, 'table "given" is given in tables', "the plan changes it"):
        OTHERS.write("given").collect(spark, tables=tables)


def test_the_parts_of_a_name(spark: SparkSession) -> None:
    assert OTHERS.collect(spark, tables={("shop", "others"): TWO}) == [(2,)]
    with refused(InvalidArgumentError, 'table "shop.others"', 'the key is ("shop", "others")'):
        OTHERS.collect(spark, tables={"shop.others": TWO})


@pytest.mark.parametrize("op", ["insert", "ctas", "drop", "create", "update"])
def test_a_plan_that_changes_what_is_given(op: str, spark: SparkSession) -> None:
    new: Any = {
        "insert": lambda: IDS.write("Given", op="insert"),
        "ctas": lambda: IDS.write("given", op="ctas"),
        "drop": lambda: sd.drop_table("given"),
        "create": lambda: sd.create_table("given", {"id": "i64"}),
        "update": lambda: sd.update("given", {"id": "i64"}, {"id": 1}, where=True),
    }[op]()
    with refused(UnsupportedError, 'table "given" is given in tables', "the plan changes it"):
        sd.Plan(new).execute(spark, tables={"given": ROWS})


def test_a_view_cannot_read_it(spark: SparkSession) -> None:
    with refused(UnsupportedError, 'the view "of_given"', 'it reads table "given"', "this execution alone"):
        sd.Plan(sd.create_view("of_given", IDS)).execute(spark, tables={"given": ROWS})


def test_its_rows_are_written_elsewhere(spark: SparkSession) -> None:
    sd.Plan(IDS.write("of_given", op="ctas")).execute(spark, tables={"given": ROWS})
    try:
        assert sorted(spark.table("of_given").collect()) == [(1,), (2,), (3,)]
    finally:
        spark.sql("DROP TABLE of_given")


def test_an_access_is_allowed_or_not_as_any_other(spark: SparkSession) -> None:
    assert IDS.collect(spark, tables={"given": TWO}, allow=IDS.to_plan().accesses()) == [(2,)]
    with refused(NotAllowedError, "read table given"):
        IDS.collect(spark, tables={"given": TWO}, allow=())


def test_a_reader_is_read_once(spark: SparkSession) -> None:
    """It would have no rows the second time."""
    read = sd.read_named("t", {"a": "i64?"})
    reader = pa.table({"a": [1]}).to_reader()
    assert read.collect(spark, tables={"t": reader}) == [(1,)]
    with refused(InvalidArgumentError, 'table "t"', "was read to its end before", "read_all()"):
        read.collect(spark, tables={"t": reader})
    assert read.collect(spark, tables={"t": pa.table({"a": [1]}).to_reader()}) == [(1,)]


@pytest.mark.parametrize(("kind", "value"), [("uuid?", "zz"), ("list<uuid?>?", ["zz"])])
def test_a_text_that_is_no_uuid(kind: str, value: Any, spark: SparkSession) -> None:
    read, given = sd.read_named("t", {"a": kind}), pa.table({"a": [value]})
    with refused(ExecutionError, 'column "a"', "uuid"):
        read.to_arrow(spark, tables={"t": given})
