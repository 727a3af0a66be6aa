"""What Spark's own catalog says of a table, as data.

A statement that describes one takes as long as a small job, since Spark plans and runs it as it does a query. A classic
session is asked by its Java instead, which has the same words at hand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import attrs

from substrait_dsl.spark.catalog.table_names import SESSION_CATALOG, statement_name
from substrait_dsl.spark.session.connect import is_remote
from substrait_dsl.spark.session.failures import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

Description = Mapping[str, Any]
"""What ``DESCRIBE TABLE EXTENDED ... AS JSON`` gives, but for what it says of columns."""

_IMPLEMENTATION = f"spark.sql.catalog.{SESSION_CATALOG}"
"""The setting that puts another catalog, as one of Iceberg's, in front of Spark's own."""
_OF_FILES = ("parquet", "orc")
"""Formats of Spark's own whose tables have the columns that the catalog keeps, whatever is in the files."""


@attrs.frozen
class _JavaCatalog:
    """What a classic session asks its catalog with."""

    catalog: Any
    parser: Any
    text_of: Any
    """Makes text of JSON."""
    json_object: Any

    @classmethod
    def of_session(cls, session: Any) -> _JavaCatalog:
        state, json4s = session._jsparkSession.sessionState(), session._jvm.org.json4s
        writer = getattr(getattr(json4s.jackson, "JsonMethods$"), "MODULE$")
        return cls(state.catalog(), state.sqlParser(), writer.compact, json4s.JObject)

    def identifier(self, names: tuple[str, ...]) -> Any:
        return self.parser.parseTableIdentifier(statement_name(names))


_CATALOGS: WeakKeyDictionary[SparkSession, _JavaCatalog] = WeakKeyDictionary()
"""What each session has been asked with: to find it takes longer than to ask."""


def _java_catalog(names: tuple[str, ...], spark: SparkSession) -> _JavaCatalog | None:
    """What a session asks for a name without that of the catalog; None: it has to ask by statements."""
    if is_remote(spark) or len(names) > 2 or spark.conf.get(_IMPLEMENTATION, None) is not None:
        return None
    if spark not in _CATALOGS:
        _CATALOGS[spark] = _JavaCatalog.of_session(spark)
    return _CATALOGS[spark]


def find_table_of_files(names: tuple[str, ...], spark: SparkSession) -> tuple[StructType, Description] | None:
    """Look a table of files up in Spark's own catalog.

    Args:
        names: its name without that of the catalog.
        spark: the session, whose current catalog is Spark's own if the name has one part.

    Returns:
        Its columns and its description; None: it is not known to be such a table, and statements tell what it is.
    """
    from pyspark.sql.types import StructType

    java = _java_catalog(names, spark)
    if java is None:
        return None
    try:
        entry = java.catalog.getTempViewOrPermanentTableMetadata(java.identifier(names))
        text = java.text_of(java.json_object(entry.toJsonLinkedHashMap().toList()))
        description = {key.lower().replace(" ", "_"): value for key, value in json.loads(text).items()}
        if description.get("provider", "").lower() not in _OF_FILES:
            return None
        columns = entry.schema().asNullable()  # as the files are read
        return StructType.fromJson(json.loads(columns.json())), description
    except spark_errors():
        return None


def describe(name: str, spark: SparkSession) -> Description | None:
    """Have a table or view described that is there, given as text of SQL; None: its catalog does not do that."""
    if spark.conf.get(_IMPLEMENTATION, None) is not None:
        return None
    try:
        ((text,),) = spark.sql(f"DESCRIBE TABLE EXTENDED {name} AS JSON").collect()
    except spark_errors():
        return None
    description: Description = json.loads(text)
    return description


def refresh_table(names: tuple[str, ...], spark: SparkSession) -> None:
    """Have the session look up the files of a table anew when it is read next.

    Rows that the session caches are found by the folder that they come from, with `Catalog.refreshByPath`.

    Args:
        names: the name of the table in Spark's own catalog, without that of the catalog.
        spark: the session.
    """
    java = _java_catalog(names, spark)
    if java is None:
        spark.catalog.refreshTable(statement_name((SESSION_CATALOG, *names) if len(names) > 1 else names))
    else:  # the other one lists the files at once, too
        java.catalog.refreshTable(java.identifier(names))
