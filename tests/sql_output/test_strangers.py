"""What a stranger's plan says stays what it is: a name, a text, a number; and no name of a table reads a file."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.fluent.expr import bound_expr
from tests.sql_output.texts import odd_texts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ONE = sd.read_virtual([(1,)], {"one": "i64"})


@pytest.fixture
def connection(duckdb: None) -> DuckDBPyConnection:
    import duckdb as engine

    connected = engine.connect()
    connected.execute("CREATE TABLE victims (secret BIGINT)")
    return connected


def test_texts_are_texts_on_duckdb(connection: DuckDBPyConnection) -> None:
    texts = odd_texts(200)
    for pretty in (True, False):
        constants = ONE.select(**{f"c{number}": sd.lit(text) for number, text in enumerate(texts)})
        assert connection.execute(constants.to_sql("duckdb", pretty=pretty)).fetchall() == [tuple(texts)]
        listed = sd.read_virtual([(text,) for text in texts], {"text": "string"})
        assert connection.execute(listed.to_sql("duckdb", pretty=pretty)).fetchall() == [(text,) for text in texts]
    assert connection.execute("SELECT COUNT(*) FROM victims").fetchall() == [(0,)]


def test_names_are_names_on_duckdb(connection: DuckDBPyConnection) -> None:
    for name in odd_texts(100):
        table = sd.read_virtual([(1, 5)], {name: "i64", "beside": "i64"})
        query = table.filter(lambda r: r[0] > 0).group_by(name).agg(n=f.count()).sort(name).to_sql("duckdb")
        result = connection.execute(query)
        assert [column[0] for column in result.description or ()] == [name, "n"]
        assert result.fetchall() == [(1, 1)]


def test_tables_of_any_name_are_read_on_duckdb(connection: DuckDBPyConnection) -> None:
    names = [name for name in odd_texts(60) if "/" not in name and "\\" not in name]
    for name in names:
        quoted = name.replace('"', '""')
        connection.execute(f'CREATE TABLE "{quoted}" AS SELECT 7::BIGINT AS id')
        assert connection.execute(sd.read_named(name, {"id": "i64"}).to_sql("duckdb")).fetchall() == [(7,)]


FILES: dict[str, list[tuple[str, ...]]] = {
    "duckdb": [
        ("data.csv",),
        ("/data/secret",),
        ("https://example.com/x",),
        ("data.csv.gz",),
        ("*.Parquet",),
        ("data", "csv"),
        ("a", "data.json"),
        ("a", "b", "ndjson"),
        ("data.json?x",),
        ("..\\data",),
    ],
    "spark": [
        ("csv", "data"),
        ("Text", "/etc/hosts"),
        ("binaryFile", "x"),
        ("org.apache.spark.sql.execution.datasources.text.TextFileFormat", "x"),
        ("mine", "x/y"),
        ("mine", "x.y"),
        ("mine", "C:x"),
    ],
}


@pytest.mark.parametrize(("dialect", "names"), [(dialect, names) for dialect, all_ in FILES.items() for names in all_])
def test_a_name_that_may_be_a_file_is_refused(dialect: Any, names: tuple[str, ...]) -> None:
    with pytest.raises(UnsupportedError, match="would read a file of this name"):
        sd.read_named(names, {"id": "i64"}).to_sql(dialect)


def test_the_hint_for_a_name_that_may_be_a_file_is_followed() -> None:
    with pytest.raises(UnsupportedError, match=r"read_named\(\('spark_catalog', 'text', 'lines'\), schema\)"):
        sd.read_named(("text", "lines"), {"id": "i64"}).to_sql()
    table = sd.read_named(("spark_catalog", "text", "lines"), {"id": "i64"})
    assert table.to_sql(pretty=False) == "SELECT id FROM spark_catalog.text.lines"


@pytest.mark.parametrize("name", ["csv", "orders_csv", "sales.2024", "json"])
def test_a_name_that_is_no_file_is_written(connection: DuckDBPyConnection, name: str) -> None:
    connection.execute(f'CREATE TABLE "{name}" AS SELECT 7::BIGINT AS id')
    assert connection.execute(sd.read_named(name, {"id": "i64"}).to_sql("duckdb")).fetchall() == [(7,)]


def test_duckdb_reads_such_files(
    connection: DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Why they are refused: of two parts, too."""
    (tmp_path / "data.csv").write_text("id\n7\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for query in ('SELECT id FROM "data.csv"', "SELECT id FROM data.csv"):
        assert connection.execute(query).fetchall() == [(7,)]


# --- numbers and times

NINES = "9" * 38


@pytest.mark.parametrize(
    ("value", "scale"),
    [
        (NINES, 0),
        (f"-{NINES}", 0),
        (f"0.{NINES}", 38),
        (f"-0.{NINES}", 38),
        (f"0.{'1'.zfill(38)}", 38),
        (f"1.{NINES[1:]}", 37),
        (f"{NINES[:30]}.{NINES[30:]}", 8),
        ("0.5", 1),
    ],
)
def test_decimals_keep_all_digits(connection: DuckDBPyConnection, value: str, scale: int) -> None:
    relation = ONE.select(x=sd.lit(Decimal(value), f"decimal<38,{scale}>"))
    assert connection.execute(relation.to_sql("duckdb")).fetchall() == [(Decimal(value),)]


EPOCH = datetime(1970, 1, 1)


def _timestamp(microseconds: int) -> Any:
    return bound_expr(ex.Literal(microseconds, t.PrecisionTimestamp(6)), None)


@pytest.mark.parametrize("value", [datetime.min, datetime.max, EPOCH - timedelta(microseconds=1), EPOCH])
def test_timestamps_keep_all_digits(connection: DuckDBPyConnection, value: datetime) -> None:
    relation = ONE.select(x=sd.lit(value, "precision_timestamp<6>"))
    assert connection.execute(relation.to_sql("duckdb")).fetchall() == [(value,)]


@pytest.mark.parametrize("microseconds", [2**63 - 1, -(2**63), (datetime.max - EPOCH) // timedelta(microseconds=1) + 1])
def test_timestamps_that_no_calendar_has_are_refused(microseconds: int) -> None:
    with pytest.raises(UnsupportedError, match="outside of the years 1 to 9999"):
        ONE.select(x=_timestamp(microseconds)).to_sql("duckdb")


# --- names that are one to an engine

PAIRS = sd.read_named("pairs", {"x": "i64", "y": "i64?"})

SAME: dict[str, tuple[sd.Relation[Any], str]] = {
    "computed": (
        PAIRS.select(A=lambda r: r.x + 1, a=lambda r: 0 - r.x).sort("a"),
        "SELECT x + 1 AS `A`, 0 - x AS a FROM pairs ORDER BY 0 - x",
    ),
    "distinct": (
        PAIRS.select(A="x", a="y").distinct().sort("a"),
        "WITH different AS (SELECT DISTINCT x AS `A`, y AS a_2 FROM pairs) SELECT different.`A`, different.a_2 AS a "
        "FROM different ORDER BY different.a_2 NULLS FIRST",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_an_order_by_a_name_of_two_columns_says_which(name: str) -> None:
    """Spark refuses ORDER BY a where there are columns A and a."""
    relation, query = SAME[name]
    assert relation.to_sql("spark", pretty=False) == query


@pytest.mark.parametrize(("one", "other"), [("i", "\u0130"), ("I", "\u0131"), ("k", "\u212a"), ("ss", "SS")])
def test_columns_that_are_one_to_an_engine_are_refused(one: str, other: str) -> None:
    with pytest.raises(UnsupportedError, match="does not tell capital letters from small ones"):
        sd.read_named("t", {one: "i64", other: "i64"}).to_sql("spark")
