"""Tables that are given to the embedded engine, and to DataFusion, and do not fit: what errors say to write does."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow
import pyarrow.parquet as pq
import pytest
from pyarrow import json

import substrait_dsl as sd
from substrait_dsl.errors import (
    ExecutionError,
    InvalidArgumentError,
    SchemaError,
    SubstraitDslError,
    UnknownAttributeError,
    UnsupportedError,
)
from substrait_dsl.testing import assert_same_rows
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGE: Any = sd
MISFITS: dict[str, tuple[str, Any, list[object]]] = {
    "integers with NULL of pandas": ("i64?", lambda: pd.DataFrame({"a": [1, None]}), [1, None]),
    "days of pandas": (
        "date?",
        lambda: pd.DataFrame({"a": pd.to_datetime(["2024-01-31", None])}),
        [dt.date(2024, 1, 31), None],
    ),
    "narrow integers of pandas": ("i64", lambda: pd.DataFrame({"a": pd.array([1, 2], dtype="int32")}), [1, 2]),
    "decimals of Polars": (
        "decimal<10,2>?",
        lambda: pl.DataFrame({"a": [Decimal("1.50"), None]}, schema={"a": pl.Decimal(38, 2)}),
        [Decimal("1.50"), None],
    ),
    "nothing but NULL of pandas": ("string?", lambda: pd.DataFrame({"a": [None, None]}), [None, None]),
    "nothing but NULL of Polars": ("i64?", lambda: pl.DataFrame({"a": [None, None]}), [None, None]),
    "narrow integers of Arrow": ("i64", lambda: pyarrow.table({"a": pyarrow.array([3], pyarrow.int16())}), [3]),
    "no rows of pandas": ("i64", lambda: pd.DataFrame({"a": []}), []),
    "no columns of pandas": ("string", lambda: pd.DataFrame(), []),
    "a name in capital letters": ("i64", lambda: pd.DataFrame({"b": ["x"], "A": [1.0]}), [1]),
    "columns in another order": (
        "i64?",
        lambda: pd.DataFrame({"b": ["x", "y"], "a": [1, None]}, index=["first", "second"]),
        [1, None],
    ),
}


def hint_of(error: SubstraitDslError) -> str:
    assert error.hint is not None
    return error.hint


def as_hinted(error: SubstraitDslError, frame: Any, rel: Any) -> Any:
    """The table that the hint of an error makes."""
    written, _, _ = hint_of(error).partition(" has the declared types")
    return eval(written, {"pyarrow": pyarrow, "frame": frame, "rel": rel})


def require_hint(misfit: str, session: Any) -> None:
    kind, make, expected = MISFITS[misfit]
    rel = sd.read_named("t", {"a": kind})
    with pytest.raises(SchemaError) as caught:
        rel.collect(session, tables={"t": make()})
    rows = rel.collect(session, tables={"t": as_hinted(caught.value, make(), rel)})
    assert [row[0] for row in rows] == expected


@pytest.mark.parametrize("misfit", MISFITS)
def test_a_frame_of_other_types_fits_as_the_hint_casts_it(misfit: str, sail: SparkSession) -> None:
    require_hint(misfit, sail)


@pytest.mark.parametrize("misfit", MISFITS)
def test_a_frame_of_other_types_fits_datafusion_as_the_hint_casts_it(misfit: str, datafusion: None) -> None:
    from datafusion import SessionContext

    require_hint(misfit, SessionContext())


@pytest.fixture(params=["sail", "datafusion"])
def session(request: pytest.FixtureRequest, sail: SparkSession, datafusion: None) -> Any:
    from datafusion import SessionContext

    return sail if request.param == "sail" else SessionContext()


def test_what_a_cast_would_lose_is_not_lost(session: Any) -> None:
    frame = pd.DataFrame({"a": [1.5, None]})
    with refused(
        SchemaError, 'Arrow cannot cast the column "a" to i64?: Float value 1.5', "declare the type that it has"
    ):
        sd.read_named("t", {"a": "i64?"}).collect(session, tables={"t": frame})
    assert sd.read_named("t", {"a": "fp64?"}).collect(session, tables={"t": frame}) == [(1.5,), (None,)]


def test_what_is_missing_in_a_required_column_of_pandas(session: Any) -> None:
    """It is NaN there, in a column of floating-point numbers: both ways of the hint lead on."""
    frame = pd.DataFrame({"a": [7, None, 9]})
    rel = sd.read_named("t", {"a": "i64"})
    hint = (
        'the required column "a" is NULL in 1 of 3 rows, as what is missing in pandas is: declare it "i64?", or leave'
    )
    with refused(SchemaError, hint):
        rel.collect(session, tables={"t": frame})
    for declared, rows, expected in (
        (sd.read_named("t", {"a": "i64?"}), frame, [(7,), (None,), (9,)]),
        (rel, frame.dropna(subset=["a"]), [(7,), (9,)]),
    ):
        with pytest.raises(SchemaError) as caught:
            declared.collect(session, tables={"t": rows})
        assert declared.collect(session, tables={"t": as_hinted(caught.value, rows, declared)}) == expected


def test_a_column_that_the_frame_lacks(session: Any) -> None:
    rel = sd.read_named("t", {"a": "i64", "other": "string"})
    frame = pd.DataFrame({"a": [1]})
    with refused(SchemaError, 'no column "other"', "or declare those that it has"):
        rel.collect(session, tables={"t": frame})
    assert sd.read_named("t", {"a": "i64"}).collect(session, tables={"t": frame}) == [(1,)]
    twice = pyarrow.table([[1], [2]], names=["a", "a"])
    with refused(SchemaError, 'it has 2 columns "a"', "hint: "):
        sd.read_named("t", {"a": "i64"}).collect(session, tables={"t": twice})


def test_files_that_are_no_tables_are_a_part_of_the_plan(sail: SparkSession, tmp_path: Path) -> None:
    rel = sd.read_named("t", {"a": "string"})
    (tmp_path / "some.csv").write_text("a\nx\n")
    pq.write_table(pyarrow.table({"a": ["y"]}), tmp_path / "one.parquet")
    pq.write_table(pyarrow.table({"a": ["z"]}), tmp_path / "two.parquet")
    for given, rows in {"some.csv": ["x"], "*.parquet": ["y", "z"]}.items():
        path = str(tmp_path / given)
        with pytest.raises(ExecutionError) as caught:
            rel.collect(sail, tables={"t": path})
        written, _, _ = hint_of(caught.value).partition(" reads ")
        found = eval(written, {"read_files": sd.read_files, "path": path, "schema": rel.schema}).collect(sail)
        assert sorted(row.a for row in found) == rows
    with refused(ExecutionError, "there is no file"):
        rel.collect(sail, tables={"t": str(tmp_path / "none.parquet")})


FRAMES: dict[str, Any] = {
    "pandas": lambda: pd.DataFrame(
        {"a": [1, 2], "s": ["x", None], "t": pd.to_datetime(["2024-01-31", None])}, index=["first", "second"]
    ),
    "polars": lambda: pl.DataFrame({"a": [1, 2], "s": ["x", None], "t": [dt.datetime(2024, 1, 31), None]}),
    "lazy": lambda: FRAMES["polars"]().lazy(),
}
ROWS = [(1, "x", dt.datetime(2024, 1, 31)), (2, None, None)]


@pytest.mark.parametrize("library", FRAMES)
def test_the_schema_of_a_frame(library: str, sail: SparkSession) -> None:
    frame = FRAMES[library]()
    if library == "pandas":  # nanoseconds
        with refused(UnsupportedError, "precision_timestamp<9>", "cast it to precision_timestamp<6>", "in the data"):
            sd.read_named("name", frame).collect(sail, tables={"name": frame})
        frame = frame.astype({"t": "datetime64[us]"})
    rel = sd.read_named("name", frame)
    frame = frame.collect() if library == "lazy" else frame
    assert [tuple(row) for row in rel.collect(sail, tables={"name": frame})] == ROWS


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_readers_of_frames_by_names_of_other_libraries(library: str, sail: SparkSession) -> None:
    frame = FRAMES[library]()
    frame = frame.astype({"t": "datetime64[us]"}) if library == "pandas" else frame
    with pytest.raises(UnknownAttributeError) as caught:
        getattr(PACKAGE, f"from_{library}")
    few, _, many = (
        hint_of(caught.value).removeprefix("write ").partition(", which puts its rows into the plan; of many, ")
    )
    read, _, collected = many.partition(", and collect(tables=")
    names = {"frame": frame, "read_named": sd.read_named, "from_arrow": sd.from_arrow}
    rel = eval(read, names)
    tables = eval(collected.partition(")")[0], names)
    assert [tuple(row) for row in rel.collect(sail, tables=tables)] == ROWS
    assert [tuple(row) for row in eval(few, names).collect(sail)] == ROWS


def require_named(session: Any) -> None:
    ids = sd.read_named("orders", {"id": "i64"})
    joined = ids.join(sd.read_named("cust", {"id": "i64"}), "id")
    with refused(ExecutionError, 'there is no table "cust"', '; tables gives "orders"'):
        joined.collect(session, tables={"orders": pyarrow.table({"id": [1]})})
    with pytest.raises(ExecutionError) as caught:
        ids.collect(session)
    assert "tables gives" not in str(caught.value)


def test_the_tables_that_are_given_are_named_where_one_lacks(sail: SparkSession) -> None:
    require_named(sail)


def test_datafusion_names_the_tables_that_are_given_where_one_lacks(datafusion: None) -> None:
    from datafusion import SessionContext

    require_named(SessionContext())


def test_rows_of_a_plan_are_those_of_its_root(sail: SparkSession) -> None:
    plan = sd.read_named("t", {"a": "i64"}).to_plan()
    for sides in ((plan, [(1,)]), ([(1,)], plan)):
        with refused(InvalidArgumentError, "got a plan", "plan.roots[0]"):
            assert_same_rows(*sides, tables={"t": [(1,)]})
    assert_same_rows(plan.roots[0], [(1,)], tables={"t": [(1,)]}, session=sail)


@pytest.mark.parametrize("column", ["string", "varchar<5>"])
def test_a_number_beside_a_text_is_cast_or_written_as_text(column: str, sail: SparkSession) -> None:
    rows = sd.read_virtual([("1",), ("2",)], {"a": column})
    with pytest.raises(SubstraitDslError) as caught:
        rows.filter(lambda r: r.a == 1)
    assert hint_of(caught.value) == f'cast argument 1 from {column} to i64, or write "1", a text'
    for found in (rows.filter(lambda r: r.a == "1"), rows.filter(lambda r: r.a.cast(sd.I64) == 1)):
        assert [row[0] for row in found.collect(sail)] == ["1"]


def test_lines_of_json_have_a_hint_that_works(tmp_path: Path, sail: SparkSession) -> None:
    (tmp_path / "in.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    read = sd.read_named("t", {"a": "i64?"})
    file = tmp_path / "in.jsonl"
    with refused(ExecutionError, "neither a Parquet nor an Arrow file", f"pyarrow.json.read_json({str(file)!r})"):
        read.collect(sail, tables={"t": file})
    assert read.collect(sail, tables={"t": json.read_json(str(file))}) == [(1,), (2,)]
