"""Running pipelines in both engines, and comparing what comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.errors import UnsupportedError
from tests.differential.claims import canonical, is_one_order, is_ordered
from tests.differential.sql import to_sql
from tests.differential.tables import FIELDS, Store, duckdb_type, register_in_duckdb, register_in_spark

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import DataFrame, SparkSession

Rows = list[tuple[Any, ...]]

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # What makes many tiny plans fast, and changes no results:
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Spark's parser remembers what it has learned from every text, which makes it faster; but these are thousands of
    # different ones, so that after some hundreds it would be most of the heap.
    "spark.sql.parser.manageParserCaches": "true",
    "spark.sql.parser.parserDfaCacheFlushThreshold": "80000",
    # Spark's statistics of cached tables leave NaN out, and so its filters of them lose rows that are larger than any
    # number: SELECT r FROM cached WHERE r > 100 has no NaN.
    "spark.sql.inMemoryColumnarStorage.partitionPruning": "false",
}
"""How the session differs from the defaults."""


Kinds = Sequence[tuple[Store, bool]]
"""For each session where the tables are, and whether Spark may send small ones to all tasks."""

OF_SPARK: Kinds = [("cache", True), ("cache", False), ("parquet", True), ("orc", False)]
OF_ICEBERG: Kinds = [("iceberg", True), ("iceberg_parts", False), ("iceberg_orc", True)]
"""In a catalog of the session called ``lake``."""


def spark_engines(spark: SparkSession, folder: Path, kinds: Kinds = OF_SPARK) -> list[SparkSession]:
    """Sessions of their own on the same Spark, with the tables, that are as unlike as can be.

    Args:
        spark: a session.
        folder: where files may be written.
        kinds: what the sessions are.

    Returns:
        The sessions. They differ in where the rows are, as filters are given to what reads files, and in how Spark
        joins where columns are equal: by hashing the smaller input, as it does by default, or by sorting and merging.
    """
    return [_spark_engine(spark, folder, store, broadcasts=broadcasts) for store, broadcasts in kinds]


def _spark_engine(spark: SparkSession, folder: Path, store: Store, *, broadcasts: bool) -> SparkSession:
    session = spark.newSession()
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    if not broadcasts:
        session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    register_in_spark(session, store, folder)
    return session


def duckdb_engine() -> duckdb.DuckDBPyConnection:
    """A database with the tables."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    # No plan is rewritten, as DuckDB 2.0 gets some of those wrong that are: NULLs that an outer join made become false,
    # and of equal numbers too few are added up (pipelines 13132 and 4532 of seed 23).
    rules = [name for (name,) in connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()]
    connection.execute(f"SET disabled_optimizers = '{','.join(rules)}'")
    # A constant is an order in which all rows are equal. Global, as cursors have settings of their own.
    connection.execute("SET GLOBAL order_by_non_integer_literal = true")
    register_in_duckdb(connection)
    return connection


# --- values

SPARK_NAMES = {"INTEGER": "int", "VARCHAR": "string", "TIMESTAMP": "timestamp_ntz"}
"""Where a type is called otherwise in Spark than in DuckDB."""


def spark_type(type_: t.Type) -> str:
    """What a type is called in Spark."""
    if isinstance(type_, t.List):
        return f"array<{spark_type(type_.element)}>"
    if isinstance(type_, t.Struct):
        fields = zip(FIELDS, map(spark_type, type_.types), strict=True)
        return f"struct<{','.join(map(':'.join, fields))}>"
    name = duckdb_type(type_)
    return SPARK_NAMES.get(name, name.lower())


# --- DuckDB


def duckdb_rows(connection: duckdb.DuckDBPyConnection, query: str) -> Rows:
    """The rows of a query."""
    return [tuple(map(canonical, row)) for row in connection.execute(query).fetchall()]


# --- Spark


def spark_rows(frame: DataFrame) -> Rows:
    """The rows of a DataFrame."""
    return [tuple(map(canonical, row)) for row in frame.collect()]


def check_schema(frame: DataFrame, relation: sd.Relation[Any]) -> None:
    """Raise `AssertionError` unless a DataFrame has exactly the derived names, types and nullability."""
    found = [(field.name, field.dataType.simpleString(), field.nullable) for field in frame.schema.fields]
    wanted = [(field.name, spark_type(field.type), field.type.nullable) for field in relation.schema]
    assert found == wanted, f"Spark's columns are {found}, derived were {wanted}"


# --- both


@attrs.frozen
class Case:
    """A pipeline with what DuckDB makes of it."""

    number: int
    relation: sd.Relation[Any]
    query: str
    ordered: bool
    rows: Rows

    def difference(self, rows: Rows) -> str | None:
        """How these rows differ from DuckDB's; None if they do not."""
        if rows == self.rows or (not self.ordered and Counter(rows) == Counter(self.rows)):
            return None
        missing, surplus = Counter(self.rows) - Counter(rows), Counter(rows) - Counter(self.rows)
        if not missing and not surplus:
            return f"the rows come in another order\nSpark: {rows}\nDuckDB: {self.rows}"
        return f"only DuckDB has {list(missing.elements())[:5]}\nonly Spark has {list(surplus.elements())[:5]}"


def case_of(number: int, relation: sd.Relation[Any], connection: duckdb.DuckDBPyConnection) -> Case:
    """The case that a pipeline is. Raises DuckDB's errors."""
    query, ordered = to_sql(relation._rel)
    return Case(number, relation, query, ordered, duckdb_rows(connection, query))


SPARK_FAILS = "Spark fails"

KNOWN_FAILURES = {
    # Where a subquery inside a subquery refers to the outermost row, or a lateral join has correlated subqueries on its
    # left, Spark's optimizer may lose columns: one pipeline in some thousands. That is an error, and no wrong rows.
    "Unable to rewrite domain join",
    "No plan for DomainJoin",
    "INTERNAL_ERROR_ATTRIBUTE_NOT_FOUND",
    "key not found: __s",
    "Task not serializable",
    # A union of three inputs of which two have no rows, whose columns are the same one twice: one pipeline of 20,000.
    "PLAN_VALIDATION_FAILED_RULE_IN_BATCH",
}
"""What Spark says in its own words, once it runs, where the library does not refuse before; it counts as refused."""


def failure(error: Exception) -> str | UnsupportedError:
    """What an error says of a case."""
    text = f"{type(error).__name__}: {error}"[:1500]
    known = next((words for words in KNOWN_FAILURES if words in text), None)
    return text if known is None else UnsupportedError(f"{SPARK_FAILS}: {known}")


def result_of(case: Case, session: SparkSession) -> str | UnsupportedError | None:
    """What is wrong with a case: nothing, a difference, Spark's error, or that it is refused."""
    try:
        frame = case.relation.execute(session)
        check_schema(frame, case.relation)
        rows = spark_rows(frame)
        claimed = case.relation.properties.ordering
        if is_one_order(case.relation._rel) and not is_ordered(rows, claimed):
            return f"the rows should be ordered by {claimed}: {rows}"
        return case.difference(rows)
    except UnsupportedError as refused:
        return refused
    except Exception as error:
        return failure(error)


def smallest(case: Case, session: SparkSession, connection: duckdb.DuckDBPyConnection) -> tuple[Case, str] | None:
    """Of the relations that a wrong case is made of the smallest that is wrong by itself, and what is wrong with it.

    None if by itself not even the whole is.
    """
    import duckdb

    parts = [node for node in walk(case.relation._rel) if isinstance(node, Rel) and not node.free_anchors]
    for part in sorted(parts, key=lambda part: part.size):
        try:
            made = case_of(case.number, sd.Relation(part), connection)
        except duckdb.Error:
            continue
        result = result_of(made, session)
        if isinstance(result, str):
            return made, result
    return None
