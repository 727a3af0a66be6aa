"""Table metadata of Spark's own catalog, as data.

A DESCRIBE statement takes as long as a small job, since Spark plans and runs it like a query. A classic session is
asked through its Java instead, which has the same words.
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
"""The result of ``DESCRIBE TABLE EXTENDED ... AS JSON``, without the columns."""

_IMPLEMENTATION = f"spark.sql.catalog.{SESSION_CATALOG}"
"""The setting that wraps Spark's own catalog in another one, such as Iceberg's."""
_OF_FILES = ("parquet", "orc")
"""Spark's formats whose tables have the columns of the catalog, whatever is in the files."""


@attrs.frozen
class _JavaCatalog:
    """The Java objects of a classic session's catalog."""

    catalog: Any
    parser: Any
    text_of: Any
    """Serializes JSON."""
    json_object: Any

    @classmethod
    def of_session(cls, session: Any) -> _JavaCatalog:
        state, json4s = session._jsparkSession.sessionState(), session._jvm.org.json4s
        writer = getattr(getattr(json4s.jackson, "JsonMethods$"), "MODULE$")
        return cls(state.catalog(), state.sqlParser(), writer.compact, json4s.JObject)

    def identifier(self, names: tuple[str, ...]) -> Any:
        return self.parser.parseTableIdentifier(statement_name(names))


_CATALOGS: WeakKeyDictionary[SparkSession, _JavaCatalog] = WeakKeyDictionary()
"""The Java objects of each session: to find them takes longer than a request."""


def _java_catalog(names: tuple[str, ...], spark: SparkSession) -> _JavaCatalog | None:
    """Return the Java catalog for an unqualified name; None: statements must be used."""
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
    """Describe an existing table or view, given as SQL text; None: its catalog does not support that."""
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
