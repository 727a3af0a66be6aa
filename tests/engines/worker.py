"""A process that runs plans on an engine that must not run in the process of the tests.

Acero dies of legal plans, and DuckDB 1.1.3 is no version that can be imported beside another. The process reads
pickled requests and writes pickled answers: `processes.py` is the other side. It imports nothing of the library, but
what registers the functions that Acero gets from it.

    python worker.py acero | duckdb
"""

from __future__ import annotations

import os
import pickle
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


class Acero:
    """pyarrow's own engine."""

    def __init__(self) -> None:
        from substrait_dsl.consumers.acero import register_acero_functions

        register_acero_functions()
        self.tables: dict[tuple[str, ...], pa.Table] = {}

    def add(self, name: str, table: pa.Table) -> None:
        self.tables[(name,)] = table

    def run(self, plan: bytes) -> pa.Table:
        import pyarrow.substrait as ps

        def provide(names: Any, schema: pa.Schema) -> pa.Table:
            table = self.tables[tuple(names)]
            return table.select(schema.names) if schema is not None and schema.names else table

        return ps.run_query(pa.py_buffer(plan), table_provider=provide).read_all()


BROKEN = ("INTERNAL Error", "database has been invalidated")
"""How errors are called after which a database of DuckDB refuses everything."""


class DuckDB:
    """DuckDB with its Substrait extension, which gets another database where it has broken the one that it had."""

    def __init__(self) -> None:
        (folder,) = import_module("duckdb_extension_substrait").__path__
        (self.extension,) = Path(folder).rglob("*.duckdb_extension")
        self.tables: dict[str, pa.Table] = {}
        self.open()

    def open(self) -> None:
        import duckdb

        self.connection: Any = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": "2"})
        self.connection.execute(f"LOAD '{self.extension}'")
        for name, table in self.tables.items():
            self._create(name, table)

    def add(self, name: str, table: pa.Table) -> None:
        self.tables[name] = table
        self._create(name, table)

    def _create(self, name: str, table: pa.Table) -> None:
        self.connection.register("given", table)
        self.connection.execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT * FROM given')
        self.connection.unregister("given")

    def run(self, plan: bytes) -> pa.Table:
        try:
            table: pa.Table = self.connection.from_substrait(proto=plan).arrow()
        except Exception as error:  # of any class
            if any(words in str(error) for words in BROKEN):
                self.open()
            raise
        return table


def plain(table: pa.Table) -> pa.Table:
    """The table without the types for texts that neither engine knows."""
    kinds = {pa.string_view(): pa.string(), pa.large_string(): pa.string(), pa.binary_view(): pa.binary()}
    return table.cast(pa.schema([field.with_type(kinds.get(field.type, field.type)) for field in table.schema]))


def to_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def main() -> None:
    engine = Acero() if sys.argv[1] == "acero" else DuckDB()
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the engine prints is no answer
    while True:
        try:
            kind, value = pickle.load(requests)
        except EOFError:
            return
        try:
            match kind:
                case "tables":
                    for name, data in value.items():
                        engine.add(name, plain(pa.ipc.open_stream(data).read_all()))
                    answer: Any = None
                case "files":
                    for name, path in value.items():
                        engine.add(name, plain(pq.read_table(path)))
                    answer = None
                case _:
                    answer = to_bytes(engine.run(value))
            pickle.dump((True, answer), answers)
        except Exception as error:  # of any class: the other side tells them apart by their words
            pickle.dump((False, f"{type(error).__name__}: {error}"), answers)
        answers.flush()


if __name__ == "__main__":
    main()
