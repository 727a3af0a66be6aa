"""Pipelines of many steps as SQL give the rows of the plan: on Spark, on DuckDB, and read again by DataFusion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError
from tests.differential.claims import canonical
from tests.differential.engines import spark_type
from tests.differential.tables import duckdb_type
from tests.sql_output.rare_relations import KEYS, PAIRS, RARE
from tests.sql_output.rich_pipelines import RICH, ROWS, SCHEMAS, TABLES, Rich
from tests.sql_output.texts import odd_texts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession

each_pipeline = pytest.mark.parametrize("name", RICH)


def rows_of(rich: Rich, rows: Iterable[Iterable[Any]]) -> list[tuple[Any, ...]]:
    """The rows, in their order if the pipeline has one."""
    found = [tuple(map(canonical, row)) for row in rows]
    return found if rich.is_ordered else sorted(found, key=repr)


# --- Spark


@pytest.fixture(scope="module")
def spark_tables(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    for name, table in TABLES.items():
        table.execute(session).createOrReplaceTempView(name)
    return session


@each_pipeline
def test_a_query_gives_the_rows_of_the_plan_on_spark(spark_tables: SparkSession, name: str) -> None:
    rich = RICH[name]
    frame = spark_tables.sql(rich.relation.to_sql("spark"))
    assert [field.dataType.simpleString() for field in frame.schema.fields] == [
        spark_type(field.type) for field in rich.relation.schema
    ]
    assert frame.columns == list(rich.relation.schema.names)
    found = rows_of(rich, frame.collect())
    assert found == rows_of(rich, rich.relation.collect(spark_tables))
    assert found


def test_texts_and_names_stay_what_they_are_on_spark(spark_tables: SparkSession) -> None:
    texts = odd_texts(60)
    constants = sd.read_virtual([(1,)], {"one": "i64"}).select(
        **{f"c{number}": sd.lit(text) for number, text in enumerate(texts)}
    )
    assert tuple(spark_tables.sql(constants.to_sql("spark")).collect()[0]) == tuple(texts)
    names = [text for text in texts if "${" not in text]
    table = sd.read_virtual([tuple(range(len(names)))], dict.fromkeys(names, "i64"))
    frame = spark_tables.sql(table.filter(lambda r: r[0] == 0).emit(list(range(len(names)))[::-1]).to_sql("spark"))
    assert frame.columns == names[::-1]
    assert tuple(frame.collect()[0]) == tuple(range(len(names)))[::-1]


# --- DuckDB


@pytest.fixture(scope="module")
def connection(duckdb: None) -> DuckDBPyConnection:
    import duckdb as engine

    connected = engine.connect()
    for name, schema in SCHEMAS.items():
        columns = ", ".join(f'"{field.name}" {duckdb_type(field.type)}' for field in schema)
        connected.execute(f"CREATE TABLE {name} ({columns})")
        connected.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(schema))})", ROWS[name])
    return connected


@each_pipeline
def test_a_query_gives_the_rows_of_the_plan_on_duckdb(
    connection: DuckDBPyConnection, spark_tables: SparkSession, name: str
) -> None:
    rich = RICH[name]
    result = connection.execute(rich.relation.to_sql("duckdb"))
    described = [str(column[1]) for column in result.description or ()]
    assert described == [duckdb_type(field.type) for field in rich.relation.schema]
    assert rows_of(rich, result.fetchall()) == rows_of(rich, rich.relation.collect(spark_tables))


# --- there and back

REFUSED = {
    **dict.fromkeys(
        ("structs", "groups by structs", "different structs", "a join by structs"), "SQL error: ParserError"
    ),
    "what a left join makes NULL": "Unsupported SQL type Int128",
    "extremes of i8": "Unsupported SQL type Int128",
    "extremes of i64": "Unsupported SQL type Int128",
    "groups": "Unsupported SQL type Int128",
    "groups of groups": "Unsupported SQL type Int128",
    "decimals": "Unsupported SQL type Int128",
    "remainders of decimals": "Unsupported SQL type Int128",
    "integers": "Operator DIV is not yet supported",
    "the first two of each": "DataFusion has no Substrait for a step of the query",
    "a total of each": "decorrelate_lateral_join",
    "elements": "Invalid function 'len'",
    "elements of pairs": "Invalid function 'len'",
}
"""What DataFusion does not take of DuckDB's dialect, in its words: integers of 128 bits, their division, some lateral
joins, and the lengths of lists."""


@pytest.mark.usefixtures("datafusion")
@each_pipeline
def test_a_query_that_is_read_again_gives_the_same_rows(
    connection: DuckDBPyConnection, spark_tables: SparkSession, name: str
) -> None:
    rich = RICH[name]
    query = rich.relation.to_sql("duckdb")
    if name in REFUSED:
        with pytest.raises((InvalidArgumentError, UnsupportedError), match=REFUSED[name]):
            sd.from_sql(query, TABLES)
        return
    read = sd.from_sql(query, TABLES)
    assert read.schema.names == rich.relation.schema.names
    assert rows_of(rich, read.collect(spark_tables)) == rows_of(rich, connection.execute(query).fetchall())


@pytest.mark.parametrize("name", RARE)
def test_rare_relations_have_the_rows_of_the_plan_on_spark_or_are_refused(
    spark_tables: SparkSession, name: str
) -> None:
    relation, rows = RARE[name]
    for table, query in {"pairs": PAIRS, "keyed": KEYS}.items():
        spark_tables.sql(query).createOrReplaceTempView(table)
    try:
        query = relation.to_sql("spark")
    except UnsupportedError:
        assert any(word in name for word in ("IN ", "single", "outer row")) or name == "unique rows"  # correlated
        return
    assert sorted(map(tuple, spark_tables.sql(query).collect()), key=str) == sorted(rows, key=str)
