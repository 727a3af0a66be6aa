"""The Arrow tables of one execution, as DataFrames with exactly their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.types import Decimal, PrecisionTime
from substrait_dsl.errors import ExecutionError, quote
from substrait_dsl.layouts import hint_as_declared, plain_columns, plain_type
from substrait_dsl.spark.expressions.types import MICROSECONDS, type_to_spark
from substrait_dsl.spark.session.engines import current_engine
from substrait_dsl.spark.sources.declared_columns import actual_name, check_columns
from substrait_dsl.spark.sources.file_column_types import parts

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from substrait_dsl.algebra.schema import NamedStruct

Names = tuple[str, ...]

CAST = "cast the column with pyarrow to a type that the engine has, table.cast(schema)"


def table_title(names: Names) -> str:
    """Return the name of a table in messages."""
    return f"table {quote(['.'.join(names)])}"


@attrs.define(eq=False)
class ArrowTables:
    """The tables that were passed to one execution, by name; each is sent to Spark once."""

    tables: Mapping[Names, pa.Table]
    spark: SparkSession
    _frames: dict[tuple[Names, NamedStruct], DataFrame] = attrs.field(factory=dict, init=False)

    def __contains__(self, names: object) -> bool:
        return names in self.tables

    def read(self, names: Names, declared: NamedStruct) -> tuple[DataFrame, Names]:
        """Make a DataFrame of the declared columns of a table.

        Returns:
            The DataFrame, and its columns in the order of the declared ones.

        Raises:
            SchemaError: a declared column is not there, or its type is another one, or none that Spark has.
            ExecutionError: Arrow cannot convert a column.
        """
        import pyarrow as pa

        what = table_title(names)
        try:
            table = _fit_columns(self.tables[names], declared)
            way_out = cache(lambda: _hint_as_declared(table, declared))
            columns = check_arrow_columns(table.schema, declared, what, way_out=way_out)
            key = (names, declared)
            if key not in self._frames:
                self._frames[key] = self._frame(table.select(list(columns)), declared)
        except pa.ArrowException as error:
            raise ExecutionError(f"cannot read {what}: {error}") from error
        return self._frames[key], columns

    def _frame(self, table: pa.Table, declared: NamedStruct) -> DataFrame:
        """Return a DataFrame of a table; a large one is sent to Sail as views, not with every request."""
        from substrait_dsl.spark.session.sent_tables import frame_over_views

        if current_engine().name != "Sail" or table.nbytes <= LARGE:
            return declared_frame(table, declared, self.spark)
        rows = max(1, table.num_rows * MAX_SENT // table.nbytes)
        parts = [table.slice(start, rows) for start in range(0, table.num_rows, rows)]
        return frame_over_views([declared_frame(part, declared, self.spark) for part in parts], self.spark)


LARGE = 2**20
"""The size in bytes from which a table becomes a view of Sail."""
MAX_SENT = 2**25
"""The most bytes of a table in one message to Sail."""


def check_arrow_columns(
    found: pa.Schema,
    declared: NamedStruct,
    what: str,
    foreign: str | None = None,
    way_out: Callable[[], str | None] | None = None,
) -> Names:
    """The names in an Arrow table of the columns that are declared, by the rules that hold for tables of Spark.

    Args:
        found: the schema of the table.
        declared: the columns that are read.
        what: what has the schema, in the words of an error.
        foreign: what to do about a column of a type that Spark has not.
        way_out: makes the hint about other columns than are declared.

    Raises `SchemaError` as `check_columns` does.
    """
    from pyspark.sql.types import StructField, StructType

    types = [(field, _as_spark(field)) for field in found]
    schema = StructType([StructField(field.name, type_ or _foreign(field.type)) for field, type_ in types])
    ways_out = {field.name: foreign for field, type_ in types if type_ is None}
    return check_columns(schema, declared, what, ways_out=ways_out, way_out=way_out)


def _hint_as_declared(table: pa.Table, declared: NamedStruct) -> str | None:
    """Return the hint for a table that does not fit the declared columns; None if Arrow lacks one of their types."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructField, StructType

    fields = [StructField(field.name, type_to_spark(field.type)) for field in declared]
    names = [actual_name(name, table.column_names) for name in declared.names]
    try:
        return hint_as_declared(table, declared, names, to_arrow_schema(StructType(fields)))
    except PySparkException:
        return None


def declared_frame(table: pa.Table, declared: NamedStruct, spark: SparkSession) -> DataFrame:
    """Make a DataFrame of the declared columns of a table; without any, one with another column."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructField, StructType

    if not table.column_names:
        table = pa.table({"rows": pa.nulls(table.num_rows, pa.bool_())})
    table = plain_columns(table)
    schema = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    for position, type_ in enumerate(declared.types):
        if isinstance(type_, PrecisionTime):  # of which Arrow has fewer than Spark
            name = schema.names[position]
            schema.fields[position] = StructField(name, type_to_spark(type_))
    # That a field cannot be NULL is not checked by Arrow, and Spark would believe it.
    return spark.createDataFrame(table, current_engine().sent_schema(StructType(schema.fields).toNullable()))


def _fit_columns(table: pa.Table, declared: NamedStruct) -> pa.Table:
    """Cast the columns of a table to the declared types where pandas or Arrow had no better one, if no value changes.

    Nanoseconds, in which pandas stores times, become microseconds if none is finer: Spark would truncate silently.
    pandas has no decimals, and Arrow infers the smallest type that holds them.
    """
    import pyarrow as pa

    is_guessed = b"pandas" in (table.schema.metadata or {})
    for wanted in declared:
        name = actual_name(wanted.name, table.column_names)
        if name is None or table.column_names.count(name) > 1:
            continue
        position = table.schema.get_field_index(name)
        field = table.schema.field(position)
        type_ = _microseconds(field.type)
        if is_guessed and pa.types.is_decimal(field.type) and isinstance(wanted.type, Decimal):
            type_ = pa.decimal128(wanted.type.precision, wanted.type.scale)
        if type_ != field.type:
            with suppress(pa.ArrowInvalid):  # something finer, or larger: that the type is another one, the check says
                table = table.set_column(position, field.with_type(type_), table.column(position).cast(type_))
    return table


def _microseconds(type_: pa.DataType) -> pa.DataType:
    """Return the type of times in microseconds for one in nanoseconds, and any other type unchanged."""
    import pyarrow as pa

    match type_:
        case pa.TimestampType(unit="ns"):
            return pa.timestamp("us", type_.tz)
        case pa.DurationType(unit="ns"):
            return pa.duration("us")
        case pa.Time64Type(unit="ns"):
            return pa.time64("us")
        case _:
            return type_


_DIGITS = {"s": 0, "ms": 3, "us": MICROSECONDS}


def _as_spark(field: pa.Field) -> DataType | None:
    """Return the type in which Spark stores a column; None: it refuses the column, or would truncate its values."""
    import pyarrow as pa
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import from_arrow_schema

    type_ = plain_type(field.type)
    # Spark keeps microseconds, and would cut the rest in silence. NULLs without a type fit none that can be declared.
    if any(getattr(part, "unit", None) == "ns" or pa.types.is_null(part) for part in parts(type_)):
        return None
    if pa.types.is_time(field.type):
        from pyspark.sql.types import TimeType

        return TimeType(_DIGITS[field.type.unit])
    try:
        return from_arrow_schema(pa.schema([field.with_type(type_)]), prefer_timestamp_ntz=True).fields[0].dataType
    except PySparkException:
        return None


def _foreign(type_: pa.DataType) -> DataType:
    """A placeholder for a type that Spark does not accept, under its own name; it fits no declared type."""
    from pyspark.sql.types import DataType

    class Foreign(DataType):
        def simpleString(self) -> str:  # noqa: N802  # as Spark calls it
            return str(type_)

    return Foreign()
