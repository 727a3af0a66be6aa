"""Engines as the probes run them: each takes a plan as it is written, or lowered, and gives its rows."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pyarrow as pa

from substrait_dsl.algebra.node import Node
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.relations import NamedTable, Read, VirtualTable
from substrait_dsl.arrow.schemas import to_arrow
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.plan import encode_plan, to_bytes
from tests.engines.processes import Engine, Refused
from tests.engines.runners import Rows, run_on_datafusion

Run = Callable[[AlgebraPlan], Rows]
"""Runs a plan, and raises what the engine raises, or `Crashed` if that ends its process."""


Lower = Callable[[AlgebraPlan], AlgebraPlan]
"""What is done to a plan before it is sent."""


def as_written(plan: AlgebraPlan) -> AlgebraPlan:
    """The plan itself."""
    return plan


def datafusion(lower: Lower = as_written) -> Run:
    """The installed DataFusion."""
    from datafusion import SessionContext

    context = SessionContext()
    return lambda plan: run_on_datafusion(context, to_bytes(encode_plan(lower(plan))))


def in_process(engine: Engine, lower: Lower = as_written) -> Run:
    """An engine in a process: Acero reads no rows in a plan, DuckDB not all; both read the legacy encoding alone."""

    def run(plan: AlgebraPlan) -> Rows:
        reads: dict[str, Read] = {}
        ready = lower(with_named_tables(plan, reads))
        try:  # the encoding has not all forms, and Arrow not all types
            data = to_bytes(encode_plan(ready, encoding="legacy"))
            tables = {name: table_of_rows(read) for name, read in reads.items()}
        except UnsupportedError as error:
            raise Refused(str(error)) from error
        engine.given.clear()
        engine.add_tables(tables)
        table = engine.run(data)
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    return run


def with_named_tables(plan: AlgebraPlan, reads: dict[str, Read]) -> AlgebraPlan:
    """A plan that reads named tables, where it had rows in itself: the reads of these are added to `reads`."""

    def change(node: Node) -> Node:
        if not isinstance(node, Read) or not isinstance(node.definition, VirtualTable):
            return node
        name = f"rows{len(reads)}"
        reads[name] = node
        return attrs.evolve(node, definition=NamedTable((name,)))

    return plan.rebuilt(change)


def table_of_rows(read: Read) -> pa.Table:
    """The rows of a plan, each of literals, as a table of Arrow.

    Raises `UnsupportedError` for types that Arrow has not, or whose values are others there.
    """
    assert isinstance(read.definition, VirtualTable)
    made = to_arrow(read.base_schema)
    values = [[getattr(field, "value", None) for field in record.fields] for record in read.definition.rows]
    try:
        arrays = [pa.array([row[at] for row in values], field.type) for at, field in enumerate(made)]
    except (pa.ArrowException, TypeError, OverflowError) as error:
        raise UnsupportedError(f"the rows make no table: {error}") from error
    return pa.table(arrays, schema=made) if len(made) else pa.table({"rows": pa.nulls(len(values))}).select([])
