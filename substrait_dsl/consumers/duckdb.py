"""Connections of DuckDB with its Substrait extension."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from substrait_dsl.arrow.exact import exact_table
from substrait_dsl.arrow.schemas import from_arrow
from substrait_dsl.consumers.columns import actual_name
from substrait_dsl.consumers.consumer import Consumer, Encoded, Names, Result
from substrait_dsl.errors import ExecutionError, UnsupportedError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

VERSION = "1.1.3"
"""The version of DuckDB whose Substrait extension the profile is of."""

_INSTALL = f"pip install duckdb=={VERSION} duckdb-extension-substrait=={VERSION}, in an environment of its own"
_LOAD = "connection.load_extension(...) of the file in the package duckdb_extension_substrait loads it"


class DuckDBSession(Consumer):
    """A ``duckdb.DuckDBPyConnection``.

    What DuckDB makes of a plan refers to tables by their names until its rows are computed. So they are computed at
    once, and its frames are relations over these rows. Until then, tables that no other connection sees are copied
    into the database, under generated names.
    """

    engine = f"duckdb-{VERSION}"
    title = "DuckDB"

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection: Any = connection  # whose methods are those of this version

    @classmethod
    def of(cls, session: object) -> DuckDBSession | None:
        """Return the consumer of a session; None for another object of the package.

        Raises:
            UnsupportedError: DuckDB is of another version, or the extension is not loaded.
            ExecutionError: the connection is closed.
        """
        if not isinstance(session, duckdb.DuckDBPyConnection):
            return None
        if duckdb.__version__ != VERSION:
            raise UnsupportedError(
                f"plans run on DuckDB {VERSION} with its Substrait extension, and this is DuckDB {duckdb.__version__}",
                hint=_INSTALL,
            )
        try:
            found = _rows(session, "SELECT 1 FROM duckdb_functions() WHERE function_name = 'from_substrait'")
        except duckdb.ConnectionException as error:
            raise ExecutionError("this connection of DuckDB is closed") from error
        if not found:
            raise UnsupportedError("this connection of DuckDB has not loaded the Substrait extension", hint=_LOAD)
        return cls(session)

    def columns(self, names: Names) -> pa.Schema | None:
        if len(names) > 1 or names[0].lower() not in map(str.lower, self.tables(())):
            return None  # before it would look for a variable of Python's of this name
        return self._columns(names[0])

    def _columns(self, name: str) -> pa.Schema:
        with _LOCK:
            return self._connection.execute(f"SELECT * FROM {_quote_name(name)} LIMIT 0").arrow().schema

    def tables(self, namespace: Names) -> list[str]:
        rows = _rows(self._connection, "SELECT table_name FROM information_schema.tables")
        return [] if namespace else sorted({row[0] for row in rows})

    def with_types(self, names: Names, schema: pa.Schema) -> pa.Table | str:
        found = self._columns(names[0])
        columns = []
        for field in schema:
            name = actual_name(field.name, found.names) or field.name
            value = _quote_name(name)
            if found.field(name).type != field.type:
                value = f"CAST({value} AS {_sql_type(field.type)})"
            if not field.nullable:
                message = f'column "{field.name}" is required, but it is NULL'.replace("'", "''")
                value = f"CASE WHEN {value} IS NULL THEN error('{message}') ELSE {value} END"
            columns.append(f"{value} AS {_quote_name(field.name)}")
        place = self._lasting(names[0])
        query = f"SELECT {', '.join(columns)} FROM {place or _quote_name(names[0])}"
        if place is not None:
            return query
        with _LOCK:
            return self._connection.execute(query).arrow()

    def is_as_declared(self, names: Names, found: pa.Schema, positions: Sequence[int], wanted: pa.Schema) -> bool:
        # It takes columns by their positions in the table, and knows of none that it is required.
        same = super().is_as_declared(names, found, positions, wanted)
        is_complete = list(positions) == list(range(len(found))) and all(field.nullable for field in wanted)
        return same and is_complete and self._lasting(names[0]) is not None

    def _lasting(self, name: str) -> str | None:
        """Return the whole name of a table that every connection sees; None: it is this one's alone, or may be.

        The extension runs plans on a connection of its own, which sees nothing that is temporary, nor what is changed
        in a transaction that goes on; it takes names for those of the database that was opened first.
        """
        with _LOCK:
            first, second = (_rows(self._connection, "SELECT txid_current()") for _ in range(2))
        if first == second:
            return None
        query = (
            "SELECT table_catalog, table_schema, table_name FROM information_schema.tables WHERE lower(table_name) = ?"
        )
        places = _rows(self._connection, query, [name.lower()])
        if [place[:2] for place in places] != [(self._database(), "main")]:
            return None
        return ".".join(map(_quote_name, places[0]))

    def _database(self) -> str:
        """Return the name of the database that was opened first."""
        query = "SELECT database_name FROM duckdb_databases() WHERE NOT internal ORDER BY database_oid LIMIT 1"
        name: str = _rows(self._connection, query)[0][0]
        return name

    @contextmanager
    def _sources(self, sources: Mapping[str, Any]) -> Iterator[None]:
        """Have every connection see some tables under their names."""
        place = f"{_quote_name(self._database())}.main" if sources else ""
        with self._connection.cursor() as cursor:
            try:
                for name, source in sources.items():
                    if isinstance(source, str):
                        cursor.execute(f"CREATE VIEW {place}.{_quote_name(name)} AS {source}")
                    else:
                        cursor.register(f"{name}_rows", source)
                        cursor.execute(
                            f"CREATE TABLE {place}.{_quote_name(name)} AS SELECT * FROM {_quote_name(f'{name}_rows')}"
                        )
                yield
            finally:
                for name, source in sources.items():
                    kind = "VIEW" if isinstance(source, str) else "TABLE"
                    cursor.execute(f"DROP {kind} IF EXISTS {place}.{_quote_name(name)}")

    def consume(self, plan: Encoded) -> Result:
        with self._sources(plan.sources), _LOCK:
            found = self._rows_of(plan.data)
        table = exact_table(found.columns, found.num_rows, from_arrow(plan.schema))
        return Result(self._connection.from_arrow(table), table)

    def _rows_of(self, data: bytes) -> pa.Table:
        """Return the rows of a plan, which may read views over names of files."""
        try:
            return self._relation(data).arrow()
        except duckdb.Error as error:
            if _WITHOUT_FRAMES not in str(error):
                raise
        with self._disable_variable_lookup():
            return self._relation(data).arrow()

    def _relation(self, data: bytes) -> Any:
        return self._connection.from_substrait(proto=data)

    @contextmanager
    def _disable_variable_lookup(self) -> Iterator[None]:
        """Keep all connections from looking up names of tables as variables of Python.

        DuckDB runs a plan on a connection of its own, which sees no variables, and fails for a name that is none. That
        connection has the global settings. So this is done only for a plan that has failed without it.
        """
        with self._connection.cursor() as cursor:
            ((value,),) = _rows(cursor, f"SELECT current_setting('{_VARIABLES}')")
            cursor.execute(f"SET GLOBAL {_VARIABLES} = false")
            try:
                yield
            finally:
                cursor.execute(f"SET GLOBAL {_VARIABLES} = {value}")

    def collect(self, frame: DuckDBPyRelation, limit: int | None = None) -> tuple[list[pa.ChunkedArray], int]:
        with _LOCK:
            table: pa.Table = (frame if limit is None else frame.limit(limit)).arrow()
        return table.columns, table.num_rows

    def explain(self, plan: Encoded) -> str:
        raise UnsupportedError("DuckDB does not explain plans of Substrait", hint="explain() without it")

    def words_of(self, error: BaseException) -> str | None:
        return str(error).rpartition(_BEFORE)[2] if isinstance(error, duckdb.Error) else None


_WITHOUT_FRAMES = "call stack is not deep enough"
"""DuckDB's message where it looks for a variable, and no function of Python runs."""

_VARIABLES = "python_enable_replacements"
"""The setting by which names of tables may be those of variables."""

_BEFORE = "Attempting to fetch from an unsuccessful query result\nError: "
"""The prefix of DuckDB's errors about a plan of Substrait."""


_LOCK = RLock()
"""Held from a statement to its rows: a connection has one result at a time, whichever thread asks."""


def _rows(connection: Any, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """Return the rows of a statement."""
    with _LOCK:
        rows: list[tuple[Any, ...]] = connection.execute(query, list(values)).fetchall()
        return rows


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_TYPES: Mapping[pa.DataType, str] = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float32(): "REAL",
    pa.float64(): "DOUBLE",
    pa.string(): "VARCHAR",
    pa.binary(): "BLOB",
    pa.date32(): "DATE",
    pa.timestamp("us"): "TIMESTAMP",
    pa.timestamp("us", "UTC"): "TIMESTAMPTZ",
}


def _sql_type(arrow_type: pa.DataType) -> str:
    """Return DuckDB's name of a type. Raises `UnsupportedError` for one that no column is converted to."""
    if pa.types.is_decimal(arrow_type):
        return f"DECIMAL({arrow_type.precision}, {arrow_type.scale})"
    if arrow_type not in _TYPES:
        raise UnsupportedError(f"no column of DuckDB is converted to {arrow_type}")
    return _TYPES[arrow_type]
