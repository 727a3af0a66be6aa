"""The commands that run plans and queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import parquet

import substrait_dsl as sd
from substrait_dsl.cli import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = sd.read_named("orders", {"id": "i64?", "price": "fp64?"})
TABLE = "+---+\n| id|\n+---+\n|  1|\n|  3|\n+---+\n\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    parquet.write_table(pa.table({"id": [1, 2, 3], "price": [7.5, None, 9.0]}), "orders.parquet")
    ORDERS.filter(lambda o: o.price > 5.0).select("id").sort("id").to_plan().save("large.plan")
    return tmp_path


@pytest.mark.parametrize("engine", ["sail", "datafusion", "acero"])
def test_run(engine: str, folder: Path, datafusion: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "large.plan", "--engine", engine, "--table", "orders=orders.parquet"]) == 0
    assert capsys.readouterr().out == TABLE


def test_a_plan_that_changes_something_runs_where_that_is_allowed(
    folder: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = sd.read_virtual([(1,), (3,)], {"id": "i64"})
    rows.write(sd.files_target(str(folder / "out"), "parquet"), op="ctas").to_plan().save("write.plan")
    assert main(["run", "write.plan", "--engine", "spark"]) == 1
    error = capsys.readouterr().err
    assert "accesses that are not allowed: ctas files" in error
    assert error.endswith("\n  hint: --allow-changes runs it\n")
    assert not (folder / "out").exists()
    assert main(["run", "write.plan", "--engine", "spark", "--allow-changes"]) == 0
    assert sorted(parquet.read_table(folder / "out").column("id").to_pylist()) == [1, 3]


@pytest.mark.parametrize("engine", ["sail", "datafusion"])
def test_a_missing_table_names_the_option(
    engine: str, folder: Path, datafusion: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "large.plan", "--engine", engine]) == 1
    assert capsys.readouterr().err.endswith("hint: --table orders=PATH gives its rows, a file of Parquet or Arrow\n")


def test_sql(folder: Path, datafusion: None, capsys: pytest.CaptureFixture[str]) -> None:
    query = "select id from t where price > 5 order by id"
    assert main(["sql", query, "--table", "t=orders.parquet", "--engine", "datafusion"]) == 0
    assert capsys.readouterr().out == TABLE
    assert main(["sql", query, "--table", "t=orders.parquet", "-o", "query.plan"]) == 0
    assert main(["run", "query.plan", "--table", "t=orders.parquet", "-n", "1", "--engine", "datafusion"]) == 0
    assert "only showing top 1 row" in capsys.readouterr().out


@pytest.mark.parametrize("table", ["orders", "=x", "orders=", "t=a.parquet"])
def test_tables_are_named(table: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "large.plan", "--table", "t=orders.parquet", "--table", table]) == 2
    assert f"--table {table}: " in capsys.readouterr().err


def test_a_table_of_several_parts_is_named_as_the_plan_prints_it(
    folder: Path, datafusion: None, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = {"id": "i64?", "price": "fp64?"}
    for number, name in enumerate([("shop", "db", "orders"), "shop.db.orders"]):
        wanted = sd.read_named(name, schema).filter(lambda o: o.price > 5.0).select("id").sort("id")
        wanted.to_plan().save(f"{number}.plan")
        command = ["run", f"{number}.plan", "--engine", "datafusion", "--table", "shop.db.orders=orders.parquet"]
        assert main(command) == 0
        assert capsys.readouterr().out == TABLE


@pytest.mark.parametrize("name", ["shop.db.orders", "a.b", "information_schema.tables", 'x"y', "a b"])
def test_a_query_names_a_table_of_any_name(
    name: str, folder: Path, datafusion: None, capsys: pytest.CaptureFixture[str]
) -> None:
    quoted = name.replace('"', '""')
    query = f'select id from "{quoted}" where price > 5 order by id'
    assert main(["sql", query, "--table", f"{name}=orders.parquet", "--engine", "datafusion"]) == 0
    assert capsys.readouterr().out == TABLE


def test_the_plan_of_a_query_goes_to_the_standard_output(
    folder: Path, datafusion: None, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["sql", "select id from t", "--table", "t=orders.parquet", "-o", "-"]) == 0
    assert sd.Plan.from_bytes(capfdbinary.readouterr().out).roots[0].columns == ("id",)
    assert not (folder / "-").exists()
