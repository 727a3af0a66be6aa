"""Running lowered plans on other engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

import substrait_dsl as sd
from tests.differential.claims import canonical
from tests.differential.tables import FIELDS, TABLES, rows

if TYPE_CHECKING:
    from datafusion import SessionContext

Rows = list[tuple[Any, ...]]


def run_on_datafusion(context: SessionContext, data: bytes) -> Rows:
    """The rows of a plan, in the order in which they come."""
    from datafusion.substrait import Consumer, Serde

    plan = Consumer.from_substrait_plan(context, Serde.deserialize_bytes(data))
    batches = context.create_dataframe_from_logical_plan(plan).collect()
    return [row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)]


def canonical_rows(found: Rows) -> Rows:
    """Rows in which values that are the same are equal."""
    return [tuple(map(canonical, row)) for row in found]


def with_random_tables() -> SessionContext:
    """A context with the tables that random pipelines read."""
    from datafusion import SessionConfig, SessionContext

    context = SessionContext(SessionConfig().with_target_partitions(2))
    for name, table in random_tables().items():
        batches = table.to_batches()
        context.register_record_batches(name, [batches or [pa.RecordBatch.from_pylist([], table.schema)]])
    return context


def random_tables() -> dict[str, pa.Table]:
    """The tables that random pipelines read."""
    found: dict[str, pa.Table] = {}
    for name, (columns, _) in TABLES.items():
        schema = sd.read_named(name, columns).schema.to_arrow()
        records = [
            {
                column: dict(zip(FIELDS, value, strict=True)) if isinstance(value, tuple) else value
                for column, value in zip(columns, row, strict=True)
            }
            for row in rows(name)
        ]
        found[name] = pa.Table.from_pylist(records, schema)
    return found
