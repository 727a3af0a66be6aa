"""Running pipelines in both engines, and comparing what comes back."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import attrs
import duckdb

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.errors import UnsupportedError
from tests.differential.sql import to_sql
from tests.differential.tables import duckdb_type, register_in_duckdb, register_in_spark

if TYPE_CHECKING:
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
    # Spark's parser remembers what it has learned from every text, and these are thousands of different ones: after a
    # hundred or so, that would be most of the heap of 1 GB that a session has by default.
    "spark.sql.parser.manageParserCaches": "true",
    "spark.sql.parser.parserDfaCacheFlushThreshold": "20000",
    # Spark's statistics of cached tables leave NaN out, and so its filters of them lose rows that are larger than any
    # number: SELECT r FROM cached WHERE r > 100 has no NaN.
    "spark.sql.inMemoryColumnarStorage.partitionPruning": "false",
}
"""How the session differs from the defaults."""


def spark_engine(spark: SparkSession) -> SparkSession:
    """A session of its own on the same Spark, with the tables."""
    session = spark.newSession()
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    register_in_spark(session)
    return session


def duckdb_engine() -> duckdb.DuckDBPyConnection:
    """A database with the tables."""
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.execute("SET order_by_non_integer_literal = true")  # a constant is an order in which all rows are equal
    register_in_duckdb(connection)
    return connection


# --- values

SPARK_NAMES = {"INTEGER": "int", "VARCHAR": "string", "TIMESTAMP": "timestamp_ntz"}
"""Where a type is called otherwise in Spark than in DuckDB."""


def spark_type(kind: t.Type) -> str:
    """What a type is called in Spark."""
    name = duckdb_type(kind)
    return SPARK_NAMES.get(name, name.lower())


def from_text(text: str | None, kind: t.Type) -> Any:
    """The value that Spark wrote so."""
    if text is None:
        return None
    match kind:
        case t.Boolean():
            return text == "true"
        case t.FP32() | t.FP64():
            return canonical(float(text))
        case t.Decimal():
            return Decimal(text)
        case t.Date():
            return dt.date.fromisoformat(text)
        case t.PrecisionTimestamp():
            return dt.datetime.fromisoformat(text if "." not in text else text.ljust(26, "0"))
        case t.String():
            return text
        case _:
            return int(text)


def canonical(value: Any) -> Any:
    """A value that equals all that are the same: both zeros are, and all NaNs. To Python NaN differs from itself."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value


# --- DuckDB


def duckdb_rows(connection: duckdb.DuckDBPyConnection, query: str) -> Rows:
    """The rows of a query."""
    return [tuple(map(canonical, row)) for row in connection.execute(query).fetchall()]


# --- Spark


def text_of(frame: DataFrame, relation: sd.Relation[Any], number: int) -> DataFrame:
    """The rows with the number of the pipeline, their place, and all values as text: so any two can be united."""
    names = [f"c{position}" for position in range(len(relation.schema))]
    texts = []
    for name, kind in zip(names, relation.schema.types, strict=True):
        # a float as text is shorter than the double it is
        text = f"CAST({name} AS DOUBLE)" if isinstance(kind, t.FP32) else name
        texts.append(f"CAST({text} AS STRING)")
    return frame.toDF(*names).selectExpr(
        f"{number} AS number", "monotonically_increasing_id() AS place", f"array({', '.join(texts)}) AS texts"
    )


def check_schema(frame: DataFrame, relation: sd.Relation[Any]) -> None:
    """Raise `AssertionError` unless a DataFrame has exactly the derived names, types and nullability."""
    found = [(field.name, field.dataType.simpleString(), field.nullable) for field in frame.schema.fields]
    wanted = [(field.name, spark_type(field.type), field.type.nullable) for field in relation.schema]
    assert found == wanted, f"Spark's columns are {found}, derived were {wanted}"


def collected(frames: dict[int, DataFrame], cases: dict[int, Case]) -> dict[int, Rows]:
    """The rows of several pipelines, by their numbers, in one job."""
    if not frames:
        return {}
    first, *others = frames.values()
    united = first
    for frame in others:
        united = united.unionAll(frame)
    found: dict[int, list[tuple[int, Any]]] = {number: [] for number in frames}
    for number, place, texts in united.collect():
        found[number].append((place, texts))
    return {number: in_order(rows, cases[number].relation) for number, rows in found.items()}


def in_order(rows: list[tuple[int, Any]], relation: sd.Relation[Any]) -> Rows:
    """The rows of a pipeline, in the order of their places."""
    kinds = relation.schema.types
    return [
        tuple(from_text(text, kind) for text, kind in zip(texts, kinds, strict=True))
        for _, texts in sorted(rows, key=lambda row: row[0])
    ]


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


KNOWN_FAILURES = {
    # Where a subquery inside a subquery refers to the outermost row from several inputs of a set operation or a join,
    # Spark's optimizer may not find its columns. That is an error, and no wrong rows.
    "Unable to rewrite domain join",
}
"""What Spark says in its own words, once it runs, where the library does not refuse before; it counts as refused."""


def failure(error: Exception) -> str | UnsupportedError:
    """What an error says of a case."""
    text = f"{type(error).__name__}: {error}"[:1500]
    known = next((words for words in KNOWN_FAILURES if words in text), None)
    return text if known is None else UnsupportedError(f"Spark fails: {known}")


def result_of(case: Case, session: SparkSession) -> str | UnsupportedError | None:
    """What is wrong with a case that runs alone: nothing, a difference, Spark's error, or that it is refused."""
    try:
        frame = case.relation.execute(session)
        check_schema(frame, case.relation)
        rows = collected({case.number: text_of(frame, case.relation, case.number)}, {case.number: case})
        return case.difference(rows[case.number])
    except UnsupportedError as refused:
        return refused
    except Exception as error:
        return failure(error)


def results_of(cases: Sequence[Case], session: SparkSession) -> dict[int, str | UnsupportedError | None]:
    """The same of several, in one job if none of them fails."""
    found: dict[int, str | UnsupportedError | None] = {}
    frames: dict[int, DataFrame] = {}
    for case in cases:
        try:
            frame = case.relation.execute(session)
            check_schema(frame, case.relation)
            frames[case.number] = text_of(frame, case.relation, case.number)
        except UnsupportedError as refused:
            found[case.number] = refused
        except Exception as error:
            found[case.number] = failure(error)
    running = {case.number: case for case in cases if case.number in frames}
    try:
        rows = collected(frames, running)
    except Exception:
        return found | {number: result_of(case, session) for number, case in running.items()}
    return found | {number: case.difference(rows[number]) for number, case in running.items()}


def smallest(case: Case, session: SparkSession, connection: duckdb.DuckDBPyConnection) -> tuple[Case, str] | None:
    """Of the relations that a wrong case is made of the smallest that is wrong by itself, and what is wrong with it.

    None if by itself not even the whole is.
    """
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
