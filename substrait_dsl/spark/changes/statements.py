"""Statements that change tables: their parts as SQL text, and the errors of Spark while they run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import ExecutionError, SubstraitDslError, UnsupportedError, quote
from substrait_dsl.spark.catalog.table_metadata import REQUIRED
from substrait_dsl.spark.catalog.table_names import SEVERAL_PARTS, column_list, statement_name
from substrait_dsl.spark.diagnostics.explanations import hint_for_message
from substrait_dsl.spark.session.cancellation import hold_interrupts
from substrait_dsl.spark.session.change_outcomes import note_outcome
from substrait_dsl.spark.session.connect import functions_of, is_remote
from substrait_dsl.spark.session.failures import failure_of, message_of, spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

    from substrait_dsl.spark.catalog.table_metadata import StoredTable
    from substrait_dsl.spark.session.execution_context import ExecutionContext


def sql_type(type_: DataType) -> str:
    """Write a Spark type in a column definition: fields of structs have their names."""
    from pyspark.sql import types as spark

    match type_:
        case spark.StructType(fields=fields):
            return f"STRUCT<{', '.join(f'{column_list([f.name])}: {sql_type(f.dataType)}' for f in fields)}>"
        case spark.ArrayType(elementType=element):
            return f"ARRAY<{sql_type(element)}>"
        case spark.MapType(keyType=key, valueType=value):
            return f"MAP<{sql_type(key)}, {sql_type(value)}>"
        case spark.TimestampType():
            return "TIMESTAMP_LTZ"  # what TIMESTAMP means is a setting of the session
        case _:
            return type_.simpleString()


def string(value: str) -> str:
    """Write a string where Spark's grammar takes a literal, not an expression.

    Spark substitutes ``${...}`` even in a literal, but not across two adjacent ones.
    """
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'".replace("${", "$' '{")


def required_property(schema: NamedStruct, old: StoredTable | None = None) -> str:
    """Write the clause of a new table that stores which of its columns are required; empty if none is.

    An Iceberg table that replaces another inherits its properties, unless the clause sets them.
    """
    required = [field.name for field in schema if not field.type.nullable]
    return f" TBLPROPERTIES {property_of(required)}" if required or (old and REQUIRED in old.properties) else ""


def property_of(required: Sequence[str]) -> str:
    """Write the property of a table that names its required columns."""
    statement_name(required)  # refuses what Spark would replace
    return f"({string(REQUIRED)} = {string(json.dumps(required))})"


def using(format_: str) -> str:
    """Write the clause of a new table that names its format; empty if the catalog chooses it."""
    return f" USING {statement_name((format_,))}" if format_ else ""


def no_output(spark: SparkSession) -> DataFrame:
    """Return the output of a change without one: no columns, no rows."""
    return spark.range(0).select()


def no_rows(schema: StructType, spark: SparkSession) -> DataFrame:
    """Make a DataFrame of exactly these columns without rows.

    `createDataFrame` of pyspark would start a Python on a worker for it, which a cluster may not have.
    """
    if is_remote(spark):
        return spark.createDataFrame([], schema)
    from pyspark.sql import DataFrame

    rows = spark.sparkContext._jsc.emptyRDD().rdd()
    return DataFrame(spark._jsparkSession.applySchemaToPythonRDD(rows, schema.json()), spark)


def nested_cast(frame: DataFrame, wanted: Sequence[DataType]) -> DataFrame:
    """Rename the fields of structs in rows as the target table calls them."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if not any(isinstance(type_, StructType | ArrayType | MapType) for type_ in wanted):
        return frame
    functions = functions_of(frame.sparkSession)
    names = frame.columns
    plain = frame.toDF(*(f"c{number}" for number in range(len(names))))
    return plain.select(*(functions.col(f"c{number}").cast(type_) for number, type_ in enumerate(wanted))).toDF(*names)


@contextmanager
def changing(what: str) -> Iterator[None]:
    """Explain the errors of Spark in a statement that changes something.

    An error of an expression in the plan is explained better by a caller that knows the plan.
    """
    try:
        yield
    except spark_errors() as error:
        raise _explain_error(what, error) from error


@attrs.frozen
class _Explanation:
    """The message and the hint for an error class, in which ``{message}`` is Spark's message, ``{database}`` a name."""

    message: str
    hint: str | None = None


_EXPLANATIONS: Mapping[str, _Explanation] = {
    "TABLE_OR_VIEW_ALREADY_EXISTS": _Explanation("there is one of this name already"),
    "SCHEMA_NOT_FOUND": _Explanation("there is no database {quoted}", "CREATE DATABASE {database}, in Spark's SQL"),
    "MERGE_CARDINALITY_VIOLATION": _Explanation(
        "several rows of the input have the key of one row of the table",
        "an aggregate by the key, or a window's row_number(), leaves one of them",
    ),
    "LOCATION_ALREADY_EXISTS": _Explanation(
        "{message}", "a writer that was killed may have left that folder, which no table has; remove it if so"
    ),
    "PATH_ALREADY_EXISTS": _Explanation(
        "there is something already", 'create_mode="replace_if_exists", or op="insert" to add files'
    ),
    "INVALID_SCHEMA_OR_RELATION_NAME": _Explanation("{message}", SEVERAL_PARTS),
}
"""The explanations of errors in a change, by Spark's error class."""


def _explain_error(what: str, error: Exception) -> SubstraitDslError:
    """Return the error to raise for an error of Spark in a change."""
    if _CONFLICT.search(_text_with_causes(error)):
        return ExecutionError(
            f"{what}: another writer has changed the same table meanwhile, so nothing was done", hint="run it again"
        )
    if "Unexpected row-level read relations" in str(error):
        return UnsupportedError(
            f"{what}: Spark takes no condition and value that both have a subquery of the table itself",
            hint='write(..., "update") of rows with the new values, or a new table of all rows',
        )
    failure, message = failure_of(error, analysis=True), message_of(error)
    explanation = None if failure is None else _EXPLANATIONS.get(failure.error_class)
    if failure is None or explanation is None:
        message = _CLASS.sub("", message)
        return ExecutionError(f"{what}: {message}", hint=hint_for_message(message))
    database = failure.parameters.get("schemaName", "").replace("`", "")
    words = {"message": message, "database": database, "quoted": quote([database])}
    hint = explanation.hint and explanation.hint.replace("{database}", database)
    return ExecutionError(f"{what}: {explanation.message.format(**words)}", hint=hint)


@contextmanager
def reporting_replaced(what: str) -> Iterator[None]:
    """Report a table that was found, and does not exist any more, as replaced or dropped by another writer."""
    try:
        yield
    except Exception as error:
        cause = error.__cause__ if isinstance(error, ExecutionError) else error
        if cause is None or error_class_of(cause) not in OF_REPLACED:
            raise
        raise ExecutionError(
            f"{what}: another writer has replaced or dropped the table meanwhile, so nothing was done",
            hint="run it again",
        ) from error


OF_REPLACED = (
    "TABLE_OR_VIEW_NOT_FOUND",
    "INVALID_PARTITION_OPERATION",
    "NOT_A_PARTITIONED_TABLE",
    "PARTITIONS_NOT_FOUND",
    "_LEGACY_ERROR_TEMP_1251",  # its partitions are not those of the catalog
)
"""Spark's error classes for a table that does not exist any more, or is another one without its partitions."""


def error_class_of(error: BaseException) -> str:
    """Return the error class of an error, such as ``TABLE_OR_VIEW_NOT_FOUND``; empty if it has none."""
    failure = failure_of(error, analysis=True)
    return "" if failure is None else failure.error_class


_CLASS = re.compile(r"^(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error): ")
"""Java's class name before the message of an error without an error class."""

_CONFLICT = re.compile(
    r"org\.apache\.iceberg\.exceptions\.CommitFailedException\b"
    r"|ValidationException: (Found|Missing|Cannot commit|Cannot determine)"
    r"|Found conflicting files|Cannot commit: stale table metadata|Cannot commit, found new delete"
)


def _text_with_causes(error: BaseException) -> str:
    """Return the text of an error with the stacks of its causes."""
    stack = getattr(error, "getStackTrace", None)
    return f"{error}\n{stack() if callable(stack) else ''}\n{error.__cause__ or ''}"


def run(what: str, text: str, execution: ExecutionContext) -> None:
    """Run a statement, which may refer to registered DataFrames; not in a rehearsal."""
    if not execution.is_rehearsal:
        with changing(what):
            execution.sql(text)


def run_change(what: str, text: str, execution: ExecutionContext) -> None:
    """Run a statement that makes a change of the plan, as `run` does; an interrupt is raised after it."""
    if not execution.is_rehearsal:
        with hold_interrupts(cancels=True):
            run(what, text, execution)
            note_outcome("made")


def pairs(left: Iterable[str], right: Iterable[str], operator: str) -> list[str]:
    """Write comparisons of the columns of two tables, one by one."""
    return [f"{one} {operator} {other}" for one, other in zip(left, right, strict=True)]


def qualify_columns(table: str, columns: Iterable[str]) -> list[str]:
    """Qualify columns by the alias of their table."""
    return [f"{table}.{statement_name((column,))}" for column in columns]
