"""Rows in a connection of DuckDB 1.1.3 with its Substrait extension, which runs in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from tests.engines.processes import Engine
from tests.support import refused

START = """
import datetime as dt
from decimal import Decimal
from importlib import import_module
from pathlib import Path

import duckdb
import pyarrow as pa

import substrait_dsl as sd
from substrait_dsl import functions as f

def tried(run):
    try:
        print(run())
    except sd.SubstraitDslError as error:
        print(type(error).__name__, str(error).replace(chr(10), " "))

plain = duckdb.connect()
(folder,) = import_module("duckdb_extension_substrait").__path__
(file,) = Path(folder).rglob("*.duckdb_extension")
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
connection.load_extension(str(file))
given = sd.read_named("given", {"id": "i64", "name": "string?", "price": "decimal<10,2>?", "day": "date?"})
things = sd.read_named("things", {"id": "i32", "name": "string?"})
table = pa.table({
    "more": [0, 0], "day": [dt.date(2024, 1, 2), None], "name": pa.array(["a", None]).dictionary_encode(), "id": [1, 2],
    "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
})
tables = {"given": table}
"""


def lines(program: str, engine: Engine) -> list[str]:
    """What a program prints, each statement a line."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, filter(None, (engine.packages, root))))}
    command = [sys.executable, "-c", START + program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout.splitlines()


def test_rows_of_given_tables(duckdb_substrait: Engine) -> None:
    program = """
tried(lambda: given.filter(lambda r: r.id > 1).collect(connection, tables=tables))
tried(lambda: given.aggregate(n=f.count(), total=lambda r: f.sum(r.price)).collect(connection, tables=tables))
tried(lambda: given.to_arrow(connection, tables=tables).schema.equals(given.schema.to_arrow(), check_metadata=True))
tried(lambda: given.execute(connection, tables=tables).fetchall())
tried(lambda: given.execute(connection, tables=tables).columns)
parts = sd.read_named(("shop", "given"), {"id": "i64"})
tried(lambda: parts.collect(connection, tables={("shop", "given"): table}))
tried(lambda: parts.collect(connection))
given.select("id", "name").show(connection, tables=tables)
plan = sd.Plan(given.select("id"), given.limit(0))
tried(lambda: [frame.fetchall() for frame in plan.execute(connection, tables=tables)])
tried(lambda: connection.execute("SELECT * FROM information_schema.tables").fetchall())
"""
    assert lines(program, duckdb_substrait) == [
        "[Row(id=2, name=None, price=None, day=None)]",
        "[Row(n=2, total=Decimal('1.50'))]",
        "True",
        "[(1, 'a', Decimal('1.50'), datetime.date(2024, 1, 2)), (2, None, None, None)]",
        "['id', 'name', 'price', 'day']",
        "[Row(id=1), Row(id=2)]",
        "UnsupportedError collect: a table whose name has several parts cannot be lowered to DuckDB 1.1.3 "
        "(step: read shop.given)",
        "+---+----+",
        "| id|name|",
        "+---+----+",
        "|  1|   a|",
        "|  2|NULL|",
        "+---+----+",
        "",
        "[[(1,), (2,)], []]",
        "[]",
    ]


def test_tables_of_the_connection(duckdb_substrait: Engine) -> None:
    """Columns in another order and case, temporary tables, views, another database, what is not committed yet."""
    program = """
rows = "SELECT * FROM (VALUES ('x', 0, 7), ('y', 0, 8)) v(NAME, more, id)"
connection.execute(f"CREATE TABLE things AS {rows}")
tried(lambda: things.collect(connection))
tried(lambda: things.collect(connection, tables={"things": pa.table({"id": pa.array([1], pa.int32()), "name": ["z"]})}))
connection.execute(f"CREATE VIEW seen AS {rows}")
tried(lambda: sd.read_named("seen", {"name": "string?", "id": "i32?"}).collect(connection))
connection.execute(f"CREATE TEMPORARY TABLE temporary AS {rows}")
tried(lambda: sd.read_named("temporary", {"id": "i32"}).collect(connection))
connection.execute("BEGIN")
connection.execute("INSERT INTO things VALUES ('new', 0, 9)")
tried(lambda: things.select("id").collect(connection))
connection.execute("ROLLBACK")
tried(lambda: things.select("id").collect(connection))
connection.execute("ATTACH ':memory:' AS other")
connection.execute("USE other")
connection.execute("CREATE TABLE things AS SELECT 5 AS id, 'other' AS name")
tried(lambda: things.collect(connection))
connection.execute("USE memory")
tried(lambda: connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall())
"""
    assert lines(program, duckdb_substrait) == [
        "[Row(id=7, name='x'), Row(id=8, name='y')]",
        "[Row(id=1, name='z')]",
        "[Row(name='x', id=7), Row(name='y', id=8)]",
        "[Row(id=7), Row(id=8)]",
        "[Row(id=7), Row(id=8), Row(id=9)]",
        "[Row(id=7), Row(id=8)]",
        "[Row(id=5, name='other')]",
        "[(3,)]",
    ]


def test_views_over_names_of_files(duckdb_substrait: Engine, tmp_path: Path) -> None:
    """The connection that runs plans has no variables of Python's; others have them before and after."""
    program = f"""
import os
os.chdir({str(tmp_path)!r})
connection.execute("COPY (SELECT range::INTEGER AS id, 'x' || range AS name FROM range(3)) TO 'rows.parquet'")
connection.execute("COPY (SELECT range::INTEGER AS id, 'y' || range AS name FROM range(2)) TO 'rows.csv'")
connection.execute("CREATE VIEW things AS FROM 'rows.parquet'")
connection.execute("CREATE VIEW others AS SELECT * FROM 'rows.csv' WHERE id > 0")
connection.execute("CREATE VIEW again AS SELECT id + 10 AS id FROM things")
tried(lambda: things.collect(connection))
tried(lambda: sd.read_named("others", {{"id": "i64?", "name": "string?"}}).collect(connection))
tried(lambda: sd.read_named("again", {{"id": "i32?"}}).filter(lambda r: r.id > 10).collect(connection))
variable = pa.table({{"v": [5]}})
print(connection.execute("SELECT v FROM variable").fetchall(), connection.cursor().execute("FROM variable").fetchall())
connection.execute("SET GLOBAL python_enable_replacements = false")
tried(lambda: things.select("id").collect(connection))
print(connection.cursor().execute("SELECT current_setting('python_enable_replacements')").fetchall())
os.remove("rows.parquet")
tried(lambda: things.collect(connection))
"""
    *found, failed = lines(program, duckdb_substrait)
    assert found == [
        "[Row(id=0, name='x0'), Row(id=1, name='x1'), Row(id=2, name='x2')]",
        "[Row(id=1, name='y1')]",
        "[Row(id=11), Row(id=12)]",
        "[(5,)] [(5,)]",
        "[Row(id=0), Row(id=1), Row(id=2)]",
        "[(False,)]",
    ]
    assert failed.startswith("ExecutionError")
    assert "rows.parquet" in failed


def test_columns_of_other_types_need_not_be_declared(duckdb_substrait: Engine) -> None:
    program = """
connection.execute("CREATE TABLE wide AS SELECT {'a': 1} AS w, 7::BIGINT AS id, [1, 2] AS l")
tried(lambda: sd.read_named("wide", {"w": "struct<i32>?", "id": "i64?"}).select("id").collect(connection))
tried(lambda: sd.read_named("wide", {"id": "i64?"}).collect(connection))
least = sd.read_named("wide", {"id": "i64?"}).filter(lambda r: r.id > sd.parameter(1, "i64"))
tried(lambda: least.collect(connection))
tried(lambda: sd.Plan(least, parameter_bindings={1: 6}).roots[0].collect(connection))
"""
    refusal, rows, unbound, bound = lines(program, duckdb_substrait)
    assert 'declare only the columns that the plan uses: the read need not have "w"' in refusal
    assert "bind it: Plan(relation, parameter_bindings={1: ...}).roots[0].collect(...)" in unbound
    assert rows == bound == "[Row(id=7)]"


def test_errors_are_of_the_tree(duckdb_substrait: Engine) -> None:
    program = """
tried(lambda: given.collect(plain, tables=tables))
connection.execute("CREATE TABLE things AS SELECT * FROM (VALUES (1), (NULL)) v(id)")
tried(lambda: sd.read_named("thing", {"id": "i32"}).collect(connection))
tried(lambda: sd.read_named("zebras", {"id": "i32"}).collect(connection))
tried(lambda: things.collect(connection))
tried(lambda: sd.read_named("things", {"id": "i32"}).collect(connection))
tried(lambda: given.select(x=lambda r: sd.functions.divide(r.id, r.id - 1)).collect(connection, tables=tables))
tried(lambda: given.write("copies", op="ctas").execute(connection, tables=tables))
tried(lambda: given.collect(connection, tables=tables, progress=True))
tried(lambda: given.explain(connection, tables=tables))
"""
    expected = [
        ("UnsupportedError", "has not loaded the Substrait extension", "load_extension"),
        ("ExecutionError", 'there is no table "thing"', 'did you mean "things"?'),
        ("ExecutionError", 'there is no table "zebras"', 'tables={"zebras": frame}'),
        ("SchemaError", 'it has no column "name"'),
        ("ExecutionError", 'DuckDB fails: Invalid Input Error: column "id" is required, but it is NULL'),
        ("ExecutionError", "DuckDB fails:", "division by zero", "in id / (id - 1) (step: project -> x"),
        ("UnsupportedError", "a write cannot be lowered", "(step: write ctas as copies"),
        ("UnsupportedError", "progress is for sessions of Spark"),
        ("UnsupportedError", "DuckDB does not explain plans of Substrait"),
    ]
    for line, words in zip(lines(program, duckdb_substrait), expected, strict=True):
        for part in words:
            assert part in line


def test_another_version_is_told_what_to_install(duckdb: None) -> None:
    from duckdb import connect

    relation = sd.read_named("given", {"id": "i64"})
    with connect() as connection, refused(UnsupportedError, "DuckDB 1.1.3 with", "pip install duckdb==1.1.3"):
        relation.collect(connection, tables={"given": pa.table({"id": [1]})})


def test_threads_and_closed_connections(duckdb_substrait: Engine) -> None:
    """Statements of several threads on a connection do not take each other's rows; a closed one is said to be so."""
    program = """
from concurrent.futures import ThreadPoolExecutor
connection.execute("CREATE TABLE things AS SELECT 7::INTEGER AS id, 'x' AS name")
with ThreadPoolExecutor(4) as pool:
    found = list(pool.map(lambda _: things.select("id").collect(connection), range(24)))
print(len(found), {str(rows) for rows in found})
connection.close()
tried(lambda: things.collect(connection))
tried(lambda: things.execute(connection))
"""
    assert lines(program, duckdb_substrait) == [
        "24 {'[Row(id=7)]'}",
        "ExecutionError collect: this connection of DuckDB is closed",
        "ExecutionError execute: this connection of DuckDB is closed",
    ]
