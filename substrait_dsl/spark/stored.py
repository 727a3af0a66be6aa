"""The tables that a plan changes: what is known of them, and what of a declared schema does not fit them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import SchemaError, UnsupportedError, quoted
from substrait_dsl.spark.named import named_frame, not_there, statement_name
from substrait_dsl.spark.reads import check_columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType, StructType

REQUIRED = "substrait_dsl.required"
"""The property of a table that has the names, as JSON, of columns which hold no NULL where its format forgets that."""

_DETAILS = "# Detailed Table Information"
_IDENTIFIERS = "identifier-fields"
ICEBERG = "iceberg"
_OF_ICEBERG = {"current-snapshot-id", "format-version"}
"""Properties that a table of Iceberg always has. To have one described takes as long as to write to it."""


@attrs.frozen
class StoredTable:
    """What the catalog knows of a table or view."""

    names: tuple[str, ...]
    schema: StructType
    format: str
    """As the catalog calls it: ``iceberg``, ``parquet``; empty for a view."""
    properties: Mapping[str, str]

    @property
    def sql(self) -> str:
        """Its name as part of a statement."""
        return statement_name(self.names)

    @property
    def title(self) -> str:
        """Its name as part of a message."""
        return title(self.names)

    @property
    def is_view(self) -> bool:
        return not self.format

    @property
    def is_iceberg(self) -> bool:
        return self.format == ICEBERG

    @property
    def required(self) -> frozenset[str]:
        """The columns that hold no NULL."""
        kept = json.loads(self.properties.get(REQUIRED, "[]"))
        return frozenset(kept) | {field.name for field in self.schema.fields if not field.nullable}

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The columns that tell the rows of an Iceberg table apart, if it says so."""
        names = self.properties.get(_IDENTIFIERS, "[]")[1:-1].split(",")
        return tuple(name for name in map(str.strip, names) if name)

    def require_rows_change(self, what: str) -> None:
        """Raise `UnsupportedError` if single rows of this table cannot be changed."""
        if not self.is_iceberg:
            raise UnsupportedError(
                f"{what}: {self.title} has the format {self.format}, whose rows Spark cannot change in one step",
                hint="an Iceberg table can do that; of this one, a ctas with replace_if_exists makes a new one",
            )


def title(names: Sequence[str]) -> str:
    """The name of a table as part of a message."""
    return f"table {quoted(['.'.join(names)])}"


def find_object(names: tuple[str, ...], spark: SparkSession) -> StoredTable | None:
    """Look a table or view up; None: there is none."""
    from pyspark.errors import AnalysisException

    name = statement_name(names)
    try:
        properties = {row[0]: row[1] for row in spark.sql(f"SHOW TBLPROPERTIES {name}").collect()}
    except AnalysisException as error:
        if error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND":
            return None
        raise
    kind = ICEBERG if properties.keys() >= _OF_ICEBERG else _format(name, spark)
    return StoredTable(names, named_frame(names, spark).schema, kind, properties)


def _format(name: str, spark: SparkSession) -> str:
    """The format of a table as the catalog calls it; empty for a view."""
    rows = [(row[0], row[1]) for row in spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()]
    # A column may have the name of the heading, but none stands below the last of them; a temporary view has no such.
    places = [place for place, (key, _) in enumerate(rows) if key == _DETAILS]
    details = dict(rows[places[-1] :]) if places else {}
    return "" if details.get("Type", "VIEW") == "VIEW" else details.get("Provider", "unknown").lower()


def find_table(names: tuple[str, ...], spark: SparkSession) -> StoredTable | None:
    """Look a table up; None: there is none. Raises `UnsupportedError` for a view."""
    found = find_object(names, spark)
    if found is not None and found.is_view:
        raise UnsupportedError(f"{quoted(['.'.join(names)])} is a view, not a table: it has no rows of its own")
    return found


def need_table(names: tuple[str, ...], spark: SparkSession) -> StoredTable:
    """Look a table up. Raises `ExecutionError` if there is none, `UnsupportedError` for a view."""
    found = find_table(names, spark)
    if found is None:
        error = not_there(names, spark)
        error.hint = None if error.hint and "createOrReplaceTempView" in error.hint else error.hint
        raise error
    return found


def require_distinct(declared: NamedStruct, what: str) -> None:
    """Raise `SchemaError` for two columns of one name, which no table has."""
    names = [name.lower() for name in declared.names]
    if twice := [name for place, name in enumerate(declared.names) if name.lower() in names[:place]]:
        raise SchemaError(f"{what}: two of the columns are called {quoted(twice[:1])}; no table has that")


def columns_in(table: StoredTable, declared: NamedStruct, *, written: Collection[str] | None = None) -> tuple[str, ...]:
    """The names in a table of the columns that are declared.

    Args:
        table: the table.
        declared: the columns that a plan says it has.
        written: which of these get values; None: all, and no other column of the table does.

    Raises:
        SchemaError: a column is not there or of another type; or one that is required would get NULLs.
    """
    require_distinct(declared, table.title)
    names = check_columns(table.schema, declared, table.title)
    wrong = [
        f'column "{name}" is required in the table, declared {field.type}'
        for name, field in zip(names, declared, strict=True)
        if name in table.required and field.type.nullable and (written is None or field.name in written)
    ]
    if written is None:
        wrong += [f'column "{name}" is required in the table, and gets no value' for name in _left(table, names)]
    if wrong:
        raise SchemaError(f"{table.title} does not fit the declared schema: {'; '.join(wrong)}")
    return names


def _left(table: StoredTable, names: Sequence[str]) -> list[str]:
    """The required columns of a table that are not among these."""
    return [field.name for field in table.schema.fields if field.name in table.required and field.name not in names]


def format_of_new(names: Sequence[str], spark: SparkSession) -> str:
    """The format that a table of this name would get if it were made now."""
    for catalog in (names[0], spark.catalog.currentCatalog()):
        if catalog == "spark_catalog":
            break
        kind = spark.conf.get(f"spark.sql.catalog.{catalog}", None)
        if kind is not None:
            return ICEBERG if kind.startswith("org.apache.iceberg.") else kind
    return (spark.conf.get("spark.sql.sources.default") or "parquet").lower()


def require_kept(schema: StructType, kind: str, what: str) -> None:
    """Raise `UnsupportedError` for columns that a new table of a format would hold as another type."""
    from pyspark.sql.types import ByteType, ShortType

    if kind != ICEBERG:
        return
    narrow = [field.name for field in schema.fields if _has(field.dataType, (ByteType, ShortType))]
    if narrow:
        raise UnsupportedError(
            f"{what}: Iceberg has no integers of 8 or 16 bits, which the columns {quoted(narrow)} have",
            hint="cast(I32) first",
        )


def _has(kind: DataType, kinds: tuple[type[DataType], ...]) -> bool:
    from pyspark.sql import types as spark

    match kind:
        case spark.StructType(fields=fields):
            return any(_has(field.dataType, kinds) for field in fields)
        case spark.ArrayType(elementType=element):
            return _has(element, kinds)
        case spark.MapType(keyType=key, valueType=value):
            return _has(key, kinds) or _has(value, kinds)
        case _:
            return isinstance(kind, kinds)
