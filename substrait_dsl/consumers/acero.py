"""Sessions of Acero, the engine of pyarrow, and the functions that it gets from the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING

from substrait_dsl.arrow.exact import exact_table
from substrait_dsl.arrow.schemas import from_arrow, pyarrow_module
from substrait_dsl.arrow.tables import table_of
from substrait_dsl.consumers.columns import actual_name
from substrait_dsl.consumers.consumer import Consumer, Encoded, Names, Result
from substrait_dsl.engines.profile import load_profile
from substrait_dsl.engines.registered import registered_name
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError, error_context
from substrait_dsl.fluent.table_arguments import name_parts, table_title

if TYPE_CHECKING:
    import pyarrow as pa

    from substrait_dsl.fluent.table_arguments import Tables

ENGINE = "acero"


class AceroSession:
    """Hold tables in memory, over which Acero, the engine of pyarrow, runs plans.

        >>> import pyarrow as pa
        >>> people = sd.read_named("people", {"name": "string?"})
        >>> session = sd.AceroSession({"people": pa.table({"name": ["Ada", "Grace"]})})
        >>> people.filter(lambda p: f.like(p.name, "%r_c%")).collect(session)
        [Row(name='Grace')]

    The functions that Acero gets from the library are registered, as `register_acero_functions` does. Acero holds all
    rows in memory; a frame of it is an Arrow table.

    Args:
        tables: the tables by their names, which are texts or tuples of parts: tables and readers of pyarrow, DataFrames
            of pandas or Polars, anything else with ``__arrow_c_stream__``, or paths of Parquet or Arrow files.

    Raises:
        UnsupportedError: pyarrow is not installed, or of a version whose engine is not known.
        InvalidArgumentError: `tables` is no dict of tables by their names.
        ExecutionError: a file cannot be read.

    Specification: none has sessions. What the engine takes is its dialect, ``dialect_schema.yaml``.
    """

    __slots__ = ("_tables",)

    def __init__(self, tables: Tables = MappingProxyType({})) -> None:
        with error_context(verb="AceroSession"):
            _register_functions()
            if not isinstance(tables, Mapping):
                raise InvalidArgumentError(f"tables is a dict of tables by their names, got {tables!r}")
            self._tables: dict[Names, pa.Table] = {}
            for name, frame in tables.items():
                names = name_parts(name)
                if names in self._tables:
                    raise InvalidArgumentError(f"tables has {table_title(names)} twice")
                self._tables[names] = table_of(frame, table_title(names))

    def __repr__(self) -> str:
        return f"AceroSession({', '.join('.'.join(names) for names in self._tables)})"


def register_acero_functions() -> None:
    """Register in pyarrow, for this process, the functions of the specification that Acero does not have.

    They are ``like`` of any pattern, ``substring`` and other functions of texts; ``check("acero")`` says which plans
    call them. An `AceroSession` registers them itself. Whoever runs the bytes of ``to_bytes(engine="acero")`` by
    ``pyarrow.substrait.run_query`` calls this before, in that process; it may be called again.

        >>> import pyarrow as pa
        >>> import pyarrow.substrait as ps
        >>> sd.register_acero_functions()
        >>> people = sd.read_named("people", {"name": "string?"})
        >>> plan = people.select(first=lambda p: f.substring(p.name, 1, 1)).to_plan()
        >>> rows = pa.table({"name": ["Ada", "Grace"]})
        >>> data = pa.py_buffer(plan.to_bytes(engine="acero"))
        >>> ps.run_query(data, table_provider=lambda names, schema: rows).read_all()["first"].to_pylist()
        ['A', 'G']

    Raises:
        UnsupportedError: pyarrow is not installed, is of a version whose engine is not known, or has other functions
            of these names.

    Specification: ``functions_string.yaml``.
    """
    with error_context(verb="register_acero_functions"):
        _register_functions()


_LOCK = Lock()
_registered = False


def are_acero_functions_registered() -> bool:
    """Return whether `register_acero_functions` was called in this process."""
    return _registered


def _register_functions() -> None:
    """Register the functions in pyarrow, which has one registry for a process; see `register_acero_functions`."""
    global _registered
    profile = load_profile(ENGINE)
    version = pyarrow_module().__version__
    if version.partition(".")[0] != profile.version:
        raise UnsupportedError(
            f"plans run on the engine of pyarrow {profile.version}, and this is pyarrow {version}",
            hint=f"pip install 'pyarrow=={profile.version}.*'",
        )
    from substrait_dsl.consumers.acero_functions import register

    with _LOCK:
        try:
            register(registered_name)
        except KeyError as error:
            raise UnsupportedError(f"pyarrow has another function of the name {error.args[0]}") from None
        _registered = True


class AceroConsumer(Consumer):
    """An `AceroSession`."""

    engine = ENGINE
    title = "Acero"

    def __init__(self, session: AceroSession) -> None:
        self._tables = session._tables

    @classmethod
    def of(cls, session: object) -> AceroConsumer | None:
        """Return the consumer of a session; None for another object of the module."""
        if not isinstance(session, AceroSession):
            return None
        if not _registered:  # it was made in another process
            _register_functions()
        return cls(session)

    def columns(self, names: Names) -> pa.Schema | None:
        table = self._tables.get(names)
        return None if table is None else table.schema

    def tables(self, namespace: Names) -> list[str]:
        return sorted(names[-1] for names in self._tables if names[:-1] == namespace)

    def with_types(self, names: Names, schema: pa.Schema) -> pa.Table:
        table = self._tables[names]
        columns = [table.column(actual_name(field.name, table.column_names) or field.name) for field in schema]
        return exact_table(columns, table.num_rows, from_arrow(schema))

    def is_as_declared(self, names: Names, found: pa.Schema, positions: Sequence[int], wanted: pa.Schema) -> bool:
        # A column that is required may be NULL in a table that does not say so.
        return super().is_as_declared(names, found, positions, wanted) and len(wanted) > 0

    def consume(self, plan: Encoded) -> Result:
        from pyarrow import py_buffer, substrait

        def provide(names: Sequence[str], schema: pa.Schema) -> pa.Table:
            key = tuple(names)
            table = plan.sources[key[0]] if key[0] in plan.sources else self._tables[key]
            return table.select(schema.names) if schema is not None and schema.names else table

        found = substrait.run_query(py_buffer(plan.data), table_provider=provide).read_all()
        table = exact_table(found.columns, found.num_rows, from_arrow(plan.schema))
        return Result(table, table)

    def collect(self, frame: pa.Table, limit: int | None = None) -> tuple[list[pa.ChunkedArray], int]:
        table = frame if limit is None else frame.slice(0, limit)
        return table.columns, table.num_rows

    def explain(self, plan: Encoded) -> str:
        raise UnsupportedError("Acero does not explain plans of Substrait", hint="explain() without it")

    def words_of(self, error: BaseException) -> str | None:
        return str(error) if isinstance(error, pyarrow_module().ArrowException) else None
